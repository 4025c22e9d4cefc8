//! The summary of many records.

use crate::estimate::{Estimate, percentile};
use crate::record::{Column, Outcome, Record, columns};
use serde::Serialize;
use std::collections::BTreeMap;

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Handshakes that completed.
    pub completed: u64,
    /// How many handshakes failed, by outcome.
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
    /// The 95 % confidence interval of the mean (Student's t, over worlds). Both are the mean if there is one world only.
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

/// Summarises records. Metrics are those of the completed handshakes. There are none if no handshake completed.
pub fn summarise(records: &[Record]) -> Summary {
    let completed: Vec<Record> = records.iter().filter(|r| r.outcome == Outcome::Completed).cloned().collect();
    let mut failed = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome != Outcome::Completed) {
        *failed.entry(record.outcome.name()).or_default() += 1;
    }
    let metrics = columns(&completed)
        .into_iter()
        .filter(|(name, _)| !IDENTIFYING.contains(name))
        .filter_map(|(name, column)| {
            let numbers = numbers(column)?.into_iter().zip(&completed);
            let (values, worlds): (Vec<f64>, Vec<u64>) =
                numbers.filter_map(|(number, record)| Some((number?, record.seed))).unzip();
            Some((name, Metric::of_worlds(values, &worlds)?))
        })
        .collect();
    Summary { completed: completed.len() as u64, failed, metrics }
}

/// The numbers of a column, some of which may be missing; of a list, its greatest element.
fn numbers(column: Column) -> Option<Vec<Option<f64>>> {
    match column {
        Column::U64(values) => Some(values.into_iter().map(|value| Some(value as f64)).collect()),
        Column::F64(values) => Some(values.into_iter().map(Some).collect()),
        Column::OptF64(values) => Some(values),
        Column::Lists(lists) => {
            Some(lists.iter().map(|list| Some(list.iter().max().map_or(0.0, |&max| max as f64))).collect())
        }
        Column::Text(_) => None,
    }
}

impl Metric {
    /// The distribution of these independent values. `None` if there are no values.
    pub fn of(values: Vec<f64>) -> Option<Self> {
        let estimate = Estimate::of(&values)?;
        Self::new(values, estimate)
    }

    /// The distribution of values that come from these worlds; the values of a world stand together. Handshakes that share a
    /// world wait for each other, so that only the worlds are independent.
    pub fn of_worlds(values: Vec<f64>, worlds: &[u64]) -> Option<Self> {
        let estimate = Estimate::of_clusters(&values, worlds)?;
        Self::new(values, estimate)
    }

    fn new(mut values: Vec<f64>, estimate: Estimate) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| percentile(&values, share));
        let (&min, &max) = (values.first()?, values.last()?);
        Some(Self { mean: estimate.mean, ci95: estimate.ci95(), min, p50: p50?, p95: p95?, p99: p99?, max })
    }
}

fn as_map<S: serde::Serializer>(metrics: &[(&'static str, Metric)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The handshakes of each world are alike: as many observations as worlds, twice 1 and twice 3 are as 1 and 3.
        let two = Metric::of(vec![1.0, 3.0]).unwrap();
        assert_eq!(Metric::of_worlds(vec![1.0, 1.0, 3.0, 3.0], &[7, 7, 8, 8]).unwrap().ci95, two.ci95);
    }
}
