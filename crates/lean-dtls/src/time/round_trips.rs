//! Round trips from a flight to its answer, and the timeout that follows from them (RFC 6298).

use super::instant::Instant;

/// The measurements of round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    /// When the flight was sent, if it was sent once: what is repeated gives no measurement (Karn's rule: nobody knows which of
    /// them was answered).
    sent: Option<Instant>,
    is_repeated: bool,
    /// The flight that was sent then has been answered. The present time is not known yet.
    is_answered: bool,
    estimate: Option<Estimate>,
}

impl RoundTrips {
    /// A new flight will be sent.
    pub(super) const fn start(&mut self) {
        self.is_repeated = false;
    }

    /// The flight has been sent.
    pub(super) fn sent(&mut self, now: Instant) {
        self.sent = Some(now).filter(|_| !self.is_repeated);
        self.is_answered = false;
    }

    /// The flight is sent again.
    pub(super) const fn repeat(&mut self) {
        if !self.is_answered {
            self.sent = None;
        }
        self.is_repeated = true;
    }

    /// The flight has been answered, or nobody waits for the answer any more.
    pub(super) const fn answered(&mut self) {
        self.is_answered = self.sent.is_some();
    }

    /// Tells the present time. Returns true if that gave a measurement.
    pub(super) fn note(&mut self, now: Instant) -> bool {
        let Some(sent) = self.sent.filter(|_| self.is_answered) else { return false };
        (self.sent, self.is_answered) = (None, false);
        let last = u32::try_from(now.as_millis().saturating_sub(sent.as_millis())).unwrap_or(u32::MAX);
        self.estimate = Some(Estimate::after(self.estimate, last));
        true
    }

    pub(super) const fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// The first wait for an answer, in milliseconds, if something has been measured.
    pub(super) fn timeout(&self) -> Option<u32> {
        self.estimate.map(Estimate::timeout)
    }

    /// The last measurement, in milliseconds.
    pub(super) fn last(&self) -> Option<u32> {
        self.estimate.map(|estimate| estimate.last)
    }
}

/// The state that RFC 6298, section 2, keeps of the measurements, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    last: u32,
    smoothed: u32,
    variation: u32,
}

impl Estimate {
    /// The estimate after another measurement.
    fn after(before: Option<Self>, last: u32) -> Self {
        let Some(Self { smoothed, variation, .. }) = before else {
            return Self { last, smoothed: last, variation: last / 2 };
        };
        Self { last, smoothed: weigh(smoothed, last, 3), variation: weigh(variation, smoothed.abs_diff(last), 2) }
    }

    const fn timeout(self) -> u32 {
        self.smoothed.saturating_add(self.variation.saturating_mul(4))
    }
}

/// The mean of two numbers, of which the new one has one of 2^`bits` shares, rounded down: (old * (shares - 1) + new) / shares,
/// in 32 bits, and without a division, which an AVR does not have.
const fn weigh(old: u32, new: u32, bits: u32) -> u32 {
    match new.checked_sub(old) {
        Some(more) => old + (more >> bits),
        None => old - ((old - new - 1) >> bits) - 1,
    }
}

#[cfg(all(test, feature = "round-trips"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_mean_is_that_of_wider_numbers(old: u32, new: u32, near in 0_u32..20, bits in prop_oneof![Just(2), Just(3)]) {
            for new in [new, old.saturating_add(near), old.saturating_sub(near)] {
                let shares = 1_u64 << bits;
                let expected = (u64::from(old) * (shares - 1) + u64::from(new)) / shares;
                prop_assert_eq!(u64::from(weigh(old, new, bits)), expected);
            }
        }
    }
}
