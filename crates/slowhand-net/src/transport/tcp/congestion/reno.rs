//! Additive increase, multiplicative decrease (RFC 5681).

use crate::clock::Instant;

use super::{Acked, Controller, Start};

/// RFC 5681 section 3.1, with the byte counting of RFC 3465 in congestion avoidance.
#[derive(Debug)]
pub struct Reno {
    start: Start,
    window: u32,
    threshold: u32,
    /// The octets acknowledged since the window last grew by a segment.
    credit: u32,
}

impl Reno {
    /// The state of a new connection.
    pub fn new(start: Start) -> Self {
        Self { start, window: start.window, threshold: start.threshold(), credit: 0 }
    }

    /// Half of the octets in flight, at least two segments (RFC 5681 equation 4).
    fn reduced(&self, in_flight: u32) -> u32 {
        (in_flight / 2).max(2 * self.start.mss)
    }
}

impl Controller for Reno {
    fn window(&self) -> u32 {
        self.window
    }

    fn slow_start_threshold(&self) -> u32 {
        self.threshold
    }

    fn on_acked(&mut self, acked: Acked) {
        if self.window < self.threshold {
            self.window = self.start.slow_start(self.window, acked.octets);
            return;
        }
        // One segment for each window acknowledged (RFC 3465 section 2.1).
        self.credit = self.credit.saturating_add(acked.octets);
        if self.credit >= self.window {
            self.credit -= self.window;
            self.window = self.window.saturating_add(self.start.mss);
        }
    }

    fn on_congestion(&mut self, _now: Instant, in_flight: u32) {
        self.threshold = self.reduced(in_flight);
        self.window = self.threshold;
        self.credit = 0;
    }

    fn on_timeout(&mut self, _now: Instant, in_flight: u32, first: bool) {
        if first {
            let reduced = self.reduced(in_flight);
            self.threshold = self.start.threshold_after_timeout(reduced);
        }
        self.window = self.start.mss;
        self.credit = 0;
    }

    fn on_idle(&mut self, initial_window: u32) {
        self.window = self.window.min(initial_window);
    }
}
