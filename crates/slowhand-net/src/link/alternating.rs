//! A state that alternates between off and on. Each time in a state is exponential, so the state has no memory.

use crate::clock::{Duration, Instant};
use crate::random::{Probability, Stream};
use std::collections::VecDeque;
use std::ops::Range;

/// The time that a change is remembered: longer than the longest frame, 133 octets of 32 us with preamble and length
/// (IEEE 802.15.4-2015, section 12.1). So frames that overlap may ask in the order in which they end.
const REMEMBERED: Duration = Duration::from_millis(5);

/// The state over time. It follows from the random stream alone, and not from when it is asked for.
#[derive(Clone, Debug)]
pub(super) struct Alternating {
    /// The mean time off, and on.
    means: [Duration; 2],
    /// The stream as it was at the beginning.
    fresh: Stream,
    random: Stream,
    /// The state is known from here on.
    since: Instant,
    /// True if it is on then.
    is_on: bool,
    /// The changes after that, as far as they have been drawn.
    changes: VecDeque<Instant>,
}

impl Alternating {
    /// A state that has lasted for ever: the share of its time on is `on / (off + on)`.
    pub(super) fn new(off: Duration, on: Duration, random: Stream) -> Self {
        let mut state = Self {
            means: [off, on],
            fresh: random.clone(),
            random,
            since: Instant::ZERO,
            is_on: false,
            changes: VecDeque::new(),
        };
        state.begin();
        state
    }

    /// True if it is on at an instant.
    pub(super) fn is_on_at(&mut self, at: Instant) -> bool {
        self.is_on_during(at..at + Duration::from_micros(1))
    }

    /// True if it is on at any instant of a time.
    pub(super) fn is_on_during(&mut self, time: Range<Instant>) -> bool {
        if time.start < self.since {
            self.begin();
        }
        self.forget(time.start);
        self.draw(&time);
        let mut is_on = self.is_on;
        for &change in &self.changes {
            if is_on && change > time.start {
                return true;
            }
            is_on = !is_on;
            if change >= time.end {
                return false;
            }
        }
        false // there is a change after the time, so this is not reached
    }

    fn begin(&mut self) {
        self.random = self.fresh.clone();
        let [off, on] = self.means.map(|mean| mean.as_micros() as f64);
        self.is_on = self.random.happens(Probability::new(on / (off + on)));
        self.since = Instant::ZERO;
        self.changes.clear();
    }

    /// Draws changes until there is one after this time.
    fn draw(&mut self, time: &Range<Instant>) {
        let mut last = self.changes.back().copied().unwrap_or(self.since);
        while self.changes.is_empty() || last <= time.end {
            let is_on = self.is_on ^ (self.changes.len() % 2 == 1);
            // At least a microsecond: time goes on.
            last += self.random.exponential(self.means[usize::from(is_on)]).max(Duration::from_micros(1));
            self.changes.push_back(last);
            self.forget(time.start);
        }
    }

    /// Forgets the changes that no frame asks for any more.
    fn forget(&mut self, now: Instant) {
        while let Some(&change) = self.changes.front()
            && self.changes.len() > 1
            && change + REMEMBERED <= now
        {
            self.changes.pop_front();
            (self.since, self.is_on) = (change, !self.is_on);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    fn us(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    fn state(off: u64, on: u64, seed: u64) -> Alternating {
        let [off, on] = [off, on].map(Duration::from_micros);
        Alternating::new(off, on, Streams::new(seed).stream("test", 0))
    }

    /// 100 s of 30 ms off and 10 ms on. Of 10,000 samples 10 ms apart, a quarter is on. Samples are correlated: e^(-10 ms
    /// (1/30 + 1/10) / ms) = e^-1.33 = 0.26, so the variance is (1 + 0.26) / (1 - 0.26) = 1.7 times the binomial one, and
    /// five standard deviations are 5 * sqrt(1.7 * 10,000 * 3/16) = 282.
    #[test]
    fn it_is_on_for_its_share_of_the_time() {
        let mut state = state(30_000, 10_000, 1);
        let on = (0..10_000).filter(|sample| state.is_on_at(us(sample * 10_000))).count();
        assert!(on.abs_diff(2_500) < 282, "{on}");
    }

    /// The times on of 1,000 s, measured in steps of 100 us: 25,000 of them with a mean of 10 ms and a standard deviation
    /// of the mean of 63 us. Times between two steps are not seen: less than 1 % of them.
    #[test]
    fn its_times_have_their_means() {
        let mut state = state(30_000, 10_000, 2);
        let (mut begun, mut on, mut before) = (0u64, 0u64, false);
        for step in 0..10_000_000 {
            let now = state.is_on_at(us(step * 100));
            begun += u64::from(now && !before);
            on += u64::from(now);
            before = now;
        }
        assert!((on * 100 / begun).abs_diff(10_000) < 5 * 63 + 200, "{} us", on * 100 / begun);
        assert!(begun.abs_diff(25_000) < 1_000, "{begun}");
    }

    #[test]
    fn it_does_not_depend_on_who_asks_when() {
        let times: Vec<u64> = (0..2_000).map(|at| at * 7_919 % 1_000_000).collect();
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let mut asked = state(3_000, 1_000, 3);
        let in_order: Vec<_> = sorted.iter().map(|&at| (at, asked.is_on_at(us(at)))).collect();
        let mut asked = state(3_000, 1_000, 3);
        let mut mixed: Vec<_> = times.iter().map(|&at| (at, asked.is_on_at(us(at)))).collect();
        mixed.sort_unstable();
        assert_eq!(in_order, mixed);
        for &(at, on) in in_order.iter().step_by(50) {
            assert_eq!(state(3_000, 1_000, 3).is_on_at(us(at)), on, "asked at {at} us for the first time");
        }
    }

    #[test]
    fn a_time_is_on_if_any_instant_of_it_is() {
        for (from, length) in (0..3_000).map(|n| (n * 331 % 200_000, n * 17 % 3_000 + 1)) {
            let (mut whole, mut single) = (state(3_000, 500, 4), state(3_000, 500, 4));
            let any = (from..from + length).any(|at| single.is_on_at(us(at)));
            assert_eq!(whole.is_on_during(us(from)..us(from + length)), any, "{length} us from {from}");
        }
    }
}
