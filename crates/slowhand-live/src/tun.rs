//! The kernel's IPv6 at one side of the network: a TUN interface, and what is routed to it.
//!
//! The kernel of the *device side* has the addresses of all nodes of the mesh but that of the border router. The kernel
//! of the *Internet side* has the address of the server, and that of the border router: a router is at both sides, and so
//! a device reaches it through the mesh. Everything that an interface is made of vanishes with its [`Tun`].

use crate::link::{self, Address, Change, Links, Route};
use crate::namespace::{Namespace, NamespaceError};
use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use slowhand_net::address::{Host, MESH_PREFIX, NodeId, internet_address, mesh_address};
use slowhand_net::ip::Ipv6Header;
use std::collections::HashSet;
use std::io;
use std::net::Ipv6Addr;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};
use tun_tap::{Iface, Mode};

/// The name of an interface in a namespace. Both sides have it: they are in different namespaces.
const NAME: &str = "slowhand0";

/// IFNAMSIZ of Linux (netdevice(7)), without the zero at its end.
const LONGEST_NAME: usize = 15;

/// The largest IPv6 packet without a jumbo payload (RFC 8200 section 3): so much may come from an interface.
pub const LARGEST_PACKET: usize = Ipv6Header::LENGTH + u16::MAX as usize;

/// One side of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The nodes of the mesh.
    Device,
    /// The border router, and every host behind it.
    Internet,
}

/// The kernel of one side, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// A network namespace, by its name or path ([`Namespace::open`]). An interface is made in it.
    Namespace(String),
    /// A TUN interface that exists, with the addresses and routes that its owner gave it. It needs no privileges if it
    /// was made for this user: `ip tuntap add dev NAME mode tun user USER`.
    Existing(String),
}

/// A TUN interface: whole packets without anything before them. Reading does not wait.
#[derive(Debug)]
pub struct Device(Iface);

impl AsRawFd for Device {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Device {
    /// Opens the interface of this name, in the namespace of the calling thread, and makes it if it does not exist.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn attach(name: &str) -> io::Result<Self> {
        let interface = Iface::without_packet_info(name, Mode::Tun)?;
        interface.set_non_blocking()?;
        Ok(Self(interface))
    }

    /// The next packet that the kernel sent, if there is one: its length. `buffer` has room for [`LARGEST_PACKET`].
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.0.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        self.0.send(packet).map(drop)
    }
}

/// A TUN interface of one side: the packets that the kernel of one side sends and receives.
#[derive(Debug)]
pub struct Tun {
    device: Device,
    side: Side,
    /// The interface in words.
    name: String,
    /// Dropped last: the interface goes before its namespace.
    _namespace: Option<Namespace>,
}

/// Why there is no interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// Its namespace.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The namespace has an interface of slowhand already.
    #[error("{0} is there already: the other side, or another slowhand, uses this namespace; each needs its own")]
    Taken(String),
    /// The name cannot be that of an interface.
    #[error(
        "{0:?} is no name of an interface: allowed are 1 to {longest} octets without \"/\" and spaces",
        longest = LONGEST_NAME
    )]
    Name(String),
    /// No interface has this name.
    #[error(
        "there is no interface {0}: make it with sudo ip tuntap add dev {0} mode tun user $USER, \
         then give it addresses, routes and an MTU"
    )]
    Missing(String),
    /// An interface of this name has no IPv6.
    #[error("the interface {0} has no IPv6: sudo ip link set dev {0} mtu 1280 (RFC 8200 section 5: no less)")]
    NoIpv6(String),
    /// The kernel gave no TUN interface.
    #[error("{interface} cannot be opened: {error}; {remedy}")]
    Open {
        /// The interface in words.
        interface: String,
        /// The error of the kernel.
        error: io::Error,
        /// A remedy.
        remedy: &'static str,
    },
    /// Addresses or routes were refused.
    #[error("{interface} cannot be set up: {error}")]
    SetUp {
        /// The interface in words.
        interface: String,
        /// The error of the kernel.
        error: io::Error,
    },
}

