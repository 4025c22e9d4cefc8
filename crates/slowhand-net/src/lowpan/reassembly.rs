//! Reassembly (RFC 4944 section 5.3).
//!
//! The first fragment of a packet to arrive takes a buffer. The buffer is free again when the packet is complete, when
//! a fragment overlaps another, after a timeout, or when another packet takes its place ([`WhenFull`]). Its memory is
//! allocated when it is first taken, and kept.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use super::buffers::Buffers;
use super::fragment::{FragmentHeader, MAX_DATAGRAM, UNIT};
use super::{Contexts, Decompressed, Error, Link, MAX_DECOMPRESSED, MAX_HEADERS, decompress};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip;

/// The longest reassembly timeout (RFC 4944 section 5.3).
pub const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// The limits of reassembly at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of packets in reassembly at the same time.
    pub buffers: usize,
    /// The octets of the longest packet, with uncompressed headers; at most [`MAX_DATAGRAM`].
    pub datagram: usize,
    /// The octets of all packets in reassembly, each with the length that it has when it is complete. A packet that is
    /// alone always has room. `None`: only the other two limits.
    pub memory: Option<usize>,
    /// The time after which a packet that is not complete is discarded; at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// When that time begins, and what happens at its end.
    pub timer: Timer,
    /// The fate of a packet for which there is no room.
    pub when_full: WhenFull,
}

/// When the time begins for which a node waits for missing fragments, and what happens at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", schemars(rename = "ReassemblyTimer"))]
pub enum Timer {
    /// It begins with the first fragment that arrives. At its end the node discards the datagram (RFC 4944 section 5.3).
    #[default]
    FirstFragment,
    /// It begins again with each fragment.
    EachFragment,
    /// As `first-fragment`, but a datagram whose time is over stays, and can still become complete, until the first
    /// fragment of another datagram arrives. Then the node discards all datagrams whose time is over. Only the first fragment of
    /// a datagram takes a buffer (Contiki-NG).
    OnDemand,
}

/// The fate of a datagram for which a node has no room: no free buffer, or too few octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WhenFull {
    /// The node refuses it.
    #[default]
    Refuse,
    /// The node gives up datagrams until there is room, first the one whose time began first.
    Oldest,
}

impl Default for Limits {
    /// The limits of the standards: packets of 1280 octets, the minimum MTU of IPv6 (RFC 8200 section 5), and
    /// [`MAX_TIMEOUT`]. No standard says how many buffers there are: two (assumed), and a packet that finds no room is refused.
    fn default() -> Self {
        Self {
            buffers: 2,
            datagram: 1280,
            memory: None,
            timeout: MAX_TIMEOUT,
            timer: Timer::default(),
            when_full: WhenFull::default(),
        }
    }
}

impl Limits {
    /// Limits above those of the standard are lowered to them. A packet always has room for its headers.
    pub(super) fn within_standard(self) -> Self {
        let datagram = self.datagram.clamp(ip::UdpDatagram::HEADERS, MAX_DATAGRAM);
        Self { datagram, timeout: self.timeout.min(MAX_TIMEOUT), ..self }
    }

    /// When the next packet in these buffers is discarded. `None` if no timer does it.
    pub(super) fn deadline<B>(&self, buffers: &Buffers<B>) -> Option<Instant> {
        buffers.oldest().filter(|_| self.timer != Timer::OnDemand).map(|(_, since)| since + self.timeout)
    }

    /// The buffer of that packet, if it is time.
    pub(super) fn overdue<B>(&self, buffers: &Buffers<B>, now: Instant) -> Option<usize> {
        self.deadline(buffers).filter(|&at| at <= now).and(buffers.oldest()).map(|(index, _)| index)
    }

    /// True if a packet whose timer began at `since` makes room for another.
    pub(super) fn is_over(&self, since: Instant, now: Instant) -> bool {
        self.timer == Timer::OnDemand && since + self.timeout <= now
    }
}

