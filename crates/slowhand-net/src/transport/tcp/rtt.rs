//! Round-trip times and the retransmission timeout (RFC 6298).

use crate::clock::Duration;

use super::config::Rto;

/// The smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Debug)]
pub struct RttEstimator {
    limits: Rto,
    estimate: Option<Estimate>,
    /// The timeout before back-off.
    base: Duration,
    /// The number of times that the timeout was doubled.
    doublings: u32,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    smoothed: Duration,
    variation: Duration,
}

impl Estimate {
    fn timeout(self, limits: Rto) -> Duration {
        let margin = limits.granularity.max(self.variation * 4);
        (self.smoothed + margin).clamp(limits.min, limits.max)
    }
}

impl RttEstimator {
    /// An estimator without measurements.
    pub fn new(limits: Rto) -> Self {
        Self { limits, estimate: None, base: limits.initial, doublings: 0 }
    }

    /// Changes the limits, and so the timeout.
    pub fn set_limits(&mut self, limits: Rto) {
        self.limits = limits;
        self.base = self.estimate.map_or(limits.initial, |estimate| estimate.timeout(limits));
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|e| e.smoothed)
    }

    /// The current timeout, back-off included (RFC 6298 sections 2 and 5.5).
    pub fn timeout(&self) -> Duration {
        self.timeout_after(self.doublings)
    }

    /// The timeout after a number of doublings.
    pub fn timeout_after(&self, doublings: u32) -> Duration {
        self.doubled(self.base, doublings)
    }

    /// The timeout of a SYN after a number of doublings; `first` is its initial timeout, if it has its own.
    pub fn timeout_of_syn(&self, first: Option<Duration>, doublings: u32) -> Duration {
        self.doubled(first.unwrap_or(self.base), doublings)
    }

    fn doubled(&self, base: Duration, doublings: u32) -> Duration {
        // 2^37 us, with the smallest base of 1 us, is longer than the largest `Rto::max`, a day.
        let factor = 1u64 << doublings.min(37);
        let us = base.as_micros().saturating_mul(factor);
        Duration::from_micros(us).min(self.limits.max)
    }

    /// Adds a measurement, and ends the back-off. Never measure a segment that was retransmitted (Karn's
    /// algorithm, RFC 6298 section 3). Only a measurement ends the back-off: so the timeout can grow
    /// until it exceeds the round-trip time of a slow path (section 5.7).
    pub fn sample(&mut self, measured: Duration) {
        let estimate = match self.estimate {
            None => Estimate { smoothed: measured, variation: measured / 2 },
            Some(Estimate { smoothed, variation }) => {
                let error = smoothed.saturating_sub(measured) + measured.saturating_sub(smoothed);
                Estimate { variation: (variation * 3 + error) / 4, smoothed: (smoothed * 7 + measured) / 8 }
            }
        };
        self.estimate = Some(estimate);
        self.base = estimate.timeout(self.limits);
        self.doublings = 0;
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub fn back_off(&mut self) {
        self.doublings += 1;
    }

    /// Notes that the connection opened after a retransmission of the SYN. Without a measurement (by
    /// timestamps), data begins with the fallback timeout (RFC 6298 section 5.7).
    pub fn opened_after_syn_loss(&mut self) {
        self.doublings = 0;
        if self.estimate.is_none() {
            self.base = self.limits.after_syn_loss;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(min_ms: u64, granularity_ms: u64) -> RttEstimator {
        RttEstimator::new(Rto {
            initial: Duration::from_secs(1),
            after_syn_loss: Duration::from_secs(3),
            min: Duration::from_millis(min_ms),
            max: Duration::from_secs(60),
            granularity: Duration::from_millis(granularity_ms),
        })
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn follows_the_equations_of_rfc_6298() {
        let mut rtt = estimator(1, 1);
        assert_eq!(rtt.timeout(), ms(1000));
        // First: SRTT = R, RTTVAR = R/2, RTO = R + 4 * R/2.
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5, SRTT = 7/8 * 100 + 1/8 * 180 = 110.
        rtt.sample(ms(180));
        assert_eq!(rtt.smoothed(), Some(ms(110)));
        assert_eq!(rtt.timeout(), ms(340));
    }

    #[test]
    fn doubles_up_to_the_maximum_and_recovers() {
        let mut rtt = estimator(1000, 1);
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(1000));
        for expected in [2, 4, 8, 16, 32, 60, 60] {
            rtt.back_off();
            assert_eq!(rtt.timeout(), Duration::from_secs(expected));
        }
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Duration::from_secs(60));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(1000));
    }

    #[test]
    fn granularity_is_the_least_margin() {
        let mut rtt = estimator(200, 200);
        for _ in 0..100 {
            rtt.sample(ms(100));
        }
        assert_eq!(rtt.timeout(), ms(300));
    }

    #[test]
    fn a_lost_syn_leaves_three_seconds() {
        let mut rtt = estimator(1000, 1);
        rtt.back_off();
        rtt.opened_after_syn_loss();
        assert_eq!(rtt.timeout(), Duration::from_secs(3));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(1000));
    }
}
