//! The power cycle of one node: the times at which its radio is on although nothing happens. It is computed, not
//! stepped through.

use crate::clock::{Duration, Instant};
use crate::radio::contention::Pattern;
use crate::radio::meter::Listening;

/// Wake-ups at `anchor`, `anchor + interval`, ... Each lasts `awake`. There are none before the anchor.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    anchor: Instant,
    interval: Duration,
    awake: Duration,
}

/// The next action of the power cycle's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// It wakes the node up.
    Start(Instant),
    /// It ends the wake-up.
    End(Instant),
}

impl Cycle {
    /// A cycle whose first wake-up is at `anchor`; `awake` is less than `interval`.
    pub fn new(anchor: Instant, interval: Duration, awake: Duration) -> Self {
        Self { anchor, interval, awake }
    }

    /// The end of the wake-up at `now`. `None` if the node is asleep.
    pub fn awake_until(&self, now: Instant) -> Option<Instant> {
        let start = self.last_start(now)?;
        Some(start + self.awake).filter(|&end| end > now)
    }

    /// The first wake-up after `now`.
    pub fn next_start(&self, now: Instant) -> Instant {
        self.last_start(now).map_or(self.anchor, |start| start + self.interval)
    }

    /// The first end of a wake-up after `now`.
    pub fn next_end(&self, now: Instant) -> Instant {
        self.awake_until(now).unwrap_or_else(|| self.next_start(now) + self.awake)
    }

    /// The first action of the timer after `now`.
    pub fn next_edge(&self, now: Instant) -> Edge {
        self.awake_until(now).map_or_else(|| Edge::Start(self.next_start(now)), Edge::End)
    }

    /// The number of wake-ups that begin after `from` and not after `to`.
    pub fn starts(&self, from: Instant, to: Instant) -> u64 {
        self.starts_until(to).saturating_sub(self.starts_until(from))
    }

    /// The wake-ups between two instants, summed up.
    pub fn listening(&self, from: Instant, to: Instant) -> Listening {
        if to <= from.max(self.anchor) {
            return Listening::default();
        }
        // The wake-up under way at `from`, or the next one.
        let first_start = match self.last_start(from) {
            Some(start) if start + self.awake > from => start,
            _ => self.next_start(from),
        };
        let last_start = to - Duration::from_micros(1);
        let last_start = last_start - last_start.since(self.anchor) % self.interval;
        if last_start < first_start {
            return Listening::default();
        }
        let (first, until) = (first_start.max(from), (last_start + self.awake).min(to));
        let times = last_start.since(first_start).as_micros() / self.interval.as_micros() + 1;
        let cut = first.since(first_start) + (last_start + self.awake).since(until);
        Listening { times, sum: self.awake * times - cut, first, until }
    }

    /// Start and end of each wake-up between two instants, cut at these instants.
    pub fn wake_ups(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Instant)> + use<> {
        let Self { anchor, interval, awake } = *self;
        let first = self.last_start(from).unwrap_or(anchor);
        let starts = (0..).map(move |number| first + interval * number).take_while(move |&start| start < to);
        starts.map(move |start| (start.max(from), (start + awake).min(to))).filter(|(from, to)| from < to)
    }

    /// Handles an edge that was due while the timer could not run. The timer runs again from `now` on, and later edges
    /// follow at the usual distance. Returns true if a wake-up starts now.
    pub fn catch_up(&mut self, missed: Edge, now: Instant) -> bool {
        match missed {
            Edge::Start(at) if at <= now => {
                self.anchor = now;
                true
            }
            Edge::End(at) if at <= now => {
                self.anchor = now + (self.interval - self.awake);
                false
            }
            _ => false,
        }
    }

    fn last_start(&self, now: Instant) -> Option<Instant> {
        (now >= self.anchor).then(|| now - now.since(self.anchor) % self.interval)
    }

    fn starts_until(&self, at: Instant) -> u64 {
        if at < self.anchor {
            return 0;
        }
        at.since(self.anchor).as_micros() / self.interval.as_micros() + 1
    }
}

/// The cycle of a node's radio while nothing happens: wake-ups, and a wait for a data frame before them.
#[derive(Debug)]
pub struct Idle {
    pub cycle: Cycle,
    /// It stays off until this instant, even during a wake-up.
    pub quiet_until: Instant,
    /// It waits for a data frame and stays on until this instant, even between wake-ups.
    pub attentive_until: Instant,
}

impl Idle {
    pub fn new(cycle: Cycle) -> Self {
        Self { cycle, quiet_until: Instant::ZERO, attentive_until: Instant::ZERO }
    }

    /// The instant until which it listens, if nothing happens. Not after `now` if it is off.
    pub fn listens_until(&self, now: Instant) -> Instant {
        let cycle = self.cycle.awake_until(now).filter(|_| now >= self.quiet_until);
        cycle.map_or(self.attentive_until, |until| until.max(self.attentive_until))
    }

    /// The end of the wait for a data frame between two instants, and the instant from which on there are wake-ups only.
    fn attentive(&self, from: Instant, to: Instant) -> (Instant, Instant) {
        let attentive_to = self.attentive_until.min(to).max(from);
        (attentive_to, attentive_to.max(self.quiet_until))
    }
}

impl Pattern for Idle {
    fn spans(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Instant)> {
        let (attentive_to, cycle_from) = self.attentive(from, to);
        [(from, attentive_to)].into_iter().chain(self.cycle.wake_ups(cycle_from, to))
    }

