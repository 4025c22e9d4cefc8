//! Runs and their records.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slowhand_lab::record::{self, Column, Record};
use slowhand_lab::runner::Runner;
use slowhand_lab::summary::summarise;

use crate::scenario::{Scenario, refused};
use crate::to_json;

/// Handshakes that run on their own threads.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Run(Mutex<Option<Runner>>);

#[pymethods]
impl Run {
    #[new]
    fn new(scenario: &Scenario, seed: u64, count: u64, threads: usize) -> PyResult<Self> {
        let runner = Runner::start(&scenario.0, seed, count, threads).map_err(refused)?;
        Ok(Self(Mutex::new(Some(runner))))
    }

    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<(u64, bool)> {
        let timeout =
            Duration::try_from_secs_f64(timeout_s).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let progress = py.detach(|| self.with(|runner| runner.wait(timeout)))?;
        Ok((progress.done, progress.finished))
    }

    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(|runner| runner.cancel()))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<Records> {
        py.detach(|| {
            let runner = self.lock().take().ok_or_else(finished)?;
            Ok(Records(runner.finish()))
        })
    }
}

impl Run {
    fn with<T>(&self, work: impl FnOnce(&Runner) -> T) -> PyResult<T> {
        self.lock().as_ref().map(work).ok_or_else(finished)
    }

    /// A runner has no state that a panic under this lock could leave half-changed.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Runner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the run has handed over its records already")
}

/// The records of the handshakes, ordered by seed, then client.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Records(Vec<Record>);

#[pymethods]
impl Records {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, record::columns(&self.0))
    }

    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        to_json(&py.detach(|| summarise(&self.0)))
    }
}

/// Runs the world of `seed` and reports it in detail: a table of the nodes, one of the radios' timelines, and one of what
/// the nodes' buffers held.
#[pyfunction]
pub fn inspect<'py>(py: Python<'py>, scenario: &Scenario, seed: u64) -> PyResult<[Bound<'py, PyDict>; 3]> {
    let inspection = py.detach(|| slowhand_lab::inspect::inspect(&scenario.0, seed)).map_err(refused)?;
    Ok([
        to_dict(py, inspection.node_columns())?,
        to_dict(py, inspection.timeline_columns())?,
        to_dict(py, inspection.buffer_columns())?,
    ])
}

fn to_dict<'py>(py: Python<'py>, table: Vec<(&'static str, Column)>) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table {
        match column {
            Column::U64(values) => columns.set_item(name, values)?,
            Column::F64(values) => columns.set_item(name, values)?,
            Column::OptF64(values) => columns.set_item(name, values)?,
            Column::Text(values) => columns.set_item(name, values)?,
            Column::Lists(values) => {
                let lists: Vec<Vec<u64>> = values.iter().map(|list| list.to_vec()).collect();
                columns.set_item(name, lists)?;
            }
        }
    }
    Ok(columns)
}
