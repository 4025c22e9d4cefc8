//! The receive buffer: data from the peer that the application has not read yet, with its gaps.

use super::buffer::Ring;
use super::options::SackBlocks;
use super::ranges::{RangeSet, SeqRange};
use super::seq::SeqNumber;

/// The result of storing a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// Octets that the application can now read.
    pub(super) in_order: u32,
    /// True if there is, or was, a gap before later octets: an acknowledgement must be sent at once.
    pub(super) out_of_order: bool,
    /// Octets that had arrived before.
    pub(super) duplicate: Option<SeqRange>,
}

/// The receive buffer: a ring that begins with the first unread octet.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    ring: Ring,
    /// The next octet expected.
    next: SeqNumber,
    /// The number of octets that can be read. They lie just before `next`.
    unread: usize,
    /// The ranges after `next` that have arrived. The FIN counts as an octet.
    out_of_order: RangeSet,
    /// The sequence number of the FIN, if it has arrived.
    fin: Option<SeqNumber>,
    /// One octet of each range that arrived recently, the latest first. They give the order of the
    /// SACK blocks.
    recent: [Option<SeqNumber>; 4],
}

impl ReceiveBuffer {
    /// `ranges` is the largest number of separate ranges out of order.
    pub(super) fn new(capacity: usize, ranges: usize, next: SeqNumber) -> Self {
        Self {
            ring: Ring::new(capacity),
            next,
            unread: 0,
            out_of_order: RangeSet::with_limit(ranges),
            fin: None,
            recent: [None; 4],
        }
    }

    /// Sets the first octet that is expected, before any has arrived.
    pub(super) fn start_at(&mut self, next: SeqNumber) {
        self.next = next;
    }

    pub(super) fn next(&self) -> SeqNumber {
        self.next
    }

    pub(super) fn unread(&self) -> usize {
        self.unread
    }

    pub(super) fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// The number of octets after `next` that fit into the buffer.
    pub(super) fn window(&self) -> u32 {
        (self.ring.capacity() - self.unread) as u32
    }

    /// True if octets have arrived after a gap.
    pub(super) fn has_gap(&self) -> bool {
        !self.out_of_order.is_empty()
    }

    /// Stores the octets of a payload that are new and in the window.
    pub(super) fn store(&mut self, seq: SeqNumber, payload: &[u8]) -> Stored {
        let segment = SeqRange::new(seq, seq + payload.len() as u32);
        let mut stored =
            Stored { duplicate: self.known_part(segment), out_of_order: self.has_gap(), ..Stored::default() };
        let window_end = self.next + self.window();
        // No octet follows the FIN: a peer that sends one contradicts itself.
        let end = self.fin.map_or(window_end, |fin| window_end.earliest(fin));
        let new = SeqRange::new(segment.start.latest(self.next), segment.end.earliest(end));
        if new.is_empty() {
            return stored;
        }
        let payload = &payload[new.start.since(seq) as usize..][..new.len() as usize];
        let offset = self.unread + new.start.since(self.next) as usize;
        if new.start == self.next {
            self.ring.write_at(offset, payload);
            stored.in_order = self.advance_to(new.end);
            return stored;
        }
        stored.out_of_order = true;
        if self.out_of_order.find(new.start).is_some() || self.out_of_order.has_room() {
            self.ring.write_at(offset, payload);
            self.out_of_order.insert(new);
            self.remember(new.start);
        }
        stored
    }

    /// The octets at the beginning of a segment that have arrived before.
    fn known_part(&self, segment: SeqRange) -> Option<SeqRange> {
        let known_end =
            if segment.start.before(self.next) { self.next } else { self.out_of_order.find(segment.start)?.end };
        let known = SeqRange::new(segment.start, segment.end.earliest(known_end));
        (!known.is_empty()).then_some(known)
    }

