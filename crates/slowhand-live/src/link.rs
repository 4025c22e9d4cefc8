//! The interfaces of a network namespace, set up by netlink (rtnetlink(7)): state, MTU, addresses, routes.

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, CacheInfo};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, LinkAttribute, LinkFlags, LinkMessage, State,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::net::{IpAddr, Ipv6Addr};

/// A lifetime without an end (RFC 4861 section 4.6.2).
const FOR_EVER: u32 = u32::MAX;

/// All of IPv6.
pub const EVERYWHERE: (Ipv6Addr, u8) = (Ipv6Addr::UNSPECIFIED, 0);

/// The interfaces of the namespace in which the thread was when it made this.
#[derive(Debug)]
pub struct Links(Socket);

/// A change of an interface. A property that is `None` stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// Its MTU, in octets.
    pub mtu: Option<u16>,
    /// The number of packets that may wait until they are taken.
    pub queue: Option<u32>,
    /// Its address of Ethernet.
    pub hardware_address: Option<[u8; 6]>,
    /// True: the kernel makes no address of the link, and joins no groups.
    pub is_silent: bool,
}

/// An address that an interface has for itself, without asking whether others have it (RFC 4862 section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub address: Ipv6Addr,
    /// True if no connection begins at it, unless its program says so (RFC 4862 section 5.5.4: deprecated).
    pub is_deprecated: bool,
}

/// A route without a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads: a prefix, and its bits.
    pub destination: (Ipv6Addr, u8),
    /// The address with which packets go there, if their program names none.
    pub source: Option<Ipv6Addr>,
}

/// Sets up a new interface, and the interface of the host itself. Nothing leaves but what a program sends: no address of the link and
/// no groups. Hence also the order.
///
/// # Errors
/// The kernel refused something.
pub fn set_up(name: &str, change: &Change, addresses: &[Address], route: Route) -> io::Result<()> {
    let links = Links::open()?;
    links.raise(links.index("lo")?)?;
    let index = links.index(name)?;
    links.change(index, change)?;
    links.raise(index)?;
    addresses.iter().try_for_each(|address| links.add_address(index, *address))?;
    links.add_route(index, route)
}

impl Links {
    /// Opens the namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel gave no socket.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?; // the kernel
        Ok(Self(socket))
    }

    /// The number of an interface.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn index(&self, name: &str) -> io::Result<u32> {
        self.find(name).map(|link| link.header.index)
    }

    /// True if the kernel has noticed that an interface has a carrier (RFC 2863: its state is no longer "down"): then it sends.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn has_carrier(&self, name: &str) -> io::Result<bool> {
        let link = self.find(name)?;
        Ok(!link.attributes.contains(&LinkAttribute::OperState(State::Down)))
    }

    /// Changes an interface that is down.
    ///
    /// # Errors
    /// The kernel refused it.
    pub fn change(&self, index: u32, change: &Change) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes.extend(change.mtu.map(|mtu| LinkAttribute::Mtu(mtu.into())));
        link.attributes.extend(change.queue.map(LinkAttribute::TxQueueLen));
        link.attributes.extend(change.hardware_address.map(|address| LinkAttribute::Address(address.to_vec())));
        if change.is_silent {
            let silent = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
            link.attributes.push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![silent])]));
            link.header.change_mask = LinkFlags::Multicast;
        }
        self.request(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Brings an interface up.
    ///
    /// # Errors
    /// The kernel refused it.
    pub fn raise(&self, index: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        (link.header.flags, link.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
        self.request(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Gives an interface an address.
    ///
    /// # Errors
    /// The kernel refused it.
    pub fn add_address(&self, index: u32, address: Address) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet6;
        message.header.prefix_len = 128;
        message.header.flags = AddressHeaderFlags::Nodad;
        message.header.index = index;
        message.attributes.push(AddressAttribute::Local(IpAddr::V6(address.address)));
        if address.is_deprecated {
            let mut lifetimes = CacheInfo::default();
            (lifetimes.ifa_preferred, lifetimes.ifa_valid) = (0, FOR_EVER);
            message.attributes.push(AddressAttribute::CacheInfo(lifetimes));
        }
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE)
    }

    /// Lets packets go out at an interface.
    ///
    /// # Errors
    /// The kernel refused it.
    pub fn add_route(&self, index: u32, route: Route) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet6;
        message.header.destination_prefix_length = route.destination.1;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Boot;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet6(route.destination.0)));
        message.attributes.push(RouteAttribute::Oif(index));
        message.attributes.extend(route.source.map(|source| RouteAttribute::PrefSource(RouteAddress::Inet6(source))));
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE)
    }

    fn find(&self, name: &str) -> io::Result<LinkMessage> {
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::IfName(name.to_owned()));
        self.send(RouteNetlinkMessage::GetLink(link), 0)?;
        match self.receive()? {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => Ok(link),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("netlink answers {other:?}"))),
        }
    }

    /// Sends a request, and waits for its answer.
    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_ACK | flags)?;
        match self.receive()? {
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()), // 0: it is done
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("netlink answers {other:?}"))),
        }
    }

    fn send(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | flags;
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        self.0.send(&octets, 0).map(drop)
    }

    fn receive(&self) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
        let (octets, _) = self.0.recv_from_full()?;
        NetlinkMessage::deserialize(&octets).map(|message| message.payload).map_err(io::Error::other)
    }
}
