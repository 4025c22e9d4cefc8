//! One connection: the state machine of RFC 9293 section 3.3.2.

mod input;
mod output;
mod timeout;

use std::net::Ipv6Addr;

use crate::clock::{Duration, Instant};
pub use crate::ip::{Ecn as EcnMark, Endpoint};

use super::config::{ConfigError, KeepAlive, Nagle, Rto, TcpConfig};
use super::options::{Options, TIMESTAMPS_LEN};
use super::receiver::Receiver;
use super::segment::HEADER_LEN;
use super::sender::Sender;
use super::seq::SeqNumber;
use super::statistics::Statistics;
use super::timers::{Timer, Timers};

/// The MSS of a peer that announces none (RFC 9293 section 3.7.1: 1220 over IPv6).
const DEFAULT_PEER_MSS: u16 = 1220;

/// The largest number of octets of options (RFC 9293 section 3.1: a data offset of 15 words).
const MAX_OPTIONS_LEN: usize = 40;

/// The states of RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no connection any more.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Sent a SYN, waits for the SYN of the peer.
    SynSent,
    /// Received the peer's SYN, waits for the acknowledgement of its own SYN.
    SynReceived,
    /// Open.
    Established,
    /// Closed on this side; the FIN is not acknowledged yet.
    FinWait1,
    /// Closed on this side; the peer may still send.
    FinWait2,
    /// Closed on the peer's side; this side may still send.
    CloseWait,
    /// Closed on both sides; the FIN of this side is not acknowledged yet.
    Closing,
    /// Closed on the peer's side, then on this side; the FIN of this side is not acknowledged yet.
    LastAck,
    /// Closed; it stays to acknowledge a repeated FIN.
    TimeWait,
}

/// Why a connection failed, or why a call is not possible.
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
    /// This side called [`Connection::close`], so it cannot write.
    #[error("this side closed the connection: nothing can be written after close")]
    Closed,
}

/// A segment that was written to the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The octets of the segment.
    pub len: usize,
    /// The ECN field for its IP header.
    pub ecn: EcnMark,
}

/// A reset to send: its sequence number, and its acknowledgement number if it has one.
type Reset = (SeqNumber, Option<SeqNumber>);

/// The state of the handshake.
#[derive(Debug, Default)]
struct Handshake {
    /// True if a SYN or SYN-ACK must be sent.
    due: bool,
    first_sent: Option<Instant>,
    retransmitted: u32,
}

/// The options that both sides have agreed on.
#[derive(Clone, Copy, Debug, Default)]
struct Negotiated {
    timestamps: bool,
    sack: bool,
    ecn: bool,
    /// The window scale of the peer.
    peer_shift: u8,
    /// The window scale of this side, if both sides scale.
    own_shift: Option<u8>,
}

/// One TCP connection.
///
/// After each call that changes it ([`handle_segment`](Self::handle_segment),
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
    /// The peer's timestamp to return (RFC 7323 section 4.3, `TS.Recent`).
    peer_clock: u32,
    reset: Option<Reset>,
    /// When the last challenge ACK was sent.
    last_challenge: Option<Instant>,
    keep_alive_due: bool,
    keep_alive_probes: u8,
}

impl Connection {
    /// Opens a connection. The first [`poll_transmit`](Self::poll_transmit) gives the SYN.
    /// The caller draws `initial_seq` from its own source of randomness.
    ///
    /// # Errors
    /// A field of `config` has a value that is not allowed.
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

    /// Waits for a SYN of any peer. The first peer that sends one gets the connection.
    ///
    /// # Errors
    /// A field of `config` has a value that is not allowed.
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

    /// Why the connection failed, if it has.
    pub fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// The endpoint of this side.
    pub fn local(&self) -> Endpoint {
        self.local
    }

    /// The endpoint of the peer; `None` before the first SYN.
    pub fn remote(&self) -> Option<Endpoint> {
        self.remote
    }

