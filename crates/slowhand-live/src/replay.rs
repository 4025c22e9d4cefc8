//! A live network again, in virtual time: the world of its scenario, with all that a recording says came into it.
//!
//! With the scenario and the seed of the recording the world is the same, to the microsecond and to the octet. With others it
//! is another network in which programs send the same at the same times: they do not notice what becomes of it.

use crate::recording::{FORM, Header, Input};
use crate::relay::Line;
use crate::world::World;
use slowhand_lab::LiveCapture;
use slowhand_lab::capture::CaptureError;
use slowhand_lab::input::{Blame, Place, shown};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::{Plan, PlanError};
use slowhand_lab::record::{Phase, Record};
use slowhand_lab::scenario::Scenario;
use slowhand_net::clock::Instant;
use slowhand_net::observer::{Observer, Transmission};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// The latest time of a recording: ten years, in microseconds. *Assumed*: no live network runs longer.
const MOST_US: u64 = 10 * 365 * 86_400 * 1_000_000;

/// The most characters of what was found in a message. *Assumed*: a fault is understood from so many.
const LONGEST: usize = 200;

/// The input of a live network.
#[derive(Debug)]
pub struct Recording {
    header: Header,
    /// With their times.
    inputs: Vec<(Instant, Input<'static>)>,
    path: PathBuf,
}

/// The results of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// The records of the sessions of DTLS and TLS, in the order in which they ended.
    pub records: Vec<Record>,
    /// Frames on the air.
    pub frames: u64,
}

/// A recording that cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("{}", self.blame())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is no recording, or not as it was written.
    #[error("{}", self.blame())]
    Form {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The fault.
        found: String,
    },
    /// A change of the network that this scenario does not have.
    #[error("{}", self.blame())]
    Change {
        /// The file.
        path: PathBuf,
        /// When.
        time_s: f64,
        /// Why not.
        reason: String,
    },
    /// A client at a node that this scenario does not have.
    #[error("{}", self.blame())]
    Node {
        /// The file.
        path: PathBuf,
        /// The node.
        node: u16,
        /// The last node.
        last: usize,
    },
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The capture cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

impl ReplayError {
    /// The error as data.
    pub fn blame(&self) -> Blame {
        let (place, reason) = match self {
            Self::Read { path, error } => (Place::File(path.clone()), format!("cannot be read: {error}")),
            Self::Form { path, line, found } => {
                let allowed = "what slowhand live --record of this version wrote";
                let found = shown(found, LONGEST); // it may quote the file
                (Place::Line(path.clone(), *line), format!("found {found}, allowed: {allowed}"))
            }
            Self::Change { path, time_s, reason } => (Place::File(path.clone()), format!("at {time_s} s: {reason}")),
            Self::Node { path, node, last } => {
                let allowed = format!("nodes 1 to {last}, which the scenario has");
                (Place::File(path.clone()), format!("found a session of node {node}, allowed: {allowed}"))
            }
            Self::Plan(error) => return error.blame(),
            Self::Capture(error) => {
                return Blame { place: None, key: String::new(), reason: error.to_string(), together: false };
            }
        };
        Blame { place: Some(place), key: String::new(), reason, together: false }
    }
}

impl Recording {
    /// Reads a recording. Its last line may be cut off, as where the network was killed.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn read(path: &Path) -> Result<Self, ReplayError> {
        let unread = |error| ReplayError::Read { path: path.to_owned(), error };
        let wrong = |line: usize, found: String| ReplayError::Form { path: path.to_owned(), line: line + 1, found };
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let mut line = Vec::new();
        if !next_line(&mut file, &mut line).map_err(unread)? {
            return Err(wrong(0, "nothing".to_owned()));
        }
        let header: Header = serde_json::from_slice(&line).map_err(|error| wrong(0, error.to_string()))?;
        if header.recording != FORM {
            return Err(wrong(0, format!("a recording of the form {}", header.recording)));
        }
        let (mut inputs, mut last, mut sessions) = (Vec::new(), 0, BTreeSet::new());
        for number in 1.. {
            if !next_line(&mut file, &mut line).map_err(unread)? {
                break;
            }
            let (at, input): (u64, Input<'static>) =
                serde_json::from_slice(&line).map_err(|error| wrong(number, error.to_string()))?;
            if at > MOST_US {
                return Err(wrong(number, format!("a time of more than ten years, {at} us")));
            }
            if at < last {
                return Err(wrong(number, format!("the time {at} us behind {last} us")));
            }
            if let Input::Open(session, _) = &input
                && !sessions.insert(*session)
            {
                return Err(wrong(number, format!("session {session} again")));
            }
            last = at;
            inputs.push((Instant::from_micros(at), input));
        }
        Ok(Self { header, inputs, path: path.to_owned() })
    }

