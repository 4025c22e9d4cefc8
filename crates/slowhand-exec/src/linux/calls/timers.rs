//! Timers: those that send signals, and those that are files.

use crate::linux::clocks::{Nanos, Spec, nanos_of, spec};
use crate::linux::descriptor::event_id;
use crate::linux::threads::{Alarm, Call, FileTimer, Notice, PosixTimer, Trial, status_number};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;

/// `struct itimerspec` or `struct itimerval`: the interval, and the time until the timer is due.
type Timing = [[i64; 2]; 2];

/// Ways of telling that a timer is due (`sigevent`, Linux, include/uapi/asm-generic/siginfo.h).
const SIGEV_SIGNAL: i32 = 0;
const SIGEV_NONE: i32 = 1;
const SIGEV_THREAD: i32 = 2;
const SIGEV_THREAD_ID: i32 = 4;

/// The largest number of a signal (`_NSIG`, Linux, arch/x86/include/uapi/asm/signal.h).
const LAST_SIGNAL: i32 = 64;

/// `SI_TIMER` (the same file): the signal is that of a timer.
const SI_TIMER: i32 = -2;

/// After how many timers that are files those are looked for whose file has gone. *Assumed*: a tracer has thousands of descriptors.
const SWEEP: usize = 64;

/// `TFD_TIMER_ABSTIME` and `TIMER_ABSTIME` have the same value.
const ABSOLUTE: u64 = libc::TIMER_ABSTIME as u64;

impl Alarm {
    /// Sets it: an interval of 0 is none, and a time of 0 switches it off.
    fn set(&mut self, at: Option<Nanos>, interval: Nanos) {
        (self.at, self.interval) = (at, interval);
    }

    /// The interval and the time until it is due.
    fn left(&self, now: Nanos) -> [Nanos; 2] {
        [self.interval, self.at.map_or(0, |at| at.saturating_sub(now).max(1))]
    }

    /// True if it is due. Then it is set to its next time.
    fn fires(&mut self, now: Nanos) -> bool {
        let Some(at) = self.at.filter(|at| *at <= now) else { return false };
        self.at = (self.interval > 0).then(|| at.saturating_add(self.interval).max(now.saturating_add(1)));
        true
    }
}

