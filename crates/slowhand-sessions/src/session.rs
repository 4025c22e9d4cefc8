//! The trait of a session: the same for every protocol and library.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::config::Negotiated;
use crate::operation::Performed;

/// One end of a secure session, driven by the owner of the world's clock and network.
///
/// It does no I/O. Give it a datagram (or bytes, if the session runs over a stream) or a time. Then take out all that
/// it sends and all that it has received, and ask for its next deadline. All times count from the beginning of the
/// world.
///
/// A device takes time to compute, and its clock advances by that time. So what a call sends is ready later than the
/// `now` of the call ([`Transmit::at`]), and the library's timers start at that later time. The device is busy until
/// [`busy_until`](Self::busy_until): the owner keeps input and timeouts until then. An earlier call takes effect at
/// that time.
///
/// The clock stops 2^64 - 1 ns (584 years) after the beginning of the world. Later times count as that time.
///
/// Any order of calls is safe. A call that is not possible in the present state does nothing, or returns the error that
/// its documentation names.
pub trait Session: Send {
    /// Sends the client's first flight. Does nothing for a server, or if the client has already started.
    fn start(&mut self, now: Duration);

    /// Processes one datagram that has arrived (or bytes of a stream, of any number). Does nothing if the client has
    /// not started, if the session has failed, or if the peer has closed it.
    ///
    /// If the library refuses a datagram, it drops the datagram or ends the session: see [`status`](Self::status).
    fn handle_input(&mut self, now: Duration, input: &[u8]);

    /// False while the session has no room for input. Then what arrived over a stream stays in the receive buffer of TCP.
    /// Datagrams do not wait. A session of a library always has room.
    fn takes_input(&self) -> bool {
        true
    }

    /// Processes the timers that have expired at `now`. By default there are none: for a session without a library.
    fn handle_timeout(&mut self, _now: Duration) {}

    /// Encrypts and sends application data: in one datagram, or over a stream in as many records as needed. Sends
    /// nothing if `data` is empty.
    ///
    /// # Errors
    /// The session is not established (but see [`may_write_early`](Self::may_write_early)), or the data do not fit into one datagram,
    /// or the library fails. In the last case
    /// the session has failed too.
    fn write(&mut self, now: Duration, data: &[u8]) -> Result<(), WriteError>;

    /// True if this end may [`write`](Self::write) already, although it has not verified the peer's Finished: a client with False Start
    /// (RFC 7918), whose own Finished is sent.
    fn may_write_early(&self) -> bool {
        false
    }

    /// Tells the peer that this end sends no more data (`close_notify`, RFC 5246 section 7.2.1). Does nothing before
    /// the session is established, or if this end has closed it already. The session still receives what the peer
    /// sends.
    fn close(&mut self, now: Duration);

    /// The next datagram for the network, or the next write to the stream, in the order of their times.
    ///
    /// Each write of the library is one write here. The layer that carries the stream cuts it into segments.
    fn poll_transmit(&mut self) -> Option<Transmit<'_>>;

    /// The next application data from the peer, in the order in which the device decrypted it. Usually the content of
    /// one record, but a library may join or split records. By default there are no data.
    fn poll_received(&mut self) -> Option<Received<'_>> {
        None
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next. `None` if no timer runs.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// When each of its timers is due: that of the session itself, and that of the messages of CoAP in its records.
    /// [`deadline`](Self::deadline) is the earlier one. By default no messages have a timer of their own.
    fn timers(&self) -> [Option<Duration>; 2] {
        [self.deadline(), None]
    }

    /// The time until which the device computes. By default it computes nothing.
    fn busy_until(&self) -> Duration {
        Duration::ZERO
    }

    /// The state of the session. If it has failed, [`Failure::reason`] says why, as its library says it.
    fn status(&self) -> Status;

    /// When this end verified the peer's Finished. A session that carries messages of CoAP may fail because of them, and its handshake
    /// is complete all the same. `None` if it is not, or if that is not known of a session that has failed or was closed.
    fn completed_at(&self) -> Option<Duration> {
        match self.status() {
            Status::Established { at } => Some(at),
            _ => None,
        }
    }

