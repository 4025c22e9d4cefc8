//! MAC frames of IEEE Std 802.15.4-2020, of all three frame versions: the one codec of all link layers.
//!
//! [`FrameView`] is a frame as octets that were checked; [`Frame`] is a frame as a value, which can be written. Both
//! leave out the frame check sequence; [`fcs`] computes it for a capture.
//!
//! ```
//! use slowhand_net::address::{Eui64, NodeId};
//! use slowhand_net::radio::frame::{Address, Frame, FrameType, FrameView, Header, MAX_FRAME, Version};
//!
//! let header = Header {
//!     ack_request: true,
//!     sequence: Some(7),
//!     destination_pan: Some(0xcafe),
//!     destination: Some(Address::Short(0x0001)),
//!     source: Some(Address::Extended(Eui64::of_node(NodeId(2)))),
//!     ..Header::new(FrameType::Data, Version::V2)
//! };
//! let mut octets = [0; MAX_FRAME];
//! let length = Frame { payload: b"hello", ..Frame::new(header) }.emit(&mut octets)?;
//!
//! let frame = FrameView::parse(&octets[..length])?;
//! assert_eq!(frame.header(), &header);
//! assert_eq!(frame.payload(), b"hello");
//! # Ok::<(), slowhand_net::radio::frame::Error>(())
//! ```

mod address;
mod beacon;
mod cursor;
mod error;
mod header;
pub mod ie;
mod kind;
mod security;
mod view;

pub use address::Address;
pub use beacon::{BeaconFields, BeaconView, Gts, MAX_GTS, MAX_PENDING_ADDRESSES, SuperframeSpecification};
pub use error::Error;
pub use header::{Header, set_frame_pending};
pub use ie::{HeaderIe, NestedIe, NestedIes, PayloadIe, TimeCorrection};
pub use kind::{FrameType, Version};
pub use security::{KeyIdentifier, Security, SecurityLevel};
pub use view::FrameView;

use super::phy::MAX_PSDU;
use cursor::Writer;
use ie::Follows;

/// Octets of the frame check sequence.
pub const FCS: usize = 2;

/// Octets of the longest frame, its FCS left out.
pub const MAX_FRAME: usize = MAX_PSDU - FCS;

/// The command ID of the data request command, the first octet of its payload (table 7-49).
pub const DATA_REQUEST_COMMAND: u8 = 0x04;

/// A frame as a value, its FCS left out.
///
/// The IE Present field and the termination IEs follow from the lists. The payload of a secured frame is what is to be
/// encrypted, if the level asks for that, or has been.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The header IEs.
    pub header_ies: &'a [HeaderIe<'a>],
    /// The payload IEs.
    pub payload_ies: &'a [PayloadIe<'a>],
    /// The payload; of a MAC command, command ID and content.
    pub payload: &'a [u8],
    /// The message integrity code, as long as the security level asks for.
    pub mic: &'a [u8],
}

impl<'a> Frame<'a> {
    /// A frame that is a header and nothing else.
    #[inline]
    pub const fn new(header: Header) -> Self {
        Self { header, header_ies: &[], payload_ies: &[], payload: &[], mic: &[] }
    }

    /// Octets of the frame.
    #[inline]
    pub fn length(&self) -> usize {
        let header_ies: usize = self.header_ies.iter().map(HeaderIe::length).sum();
        let payload_ies: usize = self.payload_ies.iter().map(PayloadIe::length).sum();
        let terminations = match self.follows_header_ies() {
            Follows::Nothing => 0,
            Follows::PayloadIes if self.payload.is_empty() => 2,
            Follows::PayloadIes => 2 + 2,
            Follows::Payload => 2,
        };
        let ies = if self.has_ies() { header_ies + payload_ies + terminations } else { 0 };
        self.header.length() + ies + self.payload.len() + self.mic.len()
    }

    /// Writes the frame and returns its length.
    ///
    /// # Errors
    /// As [`Error`] says; [`Error::BufferTooSmall`] where `out` is too short. What `out` holds then is undefined.
    #[inline]
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut writer = Writer::new(out);
        self.header.write(self.has_ies(), &mut writer)?;
        if self.has_ies() {
            self.write_ies(&mut writer)?;
        }
        writer.slice(self.payload)?;
        let expected = self.header.mic_length();
        if self.mic.len() != expected {
            return Err(Error::MicLength { expected, found: self.mic.len() });
        }
        writer.slice(self.mic)?;
        Ok(writer.written())
    }

    #[inline]
    fn write_ies(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        for ie in self.header_ies {
            ie.write(writer)?;
        }
        ie::write_header_termination(self.follows_header_ies(), writer)?;
        for ie in self.payload_ies {
            ie.write(writer)?;
        }
        if !self.payload_ies.is_empty() && !self.payload.is_empty() {
            ie::write_payload_termination(writer)?;
        }
        Ok(())
    }

    #[inline]
    const fn has_ies(&self) -> bool {
        !self.header_ies.is_empty() || !self.payload_ies.is_empty()
    }

    #[inline]
    const fn follows_header_ies(&self) -> Follows {
        match (self.payload_ies.is_empty(), self.payload.is_empty()) {
            (false, _) => Follows::PayloadIes,
            (true, false) => Follows::Payload,
            (true, true) => Follows::Nothing,
        }
    }
}

/// The frame check sequence over a frame without it (7.2.11: the CRC of 16 bits of ITU-T, initial value zero), as it
/// is sent: least significant octet first.
pub fn fcs(frame: &[u8]) -> [u8; FCS] {
    frame
        .iter()
        .fold(0, |crc: u16, &octet| {
            (0..8).fold(crc ^ u16::from(octet), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x8408 } else { 0 })
        })
        .to_le_bytes()
}
