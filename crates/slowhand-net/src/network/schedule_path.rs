//! The time that packets take through the mesh, computed from its schedule.

use super::config::{Fragments, NetworkConfig};
use crate::address::NodeId;
use crate::clock::Duration;
use crate::ip::rpl::RplOption;
use crate::lowpan::fragment::{FragmentHeader, UNIT};
use crate::lowpan::mesh::MeshHeader;
use crate::radio::Mac;
use crate::route::Routes;
use crate::transport::Path;

/// The paths through the mesh, with the times of its schedule.
#[derive(Debug)]
pub(super) struct SchedulePath<'a> {
    pub(super) mac: &'a dyn Mac,
    pub(super) routes: &'a Routes,
    pub(super) config: &'a NetworkConfig,
}

impl Path for SchedulePath<'_> {
    /// Each hop sends all frames of the packets, or the frames that wait at the border router and those of one more
    /// packet, if these are more.
    fn downward(&self, node: NodeId, packets: u64, octets: usize) -> Duration {
        let queued = self.mac.queue(NodeId::ROOT).len() as u64;
        let octets = octets + self.headers_down(node);
        self.over_all_hops(node, |above, below| {
            let one = self.frames(above, below, octets);
            self.mac.sending_time(above, below, (one * packets).max(one + queued))
        })
    }

    fn upward(&self, node: NodeId, octets: usize) -> Duration {
        let octets = octets + if self.config.rpl.is_some() { RplOption::HEADER } else { 0 };
        self.over_all_hops(node, |above, below| self.mac.sending_time(below, above, self.frames(below, above, octets)))
    }

    /// With recovery, a fragment for which the queue has no room costs the time until its acknowledgement is missed.
    fn has_room(&self, node: NodeId, octets: usize) -> bool {
        let queued = self.mac.queue(NodeId::ROOT).len();
        let is_recovered = matches!(self.config.fragments, Fragments::Recovered { .. });
        if !is_recovered || queued == 0 || node.index() >= self.routes.nodes() {
            return true;
        }
        let octets = octets + self.headers_down(node);
        let next_hop = self.routes.next_hop(NodeId::ROOT, node);
        let frames = next_hop.map_or(0, |next_hop| self.frames(NodeId::ROOT, next_hop, octets));
        queued + frames as usize <= self.mac.queue(NodeId::ROOT).limit()
    }
}

impl SchedulePath<'_> {
    /// Each hop begins when the hop before has ended, as with reassembly at every hop. Fragment forwarding is faster.
    fn over_all_hops(&self, node: NodeId, time: impl Fn(NodeId, NodeId) -> Duration) -> Duration {
        if node.index() >= self.routes.nodes() {
            return Duration::ZERO;
        }
        let hops = std::iter::successors(Some(node), |&below| self.routes.parent(below));
        hops.filter_map(|below| Some(time(self.routes.parent(below)?, below)))
            .fold(Duration::ZERO, |sum, hop| sum + hop)
    }

    /// The octets that RPL adds to a packet from the Internet.
    fn headers_down(&self, node: NodeId) -> usize {
        match self.config.rpl {
            Some(rpl) if node.index() < self.routes.nodes() => rpl.headers_down(self.routes.depth(node)),
            _ => 0,
        }
    }

    /// The largest number of frames of a packet on the link from a node to a neighbour.
    fn frames(&self, node: NodeId, next_hop: NodeId, octets: usize) -> u64 {
        let mesh_header = self.config.mesh_under.as_ref().map_or(0, |_| MeshHeader::MAX_LENGTH);
        frames(octets, self.config.payload_capacity(self.mac, node, next_hop).saturating_sub(mesh_header))
    }
}

/// The largest number of frames of a packet: the number without header compression.
fn frames(octets: usize, capacity: usize) -> u64 {
    let fragment = capacity.saturating_sub(FragmentHeader::LATER_LENGTH) / UNIT * UNIT;
    octets.div_ceil(fragment.max(UNIT)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_holds_96_octets_of_a_packet() {
        // 104 octets minus 5 of fragment header, in units of 8.
        assert_eq!([1, 96, 97, 1_280].map(|octets| frames(octets, 104)), [1, 1, 2, 14]);
        assert_eq!(frames(100, 3), 13, "a capacity that no frame has does no harm");
    }
}
