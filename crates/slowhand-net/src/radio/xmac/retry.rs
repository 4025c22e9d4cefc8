//! The layer above: when and how often a frame is sent (Contiki's `csma.c`).

use crate::clock::Duration;
use crate::random::Stream;

/// The fate of a frame that was not sent.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    const INTERVAL: Duration = Duration::from_micros(125_000);

    fn after(endings: &[Ending], retry: Retry) -> Attempts {
        let mut attempts = Attempts::default();
        for &ending in endings {
            assert!(!attempts.count(ending, retry), "{endings:?}");
        }
        attempts
    }

    /// The least and the greatest of many delays, in check intervals, rounded up.
    fn range(attempts: Attempts, done: bool, retry: Retry) -> (u64, u64) {
        let mut stream = Streams::new(1).stream("delays", 0);
        let delays: Vec<u64> =
            (0..5_000).map(|_| attempts.delay(done, retry, INTERVAL, &mut stream).as_micros()).collect();
        let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
        (least / INTERVAL.as_micros(), most.div_ceil(INTERVAL.as_micros()))
    }

    /// `csma.c` of Contiki 32b5b17f6: `backoff_period() * ((1 << BE) - 1)`, with BE = collisions, 4 at most; none after
    /// a transmission.
    #[test]
    fn an_exponential_delay_follows_the_collisions() {
        for (collisions, most) in [(0, 0), (1, 1), (2, 3), (3, 7), (4, 15), (5, 15)] {
            let attempts = after(&vec![Ending::Collision; collisions], Retry::EXPONENTIAL);
            assert_eq!(range(attempts, false, Retry::EXPONENTIAL), (0, most), "{collisions}");
            assert_eq!(range(attempts, true, Retry::EXPONENTIAL), (0, 0), "{collisions}");
        }
        let unanswered = after(&[Ending::Collision, Ending::Collision, Ending::NoAck], Retry::EXPONENTIAL);
        assert_eq!(range(unanswered, false, Retry::EXPONENTIAL), (0, 0));
    }

    /// `csma.c` of Contiki 2.7: a check interval, and a random part of `transmissions + 1` check intervals, 3 at most.
    #[test]
    fn a_linear_delay_follows_the_transmissions() {
        for (endings, most) in [
            (&[][..], 2),
            (&[Ending::Collision; 20], 2),
            (&[Ending::NoAck], 3),
            (&[Ending::NoAck, Ending::Collision, Ending::NoAck], 4),
        ] {
            let attempts = after(endings, Retry::LINEAR);
            assert_eq!(range(attempts, false, Retry::LINEAR), (1, most), "{endings:?}");
            assert_eq!(range(attempts, true, Retry::LINEAR), (1, 1), "{endings:?}");
        }
        // The window does not grow beyond its limit.
        let patient = Retry::Linear { max_retries: 9, max_window: 3 };
        assert_eq!(range(after(&[Ending::NoAck; 8], patient), false, patient), (1, 4));
    }

    /// Seven retransmissions: the eighth transmission is the last. The sixth collision in a row counts as one of them.
    #[test]
    fn a_frame_has_a_number_of_attempts() {
        assert!(Attempts::default().count(Ending::Sent, Retry::EXPONENTIAL));
        let mut attempts = after(&[Ending::NoAck; 7], Retry::EXPONENTIAL);
        assert!(attempts.count(Ending::NoAck, Retry::EXPONENTIAL));
        let mut attempts = after(&[Ending::Collision; 7 * 6 + 5], Retry::EXPONENTIAL);
        assert!(attempts.count(Ending::Collision, Retry::EXPONENTIAL));
        let mut attempts = after(&[Ending::NoAck, Ending::NoAck, Ending::Collision], Retry::LINEAR);
        assert!(attempts.count(Ending::NoAck, Retry::LINEAR));
        let _endless = after(&[Ending::Collision; 1_000], Retry::LINEAR);
    }
}
