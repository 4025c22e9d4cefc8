//! Threads that wait for each other (futex(2)).
//!
//! A thread that waits has stopped, so the kernel cannot wake it. The tracer does what the kernel would do.

use crate::linux::threads::{Call, FutexKey, Resumed, State, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::fs;

/// All bits of `FUTEX_WAIT_BITSET`.
const ANY: u32 = u32::MAX;

impl Tracer<'_> {
    pub(super) fn enter_futex(&mut self, tid: Pid, entry: Registers, resumed: Option<&Resumed>) {
        match operation(&entry) {
            libc::FUTEX_WAIT => self.wait_for(tid, entry, ANY, resumed),
            libc::FUTEX_WAIT_BITSET => self.wait_for(tid, entry, entry.r9 as u32, resumed),
            libc::FUTEX_WAKE => self.answer_woken(tid, entry, ANY),
            libc::FUTEX_WAKE_BITSET => self.answer_woken(tid, entry, entry.r9 as u32),
            libc::FUTEX_REQUEUE => self.requeue(tid, entry),
            libc::FUTEX_CMP_REQUEUE => match has_value(tid, &entry, entry.r9) {
                Ok(()) => self.requeue(tid, entry),
                Err(error) => self.answer(tid, entry, Err(error)),
            },
            libc::FUTEX_WAKE_OP => self.wake_and_change(tid, entry),
            // Locks that inherit priorities: if they wait, they wait in the kernel, and a note says so.
            _ => tracee::resume(tid, 0),
        }
    }

    fn wait_for(&mut self, tid: Pid, entry: Registers, bits: u32, resumed: Option<&Resumed>) {
        if let Err(error) = has_value(tid, &entry, entry.rdx) {
            return self.answer(tid, entry, Err(error));
        }
        let is_absolute = operation(&entry) == libc::FUTEX_WAIT_BITSET;
        let is_real = entry.rsi as i32 & libc::FUTEX_CLOCK_REALTIME != 0;
        let clock = if is_real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
        let deadline = match resumed {
            Some(resumed) => resumed.deadline,
            None if is_absolute => tracee::value_at(tid, entry.r10).and_then(|shown| self.clocks.when(clock, shown)),
            None => self.deadline_in(tid, entry.r10),
        };
        if is_absolute && self.clocks.is_over(deadline) {
            return self.answer(tid, entry, Err(libc::ETIMEDOUT));
        }
        let key = self.key(tid, entry.rdi, &entry);
        self.skip(tid, Trial::new(entry, Call::Futex { key, bits }, deadline));
    }

    fn answer_woken(&mut self, tid: Pid, entry: Registers, bits: u32) {
        let key = self.key(tid, entry.rdi, &entry);
        let woken = self.wake_futex(key, bits, entry.rdx as i32);
        self.answer(tid, entry, Ok(woken));
    }

    /// Wakes some, and lets others wait for another futex.
    fn requeue(&mut self, tid: Pid, entry: Registers) {
        let (from, to) = (self.key(tid, entry.rdi, &entry), self.key(tid, entry.r8, &entry));
        let woken = self.wake_futex(from, ANY, entry.rdx as i32);
        let mut moved = 0;
        for thread in self.threads.iter_mut() {
            if let State::Waiting(wait) = &mut thread.state
                && let Call::Futex { key, .. } = &mut wait.call.what
                && *key == from
                && moved < i64::from(entry.r10 as i32)
            {
                *key = to;
                moved += 1;
            }
        }
        let compares = operation(&entry) == libc::FUTEX_CMP_REQUEUE;
        self.answer(tid, entry, Ok(if compares { woken + moved } else { woken }));
    }

    /// Changes the second futex, wakes those of the first one, and those of the second one if its old value asks for it.
    fn wake_and_change(&mut self, tid: Pid, entry: Registers) {
        let Some(old) = tracee::read_value::<u32>(tid, entry.r8) else {
            return self.answer(tid, entry, Err(libc::EFAULT));
        };
        // futex(2): four bits of operation, four of comparison, twelve of each argument, with their signs.
        let code = entry.r9 as u32;
        let signed = |bits: u32| (bits << 20) as i32 >> 20;
        let (mut argument, compared) = (signed(code >> 12), signed(code));
        if code >> 31 == 1 {
            argument = 1_i32.wrapping_shl(argument as u32);
        }
        let argument = argument as u32;
        let new = match code >> 28 & 7 {
            0 => argument,
            1 => old.wrapping_add(argument),
            2 => old | argument,
            3 => old & !argument,
            _ => old ^ argument,
        };
        tracee::write_value(tid, entry.r8, &new);
        let value = old as i32;
        let is_true = match code >> 24 & 15 {
            0 => value == compared,
            1 => value != compared,
            2 => value < compared,
            3 => value <= compared,
            4 => value > compared,
            _ => value >= compared,
        };
        let first = self.key(tid, entry.rdi, &entry);
        let mut woken = self.wake_futex(first, ANY, entry.rdx as i32);
        if is_true {
            let second = self.key(tid, entry.r8, &entry);
            woken += self.wake_futex(second, ANY, entry.r10 as i32);
        }
        self.answer(tid, entry, Ok(woken));
    }

    fn wake_futex(&mut self, of: FutexKey, mask: u32, most: i32) -> i64 {
        let is_one = |state: &State| matches!(state, State::Waiting(wait) if matches!(&wait.call.what, Call::Futex { key, bits } if *key == of && bits & mask != 0));
        let waiting = self.threads.those(|thread| is_one(&thread.state));
        let woken: Vec<Pid> = waiting.into_iter().take(most.max(0) as usize).collect();
        for tid in &woken {
            self.wake(*tid, 0);
        }
        woken.len() as i64
    }

    /// A thread has ended: the kernel wakes who waits for that, and for locks that it held. Who is woken looks again.
    pub(crate) fn wake_after_exit(&mut self, process: Pid) {
        let may_wait = |state: &State| match state {
            State::Waiting(wait) => match &wait.call.what {
                Call::Futex { key: FutexKey::Private(of, _), .. } => *of == process,
                Call::Futex { .. } => true,
                _ => false,
            },
            _ => false,
        };
        for tid in self.threads.those(|thread| may_wait(&thread.state)) {
            self.wake(tid, 0);
        }
    }

    /// The futex at an address of a call.
    fn key(&self, tid: Pid, address: u64, entry: &Registers) -> FutexKey {
        let process = self.threads.get(tid).map_or(tid, |thread| thread.process);
        let private = FutexKey::Private(process, address);
        if entry.rsi as i32 & libc::FUTEX_PRIVATE_FLAG != 0 {
            return private;
        }
        shared_place(tid, address).unwrap_or(private)
    }
}

/// The operation of a call, without its flags.
fn operation(entry: &Registers) -> i32 {
    entry.rsi as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME)
}

/// The error of a call whose futex does not have this value.
fn has_value(tid: Pid, entry: &Registers, value: u64) -> Result<(), i32> {
    if tracee::get::<u32>(tid, entry.rdi)? == value as u32 { Ok(()) } else { Err(libc::EAGAIN) }
}

/// The place of an address in a file that processes share (proc(5), `maps`). `None` if it is memory of its own.
fn shared_place(tid: Pid, address: u64) -> Option<FutexKey> {
    let maps = fs::read_to_string(format!("/proc/{tid}/maps")).ok()?;
    maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let hex = |word: &str| u64::from_str_radix(word, 16).ok();
        let from = hex(from)?;
        if !(from..hex(to)?).contains(&address) || !words.next()?.ends_with('s') {
            return None;
        }
        let offset = hex(words.next()?)? + (address - from);
        let (major, minor) = words.next()?.split_once(':')?;
        let inode = words.next()?.parse().ok()?;
        Some(FutexKey::Shared { device: hex(major)? << 32 | hex(minor)?, inode, offset })
    })
}
