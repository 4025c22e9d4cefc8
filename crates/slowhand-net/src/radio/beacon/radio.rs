//! The activity of one node's radio in addition to the regular beacons and active periods.

use crate::clock::{Duration, Instant};
use crate::observer::RadioState;
use crate::radio::contention::{Account, FrameRadio};

/// The activity of a node's radio in addition to the regular beacons and active periods.
#[derive(Debug, Default)]
pub struct Radio {
    /// Frames count when they have ended. The time in which it was on for traffic and would otherwise be off counts as
    /// listening, frames included.
    pub account: Account,
    /// Since when it is on for traffic.
    pub awake_since: Option<Instant>,
    /// The number of times that it was switched on for traffic when it was off, or is going to be.
    awoken: u64,
    /// The last of these.
    awoken_at: Option<Instant>,
    /// When it was switched off last.
    pub rested_at: Instant,
    /// It switches on this long before its parent's beacon.
    pub guard: Duration,
    /// The observer has seen its timeline up to this instant.
    pub reported: Instant,
}

impl Radio {
    /// A radio that switches on this long before its parent's beacon.
    pub fn new(guard: Duration) -> Self {
        Self { guard, ..Self::default() }
    }

    /// It is on for traffic from `at` on. It is off before if `at` is not the end of a beacon.
    pub fn wake(&mut self, at: Instant, after_beacon: bool) {
        if self.awake_since.is_none() {
            self.awake_since = Some(at);
            if !after_beacon && at != self.rested_at {
                self.awoken += 1;
                self.awoken_at = Some(at);
            }
        }
    }

    /// The number of times that it was switched on for traffic before `now`, when it was off.
    pub fn awoken(&self, now: Instant) -> u64 {
        self.awoken - u64::from(self.awoken_at.is_some_and(|at| at >= now))
    }
}

impl FrameRadio for Radio {
    fn end_sending(&mut self, since: Instant, now: Instant) {
        self.account.add(RadioState::Transmit, since, now);
    }

    fn end_receiving(&mut self, since: Instant, now: Instant, received: bool, _more: impl FnOnce() -> bool) {
        if received {
            self.account.add(RadioState::Receive, since, now);
        }
    }

    fn watch(&mut self, watched: bool) {
        self.account.watch(watched);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    #[test]
    fn it_starts_when_it_was_off_and_not_before() {
        let mut radio = Radio::default();
        // It stays on after a beacon that is not over yet.
        radio.wake(at(100), true);
        assert_eq!([50, 100, 101].map(|now| radio.awoken(at(now))), [0; 3]);
        (radio.awake_since, radio.rested_at) = (None, at(200));
        // It goes on where it had stopped.
        radio.wake(at(200), false);
        assert_eq!(radio.awoken(at(300)), 0);
        (radio.awake_since, radio.rested_at) = (None, at(300));
        // It comes on later, once.
        radio.wake(at(400), false);
        radio.wake(at(410), false);
        assert_eq!([350, 400, 401, 500].map(|now| radio.awoken(at(now))), [0, 0, 1, 1]);
    }
}
