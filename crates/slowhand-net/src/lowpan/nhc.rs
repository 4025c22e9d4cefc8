//! Compression of the headers behind the IPv6 header: extension headers (RFC 6282 section 4.2) and UDP (section 4.3).
//!
//! An extension header. EID says which one. NH is set if the next header is compressed too. Else the octet after this
//! one has its number. Then follow the number of octets that remain of the header, and these octets.
//!
//! ```text
//!   0   1   2   3   4   5   6   7
//! +---+---+---+---+---+---+---+---+
//! | 1 | 1 | 1 | 0 |    EID    |NH |
//! +---+---+---+---+---+---+---+---+
//! ```
//!
//! UDP:
//!
//! ```text
//!   0   1   2   3   4   5   6   7
//! +---+---+---+---+---+---+---+---+
//! | 1 | 1 | 1 | 1 | 0 | C |   P   |
//! +---+---+---+---+---+---+---+---+
//! ```
//! The length is always elided. This sender never elides the checksum: an upper layer would have to authorise that
//! (section 4.3.2), and no one does. The receiver accepts an elided checksum. Other first five bits say that the payload is
//! compressed too ([`payload`](super::payload)).

use super::context::PayloadCompression;
use super::cursor::{Reader, Writer};
use super::{Contexts, Error};
use crate::ip::{Ipv6Header, UdpHeader, next_header};

/// 1110 in the first four bits (RFC 6282 section 4.2).
const EXTENSION: u8 = 0b1110_0000;
const EXTENSION_MASK: u8 = 0b1111_0000;

/// NH: the header behind this one is compressed too.
const NEXT_COMPRESSED: u8 = 1;

/// An IPv6 header, which [`iphc`](super::iphc) compresses: EID 7, NH 0.
pub(super) const IPV6: u8 = EXTENSION | 7 << 1;

/// The extension headers that are compressed, by EID: hop-by-hop options, routing header, and destination options.
const EXTENSIONS: [(u8, u8); 3] =
    [(0, next_header::HOP_BY_HOP), (1, next_header::ROUTING), (3, next_header::DESTINATION_OPTIONS)];

/// The unit of the lengths of extension headers, in octets.
const EXTENSION_UNIT: usize = 8;

/// The octets of an extension header before those that its compressed form counts: next header and length.
const EXTENSION_FIXED: usize = 2;

/// The option that is one octet of padding, and the one that is several (RFC 8200 section 4.2).
const PAD_1: u8 = 0;
const PAD_N: u8 = 1;

/// 11110 in the first five bits (RFC 6282 section 4.3.3).
pub(super) const UDP: u8 = 0b1111_0000;
const UDP_MASK: u8 = 0b1111_1000;

/// C: the checksum is elided.
const CHECKSUM_ELIDED: u8 = 0b0000_0100;

/// The high bits of ports that compress to eight bits (RFC 6282 section 4.3.1).
const PORT_BASE_8: u16 = 0xf000;

/// The high bits of ports that compress to four bits (RFC 6282 section 4.3.1).
const PORT_BASE_4: u16 = 0xf0b0;

/// The fields of a compressed UDP header.
#[derive(Clone, Copy)]
pub(super) struct CompressedUdp {
    source_port: u16,
    destination_port: u16,
    /// `None` if it was elided.
    pub(super) checksum: Option<u16>,
    /// The compression of the payload behind it.
    pub(super) payload: Option<PayloadCompression>,
}

impl CompressedUdp {
    /// The uncompressed header. An elided checksum is zero; the caller computes it later.
    pub(super) fn header(self, length: u16) -> UdpHeader {
        UdpHeader {
            source_port: self.source_port,
            destination_port: self.destination_port,
            length,
            checksum: self.checksum.unwrap_or(0),
        }
    }
}

