//! The rate limit of a router's ICMPv6 errors.

use crate::clock::{Duration, Instant};

/// The token bucket that RFC 4443 section 2.4 (f) suggests for a small device: ten errors at once, and one more every
/// 100 ms.
const BURST: u64 = 10;
const INTERVAL: Duration = Duration::from_millis(100);

/// The token bucket of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorLimit {
    /// The time at which the bucket is full again.
    full_at: Instant,
}

impl ErrorLimit {
    /// Takes a token. Returns false if there is none.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + INTERVAL;
        let is_allowed = full_at.since(now) <= INTERVAL * BURST;
        if is_allowed {
            self.full_at = full_at;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_errors_at_once_and_ten_each_second() {
        let mut limit = ErrorLimit::default();
        let mut taken =
            |from: u64, to: u64| (from..to).filter(|&ms| limit.take(Instant::from_micros(ms * 1_000))).count();
        assert_eq!(taken(5_000, 5_050), 10, "one each millisecond");
        assert_eq!(taken(5_050, 7_000), 19, "one each 100 ms, from 5.1 s to 6.9 s");
        assert_eq!(taken(9_000, 9_050), 10, "full again");
    }
}
