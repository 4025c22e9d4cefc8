//! Octets derived by hand from IEEE Std 802.15.4-2020.

use super::*;
use slowhand_net::address::Eui64;
use slowhand_net::radio::frame::ie::SIXTOP;
use slowhand_net::radio::frame::{
    BeaconFields, BeaconView, DATA_REQUEST_COMMAND, Error, Frame, FrameType, FrameView, Header, HeaderIe, MAX_FRAME,
    NestedIe, NestedIes, PayloadIe, Template, TimeCorrection, Version, fcs, set_frame_pending,
};

/// Checks that the header is written as these octets and read from them, and that every shorter string of octets is
/// refused.
fn check(header: Header, expected: &[u8]) {
    let mic = vec![0x5a; header.mic_length()];
    let frame = Frame { payload: b"payload", mic: &mic, ..Frame::new(header) };
    let whole = emit(&frame).unwrap();
    assert_eq!(whole, [expected, b"payload", &mic].concat(), "{header:?}");
    assert_eq!(header.length(), expected.len());
    let view = FrameView::parse(&whole).unwrap();
    assert_eq!(view.header(), header);
    assert_eq!(view.payload(), b"payload");
    assert_eq!(view.mic(), mic);
    for length in 0..expected.len() + mic.len() {
        assert!(FrameView::parse(&whole[..length]).is_err(), "{length} octets of {whole:02x?}");
    }
}

#[test]
fn addresses_and_pan_ids() {
    for Vector { header, octets } in addressing() {
        check(header, &octets);
    }
}

#[test]
fn security() {
    for Vector { header, octets } in secured() {
        check(header, &octets);
    }
}

/// Table 9-6: the level's lower two bits give the message integrity code, its third bit encryption.
#[test]
fn security_levels() {
    let rows = SecurityLevel::ALL.map(|level| (level as u8, level.is_encrypted(), level.mic_length()));
    let (plain, encrypted) = ([(0, false, 0), (1, false, 4), (2, false, 8), (3, false, 16)], [4, 5, 6, 7]);
    assert_eq!(rows[..4], plain);
    assert_eq!(rows[4..], [0, 1, 2, 3].map(|row| (encrypted[row], true, plain[row].2)));
    let header = Header::new(FrameType::Data, Version::V2);
    assert!(!header.is_encrypted() && header.mic_length() == 0);
    let secured = |level| {
        let security = Security { level, frame_counter: None, asn_in_nonce: false, key: KeyIdentifier::Implicit };
        Header { security: Some(security), ..header }
    };
    let of_headers = SecurityLevel::ALL.map(|level| (secured(level).is_encrypted(), secured(level).mic_length()));
    assert_eq!(of_headers, rows.map(|(_, is_encrypted, mic)| (is_encrypted, mic)));
}

/// Equal octets after the header with and without encryption: header termination 1, then an IE of the IETF (length 3,
/// group 5) and four octets.
#[test]
fn the_payload_ies_of_an_encrypted_frame_are_part_of_its_payload() {
    let read = |level: &str| octets(&format!("0922 01 {level} 00000000 003f 03a8 c90102 00f8 61626364"));
    let encrypted = read("04");
    let view = FrameView::parse(&encrypted).unwrap();
    assert_eq!((view.payload_ies().count(), view.payload()), (0, &octets("03a8 c90102 00f8 61626364")[..]));
    assert!(view.mic().is_empty());
    let encrypted = read("05");
    let view = FrameView::parse(&encrypted).unwrap();
    assert_eq!((view.payload_ies().count(), view.payload()), (0, &octets("03a8 c90102 00f8")[..]));
    assert_eq!(view.mic(), b"abcd");
    let clear = read("01");
    let view = FrameView::parse(&clear).unwrap();
    assert_eq!(view.payload_ies().collect::<Vec<_>>(), [PayloadIe::Ietf { subtype: SIXTOP, content: &[1, 2] }]);
    assert_eq!((view.payload(), view.mic()), (&[][..], &b"abcd"[..]));
}

#[test]
fn all_bits_of_the_frame_control_field() {
    // Type 3, frame pending 0x10, AR 0x20, PAN ID compression 0x40, version 2, both addresses short: 0xa873. Without
    // sequence number 0x0100 more.
    let header = Header {
        frame_pending: true,
        ack_request: true,
        destination_pan: Some(PAN),
        destination: Some(DESTINATION_16),
        source: Some(SOURCE_16),
        ..Header::new(FrameType::Command, Version::V2)
    };
    check(header, &octets("73a9 feca 3412 7856"));
    check(Header { sequence: Some(0xff), ..header }, &octets("73a8 ff feca 3412 7856"));
    let beacon =
        Header { source: Some(SOURCE_16), source_pan: Some(PAN), ..Header::new(FrameType::Beacon, Version::V2) };
    check(Header { sequence: Some(1), ..beacon }, &octets("00a0 01 feca 7856"));
}

