//! One connection: the state machine of RFC 4340 section 8.

mod input;
mod output;
mod timeout;

use super::ack_vector::History;
use super::ccid2::Ccid2;
use super::config::{ConfigError, DccpConfig};
use super::feature::Features;
use super::packet::{Body, MAX_HEADER_LEN, ResetCode};
use super::seq::SeqNumber;
use crate::clock::{Duration, Instant};
use crate::ip::{Ecn as EcnMark, Endpoint};
use std::collections::VecDeque;

/// The round trip where none was measured (RFC 4340 section 3.4).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// Twice the maximum segment lifetime of two minutes (RFC 4340 section 3.4).
const TWO_MSL: Duration = Duration::from_secs(240);

/// The states of RFC 4340 section 8.4, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// There is no connection any more.
    Closed,
    /// Waits for a Request.
    Listen,
    /// Sent a Request, waits for the Response.
    Request,
    /// Sent a Response, waits for any other packet of the client.
    Respond,
    /// The client has the Response, and does not know if the server knows.
    PartOpen,
    /// Open.
    Open,
    /// The server has asked the client to close.
    CloseReq,
    /// Sent a Close, waits for the Reset.
    Closing,
    /// Closed; it stays for late packets.
    TimeWait,
}

/// Why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The peer reset the connection.
    #[error("DCCP connection reset by the peer, reset code {}", .0.0)]
    Reset(ResetCode),
    /// This side reset it, because of what the peer sent.
    #[error("DCCP connection reset by this side, reset code {}", .0.0)]
    Refused(ResetCode),
    /// The peer did not answer.
    #[error("DCCP connection timed out: the peer does not answer")]
    TimedOut,
}

/// Why a connection does not take a datagram. It gives the datagram back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError<D> {
    /// The send queue is full.
    Full(D),
    /// The connection closes or is closed, or has not begun.
    Closed(D),
}

/// A packet that was written to the caller's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit<D> {
    /// The octets of the packet.
    pub len: usize,
    /// Its type.
    pub body: Body,
    /// The ECN field for its IP header.
    pub ecn: EcnMark,
    /// The datagram that it carries.
    pub datagram: Option<D>,
}

/// Counters since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Reductions of the congestion window, timeouts apart.
    pub congestion_events: u64,
    /// Timeouts of data.
    pub timeouts: u64,
    /// Datagrams that found the send queue full.
    pub datagrams_dropped: u64,
    /// Packets that carried data and had arrived before.
    pub duplicates_received: u64,
}

/// A packet that is to be sent, apart from data and acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Request,
    Response,
    Ack,
    CloseReq,
    Close,
    /// A Reset, Sync or SyncAck: it names the packet that it answers.
    Answer(Body),
    /// A Reset for a packet that belongs to no connection: it has a number of its own.
    Stray(SeqNumber, Body),
}

/// The timer of the states in which an end repeats a packet.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    due: Instant,
    interval: Duration,
    /// When the state began.
    since: Instant,
}

