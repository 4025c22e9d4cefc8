//! The threads and processes of all programs, as the tracer knows them.

use crate::linux::clocks::Nanos;
use crate::linux::descriptor::{Descriptor, PidFd};
use crate::linux::tracee::{Exit, Pid, Registers};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;

/// The most threads and processes at once. *Assumed*: more than any program has, and a fork bomb ends there.
pub(crate) const MOST_THREADS: usize = 2000;

/// A thread. All but the one that runs have stopped.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) tid: Pid,
    /// The number of its process.
    pub(crate) process: Pid,
    /// The place of its program.
    pub(crate) program: usize,
    pub(crate) state: State,
    /// The call that runs to its exit.
    pub(crate) trial: Option<Trial>,
    /// A call that begins again.
    pub(crate) resumed: Option<Resumed>,
    /// The number of times in a row that it has asked for something that was not there, or for the time.
    pub(crate) idle_calls: u32,
    /// The sets of descriptors of select(2), with their addresses, as they were before the call.
    pub(crate) sets: Vec<(u64, Vec<u8>)>,
    /// The time of the processor that it had used, in ticks, when it was seen computing after its last call.
    pub(crate) computes_since: Option<u64>,
    /// True if it is to be stopped where it computes.
    pub(crate) is_stopped: bool,
    pub(crate) pidfd: Option<PidFd>,
}

/// The state of a thread.
#[derive(Debug)]
pub(crate) enum State {
    /// It may go on.
    Runnable,
    /// It goes on.
    Running,
    /// It waits in virtual time.
    Waiting(Box<Wait>),
    /// It waits in the kernel, in a call that is not trapped.
    InKernel {
        /// The number of the call.
        call: i64,
    },
    /// It was computing for long, and lets others run until then.
    Preempted(Nanos),
    /// It is about to do what other hosts can see, and waits until none of them runs.
    BeforeTurn,
    /// It waits until a child that shares its memory has begun a program or has ended (vfork(2)).
    InVfork,
}

/// The wait of a thread.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) call: Trial,
    /// The number of the last thing that had happened when the call was tried.
    pub(crate) tried: u64,
}

/// A call that a thread makes.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The registers at the entry of the call, as the program made it.
    pub(crate) entry: Registers,
    pub(crate) what: Call,
    /// Until when it waits.
    pub(crate) deadline: Option<Nanos>,
    /// The progress of the call so far: octets that were written, messages that were received.
    pub(crate) progress: u64,
    /// Memory that was changed for the call.
    pub(crate) borrowed: Vec<(u64, Vec<u8>)>,
    /// The signals that are blocked while it waits, if they are others than usual.
    pub(crate) mask: Option<u64>,
}

/// The work that is left when a call has been tried.
#[derive(Debug)]
pub(crate) enum Call {
    /// Waits for its deadline alone.
    Sleep,
    /// Waits for a deadline because it has asked in vain too often; then the call begins.
    Spin,
    /// Computes before it sends.
    Compute,
    /// Waits for a signal.
    Suspend,
    /// Polls descriptors: 0 means that nothing is there.
    Poll,
    /// Reads or writes a descriptor: EAGAIN means that it would wait.
    Transfer {
        /// If it is non-blocking for this call alone.
        descriptor: Option<Descriptor>,
        direction: Direction,
        /// The inode of a socket of TCP.
        stream: Option<u64>,
    },
    /// Waits for a connection of TCP.
    Connect {
        /// That of its socket.
        inode: u64,
    },
    /// Waits for a lock of a file.
    Lock,
    /// Waits for a child.
    Child,
    /// Waits for a signal that is blocked.
    Signal,
    /// Waits for another thread.
    Futex { key: FutexKey, bits: u32 },
    /// Makes a socket.
    Socket,
    /// Makes an event file in the place of a timer.
    Timer,
    /// Makes an interface.
    Interface,
}

/// Which way octets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

impl Direction {
    /// That of a call that reads or writes.
    pub(crate) fn of(number: i64) -> Self {
        match number {
            libc::SYS_write
            | libc::SYS_writev
            | libc::SYS_sendto
            | libc::SYS_sendmsg
            | libc::SYS_sendmmsg
            | libc::SYS_sendfile => Self::Out,
            _ => Self::In,
        }
    }
}

/// True for a call that takes a connection.
pub(crate) fn accepts(number: i64) -> bool {
    [libc::SYS_accept, libc::SYS_accept4].contains(&number)
}

/// The identity of a futex, for all that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FutexKey {
    /// An address of a process.
    Private(Pid, u64),
    /// A place in a file that is in memory.
    Shared { device: u64, inode: u64, offset: u64 },
}

/// A call that begins again, and keeps its deadline.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) number: u64,
    pub(crate) place: u64,
    pub(crate) stack: u64,
    pub(crate) deadline: Option<Nanos>,
    pub(crate) progress: u64,
    /// True if it only computed, or asked in vain: now the call is to run.
    pub(crate) has_waited: bool,
}

