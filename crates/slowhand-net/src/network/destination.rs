//! The destination and the next hop of a packet.

use crate::address::{Host, NodeId};
use crate::ip::Ipv6Header;
use crate::route::Routes;
use std::net::Ipv6Addr;

/// The next hop of a packet at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextHop {
    /// None: the packet leaves the mesh at this node.
    Here,
    /// A neighbour.
    Neighbor(NodeId),
}

/// The host that has an address. None if the address has the prefix of the mesh and no node has it.
pub(super) fn host(routes: &Routes, address: Ipv6Addr) -> Option<Host> {
    Host::of_address(address).filter(|host| match host {
        Host::Node(node) => node.index() < routes.nodes(),
        Host::Internet => true,
    })
}

/// The destination address of a packet. The header was checked when the packet entered the network. None if the packet
/// is too short.
pub(super) fn destination(packet: &[u8]) -> Option<Ipv6Addr> {
    // RFC 8200 section 3: the last 16 octets of the fixed header.
    let address: [u8; 16] = packet.get(24..Ipv6Header::LENGTH)?.try_into().ok()?;
    Some(address.into())
}

/// The source address of a packet, likewise.
pub(super) fn source(packet: &[u8]) -> Option<Ipv6Addr> {
    // The 16 octets before the destination.
    let address: [u8; 16] = packet.get(8..24)?.try_into().ok()?;
    Some(address.into())
}

/// The node at which a packet leaves the mesh: its destination if that is a node, else the border router.
pub(super) fn last_node(to: Option<Host>) -> NodeId {
    match to {
        Some(Host::Node(node)) => node,
        Some(Host::Internet) | None => NodeId::ROOT,
    }
}

/// The next hop of a packet for an address, from a node of the mesh.
pub(super) fn next_hop(routes: &Routes, at: NodeId, address: Ipv6Addr) -> NextHop {
    routes.next_hop(at, last_node(host(routes, address))).map_or(NextHop::Here, NextHop::Neighbor)
}

/// True if packets for this address do not leave their link: it is multicast or link-local.
pub(super) fn is_on_link(address: Ipv6Addr) -> bool {
    address.is_multicast() || address.is_unicast_link_local()
}

/// True if the network may carry packets for this address: it is not unspecified, loopback, multicast or link-local.
pub(super) fn is_global_unicast(address: Ipv6Addr) -> bool {
    !(address.is_unspecified() || address.is_loopback() || address.is_multicast() || address.is_unicast_link_local())
}
