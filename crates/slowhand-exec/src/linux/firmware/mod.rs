//! Firmware that is built for Linux: it opens a TUN or TAP interface of its own, and takes its other side for its network.
//!
//! The interface stays the kernel's. Instead of the kernel's IPv6 a packet socket (packet(7)) is at its other side, and behind that a
//! router ([`neighbour`]) with the network of the scenario.

mod neighbour;

use crate::linux::kernel::{checked, made, set_option};
use neighbour::{Heard, INTERFACE, Neighbour};
use slowhand_live::link::{Change, Links};
use slowhand_live::tun::LARGEST_PACKET;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv6Addr;
use std::os::fd::AsRawFd;

/// `ETH_P_ALL` (Linux, include/uapi/linux/if_ether.h), as packet(7) takes it.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();

/// The other side of an interface of firmware.
#[derive(Debug)]
pub(crate) struct Link {
    socket: File,
    neighbour: Neighbour,
    buffer: Vec<u8>,
}

impl Link {
    /// Takes the other side of an interface that has just been made. The thread is in the namespace of its host.
    ///
    /// # Errors
    /// The error of the kernel.
    pub(crate) fn open(name: &str, has_frames: bool, node: Ipv6Addr) -> io::Result<Self> {
        // The kernel's own IPv6 says nothing there.
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1")?;
        let links = Links::open()?;
        let index = links.index(name)?;
        links.change(index, &Change { hardware_address: has_frames.then_some(INTERFACE), ..Change::default() })?;
        links.raise(index)?;
        let flags = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes numbers, and makes a descriptor.
        let socket: File = unsafe { made(libc::socket(libc::AF_PACKET, flags, 0).into())? }.into();
        // Frames go to the interface at once, and not through queues that the kernel activates when it has time.
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
        bind(&socket, index)?;
        Ok(Self { socket, neighbour: Neighbour::new(has_frames, node), buffer: vec![0; LARGEST_PACKET] })
    }

    /// The next packet that the firmware has sent to the network. What it asks of its router is answered: `has_answered` says so.
    pub(crate) fn read(&mut self, has_answered: &mut bool) -> Option<Vec<u8>> {
        while let Ok(length) = self.socket.read(&mut self.buffer) {
            match self.neighbour.hear(&self.buffer[..length]) {
                Heard::Packet(packet) => return Some(packet),
                Heard::Answer(frame) => *has_answered |= self.socket.write(&frame).is_ok(),
                Heard::Nothing => {}
            }
        }
        None
    }

    /// Hands a packet to the firmware. Returns false if it does not take it.
    pub(crate) fn write(&mut self, packet: &[u8]) -> bool {
        self.neighbour.frame(packet.to_vec()).is_some_and(|frame| self.socket.write(&frame).is_ok())
    }
}

/// Binds a packet socket to an interface: it gets all of its frames.
fn bind(socket: &File, index: u32) -> io::Result<()> {
    // SAFETY: all octets of a `struct sockaddr_ll` may be 0.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ALL_PROTOCOLS;
    address.sll_ifindex = index as i32;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` has the length that `length` says.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }.into())
}
