//! A file descriptor of a thread, seen from outside: what it is, and whether a call on it may wait.
//!
//! The tracer has a copy of the descriptor. So it may make the file non-blocking for the time of one call: no other thread
//! runs meanwhile.

use crate::linux::kernel::{made, set_option};
use crate::linux::tracee::Pid;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// `IP_LOCAL_PORT_RANGE` (Linux 6.3, include/uapi/linux/in.h): from which ports the kernel takes one for this socket.
const IP_LOCAL_PORT_RANGE: i32 = 51;

/// `PIDFD_THREAD` (Linux 6.9, include/uapi/linux/pidfd.h): the number is one of a thread.
const PIDFD_THREAD: i32 = libc::O_EXCL;

/// A process or thread, to copy its descriptors.
#[derive(Debug)]
pub(crate) struct PidFd(OwnedFd);

/// A copy of a descriptor.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: OwnedFd,
    pub(crate) kind: Kind,
    /// The inode of a socket.
    pub(crate) socket: Option<u64>,
    /// True if its owner has made it non-blocking.
    pub(crate) is_nonblocking: bool,
}

/// The kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file of a disk: reading and writing does not wait.
    Disk,
    /// /dev/random or /dev/urandom.
    Random,
    Socket,
    /// A pipe, an event, a terminal or another device.
    Other,
}

impl PidFd {
    /// Of a thread, or of its process where the kernel has none for threads.
    pub(crate) fn open(tid: Pid, process: Pid) -> Option<Self> {
        // SAFETY: the call takes two numbers.
        let open = |pid: Pid, flags: i32| unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) };
        // SAFETY: the calls make a descriptor.
        unsafe { made(open(tid, PIDFD_THREAD)).or_else(|_| made(open(process, 0))) }.ok().map(Self)
    }

    /// A copy of a descriptor. `None` if there is none of this number.
    pub(crate) fn copy(&self, fd: i32) -> Option<Descriptor> {
        // SAFETY: the call takes three numbers, and makes a descriptor.
        let fd = unsafe { made(libc::syscall(libc::SYS_pidfd_getfd, self.0.as_raw_fd(), fd, 0)) }.ok()?;
        let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: `stat` is a valid place for the result.
        if unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) } < 0 {
            return None;
        }
        // SAFETY: fstat has written it.
        let stat = unsafe { stat.assume_init() };
        let kind = match stat.st_mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::Disk,
            libc::S_IFSOCK => Kind::Socket,
            libc::S_IFCHR if [libc::makedev(1, 8), libc::makedev(1, 9)].contains(&stat.st_rdev) => Kind::Random,
            _ => Kind::Other,
        };
        // SAFETY: the call takes two numbers.
        let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
        let socket = (kind == Kind::Socket).then_some(stat.st_ino);
        Some(Descriptor { fd, kind, socket, is_nonblocking: flags & libc::O_NONBLOCK != 0 })
    }
}

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Descriptor {
    /// Makes the file non-blocking, or what it was.
    pub(crate) fn set_nonblocking(&self, on: bool) {
        // SAFETY: the calls take numbers.
        unsafe {
            let flags = libc::fcntl(self.fd.as_raw_fd(), libc::F_GETFL);
            let flags = if on { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
            libc::fcntl(self.fd.as_raw_fd(), libc::F_SETFL, flags);
        }
    }

    /// An option of a socket that is a number. `None` if it has none.
    fn option<T: Copy + Default>(&self, level: i32, option: i32) -> Option<T> {
        let mut value = T::default();
        let mut length = size_of::<T>() as libc::socklen_t;
        // SAFETY: `value` has the length that `length` says.
        let result =
            unsafe { libc::getsockopt(self.fd.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut length) };
        (result == 0).then_some(value)
    }

    /// The longest wait of a call that receives, or of one that sends (`SO_RCVTIMEO`, `SO_SNDTIMEO`), in nanoseconds.
    pub(crate) fn patience(&self, receives: bool) -> Option<u64> {
        if self.kind != Kind::Socket {
            return None;
        }
        let option = if receives { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
        let [seconds, micros] = self.option::<[i64; 2]>(libc::SOL_SOCKET, option)?;
        let nanos = (seconds.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(micros.max(0) as u64 * 1000);
        (nanos > 0).then_some(nanos)
    }

    /// The room of a socket for octets that are to be sent.
    pub(crate) fn room(&self) -> u32 {
        self.option::<u32>(libc::SOL_SOCKET, libc::SO_SNDBUF).unwrap_or(0)
    }

    /// Takes the error of a socket: 0 if it has none.
    pub(crate) fn take_error(&self) -> i32 {
        self.option::<i32>(libc::SOL_SOCKET, libc::SO_ERROR).unwrap_or(0)
    }

    /// Lets another socket wait as long as this one.
    pub(crate) fn copy_patience(&self, other: &Self) {
        for option in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
            if let Some(value) = self.option::<[i64; 2]>(libc::SOL_SOCKET, option) {
                let _ = set_option(other, libc::SOL_SOCKET, option, &value); // the kernel has given this value, so it takes it
            }
        }
    }

    /// True if it is a socket of the Internet's protocols.
    pub(crate) fn is_internet(&self) -> bool {
        let domain = self.option::<i32>(libc::SOL_SOCKET, libc::SO_DOMAIN);
        self.kind == Kind::Socket && matches!(domain, Some(libc::AF_INET | libc::AF_INET6))
    }

    /// The number of an event file (proc(5), `eventfd-id`), which all copies of its descriptor have.
    pub(crate) fn event_id(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", self.fd.as_raw_fd())).ok()?;
        event_id(&text)
    }

    /// The file, to write to it.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.fd.try_clone().map(File::from)
    }
}

/// Lets the kernel take this port, if the socket is bound to no other.
///
/// # Errors
/// The kernel is older than 6.3, or the socket has no ports.
pub(crate) fn set_port(socket: &impl AsRawFd, port: u16) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, IP_LOCAL_PORT_RANGE, &(u32::from(port) << 16 | u32::from(port)))
}

/// The number of an event file, in what proc(5) says of a descriptor.
pub(crate) fn event_id(fdinfo: &str) -> Option<u64> {
    fdinfo.lines().find_map(|line| line.strip_prefix("eventfd-id:")?.trim().parse().ok())
}
