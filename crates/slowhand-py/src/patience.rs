//! Rust's work, while Python goes on handling signals.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use slowhand_lab::interrupt::Interrupt;

/// How long a signal may wait for its handler.
pub const SLICE: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own. Python handles signals meanwhile. If a handler raises, as that of Ctrl-C does, the
/// error is returned at once: `interrupt` is set, and what the work returns is dropped.
pub fn patiently<T: Send + 'static>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::sync_channel(1);
    // Nobody receives what comes after an interrupt.
    let work = move || drop(sender.send(work()));
    std::thread::Builder::new().spawn(work).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    loop {
        let receiver = &mut receiver; // a shared one may not leave this thread
        match py.detach(move || receiver.recv_timeout(SLICE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| interrupt.set())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("slowhand panicked; stderr has the details"));
            }
        }
    }
}
