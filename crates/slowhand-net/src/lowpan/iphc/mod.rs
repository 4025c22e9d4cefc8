//! Compression of the IPv6 header (RFC 6282 section 3).
//!
//! ```text
//!   0                                       1
//!   0   1   2   3   4   5   6   7   8   9   0   1   2   3   4   5
//! +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//! | 0 | 1 | 1 |  TF   |NH | HLIM  |CID|SAC|  SAM  | M |DAC|  DAM  |
//! +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//! ```
//! These fields follow, in this order, unless they are elided: context identifiers, traffic class and flow label, next
//! header, hop limit, source, destination. Then follows the next header, compressed ([`nhc`]) or not.

mod address;

use super::context::Contexts;
use super::cursor::{Reader, Writer};
use super::nhc::{self, NextHeader};
use super::payload::{self, Consumed, Plan};
use super::{Decompressed, Error, Link};
use crate::address::Eui64;
use crate::ip::{self, Ipv6Header, UdpHeader, next_header};
use address::Coded;
use std::net::Ipv6Addr;

/// The longest compressed IPv6 and UDP headers: base (2), context identifiers (1), traffic class and flow
/// label (4), next header (1) or UDP (7), hop limit (1), two addresses in full.
pub const MAX_PLAIN: usize = 2 + 1 + 4 + 7 + 1 + 32;

/// 011 in the first three bits (RFC 6282 section 3.1).
const DISPATCH: u16 = 0b011 << 13;

/// The hop limits that need no octet, by HLIM field. The field 0 means "inline" (RFC 6282 section 3.1.1).
const HOP_LIMITS: [u8; 4] = [0, 1, 64, 255];

/// True if a frame payload that begins with `octet` begins with a compressed IPv6 header.
pub const fn is_dispatch(octet: u8) -> bool {
    octet >> 5 == 0b011
}

/// Which headers behind the IPv6 header are compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// UDP.
    Udp,
    /// Extension headers, UDP, and those of a packet in the packet.
    All,
    /// As `All`, of a packet in a packet: another packet in it is not compressed.
    Inner,
}

/// The parameters of compression: the headers to compress, the plan for the payload, and the link.
#[derive(Clone, Copy)]
pub(super) struct Compression<'a> {
    pub(super) depth: Depth,
    pub(super) plan: Option<Plan>,
    pub(super) link: Link,
    pub(super) contexts: &'a Contexts,
}

/// The parameters of decompression: the link, and the size of the datagram (as in [`decompress`](super::decompress)).
#[derive(Clone, Copy)]
pub(super) struct Decompression<'a> {
    pub(super) link: Link,
    pub(super) contexts: &'a Contexts,
    pub(super) datagram_size: Option<usize>,
}

/// Compresses `header`, and the headers behind it in `packet`, which begins with an IPv6 header. The packet may end
/// after its headers: a node that forwards fragments has no more. Returns the octets that were compressed.
#[inline]
pub(super) fn compress(
    header: &Ipv6Header,
    packet: &[u8],
    how: Compression<'_>,
    out: &mut Writer<'_>,
) -> Result<Consumed, Error> {
    if header.next_header != next_header::UDP {
        return compress_chain(header, packet, how, out);
    }
    let behind = &packet[Ipv6Header::LENGTH..];
    let udp = nhc::udp(behind, header.payload_length.into());
    emit_base(header, udp.is_some(), how, out)?;
    let Some(udp) = udp else { return Ok(Consumed::open(Ipv6Header::LENGTH)) };
    let done = payload::emit(header, &udp, &behind[UdpHeader::LENGTH..], how.plan, out)?;
    Ok(done.behind(Ipv6Header::LENGTH))
}

