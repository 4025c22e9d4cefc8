//! The headers of RPL on a packet: which headers, at which node, and what the nodes on the path do with them (RFC 6550
//! section 11.2, RFC 6554 section 4.2, RFC 9008).
//!
//! | from | to | storing | non-storing |
//! | --- | --- | --- | --- |
//! | a node | the root, the Internet | option | option |
//! | a node | another node | option | option in a tunnel to the root; then as from the Internet |
//! | the root | a node | option | source route |
//! | the Internet | a node | option in a tunnel from the root | source route in a tunnel from the root |
//!
//! A tunnel is IPv6-in-IPv6: only the source of a packet may put headers into it (RFC 8200 section 4). Another one is
//! needed if the packet has such a header already. On the way down in non-storing mode there is no option: RFC 9008
//! section 8 leaves it open. A child of the root needs no source route. With [`RplEncoding::RoutingHeaders`] the root
//! uses a tunnel for its own packets too: RFC 8138 has no other form for a source route.
//!
//! The root takes the option out of packets that leave the mesh, as Contiki-NG does. The option says no more than that:
//! no node sees a loop here, so the flags of errors are never set.

use super::Network;
use super::config::{Fragments, NetworkConfig, RplConfig, RplEncoding, RplMode};
use super::destination::{NextHop, destination, host, last_node, next_hop};
use crate::address::{Eui64, Host, NodeId, internet_address, mesh_address};
use crate::drop_reason::DropReason;
use crate::ip::dio;
use crate::ip::rpl::{self, RplHeaders, RplOption, SourceRoute};
use crate::ip::{self, Endpoint, Ipv6Header, UdpDatagram, next_header, udp_datagram};
use crate::lowpan::context::RoutingHeaders;
use crate::lowpan::fragment::{FragmentHeader, UNIT};
use crate::lowpan::recovery::Rfrag;
use crate::lowpan::{Contexts, Link, MAX_COMPRESSED, MAX_PLAIN, compress};
use crate::route::Routes;
use std::net::Ipv6Addr;

/// The instance of the mesh.
const INSTANCE: u8 = 0;

/// The most nodes of a source route: the hop limit of a packet allows no more hops.
const MAX_ROUTE: usize = Ipv6Header::DEFAULT_HOP_LIMIT as usize;

impl RplConfig {
    /// The most octets that are added to a packet in a mesh with these routes.
    pub(super) fn longest_headers(&self, routes: &Routes) -> usize {
        let depth = (0..routes.nodes() as u16).map(|node| routes.depth(NodeId(node))).max().unwrap_or(0);
        self.headers_down(depth).max(Ipv6Header::LENGTH + RplOption::HEADER)
    }

    /// The octets, uncompressed, that the root adds to a packet from the Internet for a node at this depth.
    pub(super) fn headers_down(&self, depth: u16) -> usize {
        match (self.mode, depth) {
            (RplMode::Storing, _) => Ipv6Header::LENGTH + RplOption::HEADER,
            (RplMode::NonStoring, 0 | 1) => 0,
            // Nodes differ in the last two octets of their addresses.
            (RplMode::NonStoring, _) => {
                let addresses = usize::from(depth - 1).min(MAX_ROUTE);
                Ipv6Header::LENGTH + SourceRoute::length_of(addresses, self.address_octets.max(2))
            }
        }
    }
}

