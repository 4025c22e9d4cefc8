//! Results of the calls of a program on a socket of TCP.

use super::address::{self, destination, is_local};
use super::connections::{Opener, number_of};
use super::ends::{self, Doorway, End};
use super::{Socket, State, Streams};
use crate::linux::descriptor::Descriptor;
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The result of a call on a socket.
pub(crate) enum Outcome {
    /// It is done.
    Done,
    /// It waits.
    Waits,
}

impl Streams {
    pub(crate) fn bind_call(&mut self, inode: u64, descriptor: &Descriptor, address: &[u8]) -> Result<(), i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let address = socket.family.read(address)?;
        let host = self.site.address;
        if socket.local.is_some() || socket.state != State::Fresh {
            return Err(libc::EINVAL);
        }
        if !is_local(address.ip(), host) {
            return Err(libc::EADDRNOTAVAIL);
        }
        self.bind(inode, address)?;
        self.give_name(inode, descriptor)
    }

    pub(crate) fn listen_call(&mut self, inode: u64, descriptor: &Descriptor, backlog: i32) -> Result<(), i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let (family, is_bound) = (socket.family, socket.local.is_some());
        if !matches!(socket.state, State::Fresh | State::Listening { .. }) {
            return Err(libc::EINVAL);
        }
        if !is_bound {
            self.bind(inode, SocketAddr::new(family.any(), 0))?;
            self.give_name(inode, descriptor)?;
        }
        if !self.may_listen(inode) {
            return Err(libc::EADDRINUSE);
        }
        ends::listen(descriptor, backlog).map_err(code)?;
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
    pub(crate) fn own_address(&self, inode: u64) -> Result<Vec<u8>, i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        let none = SocketAddr::new(socket.family.any(), 0);
        Ok(socket.family.write(socket.local.unwrap_or(none)))
    }

    pub(crate) fn peer_address(&self, inode: u64) -> Result<Vec<u8>, i32> {
        let socket = self.sockets.get(&inode).ok_or(libc::EBADF)?;
        match socket.state {
            State::Open { peer, .. } => Ok(socket.family.write(peer)),
            _ => Err(libc::ENOTCONN),
        }
    }

    pub(crate) fn connect_call(
        &mut self,
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
                return if was_told { Err(libc::EISCONN) } else { Ok(Outcome::Done) };
            }
            State::Failed => return Err(socket.error.take().unwrap_or(libc::ECONNABORTED)),
            State::Opening(number) => {
                let number = *number;
                return match self.try_open(inode, descriptor, number)? {
                    Outcome::Waits if !is_blocking => Err(libc::EALREADY),
                    outcome => Ok(outcome),
                };
            }
            State::Fresh => {}
        }
        let peer = destination(socket.family.read(address)?);
        let host = self.site.address;
        if is_local(peer.ip(), host) {
            return self.connect_here(inode, descriptor, peer);
        }
        let IpAddr::V6(ip) = peer.ip() else { return Err(libc::ENETUNREACH) };
        let number = self.open(inode, Endpoint::new(ip, peer.port()), !is_blocking, now)?;
        if is_blocking {
            return Ok(Outcome::Waits);
        }
        self.fill(descriptor, number)?;
        Err(libc::EINPROGRESS)
    }

    /// Connects to a program of the same host: the kernel does.
    fn connect_here(&mut self, inode: u64, descriptor: &Descriptor, peer: SocketAddr) -> Result<Outcome, i32> {
        let listener = self.listener(peer).ok_or(libc::ECONNREFUSED)?;
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
            return Ok(Outcome::Done);
        }
        ends::wake(descriptor).map_err(code)?; // socket(7): a change of its room does that
        Err(libc::EINPROGRESS)
    }

    /// Looks whether a connection is open that a call waits for.
    fn try_open(&mut self, inode: u64, descriptor: &Descriptor, number: u64) -> Result<Outcome, i32> {
        let connected = self.connections.get(&number).ok_or(libc::ECONNABORTED)?;
        if matches!(connected.opener, Opener::Program { fills: true, .. }) {
            return Ok(Outcome::Waits); // it is no more `Opening` when it is open
        }
        let (error, peer) = (connected.connection.error(), connected.connection.remote());
        let is_open = connected.is_open();
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        if let Some(error) = error {
            socket.state = State::Fresh; // it may try again
            self.drop_connection(number);
            return Err(number_of(error));
        }
        let Some(peer) = peer.filter(|_| is_open) else { return Ok(Outcome::Waits) };
        let peer = address::of(peer);
        socket.state = State::Open { peer, connection: Some(number), is_told: true };
        socket.needs_room = true;
        self.attach(descriptor, number)?;
        if let Some(connected) = self.connections.get_mut(&number) {
            connected.is_opening = false;
        }
        self.site.has_changed = true; // what has come with the last segment is moved
        Ok(Outcome::Done)
    }

    /// The call for a connection returns before it is open: the socket is to be not writable.
    pub(crate) fn waits_no_more(&mut self, inode: u64, descriptor: &Descriptor) {
        let Some(State::Opening(number)) = self.sockets.get(&inode).map(|socket| socket.state) else { return };
        let Some(connected) = self.connections.get_mut(&number) else { return };
        if let Opener::Program { fills, .. } = &mut connected.opener
            && !std::mem::replace(fills, true)
        {
            let _ = self.fill(descriptor, number);
        }
    }

    /// True if a socket has lost its port: its connection has failed, and its program has not asked for the port.
    pub(crate) fn lacks_port(&self, inode: u64) -> bool {
        let lacks = |socket: &Socket| socket.state == State::Fresh && socket.local.is_some() && !socket.is_named;
        self.sockets.get(&inode).is_some_and(lacks)
    }

    pub(crate) fn set_port(&mut self, inode: u64, port: u16) {
        if let Some(socket) = self.sockets.get_mut(&inode) {
            (socket.spare_port, socket.local) = (port, None);
        }
    }

    pub(crate) fn abandon(&mut self, inode: u64, now: Instant) {
        let Some(State::Opening(number)) = self.sockets.get(&inode).map(|socket| socket.state) else { return };
        if let Some(connected) = self.connections.get_mut(&number) {
            connected.abandon();
            self.advance(number, now);
        }
    }

    fn fill(&mut self, descriptor: &Descriptor, number: u64) -> Result<(), i32> {
        self.attach(descriptor, number)?;
        End::fill(descriptor).map_err(code)
    }

    /// The tracer becomes the other end of a program's socket.
    fn attach(&mut self, descriptor: &Descriptor, number: u64) -> Result<(), i32> {
        if self.site.doorway.is_none() {
            let name = self.number();
            let doorway = self.site.namespace.enter().and_then(|()| Doorway::new(name));
            self.site.doorway = Some(doorway.map_err(code)?);
        }
        let connected = self.connections.get_mut(&number).ok_or(libc::ECONNABORTED)?;
        let doorway = self.site.doorway.as_ref().ok_or(libc::ECONNABORTED)?;
        connected.end = Some(doorway.connect(descriptor, connected.room).map_err(code)?);
        Ok(())
    }

    /// The error of a call that reads or writes, if it is not to be made.
    pub(crate) fn may_transfer(
        &mut self,
        inode: u64,
        descriptor: &Descriptor,
        is_out: bool,
        flags: u64,
    ) -> Result<(), i32> {
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
            let _ = ends::set_room(descriptor, room); // else it has what the kernel gives
        }
        Ok(())
    }

    pub(crate) fn take_error(&mut self, inode: u64) -> Option<i32> {
        self.sockets.get_mut(&inode)?.error.take()
    }

    /// A program has read or written.
    pub(crate) fn transferred(&mut self, inode: u64, now: Instant) {
        let state = self.sockets.get(&inode).map(|socket| socket.state);
        if let Some(State::Open { connection: Some(number), .. }) = state {
            self.advance(number, now);
        }
    }

    /// A program has accepted a connection. Returns the address of its peer, as the program reads it.
    pub(crate) fn accept(&mut self, listener: u64, descriptor: &Descriptor) -> Option<Vec<u8>> {
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

/// The number of an error of the kernel.
fn code(error: io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
