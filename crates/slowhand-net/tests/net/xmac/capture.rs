//! The frames on the air as Wireshark's dissectors read them.

use super::*;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::Msdu;
use slowhand_testing::hex;
use slowhand_testing::wireshark::Tshark;

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
    let packet = hex::octets(DATA_PACKET);
    let mut world = World::new(config().with_data_ack(), &[100_000, 40_000], &pair(0.9), 1);
    for datagram in 0..5 {
        world.run_until(u64::from(datagram) * 1_000_000);
        world.mac.enqueue(at(u64::from(datagram) * 1_000_000), Msdu::new(A, B, &packet, datagram)).unwrap();
    }
    world.run_out(20_000_000);
    let rows = Tshark::default().rows(&capture(&world.air.frames), &FIELDS);
    assert_eq!(rows.len(), world.air.frames.len());
    for (frame, row) in world.air.frames.iter().zip(rows) {
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
    assert!(kinds.iter().all(|kind| world.air.frames.iter().any(|frame| frame.kind == *kind)));
    assert_eq!(world.received(NodeId(1)).len(), 5);
}
