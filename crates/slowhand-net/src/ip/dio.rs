//! The DODAG Information Object of RPL (RFC 6550, section 6.3): what a node tells its neighbours of its rank.

use super::control::{self, ALL_RPL_NODES};
use crate::address::{NodeId, link_local_address, mesh_address};

/// The mode of operation of a DODAG: who knows the routes down (section 6.3.1). Each is the octet of a grounded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// The root.
    NonStoring = 1 << 7 | 1 << 3,
    /// Each node, those below it.
    Storing = 1 << 7 | 2 << 3,
}

/// MinHopRankIncrease: DEFAULT_MIN_HOP_RANK_INCREASE (section 17). It is the rank of the root, and each hop adds it once, as with the
/// hop count as metric (assumed).
pub const RANK_OF_HOP: u16 = 256;

/// The rank of a node that is so many hops from the root.
pub const fn rank(hops: u16) -> u16 {
    RANK_OF_HOP.saturating_mul(hops.saturating_add(1))
}

/// The Trickle timer of a node, as its DIO tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DioTimer {
    /// The exponent of the smallest interval in milliseconds (DIOIntervalMin).
    pub interval_min: u8,
    /// DIOIntervalDoublings.
    pub doublings: u8,
    /// DIORedundancyConstant.
    pub redundancy: u8,
}

/// The packet with the DIO of a node that is so many hops from the root: to one neighbour, or to all RPL nodes on the link, with the
/// DODAG configuration option (section 6.7.6), which RFC 8180 asks for.
pub fn dio(node: NodeId, to: Option<NodeId>, hops: u16, mode: Mode, timer: DioTimer) -> Vec<u8> {
    let [high, low] = rank(hops).to_be_bytes();
    let [increase_high, increase_low] = RANK_OF_HOP.to_be_bytes();
    // Instance 0, version 0, rank, mode; no DTSN, flags, reserved.
    let mut message = vec![0, 0, high, low, mode as u8, 0, 0, 0];
    message.extend(mesh_address(NodeId::ROOT).octets());
    // Type 4, 14 octets; path control size 0; no MaxRankIncrease; objective function 0 (RFC 6552); lifetimes in minutes:
    // 30 of them, as Contiki-NG has it (`RPL_CONF_DEFAULT_LIFETIME`).
    message.extend([4, 14, 0, timer.doublings, timer.interval_min, timer.redundancy, 0, 0]);
    message.extend([increase_high, increase_low, 0, 0, 0, 30, 0, 60]);
    let destination = to.map_or(ALL_RPL_NODES, link_local_address);
    control::packet(link_local_address(node), destination, 255, control::code::DIO, &message)
}
