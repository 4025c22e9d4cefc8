//! Reassembly (RFC 4944 section 5.3).
//!
//! The buffers are allocated once. A fragment opens a buffer, which stays taken until its packet is complete, is
//! contradicted by an overlapping fragment, or times out.

use std::ops::Range;

use super::fragment::{FragmentHeader, MAX_DATAGRAM, UNIT};
use super::{Contexts, Decompressed, Error, Link, decompress, iphc};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip;

/// The longest a packet may be reassembled (RFC 4944 section 5.3).
pub const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// How much a node can reassemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets at the same time.
    pub buffers: usize,
    /// Octets of the longest packet, with its headers written out; at most [`MAX_DATAGRAM`].
    pub datagram: usize,
    /// How long after its first fragment a packet is given up; at most [`MAX_TIMEOUT`].
    /// In the field: OpenThread 2 s, RIOT 3 s, Contiki-NG 8 s, OpenWSN 60 s.
    pub timeout: Duration,
}

impl Default for Limits {
    /// Two buffers, as OpenWSN and Contiki-NG have, for packets of 1280 octets, the least MTU of IPv6 (RFC 8200
    /// section 5), and [`MAX_TIMEOUT`], which OpenWSN uses.
    fn default() -> Self {
        Self { buffers: 2, datagram: 1280, timeout: MAX_TIMEOUT }
    }
}

/// What became of a frame payload.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The packet is whole. It stays readable until the next call.
    Complete {
        /// The packet, its headers written out.
        packet: &'a mut [u8],
        /// The identifier that came with the first of its fragments to arrive.
        datagram: u32,
    },
    /// The fragment was stored, or was there already.
    Incomplete,
    /// The frame payload, and perhaps what it belonged to, was thrown away.
    Discarded(Discard),
}

/// Why a frame payload was thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Discard {
    /// The sender gave the packet up ([`recovery`](super::recovery) alone).
    #[error("the sender gave datagram {datagram} up")]
    Aborted {
        /// The identifier of the packet that is gone.
        datagram: u32,
    },
    /// Every buffer is taken; the packet can no longer be completed unless this fragment is sent again.
    #[error("every reassembly buffer is taken")]
    Full,
    /// It cannot be read, or contradicts itself. A buffer it may have belonged to is untouched.
    #[error("malformed: {0}")]
    Malformed(#[from] Error),
    /// It overlaps a fragment of another extent: all of the packet is gone, with its buffer.
    #[error("a fragment overlaps another: datagram {datagram} is discarded")]
    Overlap {
        /// The identifier of the packet that is gone.
        datagram: u32,
    },
    /// The packet is longer than a buffer.
    #[error("a packet of {0} octets is longer than a reassembly buffer")]
    TooLong(usize),
}

/// A packet that was not complete in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The link it came over.
    pub link: Link,
    /// Its datagram_tag.
    pub tag: u16,
    /// Octets of the whole packet.
    pub size: usize,
    /// Octets of it that had arrived.
    pub received: usize,
    /// The identifier that came with the first of its fragments to arrive.
    pub datagram: u32,
}

/// How much is in reassembly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Buffers taken.
    pub buffers: usize,
    /// Fragments received into them.
    pub fragments: usize,
    /// Octets received into them.
    pub received: usize,
    /// Octets that the packets in them will have when complete: what a node that allocates by
    /// datagram_size has set aside.
    pub reserved: usize,
}

impl Occupancy {
    /// The greater of each number.
    pub fn max(self, other: Self) -> Self {
        Self {
            buffers: self.buffers.max(other.buffers),
            fragments: self.fragments.max(other.fragments),
            received: self.received.max(other.received),
            reserved: self.reserved.max(other.reserved),
        }
    }
}

impl std::ops::Add for Occupancy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            buffers: self.buffers + other.buffers,
            fragments: self.fragments + other.fragments,
            received: self.received + other.received,
            reserved: self.reserved + other.reserved,
        }
    }
}

/// Puts packets together again from the frame payloads that a node receives.
///
/// Call [`handle_timeout`](Self::handle_timeout) when [`deadline`](Self::deadline) comes, before any fragment of that
/// instant. One instance may serve many links: buffers are told apart by the addresses of the frame.
#[derive(Clone, Debug)]
pub struct Reassembler {
    contexts: Contexts,
    timeout: Duration,
    buffers: Vec<Buffer>,
    /// Buffers that are taken, the oldest first.
    taken: Vec<usize>,
    free: Vec<usize>,
    /// Where a packet that needed no fragments is written out.
    whole: Box<[u8]>,
    occupancy: Occupancy,
    peak: Occupancy,
}