impl Tracer<'_> {
    pub(super) fn enter_timer(&mut self, tid: Pid, entry: Registers) {
        let Some(process) = self.threads.get(tid).map(|thread| thread.process) else { return };
        let result = match entry.orig_rax as i64 {
            libc::SYS_alarm => self.alarm(process, entry.rdi),
            libc::SYS_getitimer | libc::SYS_setitimer => self.interval_timer(tid, process, &entry),
            libc::SYS_timer_create => self.create_timer(tid, process, &entry),
            _ => self.posix_timer(tid, process, &entry),
        };
        self.answer(tid, entry, result);
    }

    fn alarm(&mut self, process: Pid, seconds: u64) -> i64 {
        let at = (seconds & 0xffff_ffff != 0)
            .then(|| self.clocks.after((seconds & 0xffff_ffff) * crate::linux::clocks::SECOND));
        let now = self.clocks.now;
        let Some(process) = self.processes.get_mut(&process) else { return 0 };
        let [_, left] = process.alarm.left(now);
        process.alarm.set(at, 0);
        left.div_ceil(crate::linux::clocks::SECOND) as i64
    }

    /// getitimer(2), setitimer(2). Timers that count computing are never due, as it takes no time.
    fn interval_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> i64 {
        let (clocks, sets) = (self.clocks, entry.orig_rax as i64 == libc::SYS_setitimer);
        let is_real = entry.rdi as i32 == libc::ITIMER_REAL;
        let Some(process) = self.processes.get_mut(&process) else { return 0 };
        let old = if is_real { process.alarm.left(clocks.now) } else { [0, 0] };
        let place = if sets { entry.rdx } else { entry.rsi };
        let timing: Timing = old.map(spec).map(|[seconds, nanos]| [seconds, nanos / 1000]);
        if place != 0 && !tracee::write_value(tid, place, &timing) {
            return -i64::from(libc::EFAULT);
        }
        if !sets || !is_real {
            return 0;
        }
        let new: Timing = match entry.rsi {
            0 => Timing::default(),
            address => match tracee::read_value(tid, address) {
                Some(new) => new,
                None => return -i64::from(libc::EFAULT),
            },
        };
        let [interval, value] =
            new.map(|[seconds, micros]| nanos_of([seconds, micros.saturating_mul(1000)]).unwrap_or(Nanos::MAX));
        process.alarm.set((value > 0).then(|| clocks.after(value)), interval);
        0
    }

    fn create_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> i64 {
        let Some(state) = self.processes.get_mut(&process) else { return 0 };
        let number = state.next_timer;
        let mut notice = Notice { signal: libc::SIGALRM, value: number as u64, thread: None };
        if entry.rsi != 0 {
            // `struct sigevent`: a value, then the signal, the way, and the thread.
            let Some([value, first, second]) = tracee::read_value::<[u64; 3]>(tid, entry.rsi) else {
                return -i64::from(libc::EFAULT);
            };
            let (signal, way, thread) = (first as i32, (first >> 32) as i32, second as i32);
            let is_signal = (1..=LAST_SIGNAL).contains(&signal);
            notice = match way {
                SIGEV_NONE => Notice { signal: 0, value, thread: None },
                SIGEV_SIGNAL | SIGEV_THREAD if is_signal => Notice { signal, value, thread: None },
                SIGEV_THREAD_ID if is_signal => Notice { signal, value, thread: self.thread_of(process, thread) },
                _ => return -i64::from(libc::EINVAL),
            };
        }
        if !tracee::write_value(tid, entry.rdx, &number) {
            return -i64::from(libc::EFAULT);
        }
        let timer = PosixTimer { alarm: Alarm::default(), clock: entry.rdi as i32, notice, overrun: 0 };
        if let Some(state) = self.processes.get_mut(&process) {
            state.next_timer += 1;
            state.timers.insert(number, timer);
        }
        0
    }

    /// The thread of a process that has this number in its own namespace.
    fn thread_of(&self, process: Pid, inner: i32) -> Option<Pid> {
        let has_number = |tid: Pid| {
            let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            line.and_then(|line| line.split_whitespace().last()?.parse().ok()) == Some(inner)
        };
        self.threads.those(|thread| thread.process == process).into_iter().find(|tid| has_number(*tid))
    }

    fn posix_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> i64 {
        let (clocks, number) = (self.clocks, entry.rdi as i32);
        let Some(process) = self.processes.get_mut(&process) else { return 0 };
        let Some(timer) = process.timers.get_mut(&number) else { return -i64::from(libc::EINVAL) };
        let old: Timing = timer.alarm.left(clocks.now).map(spec);
        match entry.orig_rax as i64 {
            libc::SYS_timer_gettime => match tracee::write_value(tid, entry.rsi, &old) {
                true => 0,
                false => -i64::from(libc::EFAULT),
            },
            libc::SYS_timer_getoverrun => timer.overrun.into(),
            libc::SYS_timer_delete => {
                process.timers.remove(&number);
                0
            }
            _ => {
                let Some(new) = tracee::read_value::<Timing>(tid, entry.rdx) else { return -i64::from(libc::EFAULT) };
                if entry.r10 != 0 {
                    tracee::write_value(tid, entry.r10, &old);
                }
                let (at, interval) = timing(&clocks, timer.clock, new, entry.rsi & ABSOLUTE != 0);
                timer.alarm.set(at, interval);
                0
            }
        }
    }

    pub(super) fn enter_file_timer(&mut self, tid: Pid, entry: Registers) {
        if entry.orig_rax as i64 == libc::SYS_timerfd_create {
            let mut registers = entry;
            (registers.orig_rax, registers.rdi) = (libc::SYS_eventfd2 as u64, 0); // both have the same flags
            return self.attempt(tid, &registers, Trial::new(entry, Call::Timer, None));
        }
        let clocks = self.clocks;
        let id = self.threads.get_mut(tid).and_then(|thread| thread.descriptor(entry.rdi)?.event_id());
        let Some(timer) = id.and_then(|id| self.file_timers.get_mut(&id)) else {
            return self.answer(tid, entry, -i64::from(libc::EINVAL));
        };
        let old: Timing = timer.alarm.left(clocks.now).map(spec);
        let is_setting = entry.orig_rax as i64 == libc::SYS_timerfd_settime;
        let place = if is_setting { entry.r10 } else { entry.rsi };
        if place != 0 {
            tracee::write_value(tid, place, &old);
        }
        if is_setting {
            let Some(new) = tracee::read_value::<Timing>(tid, entry.rdx) else {
                return self.answer(tid, entry, -i64::from(libc::EFAULT));
            };
            drain(timer);
            let (at, interval) = timing(&clocks, timer.clock, new, entry.rsi & ABSOLUTE != 0);
            timer.alarm.set(at, interval);
        }
        self.answer(tid, entry, 0);
    }

    /// The program has an event file in the place of its timer.
    pub(super) fn leave_file_timer(&mut self, tid: Pid, trial: &Trial, result: i64) {
        if self.file_timers.len().is_multiple_of(SWEEP) {
            self.forget_file_timers(None);
        }
        let thread = self.threads.get_mut(tid).filter(|_| result >= 0);
        if let Some(thread) = thread
            && let Some(descriptor) = thread.descriptor(result as u64)
            && let (Some(id), Ok(file)) = (descriptor.event_id(), descriptor.file())
        {
            let clock = trial.entry.rdi as i32;
            let timer = FileTimer {
                file,
                alarm: Alarm::default(),
                clock,
                program: thread.program,
                holder: (tid, result as u64),
            };
            self.file_timers.insert(id, timer);
        }
        self.finish(tid, &trial.entry, result);
    }

    /// Forgets the timers that are due next if no program has their file any more. Returns true if there were any.
    pub(crate) fn forget_due_file_timers(&mut self) -> bool {
        let next = self.next_deadline();
        next.is_some() && self.forget_file_timers(next)
    }

    /// Forgets timers whose file no program has any more: those that are due at a time, or all. Returns true if there were any.
    fn forget_file_timers(&mut self, due: Option<Nanos>) -> bool {
        let before = self.file_timers.len();
        let threads = &self.threads;
        self.file_timers.retain(|id, timer| {
            if due.is_some() && timer.alarm.at != due {
                return true;
            }
            if !has_event(timer.holder, *id) {
                let program = timer.program;
                let holds = |tid: Pid| event_of(tid, *id).map(|fd| (tid, fd));
                let Some(holder) = threads.those(|thread| thread.program == program).into_iter().find_map(holds) else {
                    return false;
                };
                timer.holder = holder;
            }
            true
        });
        self.file_timers.len() < before
    }

    /// Everything that is due.
    pub(crate) fn fire_timers(&mut self) {
        let now = self.clocks.now;
        for timer in self.file_timers.values_mut() {
            if timer.alarm.fires(now) {
                let _ = timer.file.write(&1_u64.to_ne_bytes()); // it is full after 2^64 times
                self.activity += 1;
            }
        }
        for (&pid, process) in &mut self.processes {
            if process.alarm.fires(now) {
                // SAFETY: the call takes two numbers.
                unsafe { libc::kill(pid, libc::SIGALRM) };
                self.is_signalled = true;
            }
            for timer in process.timers.values_mut() {
                if timer.alarm.fires(now) && timer.notice.signal != 0 {
                    timer.overrun = if is_pending(pid, &timer.notice) { timer.overrun.saturating_add(1) } else { 0 };
                    if timer.overrun == 0 {
                        notify(pid, &timer.notice);
                    }
                    self.is_signalled = true;
                }
            }
        }
        if self.is_signalled {
            self.activity += 1; // what waits for signals that are blocked is tried again
        }
    }
}

