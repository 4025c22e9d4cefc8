//! The sending half of a connection: it chooses the next segment, and handles acknowledgements and
//! timeouts.

mod recovery;

use crate::clock::{Duration, Instant};

use super::config::{Nagle, Recovery, TcpConfig};
use super::congestion::{Acked, Congestion};
use super::options::SackBlocks;
use super::ranges::SeqRange;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use super::seq::SeqNumber;
use super::statistics::Statistics;
use super::timers::{Timer, Timers};

pub(super) use recovery::Ack;

/// The time by which the receiver may delay the acknowledgement of a single segment, `TLP.max_ack_delay`.
/// RFC 8985 section 7.2 leaves it to the implementation. Linux: its least timeout, 200 ms.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// The delay of a tail loss probe before the first round-trip time is known (RFC 8985 section 7.2).
const PROBE_WITHOUT_RTT: Duration = Duration::from_secs(1);

/// One segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    pub(super) seq: SeqNumber,
    /// The octets of payload.
    pub(super) len: u32,
    pub(super) fin: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    New,
    Retransmission,
    /// An empty segment before the window. The peer answers it with its window.
    WindowProbe,
}

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Fast recovery, after duplicate or selective acknowledgements.
    Fast,
    /// After a timeout.
    Timeout,
}

/// A tail loss probe that was sent (RFC 8985 section 7.3).
#[derive(Clone, Copy, Debug)]
struct TailLossProbe {
    end: SeqNumber,
    retransmission: bool,
}

#[derive(Debug)]
pub(super) struct Sender {
    config: TcpConfig,
    pub(super) buffer: SendBuffer,
    board: Scoreboard,
    pub(super) congestion: Congestion,
    pub(super) rtt: RttEstimator,
    /// The octets of a full segment, without the timestamps option.
    pub(super) mss: u32,
    sack: bool,
    /// The peer's window, and the largest one so far.
    window: u32,
    max_window: u32,
    /// Sequence and acknowledgement number of the segment that last updated the window.
    window_from: (SeqNumber, SeqNumber),
    phase: Phase,
    /// The end of the recovery: the end of the data in flight when it began.
    recover: SeqNumber,
    duplicates: u32,
    /// Without SACK: the octets that have left the network, by duplicate acknowledgements.
    inflation: u32,
    /// True if the next retransmission ignores the congestion window.
    retransmit_now: bool,
    /// True if this recovery has had a rescue retransmission.
    rescued: bool,
    /// The number of timeouts for the data that is not acknowledged.
    pub(super) retries: u32,
    /// The segment whose round trip is measured: its end, and when it was sent.
    timed: Option<(SeqNumber, Instant)>,
    /// The end of the last segment that was smaller than the MSS, for Minshall's variant of Nagle.
    small_end: SeqNumber,
    last_sent: Instant,
    probe_due: bool,
    probe: Option<TailLossProbe>,
    window_probe_due: bool,
    window_probes: u32,
    /// ECN: the end of the window of data with the latest reaction, and true if the peer must be told.
    congestion_until: SeqNumber,
    reduced_window: bool,
}

impl Sender {
    pub(super) fn new(config: &TcpConfig, start: SeqNumber) -> Self {
        let mss = u32::from(config.mss);
        Self {
            buffer: SendBuffer::new(config.send_buffer as usize, start),
            board: Scoreboard::new(start, ranges_for(config.send_buffer, mss)),
            congestion: Congestion::new(config, mss),
            rtt: RttEstimator::new(config.rto),
            mss,
            sack: false,
            window: 0,
            max_window: 0,
            window_from: (SeqNumber(0), start),
            phase: Phase::Open,
            recover: start - 1,
            duplicates: 0,
            inflation: 0,
            retransmit_now: false,
            rescued: false,
            retries: 0,
            timed: None,
            small_end: start,
            last_sent: Instant::ZERO,
            probe_due: false,
            probe: None,
            window_probe_due: false,
            window_probes: 0,
            congestion_until: start,
            reduced_window: false,
            config: config.clone(),
        }
    }

    pub(super) fn set_nagle(&mut self, nagle: Nagle) {
        self.config.nagle = nagle;
    }

    /// Sets the negotiated values and the peer's first window after the handshake.
    pub(super) fn open(&mut self, mss: u32, sack: bool, window: u32, seq: SeqNumber) {
        self.mss = mss;
        self.sack = sack;
        self.window = window;
        self.max_window = window;
        self.window_from = (seq, self.board.una());
        self.congestion = Congestion::new(&self.config, mss);
    }

    /// Sets the window to one segment, because the SYN was lost more than once (RFC 5681 section 3.1).
    /// That a single loss has no effect, since the first timeout is 1 s, is Linux's reading of RFC 6298.
    pub(super) fn start_with_one_segment(&mut self) {
        self.congestion.on_idle(self.mss);
    }