/// As [`compress`], also for a header of which the next is no UDP header.
pub(super) fn compress_chain(
    header: &Ipv6Header,
    packet: &[u8],
    how: Compression<'_>,
    out: &mut Writer<'_>,
) -> Result<Consumed, Error> {
    let mut payload = &packet[Ipv6Header::LENGTH..];
    let mut length = usize::from(header.payload_length);
    let find = |number, payload, length| {
        NextHeader::of(number, payload, length).filter(|next| match next {
            NextHeader::Udp(_) => true,
            NextHeader::Extension { .. } => how.depth != Depth::Udp,
            NextHeader::Ipv6(_) => how.depth == Depth::All,
        })
    };
    let mut next = find(header.next_header, payload, length);
    emit_base(header, next.is_some(), how, out)?;
    let mut consumed = Ipv6Header::LENGTH;
    while let Some(found) = next {
        match found {
            NextHeader::Udp(udp) => {
                let done = payload::emit(header, &udp, &payload[UdpHeader::LENGTH..], how.plan, out)?;
                return Ok(done.behind(consumed));
            }
            NextHeader::Ipv6(inner) => {
                out.u8(nhc::IPV6)?;
                let link = link_of(header.source, header.destination);
                let done = compress_chain(&inner, payload, Compression { depth: Depth::Inner, link, ..how }, out)?;
                return Ok(done.behind(consumed));
            }
            NextHeader::Extension { id, octets } => {
                payload = &payload[octets.len()..];
                length = length.saturating_sub(octets.len());
                next = find(octets[0], payload, length);
                nhc::emit_extension(id, octets, next.is_some(), out)?;
                consumed += octets.len();
            }
        }
    }
    Ok(Consumed::open(consumed))
}

/// The addresses from which those of an inner header follow: the interface identifiers of the outer header (RFC 6282
/// section 3.1.1).
fn link_of(source: Ipv6Addr, destination: Ipv6Addr) -> Link {
    let [source, destination] = [source, destination].map(Eui64::of_address);
    Link { source, destination }
}

/// Writes the compressed IPv6 header.
#[inline]
fn emit_base(
    header: &Ipv6Header,
    next_is_compressed: bool,
    Compression { link, contexts, .. }: Compression<'_>,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    let source = Coded::source(header.source, link.source, contexts);
    let destination = Coded::destination(header.destination, link.destination, contexts);
    let context_ids = source.context << 4 | destination.context;
    let traffic = TrafficMode::of(header);
    let hop_limit_mode = HOP_LIMITS.iter().rposition(|&known| known == header.hop_limit).unwrap_or(0);

    let base = DISPATCH
        | (traffic as u16) << 11
        | u16::from(next_is_compressed) << 10
        | (hop_limit_mode as u16) << 8
        | u16::from(context_ids != 0) << 7
        | u16::from(source.stateful) << 6
        | u16::from(source.mode) << 4
        | u16::from(destination.multicast) << 3
        | u16::from(destination.stateful) << 2
        | u16::from(destination.mode);

    out.u16(base)?;
    if context_ids != 0 {
        out.u8(context_ids)?;
    }
    traffic.emit(header, out)?;
    if !next_is_compressed {
        out.u8(header.next_header)?;
    }
    if hop_limit_mode == 0 {
        out.u8(header.hop_limit)?;
    }
    source.emit(out)?;
    destination.emit(out)
}

