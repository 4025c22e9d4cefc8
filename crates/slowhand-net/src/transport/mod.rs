//! Transport protocols above IPv6: TCP, DCCP, and a proxy for TCP at the border router.

pub mod dccp;
pub mod pep;
pub mod tcp;

use crate::address::NodeId;
use crate::clock::Duration;

/// The knowledge of a border router about the paths to its nodes.
pub trait Path {
    /// The longest time until `packets` IPv6 packets of `octets` each have reached a node, if nothing is lost. It
    /// includes the frames that already wait at the border router.
    fn downward(&self, node: NodeId, packets: u64, octets: usize) -> Duration;

    /// The longest time until an IPv6 packet of `octets` from a node has reached the border router, if nothing is lost.
    fn upward(&self, node: NodeId, octets: usize) -> Duration;

    /// True if the border router has room for an IPv6 packet of `octets` to a node. If not, the packet waits where it is
    /// made, because the mesh would only lose its fragments and send them again.
    fn has_room(&self, _node: NodeId, _octets: usize) -> bool {
        true
    }
}
