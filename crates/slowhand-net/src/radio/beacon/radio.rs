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
    /// How often it was switched on for traffic when it was off.
    pub awoken: u64,
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
            self.awoken += u64::from(!after_beacon && at != self.rested_at);
        }
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
