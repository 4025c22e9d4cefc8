//! To whom a node sends compressed payloads: to those who understand it (RFC 7400 section 3.3).

use super::adaptation::FragmentHandling;
use super::destination::{host, last_node};
use super::{Network, rpl};
use crate::address::NodeId;
use crate::lowpan::Contexts;
use crate::lowpan::mesh::MeshHeader;

impl Network {
    /// The contexts for a packet from a node to a neighbour, which has a mesh header or not.
    #[inline] // for every packet at every hop
    pub(super) fn contexts_for(
        &self,
        node: NodeId,
        next_hop: NodeId,
        mesh: Option<MeshHeader>,
        packet: &[u8],
    ) -> &Contexts {
        let is_plain = self.contexts.payload_compression().is_none()
            || matches!(self.nodes[node.index()].fragments, FragmentHandling::Recover(_))
            || match &self.capabilities {
                Some(capabilities) => !self.config.understands_compression(node) || !capabilities.knows(node, next_hop),
                None => {
                    !self.config.without_payload_compression.is_empty()
                        && !self.all_understand(node, next_hop, mesh, packet)
                }
            };
        if is_plain { &self.plain } else { &self.contexts }
    }

    /// True if a node and all that will read what it compresses understand it.
    fn all_understand(&self, node: NodeId, next_hop: NodeId, mesh: Option<MeshHeader>, packet: &[u8]) -> bool {
        let understands = |node: &NodeId| self.config.understands_compression(*node);
        if !understands(&node) {
            return false;
        }
        if let (Some(header), Some(mesh)) = (mesh, &self.config.mesh_under) {
            // Routers pass its frames on unread. For an end device, its parent puts the packet together.
            let last = NodeId(header.destination);
            let parent = self.routes.parent(last).filter(|_| mesh.end_devices.contains(&last));
            return understands(&parent.unwrap_or(last));
        }
        match self.nodes[node.index()].fragments {
            FragmentHandling::Reassemble => understands(&next_hop),
            // Each node on the way reads the first fragment and compresses it again: if one could not, the fragment would no
            // longer fit into a frame there.
            FragmentHandling::Forward(_) => {
                let last = rpl::last_destination(packet).map_or(next_hop, |to| last_node(host(&self.routes, to)));
                let onward = |at: &NodeId| self.routes.next_hop(*at, last);
                std::iter::successors(Some(next_hop), onward).all(|node| understands(&node))
            }
            // Nobody compresses payloads.
            FragmentHandling::Recover(_) => false,
        }
    }
}
