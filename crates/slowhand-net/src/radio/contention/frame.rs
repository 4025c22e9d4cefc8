//! Acknowledgements of versions 0 and 1 (IEEE Std 802.15.4-2006, 7.2). They have no security (7.2.2.3).

use crate::radio::frame::{FCS, Frame, FrameType, Header, MAX_FRAME, Security, Version};

/// Octets of an acknowledgement, FCS included (7.2.2.3).
pub const ACK: usize = ack_header(0, false).length() + FCS;

/// The earliest version that can have this security (7.2.3).
pub const fn version_of(security: Option<Security>) -> Version {
    if security.is_some() { Version::V1 } else { Version::V0 }
}

/// Writes an acknowledgement and returns its length.
#[inline]
pub fn write_ack(out: &mut [u8; MAX_FRAME], sequence: u8, frame_pending: bool) -> usize {
    Frame::new(ack_header(sequence, frame_pending))
        .emit(out)
        .expect("an acknowledgment is shorter than the longest frame")
}

const fn ack_header(sequence: u8, frame_pending: bool) -> Header {
    Header { frame_pending, sequence: Some(sequence), ..Header::new(FrameType::Ack, Version::V0) }
}