/// The least octets of a frame that can carry all packets: a fragment header, compressed headers, and a unit of data. A
/// packet from the Internet for the deepest node has the longest headers.
///
/// # Errors
/// No frame can.
pub fn smallest_frame(config: &NetworkConfig, routes: &Routes) -> Result<usize, DropReason> {
    let contexts = contexts(config.rpl, config.contexts.clone());
    let Some(deepest) = (1..routes.nodes() as u16).map(NodeId).max_by_key(|&node| routes.depth(node)) else {
        return Ok(0);
    };
    let mut packet = vec![0; UdpDatagram::HEADERS];
    let ends = [internet_address(), mesh_address(deepest)].map(|address| Endpoint::new(address, 1));
    udp_datagram(ends[0], ends[1], &[], &mut packet).map_err(|_| DropReason::Malformed)?;
    ip::ipv6::take_hop(&mut packet).map_err(|_| DropReason::Malformed)?;
    if let Some(config) = config.rpl {
        add_headers(config, routes, NodeId::ROOT, &mut packet, &mut Vec::new())?;
    }
    let fragment = match config.fragments {
        Fragments::Recovered { .. } => Rfrag::LENGTH,
        _ => FragmentHeader::FIRST_LENGTH,
    };
    // The frame from the root, and the one from its child, which has the address of the root in it.
    let mut smallest = 0;
    let mut route: Vec<NodeId> = routes.ancestry(deepest).chain([NodeId::ROOT]).collect();
    route.reverse();
    for hop in route.windows(2).take(2) {
        let [source, destination] = [hop[0], hop[1]].map(Eui64::of_node);
        let fits = |octets: &usize| {
            let room = octets.saturating_sub(fragment + UNIT).max(MAX_PLAIN);
            let done = compress(&packet, Link { source, destination }, &contexts, &mut [0; MAX_COMPRESSED][..room]);
            done.is_ok_and(|done| fragment + done.written + UNIT <= *octets)
        };
        let octets = (fragment + UNIT..=MAX_COMPRESSED).find(fits).ok_or(DropReason::ReassemblyTooLong)?;
        smallest = smallest.max(octets);
        receive(routes, hop[1], &mut packet);
        pass(routes, hop[1], &mut packet);
        ip::ipv6::take_hop(&mut packet).map_err(|_| DropReason::Malformed)?;
    }
    Ok(smallest)
}

/// The contexts of a network with this configuration.
pub(super) fn contexts(config: Option<RplConfig>, contexts: Contexts) -> Contexts {
    match config {
        Some(RplConfig { encoding: RplEncoding::RoutingHeaders, address_octets, .. }) => {
            contexts.with_routing_headers(RoutingHeaders { root: mesh_address(NodeId::ROOT), address_octets })
        }
        _ => contexts,
    }
}

impl Network {
    /// Adds the headers of RPL to a packet at its source.
    #[inline]
    pub(super) fn enter_rpl(&mut self, from: Host, packet: &mut Vec<u8>) -> Result<(), DropReason> {
        match (self.config.rpl, from) {
            (Some(config), Host::Node(node)) => add_headers(config, &self.routes, node, packet, &mut self.route),
            _ => Ok(()),
        }
    }

    /// Does with the headers of RPL what a node does that forwards a packet. The root adds them to packets that have
    /// none.
    #[inline]
    pub(super) fn forward_by_rpl(&mut self, node: NodeId, packet: &mut Vec<u8>) -> Result<(), DropReason> {
        let Some(config) = self.config.rpl else { return Ok(()) };
        if node == NodeId::ROOT && RplHeaders::of(packet).is_empty() {
            return add_headers(config, &self.routes, node, packet, &mut self.route);
        }
        pass(&self.routes, node, packet);
        Ok(())
    }
}

/// Adds the headers of RPL to a packet at the node where it enters the mesh. `route` is memory for a source route.
fn add_headers(
    config: RplConfig,
    routes: &Routes,
    node: NodeId,
    packet: &mut Vec<u8>,
    route: &mut Vec<Ipv6Addr>,
) -> Result<(), DropReason> {
    let ip = Ipv6Header::parse(packet).map_err(|_| DropReason::Malformed)?;
    let last = last_node(host(routes, ip.destination));
    if last == node {
        return Ok(());
    }
    // Only the source adds headers, and there is one of each kind.
    let has_own = [next_header::HOP_BY_HOP, next_header::ROUTING].contains(&ip.next_header);
    let may_insert = ip.source == mesh_address(node) && !has_own;
    if config.mode == RplMode::NonStoring && node == NodeId::ROOT {
        route.clear();
        route.extend(routes.ancestry(last).map(mesh_address));
        route.reverse();
        return add_source_route(config, route, may_insert && config.encoding == RplEncoding::ExtensionHeaders, packet);
    }
    // In the non-storing mode all packets go up first.
    let end = if config.mode == RplMode::Storing { last } else { NodeId::ROOT };
    let header = option(routes, node, end).emit(next_header::IPV6);
    let added = if may_insert && end == last {
        rpl::insert(packet, next_header::HOP_BY_HOP, &header)
    } else {
        rpl::encapsulate(packet, mesh_address(node), mesh_address(end), (next_header::HOP_BY_HOP, &header))
    };
    added.map_err(|_| DropReason::ReassemblyTooLong)
}

