//! The address contexts that both ends of a link share (RFC 6282 section 3.1.1).

use std::cmp::Reverse;
use std::net::Ipv6Addr;

use super::Error;
use crate::address::{INTERNET_PREFIX, MESH_PREFIX};

/// A prefix that compressed addresses refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    prefix: u128,
    length: u8,
}

impl Context {
    /// The implicit prefix of stateless compression: fe80::/64 (RFC 6282 section 3.1.1).
    pub(super) const LINK_LOCAL: Self = Self { prefix: 0xfe80 << 112, length: 64 };

    /// The prefix, its remaining bits zero.
    pub const fn prefix(&self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.prefix)
    }

    /// Bits of the prefix, 0 to 128.
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// Whether `address` begins with the prefix.
    pub const fn covers(&self, address: Ipv6Addr) -> bool {
        address.to_bits() & self.mask() == self.prefix
    }

    /// `address` with its first bits replaced by the prefix: what the context covers always comes from the
    /// context (RFC 6282 section 3.1.1, SAM and DAM).
    pub(super) const fn over(&self, address: u128) -> u128 {
        self.prefix | address & !self.mask()
    }

    const fn mask(&self) -> u128 {
        match self.length {
            0 => 0,
            length => u128::MAX << (128 - length as u32),
        }
    }
}

/// The contexts of a network, sixteen at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// With their identifiers; the first that covers an address is the one to use.
    longest_first: Vec<(u8, Context)>,
}

impl Contexts {
    /// Contexts there can be: the identifier has four bits (RFC 6282 section 3.1.2).
    pub const COUNT: usize = 16;

    /// No context at all: every global address travels in full.
    pub const fn none() -> Self {
        Self { longest_first: Vec::new() }
    }

    /// The contexts of this project's networks: 0 is the mesh's /64, 1 that of the Internet host.
    pub fn mesh() -> Self {
        let context = |octets| Context { prefix: u128::from(u64::from_be_bytes(octets)) << 64, length: 64 };
        Self { longest_first: vec![(0, context(MESH_PREFIX)), (1, context(INTERNET_PREFIX))] }
    }

    /// Sets context `id` to the first `length` bits of `prefix`.
    ///
    /// # Errors
    /// [`Error::ContextRange`] where `id` exceeds 15 or `length` 128.
    pub fn set(&mut self, id: u8, prefix: Ipv6Addr, length: u8) -> Result<(), Error> {
        if usize::from(id) >= Self::COUNT || length > 128 {
            return Err(Error::ContextRange { id, length });
        }
        let whole = Context { prefix: prefix.to_bits(), length };
        let context = Context { prefix: whole.prefix & whole.mask(), length };
        self.longest_first.retain(|&(other, _)| other != id);
        self.longest_first.push((id, context));
        self.longest_first.sort_by_key(|&(id, context)| (Reverse(context.length), id));
        Ok(())
    }

    /// Context `id`, where it is set.
    pub fn get(&self, id: u8) -> Option<Context> {
        self.longest_first.iter().find(|&&(other, _)| other == id).map(|&(_, context)| context)
    }

    /// The context with the longest prefix that covers `address`, and its identifier; the lowest of equals.
    pub fn covering(&self, address: Ipv6Addr) -> Option<(u8, Context)> {
        self.longest_first.iter().copied().find(|(_, context)| context.covers(address))
    }

    /// The contexts that are set, with their identifiers, the longest prefix first.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Context)> + '_ {
        self.longest_first.iter().copied()
    }
}
