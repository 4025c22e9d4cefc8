//! The delivery ratio of a link over time: it stays the same between steps.

use crate::clock::{Duration, Instant};
use crate::random::Probability;

/// The delivery ratio of a link over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// When each step begins, ascending.
    begin: Vec<Instant>,
    ratios: Vec<Probability>,
    /// The course begins again after this time. `None`: the last ratio lasts.
    repeat: Option<Duration>,
    /// The time of the course at which the world begins.
    start: Duration,
}

impl Course {
    /// Steps: from each instant on, the delivery ratio. Of several at one instant, the last counts. Before the first
    /// step, its ratio counts too: a course has no time without a ratio.
    pub fn new(mut steps: Vec<(Instant, f64)>, repeat: Option<Duration>) -> Self {
        steps.sort_by_key(|step| step.0);
        // The sort is stable, so the last of several comes first here, and stays.
        steps.reverse();
        steps.dedup_by_key(|step| step.0);
        let (begin, ratios) = steps.into_iter().rev().map(|(at, pdr)| (at, Probability::new(pdr))).unzip();
        Self { begin, ratios, repeat: repeat.filter(|&repeat| repeat > Duration::ZERO), start: Duration::ZERO }
    }

    /// This course, of which the time before `start` is over when the world begins.
    pub fn starting_at(self, start: Duration) -> Self {
        Self { start, ..self }
    }

    /// The ratio at an instant, `shift` later in the course if the course repeats. `None` if it has no step.
    pub(super) fn ratio(&self, at: Instant, shift: Duration) -> Option<Probability> {
        let at = at + self.start;
        let at = match self.repeat {
            Some(repeat) => Instant::ZERO + (at + shift).since(Instant::ZERO) % repeat,
            None => at,
        };
        let behind = self.begin.partition_point(|&begin| begin <= at);
        self.ratios.get(behind.saturating_sub(1)).copied()
    }

    /// The time after which the course begins again.
    pub(super) fn repeat(&self) -> Option<Duration> {
        self.repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_lasts_until_the_next_step() {
        let seconds = |s| Instant::ZERO + Duration::from_secs(s);
        let steps = vec![(seconds(4), 0.25), (seconds(2), 0.5), (seconds(2), 1.0)];
        let ratio = |course: &Course, at, shift| course.ratio(seconds(at), Duration::from_secs(shift)).unwrap().get();
        let once = Course::new(steps.clone(), None);
        assert_eq!([0, 1, 2, 3, 4, 100].map(|at| ratio(&once, at, 0)), [1.0, 1.0, 1.0, 1.0, 0.25, 0.25]);
        assert_eq!(ratio(&once, 3, 50), 1.0, "only a course that repeats is shifted");
        let repeated = Course::new(steps, Some(Duration::from_secs(5)));
        assert_eq!([3, 4, 5, 8, 9].map(|at| ratio(&repeated, at, 0)), [1.0, 0.25, 1.0, 1.0, 0.25]);
        assert_eq!([2, 3].map(|at| ratio(&repeated, at, 6)), [1.0, 0.25]);
        let late = Course::new(vec![(seconds(0), 1.0), (seconds(7), 0.5)], None).starting_at(Duration::from_secs(5));
        assert_eq!([1, 2].map(|at| ratio(&late, at, 0)), [1.0, 0.5]);
        assert_eq!(Course::default().ratio(seconds(1), Duration::ZERO), None);
    }
}
