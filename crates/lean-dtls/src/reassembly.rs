//! Messages from fragments that arrive in any order, twice, or overlapping (RFC 6347, section 4.2.3).

use crate::handshake::{Header, Kind};

/// How many messages can be under way at once: the next one and what overtakes it.
const MESSAGES: usize = 3;

/// How many gaps a message can have. A fragment that would make more is dropped; its sender repeats it.
const RANGES: usize = 4;

/// The messages of a flight that are not whole yet, or whole but not their turn. All share `BUFFER` octets.
pub(crate) struct Reassembly<const BUFFER: usize> {
    octets: [u8; BUFFER],
    used: u16,
    messages: [Option<Message>; MESSAGES],
}

#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    sequence: u16,
    /// Where its octets begin.
    start: u16,
    length: u16,
    /// What has arrived: beginnings and ends that neither touch nor overlap.
    ranges: [(u16, u16); RANGES],
    count: u8,
}

impl<const BUFFER: usize> Reassembly<BUFFER> {
    pub(crate) const fn new() -> Self {
        const { assert!(BUFFER <= u16::MAX as usize, "places in the buffer have 16 bits") };
        Self { octets: [0; BUFFER], used: 0, messages: [None; MESSAGES] }
    }

    /// Takes a fragment of a message whose turn has not passed. `next` is the message whose turn it is.
    ///
    /// The fragment is dropped if there is no room, or if it contradicts an earlier one.
    pub(crate) fn insert(&mut self, next: u16, header: &Header, fragment: &[u8]) {
        let Some(message) = self.place(next, header) else { return };
        let agrees = message.kind == header.kind && usize::from(message.length) == header.length;
        // What fits into a message has 16 bits.
        if agrees && message.cover(header.offset as u16, (header.offset + header.fragment) as u16) {
            let start = usize::from(message.start) + header.offset;
            if let Some(octets) = self.octets.get_mut(start..start + fragment.len()) {
                octets.copy_from_slice(fragment);
            }
        }
    }

    /// The message with this number, if it is whole.
    pub(crate) fn whole(&self, sequence: u16) -> Option<(Header, &[u8])> {
        let message = self.messages.iter().flatten().find(|message| message.sequence == sequence)?;
        let is_whole = message.count == 1 && message.ranges[0] == (0, message.length);
        let length = usize::from(message.length);
        let octets = self.octets.get(usize::from(message.start)..)?.get(..length)?;
        is_whole.then_some((Header::whole(message.kind, sequence, length), octets))
    }

    /// Forgets a message, and moves the octets of the others to the front.
    pub(crate) fn remove(&mut self, sequence: u16) {
        let is_it = |message: &&mut Option<Message>| message.is_some_and(|message| message.sequence == sequence);
        let Some(removed) = self.messages.iter_mut().find(is_it).and_then(Option::take) else { return };
        // A loop: `copy_within` needs memmove, which nothing else needs, and which has 700 octets.
        for place in usize::from(removed.start + removed.length)..usize::from(self.used) {
            let Some(octet) = self.octets.get(place).copied() else { break };
            self.octets[place - usize::from(removed.length)] = octet;
        }
        self.used -= removed.length;
        for message in self.messages.iter_mut().flatten().filter(|message| message.start > removed.start) {
            message.start -= removed.length;
        }
    }

    /// Forgets all messages.
    pub(crate) fn clear(&mut self) {
        self.messages = [None; MESSAGES];
        self.used = 0;
    }

    /// The fragment's message, a new one if there is room. The message whose turn it is has priority.
    fn place(&mut self, next: u16, header: &Header) -> Option<&mut Message> {
        let is_it = |message: &Option<Message>| message.is_some_and(|message| message.sequence == header.sequence);
        let index = match self.messages.iter().position(is_it) {
            Some(index) => index,
            None => self.open(next, header)?,
        };
        self.messages.get_mut(index)?.as_mut()
    }

    fn open(&mut self, next: u16, header: &Header) -> Option<usize> {
        let has_room = |used: u16| header.length <= BUFFER - usize::from(used);
        let is_full = !has_room(self.used) || self.messages.iter().all(Option::is_some);
        if header.sequence == next && is_full && has_room(0) {
            self.clear();
        }
        let index = self.messages.iter().position(Option::is_none).filter(|_| has_room(self.used))?;
        let (kind, sequence, length) = (header.kind, header.sequence, header.length as u16);
        let start = self.used;
        self.messages[index] = Some(Message { kind, sequence, start, length, ranges: [(0, 0); RANGES], count: 0 });
        self.used += length;
        Some(index)
    }
}

impl Message {
    /// Notes that a range has arrived. False if that would make too many gaps.
    fn cover(&mut self, mut begin: u16, mut end: u16) -> bool {
        let mut kept = 0;
        for index in 0..usize::from(self.count).min(RANGES) {
            let (first, last) = self.ranges[index];
            if last >= begin && first <= end {
                (begin, end) = (begin.min(first), end.max(last));
            } else if let Some(place) = self.ranges.get_mut(kept) {
                *place = (first, last);
                kept += 1;
            }
        }
        let Some(place) = self.ranges.get_mut(kept) else { return false };
        *place = (begin, end);
        self.count = kept as u8 + 1;
        true
    }
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
