//! The sender of recoverable fragments (RFC 8931 section 6).

use super::super::cursor::Writer;
use super::super::{Contexts, Error, Link, MAX_COMPRESSED, compress, headers_of_first};
use super::{MAX_FRAGMENT_SIZE, MAX_FRAGMENTS, Rfrag, RfragAck, bit};
use crate::clock::{Duration, Instant};

/// The protocol's parameters (RFC 8931 section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// The octets of a frame payload, header included.
    pub capacity: usize,
    /// OptWindowSize: the number of fragments before the sender requests an acknowledgement, 1 to 32.
    pub window: usize,
    /// OptARQTimeOut: how long the sender waits for an acknowledgement. If it adapts this time, the longest one.
    pub timeout: Duration,
    /// True if a node measures the round trip to each end, and computes the timeout from that as in RFC 6298 (assumed:
    /// section 7.1 names limits, and no rule).
    pub adaptive: bool,
    /// MaxFragRetries: how often the sender sends a fragment again before it gives the packet up.
    pub max_retries: u8,
    /// True if the sender sends the first fragment alone, and waits for its acknowledgement. The first fragment sets up
    /// the path: a router that receives another fragment before it makes the sender give the packet up (section 6.1.2).
    pub first_alone: bool,
}

impl Default for RecoveryConfig {
    /// RIOT's defaults (`gnrc/sixlowpan/config.h`): window 16, 700 ms, 2 retries. The capacity is that of a whole
    /// frame. `first_alone` is assumed: RIOT sends the other fragments at once.
    fn default() -> Self {
        let capacity = super::super::FRAME_CAPACITY;
        let timeout = Duration::from_millis(700);
        Self { capacity, window: 16, timeout, adaptive: false, max_retries: 2, first_alone: true }
    }
}

impl RecoveryConfig {
    /// The time that a sender requests acknowledgements before it gives a packet up, without the time on the air.
    pub fn persistence(&self) -> Duration {
        self.timeout * (u64::from(self.max_retries) + 1)
    }
}

/// The state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There are fragments to send: [`Sender::next_frame`].
    Sending,
    /// Waiting for an acknowledgement until [`Sender::deadline`].
    Waiting,
    /// Every fragment has arrived.
    Delivered,
    /// Given up, by the receiver or because a fragment was sent as often as allowed.
    Failed,
}

/// Sends a packet in recoverable fragments. It does not keep the packet: pass the packet with every call.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    config: RecoveryConfig,
    header: [u8; MAX_COMPRESSED],
    /// The octets of `header` in use.
    compressed: usize,
    /// The octets of the packet that `header` replaces.
    uncompressed: usize,
    /// The octets of the compressed packet.
    size: usize,
    /// The octets of the compressed packet in the first fragment, and in each other fragment.
    first: usize,
    piece: usize,
    tag: u8,
    /// The current window size, in fragments.
    window: usize,
    /// The bitmap of acknowledged fragments.
    acknowledged: u32,
    /// The bitmap of fragments of this window that are not sent yet.
    flight: u32,
    /// The number of times that each fragment was sent.
    sent: [u8; MAX_FRAGMENTS],
    deadline: Option<Instant>,
    /// True if the sender must tell the receiver that it gives the packet up.
    abort: bool,
    state: State,
    /// The time that it waits now.
    timeout: Duration,
    /// When the fragment left that requests an acknowledgement, if no fragment was sent twice so far.
    asked_at: Option<Instant>,
}

