//! An engine in its world, as a [`Session`].

use std::time::Duration;

use slowhand_sessions::{Failure, Received, Resumable, Role, Session, Status, Transmit, WriteError};

use crate::host::Host;
use crate::setup::Setup;

/// One end of a session of a library. All calls are inside [`Host::run`], and use the functions of [`crate::host`].
pub(crate) trait Engine: Send {
    fn start(&mut self) -> Progress;
    fn handle_input(&mut self, datagram: &[u8]) -> Progress;
    fn handle_timeout(&mut self) -> Progress;
    fn write(&mut self, data: &[u8]) -> Progress;
    fn close(&mut self) -> Progress;

    /// What this end keeps to resume its session.
    fn keep(&mut self) -> Option<Resumable> {
        None
    }
}

/// The result of a call.
pub(crate) struct Progress {
    pub(crate) state: State,
    pub(crate) deadline: Option<Duration>,
}

pub(crate) enum State {
    Handshaking,
    Established,
    Closed,
    Failed(Failure),
}

pub(crate) struct End<E: Engine> {
    engine: Option<E>,
    host: Host,
    status: Status,
    deadline: Option<Duration>,
    is_client: bool,
    last_sent: Vec<u8>,
    last_received: Vec<u8>,
}

impl<E: Engine> End<E> {
    /// Makes the engine in its world.
    pub(crate) fn new(setup: &Setup, make: impl FnOnce() -> Result<E, String>) -> Result<Self, String> {
        let mut host = Host::new(setup.seed, setup.before);
        let engine = Some(host.run(make)?);
        let status = Status::Handshaking;
        let is_client = setup.role == Role::Client;
        Ok(Self { engine, host, status, deadline: None, is_client, last_sent: Vec::new(), last_received: Vec::new() })
    }

    fn call(&mut self, now: Duration, call: impl FnOnce(&mut E) -> Progress) {
        self.host.now = self.host.now.max(now);
        let (Some(engine), Status::Handshaking | Status::Established { .. }) = (&mut self.engine, &self.status) else {
            return;
        };
        let Progress { state, deadline } = self.host.run(|| call(engine));
        self.deadline = deadline;
        match (state, &self.status) {
            (State::Handshaking, _) | (State::Established, Status::Established { .. }) => {}
            (State::Established, _) => self.status = Status::Established { at: self.host.now },
            (State::Closed, _) => self.status = Status::Closed,
            (State::Failed(failure), _) => self.status = Status::Failed(failure),
        }
        if matches!(self.status, Status::Closed | Status::Failed(_)) {
            self.deadline = None;
        }
    }
}

impl<E: Engine> Session for End<E> {
    fn start(&mut self, now: Duration) {
        if self.is_client {
            self.call(now, E::start);
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        self.call(now, |engine| engine.handle_input(input));
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.call(now, E::handle_timeout);
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        if !matches!(self.status, Status::Established { .. }) {
            return Err(WriteError::NotEstablished);
        }
        self.call(now, |engine| engine.write(data));
        match &self.status {
            Status::Failed(failure) => Err(WriteError::Failed(failure.clone())),
            _ => Ok(()),
        }
    }

    fn close(&mut self, now: Duration) {
        if matches!(self.status, Status::Established { .. }) {
            self.call(now, E::close);
        }
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.last_sent = self.host.sent.pop_front()?;
        Some(Transmit { at: self.host.now, bytes: &self.last_sent, contents: &[] })
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        self.last_received = self.host.received.pop_front()?;
        Some(Received { at: self.host.now, bytes: &self.last_received })
    }

    fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    fn busy_until(&self) -> Duration {
        self.host.now
    }

    fn status(&self) -> Status {
        self.status.clone()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        let engine = self.engine.as_mut()?;
        self.host.run(|| engine.keep())
    }
}

impl<E: Engine> Drop for End<E> {
    /// A library may use its world while it is taken down.
    fn drop(&mut self) {
        let engine = self.engine.take();
        self.host.run(|| drop(engine));
    }
}
