//! The ICMPv6 errors that routers send (RFC 4443).
//!
//! The border router and the nodes of the mesh send Destination Unreachable, Time Exceeded and Packet Too Big, as IPv6
//! routers do. There is no error if the host that sends a packet cannot send it itself: it gets an event. A node that
//! forwards fragments one by one has no packet to quote, so it sends no error.

use super::Network;
use super::destination::{NextHop, destination, next_hop};
use super::events::Events;
use super::rpl;
use crate::address::{Host, NodeId};
use crate::drop_reason::DropReason;
use crate::ip::icmpv6::{MINIMUM_MTU, RouterError};
use crate::lowpan::fragment::MAX_DATAGRAM;

impl Network {
    /// Sends the source of a packet the error that says why the router at `node` does not forward it.
    pub(super) fn report_error(&mut self, node: NodeId, packet: &[u8], reason: DropReason, events: &mut Events) {
        let mtu = self.mtu();
        let error = match reason {
            DropReason::HopLimit => RouterError::HopLimitExceeded,
            DropReason::NoRoute => RouterError::NoRoute,
            DropReason::ReassemblyTooLong if packet.len() > mtu => RouterError::PacketTooBig { mtu: mtu as u32 },
            _ => return,
        };
        let router = Host::Node(node);
        let Some(mut message) = error.message(router.address(), packet) else { return };
        if self.error_limits[node.index()].take(self.now) {
            let datagram = self.next_datagram();
            self.originate(router, &mut message, datagram, events);
        }
    }

    /// True if the router at `node` must not send the packet into the mesh, because the nodes cannot reassemble it.
    /// Only the border router checks this: the nodes behind it would lose fragments, and have no whole packet to quote.
    pub(super) fn is_too_big(&self, node: NodeId, packet: &[u8]) -> bool {
        node == NodeId::ROOT
            && packet.len() > self.mtu()
            && packet.len() - rpl::added(packet) > self.mtu()
            && destination(packet).is_some_and(|to| next_hop(&self.routes, node, to) != NextHop::Here)
    }

    /// The longest packet that every node can reassemble.
    fn mtu(&self) -> usize {
        self.config.reassembly.datagram.clamp(MINIMUM_MTU, MAX_DATAGRAM)
    }
}