/// Decompresses the headers at the beginning of `payload`: IPv6, and those behind it that are compressed too.
///
/// `datagram_size` includes the octets that `out` holds already: an outer header that was decompressed before.
#[inline]
pub(super) fn decompress(payload: &[u8], how: Decompression<'_>, out: &mut Writer<'_>) -> Result<Decompressed, Error> {
    let Decompression { link, contexts, datagram_size } = how;
    let mut input = Reader::new(payload);
    let at = out.written();
    let (mut header, compressed) = read_base(&mut input, link, contexts)?;
    let number = match (compressed, input.rest().first()) {
        (true, None) => return Err(Error::Truncated),
        (true, Some(&octet)) => nhc::number_of(octet, contexts)?,
        (false, _) => header.next_header,
    };
    header.next_header = number;
    if compressed && (number != next_header::UDP || contexts.payload_compression().is_some()) {
        return decompress_chain(header, input, how, out);
    }
    let udp = if compressed { Some(nhc::read_udp(&mut input, contexts)?) } else { None };
    let headers = Ipv6Header::LENGTH + if udp.is_some() { UdpHeader::LENGTH } else { 0 };
    let size = datagram_size.unwrap_or(at + headers + input.rest().len());
    header.payload_length = payload_length(size, at, headers)?;
    out.slice(&header.emit())?;
    if let Some(udp) = udp {
        out.slice(&udp.header(header.payload_length).emit())?;
    }
    let checksum_elided = udp.is_some_and(|udp| udp.checksum.is_none());
    Ok(Decompressed { consumed: input.position(), written: out.written(), checksum_elided, ..Decompressed::default() })
}

/// Decompresses the headers behind an IPv6 header, whatever they are, and a payload that is compressed.
fn decompress_chain(
    header: Ipv6Header,
    mut input: Reader<'_>,
    Decompression { contexts, datagram_size, .. }: Decompression<'_>,
    out: &mut Writer<'_>,
) -> Result<Decompressed, Error> {
    let (mut ips, mut udp_at, mut payload) = ([out.written(), usize::MAX], None, None);
    out.slice(&header.emit())?;
    let mut addresses = (header.source, header.destination);
    // The compressed header that comes next, and the position of the octet that gets its number.
    let mut next = Some(ips[0] + 6);
    while let Some(place) = next {
        let number = nhc::number_of(*input.rest().first().ok_or(Error::Truncated)?, contexts)?;
        out.octets()[place] = number;
        let begin = out.written();
        next = match number {
            next_header::UDP => {
                let udp = nhc::read_udp(&mut input, contexts)?;
                udp_at = Some((begin, udp));
                payload = udp.payload;
                out.slice(&udp.header(0).emit())?;
                None
            }
            next_header::IPV6 if ips[1] == usize::MAX => {
                input.u8()?;
                let link = link_of(addresses.0, addresses.1);
                let (inner, compressed) = read_base(&mut input, link, contexts)?;
                ips[1] = begin;
                out.slice(&inner.emit())?;
                addresses = (inner.source, inner.destination);
                compressed.then_some(begin + 6)
            }
            next_header::IPV6 => return Err(Error::NextHeader(nhc::IPV6)),
            _ => nhc::read_extension(&mut input, out)?.is_none().then_some(begin),
        };
    }
    if let Some(scheme) = payload {
        let length = datagram_size.map(|size| size.saturating_sub(out.written()));
        payload::read(scheme, addresses, length, &mut input, out)?;
    }
    let written = out.written();
    let size = datagram_size.unwrap_or(written + input.rest().len());
    for at in ips.into_iter().filter(|&at| at != usize::MAX) {
        let length = payload_length(size, at, written - at)?;
        out.octets()[at + 4..at + 6].copy_from_slice(&length.to_be_bytes());
    }
    if let Some((at, udp)) = udp_at {
        // It fits: the payload of the IPv6 header, which is longer, does.
        let header = udp.header((size - at) as u16).emit();
        out.octets()[at..at + UdpHeader::LENGTH].copy_from_slice(&header);
    }
    let checksum_elided = udp_at.is_some_and(|(_, udp)| udp.checksum.is_none());
    let payload = payload.is_some();
    Ok(Decompressed { consumed: input.position(), written, hidden: 0, checksum_elided, payload })
}

/// The payload length of an IPv6 header at `at` in a packet of `size` octets, whose headers take `headers` octets.
fn payload_length(size: usize, at: usize, headers: usize) -> Result<u16, Error> {
    let Some(whole) = size.checked_sub(at).filter(|&whole| whole >= headers) else {
        return Err(ip::Error::Length { field: size.saturating_sub(at), found: headers }.into());
    };
    u16::try_from(whole - Ipv6Header::LENGTH).map_err(|_| Error::TooLong(whole))
}

