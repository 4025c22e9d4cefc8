//! The frames of X-MAC.
//!
//! Strobes and their acknowledgements are data frames of IEEE 802.15.4 with two octets of payload, as in Contiki: a
//! dispatch octet 0 and the type. RFC 4944 (section 5.1) leaves dispatch values that begin with two zero
//! bits to frames that are no 6LoWPAN, so nobody mistakes them for data.

use crate::address::Eui64;
use crate::radio::frame::{self, DATA_HEADER, PAN_ID};
use crate::radio::phy::MAX_PSDU;

/// Octets of a strobe or a strobe acknowledgement, without FCS.
pub const STROBE: usize = DATA_HEADER + 2;

/// Octets of the acknowledgement of a data frame, without FCS: frame control, sequence number, PAN, address.
pub const ACK: usize = 2 + 1 + 2 + 8;

/// The dispatch octet of X-MAC's own frames (cxmac.c, `DISPATCH`).
const DISPATCH: u8 = 0;

/// The type of a strobe (cxmac.c, `TYPE_STROBE`).
const TYPE_STROBE: u8 = 0x10;

/// The type of a strobe acknowledgement (cxmac.c, `TYPE_STROBE_ACK`).
const TYPE_STROBE_ACK: u8 = 0x13;

/// The bit of the frame control's first octet that asks for an acknowledgement (IEEE 802.15.4-2015, 7.2.2).
const ACK_REQUEST: u8 = 0x20;

/// Frame control of an enhanced acknowledgement without information elements: type 2, 64-bit destination, version 2.
const ACK_CONTROL: u16 = 0x2c02;

/// Writes a data frame without its FCS and returns its length, or `None` where the payload is too long.
pub fn write_data(
    out: &mut [u8; MAX_PSDU],
    sequence: u8,
    from: Eui64,
    to: Eui64,
    payload: &[u8],
    acknowledged: bool,
) -> Option<usize> {
    let length = frame::write_data(out, sequence, from, to, payload)?;
    if !acknowledged {
        out[0] &= !ACK_REQUEST;
    }
    Some(length)
}

/// Writes the strobe that announces the data frame with this sequence number.
pub fn write_strobe(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64) -> usize {
    write_control(out, sequence, from, to, TYPE_STROBE)
}

/// Writes the answer to a strobe with this sequence number.
pub fn write_strobe_ack(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64) -> usize {
    write_control(out, sequence, from, to, TYPE_STROBE_ACK)
}

/// Writes the acknowledgement of a data frame: an enhanced one, as frames of version 2 are answered
/// (IEEE 802.15.4-2015, 6.7.4.2), without information elements.
pub fn write_ack(out: &mut [u8; MAX_PSDU], sequence: u8, to: Eui64) -> usize {
    out[..2].copy_from_slice(&ACK_CONTROL.to_le_bytes());
    out[2] = sequence;
    out[3..5].copy_from_slice(&PAN_ID.to_le_bytes());
    for (octet, value) in out[5..ACK].iter_mut().zip(to.0.iter().rev()) {
        *octet = *value;
    }
    ACK
}

fn write_control(out: &mut [u8; MAX_PSDU], sequence: u8, from: Eui64, to: Eui64, kind: u8) -> usize {
    // Two octets of payload always fit.
    write_data(out, sequence, from, to, &[DISPATCH, kind], false).unwrap_or(STROBE)
}
