//! Acknowledgements and loss recovery: RFC 5681, 6582 (NewReno), 6675 (SACK), 6298 (timeouts), 8985
//! section 7.4 (losses that a tail loss probe repaired), 3168 (ECN).

use super::*;

/// The number of duplicate acknowledgements that indicate a loss, `DupThresh` (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The fields of a received segment that the sender needs.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Ack {
    pub(in super::super) seq: SeqNumber,
    pub(in super::super) ack: SeqNumber,
    /// The peer's window, scaled.
    pub(in super::super) window: u32,
    pub(in super::super) sack: SackBlocks,
    /// True if the segment carries data, SYN or FIN.
    pub(in super::super) occupies_sequence: bool,
    /// True if the first SACK block reports a duplicate (RFC 2883 section 4).
    pub(in super::super) reports_duplicate: bool,
    /// The round trip by the timestamps option.
    pub(in super::super) timestamp_rtt: Option<Duration>,
    /// ECN-Echo.
    pub(in super::super) congestion: bool,
}

impl Sender {
    /// Handles an acknowledgement.
    pub(in super::super) fn on_ack(
        &mut self,
        now: Instant,
        ack: &Ack,
        timers: &mut Timers,
        statistics: &mut Statistics,
    ) {
        let flight = self.board.flight();
        let same_window = !self.update_window(ack);
        let advanced = ack.ack.since(self.board.una());
        if advanced > 0 {
            if ack.congestion {
                self.on_congestion_echo(flight, statistics);
            }
            self.board.acknowledge(ack.ack);
            self.buffer.acknowledge(ack.ack);
        }
        let news = if self.sack { self.board.sack(&ack.sack) } else { 0 };
        let signals_loss = if self.sack { news > 0 } else { same_window && !ack.occupies_sequence };
        let duplicate = advanced == 0 && flight > 0 && signals_loss;

        if advanced > 0 {
            self.on_progress(now, ack, advanced, flight);
        } else if duplicate {
            self.duplicates += 1;
        }
        if self.sack {
            self.detect_loss_by_sack(now, timers, statistics);
        } else if duplicate {
            self.on_duplicate_without_sack(statistics);
        }
        self.end_probe(ack, advanced == 0 && news == 0, flight, statistics);

        if advanced > 0 {
            self.restart_timer(now, timers);
            self.move_marks();
        }
        if advanced > 0 || news > 0 {
            self.schedule_probe(now, timers);
        }
    }

    /// Moves the marks of what is over along with the acknowledgements. A mark that stayed behind would lie
    /// ahead after 2^31 octets.
    fn move_marks(&mut self) {
        let over = self.board.una() - 1;
        for mark in [&mut self.recover, &mut self.congestion_until, &mut self.small_end] {
            *mark = mark.latest(over);
        }
    }

    /// Updates the window if the segment is the latest (RFC 9293 section 3.10.7.4). Returns true if the
    /// window changed.
    fn update_window(&mut self, ack: &Ack) -> bool {
        let (seq, acked) = self.window_from;
        let newer = seq.before(ack.seq) || (seq == ack.seq && acked.at_or_before(ack.ack));
        if !newer {
            return false;
        }
        let changed = self.window != ack.window;
        self.window = ack.window;
        self.max_window = self.max_window.max(ack.window);
        self.window_from = (ack.seq, ack.ack);
        if ack.window > 0 {
            self.window_probes = 0;
        } else {
            // A peer that answers with a closed window is alive (RFC 9293 section 3.8.6.1).
            self.retries = 0;
        }
        changed
    }

    fn on_progress(&mut self, now: Instant, ack: &Ack, octets: u32, flight: u32) {
        self.measure(now, ack);
        self.retries = 0;
        match self.phase {
            // The window does not grow while data from before the congestion is acknowledged.
            Phase::Open if self.congestion_until.at_or_before(ack.ack) => {
                self.open_window(now, octets, flight);
            }
            Phase::Open => {}
            Phase::Timeout => {
                self.open_window(now, octets, flight);
                if self.recover.at_or_before(ack.ack) {
                    self.end_recovery();
                }
            }
            Phase::Fast if self.recover.at_or_before(ack.ack) => self.end_recovery(),
            Phase::Fast => self.on_partial_ack(octets),
        }
        if self.phase == Phase::Open {
            (self.duplicates, self.inflation) = (0, 0);
        }
    }