    /// Makes all octets up to `end`, and those that follow without a gap, readable.
    fn advance_to(&mut self, end: SeqNumber) -> u32 {
        let reached = match self.out_of_order.as_slice().iter().rfind(|r| r.start.at_or_before(end)) {
            Some(range) => end.latest(range.end),
            None => end,
        };
        let count = reached.since(self.next);
        self.out_of_order.remove_before(reached);
        self.next = reached;
        let octets = count - u32::from(self.is_finished());
        self.unread += octets as usize;
        octets
    }

    /// Stores the FIN. It occupies one sequence number (RFC 9293 section 3.4), but no memory. Ignores a
    /// FIN that lies before octets that have arrived.
    pub(super) fn store_fin(&mut self, at: SeqNumber) {
        let arrived = self.out_of_order.end().unwrap_or(self.next);
        if self.fin.is_none() && at.before(arrived) {
            return;
        }
        let fin = *self.fin.get_or_insert(at);
        if self.is_finished() {
            return;
        }
        if fin == self.next {
            self.advance_to(fin + 1);
        } else if fin.after(self.next) && self.out_of_order.insert(SeqRange::new(fin, fin + 1)) > 0 {
            self.remember(fin);
        }
    }

    /// True if the FIN and everything before it have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next.after(fin))
    }

    /// Puts `seq` at the head of the recent ranges, and removes other octets of the same range.
    fn remember(&mut self, seq: SeqNumber) {
        let Some(range) = self.out_of_order.find(seq) else {
            return;
        };
        let others = self.recent.iter().flatten().copied();
        let mut recent = [Some(seq), None, None, None];
        let kept = others.filter(|other| !range.contains(*other));
        for (slot, other) in recent[1..].iter_mut().zip(kept) {
            *slot = Some(other);
        }
        self.recent = recent;
    }

    /// The SACK blocks: the duplicate to report, if there is one (RFC 2883 section 4), then the block of
    /// the latest arrival (RFC 2018 section 4), then the others.
    pub(super) fn sack_blocks(&self, duplicate: Option<SeqRange>, limit: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some(duplicate) = duplicate {
            blocks.push(duplicate);
        }
        let recent = self.recent.iter().flatten();
        for range in recent.filter_map(|seq| self.out_of_order.find(*seq)) {
            if blocks.len() < limit {
                blocks.push(range);
            }
        }
        blocks
    }

    /// Copies octets in order into `into`, and frees their memory.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.unread);
        self.ring.read_at(0, &mut into[..count]);
        self.ring.advance(count);
        self.unread -= count;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever order, overlap and repetition: what is read is what was sent.
        #[test]
        fn what_is_read_is_what_was_sent(
            start: u32,
            pieces in prop::collection::vec((0usize..300, 1usize..60), 1..80),
        ) {
            let message: Vec<u8> = (0..300u32).map(|i| (i * 7 % 251) as u8).collect();
            let start = SeqNumber(start);
            let mut buffer = ReceiveBuffer::new(128, 8, start);
            let mut got = Vec::new();
            let mut chunk = [0; 17];
            let in_order = (0..300).step_by(50).map(|at| (at, 50));
            for (at, len) in pieces.into_iter().chain(in_order) {
                let payload = &message[at..(at + len).min(300)];
                buffer.store(start + at as u32, payload);
                loop {
                    let count = buffer.read(&mut chunk);
                    if count == 0 {
                        break;
                    }
                    got.extend_from_slice(&chunk[..count]);
                }
                prop_assert_eq!(&got[..], &message[..got.len()]);
                prop_assert_eq!(buffer.next(), start + got.len() as u32);
            }
            prop_assert_eq!(got.len(), 300);
        }
    }

    #[test]
    fn the_latest_arrival_is_the_first_block() {
        let at = |n| SeqNumber(1000) + n;
        let mut buffer = ReceiveBuffer::new(1000, 8, at(0));
        for start in [100, 300, 500] {
            buffer.store(at(start), &[0; 50]);
        }
        buffer.store(at(150), &[0; 50]);
        let blocks: Vec<_> = buffer.sack_blocks(None, 4).iter().collect();
        let range = |a, b| SeqRange::new(at(a), at(b));
        assert_eq!(blocks, [range(100, 200), range(500, 550), range(300, 350)]);
    }
}
