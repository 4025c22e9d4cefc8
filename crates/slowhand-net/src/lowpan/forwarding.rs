//! Forwarding of fragments one by one, without reassembly on the way (RFC 8930).
//!
//! The first fragment carries the addresses: it is routed, and leaves an entry in the table of virtual reassembly
//! buffers, which says where the others go and under which tag. No octet of the packet is kept.

use super::cursor::Writer;
use super::fragment::{FragmentHeader, MAX_DATAGRAM, UNIT};
use super::reassembly::{Expired, MAX_TIMEOUT};
use super::{Contexts, Error, Link, decompress, iphc};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip::{Ecn, Ipv6Header};

/// Octets by which a compressed header can grow on its way from one node of a /64 to another: the interface identifiers
/// that the first link elides (8 each), and the hop limit when it leaves 64 or 255 (1).
pub const SLACK: usize = 17;

/// Units of eight octets in the longest datagram.
const UNITS: usize = (MAX_DATAGRAM + 1) / UNIT;

/// How much a node can forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets at the same time: entries of the table. RIOT has 16, OpenWSN 2.
    pub entries: usize,
    /// How long after its first fragment a packet is forgotten; at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
}

impl Default for Limits {
    /// RIOT's 16 entries, and [`MAX_TIMEOUT`].
    fn default() -> Self {
        Self { entries: 16, timeout: MAX_TIMEOUT }
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It is for this node.
    Local,
    /// On to a neighbour.
    Next {
        /// The neighbour.
        to: Eui64,
        /// A datagram_tag that no packet on its way from this node to that neighbour has.
        tag: u16,
        /// Whether this node is congested: a packet whose transport understands that is marked (RFC 3168 section 5).
        congested: bool,
        /// The most octets of payload in a frame to that neighbour.
        capacity: usize,
    },
    /// Nowhere.
    None,
}

/// What to do with a frame payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is for this node, or no fragment: give it to the [`Reassembler`](super::Reassembler).
    Local,
    /// Send the payload that was written out.
    Forward {
        /// To whom.
        to: Eui64,
        /// Its octets.
        length: usize,
    },
    /// It was thrown away.
    Discarded(Discard),
}

/// Why a fragment was not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Discard {
    /// The UDP checksum is elided, and cannot be computed from a fragment (RFC 6282 section 4.3.2).
    #[error("the first fragment elides the checksum: only whole packets can be forwarded so")]
    ChecksumElided,
    /// Every entry of the table is taken.
    #[error("every virtual reassembly buffer is taken")]
    Full,
    /// The packet has used up its hops.
    #[error("the hop limit is used up")]
    HopLimit,
    /// It cannot be read.
    #[error("malformed: {0}")]
    Malformed(#[from] Error),
    /// There is no route to where the packet goes.
    #[error("no route to the destination")]
    NoRoute,
    /// The fragment does not fit into a frame to the next node: the header has grown, or that link has smaller frames.
    #[error("the fragment does not fit into a frame to the next node: send with more slack")]
    NoSlack,
    /// No first fragment has said where it goes.
    #[error("the first fragment did not arrive, or its entry has timed out")]
    Unknown,
}

/// The table of virtual reassembly buffers of a node.
///
/// Call [`handle_timeout`](Self::handle_timeout) when [`deadline`](Self::deadline) comes, before any fragment of that
/// instant.
#[derive(Clone, Debug)]
pub struct Forwarder {
    own: Eui64,
    contexts: Contexts,
    limits: Limits,
    /// The oldest first.
    entries: Vec<Entry>,
    peak: usize,
}

impl Forwarder {
    /// The table of the node `own`, which shares `contexts` with its neighbours.
    pub fn new(own: Eui64, limits: Limits, contexts: Contexts) -> Self {
        let limits = Limits { timeout: limits.timeout.min(MAX_TIMEOUT), ..limits };
        Self { own, contexts, limits, entries: Vec::with_capacity(limits.entries), peak: 0 }
    }

