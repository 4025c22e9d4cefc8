//! Transports above IPv6, and what a border router may do to them.

pub mod pep;
pub mod tcp;

use crate::address::NodeId;
use crate::clock::Duration;

/// What a border router knows of the ways to its nodes.
pub trait Path {
    /// How long it takes at most, where nothing is lost, until `packets` IPv6 packets of `octets` each have reached a
    /// node, together with what waits at the border router already.
    fn downward(&self, node: NodeId, packets: u64, octets: usize) -> Duration;

    /// How long it takes at most, where nothing is lost, until an IPv6 packet of `octets` has come from a node.
    fn upward(&self, node: NodeId, octets: usize) -> Duration;
}
