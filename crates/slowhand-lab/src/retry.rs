//! The policy of a client after a handshake that failed: it waits, and tries again, or gives up for good.

use slowhand_net::clock::Duration;
use slowhand_net::random::Stream;

/// When a client tries again, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The wait after the first attempt that failed. It doubles with each further one.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// The share of a wait by which it may be shorter or longer: from 0, always the same, to 1.
    pub jitter: f64,
    /// The number of attempts in all. After them the client gives up for good.
    pub attempts: u32,
}

impl RetryPolicy {
    /// The wait after so many attempts that failed. `None`: the client gives up.
    ///
    /// The wait is drawn uniformly from the share `jitter` below it to the same share above it, as gRPC has it
    /// (github.com/grpc/grpc, doc/connection-backoff.md).
    pub fn wait(&self, failed: u32, random: &mut Stream) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let wait = self.longest_wait(failed).as_micros();
        let spread = (wait as f64 * self.jitter).round() as u64;
        Some(Duration::from_micros(wait - spread + random.below(2 * spread + 1)))
    }

    /// The longest time that all waits together take.
    pub fn longest_in_all(&self) -> Duration {
        let waits = (1..self.attempts).map(|failed| self.longest_wait(failed).as_micros() as f64);
        Duration::from_micros((waits.sum::<f64>() * (1.0 + self.jitter)).ceil() as u64)
    }

    /// The wait after so many attempts, without jitter.
    fn longest_wait(&self, failed: u32) -> Duration {
        let doubled = 1_u64.checked_shl(failed.saturating_sub(1)).unwrap_or(u64::MAX);
        Duration::from_micros(self.first.as_micros().saturating_mul(doubled)).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowhand_net::random::Streams;

    const POLICY: RetryPolicy =
        RetryPolicy { first: Duration::from_secs(4), longest: Duration::from_secs(20), jitter: 0.25, attempts: 6 };

    #[test]
    fn waits_double_up_to_the_longest() {
        let exact = RetryPolicy { jitter: 0.0, ..POLICY };
        let mut random = Streams::new(1).stream("retry", 1);
        let waits: Vec<_> = (1..=6).map(|failed| exact.wait(failed, &mut random)).collect();
        let expected = [Some(4), Some(8), Some(16), Some(20), Some(20), None];
        assert_eq!(waits, expected.map(|wait| wait.map(Duration::from_secs)));
        assert_eq!(exact.longest_in_all(), Duration::from_secs(4 + 8 + 16 + 20 + 20));
    }

    #[test]
    fn jitter_is_uniform_on_both_sides() {
        let mut random = Streams::new(1).stream("retry", 1);
        let drawn: Vec<f64> = (0..10_000).map(|_| POLICY.wait(1, &mut random).unwrap().as_secs_f64()).collect();
        assert!(drawn.iter().all(|wait| (3.0..=5.0).contains(wait)));
        let mean = drawn.iter().sum::<f64>() / 1e4;
        let variance = drawn.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / 1e4;
        // A uniform distribution of width 2 has the variance 2^2 / 12. The standard error of the mean is 0.006.
        assert!((mean - 4.0).abs() < 0.02 && (variance - 1.0 / 3.0).abs() < 0.02, "{mean} {variance}");
        assert_eq!(POLICY.longest_in_all(), Duration::from_secs(85));
    }
}
