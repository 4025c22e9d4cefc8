//! Selective fragment recovery (RFC 8931): fragments are acknowledged by a bitmap, and only those that are missing are
//! sent again.
//!
//! ```text
//! RFRAG:     | 1 1 1 0 1 0 0 |E| tag (8) |X| sequence (5) | fragment_size (10) | fragment_offset (16) |
//! RFRAG-ACK: | 1 1 1 0 1 0 1 |E| tag (8) | bitmap (32), sequence 0 first |
//! ```
//! Other than in RFC 4944, sizes and offsets count octets of the packet in its compressed form. In the fragment with sequence
//! 0 the offset field holds the size of the whole; an offset of 0 gives the packet up.

mod receiver;
mod router;
mod sender;

pub use receiver::{Receiver, Reception};
pub use router::{Outcome, Router};
pub use sender::{RecoveryConfig, Sender, State};

use super::Error;
use super::cursor::Reader;

/// 1110100 in the first seven bits: a recoverable fragment (RFC 8931 section 5.1).
const DISPATCH_FRAGMENT: u8 = 0b111_0100;

/// 1110101 in the first seven bits: an acknowledgment (RFC 8931 section 5.2).
const DISPATCH_ACKNOWLEDGMENT: u8 = 0b111_0101;

/// Fragments a packet may have: the sequence takes five bits.
pub const MAX_FRAGMENTS: usize = 32;

/// The longest that fragment_size, ten bits, can say, in octets.
pub const MAX_FRAGMENT_SIZE: usize = 0x3ff;

/// The header of a recoverable fragment (RFC 8931 section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rfrag {
    /// E: a router on the way is congested.
    pub congestion: bool,
    /// The same in all fragments of a packet, for one sender.
    pub tag: u8,
    /// X: the receiver is to acknowledge.
    pub wants_acknowledgment: bool,
    /// The number of the fragment, 0 to 31.
    pub sequence: u8,
    /// Octets that follow the header, at most 1023.
    pub fragment_size: u16,
    /// Where the fragment begins in the compressed packet; with sequence 0, the octets of the whole compressed packet;
    /// 0 gives the packet up.
    pub fragment_offset: u16,
}

impl Rfrag {
    /// Octets of the header.
    pub const LENGTH: usize = 6;

    /// Whether a frame payload that begins with `octet` is a recoverable fragment.
    pub const fn is_dispatch(octet: u8) -> bool {
        octet >> 1 == DISPATCH_FRAGMENT
    }

    /// Reads the header at the beginning of a frame payload; returns it with the fragment.
    ///
    /// # Errors
    /// [`Error::Dispatch`] where it is no such fragment; [`Error::Truncated`] where there is less than fragment_size.
    pub fn parse(payload: &[u8]) -> Result<(Self, &[u8]), Error> {
        let mut input = Reader::new(payload);
        let first = input.u8()?;
        if !Self::is_dispatch(first) {
            return Err(Error::Dispatch(first));
        }
        let tag = input.u8()?;
        let word = input.u16()?;
        let header = Self {
            congestion: first & 1 == 1,
            tag,
            wants_acknowledgment: word >> 15 == 1,
            sequence: (word >> 10) as u8 & 0x1f,
            fragment_size: word & MAX_FRAGMENT_SIZE as u16,
            fragment_offset: input.u16()?,
        };
        let fragment = input.slice(header.fragment_size.into())?;
        Ok((header, fragment))
    }

    /// The header as it is sent. A sequence above 31 or a size above 1023 loses its high bits.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let word = u16::from(self.wants_acknowledgment) << 15
            | u16::from(self.sequence & 0x1f) << 10
            | self.fragment_size & MAX_FRAGMENT_SIZE as u16;
        let [size_high, size_low] = word.to_be_bytes();
        let [offset_high, offset_low] = self.fragment_offset.to_be_bytes();
        let first = DISPATCH_FRAGMENT << 1 | u8::from(self.congestion);
        [first, self.tag, size_high, size_low, offset_high, offset_low]
    }
}

/// Which fragments have arrived (RFC 8931 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RfragAck {
    /// E: a fragment came with the congestion flag set.
    pub congestion: bool,
    /// The tag of the fragments.
    pub tag: u8,
    /// The most significant bit is sequence 0. All ones: the packet is complete. All zeros: it is given up.
    pub bitmap: u32,
}

impl RfragAck {
    /// Octets of an acknowledgment.
    pub const LENGTH: usize = 6;

    /// Every fragment has arrived: FULL.
    pub const FULL: u32 = u32::MAX;

    /// The receiver has given the packet up: NULL.
    pub const NULL: u32 = 0;

    /// Whether a frame payload that begins with `octet` is an acknowledgment.
    pub const fn is_dispatch(octet: u8) -> bool {
        octet >> 1 == DISPATCH_ACKNOWLEDGMENT
    }

    /// Reads a frame payload.
    ///
    /// # Errors
    /// [`Error::Dispatch`] where it is no acknowledgment, and [`Error::Truncated`].
    pub fn parse(payload: &[u8]) -> Result<Self, Error> {
        let mut input = Reader::new(payload);
        let first = input.u8()?;
        if !Self::is_dispatch(first) {
            return Err(Error::Dispatch(first));
        }
        let tag = input.u8()?;
        let bitmap = u32::from_be_bytes(input.array()?);
        Ok(Self { congestion: first & 1 == 1, tag, bitmap })
    }

    /// The acknowledgment as it is sent.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let [a, b, c, d] = self.bitmap.to_be_bytes();
        [DISPATCH_ACKNOWLEDGMENT << 1 | u8::from(self.congestion), self.tag, a, b, c, d]
    }
}

/// The bit of the bitmap that stands for a sequence, 0 to 31.
const fn bit(sequence: usize) -> u32 {
    1 << (31 - sequence)
}

#[cfg(test)]
mod tests;
