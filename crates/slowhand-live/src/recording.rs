//! The recording of a live network: what came into its world from outside, and when. With the scenario and the seed this is
//! all that the world depends on.
//!
//! It is a text: a line of JSON that says what the network was ([`Header`]), then one for each thing that came in, with its
//! time in microseconds.

use crate::pieces::{Pieces, Writer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use slowhand_lab::live::{GivesUp, Hosts};
use slowhand_lab::scenario::Sources;
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;
use std::borrow::Cow;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The version of the form.
pub(crate) const FORM: u32 = 1;

/// The network that was recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the form, `FORM`.
    pub recording: u32,
    /// The version of slowhand that wrote it.
    pub slowhand: String,
    /// The texts of its scenario.
    pub sources: Sources,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The hosts that were outside.
    pub outside: Hosts,
    /// The ends that were programs or outside: what these compute is not known.
    pub programs: Vec<Role>,
}

/// The kind of an end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndKind {
    /// The library of the scenario, which opens a session and stops.
    Stops,
    /// As `Stops`, and it closes the session.
    Closes,
    /// As `Stops`, and it sends back what it receives.
    Echoes,
    /// A program.
    Program,
    /// A host behind an interface.
    Outside,
}

/// A conversation to open.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// The node of the client.
    pub(crate) node: u16,
    /// The client's port. `None`: that of the scenario.
    pub(crate) client_port: Option<u16>,
    /// The server's port. `None`: that of the scenario.
    pub(crate) server_port: Option<u16>,
    /// True if it begins now; else it begins when the scenario says.
    pub(crate) starts_now: bool,
    /// The client's end and the server's.
    pub(crate) ends: [EndKind; 2],
    /// When it ends with the outcome `gave_up`.
    pub(crate) gives_up: GivesUp,
}

/// Something that came into the world. The number is that of the conversation; what each does is said at the function of
/// `World` with its name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Input<'a> {
    Open(u64, Opening),
    Put(u64, Role, Octets<'a>),
    Took(u64, Role, usize),
    Wake(u64, Role),
    Lose(u64, Role, Cow<'a, str>),
    Finish(u64, Role),
    Abort(u64, Role),
    Complete(u64),
    SkipHandshake(u64),
    Fail(u64, Role, Cow<'a, str>),
    Close(u64),
    Packet(Octets<'a>),
    Set(Cow<'a, str>),
    Switch(u16, bool),
    Prune,
    /// Everything that is due at this instant is done.
    Run,
    /// The network ends.
    End,
}

/// Octets, in JSON a text of hexadecimal digits.
#[derive(Debug)]
pub(crate) struct Octets<'a>(pub(crate) Cow<'a, [u8]>);

impl<'a> From<&'a [u8]> for Octets<'a> {
    fn from(octets: &'a [u8]) -> Self {
        Self(octets.into())
    }
}

impl Serialize for Octets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default(); // a nibble is below 16
        let digits: String = self.0.iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for Octets<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8); // below 16
        let octet = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
        let octets = text.len().is_multiple_of(2).then(|| text.as_bytes().chunks(2).map(octet).collect()).flatten();
        octets
            .map(|octets: Vec<u8>| Self(octets.into()))
            .ok_or_else(|| serde::de::Error::custom("no hexadecimal digits"))
    }
}

/// Writes a recording while the network runs.
pub(crate) struct Recorder {
    pieces: Pieces,
    writer: Writer,
    /// Why it cannot be written.
    failure: Option<io::Error>,
}

impl Recorder {
    /// Creates the file; only its owner may read it: it has the scenario's keys, and what programs sent.
    pub(crate) fn start(path: &Path, header: &Header) -> io::Result<Self> {
        if path.metadata().is_ok_and(|there| there.file_type().is_fifo()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a FIFO, allowed: a file"));
        }
        let file = slowhand_lab::capture::create_private(path)?;
        let (writer, pieces) = Writer::start("recording", path, move || Ok(file))?;
        let mut recorder = Self { pieces, writer, failure: None };
        recorder.line(header);
        Ok(recorder)
    }

    pub(crate) fn write(&mut self, now: Instant, input: &Input<'_>) {
        self.line(&(now.as_micros(), input));
    }

    fn line(&mut self, line: &impl Serialize) {
        if self.failure.is_none() {
            let written = serde_json::to_writer(&mut self.pieces, line).map_err(io::Error::from);
            self.failure = written.and_then(|()| self.pieces.write_all(b"\n")).err();
        }
    }

    /// Hands what was written to the disk's thread. Returns a message if that has failed: then the recording ends.
    pub(crate) fn flush(&mut self) -> Option<String> {
        let failure = self.failure.take().or_else(|| self.pieces.flush().err())?;
        Some(self.writer.ended(failure))
    }

    /// Writes all that is left.
    pub(crate) fn finish(mut self) -> Option<String> {
        if let Some(message) = self.flush() {
            return Some(message);
        }
        drop(self.pieces);
        self.writer.finish()
    }
}
