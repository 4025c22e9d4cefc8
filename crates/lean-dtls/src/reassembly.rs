//! Messages from fragments that arrive in any order, twice, or overlapping (RFC 6347, section 4.2.3).

use crate::handshake::{Header, Kind};

/// How many messages can be under way at once: the next one and what overtakes it.
const MESSAGES: usize = 3;

/// How many gaps a message can have. A fragment that would make more is dropped; its sender repeats it.
const RANGES: usize = 4;

/// The messages of a flight that are not whole yet, or whole but not their turn. All share `BUFFER` octets.
pub(crate) struct Reassembly<const BUFFER: usize> {
    octets: [u8; BUFFER],
    used: usize,
    /// In the order of their octets.
    messages: [Option<Message>; MESSAGES],
}

#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    sequence: u16,
    start: usize,
    length: usize,
    /// What has arrived: beginnings and ends, in ascending order, that neither touch nor overlap.
    ranges: [(usize, usize); RANGES],
    count: usize,
}

impl<const BUFFER: usize> Reassembly<BUFFER> {
    pub(crate) const fn new() -> Self {
        Self { octets: [0; BUFFER], used: 0, messages: [None; MESSAGES] }
    }

    /// Takes a fragment of a message whose turn has not passed. `next` is the message whose turn it is.
    ///
    /// The fragment is dropped if there is no room, or if it contradicts an earlier one.
    pub(crate) fn insert(&mut self, next: u16, header: &Header, fragment: &[u8]) {
        let Some(index) = self.place(next, header) else { return };
        let Some(message) = &mut self.messages[index] else { return };
        let agrees = message.kind == header.kind && message.length == header.length;
        if agrees && message.cover(header.offset, header.offset + header.fragment) {
            let start = message.start + header.offset;
            self.octets[start..start + header.fragment].copy_from_slice(fragment);
        }
    }

    /// The message with this number, if it is whole.
    pub(crate) fn whole(&self, sequence: u16) -> Option<(Header, &[u8])> {
        let message = self.messages.iter().flatten().find(|message| message.sequence == sequence)?;
        let is_whole = message.count == 1 && message.ranges[0] == (0, message.length);
        let octets = &self.octets[message.start..message.start + message.length];
        is_whole.then_some((Header::whole(message.kind, sequence, message.length), octets))
    }

    /// Forgets a message, and moves the others to the front.
    pub(crate) fn remove(&mut self, sequence: u16) {
        let is_it = |message: &Option<Message>| message.is_some_and(|message| message.sequence == sequence);
        let Some(index) = self.messages.iter().position(is_it) else { return };
        let Some(removed) = self.messages[index].take() else { return };
        self.octets.copy_within(removed.start + removed.length..self.used, removed.start);
        self.used -= removed.length;
        self.messages[index..].rotate_left(1);
        self.messages[index..].iter_mut().flatten().for_each(|message| message.start -= removed.length);
    }

    /// The place of the fragment's message, a new one if there is room. The message whose turn it is has priority.
    fn place(&mut self, next: u16, header: &Header) -> Option<usize> {
        let is_it = |message: &Option<Message>| message.is_some_and(|message| message.sequence == header.sequence);
        if let Some(index) = self.messages.iter().position(is_it) {
            return Some(index);
        }
        let has_room = |used: usize| header.length <= BUFFER - used;
        if header.sequence == next && has_room(0) && (!has_room(self.used) || self.messages.iter().all(Option::is_some))
        {
            self.messages = [None; MESSAGES];
            self.used = 0;
        }
        let index = self.messages.iter().position(Option::is_none).filter(|_| has_room(self.used))?;
        let (kind, sequence, length) = (header.kind, header.sequence, header.length);
        let start = self.used;
        self.messages[index] = Some(Message { kind, sequence, start, length, ranges: [(0, 0); RANGES], count: 0 });
        self.used += length;
        Some(index)
    }
}

impl Message {
    /// Notes that a range has arrived. False if that would make too many gaps.
    fn cover(&mut self, mut begin: usize, mut end: usize) -> bool {
        let (mut ranges, mut count) = ([(0, 0); RANGES], 0);
        let mut placed = false;
        for &(first, last) in &self.ranges[..self.count] {
            if last >= begin && first <= end {
                (begin, end) = (begin.min(first), end.max(last));
                continue;
            }
            if !placed && end < first {
                if !push(&mut ranges, &mut count, (begin, end)) {
                    return false;
                }
                placed = true;
            }
            if !push(&mut ranges, &mut count, (first, last)) {
                return false;
            }
        }
        if !placed && !push(&mut ranges, &mut count, (begin, end)) {
            return false;
        }
        (self.ranges, self.count) = (ranges, count);
        true
    }
}

fn push(ranges: &mut [(usize, usize); RANGES], count: &mut usize, range: (usize, usize)) -> bool {
    let Some(free) = ranges.get_mut(*count) else { return false };
    *free = range;
    *count += 1;
    true
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn fragment(sequence: u16, length: usize, begin: usize, end: usize) -> (Header, Vec<u8>) {
        let header = Header { kind: Kind::Finished, length, sequence, offset: begin, fragment: end - begin };
        (header, (begin..end).map(|place| octet(sequence, place)).collect())
    }

    fn octet(sequence: u16, place: usize) -> u8 {
        (usize::from(sequence) * 50 + place) as u8
    }

    proptest! {
        /// Three messages of a flight, in fragments that overlap, arrive in any order and again: what is whole is right.
        #[test]
        fn messages_come_out_in_order_and_as_they_went_in(
            lengths in [0_usize..60, 0_usize..60, 0_usize..60],
            cuts in proptest::collection::vec((0_u16..3, 0_usize..60, 1_usize..40), 0..60),
        ) {
            let mut reassembly = Reassembly::<200>::new();
            let mut next = 0;
            // After the random fragments, each message once as a whole, as a peer that sends its flight again.
            let again = (0..3).map(|sequence| (sequence, 0, 60));
            for (sequence, begin, length) in cuts.into_iter().chain(again) {
                let whole = lengths[usize::from(sequence)];
                let begin = begin.min(whole);
                let (header, octets) = fragment(sequence, whole, begin, (begin + length).min(whole));
                if sequence >= next {
                    reassembly.insert(next, &header, &octets);
                }
                while let Some((header, octets)) = reassembly.whole(next) {
                    let expected: Vec<u8> = (0..lengths[usize::from(next)]).map(|place| octet(next, place)).collect();
                    prop_assert_eq!(octets, &expected[..]);
                    prop_assert_eq!(header.length, expected.len());
                    reassembly.remove(next);
                    next += 1;
                }
            }
            prop_assert_eq!(next, 3);
            prop_assert_eq!(reassembly.used, 0);
        }
    }

    #[test]
    fn the_message_whose_turn_it_is_drives_others_out() {
        let mut reassembly = Reassembly::<64>::new();
        let (later, octets) = fragment(5, 60, 0, 60);
        reassembly.insert(4, &later, &octets);
        assert!(reassembly.whole(5).is_some());
        let (now, octets) = fragment(4, 30, 0, 30);
        reassembly.insert(4, &now, &octets);
        assert!(reassembly.whole(4).is_some() && reassembly.whole(5).is_none());
        let (long, octets) = fragment(4, 65, 0, 65);
        reassembly.insert(4, &long, &octets);
        assert_eq!(reassembly.whole(4).map(|(header, _)| header.length), Some(30), "it contradicts the earlier one");
    }
}
