//! The 6LoWPAN routing headers (6LoRH, RFC 8138): the headers of RPL in a few octets.
//!
//! They stand behind the octet that switches to page 1 of the dispatches (RFC 8025), and before the compressed IPv6
//! header of the packet. All begin with two octets:
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1|0|0|  size   |  type 0 to 4  |  SRH-6LoRH: size + 1 addresses of 1, 2, 4, 8 or 16 octets
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1|0|0|O|R|F|I|K|    type 5     |  RPI-6LoRH: instance (unless I), SenderRank (its high octet if K)
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |1|0|1| length  |    type 6     |  IP-in-IP-6LoRH: hop limit, encapsulator (none if the length is 1)
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The first address of an SRH-6LoRH is the destination of the outer header. A router that finds its own address there
//! takes it out, so the header gets shorter at every hop. Without an SRH-6LoRH, the outer destination is the root on the
//! way up, and that of the inner packet on the way down (RFC 8138 section 7). Addresses lack the first octets of the
//! root's.
//!
//! The sizes and offsets of fragments do not count what these headers stand for (assumed: RFC 8138 does not say).

use std::net::Ipv6Addr;

use super::context::RoutingHeaders;
use super::cursor::{Reader, Writer};
use super::iphc::{self, Compression, Decompression};
use super::{Compressed, Decompressed, Error};
use crate::ip::rpl::{self, RplHeaders, RplOption, SourceRoute};
use crate::ip::{Ecn, Ipv6Header, next_header};

/// The octet that switches to page 1 (RFC 8025 section 3, RFC 8138 section 3).
pub(super) const PAGE_1: u8 = 0xf1;

/// 100 in the first three bits: a critical header. A node that does not know it discards the packet.
const CRITICAL: u8 = 0b1000_0000;

/// 101: an elective header. A node that does not know it skips it.
const ELECTIVE: u8 = 0b1010_0000;

const CLASS_MASK: u8 = 0b1110_0000;

/// The octets of an address in an SRH-6LoRH, by type (RFC 8138 section 5.1).
const ADDRESS_OCTETS: [usize; 5] = [1, 2, 4, 8, 16];

/// The type of the RPI-6LoRH (RFC 8138 section 6).
const RPI: u8 = 5;

/// The type of the IP-in-IP-6LoRH (RFC 8138 section 7).
const IP_IN_IP: u8 = 6;

/// The flags of the RPI-6LoRH: the instance is 0 and left out; the low octet of the rank is 0 and left out.
const NO_INSTANCE: u8 = 0b10;
const SHORT_RANK: u8 = 0b01;

/// The largest number of addresses of an SRH-6LoRH: its size has five bits.
const MAX_ADDRESSES: usize = 32;

/// The most addresses of a route: one in each hop that an IPv6 packet of hop limit 64 can take.
const MAX_ROUTE: usize = 64;

