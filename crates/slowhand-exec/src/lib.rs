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
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row. But `calls/` and `events`
//! hold methods of `tracer`, which calls them.
//!
//! | modules | hold |
//! | --- | --- |
//! | `setup`, `report`, `error` | what is run; what comes out, and what a reader has to know of it; why not |
//! | `programs` | the programs of a scenario (`[[programs]]`), each at its host with its command |
//! | `linux/` | all that follows. Other systems have a refusal in its place |
//! | `notes`, `clocks`, `filter` | what programs did that a reader has to know; virtual time as the clocks of programs show it; which system calls are trapped |
//! | `tracee` | registers and memory of a stopped thread |
//! | `kernel`, `descriptor`, `ticks`, `names`, `spawn` | calls of the kernel, and the IPv6 of one host: a namespace with a TUN interface; descriptors of a stopped thread, copied, so that a file can be non-blocking for one call; a bound for waiting; the names of the hosts; the start of a program in namespaces of its own |
//! | `firmware/` | the other side of an interface that firmware opens itself: a packet socket, and the router that the firmware finds there |
//! | `threads` | threads and processes, their calls, waits and timers |
//! | `streams/` | TCP: sockets of Unix in the place of those of programs, and connections of `slowhand-net` behind them |
//! | `world` | the network between the programs: packets, conversations, frames, the digest of all of it |
//! | `calls/` | each family of calls, at its entry and its exit: `clocks`, `polling`, `files`, `sockets`, `streams`, `futex`, `processes`, `timers`; `sharing`: which of them other hosts can see |
//! | `events` | what a thread stops for: a call, a signal, a new thread, a new program, its end |
//! | `tracer` | the programs of one host: one thread at a time, until all wait |
//! | `team`, `conductor` | the threads of slowhand, each with some hosts; hosts and network by turns, and the next thing that is due when all wait |
//! | `requirements`, `run` | what a machine must have; a run from its hosts to its report |
//!
//! # Hosts, calls that wait, and TCP
//!
//! Within an instant hosts meet through the network alone. So the hosts that are due, or to which packets have come, run side by side, and
//! what they have sent is told to the network host by host when all rest. All that a program can see belongs to its host, or to itself:
//! ports, random octets, numbers, sockets of TCP, timers. A host that is about to change what others can see without the network (`CHANGES` and
//! `TRAPPED_FOR` of `filter`) stops at the entry of the call until all others rest; from then on it runs while no other host does, after those that only
//! read. The order is the same on any number of threads, one too.
//!
//! A call that would wait is tried without waiting (a duration of 0, a file that is non-blocking meanwhile). If nothing is there, the thread
//! stays stopped at the exit of the call. When something has happened at its host, its registers are set back by the two octets of
//! `syscall`, and it makes the call again. A signal for such a thread is left to the kernel: the result becomes ERESTARTSYS or
//! ERESTARTNOHAND, and the kernel makes of it what the program is to see.
//!
//! A socket of TCP is one of Unix from the beginning, so it is the same file in all tables of the kernel; it is known by its inode. `ends` are
//! sockets of Unix, each with a number as its abstract name; `ports` say which socket has which port; `options` and `calls` answer what
//! tells the two kinds apart; `connections` move octets between a program's socket and TCP, and give segments to `world` and take them
//! before the kernel would. Until a connection is open its socket is full, so that it is not writable: the tracer has filled it, and empties it
//! then. Between programs of one host the kernel's connection is the connection.
//!
//! A new call that waits: its number in a family of `TRAPPED` in `filter`, what is done in `enter` and `leave` of `calls/mod.rs`, a line in
//! `docs/exec.md` if it is not whole, and a case in `tests/exec/calls.c` with its time in `tests/test_exec.py`.

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
