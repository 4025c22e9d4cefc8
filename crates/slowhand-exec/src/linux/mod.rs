//! Everything that needs ptrace(2) and the system calls of Linux on x86-64.

mod calls;
mod clocks;
mod conductor;
mod descriptor;
mod events;
mod filter;
mod firmware;
mod kernel;
mod names;
mod notes;
mod requirements;
mod run;
mod spawn;
mod streams;
mod team;
mod threads;
mod ticks;
mod tracee;
mod tracer;
mod world;

pub use requirements::prepare;
pub use run::run;
