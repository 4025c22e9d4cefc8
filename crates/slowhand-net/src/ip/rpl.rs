//! The headers that RPL adds to packets: the RPL option (RFC 6553), the source routing header (RFC 6554), and the outer header of
//! IPv6-in-IPv6 (RFC 2473) that carries them where the packet itself must not change (RFC 8200 section 4, RFC 9008).
//!
//! The hop-by-hop header with the RPL option:
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  next header  |       0       |     0x63      |       4       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |O|R|F|0|0|0|0|0| RPLInstanceID |          SenderRank           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The source routing header. Each address lacks its first octets, which are those of the destination in the IPv6
//! header: CmprI octets, CmprE octets in the last address.
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  next header  | length, of 8  |       3       | segments left |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | CmprI | CmprE |  Pad  |               reserved                |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  addresses, padding of Pad octets             |
//! ```

use std::net::Ipv6Addr;
use std::ops::Range;

use super::{Ecn, Error, Ipv6Header, next_header};

/// The octets of an address.
const ADDRESS: usize = 16;

/// The unit of the lengths of extension headers, in octets (RFC 8200 section 4).
const UNIT: usize = 8;

/// The position of the octet that says which header follows the IPv6 header.
const NEXT_HEADER: usize = 6;

/// The octets of a source routing header before its addresses.
const ROUTE_FIXED: usize = 8;

/// The routing type of a source routing header (RFC 6554 section 6).
const SOURCE_ROUTE: u8 = 3;

/// The RPL option (RFC 6553 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RplOption {
    /// O: the packet is on its way down.
    pub down: bool,
    /// R: a node saw a rank that contradicts the direction.
    pub rank_error: bool,
    /// F: a node could not forward the packet down.
    pub forwarding_error: bool,
    /// The RPLInstanceID.
    pub instance: u8,
    /// The rank of the node that sent the packet over this hop.
    pub sender_rank: u16,
}

impl RplOption {
    /// The option type (RFC 6553 section 6). RFC 9008 section 4.2 gives 0x23 to networks whose packets leave with the
    /// option in them. Here it does not leave: the root takes it out.
    pub const TYPE: u8 = 0x63;

    /// The octets of a hop-by-hop header with this option and no other.
    pub const HEADER: usize = 8;

    /// The octets of the option's data.
    const LENGTH: u8 = 4;

    /// Reads a hop-by-hop header that has this option and no other. None for any other header.
    pub fn parse(header: &[u8]) -> Option<Self> {
        match *header.first_chunk::<{ Self::HEADER }>()? {
            [_, 0, Self::TYPE, Self::LENGTH, flags, instance, high, low] => Some(Self {
                down: flags & 0x80 != 0,
                rank_error: flags & 0x40 != 0,
                forwarding_error: flags & 0x20 != 0,
                instance,
                sender_rank: u16::from_be_bytes([high, low]),
            }),
            _ => None,
        }
    }

    /// The hop-by-hop header with this option.
    pub const fn emit(&self, next_header: u8) -> [u8; Self::HEADER] {
        let flags = (self.down as u8) << 7 | (self.rank_error as u8) << 6 | (self.forwarding_error as u8) << 5;
        let [high, low] = self.sender_rank.to_be_bytes();
        [next_header, 0, Self::TYPE, Self::LENGTH, flags, self.instance, high, low]
    }
}

/// A source routing header (RFC 6554 section 3), in the octets of a packet.
#[derive(Clone, Copy, Debug)]
pub struct SourceRoute<'a> {
    /// The header, from its next header field to its padding.
    octets: &'a [u8],
    /// The octets that each address lacks; the last one lacks `elided_last`.
    elided: usize,
    elided_last: usize,
    count: usize,
    left: usize,
}