    /// Takes the payload of a frame from the neighbour `from`, and writes what is to be forwarded into `out`, which has
    /// room for the longest frame payload.
    ///
    /// `route` is asked once a packet, with the header as it came. `datagram` is an identifier of the caller's: it is
    /// kept from the first fragment, and comes back when the entry times out.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        payload: &[u8],
        datagram: u32,
        route: impl FnOnce(&Ipv6Header) -> Route,
        out: &mut [u8],
    ) -> Outcome {
        if !payload.first().is_some_and(|&octet| FragmentHeader::is_dispatch(octet)) {
            return Outcome::Local;
        }
        let forwarded = FragmentHeader::parse(payload).map_err(Discard::from).and_then(|(header, rest)| {
            match header.datagram_offset {
                None => self.first(now, from, header, rest, datagram, route, out),
                Some(offset) => self.later(from, header, offset, rest, out),
            }
        });
        forwarded.unwrap_or_else(Outcome::Discarded)
    }

    /// The next instant at which a packet is forgotten.
    pub fn deadline(&self) -> Option<Instant> {
        self.entries.first().map(|oldest| oldest.started + self.limits.timeout)
    }

    /// Forgets one packet whose time has come; call again until there is none.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Expired> {
        if self.deadline()? > now {
            return None;
        }
        let entry = self.entries.remove(0);
        Some(Expired {
            link: Link { source: entry.from, destination: self.own },
            tag: entry.tag,
            size: entry.size,
            received: entry.passed.octets(entry.size),
            datagram: entry.datagram,
        })
    }

    /// Entries taken now.
    pub fn occupancy(&self) -> usize {
        self.entries.len()
    }

    /// The most entries that ever were taken.
    pub const fn peak(&self) -> usize {
        self.peak
    }

    #[allow(clippy::too_many_arguments)] // those of `handle_fragment`, and what it parsed
    fn first(
        &mut self,
        now: Instant,
        from: Eui64,
        header: FragmentHeader,
        rest: &[u8],
        datagram: u32,
        route: impl FnOnce(&Ipv6Header) -> Route,
        out: &mut [u8],
    ) -> Result<Outcome, Discard> {
        let size = usize::from(header.datagram_size);
        let mut headers = [0; iphc::MAX_DECOMPRESSED];
        let link = Link { source: from, destination: self.own };
        let done = decompress(rest, link, &self.contexts, Some(size), &mut headers)?;
        let rest = &rest[done.consumed..];
        let headers = &headers[..done.written];
        let passed = header.passed(0, done.written + rest.len())?;

        let known = self.position(from, &header);
        let ip = Ipv6Header::parse(headers).map_err(Error::from)?;
        let mut is_congested = false;
        let next = match known {
            Some(index) => self.entries[index].next,
            None => match route(&ip) {
                Route::Local => None,
                Route::Next { to, tag, congested, capacity } => {
                    is_congested = congested;
                    Some(NextHop { to, tag, capacity })
                }
                Route::None => return Err(Discard::NoRoute),
            },
        };
        let outcome = match next {
            None => Outcome::Local,
            Some(_) if done.checksum_elided => return Err(Discard::ChecksumElided),
            Some(NextHop { to, tag, capacity }) => {
                let ip = a_hop_on(ip, is_congested)?;
                let link = Link { source: self.own, destination: to };
                let mut out = Writer::new(first_octets(out, capacity));
                FragmentHeader { datagram_tag: tag, ..header }
                    .emit(&mut out)
                    .and_then(|()| emit_headers(&ip, &headers[Ipv6Header::LENGTH..], link, &self.contexts, &mut out))
                    .and_then(|()| out.slice(rest))
                    .map_err(|_| Discard::NoSlack)?;
                Outcome::Forward { to, length: out.written() }
            }
        };
        let index = match known {
            Some(index) => index,
            None if self.entries.len() == self.limits.entries => return Err(Discard::Full),
            None => {
                let tag = header.datagram_tag;
                self.entries.push(Entry { from, tag, size, next, started: now, datagram, passed: Units::NONE });
                self.peak = self.peak.max(self.entries.len());
                self.entries.len() - 1
            }
        };
        self.pass(index, passed);
        Ok(outcome)
    }

    fn later(
        &mut self,
        from: Eui64,
        header: FragmentHeader,
        offset: u8,
        rest: &[u8],
        out: &mut [u8],
    ) -> Result<Outcome, Discard> {
        let index = self.position(from, &header).ok_or(Discard::Unknown)?;
        let passed = header.passed(usize::from(offset) * UNIT, rest.len())?;
        let outcome = match self.entries[index].next {
            None => Outcome::Local,
            Some(NextHop { to, tag, capacity }) => {
                let mut out = Writer::new(first_octets(out, capacity));
                FragmentHeader { datagram_tag: tag, ..header }
                    .emit(&mut out)
                    .and_then(|()| out.slice(rest))
                    .map_err(|_| Discard::NoSlack)?;
                Outcome::Forward { to, length: out.written() }
            }
        };
        self.pass(index, passed);
        Ok(outcome)
    }

    fn position(&self, from: Eui64, header: &FragmentHeader) -> Option<usize> {
        let size = usize::from(header.datagram_size);
        let matches = |entry: &Entry| entry.from == from && entry.tag == header.datagram_tag && entry.size == size;
        self.entries.iter().position(matches)
    }

    /// Notes what has gone through; an entry through which everything has gone is free again.
    fn pass(&mut self, index: usize, units: Units) {
        let entry = &mut self.entries[index];
        entry.passed.add(units);
        if entry.passed.octets(entry.size) == entry.size {
            self.entries.remove(index);
        }
    }
}

