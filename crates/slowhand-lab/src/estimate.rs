//! The estimator of all results: means with their 95 % confidence intervals, and percentiles.
//!
//! An interval is that of Student's t distribution. Values that are not independent of each other form clusters: the
//! handshakes of one world wait for each other, so the world is the observation, and the handshake is not.

use std::ops::{Div, Sub};

/// A mean and half of the width of its 95 % confidence interval, both in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of the width of the interval; 0 where the number is exact, or there is one observation only.
    pub half: f64,
}

impl Estimate {
    /// A number that is exact.
    pub const fn exact(value: f64) -> Self {
        Self { mean: value, half: 0.0 }
    }

    /// The mean of independent values. `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values.iter().copied())?;
        Some(Self { mean, half: half_width_of(values, values.iter().map(|value| value - mean)) })
    }

    /// The mean of values that come from these clusters. `None` if there are no values.
    ///
    /// `clusters` names the cluster of each value, and the values of a cluster stand together. Only the clusters are
    /// independent: the sum of the deviations in a cluster is one observation (Cochran, Sampling Techniques, 3rd
    /// edition, chapter 9A: the ratio estimator for clusters of unequal sizes).
    ///
    /// # Panics
    /// If there are not as many names as values.
    pub fn of_clusters(values: &[f64], clusters: &[u64]) -> Option<Self> {
        assert_eq!(values.len(), clusters.len(), "each value needs the name of its cluster");
        let mean = mean(values.iter().copied())?;
        let mut deviations: Vec<(u64, f64)> = Vec::new();
        for (value, &cluster) in values.iter().zip(clusters) {
            match deviations.last_mut().filter(|(last, _)| *last == cluster) {
                Some((_, sum)) => *sum += value - mean,
                None => deviations.push((cluster, value - mean)),
            }
        }
        Some(Self { mean, half: half_width_of(values, deviations.iter().map(|(_, sum)| *sum)) })
    }

    /// The mean of independent estimates. `None` if there are none.
    pub fn mean_of(estimates: &[Self]) -> Option<Self> {
        let mean = mean(estimates.iter().map(|estimate| estimate.mean))?;
        let half = estimates.iter().fold(0.0, |half: f64, estimate| half.hypot(estimate.half));
        Some(Self { mean, half: half / estimates.len() as f64 })
    }

    /// The two ends of the interval. Both are the mean if there is no interval.
    pub fn ci95(&self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }
}

/// The difference of independent means.
impl Sub for Estimate {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { mean: self.mean - other.mean, half: self.half.hypot(other.half) }
    }
}

/// The ratio of independent means; the interval is that of the first-order expansion (the squares of the relative
/// errors add up).
impl Div for Estimate {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let ratio = self.mean / other.mean;
        Self { mean: ratio, half: self.half.hypot(ratio * other.half) / other.mean.abs() }
    }
}

/// The value below which a share of the values lies, interpolated linearly between neighbours (R type 7, the default
/// of NumPy). The values are in ascending order. `None` if there are no values.
///
/// # Panics
/// If the share is not from 0 to 1.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&share), "a share is from 0 to 1");
    let position = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

/// The estimate of [`Estimate::of_clusters`] from values that are not kept.
///
/// The sum of the squares of the deviations follows from three sums over the clusters, once the mean is known. They are
/// sums of deviations from the first value, so that no digits are lost where the values differ little.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments {
    first: f64,
    count: u64,
    sum: Sum,
    open: Cluster,
    clusters: u64,
    /// Over the clusters that are not open: of d^2, of d n and of n^2, where d is the sum of the deviations in a
    /// cluster and n its number of values.
    squares: [Sum; 3],
}

/// The cluster whose values are coming.
#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    name: u64,
    deviation: Sum,
    count: u64,
}

impl Moments {
    /// Adds a value of a cluster. The values of a cluster come one after the other.
    pub(crate) fn add(&mut self, value: f64, cluster: u64) {
        if self.open.count == 0 || self.open.name != cluster {
            self.squares = self.squares_with_open();
            self.clusters += 1;
            self.open = Cluster { name: cluster, ..Cluster::default() };
        }
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
        self.sum.add(value);
        self.open.count += 1;
        self.open.deviation.add(value - self.first);
    }

    /// The number of clusters.
    pub(crate) fn clusters(&self) -> u64 {
        self.clusters
    }