/// Compresses a packet with headers of RPL. None if it has none, or others than RFC 8138 has a form for: then it is
/// compressed as any other packet.
pub(super) fn compress(
    packet: &[u8],
    how: Compression<'_>,
    encoding: &RoutingHeaders,
    out: &mut Writer<'_>,
) -> Result<Option<Compressed>, Error> {
    let headers = RplHeaders::of(packet);
    let before = out.written();
    let is_tunnel = headers.is_tunnel(packet);
    if !is_tunnel && (headers.is_empty() || headers.route.is_some()) {
        return Ok(None);
    }
    let outer = Ipv6Header::parse(packet)?;
    let option = rpl::option(packet, &headers);
    let behind = packet.get(headers.end..).ok_or(Error::Truncated)?;
    if !is_tunnel {
        out.u8(PAGE_1)?;
        emit_option(option.as_ref(), out)?;
        // The header of the packet as it was without the option.
        let hidden = headers.end - Ipv6Header::LENGTH;
        let next_header = packet[headers.next_header];
        let payload_length = outer.payload_length.saturating_sub(hidden as u16);
        let plain = Ipv6Header { next_header, payload_length, ..outer };
        let done = iphc::compress(&plain, &packet[hidden..], how, out)?;
        return Ok(Some(Compressed::of(done.behind(hidden), out.written() - before, hidden)));
    }
    let mut inner = Ipv6Header::parse(behind)?;
    if outer.ecn() == Ecn::CongestionExperienced && inner.ecn().is_capable() {
        inner = inner.with_ecn(Ecn::CongestionExperienced); // the outer header has no ECN field here
    }
    out.u8(PAGE_1)?;
    let implicit = implicit_destination(option.as_ref(), encoding, &inner);
    match rpl::route(packet, &headers) {
        Some(route) => emit_route(outer.destination, route.rest(outer.destination), encoding, out)?,
        None if implicit == Some(outer.destination) => {}
        None => emit_route(outer.destination, std::iter::empty(), encoding, out)?,
    }
    emit_option(option.as_ref(), out)?;
    emit_ip_in_ip(&outer, encoding, out)?;
    let hidden = headers.end;
    let done = iphc::compress(&inner, behind, how, out)?;
    Ok(Some(Compressed::of(done.behind(hidden), out.written() - before, hidden)))
}

/// Decompresses what [`compress`] has written.
pub(super) fn decompress(payload: &[u8], how: Decompression<'_>, out: &mut [u8]) -> Result<Decompressed, Error> {
    let encoding = how.contexts.routing_headers().ok_or(Error::Dispatch(PAGE_1))?;
    let mut input = Reader::new(&payload[1..]);
    let found = Found::read(&mut input, encoding)?;
    let begin = 1 + input.position();
    let Some((hop_limit, source)) = found.ip_in_ip else {
        let option = found.option.filter(|_| found.hops == 0).ok_or(Error::RoutingHeader)?;
        return decompress_option(&option, &payload[begin..], how, out)
            .map(|done| Decompressed { consumed: done.consumed + begin, ..done });
    };
    // The inner packet is read first: the outer destination may follow from it.
    let mut headers = [0; super::MAX_COMPRESSED + 16 * MAX_ROUTE];
    let extensions = found.emit_extensions(&mut headers)?;
    let hidden = Ipv6Header::LENGTH + extensions;
    let mut writer = Writer::new(out);
    writer.skip(hidden)?;
    let datagram_size = how.datagram_size.map(|size| size + hidden);
    let done = iphc::decompress(&payload[begin..], Decompression { datagram_size, ..how }, &mut writer)?;
    let size = datagram_size.unwrap_or(done.written + payload.len() - begin - done.consumed);
    let inner = Ipv6Header::parse(&out[hidden..])?;
    let implicit = implicit_destination(found.option.as_ref(), encoding, &inner);
    let destination = found.route().first().copied().or(implicit).ok_or(Error::RoutingHeader)?;
    let payload_length = u16::try_from(size - Ipv6Header::LENGTH).map_err(|_| Error::TooLong(size))?;
    let outer = Ipv6Header::new(source, destination, found.first_header(), payload_length).with_ecn(inner.ecn());
    let outer = Ipv6Header { hop_limit, ..outer };
    out[..Ipv6Header::LENGTH].copy_from_slice(&outer.emit());
    out[Ipv6Header::LENGTH..hidden].copy_from_slice(&headers[..extensions]);
    Ok(Decompressed { consumed: begin + done.consumed, hidden, ..done })
}

