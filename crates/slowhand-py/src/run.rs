//! Runs and their records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{self, Column, Loss};
use slowhand_lab::runner::{RunConfig, RunError, Runner};

use crate::argument::wrong;
use crate::interruptible::{SLICE, abandonable, interruptible};
use crate::number::natural;
use crate::scenario::{Scenario, refused};
use crate::to_json;

/// Handshakes that run on their own threads.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Run(Runner);

#[pymethods]
impl Run {
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: i128,
        count: i128,
        threads: i128,
        records: bool,
    ) -> PyResult<Self> {
        let config = RunConfig {
            first_seed: natural("seed", seed)?,
            count: natural("count", count)?,
            threads: natural("threads", threads)?,
            keeps_records: records,
        };
        let scenario = Arc::clone(&scenario.0);
        let runner = abandonable(py, move || Runner::start(&scenario, config))?;
        match runner {
            Ok(runner) => Ok(Self(runner)),
            Err(RunError::Plan(error)) => Err(refused(error)),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<(u64, bool)> {
        if timeout_s.is_nan() || timeout_s < 0.0 {
            return Err(wrong("timeout_s", &format!("found {timeout_s}, allowed: 0 or more")));
        }
        // Beyond the range: without a limit.
        let timeout = Duration::try_from_secs_f64(timeout_s).unwrap_or(Duration::MAX);
        self.wait_in_slices(py, timeout)
    }

    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.0.cancel());
    }

    /// The first worlds that panicked, and how many did in all, after the end of the run.
    fn panicked(&self, py: Python<'_>) -> PyResult<(Vec<String>, u64)> {
        self.wait_in_slices(py, Duration::MAX)?;
        Ok(py.detach(|| {
            let finished = self.0.finish();
            (finished.panicked.iter().map(ToString::to_string).collect(), finished.panicked_count)
        }))
    }

    /// The records, after the end of the run.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        self.wait_in_slices(py, Duration::MAX)?;
        let columns = py.detach(|| record::columns(&self.0.finish().records));
        table(py, columns)
    }

    /// The summary, after the end of the run.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        self.wait_in_slices(py, Duration::MAX)?;
        to_json(&py.detach(|| &self.0.finish().summary))
    }
}

impl Run {
    /// Waits, while Python handles signals.
    fn wait_in_slices(&self, py: Python<'_>, timeout: Duration) -> PyResult<(u64, bool)> {
        let end = Instant::now().checked_add(timeout);
        loop {
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let progress = py.detach(|| self.0.wait(left.min(SLICE)));
            if progress.finished || left.is_zero() {
                return Ok((progress.done, progress.finished));
            }
            py.check_signals()?;
        }
    }
}

/// Runs the world of `seed` and reports it in detail: a table of the nodes, one of the radios' timelines, and one of
/// what the nodes' buffers held.
#[pyfunction]
pub fn inspect<'py>(py: Python<'py>, scenario: &Scenario, seed: i128) -> PyResult<[Table<'py>; 3]> {
    let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&scenario.0));
    let inspect = move |interrupt: &Interrupt| slowhand_lab::inspect::inspect(&scenario, seed, interrupt);
    let inspection = interruptible(py, inspect)?.map_err(refused)?.expect("what is interrupted has returned an error");
    Ok([
        table(py, record::columns(&inspection.nodes))?,
        table(py, record::columns(&inspection.timeline))?,
        table(py, record::columns(&inspection.buffers))?,
    ])
}

/// The JSON Schema of a row of each table, as a JSON object.
#[pyfunction]
pub fn table_schemas() -> PyResult<String> {
    let schemas: BTreeMap<_, _> = slowhand_lab::inspect::table_schemas().into();
    to_json(&schemas)
}

/// The columns of a table: the name, the type of the values, and the values.
pub type Table<'py> = Vec<(&'static str, &'static str, Bound<'py, PyAny>)>;

pub fn table<'py>(py: Python<'py>, columns: record::Table) -> PyResult<Table<'py>> {
    columns.into_iter().map(|(field, column)| column_of(py, field.name, column)).collect()
}

fn column_of<'py>(
    py: Python<'py>,
    name: &'static str,
    column: Column,
) -> PyResult<(&'static str, &'static str, Bound<'py, PyAny>)> {
    let (kind, values) = match column {
        Column::U64(values) => ("u64", values.into_bound_py_any(py)?),
        Column::OptU64(values) => ("u64", values.into_bound_py_any(py)?),
        Column::F64(values) => ("f64", values.into_bound_py_any(py)?),
        Column::OptF64(values) => ("f64", values.into_bound_py_any(py)?),
        Column::Text(values) => ("text", values.into_bound_py_any(py)?),
        Column::OptText(values) => ("text", values.into_bound_py_any(py)?),
        Column::Lists(values) => {
            let lists: Vec<Vec<u64>> = values.iter().map(|list| list.to_vec()).collect();
            ("list of u64", lists.into_bound_py_any(py)?)
        }
        Column::Losses(values) => {
            let losses = |losses: &Vec<Loss>| losses.iter().map(|loss| loss_of(py, loss)).collect();
            let lists: PyResult<Vec<Vec<Bound<'py, PyDict>>>> = values.iter().map(losses).collect();
            ("list of losses", lists?.into_bound_py_any(py)?)
        }
    };
    Ok((name, kind, values))
}

/// A loss as a dict. A host on the Internet has no node.
fn loss_of<'py>(py: Python<'py>, loss: &Loss) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("reason", loss.reason.name())?;
    dict.set_item("node", loss.node())?;
    dict.set_item("count", loss.count)?;
    Ok(dict)
}
