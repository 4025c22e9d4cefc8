//! Timers that expire.

use super::*;

impl Connection {
    /// Does everything that is due. Call it at the [`deadline`](Self::deadline). Earlier calls do
    /// nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmit => self.on_retransmit_timer(now),
                Timer::TailLossProbe => self.sender.on_probe_timer(now, &mut self.timers),
                Timer::EarlyRetransmit => self.sender.on_early_retransmit_timer(&mut self.statistics),
                Timer::Persist => self.sender.on_persist_timer(),
                Timer::DelayedAck => self.receiver.on_delayed_ack_timer(),
                Timer::KeepAlive => self.on_keep_alive_timer(now),
                Timer::TimeWait => self.enter_closed(),
            }
        }
    }

    fn on_retransmit_timer(&mut self, now: Instant) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            return self.on_syn_timer();
        }
        if self.sender.retries >= self.config.retries.into() {
            return self.fail(ConnectionError::TimedOut);
        }
        self.sender.on_timeout(now, &mut self.timers, &mut self.statistics);
    }

    fn on_syn_timer(&mut self) {
        if self.handshake.retransmitted >= self.config.syn.retries.into() {
            return self.fail(ConnectionError::TimedOut);
        }
        self.statistics.timeouts += 1;
        self.handshake.due = true;
    }

    fn on_keep_alive_timer(&mut self, now: Instant) {
        let Some(keep) = self.config.keep_alive else {
            return;
        };
        if self.sender.in_flight() > 0 {
            // The retransmission timer already shows whether the peer is alive.
            self.timers.set(Timer::KeepAlive, now + keep.idle);
        } else if self.keep_alive_probes >= keep.probes {
            self.reset = Some((self.sender.next_new(), Some(self.receiver.next())));
            self.fail(ConnectionError::TimedOut);
        } else {
            self.keep_alive_probes += 1;
            self.keep_alive_due = true;
            self.timers.set(Timer::KeepAlive, now + keep.interval);
        }
    }
}
