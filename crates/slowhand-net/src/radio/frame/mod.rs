//! MAC frames of IEEE Std 802.15.4-2020, in all three frame versions. All link layers use this codec.
//!
//! [`FrameView`] is a frame as checked octets. [`Frame`] is a frame as a value, which can be written. Both leave out
//! the frame check sequence; [`fcs`] computes it for a capture.
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
//! assert_eq!(frame.header(), header);
//! assert_eq!(frame.payload(), b"hello");
//! # Ok::<(), slowhand_net::radio::frame::Error>(())
//! ```

mod address;
mod beacon;
mod ccm;
mod cursor;
mod error;
mod header;
pub mod ie;
mod kind;
mod security;
mod template;
mod value;
mod view;

pub use address::Address;
pub use beacon::{BeaconFields, BeaconView, Gts, MAX_GTS, MAX_PENDING_ADDRESSES, SuperframeSpecification};
pub use ccm::{Key, protect};
pub use error::Error;
pub use header::{Header, set_frame_pending};
pub use ie::{HeaderIe, NestedIe, NestedIes, PayloadIe, TimeCorrection};
pub use kind::{FCS, FrameType, MAX_FRAME, Version};
pub use security::{KeyIdentifier, Security, SecurityLevel};
pub use template::Template;
pub use value::Frame;
pub use view::FrameView;

/// The command ID of the data request command, the first octet of its payload (table 7-49).
pub const DATA_REQUEST_COMMAND: u8 = 0x04;

/// The frame check sequence of a frame (7.2.11): the 16-bit CRC of ITU-T with initial value zero, in the order in which
/// it is sent, least significant octet first. `frame` has no frame check sequence yet.
pub fn fcs(frame: &[u8]) -> [u8; FCS] {
    frame
        .iter()
        .fold(0, |crc: u16, &octet| {
            (0..8).fold(crc ^ u16::from(octet), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x8408 } else { 0 })
        })
        .to_le_bytes()
}
