//! One connection: the state machine of RFC 9293 section 3.3.2.

mod input;
mod output;
mod timeout;

use std::net::Ipv6Addr;

use crate::clock::{Duration, Instant};
pub use crate::ip::{Ecn as EcnMark, Endpoint};

use super::config::{ConfigError, Rto, TcpConfig};
use super::options::{Options, TIMESTAMPS_LEN};
use super::receiver::Receiver;
use super::segment::HEADER_LEN;
use super::sender::Sender;
use super::seq::SeqNumber;
use super::statistics::Statistics;
use super::timers::{Timer, Timers};

/// The MSS of a peer that does not say (RFC 9293 section 3.7.1: 1220 over IPv6).
const DEFAULT_PEER_MSS: u16 = 1220;

/// The octets that options take at most (RFC 9293 section 3.1: a data offset of 15 words).
const MAX_OPTIONS_LEN: usize = 40;

/// The states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection any more.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Sent a SYN, waits for the peer's.
    SynSent,
    /// Has the peer's SYN, waits for the acknowledgment of its own.
    SynReceived,
    /// Open.
    Established,
    /// Closed on our side, the FIN not yet acknowledged.
    FinWait1,
    /// Closed on our side; the peer may still send.
    FinWait2,
    /// Closed on the peer's side; we may still send.
    CloseWait,
    /// Closed on both sides, our FIN not yet acknowledged.
    Closing,
    /// Closed on the peer's side, then on ours; our FIN not yet acknowledged.
    LastAck,
    /// Closed; stays to acknowledge a FIN that comes again.
    TimeWait,
}

/// Why a connection failed, or why a call on it makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The peer answered the SYN with a reset: nothing listens there.
    #[error("connection refused: nothing listens on the peer's port")]
    Refused,
    /// The peer reset the connection.
    #[error("connection reset by the peer")]
    Reset,
    /// The peer did not answer: [`TcpConfig::retries`], [`Syn::retries`](super::Syn::retries) or
    /// [`KeepAlive::probes`](super::KeepAlive::probes) were used up.
    #[error("connection timed out: all retransmissions stayed without an answer")]
    TimedOut,
    /// This side called [`Connection::abort`].
    #[error("connection aborted by this side")]
    Aborted,
    /// This side called [`Connection::close`]; it cannot write any more.
    #[error("this side closed the connection: nothing can be written after close")]
    Closed,
}

/// A segment that was written to the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Its octets.
    pub len: usize,
    /// The ECN field that its IP header is to have.
    pub ecn: EcnMark,
}

/// A reset to be sent: its sequence number, and its acknowledgment if it has one.
type Reset = (SeqNumber, Option<SeqNumber>);

/// The exchange of SYNs.
#[derive(Debug, Default)]
struct Handshake {
    /// A SYN, or SYN-ACK, is to be sent.
    due: bool,
    first_sent: Option<Instant>,
    retransmitted: u32,
}

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, Default)]
struct Negotiated {
    timestamps: bool,
    sack: bool,
    ecn: bool,
    /// The shift of the peer's windows.
    peer_shift: u8,
    /// The shift of ours, if both sides scale.
    own_shift: Option<u8>,
}

