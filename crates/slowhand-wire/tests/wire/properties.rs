//! Octets of any kind, and damaged datagrams of a real handshake: nothing panics, and nothing is read twice.

use proptest::prelude::*;
use slowhand_testing::recordings;
use slowhand_wire::{Coverage, dtls, dtls13, flight, tls};

/// Reads all that there is to read; returns the octets of the records that were read.
fn read_dtls(octets: &[u8], connection_id_length: Option<u8>) -> usize {
    let mut read = 0;
    let mut coverage = Coverage::default();
    for record in dtls::records(octets, connection_id_length).flatten() {
        let header = if (28..32).contains(&octets[read]) { 3 } else { dtls::RECORD_HEADER };
        read += header + record.connection_id.len() + record.fragment.len();
        let fragments = record.fragments().flatten();
        let inside: usize = fragments.map(|fragment| dtls::HANDSHAKE_HEADER + fragment.body.len()).sum();
        assert!(inside <= record.fragment.len());
        for part in flight::parts(&record).flatten() {
            coverage.insert(&part);
            assert!(coverage.covers(&part) && part.overlaps(&part));
        }
    }
    read
}

/// Reads records of every version, as above.
fn read_dtls13(octets: &[u8], connection_id_length: Option<u8>) -> usize {
    let mut records = dtls13::records(octets, connection_id_length);
    while let Some(record) = records.next() {
        let read = octets.len() - records.rest().len();
        if let Ok(dtls13::Record::Unified(record)) = record {
            let inside = record.connection_id.len() + record.sequence_number.len() + record.fragment.len();
            assert!(inside < read && record.epoch_bits < 4);
        }
    }
    octets.len() - records.rest().len()
}

fn read_tls(octets: &[u8]) -> usize {
    tls::records(octets)
        .flatten()
        .map(|record| {
            let messages = tls::messages(record.fragment).flatten();
            let inside: usize = messages.map(|message| tls::HANDSHAKE_HEADER + message.body.len()).sum();
            assert!(inside <= record.fragment.len());
            tls::RECORD_HEADER + record.fragment.len()
        })
        .sum()
}

proptest! {
    #[test]
    fn octets_of_any_kind(octets: Vec<u8>, connection_id_length: Option<u8>) {
        prop_assert!(read_dtls(&octets, connection_id_length) <= octets.len());
        prop_assert!(read_dtls13(&octets, connection_id_length) >= read_dtls(&octets, connection_id_length));
        let _ = tls::chosen_version(&octets);
        prop_assert!(read_tls(&octets) <= octets.len());
    }

    /// The version is valid, so that the parser gets beyond it.
    #[test]
    fn octets_of_any_kind_behind_the_version(content_type in 20..27_u8, rest: Vec<u8>, connection_id_length: Option<u8>) {
        let datagram = [&[content_type, 0xfe, 0xfd], &rest[..]].concat();
        prop_assert!(read_dtls(&datagram, connection_id_length) <= datagram.len());
        prop_assert!(read_dtls13(&datagram, connection_id_length) <= datagram.len());
        let unified = [&[0b10_0000 | content_type], &rest[..]].concat();
        prop_assert!(read_dtls13(&unified, connection_id_length) <= unified.len());
        let stream = [&[content_type, 3, 3], &rest[..]].concat();
        prop_assert!(read_tls(&stream) <= stream.len());
    }

    #[test]
    fn damaged_datagrams(
        which: prop::sample::Index,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut: prop::sample::Index,
    ) {
        let mut datagram = which.get(&recordings::datagrams(recordings::OPENSSL)).octets.clone();
        for (at, octet) in damage {
            let length = datagram.len();
            datagram[at.index(length)] = octet;
        }
        datagram.truncate(cut.index(datagram.len() + 1));
        prop_assert!(read_dtls(&datagram, Some(0)) <= datagram.len());
    }
}