/// Why an interface carried no packet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunError {
    /// It was deleted. It does not come back.
    #[error("{0} was deleted")]
    Deleted(String),
    /// Another error. The next packet may be carried.
    #[error("{interface}: {error}")]
    Io {
        /// The interface in words.
        interface: String,
        /// The error of the kernel.
        error: io::Error,
    },
}

impl Side {
    /// The side of a host.
    pub fn of(host: Host) -> Self {
        match host {
            Host::Node(NodeId::ROOT) | Host::Internet => Self::Internet,
            Host::Node(_) => Self::Device,
        }
    }

    /// The MTU of its interface.
    pub fn mtu(self) -> u16 {
        match self {
            Self::Device => 1280,   // RFC 4944 section 4: that of IPv6 over IEEE 802.15.4
            Self::Internet => 1500, // Assumed: that of Ethernet. So the border router has to say Packet Too Big.
        }
    }

    /// True if the source address of a packet is that of a host at this side: only such packets may come from its
    /// interface.
    pub fn is_source_of(self, packet: &[u8]) -> bool {
        let source = Ipv6Header::parse(packet).ok().and_then(|header| Host::of_address(header.source));
        source.map(Self::of) == Some(self)
    }

    /// The addresses of its kernel, in a network of `nodes` nodes. Packets go out with the first one if the sender binds its
    /// socket to no other. That of the border router is deprecated, so that no other connection begins at it.
    fn addresses(self, nodes: usize) -> Vec<Address> {
        let usual = |address| Address { address, is_deprecated: false };
        match self {
            Self::Device => {
                (1..u16::try_from(nodes).unwrap_or(u16::MAX)).map(|node| usual(mesh_address(NodeId(node)))).collect()
            }
            Self::Internet => {
                vec![usual(internet_address()), Address { address: mesh_address(NodeId::ROOT), is_deprecated: true }]
            }
        }
    }

    /// Where its interface leads.
    fn route(self, addresses: &[Address]) -> Route {
        let mut mesh = [0; 16];
        mesh[..MESH_PREFIX.len()].copy_from_slice(&MESH_PREFIX);
        let destination = match self {
            Self::Device => link::EVERYWHERE,
            Self::Internet => (Ipv6Addr::from(mesh), 8 * MESH_PREFIX.len() as u8),
        };
        Route { destination, source: addresses.first().map(|first| first.address) }
    }
}

impl Tun {
    /// Opens the interface of one side of a network of `nodes` nodes, the border router included.
    ///
    /// # Errors
    /// See [`InterfaceError`]; then everything that was made is removed.
    pub fn open(side: Side, interface: &Interface, nodes: usize) -> Result<Self, InterfaceError> {
        match interface {
            Interface::Namespace(name) => {
                let namespace = Namespace::open(name)?;
                let words = format!("the interface {NAME} in the network namespace {name}");
                let device = namespace.run(|| make(side, &words, nodes))??;
                Ok(Self { device, side, name: words, _namespace: Some(namespace) })
            }
            Interface::Existing(name) => {
                let words = format!("the interface {name}");
                let device = existing(name, &words)?;
                Ok(Self { device, side, name: words, _namespace: None })
            }
        }
    }

    /// The next packet that the kernel sent, if there is one: its length. `buffer` has room for [`LARGEST_PACKET`].
    ///
    /// # Errors
    /// See [`TunError`].
    pub fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, TunError> {
        self.device.read(buffer).map_err(|error| self.error(error))
    }

    /// Hands a packet to the kernel.
    ///
    /// # Errors
    /// See [`TunError`].
    pub fn write(&self, packet: &[u8]) -> Result<(), TunError> {
        self.device.write(packet).map_err(|error| self.error(error))
    }

    /// Whose kernel it is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The interface in words.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn error(&self, error: io::Error) -> TunError {
        let interface = self.name.clone();
        // EBADFD: the file is no longer attached to an interface.
        if error.raw_os_error() == Some(Errno::BADFD.raw_os_error()) {
            return TunError::Deleted(interface);
        }
        TunError::Io { interface, error }
    }
}

