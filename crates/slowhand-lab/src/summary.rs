//! What many records say together.

use crate::record::{Column, Outcome, Record, columns};
use serde::Serialize;
use std::collections::BTreeMap;

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Handshakes that completed.
    pub completed: u64,
    /// How many of the others ended how.
    pub failed: BTreeMap<&'static str, u64>,
    /// Every measured quantity over the completed handshakes, in the order of the record's columns.
    #[serde(serialize_with = "as_map")]
    pub metrics: Vec<(&'static str, Metric)>,
}

/// The distribution of one quantity. All fields are in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// The mean.
    pub mean: f64,
    /// The 95 % confidence interval of the mean (Student's t, over worlds); the mean twice where there is one world only.
    pub ci95: [f64; 2],
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

/// Columns that identify a record; all other numbers are metrics.
const IDENTIFYING: [&str; 2] = ["seed", "client"];

/// Summarises records. Metrics are taken over completed handshakes; where none completed there are none.
pub fn summarise(records: &[Record]) -> Summary {
    let completed: Vec<Record> = records.iter().filter(|r| r.outcome == Outcome::Completed).cloned().collect();
    let mut failed = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome != Outcome::Completed) {
        *failed.entry(record.outcome.name()).or_default() += 1;
    }
    let worlds: Vec<u64> = completed.iter().map(|record| record.seed).collect();
    let metrics = columns(&completed)
        .into_iter()
        .filter(|(name, _)| !IDENTIFYING.contains(name))
        .filter_map(|(name, column)| Some((name, Metric::of_worlds(&numbers(column)?, &worlds)?)))
        .collect();
    Summary { completed: completed.len() as u64, failed, metrics }
}

/// The numbers of a column; of a list, its greatest element.
fn numbers(column: Column) -> Option<Vec<f64>> {
    match column {
        Column::U64(values) => Some(values.into_iter().map(|value| value as f64).collect()),
        Column::F64(values) => Some(values),
        Column::OptF64(values) => Some(values.into_iter().flatten().collect()),
        Column::Lists(lists) => {
            Some(lists.iter().map(|list| list.iter().max().map_or(0.0, |&max| max as f64)).collect())
        }
        Column::Text(_) => None,
    }
}

impl Metric {
    /// The distribution of these values; none where there are no values.
    pub fn of(values: Vec<f64>) -> Option<Self> {
        let each: Vec<u64> = (0..values.len() as u64).collect();
        Self::of_worlds(&values, &each)
    }

    /// The same of values that come from these worlds, those of one world behind each other. Handshakes that share
    /// a world wait for each other, so that only worlds are independent: the interval of the mean is that of clusters
    /// (the sum of the deviations in each world is one observation).
    pub fn of_worlds(values: &[f64], worlds: &[u64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let mut deviations: Vec<(u64, f64)> = Vec::new();
        for (&value, &world) in values.iter().zip(worlds) {
            match deviations.last_mut().filter(|(last, _)| *last == world) {
                Some((_, sum)) => *sum += value - mean,
                None => deviations.push((world, value - mean)),
            }
        }
        let clusters = deviations.len();
        let half = if clusters < 2 {
            0.0
        } else {
            let squares: f64 = deviations.iter().map(|(_, sum)| sum.powi(2)).sum();
            let variance = squares / count.powi(2) * clusters as f64 / (clusters - 1) as f64;
            student_t_975(clusters - 1) * variance.sqrt()
        };
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let (&min, &max) = (values.first()?, values.last()?);
        let percentile = |p| percentile(&values, p);
        let ci95 = [mean - half, mean + half];
        Some(Self { mean, ci95, min, p50: percentile(0.50), p95: percentile(0.95), p99: percentile(0.99), max })
    }
}

/// The value below which a share `p` of the sorted values lies, interpolated linearly between neighbours
/// (the default of NumPy, R type 7).
fn percentile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

/// The 97.5 % quantile of Student's t distribution: the exact ones of 1 and 2 degrees of freedom, else the expansion
/// of Cornish and Fisher to the fourth order (Abramowitz and Stegun, 26.7.5), which is within 0.4 % from 3 on.
fn student_t_975(degrees: usize) -> f64 {
    /// The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    match degrees {
        1 => 12.706_204_736,
        2 => 4.302_652_730,
        _ => {
            let n = degrees as f64;
            let g1 = (Z.powi(3) + Z) / 4.0;
            let g2 = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
            let g3 = (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0;
            let g4 =
                (79.0 * Z.powi(9) + 776.0 * Z.powi(7) + 1482.0 * Z.powi(5) - 1920.0 * Z.powi(3) - 945.0 * Z) / 92_160.0;
            Z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3) + g4 / n.powi(4)
        }
    }
}

fn as_map<S: serde::Serializer>(metrics: &[(&'static str, Metric)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_t_from_the_tables() {
        // Published table of the t distribution, two-sided 95 %.
        for (degrees, expected) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (99, 1.984)]
        {
            let ours = student_t_975(degrees);
            assert!((ours / expected - 1.0).abs() < 0.004, "{degrees}: {ours}");
        }
    }

    #[test]
    fn distribution_of_known_values() {
        let metric = Metric::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!((metric.mean, metric.min, metric.max, metric.p50), (50.5, 1.0, 100.0, 50.5));
        // numpy.percentile(range(1, 101), [95, 99]) is 95.05, 99.01.
        assert!((metric.p95 - 95.05).abs() < 1e-9 && (metric.p99 - 99.01).abs() < 1e-9);
        // The standard deviation of 1..100 is 29.0115; t for 99 degrees of freedom 1.9842: 5.7564.
        assert!((metric.ci95[1] - 50.5 - 5.7564).abs() < 1e-3);
        assert_eq!(Metric::of(Vec::new()), None);
        assert_eq!(Metric::of(vec![2.0]).unwrap().ci95, [2.0, 2.0]);
        // Each world's handshakes alike: as many observations as worlds, twice 1 and twice 3 are as 1 and 3.
        let two = Metric::of(vec![1.0, 3.0]).unwrap();
        assert_eq!(Metric::of_worlds(&[1.0, 1.0, 3.0, 3.0], &[7, 7, 8, 8]).unwrap().ci95, two.ci95);
    }
}
