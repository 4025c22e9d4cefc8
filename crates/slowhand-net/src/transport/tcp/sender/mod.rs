//! The sending half: what to send next, and what an acknowledgment or a timeout means.

mod recovery;

use crate::clock::{Duration, Instant};

use super::config::{Nagle, Recovery, TcpConfig};
use super::congestion::{self, Acked, Controller};
use super::options::SackBlocks;
use super::ranges::SeqRange;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use super::seq::SeqNumber;
use super::statistics::Statistics;
use super::timers::{Timer, Timers};

pub(super) use recovery::Ack;

/// What the receiver of a tail loss probe that carries the last segment of a flight may delay
/// its acknowledgment by, `TLP.max_ack_delay` (RFC 8985 section 7.2: 200 ms).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// What a tail loss probe waits where there is no round-trip time (RFC 8985 section 7.2).
const PROBE_WITHOUT_RTT: Duration = Duration::from_secs(1);

/// One segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    pub(super) seq: SeqNumber,
    /// Octets of payload.
    pub(super) len: u32,
    pub(super) fin: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    New,
    Retransmission,
    /// Carries nothing, from before the window, so that the peer answers with its window.
    WindowProbe,
}

/// How losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Fast recovery: found by duplicate or selective acknowledgments.
    Fast,
    /// After a timeout.
    Timeout,
}

/// A tail loss probe on its way (RFC 8985 section 7.3).
#[derive(Clone, Copy, Debug)]
struct TailLossProbe {
    end: SeqNumber,
    retransmission: bool,
}

#[derive(Debug)]
pub(super) struct Sender {
    config: TcpConfig,
    buffer: SendBuffer,
    board: Scoreboard,
    congestion: Box<dyn Controller>,
    pub(super) rtt: RttEstimator,
    /// The octets of a full segment, the timestamps option taken off.
    mss: u32,
    sack: bool,
    /// The peer's window, and the largest it ever announced.
    window: u32,
    max_window: u32,
    /// The segment that last updated the window: its number and its acknowledgment.
    window_from: (SeqNumber, SeqNumber),
    phase: Phase,
    /// Where a recovery ends: all that was in flight when it began.
    recover: SeqNumber,
    duplicates: u32,
    /// Octets that duplicate acknowledgments showed to have left the network, without SACK.
    inflation: u32,
    /// The next retransmission does not ask the congestion window.
    retransmit_now: bool,
    /// A rescue retransmission was made in this recovery.
    rescued: bool,
    retries: u32,
    /// The segment whose round trip is being timed: its end, and when it was sent.
    timed: Option<(SeqNumber, Instant)>,
    /// The end of the last segment that was smaller than the MSS, for Minshall's variant.
    small_end: SeqNumber,
    last_sent: Instant,
    probe_due: bool,
    probe: Option<TailLossProbe>,
    window_probe_due: bool,
    window_probes: u32,
    /// ECN: where the reaction to one window of data ends, and whether to tell the peer.
    congestion_until: SeqNumber,
    reduced_window: bool,
}

impl Sender {
    pub(super) fn new(config: &TcpConfig, start: SeqNumber) -> Self {
        let mss = u32::from(config.mss);
        Self {
            buffer: SendBuffer::new(config.send_buffer as usize, start),
            board: Scoreboard::new(start, ranges_for(config.send_buffer, mss)),
            congestion: congestion::controller(config, mss),
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

    /// The handshake is over: what was negotiated, and the peer's first window.
    pub(super) fn open(&mut self, mss: u32, sack: bool, window: u32, seq: SeqNumber) {
        self.mss = mss;
        self.sack = sack;
        self.window = window;
        self.max_window = window;
        self.window_from = (seq, self.board.una());
        self.congestion = congestion::controller(&self.config, mss);
    }

    /// The SYN was lost more than once: start with one segment (RFC 5681 section 3.1; that a
    /// single loss is forgiven since the first timeout is 1 s is Linux's reading of RFC 6298).
    pub(super) fn start_with_one_segment(&mut self) {
        self.congestion.on_idle(self.mss);
    }

    pub(super) fn buffer(&self) -> &SendBuffer {
        &self.buffer
    }

    pub(super) fn buffer_mut(&mut self) -> &mut SendBuffer {
        &mut self.buffer
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

    pub(super) fn congestion(&self) -> &dyn Controller {
        &*self.congestion
    }

    pub(super) fn mss(&self) -> u32 {
        self.mss
    }

    pub(super) fn retries(&self) -> u32 {
        self.retries
    }

    /// Whether all that was written, and the FIN, is acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.buffer.is_finished() && self.board.una() == self.buffer.end()
    }

    /// Whether the next new segment is to carry CWR; once.
    pub(super) fn take_reduced_window(&mut self) -> bool {
        std::mem::take(&mut self.reduced_window)
    }

    /// The next segment that may be sent now, already noted as sent. `room` is what options
    /// leave of a segment.
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

    /// The octets that the congestion window still lets into the network.
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

    /// During fast recovery with SACK, where there is nothing known to be lost and nothing new:
    /// what may be lost (RFC 6675 section 4, `NextSeg` rules 3 and 4).
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

    /// The first segment of a range that was sent before.
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

    /// The next octets that the peer's window has room for.
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

    /// Whether a segment is too small to be sent now: sender's silly window avoidance (RFC 9293
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

    /// What the persist timer sends: what fits a window too small for a whole segment, or a
    /// segment without data from before the window, which the peer must answer.
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

    /// New data if there is some, else the last segment again (RFC 8985 section 7.3).
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
                // Karn's algorithm (RFC 6298 section 3). A segment behind this one would be
                // acknowledged only after it, which is no round trip either.
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

    /// RFC 8985 section 7.2.
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

    /// Where nothing is in flight and yet something waits, only the peer's window can be the
    /// cause, and only a probe can learn that it opened.
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

    /// The retransmission timer starts again with the probe (RFC 8985 section 7.3).
    pub(super) fn on_probe_timer(&mut self, now: Instant, timers: &mut Timers) {
        self.probe_due = true;
        self.restart_timer(now, timers);
    }
}

/// How many separate ranges a buffer of full segments can have: every second one missing.
pub(super) fn ranges_for(buffer: u32, mss: u32) -> usize {
    (buffer / mss.max(1)) as usize / 2 + 4
}
