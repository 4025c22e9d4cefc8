//! When a node sends its next beacon, DIO or DAO, if a probability in each slotframe says so.

use slowhand_net::clock::Duration;
use slowhand_net::random::{Probability, Stream};

/// The most slotframes that are waited for. Assumed: at 10 ms each it is longer than any world.
const LONGEST: u64 = 1 << 27;

/// The slotframes until it happens, at least one: drawn slotframe by slotframe, so that no logarithm is needed, whose bits differ
/// between machines.
pub(super) fn slotframes(probability: f64, random: &mut Stream) -> u64 {
    let probability = Probability::new(probability);
    if probability == Probability::NEVER {
        return LONGEST;
    }
    let missed = (1..LONGEST).take_while(|_| !random.happens(probability));
    missed.last().map_or(1, |missed| missed + 1)
}

/// The time until it happens: these slotframes, of one period each.
pub(super) fn until(probability: f64, period: Duration, random: &mut Stream) -> Duration {
    period * slotframes(probability, random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowhand_net::random::Streams;

    /// A geometric distribution: its mean is 1 / p.
    #[test]
    fn the_mean_is_that_of_the_distribution() {
        let mut random = Streams::new(1).stream("test", 0);
        for (probability, expected) in [(1.0, 1.0), (0.33, 3.03), (0.1, 10.0)] {
            let sum: u64 = (0..20_000).map(|_| slotframes(probability, &mut random)).sum();
            let mean = sum as f64 / 20_000.0;
            // The standard deviation of the mean is below 1 / p / sqrt(20,000): 0.7 %.
            assert!((mean / expected - 1.0).abs() < 0.03, "{probability}: {mean}");
        }
        assert_eq!(slotframes(0.0, &mut random), LONGEST);
    }
}