/// One TCP connection.
///
/// The rule of use: after each call that changes it ([`handle_segment`](Self::handle_segment),
/// [`handle_timeout`](Self::handle_timeout), [`write`](Self::write), [`read`](Self::read),
/// [`close`](Self::close), [`abort`](Self::abort)), call
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`, then ask for the
/// [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Connection {
    config: TcpConfig,
    local: Endpoint,
    remote: Option<Endpoint>,
    state: State,
    error: Option<ConnectionError>,
    sender: Sender,
    receiver: Receiver,
    timers: Timers,
    statistics: Statistics,
    initial_seq: SeqNumber,
    handshake: Handshake,
    negotiated: Negotiated,
    /// The peer's clock to give back (RFC 7323 section 4.3, `TS.Recent`).
    peer_clock: u32,
    reset: Option<Reset>,
    /// When we last answered a segment that carried nothing and did not fit.
    last_challenge: Option<Instant>,
    keep_alive_due: bool,
    keep_alive_probes: u8,
}

impl Connection {
    /// Opens a connection. The first [`poll_transmit`](Self::poll_transmit) gives the SYN.
    /// `initial_seq` is the caller's choice, from its own source of randomness.
    ///
    /// # Errors
    /// A field of `config` with a value it cannot have.
    pub fn connect(
        config: &TcpConfig,
        local: Endpoint,
        remote: Endpoint,
        initial_seq: SeqNumber,
    ) -> Result<Self, ConfigError> {
        let mut connection = Self::new(config, local, initial_seq)?;
        connection.remote = Some(remote);
        connection.state = State::SynSent;
        connection.handshake.due = true;
        Ok(connection)
    }

    /// Waits for the SYN of any peer, and becomes the connection with the first that sends one.
    ///
    /// # Errors
    /// A field of `config` with a value it cannot have.
    pub fn listen(config: &TcpConfig, local: Endpoint, initial_seq: SeqNumber) -> Result<Self, ConfigError> {
        Self::new(config, local, initial_seq)
    }

    fn new(config: &TcpConfig, local: Endpoint, initial_seq: SeqNumber) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            config: config.clone(),
            local,
            remote: None,
            state: State::Listen,
            error: None,
            sender: Sender::new(config, initial_seq + 1),
            receiver: Receiver::new(config),
            timers: Timers::default(),
            statistics: Statistics::default(),
            initial_seq,
            handshake: Handshake::default(),
            negotiated: Negotiated::default(),
            peer_clock: 0,
            reset: None,
            last_challenge: None,
            keep_alive_due: false,
            keep_alive_probes: 0,
        })
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why the connection failed, if it did.
    pub fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// This side.
    pub fn local(&self) -> Endpoint {
        self.local
    }

    /// The peer, once it is known.
    pub fn remote(&self) -> Option<Endpoint> {
        self.remote
    }

    /// What happened so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The smoothed round-trip time, once there is a measurement.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.sender.rtt.smoothed()
    }

    /// The retransmission timeout, back-off included.
    pub fn retransmission_timeout(&self) -> Duration {
        self.sender.rtt.timeout()
    }

    /// Changes the limits of the retransmission timer while the connection lives: for a proxy
    /// that knows more of the path than its measurements show. They hold from the next
    /// segment on; a timer that runs already goes on.
    ///
    /// # Errors
    /// A value it cannot have; nothing changes.
    pub fn set_rto(&mut self, rto: Rto) -> Result<(), ConfigError> {
        let config = TcpConfig { rto, ..self.config.clone() };
        config.validate()?;
        self.config = config;
        self.sender.rtt.set_limits(rto);
        Ok(())
    }

    /// The congestion window, in octets.
    pub fn congestion_window(&self) -> u32 {
        self.sender.congestion().window()
    }

    /// Octets sent and not acknowledged.
    pub fn in_flight(&self) -> u32 {
        self.sender.in_flight()
    }

    /// Octets written and not acknowledged, sent or not.
    pub fn unacknowledged(&self) -> u32 {
        self.sender.buffer().end().since(self.sender.una())
    }

    /// The octets of payload of a full segment, once the connection is open.
    pub fn segment_size(&self) -> u32 {
        self.sender.mss()
    }

    /// The longest segment that [`poll_transmit`](Self::poll_transmit) can write: give it a
    /// buffer of at least this.
    pub fn max_segment_len(&self) -> usize {
        HEADER_LEN + MAX_OPTIONS_LEN + usize::from(self.config.mss)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Octets that [`write`](Self::write) would take.
    pub fn writable(&self) -> usize {
        if self.can_write() { self.sender.buffer().room() } else { 0 }
    }

    /// Octets that wait to be [`read`](Self::read).
    pub fn readable(&self) -> usize {
        self.receiver.unread()
    }

    /// Whether all that the peer had to say was read.
    pub fn at_end(&self) -> bool {
        self.receiver.is_finished() && self.receiver.unread() == 0
    }

    /// Whether all that was written, and the FIN after [`close`](Self::close), is acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.una() == self.sender.buffer().end()
    }

    fn can_write(&self) -> bool {
        let open = matches!(self.state, State::SynSent | State::SynReceived | State::Established | State::CloseWait);
        open && !self.sender.buffer().is_finished()
    }

    /// Takes as many octets as there is room for, and returns how many.
    ///
    /// # Errors
    /// The connection failed, or this side closed it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, ConnectionError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.can_write() {
            return Err(ConnectionError::Closed);
        }
        Ok(self.sender.buffer_mut().write(bytes))
    }

    /// Copies out what arrived in order, and returns how many octets; zero where there is
    /// nothing now, and for ever where [`at_end`](Self::at_end) holds.
    ///
    /// # Errors
    /// The connection failed, and all that arrived before was read.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, ConnectionError> {
        match (self.receiver.read(into), self.error) {
            (0, Some(error)) if !self.at_end() => Err(error),
            (count, _) => Ok(count),
        }
    }

    /// Says that this side has no more to write: a FIN goes out behind what was written. The
    /// peer may go on, and what it sends can be read.
    pub fn close(&mut self) {
        match self.state {
            State::Listen => self.enter_closed(),
            // What was written before the connection opened is still delivered.
            State::SynSent | State::SynReceived => self.sender.buffer_mut().finish(),
            State::Established => {
                self.sender.buffer_mut().finish();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.buffer_mut().finish();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Ends the connection at once; the peer gets a reset.
    pub fn abort(&mut self) {
        if self.state == State::Closed {
            return;
        }
        let synchronised = !matches!(self.state, State::Listen | State::SynSent);
        if synchronised && self.state != State::TimeWait {
            self.reset = Some((self.sender.next_new(), Some(self.receiver.next())));
        }
        self.fail(ConnectionError::Aborted);
    }

    fn fail(&mut self, error: ConnectionError) {
        self.error = self.error.or(Some(error));
        self.enter_closed();
    }

    fn enter_closed(&mut self) {
        self.state = State::Closed;
        self.handshake.due = false;
        self.timers.stop_all();
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.timers.stop_all();
        self.timers.set(Timer::TimeWait, now + self.config.time_wait);
    }

    /// Agrees on options (a SYN arrived), and tells both halves.
    fn negotiate(&mut self, seq: SeqNumber, window: u16, peer: &Options) {
        let agreed = &mut self.negotiated;
        agreed.timestamps = self.config.timestamps && peer.timestamps.is_some();
        agreed.sack = self.config.sack && peer.sack_permitted;
        if let (Some(own), Some(peer)) = (self.config.window_scale, peer.window_scale) {
            agreed.own_shift = Some(own);
            agreed.peer_shift = peer;
        }
        if let Some(stamps) = peer.timestamps {
            self.peer_clock = stamps.value;
        }
        let taken = if agreed.timestamps { TIMESTAMPS_LEN } else { 0 };
        let peer_mss = peer.mss.unwrap_or(DEFAULT_PEER_MSS);
        // At least one octet a segment, however small the MSS that a peer dares to announce.
        let mss = self.config.mss.min(peer_mss).saturating_sub(taken).max(1);
        let sack = agreed.sack;
        self.sender.open(mss.into(), sack, window.into(), seq);
        self.receiver.synchronise(seq + 1, sack);
    }

    /// The value of our clock for the timestamps option: a tick a millisecond (RFC 7323
    /// section 5.4).
    fn clock_ticks(now: Instant) -> u32 {
        (now.as_micros() / 1_000) as u32
    }
}
