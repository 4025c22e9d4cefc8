//! Counts the datagrams of DTLS that were sent again, and how many of them were spurious; also the packets that open a connection of
//! DCCP below it.
//!
//! The laboratory sees everything: what each datagram carries, and whether it arrived. A datagram is a retransmission
//! if the same end has sent all that it carries before, in whatever fragments. It is spurious if all that it carries
//! was in datagrams that arrived, even if those were still on their way when it was sent.
//!
//! A datagram with anything new is no retransmission. Alerts and application data are always new ([`flight`]).
//! Acknowledgements are neither new nor repeated: each says what has arrived by then (RFC 9147 section 7).

use super::payload::Payload;
use crate::record::Phase;
use slowhand_coap::message::is_coap;
use slowhand_sessions::Protocol;
use slowhand_wire::{ContentType, Coverage, FlightPart, dtls, flight};
use std::ops::Add;

/// The number of datagrams that repeated others.
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

/// The content of the records of a datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// The parts of a flight in it.
    parts: Vec<FlightPart>,
    /// True if there is something else in it, which is new. Acknowledgements are not.
    has_other: bool,
}

impl Records {
    pub(crate) fn is_in(&self, coverage: &Coverage) -> bool {
        !self.has_other && !self.parts.is_empty() && self.parts.iter().all(|part| coverage.covers(part))
    }

    pub(crate) fn add_to(&self, coverage: &mut Coverage) {
        self.parts.iter().for_each(|part| coverage.insert(part));
    }
}

/// Reads the datagrams of one end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// Of DTLS, or of CoAP.
    Datagrams {
        /// Octets of the connection IDs in its records.
        connection_id_length: u8,
    },
    /// Of QUIC. An end never sends a packet again: what was lost goes into new packets (RFC 9000 section 13.3), so every datagram
    /// is new.
    Quic,
}

impl Reader {
    /// The reader of datagrams of a protocol over UDP, in whose records the connection IDs have this length.
    pub(super) const fn new(protocol: Protocol, connection_id_length: u8) -> Self {
        match protocol {
            Protocol::Quic => Self::Quic,
            _ => Self::Datagrams { connection_id_length },
        }
    }

    /// Reads a datagram that was sent in a phase.
    pub(crate) fn read(self, datagram: &Payload, phase: Phase) -> Records {
        let mut records = Records::default();
        let Self::Datagrams { connection_id_length } = self else {
            records.has_other = true;
            return records;
        };
        if let Some(&header) = datagram.octets.first_chunk().filter(|_| is_coap(&datagram.octets)) {
            records.parts.push(FlightPart::CoapHeader(header));
            return records;
        }
        for record in datagram.records(connection_id_length) {
            match record {
                Some(record) => read_record(&record, phase, &mut records),
                None => records.has_other = true,
            }
        }
        records
    }
}

/// The type of a record with a connection ID is encrypted. In a handshake it is Finished or a fragment of it; what an
/// application sends belongs to a later phase.
fn read_record(record: &dtls::Record<'_>, phase: Phase, records: &mut Records) {
    match record.content_type {
        ContentType::Tls12Cid if phase == Phase::Handshake => records.parts.push(FlightPart::Record(record.into())),
        ContentType::Handshake | ContentType::ChangeCipherSpec => {
            for part in flight::parts(record) {
                match part {
                    Ok(part) => records.parts.push(part),
                    Err(_) => records.has_other = true,
                }
            }
        }
        ContentType::Ack => {}
        _ => records.has_other = true,
    }
}

/// A datagram that was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    Needed,
    Spurious,
}

impl FromIterator<Repetition> for Retransmissions {
    fn from_iter<T: IntoIterator<Item = Repetition>>(repetitions: T) -> Self {
        let mut counts = Self::default();
        for repetition in repetitions {
            match repetition {
                Repetition::Needed => counts.needed += 1,
                Repetition::Spurious => counts.spurious += 1,
            }
        }
        counts
    }
}