#[test]
fn a_reserved_bit_is_ignored() {
    let octets = octets("8120 2a");
    assert_eq!(FrameView::parse(&octets).unwrap().header().sequence, Some(0x2a));
}

#[test]
fn an_immediate_acknowledgement() {
    let header = Header { sequence: Some(0x2a), ..Header::new(FrameType::Ack, Version::V0) };
    assert_eq!(emit(&Frame::new(header)).unwrap(), octets("0200 2a"));
    let mut octets = octets("0200 2a");
    set_frame_pending(&mut octets);
    assert!(FrameView::parse(&octets).unwrap().header().frame_pending);
    assert_eq!(octets, [0x12, 0x00, 0x2a]);
}

/// The time correction has twelve bits; the ACK is negative if the sixteenth bit is set.
#[test]
fn an_enhanced_acknowledgement_with_time_correction() {
    let header = Header {
        sequence: Some(0x2a),
        destination_pan: Some(PAN),
        destination: Some(DESTINATION_64),
        ..Header::new(FrameType::Ack, Version::V2)
    };
    for (microseconds, nack, content) in
        [(0, false, "0000"), (5, false, "0500"), (-1, false, "ff0f"), (-2048, true, "0088"), (2047, true, "ff87")]
    {
        let correction = HeaderIe::TimeCorrection(TimeCorrection { microseconds, nack });
        let written = emit(&Frame { header_ies: &[correction], ..Frame::new(header) }).unwrap();
        // Element ID 0x1e from bit 7 on, length 2: 0x0f02.
        assert_eq!(written, octets(&format!("022e 2a feca 0100000000741202 020f {content}")));
        let view = FrameView::parse(&written).unwrap();
        assert_eq!(view.header_ies().collect::<Vec<_>>(), [correction]);
        assert!(view.payload().is_empty());
    }
}

/// Header termination 1 (0x7e) is 0x3f00, header termination 2 (0x7f) is 0x3f80, payload termination (0xf) is 0xf800.
#[test]
fn termination_ies_where_table_7_6_asks_for_them() {
    let header = Header { sequence: Some(1), ..Header::new(FrameType::Data, Version::V2) };
    let vendor = HeaderIe::Other { id: 0, content: &[0xaa, 0xbb, 0xcc] };
    let ietf = PayloadIe::Ietf { subtype: SIXTOP, content: &[1, 2] };
    let plain = Frame::new(header);
    let (header_ies, payload_ies, payload): (_, _, &[u8]) = (&[vendor][..], &[ietf][..], b"p");
    let rows = [
        // A header IE: length 3, element ID 0. A payload IE of the IETF: length 3, group 5, 0x8000: 0xa803.
        (Frame { header_ies, ..plain }, "0122 01 0300 aabbcc"),
        (Frame { header_ies, payload, ..plain }, "0122 01 0300 aabbcc 803f 70"),
        (Frame { header_ies, payload_ies, ..plain }, "0122 01 0300 aabbcc 003f 03a8 c90102"),
        (Frame { payload_ies, ..plain }, "0122 01 003f 03a8 c90102"),
        (Frame { payload_ies, payload, ..plain }, "0122 01 003f 03a8 c90102 00f8 70"),
    ];
    for (frame, expected) in rows {
        let written = emit(&frame).unwrap();
        assert_eq!(written, octets(expected));
        let view = FrameView::parse(&written).unwrap();
        assert!(view.header_ies().eq(frame.header_ies.iter().copied()));
        assert!(view.payload_ies().eq(frame.payload_ies.iter().copied()));
        assert_eq!(view.payload(), frame.payload);
    }
}

/// An enhanced beacon as TSCH has it: the synchronization IE (sub-ID 0x1a) with ASN 0x123456 and join metric 1, the
/// channel hopping IE (long, sub-ID 0x9) with the default sequence.
#[test]
fn ies_of_the_mlme() {
    let nested = [
        NestedIe::Short { id: 0x1a, content: &[0x56, 0x34, 0x12, 0, 0, 1] },
        NestedIe::Long { id: 0x9, content: &[0] },
    ];
    let mut content = [0; 20];
    let mlme = PayloadIe::Mlme(NestedIes::emit(&nested, &mut content).unwrap());
    let header = Header {
        sequence: Some(1),
        source_pan: Some(PAN),
        source: Some(SOURCE_16),
        ..Header::new(FrameType::Beacon, Version::V2)
    };
    let written = emit(&Frame { payload_ies: &[mlme], ..Frame::new(header) }).unwrap();
    // Payload IE: 0x8000, group 1 (0x0800), length 11. Nested: 0x1a00 and length 6; 0x8000, 9 times 0x0800, length 1.
    assert_eq!(written, octets("00a2 01 feca 7856 003f 0b88 061a 563412000001 01c8 00"));
    let view = FrameView::parse(&written).unwrap();
    let ies: Vec<_> = view.payload_ies().collect();
    let [PayloadIe::Mlme(read)] = ies[..] else { panic!("{ies:?}") };
    assert_eq!(read.collect::<Vec<_>>(), nested);
}