/// Decompresses a packet whose only header of RPL is the option.
fn decompress_option(
    option: &RplOption,
    payload: &[u8],
    how: Decompression<'_>,
    out: &mut [u8],
) -> Result<Decompressed, Error> {
    let hidden = RplOption::HEADER;
    let done = iphc::decompress(payload, how, &mut Writer::new(out))?;
    let written = done.written + hidden;
    let found = out.len();
    let headers = out.get_mut(..written).ok_or(Error::BufferTooSmall(found))?;
    headers.copy_within(Ipv6Header::LENGTH..done.written, Ipv6Header::LENGTH + hidden);
    let ip = Ipv6Header::parse(headers)?;
    let longer = usize::from(ip.payload_length) + hidden;
    let payload_length = u16::try_from(longer).map_err(|_| Error::TooLong(longer))?;
    let header = Ipv6Header { payload_length, next_header: next_header::HOP_BY_HOP, ..ip };
    headers[..Ipv6Header::LENGTH].copy_from_slice(&header.emit());
    headers[Ipv6Header::LENGTH..][..hidden].copy_from_slice(&option.emit(ip.next_header));
    Ok(Decompressed { written, hidden, ..done })
}

/// The destination of the outer header if no SRH-6LoRH has it.
fn implicit_destination(option: Option<&RplOption>, encoding: &RoutingHeaders, inner: &Ipv6Header) -> Option<Ipv6Addr> {
    option.map(|option| if option.down { inner.destination } else { encoding.root })
}

fn emit_option(option: Option<&RplOption>, out: &mut Writer<'_>) -> Result<(), Error> {
    let Some(option) = option else { return Ok(()) };
    let [high, low] = option.sender_rank.to_be_bytes();
    let flags = u8::from(option.down) << 4
        | u8::from(option.rank_error) << 3
        | u8::from(option.forwarding_error) << 2
        | if option.instance == 0 { NO_INSTANCE } else { 0 }
        | if low == 0 { SHORT_RANK } else { 0 };
    out.slice(&[CRITICAL | flags, RPI])?;
    if option.instance != 0 {
        out.u8(option.instance)?;
    }
    out.u8(high)?;
    if low == 0 { Ok(()) } else { out.u8(low) }
}

fn emit_ip_in_ip(outer: &Ipv6Header, encoding: &RoutingHeaders, out: &mut Writer<'_>) -> Result<(), Error> {
    if outer.source == encoding.root {
        return out.slice(&[ELECTIVE | 1, IP_IN_IP, outer.hop_limit]);
    }
    let octets = kept_octets(encoding, &[outer.source]);
    out.slice(&[ELECTIVE | (1 + octets as u8), IP_IN_IP, outer.hop_limit])?; // at most 17
    out.slice(&outer.source.octets()[16 - octets..])
}

/// Writes the addresses of a route, 32 at most in each header.
fn emit_route(
    first: Ipv6Addr,
    rest: impl Iterator<Item = Ipv6Addr>,
    encoding: &RoutingHeaders,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    let mut route = [first; MAX_ROUTE];
    let mut hops = 1;
    for address in rest {
        *route.get_mut(hops).ok_or(Error::RoutingHeader)? = address;
        hops += 1;
    }
    for part in route[..hops].chunks(MAX_ADDRESSES) {
        let octets = kept_octets(encoding, part);
        let kind = ADDRESS_OCTETS.iter().position(|&known| known == octets).unwrap_or(ADDRESS_OCTETS.len() - 1);
        out.slice(&[CRITICAL | (part.len() - 1) as u8, kind as u8])?;
        part.iter().try_for_each(|address| out.slice(&address.octets()[16 - octets..]))?;
    }
    Ok(())
}

/// The octets that these addresses keep: the others are those of the root.
fn kept_octets(encoding: &RoutingHeaders, addresses: &[Ipv6Addr]) -> usize {
    let needed = (16 - rpl::common_octets(encoding.root, addresses)).max(encoding.address_octets);
    ADDRESS_OCTETS.into_iter().find(|&octets| octets >= needed).unwrap_or(16)
}