    /// The network that was recorded.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// True if it was written to the end of the network.
    pub fn is_complete(&self) -> bool {
        matches!(self.inputs.last(), Some((_, Input::End)))
    }
}

/// Reads a line with its end. False at the end of the file, also if that has cut the last line off.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    file.read_until(b'\n', line)?;
    Ok(line.ends_with(b"\n"))
}

/// Replays a recording in the world of a seed, and writes the frames to `capture`. `None` if it is interrupted.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay(
    recording: &Recording,
    scenario: &Scenario,
    seed: u64,
    capture: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<Option<Replayed>, ReplayError> {
    let plan = Plan::new(scenario)?;
    let header = &recording.header;
    let is_stream = scenario.session.protocol.is_stream();
    let mut replay = Replay {
        recording,
        scenario: scenario.clone(),
        nodes: plan.nodes(),
        world: World::new(&plan, seed, header.outside, is_stream),
        is_exact: header.sources == *scenario.sources() && header.seed == seed,
        is_stream,
        watch: Watch { frames: 0, capture: capture.map(|path| LiveCapture::create(scenario, path)).transpose()? },
        interrupt,
        in_handshake: BTreeSet::new(),
        packets: Vec::new(),
        records: Vec::new(),
    };
    for (at, input) in &recording.inputs {
        if !replay.run_until(*at)? {
            return Ok(None);
        }
        replay.apply(input)?;
        replay.hand_over();
    }
    for session in replay.world.sessions() {
        replay.world.complete(session);
        replay.close(session)?;
    }
    if let Some(capture) = replay.watch.capture.take() {
        capture.finish()?;
    }
    Ok(Some(Replayed { records: replay.records, frames: replay.watch.frames }))
}

struct Replay<'a> {
    recording: &'a Recording,
    /// As it is now, with all changes.
    scenario: Scenario,
    nodes: usize,
    world: World<'a>,
    /// True if it is the network of the recording: then programs also read when they did.
    is_exact: bool,
    is_stream: bool,
    watch: Watch,
    interrupt: &'a Interrupt,
    /// The conversations whose secrets the capture does not have yet.
    in_handshake: BTreeSet<u64>,
    packets: Vec<(slowhand_net::address::Host, Vec<u8>)>,
    records: Vec<Record>,
}

/// Sees every frame.
struct Watch {
    frames: u64,
    capture: Option<LiveCapture<BufWriter<File>>>,
}

impl Observer for Watch {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.frames += 1;
        if let Some(capture) = &mut self.capture {
            capture.transmission(frame);
        }
    }
}

