//! The libraries of TLS and DTLS, and the stacks of the user.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slowhand_lab::Stack;

use crate::to_json;

/// All implementations of protocols, as a JSON array.
#[pyfunction]
pub(crate) fn stacks() -> PyResult<String> {
    to_json(&slowhand_lab::implementations())
}

/// The names of the libraries that are built in.
#[pyfunction]
pub(crate) fn built_in_stacks() -> Vec<&'static str> {
    Stack::BUILT_IN.iter().copied().map(Stack::name).collect()
}

/// The names of the user's stacks.
#[pyfunction]
pub(crate) fn own_stacks() -> Vec<String> {
    slowhand_lab::own_names()
}

/// The folder of the user's stacks.
#[pyfunction]
pub(crate) fn stacks_folder() -> Option<String> {
    slowhand_lab::stacks_folder().map(|folder| folder.to_string_lossy().into_owned())
}

/// The shared object of a stack of the user.
#[pyfunction]
pub(crate) fn stack_file(name: &str) -> Option<String> {
    slowhand_lab::stack_file(name).map(|file| file.to_string_lossy().into_owned())
}

/// Version and digest of a stack of the user.
#[pyfunction]
pub(crate) fn stack_build(name: &str) -> PyResult<Option<(&'static str, &'static str)>> {
    let stack = named(name)?;
    Ok(stack.digest().map(|digest| (stack.capabilities().version, digest)))
}

/// Some libraries of TLS and DTLS, as `stacks` has them.
#[pyfunction]
pub(crate) fn stacks_named(names: Vec<String>) -> PyResult<String> {
    let found: Vec<_> = names.into_iter().map(slowhand_lab::stack_named).collect();
    to_json(&found)
}

/// True if this process has loaded the stack of the user that has this name.
#[pyfunction]
pub(crate) fn is_stack_loaded(name: &str) -> bool {
    Stack::is_loaded(name)
}

/// A trial of a stack, as JSON.
#[pyfunction]
pub(crate) fn try_stack(name: &str) -> PyResult<String> {
    to_json(&slowhand_lab::trial(named(name)?))
}

fn named(name: &str) -> PyResult<Stack> {
    Stack::named(name)
        .map_err(|error| PyValueError::new_err(format!("session.stack: found {name:?}, allowed: {error}")))
}