/// The outcome of a frame payload.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The packet is complete. It stays readable until the next call.
    Complete {
        /// The packet, with uncompressed headers.
        packet: &'a mut [u8],
        /// The identifier of the first of its fragments to arrive.
        datagram: u32,
    },
    /// The fragment was stored, or had arrived before.
    Incomplete,
    /// The frame payload was discarded, and perhaps its packet too.
    Discarded(Discard),
}

/// Why a frame payload was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Discard {
    /// The sender gave the packet up (only with [`recovery`](super::recovery)).
    #[error("the sender gave datagram {datagram} up")]
    Aborted {
        /// The identifier of the discarded packet.
        datagram: u32,
    },
    /// It is not the first fragment of its packet, of which none has arrived, or which was discarded. Only with
    /// [`Timer::OnDemand`].
    #[error("the first fragment did not arrive, or its packet was discarded")]
    FirstMissing,
    /// There is no room for its packet. The packet cannot be completed unless this fragment is sent again.
    #[error("every reassembly buffer is taken")]
    Full,
    /// It is not valid. No buffer has changed.
    #[error("malformed: {0}")]
    Malformed(#[from] Error),
    /// It overlaps another fragment. The whole packet is discarded.
    #[error("a fragment overlaps another: datagram {datagram} is discarded")]
    Overlap {
        /// The identifier of the discarded packet.
        datagram: u32,
    },
    /// The packet is longer than a buffer.
    #[error("a packet of {0} octets is longer than a reassembly buffer")]
    TooLong(usize),
}

/// A packet that was discarded before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The link from which it came.
    pub link: Link,
    /// Its datagram_tag.
    pub tag: u16,
    /// The octets of the whole packet.
    pub size: usize,
    /// The octets that had arrived.
    pub received: usize,
    /// The identifier of the first of its fragments to arrive.
    pub datagram: u32,
    /// Why.
    pub reason: Expiry,
}

/// Why a packet was discarded before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Its time was over.
    Timeout,
    /// Another packet took its place ([`WhenFull::Oldest`]).
    Displaced,
}

/// The amount of data in reassembly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// The number of buffers in use.
    pub buffers: usize,
    /// The number of fragments in them.
    pub fragments: usize,
    /// The number of octets in them.
    pub received: usize,
    /// The octets that their packets will have when they are complete: the memory of a node that allocates by
    /// datagram_size.
    pub reserved: usize,
}

impl Occupancy {
    /// The maximum of each number.
    pub fn max(self, other: Self) -> Self {
        self.with(other, usize::max)
    }

    fn with(self, other: Self, join: fn(usize, usize) -> usize) -> Self {
        Self {
            buffers: join(self.buffers, other.buffers),
            fragments: join(self.fragments, other.fragments),
            received: join(self.received, other.received),
            reserved: join(self.reserved, other.reserved),
        }
    }
}

impl std::ops::Add for Occupancy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, |one, other| one + other)
    }
}

/// Reassembles packets from the frame payloads that a node receives.
///
/// Call [`handle_timeout`](Self::handle_timeout) at the [`deadline`](Self::deadline), before any fragment of that
/// instant, and [`poll_displaced`](Self::poll_displaced) after each fragment. One instance may serve many links: the addresses of the
/// frame are part of a buffer's key.
#[derive(Clone, Debug)]
pub struct Reassembler {
    contexts: Contexts,
    limits: Limits,
    buffers: Buffers<Buffer>,
    /// The buffer for packets that arrive in one frame; empty before the first of them.
    whole: Vec<u8>,
    /// The buffer for the headers of a fragment; empty before the first fragment.
    headers: Vec<u8>,
    /// The packets that made room for others and were not polled yet.
    displaced: VecDeque<Expired>,
    occupancy: Occupancy,
    peak: Occupancy,
}

impl Reassembler {
    /// A reassembler without packets. Limits above those of the standard are lowered to them.
    pub fn new(limits: Limits, contexts: Contexts) -> Self {
        Self {
            contexts,
            limits: limits.within_standard(),
            buffers: Buffers::with_limit(limits.buffers),
            whole: Vec::new(),
            headers: Vec::new(),
            displaced: VecDeque::new(),
            occupancy: Occupancy::default(),
            peak: Occupancy::default(),
        }
    }

