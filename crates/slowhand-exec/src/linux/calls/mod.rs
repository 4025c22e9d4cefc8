//! The calls that are trapped: what happens at the entry and at the exit of each.

mod clocks;
mod files;
mod futex;
mod polling;
mod processes;
mod sharing;
mod sockets;
mod streams;
mod timers;

use crate::error::ExecError;
use crate::linux::clocks::{Nanos, Spec};
use crate::linux::descriptor::Descriptor;
use crate::linux::filter::{self, Family};
use crate::linux::threads::{Call, Resumed, State, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use sharing::is_seen_by_others;

/// The number of times in a row that a thread may ask for the time, or for something that is not there. Then it waits for this long, as
/// if each question took some microseconds: who waits for an instant in this way would wait for ever. *Assumed*.
const IDLE_CALLS: u32 = 100;
const IDLE_WAIT: Nanos = 1_000_000;

/// The number of further times until it waits again. *Assumed*: it does not stop asking.
const IDLE_CALLS_AGAIN: u32 = 10;

/// Where memory is borrowed below the stack: beyond the red zone of the x86-64 ABI (section 3.2.2).
const BELOW_STACK: u64 = 1024;

/// `CS` of a thread that runs code of 32 bits (Linux, `__USER32_CS`).
const CODE_OF_32_BITS: u64 = 0x23;

impl Call {
    /// True if what the call waits for may have come when something has happened.
    pub(crate) fn may_change(&self) -> bool {
        use Call::{Child, Connect, Lock, Poll, Signal, Suspend, Transfer};
        matches!(self, Poll | Transfer { .. } | Connect { .. } | Lock | Child | Signal | Suspend)
    }
}

impl Trial {
    pub(crate) fn new(entry: Registers, what: Call, deadline: Option<Nanos>) -> Self {
        Self { entry, what, deadline, progress: 0, borrowed: Vec::new(), mask: None }
    }

    /// The number of the call.
    pub(crate) fn number(&self) -> i64 {
        self.entry.orig_rax as i64
    }

    /// Writes a duration of 0 below the stack of the thread, for this call. Returns its address.
    fn borrow_zero(&mut self, tid: Pid) -> u64 {
        let address = self.entry.rsp.wrapping_sub(BELOW_STACK) & !15;
        let mut before = vec![0; size_of::<Spec>()];
        tracee::read(tid, address, &mut before);
        tracee::write_value(tid, address, &Spec::default());
        self.borrowed.push((address, before));
        address
    }
}

impl Tracer<'_> {
    /// A thread makes a call that is trapped.
    pub(crate) fn enter(&mut self, tid: Pid) -> Result<(), ExecError> {
        let Some(registers) = tracee::registers(tid) else { return Ok(()) };
        if !self.shares && is_seen_by_others(tid, &registers) {
            if !self.is_alone {
                self.wants_turn = true;
                self.set_state(tid, State::BeforeTurn);
                return Ok(());
            }
            self.shares = true;
        }
        self.traps += 1;
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.computes_since = None;
        }
        let number = registers.orig_rax as i64;
        if registers.cs == CODE_OF_32_BITS || number & 0x4000_0000 != 0 {
            let what = "makes the system calls of a 32-bit program: only 64-bit programs can be run".to_owned();
            return Err(ExecError::Stuck { program: self.name_of(tid), what });
        }
        let resumed = self.threads.get_mut(tid).and_then(|thread| thread.resumed.take()).filter(|resumed| {
            (resumed.number, resumed.place, resumed.stack) == (registers.orig_rax, registers.rip, registers.rsp)
        });
        let again = resumed.as_ref();
        match filter::family(number) {
            Some(Family::Clock) => self.enter_clock(tid, registers, again),
            Some(Family::Setting) => self.enter_setting(tid, registers),
            Some(Family::Sleep) => self.enter_sleep(tid, registers, again),
            Some(Family::Suspend) => self.enter_suspend(tid, registers),
            Some(Family::Signal) => self.enter_signal(tid, registers, again),
            Some(Family::Yield) => self.enter_yield(tid, registers, again),
            Some(Family::Poll) => self.enter_poll(tid, registers, again),
            Some(Family::Transfer) => self.enter_transfer(tid, registers, resumed),
            Some(Family::Connect) => self.enter_connect(tid, registers, again),
            Some(Family::Stream) => self.enter_stream_call(tid, registers),
            Some(Family::Socket) => self.enter_socket(tid, registers),
            Some(Family::Lock) => self.enter_lock(tid, registers),
            Some(Family::Clone) => self.enter_clone(tid, registers),
            Some(Family::Futex) => self.enter_futex(tid, registers, again),
            Some(Family::Child) => self.enter_child(tid, registers),
            Some(Family::Kill) => {
                (self.is_signalled, self.is_unsettled) = (true, true);
                tracee::resume(tid, 0);
            }
            Some(Family::Timer) => self.enter_timer(tid, registers),
            Some(Family::FileTimer) => self.enter_file_timer(tid, registers),
            Some(Family::Random) => self.enter_random(tid, registers),
            Some(Family::Absent) => self.answer(tid, registers, Err(libc::ENOSYS)),
            None if number == libc::SYS_ioctl => {
                self.attempt(tid, &registers, Trial::new(registers, Call::Interface, None));
            }
            None => tracee::resume(tid, 0),
        }
        Ok(())
    }

    /// A call that was tried has come to its exit.
    pub(crate) fn leave(&mut self, tid: Pid) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let Some(mut trial) = thread.trial.take() else {
            return tracee::resume(tid, 0);
        };
        let Some(registers) = tracee::registers(tid) else { return };
        let result = registers.rax as i64;
        for (address, octets) in std::mem::take(&mut trial.borrowed) {
            tracee::write(tid, address, &octets);
        }
        match trial.what {
            Call::Sleep | Call::Spin | Call::Compute | Call::Connect { .. } | Call::Futex { .. } => {
                self.wait(tid, trial)
            }
            Call::Suspend | Call::Poll => self.leave_poll(tid, trial, result),
            Call::Transfer { .. } => self.leave_transfer(tid, trial, result),
            Call::Lock => self.leave_lock(tid, trial, result),
            Call::Child => self.leave_child(tid, trial, result),
            Call::Signal => self.leave_signal(tid, trial, result),
            Call::Socket => self.leave_socket(tid, &trial, result),
            Call::Timer => self.leave_file_timer(tid, &trial, result),
            Call::Interface => self.leave_interface(tid, &trial, result),
        }
    }

    /// A copy of a descriptor of a thread.
    pub(crate) fn descriptor(&mut self, tid: Pid, fd: u64) -> Option<Descriptor> {
        self.threads.get_mut(tid)?.descriptor(fd)
    }

    /// Counts a call that got nothing. Returns true if the thread has to wait before it asks again.
    pub(crate) fn asks_too_often(&mut self, tid: Pid) -> bool {
        let Some(thread) = self.threads.get_mut(tid) else { return false };
        thread.idle_calls += 1;
        let too_often = thread.idle_calls >= IDLE_CALLS;
        if too_often {
            thread.idle_calls -= IDLE_CALLS_AGAIN;
        }
        too_often
    }

    /// A thread that asks too often waits, and then makes the call.
    pub(crate) fn spin(&mut self, tid: Pid, entry: Registers) {
        let deadline = self.clocks.after(IDLE_WAIT);
        self.skip(tid, Trial::new(entry, Call::Spin, Some(deadline)));
    }

    /// Waits as [`spin`](Self::spin) does, at the exit of the call.
    pub(crate) fn spin_on(&mut self, tid: Pid, mut trial: Trial) {
        (trial.what, trial.deadline) = (Call::Spin, Some(self.clocks.after(IDLE_WAIT)));
        self.wait(tid, trial);
    }

    /// The thread lets others run.
    fn enter_yield(&mut self, tid: Pid, mut registers: Registers, resumed: Option<&Resumed>) {
        if !resumed.is_some_and(|resumed| resumed.has_waited) && self.asks_too_often(tid) {
            return self.spin(tid, registers);
        }
        registers.orig_rax = u64::MAX;
        registers.rax = 0;
        tracee::set_registers(tid, &registers);
        self.set_state(tid, State::Runnable);
    }

    fn enter_random(&mut self, tid: Pid, registers: Registers) {
        let filled = self.fill(tid, registers.rdi, registers.rsi);
        self.answer(tid, registers, filled);
    }
}
