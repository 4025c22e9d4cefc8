//! Messages from fragments that arrive in any order, twice, or overlapping (RFC 6347, section 4.2.3).

use crate::handshake::{Header, Kind};
use crate::ranges::Ranges;

/// The number of messages that can be under way at once: the next one and what overtakes it. The longest flight has five messages with
/// certificates (ServerHello to ServerHelloDone), and three without.
const MESSAGES: usize = if cfg!(feature = "certificates") { 5 } else { 3 };

/// The number of gaps that a message can have. A fragment that would make more is dropped; its sender repeats it.
const RANGES: usize = 4;

/// The messages of a flight that are not whole yet, or whole but not their turn. All share `BUFFER` octets.
// Small fields come first, as in a connection.
#[cfg_attr(target_arch = "avr", repr(C))]
pub(crate) struct Reassembly<const BUFFER: usize> {
    used: u16,
    messages: [Option<Message>; MESSAGES],
    octets: [u8; BUFFER],
}

#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    sequence: u16,
    /// Where its octets begin.
    start: u16,
    length: u16,
    /// The octets that have arrived.
    arrived: Ranges<RANGES>,
}

impl<const BUFFER: usize> Reassembly<BUFFER> {
    pub(crate) const fn new() -> Self {
        const { assert!(BUFFER <= u16::MAX as usize, "places in the buffer are kept in 16 bits") };
        Self { octets: [0; BUFFER], used: 0, messages: [None; MESSAGES] }
    }

    /// Takes a fragment of a message whose turn has not passed. `next` is the message whose turn it is.
    ///
    /// The fragment is dropped if there is no room. If it contradicts an earlier one, one of them is somebody else's: the message
    /// begins anew with this one, and if that is the wrong one, with what the peer sends again.
    pub(crate) fn insert(&mut self, next: u16, header: &Header, fragment: &[u8]) {
        if header.length > BUFFER {
            return;
        }
        if self.find(header.sequence).is_some_and(|index| !self.agrees(index, header)) {
            self.remove(header.sequence);
        }
        if header.sequence == next && self.find(next).is_none() {
            let has_place = self.has_room(header) && self.messages.iter().any(Option::is_none);
            if !has_place {
                self.clear();
            }
        }
        self.place(header, fragment);
    }

    /// Keeps a fragment whose record will be acknowledged if the result is true. What was acknowledged does not come
    /// again, so nothing is driven out, and the message whose turn it is can always have a place.
    pub(crate) fn keep(&mut self, next: u16, header: &Header, fragment: &[u8]) -> bool {
        let free = self.messages.iter().filter(|message| message.is_none()).count();
        let is_known = [next, header.sequence].into_iter().any(|sequence| self.find(sequence).is_some());
        (is_known || header.sequence == next || free > 1) && self.place(header, fragment)
    }

    /// The message with this number, if it is whole.
    pub(crate) fn whole(&self, sequence: u16) -> Option<(Header, &[u8])> {
        let message = self.messages.iter().flatten().find(|message| message.sequence == sequence)?;
        let octets = self.octets.get(message.start.into()..)?.get(..message.length.into())?;
        let is_whole = message.arrived.reach(message.length);
        is_whole.then_some((Header::whole(message.kind, sequence, octets.len()), octets))
    }

    /// The number of octets of a message that have arrived before the first gap.
    pub(crate) fn progress(&self, sequence: u16) -> usize {
        let message = self.messages.iter().flatten().find(|message| message.sequence == sequence);
        message.map_or(0, |message| message.arrived.progress().into())
    }

    /// Forgets a message, and moves the octets of the others to the front.
    pub(crate) fn remove(&mut self, sequence: u16) {
        let Some(removed) = self.find(sequence).and_then(|index| self.messages[index].take()) else { return };
        // A loop: `copy_within` needs memmove, which nothing else needs, and which has 700 octets on a Cortex-M3.
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

    /// Puts a fragment into its place. False if it has none, or if it contradicts an earlier one.
    fn place(&mut self, header: &Header, fragment: &[u8]) -> bool {
        let Some(index) = self.find(header.sequence).or_else(|| self.add(header)) else { return false };
        if !self.agrees(index, header) {
            return false;
        }
        let Some(Some(message)) = self.messages.get_mut(index) else { return false };
        if !message.cover(header) {
            return false;
        }
        let start = usize::from(message.start) + header.offset;
        let Some(octets) = self.octets.get_mut(start..start + fragment.len()) else { return false };
        octets.copy_from_slice(fragment);
        true
    }

    /// A place for a new message.
    fn add(&mut self, header: &Header) -> Option<usize> {
        let index = self.messages.iter().position(Option::is_none).filter(|_| self.has_room(header))?;
        let (kind, sequence, length) = (header.kind, header.sequence, header.length as u16);
        let start = self.used;
        self.messages[index] = Some(Message { kind, sequence, start, length, arrived: Ranges::new() });
        self.used += length;
        Some(index)
    }

    /// True if a fragment is one of this message, as far as is known.
    fn agrees(&self, index: usize, header: &Header) -> bool {
        let message = self.messages.get(index).copied().flatten();
        message.is_some_and(|known| known.kind == header.kind && usize::from(known.length) == header.length)
    }

    fn find(&self, sequence: u16) -> Option<usize> {
        self.messages.iter().position(|message| message.is_some_and(|message| message.sequence == sequence))
    }

    const fn has_room(&self, header: &Header) -> bool {
        header.length <= BUFFER - self.used as usize
    }
}

impl Message {
    /// Notes that a fragment has arrived, which is no longer than the buffer. False if that would make too many gaps.
    fn cover(&mut self, fragment: &Header) -> bool {
        self.arrived.cover(fragment.offset as u16, (fragment.offset + fragment.fragment) as u16)
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
        assert_eq!(reassembly.whole(4).map(|(header, _)| header.length), Some(30), "there is no room for it");
        let (other, octets) = fragment(4, 20, 0, 20);
        reassembly.insert(4, &other, &octets);
        assert_eq!(reassembly.whole(4).map(|(header, _)| header.length), Some(20), "it contradicts the earlier one");
    }

    /// An acknowledged fragment stays, and leaves a place for the message whose turn it is.
    #[test]
    fn what_is_kept_is_not_driven_out() {
        let mut reassembly = Reassembly::<64>::new();
        let mut keep = |sequence: u16, length: usize| {
            let (header, octets) = fragment(sequence, length, 0, length);
            reassembly.keep(4, &header, &octets)
        };
        let (length, last) = (40 / (MESSAGES - 1), 4 + MESSAGES as u16);
        assert!((5..last).all(|sequence| keep(sequence, length)));
        assert!(!keep(last, length), "the last place is that of 4");
        assert!(!keep(4, 30), "24 octets are left");
        assert!(keep(5, length), "it is there");
        assert!(keep(4, 24));
        assert!((4..last).all(|sequence| reassembly.whole(sequence).is_some()));
    }
}
