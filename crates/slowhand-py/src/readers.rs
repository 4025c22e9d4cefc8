//! Readers of one value.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use slowhand_lab::readers::{self, ReadersPlan, ReadersRecord, Way};
use slowhand_lab::record::{columns, schema};

use crate::argument::wrong;
use crate::interruptible::kept;
use crate::number::natural;
use crate::run::{Table, table};
use crate::scenario::{Scenario, refused, written};
use crate::to_json;

/// A scenario whose readers can read, in both ways.
#[pyclass(frozen)]
pub struct Reading(Arc<ReadersPlan>);

#[pymethods]
impl Reading {
    #[new]
    fn new(scenario: &Scenario) -> PyResult<Self> {
        Ok(Self(Arc::new(ReadersPlan::new(&scenario.0).map_err(refused)?)))
    }

    /// The node that has the value.
    #[getter]
    fn producer(&self) -> u16 {
        self.0.producer().0
    }

    /// The most readers that there can be.
    #[getter]
    fn most_readers(&self) -> u32 {
        self.0.most_readers()
    }

    /// The records of both ways with so many readers, of the worlds of `count` seeds; if a handler of a signal raises, of those that
    /// were complete, and what it raised.
    fn run<'py>(
        &self,
        py: Python<'py>,
        readers: i128,
        seed: i128,
        count: i128,
        threads: i128,
    ) -> PyResult<(Table<'py>, Option<PyErr>)> {
        let readers = natural::<u32>("readers", readers)?;
        self.0.check_readers(readers).map_err(refused)?;
        let (seed, count, threads) =
            (natural("seed", seed)?, natural("count", count)?, natural::<usize>("threads", threads)?);
        let plan = Arc::clone(&self.0);
        let (records, stopped) = kept(py, move |interrupt| plan.run_all(&[readers], seed, count, threads, interrupt))?;
        Ok((table(py, columns(&records))?, stopped))
    }
}

/// Runs the world of `seed` with so many readers in this way, and writes its frames to `path` as pcapng.
#[pyfunction]
pub fn capture_readers(
    py: Python<'_>,
    scenario: &Scenario,
    way: &str,
    readers: i128,
    seed: i128,
    path: PathBuf,
) -> PyResult<()> {
    let way = Way::named(way).ok_or_else(|| wrong("way", &format!("found '{way}', allowed: dtls, oscar")))?;
    let (readers, seed, scenario) = (natural("readers", readers)?, natural("seed", seed)?, Arc::clone(&scenario.0));
    written(py, move |interrupt| readers::capture_readers(&scenario, way, readers, seed, &path, interrupt))
}

/// The JSON Schema of a record of readers.
#[pyfunction]
pub fn readers_schema() -> PyResult<String> {
    to_json(&schema::<ReadersRecord>())
}
