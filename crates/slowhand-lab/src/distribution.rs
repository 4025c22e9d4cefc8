//! The distribution of one quantity over many handshakes, in a bounded amount of memory.
//!
//! Up to a bound all values are kept, and the statistics are exact. After that the values are in a DDSketch (Masson,
//! Rim and Lee, VLDB 2019), whose quantiles have a bounded relative error. The mean, its interval, the least and the
//! greatest value stay exact.

use crate::estimate::{Estimate, Moments, percentile};
use serde::Serialize;
use sketches_ddsketch::{Config, DDSketch};

/// The bound of the relative error of a quantile, once values are not kept any more (assumed: a tenth of a percent is
/// less than the interval of any mean).
pub(crate) const RELATIVE_ERROR: f64 = 0.001;

/// The relative error of the sketch itself. The nearest whole number of a quantile may be twice as far away.
const SKETCH_ERROR: f64 = RELATIVE_ERROR / 2.0;

/// The least value that the sketch does not take for 0: in all units of our metrics it is nothing.
const SKETCH_LEAST: f64 = 1e-12;

/// The most bins of a sketch: with `SKETCH_ERROR` they span 56 orders of magnitude. It takes those that its values
/// need.
const SKETCH_BINS: u32 = 1 << 17;

/// The distribution of one quantity. All fields are in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// The mean.
    pub mean: f64,
    /// The 95 % confidence interval of the mean (Student's t, over worlds). There is none if there is one world only.
    pub ci95: Option<[f64; 2]>,
    /// Half of the width of this interval, as Student's t has it.
    pub half: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
}

impl Metric {
    fn new(mean: f64, interval: Option<Estimate>, [min, p50, p95, p99, max]: [f64; 5]) -> Self {
        let (ci95, half) = (interval.map(|estimate| estimate.ci95()), interval.map(|estimate| estimate.half));
        Self { mean, ci95, half, min, p50, p95, p99, max }
    }

    /// The metric of a quantity that is never negative: its interval ends at 0. `half` stays.
    pub(crate) fn not_negative(self) -> Self {
        Self { ci95: self.ci95.map(|[low, high]| [low.max(0.0), high]), ..self }
    }

    /// The distribution of these independent values. `None` if there are no values.
    pub fn of(values: Vec<f64>) -> Option<Self> {
        let estimate = Estimate::of(&values)?;
        let has_interval = values.len() > 1;
        Self::exact(values, estimate, has_interval)
    }

    /// The distribution of values that come from these worlds; the values of a world stand together. Handshakes that
    /// share a world wait for each other, so that only the worlds are independent.
    pub fn of_worlds(values: Vec<f64>, worlds: &[u64]) -> Option<Self> {
        let estimate = Estimate::of_clusters(&values, worlds)?;
        let has_interval = worlds.first() != worlds.last();
        Self::exact(values, estimate, has_interval)
    }

    fn exact(mut values: Vec<f64>, estimate: Estimate, has_interval: bool) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| percentile(&values, share));
        let (&min, &max) = (values.first()?, values.last()?);
        let interval = has_interval.then_some(estimate);
        Some(Self::new(estimate.mean, interval, [min, p50?, p95?, p99?, max]))
    }
}

/// The values of one quantity, or what is left of them.
#[derive(Clone)]
pub(crate) struct Distribution {
    /// True if all values are whole numbers.
    is_whole: bool,
    values: Values,
}

#[derive(Clone)]
enum Values {
    Kept { values: Vec<f64>, worlds: Vec<u64> },
    Sketched { moments: Moments, sketch: Box<DDSketch> },
}

impl Distribution {
    /// A distribution without values.
    pub(crate) fn new(is_whole: bool) -> Self {
        Self { is_whole, values: Values::Kept { values: Vec::new(), worlds: Vec::new() } }
    }

    /// Adds a value from a world. The values of a world come one after the other.
    pub(crate) fn add(&mut self, value: f64, world: u64) {
        match &mut self.values {
            Values::Kept { values, worlds } => {
                values.push(value);
                worlds.push(world);
            }
            Values::Sketched { moments, sketch } => {
                moments.add(value, world);
                sketch.add(value);
            }
        }
    }

    /// Keeps the values no longer.
    pub(crate) fn sketch(&mut self) {
        let Values::Kept { values, worlds } = &self.values else { return };
        let mut moments = Moments::default();
        let mut sketch = DDSketch::new(Config::new(SKETCH_ERROR, SKETCH_BINS, SKETCH_LEAST));
        for (&value, &world) in values.iter().zip(worlds) {
            moments.add(value, world);
            sketch.add(value);
        }
        self.values = Values::Sketched { moments, sketch: Box::new(sketch) };
    }

    /// The statistics of the values. `None` if there are no values.
    pub(crate) fn metric(&self) -> Option<Metric> {
        let (moments, sketch) = match &self.values {
            Values::Kept { values, worlds } => return Metric::of_worlds(values.clone(), worlds),
            Values::Sketched { moments, sketch } => (moments, sketch),
        };
        let (min, max) = (sketch.min()?, sketch.max()?);
        let estimate = if min == max { Estimate::exact(min) } else { moments.estimate()? };
        let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| self.quantile(sketch, share));
        let interval = (moments.clusters() > 1).then_some(estimate);
        Some(Metric::new(estimate.mean, interval, [min, p50, p95, p99, max]))
    }

    /// The value below which a share of the values lies, interpolated between the same neighbours as [`percentile`].
    fn quantile(&self, sketch: &DDSketch, share: f64) -> f64 {
        let last = sketch.count().saturating_sub(1) as f64;
        let at = |rank: f64| {
            // The sketch rounds a share down to a rank: it gets one from the middle of the rank.
            let middle = ((rank + 0.5) / last).min(1.0);
            let value = sketch.quantile(middle).ok().flatten().unwrap_or(0.0);
            if self.is_whole { value.round() } else { value }
        };
        let position = share * last;
        let (below, above) = (at(position.floor()), at(position.ceil()));
        let value = below + (above - below) * position.fract();
        value.clamp(sketch.min().unwrap_or(value), sketch.max().unwrap_or(value))
    }
}

#[cfg(test)]
mod tests;