/// Adds the route from the root to a node: the addresses of the nodes below the root.
fn add_source_route(
    config: RplConfig,
    route: &[Ipv6Addr],
    may_insert: bool,
    packet: &mut Vec<u8>,
) -> Result<(), DropReason> {
    let [first, rest @ ..] = route else { return Ok(()) };
    if rest.is_empty() {
        return Ok(());
    }
    let mut header = [0; SourceRoute::length_of(MAX_ROUTE, 16)];
    // The hop limit would not allow a longer route.
    let length = SourceRoute::emit(next_header::IPV6, *first, rest, config.address_octets, &mut header)
        .map_err(|_| DropReason::HopLimit)?;
    let header = &header[..length];
    let added = if may_insert {
        let inserted = rpl::insert(packet, next_header::ROUTING, header);
        // The packet goes to the first node of its route.
        packet[24..Ipv6Header::LENGTH].copy_from_slice(&first.octets());
        inserted
    } else {
        rpl::encapsulate(packet, mesh_address(NodeId::ROOT), *first, (next_header::ROUTING, header))
    };
    added.map_err(|_| DropReason::ReassemblyTooLong)
}

/// Does what a node does with the headers of a packet that it has received whole: it takes the next step of its source
/// route, or takes the packet out of its tunnel and the headers of RPL out of the packet.
pub(super) fn receive(routes: &Routes, node: NodeId, packet: &mut Vec<u8>) {
    loop {
        let headers = RplHeaders::of(packet);
        match destination(packet).map(|address| host(routes, address)) {
            Some(Some(Host::Node(own))) if own == node => {
                if rpl::advance(packet, &headers) {
                    return;
                }
                if !headers.is_tunnel(packet) {
                    return rpl::remove(packet, &headers);
                }
                rpl::decapsulate(packet, &headers);
            }
            Some(None | Some(Host::Internet)) if node == NodeId::ROOT => return rpl::remove(packet, &headers),
            _ => return,
        }
    }
}

/// Does what a node does with the headers of a packet that it forwards: it takes the next step of the source route, and
/// puts its own rank and the direction into the option. `packet` may end after its headers.
pub(super) fn pass(routes: &Routes, node: NodeId, packet: &mut [u8]) {
    let headers = RplHeaders::of(packet);
    if headers.is_empty() {
        return;
    }
    if destination(packet) == Some(mesh_address(node)) {
        rpl::advance(packet, &headers);
    }
    if let Some(address) = destination(packet)
        && let Some(received) = rpl::option(packet, &headers)
    {
        let RplOption { down, sender_rank, .. } = option(routes, node, last_node(host(routes, address)));
        rpl::set_option(packet, &headers, &RplOption { down, sender_rank, ..received });
    }
}

/// True if the destination of a packet is not the last one of its source route.
pub(super) fn has_segments_left(packet: &[u8]) -> bool {
    let headers = RplHeaders::of(packet);
    rpl::route(packet, &headers).is_some_and(|route| route.segments_left() > 0)
}

/// The last destination of a packet: that of its source route, if it has one.
pub(super) fn last_destination(packet: &[u8]) -> Option<Ipv6Addr> {
    let next = destination(packet)?;
    let headers = RplHeaders::of(packet);
    rpl::route(packet, &headers).and_then(|route| route.rest(next).last()).or(Some(next))
}

/// The octets that RPL has added to a packet.
pub(super) fn added(packet: &[u8]) -> usize {
    RplHeaders::of(packet).end - Ipv6Header::LENGTH
}

/// The option that a node gives a packet for another node.
fn option(routes: &Routes, node: NodeId, to: NodeId) -> RplOption {
    let down = match next_hop(routes, node, mesh_address(to)) {
        NextHop::Neighbor(next) => routes.parent(next) == Some(node),
        NextHop::Here => false,
    };
    let sender_rank = dio::rank(routes.depth(node));
    RplOption { down, rank_error: false, forwarding_error: false, instance: INSTANCE, sender_rank }
}
