//! The form of the frames between two nodes. Those between a CSL receiver and its parent are of version 2, all others of
//! the earlier versions, as OpenThread chooses them (`MeshForwarder::CalcFrameVersion`).

use crate::address::{Addressing, Eui64, NodeId, PAN_ID};
use crate::radio::frame::{
    Address, DATA_REQUEST_COMMAND, Error, FCS, Frame, FrameType, Header, HeaderIe, MAX_FRAME, Security, Version,
};

/// The element ID of the CSL IE (IEEE 802.15.4-2015, table 7-7).
const CSL_IE: u8 = 0x1a;

/// Octets of the content of the CSL IE: phase and period (7.4.2.3).
const CSL_CONTENT: usize = 4;

/// Octets of the CSL IE with its descriptor.
const CSL_IE_LENGTH: usize = 2 + CSL_CONTENT;

/// Octets of the termination IE between header IEs and payload.
const TERMINATION: usize = 2;

/// aMaxMACSafePayloadSize: a data frame of the earlier versions with a longer payload must be of version 1 (IEEE Std
/// 802.15.4-2006, 7.2.3 and table 85).
const MAX_SAFE_PAYLOAD: usize = 102;

/// The form of the frames from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub addressing: Addressing,
    pub kind: Kind,
    pub security: Option<Security>,
}

/// The kind of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Version 0 or 1.
    Plain,
    /// Version 2, from a parent to a CSL receiver.
    Enhanced,
    /// Version 2 with a CSL IE that announces samples with this period.
    Csl(u16),
}

impl Form {
    /// True if the frames announce samples.
    pub const fn announces_samples(self) -> bool {
        matches!(self.kind, Kind::Csl(_))
    }

    /// The most octets of payload in a data frame.
    #[inline]
    pub const fn data_capacity(self) -> usize {
        self.any_header().payload_capacity() - self.ie_length(true)
    }

    /// Octets of a data request command, FCS included.
    #[inline]
    pub const fn data_request_octets(self) -> usize {
        MAX_FRAME - self.data_capacity() + 1 + FCS
    }

    /// Octets of an acknowledgement, FCS included.
    pub const fn ack_octets(self) -> usize {
        MAX_FRAME - self.ack_header(0, false, NodeId::ROOT).payload_capacity() + self.ie_length(false) + FCS
    }

    /// Writes a data frame that asks for an acknowledgement, and returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    #[inline]
    pub fn write_data(
        self,
        out: &mut [u8; MAX_FRAME],
        sequence: u8,
        from: NodeId,
        to: NodeId,
        payload: &[u8],
    ) -> Result<usize, Error> {
        let header = self.header(FrameType::Data, sequence, from, to);
        let version = match self.kind {
            Kind::Plain if payload.len() > MAX_SAFE_PAYLOAD => Version::V1,
            _ => header.version,
        };
        self.write(out, Header { version, ..header }, payload)
    }

    /// Writes a data request command and returns its length.
    pub fn write_data_request(self, out: &mut [u8; MAX_FRAME], sequence: u8, from: NodeId, to: NodeId) -> usize {
        self.write(out, self.header(FrameType::Command, sequence, from, to), &[DATA_REQUEST_COMMAND])
            .expect("a data request is shorter than the longest frame")
    }

    /// Writes an acknowledgement and returns its length.
    #[inline]
    pub fn write_ack(self, out: &mut [u8; MAX_FRAME], sequence: u8, frame_pending: bool, to: NodeId) -> usize {
        self.write(out, self.ack_header(sequence, frame_pending, to), &[])
            .expect("an acknowledgement is shorter than the longest frame")
    }

    /// Sets the phase in the CSL IE of a data frame or data request: the time from the first symbol of its MAC header to
    /// the next sample.
    pub fn set_phase(self, octets: &mut [u8; MAX_FRAME], phase: u16) {
        set_phase(octets, self.any_header().length(), phase);
    }

    /// Sets the phase in the CSL IE of an acknowledgement.
    pub fn set_ack_phase(self, octets: &mut [u8; MAX_FRAME], phase: u16) {
        set_phase(octets, self.ack_header(0, false, NodeId::ROOT).length(), phase);
    }

    #[inline]
    const fn address(self, node: NodeId) -> Address {
        match self.addressing {
            Addressing::Extended => Address::Extended(Eui64::of_node(node)),
            Addressing::Short => Address::Short(node.0),
        }
    }

    /// The header of some data frame. Those of all versions, and of data requests, have the same length.
    #[inline]
    const fn any_header(self) -> Header {
        self.header(FrameType::Data, 0, NodeId::ROOT, NodeId::ROOT)
    }

    /// The header of a frame that asks for an acknowledgement: a data frame, or a data request command (IEEE Std
    /// 802.15.4-2006, 7.3.4).
    #[inline]
    const fn header(self, frame_type: FrameType, sequence: u8, from: NodeId, to: NodeId) -> Header {
        let version = match self.kind {
            Kind::Plain => version_of(self.security),
            _ => Version::V2,
        };
        Header {
            ack_request: true,
            sequence: Some(sequence),
            destination_pan: Some(PAN_ID),
            destination: Some(self.address(to)),
            source: Some(self.address(from)),
            security: self.security,
            ..Header::new(frame_type, version)
        }
    }

    /// Octets of the information elements, with the one that ends them before a payload.
    const fn ie_length(self, has_payload: bool) -> usize {
        match self.kind {
            Kind::Csl(_) if has_payload => CSL_IE_LENGTH + TERMINATION,
            Kind::Csl(_) => CSL_IE_LENGTH,
            _ => 0,
        }
    }

    /// The header of an acknowledgement. Those of frames of version 2 are enhanced ones (IEEE 802.15.4-2015, 6.7.4.2), and
    /// secured if the frames are (`TxFrame::GenerateEnhAck` of OpenThread). Others have no security (IEEE Std
    /// 802.15.4-2006, 7.2.2.3).
    #[inline]
    const fn ack_header(self, sequence: u8, frame_pending: bool, to: NodeId) -> Header {
        let header = match self.kind {
            Kind::Plain => Header::new(FrameType::Ack, Version::V0),
            _ => Header {
                destination_pan: Some(PAN_ID),
                destination: Some(self.address(to)),
                security: self.security,
                ..Header::new(FrameType::Ack, Version::V2)
            },
        };
        Header { frame_pending, sequence: Some(sequence), ..header }
    }

    #[inline]
    fn write(self, out: &mut [u8; MAX_FRAME], header: Header, payload: &[u8]) -> Result<usize, Error> {
        let frame = Frame { payload, ..Frame::new(header) };
        let Kind::Csl(period) = self.kind else { return frame.emit(out) };
        let [low, high] = period.to_le_bytes();
        let content = [0, 0, low, high]; // the phase is known when the frame is sent
        Frame { header_ies: &[HeaderIe::Other { id: CSL_IE, content: &content }], ..frame }.emit(out)
    }
}

/// The earliest version that can have this security (IEEE Std 802.15.4-2006, 7.2.3).
pub const fn version_of(security: Option<Security>) -> Version {
    if security.is_some() { Version::V1 } else { Version::V0 }
}

fn set_phase(octets: &mut [u8; MAX_FRAME], header: usize, phase: u16) {
    octets[header + 2..header + 4].copy_from_slice(&phase.to_le_bytes());
}