/// Finds the retransmissions among the datagrams of one end, in the order in which they were sent: what each carries,
/// and whether it arrived. Each has a key of the caller. `None` for a datagram that is no retransmission.
pub(super) fn classify<'a, K>(
    datagrams: impl Iterator<Item = (K, (&'a Records, bool))>,
) -> impl Iterator<Item = (K, Option<Repetition>)> {
    let (mut sent, mut arrived) = (Coverage::default(), Coverage::default());
    datagrams.map(move |(key, (records, has_arrived))| {
        let repetition = records.is_in(&sent).then(|| match records.is_in(&arrived) {
            true => Repetition::Spurious,
            false => Repetition::Needed,
        });
        records.add_to(&mut sent);
        if has_arrived {
            records.add_to(&mut arrived);
        }
        (key, repetition)
    })
}

/// Classifies the packets with which an end opens a connection of DCCP, and whether they arrived: all but the first are sent again
/// (RFC 4340 sections 8.1.1 and 8.1.3).
pub(super) fn classify_openings<K>(
    packets: impl Iterator<Item = (K, bool)>,
) -> impl Iterator<Item = (K, Option<Repetition>)> {
    let mut has_one_arrived = None;
    packets.map(move |(key, has_arrived)| {
        let repetition = has_one_arrived.map(|has_one_arrived| match has_one_arrived {
            true => Repetition::Spurious,
            false => Repetition::Needed,
        });
        has_one_arrived = Some(has_one_arrived.unwrap_or(false) || has_arrived);
        (key, repetition)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    /// A plaintext handshake record with one whole message, written after RFC 6347 sections 4.1 and 4.2.2.
    fn message(kind: u8, sequence: u8, record: u8) -> Vec<u8> {
        let mut octets = vec![22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, record, 0, 14];
        octets.extend([kind, 0, 0, 2, 0, sequence, 0, 0, 0, 0, 0, 2, 0xaa, 0xbb]);
        octets
    }

    /// A plaintext handshake record with a fragment of a Certificate of 100 octets.
    fn certificate(range: Range<u8>, record: u8) -> Vec<u8> {
        let length = range.end - range.start;
        let mut octets = vec![22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, record, 0, 12 + length];
        octets.extend([11, 0, 0, 100, 0, 2, 0, 0, range.start, 0, 0, length]);
        octets.extend(range);
        octets
    }

    /// A protected record of 40 octets.
    fn protected(content_type: u8, record: u8) -> Vec<u8> {
        let mut octets = vec![content_type, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, record, 0, 40];
        octets.extend([record; 40]);
        octets
    }

    /// An encrypted Finished.
    fn finished(record: u8) -> Vec<u8> {
        protected(22, record)
    }

    fn change_cipher_spec(record: u8) -> Vec<u8> {
        vec![20, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, record, 0, 1, 1]
    }

    const CONNECTION_ID: [u8; 2] = [0xc1, 0xd2];

    /// A protected record of 40 octets with a connection ID (RFC 9146 section 4).
    fn with_connection_id(record: u8) -> Vec<u8> {
        let mut octets = vec![25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, record];
        octets.extend(CONNECTION_ID);
        octets.extend([0, 40]);
        octets.extend([record; 40]);
        octets
    }

    const ARRIVED: bool = true;
    const LOST: bool = false;

    fn count(sent: &[(Vec<u8>, bool)]) -> (u64, u64) {
        let sent: Vec<_> = sent.iter().map(|(octets, arrived)| (octets.clone(), Phase::Handshake, *arrived)).collect();
        count_in(&sent)
    }

    /// Counts as `count`, for datagrams of these phases.
    fn count_in(sent: &[(Vec<u8>, Phase, bool)]) -> (u64, u64) {
        let reader = Reader::Datagrams { connection_id_length: CONNECTION_ID.len() as u8 };
        let read =
            |(octets, phase, arrived): &(Vec<u8>, Phase, bool)| (reader.read(&octets[..].into(), *phase), *arrived);
        let datagrams: Vec<(Records, bool)> = sent.iter().map(read).collect();
        let counts: Retransmissions = classify(datagrams.iter().map(|(records, arrived)| ((), (records, *arrived))))
            .filter_map(|found| found.1)
            .collect();
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

    #[test]
    fn a_message_cut_otherwise_is_a_retransmission() {
        let halves = |arrived: [bool; 2]| [(certificate(0..50, 0), arrived[0]), (certificate(50..100, 1), arrived[1])];
        let thirds =
            [(certificate(0..30, 2), ARRIVED), (certificate(30..60, 3), ARRIVED), (certificate(60..100, 4), ARRIVED)];
        let count_both = |arrived| count(&[&halves(arrived)[..], &thirds].concat());
        assert_eq!(count_both([ARRIVED, ARRIVED]), (0, 3));
        assert_eq!(count_both([ARRIVED, LOST]), (2, 1), "the second third has octets of both halves");
        assert_eq!(count_both([LOST, LOST]), (3, 0));
        assert_eq!(count(&thirds[..2]), (0, 0), "all of it is new");
        assert_eq!(count(&[halves([ARRIVED, ARRIVED])[0].clone(), thirds[1].clone()]), (0, 0), "half of it is new");
    }

    #[test]
    fn alerts_and_application_data_are_new() {
        for content_type in [21, 23] {
            let new = |record| (protected(content_type, record), ARRIVED);
            assert_eq!(count(&[new(1), new(2)]), (0, 0), "content type {content_type}");
            let behind_finished = [finished(0), protected(content_type, 1)].concat();
            let datagrams = [(behind_finished, ARRIVED), (finished(2), ARRIVED), (finished(3), ARRIVED)];
            assert_eq!(count(&datagrams), (0, 2));
            let before = [finished(4), protected(content_type, 5)].concat();
            assert_eq!(count(&[&datagrams[..], &[(before, ARRIVED)]].concat()), (0, 2), "half of it is new");
        }
    }

    /// A datagram of DTLS 1.3 with one protected record of 24 octets (RFC 9147 section 4), and what its sender says is in it.
    fn dtls13(contents: &[Vec<u8>], record: u8) -> Payload {
        let octets = [&[0b0010_1110, 0, record, 0, 24][..], &[record; 24]].concat();
        Payload { octets, contents: contents.concat() }
    }

    #[test]
    fn of_the_records_of_dtls13_the_contents_count() {
        let ack = || vec![26, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0];
        let (first, second) = (certificate(0..50, 0), certificate(50..100, 0));
        let count = |datagrams: &[(&[Vec<u8>], bool)]| {
            let reader = Reader::Datagrams { connection_id_length: 0 };
            let read = datagrams.iter().zip(0..);
            let read =
                read.map(|((contents, arrived), n)| (reader.read(&dtls13(contents, n), Phase::Handshake), *arrived));
            let datagrams: Vec<(Records, bool)> = read.collect();
            let found = classify(datagrams.iter().map(|(records, arrived)| ((), (records, *arrived))));
            found.map(|(_, repetition)| repetition).collect::<Vec<_>>()
        };
        let (needed, spurious) = (Some(Repetition::Needed), Some(Repetition::Spurious));
        let (one, two) = (&[first.clone()][..], &[second.clone()][..]);
        assert_eq!(count(&[(one, ARRIVED), (two, LOST), (two, ARRIVED)]), [None, None, needed], "a part of a flight");
        assert_eq!(count(&[(one, ARRIVED), (one, ARRIVED)]), [None, spurious]);
        let acknowledgements = &[ack()][..];
        assert_eq!(count(&[(acknowledgements, LOST), (acknowledgements, ARRIVED)]), [None, None]);
        let beside = &[ack(), first.clone()][..];
        assert_eq!(count(&[(one, LOST), (beside, ARRIVED)]), [None, needed], "the acknowledgement is not new data");
        let data = &[vec![23, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7]][..];
        assert_eq!(count(&[(data, LOST), (data, ARRIVED)]), [None, None]);
        assert_eq!(count(&[(&[], LOST), (&[], ARRIVED)]), [None, None], "the sender says nothing");
    }

    /// Finished may be cut, and then the second fragment is alone in its datagram.
    #[test]
    fn of_the_records_with_a_connection_id_those_of_the_handshake_are_finished() {
        let flight = |record| [change_cipher_spec(record), with_connection_id(record)].concat();
        let apart = |record| [(change_cipher_spec(record), ARRIVED), (with_connection_id(record), LOST)];
        assert_eq!(count(&[(flight(0), LOST), (flight(1), ARRIVED), (flight(2), ARRIVED)]), (1, 1));
        assert_eq!(count(&[apart(0), apart(1), apart(2)].concat()), (2, 2));
        let handshake = |record| (flight(record), Phase::Handshake, ARRIVED);
        let data = |record| (with_connection_id(record), Phase::Data, ARRIVED);
        assert_eq!(count_in(&[handshake(0), data(1), data(2)]), (0, 0), "application data of that length");
        assert_eq!(count_in(&[handshake(0), data(1), handshake(2), data(3)]), (0, 1));
    }

    #[test]
    fn what_cannot_be_read_is_new() {
        let damaged = |record| [message(1, 0, record), vec![22, 0xfe]].concat();
        let outside = |record: u8| {
            let mut octets = message(1, 0, record);
            octets[13 + 8] = 1; // fragment_offset
            octets
        };
        assert_eq!(count(&[(damaged(0), ARRIVED), (damaged(1), ARRIVED)]), (0, 0));
        assert_eq!(count(&[(outside(0), ARRIVED), (outside(1), ARRIVED)]), (0, 0));
        assert_eq!(count(&[(vec![], ARRIVED), (vec![], ARRIVED)]), (0, 0));
    }
}
