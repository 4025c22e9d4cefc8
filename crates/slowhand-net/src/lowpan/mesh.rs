//! The mesh addressing header (RFC 4944 section 5.2) with 16-bit addresses, before all else in a frame payload:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1 0|V|F|HopsLft|       originator address      | final address
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! V and F are 1: both addresses have 16 bits. From 15 hops on, the field is 15 and an octet with the hops follows it.

use super::Error;
use super::cursor::{Reader, Writer};

/// 10 in the first two bits.
const DISPATCH: u8 = 0b10;

/// Both addresses have 16 bits.
const SHORT_ADDRESSES: u8 = 0b0011_0000;

/// In the place of the hops: an octet with them follows.
const DEEP_HOPS: u8 = 0b1111;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshHeader {
    /// The number of further nodes that may pass the frame on: as in OpenThread, which passes on a frame with 1 here. By RFC 4944
    /// section 5.2 it would be one node fewer.
    pub hops_left: u8,
    /// The node that made the frame.
    pub originator: u16,
    /// The node for which it is.
    pub destination: u16,
}

impl MeshHeader {
    /// The octets of the longest header.
    pub const MAX_LENGTH: usize = 6;

    /// True if a frame payload that begins with `octet` has the header.
    pub const fn is_dispatch(octet: u8) -> bool {
        octet >> 6 == DISPATCH
    }

    /// The octets of the header.
    pub const fn length(self) -> usize {
        if self.hops_left < DEEP_HOPS { 5 } else { 6 }
    }

    /// Reads the header at the beginning of a frame payload. Returns it, and the rest of the payload.
    ///
    /// # Errors
    /// [`Error::Dispatch`] if it is not the header, or has 64-bit addresses; [`Error::Truncated`].
    pub fn parse(payload: &[u8]) -> Result<(Self, &[u8]), Error> {
        let mut input = Reader::new(payload);
        let dispatch = input.u8()?;
        if dispatch & !DEEP_HOPS != DISPATCH << 6 | SHORT_ADDRESSES {
            return Err(Error::Dispatch(dispatch));
        }
        let hops_left = match dispatch & DEEP_HOPS {
            DEEP_HOPS => input.u8()?,
            hops_left => hops_left,
        };
        let header = Self { hops_left, originator: input.u16()?, destination: input.u16()? };
        Ok((header, input.rest()))
    }

    /// Writes the header to the beginning of `out`, and returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        let mut out = Writer::new(out);
        out.u8(DISPATCH << 6 | SHORT_ADDRESSES | self.hops_left.min(DEEP_HOPS))?;
        if self.hops_left >= DEEP_HOPS {
            out.u8(self.hops_left)?;
        }
        out.u16(self.originator)?;
        out.u16(self.destination)?;
        Ok(out.written())
    }
}

#[cfg(test)]
mod tests;
