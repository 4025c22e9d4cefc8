//! Properties of every header, every frame and every string of octets.

use super::emit;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use slowhand_net::address::Eui64;
use slowhand_net::radio::frame::{
    Address, BeaconView, Frame, FrameType, FrameView, Header, HeaderIe, KeyIdentifier, NestedIe, NestedIes, PayloadIe,
    Security, SecurityLevel, TimeCorrection, Version,
};

fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        any::<u16>().prop_map(Address::Short),
        any::<[u8; 8]>().prop_map(|octets| Address::Extended(Eui64(octets)))
    ]
}

fn security(version: Version) -> impl Strategy<Value = Option<Security>> {
    let key = prop_oneof![
        Just(KeyIdentifier::Implicit),
        any::<u8>().prop_map(KeyIdentifier::Index),
        any::<([u8; 4], u8)>().prop_map(|(source, index)| KeyIdentifier::Source4 { source, index }),
        any::<([u8; 8], u8)>().prop_map(|(source, index)| KeyIdentifier::Source8 { source, index }),
    ];
    let is_new = version == Version::V2;
    let security = (select(&SecurityLevel::ALL[..]), any::<u32>(), any::<(bool, bool)>(), key).prop_map(
        move |(level, counter, (suppressed, asn), key)| Security {
            level,
            frame_counter: (!(suppressed && is_new)).then_some(counter),
            asn_in_nonce: asn && is_new,
            key,
        },
    );
    option::of(security).prop_map(move |security| security.filter(|_| version != Version::V0))
}

/// Any header that the standard allows. If it does not allow these PAN IDs, the source's, the destination's, or both
/// are left out.
fn header() -> impl Strategy<Value = Header> {
    let types = select(vec![FrameType::Beacon, FrameType::Data, FrameType::Ack, FrameType::Command]);
    let version = select(vec![Version::V0, Version::V1, Version::V2]);
    let flags = any::<(bool, bool, bool)>();
    let addresses = (option::of(address()), option::of(address()), any::<(bool, bool)>(), any::<(u16, u16)>());
    let fields = version.prop_flat_map(move |version| (Just(version), security(version)));
    (types, fields, flags, any::<u8>(), addresses).prop_filter_map(
        "PAN IDs that the standard does not allow",
        |(frame_type, (version, security), (frame_pending, ack_request, suppressed), sequence, addresses)| {
            let (destination, source, (to_pan, from_pan), (destination_pan, source_pan)) = addresses;
            let header = Header {
                frame_type,
                version,
                frame_pending,
                ack_request,
                sequence: (!(suppressed && version == Version::V2)).then_some(sequence),
                destination_pan: to_pan.then_some(destination_pan),
                destination,
                source_pan: from_pan.then_some(source_pan),
                source,
                security,
            };
            is_allowed(&header).then_some(header)
        },
    )
}

