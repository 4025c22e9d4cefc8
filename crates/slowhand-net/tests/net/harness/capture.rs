//! Recorded frames as a capture for tshark.

use super::Frame;
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::radio::frame::fcs;
use slowhand_testing::wireshark::Pcap;

/// An uncompressed IPv6 packet without payload, from 2001:db8::1 to 2001:db8::2, behind its dispatch (RFC 4944). No code of
/// ours has written it.
pub const DATA_PACKET: &str =
    "41 60000000 0000 3b 40 20010db8000000000000000000000001 20010db8000000000000000000000002";

/// A capture of these frames.
pub fn capture<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> Pcap {
    let mut capture = Pcap::of_frames();
    for frame in frames {
        capture.frame(frame.at, &frame.octets, fcs(&frame.octets));
    }
    capture
}

/// The address of a node, as tshark writes it.
pub fn address(node: NodeId) -> String {
    Eui64::of_node(node).0.map(|octet| format!("{octet:02x}")).join(":")
}
