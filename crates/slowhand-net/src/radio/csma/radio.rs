//! The samples of a sleepy device: when its radio listens although nothing happens.

use super::config::{BEFORE_HEADER, Csl};
use crate::clock::{Duration, Instant};
use crate::radio::contention::Pattern;

/// The activity of a node's radio while it sleeps.
#[derive(Debug)]
pub struct Sampling {
    /// When it samples the channel.
    pub samples: Option<Samples>,
    /// True while it is switched off: it does not sample the channel either.
    pub is_off: bool,
    /// It is off until this instant, and then assesses the channel. It receives nothing meanwhile.
    pub assesses_at: Option<Instant>,
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

impl Sampling {
    /// True if the radio listens for a sample at `now`.
    pub fn is_open(&self, now: Instant) -> bool {
        let samples = self.samples.as_ref().filter(|_| !self.is_off);
        samples.is_some_and(|samples| samples.between(now, now + Duration::from_micros(1)).next().is_some())
    }
}

impl Pattern for Sampling {
    fn spans(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Instant)> {
        let assesses_at = self.assesses_at.map_or(to, |at| at.max(from)).min(to);
        let samples = self.samples.iter().filter(|_| !self.is_off);
        samples.flat_map(move |samples| samples.between(from, assesses_at)).chain([(assesses_at, to)])
    }
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

    /// The time before and after a sample in which the radio listens (`SubMac::GetCslWindowEdges` of OpenThread, for
    /// a radio that starts at a given time).
    fn edges(&self, at: Instant, half: Duration) -> (Duration, Duration) {
        let margin = self.csl.drift(at.since(self.synchronised)) + self.csl.uncertainty;
        ((margin + BEFORE_HEADER).min(half), (margin + self.csl.receive_after).min(half))
    }
}
