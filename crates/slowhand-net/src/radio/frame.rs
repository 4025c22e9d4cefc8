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

/// Frame control of an enhanced acknowledgement: type 2, IE present, 64-bit destination, no source, version 2.
const ACK_CONTROL: u16 = 0x2e02;

/// Header IE "ACK/NACK time correction" (IEEE 802.15.4-2015, 7.4.2.7): element 0x1e, two octets of content.
const TIME_CORRECTION: u16 = 0x1e << 7 | 2;

/// Writes a data frame without its FCS and returns its length, or `None` where the payload is too long.
pub fn write_data(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64, payload: &[u8]) -> Option<usize> {
    if payload.len() > DATA_PAYLOAD {
        return None;
    }
    out[..2].copy_from_slice(&DATA_CONTROL.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    write_address(&mut out[5..13], to);
    write_address(&mut out[13..21], from);
    let length = DATA_HEADER + payload.len();
    out[DATA_HEADER..length].copy_from_slice(payload);
    Some(length)
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
    for (octet, value) in out.iter_mut().zip(address.0.iter().rev()) {
        *octet = *value;
    }
}
