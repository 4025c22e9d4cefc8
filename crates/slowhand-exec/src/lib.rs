//! Unmodified programs on the network of a scenario, in virtual time.
//!
//! The programs run under ptrace(2). System calls that tell the time, wait, draw random numbers or touch sockets are trapped by
//! seccomp(2); all others run as usual. One thread of each host runs at a time, and hosts run side by side. When all wait, time goes on to the next
//! thing that is due: a deadline of a program, or an event of the network. A call that would wait is tried without waiting;
//! if nothing is there, the thread stays stopped, and the call is made again when something has happened.
//!
//! Sockets stay the kernel's, but for those of TCP, whose timers must be virtual: these are sockets of Unix, with slowhand's TCP at
//! their other end. Each host of the network has a network namespace with a TUN interface, so whole IPv6 packets go to
//! [`slowhand_lab::live::Live`], the world of all other runs. So the same scenario, programs and seed give the same packets at
//! the same times, on a busy machine too.
//!
//! ptrace, children and namespaces belong to a thread or a process: a run needs a process whose only thread it is, before it makes
//! more. All of this is for Linux on x86-64; elsewhere [`run`] refuses.

mod error;
mod programs;
mod report;
mod setup;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;

pub use error::ExecError;
pub use programs::programs;
pub use report::{Conversation, Datagram, Exit, Note, ProgramReport, Report};
pub use setup::{DATE_S, Ending, Program, Setup, Until};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use linux::{prepare, run};

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere {
    use crate::{ExecError, Report, Setup};
    use slowhand_lab::scenario::Scenario;

    fn refused() -> ExecError {
        ExecError::Requirement("programs can be run in virtual time on Linux on x86-64 only".to_owned())
    }

    /// Always refuses: this is another machine.
    ///
    /// # Errors
    /// Always.
    pub fn prepare() -> Result<(), ExecError> {
        Err(refused())
    }

    /// Always refuses: this is another machine.
    ///
    /// # Errors
    /// Always.
    pub fn run(_scenario: &Scenario, _setup: &Setup, _seed: u64) -> Result<Report, ExecError> {
        Err(refused())
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub use elsewhere::{prepare, run};
