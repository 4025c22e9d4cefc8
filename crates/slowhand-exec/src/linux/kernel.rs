//! The kernel's IPv6 of one host: a network namespace with a TUN interface in it.
//!
//! Addresses and queues become active in work queues of the kernel, after the calls that set them up have returned. So an ICMPv6
//! echo goes through the interface before any program starts.

use crate::error::ExecError;
use crate::linux::tracee::Plain;
use slowhand_live::link::{self, Address, Change, Route};
use slowhand_live::tun::{Device, LARGEST_PACKET, Side};
use slowhand_net::address::Host;
use slowhand_net::ip::{Ipv6Header, checksum, next_header};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::Ipv6Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name of the interface.
const NAME: &str = "slowhand0";

/// The time that the kernel may take until the interface carries packets. *Assumed*: it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of packets that a program may send before all wait. *Assumed*: more than any does; 8 octets of memory each.
const QUEUE: u32 = 10_000;

/// One host: its kernel's side of the network.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) host: Host,
    tun: Device,
    pub(crate) namespace: Namespace,
    buffer: Vec<u8>,
}

/// Features that the kernel must not use, or not at times of its own: flow labels by chance, limits by the wall clock, messages that no
/// program sends. Linux, Documentation/networking/ip-sysctl.rst.
const SETTINGS: &[(&str, &str)] = &[
    ("auto_flowlabels", "0"),
    ("flowlabel_state_ranges", "0"),
    ("icmp/ratelimit", "0"),
    ("conf/slowhand0/accept_ra", "0"),
    ("conf/slowhand0/router_solicitations", "0"),
    ("conf/slowhand0/accept_dad", "0"),
    ("conf/slowhand0/dad_transmits", "0"),
];

/// A network namespace.
#[derive(Clone, Debug)]
pub(crate) struct Namespace(Arc<File>);

impl Namespace {
    /// That of this thread, to come back to it.
    pub(crate) fn here() -> io::Result<Self> {
        File::open("/proc/thread-self/ns/net").map(|file| Self(Arc::new(file)))
    }

    /// This thread is in it from now on.
    pub(crate) fn enter(&self) -> io::Result<()> {
        // SAFETY: the call takes a descriptor and a number.
        checked(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) }.into())
    }
}

impl Kernel {
    /// Makes the kernel of a host. Afterwards the thread is in its namespace.
    pub(crate) fn new(host: Host) -> Result<Self, ExecError> {
        // SAFETY: the call takes a number.
        checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }.into()).map_err(failed("make a network namespace"))?;
        let namespace = Namespace::here().map_err(failed("open the network namespace"))?;
        let tun = Device::attach(NAME).map_err(failed("open /dev/net/tun"))?;
        // The interface goes with its namespace, which the kernel removes when it has time. Else closing it takes 35 ms (measured, Linux 6.18).
        // SAFETY: the request takes a number.
        checked(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETPERSIST, 1) }.into())
            .map_err(failed("keep an interface"))?;
        for (name, value) in SETTINGS {
            // A feature that a kernel does not have needs no setting.
            match OpenOptions::new().write(true).open(format!("/proc/sys/net/ipv6/{name}")) {
                Ok(mut file) => {
                    file.write_all(value.as_bytes()).map_err(failed("change the settings of IPv6 in a namespace"))?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed("change the settings of IPv6 in a namespace")(error)),
            }
        }
        let kernel = Self { host, tun, namespace, buffer: vec![0; LARGEST_PACKET] };
        kernel.set_up().map_err(failed("give an address to an interface"))?;
        Ok(kernel)
    }

    fn set_up(&self) -> io::Result<()> {
        let change =
            Change { mtu: Some(Side::of(self.host).mtu()), queue: Some(QUEUE), is_silent: true, ..Change::default() };
        let address = Address { address: self.host.address(), is_deprecated: false };
        link::set_up(NAME, &change, &[address], Route { destination: link::EVERYWHERE, source: None })
    }

    /// Hands a packet to the kernel. Returns false if it does not take it.
    pub(crate) fn write(&mut self, packet: &[u8]) -> bool {
        self.tun.write(packet).is_ok()
    }

    /// The next packet that the kernel has sent.
    pub(crate) fn read(&mut self) -> Option<&[u8]> {
        let length = self.tun.read(&mut self.buffer).ok()??;
        Some(&self.buffer[..length])
    }

    /// The number of packets that the kernel has dropped after programs had sent them: more than its queue has room for. Afterwards the
    /// thread is in the namespace of this host.
    pub(crate) fn dropped(&self) -> u64 {
        let text = self.namespace.enter().and_then(|()| std::fs::read_to_string("/proc/thread-self/net/dev"));
        text.ok().as_deref().and_then(dropped).unwrap_or(0)
    }

    /// Waits until packets pass the interface in both directions.
    pub(crate) fn wait_until_ready(&mut self) -> Result<(), ExecError> {
        let request = echo_request(self.host.address());
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            self.write(&request);
            std::thread::sleep(Duration::from_micros(200));
            while let Some(packet) = self.read() {
                if packet.len() == request.len() && packet[Ipv6Header::LENGTH] == ECHO_REPLY {
                    while self.read().is_some() {}
                    return Ok(());
                }
            }
        }
        let error = io::Error::new(io::ErrorKind::TimedOut, "no packet passes it");
        Err(ExecError::Kernel { what: "use the interface of a namespace", error })
    }
}

