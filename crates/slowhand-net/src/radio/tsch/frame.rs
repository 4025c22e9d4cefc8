//! The frames of TSCH, as 6TiSCH uses them: version 2, extended addresses, enhanced acknowledgments.

use crate::address::{Eui64, PAN_ID};
use crate::radio::frame::ie::SIXTOP;
use crate::radio::frame::{
    Error, FCS, Frame, FrameType, FrameView, Header, HeaderIe, MAX_FRAME, PayloadIe, Template, TimeCorrection, Version,
};

/// The most octets of payload in a data frame.
pub const DATA_CAPACITY: usize = MAX_FRAME - data_header(0, Eui64([0; 8]), Eui64([0; 8])).length();

/// Octets of an enhanced acknowledgment, FCS included.
pub const ENHANCED_ACK: usize = Header::enhanced_ack(0, PAN_ID, Eui64([0; 8])).length() + SYNCHRONISED.length() + FCS;

/// The time correction is always 0 us: all nodes share one clock.
const SYNCHRONISED: HeaderIe<'_> = HeaderIe::TimeCorrection(TimeCorrection { microseconds: 0, nack: false });

/// The template of data frames, which ask for an acknowledgment.
pub fn data(from: Eui64, to: Eui64) -> Template {
    Template::new(&Frame::new(data_header(0, from, to))).expect("a header with a sequence number is a template")
}

/// The template of enhanced acknowledgments to the sender of a data frame.
pub fn enhanced_ack(to: Eui64) -> Template {
    Template::new(&Frame { header_ies: &[SYNCHRONISED], ..Frame::new(Header::enhanced_ack(0, PAN_ID, to)) })
        .expect("a header and one information element are a template")
}

/// Writes a frame with a 6P message that asks for an acknowledgment. Returns the length of the frame.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_sixtop(
    out: &mut [u8; MAX_FRAME],
    sequence: u8,
    from: Eui64,
    to: Eui64,
    message: &[u8],
) -> Result<usize, Error> {
    let payload_ies = &[PayloadIe::Ietf { subtype: SIXTOP, content: message }];
    Frame { payload_ies, ..Frame::new(data_header(sequence, from, to)) }.emit(out)
}

/// The 6P message in a frame, if it has one.
pub fn sixtop_message(frame: &[u8]) -> Option<&[u8]> {
    FrameView::parse(frame).ok()?.payload_ies().find_map(|ie| match ie {
        PayloadIe::Ietf { subtype: SIXTOP, content } => Some(content),
        _ => None,
    })
}

const fn data_header(sequence: u8, from: Eui64, to: Eui64) -> Header {
    Header { ack_request: true, ..Header::between(FrameType::Data, Version::V2, sequence, PAN_ID, from, to) }
}
