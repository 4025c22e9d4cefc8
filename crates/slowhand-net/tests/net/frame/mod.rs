//! The codec of IEEE 802.15.4 frames: against octets derived by hand, against tshark, and by properties.

mod ccm;
mod properties;
mod refused;
mod tshark;
mod vectors;

use slowhand_net::address::Eui64;
use slowhand_net::radio::frame::{
    Address, Error, Frame, FrameType, Gts, Header, KeyIdentifier, MAX_FRAME, Security, SecurityLevel,
    SuperframeSpecification, Version,
};
use slowhand_testing::hex::octets;

const PAN: u16 = 0xcafe;
const OTHER_PAN: u16 = 0xbeef;
const DESTINATION_16: Address = Address::Short(0x1234);
const SOURCE_16: Address = Address::Short(0x5678);
const DESTINATION_64: Address = Address::Extended(Eui64([0x02, 0x12, 0x74, 0x00, 0x00, 0x00, 0x00, 0x01]));
const SOURCE_64: Address = Address::Extended(Eui64([0xac, 0xde, 0x48, 0x00, 0x00, 0x00, 0x00, 0x80]));

/// The superframe of a beacon, each field another number.
const SUPERFRAME: SuperframeSpecification = SuperframeSpecification {
    beacon_order: 6,
    superframe_order: 2,
    final_cap_slot: 13,
    battery_life_extension: true,
    pan_coordinator: true,
    association_permit: true,
};
const GUARANTEED_SLOTS: [Gts; 2] = [
    Gts { device: 0x1234, starting_slot: 14, slots: 1, receive_only: false },
    Gts { device: 0x5678, starting_slot: 15, slots: 1, receive_only: true },
];

/// Writes a frame, and checks its length.
fn emit(frame: &Frame<'_>) -> Result<Vec<u8>, Error> {
    let mut out = [0xee; MAX_FRAME];
    let length = frame.emit(&mut out)?;
    assert_eq!(length, frame.length());
    Ok(out[..length].to_vec())
}

/// A header and its octets, derived by hand.
struct Vector {
    header: Header,
    octets: Vec<u8>,
}

