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
use crate::linux::clocks::Nanos;
use crate::linux::filter::{SYS_FUTEX_REQUEUE, SYS_FUTEX_WAIT, SYS_FUTEX_WAKE};
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
        matches!(
            self,
            Self::Poll
                | Self::Transfer { .. }
                | Self::Connect { .. }
                | Self::Lock
                | Self::Child
                | Self::Signal
                | Self::Suspend
        )
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
}

impl Tracer<'_> {
    /// A thread makes a call that is trapped.
    pub(crate) fn enter(&mut self, tid: Pid) -> Result<(), ExecError> {
        let Some(registers) = tracee::registers(tid) else { return Ok(()) };
        if !self.shares && is_seen_by_others(tid, &registers) {
            if !self.is_alone {
                self.wants_turn = true;
                if let Some(thread) = self.threads.get_mut(tid) {
                    thread.state = State::BeforeTurn;
                }
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
        match number {
            libc::SYS_clock_gettime
            | libc::SYS_gettimeofday
            | libc::SYS_time
            | libc::SYS_times
            | libc::SYS_getrusage
            | libc::SYS_sysinfo => self.enter_clock(tid, registers, resumed.as_ref()),
            libc::SYS_adjtimex | libc::SYS_clock_adjtime | libc::SYS_clock_settime | libc::SYS_settimeofday => {
                self.enter_setting(tid, registers);
            }
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => self.enter_sleep(tid, registers, resumed.as_ref()),
            libc::SYS_pause | libc::SYS_rt_sigsuspend => self.enter_suspend(tid, registers),
            libc::SYS_rt_sigtimedwait => self.enter_signal(tid, registers, resumed.as_ref()),
            libc::SYS_sched_yield => self.enter_yield(tid, registers, resumed.as_ref()),
            libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_epoll_pwait2 => self.enter_poll(tid, registers, resumed.as_ref()),
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_pread64
            | libc::SYS_write
            | libc::SYS_writev
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_recvmmsg
            | libc::SYS_sendto
            | libc::SYS_sendmsg
            | libc::SYS_sendmmsg
            | libc::SYS_sendfile
            | libc::SYS_accept
            | libc::SYS_accept4 => self.enter_transfer(tid, registers, resumed),
            libc::SYS_connect => self.enter_connect(tid, registers, resumed.as_ref()),
            libc::SYS_bind
            | libc::SYS_listen
            | libc::SYS_getsockname
            | libc::SYS_getpeername
            | libc::SYS_getsockopt
            | libc::SYS_setsockopt => self.enter_stream_call(tid, registers),
            libc::SYS_socket => self.enter_socket(tid, registers),
            libc::SYS_ioctl => self.attempt(tid, &registers, Trial::new(registers, Call::Interface, None)),
            libc::SYS_flock => self.enter_lock(tid, registers),
            libc::SYS_futex => self.enter_futex(tid, registers, resumed.as_ref()),
            libc::SYS_clone | libc::SYS_clone3 => self.enter_clone(tid, registers),
            libc::SYS_wait4 | libc::SYS_waitid => self.enter_child(tid, registers),
            libc::SYS_kill
            | libc::SYS_tkill
            | libc::SYS_tgkill
            | libc::SYS_rt_sigqueueinfo
            | libc::SYS_rt_tgsigqueueinfo
            | libc::SYS_pidfd_send_signal => {
                (self.is_signalled, self.is_unsettled) = (true, true);
                tracee::resume(tid, 0);
            }
            libc::SYS_alarm
            | libc::SYS_getitimer
            | libc::SYS_setitimer
            | libc::SYS_timer_create
            | libc::SYS_timer_settime
            | libc::SYS_timer_gettime
            | libc::SYS_timer_getoverrun
            | libc::SYS_timer_delete => self.enter_timer(tid, registers),
            libc::SYS_timerfd_create | libc::SYS_timerfd_settime | libc::SYS_timerfd_gettime => {
                self.enter_file_timer(tid, registers);
            }
            libc::SYS_getrandom => self.enter_random(tid, registers),
            // Programs that use these have another way, which is trapped.
            libc::SYS_io_uring_setup | libc::SYS_futex_waitv | SYS_FUTEX_WAKE | SYS_FUTEX_WAIT | SYS_FUTEX_REQUEUE => {
                self.answer(tid, registers, -i64::from(libc::ENOSYS));
            }
            _ => tracee::resume(tid, 0),
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

    /// Writes octets below the stack of a thread, for one call. Returns their address, and what stood there.
    pub(crate) fn borrow(&mut self, tid: Pid, registers: &Registers, octets: &[u8]) -> (u64, (u64, Vec<u8>)) {
        let address = registers.rsp.wrapping_sub(BELOW_STACK) & !15;
        let mut before = vec![0; octets.len()];
        tracee::read(tid, address, &mut before);
        tracee::write(tid, address, octets);
        (address, (address, before))
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
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.state = State::Runnable;
        }
    }

    fn enter_random(&mut self, tid: Pid, registers: Registers) {
        let filled = self.fill(tid, registers.rdi, registers.rsi);
        self.answer(tid, registers, filled);
    }
}
