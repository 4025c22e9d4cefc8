//! The end that reassembles (RFC 8931 section 6).

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use super::super::fragment::MAX_DATAGRAM;
use super::super::reassembly::{Discard, Expired, Limits, MAX_TIMEOUT, Occupancy, Outcome, write_out};
use super::super::{Contexts, Error, Link, iphc};
use super::{MAX_FRAGMENTS, Rfrag, RfragAck, bit};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip;

/// How many delivered packets are remembered (assumed; the oldest makes way).
const DELIVERED: usize = 16;

/// What became of a fragment, and what to answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Reception<'a> {
    /// As for unrecoverable fragments. Of a packet delivered before it is [`Outcome::Incomplete`].
    pub outcome: Outcome<'a>,
    /// The acknowledgment to send back to where the fragment came from.
    pub acknowledgment: Option<RfragAck>,
}

/// Puts packets together again from recoverable fragments.
///
/// Call [`handle_timeout`](Self::handle_timeout) when [`deadline`](Self::deadline) comes, before any fragment of that
/// instant.
#[derive(Clone, Debug)]
pub struct Receiver {
    contexts: Contexts,
    timeout: Duration,
    linger: Duration,
    buffers: Vec<Buffer>,
    /// Buffers that are taken, the oldest first.
    taken: Vec<usize>,
    free: Vec<usize>,
    /// Packets delivered a short time ago, the oldest first.
    delivered: VecDeque<(Instant, Key)>,
    /// Where a complete packet is written out.
    whole: Box<[u8]>,
    peak: Occupancy,
}

impl Receiver {
    /// A node that shares `contexts` with its neighbours. Limits above the standard's are brought down to them;
    /// [`Limits::datagram`] holds for the compressed packet too.
    ///
    /// A delivered packet is remembered for `linger`, to acknowledge it once more to a sender that missed the answer:
    /// as long as a sender goes on asking, and shorter than its tags take to come round
    /// ([`RecoveryConfig::persistence`](super::RecoveryConfig::persistence)).
    pub fn new(limits: Limits, linger: Duration, contexts: Contexts) -> Self {
        let longest = limits.datagram.clamp(iphc::MAX_DECOMPRESSED, MAX_DATAGRAM);
        Self {
            contexts,
            timeout: limits.timeout.min(MAX_TIMEOUT),
            linger,
            buffers: (0..limits.buffers).map(|_| Buffer::new(longest)).collect(),
            taken: Vec::with_capacity(limits.buffers),
            free: (0..limits.buffers).rev().collect(),
            delivered: VecDeque::with_capacity(DELIVERED),
            whole: vec![0; longest].into(),
            peak: Occupancy::default(),
        }
    }

    /// Whether a packet is being put together, or was delivered a short time ago, that came over the link from `from` to
    /// `to` under this tag.
    pub fn knows(&mut self, now: Instant, from: Eui64, to: Eui64, tag: u8) -> bool {
        let key = Key { link: Link { source: from, destination: to }, tag };
        self.position(key).is_some() || self.was_delivered(now, key)
    }