    /// Handles the payload of a frame over `link`.
    ///
    /// `datagram` is the caller's identifier of the packet. The reassembler keeps that of the first fragment to arrive,
    /// and returns it when the packet is complete or lost.
    pub fn handle_fragment(&mut self, now: Instant, link: Link, payload: &[u8], datagram: u32) -> Outcome<'_> {
        match payload.first() {
            Some(&octet) if FragmentHeader::is_dispatch(octet) => self.store(now, link, payload, datagram),
            _ => self.pass_through(link, payload, datagram),
        }
    }

    /// The time of the next timeout.
    pub fn deadline(&self) -> Option<Instant> {
        self.limits.deadline(&self.buffers)
    }

    /// Discards one packet whose timeout has come. Call it until it returns `None`.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Expired> {
        let index = self.limits.overdue(&self.buffers, now)?;
        Some(self.expire(index, Expiry::Timeout))
    }

    /// A packet that was discarded to make room for another. Call it until it returns `None`.
    pub fn poll_displaced(&mut self) -> Option<Expired> {
        self.displaced.pop_front()
    }

    /// The identifiers of the packets in reassembly, the one whose timer began first before the others: of each, that of
    /// the first of its fragments to arrive.
    pub fn datagrams(&self) -> impl ExactSizeIterator<Item = u32> {
        self.buffers.in_use().map(|buffer| buffer.datagram)
    }

    /// The amount in reassembly now.
    pub const fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// The maximum so far, of each number separately.
    pub const fn peak(&self) -> Occupancy {
        self.peak
    }

    /// Resets the reassembler, and keeps the allocated buffers.
    pub fn clear(&mut self) {
        self.buffers.release_all();
        self.displaced.clear();
        self.occupancy = Occupancy::default();
        self.peak = Occupancy::default();
    }

    fn pass_through(&mut self, link: Link, payload: &[u8], datagram: u32) -> Outcome<'_> {
        if self.whole.is_empty() {
            self.whole.resize(self.limits.datagram, 0);
        }
        match decompress_packet(payload, link, &self.contexts, &mut self.whole) {
            Ok(size) => Outcome::Complete { packet: &mut self.whole[..size], datagram },
            Err(reason) => Outcome::Discarded(reason),
        }
    }

    fn store(&mut self, now: Instant, link: Link, payload: &[u8], datagram: u32) -> Outcome<'_> {
        let mut headers = mem::take(&mut self.headers);
        headers.resize(MAX_DECOMPRESSED, 0);
        let stored = match Fragment::read(link, payload, &self.contexts, &mut headers) {
            Ok(fragment) => self.store_fragment(now, &fragment, datagram),
            Err(error) => Err(error.into()),
        };
        self.headers = headers;
        match stored {
            Ok(None) => Outcome::Incomplete,
            Ok(Some(complete)) => match self.buffers[complete].packet() {
                Ok((packet, datagram)) => Outcome::Complete { packet, datagram },
                Err(error) => Outcome::Discarded(Error::from(error).into()),
            },
            Err(reason) => Outcome::Discarded(reason),
        }
    }

    /// Stores a fragment. Returns the buffer if its packet is complete; the buffer is free then.
    fn store_fragment(
        &mut self,
        now: Instant,
        fragment: &Fragment<'_>,
        datagram: u32,
    ) -> Result<Option<usize>, Discard> {
        let index = self.buffer_for(now, fragment, datagram)?;
        if self.limits.timer == Timer::EachFragment {
            self.buffers.renew(now, index);
        }
        let buffer = &mut self.buffers[index];
        match buffer.place(&fragment.extent) {
            Place::Taken => return Ok(None),
            Place::Overlap => {
                let datagram = buffer.datagram;
                self.release(index);
                return Err(Discard::Overlap { datagram });
            }
            Place::Free => {}
        }
        buffer.write(fragment);
        self.occupancy.fragments += 1;
        self.occupancy.received += fragment.extent.len();
        self.peak = self.peak.max(self.occupancy);
        let is_complete = buffer.is_complete();
        if is_complete {
            self.release(index);
        }
        Ok(is_complete.then_some(index))
    }

    /// The buffer of a fragment's packet, or a new one.
    fn buffer_for(&mut self, now: Instant, fragment: &Fragment<'_>, datagram: u32) -> Result<usize, Discard> {
        let key = fragment.key;
        if let Some(index) = self.buffers.find(|buffer| buffer.key == key) {
            return Ok(index);
        }
        if key.size > self.limits.datagram {
            return Err(Discard::TooLong(key.size));
        }
        if self.limits.timer == Timer::OnDemand && fragment.extent.start > 0 {
            return Err(Discard::FirstMissing);
        }
        self.make_room(now, key.size);
        if self.is_full_for(key.size) {
            return Err(Discard::Full);
        }
        let front = if self.contexts.routing_headers().is_some() { MAX_HEADERS } else { 0 };
        let index = self.buffers.take(now, || Buffer::new(front, self.limits.datagram)).ok_or(Discard::Full)?;
        self.buffers[index].open(key, datagram);
        self.occupancy.buffers += 1;
        self.occupancy.reserved += key.size;
        Ok(index)
    }

    /// Discards what makes room for a packet of `size` octets.
    fn make_room(&mut self, now: Instant, size: usize) {
        while let Some((oldest, since)) = self.buffers.oldest() {
            let reason = if self.limits.is_over(since, now) {
                Expiry::Timeout
            } else if self.limits.when_full == WhenFull::Oldest && self.is_full_for(size) {
                Expiry::Displaced
            } else {
                return;
            };
            let expired = self.expire(oldest, reason);
            self.displaced.push_back(expired);
        }
    }

    fn is_full_for(&self, size: usize) -> bool {
        let reserved = self.occupancy.reserved;
        self.buffers.are_taken() || reserved > 0 && self.limits.memory.is_some_and(|memory| reserved + size > memory)
    }

    /// Makes the buffer of a packet free that is not complete.
    fn expire(&mut self, index: usize, reason: Expiry) -> Expired {
        self.release(index);
        let buffer = &self.buffers[index];
        Expired {
            link: buffer.key.link,
            tag: buffer.key.tag,
            size: buffer.key.size,
            received: buffer.received,
            datagram: buffer.datagram,
            reason,
        }
    }

    fn release(&mut self, index: usize) {
        self.buffers.release(index);
        self.occupancy.buffers -= 1;
        self.occupancy.fragments -= self.buffers[index].fragments;
        self.occupancy.received -= self.buffers[index].received;
        self.occupancy.reserved -= self.buffers[index].key.size;
    }
}

