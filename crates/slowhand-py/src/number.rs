//! Numbers that come from Python.

use crate::argument::wrong;
use pyo3::prelude::*;

/// A number that is not negative, and not too large for its type.
pub fn natural<T: TryFrom<i128>>(name: &str, number: i128) -> PyResult<T> {
    let refuse = |_| wrong(name, &format!("found {number}, allowed: from 0 to {}", u64::MAX));
    T::try_from(number).map_err(refuse)
}
