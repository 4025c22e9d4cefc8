//! The frames of a beacon-enabled PAN: versions 0 and 1 (IEEE 802.15.4-2006, 7.2 and 7.3), 64-bit addresses.
//!
//! A data frame's header has as many octets as the one of [`crate::radio::frame`], so that the layer above
//! has the same room in every MAC.

use super::config::Superframe;
use crate::address::Eui64;
use crate::radio::frame::{DATA_HEADER, DATA_PAYLOAD, FCS, PAN_ID};
use crate::radio::phy::MAX_PSDU;

/// Octets of an acknowledgement, FCS included (7.2.2.3).
pub const ACK: usize = 2 + 1 + FCS;

/// Octets of a data request command, FCS included (7.3.4).
pub const DATA_REQUEST: usize = DATA_HEADER + 1 + FCS;

/// How many addresses a beacon can list (7.2.2.1.6).
pub const MAX_PENDING_ADDRESSES: usize = 7;

/// Type 0, source address of 64 bits with its PAN, no destination.
const BEACON_CONTROL: u16 = 0xc000;
/// Type 1, acknowledgement requested, both addresses of 64 bits in one PAN.
const DATA_CONTROL: u16 = 0xcc61;
/// Type 2, no addresses.
const ACK_CONTROL: u16 = 0x0002;
/// Type 3, otherwise as data.
const COMMAND_CONTROL: u16 = 0xcc63;
/// The frame pending subfield.
const FRAME_PENDING: u16 = 1 << 4;
/// Frame version 1.
const VERSION_2006: u16 = 1 << 12;

/// aMaxMACSafePayloadSize: a data frame with a longer payload must be of version 1 (7.2.3, table 85).
const MAX_SAFE_PAYLOAD: usize = 102;

/// Command frame identifier of the data request (table 82).
const DATA_REQUEST_COMMAND: u8 = 0x04;

/// Octets of a beacon that lists so many addresses, FCS included.
pub const fn beacon_octets(pending: usize) -> usize {
    // Frame control, number, PAN, address; superframe, GTS and pending address specification.
    2 + 1 + 2 + 8 + 2 + 1 + 1 + 8 * pending + FCS
}

/// Writes a beacon without its FCS and returns its length.
///
/// The contention access period ends with the active period, nobody has a guaranteed slot, no association is
/// permitted, and all `pending` addresses (at most [`MAX_PENDING_ADDRESSES`]) have 64 bits.
pub fn write_beacon(
    out: &mut [u8; MAX_PSDU],
    sequence: u8,
    from: Eui64,
    superframe: Superframe,
    pan_coordinator: bool,
    pending: impl ExactSizeIterator<Item = Eui64>,
) -> usize {
    let (beacon_order, superframe_order) = superframe.orders();
    let final_cap_slot = 15;
    let specification = u16::from(beacon_order)
        | u16::from(superframe_order) << 4
        | final_cap_slot << 8
        | u16::from(pan_coordinator) << 14;
    out[..2].copy_from_slice(&BEACON_CONTROL.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    write_address(&mut out[5..13], from);
    out[13..15].copy_from_slice(&specification.to_le_bytes());
    out[15] = 0;
    out[16] = (pending.len() as u8) << 4;
    let mut length = 17;
    for address in pending.take(MAX_PENDING_ADDRESSES) {
        write_address(&mut out[length..length + 8], address);
        length += 8;
    }
    length
}

/// Writes a data frame that asks for an acknowledgement, without its FCS, and returns its length; `None` where the
/// payload is too long.
pub fn write_data(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64, payload: &[u8]) -> Option<usize> {
    if payload.len() > DATA_PAYLOAD {
        return None;
    }
    let version = if payload.len() > MAX_SAFE_PAYLOAD { VERSION_2006 } else { 0 };
    write_header(out, DATA_CONTROL | version, sequence, from, to);
    let length = DATA_HEADER + payload.len();
    out[DATA_HEADER..length].copy_from_slice(payload);
    Some(length)
}

/// Says in a frame's header that its sender has more for the addressee (7.2.1.1.3).
pub fn set_frame_pending(frame: &mut [u8]) {
    frame[0] |= FRAME_PENDING as u8;
}

/// Writes a data request command without its FCS and returns its length.
pub fn write_data_request(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64) -> usize {
    write_header(out, COMMAND_CONTROL, sequence, from, to);
    out[DATA_HEADER] = DATA_REQUEST_COMMAND;
    DATA_REQUEST - FCS
}

/// Writes an acknowledgement without its FCS and returns its length.
pub fn write_ack(out: &mut [u8; MAX_PSDU], sequence: u8, frame_pending: bool) -> usize {
    let control = if frame_pending { ACK_CONTROL | FRAME_PENDING } else { ACK_CONTROL };
    out[..2].copy_from_slice(&control.to_le_bytes());
    out[2] = sequence;
    ACK - FCS
}

fn write_header(out: &mut [u8; MAX_PSDU], control: u16, sequence: u8, from: Eui64, to: Eui64) {
    out[..2].copy_from_slice(&control.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    write_address(&mut out[5..13], to);
    write_address(&mut out[13..DATA_HEADER], from);
}

fn write_address(out: &mut [u8], address: Eui64) {
    for (octet, value) in out.iter_mut().zip(address.0.iter().rev()) {
        *octet = *value;
    }
}