/// Decompresses a whole packet in `payload`. Returns its length.
pub(super) fn decompress_packet(
    payload: &[u8],
    link: Link,
    contexts: &Contexts,
    out: &mut [u8],
) -> Result<usize, Discard> {
    let done = decompress(payload, link, contexts, None, out)?;
    let rest = &payload[done.consumed..];
    let size = done.written + rest.len();
    out.get_mut(done.written..size).ok_or(Discard::TooLong(size))?.copy_from_slice(rest);
    if done.checksum_elided {
        ip::udp::fill_checksum(&mut out[..size]).map_err(Error::from)?;
    }
    Ok(size)
}

/// The fields that all fragments of a packet share (RFC 4944 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    link: Link,
    tag: u16,
    size: usize,
}

/// A fragment with its position in the packet, and its headers decompressed.
struct Fragment<'a> {
    key: Key,
    extent: Range<usize>,
    /// The decompressed headers, and a payload that was compressed; empty except in a first fragment.
    headers: &'a [u8],
    /// The number of their octets that sizes and offsets do not count.
    hidden: usize,
    rest: &'a [u8],
    checksum_elided: bool,
}

impl<'a> Fragment<'a> {
    fn read(link: Link, payload: &'a [u8], contexts: &Contexts, headers: &'a mut [u8]) -> Result<Self, Error> {
        let (header, rest) = FragmentHeader::parse(payload)?;
        let size = usize::from(header.datagram_size);
        let offset = usize::from(header.datagram_offset.unwrap_or(0)) * UNIT;
        let done = match header.datagram_offset {
            None => decompress(rest, link, contexts, Some(size), headers)?,
            Some(_) => Decompressed::default(),
        };
        let rest = &rest[done.consumed..];
        Ok(Self {
            key: Key { link, tag: header.datagram_tag, size },
            extent: header.extent(offset, done.written - done.hidden + rest.len())?,
            headers: &headers[..done.written],
            hidden: done.hidden,
            rest,
            checksum_elided: done.checksum_elided,
        })
    }
}

