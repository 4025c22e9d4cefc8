//! The error of an argument.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    slowhand,
    ArgumentError,
    PyValueError,
    "An argument that is not allowed. The message names the argument, what was found and what is allowed.\n\n\
     The same as data: `argument` is its name, `reason` what was found and what is allowed."
);

/// The error of the argument of this name. Its parts are attributes, so that nothing reads the message.
pub fn wrong(argument: &str, reason: &str) -> PyErr {
    let made = ArgumentError::new_err(format!("{argument}: {reason}"));
    let set = Python::attach(|py| {
        let value = made.value(py);
        value.setattr("argument", argument)?;
        value.setattr("reason", reason)
    });
    set.err().unwrap_or(made)
}
