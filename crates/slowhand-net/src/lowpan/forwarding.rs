//! Fragment forwarding: fragments are forwarded one by one, without reassembly at every hop (RFC 8930).
//!
//! The first fragment carries the addresses, so the node can route it. The node stores next hop and new tag in a
//! virtual reassembly buffer, for the other fragments. It stores no octets of the packet.

use super::cursor::Writer;
use super::fragment::{FragmentHeader, MAX_DATAGRAM, UNIT};
use super::reassembly::{Expired, Expiry, MAX_TIMEOUT};
use super::{Contexts, Error, Form, Link, MAX_DECOMPRESSED, MAX_HEADERS, compress_headers, decompress};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip::{Ecn, Ipv6Header};

/// The octets by which a compressed header can grow between two nodes of a /64: the interface identifiers that the
/// first link elides (8 each), and the hop limit when it is no longer 64 or 255 (1).
pub const SLACK: usize = 17;

/// The units of eight octets in the longest datagram.
const UNITS: usize = (MAX_DATAGRAM + 1) / UNIT;

/// The limits of fragment forwarding at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of virtual reassembly buffers, one for each packet. RIOT has 16, OpenWSN 2.
    pub entries: usize,
    /// The time from the first fragment until the entry is deleted; at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
}

impl Default for Limits {
    /// RIOT's 16 entries, and [`MAX_TIMEOUT`].
    fn default() -> Self {
        Self { entries: 16, timeout: MAX_TIMEOUT }
    }
}

/// The route of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The packet is for this node.
    Local,
    /// The packet goes to a neighbour.
    Next {
        /// The neighbour.
        to: Eui64,
        /// A datagram_tag that no other packet from this node to that neighbour has.
        tag: u16,
        /// True if this node is congested: it marks ECN-capable packets (RFC 3168 section 5).
        congested: bool,
        /// The most octets of payload in a frame to that neighbour.
        capacity: usize,
    },
    /// There is no route.
    None,
}

/// The next step for a frame payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet is for this node, or this is not a fragment: give it to the [`Reassembler`](super::Reassembler).
    Local,
    /// Send the payload in the output buffer.
    Forward {
        /// The next hop.
        to: Eui64,
        /// The octets of the payload.
        length: usize,
    },
    /// The fragment was discarded.
    Discarded(Discard),
}

/// Why a fragment was not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Discard {
    /// The UDP checksum is elided. It cannot be computed from one fragment (RFC 6282 section 4.3.2).
    #[error("the first fragment elides the checksum: such a packet can be forwarded only as a whole")]
    ChecksumElided,
    /// Every virtual reassembly buffer is taken.
    #[error("every virtual reassembly buffer is taken")]
    Full,
    /// The hop limit of the packet reaches zero.
    #[error("the hop limit is used up")]
    HopLimit,
    /// It is not valid.
    #[error("malformed: {0}")]
    Malformed(#[from] Error),
    /// There is no route to the destination.
    #[error("no route to the destination")]
    NoRoute,
    /// The fragment does not fit into a frame to the next node: the header has grown, or that link has smaller frames.
    #[error("the fragment does not fit into a frame to the next node: send with more slack")]
    NoSlack,
    /// The first fragment has not arrived, so the next hop is not known.
    #[error("the first fragment did not arrive, or its entry has timed out")]
    Unknown,
}