impl AsRawFd for Tun {
    fn as_raw_fd(&self) -> RawFd {
        self.device.as_raw_fd()
    }
}

/// Makes an interface in the namespace of the calling thread, and sets it up.
fn make(side: Side, words: &str, nodes: usize) -> Result<Device, InterfaceError> {
    if interface_exists(NAME) {
        return Err(InterfaceError::Taken(words.to_owned()));
    }
    let interface = attach(NAME, words)?;
    let addresses = side.addresses(nodes);
    let change = Change { mtu: Some(side.mtu()), is_silent: true, ..Change::default() };
    link::set_up(NAME, &change, &addresses, side.route(&addresses))
        .map_err(|error| InterfaceError::SetUp { interface: words.to_owned(), error })?;
    wait_until_ready(&addresses);
    Ok(interface)
}

/// The time that an interface may take until it carries packets. *Assumed*: the kernel takes a second at most, between two
/// signs of the carrier.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits until the new interface carries packets both ways. The kernel says earlier that it is set up, and drops packets
/// until then. In a kernel that takes longer, the first packets are lost, as on any network.
fn wait_until_ready(addresses: &[Address]) {
    let began = Instant::now();
    while !(are_local(addresses) && is_running()) && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// True if the kernel sends at the interface, or does not say.
fn is_running() -> bool {
    Links::open().and_then(|links| links.has_carrier(NAME)).unwrap_or(true)
}

/// True if the kernel has routes to all of these addresses of its own: then it receives.
fn are_local(addresses: &[Address]) -> bool {
    const RTF_LOCAL: u32 = 0x8000_0000; // linux/ipv6_route.h
    // The columns are those of rt6_info_route in net/ipv6/route.c: the destination is the first, the flags the ninth.
    let routes = std::fs::read_to_string("/proc/thread-self/net/ipv6_route").unwrap_or_default();
    let is_local = |flags: &&str| u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & RTF_LOCAL != 0);
    let columns = routes.lines().map(|line| line.split_whitespace());
    let local: HashSet<&str> = columns
        .filter(|columns| columns.clone().nth(8).filter(is_local).is_some())
        .filter_map(|mut columns| columns.next())
        .collect();
    addresses.iter().all(|address| local.contains(&*format!("{:032x}", u128::from(address.address))))
}

/// Opens an interface that is there already, in the namespace of the calling thread.
fn existing(name: &str, words: &str) -> Result<Device, InterfaceError> {
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && !name.contains(|letter: char| letter == '/' || letter == '\0' || letter.is_whitespace())
        && ![".", ".."].contains(&name);
    if !is_name {
        return Err(InterfaceError::Name(name.to_owned()));
    }
    if !interface_exists(name) {
        return Err(InterfaceError::Missing(name.to_owned()));
    }
    if !has_ipv6(name) {
        return Err(InterfaceError::NoIpv6(name.to_owned()));
    }
    attach(name, words)
}

/// True if the namespace of the calling thread has an interface with this name.
fn interface_exists(name: &str) -> bool {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None);
    socket.is_ok_and(|socket| name_to_index(socket, name).is_ok())
}

/// True if it has IPv6 too.
fn has_ipv6(name: &str) -> bool {
    Path::new("/proc/sys/net/ipv6/conf").join(name).exists()
}

/// Opens the interface, and makes it if it does not exist. Reading does not wait.
fn attach(name: &str, words: &str) -> Result<Device, InterfaceError> {
    Device::attach(name).map_err(|error| {
        let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT | Errno::NODEV) => {
                "load the kernel's module with sudo modprobe tun; a container needs --device /dev/net/tun"
            }
            Some(Errno::PERM | Errno::ACCESS) => {
                "start slowhand as root, or let root make an interface for you, with sudo ip tuntap add dev NAME mode tun \
                 user $USER, and name that one"
            }
            Some(Errno::BUSY) => "another program has opened it: stop that, or use another interface",
            Some(Errno::INVAL) => "it is no TUN interface: ip tuntap shows those that are",
            _ => "see ip -details link",
        };
        InterfaceError::Open { interface: words.to_owned(), error, remedy }
    })
}
