//! The one trait through which the laboratory sees every library.

use std::fmt;
use std::time::Duration;

use crate::config::{Protocol, Suite};
use crate::operation::Performed;
use crate::resumption::Resumable;

/// One end of a secure session, driven by whoever owns the world's clock and network.
///
/// Sans-I/O: give it a datagram (or, for a stream session, bytes) or a time, then take out what
/// it sends until there is nothing left, then ask for its next deadline. All times are counted
/// from the beginning of the world.
///
/// The device computes, and its clock runs as it does: what a call makes the library send is
/// stamped with the time at which the device had it ready ([`Transmit::at`], never before the
/// `now` of the call), and the library's timers start there. Until
/// [`busy_until`](Self::busy_until) the device answers nothing: the owner holds input and timeouts
/// back until then. A session that is called earlier starts at that time instead.
pub trait Session: Send {
    /// Sends the client's first flight. Nothing for a server.
    fn start(&mut self, now: Duration);

    /// Takes one datagram that arrived (or, for a stream session, bytes, split anyhow).
    ///
    /// What the library refuses is dropped or ends the handshake, as the library has it; it is
    /// never an error of this call.
    fn handle_input(&mut self, now: Duration, input: &[u8]);

    /// Lets timers expire that are due at `now`.
    fn handle_timeout(&mut self, now: Duration);

    /// The next datagram to hand to the network, or the next write to the stream, in the order of their times.
    ///
    /// What a library writes at once is one write: how it falls into segments is the business of what carries
    /// the stream.
    fn poll_transmit(&mut self) -> Option<Transmit<'_>>;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next; `None`: no timer runs.
    fn deadline(&self) -> Option<Duration>;

    /// The device computes until then.
    fn busy_until(&self) -> Duration;

    /// How far the handshake is.
    fn status(&self) -> Status;

    /// Hands over, and forgets, what was computed since the last call, in time order.
    fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed));

    /// The secrets of a session of version 1.2, once they exist; TLS 1.3 has no master secret.
    fn secrets(&self) -> Option<Secrets>;

    /// The lines that the NSS key log format (`SSLKEYLOGFILE`) has for this session, without line ends: one for
    /// a session of version 1.2, one for each traffic secret of TLS 1.3 as soon as it exists.
    fn key_log(&self) -> Vec<String> {
        self.secrets().iter().map(Secrets::key_log_line).collect()
    }

    /// What this end keeps of its session to resume it later, where its configuration asks for that.
    fn resumable(&mut self) -> Option<Resumable> {
        None
    }

    /// What the two ends agreed on, once the handshake is complete.
    fn negotiated(&self) -> Option<Negotiated>;
}

/// A datagram (or bytes of a stream) that a session sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// When the device had it ready.
    pub at: Duration,
    /// The octets; for a datagram session the whole UDP payload.
    pub bytes: &'a [u8],
}

/// How far a handshake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It goes on (or has not begun).
    Handshaking,
    /// This end has verified the peer's Finished.
    Established {
        /// When it had.
        at: Duration,
    },
    /// It has ended without success.
    Failed(Failure),
}

/// Why a handshake failed.
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
    /// The library ended the handshake with an error of its own.
    #[error("the library failed: {text} (code {code})")]
    Library {
        /// The library's error code; 0 where it has none (rustls).
        code: i32,
        /// What the library says about it.
        text: String,
    },
}

/// The secrets of a session of TLS or DTLS 1.2.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// The random of the ClientHello (RFC 5246 section 7.4.1.2).
    pub client_random: [u8; 32],
    /// The master secret (RFC 5246 section 8.1).
    pub master_secret: [u8; 48],
}

impl Secrets {
    /// The line that the NSS key log format (`SSLKEYLOGFILE`) has for this session, without a
    /// line end.
    pub fn key_log_line(&self) -> String {
        key_log_line("CLIENT_RANDOM", &self.client_random, &self.master_secret)
    }
}

/// A line of the NSS key log format.
pub(crate) fn key_log_line(label: &str, client_random: &[u8], secret: &[u8]) -> String {
    format!("{label} {} {}", Hex(client_random), Hex(secret))
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("client_random", &Hex(&self.client_random)).finish_non_exhaustive()
    }
}

/// Octets in lower-case hexadecimal.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What the two ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// The protocol version.
    pub protocol: Protocol,
    /// The cipher suite.
    pub suite: Suite,
    /// Octets of the connection ID that this end's protected records carry (RFC 9146); `None`
    /// when connection IDs were not agreed on.
    pub connection_id: Option<u8>,
}
