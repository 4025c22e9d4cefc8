//! The time of the network beside the wall clock, and how late the network is.

use sketches_ddsketch::{Config, DDSketch};
use slowhand_net::clock::Instant;
use std::time::{Duration, Instant as WallInstant};

/// Maps the wall clock to the time of the network.
#[derive(Debug)]
pub(crate) struct Clock {
    began: WallInstant,
    /// The seconds of the network that pass in one of the wall clock.
    speed: f64,
}

impl Clock {
    /// The network begins now.
    pub(crate) fn start(speed: f64) -> Self {
        Self { began: WallInstant::now(), speed }
    }

    /// The time of the network.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros((self.began.elapsed().as_secs_f64() * self.speed * 1e6) as u64)
    }

    /// The time by the wall clock until the network has this time. Zero if it has passed.
    pub(crate) fn until(&self, at: Instant) -> Duration {
        self.wall(at).saturating_sub(self.began.elapsed())
    }

    /// The time by the wall clock since the network should have had this time.
    pub(crate) fn since(&self, at: Instant) -> Duration {
        self.began.elapsed().saturating_sub(self.wall(at))
    }

    /// The time of the wall clock, since the beginning, at which the network should have this time.
    fn wall(&self, at: Instant) -> Duration {
        Duration::try_from_secs_f64(at.as_micros() as f64 / 1e6 / self.speed).unwrap_or(Duration::MAX)
    }
}

/// The 99th percentile of the lateness that is still exact enough: an eighth of a slot of 15 ms. A run that exceeds it
/// says so.
pub const LATENESS_LIMIT: Duration = Duration::from_millis(2);

/// A lateness that is an event. *Assumed*: a process that was suspended, or a machine that is too busy.
pub const FAR_BEHIND: Duration = Duration::from_millis(100);

/// The delays behind the wall clock with which the events of the network were handled.
pub(crate) struct Lateness {
    sketch: DDSketch,
    max: Duration,
}

/// The lateness of a run, in milliseconds of the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct LatenessReport {
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
    /// At how many instants something was due.
    pub count: usize,
}

impl LatenessReport {
    /// True if the network did not keep its schedule.
    pub fn is_exceeded(&self) -> bool {
        self.p99 > LATENESS_LIMIT.as_secs_f64() * 1e3
    }
}

impl Lateness {
    pub(crate) fn new() -> Self {
        Self { sketch: DDSketch::new(Config::defaults()), max: Duration::ZERO }
    }

    pub(crate) fn add(&mut self, late: Duration) {
        self.sketch.add(late.as_secs_f64() * 1e3);
        self.max = self.max.max(late);
    }

    pub(crate) fn report(&self) -> LatenessReport {
        let quantile = |share| self.sketch.quantile(share).ok().flatten().unwrap_or(0.0);
        LatenessReport {
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: self.max.as_secs_f64() * 1e3,
            count: self.sketch.count(),
        }
    }
}