/// Types of RFC 4443 section 4.
const ECHO_REQUEST: u8 = 128;
const ECHO_REPLY: u8 = 129;

/// An ICMPv6 echo request without data, from an address that is nobody's.
fn echo_request(destination: Ipv6Addr) -> Vec<u8> {
    let mut message = [ECHO_REQUEST, 0, 0, 0, 0, 0, 0, 0];
    let source = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0xffff, 1);
    let header = Ipv6Header::new(source, destination, next_header::ICMPV6, message.len() as u16);
    let sum = checksum::transport(header.source, destination, header.next_header, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    [&header.emit()[..], &message].concat()
}

/// The packets that were dropped on their way out (proc_pid_net(5): after the name stand 8 numbers of those that came, and errors
/// and drops are the third and fourth of each half).
fn dropped(devices: &str) -> Option<u64> {
    let numbers = devices.lines().find_map(|line| line.trim().strip_prefix(NAME)?.strip_prefix(':'))?;
    numbers.split_whitespace().nth(8 + 3)?.parse().ok()
}

/// The error of an operation, `what`, that the kernel has refused.
pub(crate) fn failed(what: &'static str) -> impl Fn(io::Error) -> ExecError {
    move |error| ExecError::Kernel { what, error }
}

/// The error of a call, if it is one.
pub(crate) fn checked(result: i64) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The result of a call that makes a descriptor.
///
/// # Safety
/// `result` is that of such a call, and nobody else has the descriptor.
pub(crate) unsafe fn made(result: i64) -> io::Result<OwnedFd> {
    checked(result)?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(result as RawFd) })
}

/// Sets an option of a socket.
pub(crate) fn set_option<T: Plain>(socket: &impl AsRawFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` has the length that `length` says.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const *value).cast(), length) };
    checked(result.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_were_dropped_are_counted() {
        let devices = "face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nslowhand0: 1 2 3 4 5 6 7 8 9 10 11 402 13 14 15 16\n";
        assert_eq!(dropped(devices), Some(402));
        assert_eq!(dropped("lo: 1 2 3"), None);
    }

    #[test]
    fn the_echo_is_a_packet() {
        let packet = echo_request(Ipv6Addr::LOCALHOST);
        let (header, payload) = Ipv6Header::parse_packet(&packet).unwrap();
        assert_eq!((header.destination, payload.len()), (Ipv6Addr::LOCALHOST, 8));
        assert_eq!(checksum::transport(header.source, header.destination, header.next_header, payload), 0); // RFC 1071
    }
}
