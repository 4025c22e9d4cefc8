//! Scenarios, their schema and their captures.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use slowhand_lab::CaptureRunError;
use slowhand_lab::explanation::{ExplainError, explain};
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{self as lab, Override};

use crate::about::about;
use crate::interruptible::{abandonable, interruptible};
use crate::number::natural;
use crate::to_json;

create_exception!(
    slowhand,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run. The message names the file, the line and the key."
);

/// A scenario that has been read and checked.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Scenario(pub Arc<lab::Scenario>);

#[pymethods]
impl Scenario {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let overrides: Result<Vec<Override>, _> = overrides.iter().map(|text| text.parse()).collect();
        let overrides = overrides.map_err(refused)?;
        // The path may be a pipe into which nobody writes.
        let scenario = abandonable(py, move || lab::Scenario::load(&path, &overrides))?;
        Ok(Self(Arc::new(scenario.map_err(refused)?)))
    }

    #[staticmethod]
    #[pyo3(signature = (sources, folder = None))]
    fn from_sources(py: Python<'_>, sources: String, folder: Option<PathBuf>) -> PyResult<Self> {
        let read = move || {
            let sources: lab::Sources =
                serde_json::from_str(&sources).map_err(|error| format!("sources: not such a JSON object: {error}"))?;
            let scenario = match folder {
                Some(folder) => lab::Scenario::from_sources_in(&folder, &sources),
                None => lab::Scenario::from_sources(&sources),
            };
            scenario.map_err(|error| error.to_string())
        };
        Ok(Self(Arc::new(abandonable(py, read)?.map_err(refused)?)))
    }

    fn sources(&self) -> PyResult<String> {
        to_json(self.0.sources())
    }

    /// True if its texts have a key of their own.
    fn holds_keys(&self) -> bool {
        self.0.holds_keys()
    }

    fn wireshark_arguments(&self) -> Vec<String> {
        slowhand_lab::wireshark_arguments(&self.0)
    }

    fn settings(&self) -> PyResult<String> {
        to_json(&self.0.session.settings())
    }

    /// The credentials of the ends as files: their names and texts.
    fn credentials(&self, py: Python<'_>) -> PyResult<BTreeMap<String, String>> {
        let scenario = Arc::clone(&self.0);
        abandonable(py, move || scenario.credentials())?.map_err(refused)
    }

    fn session_memory(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = Arc::clone(&self.0);
        let [client, server] =
            abandonable(py, move || Plan::new(&scenario).and_then(|plan| plan.session_heap()))?.map_err(refused)?;
        to_json(&json!({ "client": client, "server": server }))
    }

    fn about(&self) -> PyResult<String> {
        to_json(&about(&self.0))
    }

    /// Where the time of the handshake of a client went, in the world of `seed`.
    fn explain(&self, py: Python<'_>, seed: i128, client: Option<i128>) -> PyResult<String> {
        let client = client.map(|client| natural("client", client)).transpose()?;
        let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&self.0));
        let explained = interruptible(py, move |interrupt| explain(&scenario, seed, client, interrupt))?;
        match explained {
            Ok(explanation) => to_json(&explanation),
            Err(ExplainError::Plan(error)) => Err(refused(error)),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }
}

/// Runs the handshake of `seed` and writes its frames to `path` as pcapng.
#[pyfunction]
pub fn capture(py: Python<'_>, scenario: &Scenario, seed: i128, path: PathBuf) -> PyResult<()> {
    let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&scenario.0));
    match interruptible(py, move |interrupt| slowhand_lab::capture_run(&scenario, seed, &path, interrupt))? {
        Ok(_) => Ok(()),
        Err(CaptureRunError::Plan(error)) => Err(refused(error)),
        Err(CaptureRunError::Capture(error)) => Err(PyOSError::new_err(error.to_string())),
    }
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> PyResult<String> {
    to_json(&lab::schema())
}

/// The JSON Schema of a device.
#[pyfunction]
pub fn device_schema() -> PyResult<String> {
    to_json(&slowhand_lab::device::schema())
}

/// The error of a scenario that cannot run.
pub fn refused(error: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