type Row = (Version, Option<u16>, Option<Address>, Option<u16>, Option<Address>, &'static str);

/// Data frames with sequence number 0x2a and each combination of addresses and PAN IDs.
///
/// The frame control field is, from its least significant bit: type 1 (data), PAN ID compression 0x0040, destination
/// mode 0x0800 (short) or 0x0c00 (extended), version 0x1000 or 0x2000, source mode 0x8000 (short) or 0xc000 (extended).
/// Rows of version 2 are those of table 7-2 of IEEE Std 802.15.4-2020, in its order.
fn addressing() -> Vec<Vector> {
    use Version::{V0, V1, V2};
    let (pan, other) = (Some(PAN), Some(OTHER_PAN));
    let (d16, d64, s16, s64) = (Some(DESTINATION_16), Some(DESTINATION_64), Some(SOURCE_16), Some(SOURCE_64));
    let rows: [Row; 33] = [
        (V2, None, None, None, None, "0120 2a"),
        (V2, pan, None, None, None, "4120 2a feca"),
        (V2, pan, d16, None, None, "0128 2a feca 3412"),
        (V2, pan, d64, None, None, "012c 2a feca 0100000000741202"),
        (V2, None, d16, None, None, "4128 2a 3412"),
        (V2, None, d64, None, None, "412c 2a 0100000000741202"),
        (V2, None, None, other, s16, "01a0 2a efbe 7856"),
        (V2, None, None, other, s64, "01e0 2a efbe 800000000048deac"),
        (V2, None, None, None, s16, "41a0 2a 7856"),
        (V2, None, None, None, s64, "41e0 2a 800000000048deac"),
        (V2, pan, d64, None, s64, "01ec 2a feca 0100000000741202 800000000048deac"),
        (V2, None, d64, None, s64, "41ec 2a 0100000000741202 800000000048deac"),
        (V2, pan, d16, other, s16, "01a8 2a feca 3412 efbe 7856"),
        (V2, pan, d16, other, s64, "01e8 2a feca 3412 efbe 800000000048deac"),
        (V2, pan, d64, other, s16, "01ac 2a feca 0100000000741202 efbe 7856"),
        (V2, pan, d16, None, s64, "41e8 2a feca 3412 800000000048deac"),
        (V2, pan, d64, None, s16, "41ac 2a feca 0100000000741202 7856"),
        (V2, pan, d16, None, s16, "41a8 2a feca 3412 7856"),
        (V0, None, None, None, None, "0100 2a"),
        (V0, pan, d16, None, None, "0108 2a feca 3412"),
        (V0, pan, d64, None, None, "010c 2a feca 0100000000741202"),
        (V0, None, None, other, s16, "0180 2a efbe 7856"),
        (V0, None, None, other, s64, "01c0 2a efbe 800000000048deac"),
        (V0, pan, d16, other, s16, "0188 2a feca 3412 efbe 7856"),
        (V0, pan, d16, other, s64, "01c8 2a feca 3412 efbe 800000000048deac"),
        (V0, pan, d64, other, s16, "018c 2a feca 0100000000741202 efbe 7856"),
        (V0, pan, d64, other, s64, "01cc 2a feca 0100000000741202 efbe 800000000048deac"),
        (V0, pan, d16, None, s16, "4188 2a feca 3412 7856"),
        (V0, pan, d64, None, s64, "41cc 2a feca 0100000000741202 800000000048deac"),
        (V1, pan, d64, None, s64, "41dc 2a feca 0100000000741202 800000000048deac"),
        (V1, pan, d64, other, s64, "01dc 2a feca 0100000000741202 efbe 800000000048deac"),
        (V1, pan, d16, None, s64, "41d8 2a feca 3412 800000000048deac"),
        (V1, pan, d64, None, s16, "419c 2a feca 0100000000741202 7856"),
    ];
    let vector = |(version, destination_pan, destination, source_pan, source, hexadecimal)| Vector {
        header: Header {
            sequence: Some(0x2a),
            destination_pan,
            destination,
            source_pan,
            source,
            ..Header::new(FrameType::Data, version)
        },
        octets: octets(hexadecimal),
    };
    rows.map(vector).into()
}

/// Data frames from 0x5678 to 0x1234 in one PAN with each security level and each key identifier mode.
///
/// The security control field is level, key identifier mode times 8, 0x20 without frame counter, 0x40 with the ASN in the
/// nonce. The frame control field has security enabled: 0x0008.
fn secured() -> Vec<Vector> {
    use SecurityLevel as Level;
    use Version::{V1, V2};
    let counter = Some(0x0102_0304);
    let index = KeyIdentifier::Index(7);
    let source4 = KeyIdentifier::Source4 { source: [0xfe, 0xca, 0x34, 0x12], index: 8 };
    let source8 = KeyIdentifier::Source8 { source: [1, 0, 0, 0, 0, 0x74, 0x12, 2], index: 255 };
    let rows = [
        (V2, Level::None, counter, false, KeyIdentifier::Implicit, "00 04030201"),
        (V2, Level::Mic32, counter, false, index, "09 04030201 07"),
        (V2, Level::Mic64, counter, false, source4, "12 04030201 feca3412 08"),
        (V2, Level::Mic128, counter, false, source8, "1b 04030201 0100000000741202 ff"),
        (V2, Level::Enc, counter, false, KeyIdentifier::Implicit, "04 04030201"),
        (V2, Level::EncMic32, None, true, index, "6d 07"),
        (V2, Level::EncMic64, None, true, source4, "76 feca3412 08"),
        (V2, Level::EncMic128, None, false, source8, "3f 0100000000741202 ff"),
        (V2, Level::EncMic128, counter, true, KeyIdentifier::Implicit, "47 04030201"),
        (V1, Level::Mic32, counter, false, KeyIdentifier::Implicit, "01 04030201"),
        (V1, Level::EncMic64, counter, false, index, "0e 04030201 07"),
        (V1, Level::EncMic128, counter, false, source8, "1f 04030201 0100000000741202 ff"),
    ];
    let vector = |(version, level, frame_counter, asn_in_nonce, key, hexadecimal): (_, _, _, _, _, &str)| {
        let control = if version == V2 { "49a8" } else { "4998" };
        Vector {
            header: Header {
                sequence: Some(0x2a),
                destination_pan: Some(PAN),
                destination: Some(DESTINATION_16),
                source: Some(SOURCE_16),
                security: Some(Security { level, frame_counter, asn_in_nonce, key }),
                ..Header::new(FrameType::Data, version)
            },
            octets: octets(&format!("{control} 2a feca 3412 7856 {hexadecimal}")),
        }
    };
    rows.map(vector).into()
}
