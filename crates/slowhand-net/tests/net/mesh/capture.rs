//! The frames of a mesh that forwards and recovers fragments, as Wireshark's dissectors read them.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::{Fragments, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_testing::wireshark::{Pcap, Tshark};

/// The data frames of 500 octets from node 3 to the Internet and back, and of 20 between two nodes; and how many there are.
fn heard(fragments: Fragments) -> (Pcap, usize) {
    let mut air = Recorder::default();
    let config = NetworkConfig { fragments, ..NetworkConfig::default() };
    let sends = [
        (Instant::ZERO, Host::Node(NodeId(3)), Host::Internet, 500),
        (seconds(30), Host::Internet, Host::Node(NodeId(3)), 500),
        (seconds(60), Host::Node(NodeId(2)), Host::Node(NodeId(1)), 20),
    ];
    let fates = run(&mut network(tsch, 3, 1.0, config, 1), &sends, seconds(200), &mut air);
    assert_eq!(fates.delivered.len(), 3);
    let frames = air.of(FrameKind::Data);
    (capture(frames.iter().copied()), frames.len())
}

#[test]
fn forwarded_fragments_reassemble_on_every_link() {
    let (capture, frames) = heard(forwarded());
    let rows = Tshark::default()
        .rows(&capture, &["wpan.fcs_ok", "_ws.expert", "ipv6.src", "ipv6.dst", "ipv6.hlim", "udp.checksum.status"]);
    assert_eq!(rows.len(), frames);
    assert!(rows.iter().all(|row| row[0] == "1" && row[1].is_empty()), "{rows:?}");
    let packets: Vec<_> = rows.iter().filter(|row| !row[2].is_empty()).map(|row| row[2..].join(" ")).collect();
    let (node, host) = ("2001:db8::12:7400:0:3", "2001:db8:1::1");
    let mut expected: Vec<String> = [64, 63, 62].map(|hops| format!("{node} {host} {hops} 1")).to_vec();
    expected.extend([63, 62, 61].map(|hops| format!("{host} {node} {hops} 1")));
    expected.push("2001:db8::12:7400:0:2 2001:db8::12:7400:0:1 64 1".to_owned());
    assert_eq!(packets, expected, "whole on each of three links, both ways");
}

/// Wireshark puts recoverable fragments together too. After an acknowledgement version 4.0 looks for another header and
/// calls the frame malformed where it ends. So its expert information counts for the other frames alone.
#[test]
fn recovered_fragments_reassemble_on_every_link() {
    let (capture, frames) = heard(recovered(2));
    let fields =
        ["wpan.fcs_ok", "6lowpan.rfrag.ack_bitmask", "_ws.expert", "ipv6.src", "ipv6.hlim", "udp.checksum.status"];
    let rows = Tshark::default().rows(&capture, &fields);
    assert_eq!(rows.len(), frames);
    assert!(rows.iter().all(|row| row[0] == "1" && (!row[1].is_empty() || row[2].is_empty())), "{rows:?}");
    let packets: Vec<_> = rows.iter().filter(|row| !row[3].is_empty()).map(|row| row[3..].join(" ")).collect();
    let mut expected: Vec<String> = [64, 63, 62].map(|hops| format!("2001:db8::12:7400:0:3 {hops} 1")).to_vec();
    expected.extend([63, 62, 61].map(|hops| format!("2001:db8:1::1 {hops} 1")));
    expected.push("2001:db8::12:7400:0:2 64 1".to_owned());
    assert_eq!(packets, expected, "whole on each of three links, both ways");
    let full = rows.iter().filter(|row| row[1] == "0xffffffff").count();
    assert_eq!(full, 6, "each of two datagrams is acknowledged over three links");
}
