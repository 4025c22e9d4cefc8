//! Bodies in blocks (RFC 7959): [`Client`] and [`Server`] cut and join them, above an
//! [`Endpoint`](crate::endpoint::Endpoint).

mod client;
mod server;

pub use client::{Client, Step};
pub use server::{Incoming, Server};

use crate::message::{self, CoapOption, Packet};

/// Octets of a block: a power of two from 16 to 1,024 (RFC 7959 section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockSize {
    /// SZX.
    exponent: u8,
}

impl BlockSize {
    /// 1,024 octets.
    pub const LARGEST: Self = Self { exponent: 6 };

    /// The size with so many octets. `None` if there is no such size.
    pub fn new(octets: usize) -> Option<Self> {
        (0..=Self::LARGEST.exponent).map(|exponent| Self { exponent }).find(|size| size.octets() == octets)
    }

    /// The largest size with at most so many octets; the smallest one if all have more.
    pub fn at_most(octets: usize) -> Self {
        let sizes = (0..=Self::LARGEST.exponent).map(|exponent| Self { exponent });
        sizes.rev().find(|size| size.octets() <= octets).unwrap_or(Self { exponent: 0 })
    }

    /// Its octets.
    pub const fn octets(self) -> usize {
        16 << self.exponent
    }
}

/// The value of a Block1 or Block2 option (RFC 7959 section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// NUM: the blocks of this size before this one.
    pub number: u32,
    /// M: whether more blocks follow.
    pub more: bool,
    /// The size of the block; the last one may be shorter.
    pub size: BlockSize,
}

impl Block {
    /// The first number that has no room in 20 bits.
    const END: u32 = 1 << 20;

    /// Reads a value. `None` if its size is reserved, or if it is longer than three octets.
    pub fn from_value(value: u32) -> Option<Self> {
        let exponent = (value & 7) as u8;
        let is_valid = exponent <= BlockSize::LARGEST.exponent && value >> 4 < Self::END;
        is_valid.then_some(Self { number: value >> 4, more: value & 8 != 0, size: BlockSize { exponent } })
    }

    /// The value of the option.
    pub fn value(self) -> u32 {
        self.number << 4 | u32::from(self.more) << 3 | u32::from(self.size.exponent)
    }

    /// The option of a message, Block1 or Block2.
    ///
    /// # Errors
    /// The option has a value that is not possible.
    pub fn of(packet: &Packet, option: CoapOption) -> Result<Option<Self>, BlockError> {
        if packet.get_first_option(option).is_none() {
            return Ok(None);
        }
        message::number(packet, option).and_then(Self::from_value).map(Some).ok_or(BlockError::Option)
    }

    /// The block of a body that begins at `offset`, which is a multiple of the size.
    fn at(offset: usize, length: usize, size: BlockSize) -> Option<Self> {
        let number = u32::try_from(offset / size.octets()).ok().filter(|number| *number < Self::END)?;
        Some(Self { number, more: offset + size.octets() < length, size })
    }

    fn set(self, packet: &mut Packet, option: CoapOption) {
        message::set_number(packet, option, self.value());
    }

    /// Where it begins in the body.
    fn offset(self) -> usize {
        self.number as usize * self.size.octets()
    }
}

/// Asks for a response in blocks of this size (RFC 7959 section 2.4).
pub fn ask_for(mut request: Packet, size: BlockSize) -> Packet {
    Block { number: 0, more: false, size }.set(&mut request, CoapOption::Block2);
    request
}

/// Why a body did not come whole, or cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// RFC 7959 section 2.2.
    #[error("a Block option has a reserved size or more than three octets")]
    Option,
    /// The blocks do not follow each other, or one has not the length that its option says.
    #[error("a block is not the one that was expected at octet {expected}")]
    Sequence {
        /// Octets that came before.
        expected: usize,
    },
    /// The entity tag is another one than that of the first block (RFC 7959 section 2.4).
    #[error("the body has changed while it was sent; ask for it again")]
    Changed,
    /// The limit is the receiver's.
    #[error("the body has more than {limit} octets")]
    TooLong {
        /// The most octets.
        limit: usize,
    },
    /// The number of a block has 20 bits (RFC 7959 section 2.2).
    #[error("the body has too many blocks of this size; choose larger ones")]
    TooManyBlocks,
}

/// A message without the options that say which part of a body it has.
fn without_blocks(mut packet: Packet) -> Packet {
    for option in [CoapOption::Block1, CoapOption::Block2, CoapOption::Size1, CoapOption::Size2] {
        packet.clear_option(option);
    }
    packet
}