    pub(super) fn una(&self) -> SeqNumber {
        self.board.una()
    }

    pub(super) fn next_new(&self) -> SeqNumber {
        self.board.next()
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.board.flight()
    }

    /// True if all data and the FIN are acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.buffer.is_finished() && self.board.una() == self.buffer.end()
    }

    /// True if the next new segment must carry CWR. It resets this flag.
    pub(super) fn take_reduced_window(&mut self) -> bool {
        std::mem::take(&mut self.reduced_window)
    }

    /// Chooses the next segment that may be sent now, and notes it as sent. `room` is the size of a
    /// segment without its options.
    pub(super) fn next(
        &mut self,
        now: Instant,
        room: u32,
        timers: &mut Timers,
        statistics: &mut Statistics,
    ) -> Option<Transmission> {
        let probing = self.probe_due;
        let transmission = self.choose(now, room);
        if let Some(transmission) = transmission {
            self.note_sent(now, transmission, timers, statistics);
            if probing {
                statistics.tail_loss_probes += 1;
            }
        }
        self.watch_window(now, timers);
        transmission
    }

    fn choose(&mut self, now: Instant, room: u32) -> Option<Transmission> {
        let room = room.min(self.mss);
        if std::mem::take(&mut self.window_probe_due) {
            return self.window_probe(room);
        }
        if std::mem::take(&mut self.probe_due) {
            return self.tail_loss_probe(room);
        }
        self.lost_segment(room).or_else(|| self.new_segment(now, room)).or_else(|| self.unacknowledged_segment(room))
    }

    /// The number of octets that the congestion window still allows.
    fn allowance(&self) -> u32 {
        let window = self.congestion.window().saturating_add(self.inflation);
        window.saturating_sub(self.board.pipe())
    }

    fn lost_segment(&mut self, room: u32) -> Option<Transmission> {
        let lost = self.board.next_lost()?;
        let allowed = if self.config.single_segment {
            self.board.pipe() == 0
        } else {
            self.allowance() >= self.mss.min(lost.len())
        };
        (std::mem::take(&mut self.retransmit_now) || allowed).then(|| self.retransmission(lost, room))
    }

    /// A segment that may be lost, in fast recovery with SACK, when no segment is known to be lost and
    /// there is no new data (RFC 6675 section 4, `NextSeg` rules 3 and 4).
    fn unacknowledged_segment(&mut self, room: u32) -> Option<Transmission> {
        if self.phase != Phase::Fast || !self.sack || self.allowance() < self.mss {
            return None;
        }
        if let Some(hole) = self.board.next_hole() {
            return Some(self.retransmission(hole, room));
        }
        if self.rescued || !self.config.rescue_retransmission {
            return None;
        }
        self.rescued = true;
        let last = self.board.last_segment(room)?;
        Some(self.cut(last, room))
    }

    fn retransmission(&mut self, gap: SeqRange, room: u32) -> Transmission {
        let transmission = self.cut(gap, room);
        self.board.sent_again_to(transmission.seq + transmission.len + u32::from(transmission.fin));
        transmission
    }

    /// The first segment of a range, as a retransmission.
    fn cut(&self, range: SeqRange, room: u32) -> Transmission {
        let data = range.end.earliest(self.buffer.data_end());
        let len = data.since(range.start).min(room);
        let end = range.start + len;
        Transmission {
            seq: range.start,
            len,
            fin: range.end.after(self.buffer.data_end()) && end == self.buffer.data_end(),
            kind: Kind::Retransmission,
        }
    }

    fn new_segment(&mut self, now: Instant, room: u32) -> Option<Transmission> {
        if self.config.single_segment && self.board.flight() > 0 {
            return None;
        }
        let segment = self.next_unsent(room)?;
        self.restart_after_idle(now);
        if segment.len > self.allowance() || self.must_wait(segment, room) {
            return None;
        }
        Some(segment)
    }

    /// The next new octets, as far as the peer's window allows.
    fn next_unsent(&self, room: u32) -> Option<Transmission> {
        let seq = self.board.next();
        if seq == self.buffer.end() {
            return None;
        }
        let unsent = self.buffer.data_end().since(seq);
        let window = (self.board.una() + self.window).since(seq);
        let len = unsent.min(room).min(window);
        let fin = self.buffer.is_finished() && len == unsent;
        (len > 0 || fin).then_some(Transmission { seq, len, fin, kind: Kind::New })
    }

    /// True if a segment is too small to be sent now: silly window avoidance of the sender (RFC 9293
    /// section 3.8.6.2.1) and Nagle.
    fn must_wait(&self, segment: Transmission, room: u32) -> bool {
        if segment.len >= room || segment.fin {
            return false;
        }
        let unsent = self.buffer.data_end().since(segment.seq);
        if segment.len < unsent {
            return segment.len < self.max_window / 2;
        }
        match self.config.nagle {
            Nagle::Off => false,
            Nagle::Rfc896 => self.board.flight() > 0,
            Nagle::Minshall => self.small_end.after(self.board.una()),
        }
    }

    fn restart_after_idle(&mut self, now: Instant) {
        let idle = now.since(self.last_sent);
        if self.board.flight() == 0 && idle > self.rtt.timeout() {
            let initial = self.mss * u32::from(self.config.initial_window);
            self.congestion.on_idle(initial);
        }
    }

    /// The segment that the persist timer sends: the octets that fit into the small window, or an empty
    /// segment before the window, which the peer must answer.
    fn window_probe(&mut self, room: u32) -> Option<Transmission> {
        if self.board.flight() > 0 {
            return None;
        }
        self.window_probes += 1;
        Some(self.next_unsent(room).unwrap_or(Transmission {
            seq: self.board.una() - 1,
            len: 0,
            fin: false,
            kind: Kind::WindowProbe,
        }))
    }

    /// A tail loss probe: new data if there is some, else the last segment again (RFC 8985 section 7.3).
    fn tail_loss_probe(&mut self, room: u32) -> Option<Transmission> {
        let probe = match self.next_unsent(room) {
            Some(new) => new,
            None => self.cut(self.board.last_segment(room)?, room),
        };
        self.probe = Some(TailLossProbe {
            end: self.board.next().latest(probe.seq + probe.len + u32::from(probe.fin)),
            retransmission: probe.kind == Kind::Retransmission,
        });
        Some(probe)
    }

    fn note_sent(&mut self, now: Instant, sent: Transmission, timers: &mut Timers, statistics: &mut Statistics) {
        let end = sent.seq + sent.len + u32::from(sent.fin);
        match sent.kind {
            Kind::WindowProbe => {
                statistics.window_probes += 1;
                return;
            }
            Kind::New => {
                self.board.sent_new(end.since(sent.seq));
                self.timed = self.timed.or(Some((end, now)));
                if sent.len < self.mss {
                    self.small_end = end;
                }
            }
            Kind::Retransmission => {
                statistics.retransmissions += 1;
                statistics.octets_retransmitted += u64::from(sent.len);
                // Karn's algorithm (RFC 6298 section 3). Later segments are acknowledged only after this
                // one, so they give no round trip either.
                self.timed = None;
            }
        }
        self.last_sent = now;
        let head = sent.kind == Kind::Retransmission && sent.seq == self.board.una();
        if head || !timers.is_set(Timer::Retransmit) {
            self.restart_timer(now, timers);
        }
        if sent.kind == Kind::New {
            self.schedule_probe(now, timers);
        }
    }

    fn restart_timer(&mut self, now: Instant, timers: &mut Timers) {
        if self.board.flight() == 0 {
            timers.stop(Timer::Retransmit);
        } else {
            timers.set(Timer::Retransmit, now + self.rtt.timeout());
        }
    }

    /// Sets the timer of the tail loss probe (RFC 8985 section 7.2).
    fn schedule_probe(&mut self, now: Instant, timers: &mut Timers) {
        timers.stop(Timer::TailLossProbe);
        let wanted = self.config.tail_loss_probe && self.sack && self.board.flight() > 0;
        if !wanted || self.phase != Phase::Open || self.probe.is_some() {
            return;
        }
        let mut wait = self.rtt.smoothed().map_or(PROBE_WITHOUT_RTT, |rtt| rtt * 2);
        if self.board.flight() <= self.mss {
            wait += MAX_ACK_DELAY;
        }
        let at = now + wait;
        let timeout = timers.get(Timer::Retransmit).unwrap_or(at);
        timers.set(Timer::TailLossProbe, at.min(timeout));
    }

    /// Sets the persist timer if nothing is in flight but there is data to send. Then the peer's window
    /// is the cause, and only a probe can find out that it has opened.
    fn watch_window(&mut self, now: Instant, timers: &mut Timers) {
        let stalled = self.board.flight() == 0 && self.board.next() != self.buffer.end();
        if !stalled {
            timers.stop(Timer::Persist);
        } else if !timers.is_set(Timer::Persist) {
            let wait = self.rtt.timeout_after(self.window_probes);
            timers.set(Timer::Persist, now + wait);
        }
    }

    pub(super) fn on_persist_timer(&mut self) {
        self.window_probe_due = true;
    }

    /// Makes the probe due, and restarts the retransmission timer (RFC 8985 section 7.3).
    pub(super) fn on_probe_timer(&mut self, now: Instant, timers: &mut Timers) {
        self.probe_due = true;
        self.restart_timer(now, timers);
    }
}

/// The largest number of separate ranges in a buffer of full segments: every second one is missing.
pub(super) fn ranges_for(buffer: u32, mss: u32) -> usize {
    (buffer / mss.max(1)) as usize / 2 + 4
}

#[cfg(test)]
mod tests;
