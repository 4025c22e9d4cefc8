//! Rust's work, while Python goes on handling signals.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use slowhand_lab::interrupt::Interrupt;

/// The time that a signal may wait for its handler.
pub const SLICE: Duration = Duration::from_millis(50);

/// The time that interrupted work may take to end. What needs longer waits for someone else, as a pipe that nobody reads.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does `work` on a thread of its own, and Python handles signals meanwhile. If a handler raises, as that of Ctrl-C
/// does, the work is interrupted. The error is returned when the work has ended, so that it writes no file any more.
/// Work that waits for someone else is left alone after a second.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupt) -> T + Send + 'static,
) -> PyResult<T> {
    let (result, stopped) = kept(py, work)?;
    stopped.map_or(Ok(result), Err)
}

/// Runs work that has a result when it was interrupted too: it is returned with the error of the handler.
pub fn kept<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupt) -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let interrupt = Interrupt::default();
    let watched = interrupt.clone();
    let mut receiver = start(move || work(&watched))?;
    receive(py, &mut receiver).map(|result| (result, None)).or_else(|error| {
        interrupt.set();
        let receiver = &mut receiver; // a shared one may not leave this thread
        let late = py.detach(move || receiver.recv_timeout(PATIENCE).ok());
        late.map_or(Err(error.clone_ref(py)), |result| Ok((result, Some(error))))
    })
}

/// Does `work` on a thread of its own, and Python handles signals meanwhile. If a handler raises, the error is returned
/// at once, and the result of the work is dropped. This is for work that nothing can interrupt, such as the reading of
/// a pipe into which nobody writes, and that changes nothing outside.
pub fn abandonable<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    receive(py, &mut start(work)?)
}

fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> PyResult<Receiver<T>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    // Nobody receives what comes after a signal.
    let work = move || drop(sender.send(work()));
    std::thread::Builder::new().spawn(work).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(receiver)
}

fn receive<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<T> {
    loop {
        let receiver = &mut *receiver; // a shared one may not leave this thread
        match py.detach(move || receiver.recv_timeout(SLICE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("slowhand panicked; stderr has the details"));
            }
        }
    }
}
