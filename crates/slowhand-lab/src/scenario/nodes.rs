//! The numbers of nodes.

use slowhand_net::address::NodeId;

/// The highest node number: 16 bits less the one that could be taken for a broadcast (0xffff).
pub const MAX_NODE: u32 = 65_534;

/// The node of a number that was written. `None` if it is above [`MAX_NODE`].
pub(super) fn written_node(number: i64) -> Option<NodeId> {
    u16::try_from(number).ok().filter(|&number| u32::from(number) <= MAX_NODE).map(NodeId)
}

/// The node of a number that is at most [`MAX_NODE`].
pub(super) fn node(number: u32) -> NodeId {
    NodeId(number as u16)
}