listed! {
    /// P: how the ports are encoded (RFC 6282 section 4.3.3).
    #[derive(Clone, Copy)]
    enum PortMode {
        /// Both in full: four octets.
        Full = 0b00,
        /// The source in full, the destination in eight bits: three octets.
        Destination8 = 0b01,
        /// The source in eight bits, the destination in full: three octets.
        Source8 = 0b10,
        /// Both in four bits, the source first: one octet.
        Both4 = 0b11,
    }
}

impl PortMode {
    fn of(source: u16, destination: u16) -> Self {
        let fits_8 = |port: u16| port & 0xff00 == PORT_BASE_8;
        let fits_4 = |port: u16| port & 0xfff0 == PORT_BASE_4;
        match (source, destination) {
            (s, d) if fits_4(s) && fits_4(d) => Self::Both4,
            (_, d) if fits_8(d) => Self::Destination8,
            (s, _) if fits_8(s) => Self::Source8,
            _ => Self::Full,
        }
    }
}

/// A header behind the IPv6 header that can be compressed.
#[derive(Clone, Copy)]
pub(super) enum NextHeader<'a> {
    Udp(UdpHeader),
    /// A whole IPv6 packet follows.
    Ipv6(Ipv6Header),
    Extension {
        id: u8,
        octets: &'a [u8],
    },
}

impl<'a> NextHeader<'a> {
    /// The header with this number at the beginning of `octets`, if it can be compressed. `length` is the number of octets
    /// from here to the end of the packet, of which `octets` may be the first.
    pub(super) fn of(number: u8, octets: &'a [u8], length: usize) -> Option<Self> {
        match number {
            // The lengths of UDP and inner IPv6 headers are elided, so they must agree with that of the packet.
            next_header::UDP => udp(octets, length).map(Self::Udp),
            next_header::IPV6 => {
                let inner = Ipv6Header::parse(octets).ok()?;
                (Ipv6Header::LENGTH + usize::from(inner.payload_length) == length).then_some(Self::Ipv6(inner))
            }
            _ => {
                let &(id, _) = EXTENSIONS.iter().find(|(_, known)| *known == number)?;
                let units = usize::from(*octets.get(1)?);
                let octets = octets.get(..EXTENSION_UNIT * (units + 1))?;
                (octets.len() - EXTENSION_FIXED <= usize::from(u8::MAX)).then_some(Self::Extension { id, octets })
            }
        }
    }
}

/// The UDP header at the beginning of `octets`, if it can be compressed. `length` is as in [`NextHeader::of`].
#[inline]
pub(super) fn udp(octets: &[u8], length: usize) -> Option<UdpHeader> {
    UdpHeader::parse(octets).ok().filter(|udp| usize::from(udp.length) == length)
}

/// Writes an extension header. `next` is true if the header behind it is compressed too.
pub(super) fn emit_extension(id: u8, octets: &[u8], next: bool, out: &mut Writer<'_>) -> Result<(), Error> {
    out.u8(EXTENSION | id << 1 | if next { NEXT_COMPRESSED } else { 0 })?;
    if !next {
        out.u8(octets[0])?;
    }
    out.u8((octets.len() - EXTENSION_FIXED) as u8)?; // `of` has checked that it fits
    out.slice(&octets[EXTENSION_FIXED..])
}

/// The number of the compressed header that begins with `octet`: UDP, an IPv6 header, or an extension header.
pub(super) fn number_of(octet: u8, contexts: &Contexts) -> Result<u8, Error> {
    if payload_of(octet, contexts).is_ok() {
        return Ok(next_header::UDP);
    }
    if octet == IPV6 {
        return Ok(next_header::IPV6);
    }
    extension_of(octet)
}

/// The compression of the payload behind a UDP header that begins with `octet`.
fn payload_of(octet: u8, contexts: &Contexts) -> Result<Option<PayloadCompression>, Error> {
    let dispatch = octet & UDP_MASK;
    let compressed = contexts.payload_compression().filter(|known| known.dispatch() == dispatch);
    if compressed.is_some() || dispatch == UDP { Ok(compressed) } else { Err(Error::NextHeader(octet)) }
}

