//! The back-off of CSMA/CA (7.5.1.4), slotted and unslotted.

use crate::random::Stream;

/// The state of the algorithm for one transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    /// NB of the standard: back-offs so far.
    backoffs: u8,
    /// BE of the standard: the back-off exponent.
    exponent: u8,
}

impl Backoff {
    /// Step 1, with macMinBE.
    pub const fn new(min_exponent: u8) -> Self {
        Self { backoffs: 0, exponent: min_exponent }
    }

    /// Step 2: a random number of back-off periods.
    pub fn draw(self, random: &mut Stream) -> u64 {
        random.below(1 << self.exponent)
    }

    /// Step 4: the channel is busy. Returns true if the algorithm goes on with step 2, and false if it has failed
    /// after macMaxCSMABackoffs.
    pub fn goes_on(&mut self, max_exponent: u8, max_backoffs: u8) -> bool {
        self.backoffs += 1;
        self.exponent = (self.exponent + 1).min(max_exponent);
        self.backoffs <= max_backoffs
    }
}
