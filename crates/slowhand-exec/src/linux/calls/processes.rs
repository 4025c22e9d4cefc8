//! Making children, and waiting for them.

use super::clocks::USAGE;
use crate::linux::threads::{Call, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;

/// `CLONE_UNTRACED` (Linux, include/uapi/linux/sched.h). clone3(2) has its flags at the beginning of its structure.
const UNTRACED: u64 = 0x0080_0000;

impl Tracer<'_> {
    pub(super) fn enter_child(&mut self, tid: Pid, entry: Registers) {
        let mut registers = entry;
        let is_simple = entry.orig_rax as i64 == libc::SYS_wait4;
        // Without a place for the answer nobody can tell whether a child was there.
        if !is_simple && entry.rdx == 0 {
            return tracee::resume(tid, 0);
        }
        let options = if is_simple { &mut registers.rdx } else { &mut registers.r10 };
        if *options & libc::WNOHANG as u64 != 0 {
            return tracee::resume(tid, 0);
        }
        *options |= libc::WNOHANG as u64;
        self.attempt(tid, &registers, Trial::new(entry, Call::Child, None));
    }

    /// A new thread or process is always traced: else it would run in no virtual time, and beside the others.
    pub(super) fn enter_clone(&mut self, tid: Pid, mut registers: Registers) {
        let is_simple = registers.orig_rax as i64 == libc::SYS_clone;
        let flags = if is_simple { Some(registers.rdi) } else { tracee::read_value::<u64>(tid, registers.rdi) };
        let Some(flags) = flags.filter(|flags| flags & UNTRACED != 0) else { return tracee::resume(tid, 0) };
        let traced = flags & !UNTRACED;
        if is_simple {
            registers.rdi = traced;
            tracee::set_registers(tid, &registers);
        } else if !tracee::write_value(tid, registers.rdi, &traced) {
            return self.answer(tid, registers, Err(libc::EPERM));
        }
        tracee::resume(tid, 0);
    }

    pub(super) fn leave_child(&mut self, tid: Pid, trial: Trial, result: i64) {
        let entry = &trial.entry;
        let is_simple = trial.number() == libc::SYS_wait4;
        // wait4 returns the number of a child; waitid writes SIGCHLD, or 0, at the beginning of its answer.
        let found = is_simple || tracee::read_value::<i32>(tid, entry.rdx).is_some_and(|signal| signal != 0);
        if result == 0 && (is_simple || !found) {
            return self.wait(tid, trial);
        }
        let usage = if is_simple { entry.r10 } else { entry.r8 };
        if result >= 0 && usage != 0 {
            tracee::write(tid, usage, &USAGE);
        }
        self.finish(tid, &trial.entry, result);
    }
}
