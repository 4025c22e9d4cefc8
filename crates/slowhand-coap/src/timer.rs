//! The time that a sender waits for an acknowledgement: the parameters of RFC 7252 section 4.8, its back-off, and CoCoA
//! (draft-ietf-core-cocoa-03).

mod cocoa;

use std::time::Duration;

use cocoa::Cocoa;

/// Times for messages that do not change with the parameters of transmission (RFC 7252 section 4.8.2).
const MAX_LATENCY: Duration = Duration::from_secs(100);

/// The parameters of transmission (RFC 7252 section 4.8), and the times that follow from them (section 4.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The shortest first wait for an acknowledgement. Default: 2 s. CoCoA starts from it too (its section 4.1).
    pub ack_timeout: Duration,
    /// The longest first wait, in percent of the shortest. Default: 150, which is an ACK_RANDOM_FACTOR of 1.5. Less than
    /// 100 counts as 100.
    pub ack_random_percent: u32,
    /// The number of times that a message is sent again. Default: 4.
    pub max_retransmit: u32,
}

impl Transmission {
    /// The default of each.
    pub const DEFAULT: Self = Self { ack_timeout: Duration::from_secs(2), ack_random_percent: 150, max_retransmit: 4 };

    /// From the first transmission of a confirmable message to its last one.
    pub fn max_transmit_span(&self) -> Duration {
        self.waits(self.max_retransmit)
    }

    /// From the first transmission of a confirmable message to the time when its sender gives up.
    pub fn max_transmit_wait(&self) -> Duration {
        self.waits(self.max_retransmit.saturating_add(1))
    }

    /// From the first transmission of a confirmable message to the time when nothing of its exchange is under way.
    pub fn exchange_lifetime(&self) -> Duration {
        // PROCESSING_DELAY is ACK_TIMEOUT.
        self.max_transmit_span().saturating_add(MAX_LATENCY * 2).saturating_add(self.ack_timeout)
    }

    /// From the transmission of a non-confirmable message to the time when no copy of it is under way.
    pub fn non_lifetime(&self) -> Duration {
        self.max_transmit_span().saturating_add(MAX_LATENCY)
    }

    /// The longest that so many waits can take, each twice as long as the one before.
    fn waits(&self, count: u32) -> Duration {
        let factor = 1_u32.checked_shl(count).unwrap_or(0).wrapping_sub(1);
        percent(self.ack_timeout.saturating_mul(factor), self.ack_random_percent.max(100))
    }

    /// A wait between `shortest` and ACK_RANDOM_FACTOR times it: `random` is uniform over all numbers.
    fn dithered(&self, shortest: Duration, random: u64) -> Duration {
        let more = percent(shortest, self.ack_random_percent.saturating_sub(100));
        let nanoseconds = (more.as_nanos().min(u128::from(u64::MAX)) * u128::from(random)) >> 64;
        shortest.saturating_add(Duration::from_nanos(nanoseconds as u64))
    }
}

impl Default for Transmission {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn percent(duration: Duration, percent: u32) -> Duration {
    duration.saturating_mul(percent) / 100
}

/// Which algorithm says how long to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The first wait is random between two bounds, and each later one twice as long (RFC 7252 section 4.2).
    #[default]
    Default,
    /// CoCoA: the first wait follows from measured round trips (draft-ietf-core-cocoa-03 section 4).
    Cocoa,
}

/// The timer of the confirmable messages to one peer.
#[derive(Clone, Debug)]
pub struct Timer {
    transmission: Transmission,
    cocoa: Option<Cocoa>,
}

impl Timer {
    /// A timer that has not measured anything.
    pub fn new(algorithm: Algorithm, transmission: Transmission) -> Self {
        let cocoa = match algorithm {
            Algorithm::Default => None,
            Algorithm::Cocoa => Some(Cocoa::new(transmission.ack_timeout)),
        };
        Self { transmission, cocoa }
    }

    /// The waits of a message that is sent now for the first time.
    pub fn start(&mut self, now: Duration, random: u64) -> Backoff {
        let (timeout, growth) = match &mut self.cocoa {
            None => (self.transmission.ack_timeout, Growth::DOUBLE),
            Some(cocoa) => {
                let timeout = cocoa.timeout(now);
                (timeout, cocoa::growth(timeout))
            }
        };
        Backoff { timeout, growth, transmission: self.transmission, random }
    }

    /// A message was acknowledged so long after its first transmission, and had been sent again so many times.
    pub fn measured(&mut self, now: Duration, round_trip: Duration, retransmissions: u32) {
        if let Some(cocoa) = &mut self.cocoa {
            cocoa.measured(now, round_trip, retransmissions);
        }
    }
}

/// The growth of the waits of one message.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// By how many halves of itself each wait is longer than the one before.
    more_halves: u32,
    /// The longest wait, before it is dithered.
    longest: Duration,
}

impl Growth {
    /// Each wait is twice the one before (RFC 7252 section 4.2).
    const DOUBLE: Self = Self { more_halves: 2, longest: Duration::MAX };

    fn after(self, wait: Duration) -> Duration {
        wait.saturating_add(wait.saturating_mul(self.more_halves) / 2).min(self.longest)
    }
}

/// The waits of one message.
#[derive(Clone, Debug)]
pub struct Backoff {
    timeout: Duration,
    growth: Growth,
    transmission: Transmission,
    /// All waits of a message are the same share longer than the shortest: only the first is random (RFC 7252 section 4.2).
    random: u64,
}

impl Backoff {
    /// The present wait.
    pub fn wait(&self) -> Duration {
        self.transmission.dithered(self.timeout, self.random)
    }

    /// The message is sent again: the next wait is longer.
    pub fn back_off(&mut self) {
        self.timeout = self.growth.after(self.timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// The table of RFC 7252 section 4.8.2.
    #[test]
    fn derived_times_are_those_of_the_table() {
        let times = Transmission::DEFAULT;
        assert_eq!(times.max_transmit_span(), seconds(45));
        assert_eq!(times.max_transmit_wait(), seconds(93));
        assert_eq!(times.exchange_lifetime(), seconds(247));
        assert_eq!(times.non_lifetime(), seconds(145));
        let endless = Transmission { max_retransmit: u32::MAX, ..times };
        assert!(endless.max_transmit_wait() > seconds(1 << 32));
    }

    /// RFC 7252 section 4.2, by hand: the first wait is between 2 s and 3 s, and each later one twice as long.
    #[test]
    fn the_first_wait_is_random_and_the_others_double() {
        let waits = |random| {
            let mut waits = Timer::new(Algorithm::Default, Transmission::DEFAULT).start(Duration::ZERO, random);
            std::array::from_fn::<_, 5, _>(|_| {
                let wait = waits.wait();
                waits.back_off();
                wait
            })
        };
        assert_eq!(waits(0), [2, 4, 8, 16, 32].map(seconds));
        assert_eq!(waits(1 << 63), [2_500, 5_000, 10_000, 20_000, 40_000].map(Duration::from_millis));
        assert!(waits(u64::MAX)[0] < seconds(3) && waits(u64::MAX)[0] > Duration::from_nanos(2_999_999_990));
    }
}
