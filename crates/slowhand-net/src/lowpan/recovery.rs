//! Selective fragment recovery (RFC 8931): a bitmap acknowledges fragments, and the sender sends only the missing ones
//! again.
//!
//! A recoverable fragment (RFRAG):
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1 1 1 0 1 0 0|E| datagram_tag  |X|sequence |   fragment_size   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |        fragment_offset        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! An acknowledgement (RFRAG-ACK):
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1 1 1 0 1 0 1|E| datagram_tag  |  bitmap (32), sequence 0 first
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//!                                 |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! Unlike in RFC 4944, sizes and offsets count octets of the compressed packet. In the fragment with sequence 0, the
//! offset field holds the size of the whole packet; there, zero means that the sender gives the packet up.

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

/// 1110101 in the first seven bits: an acknowledgement (RFC 8931 section 5.2).
const DISPATCH_ACKNOWLEDGEMENT: u8 = 0b111_0101;

/// The largest number of fragments of a packet: the sequence has five bits.
pub const MAX_FRAGMENTS: usize = 32;

/// The largest value of the ten bits of fragment_size, in octets.
pub const MAX_FRAGMENT_SIZE: usize = 0x3ff;

/// The header of a recoverable fragment (RFC 8931 section 5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rfrag {
    /// E: a router on the path is congested.
    pub congestion: bool,
    /// It is the same in all fragments of a packet from one sender.
    pub tag: u8,
    /// X: the sender requests an acknowledgement.
    pub wants_acknowledgement: bool,
    /// The number of the fragment, 0 to 31.
    pub sequence: u8,
    /// The octets that follow the header, at most 1023.
    pub fragment_size: u16,
    /// The position of the fragment in the compressed packet. With sequence 0: the octets of the whole compressed
    /// packet, or 0 to give the packet up.
    pub fragment_offset: u16,
}

impl Rfrag {
    /// The octets of the header.
    pub const LENGTH: usize = 6;

    /// True if a frame payload that begins with `octet` is a recoverable fragment.
    pub const fn is_dispatch(octet: u8) -> bool {
        octet >> 1 == DISPATCH_FRAGMENT
    }

    /// Reads the header at the beginning of a frame payload. Returns it, and the fragment.
    ///
    /// # Errors
    /// [`Error::Dispatch`] if it is not such a fragment; [`Error::Truncated`] if it is shorter than fragment_size.
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
            wants_acknowledgement: word >> 15 == 1,
            sequence: (word >> 10) as u8 & 0x1f,
            fragment_size: word & MAX_FRAGMENT_SIZE as u16,
            fragment_offset: input.u16()?,
        };
        let fragment = input.slice(header.fragment_size.into())?;
        Ok((header, fragment))
    }

    /// The octets of the header. A sequence above 31 or a size above 1023 loses its high bits.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let word = u16::from(self.wants_acknowledgement) << 15
            | u16::from(self.sequence & 0x1f) << 10
            | self.fragment_size & MAX_FRAGMENT_SIZE as u16;
        let [size_high, size_low] = word.to_be_bytes();
        let [offset_high, offset_low] = self.fragment_offset.to_be_bytes();
        let first = DISPATCH_FRAGMENT << 1 | u8::from(self.congestion);
        [first, self.tag, size_high, size_low, offset_high, offset_low]
    }
}

/// An acknowledgement: which fragments have arrived (RFC 8931 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RfragAck {
    /// E: a fragment arrived with the congestion flag set.
    pub congestion: bool,
    /// The tag of the fragments.
    pub tag: u8,
    /// The most significant bit is sequence 0. All ones: the packet is complete. All zeros: the receiver gave it up.
    pub bitmap: u32,
}

impl RfragAck {
    /// The octets of an acknowledgement.
    pub const LENGTH: usize = 6;

    /// FULL: every fragment has arrived.
    pub const FULL: u32 = u32::MAX;

    /// NULL: the receiver has given the packet up.
    pub const NULL: u32 = 0;

    /// True if a frame payload that begins with `octet` is an acknowledgement.
    pub const fn is_dispatch(octet: u8) -> bool {
        octet >> 1 == DISPATCH_ACKNOWLEDGEMENT
    }

    /// Reads a frame payload.
    ///
    /// # Errors
    /// [`Error::Dispatch`] if it is not an acknowledgement, and [`Error::Truncated`].
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

    /// The octets of the acknowledgement.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let [a, b, c, d] = self.bitmap.to_be_bytes();
        [DISPATCH_ACKNOWLEDGEMENT << 1 | u8::from(self.congestion), self.tag, a, b, c, d]
    }
}

/// The bit of the bitmap for a sequence, 0 to 31.
const fn bit(sequence: usize) -> u32 {
    1 << (31 - sequence)
}

#[cfg(test)]
mod tests;