    /// Takes the payload of a frame that came over the link from `from` to `to`; `datagram` as in
    /// [`Reassembler::handle_fragment`](super::super::Reassembler::handle_fragment).
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        to: Eui64,
        payload: &[u8],
        datagram: u32,
    ) -> Reception<'_> {
        let (header, fragment) = match Rfrag::parse(payload) {
            Ok(parsed) => parsed,
            Err(error) => return Reception::discarded(error.into(), None),
        };
        let key = Key { link: Link { source: from, destination: to }, tag: header.tag };
        if self.was_delivered(now, key) {
            let acknowledgment = header.wants_acknowledgment.then(|| header.answer(RfragAck::FULL));
            return Reception { outcome: Outcome::Incomplete, acknowledgment };
        }
        if header.fragment_offset == 0 {
            return self.give_up(key, datagram);
        }
        let extent = match extent_of(&header, fragment, self.whole.len()) {
            Ok(extent) => extent,
            Err(reason) => return Reception::discarded(reason, Some(header.answer(RfragAck::NULL))),
        };
        let Some(index) = self.buffer_for(now, key, datagram) else {
            return Reception::discarded(Discard::Full, Some(header.answer(RfragAck::NULL)));
        };
        let buffer = &mut self.buffers[index];
        if let Err(reason) = buffer.take(&header, fragment, extent) {
            self.release(index);
            return Reception::discarded(reason, Some(header.answer(RfragAck::NULL)));
        }
        let acknowledgment = buffer.acknowledge(&header);
        let is_complete = buffer.is_complete();
        self.peak = self.peak.max(self.occupancy());
        if !is_complete {
            return Reception { outcome: Outcome::Incomplete, acknowledgment };
        }
        self.release(index);
        let buffer = &self.buffers[index];
        let (compressed, datagram) = (&buffer.octets[..buffer.received], buffer.datagram);
        match write_out(compressed, key.link, &self.contexts, &mut self.whole) {
            Ok(size) => {
                remember(&mut self.delivered, now, key);
                let packet = &mut self.whole[..size];
                Reception { outcome: Outcome::Complete { packet, datagram }, acknowledgment }
            }
            Err(reason) => Reception::discarded(reason, Some(header.answer(RfragAck::NULL))),
        }
    }

    /// The next instant at which a packet is given up.
    pub fn deadline(&self) -> Option<Instant> {
        self.taken.first().map(|&oldest| self.buffers[oldest].started + self.timeout)
    }

    /// Gives up one packet whose time has come; call again until there is none. [`Expired::size`] is that of the compressed
    /// packet, or zero where its first fragment is missing.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Expired> {
        if self.deadline()? > now {
            return None;
        }
        let index = self.taken[0];
        self.release(index);
        let buffer = &self.buffers[index];
        Some(Expired {
            link: buffer.key.link,
            tag: buffer.key.tag.into(),
            size: buffer.size.unwrap_or(0),
            received: buffer.received,
            datagram: buffer.datagram,
        })
    }

    /// How much is in reassembly now; [`Occupancy::reserved`] counts packets in their compressed form, once their first
    /// fragment has said their size.
    pub fn occupancy(&self) -> Occupancy {
        let taken = || self.taken.iter().map(|&index| &self.buffers[index]);
        Occupancy {
            buffers: self.taken.len(),
            fragments: taken().map(|buffer| buffer.bitmap.count_ones() as usize).sum(),
            received: taken().map(|buffer| buffer.received).sum(),
            reserved: taken().filter_map(|buffer| buffer.size).sum(),
        }
    }

    /// The most that ever was in reassembly, each number by itself.
    pub const fn peak(&self) -> Occupancy {
        self.peak
    }

    fn was_delivered(&mut self, now: Instant, key: Key) -> bool {
        while self.delivered.front().is_some_and(|&(then, _)| then + self.linger <= now) {
            self.delivered.pop_front();
        }
        self.delivered.iter().any(|&(_, delivered)| delivered == key)
    }

    /// The sender gives a packet up.
    fn give_up(&mut self, key: Key, datagram: u32) -> Reception<'_> {
        let datagram = match self.position(key) {
            Some(index) => {
                self.release(index);
                self.buffers[index].datagram
            }
            None => datagram,
        };
        Reception::discarded(Discard::Aborted { datagram }, None)
    }

    fn position(&self, key: Key) -> Option<usize> {
        self.taken.iter().copied().find(|&index| self.buffers[index].key == key)
    }

    fn buffer_for(&mut self, now: Instant, key: Key, datagram: u32) -> Option<usize> {
        if let Some(index) = self.position(key) {
            return Some(index);
        }
        let index = self.free.pop()?;
        self.taken.push(index);
        self.buffers[index].open(now, key, datagram);
        Some(index)
    }

    fn release(&mut self, index: usize) {
        self.taken.retain(|&taken| taken != index);
        self.free.push(index);
    }
}

impl Reception<'_> {
    fn discarded(reason: Discard, acknowledgment: Option<RfragAck>) -> Self {
        Self { outcome: Outcome::Discarded(reason), acknowledgment }
    }
}

impl Rfrag {
    fn answer(&self, bitmap: u32) -> RfragAck {
        RfragAck { congestion: self.congestion, tag: self.tag, bitmap }
    }
}

