//! IEEE 802.15.4 frames as 6TiSCH uses them: version 2 (2015), 64-bit addresses, enhanced acknowledgements.
//!
//! Frames are kept without their frame check sequence; [`fcs`] computes it for whoever looks at the air.

use super::phy::MAX_PSDU;
use crate::address::Eui64;

/// Octets of the frame check sequence.
pub const FCS: usize = 2;

/// Octets of a data frame's header: frame control, sequence number, destination PAN, two 64-bit addresses.
pub const DATA_HEADER: usize = 2 + 1 + 2 + 8 + 8;

/// Octets that a data frame has for its payload.
pub const DATA_PAYLOAD: usize = MAX_PSDU - DATA_HEADER - FCS;

/// Octets of an enhanced acknowledgement, FCS included.
pub const ENHANCED_ACK: usize = 2 + 1 + 2 + 8 + 4 + FCS;

/// The PAN identifier of the mesh: any value but 0xffff would do.
pub const PAN_ID: u16 = 0xcafe;

/// Frame control of a data frame that asks for an acknowledgement (IEEE 802.15.4-2015, 7.2.2): type 1,
/// AR, both addresses of 64 bits, version 2. With PAN ID compression 0 that carries the destination PAN alone (table 7-2).
const DATA_CONTROL: u16 = 0xec21;

/// Frame control of a data frame that has information elements (bit 9) in front of its payload.
const DATA_WITH_IE_CONTROL: u16 = DATA_CONTROL | 1 << 9;

/// "Header termination 1" (IEEE 802.15.4-2015, table 7-7): payload IEs follow the header IEs, of which there are none.
const HEADER_TERMINATION: u16 = 0x7e << 7;

/// A payload IE of the IETF, less its length (IEEE 802.15.4-2015, 7.4.3: type 1; RFC 8137: group 0x5).
const IETF_IE: u16 = 1 << 15 | 0x5 << 11;

/// The 6top IE within the IETF's (RFC 8480, section 3.2.1; the number is IANA's).
const SIXTOP_SUBTYPE: u8 = 0xc9;

/// Octets in front of a 6P message: the header, the termination IE, the payload IE's descriptor, its subtype.
const SIXTOP_HEADER: usize = DATA_HEADER + 2 + 2 + 1;

/// Octets that a frame has for a 6P message.
pub const SIXTOP_PAYLOAD: usize = MAX_PSDU - SIXTOP_HEADER - FCS;

/// Frame control of an enhanced acknowledgement: type 2, IE present, 64-bit destination, no source, version 2.
const ACK_CONTROL: u16 = 0x2e02;

/// Header IE "ACK/NACK time correction" (IEEE 802.15.4-2015, 7.4.2.7): element 0x1e, two octets of content.
const TIME_CORRECTION: u16 = 0x1e << 7 | 2;

/// Writes a data frame without its FCS and returns its length, or `None` where the payload is too long.
pub fn write_data(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64, payload: &[u8]) -> Option<usize> {
    if payload.len() > DATA_PAYLOAD {
        return None;
    }
    write_header(out, DATA_CONTROL, sequence, from, to);
    let length = DATA_HEADER + payload.len();
    out[DATA_HEADER..length].copy_from_slice(payload);
    Some(length)
}

/// Writes a frame with a 6P message, without its FCS, and returns its length, or `None` where the message is too long.
pub fn write_sixtop(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64, message: &[u8]) -> Option<usize> {
    if message.len() > SIXTOP_PAYLOAD {
        return None;
    }
    write_header(out, DATA_WITH_IE_CONTROL, sequence, from, to);
    let ie = IETF_IE | (1 + message.len()) as u16;
    out[DATA_HEADER..DATA_HEADER + 2].copy_from_slice(&HEADER_TERMINATION.to_le_bytes());
    out[DATA_HEADER + 2..DATA_HEADER + 4].copy_from_slice(&ie.to_le_bytes());
    out[DATA_HEADER + 4] = SIXTOP_SUBTYPE;
    let length = SIXTOP_HEADER + message.len();
    out[SIXTOP_HEADER..length].copy_from_slice(message);
    Some(length)
}

/// The 6P message in a frame that [`write_sixtop`] wrote.
pub fn sixtop_message(frame: &[u8]) -> &[u8] {
    frame.get(SIXTOP_HEADER..).unwrap_or_default()
}

fn write_header(out: &mut [u8; MAX_PSDU], control: u16, sequence: u8, from: Eui64, to: Eui64) {
    out[..2].copy_from_slice(&control.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    write_address(&mut out[5..13], to);
    write_address(&mut out[13..21], from);
}

/// Writes an enhanced acknowledgement without its FCS and returns its length.
///
/// Its time correction is 0 us: all clocks of the world are one.
pub fn write_enhanced_ack(out: &mut [u8; MAX_PSDU], sequence: u8, to: Eui64) -> usize {
    out[..2].copy_from_slice(&ACK_CONTROL.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    write_address(&mut out[5..13], to);
    out[13..15].copy_from_slice(&TIME_CORRECTION.to_le_bytes());
    out[15..17].fill(0);
    ENHANCED_ACK - FCS
}

/// The frame check sequence over a frame without it (IEEE 802.15.4-2015, 7.2.10: CRC-16 of ITU-T V.41, zero
/// initial value), as sent: least significant octet first.
pub fn fcs(frame: &[u8]) -> [u8; FCS] {
    frame
        .iter()
        .fold(0, |crc: u16, &octet| {
            (0..8).fold(crc ^ u16::from(octet), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x8408 } else { 0 })
        })
        .to_le_bytes()
}

fn write_address(out: &mut [u8], address: Eui64) {
    // Least significant octet first.
    out.copy_from_slice(&u64::from_be_bytes(address.0).to_le_bytes());
}
