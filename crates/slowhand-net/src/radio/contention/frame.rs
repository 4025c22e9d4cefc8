//! Data frames, data requests and acknowledgments of versions 0 and 1 (IEEE Std 802.15.4-2006, 7.2 and 7.3).
//! Acknowledgments of these versions have no security (7.2.2.3).

use crate::address::PAN_ID;
use crate::radio::frame::{
    Address, DATA_REQUEST_COMMAND, Error, FCS, Frame, FrameType, Header, MAX_FRAME, Security, Version,
};

/// Octets of an acknowledgment, FCS included (7.2.2.3).
pub const ACK: usize = ack_header(0, false).length() + FCS;

/// aMaxMACSafePayloadSize: a data frame with a longer payload must be of version 1 (7.2.3, table 85).
const MAX_SAFE_PAYLOAD: usize = 102;

/// Writes a data frame that asks for an acknowledgment, and returns its length.
///
/// # Errors
/// [`Error::BufferTooSmall`].
#[inline]
pub fn write_data(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Address,
    to: Address,
    security: Option<Security>,
    payload: &[u8],
) -> Result<usize, Error> {
    let version = if payload.len() > MAX_SAFE_PAYLOAD { Version::V1 } else { version_of(security) };
    Frame { payload, ..Frame::new(data_header(version, sequence, from, to, security)) }.emit(out)
}

/// Writes a data request command and returns its length.
pub fn write_data_request(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Address,
    to: Address,
    security: Option<Security>,
) -> usize {
    let header = data_request_header(version_of(security), sequence, from, to, security);
    Frame { payload: &[DATA_REQUEST_COMMAND], ..Frame::new(header) }
        .emit(out)
        .expect("a data request is shorter than the longest frame")
}

/// The earliest version that can have this security (7.2.3).
pub const fn version_of(security: Option<Security>) -> Version {
    if security.is_some() { Version::V1 } else { Version::V0 }
}

/// Writes an acknowledgment and returns its length.
#[inline]
pub fn write_ack(out: &mut [u8; MAX_FRAME], sequence: u8, frame_pending: bool) -> usize {
    Frame::new(ack_header(sequence, frame_pending))
        .emit(out)
        .expect("an acknowledgment is shorter than the longest frame")
}

/// The header of a data frame that asks for an acknowledgment.
pub const fn data_header(
    version: Version,
    sequence: u8,
    from: Address,
    to: Address,
    security: Option<Security>,
) -> Header {
    header(FrameType::Data, version, sequence, from, to, security)
}

/// The header of a data request command (7.3.4).
pub const fn data_request_header(
    version: Version,
    sequence: u8,
    from: Address,
    to: Address,
    security: Option<Security>,
) -> Header {
    header(FrameType::Command, version, sequence, from, to, security)
}

const fn header(
    frame_type: FrameType,
    version: Version,
    sequence: u8,
    from: Address,
    to: Address,
    security: Option<Security>,
) -> Header {
    Header {
        ack_request: true,
        sequence: Some(sequence),
        destination_pan: Some(PAN_ID),
        destination: Some(to),
        source: Some(from),
        security,
        ..Header::new(frame_type, version)
    }
}

const fn ack_header(sequence: u8, frame_pending: bool) -> Header {
    Header { frame_pending, sequence: Some(sequence), ..Header::new(FrameType::Ack, Version::V0) }
}