impl<'a> SourceRoute<'a> {
    /// Reads the header at the beginning of `octets`.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Protocol`] if it is another routing header; [`Error::Length`] if the lengths
    /// contradict each other.
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        let found = octets.len();
        let &[_, length, kind, left, elided, pad, ..] =
            octets.first_chunk::<{ ROUTE_FIXED }>().ok_or(Error::Truncated { needed: ROUTE_FIXED, found })?;
        if kind != SOURCE_ROUTE {
            return Err(Error::Protocol { expected: SOURCE_ROUTE, found: kind });
        }
        let needed = UNIT * (usize::from(length) + 1);
        let octets = octets.get(..needed).ok_or(Error::Truncated { needed, found })?;
        let (elided, elided_last) = (usize::from(elided >> 4), usize::from(elided & 0xf));
        let (pad, left) = (usize::from(pad >> 4), usize::from(left));
        let room = needed - ROUTE_FIXED;
        let inner = room.checked_sub(pad + ADDRESS - elided_last);
        let count =
            inner.filter(|inner| inner.is_multiple_of(ADDRESS - elided)).map(|inner| inner / (ADDRESS - elided) + 1);
        match count {
            Some(count) if left <= count => Ok(Self { octets, elided, elided_last, count, left }),
            _ => Err(Error::Length { field: left, found: room }),
        }
    }

    /// The octets of the header.
    pub const fn length(&self) -> usize {
        self.octets.len()
    }

    /// The number of addresses that are not visited yet.
    pub const fn segments_left(&self) -> usize {
        self.left
    }

    /// The addresses that are not visited yet, in their order. `destination` is that of the IPv6 header.
    pub fn rest(&self, destination: Ipv6Addr) -> impl Iterator<Item = Ipv6Addr> + '_ {
        (self.count - self.left..self.count).map(move |index| {
            let range = self.place(index);
            let mut address = destination.octets();
            address[ADDRESS - range.len()..].copy_from_slice(&self.octets[range]);
            address.into()
        })
    }

    /// Writes the header of a route into `out`: the packet goes to `destination` first, then to `rest`. An address
    /// keeps at least its last `octets` octets (1 to 16), and more where the addresses differ before them. Returns the
    /// octets of the header.
    ///
    /// # Errors
    /// [`Error::PayloadTooLong`] if the route has more than 255 addresses, and [`Error::BufferTooSmall`].
    pub fn emit(
        next_header: u8,
        destination: Ipv6Addr,
        rest: &[Ipv6Addr],
        octets: usize,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let left = u8::try_from(rest.len()).map_err(|_| Error::PayloadTooLong(ADDRESS * rest.len()))?;
        let elided = common_octets(destination, rest).min(ADDRESS - octets.clamp(1, ADDRESS));
        let addresses = rest.len() * (ADDRESS - elided);
        let length = Self::length_of(rest.len(), ADDRESS - elided);
        let pad = length - ROUTE_FIXED - addresses;
        let found = out.len();
        let out = out.get_mut(..length).ok_or(Error::BufferTooSmall { needed: length, found })?;
        let units = u8::try_from(length / UNIT - 1).map_err(|_| Error::PayloadTooLong(length))?;
        let cmpr = (elided as u8) << 4 | elided as u8; // at most 15
        out[..ROUTE_FIXED].copy_from_slice(&[next_header, units, SOURCE_ROUTE, left, cmpr, (pad as u8) << 4, 0, 0]);
        for (place, address) in out[ROUTE_FIXED..].chunks_exact_mut(ADDRESS - elided).zip(rest) {
            place.copy_from_slice(&address.octets()[elided..]);
        }
        out[ROUTE_FIXED + addresses..].fill(0);
        Ok(length)
    }

    /// The octets of a header with this many addresses of this many octets each: 8, the addresses, and padding to a
    /// multiple of 8.
    pub const fn length_of(addresses: usize, octets: usize) -> usize {
        ROUTE_FIXED + (addresses * octets).next_multiple_of(UNIT)
    }

    /// Where an address is in the header.
    fn place(&self, index: usize) -> Range<usize> {
        let begin = ROUTE_FIXED + index * (ADDRESS - self.elided);
        let elided = if index + 1 == self.count { self.elided_last } else { self.elided };
        begin..begin + ADDRESS - elided
    }
}

/// The octets at the beginning of all these addresses that are the same, at most 15.
pub fn common_octets(first: Ipv6Addr, others: &[Ipv6Addr]) -> usize {
    let common = |other: &Ipv6Addr| first.octets().iter().zip(other.octets()).take_while(|(a, b)| **a == *b).count();
    others.iter().map(common).min().unwrap_or(ADDRESS).min(ADDRESS - 1)
}

/// The headers that RPL has put into a packet, behind its IPv6 header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RplHeaders {
    /// The hop-by-hop header with the RPL option.
    pub option: Option<Range<usize>>,
    /// The source routing header.
    pub route: Option<Range<usize>>,
    /// The position of the octet that says which header follows them.
    pub next_header: usize,
    /// Where that header begins.
    pub end: usize,
}

impl RplHeaders {
    /// Finds them in a packet that begins with an IPv6 header. The packet may end after its headers.
    pub fn of(packet: &[u8]) -> Self {
        let mut headers = Self { option: None, route: None, next_header: NEXT_HEADER, end: Ipv6Header::LENGTH };
        if packet.get(headers.next_header) == Some(&next_header::HOP_BY_HOP)
            && RplOption::parse(&packet[headers.end.min(packet.len())..]).is_some()
        {
            headers.option = Some(headers.pass(RplOption::HEADER));
        }
        if packet.get(headers.next_header) == Some(&next_header::ROUTING)
            && let Ok(route) = SourceRoute::parse(&packet[headers.end.min(packet.len())..])
        {
            headers.route = Some(headers.pass(route.length()));
        }
        headers
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.end == Ipv6Header::LENGTH
    }

    /// True if what follows is a whole IPv6 packet.
    pub fn is_tunnel(&self, packet: &[u8]) -> bool {
        packet.get(self.next_header) == Some(&next_header::IPV6)
    }

    fn pass(&mut self, length: usize) -> Range<usize> {
        self.next_header = self.end;
        self.end += length;
        self.next_header..self.end
    }
}

/// Reads the RPL option of a packet.
pub fn option(packet: &[u8], headers: &RplHeaders) -> Option<RplOption> {
    RplOption::parse(&packet[headers.option.clone()?])
}

