//! Octets that are not a frame, values that no frame can carry, and the errors for them.

use super::*;
use slowhand_net::radio::frame::{
    BeaconFields, BeaconView, Error, Frame, FrameType, FrameView, Header, HeaderIe, KeyIdentifier, NestedIe, NestedIes,
    PayloadIe, Security, SecurityLevel, SuperframeSpecification, TimeCorrection, Version,
};

#[test]
fn octets_that_are_no_frame() {
    let rows = [
        ("", Error::Truncated),
        ("0500 01", Error::FrameType(5)),
        ("0130 01", Error::Version(3)),
        ("0124 01 feca", Error::AddressingMode(1)),
        ("0160 01 feca", Error::AddressingMode(1)),
        // PAN ID compression with one address, in version 0.
        ("4108 01 feca 3412", Error::PanIds),
        ("4180 01 feca 3412", Error::PanIds),
        ("4100 01", Error::PanIds),
        // Fields of version 2 in a frame of version 1.
        ("0111", Error::SequenceNumber),
        ("0112 01 003f", Error::InformationElements),
        ("0900 01 00 00000000", Error::LegacySecurity),
        ("0910 01 21", Error::FrameCounter),
        ("0910 01 41 00000000", Error::FrameCounter),
        // IEs: none, cut short, of the wrong kind, of the wrong length.
        ("0122 01", Error::Truncated),
        ("0122 01 03", Error::Truncated),
        ("0122 01 0300 aabb", Error::Truncated),
        ("0122 01 03a8 c90102", Error::IeType),
        ("0122 01 010f 00", Error::IeLength(1)),
        ("0122 01 013f 00", Error::IeLength(1)),
        ("0122 01 003f", Error::Truncated),
        ("0122 01 003f 0300 aabbcc", Error::IeType),
        ("0122 01 003f 03a8 c901", Error::Truncated),
        ("0122 01 003f 00a8", Error::IeLength(0)),
        ("0122 01 003f 01f8 00", Error::IeLength(1)),
        ("0122 01 003f 0388 021a 00", Error::Truncated),
        // A frame without the message integrity code that its header announces.
        ("0920 01 01 00000000 aabbcc", Error::Truncated),
    ];
    for (hexadecimal, error) in rows {
        assert_eq!(FrameView::parse(&octets(hexadecimal)).map(|view| view.header()), Err(error), "{hexadecimal}");
    }
}

#[test]
fn values_that_no_frame_can_carry() {
    let data = Header { sequence: Some(1), ..Header::new(FrameType::Data, Version::V2) };
    let both = Header { destination: Some(DESTINATION_64), source: Some(SOURCE_64), ..data };
    let secured = |version, frame_counter, asn_in_nonce| {
        let (level, key) = (SecurityLevel::Mic32, KeyIdentifier::Implicit);
        Header { version, security: Some(Security { level, frame_counter, asn_in_nonce, key }), ..data }
    };
    let of = |header| emit(&Frame { mic: &[0; 4][..Header::mic_length(&header)], ..Frame::new(header) });
    // Table 7-2 has no row for these.
    let two_pans = Header { destination_pan: Some(PAN), source_pan: Some(OTHER_PAN), ..both };
    assert_eq!(of(two_pans), Err(Error::PanIds));
    assert_eq!(of(Header { source_pan: Some(PAN), ..both }), Err(Error::PanIds));
    assert_eq!(of(Header { source_pan: Some(PAN), ..data }), Err(Error::PanIds));
    assert_eq!(of(Header { version: Version::V1, ..both }), Err(Error::PanIds));
    assert_eq!(of(Header { version: Version::V0, sequence: None, ..data }), Err(Error::SequenceNumber));
    assert_eq!(of(secured(Version::V0, Some(1), false)), Err(Error::LegacySecurity));
    assert_eq!(of(secured(Version::V1, None, false)), Err(Error::FrameCounter));
    assert_eq!(of(secured(Version::V1, Some(1), true)), Err(Error::FrameCounter));
    let short_mic = Frame { mic: &[0; 3], ..Frame::new(secured(Version::V2, Some(1), false)) };
    assert_eq!(emit(&short_mic), Err(Error::MicLength { expected: 4, found: 3 }));
    assert_eq!(emit(&Frame { mic: &[0], ..Frame::new(data) }), Err(Error::MicLength { expected: 0, found: 1 }));

    let header_ie = |ie| emit(&Frame { header_ies: &[ie], ..Frame::new(data) });
    let correction = |microseconds| HeaderIe::TimeCorrection(TimeCorrection { microseconds, nack: false });
    assert_eq!(header_ie(correction(2048)), Err(Error::Range("time correction")));
    assert_eq!(header_ie(correction(-2049)), Err(Error::Range("time correction")));
    for id in [0x1e, 0x7e, 0x7f] {
        assert_eq!(header_ie(HeaderIe::Other { id, content: &[0; 2] }), Err(Error::IeId(id)));
    }
    assert_eq!(header_ie(HeaderIe::Other { id: 0, content: &[0; 128] }), Err(Error::IeLength(128)));
    let old = Frame { header_ies: &[correction(0)], ..Frame::new(Header { version: Version::V1, ..data }) };
    assert_eq!(emit(&old), Err(Error::InformationElements));
    let payload_ie = |ie| emit(&Frame { payload_ies: &[ie], ..Frame::new(data) });
    for group in [0x1, 0x5, 0xf, 0x10] {
        assert_eq!(payload_ie(PayloadIe::Other { group, content: &[] }), Err(Error::IeId(group)));
    }
    assert_eq!(payload_ie(PayloadIe::Other { group: 2, content: &[0; 2048] }), Err(Error::IeLength(2048)));
    let nested = |ie| NestedIes::emit(&[ie], &mut [0; 4000]).map(drop);
    assert_eq!(nested(NestedIe::Short { id: 0x80, content: &[] }), Err(Error::IeId(0x80)));
    assert_eq!(nested(NestedIe::Short { id: 0, content: &[0; 256] }), Err(Error::IeLength(256)));
    assert_eq!(nested(NestedIe::Long { id: 0x10, content: &[] }), Err(Error::IeId(0x10)));

    let whole = Frame { payload: b"payload", ..Frame::new(data) };
    for length in 0..whole.length() {
        assert_eq!(whole.emit(&mut vec![0; length]), Err(Error::BufferTooSmall(length)));
    }
}

#[test]
fn beacons_that_no_beacon_can_be() {
    let superframe = SuperframeSpecification {
        beacon_order: 16,
        superframe_order: 0,
        final_cap_slot: 15,
        battery_life_extension: false,
        pan_coordinator: false,
        association_permit: false,
    };
    let fields = BeaconFields {
        superframe,
        gts_permit: false,
        gts: &[],
        pending_short: &[],
        pending_extended: &[],
        payload: &[],
    };
    let mut out = [0; 100];
    assert_eq!(fields.emit(&mut out), Err(Error::Range("superframe specification")));
    let superframe = SuperframeSpecification { beacon_order: 15, ..superframe };
    let eight = BeaconFields { superframe, pending_short: &[0; 8], ..fields };
    assert_eq!(eight.emit(&mut out), Err(Error::Range("number of pending addresses")));
    // Four short and four extended addresses pending.
    let read = BeaconView::parse(&octets("ff0f 00 44")).map(drop);
    assert_eq!(read, Err(Error::Range("number of pending addresses")));
}
