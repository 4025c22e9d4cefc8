//! The receiving half of a connection: receive buffer, acknowledgements, announced window.

use crate::clock::Instant;

use super::config::{DelayedAck, TcpConfig};
use super::options::SackBlocks;
use super::ranges::SeqRange;
use super::receive_buffer::ReceiveBuffer;
use super::segment::{Flags, Segment};
use super::sender::ranges_for;
use super::seq::SeqNumber;
use super::statistics::Statistics;
use super::timers::{Timer, Timers};

/// The largest size that is assumed for a full segment before one has arrived (Linux `TCP_MSS_DEFAULT`).
const FIRST_SEGMENT_ESTIMATE: u32 = 536;

#[derive(Debug)]
pub(super) struct Receiver {
    buffer: ReceiveBuffer,
    /// The MSS that this side announced.
    mss: u32,
    /// The window scale of this side, once the handshake is over.
    pub(super) shift: u8,
    /// The right edge of the announced window.
    announced: SeqNumber,
    /// The latest acknowledgement number that was sent.
    pub(super) acknowledged: SeqNumber,
    sack: bool,
    report_duplicates: bool,
    /// The duplicate to report with the next acknowledgement.
    duplicate: Option<SeqRange>,
    delayed_ack: Option<DelayedAck>,
    /// True if an acknowledgement must be sent now.
    pub(super) ack_due: bool,
    /// The largest payload seen: what counts as a full segment.
    full_segment: u32,
    /// The number of acknowledgements that are still to be sent without delay.
    quick: u32,
    /// True if this side answers data with data, which carries the acknowledgement.
    interactive: bool,
    last_data: Option<Instant>,
    /// True if this side must tell the peer that a router marked a segment (RFC 3168 section 6.1.3).
    pub(super) echo_congestion: bool,
}

