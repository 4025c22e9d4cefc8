//! The common part of all adapters: a session is a device and a library that runs on it.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Negotiated, Role, SessionConfig};
use crate::device::{Clock, Device};
use crate::operation::{Performed, Processor};
use crate::session::{Failure, Received, Resumable, Session, Status, Transmit, WriteError};

/// One end of a session inside a library. During each call with `&mut self`, the session's device is the current one of
/// the thread. The library sends, delivers, draws random numbers and computes through the functions of
/// [`device`](crate::device).
pub(crate) trait Library: Send {
    /// Sends a client's first flight.
    fn start(&mut self) -> Progress;

    /// Processes a datagram, or bytes of a stream; never empty.
    fn handle_input(&mut self, input: &[u8]) -> Progress;

    /// Processes the timers that have expired.
    fn handle_timeout(&mut self) -> Progress;

    /// Sends application data of an established session: not empty, and at most [`max_data`](Self::max_data) octets.
    fn write(&mut self, data: &[u8]) -> Progress;

    /// The most octets of application data that fit into one datagram. `None` for a session over a stream.
    fn max_data(&self) -> Option<usize>;

    /// True if a client whose handshake is not complete may send data all the same (RFC 7918).
    fn may_write_early(&self) -> bool {
        false
    }

    /// Sends a close_notify.
    fn close(&mut self) -> Progress;

    /// The parameters that the two ends of an established session have agreed on.
    fn negotiated(&self) -> Option<Negotiated> {
        None
    }

    /// The state that this end keeps to resume the session later.
    fn resumable(&mut self) -> Option<Resumable> {
        None
    }

    /// Why the session has failed in a call that returns no progress.
    fn failure(&self) -> Option<&Failure> {
        None
    }

    /// True if a server is established before anything has arrived: there is no handshake.
    fn is_established_from_the_beginning(&self) -> bool {
        false
    }
}

/// The result of a call.
pub(crate) struct Progress {
    pub(crate) state: State,
    /// When the next timer expires.
    pub(crate) deadline: Option<Duration>,
}

/// The state of a session in its library.
#[derive(Clone)]
pub(crate) enum State {
    Handshaking,
    Established,
    /// The peer has sent a close_notify.
    ClosedByPeer,
    Failed(Failure),
}

/// A session of a library.
pub(crate) struct LibrarySession<L: Library> {
    device: Box<Device>,
    /// Is dropped while `device` is the current one.
    library: ManuallyDrop<L>,
    /// True for a server; for a client, true after `start`.
    has_started: bool,
    is_closed: bool,
    is_closed_by_peer: bool,
    status: Status,
    deadline: Option<Duration>,
}

impl<L: Library> LibrarySession<L> {
    /// A session on a device of its own, which has this clock. `set_up` runs on that device
    /// and takes no time, as a device does it when it boots.
    ///
    /// # Errors
    /// The errors that `set_up` returns.
    pub(crate) fn new(
        config: &SessionConfig,
        processor: Arc<dyn Processor>,
        clock: Clock,
        set_up: impl FnOnce() -> Result<L, Failure>,
    ) -> Result<Self, Failure> {
        let mut device = Box::new(Device::new(Some(config.role), config.seed, clock, config.arithmetic));
        let library = ManuallyDrop::new(device.run(set_up)?);
        device.begin(processor);
        let has_started = config.role == Role::Server;
        let status = match has_started && library.is_established_from_the_beginning() {
            true => Status::Established { at: device.clock() },
            false => Status::Handshaking,
        };
        Ok(Self { device, library, has_started, is_closed: false, is_closed_by_peer: false, status, deadline: None })
    }

    /// Calls the library at `now`, and keeps the result.
    fn call(&mut self, now: Duration, call: impl FnOnce(&mut L) -> Progress) {
        self.device.advance_clock(now);
        let library = &mut *self.library;
        let progress = self.device.run(|| call(library));
        self.deadline = progress.deadline;
        self.status = match progress.state {
            State::Failed(failure) => Status::Failed(failure),
            State::ClosedByPeer => {
                self.is_closed_by_peer = true;
                Status::Closed
            }
            _ if self.is_closed => Status::Closed,
            State::Handshaking => Status::Handshaking,
            State::Established => Status::Established { at: self.verified_at() },
        };
    }

    /// When the peer's Finished was verified. If the library does not report it: the end of the call that completed the
    /// handshake.
    fn verified_at(&self) -> Duration {
        let before = if let Status::Established { at } = self.status { Some(at) } else { None };
        self.device.verified_at().or(before).unwrap_or(self.device.clock())
    }

    /// True if this session ignores all further input: it has failed, or the peer has closed it.
    fn is_over(&self) -> bool {
        self.is_closed_by_peer || matches!(self.status, Status::Failed(_)) || self.library.failure().is_some()
    }
}

impl<L: Library> Session for LibrarySession<L> {
    fn start(&mut self, now: Duration) {
        if !self.has_started {
            self.has_started = true;
            self.call(now, L::start);
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        if self.has_started && !self.is_over() && !input.is_empty() {
            self.call(now, |library| library.handle_input(input));
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.call(now, L::handle_timeout);
        }
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        if !matches!(self.status, Status::Established { .. }) && !self.may_write_early() {
            return Err(WriteError::NotEstablished);
        }
        let limit = self.library.max_data();
        if let Some(failure) = self.library.failure() {
            return Err(failure.clone().into());
        }
        if let Some(limit) = limit.filter(|limit| data.len() > *limit) {
            return Err(WriteError::TooLong { length: data.len(), limit });
        }
        if !data.is_empty() && !self.is_over() {
            self.call(now, |library| library.write(data));
        }
        match self.status() {
            Status::Failed(failure) => Err(failure.into()),
            _ => Ok(()),
        }
    }

    fn may_write_early(&self) -> bool {
        self.status == Status::Handshaking && self.library.may_write_early()
    }

    fn close(&mut self, now: Duration) {
        if !self.is_closed && matches!(self.status, Status::Established { .. } | Status::Closed) {
            self.is_closed = true;
            self.call(now, L::close);
        }
    }

    fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.device.poll_transmit()
    }

    fn poll_received(&mut self) -> Option<Received<'_>> {
        self.device.poll_received()
    }

    fn deadline(&self) -> Option<Duration> {
        if self.is_over() { None } else { self.deadline }
    }

    fn busy_until(&self) -> Duration {
        self.device.clock()
    }

    fn status(&self) -> Status {
        self.library.failure().map_or_else(|| self.status.clone(), |failure| Status::Failed(failure.clone()))
    }

    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.device.drain_operations(receive);
    }

    fn key_log(&self) -> Vec<String> {
        self.device.key_log().to_vec()
    }

    fn resumable(&mut self) -> Option<Resumable> {
        let library = &mut *self.library;
        self.device.run(|| library.resumable())
    }

    fn negotiated(&self) -> Option<Negotiated> {
        if !matches!(self.status, Status::Established { .. }) {
            return None;
        }
        self.library.negotiated()
    }
}

impl<L: Library> Drop for LibrarySession<L> {
    fn drop(&mut self) {
        self.device.finish();
        let library = &mut self.library;
        // SAFETY: this is the end of the session, and nothing uses the library after this.
        self.device.run(|| unsafe { ManuallyDrop::drop(library) });
    }
}
