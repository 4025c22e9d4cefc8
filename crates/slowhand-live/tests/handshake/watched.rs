//! A session of a library that a watcher watches.

use std::time::Duration;

use slowhand_live::handshake::Watcher;
use slowhand_sessions::{Negotiated, Performed, Received, Resumable, Role, Session, Status, Transmit, WriteError};

/// Passes all calls on, and notes when the watcher first says that the session is established.
pub struct Watched {
    session: Box<dyn Session>,
    pub watcher: Watcher,
    /// The time that the watcher says.
    pub seen: Option<Duration>,
    /// The time that the library says.
    pub told: Option<Duration>,
}

impl Watched {
    pub fn new(session: Box<dyn Session>, role: Role, is_stream: bool) -> Self {
        let watcher = if is_stream { Watcher::of_stream(role) } else { Watcher::of_datagrams(role) };
        Self { session, watcher, seen: None, told: None }
    }

    fn note(&mut self, at: Duration) {
        if self.watcher.is_established() {
            self.seen.get_or_insert(at);
        }
        if let Status::Established { at } = self.session.status() {
            self.told.get_or_insert(at);
        }
    }
}

impl Session for Watched {
    fn start(&mut self, now: Duration) {
        self.session.start(now);
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        self.session.handle_input(now, input);
        self.watcher.received(input);
        self.note(now);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.session.handle_timeout(now);
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        self.session.write(now, data)
    }

    fn close(&mut self, now: Duration) {
        self.session.close(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        let transmit = self.session.poll_transmit()?;
        self.watcher.sent(transmit.bytes);
        if self.watcher.is_established() {
            self.seen.get_or_insert(transmit.at);
        }
        Some(transmit)
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        self.session.poll_received()
    }

    fn deadline(&self) -> Option<Duration> {
        self.session.deadline()
    }

    fn busy_until(&self) -> Duration {
        self.session.busy_until()
    }

    fn status(&self) -> Status {
        self.session.status()
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.session.drain_operations(receive);
    }

    fn key_log(&self) -> Vec<String> {
        self.session.key_log()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        self.session.resumable()
    }

    fn negotiated(&self) -> Option<Negotiated> {
        self.session.negotiated()
    }
}
