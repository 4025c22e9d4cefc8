//! A session that passes everything to a program outside, and takes what the program sends.
//!
//! The world has the [`Relay`], as it has the session of a library. The driver has the [`Line`] to the same program, and
//! moves octets between it and a socket.

use crate::handshake::Watcher;
use slowhand_sessions::{Failure, FailureKind, Role, Session, Status, Transmit, WriteError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Octets that wait for a program that does not read. Then the rest waits in the receive buffer of the emulated TCP, and
/// its window closes. *Assumed*: the default of Linux's socket buffer for sending (tcp(7), `tcp_wmem`).
const MOST_WAITING: usize = 16 * 1024;

/// The datagrams that wait for a program. The next one takes the place of the oldest. *Assumed*: more than a socket buffer
/// takes at once.
const MOST_DATAGRAMS: usize = 1024;

/// The program's end of a conversation, as the world sees it.
#[derive(Debug)]
pub(crate) struct Relay {
    shared: Arc<Mutex<Shared>>,
    /// The octets that [`Session::poll_transmit`] lends.
    sending: Vec<u8>,
}

/// The program's end of a conversation, as the driver sees it.
#[derive(Clone, Debug)]
pub(crate) struct Line(Arc<Mutex<Shared>>);

/// Rings when something has happened at the end of a program: the numbers of such conversations, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bell(Arc<Mutex<BTreeSet<u64>>>);

impl Bell {
    /// A conversation for which the bell has rung.
    pub(crate) fn next(&self) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_first()
    }

    fn ring(&self, session: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(session);
    }
}

#[derive(Debug)]
struct Shared {
    is_stream: bool,
    session: u64,
    bell: Bell,
    /// The octets that the program sent: datagrams, or pieces of a stream.
    to_network: VecDeque<Vec<u8>>,
    to_program: VecDeque<Vec<u8>>,
    /// The octets of that.
    waiting: usize,
    watcher: Watcher,
    /// The latest time that was told.
    now: Duration,
    established: Option<Duration>,
    failure: Option<String>,
}

/// Both sides of a program's end. The bell rings when something has arrived for it.
pub(crate) fn relay(role: Role, is_stream: bool, session: u64, bell: &Bell) -> (Relay, Line) {
    let shared = Arc::new(Mutex::new(Shared {
        is_stream,
        session,
        bell: bell.clone(),
        to_network: VecDeque::new(),
        to_program: VecDeque::new(),
        waiting: 0,
        watcher: if is_stream { Watcher::of_stream(role) } else { Watcher::of_datagrams(role) },
        now: Duration::ZERO,
        established: None,
        failure: None,
    }));
    (Relay { shared: Arc::clone(&shared), sending: Vec::new() }, Line(shared))
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn note(&mut self) {
        if self.watcher.is_established() {
            self.established.get_or_insert(self.now);
        }
    }
}

impl Line {
    /// The program sent this. The caller wakes the conversation.
    pub(crate) fn send(&self, now: Duration, octets: Vec<u8>) {
        let mut shared = lock(&self.0);
        shared.now = now;
        shared.to_network.push_back(octets);
    }

    /// The next datagram, or piece of the stream, for the program.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        let mut shared = lock(&self.0);
        let octets = shared.to_program.pop_front()?;
        shared.waiting -= octets.len();
        Some(octets)
    }

    /// The program did not take this yet.
    pub(crate) fn put_back(&self, octets: Vec<u8>) {
        let mut shared = lock(&self.0);
        shared.waiting += octets.len();
        shared.to_program.push_front(octets);
    }

    /// True if nothing waits for the program.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.0).to_program.is_empty()
    }

    /// The program failed. Returns false if that was known. The caller wakes the conversation.
    pub(crate) fn fail(&self, reason: String) -> bool {
        let failure = &mut lock(&self.0).failure;
        let is_new = failure.is_none();
        failure.get_or_insert(reason);
        is_new
    }

    /// True if an end has said that the session is over.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.0).watcher.is_closed()
    }

    /// True if the programs speak DTLS or TLS.
    pub(crate) fn is_secure(&self) -> bool {
        lock(&self.0).watcher.is_secure()
    }
}

impl Session for Relay {
    fn start(&mut self, _now: Duration) {}

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        let mut shared = lock(&self.shared);
        shared.now = now;
        shared.watcher.received(input);
        shared.note();
        if !shared.is_stream && shared.to_program.len() == MOST_DATAGRAMS {
            let oldest = shared.to_program.pop_front().map_or(0, |oldest| oldest.len());
            shared.waiting -= oldest;
        }
        shared.waiting += input.len();
        shared.to_program.push_back(input.to_vec());
        shared.bell.ring(shared.session);
    }

    /// Called whenever something has happened to the connection of a stream.
    fn takes_input(&self) -> bool {
        let shared = lock(&self.shared);
        shared.bell.ring(shared.session);
        shared.waiting < MOST_WAITING
    }

    fn write(&mut self, _now: Duration, _data: &[u8]) -> Result<(), WriteError> {
        Err(WriteError::NotEstablished) // no application of ours is above a program
    }

    fn close(&mut self, _now: Duration) {}

    /// Octets of the program go out at once: the world takes a time in the past as the present.
    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        let mut shared = lock(&self.shared);
        self.sending = shared.to_network.pop_front()?;
        shared.watcher.sent(&self.sending);
        shared.note();
        Some(Transmit { at: Duration::ZERO, bytes: &self.sending, contents: &[] })
    }

    fn status(&self) -> Status {
        let shared = lock(&self.shared);
        if let Some(at) = shared.established {
            return Status::Established { at };
        }
        let library = |reason: &String| Failure { kind: FailureKind::Library { code: 0 }, reason: reason.clone() };
        let failure = shared.failure.as_ref().map(library).or_else(|| shared.watcher.alert()?.failure());
        failure.map_or(Status::Handshaking, Status::Failed)
    }
}
