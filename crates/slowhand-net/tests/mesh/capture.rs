//! The frames of a mesh that forwards and recovers fragments, as Wireshark's dissectors read them.

use super::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::{Fragments, NetworkConfig};
use slowhand_net::radio::frame::fcs;
use std::io::Write;
use std::process::{Command, Stdio};

/// 500 octets from node 3 to the Internet, and back to another node.
fn heard(fragments: Fragments) -> Vec<Frame> {
    let mut air = Air::default();
    let config = NetworkConfig { fragments, ..NetworkConfig::default() };
    let sends = [
        (Instant::ZERO, Host::Node(NodeId(3)), Host::Internet, 500),
        (seconds(30), Host::Internet, Host::Node(NodeId(3)), 500),
        (seconds(60), Host::Node(NodeId(2)), Host::Node(NodeId(1)), 20),
    ];
    let fates = run(&mut tsch(3, 1.0, config, 1), &sends, seconds(200), &mut air);
    assert_eq!(fates.delivered.len(), 3);
    air.data
}

#[test]
fn forwarded_fragments_reassemble_on_every_link() {
    let frames = heard(forwarded());
    let rows =
        tshark(&frames, &["wpan.fcs_ok", "_ws.expert", "ipv6.src", "ipv6.dst", "ipv6.hlim", "udp.checksum.status"]);
    assert_eq!(rows.len(), frames.len());
    assert!(rows.iter().all(|row| row[0] == "1" && row[1].is_empty()), "{rows:?}");
    let packets: Vec<_> = rows.iter().filter(|row| !row[2].is_empty()).map(|row| row[2..].join(" ")).collect();
    let (node, host) = ("2001:db8::12:7400:0:3", "2001:db8:1::1");
    let mut expected: Vec<String> = [64, 63, 62].map(|hops| format!("{node} {host} {hops} 1")).to_vec();
    expected.extend([63, 62, 61].map(|hops| format!("{host} {node} {hops} 1")));
    expected.push("2001:db8::12:7400:0:2 2001:db8::12:7400:0:1 64 1".to_owned());
    assert_eq!(packets, expected, "whole on each of three links, both ways");
}

/// Wireshark puts recoverable fragments together too. After an acknowledgment version 4.0 looks for another header and
/// calls the frame malformed where it ends, as it should: its objections are read for the others alone.
#[test]
fn recovered_fragments_reassemble_on_every_link() {
    let frames = heard(recovered(2));
    let fields =
        ["wpan.fcs_ok", "6lowpan.rfrag.ack_bitmask", "_ws.expert", "ipv6.src", "ipv6.hlim", "udp.checksum.status"];
    let rows = tshark(&frames, &fields);
    assert_eq!(rows.len(), frames.len());
    assert!(rows.iter().all(|row| row[0] == "1" && (!row[1].is_empty() || row[2].is_empty())), "{rows:?}");
    let packets: Vec<_> = rows.iter().filter(|row| !row[3].is_empty()).map(|row| row[3..].join(" ")).collect();
    let mut expected: Vec<String> = [64, 63, 62].map(|hops| format!("2001:db8::12:7400:0:3 {hops} 1")).to_vec();
    expected.extend([63, 62, 61].map(|hops| format!("2001:db8:1::1 {hops} 1")));
    expected.push("2001:db8::12:7400:0:2 64 1".to_owned());
    assert_eq!(packets, expected, "whole on each of three links, both ways");
    let full = rows.iter().filter(|row| row[1] == "0xffffffff").count();
    assert_eq!(full, 6, "each of two datagrams is acknowledged over three links");
}

/// A pcap file (link type 195: IEEE 802.15.4 with FCS) of these frames, read by tshark into the values of `fields`.
fn tshark(frames: &[Frame], fields: &[&str]) -> Vec<Vec<String>> {
    let mut capture: Vec<u8> = Vec::new();
    let words = |capture: &mut Vec<u8>, words: &[u32]| capture.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    words(&mut capture, &[0xa1b2_c3d4, 0x0004_0002, 0, 0, 256, 195]);
    for (at, _, octets) in frames {
        let length = octets.len() as u32 + 2;
        words(&mut capture, &[(at / 1_000_000) as u32, (at % 1_000_000) as u32, length, length]);
        capture.extend(octets);
        capture.extend(fcs(octets));
    }
    let mut command = Command::new("tshark");
    command.args(["-r", "-", "-T", "fields", "-E", "separator=|", "-o", "wpan.fcs_format:ITU-T CRC-16"]);
    command.args(["-o", "udp.check_checksum:TRUE"]);
    command.args(["-o", "6lowpan.context0:2001:db8::/64", "-o", "6lowpan.context1:2001:db8:1::/64"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("tshark reads what the network sends: install it (apt install tshark)");
    child.stdin.take().unwrap().write_all(&capture).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
}
