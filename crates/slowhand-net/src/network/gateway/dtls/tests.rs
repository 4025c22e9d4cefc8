//! Tests with a recorded handshake of OpenSSL with itself, and with random octets.

use super::*;
use proptest::prelude::*;
use slowhand_testing::recordings;
use slowhand_wire::MessageId;
use slowhand_wire::flight::RecordId;

/// The datagrams of a recorded handshake: true if it goes towards the client, and its octets.
pub(in super::super) fn recorded() -> Vec<(bool, Vec<u8>)> {
    let datagrams = recordings::datagrams(recordings::OPENSSL).into_iter();
    datagrams.map(|datagram| (!datagram.by_client, datagram.octets)).collect()
}

fn parts(datagram: &[u8]) -> Vec<FlightPart> {
    let mut parts = Vec::new();
    assert!(matches!(parse(datagram, &mut parts), Some(Content::Handshake { .. })));
    parts
}

fn whole(message_type: u8, message_seq: u16, length: u32) -> FlightPart {
    let message = MessageId { message_type: message_type.into(), message_seq, length };
    FlightPart::Fragment { message, start: 0, end: length }
}

fn record(content_type: u8, epoch: u16, length: u16) -> FlightPart {
    FlightPart::Record(RecordId { content_type: content_type.into(), epoch, length })
}

/// The reader finds what tshark lists for these datagrams.
#[test]
fn the_flights_of_a_recorded_handshake_are_read() {
    let seen: Vec<Vec<FlightPart>> = recorded().iter().map(|(_, datagram)| parts(datagram)).collect();
    let server_hello = [whole(2, 1, 61), whole(11, 2, 391), whole(12, 3, 110), whole(14, 4, 0)];
    let expected: Vec<Vec<FlightPart>> = vec![
        vec![whole(1, 0, 134)],
        vec![whole(3, 0, 23)],
        vec![whole(1, 1, 154)],
        server_hello.to_vec(),
        vec![whole(16, 2, 33), record(20, 0, 1), record(22, 1, 40)],
        vec![whole(16, 2, 33)],
        vec![server_hello[0]],
        vec![record(20, 0, 1)],
        vec![server_hello[1]],
        vec![record(22, 1, 40)],
        vec![server_hello[2]],
        vec![server_hello[3]],
        vec![whole(4, 5, 182), record(20, 0, 1), record(22, 1, 40)],
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_client_hello_is_known_by_its_content() {
    let hello = |datagram: &[u8]| match parse(datagram, &mut Vec::new()) {
        Some(Content::Handshake { hello }) => hello,
        content => panic!("{content:?}"),
    };
    let recorded = recorded();
    let first = &recorded[0].1;
    let mut again = first.clone();
    again[10] += 1; // the record's sequence number
    assert_eq!(hello(first), hello(&again));
    again[40] ^= 1; // a bit of the random
    assert_ne!(hello(first), hello(&again));
    assert_eq!(recorded[1..].iter().find_map(|(_, datagram)| hello(datagram)), None, "the second one opens nothing");
}

#[test]
fn what_is_not_a_handshake_is_not_taken_for_one() {
    let flight = &recorded()[3].1;
    let content = |datagram: &[u8]| parse(datagram, &mut Vec::new());
    let with = |at: usize, octet: u8| {
        let mut datagram = flight.clone();
        datagram[at] = octet;
        content(&datagram)
    };
    for (kind, expected) in [(21, Some(Content::Other)), (23, Some(Content::Other)), (26, None), (0x2c, None)] {
        assert_eq!(with(0, kind), expected, "content type {kind}");
    }
    assert_eq!(with(0, 25), Some(Content::Other), "a connection ID, of whatever length, and nothing before it");
    assert_eq!(with(1, 3), None, "TLS over something else");
    assert_eq!(with(12, 74), None, "a record longer than its messages");
    assert_eq!(with(24, 62), None, "a fragment longer than its message");
    assert_eq!(content(&flight[..flight.len() - 1]), None, "cut off");
    assert_eq!(content(b""), None);
    // A message of CoAP (RFC 7252 figure 12, without a payload).
    assert_eq!(content(&[0x40, 0x01, 0x7d, 0x34, 0xbb]), None);
}

proptest! {
    #[test]
    fn octets_of_any_kind_are_read_without_a_panic(datagram: Vec<u8>) {
        parse(&datagram, &mut Vec::new());
    }
}
