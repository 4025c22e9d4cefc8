//! A session that takes nothing and sends nothing.

use slowhand_sessions::{Session, Status, Transmit, WriteError};
use std::time::Duration;

/// In the place of a session of which nothing is known, or which is needed no more.
pub(crate) struct Silent(Box<dyn Fn() -> Status + Send>);

impl Silent {
    /// That of a host outside of the world, of whose session something is known.
    pub(crate) fn telling(status: Box<dyn Fn() -> Status + Send>) -> Self {
        Self(status)
    }

    /// That of a host outside of the world: what it verifies is not known.
    pub(crate) fn established() -> Self {
        Self(Box::new(|| Status::Established { at: Duration::ZERO }))
    }

    /// That of an attempt that has failed.
    pub(crate) fn unfinished() -> Self {
        Self(Box::new(|| Status::Handshaking))
    }
}

impl Session for Silent {
    fn start(&mut self, _now: Duration) {}

    fn handle_input(&mut self, _now: Duration, _input: &[u8]) {}

    fn write(&mut self, _now: Duration, _data: &[u8]) -> Result<(), WriteError> {
        Err(WriteError::NotEstablished)
    }

    fn close(&mut self, _now: Duration) {}

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        None
    }

    fn status(&self) -> Status {
        (self.0)()
    }
}
