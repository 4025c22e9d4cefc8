//! The frames on the air as Wireshark's dissectors read them.

use super::harness::*;
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::Mac;
use slowhand_net::radio::frame::fcs;
use std::io::Write;
use std::process::{Command, Stdio};

/// An uncompressed IPv6 packet without payload (RFC 4944 dispatch 0x41), as an independent reader expects it.
const PACKET: &str = "41 60000000 0000 3b 40 20010db8000000000000000000000001 20010db8000000000000000000000002";

const FIELDS: [&str; 11] = [
    "wpan.frame_type",
    "wpan.version",
    "wpan.ack_request",
    "wpan.seq_no",
    "wpan.dst_pan",
    "wpan.dst64",
    "wpan.src64",
    "wpan.fcs_ok",
    "data.data",
    "ipv6.dst",
    "_ws.expert",
];

#[test]
fn every_frame_reads_as_what_it_is() {
    let packet: Vec<u8> = {
        let digits: Vec<u8> = PACKET.bytes().filter(|octet| *octet != b' ').collect();
        let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(octet).collect()
    };
    let mut world = World::new(config().with_data_ack(), &[100_000, 40_000], &pair(0.9), 1);
    for datagram in 0..5 {
        world.run_until(u64::from(datagram) * 1_000_000);
        world.mac.enqueue(at(u64::from(datagram) * 1_000_000), A, B, &packet, datagram).unwrap();
    }
    world.run_out(20_000_000);
    let rows = tshark(&world.air.0);
    assert_eq!(rows.len(), world.air.0.len());
    for (frame, row) in world.air.0.iter().zip(rows) {
        let address = |node| Eui64::of_node(node).0.map(|octet| format!("{octet:02x}")).join(":");
        let sequence = frame.octets[2].to_string();
        let (source, kind, asks, payload, destination) = match frame.kind {
            FrameKind::Strobe => (address(frame.from), "0x0001", "0", "0010", ""),
            FrameKind::StrobeAck => (address(frame.from), "0x0001", "0", "0013", ""),
            FrameKind::Data => (address(frame.from), "0x0001", "1", "", "2001:db8::2"),
            FrameKind::Ack => (String::new(), "0x0002", "0", "", ""),
            other => panic!("{other:?}"),
        };
        let to = address(frame.to);
        let expected = [kind, "2", asks, &sequence, "0xcafe", &to, &source, "1", payload, destination, ""];
        assert_eq!(row, expected, "{frame:?}");
    }
    let kinds = [FrameKind::Strobe, FrameKind::StrobeAck, FrameKind::Data, FrameKind::Ack];
    assert!(kinds.iter().all(|kind| world.air.0.iter().any(|frame| frame.kind == *kind)));
    assert_eq!(world.received(NodeId(1)).len(), 5);
}

/// A pcap file (link type 195: IEEE 802.15.4 with FCS) of these frames, read by tshark into the values of [`FIELDS`].
fn tshark(frames: &[Frame]) -> Vec<Vec<String>> {
    let mut capture: Vec<u8> = Vec::new();
    let words = |capture: &mut Vec<u8>, words: &[u32]| capture.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    words(&mut capture, &[0xa1b2_c3d4, 0x0004_0002, 0, 0, 256, 195]);
    for frame in frames {
        let length = frame.octets.len() as u32 + 2;
        words(&mut capture, &[(frame.at / 1_000_000) as u32, (frame.at % 1_000_000) as u32, length, length]);
        capture.extend(&frame.octets);
        capture.extend(fcs(&frame.octets));
    }
    let mut command = Command::new("tshark");
    command.args(["-r", "-", "-T", "fields", "-E", "separator=|", "-o", "wpan.fcs_format:ITU-T CRC-16"]);
    command.args(FIELDS.iter().flat_map(|field| ["-e", field]));
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
