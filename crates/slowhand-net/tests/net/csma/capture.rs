//! The frames on the air as Wireshark's dissectors read them.

use super::*;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::{Mac, Msdu};
use slowhand_testing::hex;
use slowhand_testing::wireshark::Tshark;

const FIELDS: [&str; 17] = [
    "wpan.frame_type",
    "wpan.version",
    "wpan.pending",
    "wpan.ack_request",
    "wpan.seq_no",
    "wpan.dst_pan",
    "wpan.dst64",
    "wpan.src64",
    "wpan.dst16",
    "wpan.src16",
    "wpan.cmd",
    "wpan.header_ie.csl.phase",
    "wpan.header_ie.csl.period",
    "wpan.fcs_ok",
    "ipv6.dst",
    "wpan.ack_to",
    "_ws.expert",
];

/// Frames of a line of which node 2 is sleepy.
fn frames(config: CsmaConfig) -> Recorder {
    let mut packet = hex::octets(DATA_PACKET);
    packet[6] = 30;
    packet.resize(41 + 30, 0);
    let mut mac = of_tree(CsmaConfig { queue: 20, ..config }, &[None, Some(0), Some(1)], &[2], 0.8);
    let mut air = Recorder::default();
    for datagram in 0..12 {
        let (from, to) = [(0, 1), (1, 0), (1, 2), (2, 1)][datagram as usize % 4];
        mac.enqueue(at(0), Msdu::new(node(from), node(to), &packet, datagram)).unwrap();
    }
    run(&mut mac, at(20_000_000), &mut air);
    for kind in [FrameKind::DataRequest, FrameKind::Data, FrameKind::Ack] {
        assert!(!air.of(kind).is_empty(), "{kind:?}");
        let says_more = |frame: &&Frame| frame.octets[0] & 0x10 != 0;
        assert_eq!(air.of(kind).iter().any(says_more), kind != FrameKind::DataRequest, "{kind:?}");
    }
    air
}

#[test]
fn every_frame_reads_as_what_it_is() {
    let sleepy = node(2);
    let short = |config| CsmaConfig { addressing: Addressing::Short, ..config };
    let cases = [
        (polling_every(us(500_000)), false),
        (sampling_every(625), true),
        (short(polling_every(us(500_000))), false),
        (short(sampling_every(625)), true),
    ];
    for (config, csl) in cases {
        let is_short = config.addressing == Addressing::Short;
        let air = frames(config);
        let rows = Tshark::default().rows(&capture(&air.frames), &FIELDS);
        assert_eq!(rows.len(), air.frames.len());
        for (frame, row) in air.frames.iter().zip(rows) {
            let text = |value: &str| value.to_owned();
            let bit = |bit: u8| text(if frame.octets[0] & bit != 0 { "1" } else { "0" });
            let enhanced = csl && (frame.from == sleepy || frame.to == sleepy);
            let announces = enhanced && frame.from == sleepy;
            let is_ack = frame.kind == FrameKind::Ack;
            let (kind, asks) = match frame.kind {
                FrameKind::Data => ("0x0001", "1"),
                FrameKind::Ack => ("0x0002", "0"),
                FrameKind::DataRequest => ("0x0003", "1"),
                other => panic!("{other:?}"),
            };
            let some = |present: bool, value: String| if present { value } else { String::new() };
            let addressed = !is_ack || enhanced;
            // The phase is not checked here: the tests of the timing derive it.
            let phase = row[11].clone();
            assert_eq!(phase.is_empty(), !announces, "{frame:?}");
            let expected = [
                text(kind),
                text(if enhanced { "2" } else { "0" }),
                bit(0x10),
                text(asks),
                frame.octets[2].to_string(),
                some(addressed, text("0xcafe")),
                some(addressed && !is_short, address(frame.to)),
                some(!is_ack && !is_short, address(frame.from)),
                some(addressed && is_short, format!("0x{:04x}", frame.to.0)),
                some(!is_ack && is_short, format!("0x{:04x}", frame.from.0)),
                some(frame.kind == FrameKind::DataRequest, text("0x04")),
                phase,
                some(announces, text("625")),
                text("1"),
                some(frame.kind == FrameKind::Data, text("2001:db8::2")),
                row[15].clone(),
                String::new(),
            ];
            assert_eq!(row, expected, "{frame:?}");
        }
    }
}
