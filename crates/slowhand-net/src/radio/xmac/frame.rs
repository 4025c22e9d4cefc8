//! The frames of X-MAC: version 2, extended addresses.
//!
//! Strobes and their acknowledgements are data frames with two octets of payload, as in Contiki: a dispatch octet 0 and
//! the type. RFC 4944 (section 5.1) leaves dispatch values that begin with two zero bits to frames that are not
//! 6LoWPAN, so no node takes them for data.

use crate::address::{Eui64, NodeId, PAN_ID};
use crate::radio::frame::{Error, Frame, FrameType, Header, MAX_FRAME, Security, Version};

/// The most octets of payload in a data frame.
pub const fn data_capacity(security: Option<Security>) -> usize {
    data_header(0, NodeId::ROOT, NodeId::ROOT, false, security).payload_capacity()
}

/// Octets of the acknowledgement of a data frame, without FCS.
pub const fn ack_octets(security: Option<Security>) -> usize {
    MAX_FRAME - ack_header(0, NodeId::ROOT, security).payload_capacity()
}

/// The dispatch octet of X-MAC's own frames (cxmac.c, `DISPATCH`).
const DISPATCH: u8 = 0;

/// The type of a strobe (cxmac.c, `TYPE_STROBE`).
pub const STROBE: u8 = 0x10;

/// The type of a strobe acknowledgement (cxmac.c, `TYPE_STROBE_ACK`).
pub const STROBE_ACK: u8 = 0x13;

/// Writes a data frame and returns its length.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_data(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: NodeId,
    to: NodeId,
    payload: &[u8],
    acknowledged: bool,
    security: Option<Security>,
) -> Result<usize, Error> {
    Frame { payload, ..Frame::new(data_header(sequence, from, to, acknowledged, security)) }.emit(out)
}

/// Writes a [`STROBE`] that announces the data frame with this sequence number, or a [`STROBE_ACK`] that answers it, and
/// returns its length.
pub fn write_control(
    out: &mut [u8; MAX_FRAME],
    frame_type: u8,
    sequence: u8,
    from: NodeId,
    to: NodeId,
    security: Option<Security>,
) -> usize {
    write_data(out, sequence, from, to, &[DISPATCH, frame_type], false, security)
        .expect("a strobe is shorter than the longest frame")
}

/// Writes the acknowledgement of a data frame and returns its length. It is an enhanced one, as frames of version 2 are
/// acknowledged (IEEE Std 802.15.4-2020, 6.7.4.2), without information elements.
pub fn write_ack(out: &mut [u8; MAX_FRAME], sequence: u8, to: NodeId, security: Option<Security>) -> usize {
    Frame::new(ack_header(sequence, to, security))
        .emit(out)
        .expect("an acknowledgement is shorter than the longest frame")
}

const fn ack_header(sequence: u8, to: NodeId, security: Option<Security>) -> Header {
    Header { security, ..Header::enhanced_ack(sequence, PAN_ID, Eui64::of_node(to)) }
}

const fn data_header(sequence: u8, from: NodeId, to: NodeId, ack_request: bool, security: Option<Security>) -> Header {
    let (from, to) = (Eui64::of_node(from), Eui64::of_node(to));
    Header { ack_request, security, ..Header::between(FrameType::Data, Version::V2, sequence, PAN_ID, from, to) }
}
