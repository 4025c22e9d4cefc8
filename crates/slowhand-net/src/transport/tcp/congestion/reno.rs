//! Additive increase, multiplicative decrease (RFC 5681).

use super::{Acked, Algorithm};

/// RFC 5681 section 3.1, with the byte counting of RFC 3465 in congestion avoidance.
#[derive(Debug)]
pub(super) struct Reno {
    mss: u32,
    /// The octets acknowledged since the window last grew by a segment.
    credit: u32,
}

impl Reno {
    /// The state of a new connection.
    pub(super) fn new(mss: u32) -> Self {
        Self { mss, credit: 0 }
    }
}

impl Algorithm for Reno {
    /// One segment for each window acknowledged (RFC 3465 section 2.1).
    fn grow(&mut self, window: u32, acked: Acked) -> u32 {
        self.credit = self.credit.saturating_add(acked.octets);
        if self.credit < window {
            return window;
        }
        self.credit -= window;
        window.saturating_add(self.mss)
    }

    /// Half of the octets in flight (RFC 5681 equation 4).
    fn reduce(&mut self, _window: u32, in_flight: u32) -> u32 {
        self.credit = 0;
        in_flight / 2
    }
}
