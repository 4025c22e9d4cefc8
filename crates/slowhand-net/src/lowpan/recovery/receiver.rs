//! The receiver of recoverable fragments (RFC 8931 section 6).

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use super::super::buffers::Buffers;
use super::super::reassembly::{
    Discard, Expired, Expiry, Limits, Occupancy, Outcome, Timer, WhenFull, decompress_packet,
};
use super::super::{Contexts, Error, Link};
use super::{MAX_FRAGMENTS, Rfrag, RfragAck, bit};
use crate::address::Eui64;
use crate::clock::{Duration, Instant};
use crate::ip;

/// The number of delivered packets that are remembered (assumed). The oldest is forgotten first.
const DELIVERED: usize = 16;

/// The outcome of a fragment, and the answer to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Reception<'a> {
    /// As in reassembly without recovery. If the packet was delivered before, it is [`Outcome::Incomplete`].
    pub outcome: Outcome<'a>,
    /// The acknowledgement to send back to the neighbour that sent the fragment.
    pub acknowledgement: Option<RfragAck>,
}

/// Reassembles packets from recoverable fragments.
///
/// Call [`handle_timeout`](Self::handle_timeout) at the [`deadline`](Self::deadline), before any fragment of that
/// instant.
#[derive(Clone, Debug)]
pub struct Receiver {
    contexts: Contexts,
    limits: Limits,
    linger: Duration,
    buffers: Buffers<Buffer>,
    /// The packets that were delivered recently, the oldest first.
    delivered: VecDeque<(Instant, Key)>,
    /// The buffer for the decompressed packet; empty before the first.
    whole: Vec<u8>,
    peak: Occupancy,
}

impl Receiver {
    /// A receiver without packets. Limits above those of the standard are lowered to them. [`Limits::datagram`] holds
    /// for the compressed packet too. [`Limits::memory`] has no effect: only the first fragment says how long a packet is,
    /// and it need not come first. Whichever comes first takes a buffer, for [`Limits::timeout`] from then on; where none is
    /// free, it is refused. [`Limits::timer`] and [`Limits::when_full`] have no effect.
    ///
    /// A delivered packet is remembered for `linger`, to acknowledge it again if the acknowledgement was lost. This must
    /// be as long as a sender requests acknowledgements
    /// ([`RecoveryConfig::persistence`](super::RecoveryConfig::persistence)), and shorter than the time after which the
    /// sender uses the same tag again.
    pub fn new(limits: Limits, linger: Duration, contexts: Contexts) -> Self {
        Self {
            contexts,
            limits: Limits { timer: Timer::FirstFragment, when_full: WhenFull::Refuse, ..limits.within_standard() },
            linger,
            buffers: Buffers::with_limit(limits.buffers),
            delivered: VecDeque::new(),
            whole: Vec::new(),
            peak: Occupancy::default(),
        }
    }

    /// True if a packet with this tag, over `link`, is in reassembly or was delivered recently.
    pub fn knows(&mut self, now: Instant, link: Link, tag: u8) -> bool {
        let key = Key { link, tag };
        self.position(key).is_some() || self.was_delivered(now, key)
    }

