//! CoCoA: a retransmission timeout that follows from round trips, also from those of messages that were sent again
//! (draft-ietf-core-cocoa-03 section 4).

use std::time::Duration;

use super::Growth;

/// Below it timeouts grow faster, and ages to a longer one (section 4.2.1 and 4.3).
const SHORT: Duration = Duration::from_secs(1);
/// Above it timeouts grow more slowly, and ages to a shorter one (section 4.2.1 and 4.3).
const LONG: Duration = Duration::from_secs(3);
/// The longest wait, before it is dithered (section 4.2.1).
const LONGEST: Duration = Duration::from_secs(32);
/// A round trip is not measured if the message was sent again more often (section 4.2).
const MEASURED_RETRANSMISSIONS: u32 = 2;
/// The granularity of the clock, G in RFC 6298 section 2. The value is assumed.
const GRANULARITY: Duration = Duration::from_millis(1);

/// The estimators of one peer.
#[derive(Clone, Debug)]
pub(super) struct Cocoa {
    strong: Option<RoundTrip>,
    weak: Option<RoundTrip>,
    /// The overall estimate.
    timeout: Duration,
    updated: Duration,
}

impl Cocoa {
    /// Before the first measurement, `blind` is the estimate (section 4.1).
    pub(super) const fn new(blind: Duration) -> Self {
        Self { strong: None, weak: None, timeout: blind, updated: Duration::ZERO }
    }

    /// The estimate at this time.
    pub(super) fn timeout(&mut self, now: Duration) -> Duration {
        self.age(now);
        self.timeout.min(LONGEST)
    }

    pub(super) fn measured(&mut self, now: Duration, round_trip: Duration, retransmissions: u32) {
        if retransmissions > MEASURED_RETRANSMISSIONS {
            return;
        }
        // K and the weight of the estimators: 4 and 1/2 if strong, 1 and 1/4 if weak (sections 4.2 and 4.2.1).
        let (estimator, variations, parts) =
            if retransmissions == 0 { (&mut self.strong, 4, 2) } else { (&mut self.weak, 1, 4) };
        let estimator = *estimator.insert(RoundTrip::after(*estimator, round_trip));
        self.timeout = weighted(self.timeout, estimator.timeout(variations), parts);
        self.updated = now;
    }

    /// Brings an estimate that was not updated for long back to the middle (section 4.3).
    fn age(&mut self, now: Duration) {
        loop {
            let (lifetime, aged) = if self.timeout < SHORT {
                (self.timeout.max(GRANULARITY) * 16, self.timeout.max(GRANULARITY) * 2)
            } else if self.timeout > LONG {
                (self.timeout.saturating_mul(4), SHORT + self.timeout / 2)
            } else {
                return;
            };
            let end = self.updated.saturating_add(lifetime);
            if now <= end {
                return;
            }
            (self.timeout, self.updated) = (aged, end);
        }
    }
}

/// The variable back-off factor: the estimate with which a message is sent for the first time decides it (section 4.2.1).
pub(super) fn growth(timeout: Duration) -> Growth {
    let more_halves = if timeout < SHORT {
        4
    } else if timeout > LONG {
        1
    } else {
        2
    };
    Growth { more_halves, longest: LONGEST }
}

/// A smoothed round trip and its variation (RFC 6298 section 2).
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    smoothed: Duration,
    variation: Duration,
}

impl RoundTrip {
    /// The estimate after one more measurement.
    fn after(before: Option<Self>, measured: Duration) -> Self {
        match before {
            None => Self { smoothed: measured, variation: measured / 2 },
            // Alpha is 1/8 and beta is 1/4.
            Some(Self { smoothed, variation }) => Self {
                smoothed: weighted(smoothed, measured, 8),
                variation: weighted(variation, smoothed.abs_diff(measured), 4),
            },
        }
    }

    fn timeout(&self, variations: u32) -> Duration {
        self.smoothed.saturating_add(self.variation.saturating_mul(variations).max(GRANULARITY))
    }
}

/// A mean of `parts` parts, of which one is new.
fn weighted(old: Duration, new: Duration, parts: u32) -> Duration {
    (old / parts).saturating_mul(parts - 1).saturating_add(new / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn with(timeout: Duration) -> Cocoa {
        Cocoa::new(timeout)
    }

    /// Example C.1 of the draft: weak round trips of 2 s with a variation of 1 s, from 1.5 s to 1.875 s and 2.156 s.
    #[test]
    fn weak_round_trips_are_those_of_the_example() {
        let mut cocoa = with(ms(1_500));
        cocoa.measured(ms(0), ms(2_000), 1);
        assert_eq!(cocoa.timeout, ms(1_875));
        cocoa.weak = None; // the example has the same variation again
        cocoa.measured(ms(0), ms(2_000), 2);
        assert_eq!(cocoa.timeout.as_millis(), 2_156);
        cocoa.measured(ms(0), ms(60_000), 3);
        assert_eq!(cocoa.timeout.as_millis(), 2_156, "after the third retransmission nothing is measured");
    }

    /// By hand: R = 800 ms: E = 800 + 4 * 400 = 2,400 and (2,000 + 2,400) / 2 = 2,200. Then R = 400 ms: variation
    /// 3/4 * 400 + 1/4 * 400 = 400, smoothed 750, E = 2,350 and (2,200 + 2,350) / 2 = 2,275.
    #[test]
    fn strong_round_trips_are_those_of_rfc_6298_with_the_weight_of_one_half() {
        let mut cocoa = with(ms(2_000));
        cocoa.measured(ms(0), ms(800), 0);
        assert_eq!(cocoa.timeout, ms(2_200));
        cocoa.measured(ms(0), ms(400), 0);
        assert_eq!(cocoa.timeout, ms(2_275));
    }

    /// Examples C.2 and C.3 of the draft: 4 s become 3 s after 16 s. 0.3 s become 0.6 s after 16 * 0.3 = 4.8 s (the draft says 3.8).
    #[test]
    fn old_estimates_go_back_to_the_middle() {
        let mut long = with(ms(4_000));
        assert_eq!(long.timeout(ms(16_000)), ms(4_000));
        assert_eq!(long.timeout(ms(16_001)), ms(3_000));
        assert_eq!(long.timeout(ms(1 << 40)), ms(3_000));
        let mut short = with(ms(300));
        assert_eq!(short.timeout(ms(4_800)), ms(300));
        assert_eq!(short.timeout(ms(4_801)), ms(600));
        // 9.6 s later: 1.2 s, which is in the middle.
        assert_eq!(short.timeout(ms(14_401)), ms(1_200));
        assert_eq!(with(Duration::ZERO).timeout(Duration::MAX), ms(1_024));
        assert!(with(Duration::MAX).timeout(Duration::MAX) <= LONGEST);
    }

    /// Example C.3 of the draft: 0.3 s, then 0.9 s and 2.7 s. By hand further.
    #[test]
    fn the_back_off_factor_is_that_of_the_first_wait() {
        let waits = |first: u64| {
            let growth = growth(ms(first));
            let waits = std::iter::successors(Some(ms(first)), |wait| Some(growth.after(*wait)));
            waits.take(5).map(|wait| wait.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(waits(300), [300, 900, 2_700, 8_100, 24_300]);
        assert_eq!(waits(2_000), [2_000, 4_000, 8_000, 16_000, 32_000]);
        assert_eq!(waits(4_000), [4_000, 6_000, 9_000, 13_500, 20_250]);
        assert_eq!(waits(30_000)[1..3], [32_000, 32_000]);
    }
}
