//! The frames of a non-beacon PAN. Frames between a CSL receiver and its parent are of version 2, all others of the
//! earlier versions, as OpenThread chooses them (`MeshForwarder::CalcFrameVersion`).

use crate::address::{Eui64, NodeId, PAN_ID};
use crate::radio::contention::{self, data_header, data_request_header};
use crate::radio::frame::{
    Address, DATA_REQUEST_COMMAND, Error, FCS, Frame, FrameType, Header, HeaderIe, MAX_FRAME, Version,
};

pub use crate::radio::frame::set_frame_pending;

/// The element ID of the CSL IE (IEEE 802.15.4-2015, table 7-7).
const CSL_IE: u8 = 0x1a;

/// Octets of the content of the CSL IE: phase and period (7.4.2.3).
const CSL_CONTENT: usize = 4;

/// Octets of the CSL IE with its descriptor.
const CSL_IE_LENGTH: usize = 2 + CSL_CONTENT;

/// Octets of the termination IE between header IEs and payload.
const TERMINATION: usize = 2;

/// The form of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Version 0 or 1.
    Plain,
    /// Version 2, from a parent to a CSL receiver.
    Enhanced,
    /// Version 2 with a CSL IE that announces samples with this period.
    Csl(u16),
}

/// The address of a node in the MAC header.
pub const fn address(node: NodeId) -> Address {
    Address::Extended(Eui64::of_node(node))
}

/// The most octets of payload in a data frame of this form.
pub const fn data_capacity(form: Form) -> usize {
    let header = data_header(Version::V2, 0, address(NodeId::ROOT), address(NodeId::ROOT)).length();
    match form {
        Form::Plain | Form::Enhanced => MAX_FRAME - header,
        Form::Csl(_) => MAX_FRAME - header - CSL_IE_LENGTH - TERMINATION,
    }
}

/// Writes a data frame that asks for an acknowledgment, and returns its length.
///
/// # Errors
/// [`Error::BufferTooSmall`].
pub fn write_data(
    out: &mut [u8; MAX_FRAME],
    form: Form,
    sequence: u8,
    from: NodeId,
    to: NodeId,
    payload: &[u8],
) -> Result<usize, Error> {
    match form {
        Form::Plain => contention::write_data(out, sequence, address(from), address(to), payload),
        _ => write_enhanced(out, form, data_header(Version::V2, sequence, address(from), address(to)), payload),
    }
}

/// Writes a data request command and returns its length.
pub fn write_data_request(out: &mut [u8; MAX_FRAME], form: Form, sequence: u8, from: NodeId, to: NodeId) -> usize {
    let (from, to) = (address(from), address(to));
    match form {
        Form::Plain => contention::write_data_request(out, sequence, from, to),
        _ => {
            let header = data_request_header(Version::V2, sequence, from, to);
            write_enhanced(out, form, header, &[DATA_REQUEST_COMMAND])
                .expect("a data request is shorter than the longest frame")
        }
    }
}

/// Octets of a data request command of this form, FCS included.
pub const fn data_request_octets(form: Form) -> usize {
    let header = data_request_header(Version::V2, 0, address(NodeId::ROOT), address(NodeId::ROOT)).length();
    match form {
        Form::Plain | Form::Enhanced => header + 1 + FCS,
        Form::Csl(_) => header + CSL_IE_LENGTH + TERMINATION + 1 + FCS,
    }
}

/// Writes an acknowledgment and returns its length. Those of frames of version 2 are enhanced ones (IEEE 802.15.4-2015,
/// 6.7.4.2), and those of a CSL receiver have the form [`Form::Csl`].
pub fn write_ack(out: &mut [u8; MAX_FRAME], form: Form, sequence: u8, frame_pending: bool, to: NodeId) -> usize {
    match form {
        Form::Plain => contention::write_ack(out, sequence, frame_pending),
        _ => write_enhanced(out, form, enhanced_ack(sequence, frame_pending, to), &[])
            .expect("an acknowledgment is shorter than the longest frame"),
    }
}

/// Octets of an acknowledgment of this form, FCS included.
pub const fn ack_octets(form: Form) -> usize {
    match form {
        Form::Plain => contention::ACK,
        Form::Enhanced => ACK_HEADER + FCS,
        Form::Csl(_) => ACK_HEADER + CSL_IE_LENGTH + FCS,
    }
}

/// Sets the phase in the CSL IE of a frame of the form [`Form::Csl`]: the time from the first symbol of its MAC header
/// to the next sample.
pub fn set_csl_phase(octets: &mut [u8], header: usize, phase: u16) {
    octets[header + 2..header + 4].copy_from_slice(&phase.to_le_bytes());
}

/// Octets of the header of a data frame or data request, which the CSL IE follows.
pub const REQUEST_HEADER: usize = data_header(Version::V2, 0, address(NodeId::ROOT), address(NodeId::ROOT)).length();

/// Octets of the header of an enhanced acknowledgment, which the CSL IE follows.
pub const ACK_HEADER: usize = enhanced_ack(0, false, NodeId::ROOT).length();

fn write_enhanced(out: &mut [u8; MAX_FRAME], form: Form, header: Header, payload: &[u8]) -> Result<usize, Error> {
    let frame = Frame { payload, ..Frame::new(header) };
    let Form::Csl(period) = form else { return frame.emit(out) };
    let [low, high] = period.to_le_bytes();
    let content = [0, 0, low, high]; // the phase is known when the frame is sent
    Frame { header_ies: &[HeaderIe::Other { id: CSL_IE, content: &content }], ..frame }.emit(out)
}

const fn enhanced_ack(sequence: u8, frame_pending: bool, to: NodeId) -> Header {
    Header {
        frame_pending,
        sequence: Some(sequence),
        destination_pan: Some(PAN_ID),
        destination: Some(address(to)),
        ..Header::new(FrameType::Ack, Version::V2)
    }
}
