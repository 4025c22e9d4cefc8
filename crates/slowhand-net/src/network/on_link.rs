//! Packets that do not leave their link, and what changes while a network forms.

use super::events::Events;
use super::{Network, SendError};
use crate::address::{Host, NodeId};
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::Ipv6Header;
use crate::lowpan::{Link, compress};
use crate::observer::FrameKind;
use crate::radio::frame::MAX_FRAME;
use crate::radio::tsch::Tsch;
use crate::route::Loop;
use std::any::Any;

/// The link of a frame from a node to all: the destination is a group, so no link-layer address says anything of it.
pub(super) fn to_all(from: NodeId) -> Link {
    let source = crate::address::Addressing::Extended.of_node(from);
    Link { source, destination: source }
}

impl Network {
    /// Sends a packet from a node to a neighbour, by link-local addresses. For `now` see [`send`](Self::send).
    ///
    /// # Errors
    /// [`SendError::Packet`]; then nothing is sent. If the packet is lost, that is an event, not an error.
    pub fn send_to_neighbor(
        &mut self,
        now: Instant,
        (node, to): (NodeId, NodeId),
        packet: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), SendError> {
        Ipv6Header::parse_packet(packet)?;
        let now = self.advance(now);
        events.set_now(now);
        let mut octets = std::mem::take(&mut self.packet);
        octets.clear();
        octets.extend_from_slice(packet);
        let sent = self.send_over_hop(node, to, &mut octets, datagram, events);
        events.lost_if_failed(Host::Node(node), datagram, sent);
        self.packet = octets;
        self.deadline = self.earliest_deadline();
        Ok(())
    }

    /// Sends a packet from a node to all its neighbours, in one frame of a TSCH network that [forms](Tsch::forming). For `now` see
    /// [`send`](Self::send).
    ///
    /// # Errors
    /// The packet does not fit into a frame, or the link layer is another one.
    pub fn send_to_all(
        &mut self,
        now: Instant,
        node: NodeId,
        kind: FrameKind,
        packet: &[u8],
    ) -> Result<(), DropReason> {
        let mut headers = [0; MAX_FRAME];
        let compressed =
            compress(packet, to_all(node), &self.plain, &mut headers).map_err(|_| DropReason::Malformed)?;
        let payload = [&headers[..compressed.written], &packet[compressed.consumed..]].concat();
        if payload.len() > self.payload_capacity(node, node) {
            return Err(DropReason::Malformed);
        }
        self.with_tsch(now, |tsch, now| tsch.send_to_all(now, node, kind, payload)).ok_or(DropReason::Malformed)
    }

    /// Changes the TSCH network below. `None` if the link layer is another one. For `now` see [`send`](Self::send).
    pub fn with_tsch<T>(&mut self, now: Instant, act: impl FnOnce(&mut Tsch, Instant) -> T) -> Option<T> {
        self.with_mac(now, |mac, now| {
            let mac: &mut dyn Any = mac;
            mac.downcast_mut::<Tsch>().map(|tsch| act(tsch, now))
        })
    }

    /// Gives a node another parent.
    ///
    /// # Errors
    /// Its parents would form a loop; then nothing changes.
    pub fn set_parent(&mut self, node: NodeId, parent: NodeId) -> Result<(), Loop> {
        self.routes.set_parent(node, parent)
    }

    /// The nodes on the way from a node up to the root, without the root.
    pub fn ancestry(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.routes.ancestry(node)
    }
}
