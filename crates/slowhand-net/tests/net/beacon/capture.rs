//! The frames on the air as Wireshark's dissectors read them.

use super::*;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::beacon::{BeaconConfig, EVERY_CHILD};
use slowhand_net::radio::{Mac, Msdu};
use slowhand_testing::hex;
use slowhand_testing::wireshark::Tshark;

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
    let packet = hex::octets(DATA_PACKET);
    // With two addresses and a next header of 59 the longest payload is a packet that claims to be longer.
    let mut long = packet.clone();
    long[6] = 104 - 41;
    long.resize(104, 0);

    let config = BeaconConfig { trace_idle_beacons: true, queue: 20, ..BeaconConfig::standard(superframe()) };
    let mut mac = of_tree(config, &[None, Some(0), Some(1), Some(1)], 0.8);
    let mut air = Recorder::default();
    for datagram in 0..12 {
        let (from, to) = [(0, 1), (1, 0), (1, 2), (1, 3), (3, 1)][datagram as usize % 5];
        let payload = if datagram < 6 { &packet } else { &long };
        mac.enqueue(at(0), Msdu::new(node(from), node(to), payload, datagram)).unwrap();
    }
    run(&mut mac, at(20_000_000), &mut air);

    let rows = Tshark::default().rows(&capture(&air.frames), &FIELDS);
    assert_eq!(rows.len(), air.frames.len());
    for (frame, row) in air.frames.iter().zip(rows) {
        assert_eq!(row, expected(frame), "{frame:?}");
    }
    for kind in [FrameKind::Beacon, FrameKind::DataRequest, FrameKind::Data, FrameKind::Ack] {
        assert!(!air.of(kind).is_empty());
    }
    assert!(air.of(FrameKind::Beacon).iter().any(|beacon| beacon.octets.len() == 17 + 2 * 8), "two are listed at once");
    assert!(
        air.frames.iter().any(|frame| frame.kind == FrameKind::Data && frame.octets[0] & 0x10 != 0),
        "more was pending"
    );
}

/// The output of tshark that a recorded frame must give.
fn expected(frame: &Frame) -> Vec<String> {
    let flag = |bit: u8| if frame.octets[0] & bit != 0 { "1" } else { "0" }.to_owned();
    let text = |value: &str| value.to_owned();
    let (from, pan) = (address(frame.from), text("0xcafe"));
    let to = if frame.to == EVERY_CHILD { String::new() } else { address(frame.to) };
    let none = String::new;
    let beacon = frame.kind == FrameKind::Beacon;
    // BO 6, SO 2, the contention access period up to slot 15, no battery life extension, no association.
    let coordinator = if frame.from == NodeId::ROOT { "1" } else { "0" };
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
    row.push(listed.chunks(8).map(|octets| address(node(u16::from(octets[0])))).collect::<Vec<_>>().join(","));
    row.push(none());
    row
}