/// A packet in reassembly.
#[derive(Clone, Debug)]
struct Buffer {
    key: Key,
    datagram: u32,
    fragments: usize,
    received: usize,
    checksum_elided: bool,
    octets: Box<[u8]>,
    /// Where the octets of the packet begin that are not hidden. The hidden ones are before them.
    front: usize,
    hidden: usize,
    units: Box<[Unit]>,
}

/// The state of eight octets of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Missing,
    /// A fragment begins here.
    First,
    /// The fragment of the previous unit continues here.
    Next,
}

enum Place {
    /// Nothing of this range has arrived.
    Free,
    /// A fragment of exactly this range has arrived.
    Taken,
    /// Parts of this range have arrived, in fragments with another range.
    Overlap,
}

impl Buffer {
    /// A buffer for packets of at most `longest` octets, and at most `front` hidden ones.
    fn new(front: usize, longest: usize) -> Self {
        let nobody = Eui64([0; 8]);
        Self {
            key: Key { link: Link { source: nobody, destination: nobody }, tag: 0, size: 0 },
            datagram: 0,
            fragments: 0,
            received: 0,
            checksum_elided: false,
            octets: vec![0; front + longest].into(),
            front,
            hidden: 0,
            units: vec![Unit::Missing; longest.div_ceil(UNIT)].into(),
        }
    }

    fn open(&mut self, key: Key, datagram: u32) {
        self.key = key;
        self.datagram = datagram;
        self.fragments = 0;
        self.received = 0;
        self.checksum_elided = false;
        self.hidden = 0;
        self.units[..key.size.div_ceil(UNIT)].fill(Unit::Missing);
    }

    fn place(&self, extent: &Range<usize>) -> Place {
        let (begin, end) = (extent.start / UNIT, extent.end.div_ceil(UNIT));
        let units = &self.units[begin..end];
        if units.iter().all(|&unit| unit == Unit::Missing) {
            return Place::Free;
        }
        let begins_here = units[0] == Unit::First;
        let goes_on = units[1..].iter().all(|&unit| unit == Unit::Next);
        let ends_here = self.units.get(end).is_none_or(|&unit| unit != Unit::Next) || extent.end == self.key.size;
        if begins_here && goes_on && ends_here { Place::Taken } else { Place::Overlap }
    }

    fn write(&mut self, fragment: &Fragment<'_>) {
        let extent = fragment.extent.clone();
        let (begin, end) = (extent.start / UNIT, extent.end.div_ceil(UNIT));
        self.units[begin] = Unit::First;
        self.units[begin + 1..end].fill(Unit::Next);
        let place = self.front + extent.start - fragment.hidden..self.front + extent.end;
        let (headers, rest) = self.octets[place].split_at_mut(fragment.headers.len());
        headers.copy_from_slice(fragment.headers);
        rest.copy_from_slice(fragment.rest);
        self.hidden += fragment.hidden;
        self.fragments += 1;
        self.received += fragment.extent.len();
        self.checksum_elided |= fragment.checksum_elided;
    }

    fn is_complete(&self) -> bool {
        self.received == self.key.size
    }

    fn packet(&mut self) -> Result<(&mut [u8], u32), ip::Error> {
        let packet = &mut self.octets[self.front - self.hidden..self.front + self.key.size];
        if self.checksum_elided {
            ip::udp::fill_checksum(packet)?;
        }
        Ok((packet, self.datagram))
    }
}

#[cfg(test)]
mod tests;