    fn listening(&self, from: Instant, to: Instant) -> Listening {
        let (attentive_to, cycle_from) = self.attentive(from, to);
        Listening::once(from, attentive_to).then(self.cycle.listening(cycle_from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    fn cycle() -> Cycle {
        Cycle::new(at(30), Duration::from_micros(100), Duration::from_micros(8))
    }

    #[test]
    fn the_edges_alternate() {
        assert_eq!(cycle().next_edge(at(0)), Edge::Start(at(30)));
        assert_eq!(cycle().next_edge(at(30)), Edge::End(at(38)));
        assert_eq!(cycle().next_edge(at(37)), Edge::End(at(38)));
        assert_eq!(cycle().next_edge(at(38)), Edge::Start(at(130)));
        assert_eq!(cycle().next_edge(at(131)), Edge::End(at(138)));
    }

    #[test]
    fn an_edge_that_could_not_happen_happens_afterwards() {
        let mut late = cycle();
        assert!(late.catch_up(late.next_edge(at(40)), at(333)));
        assert_eq!(late.next_edge(at(333)), Edge::End(at(341)));
        assert_eq!(late.next_start(at(333)), at(433));
        let mut late = cycle();
        assert!(!late.catch_up(late.next_edge(at(31)), at(333)));
        assert_eq!(late.next_edge(at(333)), Edge::Start(at(333 + 92)));
        let mut in_time = cycle();
        assert!(!in_time.catch_up(in_time.next_edge(at(40)), at(129)));
        assert_eq!(in_time.next_edge(at(129)), Edge::Start(at(130)));
    }

    /// An edge that is due at the instant itself is handled then.
    #[test]
    fn an_edge_at_the_very_instant_is_handled() {
        for (missed, now, handled, next) in [
            (Edge::Start(at(130)), 129, false, Edge::Start(at(130))),
            (Edge::Start(at(130)), 130, true, Edge::End(at(138))),
            (Edge::Start(at(130)), 131, true, Edge::End(at(139))),
            (Edge::End(at(138)), 137, false, Edge::End(at(138))),
            (Edge::End(at(138)), 138, false, Edge::Start(at(230))),
            (Edge::End(at(138)), 139, false, Edge::Start(at(231))),
        ] {
            let mut cycle = cycle();
            assert_eq!(cycle.catch_up(missed, at(now)), handled, "{missed:?} at {now}");
            assert_eq!(cycle.next_edge(at(now)), next, "{missed:?} at {now}");
        }
    }

    #[test]
    fn a_wake_up_at_the_end_counts_and_one_at_the_beginning_does_not() {
        assert_eq!(cycle().starts(at(0), at(29)), 0);
        assert_eq!(cycle().starts(at(0), at(30)), 1);
        assert_eq!(cycle().starts(at(30), at(130)), 1);
    }

    proptest! {
        #[test]
        fn what_is_computed_is_what_stepping_would_give(
            anchor in 0u64..50, interval in 2u64..60, share in 1u64..60, from in 0u64..300, length in 0u64..300,
        ) {
            let awake = share.min(interval - 1);
            let cycle = Cycle::new(at(anchor), Duration::from_micros(interval), Duration::from_micros(awake));
            let on = |us: u64| us >= anchor && (us - anchor) % interval < awake;
            let starts = |us: u64| us >= anchor && (us - anchor).is_multiple_of(interval);
            let to = from + length;
            let listed: Vec<u64> = cycle
                .wake_ups(at(from), at(to))
                .flat_map(|(start, end)| start.as_micros()..end.as_micros())
                .collect();
            prop_assert_eq!(listed, (from..to).filter(|&us| on(us)).collect::<Vec<u64>>());
            prop_assert_eq!(cycle.starts(at(from), at(to)), (from + 1..=to).filter(|&us| starts(us)).count() as u64);
            prop_assert_eq!(cycle.awake_until(at(from)).is_some(), on(from));
            prop_assert_eq!(cycle.next_start(at(from)), at((from + 1..).find(|&us| starts(us)).unwrap()));
            let end = (from + 1..).find(|&us| us > 0 && on(us - 1) && !on(us)).unwrap();
            prop_assert_eq!(cycle.next_end(at(from)), at(end));
        }

        /// The radio waits for a data frame, then may miss some wake-ups.
        #[test]
        fn what_is_counted_is_what_comes_on(
            anchor in 0u64..50, interval in 2u64..60, share in 1u64..60, from in 0u64..300, length in 0u64..300,
            attentive in 0u64..600, quiet in 0u64..600,
        ) {
            let awake = share.min(interval - 1);
            let cycle = Cycle::new(at(anchor), Duration::from_micros(interval), Duration::from_micros(awake));
            let idle = Idle { cycle, attentive_until: at(attentive), quiet_until: at(quiet) };
            let (from, to) = (at(from), at(from + length));
            let mut on: Vec<u64> = Vec::new();
            on.extend(idle.spans(from, to).flat_map(|(start, end)| start.as_micros()..end.as_micros()));
            let gaps = on.windows(2).filter(|two| two[0] + 1 < two[1]).count() as u64;
            let listening = idle.listening(from, to);
            prop_assert_eq!(listening.times, gaps + u64::from(!on.is_empty()));
            prop_assert_eq!(listening.sum.as_micros(), on.len() as u64);
            if let (Some(&first), Some(&last)) = (on.first(), on.last()) {
                prop_assert_eq!((listening.first, listening.until), (at(first), at(last + 1)));
            }
        }
    }
}