    fn measure(&mut self, now: Instant, ack: &Ack) {
        let timed = self.timed.filter(|(end, _)| end.at_or_before(ack.ack));
        let measured = timed.map(|(_, sent)| now.since(sent));
        if timed.is_some() {
            self.timed = None;
        }
        if let Some(rtt) = measured.or(ack.timestamp_rtt) {
            self.rtt.sample(rtt);
        }
    }

    /// Lets the congestion window grow if it limited the sender (RFC 7661 sections 4.3 and 4.4). In slow start,
    /// half of it in use is enough, because it doubles in each round trip.
    fn open_window(&mut self, now: Instant, octets: u32, flight: u32) {
        let window = self.congestion.window();
        let used = if self.congestion.is_in_slow_start() { flight.saturating_mul(2) } else { flight + self.mss };
        if used >= window || self.phase == Phase::Timeout {
            self.congestion.on_acked(Acked { now, octets, smoothed_rtt: self.rtt.smoothed() });
        }
    }

    /// Handles a partial acknowledgement: RFC 6582 section 3.2 step 3, or with Reno the end of fast
    /// recovery.
    fn on_partial_ack(&mut self, octets: u32) {
        if self.sack {
            return;
        }
        if self.config.recovery == Recovery::Reno {
            return self.end_recovery();
        }
        self.inflation = self.inflation.saturating_sub(octets);
        if octets >= self.mss {
            self.inflation += self.mss;
        }
        self.retransmit_first();
    }

    /// Retransmits the first unacknowledged segment, whatever the window allows.
    fn retransmit_first(&mut self) {
        self.board.mark_lost(self.board.una() + self.mss);
        self.retransmit_now = true;
    }

    fn on_duplicate_without_sack(&mut self, statistics: &mut Statistics) {
        match self.phase {
            Phase::Fast => self.inflation = self.inflation.saturating_add(self.mss),
            Phase::Timeout => {}
            Phase::Open => {
                // RFC 6582 section 3.2 step 2: duplicates that a timeout's retransmissions cause are no loss.
                let new_loss = self.board.una().after(self.recover);
                if self.duplicates >= DUPLICATE_THRESHOLD && new_loss {
                    self.begin_fast_recovery(statistics);
                    self.inflation = self.duplicates * self.mss;
                    self.retransmit_first();
                } else if self.duplicates < DUPLICATE_THRESHOLD && self.config.limited_transmit {
                    self.inflation = self.duplicates * self.mss;
                }
            }
        }
    }

    /// Detects losses by SACK (RFC 6675 section 5), also further ones during fast recovery.
    fn detect_loss_by_sack(&mut self, now: Instant, timers: &mut Timers, statistics: &mut Statistics) {
        match self.phase {
            Phase::Timeout => {}
            Phase::Fast => {
                self.board.find_lost(self.early_threshold(), self.mss);
            }
            Phase::Open => {
                self.recover_from_loss(DUPLICATE_THRESHOLD, statistics);
                self.wait_for_reordered(now, timers);
            }
        }
    }

    /// Begins fast recovery if a segment is lost. Outside of a recovery, everything before `recover` is acknowledged:
    /// each loss is new.
    fn recover_from_loss(&mut self, threshold: u32, statistics: &mut Statistics) {
        if self.board.find_lost(threshold, self.mss) {
            self.begin_fast_recovery(statistics);
            self.board.begin_recovery();
            self.retransmit_now = true;
        }
    }

