//! Why programs are not run, or not to the end.

use slowhand_lab::capture::CaptureError;
use slowhand_lab::plan::PlanError;
use std::io;

/// Why programs are not run, or not to the end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The capture cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The machine lacks something.
    #[error("{0}")]
    Requirement(String),
    /// The kernel refuses what the hosts of the network need.
    #[error("cannot {what}: {error}")]
    Kernel {
        /// The refused operation.
        what: &'static str,
        /// The error of the kernel.
        error: io::Error,
    },
    /// A program does not start.
    #[error("{program}: cannot start {command}: {error}")]
    Start {
        /// The program.
        program: String,
        /// The first word of its command.
        command: String,
        /// The error of the kernel.
        error: io::Error,
    },
    /// A thread computes without end, or waits without end outside of virtual time.
    #[error("{program}: {what}")]
    Stuck {
        /// The program.
        program: String,
        /// The state of the thread, and a remedy.
        what: String,
    },
    /// The run has taken too long.
    #[error("{seconds} s of the clock are over, at {virtual_s:.3} s of the network; {busy}; more time: --wall")]
    Wall {
        /// The bound.
        seconds: f64,
        /// The time of the network.
        virtual_s: f64,
        /// The state of the programs.
        busy: String,
    },
    /// Too many threads.
    #[error("{program}: has started more than {most} threads and processes")]
    Threads {
        /// The program that has started the last one.
        program: String,
        /// The bound.
        most: usize,
    },
    /// A fault of slowhand's own.
    #[error("a fault of slowhand, please report it: {0}")]
    Fault(String),
}