/// Reads the source route of a packet.
pub fn route<'a>(packet: &'a [u8], headers: &RplHeaders) -> Option<SourceRoute<'a>> {
    SourceRoute::parse(&packet[headers.route.clone()?]).ok()
}

/// Changes the RPL option of a packet in place.
pub fn set_option(packet: &mut [u8], headers: &RplHeaders, option: &RplOption) {
    if let Some(range) = headers.option.clone() {
        let next_header = packet[range.start];
        packet[range].copy_from_slice(&option.emit(next_header));
    }
}

/// Takes the next step of the source route: the next address becomes the destination, and the destination takes its
/// place (RFC 6554 section 4.2). Returns false if no segment is left.
pub fn advance(packet: &mut [u8], headers: &RplHeaders) -> bool {
    let Some(range) = headers.route.clone() else { return false };
    let Ok(route) = SourceRoute::parse(&packet[range.clone()]) else { return false };
    if route.left == 0 {
        return false;
    }
    let place = route.place(route.count - route.left);
    // The next address and the last octets of the destination change places.
    let (ip, behind) = packet.split_at_mut(Ipv6Header::LENGTH);
    let header = &mut behind[range.start - Ipv6Header::LENGTH..];
    header[3] -= 1; // segments left
    let address = &mut header[place];
    let begin = Ipv6Header::LENGTH - address.len();
    ip[begin..].swap_with_slice(address);
    true
}

/// Puts an extension header behind the IPv6 header. `header` begins with a next header field, which is set.
///
/// # Errors
/// As [`Ipv6Header::parse`]; [`Error::PayloadTooLong`]. Then the packet does not change.
pub fn insert(packet: &mut Vec<u8>, number: u8, header: &[u8]) -> Result<(), Error> {
    let ip = Ipv6Header::parse(packet)?;
    let payload = usize::from(ip.payload_length) + header.len();
    let payload_length = payload.try_into().map_err(|_| Error::PayloadTooLong(payload))?;
    make_room(packet, Ipv6Header::LENGTH, header.len());
    put_headers(packet, &Ipv6Header { payload_length, next_header: number, ..ip }, header, ip.next_header);
    Ok(())
}

/// Takes the headers of RPL out of a packet.
pub fn remove(packet: &mut Vec<u8>, headers: &RplHeaders) {
    let removed = headers.end - Ipv6Header::LENGTH;
    if let Ok(ip) = Ipv6Header::parse(packet) {
        let next_header = packet[headers.next_header];
        let payload_length = ip.payload_length.saturating_sub(removed as u16); // at most 8 and 2,048 octets
        packet[..Ipv6Header::LENGTH].copy_from_slice(&Ipv6Header { payload_length, next_header, ..ip }.emit());
        packet.drain(Ipv6Header::LENGTH..headers.end);
    }
}

/// Puts a packet into another one from `source` to `destination`, with `header` as its extension header of this number
/// (RFC 2473). The outer header gets the ECN field of the packet (RFC 6040 section 4.1), and no flow label (RFC 9008).
///
/// # Errors
/// As [`insert`].
pub fn encapsulate(
    packet: &mut Vec<u8>,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    (number, header): (u8, &[u8]),
) -> Result<(), Error> {
    let inner = Ipv6Header::parse(packet)?;
    let payload = packet.len() + header.len();
    let payload_length = payload.try_into().map_err(|_| Error::PayloadTooLong(payload))?;
    let outer = Ipv6Header::new(source, destination, number, payload_length).with_ecn(inner.ecn());
    make_room(packet, 0, Ipv6Header::LENGTH + header.len());
    put_headers(packet, &outer, header, next_header::IPV6);
    Ok(())
}

/// Takes the inner packet out of its tunnel. A mark of the outer header passes to a packet that is ECN-capable (RFC
/// 6040 section 4.2).
pub fn decapsulate(packet: &mut Vec<u8>, headers: &RplHeaders) {
    let is_marked = Ipv6Header::parse(packet).is_ok_and(|outer| outer.ecn() == Ecn::CongestionExperienced);
    packet.drain(..headers.end);
    if is_marked && Ipv6Header::parse(packet).is_ok_and(|inner| inner.ecn().is_capable()) {
        // It cannot fail: the header was parsed just before.
        let _ = super::ipv6::mark(packet, Ecn::CongestionExperienced);
    }
}

/// Writes an IPv6 header and an extension header, behind which comes the header `next`, to the beginning of a packet.
fn put_headers(packet: &mut [u8], ip: &Ipv6Header, extension: &[u8], next: u8) {
    packet[..Ipv6Header::LENGTH].copy_from_slice(&ip.emit());
    packet[Ipv6Header::LENGTH..][..extension.len()].copy_from_slice(extension);
    packet[Ipv6Header::LENGTH] = next;
}

/// Moves everything from `at` on back by `length` octets.
fn make_room(packet: &mut Vec<u8>, at: usize, length: usize) {
    let before = packet.len();
    packet.resize(before + length, 0);
    packet.copy_within(at..before, at + length);
}

#[cfg(test)]
mod tests;