impl Reassembler {
    /// A node that shares `contexts` with its neighbours. Limits above the standard's are brought down to them.
    pub fn new(limits: Limits, contexts: Contexts) -> Self {
        let longest = limits.datagram.clamp(iphc::MAX_DECOMPRESSED, MAX_DATAGRAM);
        Self {
            contexts,
            timeout: limits.timeout.min(MAX_TIMEOUT),
            buffers: (0..limits.buffers).map(|_| Buffer::new(longest)).collect(),
            taken: Vec::with_capacity(limits.buffers),
            free: (0..limits.buffers).rev().collect(),
            whole: vec![0; longest].into(),
            occupancy: Occupancy::default(),
            peak: Occupancy::default(),
        }
    }

    /// Takes the payload of a frame that came over the link from `from` to `to`.
    ///
    /// `datagram` is an identifier of the caller's for the packet that the frame is part of. It is kept from the
    /// first fragment to arrive, and comes back when the packet is complete or lost.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        to: Eui64,
        payload: &[u8],
        datagram: u32,
    ) -> Outcome<'_> {
        let link = Link { source: from, destination: to };
        match payload.first() {
            Some(&octet) if FragmentHeader::is_dispatch(octet) => self.store(now, link, payload, datagram),
            _ => self.pass_through(link, payload, datagram),
        }
    }

    /// The next instant at which a packet is given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.taken.first().map(|&oldest| self.buffers[oldest].started + self.timeout)
    }

    /// Gives up one packet whose time has come; call again until there is none.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Expired> {
        if self.deadline()? > now {
            return None;
        }
        let index = self.taken[0];
        self.release(index);
        let buffer = &self.buffers[index];
        Some(Expired {
            link: buffer.key.link,
            tag: buffer.key.tag,
            size: buffer.key.size,
            received: buffer.received,
            datagram: buffer.datagram,
        })
    }

    /// How much is in reassembly now.
    pub const fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// The most that ever was in reassembly, each number by itself.
    pub const fn peak(&self) -> Occupancy {
        self.peak
    }

    /// Forgets everything but the buffers themselves, as if newly made.
    pub fn clear(&mut self) {
        self.free.append(&mut self.taken);
        self.occupancy = Occupancy::default();
        self.peak = Occupancy::default();
    }

    fn pass_through(&mut self, link: Link, payload: &[u8], datagram: u32) -> Outcome<'_> {
        match write_out(payload, link, &self.contexts, &mut self.whole) {
            Ok(size) => Outcome::Complete { packet: &mut self.whole[..size], datagram },
            Err(reason) => Outcome::Discarded(reason),
        }
    }

    fn store(&mut self, now: Instant, link: Link, payload: &[u8], datagram: u32) -> Outcome<'_> {
        let fragment = match Fragment::read(link, payload, &self.contexts) {
            Ok(fragment) => fragment,
            Err(error) => return Outcome::Discarded(error.into()),
        };
        let index = match self.buffer_for(now, fragment.key, datagram) {
            Ok(index) => index,
            Err(reason) => return Outcome::Discarded(reason),
        };
        let buffer = &mut self.buffers[index];
        match buffer.place(&fragment.extent) {
            Place::Taken => return Outcome::Incomplete,
            Place::Overlap => {
                let datagram = buffer.datagram;
                self.release(index);
                return Outcome::Discarded(Discard::Overlap { datagram });
            }
            Place::Free => {}
        }
        buffer.write(&fragment);
        self.occupancy.fragments += 1;
        self.occupancy.received += fragment.extent.len();
        self.peak = self.peak.max(self.occupancy);
        if !buffer.is_complete() {
            return Outcome::Incomplete;
        }
        self.release(index);
        match self.buffers[index].packet() {
            Ok((packet, datagram)) => Outcome::Complete { packet, datagram },
            Err(error) => Outcome::Discarded(Error::from(error).into()),
        }
    }

    /// The buffer that a fragment belongs into: the one its packet has, or a new one.
    fn buffer_for(&mut self, now: Instant, key: Key, datagram: u32) -> Result<usize, Discard> {
        if let Some(&index) = self.taken.iter().find(|&&index| self.buffers[index].key == key) {
            return Ok(index);
        }
        if key.size > self.whole.len() {
            return Err(Discard::TooLong(key.size));
        }
        let index = self.free.pop().ok_or(Discard::Full)?;
        self.taken.push(index);
        self.buffers[index].open(now, key, datagram);
        self.occupancy.buffers += 1;
        self.occupancy.reserved += key.size;
        Ok(index)
    }

    fn release(&mut self, index: usize) {
        self.taken.retain(|&taken| taken != index);
        self.free.push(index);
        self.occupancy.buffers -= 1;
        self.occupancy.fragments -= self.buffers[index].fragments;
        self.occupancy.received -= self.buffers[index].received;
        self.occupancy.reserved -= self.buffers[index].key.size;
    }
}

