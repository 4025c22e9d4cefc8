//! The number of octets that 6LoWPAN may put into a frame.

use crate::address::NodeId;
use crate::radio::Mac;
use crate::radio::frame::MAX_FRAME;

/// The most octets that 6LoWPAN puts into a frame from a node to a neighbour: the limit of the link, and `limit`
/// ([`NetworkConfig::frame_capacity`](super::NetworkConfig::frame_capacity)). No frame has more than [`MAX_FRAME`].
pub(super) fn payload_capacity(mac: &dyn Mac, limit: usize, node: NodeId, next_hop: NodeId) -> usize {
    mac.payload_capacity(node, next_hop).min(limit).min(MAX_FRAME)
}
