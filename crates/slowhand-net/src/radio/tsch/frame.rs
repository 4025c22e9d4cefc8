//! The frames of TSCH, as 6TiSCH uses them: version 2, extended addresses, enhanced acknowledgments.

use crate::address::{Eui64, PAN_ID};
use crate::radio::frame::ie::SIXTOP;
use crate::radio::frame::{
    Address, Error, FCS, Frame, FrameType, FrameView, Header, HeaderIe, MAX_FRAME, PayloadIe, Security, Template,
    TimeCorrection, Version,
};

/// An address where any will do.
const ANY: Eui64 = Eui64([0; 8]);

/// The most octets of payload in a data frame.
pub const fn data_capacity(security: Option<Security>) -> usize {
    data_header(0, ANY, ANY, security).payload_capacity()
}

/// Octets of an enhanced acknowledgment, FCS included. `with_source` is true if it has the address of its sender.
pub const fn ack_octets(security: Option<Security>, with_source: bool) -> usize {
    let source = if with_source { Some(ANY) } else { None };
    MAX_FRAME - ack_header(source, ANY, security).payload_capacity() + SYNCHRONISED.length() + FCS
}

/// The time correction is always 0 us: all nodes share one clock.
const SYNCHRONISED: HeaderIe<'_> = HeaderIe::TimeCorrection(TimeCorrection { microseconds: 0, nack: false });

/// The template of data frames, which ask for an acknowledgment.
pub fn data(from: Eui64, to: Eui64, security: Option<Security>) -> Template {
    Template::new(&Frame::new(data_header(0, from, to, security)))
        .expect("a header with a sequence number is a template")
}

/// The template of enhanced acknowledgments to the sender of data frames. They have a source address if `from` is given.
pub fn enhanced_ack(from: Option<Eui64>, to: Eui64, security: Option<Security>) -> Template {
    Template::new(&Frame { header_ies: &[SYNCHRONISED], ..Frame::new(ack_header(from, to, security)) })
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
    security: Option<Security>,
    message: &[u8],
) -> Result<usize, Error> {
    let payload_ies = &[PayloadIe::Ietf { subtype: SIXTOP, content: message }];
    Frame { payload_ies, ..Frame::new(data_header(sequence, from, to, security)) }.emit(out)
}

/// The 6P message in a frame that is not encrypted yet, if it has one.
pub fn sixtop_message(frame: &[u8]) -> Option<&[u8]> {
    FrameView::parse_decrypted(frame).ok()?.payload_ies().find_map(|ie| match ie {
        PayloadIe::Ietf { subtype: SIXTOP, content } => Some(content),
        _ => None,
    })
}

const fn data_header(sequence: u8, from: Eui64, to: Eui64, security: Option<Security>) -> Header {
    Header { ack_request: true, security, ..Header::between(FrameType::Data, Version::V2, sequence, PAN_ID, from, to) }
}

const fn ack_header(from: Option<Eui64>, to: Eui64, security: Option<Security>) -> Header {
    let source = match from {
        None => None,
        Some(from) => Some(Address::Extended(from)),
    };
    Header { source, security, ..Header::enhanced_ack(0, PAN_ID, to) }
}
