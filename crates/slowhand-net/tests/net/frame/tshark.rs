//! tshark reads back what the codec writes.

use super::*;
use crate::harness::DATA_PACKET;
use slowhand_net::address::Eui64;
use slowhand_net::radio::frame::ie::SIXTOP;
use slowhand_net::radio::frame::{
    Address, BeaconFields, Frame, FrameType, Header, HeaderIe, KeyIdentifier, NestedIe, NestedIes, PayloadIe,
    TimeCorrection, Version, fcs,
};
use slowhand_testing::hex;
use slowhand_testing::wireshark::{Pcap, Tshark};

/// The output of tshark for these frames: for each frame the values of the fields.
fn tshark(frames: &[Vec<u8>], fields: &[&str]) -> Vec<Vec<String>> {
    let mut capture = Pcap::of_frames();
    frames.iter().for_each(|frame| capture.frame(0, frame, fcs(frame)));
    Tshark::default().rows(&capture, fields)
}

fn is_set(flag: bool) -> String {
    u8::from(flag).to_string()
}

/// As tshark prints it: in the column of short addresses, and in that of extended ones.
fn columns(address: Option<Address>) -> [String; 2] {
    match address {
        None => [String::new(), String::new()],
        Some(Address::Short(address)) => [format!("{address:#06x}"), String::new()],
        Some(Address::Extended(Eui64(octets))) => [String::new(), octets.map(|octet| format!("{octet:02x}")).join(":")],
    }
}

const HEADER_FIELDS: [&str; 14] = [
    "wpan.fcs_ok",
    "wpan.frame_type",
    "wpan.version",
    "wpan.security",
    "wpan.pending",
    "wpan.ack_request",
    "wpan.seqno_suppression",
    "wpan.seq_no",
    "wpan.dst_pan",
    "wpan.dst16",
    "wpan.dst64",
    "wpan.src_pan",
    "wpan.src16",
    "wpan.src64",
];

fn header_columns(header: &Header) -> Vec<String> {
    let pan = |pan: Option<u16>| pan.map_or(String::new(), |pan| format!("{pan:#06x}"));
    let [to_short, to_extended] = columns(header.destination);
    let [from_short, from_extended] = columns(header.source);
    vec![
        "1".to_owned(),
        format!("{:#06x}", header.frame_type as u16),
        (header.version as u8).to_string(),
        is_set(header.security.is_some()),
        is_set(header.frame_pending),
        is_set(header.ack_request),
        is_set(header.sequence.is_none()),
        header.sequence.map_or(String::new(), |sequence| sequence.to_string()),
        pan(header.destination_pan),
        to_short,
        to_extended,
        pan(header.source_pan),
        from_short,
        from_extended,
    ]
}

#[test]
fn addresses_and_pan_ids() {
    let mut headers: Vec<Header> = addressing().into_iter().map(|vector| vector.header).collect();
    let two =
        Header { destination_pan: Some(PAN), destination: Some(DESTINATION_64), source: Some(SOURCE_64), ..headers[0] };
    headers.push(Header { sequence: None, ..two });
    headers.push(Header { frame_pending: true, ack_request: true, ..two });
    let frames: Vec<_> = headers.iter().map(|header| emit(&Frame::new(*header)).unwrap()).collect();
    for (row, header) in tshark(&frames, &HEADER_FIELDS).iter().zip(&headers) {
        assert_eq!(*row, header_columns(header), "{header:?}");
    }
}

#[test]
fn security() {
    let fields = [
        "wpan.aux_sec.sec_level",
        "wpan.aux_sec.key_id_mode",
        "wpan.aux_sec.frame_counter_suppression",
        "wpan.aux_sec.asn_in_nonce",
        "wpan.aux_sec.frame_counter",
        "wpan.aux_sec.key_source.bytes",
        "wpan.aux_sec.key_index",
        "wpan.mic",
    ];
    let fields: Vec<&str> = HEADER_FIELDS.into_iter().chain(fields).collect();
    let headers: Vec<Header> = secured().into_iter().map(|vector| vector.header).collect();
    let mic: Vec<u8> = (0xa0..0xb0).collect();
    let frame = |header: &Header| {
        let mic = &mic[..header.mic_length()];
        emit(&Frame { payload: &[0x3f, 1, 2, 3, 4], mic, ..Frame::new(*header) }).unwrap()
    };
    let frames: Vec<_> = headers.iter().map(frame).collect();
    for (row, header) in tshark(&frames, &fields).iter().zip(&headers) {
        let security = header.security.unwrap();
        let (mode, source, index) = match security.key {
            KeyIdentifier::Implicit => (0, String::new(), String::new()),
            KeyIdentifier::Index(index) => (1, String::new(), format!("{index:#04x}")),
            KeyIdentifier::Source4 { source, index } => (2, hex::text(&source), format!("{index:#04x}")),
            KeyIdentifier::Source8 { source, index } => (3, hex::text(&source), format!("{index:#04x}")),
        };
        let mut expected = header_columns(header);
        expected.extend([
            format!("{:#04x}", security.level as u8),
            format!("{mode:#04x}"),
            is_set(security.frame_counter.is_none()),
            is_set(security.asn_in_nonce),
            security.frame_counter.map_or(String::new(), |counter| counter.to_string()),
            source,
            index,
            hex::text(&mic[..header.mic_length()]),
        ]);
        assert_eq!(*row, expected, "{header:?}");
    }
}

