//! Waiting for descriptors, and for signals.

use crate::linux::clocks::{Nanos, Spec, spec};
use crate::linux::threads::{Call, Resumed, Trial, deliverable};
use crate::linux::tracee::{self, Pid, Registers, errno};
use crate::linux::tracer::Tracer;

/// The octets of a set of signals, as the kernel has it.
const SIGNALS: u64 = 8;

/// The most descriptors of select(2) (Linux, `sysctl_nr_open`, as it is by default).
const MOST_SELECTED: u64 = 1 << 20;

impl Tracer<'_> {
    pub(super) fn enter_poll(&mut self, tid: Pid, entry: Registers, resumed: Option<&Resumed>) {
        let number = entry.orig_rax as i64;
        let millis = |millis: u64| match millis as i32 {
            ..0 => None,
            millis => Some(self.clocks.after(millis as u64 * 1_000_000)),
        };
        let deadline = match (resumed, number) {
            (Some(resumed), _) if !resumed.has_waited => resumed.deadline,
            (_, libc::SYS_poll) => millis(entry.rdx),
            (_, libc::SYS_epoll_wait | libc::SYS_epoll_pwait) => millis(entry.r10),
            (_, libc::SYS_ppoll) => self.deadline_in(tid, entry.rdx),
            (_, libc::SYS_epoll_pwait2) => self.deadline_in(tid, entry.r10),
            (_, libc::SYS_pselect6) => self.deadline_in(tid, entry.r8),
            _ => self.deadline_of_select(tid, entry.r8),
        };
        let mut trial = Trial::new(entry, Call::Poll, deadline);
        let mut registers = entry;
        match number {
            libc::SYS_poll => registers.rdx = 0,
            libc::SYS_epoll_wait => registers.r10 = 0,
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
                trial.mask = tracee::value_at(tid, entry.r8);
                if trial.mask.is_some() && deliverable(tid, trial.mask)[1] != 0 {
                    return self.suspend(tid, trial, entry.r8);
                }
                // The mask has been looked at. Without it, and without a duration, both calls are this one.
                registers.orig_rax = libc::SYS_epoll_wait as u64;
                registers.r10 = 0;
            }
            libc::SYS_ppoll => {
                trial.mask = tracee::value_at(tid, entry.r10);
                registers.rdx = trial.borrow_zero(tid);
            }
            _ => {
                if number == libc::SYS_pselect6 {
                    let of_mask = tracee::value_at::<[u64; 2]>(tid, entry.r9);
                    trial.mask = of_mask.and_then(|[address, _]| tracee::value_at(tid, address));
                }
                registers.r8 = trial.borrow_zero(tid);
            }
        }
        let inputs = self.sets(tid, &trial);
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.sets = inputs;
        }
        self.attempt(tid, &registers, trial);
    }

    /// The sets of descriptors that select(2) replaces by its answer.
    fn sets(&self, tid: Pid, trial: &Trial) -> Vec<(u64, Vec<u8>)> {
        let entry = &trial.entry;
        if ![libc::SYS_select, libc::SYS_pselect6].contains(&trial.number()) {
            return Vec::new();
        }
        let octets = (entry.rdi.min(MOST_SELECTED) as usize).div_ceil(64) * 8;
        let sets = [entry.rsi, entry.rdx, entry.r10].into_iter().filter(|address| *address != 0);
        let read = |address| {
            let mut set = vec![0; octets];
            tracee::read(tid, address, &mut set).then_some((address, set))
        };
        sets.filter_map(read).collect()
    }

    fn deadline_of_select(&self, tid: Pid, address: u64) -> Option<Nanos> {
        let [seconds, micros]: Spec = tracee::value_at(tid, address)?;
        let nanos = crate::linux::clocks::nanos_of([seconds, micros.saturating_mul(1000)]);
        Some(nanos.map_or(Nanos::MAX, |nanos| self.clocks.after(nanos)))
    }

    pub(super) fn leave_poll(&mut self, tid: Pid, trial: Trial, result: i64) {
        if self.is_interrupted(tid, &trial, result) {
            return self.keep(tid, trial);
        }
        if let Some(thread) = self.threads.get_mut(tid)
            && result > 0
        {
            thread.idle_calls = 0;
        }
        let waits = result == 0 && !self.clocks.is_over(trial.deadline);
        if waits || (result == 0 && self.asks_too_often(tid)) {
            let sets = self.threads.get_mut(tid).map(|thread| std::mem::take(&mut thread.sets));
            for (address, set) in sets.unwrap_or_default() {
                tracee::write(tid, address, &set);
            }
            return if waits { self.wait(tid, trial) } else { self.spin_on(tid, trial) };
        }
        if errno(result).is_none() {
            self.write_time_left(tid, &trial);
        }
        self.finish(tid, &trial.entry, result);
    }

    /// A signal has interrupted a call that was tried. The kernel makes of the result what the program is to see.
    pub(super) fn is_interrupted(&mut self, tid: Pid, trial: &Trial, result: i64) -> bool {
        let is_interrupted = [tracee::RESTART_SYS, tracee::RESTART_NO_HANDLER].contains(&result);
        if is_interrupted {
            self.finish(tid, &trial.entry, result);
        }
        is_interrupted
    }

    /// Some calls replace the duration by what is left of it.
    fn write_time_left(&mut self, tid: Pid, trial: &Trial) {
        let Some(deadline) = trial.deadline else { return };
        let [seconds, nanos] = spec(deadline.saturating_sub(self.clocks.now));
        let entry = &trial.entry;
        // Where the duration is constant, the kernel cannot write it either.
        match trial.number() {
            libc::SYS_select => tracee::write_value(tid, entry.r8, &[seconds, nanos / 1000]),
            libc::SYS_pselect6 => tracee::write_value(tid, entry.r8, &[seconds, nanos]),
            libc::SYS_ppoll => tracee::write_value(tid, entry.rdx, &[seconds, nanos]),
            _ => true,
        };
    }

    /// Waits for a signal alone. A poll of nothing does the same, and returns at once.
    pub(super) fn enter_suspend(&mut self, tid: Pid, entry: Registers) {
        let has_mask = entry.orig_rax as i64 == libc::SYS_rt_sigsuspend;
        let mut trial = Trial::new(entry, Call::Suspend, None);
        trial.mask = has_mask.then(|| tracee::value_at(tid, entry.rdi)).flatten();
        self.suspend(tid, trial, if has_mask { entry.rdi } else { 0 });
    }

    fn suspend(&mut self, tid: Pid, mut trial: Trial, mask: u64) {
        let mut registers = trial.entry;
        registers.orig_rax = libc::SYS_ppoll as u64;
        (registers.rdi, registers.rsi, registers.rdx) = (0, 0, trial.borrow_zero(tid));
        (registers.r10, registers.r8) = (mask, SIGNALS);
        self.attempt(tid, &registers, trial);
    }

    pub(super) fn enter_signal(&mut self, tid: Pid, entry: Registers, resumed: Option<&Resumed>) {
        let deadline = resumed.map_or_else(|| self.deadline_in(tid, entry.rdx), |resumed| resumed.deadline);
        let mut trial = Trial::new(entry, Call::Signal, deadline);
        let registers = Registers { rdx: trial.borrow_zero(tid), ..entry };
        self.attempt(tid, &registers, trial);
    }

    pub(super) fn leave_signal(&mut self, tid: Pid, trial: Trial, result: i64) {
        if errno(result) == Some(libc::EAGAIN) && !self.clocks.is_over(trial.deadline) {
            return self.wait(tid, trial);
        }
        self.finish(tid, &trial.entry, result);
    }
}