/// Writes out a packet that is in `payload` as a whole; returns its octets.
pub(super) fn write_out(payload: &[u8], link: Link, contexts: &Contexts, out: &mut [u8]) -> Result<usize, Discard> {
    let done = decompress(payload, link, contexts, None, out)?;
    let rest = &payload[done.consumed..];
    let size = done.written + rest.len();
    out.get_mut(done.written..size).ok_or(Discard::TooLong(size))?.copy_from_slice(rest);
    if done.checksum_elided {
        ip::udp::fill_checksum(&mut out[..size]).map_err(Error::from)?;
    }
    Ok(size)
}

/// What the fragments of a packet have in common (RFC 4944 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    link: Link,
    tag: u16,
    size: usize,
}

/// A fragment with its place in the packet, its headers written out.
struct Fragment<'a> {
    key: Key,
    extent: Range<usize>,
    headers: [u8; iphc::MAX_DECOMPRESSED],
    /// Octets of `headers` in use: none but in a first fragment.
    headers_length: usize,
    rest: &'a [u8],
    checksum_elided: bool,
}

impl<'a> Fragment<'a> {
    fn read(link: Link, payload: &'a [u8], contexts: &Contexts) -> Result<Self, Error> {
        let (header, rest) = FragmentHeader::parse(payload)?;
        let size = usize::from(header.datagram_size);
        let offset = usize::from(header.datagram_offset.unwrap_or(0)) * UNIT;
        let mut headers = [0; iphc::MAX_DECOMPRESSED];
        let done = match header.datagram_offset {
            None => decompress(rest, link, contexts, Some(size), &mut headers)?,
            Some(_) => Decompressed { consumed: 0, written: 0, checksum_elided: false },
        };
        let rest = &rest[done.consumed..];
        Ok(Self {
            key: Key { link, tag: header.datagram_tag, size },
            extent: header.extent(offset, done.written + rest.len())?,
            headers,
            headers_length: done.written,
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
    started: Instant,
    fragments: usize,
    received: usize,
    checksum_elided: bool,
    octets: Box<[u8]>,
    units: Box<[Unit]>,
}

/// What has arrived of eight octets of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Missing,
    /// A fragment begins here.
    First,
    /// The fragment that holds the unit before goes on here.
    Next,
}

enum Place {
    /// Nothing of the extent has arrived.
    Free,
    /// A fragment of just this extent has arrived.
    Taken,
    /// Parts have arrived, in fragments of another extent.
    Overlap,
}

impl Buffer {
    fn new(longest: usize) -> Self {
        let nobody = Eui64([0; 8]);
        Self {
            key: Key { link: Link { source: nobody, destination: nobody }, tag: 0, size: 0 },
            datagram: 0,
            started: Instant::ZERO,
            fragments: 0,
            received: 0,
            checksum_elided: false,
            octets: vec![0; longest].into(),
            units: vec![Unit::Missing; longest.div_ceil(UNIT)].into(),
        }
    }

    fn open(&mut self, now: Instant, key: Key, datagram: u32) {
        self.key = key;
        self.datagram = datagram;
        self.started = now;
        self.fragments = 0;
        self.received = 0;
        self.checksum_elided = false;
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
        let (headers, rest) = self.octets[extent].split_at_mut(fragment.headers_length);
        headers.copy_from_slice(&fragment.headers[..fragment.headers_length]);
        rest.copy_from_slice(fragment.rest);
        self.fragments += 1;
        self.received += fragment.extent.len();
        self.checksum_elided |= fragment.checksum_elided;
    }

    fn is_complete(&self) -> bool {
        self.received == self.key.size
    }

    fn packet(&mut self) -> Result<(&mut [u8], u32), ip::Error> {
        let packet = &mut self.octets[..self.key.size];
        if self.checksum_elided {
            ip::udp::fill_checksum(packet)?;
        }
        Ok((packet, self.datagram))
    }
}

#[cfg(test)]
mod tests;
