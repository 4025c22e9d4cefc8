//! Scenarios, their schema and their captures.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use slowhand_lab::CaptureRunError;
use slowhand_lab::scenario::{self as lab, Override};

use crate::about::about;
use crate::to_json;

create_exception!(
    slowhand,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run. The message names the file, the line and the key."
);

/// A scenario that has been read and checked.
#[pyclass(frozen, module = "slowhand._native")]
pub struct Scenario(pub lab::Scenario);

#[pymethods]
impl Scenario {
    #[new]
    fn new(path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let overrides: Result<Vec<Override>, _> = overrides.iter().map(|text| text.parse()).collect();
        let scenario = lab::Scenario::load(&path, &overrides.map_err(refused)?);
        Ok(Self(scenario.map_err(refused)?))
    }

    #[staticmethod]
    fn from_sources(sources: &str) -> PyResult<Self> {
        let sources: lab::Sources = serde_json::from_str(sources)
            .map_err(|error| refused(format!("sources: not such a JSON object: {error}")))?;
        Ok(Self(lab::Scenario::from_sources(&sources).map_err(refused)?))
    }

    fn sources(&self) -> PyResult<String> {
        to_json(self.0.sources())
    }

    fn wireshark_arguments(&self) -> Vec<String> {
        slowhand_lab::wireshark_arguments(&self.0)
    }

    fn about(&self) -> PyResult<String> {
        to_json(&about(&self.0))
    }
}

/// Runs the handshake of `seed` and writes its frames to `path` as pcapng.
#[pyfunction]
pub fn capture(py: Python<'_>, scenario: &Scenario, seed: u64, path: PathBuf) -> PyResult<()> {
    match py.detach(|| slowhand_lab::capture_run(&scenario.0, seed, &path)) {
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