impl Receiver {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let start = SeqNumber(0);
        let mss = u32::from(config.mss);
        let ranges = ranges_for(config.receive_buffer, mss);
        Self {
            buffer: ReceiveBuffer::new(config.receive_buffer as usize, ranges, start),
            mss,
            shift: 0,
            announced: start,
            acknowledged: start,
            sack: false,
            report_duplicates: config.duplicate_sack,
            duplicate: None,
            delayed_ack: config.delayed_ack,
            ack_due: false,
            full_segment: mss.min(FIRST_SEGMENT_ESTIMATE),
            quick: 0,
            interactive: false,
            last_data: None,
            echo_congestion: false,
        }
    }

    /// Handles the peer's SYN: `next` is the sequence number of the first octet of data.
    pub(super) fn synchronise(&mut self, next: SeqNumber, sack: bool) {
        self.buffer.start_at(next);
        self.announced = next + self.buffer.window();
        self.acknowledged = next;
        self.sack = sack;
    }

    pub(super) fn next(&self) -> SeqNumber {
        self.buffer.next()
    }

    pub(super) fn unread(&self) -> usize {
        self.buffer.unread()
    }

    /// True if the peer's FIN and everything before it have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.buffer.is_finished()
    }

    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        let count = self.buffer.read(into);
        if count > 0 && self.window_grew() {
            self.ack_due = true;
        }
        count
    }

    /// True if the announced window is small and could now be at least twice as large. Then this side
    /// tells the peer at once (silly window avoidance of the receiver, RFC 9293 section 3.8.6.2.2; the
    /// factor of two is Linux's rule).
    fn window_grew(&self) -> bool {
        let announced = self.announced.since(self.buffer.next());
        let window = self.buffer.window();
        2 * announced <= self.buffer.capacity() as u32
            && window >= 2 * announced
            && window - announced >= self.least_growth()
    }

    fn least_growth(&self) -> u32 {
        self.mss.min(self.buffer.capacity() as u32 / 2).max(1)
    }

    /// The rest of the announced window. This side must accept that many octets.
    pub(super) fn window(&self) -> u32 {
        self.announced.since(self.buffer.next())
    }

    /// The window field of the next segment.
    pub(super) fn announce_window(&mut self) -> u16 {
        let next = self.buffer.next();
        let edge = next + self.buffer.window();
        if edge.since(self.announced) >= self.least_growth() || self.announced.before(next) {
            self.announced = edge;
        }
        let window = (self.announced.since(next) >> self.shift).min(u16::MAX.into());
        self.announced = next + (window << self.shift);
        window as u16
    }

    /// True if a segment has an octet in the window (RFC 9293 section 3.10.7.4, first check), or is
    /// empty and lies in the window or at its right edge. The RFC refuses a segment at the edge, but a
    /// peer that has filled the window sends its acknowledgements from there.
    pub(super) fn accepts(&self, segment: &Segment<'_>) -> bool {
        let (next, len) = (self.buffer.next(), segment.seq_len());
        let edge = next + self.window();
        if len == 0 {
            return next.at_or_before(segment.seq) && segment.seq.at_or_before(edge);
        }
        next.before(edge) && segment.seq.before(edge) && next.before(segment.seq + len)
    }

    /// Handles payload and FIN of an acceptable segment.
    pub(super) fn on_segment(
        &mut self,
        now: Instant,
        segment: &Segment<'_>,
        timers: &mut Timers,
        statistics: &mut Statistics,
    ) {
        let (seq, payload, fin) = (segment.seq, segment.payload, segment.flags.contains(Flags::FIN));
        if self.is_finished() || (payload.is_empty() && !fin) {
            return;
        }
        if self.last_data.is_none() {
            self.quick = self.quick_acks();
        }
        self.last_data = Some(now);
        self.full_segment = self.full_segment.max((payload.len() as u32).min(self.mss));
        let stored = self.buffer.store(seq, payload);
        if stored.duplicate.is_some() {
            statistics.duplicates_received += 1;
            self.report_duplicate(stored.duplicate);
        }
        if fin {
            self.buffer.store_fin(seq + payload.len() as u32);
        }
        if self.is_finished() {
            // The FIN of this side may follow soon and carry the acknowledgement (Linux waits for it too).
            self.interactive = true;
        }
        if stored.duplicate.is_some() {
            self.be_quick();
        }
        if stored.out_of_order || stored.duplicate.is_some() || self.buffer.has_gap() {
            self.ack_due = true;
        }
        self.schedule_ack(now, timers);
    }

    /// The number of acknowledgements that are not delayed. Their segments fill half of the window at most.
    fn quick_acks(&self) -> u32 {
        let limit = self.delayed_ack.map_or(0, |delayed| delayed.quick.into());
        let window = self.window() / (2 * self.full_segment.max(1));
        window.max(2).min(limit)
    }

    fn schedule_ack(&mut self, now: Instant, timers: &mut Timers) {
        let Some(delayed) = self.delayed_ack else {
            self.ack_due = true;
            return;
        };
        let waiting = self.buffer.next().since(self.acknowledged);
        let enough = waiting > u32::from(delayed.every - 1) * self.full_segment;
        if enough || (self.quick > 0 && !self.interactive) {
            self.ack_due = true;
        } else if !timers.is_set(Timer::DelayedAck) {
            timers.set(Timer::DelayedAck, now + delayed.timer);
        }
    }

    /// Handles a segment with payload or FIN outside of the window. If it lies before the window, its
    /// sender missed an acknowledgement.
    pub(super) fn on_old_segment(&mut self, segment: &Segment<'_>, statistics: &mut Statistics) {
        let next = self.buffer.next();
        let end = segment.seq + segment.payload.len() as u32;
        let old = SeqRange::new(segment.seq, end.earliest(next));
        if segment.seq.before(next) && !old.is_empty() {
            statistics.duplicates_received += 1;
            self.report_duplicate(Some(old));
            self.be_quick();
        }
        self.ack_due = true;
    }

    /// Sends the next acknowledgements without delay, because the peer missed some.
    fn be_quick(&mut self) {
        self.quick = self.quick_acks();
        self.interactive = false;
    }

    fn report_duplicate(&mut self, duplicate: Option<SeqRange>) {
        if self.report_duplicates && self.sack {
            self.duplicate = duplicate;
        }
    }

    /// The SACK blocks of the next segment, at most `limit`.
    pub(super) fn sack_blocks(&self, limit: usize) -> SackBlocks {
        if !self.sack {
            return SackBlocks::default();
        }
        self.buffer.sack_blocks(self.duplicate, limit)
    }

    /// Sends the delayed acknowledgement now: no data came to carry it.
    pub(super) fn on_delayed_ack_timer(&mut self) {
        self.ack_due = true;
        self.interactive = false;
    }

    /// Notes that a segment with an acknowledgement was sent.
    pub(super) fn on_ack_sent(&mut self, timers: &mut Timers) {
        self.acknowledged = self.buffer.next();
        self.ack_due = false;
        self.duplicate = None;
        self.quick = self.quick.saturating_sub(1);
        timers.stop(Timer::DelayedAck);
    }

    /// Notes that a segment with new data was sent. If it answers data that came just before, later
    /// answers will probably carry acknowledgements too.
    pub(super) fn on_data_sent(&mut self, now: Instant) {
        let answers = |delayed: DelayedAck| {
            let last = self.last_data;
            last.is_some_and(|last| now.since(last) < delayed.timer)
        };
        if self.delayed_ack.is_some_and(answers) {
            self.interactive = true;
        }
    }

    /// RFC 3168 section 6.1.3: echoes a mark until the peer says that it has reduced its window.
    pub(super) fn on_ecn(&mut self, window_reduced: bool, marked: bool) {
        self.echo_congestion = marked || (self.echo_congestion && !window_reduced);
    }
}

#[cfg(test)]
mod tests;
