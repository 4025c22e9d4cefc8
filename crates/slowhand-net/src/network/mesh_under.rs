//! Forwarding below IPv6, as Thread has it: a frame has a mesh header ([`MeshHeader`]) with the node that made it and the
//! node for which it is. The nodes between pass single frames on. Only the last one puts the packet together.
//!
//! End devices know nothing of this: their frames go to their parent without the header, and the parent puts together what
//! is for them, and sends it on as a packet. Nor has a frame the header that is for a neighbour. Names are those of
//! OpenThread (`src/core/thread/mesh_forwarder.cpp` and `mesh_forwarder_ftd.cpp`, commit 0291abe11).

use super::Network;
use super::destination::{destination, host, last_node};
use super::events::Events;
use super::handling::Received;
use crate::address::{Host, NodeId};
use crate::drop_reason::DropReason;
use crate::lowpan::Link;
use crate::lowpan::mesh::MeshHeader;
use crate::radio::Msdu;
use crate::radio::frame::MAX_FRAME;
use std::collections::BTreeSet;

/// The nodes that may pass a frame on (`MeshForwarder::kMeshHeaderHopsLeft`: `kMaxRouteCost`, which is 16, and 3).
pub const HOPS: u8 = 19;

/// Which nodes forward frames below IPv6.
#[derive(Clone, Debug, Default)]
pub struct MeshUnderConfig {
    /// The nodes that are end devices: all their packets go through their parent. They have no children.
    pub end_devices: BTreeSet<NodeId>,
}

impl Network {
    /// The addresses for which the headers of a packet are compressed on its next hop, and the mesh header before them
    /// (`MeshForwarder::UpdateIp6RouteFtd`).
    #[inline] // for every packet at every hop
    pub(super) fn framing(&self, node: NodeId, next_hop: NodeId, packet: &[u8]) -> (Link, Option<MeshHeader>) {
        let one_hop = || (self.link(node, next_hop), None);
        let Some(mesh) = &self.config.mesh_under else { return one_hop() };
        let Some(to) = destination(packet) else { return one_hop() };
        let last = last_node(host(&self.routes, to));
        if to.is_unicast_link_local() || last == next_hop || mesh.end_devices.contains(&node) {
            return one_hop();
        }
        let header = MeshHeader { hops_left: HOPS, originator: node.0, destination: last.0 };
        (self.link(node, last), Some(header))
    }

    /// Handles a frame payload that may have a mesh header (`MeshForwarder::HandleMesh`).
    pub(super) fn receive_of_mesh(&mut self, received: Received<'_>, events: &mut Events) {
        let Received { node, payload, datagram, .. } = received;
        let has_header = payload.first().is_some_and(|&octet| MeshHeader::is_dispatch(octet));
        let Some(mesh) = self.config.mesh_under.as_ref().filter(|_| has_header) else {
            return self.reassemble(received, events);
        };
        let Ok((header, rest)) = MeshHeader::parse(payload) else {
            return events.lost(Host::Node(node), datagram, DropReason::Malformed);
        };
        let (originator, last) = (NodeId(header.originator), NodeId(header.destination));
        if last == node || mesh.end_devices.contains(&last) && self.routes.parent(last) == Some(node) {
            return self.reassemble_over(self.link(originator, last), Received { payload: rest, ..received }, events);
        }
        let passed = self.pass_frame_on(header, Received { payload: rest, ..received });
        events.lost_if_failed(Host::Node(node), datagram, passed);
    }

    fn pass_frame_on(
        &mut self,
        header: MeshHeader,
        Received { node, payload, datagram, .. }: Received<'_>,
    ) -> Result<(), DropReason> {
        let last = NodeId(header.destination);
        let hops_left = header.hops_left.checked_sub(1).ok_or(DropReason::HopLimit)?;
        let next_hop = Some(last).filter(|last| last.index() < self.routes.nodes());
        let next_hop = next_hop.and_then(|last| self.routes.next_hop(node, last)).ok_or(DropReason::NoRoute)?;
        let mut frame = [0; MAX_FRAME];
        let length = MeshHeader { hops_left, ..header }.emit(&mut frame).map_err(|_| DropReason::Malformed)?;
        let space = frame.get_mut(length..length + payload.len()).ok_or(DropReason::Malformed)?;
        space.copy_from_slice(payload);
        self.enqueue(Msdu::new(node, next_hop, &frame[..length + payload.len()], datagram))
    }
}