    /// The counters of this connection.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.sender.rtt.smoothed()
    }

    /// The retransmission timeout, back-off included.
    pub fn retransmission_timeout(&self) -> Duration {
        self.sender.rtt.timeout()
    }

    /// Changes the limits of the retransmission timer of a live connection, for a proxy that knows more
    /// about the path than measurements show. They hold from the next segment on. A timer that runs
    /// already does not change.
    ///
    /// # Errors
    /// A value is not allowed; then nothing changes.
    pub fn set_rto(&mut self, rto: Rto) -> Result<(), ConfigError> {
        let config = TcpConfig { rto, ..self.config.clone() };
        config.validate()?;
        self.config = config;
        self.sender.rtt.set_limits(rto);
        Ok(())
    }

    /// Changes when a small segment waits (`TCP_NODELAY`). It holds from the next segment on.
    pub fn set_nagle(&mut self, nagle: Nagle) {
        self.sender.set_nagle(nagle);
    }

    /// Changes the probes on an idle connection (`SO_KEEPALIVE`): it is idle from now on.
    ///
    /// # Errors
    /// A value is not allowed; then nothing changes.
    pub fn set_keep_alive(&mut self, now: Instant, keep_alive: Option<KeepAlive>) -> Result<(), ConfigError> {
        let config = TcpConfig { keep_alive, ..self.config.clone() };
        config.validate()?;
        self.config = config;
        self.keep_alive_probes = 0;
        self.timers.stop(Timer::KeepAlive);
        let is_open = !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait
        );
        if let Some(keep) = keep_alive.filter(|_| is_open) {
            self.timers.set(Timer::KeepAlive, now + keep.idle);
        }
        Ok(())
    }

    /// The congestion window, in octets.
    pub fn congestion_window(&self) -> u32 {
        self.sender.congestion.window()
    }

    /// The octets sent and not acknowledged.
    pub fn in_flight(&self) -> u32 {
        self.sender.in_flight()
    }

    /// The octets written and not acknowledged, sent or not.
    pub fn unacknowledged(&self) -> u32 {
        self.sender.buffer.end().since(self.sender.una())
    }

    /// The octets of payload in a full segment, when the connection is open.
    pub fn segment_size(&self) -> u32 {
        self.sender.mss
    }

    /// The longest segment that [`poll_transmit`](Self::poll_transmit) can write: its buffer must be at
    /// least as long.
    pub fn max_segment_len(&self) -> usize {
        HEADER_LEN + MAX_OPTIONS_LEN + usize::from(self.config.mss)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// The number of octets that [`write`](Self::write) would accept.
    pub fn writable(&self) -> usize {
        if self.can_write() { self.sender.buffer.room() } else { 0 }
    }

    /// The number of octets that can be [`read`](Self::read) now.
    pub fn readable(&self) -> usize {
        self.receiver.unread()
    }

    /// True if everything up to the peer's FIN was read.
    pub fn at_end(&self) -> bool {
        self.receiver.is_finished() && self.receiver.unread() == 0
    }

    /// True if all written data, and the FIN after [`close`](Self::close), are acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.una() == self.sender.buffer.end()
    }

    fn can_write(&self) -> bool {
        let open = matches!(self.state, State::SynSent | State::SynReceived | State::Established | State::CloseWait);
        open && !self.sender.buffer.is_finished()
    }

    /// Writes as many octets as fit into the send buffer, and returns their number.
    ///
    /// # Errors
    /// The connection failed, or this side has closed it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, ConnectionError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.can_write() {
            return Err(ConnectionError::Closed);
        }
        Ok(self.sender.buffer.write(bytes))
    }

    /// Reads octets that arrived in order, and returns their number. Zero means that there are none now;
    /// if [`at_end`](Self::at_end) is true, there will be no more.
    ///
    /// # Errors
    /// The connection failed, and everything that arrived before was read.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, ConnectionError> {
        match (self.receiver.read(into), self.error) {
            (0, Some(error)) if !self.at_end() => Err(error),
            (count, _) => Ok(count),
        }
    }

    /// Closes this side: a FIN follows the written data. The peer may still send, and this side can
    /// still read.
    pub fn close(&mut self) {
        match self.state {
            State::Listen => self.enter_closed(),
            // Data that was written before the connection opened is still delivered.
            State::SynSent | State::SynReceived => self.sender.buffer.finish(),
            State::Established => {
                self.sender.buffer.finish();
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.sender.buffer.finish();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Ends the connection at once, and sends the peer a reset.
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

    /// Handles the options of the peer's SYN, and passes the result to sender and receiver.
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
        // A segment has at least one octet, however small the peer's MSS is.
        let mss = self.config.mss.min(peer_mss).saturating_sub(taken).max(1);
        let sack = agreed.sack;
        self.sender.open(mss.into(), sack, window.into(), seq);
        self.receiver.synchronise(seq + 1, sack);
    }

    /// The clock for the timestamps option, with one tick in each millisecond (RFC 7323 section 5.4).
    fn clock_ticks(now: Instant) -> u32 {
        (now.as_micros() / 1_000) as u32
    }
}
