//! What the adapters of all libraries share: a session is a device and a library that runs on it.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Negotiated, Role};
use crate::device::Device;
use crate::operation::{Performed, Processor};
use crate::session::{Failure, Received, Resumable, Session, Status, Transmit, WriteError};

/// One end of a session inside a library. Every call is made while its device is the current one of the thread: what
/// the library sends, receives, draws and computes goes through the functions of [`device`](crate::device).
pub(crate) trait Library: Send {
    /// Sends a client's first flight.
    fn start(&mut self) -> Progress;

    /// Takes a datagram or bytes of a stream, never empty.
    fn receive(&mut self, input: &[u8]) -> Progress;

    /// Lets the timers expire that are due.
    fn expire(&mut self) -> Progress;

    /// Sends application data of an established session, at most [`room`](Self::room) and never empty.
    fn write(&mut self, data: &[u8]) -> Progress;

    /// Most octets of application data that one datagram has room for; `None`: there are no datagrams.
    fn room(&self) -> Option<usize>;

    /// Sends a close_notify.
    fn close(&mut self) -> Progress;

    /// What an established session has agreed on.
    fn negotiated(&self) -> Option<Negotiated>;

    /// What is kept to resume the session later.
    fn resumable(&mut self) -> Option<Resumable>;
}

/// What a call has led to.
pub(crate) struct Progress {
    pub(crate) state: State,
    /// When a timer expires.
    pub(crate) deadline: Option<Duration>,
}

/// The state of a session, as its library has it.
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
    /// Dropped while `device` is the current one.
    library: ManuallyDrop<L>,
    /// A client has begun with its `start`, a server at once.
    has_begun: bool,
    is_closed: bool,
    is_closed_by_peer: bool,
    status: Status,
    deadline: Option<Duration>,
}

impl<L: Library> LibrarySession<L> {
    /// A session on a device of its own. `set_up` runs there; a device has done so when it booted, so that takes no time.
    ///
    /// # Errors
    /// What `set_up` returns.
    pub(crate) fn new(
        role: Role,
        seed: [u8; 32],
        processor: Arc<dyn Processor>,
        set_up: impl FnOnce() -> Result<L, Failure>,
    ) -> Result<Self, Failure> {
        let mut device = Box::new(Device::new(processor, seed));
        let library = ManuallyDrop::new(device.run(set_up)?);
        device.forget_setup();
        Ok(Self {
            device,
            library,
            has_begun: role == Role::Server,
            is_closed: false,
            is_closed_by_peer: false,
            status: Status::Handshaking,
            deadline: None,
        })
    }

    /// Lets the library go on at `now`.
    fn call(&mut self, now: Duration, call: impl FnOnce(&mut L) -> Progress) {
        self.device.wake(now);
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

    /// When the peer's Finished was verified. A library that does not say it has done so by the end of the call that
    /// completed the handshake.
    fn verified_at(&self) -> Duration {
        let before = if let Status::Established { at } = self.status { Some(at) } else { None };
        self.device.verified_at().or(before).unwrap_or(self.device.clock())
    }

    /// True if there is nothing more to expect from the peer.
    fn is_over(&self) -> bool {
        self.is_closed_by_peer || matches!(self.status, Status::Failed(_))
    }
}

impl<L: Library> Session for LibrarySession<L> {
    fn start(&mut self, now: Duration) {
        if !self.has_begun {
            self.has_begun = true;
            self.call(now, L::start);
        }
    }

    fn handle_input(&mut self, now: Duration, input: &[u8]) {
        if self.has_begun && !self.is_over() && !input.is_empty() {
            self.call(now, |library| library.receive(input));
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.call(now, L::expire);
        }
    }

    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError> {
        if !matches!(self.status, Status::Established { .. }) {
            return Err(WriteError::NotEstablished);
        }
        if let Some(limit) = self.library.room().filter(|room| data.len() > *room) {
            return Err(WriteError::TooLong { length: data.len(), limit });
        }
        if !data.is_empty() {
            self.call(now, |library| library.write(data));
        }
        match &self.status {
            Status::Failed(failure) => Err(failure.clone().into()),
            _ => Ok(()),
        }
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
        self.status.clone()
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
        let library = &mut self.library;
        // SAFETY: nobody uses it after this.
        self.device.run(|| unsafe { ManuallyDrop::drop(library) });
    }
}
