//! The DODAG Information Object of RPL (RFC 6550, section 6.3): what a node tells its neighbours of its rank.

use std::net::Ipv6Addr;

use super::{Ipv6Header, checksum, next_header};
use crate::address::{Eui64, NodeId, mesh_address};

/// All RPL nodes on the link (RFC 6550, section 6).
const ALL_RPL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1a);

/// The type of RPL's ICMPv6 messages, and the code of a DIO (section 6).
const RPL_CONTROL: u8 = 155;
const DIO: u8 = 0x01;

/// Grounded, storing mode of operation (section 6.3.1).
const GROUNDED_STORING: u8 = 1 << 7 | 2 << 3;

/// MinHopRankIncrease: DEFAULT_MIN_HOP_RANK_INCREASE (section 17). A hop costs as much.
const RANK_OF_HOP: u16 = 256;

/// What a DIO tells of its Trickle timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DioTimer {
    /// The exponent of the smallest interval in milliseconds (DIOIntervalMin).
    pub interval_min: u8,
    /// DIOIntervalDoublings.
    pub doublings: u8,
    /// DIORedundancyConstant.
    pub redundancy: u8,
}

/// The packet with the DIO of a node that is so many hops from the root: to all RPL nodes on the link, with the DODAG
/// configuration option (section 6.7.6), which RFC 8180 asks for.
pub fn dio(node: NodeId, hops: u16, timer: DioTimer) -> Vec<u8> {
    let [high, low] = RANK_OF_HOP.saturating_mul(hops.saturating_add(1)).to_be_bytes();
    let [increase_high, increase_low] = RANK_OF_HOP.to_be_bytes();
    let mut message = vec![RPL_CONTROL, DIO, 0, 0];
    // Instance 0, version 0, rank, mode; no DTSN, flags, reserved.
    message.extend([0, 0, high, low, GROUNDED_STORING, 0, 0, 0]);
    message.extend(mesh_address(NodeId::ROOT).octets());
    // Type 4, 14 octets; path control size 0; no MaxRankIncrease; objective function 0 (RFC 6552); lifetimes in minutes:
    // 30 of them, as Contiki-NG has it (`RPL_CONF_DEFAULT_LIFETIME`).
    message.extend([4, 14, 0, timer.doublings, timer.interval_min, timer.redundancy, 0, 0]);
    message.extend([increase_high, increase_low, 0, 0, 0, 30, 0, 60]);
    let source = link_local(Eui64::of_node(node));
    let sum = checksum::transport(source, ALL_RPL_NODES, next_header::ICMPV6, &message).to_be_bytes();
    message[2..4].copy_from_slice(&sum);
    let header = Ipv6Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: message.len() as u16,
        next_header: next_header::ICMPV6,
        hop_limit: 255,
        source,
        destination: ALL_RPL_NODES,
    };
    [&header.emit()[..], &message].concat()
}

fn link_local(address: Eui64) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets[..2].copy_from_slice(&[0xfe, 0x80]);
    octets[8..].copy_from_slice(&address.interface_identifier());
    Ipv6Addr::from(octets)
}