/// One DCCP connection, which carries datagrams of type `D`.
///
/// After each call that changes it ([`handle_packet`](Self::handle_packet), [`handle_timeout`](Self::handle_timeout),
/// [`send`](Self::send), [`close`](Self::close)), call [`poll_transmit`](Self::poll_transmit) until it returns `None`, and
/// [`poll_dropped`](Self::poll_dropped) too, then ask for the [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Connection<D> {
    config: DccpConfig,
    local: Endpoint,
    remote: Option<Endpoint>,
    is_server: bool,
    state: State,
    error: Option<ConnectionError>,
    statistics: Statistics,
    features: Features,
    congestion: Ccid2,
    history: History,
    /// Datagrams that wait for the window.
    queue: VecDeque<D>,
    /// The datagrams that waited when the connection ended, for the caller.
    dropped: VecDeque<D>,
    /// Packets that wait to be sent.
    control: VecDeque<Control>,
    /// True if the connection closes behind what waits.
    is_finishing: bool,
    /// The first sequence number, and the greatest that was sent (GSS); the first is sent as ISS.
    initial_seq: SeqNumber,
    next_seq: SeqNumber,
    /// The peer's first sequence number (ISR), and the greatest valid one (GSR).
    peer_initial: SeqNumber,
    peer_newest: SeqNumber,
    /// The greatest valid acknowledgement number (GAR).
    newest_ack: SeqNumber,
    /// The number of the packet that opened this side (OSR).
    opened_by: SeqNumber,
    /// Data packets since the last acknowledgement was sent.
    unacknowledged: u16,
    /// True if anything arrived since then.
    has_news: bool,
    ack_timer: Option<Instant>,
    /// True if an acknowledgement without data has arrived since then.
    has_pure_ack: bool,
    /// Data packets that this side has sent since then.
    data_since_ack: u32,
    /// The options of the packet that is being written; kept for its memory.
    options: Vec<u8>,
    repeat: Option<Repeat>,
    time_wait: Option<Instant>,
    last_sync: Option<Instant>,
    request_sent: Option<Instant>,
    requests: u32,
}

impl<D: AsRef<[u8]>> Connection<D> {
    /// Opens a connection. The first [`poll_transmit`](Self::poll_transmit) gives the Request. The caller draws `initial_seq` from
    /// its own source of randomness.
    ///
    /// # Errors
    /// A field of `config` has a value that is not allowed.
    pub fn connect(
        config: &DccpConfig,
        local: Endpoint,
        remote: Endpoint,
        initial_seq: SeqNumber,
    ) -> Result<Self, ConfigError> {
        let mut connection = Self::new(config, local, false, initial_seq)?;
        connection.remote = Some(remote);
        connection.state = State::Request;
        connection.control.push_back(Control::Request);
        Ok(connection)
    }

    /// Waits for a Request of any peer. The first peer that sends one gets the connection.
    ///
    /// # Errors
    /// A field of `config` has a value that is not allowed.
    pub fn listen(config: &DccpConfig, local: Endpoint, initial_seq: SeqNumber) -> Result<Self, ConfigError> {
        Self::new(config, local, true, initial_seq)
    }

    fn new(config: &DccpConfig, local: Endpoint, is_server: bool, initial_seq: SeqNumber) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            local,
            remote: None,
            is_server,
            state: State::Listen,
            error: None,
            statistics: Statistics::default(),
            features: Features::new(is_server, config.ack_ratio),
            congestion: Ccid2::new(config.initial_window, config.rto()),
            history: History::default(),
            queue: VecDeque::new(),
            dropped: VecDeque::new(),
            control: VecDeque::new(),
            is_finishing: false,
            initial_seq,
            next_seq: initial_seq,
            peer_initial: SeqNumber::default(),
            peer_newest: SeqNumber::default(),
            newest_ack: initial_seq,
            opened_by: SeqNumber::default(),
            unacknowledged: 0,
            has_news: false,
            ack_timer: None,
            has_pure_ack: false,
            data_since_ack: 0,
            options: Vec::new(),
            repeat: None,
            time_wait: None,
            last_sync: None,
            request_sent: None,
            requests: 0,
            config: config.clone(),
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