#[test]
fn the_fields_of_a_beacon() {
    let extended = [Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1])];
    let fields = BeaconFields {
        superframe: SUPERFRAME,
        gts_permit: true,
        gts: &GUARANTEED_SLOTS,
        pending_short: &[0x9abc],
        pending_extended: &extended,
        payload: &[0x77],
    };
    let mut out = [0; 100];
    let length = fields.emit(&mut out).unwrap();
    assert_eq!(length, fields.length());
    // 6, 2 << 4, 13 << 8, bits 12, 14, 15; two GTS with permission; the second has direction 1; one and one pending.
    let expected = octets("26dd 82 02 34121e 78561f 11 bc9a 0100000000741202 77");
    assert_eq!(out[..length], expected);
    let view = BeaconView::parse(&expected).unwrap();
    assert_eq!(view.superframe(), SUPERFRAME);
    assert!(view.gts_permit() && view.gts().eq(GUARANTEED_SLOTS));
    assert!(view.pending_short().eq([0x9abc]) && view.pending_extended().eq(extended));
    assert_eq!(view.payload(), [0x77]);
    for length in 0..expected.len() - 1 {
        assert!(BeaconView::parse(&expected[..length]).is_err());
    }
}

#[test]
fn a_data_request() {
    let header = Header {
        ack_request: true,
        sequence: Some(3),
        destination_pan: Some(PAN),
        destination: Some(DESTINATION_64),
        source: Some(SOURCE_64),
        ..Header::new(FrameType::Command, Version::V0)
    };
    let written = emit(&Frame { payload: &[DATA_REQUEST_COMMAND], ..Frame::new(header) }).unwrap();
    assert_eq!(written, octets("63cc 03 feca 0100000000741202 800000000048deac 04"));
}

/// The check value of this CRC (CRC-16/KERMIT) in the catalogue of parametrised CRC algorithms.
#[test]
fn the_frame_check_sequence() {
    assert_eq!(fcs(b"123456789"), 0x2189u16.to_le_bytes());
}

/// The place of the message integrity code is zero, whatever stood there before.
#[test]
fn a_template_with_security() {
    for Vector { header, octets } in secured().into_iter().filter(|vector| vector.header.sequence.is_some()) {
        let template = Template::new(&Frame::new(Header { sequence: Some(0), ..header })).unwrap();
        let mic = header.mic_length();
        assert_eq!(template.length(), octets.len() + mic);
        let mut out = [0xee; MAX_FRAME];
        let length = template.emit(header.sequence.unwrap(), b"payload", &mut out).unwrap();
        assert_eq!(out[..length], [&octets[..], b"payload", &vec![0; mic]].concat());
        assert_eq!(header.payload_capacity(), MAX_FRAME - template.length());
        let most = vec![1; header.payload_capacity()];
        assert_eq!(template.emit(1, &most, &mut out), Ok(MAX_FRAME));
        assert_eq!(template.emit(1, &[most, vec![1]].concat(), &mut out), Err(Error::BufferTooSmall(MAX_FRAME)));
    }
}

/// A template writes the octets of the vectors, whatever frame it wrote before.
#[test]
fn a_template() {
    for Vector { header, octets } in addressing() {
        let template = Template::new(&Frame::new(Header { sequence: Some(0), ..header })).unwrap();
        let mut out = [0xee; MAX_FRAME];
        template.emit(0xff, &[1; MAX_FRAME - 30], &mut out).unwrap();
        let length = template.emit(0x2a, b"payload", &mut out).unwrap();
        assert_eq!(out[..length], [&octets[..], b"payload"].concat());
        let too_long = template.emit(1, &[0; MAX_FRAME], &mut out);
        assert_eq!(too_long, Err(Error::BufferTooSmall(MAX_FRAME)));
    }
    let correction = HeaderIe::TimeCorrection(TimeCorrection { microseconds: 0, nack: false });
    let ack = Header { sequence: Some(0), ..Header::new(FrameType::Ack, Version::V2) };
    let template = Template::new(&Frame { header_ies: &[correction], ..Frame::new(ack) }).unwrap();
    let mut out = [0; MAX_FRAME];
    assert_eq!(template.emit(0x2a, &[], &mut out), Ok(7));
    assert_eq!(out[..7], octets("0222 2a 020f 0000"));
    assert_eq!(template.emit(0x2a, &[1], &mut out), Err(Error::Range("template")));
    assert!(Template::new(&Frame::new(Header { sequence: None, ..ack })).is_err());
    assert!(Template::new(&Frame { payload: &[1], ..Frame::new(ack) }).is_err());
}
