//! The result of a run of programs.

use crate::setup::Ending;
use serde::Serialize;
use slowhand_lab::explanation::Explanation;
use slowhand_lab::record::Record;

/// The result of a run of programs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The seed of the world.
    pub seed: u64,
    /// Why it ended.
    pub ending: Ending,
    /// When it ended, in seconds of the network.
    pub virtual_s: f64,
    /// The conversations of the programs, by node and port of the client.
    #[serde(skip)]
    pub conversations: Vec<Conversation>,
    /// The programs, as in the setup.
    pub programs: Vec<ProgramReport>,
    /// All frames on the air.
    pub frames: u64,
    /// Their octets (PSDU).
    pub bytes_phy: u64,
    /// Packets that the network could not carry, such as those to a host that is not there.
    pub refused: u64,
    /// The number of system calls that were trapped.
    pub traps: u64,
    /// Facts that a reader has to know.
    pub notes: Vec<Note>,
    /// Where the time of the handshake went that the setup names. `None` if there was none with DTLS.
    pub explanation: Option<Explanation>,
    /// SHA-256 of every packet with its time, and of all that the programs have written and returned: the same in every run
    /// of a seed.
    pub digest: String,
}

/// A conversation of two programs, as the network has seen it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The cost of its handshake. Without DTLS or TLS: the cost of all of it, from the first datagram or segment to the last.
    pub record: Record,
    /// True if the programs spoke DTLS or TLS.
    pub secure: bool,
    /// Its datagrams or segments, in the order in which they were sent.
    pub datagrams: Vec<Datagram>,
}

/// A datagram of a conversation, or a segment of TCP. Times are seconds of the network.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Datagram {
    /// When it was sent.
    pub sent_s: f64,
    /// When it arrived. `None`: it was lost, or still on its way at the end.
    pub arrived_s: Option<f64>,
    /// The end that has sent it.
    pub from: slowhand_sessions::Role,
    /// Octets of its payload.
    pub octets: usize,
    /// The messages in it, in words.
    pub messages: String,
    /// True if the end has sent the same before: the same messages of a handshake, or the same octets of a stream.
    pub again: bool,
}

/// The fate of a program.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ProgramReport {
    /// Its name.
    pub name: String,
    /// When it started, in seconds. `None`: the run was over before.
    pub started_s: Option<f64>,
    /// When it ended. `None`: it ran at the end.
    pub ended_s: Option<f64>,
    /// The way in which it ended.
    pub exit: Option<Exit>,
    /// Its output. Octets that are no UTF-8 are replaced, and of more than 1 MiB the middle is left out. The digest has all of it.
    pub stdout: String,
    /// Its errors, in the form of `stdout`.
    pub stderr: String,
    /// True if it has done what it was to do: all of what was written, as the setup says. `None`: nobody asked.
    pub success: Option<bool>,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// It ended itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

/// Something that a reader of the result has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Which program.
    pub program: String,
    /// The act of the program.
    pub what: String,
    /// The number of times.
    pub count: u64,
    /// True if another run of the same seed may differ because of it.
    pub differs: bool,
}
