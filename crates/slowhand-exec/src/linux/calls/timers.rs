//! Timers: those that send signals, and those that are files.

use crate::linux::clocks::{Clocks, Nanos, SECOND, Spec, nanos_of, spec};
use crate::linux::descriptor::event_id;
use crate::linux::threads::{Alarm, Call, FileTimer, Notice, PosixTimer, Trial, status_number};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;

/// `struct itimerspec` or `struct itimerval`: the interval, and the time until the timer is due.
type Timing = [Spec; 2];

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
            libc::SYS_alarm => Ok(self.alarm(process, entry.rdi)),
            libc::SYS_getitimer | libc::SYS_setitimer => self.interval_timer(tid, process, &entry),
            libc::SYS_timer_create => self.create_timer(tid, process, &entry),
            _ => self.posix_timer(tid, process, &entry),
        };
        self.answer(tid, entry, result);
    }

    fn alarm(&mut self, process: Pid, seconds: u64) -> i64 {
        let seconds = u64::from(seconds as u32);
        let at = (seconds != 0).then(|| self.clocks.after(seconds * SECOND));
        let Some(process) = self.processes.get_mut(&process) else { return 0 };
        let [_, left] = process.alarm.left(self.clocks.now);
        process.alarm = Alarm { at, interval: 0 };
        left.div_ceil(SECOND) as i64
    }

    /// getitimer(2), setitimer(2). Timers that count computing are never due, as it takes no time.
    fn interval_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> Result<i64, i32> {
        let (clocks, sets) = (self.clocks, entry.orig_rax as i64 == libc::SYS_setitimer);
        let is_real = entry.rdi as i32 == libc::ITIMER_REAL;
        let Some(process) = self.processes.get_mut(&process) else { return Ok(0) };
        let old = if is_real { process.alarm.left(clocks.now) } else { [0, 0] };
        let place = if sets { entry.rdx } else { entry.rsi };
        let timing: Timing = old.map(spec).map(|[seconds, nanos]| [seconds, nanos / 1000]);
        tracee::put_if_wanted(tid, place, &timing)?;
        if !sets || !is_real {
            return Ok(0);
        }
        let new: Timing = if entry.rsi == 0 { Timing::default() } else { tracee::get(tid, entry.rsi)? };
        let [interval, value] =
            new.map(|[seconds, micros]| nanos_of([seconds, micros.saturating_mul(1000)]).unwrap_or(Nanos::MAX));
        process.alarm = Alarm { at: (value > 0).then(|| clocks.after(value)), interval };
        Ok(0)
    }

    fn create_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> Result<i64, i32> {
        let Some(state) = self.processes.get_mut(&process) else { return Ok(0) };
        let number = state.next_timer;
        let mut notice = Notice { signal: libc::SIGALRM, value: number as u64, thread: None };
        if entry.rsi != 0 {
            // `struct sigevent`: a value, then the signal, the way, and the thread.
            let [value, first, second] = tracee::get::<[u64; 3]>(tid, entry.rsi)?;
            let (signal, way, thread) = (first as i32, (first >> 32) as i32, second as i32);
            let is_signal = (1..=LAST_SIGNAL).contains(&signal);
            notice = match way {
                SIGEV_NONE => Notice { signal: 0, value, thread: None },
                SIGEV_SIGNAL | SIGEV_THREAD if is_signal => Notice { signal, value, thread: None },
                SIGEV_THREAD_ID if is_signal => Notice { signal, value, thread: self.thread_of(process, thread) },
                _ => return Err(libc::EINVAL),
            };
        }
        tracee::put(tid, entry.rdx, &number)?;
        let timer = PosixTimer { alarm: Alarm::default(), clock: entry.rdi as i32, notice, overrun: 0 };
        if let Some(state) = self.processes.get_mut(&process) {
            state.next_timer += 1;
            state.timers.insert(number, timer);
        }
        Ok(0)
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

    fn posix_timer(&mut self, tid: Pid, process: Pid, entry: &Registers) -> Result<i64, i32> {
        let (clocks, number) = (self.clocks, entry.rdi as i32);
        let Some(process) = self.processes.get_mut(&process) else { return Ok(0) };
        let timer = process.timers.get_mut(&number).ok_or(libc::EINVAL)?;
        let old: Timing = timer.alarm.left(clocks.now).map(spec);
        match entry.orig_rax as i64 {
            libc::SYS_timer_gettime => return tracee::put(tid, entry.rsi, &old),
            libc::SYS_timer_getoverrun => return Ok(timer.overrun.into()),
            libc::SYS_timer_delete => drop(process.timers.remove(&number)),
            _ => {
                let new = tracee::get(tid, entry.rdx)?;
                let _ = tracee::put_if_wanted(tid, entry.r10, &old);
                timer.alarm = alarm_at(&clocks, timer.clock, new, entry.rsi & ABSOLUTE != 0);
            }
        }
        Ok(0)
    }

    pub(super) fn enter_file_timer(&mut self, tid: Pid, entry: Registers) {
        if entry.orig_rax as i64 == libc::SYS_timerfd_create {
            let mut registers = entry;
            (registers.orig_rax, registers.rdi) = (libc::SYS_eventfd2 as u64, 0); // both have the same flags
            return self.attempt(tid, &registers, Trial::new(entry, Call::Timer, None));
        }
        let result = self.file_timer(tid, &entry);
        self.answer(tid, entry, result);
    }

    fn file_timer(&mut self, tid: Pid, entry: &Registers) -> Result<i64, i32> {
        let id = self.descriptor(tid, entry.rdi).and_then(|descriptor| descriptor.event_id());
        let timer = id.and_then(|id| self.file_timers.get_mut(&id)).ok_or(libc::EINVAL)?;
        let old: Timing = timer.alarm.left(self.clocks.now).map(spec);
        let is_setting = entry.orig_rax as i64 == libc::SYS_timerfd_settime;
        let _ = tracee::put_if_wanted(tid, if is_setting { entry.r10 } else { entry.rsi }, &old);
        if is_setting {
            let new = tracee::get(tid, entry.rdx)?;
            drain(timer);
            timer.alarm = alarm_at(&self.clocks, timer.clock, new, entry.rsi & ABSOLUTE != 0);
        }
        Ok(0)
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

/// When a timer is due, and its interval: an interval of 0 is none, and a time of 0 switches it off.
fn alarm_at(clocks: &Clocks, clock: i32, [interval, value]: Timing, is_absolute: bool) -> Alarm {
    let at = match value {
        [0, 0] => None,
        value if is_absolute => clocks.when(clock, value),
        value => nanos_of(value).map(|nanos| clocks.after(nanos)),
    };
    Alarm { at, interval: nanos_of(interval).unwrap_or(Nanos::MAX) }
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
