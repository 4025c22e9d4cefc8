//! Scenarios, their schema and their captures.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{IntoPyObjectExt, create_exception};
use serde_json::json;
use slowhand_lab::capture::CaptureError;
use slowhand_lab::explanation::{ExplainError, explain};
use slowhand_lab::input::{Blame, Setting, shown};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::playback::play;
use slowhand_lab::scenario::{self as lab, Override};
use slowhand_lab::{CaptureRunError, about, warnings};

use crate::argument::wrong;
use crate::interruptible::{abandonable, interruptible};
use crate::number::natural;
use crate::to_json;

create_exception!(
    slowhand,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run. The message names the file, the line and the key.\n\n\
     The same as data: `key` is the dotted path of the key, `place` the file and line or the override, `reason` what was \
     found and what is allowed; `override` is the key of the override that has to change. None where there is none.\n\n\
     `together` is true if each value is allowed alone."
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
        let sources: lab::Sources = serde_json::from_str(&sources).map_err(|error| {
            let found = shown(&error.to_string(), usize::MAX); // it may quote the text
            refused(unplaced("", format!("sources: not such a JSON object: {found}")))
        })?;
        let read = move || match folder {
            Some(folder) => lab::Scenario::from_sources_in(&folder, &sources),
            None => lab::Scenario::from_sources(&sources),
        };
        Ok(Self(Arc::new(abandonable(py, read)?.map_err(refused)?)))
    }

    /// The value of a key as the file or an override has it; `None` if neither has the key.
    fn value<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.value(key).map(|setting| plain(py, &setting)).transpose()
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
        abandonable(py, move || scenario.credentials())?
            .map_err(|error| refused(unplaced("session", error.to_string())))
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

    /// Warnings, in words: about what is allowed, and rarely what is wanted.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let scenario = Arc::clone(&self.0);
        abandonable(py, move || warnings(&scenario))
    }

    /// Where the time of the handshake of a client went, in the world of `seed`.
    fn explain(&self, py: Python<'_>, seed: i128, client: Option<i128>) -> PyResult<String> {
        let client = client.map(|client| natural("client", client)).transpose()?;
        let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&self.0));
        told(interruptible(py, move |interrupt| explain(&scenario, seed, client, interrupt))?)
    }

    /// Everything that happens in the world of `seed`, with an explanation of the handshake of a client.
    fn play(&self, py: Python<'_>, seed: i128, client: Option<i128>) -> PyResult<String> {
        let client = client.map(|client| natural("client", client)).transpose()?;
        let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&self.0));
        told(interruptible(py, move |interrupt| play(&scenario, seed, client, interrupt))?)
    }
}

/// The answer about a world, as JSON.
fn told(told: Result<impl serde::Serialize, ExplainError>) -> PyResult<String> {
    match told {
        Ok(told) => to_json(&told),
        Err(ExplainError::Plan(error)) => Err(refused(error)),
        Err(error) => Err(wrong("client", &error.to_string())),
    }
}

/// Runs the handshake of `seed` and writes its frames to `path` as pcapng.
#[pyfunction]
pub fn capture(py: Python<'_>, scenario: &Scenario, seed: i128, path: PathBuf) -> PyResult<()> {
    let (seed, scenario) = (natural("seed", seed)?, Arc::clone(&scenario.0));
    written(py, move |interrupt| slowhand_lab::capture_run(&scenario, seed, &path, interrupt))
}

/// Writes a capture.
pub fn written<T: Send + 'static, E: Into<Blame> + Send + 'static>(
    py: Python<'_>,
    capture: impl FnOnce(&Interrupt) -> Result<T, CaptureRunError<E>> + Send + 'static,
) -> PyResult<()> {
    match interruptible(py, capture)? {
        Ok(_) => Ok(()),
        Err(CaptureRunError::Plan(error)) => Err(refused(error)),
        Err(CaptureRunError::Capture(error)) => Err(not_captured(py, &error)),
    }
}

/// The error of a capture. Its `strerror` is what the system said, as that of Python's own errors.
pub fn not_captured(py: Python<'_>, error: &CaptureError) -> PyErr {
    let made = PyOSError::new_err(error.to_string());
    let CaptureError::Write { error: cause, .. } = error else { return made };
    let said = || match cause.raw_os_error() {
        Some(code) => py.import("os")?.call_method1("strerror", (code,))?.extract(),
        None => Ok(cause.to_string()),
    };
    let set = said().and_then(|said: String| made.value(py).setattr("strerror", said));
    set.err().unwrap_or(made)
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

/// The value of an override, `key=value`, as `--set` reads it; `None` if it removes the key.
#[pyfunction]
pub fn override_value<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let read: Override = text.parse().map_err(refused)?;
    read.value().map(|setting| plain(py, &setting)).transpose()
}

/// A value of a scenario as Python has it.
fn plain<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyAny>> {
    match setting {
        Setting::String(text) => text.into_bound_py_any(py),
        Setting::Integer(number) => number.into_bound_py_any(py),
        Setting::Float(number) => number.into_bound_py_any(py),
        Setting::Boolean(boolean) => boolean.into_bound_py_any(py),
        Setting::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| plain(py, item)).collect();
            items?.into_bound_py_any(py)
        }
        Setting::Table(entries) => {
            let table = PyDict::new(py);
            entries.iter().try_for_each(|(key, item)| table.set_item(key, plain(py, item)?))?;
            Ok(table.into_any())
        }
    }
}

/// An error that is neither about a file nor about an override.
pub fn unplaced(key: &str, reason: String) -> Blame {
    Blame { place: None, key: key.to_owned(), reason, together: true }
}

/// The error of a scenario that cannot run. Its parts are attributes.
pub fn refused(error: impl Into<Blame>) -> PyErr {
    let blame: Blame = error.into();
    let made = ScenarioError::new_err(blame.to_string());
    let set = Python::attach(|py| {
        let value = made.value(py);
        value.setattr("key", Some(&blame.key).filter(|key| !key.is_empty()))?;
        value.setattr("place", blame.place.as_ref().map(ToString::to_string))?;
        value.setattr("override", blame.overridden())?;
        value.setattr("reason", &blame.reason)?;
        value.setattr("together", blame.together)
    });
    set.err().unwrap_or(made)
}