/// Reads a compressed IPv6 header. Returns it without its payload length, and true if the next header is compressed.
#[inline]
fn read_base(input: &mut Reader<'_>, link: Link, contexts: &Contexts) -> Result<(Ipv6Header, bool), Error> {
    let base = input.u16()?;
    if base >> 13 != DISPATCH >> 13 {
        return Err(Error::Dispatch((base >> 8) as u8));
    }
    let field = |shift: u16, bits: u16| (base >> shift & ((1 << bits) - 1)) as u8;
    let flag = |shift: u16| field(shift, 1) == 1;

    let context_ids = if flag(7) { input.u8()? } else { 0 };
    let (traffic_class, flow_label) = TrafficMode::ALL[usize::from(field(11, 2))].read(input)?;
    let compressed = flag(10);
    let next_header = if compressed { 0 } else { input.u8()? };
    let hop_limit = match field(8, 2) {
        0 => input.u8()?,
        mode => HOP_LIMITS[usize::from(mode)],
    };
    let source_form = (flag(6), field(4, 2));
    let source = address::read_source(input, source_form, link.source, (contexts, context_ids >> 4))?;
    let destination_form = (flag(3), flag(2), field(0, 2));
    let destination =
        address::read_destination(input, destination_form, link.destination, (contexts, context_ids & 0xf))?;
    let header =
        Ipv6Header { traffic_class, flow_label, payload_length: 0, next_header, hop_limit, source, destination };
    Ok((header, compressed))
}

listed! {
    /// TF: which parts of traffic class and flow label are carried (RFC 6282 sections 3.1.1 and 3.2.1).
    #[derive(Clone, Copy)]
    enum TrafficMode {
        /// ECN, DSCP and flow label: four octets.
        Full = 0b00,
        /// ECN and flow label, DSCP is zero: three octets.
        EcnAndFlow = 0b01,
        /// ECN and DSCP, the flow label is zero: one octet.
        Class = 0b10,
        /// All are zero.
        Elided = 0b11,
    }
}

impl TrafficMode {
    fn of(header: &Ipv6Header) -> Self {
        let dscp = header.traffic_class >> 2;
        match (header.traffic_class, dscp, header.flow_label) {
            (0, _, 0) => Self::Elided,
            (_, _, 0) => Self::Class,
            (_, 0, _) => Self::EcnAndFlow,
            _ => Self::Full,
        }
    }

    /// In the compressed header, ECN comes before DSCP. In the IPv6 header, DSCP comes first.
    fn emit(self, header: &Ipv6Header, out: &mut Writer<'_>) -> Result<(), Error> {
        let class = header.traffic_class.rotate_right(2);
        let flow = (header.flow_label & Ipv6Header::MAX_FLOW_LABEL).to_be_bytes();
        match self {
            Self::Full => out.slice(&[class, flow[1], flow[2], flow[3]]),
            Self::EcnAndFlow => out.slice(&[class | flow[1], flow[2], flow[3]]),
            Self::Class => out.u8(class),
            Self::Elided => Ok(()),
        }
    }

    fn read(self, input: &mut Reader<'_>) -> Result<(u8, u32), Error> {
        const ECN: u8 = 0b1100_0000;
        let (class, flow) = match self {
            Self::Full => {
                let [class, flow @ ..] = input.array::<4>()?;
                (class, flow)
            }
            Self::EcnAndFlow => {
                let flow = input.array::<3>()?;
                (flow[0] & ECN, flow)
            }
            Self::Class => (input.u8()?, [0; 3]),
            Self::Elided => (0, [0; 3]),
        };
        let flow_label = u32::from_be_bytes([0, flow[0], flow[1], flow[2]]) & Ipv6Header::MAX_FLOW_LABEL;
        Ok((class.rotate_left(2), flow_label))
    }
}