impl Sender {
    /// Prepares `packet` for recoverable fragments over `link`. `tag` must differ from the tags of all other packets on
    /// their way from this node.
    ///
    /// # Errors
    /// As [`compress`]; [`Error::Capacity`] if a frame is too small for the compressed header, and
    /// [`Error::TooLong`] if the packet needs more than 32 fragments.
    pub fn new(packet: &[u8], link: Link, contexts: &Contexts, tag: u8, config: RecoveryConfig) -> Result<Self, Error> {
        let mut header = [0; MAX_COMPRESSED];
        let room = headers_of_first(&mut header, config.capacity, Rfrag::LENGTH);
        let done = compress(packet, link, contexts, room)?;
        let size = packet.len() - done.consumed + done.written;
        let needed = Rfrag::LENGTH + done.written;
        if config.capacity < needed {
            return Err(Error::Capacity { needed, found: config.capacity });
        }
        let piece = (config.capacity - Rfrag::LENGTH).min(MAX_FRAGMENT_SIZE);
        let window = config.window.clamp(1, MAX_FRAGMENTS);
        let mut sender = Self {
            config: RecoveryConfig { window, ..config },
            header,
            compressed: done.written,
            uncompressed: done.consumed,
            size,
            first: piece,
            piece,
            tag,
            window,
            acknowledged: 0,
            flight: 0,
            sent: [0; MAX_FRAGMENTS],
            deadline: None,
            abort: false,
            state: State::Sending,
            timeout: config.timeout,
            asked_at: None,
        };
        if sender.fragments() > MAX_FRAGMENTS {
            return Err(Error::TooLong(packet.len()));
        }
        sender.start_window();
        Ok(sender)
    }

    /// Leaves up to `octets` of the first fragment free: its compressed header may grow on its path (RFC 8931 section
    /// 4.1; see [`forwarding::SLACK`](super::super::forwarding::SLACK)).
    ///
    /// # Errors
    /// [`Error::TooLong`] if the packet then needs more than 32 fragments.
    pub fn with_slack(mut self, octets: usize) -> Result<Self, Error> {
        self.first -= octets.min(self.first - self.compressed);
        if self.fragments() > MAX_FRAGMENTS {
            return Err(Error::TooLong(self.size));
        }
        self.start_window();
        Ok(self)
    }

    /// The number of fragments of the packet.
    pub fn fragments(&self) -> usize {
        1 + self.size.saturating_sub(self.first).div_ceil(self.piece)
    }

    /// The tag of the packet.
    pub const fn tag(&self) -> u8 {
        self.tag
    }

    /// The state of the packet.
    pub const fn state(&self) -> State {
        self.state
    }

    /// When the timer of the acknowledgement expires.
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The number of fragments sent so far, repetitions included.
    pub fn frames_sent(&self) -> usize {
        self.sent.iter().map(|&times| usize::from(times)).sum()
    }

