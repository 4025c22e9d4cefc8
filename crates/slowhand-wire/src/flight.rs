//! The parts of a flight that a DTLS datagram carries, and the set of parts that were sent before.
//!
//! A flight is what one end sends before it waits for the other end. After a timeout, it sends the whole flight again
//! (RFC 6347 section 4.2.4). Then the records get new sequence numbers, the library may cut the messages into other
//! fragments, and it encrypts again. This stays the same:
//!
//! - **A handshake message of epoch 0** keeps type, message_seq, length and octets. So message and offset identify each
//!   octet ([`FlightPart::Fragment`]).
//! - **ChangeCipherSpec, and an encrypted handshake message,** keep type, epoch and length ([`FlightPart::Record`]).
//!   That is enough, because each end sends one ChangeCipherSpec and one Finished in an epoch of DTLS 1.2.
//!
//! Other records are not part of a flight. DTLS does not retransmit alerts (RFC 6347 section 4.2.7) or application
//! data, so two such records of the same length are two different records.

use crate::dtls::{Fragment, Record};
use crate::error::WireError;
use crate::ranges::RangeSet;
use crate::types::{ContentType, MessageType};
use std::collections::{BTreeMap, BTreeSet};

/// The identity of a handshake message of one end (RFC 6347 section 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    /// Its type.
    pub message_type: MessageType,
    /// message_seq.
    pub message_seq: u16,
    /// The length of the whole message in octets.
    pub length: u32,
}

/// A part of a flight, identified by what a retransmission keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlightPart {
    /// Octets of a handshake message in the clear.
    Fragment {
        /// The message.
        message: MessageId,
        /// The offset of the first octet.
        start: u32,
        /// The offset of the first octet after the fragment.
        end: u32,
    },
    /// Any other record of a flight.
    Record(RecordId),
    /// A message of CoAP: version, type, code and Message ID. A retransmission keeps them (RFC 7252 section 4.2), and so does an
    /// acknowledgement that is repeated.
    CoapHeader([u8; 4]),
}

/// The identity of a ChangeCipherSpec or an encrypted handshake message of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// The type of the record.
    pub content_type: ContentType,
    /// The epoch.
    pub epoch: u16,
    /// The length of the content in octets.
    pub length: u16,
}

impl From<&Record<'_>> for RecordId {
    fn from(record: &Record<'_>) -> Self {
        // A record's length has 16 bits.
        let length = record.fragment.len() as u16;
        Self { content_type: record.content_type, epoch: record.epoch, length }
    }
}

impl From<&Fragment<'_>> for FlightPart {
    fn from(fragment: &Fragment<'_>) -> Self {
        let &Fragment { message_type, message_seq, length, fragment_offset: start, .. } = fragment;
        Self::Fragment { message: MessageId { message_type, message_seq, length }, start, end: fragment.end() }
    }
}

/// The parts of a flight in a record. There are none if the record is not part of a flight, or if its type is encrypted
/// ([`ContentType::Tls12Cid`]). The iterator ends after the first error.
pub fn parts<'a>(record: &Record<'a>) -> impl Iterator<Item = Result<FlightPart, WireError>> + use<'a> {
    let whole = match record.content_type {
        ContentType::Handshake => record.is_protected(),
        content_type => content_type == ContentType::ChangeCipherSpec,
    };
    let whole = whole.then(|| Ok(FlightPart::Record(record.into())));
    whole.into_iter().chain(record.fragments().map(|fragment| Ok(FlightPart::from(&fragment?))))
}

impl FlightPart {
    /// True if the two are fragments of one message with octets in common, or the same record. Also true if this is a
    /// fragment of length 0 and the other one is a fragment of the same message.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Fragment { message, start, end }, Self::Fragment { message: of, start: from, end: to }) => {
                message == of && ((from < end && start < to) || start == end)
            }
            (one, other) => one == other,
        }
    }
}

/// A set of parts of flights: the octets of messages, and the other parts.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    messages: BTreeMap<MessageId, RangeSet>,
    others: BTreeSet<FlightPart>,
}

impl Coverage {
    /// Adds a part.
    pub fn insert(&mut self, part: &FlightPart) {
        match *part {
            FlightPart::Fragment { message, start, end } => {
                self.messages.entry(message).or_default().insert(start..end);
            }
            other => {
                self.others.insert(other);
            }
        }
    }