/// The 6LoWPAN routing headers of a packet.
struct Found {
    route: [Ipv6Addr; MAX_ROUTE],
    /// The addresses of `route` in use.
    hops: usize,
    address_octets: usize,
    option: Option<RplOption>,
    /// The hop limit and the source of the outer header.
    ip_in_ip: Option<(u8, Ipv6Addr)>,
}

impl Found {
    fn read(input: &mut Reader<'_>, encoding: &RoutingHeaders) -> Result<Self, Error> {
        let root = encoding.root;
        let mut found = Self {
            route: [root; MAX_ROUTE],
            hops: 0,
            address_octets: encoding.address_octets,
            option: None,
            ip_in_ip: None,
        };
        loop {
            let Some(&first) = input.rest().first() else { return Err(Error::Truncated) };
            let low = first & !CLASS_MASK;
            match first & CLASS_MASK {
                CRITICAL => {
                    input.u8()?;
                    match input.u8()? {
                        RPI => found.option = Some(read_option(low, input)?),
                        kind => {
                            let octets = *ADDRESS_OCTETS.get(usize::from(kind)).ok_or(Error::RoutingHeader)?;
                            for _ in 0..=low {
                                let address = read_address(octets, root, input)?;
                                *found.route.get_mut(found.hops).ok_or(Error::RoutingHeader)? = address;
                                found.hops += 1;
                            }
                        }
                    }
                }
                ELECTIVE => {
                    input.u8()?;
                    let (kind, length) = (input.u8()?, usize::from(low));
                    if kind != IP_IN_IP {
                        input.slice(length)?;
                        continue;
                    }
                    let hop_limit = input.u8()?;
                    let octets =
                        length.checked_sub(1).filter(|&octets| octets == 0 || ADDRESS_OCTETS.contains(&octets));
                    found.ip_in_ip = Some((hop_limit, read_address(octets.ok_or(Error::RoutingHeader)?, root, input)?));
                }
                _ => return Ok(found),
            }
        }
    }

    /// The addresses of the route: the outer destination, and what follows it.
    fn route(&self) -> &[Ipv6Addr] {
        &self.route[..self.hops]
    }

    /// The number of the header that follows the outer IPv6 header.
    fn first_header(&self) -> u8 {
        match (&self.option, self.hops) {
            (Some(_), _) => next_header::HOP_BY_HOP,
            (None, 2..) => next_header::ROUTING,
            (None, _) => next_header::IPV6,
        }
    }

    /// Writes the extension headers of the outer header. Returns their octets.
    fn emit_extensions(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut written = 0;
        if let Some(option) = &self.option {
            let next = if self.hops > 1 { next_header::ROUTING } else { next_header::IPV6 };
            out[..RplOption::HEADER].copy_from_slice(&option.emit(next));
            written = RplOption::HEADER;
        }
        if let [destination, rest @ ..] = self.route()
            && !rest.is_empty()
        {
            written +=
                SourceRoute::emit(next_header::IPV6, *destination, rest, self.address_octets, &mut out[written..])?;
        }
        Ok(written)
    }
}

fn read_option(flags: u8, input: &mut Reader<'_>) -> Result<RplOption, Error> {
    let instance = if flags & NO_INSTANCE == 0 { input.u8()? } else { 0 };
    let high = input.u8()?;
    let low = if flags & SHORT_RANK == 0 { input.u8()? } else { 0 };
    Ok(RplOption {
        down: flags & 0b1_0000 != 0,
        rank_error: flags & 0b0_1000 != 0,
        forwarding_error: flags & 0b0_0100 != 0,
        instance,
        sender_rank: u16::from_be_bytes([high, low]),
    })
}

/// An address of which only the last octets are there; the others are those of the root.
fn read_address(octets: usize, root: Ipv6Addr, input: &mut Reader<'_>) -> Result<Ipv6Addr, Error> {
    let mut address = root.octets();
    address[16 - octets..].copy_from_slice(input.slice(octets)?);
    Ok(address.into())
}

#[cfg(test)]
mod tests;
