//! The numbers of nodes.

use slowhand_net::address::NodeId;

/// The highest node number: 16 bits less the one that could be taken for a broadcast (0xffff).
pub const MAX_NODE: u32 = 65_534;

/// The node of a number that is at most [`MAX_NODE`].
pub(super) fn node(number: u32) -> NodeId {
    NodeId(number as u16)
}
