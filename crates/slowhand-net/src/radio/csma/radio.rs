//! The radio of one node: its state, and how long it was in each state.

use super::config::{BEFORE_HEADER, Csl};
use crate::clock::{Duration, Instant};
use crate::observer::{RadioState, RadioTimes};
use crate::radio::timeline::Timeline;

/// A node's radio. Its state changes with events. Samples of the channel have no events: their time is added up when it
/// is asked for.
#[derive(Debug)]
pub struct Radio {
    /// True if it listens when nothing else happens.
    on: bool,
    /// True while it is switched off: it does not sample the channel either.
    pub is_off: bool,
    /// It is off until this instant, and then assesses the channel. It receives nothing meanwhile.
    assesses_at: Option<Instant>,
    pub is_sending: bool,
    /// True if it has synchronised with a frame.
    pub is_receiving: bool,
    /// End of the last frame that it sent.
    pub sending_until: Instant,
    /// When it samples the channel while it is off.
    pub samples: Option<Samples>,
    /// The time in each state but sleep, up to `settled`.
    times: RadioTimes,
    settled: Instant,
    /// Kept only while an observer watches radios.
    pub timeline: Option<Timeline>,
}

/// The samples of a CSL receiver.
#[derive(Clone, Debug)]
pub struct Samples {
    csl: Csl,
    interval: Duration,
    /// The time of the first sample: that of the first symbol of the MAC header of a frame which is sent into it.
    first: Instant,
    /// When parent and child have synchronised last.
    pub synchronised: Instant,
}

impl Radio {
    /// A radio that always listens, or is off except for these samples.
    pub fn new(on: bool, samples: Option<Samples>) -> Self {
        Self {
            on,
            is_off: false,
            assesses_at: None,
            is_sending: false,
            is_receiving: false,
            sending_until: Instant::ZERO,
            samples,
            times: RadioTimes::default(),
            settled: Instant::ZERO,
            timeline: Some(Timeline::default()),
        }
    }

    /// True if it synchronises with a frame that begins now.
    pub fn listens(&self, now: Instant) -> bool {
        self.on || !self.is_off && self.samples.as_ref().is_some_and(|samples| samples.is_open(now))
    }

    /// Switches it on or off. Returns true if that ends a reception.
    pub fn switch(&mut self, now: Instant, on: bool) -> bool {
        if self.on == on {
            return false;
        }
        self.settle(now);
        self.on = on;
        self.assesses_at = None;
        let ends = self.is_receiving && !self.listens(now);
        self.is_receiving &= !ends;
        ends
    }

    /// Its power is switched off, or on.
    pub fn set_off(&mut self, now: Instant, is_off: bool) {
        self.settle(now);
        self.is_off = is_off;
        self.assesses_at = None;
    }

    /// It is off until `at`, and then assesses the channel. Without effect if it is on.
    pub fn assess_at(&mut self, now: Instant, at: Instant) {
        if !self.on {
            self.settle(now);
            self.assesses_at = Some(at);
        }
    }

    /// The assessment is over.
    pub fn assessed(&mut self, now: Instant) {
        if self.assesses_at.is_some() {
            self.settle(now);
            self.assesses_at = None;
        }
    }

    /// Adds up the time in the present state. Must be called before the state changes.
    pub fn settle(&mut self, now: Instant) {
        let (mut times, mut timeline) = (self.times, self.timeline.take());
        self.spans(now, |state, from, to| {
            add(&mut times, state, from, to);
            if let Some(timeline) = &mut timeline {
                timeline.add(state, from, to);
            }
        });
        (self.times, self.timeline, self.settled) = (times, timeline, now);
    }

    /// How long it was in each state until `now`, which must not be before the last change.
    pub fn times(&self, now: Instant) -> RadioTimes {
        let mut times = self.times;
        self.spans(now, |state, from, to| add(&mut times, state, from, to));
        let RadioTimes { transmit, receive, listen, .. } = times;
        RadioTimes { sleep: now.since(Instant::ZERO).saturating_sub(transmit + receive + listen), ..times }
    }

    /// The spans since the last change in which it was not off.
    fn spans(&self, now: Instant, mut span: impl FnMut(RadioState, Instant, Instant)) {
        match () {
            () if self.is_sending => span(RadioState::Transmit, self.settled, now),
            () if self.is_receiving => span(RadioState::Receive, self.settled, now),
            () if self.on => span(RadioState::Listen, self.settled, now),
            () => {
                let assesses_at = self.assesses_at.map_or(now, |at| at.max(self.settled)).min(now);
                let samples = self.samples.iter().filter(|_| !self.is_off);
                for (from, to) in samples.flat_map(|samples| samples.between(self.settled, assesses_at)) {
                    span(RadioState::Listen, from, to);
                }
                span(RadioState::Listen, assesses_at, now);
            }
        }
    }
}

fn add(times: &mut RadioTimes, state: RadioState, from: Instant, to: Instant) {
    let total = match state {
        RadioState::Transmit => &mut times.transmit,
        RadioState::Receive => &mut times.receive,
        RadioState::Listen => &mut times.listen,
    };
    *total += to.since(from);
}

impl Samples {
    /// Samples from `first` on, which must be less than a period after the beginning.
    pub fn new(csl: Csl, first: Instant) -> Self {
        Self { interval: csl.interval(), csl, first, synchronised: Instant::ZERO }
    }

    /// The time of the first sample at or after `at`.
    pub fn next(&self, at: Instant) -> Instant {
        self.first + self.interval * at.since(self.first).as_micros().div_ceil(self.interval.as_micros())
    }

    /// True if the radio listens for a sample at `now`.
    fn is_open(&self, now: Instant) -> bool {
        self.between(now, now + Duration::from_micros(1)).next().is_some()
    }

    /// Start and end of each sample between two instants, cut at these instants.
    fn between(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Instant)> + '_ {
        // No sample begins or ends more than half a period before or after its time.
        let half = self.interval / 2;
        let before = from.since(Instant::ZERO).saturating_sub(half);
        let first = self.next(Instant::ZERO + before);
        let times = (0..).map(move |number| first + self.interval * number);
        let windows = times.map(move |at| {
            let (ahead, after) = self.edges(at, half);
            (Instant::ZERO + at.since(Instant::ZERO).saturating_sub(ahead), at + after)
        });
        let cut =
            windows.take_while(move |&(begin, _)| begin < to).map(move |(begin, end)| (begin.max(from), end.min(to)));
        cut.filter(|(begin, end)| begin < end)
    }

    /// How long before and after the time of a sample the radio listens (`SubMac::GetCslWindowEdges` of OpenThread, for
    /// a radio that starts at a given time).
    fn edges(&self, at: Instant, half: Duration) -> (Duration, Duration) {
        let margin = self.csl.drift(at.since(self.synchronised)) + self.csl.uncertainty;
        ((margin + BEFORE_HEADER).min(half), (margin + self.csl.receive_after).min(half))
    }
}
