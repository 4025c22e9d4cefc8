//! The kernel's side of a stream: sockets of Unix that a program and the tracer are the ends of (unix(7)).
//!
//! Each has an abstract name with a number, by which the other end of it is known. Names belong to a network namespace, and a socket
//! that is made belongs to the namespace that the thread is in: [`Namespace::enter`](crate::linux::kernel::Namespace::enter) comes first.

use crate::linux::descriptor::Descriptor;
use crate::linux::kernel::{checked, made, set_option};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The beginning of abstract names, behind their zero.
const NAME: &[u8] = b"slowhand stream ";

/// Octets that make a socket full whose room is the smallest: of those a quarter may be taken until it is not
/// writable (`unix_writable`, net/unix/af_unix.c).
const FILLING: [u8; 2000] = [0; 2000];

/// The tracer's end of a program's socket.
#[derive(Debug)]
pub(crate) struct End(UnixStream);

/// The socket to which the tracer connects those of the programs of a host.
#[derive(Debug)]
pub(crate) struct Doorway {
    socket: OwnedFd,
    number: u64,
}

/// Input from a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// So many octets.
    Octets(usize),
    /// Nothing now.
    Nothing,
    /// It sends no more.
    Finished,
    /// It has closed its socket, and has not read all.
    Reset,
}

impl Doorway {
    /// In the namespace that the thread is in.
    pub(crate) fn new(number: u64) -> io::Result<Self> {
        let socket = new_socket()?;
        name(&socket, number)?;
        listen(&socket, 1)?;
        Ok(Self { socket, number })
    }

    /// Connects the socket of a program. Returns its other end.
    pub(crate) fn connect(&self, program: &Descriptor, room: u32) -> io::Result<End> {
        connect(program, self.number)?;
        // SAFETY: the call takes a descriptor and no places for an address, and makes a descriptor.
        let end = unsafe {
            let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            made(libc::accept4(self.socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags).into())?
        };
        set_room(&end, room)?;
        Ok(End(end.into()))
    }
}

impl End {
    /// Connects to a program that listens, in the namespace that the thread is in. `own`: the number of the new socket.
    pub(crate) fn connect_to(listener: u64, own: u64, room: u32) -> io::Result<Self> {
        let socket = new_socket()?;
        name(&socket, own)?;
        connect_to(&socket, listener)?;
        set_room(&socket, room)?;
        Ok(Self(socket.into()))
    }

    /// Makes the socket of the program full: it is not writable until [`empty`](Self::empty).
    pub(crate) fn fill(program: &Descriptor) -> io::Result<()> {
        set_room(program, 0)?;
        // SAFETY: the call reads the octets of a constant.
        let sent = unsafe {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            libc::send(program.as_raw_fd(), FILLING.as_ptr().cast(), FILLING.len(), flags)
        };
        checked(sent as i64)
    }

    /// Takes what makes the socket of the program full.
    pub(crate) fn empty(&mut self) {
        let _ = self.0.read_exact(&mut [0; FILLING.len()]); // all of it is there
    }

    /// Takes what has come from the program.
    pub(crate) fn take(&mut self, octets: &mut [u8]) -> Taken {
        match self.0.read(octets) {
            Ok(0) => Taken::Finished,
            Ok(count) => Taken::Octets(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Taken::Nothing,
            Err(_) => Taken::Reset,
        }
    }

    /// Gives octets to the program. Returns for how many it had room; all of them if it reads no more.
    pub(crate) fn give(&mut self, octets: &[u8]) -> usize {
        match self.0.write(octets) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => octets.len(),
        }
    }

    /// The peer sends no more: the program reads to the end.
    pub(crate) fn finish(&self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }

    /// True if the program has closed its socket, or both directions of it.
    pub(crate) fn is_closed(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: `poll` is one valid entry.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 && poll.revents & libc::POLLHUP != 0 }
    }
}

/// Connects the socket of a program, without waiting.
pub(crate) fn connect(program: &Descriptor, number: u64) -> io::Result<()> {
    if !program.is_nonblocking {
        program.set_nonblocking(true);
    }
    let result = connect_to(program, number);
    if !program.is_nonblocking {
        program.set_nonblocking(false);
    }
    result
}

/// Wakes who waits until the socket of a program is writable: it has become so without the kernel's saying it.
pub(crate) fn wake(program: &Descriptor) -> io::Result<()> {
    set_room(program, program.room())
}

/// Gives a socket room for so many octets. The kernel gives no less than about 4,500 (`SOCK_MIN_SNDBUF`, include/net/sock.h).
pub(crate) fn set_room(socket: &impl AsRawFd, octets: u32) -> io::Result<()> {
    let half = (octets / 2).max(1) as i32; // socket(7): the kernel doubles it, and has its own least value
    set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &half)
}

pub(crate) fn listen(socket: &impl AsRawFd, backlog: i32) -> io::Result<()> {
    // SAFETY: the call takes numbers.
    checked(unsafe { libc::listen(socket.as_raw_fd(), backlog) }.into())
}

/// The number of the socket at the other end.
pub(crate) fn peer_of(socket: &Descriptor) -> Option<u64> {
    // SAFETY: all octets of an address may be 0, and `length` says how many there are.
    let (address, length) = unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        let mut length = size_of_val(&address) as libc::socklen_t;
        checked(libc::getpeername(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length).into()).ok()?;
        (address, length)
    };
    let length = (length as usize).checked_sub(size_of::<libc::sa_family_t>())?;
    let path: Vec<u8> = address.sun_path.iter().take(length).map(|octet| *octet as u8).collect();
    let digits = path.strip_prefix(b"\0")?.strip_prefix(NAME)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// True if a socket has this number as its name, in the namespace that the thread is in.
pub(crate) fn is_there(number: u64) -> bool {
    let taken = new_socket().and_then(|socket| name(&socket, number));
    taken.is_err_and(|error| error.raw_os_error() == Some(libc::EADDRINUSE))
}

fn new_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes numbers, and makes a descriptor.
    unsafe { made(libc::socket(libc::AF_UNIX, kind, 0).into()) }
}

/// Gives a socket its number as a name.
pub(crate) fn name(socket: &impl AsRawFd, number: u64) -> io::Result<()> {
    let (address, length) = address_of(number);
    // SAFETY: `address` has the length that `length` says.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }.into())
}

fn connect_to(socket: &impl AsRawFd, number: u64) -> io::Result<()> {
    let (address, length) = address_of(number);
    // SAFETY: `address` has the length that `length` says.
    checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) }.into())
}

fn address_of(number: u64) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: all octets of an address may be 0.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let digits = number.to_string();
    let name = [b"\0", NAME, digits.as_bytes()].concat();
    for (place, octet) in address.sun_path.iter_mut().zip(&name) {
        *place = *octet as libc::c_char;
    }
    (address, (size_of::<libc::sa_family_t>() + name.len()) as libc::socklen_t)
}
