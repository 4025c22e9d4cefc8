//! Reading and writing descriptors, whatever they are.

use crate::linux::descriptor::Kind;
use crate::linux::threads::{Call, Direction, Resumed, Trial, accepts};
use crate::linux::tracee::{self, Pid, Registers, errno};
use crate::linux::tracer::Tracer;
use rand_core::Rng;

/// The most random octets that one call gives (random(4): the kernel gives 32 MiB less one).
const MOST_RANDOM: u64 = 1 << 20;

/// The flags of a call of a socket that does not wait; recv(2): the queue of errors is not waited for.
const NEVER_WAITS: u64 = (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) as u64;

/// Octets of `struct mmsghdr`.
const MESSAGE: u64 = 64;

/// Octets of `struct iovec`.
const PIECE: u64 = 16;

impl Tracer<'_> {
    pub(super) fn enter_transfer(&mut self, tid: Pid, entry: Registers, resumed: Option<Resumed>) {
        let number = entry.orig_rax as i64;
        let direction = Direction::of(number);
        let Some(descriptor) = self.descriptor(tid, entry.rdi).filter(|descriptor| descriptor.kind != Kind::Disk)
        else {
            return tracee::resume(tid, 0);
        };
        if descriptor.kind == Kind::Random && direction == Direction::In {
            return self.read_random(tid, entry);
        }
        let has_computed = resumed.as_ref().is_some_and(|resumed| resumed.has_waited);
        if direction == Direction::Out && !has_computed && self.has_to_compute(tid, &descriptor) {
            return self.compute(tid, entry);
        }
        if number == libc::SYS_pread64 {
            return tracee::resume(tid, 0); // pipes and sockets have no places
        }
        let mut registers = entry;
        let stream = self.streams.inode_of(&descriptor);
        if let Some(inode) = stream
            && let Err(error) = self.begin_transfer(tid, inode, &descriptor, &mut registers, flags_of(&entry))
        {
            return self.answer(tid, entry, Err(error));
        }
        if descriptor.is_nonblocking || flags_of(&entry) & NEVER_WAITS != 0 {
            let what = Call::Transfer { descriptor: None, direction, stream };
            return self.attempt(tid, &registers, Trial::new(entry, what, Some(0)));
        }
        let resumed = resumed.filter(|resumed| !resumed.has_waited);
        let patience = descriptor.patience(direction == Direction::In).map(|nanos| self.clocks.after(nanos));
        let (deadline, progress) = resumed.map_or((patience, 0), |resumed| (resumed.deadline, resumed.progress));
        descriptor.set_nonblocking(true);
        match number {
            libc::SYS_recvmmsg => {
                registers.rsi = entry.rsi.wrapping_add(MESSAGE.wrapping_mul(progress));
                registers.rdx = entry.rdx.saturating_sub(progress);
                registers.r8 = 0; // the kernel's clock; looked at below
            }
            libc::SYS_write | libc::SYS_sendto | libc::SYS_recvfrom => {
                registers.rsi = entry.rsi.wrapping_add(progress);
                registers.rdx = entry.rdx.saturating_sub(progress);
            }
            _ => {}
        }
        let what = Call::Transfer { descriptor: Some(descriptor), direction, stream };
        self.attempt(tid, &registers, Trial { progress, ..Trial::new(entry, what, deadline) });
    }

    pub(super) fn leave_transfer(&mut self, tid: Pid, mut trial: Trial, result: i64) {
        let Call::Transfer { descriptor, direction, stream } = &trial.what else { return };
        let (direction, stream, is_blocking) = (*direction, *stream, descriptor.is_some());
        if let Some(descriptor) = descriptor {
            descriptor.set_nonblocking(false);
        }
        let result = stream.map_or(result, |inode| self.end_transfer(tid, inode, &trial.entry, direction, result));
        if self.is_interrupted(tid, &trial, result) {
            return self.keep(tid, trial);
        }
        let has_nothing = errno(result) == Some(libc::EAGAIN);
        if has_nothing && !is_blocking {
            return match self.asks_too_often(tid) {
                true => self.spin_on(tid, trial),
                false => self.finish(tid, &trial.entry, result),
            };
        }
        let is_over = self.clocks.is_over(trial.deadline);
        if has_nothing && !is_over && !(trial.progress > 0 && takes_what_is_there(&trial.entry)) {
            return self.wait(tid, trial);
        }
        if errno(result).is_some() {
            let result = if trial.progress > 0 { trial.progress as i64 } else { result };
            return self.finish(tid, &trial.entry, result);
        }
        self.note_transfer(tid, direction);
        if let Some(inode) = stream.filter(|_| accepts(trial.number())) {
            self.note_accepted(tid, inode, &trial.entry, result);
        }
        trial.progress += result as u64;
        let is_whole = trial.progress >= wanted(&trial.entry) || result == 0;
        if is_blocking && !is_whole && !self.is_late(tid, &trial.entry) {
            self.rewind(tid, trial); // it makes its next part
            return tracee::resume(tid, 0);
        }
        let progress = trial.progress as i64;
        self.finish(tid, &trial.entry, progress);
    }

    fn note_transfer(&mut self, tid: Pid, direction: Direction) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        thread.idle_calls = 0;
        let (program, process) = (thread.program, thread.process);
        if direction == Direction::In
            && self.programs[program].told.compute > 0
            && let Some(process) = self.processes.get_mut(&process)
        {
            process.owes_answer = true;
        }
    }

    /// recvmmsg(2) looks at its duration when a message has come, and only then.
    fn is_late(&mut self, tid: Pid, entry: &Registers) -> bool {
        if entry.orig_rax as i64 != libc::SYS_recvmmsg {
            return false;
        }
        // The duration counts from the entry of the call: the kernel has the same place for what is left of it.
        self.clocks.is_over(self.deadline_in(tid, entry.r8))
    }

    /// A program that computes for its answer does so before it sends to the network.
    fn has_to_compute(&mut self, tid: Pid, descriptor: &crate::linux::descriptor::Descriptor) -> bool {
        let Some(thread) = self.threads.get(tid) else { return false };
        let is_to_network = descriptor.is_internet() || self.streams.inode_of(descriptor).is_some();
        if self.programs[thread.program].told.compute == 0 || !is_to_network {
            return false;
        }
        let process = self.processes.get_mut(&thread.process);
        process.is_some_and(|process| std::mem::take(&mut process.owes_answer))
    }

    fn compute(&mut self, tid: Pid, entry: Registers) {
        let Some(thread) = self.threads.get(tid) else { return };
        let deadline = self.clocks.after(self.programs[thread.program].told.compute);
        self.skip(tid, Trial::new(entry, Call::Compute, Some(deadline)));
    }

    fn read_random(&mut self, tid: Pid, entry: Registers) {
        if entry.orig_rax as i64 != libc::SYS_readv {
            let filled = self.fill(tid, entry.rsi, entry.rdx);
            return self.answer(tid, entry, filled);
        }
        let mut sum = 0;
        for piece in 0..entry.rdx.min(libc::UIO_MAXIOV as u64) {
            let place = entry.rsi.wrapping_add(PIECE * piece);
            let Some([address, length]) = tracee::read_value::<[u64; 2]>(tid, place) else { break };
            let Ok(filled) = self.fill(tid, address, length) else { break };
            sum += filled;
        }
        self.answer(tid, entry, Ok(sum));
    }

    /// Fills memory of a program with random octets that follow from the seed. Returns how many, or an error.
    pub(super) fn fill(&mut self, tid: Pid, address: u64, length: u64) -> Result<i64, i32> {
        let Some(thread) = self.threads.get(tid) else { return Ok(0) };
        let mut octets = vec![0; length.min(MOST_RANDOM) as usize];
        self.programs[thread.program].random.fill_bytes(&mut octets);
        if tracee::write(tid, address, &octets) { Ok(octets.len() as i64) } else { Err(libc::EFAULT) }
    }

    pub(super) fn enter_lock(&mut self, tid: Pid, entry: Registers) {
        if entry.rsi as i32 & libc::LOCK_NB != 0 {
            return tracee::resume(tid, 0);
        }
        let mut registers = entry;
        registers.rsi |= libc::LOCK_NB as u64;
        self.attempt(tid, &registers, Trial::new(entry, Call::Lock, None));
    }

    pub(super) fn leave_lock(&mut self, tid: Pid, trial: Trial, result: i64) {
        if errno(result) == Some(libc::EWOULDBLOCK) {
            return self.wait(tid, trial);
        }
        self.finish(tid, &trial.entry, result);
    }
}

/// The flags of a call of a socket.
fn flags_of(entry: &Registers) -> u64 {
    match entry.orig_rax as i64 {
        libc::SYS_recvfrom | libc::SYS_sendto | libc::SYS_recvmmsg | libc::SYS_sendmmsg => entry.r10,
        libc::SYS_recvmsg | libc::SYS_sendmsg => entry.rdx,
        _ => 0,
    }
}

/// The amount that a call goes on for: octets, or messages. Others return what they got.
fn wanted(entry: &Registers) -> u64 {
    match entry.orig_rax as i64 {
        libc::SYS_write | libc::SYS_sendto | libc::SYS_recvmmsg => entry.rdx,
        // Octets that are only looked at stay, so there is no rest to wait for.
        libc::SYS_recvfrom
            if flags_of(entry) & (libc::MSG_WAITALL | libc::MSG_PEEK) as u64 == libc::MSG_WAITALL as u64 =>
        {
            entry.rdx
        }
        _ => 0,
    }
}

/// True if a call that got something does not wait for more.
fn takes_what_is_there(entry: &Registers) -> bool {
    entry.orig_rax as i64 == libc::SYS_recvmmsg && flags_of(entry) & libc::MSG_WAITFORONE as u64 != 0
}