fn remember(delivered: &mut VecDeque<(Instant, Key)>, now: Instant, key: Key) {
    if delivered.len() == DELIVERED {
        delivered.pop_front();
    }
    delivered.push_back((now, key));
}

/// Octets of the compressed packet that a fragment covers.
fn extent_of(header: &Rfrag, fragment: &[u8], longest: usize) -> Result<Range<usize>, Discard> {
    let field = usize::from(header.fragment_offset);
    let begin = if header.sequence == 0 { 0 } else { field };
    let end = begin + fragment.len();
    match header.sequence {
        _ if fragment.is_empty() => Err(Error::Truncated.into()),
        0 if field > longest => Err(Discard::TooLong(field)),
        0 if end > field => Err(Error::from(ip::Error::Length { field, found: end }).into()),
        _ if end > longest => Err(Discard::TooLong(end)),
        _ => Ok(begin..end),
    }
}

/// What the fragments of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    link: Link,
    tag: u8,
}

/// A packet in reassembly, in its compressed form.
#[derive(Clone, Debug)]
struct Buffer {
    key: Key,
    datagram: u32,
    started: Instant,
    /// Octets of the compressed packet, once the fragment with sequence 0 has said it.
    size: Option<usize>,
    received: usize,
    /// The end of the fragment that ends last.
    furthest: usize,
    /// The fragments that have arrived, and where each begins and ends.
    bitmap: u32,
    extents: [(usize, usize); MAX_FRAGMENTS],
    congestion: bool,
    octets: Box<[u8]>,
}

impl Buffer {
    fn new(longest: usize) -> Self {
        let nobody = Eui64([0; 8]);
        Self {
            key: Key { link: Link { source: nobody, destination: nobody }, tag: 0 },
            datagram: 0,
            started: Instant::ZERO,
            size: None,
            received: 0,
            furthest: 0,
            bitmap: 0,
            extents: [(0, 0); MAX_FRAGMENTS],
            congestion: false,
            octets: vec![0; longest].into(),
        }
    }

    fn open(&mut self, now: Instant, key: Key, datagram: u32) {
        self.key = key;
        self.datagram = datagram;
        self.started = now;
        self.size = None;
        self.received = 0;
        self.furthest = 0;
        self.bitmap = 0;
        self.congestion = false;
    }

    /// Stores a fragment; one that is there already is ignored.
    fn take(&mut self, header: &Rfrag, fragment: &[u8], extent: Range<usize>) -> Result<(), Discard> {
        self.congestion |= header.congestion;
        let sequence = usize::from(header.sequence);
        let (begin, end) = (extent.start, extent.end);
        let has_arrived = |sequence: &usize| self.bitmap & bit(*sequence) != 0;
        if has_arrived(&sequence) && self.extents[sequence] == (begin, end) {
            return Ok(());
        }
        let mut others = (0..MAX_FRAGMENTS).filter(has_arrived).map(|other| self.extents[other]);
        let overlaps = others.any(|(other_begin, other_end)| begin < other_end && other_begin < end);
        if overlaps || has_arrived(&sequence) {
            return Err(Discard::Overlap { datagram: self.datagram });
        }
        if sequence == 0 {
            self.size = Some(header.fragment_offset.into());
        }
        self.octets[extent].copy_from_slice(fragment);
        self.extents[sequence] = (begin, end);
        self.bitmap |= bit(sequence);
        self.received += fragment.len();
        self.furthest = self.furthest.max(end);
        match self.size {
            Some(field) if self.furthest > field => {
                Err(Error::from(ip::Error::Length { field, found: self.furthest }).into())
            }
            _ => Ok(()),
        }
    }

    /// Nothing overlaps or lies behind the end: as many octets as the packet has are all of them.
    fn is_complete(&self) -> bool {
        self.size == Some(self.received)
    }

    /// What has arrived, where the sender asks, or everything has.
    fn acknowledge(&mut self, header: &Rfrag) -> Option<RfragAck> {
        if !header.wants_acknowledgment && !self.is_complete() {
            return None;
        }
        let bitmap = if self.is_complete() { RfragAck::FULL } else { self.bitmap };
        let congestion = mem::take(&mut self.congestion);
        Some(RfragAck { congestion, tag: self.key.tag, bitmap })
    }
}
