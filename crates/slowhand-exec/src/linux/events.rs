//! Reasons for which a thread has stopped: a call, a signal, a new thread, a new program, its end.

use crate::error::ExecError;
use crate::linux::spawn::{NOT_STARTED, not_started};
use crate::linux::threads::{Call, State, Trial, Wait, is_caught};
use crate::linux::tracee::{self, Change, Exit, Pid, Registers, SYSCALL_STOP};
use crate::linux::tracer::Tracer;
use rand_core::Rng;

/// Entries of the auxiliary vector (Linux, include/uapi/linux/auxvec.h).
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_RANDOM: u64 = 25;
const AT_SYSINFO_EHDR: u64 = 33;

/// `rdtsc`, and `rdtscp` (Intel SDM, volume 2).
const RDTSC: [u8; 2] = [0x0f, 0x31];
const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];

impl Tracer<'_> {
    /// A thread has stopped, or has ended.
    pub(crate) fn handle(&mut self, tid: Pid, change: Change) -> Result<(), ExecError> {
        if let Some(place) = self.programs.iter().position(|program| program.running.first == Some(tid)) {
            return self.handle_first(place, tid, change);
        }
        if self.threads.get(tid).is_none() {
            self.strays.push((tid, change));
            return Ok(());
        }
        match change {
            Change::Ended(exit) => self.note_exit(tid, exit)?,
            Change::Stopped { event: libc::PTRACE_EVENT_SECCOMP, .. } => self.enter(tid)?,
            Change::Stopped { signal: SYSCALL_STOP, .. } => self.leave(tid),
            Change::Stopped {
                event: event @ (libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE),
                ..
            } => self.note_birth(tid, event)?,
            Change::Stopped { event: libc::PTRACE_EVENT_VFORK_DONE, .. } => self.set_state(tid, State::Runnable),
            Change::Stopped { event: libc::PTRACE_EVENT_EXEC, .. } => self.note_program(tid),
            Change::Stopped { event: 0, signal } => self.deliver(tid, signal),
            Change::Stopped { .. } => tracee::resume(tid, 0),
        }
        Ok(())
    }

    /// Our first process of a program's namespace.
    fn handle_first(&mut self, place: usize, first: Pid, change: Change) -> Result<(), ExecError> {
        match change {
            Change::Ended(_) => self.programs[place].running.first = None,
            Change::Stopped { event: libc::PTRACE_EVENT_VFORK, .. } => {
                if let Some(main) = tracee::event_message(first)
                    && self.adopt(main, place, None)?
                {
                    self.programs[place].running.main = Some(main);
                }
                tracee::detach(first); // it only waits from now on
            }
            Change::Stopped { event: 0, signal } if signal != libc::SIGSTOP => tracee::resume(first, signal),
            Change::Stopped { .. } => tracee::resume(first, 0),
        }
        Ok(())
    }

    /// A thread has made another one, or a process.
    fn note_birth(&mut self, tid: Pid, event: i32) -> Result<(), ExecError> {
        let Some(thread) = self.threads.get(tid) else { return Ok(()) };
        let (program, process) = (thread.program, thread.process);
        if let Some(child) = tracee::event_message(tid) {
            self.adopt(child, program, Some(process))?;
        }
        if event == libc::PTRACE_EVENT_VFORK {
            self.set_state(tid, State::InVfork);
        }
        tracee::resume(tid, 0);
        Ok(())
    }

    /// A thread has ended.
    fn note_exit(&mut self, tid: Pid, exit: Exit) -> Result<(), ExecError> {
        let Some(thread) = self.threads.remove(tid) else { return Ok(()) };
        let (place, process) = (thread.program, thread.process);
        if let State::Waiting(wait) = &thread.state
            && let Call::Connect { inode } = wait.call.what
        {
            let now = self.instant();
            self.streams.abandon(inode, now); // nobody else waits for the connection
        }
        if self.threads.iter().all(|other| other.process != process) {
            self.processes.remove(&process);
            let running = &mut self.programs[place].running;
            if running.main == Some(process) {
                if !running.has_begun && exit == Exit::Code(NOT_STARTED) {
                    let error = std::io::Error::other("it is not found, or it is no program for this machine");
                    return Err(not_started(self.programs[place].told, error));
                }
                running.ended = Some((self.clocks.now, exit));
            }
        }
        // Who waits for it finds out itself: the kernel would have woken it here.
        self.wake_after_exit(process);
        self.activity += 1;
        self.is_signalled = true;
        self.is_unsettled = true;
        Ok(())
    }

    /// A thread has become another program: alone, and with the number of its process.
    fn note_program(&mut self, tid: Pid) {
        let former = tracee::event_message(tid).unwrap_or(tid);
        let Some(thread) = self.threads.get(former).or_else(|| self.threads.get(tid)) else { return };
        let (place, process) = (thread.program, thread.process);
        for other in self.threads.those(|thread| thread.process == process && thread.tid != tid) {
            self.threads.remove(other);
        }
        if self.threads.get(tid).is_none() {
            self.threads.add(tid, process, place);
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.state = State::Running;
            (thread.trial, thread.resumed) = (None, None);
            thread.pidfd = None; // it is another one if another thread was the first of its process
        }
        self.running = tid; // it may have another number now
        if let Some(process) = self.processes.get_mut(&process) {
            process.timers.clear(); // execve(2)
        }
        self.programs[place].running.has_begun = true;
        self.hide(tid, place);
        tracee::resume(tid, 0);
    }

    /// Hides the clock that the kernel maps into programs, and gives them random octets that follow from the seed.
    fn hide(&mut self, tid: Pid, place: usize) {
        let Some(registers) = tracee::registers(tid) else { return };
        let word = |address: u64| tracee::read_value::<u64>(tid, address);
        // At the start of a program the stack has: the number of arguments, they, 0, the environment, 0, the vector.
        let Some(arguments) = word(registers.rsp) else { return };
        let mut address = registers.rsp.wrapping_add(arguments.wrapping_add(2).wrapping_mul(8));
        while word(address).is_some_and(|pointer| pointer != 0) {
            address += 8;
        }
        address += 8;
        while let Some([kind, value]) = tracee::read_value::<[u64; 2]>(tid, address) {
            match kind {
                AT_NULL => return,
                AT_SYSINFO_EHDR => drop(tracee::write_value(tid, address, &AT_IGNORE)),
                AT_RANDOM => {
                    let mut octets = [0; 16];
                    self.programs[place].random.fill_bytes(&mut octets);
                    tracee::write(tid, value, &octets);
                }
                _ => {}
            }
            address += 16;
        }
    }

    /// A signal is about to be delivered.
    fn deliver(&mut self, tid: Pid, signal: i32) {
        if signal == libc::SIGSEGV && self.is_clock_read(tid) {
            return tracee::resume(tid, 0);
        }
        if signal == libc::SIGSTOP && self.preempt(tid) {
            return;
        }
        if [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal) {
            self.note(tid, "was to be stopped by a signal, and was not: this is not possible here", false);
            return tracee::resume(tid, 0);
        }
        if is_caught(tid, signal) {
            if let Some(thread) = self.threads.get_mut(tid) {
                thread.resumed = None; // what it interrupts does not keep its deadline
            }
        } else {
            self.is_unsettled = true; // it may be the end of the process
        }
        tracee::resume(tid, signal);
    }

    /// True if the thread wanted to read the clock of the processor. Then it has been given one.
    fn is_clock_read(&mut self, tid: Pid) -> bool {
        let Some(mut registers) = tracee::registers(tid) else { return false };
        let Some(code) = tracee::read_value::<[u8; 3]>(tid, registers.rip) else { return false };
        let length = match code {
            [first, second, _] if [first, second] == RDTSC => RDTSC.len(),
            _ if code == RDTSCP => RDTSCP.len(),
            _ => return false,
        };
        let [seconds, nanos] = self.clocks.read(libc::CLOCK_MONOTONIC);
        let ticks = seconds as u64 * crate::linux::clocks::SECOND + nanos as u64; // a processor of 1 GHz
        (registers.rax, registers.rdx) = (ticks & 0xffff_ffff, ticks >> 32);
        if length == RDTSCP.len() {
            registers.rcx = 0; // the first processor
        }
        registers.rip += length as u64;
        tracee::set_registers(tid, &registers);
        true
    }

    /// Answers a call that is not made.
    pub(crate) fn answer(&mut self, tid: Pid, mut registers: Registers, result: Result<i64, i32>) {
        registers.orig_rax = u64::MAX;
        registers.rax = result.unwrap_or_else(|error| -i64::from(error)) as u64;
        tracee::set_registers(tid, &registers);
        tracee::resume(tid, 0);
    }

    /// Lets a call run to its exit, with other arguments than the program's.
    pub(crate) fn attempt(&mut self, tid: Pid, registers: &Registers, trial: Trial) {
        tracee::set_registers(tid, registers);
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.trial = Some(trial);
        }
        tracee::resume_to_exit(tid);
    }

    /// Skips a call, to be at its exit: there a thread can wait.
    pub(crate) fn skip(&mut self, tid: Pid, trial: Trial) {
        let mut registers = trial.entry;
        registers.orig_rax = u64::MAX;
        registers.rax = 0;
        self.attempt(tid, &registers, trial);
    }

    /// The thread, at the exit of a call, waits.
    pub(crate) fn wait(&mut self, tid: Pid, trial: Trial) {
        let is_spin = matches!(trial.what, Call::Spin);
        let tried = self.activity;
        if let Some(thread) = self.threads.get_mut(tid) {
            if !is_spin {
                thread.idle_calls = 0;
            }
            thread.state = State::Waiting(Box::new(Wait { call: trial, tried }));
        }
    }

    /// At the exit of a call: its result is this one.
    pub(crate) fn finish(&mut self, tid: Pid, entry: &Registers, result: i64) {
        self.set_result(tid, entry, result);
        tracee::resume(tid, 0);
    }

    fn set_result(&mut self, tid: Pid, entry: &Registers, result: i64) {
        let mut registers = *entry;
        registers.rax = result as u64;
        if ![tracee::RESTART_SYS, tracee::RESTART_NO_HANDLER].contains(&result) {
            registers.orig_rax = u64::MAX;
        }
        tracee::set_registers(tid, &registers);
    }

    /// A thread that waits goes on with this result.
    pub(crate) fn wake(&mut self, tid: Pid, result: i64) {
        let Some(trial) = self.take_waiting(tid) else { return };
        self.set_result(tid, &trial.entry, result);
        self.activity += 1;
    }

    /// The call of a thread that waits begins again.
    pub(crate) fn begin_again(&mut self, tid: Pid) {
        if let Some(trial) = self.take_waiting(tid) {
            self.rewind(tid, trial);
        }
    }

    fn take_waiting(&mut self, tid: Pid) -> Option<Trial> {
        let thread = self.threads.get_mut(tid)?;
        match std::mem::replace(&mut thread.state, State::Runnable) {
            State::Waiting(wait) => Some(wait.call),
            other => {
                thread.state = other;
                None
            }
        }
    }

    /// At the exit of a call: the program makes it again, and it keeps its deadline.
    pub(crate) fn rewind(&mut self, tid: Pid, trial: Trial) {
        let mut registers = trial.entry;
        registers.rax = registers.orig_rax;
        registers.orig_rax = u64::MAX;
        registers.rip = registers.rip.wrapping_sub(2); // the length of `syscall`
        tracee::set_registers(tid, &registers);
        self.keep(tid, trial);
    }

    /// Keeps what is known of a call for when it begins again.
    pub(crate) fn keep(&mut self, tid: Pid, trial: Trial) {
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.resumed = Some(crate::linux::threads::Resumed {
                number: trial.entry.orig_rax,
                place: trial.entry.rip,
                stack: trial.entry.rsp,
                deadline: trial.deadline,
                progress: trial.progress,
                has_waited: matches!(trial.what, Call::Spin | Call::Compute),
            });
        }
    }

    /// A signal has come for a thread that waits: the kernel delivers it when the thread goes on, and makes of this result
    /// what the program is to see.
    pub(crate) fn interrupt(&mut self, tid: Pid) {
        let Some(trial) = self.take_waiting(tid) else { return };
        if trial.progress > 0 {
            return self.set_result(tid, &trial.entry, trial.progress as i64);
        }
        if let (Call::Sleep, Some(deadline)) = (&trial.what, trial.deadline) {
            self.write_rest(tid, &trial.entry, deadline);
        }
        if matches!(trial.what, Call::Connect { .. }) {
            self.leave_opening(tid, &trial.entry);
        }
        let is_endless = trial.deadline.is_none();
        let result = match trial.what {
            Call::Transfer { .. } | Call::Connect { .. } | Call::Futex { .. } if is_endless => tracee::RESTART_SYS,
            Call::Child | Call::Lock | Call::Spin | Call::Compute => tracee::RESTART_SYS,
            Call::Transfer { .. } | Call::Connect { .. } => -i64::from(libc::EINTR), // socket(7): with a timeout there is no restart
            _ => tracee::RESTART_NO_HANDLER,
        };
        self.set_result(tid, &trial.entry, result);
        self.keep(tid, trial);
    }
}