/// True if a descriptor of a thread is the event file with this number (proc(5), `eventfd-id`).
fn has_event((tid, fd): (Pid, u64), id: u64) -> bool {
    fs::read_to_string(format!("/proc/{tid}/fdinfo/{fd}")).is_ok_and(|text| event_id(&text) == Some(id))
}

/// The descriptor of a thread that is the event file with this number.
fn event_of(tid: Pid, id: u64) -> Option<u64> {
    let numbers = fs::read_dir(format!("/proc/{tid}/fdinfo")).ok()?;
    let mut numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.find(|fd| has_event((tid, *fd), id))
}

/// When a timer is due, and its interval.
fn timing(clocks: &crate::linux::clocks::Clocks, clock: i32, new: Timing, is_absolute: bool) -> (Option<Nanos>, Nanos) {
    let [interval, value]: [Spec; 2] = new;
    let interval = nanos_of(interval).unwrap_or(Nanos::MAX);
    let at = match value {
        [0, 0] => None,
        value if is_absolute => clocks.when(clock, value),
        value => nanos_of(value).map(|nanos| clocks.after(nanos)),
    };
    (at, interval)
}

/// Takes what an event file has, so that it has nothing.
fn drain(timer: &mut FileTimer) {
    let mut poll = libc::pollfd { fd: timer.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: `poll` is one valid entry.
    if unsafe { libc::poll(&raw mut poll, 1, 0) } == 1 {
        let _ = timer.file.read(&mut [0; 8]); // it does not wait: something is there
    }
}

/// True if the signal of a timer has not been delivered yet.
fn is_pending(process: Pid, notice: &Notice) -> bool {
    let key = if notice.thread.is_some() { "SigPnd" } else { "ShdPnd" };
    let pending = status_number(notice.thread.unwrap_or(process), key, 16);
    pending.is_some_and(|pending| pending >> (notice.signal - 1) & 1 == 1)
}

/// Sends the signal of a timer, with its value.
fn notify(process: Pid, notice: &Notice) {
    // `siginfo_t` (Linux, include/uapi/asm-generic/siginfo.h): signal, error, code, then the timer, the overruns and the value.
    let mut info = [0_u64; 16];
    info[0] = notice.signal as u32 as u64;
    info[1] = SI_TIMER as u32 as u64;
    info[3] = notice.value;
    // SAFETY: `info` has the 128 octets that the kernel reads.
    unsafe {
        match notice.thread {
            Some(thread) => {
                libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, notice.signal, info.as_ptr());
            }
            None => {
                libc::syscall(libc::SYS_rt_sigqueueinfo, process, notice.signal, info.as_ptr());
            }
        }
    }
}
