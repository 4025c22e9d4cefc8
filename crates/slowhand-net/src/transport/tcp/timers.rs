//! All deadlines of a connection in one table.

use crate::clock::Instant;

listed! {
    /// The timers of a connection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Timer {
        /// The tail of a flight may be lost (RFC 8985 section 7). It comes first: if both are due, the
        /// probe is sent and the retransmission timer restarts.
        TailLossProbe,
        /// Data in flight was not acknowledged in time (RFC 6298).
        Retransmit,
        /// Reordered segments have had enough time to arrive (RFC 5827, RFC 8985 section 6.2).
        EarlyRetransmit,
        /// The peer's window is closed, or too small for a segment (RFC 9293 section 3.8.6).
        Persist,
        /// A delayed acknowledgement must be sent (RFC 9293 section 3.8.6.3).
        DelayedAck,
        /// Nothing was received for a long time (RFC 9293 section 3.8.4).
        KeepAlive,
        /// TIME-WAIT is over (RFC 9293 section 3.4.2).
        TimeWait,
    }
}

#[derive(Debug, Default)]
pub(super) struct Timers([Option<Instant>; Timer::ALL.len()]);

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        self.0[timer as usize] = Some(at);
    }

    pub(super) fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = None;
    }

    pub(super) fn stop_all(&mut self) {
        *self = Self::default();
    }

    pub(super) fn get(&self, timer: Timer) -> Option<Instant> {
        self.0[timer as usize]
    }

    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.get(timer).is_some()
    }

    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.iter().flatten().min().copied()
    }

    /// Removes one timer that is due from the table, and returns it.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let due = |timer: &Timer| self.get(*timer).is_some_and(|at| at <= now);
        let timer = Timer::ALL.into_iter().find(due)?;
        self.stop(timer);
        Some(timer)
    }
}