/// The number of the extension header that begins with `octet`.
fn extension_of(octet: u8) -> Result<u8, Error> {
    let known = EXTENSIONS.iter().find(|(id, _)| octet & !NEXT_COMPRESSED == EXTENSION | id << 1);
    known.map(|&(_, number)| number).ok_or(Error::NextHeader(octet))
}

/// Reads an extension header and writes it as it was. Returns the number of the next header, or `None` if that header
/// is compressed too. Then its number is written as zero.
pub(super) fn read_extension(input: &mut Reader<'_>, out: &mut Writer<'_>) -> Result<Option<u8>, Error> {
    let encoding = input.u8()?;
    debug_assert_eq!(encoding & EXTENSION_MASK, EXTENSION);
    let is_route = extension_of(encoding)? == next_header::ROUTING;
    let next = if encoding & NEXT_COMPRESSED == 0 { Some(input.u8()?) } else { None };
    let length = usize::from(input.u8()?);
    let octets = input.slice(length)?;
    let whole = (EXTENSION_FIXED + length).next_multiple_of(EXTENSION_UNIT);
    // The sender may leave out padding at the end of options.
    let padding = whole - EXTENSION_FIXED - length;
    if is_route && padding > 0 {
        return Err(Error::Truncated);
    }
    out.slice(&[next.unwrap_or(0), (whole / EXTENSION_UNIT - 1) as u8])?; // at most 33 units
    out.slice(octets)?;
    match padding {
        0 => {}
        1 => out.u8(PAD_1)?,
        _ => {
            out.slice(&[PAD_N, padding as u8 - 2])?;
            (2..padding).try_for_each(|_| out.u8(0))?;
        }
    }
    Ok(next)
}

/// Writes a UDP header whose first five bits are those of `dispatch`.
#[inline]
pub(super) fn emit_udp(udp: &UdpHeader, dispatch: u8, out: &mut Writer<'_>) -> Result<(), Error> {
    let mode = PortMode::of(udp.source_port, udp.destination_port);
    let dispatch = dispatch | mode as u8;
    let ([s1, s0], [d1, d0]) = (udp.source_port.to_be_bytes(), udp.destination_port.to_be_bytes());
    let [c1, c0] = udp.checksum.to_be_bytes();
    match mode {
        PortMode::Full => out.slice(&[dispatch, s1, s0, d1, d0, c1, c0]),
        PortMode::Destination8 => out.slice(&[dispatch, s1, s0, d0, c1, c0]),
        PortMode::Source8 => out.slice(&[dispatch, s0, d1, d0, c1, c0]),
        PortMode::Both4 => out.slice(&[dispatch, s0 << 4 | d0 & 0xf, c1, c0]),
    }
}

#[inline]
pub(super) fn read_udp(input: &mut Reader<'_>, contexts: &Contexts) -> Result<CompressedUdp, Error> {
    let encoding = input.u8()?;
    let payload = payload_of(encoding, contexts)?;
    let (source_port, destination_port) = match PortMode::ALL[usize::from(encoding & 0b11)] {
        PortMode::Full => (input.u16()?, input.u16()?),
        PortMode::Destination8 => (input.u16()?, PORT_BASE_8 | u16::from(input.u8()?)),
        PortMode::Source8 => (PORT_BASE_8 | u16::from(input.u8()?), input.u16()?),
        PortMode::Both4 => {
            let both = u16::from(input.u8()?);
            (PORT_BASE_4 | both >> 4, PORT_BASE_4 | both & 0xf)
        }
    };
    let checksum = if encoding & CHECKSUM_ELIDED == 0 { Some(input.u16()?) } else { None };
    Ok(CompressedUdp { source_port, destination_port, checksum, payload })
}