    /// The estimate. `None` if there are no values.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let mean = self.sum.mean(self.count)?;
        let off = mean - self.first;
        let [deviations, products, sizes] = self.squares_with_open().map(Sum::value);
        let squares = (deviations - 2.0 * off * products + off * off * sizes).max(0.0);
        let half = if self.clusters < 2 { 0.0 } else { half_width(squares, self.count, self.clusters) };
        Some(Estimate { mean, half })
    }

    fn squares_with_open(&self) -> [Sum; 3] {
        let (deviation, count) = (self.open.deviation.value(), self.open.count as f64);
        let [mut deviations, mut products, mut sizes] = self.squares;
        deviations.add(deviation * deviation);
        products.add(deviation * count);
        sizes.add(count * count);
        [deviations, products, sizes]
    }
}

/// A sum that is compensated (Neumaier 1974), so that the order of the values does not show in the result.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }

    /// The mean of so many values. `None` if there are none.
    fn mean(self, count: u64) -> Option<f64> {
        (count > 0).then(|| self.value() / count as f64)
    }
}

/// The mean. `None` if there are no values.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len() as u64;
    let mut sum = Sum::default();
    values.for_each(|value| sum.add(value));
    sum.mean(count)
}

/// Half of the width of the interval of the mean of these values, from the sum of the deviations in each cluster.
fn half_width_of(values: &[f64], deviations: impl ExactSizeIterator<Item = f64>) -> f64 {
    let clusters = deviations.len();
    // The mean of equal values may be rounded, and then the deviations are not 0.
    let all_equal = values.windows(2).all(|pair| pair[0] == pair[1]);
    if clusters < 2 || all_equal {
        return 0.0;
    }
    let squares: f64 = deviations.map(|deviation| deviation.powi(2)).sum();
    half_width(squares, values.len() as u64, clusters as u64)
}

/// The half width from the sum of the squares of these deviations, of two clusters or more.
fn half_width(squares: f64, values: u64, clusters: u64) -> f64 {
    let degrees = clusters - 1;
    let variance = squares / (values as f64).powi(2) * clusters as f64 / degrees as f64;
    student_t_975(degrees) * variance.sqrt()
}

/// The 97.5 % quantile of the normal distribution, which is less than that of any t distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The 97.5 % quantile of Student's t distribution for a whole number of degrees of freedom, 1 or more.
fn student_t_975(degrees: u64) -> f64 {
    // From here on the expansion is exact to 12 digits, and the sum of the other method has many terms.
    const MANY: u64 = 10_000;
    if degrees < MANY { student_t_975_by_sum(degrees) } else { student_t_975_by_expansion(degrees) }
}

/// t = sqrt(n) tan(angle), and the probability between -t and t is a finite sum of powers of cos(angle) (Abramowitz and
/// Stegun, 26.7.3 and 26.7.4). The sum grows with the angle and is concave, so Newton's method, which begins at the
/// quantile of the normal distribution, comes to the angle from below and never passes it.
fn student_t_975_by_sum(degrees: u64) -> f64 {
    let scale = (degrees as f64).sqrt();
    let mut angle = (NORMAL / scale).atan();
    loop {
        let (probability, density) = central_probability(degrees, angle);
        let next = angle + (0.95 - probability) / density;
        if next <= angle * (1.0 + f64::EPSILON) {
            return scale * angle.tan();
        }
        angle = next;
    }
}

/// The first terms of the expansion in 1/n (Abramowitz and Stegun, 26.7.5).
fn student_t_975_by_expansion(degrees: u64) -> f64 {
    let (z, n) = (NORMAL, degrees as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / n + second / n.powi(2)
}

/// The probability that Student's t lies between -t and t, where t = sqrt(degrees) tan(angle), and its derivative by
/// the angle.
fn central_probability(degrees: u64, angle: f64) -> (f64, f64) {
    use std::f64::consts::FRAC_2_PI;
    let (sin, cos) = angle.sin_cos();
    // The terms of the sum, the last of which is one more and gives the derivative.
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cos } else { 1.0 }, 0.0);
    for divisor in (if is_odd { 3 } else { 2 }..=degrees).step_by(2) {
        sum += term;
        term *= cos * cos * (divisor - 1) as f64 / divisor as f64;
    }
    match degrees {
        1 => (FRAC_2_PI * angle, FRAC_2_PI),
        _ if is_odd => (FRAC_2_PI * (angle + sin * sum), FRAC_2_PI * term * degrees as f64 / cos),
        _ => (sin * sum, term * degrees as f64 / cos),
    }
}

#[cfg(test)]
mod tests;