#[test]
fn information_elements() {
    let header = Header {
        sequence: Some(1),
        destination_pan: Some(PAN),
        destination: Some(DESTINATION_64),
        source: Some(SOURCE_64),
        ..Header::new(FrameType::Data, Version::V2)
    };
    let ack = Header { source: None, frame_type: FrameType::Ack, ..header };
    let beacon = Header { frame_type: FrameType::Beacon, ..header };
    let correction = |microseconds, nack| HeaderIe::TimeCorrection(TimeCorrection { microseconds, nack });
    // 6P: CLEAR (code 7) of SFID 0 with SeqNum 9 and metadata 5.
    let sixtop = PayloadIe::Ietf { subtype: SIXTOP, content: &[0x00, 0x07, 0x00, 0x09, 0x05, 0x00] };
    let nested = [
        NestedIe::Short { id: 0x1a, content: &[0x56, 0x34, 0x12, 0, 0, 1] },
        NestedIe::Short { id: 0x1c, content: &[0] },
        NestedIe::Long { id: 0x9, content: &[0] },
    ];
    let mut content = [0; 20];
    let mlme = PayloadIe::Mlme(NestedIes::emit(&nested, &mut content).unwrap());
    let vendor = HeaderIe::Other { id: 0, content: &[0x01, 0x02, 0x03, 0x04] };
    let packet = octets(DATA_PACKET);
    let frames = [
        Frame { header_ies: &[correction(0, false)], ..Frame::new(ack) },
        Frame { header_ies: &[correction(-300, false)], ..Frame::new(ack) },
        Frame { header_ies: &[correction(1234, true)], ..Frame::new(ack) },
        Frame { payload_ies: &[sixtop], ..Frame::new(header) },
        Frame { payload_ies: &[mlme], ..Frame::new(beacon) },
        Frame { header_ies: &[vendor], payload: &packet, ..Frame::new(header) },
        Frame { header_ies: &[vendor], payload_ies: &[sixtop], payload: &packet, ..Frame::new(header) },
    ];
    let fields = [
        "wpan.ie_present",
        "wpan.header_ie.time_correction.value",
        "wpan.nack",
        "wpan.header_ie.vendor_specific.content",
        "wpan.6top_code",
        "wpan.6top_seqnum",
        "wpan.6top_metadata",
        "wpan.tsch.asn",
        "wpan.tsch.join_metric",
        "wpan.tsch.timeslot.id",
        "wpan.tsch.hopping_sequence_id",
        "wpan.header_ie.id",
        "wpan.payload_ie.id",
        "wpan.mlme.ie.id",
        "ipv6.dst",
        "_ws.malformed",
    ];
    let rows = tshark(&frames.map(|frame| emit(&frame).unwrap()), &fields);
    let rows: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
    let expected = [
        "1|0|0|||||||||0x001e||||",
        "1|-300|0|||||||||0x001e||||",
        "1|1234|1|||||||||0x001e||||",
        "1||||0x07|9|0x0005|||||0x007e|0x0005|||",
        "1|||||||1193046|1|0x00|0x00|0x007e|0x0001|0x001a,0x001c,0x0009||",
        "1|||04||||||||0x0000,0x007f|||2001:db8::2|",
        "1|||04|0x07|9|0x0005|||||0x0000,0x007e|0x0005,0x000f||2001:db8::2|",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_fields_of_a_beacon() {
    let fields = BeaconFields {
        superframe: SUPERFRAME,
        gts_permit: true,
        gts: &GUARANTEED_SLOTS,
        pending_short: &[0x9abc, 0x0002],
        pending_extended: &[Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1])],
        payload: &[],
    };
    let mut payload = [0; 100];
    let length = fields.emit(&mut payload).unwrap();
    let header = Header {
        sequence: Some(1),
        source_pan: Some(PAN),
        source: Some(SOURCE_16),
        ..Header::new(FrameType::Beacon, Version::V0)
    };
    let frame = emit(&Frame { payload: &payload[..length], ..Frame::new(header) }).unwrap();
    let fields = [
        "wpan.beacon_order",
        "wpan.superframe_order",
        "wpan.cap",
        "wpan.battery_ext",
        "wpan.bcn_coord",
        "wpan.assoc_permit",
        "wpan.gts.count",
        "wpan.gts.permit",
        "wpan.gts.address",
        "wpan.pending16",
        "wpan.pending64",
        "_ws.malformed",
    ];
    let expected = "6|2|13|1|1|1|2|1|0x1234,0x5678|0x9abc,0x0002|02:12:74:00:00:00:00:01|";
    assert_eq!(tshark(&[frame], &fields)[0].join("|"), expected);
}