/// The header of a packet that a node passes on: a hop less, and marked where the node is congested and the transport
/// understands that.
pub(super) fn a_hop_on(ip: Ipv6Header, congested: bool) -> Result<Ipv6Header, Discard> {
    let hop_limit = ip.hop_limit.checked_sub(1).filter(|&left| left > 0).ok_or(Discard::HopLimit)?;
    let ip = Ipv6Header { hop_limit, ..ip };
    Ok(if congested && ip.ecn().is_capable() { ip.with_ecn(Ecn::CongestionExperienced) } else { ip })
}

/// Writes headers compressed for `link`. `udp` is empty where the packet is of another protocol.
pub(super) fn emit_headers(
    ip: &Ipv6Header,
    udp: &[u8],
    link: Link,
    contexts: &Contexts,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    let mut compressed = [0; iphc::MAX_COMPRESSED];
    let done = iphc::compress_headers(ip, udp, link, contexts, &mut compressed)?;
    out.slice(&compressed[..done.written])?;
    out.slice(&udp[done.consumed - Ipv6Header::LENGTH..])
}

/// The part of `out` that a frame with this capacity can carry.
pub(super) fn first_octets(out: &mut [u8], capacity: usize) -> &mut [u8] {
    let length = out.len().min(capacity);
    &mut out[..length]
}

/// Where the fragments of a packet go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NextHop {
    to: Eui64,
    tag: u16,
    capacity: usize,
}

/// A virtual reassembly buffer.
#[derive(Clone, Copy, Debug)]
struct Entry {
    from: Eui64,
    tag: u16,
    size: usize,
    /// `None` if the packet is for this node.
    next: Option<NextHop>,
    started: Instant,
    datagram: u32,
    passed: Units,
}

/// Which units of eight octets of a packet have gone through.
#[derive(Clone, Copy, Debug)]
struct Units([u64; UNITS / 64]);

impl Units {
    const NONE: Self = Self([0; UNITS / 64]);

    fn add(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// The octets they stand for in a packet of `size`, whose last unit may be short.
    fn octets(&self, size: usize) -> usize {
        let units: usize = self.0.iter().map(|word| word.count_ones() as usize).sum();
        let last = size.div_ceil(UNIT).saturating_sub(1);
        let has_last = self.0[last / 64] >> (last % 64) & 1 == 1;
        units * UNIT - if has_last { (last + 1) * UNIT - size } else { 0 }
    }
}

impl FragmentHeader {
    /// The units that a fragment of `length` octets from `offset` covers.
    fn passed(&self, offset: usize, length: usize) -> Result<Units, Error> {
        let extent = self.extent(offset, length)?;
        let mut units = Units::NONE;
        for unit in extent.start / UNIT..extent.end.div_ceil(UNIT) {
            units.0[unit / 64] |= 1 << (unit % 64);
        }
        Ok(units)
    }
}
