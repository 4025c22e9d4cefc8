//! The layer above: when and how often a frame is sent (Contiki's `csma.c`).

use crate::clock::Duration;
use crate::random::Stream;

/// What happens to a frame that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// As in Contiki since 90b886aa7 (2016). After a collision, the delay is less than `2^collisions - 1` check
    /// intervals. After an unanswered train, there is no delay.
    Exponential {
        /// The most retransmissions of a frame.
        max_retries: u8,
        /// The most collisions in a row that do not count as a transmission.
        max_backoffs: u8,
        /// The largest exponent.
        max_exponent: u8,
    },
    /// As in Contiki's releases up to 2.7 (2013). After a collision or an unanswered train, the delay is one check
    /// interval plus a random part of `transmissions + 1` check intervals. Collisions never count as transmissions.
    /// There is a delay of one check interval between a frame and the next one in the queue.
    Linear {
        /// The most retransmissions of a frame.
        max_retries: u8,
        /// The greatest random part, in check intervals.
        max_window: u8,
    },
}

impl Retry {
    /// `CSMA_MAX_MAX_FRAME_RETRIES`, `CSMA_MAX_BACKOFF` and `CSMA_MAX_BE` of `csma.c`, Contiki 32b5b17f6.
    pub const EXPONENTIAL: Self = Self::Exponential { max_retries: 7, max_backoffs: 5, max_exponent: 4 };

    /// `CSMA_MAX_MAC_TRANSMISSIONS`, 3, and the clamp of 3 in `csma.c` of Contiki 2.7.
    pub const LINEAR: Self = Self::Linear { max_retries: 2, max_window: 3 };

    const fn max_retries(self) -> u8 {
        match self {
            Self::Exponential { max_retries, .. } | Self::Linear { max_retries, .. } => max_retries,
        }
    }
}

/// The result of sending a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The frame was sent (and acknowledged, if it asks for that).
    Sent,
    /// The neighbour did not answer.
    NoAck,
    /// Another node is sending.
    Collision,
}

/// The attempts at one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempts {
    transmissions: u8,
    /// Collisions since the last transmission.
    collisions: u8,
}

impl Attempts {
    /// Counts a transmission or a collision. Returns true if it was the last.
    pub fn count(&mut self, ending: Ending, retry: Retry) -> bool {
        match (ending, retry) {
            (Ending::Collision, Retry::Linear { .. }) => {}
            (Ending::Collision, Retry::Exponential { max_backoffs, .. }) if self.collisions < max_backoffs => {
                self.collisions += 1;
            }
            _ => {
                self.collisions = 0;
                self.transmissions += 1;
            }
        }
        ending == Ending::Sent || self.transmissions > retry.max_retries()
    }

    /// The delay before the next attempt: at the same frame, or at the next one if this one is `done`.
    pub fn delay(self, done: bool, retry: Retry, interval: Duration, backoff: &mut Stream) -> Duration {
        let (least, window) = match retry {
            Retry::Exponential { .. } if done => (0, 0),
            Retry::Exponential { max_exponent, .. } => (0, (1 << self.collisions.min(max_exponent)) - 1),
            Retry::Linear { .. } if done => (1, 0),
            Retry::Linear { max_window, .. } => (1, u64::from((self.transmissions + 1).min(max_window))),
        };
        let random = if window == 0 { 0 } else { backoff.below((interval * window).as_micros()) };
        interval * least + Duration::from_micros(random)
    }
}