/// A process.
#[derive(Debug, Default)]
pub(crate) struct Process {
    /// alarm(2) and setitimer(2).
    pub(crate) alarm: Alarm,
    /// timer_create(2), by number.
    pub(crate) timers: BTreeMap<i32, PosixTimer>,
    pub(crate) next_timer: i32,
    /// True if it has received something from the network since it last sent something.
    pub(crate) owes_answer: bool,
}

/// When something is due, and how often again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alarm {
    pub(crate) at: Option<Nanos>,
    pub(crate) interval: Nanos,
}

#[derive(Debug)]
pub(crate) struct PosixTimer {
    pub(crate) alarm: Alarm,
    pub(crate) clock: i32,
    pub(crate) notice: Notice,
    /// The number of times that it was due since its signal was last delivered.
    pub(crate) overrun: i32,
}

/// The action of a timer when it is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice {
    /// 0: nothing.
    pub(crate) signal: i32,
    pub(crate) value: u64,
    /// The thread that gets the signal, if it is not the process.
    pub(crate) thread: Option<Pid>,
}

/// A timer that is a file (timerfd_create(2)). The program has an event file, into which the tracer writes.
#[derive(Debug)]
pub(crate) struct FileTimer {
    pub(crate) file: File,
    pub(crate) alarm: Alarm,
    pub(crate) clock: i32,
    pub(crate) program: usize,
    /// A thread that has the file, and its descriptor there, as last seen.
    pub(crate) holder: (Pid, u64),
}

/// All threads, in the order in which they came to be: this is the order in which they run.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    of_number: BTreeMap<u64, Thread>,
    numbers: HashMap<Pid, u64>,
    next: u64,
}

impl Threads {
    pub(crate) fn add(&mut self, tid: Pid, process: Pid, program: usize) -> &mut Thread {
        self.next += 1;
        self.numbers.insert(tid, self.next);
        self.of_number.entry(self.next).or_insert(Thread {
            tid,
            process,
            program,
            state: State::Runnable,
            trial: None,
            resumed: None,
            idle_calls: 0,
            sets: Vec::new(),
            computes_since: None,
            is_stopped: false,
            pidfd: None,
        })
    }

    pub(crate) fn get(&self, tid: Pid) -> Option<&Thread> {
        self.of_number.get(self.numbers.get(&tid)?)
    }

    pub(crate) fn get_mut(&mut self, tid: Pid) -> Option<&mut Thread> {
        self.of_number.get_mut(self.numbers.get(&tid)?)
    }

    pub(crate) fn remove(&mut self, tid: Pid) -> Option<Thread> {
        self.of_number.remove(&self.numbers.remove(&tid)?)
    }

    pub(crate) fn len(&self) -> usize {
        self.of_number.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.of_number.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.of_number.values_mut()
    }

    /// The numbers of those that a condition is true of.
    pub(crate) fn those(&self, condition: impl Fn(&Thread) -> bool) -> Vec<Pid> {
        self.iter().filter(|thread| condition(thread)).map(|thread| thread.tid).collect()
    }
}

impl Thread {
    /// A copy of one of its descriptors.
    pub(crate) fn descriptor(&mut self, fd: u64) -> Option<Descriptor> {
        if self.pidfd.is_none() {
            self.pidfd = PidFd::open(self.tid, self.process);
        }
        self.pidfd.as_ref()?.copy(fd as i32)
    }
}

/// A line of /proc/TID/status, as a number with this base.
pub(crate) fn status_number(tid: Pid, key: &str, base: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    number_of(&text, key, base)
}

fn number_of(status: &str, key: &str, base: u32) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    u64::from_str_radix(line.split_whitespace().next()?, base).ok()
}

/// The signals that have come and are not blocked, where these signals are. A mask takes the place of those that are blocked.
pub(crate) fn deliverable(tid: Pid, mask: Option<u64>) -> [u64; 2] {
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let set = |key| number_of(&text, key, 16).unwrap_or(0);
    let (pending, blocked) = (set("SigPnd") | set("ShdPnd"), set("SigBlk"));
    [pending & !blocked, pending & !mask.unwrap_or(blocked)]
}

/// True if a program has a handler for a signal.
pub(crate) fn is_caught(tid: Pid, signal: i32) -> bool {
    status_number(tid, "SigCgt", 16).is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

/// The state of a thread, as proc(5) has it, and the time of the processor that it has used, in ticks of 10 ms. "X" if it is gone.
pub(crate) fn stat(tid: Pid) -> (u8, u64) {
    let text = std::fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
    let Some((_, rest)) = text.rsplit_once(')') else { return (b'X', 0) };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    // utime and stime are the fields 14 and 15; the state is the third.
    (words.first().and_then(|word| word.bytes().next()).unwrap_or(b'X'), ticks(11) + ticks(12))
}

/// The progress of a program.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// Our first process of its namespace. `None`: it has not started, or all of it has ended.
    pub(crate) first: Option<Pid>,
    /// Its own first process.
    pub(crate) main: Option<Pid>,
    /// True if it has begun: the first process has become the program.
    pub(crate) has_begun: bool,
    pub(crate) started: Option<Nanos>,
    pub(crate) ended: Option<(Nanos, Exit)>,
}