    /// Handles the payload of a frame over `link`; `datagram` is as in
    /// [`Reassembler::handle_fragment`](super::super::Reassembler::handle_fragment).
    pub fn handle_fragment(&mut self, now: Instant, link: Link, payload: &[u8], datagram: u32) -> Reception<'_> {
        let (header, fragment) = match Rfrag::parse(payload) {
            Ok(parsed) => parsed,
            Err(error) => return Reception::discarded(error.into(), None),
        };
        let key = Key { link, tag: header.tag };
        if self.was_delivered(now, key) {
            let acknowledgement = header.wants_acknowledgement.then(|| header.answer(RfragAck::FULL));
            return Reception { outcome: Outcome::Incomplete, acknowledgement };
        }
        if header.fragment_offset == 0 {
            return self.give_up(key, datagram);
        }
        let extent = match extent_of(&header, fragment, self.limits.datagram) {
            Ok(extent) => extent,
            Err(reason) => return Reception::discarded(reason, Some(header.answer(RfragAck::NULL))),
        };
        let Some(index) = self.buffer_for(now, key, datagram) else {
            return Reception::discarded(Discard::Full, Some(header.answer(RfragAck::NULL)));
        };
        let buffer = &mut self.buffers[index];
        if let Err(reason) = buffer.take(&header, fragment, extent) {
            self.buffers.release(index);
            return Reception::discarded(reason, Some(header.answer(RfragAck::NULL)));
        }
        let acknowledgement = buffer.acknowledge(&header);
        let is_complete = buffer.is_complete();
        self.peak = self.peak.max(self.occupancy());
        if !is_complete {
            return Reception { outcome: Outcome::Incomplete, acknowledgement };
        }
        self.buffers.release(index);
        let buffer = &self.buffers[index];
        let (compressed, datagram) = (&buffer.octets[..buffer.received], buffer.datagram);
        self.whole.resize(self.limits.datagram, 0);
        match decompress_packet(compressed, key.link, &self.contexts, &mut self.whole) {
            Ok(size) => {
                remember(&mut self.delivered, now, key);
                let packet = &mut self.whole[..size];
                Reception { outcome: Outcome::Complete { packet, datagram }, acknowledgement }
            }
            Err(reason) => Reception::discarded(reason, Some(header.answer(RfragAck::NULL))),
        }
    }

    /// The time of the next timeout.
    pub fn deadline(&self) -> Option<Instant> {
        self.limits.deadline(&self.buffers)
    }

    /// Discards one packet whose timeout has come. Call it until it returns `None`. [`Expired::size`] is that of the
    /// compressed packet, or zero if its first fragment is missing.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Expired> {
        let index = self.limits.overdue(&self.buffers, now)?;
        self.buffers.release(index);
        let buffer = &self.buffers[index];
        Some(Expired {
            link: buffer.key.link,
            tag: buffer.key.tag.into(),
            size: buffer.size.unwrap_or(0),
            received: buffer.received,
            datagram: buffer.datagram,
            reason: Expiry::Timeout,
        })
    }

    /// The amount in reassembly now. [`Occupancy::reserved`] counts the octets of compressed packets whose first
    /// fragment has arrived.
    pub fn occupancy(&self) -> Occupancy {
        let in_use = || self.buffers.in_use();
        Occupancy {
            buffers: in_use().len(),
            fragments: in_use().map(|buffer| buffer.bitmap.count_ones() as usize).sum(),
            received: in_use().map(|buffer| buffer.received).sum(),
            reserved: in_use().filter_map(|buffer| buffer.size).sum(),
        }
    }

    /// The maximum so far, of each number separately.
    pub const fn peak(&self) -> Occupancy {
        self.peak
    }

    fn was_delivered(&mut self, now: Instant, key: Key) -> bool {
        while self.delivered.front().is_some_and(|&(then, _)| then + self.linger <= now) {
            self.delivered.pop_front();
        }
        self.delivered.iter().any(|&(_, delivered)| delivered == key)
    }

    /// Discards a packet that the sender gives up.
    fn give_up(&mut self, key: Key, datagram: u32) -> Reception<'_> {
        let datagram = match self.position(key) {
            Some(index) => {
                self.buffers.release(index);
                self.buffers[index].datagram
            }
            None => datagram,
        };
        Reception::discarded(Discard::Aborted { datagram }, None)
    }

    fn position(&self, key: Key) -> Option<usize> {
        self.buffers.find(|buffer| buffer.key == key)
    }

    fn buffer_for(&mut self, now: Instant, key: Key, datagram: u32) -> Option<usize> {
        if let Some(index) = self.position(key) {
            return Some(index);
        }
        let index = self.buffers.take(now, || Buffer::new(self.limits.datagram))?;
        self.buffers[index].open(key, datagram);
        Some(index)
    }
}

impl Reception<'_> {
    fn discarded(reason: Discard, acknowledgement: Option<RfragAck>) -> Self {
        Self { outcome: Outcome::Discarded(reason), acknowledgement }
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

/// The range of the compressed packet that a fragment covers.
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

/// The fields that all fragments of a packet share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    link: Link,
    tag: u8,
}

/// A compressed packet in reassembly.
#[derive(Clone, Debug)]
struct Buffer {
    key: Key,
    datagram: u32,
    /// The octets of the compressed packet; `None` until the fragment with sequence 0 arrives.
    size: Option<usize>,
    received: usize,
    /// The largest end of a fragment.
    furthest: usize,
    /// The fragments that have arrived, and the start and end of each.
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
            size: None,
            received: 0,
            furthest: 0,
            bitmap: 0,
            extents: [(0, 0); MAX_FRAGMENTS],
            congestion: false,
            octets: vec![0; longest].into(),
        }
    }

    fn open(&mut self, key: Key, datagram: u32) {
        self.key = key;
        self.datagram = datagram;
        self.size = None;
        self.received = 0;
        self.furthest = 0;
        self.bitmap = 0;
        self.congestion = false;
    }

    /// Stores a fragment. Ignores one that has arrived before.
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

    /// True if all octets have arrived. No fragments overlap, so it is enough to count octets.
    fn is_complete(&self) -> bool {
        self.size == Some(self.received)
    }

    /// The acknowledgement, if the sender requests it or the packet is complete.
    fn acknowledge(&mut self, header: &Rfrag) -> Option<RfragAck> {
        if !header.wants_acknowledgement && !self.is_complete() {
            return None;
        }
        let bitmap = if self.is_complete() { RfragAck::FULL } else { self.bitmap };
        let congestion = mem::take(&mut self.congestion);
        Some(RfragAck { congestion, tag: self.key.tag, bitmap })
    }
}
