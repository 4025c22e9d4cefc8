//! Knowledge that both ends of a link need to compress packets: the prefixes of addresses (RFC 6282 section 3.1.1), and
//! the way in which headers of RPL and the payloads of UDP are compressed.

use std::cmp::Reverse;
use std::net::Ipv6Addr;

use super::Error;
use crate::address::{INTERNET_PREFIX, MESH_PREFIX};

/// A prefix that compressed addresses can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Context {
    prefix: u128,
    /// The bits that the prefix covers.
    mask: u128,
    length: u8,
}

impl Context {
    /// The implicit prefix of stateless compression: fe80::/64 (RFC 6282 section 3.1.1).
    pub(super) const LINK_LOCAL: Self = Self::new(0xfe80 << 112, 64);

    /// The first `length` bits of `prefix`; `length` is at most 128.
    const fn new(prefix: u128, length: u8) -> Self {
        let mask = match length {
            0 => 0,
            length => u128::MAX << (128 - length as u32),
        };
        Self { prefix: prefix & mask, mask, length }
    }

    /// The prefix; the bits after it are zero.
    pub const fn prefix(&self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.prefix)
    }

    /// The number of bits of the prefix, 0 to 128.
    pub const fn length(&self) -> u8 {
        self.length
    }

    /// True if `address` begins with the prefix.
    pub const fn covers(&self, address: Ipv6Addr) -> bool {
        address.to_bits() & self.mask == self.prefix
    }

    /// `address` with its first bits replaced by the prefix. The bits that the context covers always come from the
    /// context (RFC 6282 section 3.1.1, SAM and DAM).
    pub(super) const fn over(&self, address: u128) -> u128 {
        self.prefix | address & !self.mask
    }
}

/// The compression of the payloads of UDP datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadCompression {
    /// Generic Header Compression (RFC 7400).
    Ghc,
    /// The headers of DTLS records, handshake messages and hellos (Raza et al. 2013).
    Lithe,
}

impl PayloadCompression {
    /// The first five bits of the compressed UDP header: 11010 (RFC 7400 section 3.1), 11011 (draft-raza-dice-compressed-dtls-00
    /// section 2).
    pub(super) const fn dispatch(self) -> u8 {
        match self {
            Self::Ghc => 0b1101_0000,
            Self::Lithe => 0b1101_1000,
        }
    }
}

/// The form of 6LoWPAN routing headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingHeaders {
    /// The address of the root, which is left out.
    pub root: Ipv6Addr,
    /// The octets that each address of a route keeps at least: the last ones. More where the addresses differ from the
    /// root's before them.
    pub address_octets: usize,
}

/// The contexts of a network, at most sixteen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// The contexts with their identifiers. The first one that covers an address is used.
    longest_first: Vec<(u8, Context)>,
    routing_headers: Option<RoutingHeaders>,
    payload: Option<PayloadCompression>,
}

impl Contexts {
    /// The largest number of contexts: the identifier has four bits (RFC 6282 section 3.1.2).
    pub const COUNT: usize = 16;

    /// No context: every global address is carried in full.
    pub const fn none() -> Self {
        Self { longest_first: Vec::new(), routing_headers: None, payload: None }
    }

    /// The contexts of the mesh: 0 is the /64 prefix of the mesh, 1 that of the default server on the Internet.
    pub fn mesh() -> Self {
        let context = |octets| Context::new(u128::from(u64::from_be_bytes(octets)) << 64, 64);
        let longest_first = vec![(0, context(MESH_PREFIX)), (1, context(INTERNET_PREFIX))];
        Self { longest_first, routing_headers: None, payload: None }
    }

    /// These contexts, in a network that compresses the headers of RPL by 6LoWPAN routing headers (RFC 8138), not as
    /// extension headers (RFC 6282 section 4.2).
    #[must_use]
    pub fn with_routing_headers(self, routing_headers: RoutingHeaders) -> Self {
        Self { routing_headers: Some(routing_headers), ..self }
    }

    /// The form of 6LoWPAN routing headers, if they are used.
    #[inline]
    pub fn routing_headers(&self) -> Option<&RoutingHeaders> {
        self.routing_headers.as_ref()
    }

    /// These contexts, with nodes that compress the payloads of UDP datagrams in this way and understand it; with `None`, with
    /// nodes that do not.
    #[must_use]
    pub fn with_payload_compression(self, payload: Option<PayloadCompression>) -> Self {
        Self { payload, ..self }
    }

    /// The compression of the payloads of UDP datagrams, if they are compressed.
    #[inline]
    pub const fn payload_compression(&self) -> Option<PayloadCompression> {
        self.payload
    }

    /// Sets context `id` to the first `length` bits of `prefix`.
    ///
    /// # Errors
    /// [`Error::ContextRange`] if `id` exceeds 15 or `length` exceeds 128.
    pub fn set(&mut self, id: u8, prefix: Ipv6Addr, length: u8) -> Result<(), Error> {
        if usize::from(id) >= Self::COUNT || length > 128 {
            return Err(Error::ContextRange { id, length });
        }
        let context = Context::new(prefix.to_bits(), length);
        self.longest_first.retain(|&(other, _)| other != id);
        self.longest_first.push((id, context));
        self.longest_first.sort_by_key(|&(id, context)| (Reverse(context.length), id));
        Ok(())
    }

    /// Context `id`, if it is set.
    pub fn get(&self, id: u8) -> Option<Context> {
        self.longest_first.iter().find(|&&(other, _)| other == id).map(|&(_, context)| context)
    }

    /// The context with the longest prefix that covers `address`, and its identifier. Among equal lengths, the lowest
    /// identifier.
    pub fn covering(&self, address: Ipv6Addr) -> Option<(u8, Context)> {
        self.longest_first.iter().copied().find(|(_, context)| context.covers(address))
    }

    /// The contexts that are set, with their identifiers, longest prefix first.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Context)> + '_ {
        self.longest_first.iter().copied()
    }
}