    /// True if all of `part` is in the set. How the earlier fragments were cut does not matter. A part of length 0,
    /// such as a ServerHelloDone, is in the set if any part of its message is.
    pub fn covers(&self, part: &FlightPart) -> bool {
        match part {
            FlightPart::Fragment { message, start, end } => {
                self.messages.get(message).is_some_and(|octets| octets.contains(&(*start..*end)))
            }
            other => self.others.contains(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtls;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn part(message_seq: u16, length: u32, start: u32, end: u32) -> FlightPart {
        FlightPart::Fragment {
            message: MessageId { message_type: MessageType::Certificate, message_seq, length },
            start,
            end,
        }
    }

    fn covered(parts: &[FlightPart]) -> Coverage {
        let mut coverage = Coverage::default();
        parts.iter().for_each(|part| coverage.insert(part));
        coverage
    }

    #[test]
    fn a_message_in_other_fragments_is_the_same_message() {
        let halves = covered(&[part(2, 100, 0, 50), part(2, 100, 50, 100)]);
        assert!(halves.covers(&part(2, 100, 0, 100)));
        assert!(halves.covers(&part(2, 100, 25, 75)));
        assert!(!halves.covers(&part(3, 100, 0, 100)), "another message");
        assert!(!halves.covers(&part(2, 101, 0, 100)), "another message");
        let gap = covered(&[part(2, 100, 0, 50), part(2, 100, 51, 100)]);
        assert!(!gap.covers(&part(2, 100, 0, 100)), "one octet is new");
    }

    #[test]
    fn the_header_identifies_an_empty_message() {
        let done = part(4, 0, 0, 0);
        assert!(!Coverage::default().covers(&done));
        assert!(!covered(&[part(3, 10, 0, 10)]).covers(&done));
        assert!(covered(&[done]).covers(&done));
    }

    #[test]
    fn fragments_overlap_where_they_share_octets() {
        let half = part(2, 100, 0, 50);
        assert!(part(2, 100, 40, 60).overlaps(&half) && !part(2, 100, 50, 60).overlaps(&half));
        assert!(part(2, 100, 60, 60).overlaps(&half), "no octets");
        assert!(!part(3, 100, 40, 60).overlaps(&half), "another message");
    }

    fn record(content_type: u8, epoch: u8, sequence_number: u8, length: u8) -> Vec<u8> {
        let header = [content_type, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, sequence_number, 0, length];
        [&header[..], &vec![sequence_number; length.into()]].concat()
    }

    fn parts_of(octets: &[u8]) -> Vec<FlightPart> {
        dtls::records(octets, Some(0)).flat_map(|record| parts(&record.unwrap())).collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn epoch_and_length_identify_an_encrypted_finished() {
        assert_eq!(parts_of(&record(22, 1, 0, 40)), parts_of(&record(22, 1, 1, 40)));
        assert_ne!(parts_of(&record(22, 1, 0, 40)), parts_of(&record(22, 2, 0, 40)));
        assert_ne!(parts_of(&record(22, 1, 0, 40)), parts_of(&record(22, 1, 1, 41)));
        assert_eq!(parts_of(&record(20, 0, 0, 1)), parts_of(&record(20, 0, 9, 1)));
    }

    #[test]
    fn alerts_and_application_data_are_not_part_of_a_flight() {
        for content_type in [21, 23, 24, 25] {
            assert_eq!(parts_of(&record(content_type, 1, 0, 40)), [], "content type {content_type}");
        }
    }

    proptest! {
        /// Compares the coverage with a set of single octets.
        #[test]
        fn coverage_is_a_set_of_octets(
            sent in prop::collection::vec((0..3_u16, 0..30_u32, 1..8_u32), 0..20),
            (message, start, length) in (0..3_u16, 0..30_u32, 1..8_u32),
        ) {
            let octets = |(message, start, length): (u16, u32, u32)| (start..start + length).map(move |at| (message, at));
            let fragment = |(message, start, length): (u16, u32, u32)| part(message, 40, start, start + length);
            let known: HashSet<(u16, u32)> = sent.iter().copied().flat_map(octets).collect();
            let coverage = covered(&sent.iter().copied().map(fragment).collect::<Vec<_>>());
            let asked = (message, start, length);
            prop_assert_eq!(coverage.covers(&fragment(asked)), octets(asked).all(|octet| known.contains(&octet)));
            let overlaps = sent.iter().any(|&earlier| fragment(asked).overlaps(&fragment(earlier)));
            prop_assert_eq!(overlaps, octets(asked).any(|octet| known.contains(&octet)));
        }
    }
}
