//! Which datagrams were sent again, and which of those in vain.
//!
//! The laboratory sees everything: what each datagram carries, and whether it arrived. A datagram is a retransmission
//! where the same end has sent all that it carries before. It is spurious where of each of its parts an earlier copy
//! arrived, even if it was still on its way when the datagram was sent.

use slowhand_sessions::wire::{self, ContentType, MessageType};
use std::ops::Add;

/// A part of a flight that can be recognised when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A fragment of a handshake message in the clear (RFC 6347, section 4.2.2).
    Message { kind: MessageType, sequence: u16, length: u32, offset: u32, fragment: usize },
    /// Any other record, encrypted handshake messages among them: an epoch has one Finished, and its ciphertext has
    /// the same length each time.
    Record { content: ContentType, epoch: u16, length: usize },
}

/// How many datagrams repeated others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retransmissions {
    pub(super) needed: u64,
    pub(super) spurious: u64,
}

impl Add for Retransmissions {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { needed: self.needed + other.needed, spurious: self.spurious + other.spurious }
    }
}

/// What a datagram carries, connection IDs being `connection_id` octets long.
pub(super) fn pieces(datagram: &[u8], connection_id: u8) -> Vec<Piece> {
    wire::records(datagram, connection_id).map_while(Result::ok).flat_map(pieces_of_record).collect()
}

fn pieces_of_record(record: wire::Record<'_>) -> impl Iterator<Item = Piece> + '_ {
    let in_the_clear = record.content_type == ContentType::Handshake && !record.is_protected();
    let (content, epoch, length) = (record.content_type, record.epoch, record.fragment.len());
    let whole = (!in_the_clear).then_some(Piece::Record { content, epoch, length });
    let messages = record.messages().map_while(Result::ok).map(|message| Piece::Message {
        kind: message.message_type,
        sequence: message.message_seq,
        length: message.length,
        offset: message.fragment_offset,
        fragment: message.body.len(),
    });
    whole.into_iter().chain(messages)
}

/// Counts the retransmissions among the datagrams of one end, in the order in which they were sent: what each carries,
/// and whether it arrived.
pub(super) fn classify<'a>(datagrams: impl Iterator<Item = (&'a [Piece], bool)>) -> Retransmissions {
    let mut sent: Vec<(&Piece, bool)> = Vec::new();
    let mut counts = Retransmissions::default();
    for (pieces, arrived) in datagrams {
        let copies =
            |piece: &'a Piece| sent.iter().filter(move |(earlier, _)| *earlier == piece).map(|&(_, arrived)| arrived);
        if !pieces.is_empty() && pieces.iter().all(|piece| copies(piece).next().is_some()) {
            match pieces.iter().all(|piece| copies(piece).any(|arrived| arrived)) {
                true => counts.spurious += 1,
                false => counts.needed += 1,
            }
        }
        sent.extend(pieces.iter().map(|piece| (piece, arrived)));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plaintext handshake record with one whole message, written after RFC 6347 sections 4.1 and 4.2.2.
    fn message(kind: u8, sequence: u8, record: u8) -> Vec<u8> {
        let mut octets = vec![22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, record, 0, 14];
        octets.extend([kind, 0, 0, 2, 0, sequence, 0, 0, 0, 0, 0, 2, 0xaa, 0xbb]);
        octets
    }

    /// An encrypted Finished of 40 octets.
    fn finished(record: u8) -> Vec<u8> {
        let mut octets = vec![22, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, record, 0, 40];
        octets.extend([record; 40]);
        octets
    }

    const ARRIVED: bool = true;
    const LOST: bool = false;

    fn count(sent: &[(Vec<u8>, bool)]) -> (u64, u64) {
        let datagrams: Vec<(Vec<Piece>, bool)> =
            sent.iter().map(|(octets, arrived)| (pieces(octets, 0), *arrived)).collect();
        let counts = classify(datagrams.iter().map(|(pieces, arrived)| (pieces.as_slice(), *arrived)));
        (counts.needed, counts.spurious)
    }

    #[test]
    fn what_arrived_need_not_be_sent_again() {
        let hello = |record| message(1, 0, record);
        assert_eq!(
            count(&[(hello(0), ARRIVED), (message(16, 1, 1), ARRIVED)]),
            (0, 0),
            "another message is no repetition"
        );
        assert_eq!(count(&[(hello(0), LOST), (hello(1), ARRIVED)]), (1, 0));
        assert_eq!(count(&[(hello(0), ARRIVED), (hello(1), ARRIVED)]), (0, 1));
        assert_eq!(count(&[(hello(0), LOST), (hello(1), LOST), (hello(2), ARRIVED)]), (2, 0));
        assert_eq!(count(&[(finished(0), LOST), (finished(1), ARRIVED), (finished(2), ARRIVED)]), (1, 1));
    }

    #[test]
    fn a_flight_packed_otherwise_is_needed_if_any_part_was_lost() {
        let both = |a, b| [message(2, 1, a), message(14, 2, b)].concat();
        assert_eq!(count(&[(message(2, 1, 0), ARRIVED), (message(14, 2, 1), LOST), (both(2, 3), ARRIVED)]), (1, 0));
        assert_eq!(count(&[(both(0, 1), LOST), (message(2, 1, 2), ARRIVED), (message(14, 2, 3), ARRIVED)]), (2, 0));
        assert_eq!(count(&[(message(2, 1, 0), ARRIVED), (both(1, 2), ARRIVED)]), (0, 0), "half of it is new");
    }
}
