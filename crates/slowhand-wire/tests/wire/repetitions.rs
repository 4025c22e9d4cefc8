//! The datagrams of a real handshake that repeat others.

use slowhand_testing::recordings::{self, Datagram};
use slowhand_wire::{Coverage, FlightPart, dtls, flight};

/// RFC 6347 section 4.2.4: a repeated flight has the same messages, in any fragments. OpenSSL's server sends flight 4
/// twice.
#[test]
fn what_openssl_sends_again_was_sent_before() {
    let datagrams = recordings::datagrams(recordings::OPENSSL_FRAGMENTS);
    let by_server: Vec<_> = datagrams.iter().filter(|datagram| !datagram.by_client).collect();
    let parts = |datagram: &Datagram| -> Vec<FlightPart> {
        let records = dtls::records(&datagram.octets, None).map(Result::unwrap);
        records.flat_map(|record| flight::parts(&record)).map(Result::unwrap).collect()
    };
    let mut coverage = Coverage::default();
    let is_repetition: Vec<bool> = by_server
        .iter()
        .map(|datagram| {
            let parts = parts(datagram);
            let is_repetition = parts.iter().all(|part| coverage.covers(part));
            parts.iter().for_each(|part| coverage.insert(part));
            is_repetition
        })
        .collect();
    // By hand from the recording: HelloVerifyRequest; flight 4 in four datagrams, with fragments of the Certificate from 0,
    // 117 and 320, and of the ServerKeyExchange from 0 and 109; flight 4 again in five, with fragments of the Certificate from
    // 0 and 203; NewSessionTicket; ChangeCipherSpec and Finished.
    let expected = [&[false; 5][..], &[true; 5], &[false; 2]].concat();
    assert_eq!(is_repetition, expected);
}
