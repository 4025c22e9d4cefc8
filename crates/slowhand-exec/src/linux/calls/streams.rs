//! The calls of programs on sockets of TCP: what the tracer does at each.

use crate::linux::descriptor::Descriptor;
use crate::linux::streams::{Answer, Family, Outcome};
use crate::linux::threads::{Call, Direction, Resumed, Trial, accepts};
use crate::linux::tracee::{self, Pid, Registers, errno};
use crate::linux::tracer::Tracer;
use slowhand_net::clock::Instant;

/// The longest address of a socket (`struct sockaddr_storage`).
const LONGEST_ADDRESS: u64 = 128;

/// So much of an option is read. One that is longer than `options::LONGEST` is refused. *Assumed*.
const LONGEST_OPTION: u64 = 1024;

/// The place of the length of an address in `struct msghdr` (recv(2)).
const LENGTH_OF_NAME: u64 = 8;

/// The bits of a socket's type, without its flags (socket(2)).
const TYPE: i32 = 0xf;

impl Tracer<'_> {
    /// The time now, as TCP has it.
    pub(crate) fn instant(&self) -> Instant {
        Instant::from_micros(self.clocks.now / 1000)
    }

    /// socket(2) of the Internet's protocols: the registers with which it is made. `None`: there is no such protocol.
    pub(crate) fn registers_of_stream(&self, entry: &Registers) -> Option<Registers> {
        let mut registers = *entry;
        if entry.rsi as i32 & TYPE == libc::SOCK_STREAM {
            if ![0, libc::IPPROTO_TCP].contains(&(entry.rdx as i32)) {
                return None; // such as MPTCP, whose timers are the kernel's
            }
            (registers.rdi, registers.rdx) = (libc::AF_UNIX as u64, 0);
        }
        Some(registers)
    }

    /// A socket has been made. Returns true if it is one of TCP.
    pub(crate) fn note_stream(&mut self, entry: &Registers, descriptor: &Descriptor, port: u16) -> bool {
        let is_stream = entry.rsi as i32 & TYPE == libc::SOCK_STREAM;
        let (true, Some(inode), Some(family)) = (is_stream, descriptor.socket, Family::of(entry.rdi as i32)) else {
            return false;
        };
        self.streams.add(inode, family, port);
        true
    }

    /// A descriptor of a call that is a socket of TCP, and its inode.
    fn stream_at(&mut self, tid: Pid, fd: u64) -> Option<(Descriptor, u64)> {
        if self.streams.is_empty() {
            return None; // most programs have none, and it costs three calls
        }
        let descriptor = self.descriptor(tid, fd)?;
        let inode = self.streams.inode_of(&descriptor)?;
        Some((descriptor, inode))
    }

    /// bind, listen, getsockname, getpeername, getsockopt and setsockopt.
    pub(crate) fn enter_stream_call(&mut self, tid: Pid, entry: Registers) {
        let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) else { return tracee::resume(tid, 0) };
        let result = match entry.orig_rax as i64 {
            libc::SYS_bind => {
                let address = read_address(tid, entry.rsi, entry.rdx);
                self.streams.bind_call(inode, &descriptor, &address).map(|()| 0)
            }
            libc::SYS_listen => {
                let backlog = entry.rsi as i32;
                self.streams.listen_call(inode, &descriptor, backlog).map(|()| 0)
            }
            libc::SYS_getsockname => {
                self.streams.own_address(inode).and_then(|address| write_address(tid, entry.rsi, entry.rdx, &address))
            }
            libc::SYS_getpeername => {
                self.streams.peer_address(inode).and_then(|address| write_address(tid, entry.rsi, entry.rdx, &address))
            }
            libc::SYS_setsockopt => {
                let mut value = vec![0; u64::from(entry.r8 as u32).min(LONGEST_OPTION) as usize];
                if !tracee::read(tid, entry.r10, &mut value) {
                    Err(libc::EFAULT)
                } else {
                    let now = self.instant();
                    match self.streams.set_option(inode, entry.rsi as i32, entry.rdx as i32, &value, now) {
                        Answer::Kernel => return tracee::resume(tid, 0),
                        Answer::Value(_) => Ok(0),
                        Answer::Error(error) => Err(error),
                    }
                }
            }
            _ => match self.streams.option(inode, &descriptor, entry.rsi as i32, entry.rdx as i32) {
                Answer::Kernel => return tracee::resume(tid, 0),
                Answer::Value(value) => write_sized(tid, entry.r10, entry.r8, &value, false),
                Answer::Error(error) => Err(error),
            },
        };
        self.answer(tid, entry, result);
    }

    /// connect(2).
    pub(crate) fn enter_connect(&mut self, tid: Pid, entry: Registers, resumed: Option<&Resumed>) {
        let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) else { return tracee::resume(tid, 0) };
        let patience = || descriptor.patience(false).map(|nanos| self.clocks.after(nanos));
        let deadline = resumed.map_or_else(patience, |resumed| resumed.deadline);
        let address = read_address(tid, entry.rsi, entry.rdx);
        let now = self.instant();
        match self.streams.connect_call(inode, &descriptor, &address, now) {
            Ok(Outcome::Done) => self.answer(tid, entry, Ok(0)),
            Err(error) => {
                if self.streams.lacks_port(inode) {
                    let port = self.next_port();
                    self.streams.set_port(inode, port);
                }
                self.answer(tid, entry, Err(error));
            }
            Ok(Outcome::Waits) if self.clocks.is_over(deadline) => {
                self.streams.waits_no_more(inode, &descriptor);
                self.answer(tid, entry, Err(libc::EINPROGRESS)); // socket(7), SO_SNDTIMEO
            }
            Ok(Outcome::Waits) => self.skip(tid, Trial::new(entry, Call::Connect { inode }, deadline)),
        }
    }

    /// A signal has ended the wait for a connection, which goes on.
    pub(crate) fn leave_opening(&mut self, tid: Pid, entry: &Registers) {
        if let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) {
            self.streams.waits_no_more(inode, &descriptor);
        }
    }

    /// A call that reads or writes begins. `Err`: it fails.
    pub(crate) fn begin_transfer(
        &mut self,
        tid: Pid,
        inode: u64,
        descriptor: &Descriptor,
        registers: &mut Registers,
        flags: u64,
    ) -> Result<(), i32> {
        let number = registers.orig_rax as i64;
        if accepts(number) {
            (registers.rsi, registers.rdx) = (0, 0); // the address is written when it is known
            return Ok(());
        }
        let is_out = Direction::of(number) == Direction::Out;
        self.streams.may_transfer(inode, descriptor, is_out, flags)?;
        if [libc::SYS_recvfrom, libc::SYS_sendto].contains(&number) {
            if number == libc::SYS_recvfrom && registers.r9 != 0 {
                tracee::write_value(tid, registers.r9, &0_u32); // recv(2): streams have no addresses
            }
            (registers.r8, registers.r9) = (0, 0);
        }
        Ok(())
    }

    /// It has come to its exit: its result.
    pub(crate) fn end_transfer(
        &mut self,
        tid: Pid,
        inode: u64,
        entry: &Registers,
        direction: Direction,
        result: i64,
    ) -> i64 {
        let number = entry.orig_rax as i64;
        if accepts(number) {
            return result;
        }
        let is_over = result == 0 || errno(result) == Some(libc::ECONNRESET);
        if direction == Direction::In
            && is_over
            && let Some(error) = self.streams.take_error(inode)
        {
            return -i64::from(error);
        }
        if number == libc::SYS_recvmsg && result >= 0 {
            tracee::write_value(tid, entry.rsi.wrapping_add(LENGTH_OF_NAME), &0_u32); // streams have no addresses
        }
        if result > 0 {
            let now = self.instant();
            self.streams.transferred(inode, now);
        }
        result
    }

    /// accept(2) has given a socket.
    pub(crate) fn note_accepted(&mut self, tid: Pid, listener: u64, entry: &Registers, socket: i64) {
        let Some(thread) = self.threads.get_mut(tid) else { return };
        let descriptor = thread.descriptor(socket as u64);
        if let (Some(from), Some(to)) = (thread.descriptor(entry.rdi), &descriptor) {
            from.copy_patience(to); // accept(2): Linux passes on the options of the socket that listens
        }
        if let Some(peer) = descriptor.and_then(|descriptor| self.streams.accept(listener, &descriptor))
            && entry.rsi != 0
        {
            let _ = write_address(tid, entry.rsi, entry.rdx, &peer);
        }
    }

    /// Moves the octets of streams if something has happened. Returns true if a program can see something new.
    pub(crate) fn drain_streams(&mut self) -> bool {
        let now = self.instant();
        if !self.streams.is_empty() && self.moved != self.activity {
            self.streams.move_octets(now);
            self.moved = self.activity;
        }
        self.outgoing.append(&mut self.streams.take_outgoing());
        self.take_changes()
    }

    /// Notes that programs can see something new. Returns true if they can.
    pub(crate) fn take_changes(&mut self) -> bool {
        let has_changed = self.streams.take_change();
        self.activity += u64::from(has_changed);
        has_changed
    }
}

fn read_address(tid: Pid, place: u64, length: u64) -> Vec<u8> {
    let mut address = vec![0; u64::from(length as u32).min(LONGEST_ADDRESS) as usize];
    tracee::read(tid, place, &mut address);
    address
}

/// Writes an address, and its length, where a program has said how much room there is.
fn write_address(tid: Pid, place: u64, length: u64, address: &[u8]) -> Result<i64, i32> {
    write_sized(tid, place, length, address, true)
}

/// Writes any octets, as [`write_address`] does. The length is that of what was written, or of all that is there.
fn write_sized(tid: Pid, place: u64, length: u64, octets: &[u8], says_all: bool) -> Result<i64, i32> {
    let room = tracee::read_value::<u32>(tid, length).ok_or(libc::EFAULT)?;
    let written = octets.len().min(room as usize);
    let said = if says_all { octets.len() } else { written };
    let done = tracee::write(tid, place, &octets[..written]) && tracee::write_value(tid, length, &(said as u32));
    if done { Ok(0) } else { Err(libc::EFAULT) }
}
