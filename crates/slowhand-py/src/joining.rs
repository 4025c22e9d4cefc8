//! The forming of a network.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use slowhand_lab::joining::{self, JoinPlan, JoinRecord};
use slowhand_lab::record::{columns, schema};

use crate::interruptible::kept;
use crate::number::natural;
use crate::run::{Table, table};
use crate::scenario::{Scenario, refused, written};
use crate::to_json;

/// The records of the worlds of `count` seeds; if a handler of a signal raises, of those that were complete, and what it raised.
#[pyfunction]
pub fn join<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    seed: i128,
    count: i128,
    threads: i128,
) -> PyResult<(Table<'py>, Option<PyErr>)> {
    let (seed, count, threads) =
        (natural("seed", seed)?, natural("count", count)?, natural::<usize>("threads", threads)?);
    let plan = JoinPlan::new(&scenario.0).map_err(refused)?;
    let (records, stopped) = kept(py, move |interrupt| plan.run_all(seed, count, threads, interrupt))?;
    Ok((table(py, columns(&records))?, stopped))
}

/// Runs the world of `seed` and writes its frames to `path` as pcapng.
#[pyfunction]
pub fn capture_join(py: Python<'_>, scenario: &Scenario, seed: i128, path: PathBuf) -> PyResult<()> {
    let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&scenario.0));
    written(py, move |interrupt| joining::capture_join(&scenario, seed, &path, interrupt))
}

/// The JSON Schema of a record of joining.
#[pyfunction]
pub fn join_schema() -> PyResult<String> {
    to_json(&schema::<JoinRecord>())
}
