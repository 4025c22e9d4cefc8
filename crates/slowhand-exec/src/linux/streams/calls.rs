//! The calls of programs on sockets of TCP.

use super::address::{self, Family, destination, is_local};
use super::connections::{Opener, number_of};
use super::ends::{self, Doorway, End};
use super::options::Answer;
use super::{Socket, State, Streams};
use crate::linux::descriptor::Descriptor;
use crate::linux::kernel::Kernel;
use crate::linux::threads::{Call, Direction, Resumed, Trial, accepts};
use crate::linux::tracee::{self, Pid, Registers, errno};
use crate::linux::tracer::Tracer;
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

/// The longest address of a socket (`struct sockaddr_storage`).
const LONGEST_ADDRESS: u64 = 128;

/// So much of an option is read. One that is longer than `options::LONGEST` is refused. *Assumed*.
const LONGEST_OPTION: u64 = 1024;

/// The place of the length of an address in `struct msghdr` (recv(2)).
const LENGTH_OF_NAME: u64 = 8;

/// What the type of a socket is, without its flags (socket(2)).
const TYPE: i32 = 0xf;

/// What a call on a socket comes to.
enum Outcome {
    Done(i64),
    /// It waits.
    Waits,
}

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
        let descriptor = self.threads.get_mut(tid)?.descriptor(fd)?;
        let inode = self.streams.inode_of(&descriptor)?;
        Some((descriptor, inode))
    }

    /// bind, listen, getsockname, getpeername, getsockopt and setsockopt.
    pub(crate) fn enter_stream_call(&mut self, tid: Pid, entry: Registers) {
        let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) else { return tracee::resume(tid, 0) };
        let result = match entry.orig_rax as i64 {
            libc::SYS_bind => {
                let address = read_address(tid, entry.rsi, entry.rdx);
                self.streams.bind_call(&self.kernel, inode, &descriptor, &address).map(|()| 0)
            }
            libc::SYS_listen => {
                let backlog = entry.rsi as i32;
                self.streams.listen_call(&self.kernel, inode, &descriptor, backlog).map(|()| 0)
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
        self.answer(tid, entry, result.unwrap_or_else(|error| -i64::from(error)));
    }

    /// connect(2).
    pub(crate) fn enter_connect(&mut self, tid: Pid, entry: Registers, resumed: Option<&Resumed>) {
        let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) else { return tracee::resume(tid, 0) };
        let deadline = match resumed {
            Some(resumed) => resumed.deadline,
            None => descriptor.patience(false).map(|nanos| self.clocks.after(nanos)),
        };
        let address = read_address(tid, entry.rsi, entry.rdx);
        let now = self.instant();
        match self.streams.connect_call(&self.kernel, inode, &descriptor, &address, now) {
            Ok(Outcome::Done(result)) => self.answer(tid, entry, result),
            Err(error) => {
                if self.streams.lacks_port(inode) {
                    let port = self.next_port();
                    self.streams.set_port(inode, port);
                }
                self.answer(tid, entry, -i64::from(error));
            }
            Ok(Outcome::Waits) if deadline.is_some_and(|deadline| deadline <= self.clocks.now) => {
                self.streams.waits_no_more(&self.kernel, inode, &descriptor);
                self.answer(tid, entry, -i64::from(libc::EINPROGRESS)); // socket(7), SO_SNDTIMEO
            }
            Ok(Outcome::Waits) => self.skip(tid, Trial::new(entry, Call::Connect { inode }, deadline)),
        }
    }

    /// A signal has ended the wait for a connection, which goes on.
    pub(crate) fn leave_opening(&mut self, tid: Pid, entry: &Registers) {
        if let Some((descriptor, inode)) = self.stream_at(tid, entry.rdi) {
            self.streams.waits_no_more(&self.kernel, inode, &descriptor);
        }
    }

    /// A thread has ended that waited for a connection: nobody else does.
    pub(crate) fn abandon_opening(&mut self, inode: u64) {
        let now = self.instant();
        self.streams.abandon(&self.kernel, inode, now);
    }

    /// A call that reads or writes begins. `Err`: its result.
    pub(crate) fn begin_transfer(
        &mut self,
        tid: Pid,
        inode: u64,
        descriptor: &Descriptor,
        registers: &mut Registers,
        flags: u64,
    ) -> Result<(), i64> {
        let number = registers.orig_rax as i64;
        let accepts = accepts(number);
        if accepts {
            (registers.rsi, registers.rdx) = (0, 0); // the address is written when it is known
            return Ok(());
        }
        let is_out = Direction::of(number) == Direction::Out;
        self.streams.may_transfer(inode, descriptor, is_out, flags).map_err(|error| -i64::from(error))?;
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
            self.streams.transferred(&self.kernel, inode, now);
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
            self.streams.move_octets(&self.kernel, now);
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

impl Streams {
    fn bind_call(&mut self, kernel: &Kernel, inode: u64, descriptor: &Descriptor, address: &[u8]) -> Result<(), i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let address = socket.family.read(address)?;
        let host = self.site.address;
        if socket.local.is_some() || socket.state != State::Fresh {
            return Err(libc::EINVAL);
        }
        if !is_local(address.ip(), host) {
            return Err(libc::EADDRNOTAVAIL);
        }
        self.bind(kernel, inode, address)?;
        self.give_name(inode, descriptor)
    }

    fn listen_call(&mut self, kernel: &Kernel, inode: u64, descriptor: &Descriptor, backlog: i32) -> Result<(), i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let (family, is_bound) = (socket.family, socket.local.is_some());
        if !matches!(socket.state, State::Fresh | State::Listening { .. }) {
            return Err(libc::EINVAL);
        }
        if !is_bound {
            self.bind(kernel, inode, SocketAddr::new(family.any(), 0))?;
            self.give_name(inode, descriptor)?;
        }
        if !self.may_listen(kernel, inode) {
            return Err(libc::EADDRINUSE);
        }
        ends::listen(descriptor.as_raw_fd(), backlog).map_err(code)?;
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        let pending = if let State::Listening { pending, .. } = socket.state { pending } else { 0 };
        socket.state = State::Listening { backlog: backlog.clamp(0, libc::SOMAXCONN) as u32, pending };
        Ok(())
    }

    fn give_name(&mut self, inode: u64, descriptor: &Descriptor) -> Result<(), i32> {
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        if !std::mem::replace(&mut socket.is_named, true) {
            ends::name(descriptor, socket.number).map_err(code)?;
        }
        Ok(())
    }

    /// The address of a socket, as its program reads it.
    fn own_address(&self, inode: u64) -> Result<Vec<u8>, i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let none = SocketAddr::new(socket.family.any(), 0);
        Ok(socket.family.write(socket.local.unwrap_or(none)))
    }

    fn peer_address(&self, inode: u64) -> Result<Vec<u8>, i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        match socket.state {
            State::Open { peer, .. } => Ok(socket.family.write(peer)),
            _ => Err(libc::ENOTCONN),
        }
    }

    fn connect_call(
        &mut self,
        kernel: &Kernel,
        inode: u64,
        descriptor: &Descriptor,
        address: &[u8],
        now: Instant,
    ) -> Result<Outcome, i32> {
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        let is_blocking = !descriptor.is_nonblocking;
        match &mut socket.state {
            State::Listening { .. } => return Err(libc::EISCONN),
            State::Open { is_told, .. } => {
                let was_told = std::mem::replace(is_told, true);
                return if was_told { Err(libc::EISCONN) } else { Ok(Outcome::Done(0)) };
            }
            State::Failed => return Err(socket.error.take().unwrap_or(libc::ECONNABORTED)),
            State::Opening(number) => {
                let number = *number;
                return match self.try_open(kernel, inode, descriptor, number)? {
                    Outcome::Waits if !is_blocking => Err(libc::EALREADY),
                    outcome => Ok(outcome),
                };
            }
            State::Fresh => {}
        }
        let peer = destination(socket.family.read(address)?);
        let host = self.site.address;
        if is_local(peer.ip(), host) {
            return self.connect_here(kernel, inode, descriptor, peer);
        }
        let IpAddr::V6(ip) = peer.ip() else { return Err(libc::ENETUNREACH) };
        let number = self.open(inode, Endpoint::new(ip, peer.port()), !is_blocking, now)?;
        if is_blocking {
            return Ok(Outcome::Waits);
        }
        self.fill(kernel, descriptor, number)?;
        Err(libc::EINPROGRESS)
    }

    /// Connects to a program of the same host: the kernel does.
    fn connect_here(
        &mut self,
        kernel: &Kernel,
        inode: u64,
        descriptor: &Descriptor,
        peer: SocketAddr,
    ) -> Result<Outcome, i32> {
        let listener = self.listener(kernel, peer).ok_or(libc::ECONNREFUSED)?;
        let listener = self.sockets.get(&listener).ok_or(libc::ECONNREFUSED)?.number;
        self.give_name(inode, descriptor)?;
        match ends::connect(descriptor, listener) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !descriptor.is_nonblocking => {
                return Ok(Outcome::Waits);
            }
            result => result.map_err(code)?,
        }
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        let port = socket.local.map_or(socket.spare_port, |local| local.port());
        socket.local = Some(SocketAddr::new(peer.ip(), port));
        socket.state = State::Open { peer, connection: None, is_told: !descriptor.is_nonblocking };
        if !descriptor.is_nonblocking {
            return Ok(Outcome::Done(0));
        }
        ends::wake(descriptor).map_err(code)?; // socket(7): a change of its room does that
        Err(libc::EINPROGRESS)
    }

    /// Looks whether a connection is open that a call waits for.
    fn try_open(&mut self, kernel: &Kernel, inode: u64, descriptor: &Descriptor, number: u64) -> Result<Outcome, i32> {
        let connected = self.connections.get(&number).ok_or(libc::ECONNABORTED)?;
        if matches!(connected.opener, Opener::Program { fills: true, .. }) {
            return Ok(Outcome::Waits); // it is no more `Opening` when it is open
        }
        let (error, peer) = (connected.connection.error(), connected.connection.remote());
        let is_open = connected.is_open();
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        if let Some(error) = error {
            socket.state = State::Fresh; // it may try again
            if let Some(connected) = self.connections.get_mut(&number) {
                connected.told_open();
            }
            self.drop_connection(number);
            return Err(number_of(error));
        }
        let Some(peer) = peer.filter(|_| is_open) else { return Ok(Outcome::Waits) };
        let peer = address::of(peer);
        socket.state = State::Open { peer, connection: Some(number), is_told: true };
        socket.needs_room = true;
        self.attach(kernel, descriptor, number)?;
        if let Some(connected) = self.connections.get_mut(&number) {
            connected.told_open();
        }
        self.site.has_changed = true; // what has come with the last segment is moved
        Ok(Outcome::Done(0))
    }

    /// The call for a connection returns before it is open: the socket is to be not writable.
    fn waits_no_more(&mut self, kernel: &Kernel, inode: u64, descriptor: &Descriptor) {
        let Some(State::Opening(number)) = self.sockets.get(&inode).map(|socket| socket.state) else { return };
        let Some(connected) = self.connections.get_mut(&number) else { return };
        if let Opener::Program { fills, .. } = &mut connected.opener
            && !std::mem::replace(fills, true)
        {
            let _ = self.fill(kernel, descriptor, number);
        }
    }

    /// True if a socket has lost its port: its connection has failed, and its program has not asked for the port.
    fn lacks_port(&self, inode: u64) -> bool {
        let lacks = |socket: &Socket| socket.state == State::Fresh && socket.local.is_some() && !socket.is_named;
        self.sockets.get(&inode).is_some_and(lacks)
    }

    fn set_port(&mut self, inode: u64, port: u16) {
        if let Some(socket) = self.sockets.get_mut(&inode) {
            (socket.spare_port, socket.local) = (port, None);
        }
    }

    fn abandon(&mut self, kernel: &Kernel, inode: u64, now: Instant) {
        let Some(State::Opening(number)) = self.sockets.get(&inode).map(|socket| socket.state) else { return };
        if let Some(connected) = self.connections.get_mut(&number) {
            connected.abandon();
            self.advance(kernel, number, now);
        }
    }

    fn fill(&mut self, kernel: &Kernel, descriptor: &Descriptor, number: u64) -> Result<(), i32> {
        self.attach(kernel, descriptor, number)?;
        End::fill(descriptor).map_err(code)
    }

    /// The tracer becomes the other end of a program's socket.
    fn attach(&mut self, kernel: &Kernel, descriptor: &Descriptor, number: u64) -> Result<(), i32> {
        if self.site.doorway.is_none() {
            let name = self.number();
            let doorway = kernel.enter().and_then(|()| Doorway::new(name)).map_err(code)?;
            self.site.doorway = Some(doorway);
        }
        let connected = self.connections.get_mut(&number).ok_or(libc::ECONNABORTED)?;
        let doorway = self.site.doorway.as_ref().ok_or(libc::ECONNABORTED)?;
        connected.attach(doorway.connect(descriptor, connected.room()).map_err(code)?);
        Ok(())
    }

    /// The error of a call that reads or writes, if it is not to be made.
    fn may_transfer(&mut self, inode: u64, descriptor: &Descriptor, is_out: bool, flags: u64) -> Result<(), i32> {
        let Some(socket) = self.sockets.get_mut(&inode) else { return Ok(()) };
        if flags & libc::MSG_OOB as u64 != 0 {
            return Err(libc::EOPNOTSUPP);
        }
        if is_out && let Some(error) = socket.error.take() {
            return Err(error);
        }
        match socket.state {
            State::Open { .. } => {}
            State::Opening(_) => return Err(libc::EAGAIN),
            State::Failed => {
                return Err(socket.error.take().unwrap_or(if is_out { libc::EPIPE } else { libc::ENOTCONN }));
            }
            _ => return Err(if is_out { libc::EPIPE } else { libc::ENOTCONN }),
        }
        if std::mem::take(&mut socket.needs_room) {
            let room = self.site.tcp.send_buffer;
            let _ = ends::set_room(descriptor.as_raw_fd(), room); // else it has what the kernel gives
        }
        Ok(())
    }

    fn take_error(&mut self, inode: u64) -> Option<i32> {
        self.sockets.get_mut(&inode)?.error.take()
    }

    /// A program has read or written.
    fn transferred(&mut self, kernel: &Kernel, inode: u64, now: Instant) {
        let state = self.sockets.get(&inode).map(|socket| socket.state);
        if let Some(State::Open { connection: Some(number), .. }) = state {
            self.advance(kernel, number, now);
        }
    }

    /// A program has accepted a connection. Returns the address of its peer, as the program reads it.
    fn accept(&mut self, listener: u64, descriptor: &Descriptor) -> Option<Vec<u8>> {
        let inode = descriptor.socket?;
        let number = ends::peer_of(descriptor)?;
        let socket = self.sockets.get_mut(&listener)?;
        let (family, options) = (socket.family, socket.options.clone());
        let (local, peer, connection, error) = if let Some(connected) = self.connections.get_mut(&number) {
            if let State::Listening { pending, .. } = &mut socket.state {
                *pending = pending.saturating_sub(1);
            }
            connected.inode = Some(inode);
            let (own, peer) = (connected.connection.local(), connected.connection.remote()?);
            (address::of(own), address::of(peer), Some(number), connected.untold_error())
        } else {
            let other = self.sockets.get(self.inodes.get(&number)?)?;
            let State::Open { peer, .. } = other.state else { return None };
            (peer, other.local?, None, None)
        };
        let accepted = self.add(inode, family, 0);
        (accepted.local, accepted.error) = (Some(local), error);
        (accepted.options, accepted.is_named) = (options, true);
        (accepted.state, accepted.needs_room) = (State::Open { peer, connection, is_told: true }, connection.is_some());
        self.forget(number);
        Some(family.write(peer))
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

/// The same for any octets. The length is that of what was written, or of all that is there.
fn write_sized(tid: Pid, place: u64, length: u64, octets: &[u8], says_all: bool) -> Result<i64, i32> {
    let room = tracee::read_value::<u32>(tid, length).ok_or(libc::EFAULT)?;
    let written = octets.len().min(room as usize);
    let said = if says_all { octets.len() } else { written };
    let done = tracee::write(tid, place, &octets[..written]) && tracee::write_value(tid, length, &(said as u32));
    if done { Ok(0) } else { Err(libc::EFAULT) }
}

/// The number of an error of the kernel.
fn code(error: io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