    /// Passes the operations since the last call to `receive`, in time order, and forgets them. A session that is none of
    /// a library has none.
    fn drain_operations(&mut self, _receive: &mut dyn FnMut(Performed)) {}

    /// The secrets that Wireshark needs to decrypt the session, as lines of a key log (NSS format, `SSLKEYLOGFILE`)
    /// without line ends. A session of version 1.2 has one line. TLS 1.3 has one line for each traffic secret that
    /// exists so far. Empty if the secrets are not known.
    fn key_log(&self) -> Vec<String> {
        Vec::new()
    }

    /// The state that this end keeps to resume its session later. `None` if its configuration does not ask for resumption,
    /// or if there is nothing to keep yet.
    fn resumable(&mut self) -> Option<Resumable> {
        None
    }

    /// The parameters that the two ends have agreed on. `None` while the session is not established, or if it is not known.
    fn negotiated(&self) -> Option<Negotiated> {
        None
    }
}

/// A datagram (or bytes of a stream) that a session sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// When the device had it ready.
    pub at: Duration,
    /// The octets; for a session over datagrams the whole UDP payload.
    pub bytes: &'a [u8],
    /// The contents of the protected records of DTLS 1.3 in it, in their order: each as a record of epoch 0 and number 0, with its
    /// true type and without padding (RFC 9147 section 4, `DTLSPlaintext`). With it, its owner knows which messages a
    /// datagram carries, and which of them it repeats. Empty if there are no such records, or if the library does not say.
    pub contents: &'a [u8],
}

/// Application data that a session has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// When the device had decrypted it.
    pub at: Duration,
    /// The octets.
    pub bytes: &'a [u8],
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The handshake is not complete; perhaps it has not begun.
    Handshaking,
    /// This end has verified the peer's Finished.
    Established {
        /// When it did that.
        at: Duration,
    },
    /// The session was established, and one of the two ends has closed it.
    Closed,
    /// The session has failed, during the handshake or later.
    Failed(Failure),
}

/// Why a session failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The kind of the failure, the same for all libraries.
    pub kind: FailureKind,
    /// The library's own description. Sessions that fail in the same way have the same reason: it contains no times and
    /// no addresses. tinyDTLS has no descriptions, so its adapter gives them.
    pub reason: String,
}

impl Failure {
    /// An error of the library itself.
    pub(crate) fn library(code: i32, reason: impl Into<String>) -> Self {
        Self { kind: FailureKind::Library { code }, reason: reason.into() }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The peer did not answer the last retransmission.
    TimedOut,
    /// The peer sent a fatal alert.
    AlertReceived {
        /// AlertDescription of RFC 5246 section 7.2.
        description: u8,
    },
    /// The library ended the session with an error of its own.
    Library {
        /// The library's error code; 0 if it has none (rustls).
        code: i32,
    },
}

/// Why application data was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The handshake is not complete, or the session is closed or has failed.
    #[error("the session is not established")]
    NotEstablished,
    /// The data do not fit into one datagram. The session has sent nothing.
    #[error("{length} octets do not fit into one datagram of this session; the limit is {limit}")]
    TooLong {
        /// Octets of the data.
        length: usize,
        /// The most that fit.
        limit: usize,
    },
    /// The library failed, so the session has failed too.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// The state that an end keeps to resume a session later, in a form of its library.
#[derive(Clone, Debug)]
pub struct Resumable(Arc<dyn Any + Send + Sync>);

impl Resumable {
    /// Wraps the state that a library keeps, in a type of its own.
    pub fn new<T: Any + Send + Sync>(kept: T) -> Self {
        Self(Arc::new(kept))
    }

    /// The octets that another device of the same owner needs to resume the session in the place of this one, as its library writes it.
    /// `None` if the library has no format for it, or if a server has kept it in another one.
    pub fn octets(&self) -> Option<&[u8]> {
        self.get::<zeroize::Zeroizing<Vec<u8>>>().map(|octets| octets.as_slice())
    }

    /// The state that was kept, if it is a `T`: each library keeps a type of its own.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}
