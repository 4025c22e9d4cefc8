//! The trait through which the owner of a network drives a session of any protocol and library.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::Negotiated;
use crate::operation::Performed;

/// One end of a secure session, driven by the owner of the world's clock and network.
///
/// It does no I/O: give it a datagram (or, for a session over a stream, bytes) or a time; take out what it sends and
/// what it has received until there is nothing left; then ask for its next deadline. All times are counted from the
/// beginning of the world.
///
/// The device computes, and its clock runs as it does: what a call makes the library send is stamped with the time at
/// which the device had it ready ([`Transmit::at`], never before the `now` of the call), and the library's timers start
/// there. Until [`busy_until`](Self::busy_until) the device answers nothing: the owner holds input and timeouts back
/// until then. A call that comes earlier takes effect at that time instead.
///
/// Any order of calls is safe. A call that makes no sense in the present state does nothing, or returns an error if
/// its documentation says so.
pub trait Session: Send {
    /// Sends the client's first flight. Does nothing at a server, and nothing the second time.
    fn start(&mut self, now: Duration);

    /// Takes one datagram that arrived (or, for a session over a stream, bytes, split anyhow). A client that has not
    /// started ignores it.
    ///
    /// A datagram that the library refuses is dropped or ends the handshake, as the library does it. It is never an
    /// error of this call.
    fn handle_input(&mut self, now: Duration, input: &[u8]);

    /// Lets the timers expire that are due at `now`.
    fn handle_timeout(&mut self, now: Duration);

    /// Sends application data, all of it: over datagrams in one datagram, over a stream in as many records as it takes.
    /// The device encrypts first. Empty data sends nothing.
    ///
    /// # Errors
    /// The session is not established; or the data do not fit into one datagram; or the library fails, and the
    /// session with it.
    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError>;

    /// Says that this end sends no more (`close_notify`, RFC 5246 section 7.2.1). Does nothing before the session is
    /// established, and nothing the second time. What the peer still sends is received.
    fn close(&mut self, now: Duration);

    /// The next datagram to hand to the network, or the next write to the stream, in the order of their times.
    ///
    /// What a library writes at once is one write. The layer that carries the stream decides how it becomes segments.
    fn poll_transmit(&mut self) -> Option<Transmit<'_>>;

    /// The next application data from the peer, in the order in which the device decrypted them: the content of one
    /// record at a time.
    fn poll_received(&mut self) -> Option<Received<'_>>;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next; `None`: no timer runs.
    fn deadline(&self) -> Option<Duration>;

    /// The device computes until then.
    fn busy_until(&self) -> Duration;

    /// The state of the session.
    fn status(&self) -> Status;

    /// Hands over, and forgets, what was computed since the last call, in time order.
    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed));

    /// The secrets with which Wireshark decrypts the session, as lines of a key log (the NSS format, `SSLKEYLOGFILE`)
    /// without line ends: one line for a session of version 1.2, one for each traffic secret of TLS 1.3 as soon as it
    /// exists.
    fn key_log(&self) -> Vec<String>;

    /// What this end keeps of its session to resume it later, if its configuration asks for that.
    fn resumable(&mut self) -> Option<Resumable>;

    /// What the two ends have agreed on, while the session is established.
    fn negotiated(&self) -> Option<Negotiated>;
}

/// A datagram (or bytes of a stream) that a session sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// When the device had it ready.
    pub at: Duration,
    /// The octets; for a session over datagrams the whole UDP payload.
    pub bytes: &'a [u8],
}

/// Application data that a session has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// When the device had decrypted them.
    pub at: Duration,
    /// The octets.
    pub bytes: &'a [u8],
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The handshake goes on (or has not begun).
    Handshaking,
    /// This end has verified the peer's Finished.
    Established {
        /// The time of that.
        at: Duration,
    },
    /// The session was established, and one of the two ends has closed it.
    Closed,
    /// The session has ended without success.
    Failed(Failure),
}

/// Why a session failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The library has sent its last retransmission in vain.
    #[error("timed out: the last retransmission was not answered")]
    TimedOut,
    /// The peer sent a fatal alert (RFC 5246 section 7.2).
    #[error("the peer sent a fatal alert, description {description}")]
    AlertReceived {
        /// AlertDescription of RFC 5246 section 7.2.
        description: u8,
    },
    /// The library ended the session with an error of its own.
    #[error("the library failed: {text} (code {code})")]
    Library {
        /// The library's error code; 0 if it has none (rustls).
        code: i32,
        /// What the library says about it.
        text: String,
    },
}

/// Why application data were not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The handshake is not complete, or the session is over.
    #[error("the session is not established")]
    NotEstablished,
    /// The data do not fit into one datagram. Nothing was sent.
    #[error("{length} octets: a datagram of this session has room for {limit}")]
    TooLong {
        /// Octets of the data.
        length: usize,
        /// The most that fit.
        limit: usize,
    },
    /// The library failed, and the session with it.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// What an end keeps of a session to resume it later, in its library's own form.
#[derive(Clone)]
pub struct Resumable(Arc<dyn Any + Send + Sync>);

impl Resumable {
    pub(crate) fn new<T: Any + Send + Sync>(kept: T) -> Self {
        Self(Arc::new(kept))
    }

    /// What was kept, if a library that keeps a `T` has kept it.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Resumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumable").finish_non_exhaustive()
    }
}