    /// Writes the next frame payload into `out`, and returns its length; `None` if there is nothing to send now.
    /// `packet` is the one given to [`new`](Self::new).
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`] if `out` is smaller than the capacity, [`Error::Truncated`] if `packet` is another
    /// one. Then the next call gives the same frame.
    pub fn next_frame(&mut self, now: Instant, packet: &[u8], out: &mut [u8]) -> Result<Option<usize>, Error> {
        let mut out = Writer::new(out);
        if self.abort {
            out.slice(&Rfrag { tag: self.tag, ..Rfrag::default() }.emit())?;
            self.abort = false;
            return Ok(Some(out.written()));
        }
        if self.flight == 0 {
            return Ok(None);
        }
        let sequence = self.flight.leading_zeros() as usize;
        let is_last = self.flight == bit(sequence);
        self.emit(sequence, is_last, packet, &mut out)?;
        self.flight &= !bit(sequence);
        self.sent[sequence] += 1;
        if is_last {
            self.state = State::Waiting;
            self.deadline = Some(now + self.timeout);
        }
        Ok(Some(out.written()))
    }

    /// Handles an acknowledgement. Ignores one with another tag.
    pub fn handle_acknowledgement(&mut self, acknowledgement: &RfragAck) {
        let is_over = matches!(self.state, State::Delivered | State::Failed);
        if is_over || acknowledgement.tag != self.tag {
            return;
        }
        if acknowledgement.bitmap == RfragAck::NULL {
            return self.finish(State::Failed);
        }
        self.acknowledged |= acknowledgement.bitmap & self.all();
        if self.acknowledged == self.all() {
            return self.finish(State::Delivered);
        }
        self.resize_window(acknowledgement.congestion);
        match self.state {
            State::Waiting => self.start_window(),
            // The acknowledgement is late: a retransmission has begun. The fragments that it confirms need not be sent
            // again. The last fragment stays, because it requests the next acknowledgement.
            _ => {
                let rest = self.flight & !self.acknowledged;
                let last = self.flight & self.flight.wrapping_neg();
                self.flight = rest | last;
            }
        }
    }

    /// The round trip that an acknowledgement ends which arrives now. None if a fragment was sent twice: nobody knows then
    /// which copy is acknowledged (Karn's algorithm, RFC 6298 section 3).
    pub fn round_trip(&self, now: Instant) -> Option<Duration> {
        self.asked_at.map(|asked| now.since(asked))
    }

    /// Changes how long it waits for an acknowledgement, at most to the configured time.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout.min(self.config.timeout);
    }

    /// Starts to send the missing fragments again, if the timer of the acknowledgement has expired.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.set_timeout(self.timeout * 2);
            self.start_window();
        }
    }

    /// Restarts the timer of the acknowledgement: the last frame has left this node only now.
    pub fn handle_departure(&mut self, now: Instant) {
        if self.state == State::Waiting {
            self.deadline = Some(now + self.timeout);
            self.asked_at = self.sent.iter().all(|&times| times <= 1).then_some(now);
        }
    }

    /// Starts the next window of fragments. Each fragment is sent once before any is sent again. Missing fragments are
    /// sent again in order (RFC 8931 section 6).
    fn start_window(&mut self) {
        (self.deadline, self.asked_at) = (None, None);
        self.state = State::Sending;
        let unsent = self.unsent();
        let mut missing = self.all() & !self.acknowledged;
        if self.config.first_alone && missing & bit(0) != 0 {
            missing = bit(0);
        } else if unsent != 0 {
            missing = unsent;
        }
        let mut room = self.window;
        self.flight = 0;
        while missing != 0 && room > 0 {
            let sequence = missing.leading_zeros() as usize;
            if self.sent[sequence] > self.config.max_retries {
                self.abort = true;
                return self.finish(State::Failed);
            }
            self.flight |= bit(sequence);
            missing &= !bit(sequence);
            room -= 1;
        }
    }

    /// Halves the window on congestion; else increases it by one (assumed: RFC 8931 section 6.3 leaves the rule open).
    fn resize_window(&mut self, congestion: bool) {
        self.window = if congestion { (self.window / 2).max(1) } else { (self.window + 1).min(self.config.window) };
    }

    fn finish(&mut self, state: State) {
        self.flight = 0;
        self.deadline = None;
        self.state = state;
    }

    /// The bitmap of the fragments that were never sent.
    fn unsent(&self) -> u32 {
        (0..self.fragments()).filter(|&sequence| self.sent[sequence] == 0).fold(0, |map, sequence| map | bit(sequence))
    }

    /// The bitmap of all fragments of the packet.
    fn all(&self) -> u32 {
        u32::MAX << (MAX_FRAGMENTS - self.fragments())
    }

    fn emit(
        &self,
        sequence: usize,
        wants_acknowledgement: bool,
        packet: &[u8],
        out: &mut Writer<'_>,
    ) -> Result<(), Error> {
        let end = (self.first + sequence * self.piece).min(self.size);
        let begin = if sequence == 0 { 0 } else { self.first + (sequence - 1) * self.piece };
        // There are at most 32 times 1023 octets, so sizes and offsets fit into their fields.
        let header = Rfrag {
            congestion: false,
            tag: self.tag,
            wants_acknowledgement,
            sequence: sequence as u8,
            fragment_size: (end - begin) as u16,
            fragment_offset: if sequence == 0 { self.size } else { begin } as u16,
        };
        out.slice(&header.emit())?;
        let begin = if sequence == 0 {
            out.slice(&self.header[..self.compressed])?;
            self.uncompressed
        } else {
            begin - self.compressed + self.uncompressed
        };
        let end = end - self.compressed + self.uncompressed;
        out.slice(packet.get(begin..end).ok_or(Error::Truncated)?)
    }
}
