//! The difference of two configurations that ran in the same worlds.

use crate::estimate::Estimate;
use crate::record::{Outcome, Quantity, Record, quantities};
use serde::Serialize;

/// The mean of one configuration minus that of another one, in the unit of the quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The mean of the differences, one a world.
    pub mean: f64,
    /// Half of the width of its 95 % confidence interval (Student's t). There is none if there is one world only.
    pub half: Option<f64>,
    /// The number of worlds: those in which handshakes completed in both.
    pub pairs: usize,
}

/// The difference of `records` from `others`, for each quantity that both have, in the order of the record's columns. Both are
/// ordered by seed. A world with several handshakes counts with their mean.
///
/// Equal seeds draw the same random numbers, so that differences of pairs have a narrower interval than those of two
/// independent runs.
pub fn differences(records: &[Record], others: &[Record]) -> Vec<(&'static str, Difference)> {
    let of = |quantity: Quantity| {
        Some((quantity.field.name, difference(&worlds(records, &quantity), &worlds(others, &quantity))?))
    };
    quantities().filter_map(of).collect()
}

/// The mean of a quantity over the completed handshakes of each world, by seed.
fn worlds(records: &[Record], quantity: &Quantity) -> Vec<(u64, f64)> {
    let worlds = records.chunk_by(|one, next| one.seed == next.seed);
    let mean = |world: &[Record]| {
        let completed = world.iter().filter(|record| record.outcome == Outcome::Completed);
        let values: Vec<f64> = completed.filter_map(|record| quantity.of(record)).collect();
        Estimate::of(&values).map(|estimate| (world[0].seed, estimate.mean))
    };
    worlds.filter_map(mean).collect()
}

fn difference(worlds: &[(u64, f64)], others: &[(u64, f64)]) -> Option<Difference> {
    let mut others = others.iter().peekable();
    let paired = worlds.iter().filter_map(|(seed, value)| {
        while others.next_if(|(other, _)| other < seed).is_some() {}
        others.next_if(|(other, _)| other == seed).map(|(_, other)| value - other)
    });
    let differences: Vec<f64> = paired.collect();
    let Estimate { mean, half } = Estimate::of(&differences)?;
    let pairs = differences.len();
    Some(Difference { mean, half: (pairs > 1).then_some(half), pairs })
}
