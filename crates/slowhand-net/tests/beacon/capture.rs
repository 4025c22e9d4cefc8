//! The frames on the air as Wireshark's dissectors read them.

use super::harness::*;
use slowhand_net::address::{Eui64, NodeId};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::Mac;
use slowhand_net::radio::beacon::{BeaconConfig, EVERY_CHILD};
use slowhand_net::radio::frame::fcs;
use std::io::Write;
use std::process::{Command, Stdio};

/// An uncompressed IPv6 packet without payload (RFC 4944 dispatch 0x41), as an independent reader expects it.
const PACKET: &str = "41600000000000 3b40 20010db8000000000000000000000001 20010db8000000000000000000000002";

const FIELDS: [&str; 21] = [
    "wpan.frame_type",
    "wpan.version",
    "wpan.pending",
    "wpan.ack_request",
    "wpan.pan_id_compression",
    "wpan.seq_no",
    "wpan.dst_pan",
    "wpan.dst64",
    "wpan.src_pan",
    "wpan.src64",
    "wpan.beacon_order",
    "wpan.superframe_order",
    "wpan.cap",
    "wpan.battery_ext",
    "wpan.bcn_coord",
    "wpan.assoc_permit",
    "wpan.cmd",
    "wpan.fcs_ok",
    "ipv6.dst",
    "wpan.pending64",
    "_ws.expert",
];

#[test]
fn every_frame_reads_as_what_it_is() {
    let digits: Vec<u8> = PACKET.bytes().filter(|octet| *octet != b' ').collect();
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let packet: Vec<u8> = digits.chunks(2).map(octet).collect();
    // With two addresses and a next header of 59 the longest payload is a packet that claims to be longer.
    let mut long = packet.clone();
    long[6] = 104 - 41;
    long.resize(104, 0);

    let config = BeaconConfig { trace_idle_beacons: true, queue: 20, ..BeaconConfig::standard(superframe()) };
    let mut mac = tree(config, &[None, Some(0), Some(1), Some(1)], 0.8);
    let mut air = Recorder::default();
    for datagram in 0..12 {
        let (from, to) = [(0, 1), (1, 0), (1, 2), (1, 3), (3, 1)][datagram as usize % 5];
        let payload = if datagram < 6 { &packet } else { &long };
        mac.enqueue(at(0), node(from), node(to), payload, datagram).unwrap();
    }
    run(&mut mac, at(20_000_000), &mut air);

    let rows = tshark(&air.0);
    assert_eq!(rows.len(), air.0.len());
    for (frame, row) in air.0.iter().zip(rows) {
        assert_eq!(row, expected(frame), "{frame:?}");
    }
    for kind in [FrameKind::Beacon, FrameKind::DataRequest, FrameKind::Data, FrameKind::Ack] {
        assert!(!air.of(kind).is_empty());
    }
    assert!(air.of(FrameKind::Beacon).iter().any(|beacon| beacon.octets.len() == 17 + 2 * 8), "two are listed at once");
    assert!(air.0.iter().any(|frame| frame.kind == FrameKind::Data && frame.octets[0] & 0x10 != 0), "more was pending");
}

/// What tshark has to say of a frame, from what the observer was told of it.
fn expected(frame: &Seen) -> Vec<String> {
    let address = |id| Eui64::of_node(NodeId(id)).0.map(|octet| format!("{octet:02x}")).join(":");
    let flag = |bit: u8| if frame.octets[0] & bit != 0 { "1" } else { "0" }.to_owned();
    let text = |value: &str| value.to_owned();
    let (from, pan) = (address(frame.from), text("0xcafe"));
    let to = if frame.to == EVERY_CHILD.0 { String::new() } else { address(frame.to) };
    let none = String::new;
    let beacon = frame.kind == FrameKind::Beacon;
    // BO 6, SO 2, the contention access period up to slot 15, no battery life extension, no association.
    let coordinator = if frame.from == 0 { "1" } else { "0" };
    let specification = ["6", "2", "15", "0", coordinator, "0"].map(|value| if beacon { text(value) } else { none() });
    let (kind, version, asks, compressed) = match frame.kind {
        FrameKind::Beacon => ("0x0000", "0", "0", "0"),
        FrameKind::Data if frame.octets.len() > 21 + 102 => ("0x0001", "1", "1", "1"),
        FrameKind::Data => ("0x0001", "0", "1", "1"),
        FrameKind::Ack => ("0x0002", "0", "0", "0"),
        FrameKind::DataRequest => ("0x0003", "0", "1", "1"),
        other => panic!("{other:?}"),
    };
    let addressed = matches!(frame.kind, FrameKind::Data | FrameKind::DataRequest);
    let mut row =
        vec![text(kind), text(version), flag(0x10), text(asks), text(compressed), frame.octets[2].to_string()];
    row.extend(if addressed { [pan.clone(), to] } else { [none(), none()] });
    row.extend(if beacon { [pan, from] } else { [none(), if addressed { from } else { none() }] });
    row.extend(specification);
    row.push(if frame.kind == FrameKind::DataRequest { text("0x04") } else { none() });
    row.push(text("1"));
    row.push(if frame.kind == FrameKind::Data { text("2001:db8::2") } else { none() });
    let listed = frame.octets.get(17..).filter(|_| beacon).unwrap_or_default();
    row.push(listed.chunks(8).map(|octets| address(u16::from(octets[0]))).collect::<Vec<_>>().join(","));
    row.push(none());
    row
}

/// A pcap file (link type 195: IEEE 802.15.4 with FCS) of these frames, read by tshark into the values of [`FIELDS`].
fn tshark(frames: &[Seen]) -> Vec<Vec<String>> {
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
        .stderr(Stdio::piped())
        .spawn()
        .expect("tshark reads what the network sends: install it (apt install tshark)");
    child.stdin.take().unwrap().write_all(&capture).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect()
}