/// The virtual reassembly buffers of a node.
///
/// Call [`handle_timeout`](Self::handle_timeout) at the [`deadline`](Self::deadline), before any fragment of that
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
    /// A forwarder without packets, for the node `own`.
    pub fn new(own: Eui64, limits: Limits, contexts: Contexts) -> Self {
        let limits = Limits { timeout: limits.timeout.min(MAX_TIMEOUT), ..limits };
        Self { own, contexts, limits, entries: Vec::new(), peak: 0 }
    }

    /// Takes the payload of a frame from the neighbour `from`, and writes what is to be forwarded into `out`, which has
    /// room for the longest frame payload.
    ///
    /// It calls `route` with the headers of each first fragment. The second argument is true if the fragment is the first
    /// of its packet, and false if it came before. `route` may change the headers, as the routing protocol asks of a
    /// router; the hop limit is the forwarder's. `datagram` is the caller's identifier of the
    /// packet: the forwarder keeps that of the first fragment, and returns it when the entry times out.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        payload: &[u8],
        datagram: u32,
        route: impl FnOnce(&mut [u8], bool) -> Route,
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

    /// The time of the next timeout.
    pub fn deadline(&self) -> Option<Instant> {
        self.entries.first().map(|oldest| oldest.started + self.limits.timeout)
    }

    /// Deletes one entry whose timeout has come. Call it until it returns `None`.
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
            reason: Expiry::Timeout,
        })
    }

    /// The number of entries in use now.
    pub fn occupancy(&self) -> usize {
        self.entries.len()
    }

    /// The largest number of entries in use so far.
    pub const fn peak(&self) -> usize {
        self.peak
    }

    #[allow(clippy::too_many_arguments)] // the arguments of `handle_fragment`, and the parsed header
    fn first(
        &mut self,
        now: Instant,
        from: Eui64,
        header: FragmentHeader,
        rest: &[u8],
        datagram: u32,
        route: impl FnOnce(&mut [u8], bool) -> Route,
        out: &mut [u8],
    ) -> Result<Outcome, Discard> {
        let size = usize::from(header.datagram_size);
        // Only a payload that is compressed needs the longer one, which takes time to clear.
        let (mut short, mut long);
        let headers: &mut [u8] = match self.contexts.payload_compression() {
            None => {
                short = [0; MAX_HEADERS];
                &mut short
            }
            Some(_) => {
                long = [0; MAX_DECOMPRESSED];
                &mut long
            }
        };
        let link = Link { source: from, destination: self.own };
        let done = decompress(rest, link, &self.contexts, Some(size), headers)?;
        let rest = &rest[done.consumed..];
        let headers = &mut headers[..done.written];
        let passed = header.passed(0, done.written - done.hidden + rest.len())?;

        let known = self.position(from, &header);
        let mut is_congested = false;
        let next = match (known, route(headers, known.is_none())) {
            (Some(index), _) => self.entries[index].next,
            (None, Route::Local) => None,
            (None, Route::Next { to, tag, congested, capacity }) => {
                is_congested = congested;
                Some(NextHop { to, tag, capacity })
            }
            (None, Route::None) => return Err(Discard::NoRoute),
        };
        if next.is_some() {
            if done.checksum_elided {
                return Err(Discard::ChecksumElided);
            }
            take_hop(headers, is_congested)?;
        }
        let outcome = pass_on(next, header, out, |to, out| {
            let link = Link { source: self.own, destination: to };
            emit_headers(headers, done.form(), link, &self.contexts, out)?;
            out.slice(rest)
        })?;
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
        let outcome = pass_on(self.entries[index].next, header, out, |_, out| out.slice(rest))?;
        self.pass(index, passed);
        Ok(outcome)
    }

    fn position(&self, from: Eui64, header: &FragmentHeader) -> Option<usize> {
        let size = usize::from(header.datagram_size);
        let matches = |entry: &Entry| entry.from == from && entry.tag == header.datagram_tag && entry.size == size;
        self.entries.iter().position(matches)
    }

    /// Notes which units were forwarded. Deletes the entry when all were.
    fn pass(&mut self, index: usize, units: Units) {
        let entry = &mut self.entries[index];
        entry.passed.add(units);
        if entry.passed.octets(entry.size) == entry.size {
            self.entries.remove(index);
        }
    }
}

/// Writes a fragment for the next hop, if there is one: the header with another tag, and behind it what `write` writes for that node.
fn pass_on(
    next: Option<NextHop>,
    header: FragmentHeader,
    out: &mut [u8],
    write: impl FnOnce(Eui64, &mut Writer<'_>) -> Result<(), Error>,
) -> Result<Outcome, Discard> {
    let Some(NextHop { to, tag, capacity }) = next else { return Ok(Outcome::Local) };
    let mut out = Writer::new(first_octets(out, capacity));
    let header = FragmentHeader { datagram_tag: tag, ..header };
    header.emit(&mut out).and_then(|()| write(to, &mut out)).map_err(|_| Discard::NoSlack)?;
    Ok(Outcome::Forward { to, length: out.written() })
}

/// Changes headers as a node does that forwards them: the hop limit is lower by one. If the node is congested and the
/// packet is ECN-capable, the packet is marked.
pub(super) fn take_hop(headers: &mut [u8], congested: bool) -> Result<(), Discard> {
    let ip = Ipv6Header::parse(headers).map_err(Error::from)?;
    let hop_limit = ip.hop_limit.checked_sub(1).filter(|&left| left > 0).ok_or(Discard::HopLimit)?;
    let ip = Ipv6Header { hop_limit, ..ip };
    let ip = if congested && ip.ecn().is_capable() { ip.with_ecn(Ecn::CongestionExperienced) } else { ip };
    headers[..Ipv6Header::LENGTH].copy_from_slice(&ip.emit());
    Ok(())
}

/// Writes the headers, compressed for `link`.
pub(super) fn emit_headers(
    headers: &[u8],
    form: Form,
    link: Link,
    contexts: &Contexts,
    out: &mut Writer<'_>,
) -> Result<(), Error> {
    let header = Ipv6Header::parse(headers)?;
    let done = compress_headers(&header, headers, form, link, contexts, out)?;
    out.slice(&headers[done.consumed..])
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

/// The units of eight octets of a packet that were forwarded.
#[derive(Clone, Copy, Debug)]
struct Units([u64; UNITS / 64]);

impl Units {
    const NONE: Self = Self([0; UNITS / 64]);

    fn add(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// The number of octets of these units in a packet of `size` octets. The last unit may be shorter.
    fn octets(&self, size: usize) -> usize {
        let units: usize = self.0.iter().map(|word| word.count_ones() as usize).sum();
        let last = size.div_ceil(UNIT).saturating_sub(1);
        let has_last = self.0[last / 64] >> (last % 64) & 1 == 1;
        units * UNIT - if has_last { (last + 1) * UNIT - size } else { 0 }
    }
}

impl FragmentHeader {
    /// The units that a fragment of `length` octets at `offset` covers.
    fn passed(&self, offset: usize, length: usize) -> Result<Units, Error> {
        let extent = self.extent(offset, length)?;
        let mut units = Units::NONE;
        for unit in extent.start / UNIT..extent.end.div_ceil(UNIT) {
            units.0[unit / 64] |= 1 << (unit % 64);
        }
        Ok(units)
    }
}