    /// Before an early retransmit, waits for a quarter of a round trip, because segments may only be
    /// late (RFC 8985 section 6.2 step 4, as in Linux).
    fn wait_for_reordered(&mut self, now: Instant, timers: &mut Timers) {
        let early = self.early_threshold() < DUPLICATE_THRESHOLD && self.board.has_gap();
        if !early || self.phase != Phase::Open {
            timers.stop(Timer::EarlyRetransmit);
        } else if !timers.is_set(Timer::EarlyRetransmit) {
            let rtt = self.rtt.smoothed().unwrap_or(Duration::ZERO);
            timers.set(Timer::EarlyRetransmit, now + rtt / 4);
        }
    }

    pub(in super::super) fn on_early_retransmit_timer(&mut self, statistics: &mut Statistics) {
        self.recover_from_loss(self.early_threshold(), statistics);
    }

    /// `DupThresh`. With too few segments in flight for so many duplicates: their number minus one (RFC
    /// 5827 section 3).
    fn early_threshold(&self) -> u32 {
        let nothing_new = self.board.next() == self.buffer.end() || self.window_is_full();
        let segments = self.board.flight().div_ceil(self.mss);
        if self.config.early_retransmit && nothing_new && segments < 4 {
            segments.saturating_sub(1).max(1)
        } else {
            DUPLICATE_THRESHOLD
        }
    }

    fn window_is_full(&self) -> bool {
        (self.board.una() + self.window).at_or_before(self.board.next())
    }

    fn begin_fast_recovery(&mut self, statistics: &mut Statistics) {
        statistics.fast_retransmits += 1;
        self.reduce_window(self.board.flight());
        self.phase = Phase::Fast;
        self.recover = self.board.next();
        self.rescued = false;
    }

    /// Reduces the congestion window, once for the data in flight.
    fn reduce_window(&mut self, flight: u32) {
        self.congestion.on_congestion(flight);
        self.congestion_until = self.board.next();
        self.reduced_window = true;
    }

    fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.inflation = 0;
        self.retransmit_now = false;
        self.board.end_recovery();
    }

    /// Handles an expiry of the retransmission timer (RFC 6298 sections 5.4 to 5.6, RFC 5681 section
    /// 3.1): everything that is not selectively acknowledged is sent again, in slow start.
    pub(in super::super) fn on_timeout(&mut self, now: Instant, timers: &mut Timers, statistics: &mut Statistics) {
        statistics.timeouts += 1;
        let first = self.retries == 0;
        self.congestion.on_timeout(self.board.flight(), first);
        self.retries += 1;
        self.rtt.back_off();
        self.phase = Phase::Timeout;
        self.recover = self.board.next();
        self.congestion_until = self.recover;
        self.reduced_window = true;
        self.duplicates = 0;
        self.inflation = 0;
        self.probe = None;
        self.probe_due = false;
        timers.stop(Timer::TailLossProbe);
        timers.stop(Timer::EarlyRetransmit);
        self.board.forget_if_reneged();
        self.board.mark_lost(self.board.next());
        self.retransmit_now = true;
        self.restart_timer(now, timers);
    }

    /// Evaluates the acknowledgement of a tail loss probe. If the probe repaired a loss, the window is
    /// reduced as for any other loss (RFC 8985 section 7.4).
    fn end_probe(&mut self, ack: &Ack, nothing_new: bool, flight: u32, statistics: &mut Statistics) {
        let Some(probe) = self.probe else { return };
        if ack.ack.before(probe.end) {
            return;
        }
        if !probe.retransmission || ack.reports_duplicate {
            self.probe = None;
        } else if ack.ack.after(probe.end) {
            self.probe = None;
            if self.phase == Phase::Open {
                statistics.losses_repaired_by_probe += 1;
                self.reduce_window(flight);
            }
        } else if nothing_new {
            self.probe = None;
        }
    }

    /// Handles ECN-Echo: reacts as to a loss, but only once for each window of data (RFC 3168 section
    /// 6.1.2).
    fn on_congestion_echo(&mut self, flight: u32, statistics: &mut Statistics) {
        let new_window = self.congestion_until.at_or_before(self.board.una());
        if self.phase == Phase::Open && new_window {
            statistics.congestion_echoes += 1;
            self.reduce_window(flight);
        }
    }
}