/// 7.2.2.6 as rules instead of a table: the PAN IDs that may stand beside the addresses.
fn is_allowed(header: &Header) -> bool {
    let extended = |address| matches!(address, Some(Address::Extended(_)));
    let pans = (header.destination_pan.is_some(), header.source_pan.is_some());
    let both_extended = extended(header.destination) && extended(header.source);
    match (header.version, header.destination.is_some(), header.source.is_some()) {
        (Version::V2, true, true) if both_extended => !pans.1,
        (_, true, true) => pans.0,
        (Version::V2, false, true) => !pans.0,
        (Version::V2, _, false) => !pans.1,
        (_, to, from) => pans == (to, from),
    }
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_header_reads_as_it_was_written(header in header(), payload in content()) {
        let mic = vec![0x5a; header.mic_length()];
        let octets = emit(&Frame { payload: &payload, mic: &mic, ..Frame::new(header) }).unwrap();
        let view = FrameView::parse(&octets).unwrap();
        prop_assert_eq!(view.header(), header);
        prop_assert_eq!((view.payload(), view.mic()), (&payload[..], &mic[..]));
        prop_assert!(view.header_ies().next().is_none() && view.payload_ies().next().is_none());
        for length in 0..header.length() + mic.len() {
            prop_assert!(FrameView::parse(&octets[..length]).is_err(), "{} octets", length);
        }
    }

    #[test]
    fn a_frame_reads_as_it_was_written(
        header in header(),
        corrections in vec((-2048i16..2048, any::<bool>()), 0..2),
        others in vec((0u8..0x1e, content()), 0..2),
        ietf in vec((any::<u8>(), content()), 0..2),
        vendors in vec((6u8..0xf, content()), 0..2),
        mlme in vec((any::<bool>(), 0u8..16, content()), 0..3),
        payload in content(),
    ) {
        let header = Header { version: Version::V2, ..header };
        let mic = vec![0x5a; header.mic_length()];
        let correction = |&(microseconds, nack): &_| HeaderIe::TimeCorrection(TimeCorrection { microseconds, nack });
        let mut header_ies: Vec<_> = corrections.iter().map(correction).collect();
        header_ies.extend(others.iter().map(|(id, content)| HeaderIe::Other { id: *id, content }));
        let nested: Vec<_> = mlme.iter().map(|(long, id, content)| match long {
            true => NestedIe::Long { id: *id, content },
            false => NestedIe::Short { id: *id, content },
        }).collect();
        let mut space = [0; 60];
        let nested_octets = NestedIes::emit(&nested, &mut space).unwrap();
        let mut payload_ies: Vec<_> =
            ietf.iter().map(|(subtype, content)| PayloadIe::Ietf { subtype: *subtype, content }).collect();
        payload_ies.extend(vendors.iter().map(|(group, content)| PayloadIe::Other { group: *group, content }));
        if !nested.is_empty() {
            payload_ies.push(PayloadIe::Mlme(nested_octets));
        }
        let frame = Frame { header, header_ies: &header_ies, payload_ies: &payload_ies, payload: &payload, mic: &mic };
        // Changing the version may have made the PAN IDs impossible, and long lists may not fit into a frame.
        let mut out = [0; 300];
        let Ok(length) = frame.emit(&mut out) else { return Ok(()) };
        prop_assert_eq!(length, frame.length());
        let octets = &out[..length];
        let view = FrameView::parse(octets).unwrap();
        prop_assert_eq!(view.header(), header);
        prop_assert!(view.header_ies().eq(header_ies.iter().copied()));
        if header.is_encrypted() {
            // The codec does not look into encrypted octets.
            prop_assert!(view.payload_ies().next().is_none() && view.payload().ends_with(&payload));
        } else {
            prop_assert!(view.payload_ies().eq(payload_ies.iter().copied()));
            prop_assert_eq!(view.payload(), &payload[..]);
            for ie in view.payload_ies() {
                if let PayloadIe::Mlme(read) = ie {
                    prop_assert!(read.eq(nested.iter().copied()));
                }
            }
        }
        prop_assert_eq!(view.mic(), &mic[..]);
    }

    /// Octets that begin like a supported frame, so that the parser gets beyond the frame control field.
    #[test]
    fn no_octets_make_reading_panic(
        mut octets in vec(any::<u8>(), 0..150), frame_type in 0u8..4, version in 0u8..4,
    ) {
        if let [low, high, ..] = &mut octets[..] {
            *low = *low & 0xf8 | frame_type;
            *high = *high & 0xcf | version << 4;
        }
        let _ = BeaconView::parse(&octets).map(|view| view.gts().count() + view.pending_extended().count());
        let Ok(view) = FrameView::parse(&octets) else { return Ok(()) };
        let header_ies: usize = view.header_ies().map(|ie| ie.length()).sum();
        let payload_ies: usize = view.payload_ies().map(|ie| ie.length()).sum();
        let counted = view.header().length() + header_ies + payload_ies + view.payload().len() + view.mic().len();
        // No octet counts twice. The octets that remain are termination IEs, of two octets each.
        prop_assert!(matches!(octets.len() - counted, 0 | 2 | 4), "{} of {}", counted, octets.len());
        // A frame that was read can be written, and reads as the same frame.
        let has_ies = octets[1] & 2 != 0;
        if !has_ies {
            let frame = Frame { payload: view.payload(), mic: view.mic(), ..Frame::new(view.header()) };
            let mut out = [0; 150];
            let length = frame.emit(&mut out).unwrap();
            let again = FrameView::parse(&out[..length]).unwrap();
            prop_assert_eq!(again.header(), view.header());
        }
    }
}
