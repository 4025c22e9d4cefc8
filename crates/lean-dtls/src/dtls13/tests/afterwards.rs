//! After the handshake.

use super::*;
use crate::dtls13::record::MOST_RECORDS;
use crate::dtls13::schedule::Secret;

fn with_ids<K: Credentials>(keys: K) -> Config<K> {
    config(keys).with_connection_id(3).unwrap()
}

/// RFC 8446, sections 4.6 and 6; RFC 9147, sections 8 and 9.
#[test]
fn each_message_that_the_peer_must_not_send_has_its_alert() {
    const UNEXPECTED: Option<u8> = Some(10);
    const ILLEGAL: Option<u8> = Some(47);
    const MALFORMED: Option<u8> = Some(50);
    let new_id = [0, 4, 3, 8, 8, 8];
    for (is_from_client, has_ids, kind, body, expected) in [
        (true, false, Kind::KeyUpdate, &[0][..], None),
        (true, false, Kind::KeyUpdate, &[2], ILLEGAL),
        (true, false, Kind::KeyUpdate, &[], ILLEGAL),
        (false, false, Kind::KeyUpdate, &[0, 0], ILLEGAL),
        (false, false, Kind::NewSessionTicket, &[7; 30], None),
        (true, false, Kind::NewSessionTicket, &[7; 30], UNEXPECTED),
        (true, false, Kind::ClientHello, &[7; 60], UNEXPECTED),
        (false, false, Kind::ServerHello, &[7; 60], UNEXPECTED),
        (false, false, Kind::EncryptedExtensions, &[0, 0], UNEXPECTED),
        (true, false, Kind::Finished, &[7; 32], UNEXPECTED),
        (true, true, Kind::RequestConnectionId, &[1], None),
        (true, true, Kind::RequestConnectionId, &[], UNEXPECTED),
        (true, false, Kind::RequestConnectionId, &[1], UNEXPECTED),
        (true, true, Kind::NewConnectionId, &[&new_id[..], &[0]].concat(), None),
        (true, true, Kind::NewConnectionId, &[&new_id[..], &[1]].concat(), None),
        (true, true, Kind::NewConnectionId, &[&new_id[..], &[2]].concat(), MALFORMED),
        (true, true, Kind::NewConnectionId, &[&new_id[..], &[0, 0]].concat(), MALFORMED),
        (true, true, Kind::NewConnectionId, &[0, 0, 0], MALFORMED),
        (true, true, Kind::NewConnectionId, &[&[0, 10, 9][..], &[8; 9], &[0]].concat(), MALFORMED),
        (true, false, Kind::NewConnectionId, &[&new_id[..], &[0]].concat(), UNEXPECTED),
    ] {
        let config = || if has_ids { with_ids(KEYS) } else { config(KEYS) };
        let (mut client, mut server) = established(config(), config());
        let (from, to) = if is_from_client { (&mut client, &mut server) } else { (&mut server, &mut client) };
        let datagram = from.message(3, kind, body);
        to.receive(&datagram);
        assert_eq!(to.refused(), expected, "{kind:?} {body:?}");
        assert_eq!(to.connection.status == Status::Established, expected.is_none(), "{kind:?} {body:?}");
    }
}

/// RFC 9147, section 9: an ID for immediate use is used from now on, a spare one is not. The answer to a request is that there are
/// no spare ones.
#[test]
fn connection_ids_can_be_changed_and_asked_for() {
    for (usage, expected) in [(0, [8; 3]), (1, OWN_ID)] {
        let (mut client, mut server) = established(with_ids(KEYS), with_ids(KEYS));
        let datagram = server.message(3, Kind::NewConnectionId, &[0, 4, 3, 8, 8, 8, usage]);
        client.receive(&datagram);
        assert_eq!(client.connection.sender.outbound.connection_id.octets(), expected);
        let sent = client.record(3, ContentType::ApplicationData, b"22.5 C");
        assert_eq!((sent[0] & 0x10, &sent[1..4]), (0x10, &expected[..]));
    }
    let (mut client, mut server) = established(with_ids(KEYS), with_ids(KEYS));
    let datagram = client.message(3, Kind::RequestConnectionId, &[1]);
    server.receive(&datagram);
    assert_eq!(server.connection.sender.flight.first().unwrap(), (Kind::NewConnectionId, &mut [0, 0, 1][..]));
    for datagram in server.transmit(MTU) {
        client.receive(&datagram);
    }
    assert_eq!(client.connection.status, Status::Established);
    assert_eq!(client.connection.sender.outbound.connection_id.octets(), OWN_ID);
}