impl Replay<'_> {
    /// Runs the world until something comes in. False if the replay is interrupted. Frames are written as they come: much
    /// may happen until then.
    fn run_until(&mut self, at: Instant) -> Result<bool, ReplayError> {
        while self.world.now() < at {
            if self.interrupt.is_set() {
                return Ok(false);
            }
            let next = self.world.deadline().filter(|&due| due < at).unwrap_or(at);
            self.world.run_until(next, &mut self.watch);
            self.hand_over();
            self.write_frames()?;
        }
        Ok(!self.interrupt.is_set())
    }

    /// Writes the frames whose turn it is, and before them the secrets of the handshakes that are complete: a reader that reads
    /// once decrypts what follows only.
    fn write_frames(&mut self) -> Result<(), CaptureError> {
        if self.watch.capture.is_none() {
            return Ok(());
        }
        let is_complete = |session: &u64| {
            self.world.entry(*session).is_some_and(|entry| self.world.state(entry.id).phase != Phase::Handshake)
        };
        let complete: Vec<u64> = self.in_handshake.iter().copied().filter(is_complete).collect();
        for session in complete {
            self.write_secrets(session)?;
        }
        let Some(capture) = &mut self.watch.capture else { return Ok(()) };
        capture.write_until(self.world.now())
    }

    /// Writes the secrets of a conversation, once.
    fn write_secrets(&mut self, session: u64) -> Result<(), CaptureError> {
        if !self.in_handshake.remove(&session) {
            return Ok(());
        }
        let secrets = self.world.entry(session).map_or_else(Vec::new, |entry| self.world.key_log(entry.id));
        match &mut self.watch.capture {
            Some(capture) if !secrets.is_empty() => capture.secrets(secrets.iter().map(String::as_str)),
            _ => Ok(()),
        }
    }

    /// Programs take what has arrived. In the network of the recording, those of streams do so when they did.
    fn hand_over(&mut self) {
        while let Some(session) = self.world.bell.next() {
            if (!self.is_stream || !self.is_exact)
                && let Some(entry) = self.world.entry(session)
            {
                entry.lines.iter().flatten().for_each(|line| while line.next().is_some() {});
            }
        }
        self.world.take_packets(&mut self.packets);
        self.packets.clear();
    }

    fn apply(&mut self, input: &Input<'static>) -> Result<(), ReplayError> {
        let world = &mut self.world;
        match input {
            Input::Open(session, opening) => {
                if !(1..self.nodes).contains(&usize::from(opening.node)) {
                    let path = self.recording.path.clone();
                    return Err(ReplayError::Node { path, node: opening.node, last: self.nodes - 1 });
                }
                world.open(*session, opening);
                self.in_handshake.insert(*session);
            }
            Input::Put(session, role, octets) => world.put(*session, *role, octets.0.to_vec()),
            Input::Took(session, role, octets) if self.is_exact => {
                if let Some(line) = world.line(*session, *role) {
                    take(line, *octets);
                }
            }
            Input::Took(..) | Input::End => {}
            Input::Wake(session, role) => world.wake(*session, *role, &mut self.watch),
            Input::Lose(session, role, reason) => {
                world.lose(*session, *role, reason, &mut self.watch);
            }
            Input::Finish(session, role) => world.finish_stream(*session, *role),
            Input::Abort(session, role) => world.abort_stream(*session, *role),
            Input::Complete(session) => world.complete(*session),
            Input::SkipHandshake(session) => world.skip_handshake(*session),
            Input::Fail(session, role, reason) => world.fail(*session, *role, reason),
            Input::Close(session) => self.close(*session)?,
            Input::Packet(octets) => {
                let _ = world.send_packet(&octets.0, &mut self.watch); // what was refused is refused again
            }
            Input::Set(change) => {
                world.set(&mut self.scenario, change).map_err(|reason| self.refused(reason))?;
            }
            Input::Switch(node, on) => {
                world.switch(&self.scenario, *node, *on).map_err(|reason| self.refused(reason))?;
            }
            Input::Prune => world.prune(),
            Input::Run => world.run_until(world.now(), &mut self.watch),
        }
        Ok(())
    }

    fn refused(&self, reason: String) -> ReplayError {
        ReplayError::Change { path: self.recording.path.clone(), time_s: self.world.now().as_secs_f64(), reason }
    }

    /// Forgets a conversation, and keeps its record if its ends spoke DTLS or TLS. An emulated end does.
    fn close(&mut self, session: u64) -> Result<(), ReplayError> {
        let Some(entry) = self.world.entry(session).cloned() else { return Ok(()) };
        let lines = || entry.lines.iter().flatten();
        if lines().count() < 2 || lines().any(Line::is_secure) {
            self.records.push(self.world.report(entry.id).handshake);
        }
        self.write_secrets(session)?;
        self.world.close(session);
        Ok(())
    }
}

/// A program takes so many octets of its stream.
fn take(line: &Line, mut octets: usize) {
    while octets > 0
        && let Some(piece) = line.next()
    {
        if piece.len() > octets {
            line.put_back(piece[octets..].to_vec());
        }
        octets = octets.saturating_sub(piece.len());
    }
}
