//! Sizes, frame types and frame versions.

use super::error::Error;
use crate::radio::phy::MAX_PSDU;

/// Octets of the frame check sequence.
pub const FCS: usize = 2;

/// Octets of the longest frame, without its FCS.
pub const MAX_FRAME: usize = MAX_PSDU - FCS;

/// The position of the sequence number, if a frame has one: after the frame control field.
pub(super) const SEQUENCE: usize = 2;

/// The frame type (table 7-1). Multipurpose, fragment and extended frames are not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// A beacon; an enhanced beacon in version 2.
    Beacon = 0,
    /// A data frame.
    Data = 1,
    /// An acknowledgement: immediate in versions 0 and 1, enhanced in version 2.
    Ack = 2,
    /// A MAC command.
    Command = 3,
}

/// The frame version (table 7-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Version {
    /// IEEE Std 802.15.4-2003.
    V0 = 0,
    /// IEEE Std 802.15.4-2006.
    V1 = 1,
    /// IEEE Std 802.15.4-2015 and later.
    V2 = 2,
}

impl Version {
    /// The version in these two bits.
    #[inline]
    pub(super) const fn from_bits(bits: u16) -> Result<Self, Error> {
        match bits & 0b11 {
            0 => Ok(Self::V0),
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            reserved => Err(Error::Version(reserved as u8)),
        }
    }
}