/// Only what is encrypted with the latest key is the peer's next message (RFC 9147, section 8).
#[test]
fn a_message_of_another_epoch_is_none() {
    let (mut client, mut server) = established(config(KEYS), config(KEYS));
    let in_clear = server.message(0, Kind::KeyUpdate, &[0]);
    let epoch = client.connection.inbound.epoch();
    client.receive(&in_clear);
    assert_eq!((client.connection.status, client.connection.inbound.epoch()), (Status::Established, epoch));

    // The server changes its key, and goes on with the old one.
    let (mut client, mut server) = established(config(KEYS), config(KEYS));
    for expected in [None, Some(10)] {
        let datagram = server.message(3, Kind::KeyUpdate, &[0]);
        client.receive(&datagram);
        assert_eq!(client.refused(), expected);
    }
}

/// Whoever asks for a KeyUpdate gets one, whoever does not gets none, and what is asked for twice is sent once.
#[test]
fn a_key_update_is_answered_once_if_it_asks() {
    for (request, expected) in [(0, None), (1, Some(Kind::KeyUpdate))] {
        let (mut client, mut server) = established(config(KEYS), config(KEYS));
        let datagram = client.message(3, Kind::KeyUpdate, &[request]);
        server.receive(&datagram);
        assert_eq!(server.connection.sender.flight.first().map(|(kind, _)| kind), expected);
    }
}

/// A request of this end is not forgotten when the peer asks for the same.
#[test]
fn a_key_update_that_waits_still_asks() {
    let (mut client, mut server) = established(config(KEYS), config(KEYS));
    exchange(&mut client, &mut server);
    // The second one waits for the acknowledgement of the first.
    server.connection.update_keys(true);
    server.connection.update_keys(true);
    let asking = client.message(3, Kind::KeyUpdate, &[1]);
    server.receive(&asking);
    server.transmit(MTU).iter().for_each(|datagram| drop(client.receive(datagram)));
    client.transmit(MTU).iter().for_each(|datagram| drop(server.receive(datagram)));
    assert_eq!(server.connection.sender.flight.first().unwrap(), (Kind::KeyUpdate, &mut [1][..]));
}

/// A record with another connection ID, or without one, is another end's: it is not counted as a forgery.
#[test]
fn a_record_for_another_end_is_no_forgery() {
    let (mut client, mut server) = established(with_ids(KEYS), with_ids(KEYS));
    let record = client.record(3, ContentType::ApplicationData, b"22.5 C");
    let mut other = record.clone();
    other[1] ^= 1;
    let mut without = record.clone();
    without[0] ^= 0x10;
    without.drain(1..4);
    for datagram in [other, without] {
        assert_eq!(server.receive(&datagram), []);
        assert_eq!(server.connection.inbound.forgeries(), 0);
    }
    assert_eq!(server.receive(&record), b"22.5 C");
}

/// An epoch has no number after 65,535: a later one would be taken for epoch 0, which is in clear.
#[test]
fn epochs_do_not_begin_again() {
    let keys = |secret: &Secret| secret.keys(&mut crypto(true));
    let secret = Secret::early(&mut crypto(true), Some(b"both ends"));
    for asks in [false, true] {
        let (mut client, mut server) = established(config(KEYS), config(KEYS));
        let last = u16::MAX;
        for end in [&mut client, &mut server] {
            end.connection.sender.outbound.protect(last, keys(&secret));
            end.connection.inbound.protect(last, keys(&secret));
        }
        if asks {
            // Its own: it ends, and says nothing in clear.
            client.connection.update_keys(false);
            for datagram in client.transmit(MTU) {
                assert_eq!(datagram[0] & 0xe0, 0x20, "encrypted");
            }
            let acknowledgement = server.record(
                last,
                ContentType::Acknowledgement,
                &[&[0, 16, 0, 0, 0, 0, 0, 0][..], &[0xff; 2], &[0; 8]].concat(),
            );
            client.receive(&acknowledgement);
            assert_eq!(client.refused(), Some(10));
        } else {
            let datagram = server.message(last, Kind::KeyUpdate, &[0]);
            client.receive(&datagram);
            assert_eq!(client.refused(), Some(10));
        }
    }
}

/// RFC 9147, section 4.5.3: half of the records that a key may encrypt are left for the time until the peer knows.
#[test]
fn after_half_of_its_records_a_key_is_changed() {
    let (mut client, _) = established(config(KEYS), config(KEYS));
    client.transmit(MTU);
    client.connection.sender.outbound.skip_to(MOST_RECORDS / 2 - 2);
    for expected in [None, Some(Kind::KeyUpdate)] {
        client.connection.sender.flight.clear();
        client.connection.send(&mut client.crypto, b"22.5 C", &mut [0; 100]).unwrap();
        assert_eq!(client.connection.sender.flight.first().map(|(kind, _)| kind), expected);
    }
}
