//! The number of times that one radio starts and ramps up, and the time that it is ready.

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioInterval, RadioState, RadioWork};

/// A state of a radio, with start and end.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub state: RadioState,
    pub from: Instant,
    pub to: Instant,
}

impl Span {
    /// As the observer sees it.
    pub fn of(self, node: NodeId) -> RadioInterval {
        let Self { state, from, to } = self;
        RadioInterval { node, state, from, to }
    }
}

/// The number of times that a radio listens, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listening {
    /// The number of times that it comes on. Spans that touch are one.
    pub times: u64,
    pub sum: Duration,
    /// When it comes on first, and is switched off last. Without meaning if it never does.
    pub first: Instant,
    pub until: Instant,
}

impl Listening {
    /// From one instant to another.
    pub fn once(from: Instant, to: Instant) -> Self {
        if from < to { Self { times: 1, sum: to.since(from), first: from, until: to } } else { Self::default() }
    }

    /// And after this.
    pub fn then(self, next: Self) -> Self {
        match () {
            () if self.times == 0 => next,
            () if next.times == 0 => self,
            () => Self {
                times: self.times + next.times - u64::from(self.until == next.first),
                sum: self.sum + next.sum,
                first: self.first,
                until: next.until,
            },
        }
    }
}

/// Follows what a radio does over time. It is told in order when the radio is on or ready; in between it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    work: RadioWork,
    /// The end of what it was told last.
    until: Instant,
    /// True if the radio was on then.
    on: bool,
}

impl Default for Meter {
    /// A radio that is on at time 0 was on before.
    fn default() -> Self {
        Self { work: RadioWork::default(), until: Instant::ZERO, on: true }
    }
}

impl Meter {
    /// It listens, receives or sends.
    pub fn on(&mut self, from: Instant, to: Instant) {
        if from < to {
            let slept = self.until < from;
            self.work.starts += u64::from(slept);
            self.work.ramps += u64::from(slept || !self.on);
            self.work.ramps_from_ready += u64::from(!slept && !self.on);
            (self.until, self.on) = (to, true);
        }
    }

    /// It is ready: its oscillator runs, and it neither listens nor sends.
    pub fn ready(&mut self, from: Instant, to: Instant) {
        if from < to {
            self.work.starts += u64::from(self.until < from);
            self.work.ready += to.since(from);
            (self.until, self.on) = (to, false);
        }
    }

    /// It listens now and then, with sleep in between.
    pub fn on_often(&mut self, listening: &Listening) {
        if listening.times > 0 {
            self.on(listening.first, listening.until);
            self.work.starts += listening.times - 1;
            self.work.ramps += listening.times - 1;
        }
    }

    /// The work of the radio.
    pub fn work(&self) -> RadioWork {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    fn work(starts: u64, [ramps, ramps_from_ready]: [u64; 2], ready: u64) -> RadioWork {
        RadioWork { starts, ramps, ramps_from_ready, ready: Duration::from_micros(ready) }
    }

    #[test]
    fn a_poll_starts_once() {
        let mut meter = Meter::default();
        // Back-off, a busy channel, back-off, assessment, frame, acknowledgement.
        meter.ready(at(100), at(740));
        meter.on(at(740), at(868));
        meter.ready(at(868), at(1_060));
        for (from, to) in [(1_060, 1_900), (1_900, 2_092), (2_092, 2_444)] {
            meter.on(at(from), at(to));
        }
        assert_eq!(meter.work(), work(1, [2, 2], 640 + 192));
    }

    #[test]
    fn a_radio_that_is_always_on_never_starts() {
        let mut meter = Meter::default();
        meter.on(at(0), at(50));
        meter.on(at(50), at(90));
        assert_eq!(meter.work(), work(0, [0, 0], 0));
        // Switched off for a time.
        meter.on(at(95), at(100));
        assert_eq!(meter.work(), work(1, [1, 0], 0));
    }

    #[test]
    fn what_takes_no_time_does_not_count() {
        let mut meter = Meter::default();
        meter.on(at(10), at(10));
        meter.ready(at(12), at(12));
        meter.on_often(&Listening::once(at(13), at(13)));
        assert_eq!(meter.work(), work(0, [0, 0], 0));
    }

    #[test]
    fn wake_ups_that_are_only_counted_count_like_others() {
        let windows = [(10, 12), (20, 22), (30, 32)];
        let (mut one, mut other) = (Meter::default(), Meter::default());
        for (from, to) in windows {
            one.on(at(from), at(to));
        }
        let listening = windows.map(|(from, to)| Listening::once(at(from), at(to)));
        other.on_often(&listening.into_iter().fold(Listening::default(), Listening::then));
        // The next one goes on where the last one ends, or not.
        for next in [32, 33] {
            let [one, other] = [one, other].map(|mut meter| {
                meter.on(at(next), at(40));
                meter.work()
            });
            assert_eq!(one, other);
        }
    }
}
