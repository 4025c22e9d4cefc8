//! Named random streams derived from one seed.
//!
//! Each use of randomness (a link's losses, a node's back-off, ...) has its own stream. A change in
//! one part of a scenario does not change the draws of the other parts. So two configurations
//! can be compared under the same losses (common random numbers).

use crate::clock::Duration;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// The source of all streams of one world.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams that this seed gives.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream with this name, for the node, link, ... with this number.
    pub fn stream(&self, name: &str, index: u64) -> Stream {
        Stream(Xoshiro256PlusPlus::from_seed(self.derive(name, index)))
    }

    /// Streams for something that has streams of its own, such as a later session of the same client.
    pub fn substreams(&self, name: &str, index: u64) -> Self {
        Self::new(self.number(name, index))
    }

    /// One number of 64 bits.
    pub(crate) fn number(&self, name: &str, index: u64) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.derive(name, index);
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// 32 octets for a user that has its own generator, such as a TLS session.
    pub fn derive(&self, name: &str, index: u64) -> [u8; 32] {
        let mut seed = [0; 32];
        for (half, octets) in seed.chunks_exact_mut(16).enumerate() {
            // SipHash-2-4 is a pseudo-random function, and the seed is its key. So streams with different
            // names or numbers are independent, and the result is the same on every machine.
            let mut hasher = SipHasher24::new_with_keys(self.seed, half as u64);
            hasher.write(name.as_bytes());
            hasher.write_u8(0xff);
            hasher.write(&index.to_le_bytes());
            octets.copy_from_slice(&hasher.finish128().as_bytes());
        }
        seed
    }
}

/// One stream of random numbers (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// A number drawn uniformly from `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire's multiply-shift: the bias is below 2^-32 for every bound that is used here.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A time drawn from the exponential distribution with this mean, which is at most 2^56 us.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        // The method of von Neumann (1951) only compares numbers. A logarithm would not have the same bits on every
        // machine. The result is the whole number of rejected runs plus the first number of the accepted run.
        let mut rejected: u128 = 0;
        loop {
            let first = self.0.next_u64();
            let (mut least, mut length) = (first, 1);
            loop {
                let next = self.0.next_u64();
                if next >= least {
                    break;
                }
                (least, length) = (next, length + 1);
            }
            if length % 2 == 1 {
                // 56 fractional bits: with a mean of 2^56 us there is room for 2^16 rejected runs.
                let multiple = rejected << 56 | u128::from(first >> 8);
                return Duration::from_micros(((multiple * u128::from(mean.as_micros())) >> 56) as u64);
            }
            rejected += 1;
        }
    }

    /// True with the given probability. It always draws one number, so the stream stays in step.
    pub fn happens(&mut self, probability: Probability) -> bool {
        (self.0.next_u64() >> 32) < probability.0
    }
}

/// A probability as a fixed-point number with 32 fractional bits. So a draw is one comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// It never happens.
    pub const NEVER: Self = Self(0);
    /// It always happens.
    pub const ALWAYS: Self = Self(1 << 32);

    /// The probability nearest to `p`; values outside 0..1 are clamped.
    pub fn new(p: f64) -> Self {
        Self((p.clamp(0.0, 1.0) * (1u64 << 32) as f64).round() as u64)
    }

    /// The probability that at least one of two independent things happens.
    pub fn or(self, other: Self) -> Self {
        let both = (u128::from(self.0) * u128::from(other.0)) >> 32;
        Self(self.0 + other.0 - both as u64)
    }

    /// The probability that two independent things happen.
    pub fn and(self, other: Self) -> Self {
        Self(((u128::from(self.0) * u128::from(other.0)) >> 32) as u64)
    }

    /// The probability as a number from 0 to 1.
    pub fn get(self) -> f64 {
        self.0 as f64 / (1u64 << 32) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_independent_of_each_other() {
        let streams = Streams::new(7);
        let mut alone = streams.stream("link", 3);
        let expected: Vec<u64> = (0..8).map(|_| alone.below(1 << 40)).collect();
        let mut other = streams.stream("link", 4);
        let mut again = streams.stream("link", 3);
        let drawn: Vec<u64> = (0..8)
            .map(|_| {
                other.below(9);
                again.below(1 << 40)
            })
            .collect();
        assert_eq!(drawn, expected);
        assert_ne!(streams.derive("link", 3), streams.derive("link", 4));
        assert_ne!(streams.derive("link", 3), streams.derive("node", 3));
        assert_ne!(streams.derive("link", 3), Streams::new(8).derive("link", 3));
        let [third, fourth] = [3, 4].map(|number| streams.substreams("session", number));
        assert_ne!(third.derive("link", 3), fourth.derive("link", 3));
        assert_ne!(third.derive("link", 3), streams.derive("link", 3));
    }

    #[test]
    fn either_of_two_independent_things_happens() {
        let [quarter, half] = [0.25, 0.5].map(Probability::new);
        assert_eq!(quarter.or(half).get(), 0.625); // 1 - 3/4 * 1/2
        assert_eq!(quarter.or(Probability::NEVER), quarter);
        assert_eq!(quarter.or(Probability::ALWAYS), Probability::ALWAYS);
        assert_eq!(Probability::ALWAYS.or(Probability::ALWAYS), Probability::ALWAYS);
    }

    #[test]
    fn both_of_two_independent_things_happen() {
        let [quarter, half] = [0.25, 0.5].map(Probability::new);
        assert_eq!(quarter.and(half).get(), 0.125);
        assert_eq!((quarter.and(Probability::ALWAYS), quarter.and(Probability::NEVER)), (quarter, Probability::NEVER));
    }

    /// Of the exponential distribution, the share above x times the mean is e^-x. Five standard deviations of a
    /// binomial(100,000, p) are 791 at most. The standard deviation of the mean of 100,000 draws is mean / 316.
    #[test]
    fn exponential_times_are_distributed_as_their_name_says() {
        let mut stream = Streams::new(1).stream("test", 0);
        let mean = 1_000_000;
        let draws: Vec<u64> =
            (0..100_000).map(|_| stream.exponential(Duration::from_micros(mean)).as_micros()).collect();
        for (multiple, share) in
            [(0.1, 0.904_837), (0.5, 0.606_531), (1.0, 0.367_879), (2.0, 0.135_335), (4.0, 0.018_316)]
        {
            let above = draws.iter().filter(|&&draw| draw as f64 > multiple * mean as f64).count();
            assert!(above.abs_diff((share * 1e5) as usize) < 791, "{above} above {multiple}");
        }
        let sum: u64 = draws.iter().sum();
        assert!((sum / 100_000).abs_diff(mean) < 5 * mean / 316, "{sum}");
        assert_eq!(stream.exponential(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn frequencies_follow_the_probability() {
        let mut stream = Streams::new(1).stream("test", 0);
        let hits = (0..100_000).filter(|_| stream.happens(Probability::new(0.3))).count();
        // Five standard deviations of a binomial(100,000, 0.3) are 725.
        assert!(hits.abs_diff(30_000) < 725, "{hits}");
        assert!((0..1000).all(|_| stream.happens(Probability::ALWAYS)));
        assert!(!(0..1000).any(|_| stream.happens(Probability::NEVER)));
    }
}
