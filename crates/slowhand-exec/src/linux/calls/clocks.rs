//! Clocks and sleeping.

use crate::linux::clocks::{self, Nanos, Spec, is_valid, nanos_of, spec};
use crate::linux::threads::{Call, Resumed, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;

/// `struct rusage` and `struct tms` of what took no time.
pub(super) const USAGE: [u8; 144] = [0; 144];
const TIMES: [u8; 32] = [0; 32];

/// `adjtimex(2)` that only reads, and what it returns for a clock that is not synchronised.
const ADJ_OFFSET_SS_READ: u32 = 0xa001;
const TIME_ERROR: i64 = 5;

/// `struct sysinfo`: what a program sees of the machine's memory, so that it does not depend on what else runs. *Assumed*: 4 GiB,
/// half of it free.
const MEMORY: u64 = 4 << 30;

impl Tracer<'_> {
    pub(super) fn enter_clock(&mut self, tid: Pid, registers: Registers, resumed: Option<&Resumed>) {
        let has_waited = resumed.is_some_and(|resumed| resumed.has_waited);
        if !has_waited && self.asks_too_often(tid) {
            return self.spin(tid, registers);
        }
        let result = self.read_clock(tid, &registers);
        self.answer(tid, registers, result);
    }

    fn read_clock(&mut self, tid: Pid, registers: &Registers) -> Result<i64, i32> {
        let [seconds, nanos] = self.clocks.read(libc::CLOCK_REALTIME);
        match registers.orig_rax as i64 {
            libc::SYS_clock_gettime => tracee::put(tid, registers.rsi, &self.clocks.read(registers.rdi as i32)),
            libc::SYS_gettimeofday => tracee::put_if_wanted(tid, registers.rdi, &[seconds, nanos / 1000]),
            libc::SYS_time => tracee::put_if_wanted(tid, registers.rdi, &seconds).map(|_| seconds),
            libc::SYS_times => {
                let [seconds, nanos] = self.clocks.read(libc::CLOCK_MONOTONIC);
                tracee::put_if_wanted(tid, registers.rdi, &TIMES).map(|_| seconds * 100 + nanos / 10_000_000)
            }
            libc::SYS_getrusage => tracee::put(tid, registers.rsi, &USAGE),
            _ => {
                let mut words = [0_u64; 14];
                words[0] = self.clocks.read(libc::CLOCK_BOOTTIME)[0] as u64;
                (words[4], words[5]) = (MEMORY, MEMORY / 2);
                words[10] = 1; // processes
                words[13] = 1; // octets in a unit of memory
                tracee::put(tid, registers.rdi, &words)
            }
        }
    }

    /// Calls that tell or set the clock of the machine: it is not a program's to set.
    pub(super) fn enter_setting(&mut self, tid: Pid, registers: Registers) {
        let number = registers.orig_rax as i64;
        let address = if number == libc::SYS_adjtimex { registers.rdi } else { registers.rsi };
        let may_read = number == libc::SYS_adjtimex || number == libc::SYS_clock_adjtime;
        let modes = may_read.then(|| tracee::read_value::<u32>(tid, address)).flatten();
        let result = match modes {
            None if may_read => Err(libc::EFAULT),
            Some(0 | ADJ_OFFSET_SS_READ) => tracee::put(tid, address, &self.adjustment(modes)).map(|_| TIME_ERROR),
            _ => {
                self.note(tid, "was not allowed to set the clock (EPERM)", false);
                Err(libc::EPERM)
            }
        };
        self.answer(tid, registers, result);
    }

    /// `struct timex` (Linux, include/uapi/linux/timex.h) of a clock that nobody has set: as the kernel begins (kernel/time/ntp.c).
    fn adjustment(&self, modes: Option<u32>) -> [u64; 26] {
        let [seconds, nanos] = self.clocks.read(libc::CLOCK_REALTIME);
        let mut words = [0; 26];
        words[0] = modes.unwrap_or(0).into();
        (words[3], words[4]) = (16_000_000, 16_000_000); // the largest error, and the estimated one, in microseconds
        words[5] = 0x40; // STA_UNSYNC
        (words[6], words[7], words[8]) = (2, 1, 32_768_000); // constant, precision, tolerance
        (words[9], words[10], words[11]) = (seconds as u64, nanos as u64 / 1000, 10_000); // time, microseconds in a tick
        words
    }

    pub(super) fn enter_sleep(&mut self, tid: Pid, registers: Registers, resumed: Option<&Resumed>) {
        let is_simple = registers.orig_rax as i64 == libc::SYS_nanosleep;
        let asked = if is_simple { registers.rdi } else { registers.rdx };
        let clock = if is_simple { libc::CLOCK_MONOTONIC } else { registers.rdi as i32 };
        let asked = match tracee::get::<Spec>(tid, asked) {
            Ok(asked) if is_valid(asked) => asked,
            result => return self.answer(tid, registers, Err(result.err().unwrap_or(libc::EINVAL))),
        };
        let is_absolute = !is_simple && registers.rsi as i32 & libc::TIMER_ABSTIME != 0;
        let deadline = match resumed {
            Some(resumed) => resumed.deadline,
            None if is_absolute => self.clocks.when(clock, asked),
            None => nanos_of(asked).map(|nanos| self.clocks.after(nanos)),
        };
        if is_absolute && self.clocks.is_over(deadline) {
            return self.answer(tid, registers, Ok(0));
        }
        self.skip(tid, Trial::new(registers, Call::Sleep, deadline));
    }

    /// Writes the time that an interrupted sleep has left.
    pub(crate) fn write_rest(&mut self, tid: Pid, entry: &Registers, deadline: Nanos) {
        let is_simple = entry.orig_rax as i64 == libc::SYS_nanosleep;
        let place = if is_simple { entry.rsi } else { entry.r10 };
        let is_absolute = !is_simple && entry.rsi as i32 & libc::TIMER_ABSTIME != 0;
        if place != 0 && !is_absolute {
            tracee::write_value(tid, place, &spec(deadline.saturating_sub(self.clocks.now)));
        }
    }

    /// A duration in the memory of a thread, and when it will have passed. A null pointer: never.
    pub(super) fn deadline_in(&self, tid: Pid, address: u64) -> Option<Nanos> {
        let asked: Spec = tracee::value_at(tid, address)?;
        Some(clocks::nanos_of(asked).map_or(Nanos::MAX, |nanos| self.clocks.after(nanos)))
    }
}