    /// The counters.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.congestion.smoothed_rtt()
    }

    /// The congestion window, and how many data packets are in flight.
    pub fn window(&self) -> (u32, u32) {
        (self.congestion.window(), self.congestion.in_flight())
    }

    /// True if data can be sent.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::PartOpen | State::Open) && !self.is_finishing
    }

    /// The datagrams that wait for the window.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// True if no datagram waits, and no close is on its way.
    pub fn is_idle(&self) -> bool {
        let is_closing = self.is_finishing || matches!(self.state, State::CloseReq | State::Closing);
        self.queue.is_empty() && (!is_closing || matches!(self.state, State::Closed | State::TimeWait))
    }

    /// The octets that [`poll_transmit`](Self::poll_transmit) may write.
    pub fn max_packet_len(&self) -> usize {
        MAX_HEADER_LEN + self.queue.front().map_or(0, |datagram| datagram.as_ref().len())
    }

    /// Sends a datagram as soon as the window has room. It may wait for the connection to open.
    ///
    /// # Errors
    /// The send queue is full, or the connection closes or is closed.
    pub fn send(&mut self, datagram: D) -> Result<(), SendError<D>> {
        let takes_data =
            matches!(self.state, State::Request | State::Respond | State::PartOpen | State::Open) && !self.is_finishing;
        if !takes_data {
            return Err(SendError::Closed(datagram));
        }
        if self.queue.len() >= self.config.send_queue {
            self.statistics.datagrams_dropped += 1;
            return Err(SendError::Full(datagram));
        }
        self.queue.push_back(datagram);
        Ok(())
    }

    /// The next datagram that was taken and will not be sent, because the connection has ended or the peer has asked for its end.
    pub fn poll_dropped(&mut self) -> Option<D> {
        self.dropped.pop_front()
    }

    /// Closes the connection behind the datagrams that wait (section 8.3). A server asks the client to do so.
    pub fn close(&mut self) {
        match self.state {
            State::Listen | State::Request => self.end(None),
            State::Respond | State::PartOpen | State::Open => self.is_finishing = true,
            State::Closed | State::CloseReq | State::Closing | State::TimeWait => {}
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called.
    pub fn deadline(&self) -> Option<Instant> {
        let congestion = self.congestion.deadline().filter(|_| self.has_connection());
        [congestion, self.ack_timer, self.repeat.map(|repeat| repeat.due), self.time_wait].into_iter().flatten().min()
    }

    /// True if a packet of the peer belongs to this connection.
    fn has_connection(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::TimeWait)
    }

    /// The connection is over.
    fn end(&mut self, error: Option<ConnectionError>) {
        self.state = State::Closed;
        self.error = self.error.or(error);
        self.stop();
    }

    /// The connection is over, and late packets may come.
    fn wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.stop();
        self.time_wait = Some(now + TWO_MSL);
    }

    fn stop(&mut self) {
        self.drop_queue();
        self.is_finishing = false;
        (self.ack_timer, self.repeat, self.time_wait) = (None, None, None);
        (self.has_news, self.unacknowledged) = (false, 0);
    }

    /// Nothing that waits will be sent.
    fn drop_queue(&mut self) {
        self.dropped.append(&mut self.queue);
    }

    /// This side ends the connection with a Reset.
    fn reset(&mut self, ack: SeqNumber, code: ResetCode, data: [u8; 3]) {
        self.push(Control::Answer(Body::Reset { ack, code, data }));
        let error = match code {
            ResetCode::ABORTED => ConnectionError::TimedOut,
            code => ConnectionError::Refused(code),
        };
        self.end(Some(error));
    }

    /// Enters a state in which a packet is repeated.
    fn repeat_from(&mut self, now: Instant, state: State, interval: Duration) {
        self.state = state;
        self.repeat = Some(Repeat { due: now + interval, interval, since: now });
    }

    /// A control packet waits. A caller that never polls does not fill the memory.
    fn push(&mut self, control: Control) {
        const MOST: usize = 8;
        if self.control.len() < MOST && self.control.back() != Some(&control) {
            self.control.push_back(control);
        }
    }

    /// The first wait of an end for the answer to Close or CloseReq: two round trips (section 8.3). A path that takes no time
    /// must not make it 0: nothing would end the repetitions.
    fn close_interval(&self) -> Duration {
        self.congestion.smoothed_rtt().map_or(DEFAULT_RTT * 2, |rtt| (rtt * 2).max(DEFAULT_RTT))
    }
}
