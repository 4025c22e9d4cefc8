//! Between the ServerHello and the last Finished.

use super::*;

/// The server's message 1 and what follows: the alert of the client.
#[test]
fn each_message_that_the_server_must_not_send_has_its_alert() {
    for (messages, expected) in [
        // An extension that nobody knows; one that was not offered: client_certificate_type, cookie.
        (&[(Kind::EncryptedExtensions, &[0, 4, 0x99, 0x99, 0, 0][..])][..], Some(110)),
        (&[(Kind::EncryptedExtensions, &[0, 5, 0, 19, 0, 1, 2])], Some(110)),
        (&[(Kind::EncryptedExtensions, &[0, 4, 0, 44, 0, 0])], Some(110)),
        // A server may say which groups it has.
        (&[(Kind::EncryptedExtensions, &[0, 8, 0, 10, 0, 4, 0, 2, 0, 23])], None),
        // Malformed, and twice the same.
        (&[(Kind::EncryptedExtensions, &[0, 1])], Some(50)),
        (&[(Kind::EncryptedExtensions, &[0, 8, 0, 10, 0, 0, 0, 10, 0, 0])], Some(50)),
        // Out of turn.
        (&[(Kind::Finished, &[7; 32])], Some(10)),
        (&[(Kind::ServerHello, &[7; 60])], Some(10)),
        // A wrong Finished, and none at all.
        (&[(Kind::EncryptedExtensions, &[0, 0]), (Kind::Finished, &[7; 32])], Some(51)),
        (&[(Kind::EncryptedExtensions, &[0, 0]), (Kind::Finished, &[])], Some(51)),
        (&[(Kind::EncryptedExtensions, &[0, 0]), (Kind::KeyUpdate, &[0])], Some(10)),
    ] {
        let (mut client, mut server) = after_server_hello(config(KEYS), config(KEYS));
        for (kind, body) in messages {
            assert_eq!(client.refused(), None);
            let datagram = server.message(2, *kind, body);
            client.receive(&datagram);
        }
        assert_eq!(client.refused(), expected, "{messages:?}");
    }
}

/// A Finished is the only message that ends a handshake, also if another one has the right octets.
#[test]
fn the_octets_of_a_finished_in_another_message_end_nothing() {
    let (mut client, mut server) = after_server_hello(config(KEYS), config(KEYS));
    server.connection.sender.transcript = client.connection.sender.transcript.clone();
    let datagram = server.message(2, Kind::EncryptedExtensions, &[0, 0]);
    client.receive(&datagram);
    server.connection.begin_flight();
    server.connection.finish(&mut server.crypto).unwrap();
    let verify_data = server.connection.sender.flight.first().unwrap().1.to_vec();
    server.connection.sender.next -= 1;
    let other = server.message(2, Kind::KeyUpdate, &verify_data);
    client.receive(&other);
    assert_eq!(client.refused(), Some(10));
}

#[test]
fn a_wrong_finished_of_the_client_is_refused() {
    let (mut client, hello) = End::client(config(KEYS));
    let mut server = End::server(config(KEYS), &hello);
    for datagram in server.transmit(MTU) {
        client.receive(&datagram);
    }
    client.transmit(MTU);
    client.connection.sender.next -= 1;
    let datagram = client.message(2, Kind::Finished, &[7; 32]);
    server.receive(&datagram);
    assert_eq!(server.refused(), Some(51));
}

/// After the ServerHello everything is encrypted. What somebody has sent in clear before it is forgotten, and what comes later is not
/// heard.
#[test]
fn messages_in_clear_are_not_those_of_the_server() {
    let forged = in_clear(Kind::EncryptedExtensions, 1, &[0, 4, 0x99, 0x99, 0, 0]);
    for is_before in [true, false] {
        let (mut client, hello) = End::client(config(KEYS));
        let mut server = End::server(config(KEYS), &hello);
        if is_before {
            client.receive(&forged);
        }
        let server_hello = server.connection.sender.flight.first().unwrap().1.to_vec();
        client.receive(&in_clear(Kind::ServerHello, 0, &server_hello));
        if !is_before {
            client.receive(&forged);
        }
        assert_eq!(
            (client.connection.status, client.connection.expects),
            (Status::Handshaking, Expects::EncryptedExtensions)
        );
        exchange(&mut client, &mut server);
        assert_eq!(client.connection.status, Status::Established);
    }
}

/// Data belong into an epoch whose keys both ends have confirmed; a close in the handshake is a failure.
#[test]
fn data_and_a_close_before_the_finished_are_none() {
    let (mut client, mut server) = after_server_hello(config(KEYS), config(KEYS));
    let data = server.record(2, ContentType::ApplicationData, b"22.5 C");
    assert_eq!(client.receive(&data), []);
    assert_eq!(client.connection.status, Status::Handshaking);
    let close = server.record(2, ContentType::Alert, &[1, 0]);
    client.receive(&close);
    assert_eq!(client.connection.status, Status::Failed(Failure::AlertReceived(0)));
}

/// RFC 9147, section 7: an acknowledgement of records with later keys than its own is illegal. In clear it can be anybody's.
#[test]
fn an_acknowledgement_of_a_later_epoch_is_illegal() {
    let number = |epoch: u8| [0, 16, 0, 0, 0, 0, 0, 0, 0, epoch, 0, 0, 0, 0, 0, 0, 0, 0];
    for (epoch, named, expected) in [(2, 3, Some(47)), (2, 2, None), (0, 2, None)] {
        let (mut client, mut server) = after_server_hello(config(KEYS), config(KEYS));
        let datagram = server.record(epoch, ContentType::Acknowledgement, &number(named));
        client.receive(&datagram);
        assert_eq!(client.refused(), expected, "{epoch} {named}");
    }
}

/// A client that offers both versions offers what belongs to DTLS 1.2 too. A server of DTLS 1.3 may answer some of it in its
/// EncryptedExtensions: the limit of records, to which the client then keeps, and heartbeats, which it does not send.
#[cfg(all(feature = "record-limits", feature = "heartbeat"))]
#[test]
fn what_was_offered_for_both_versions_may_be_answered() {
    use crate::config::MaxFragmentLength;

    let both = || config(KEYS).with_versions(Versions::Both);
    let limited = || both().with_record_size_limit(200).unwrap().with_heartbeats();
    let shorter = || both().with_max_fragment_length(MaxFragmentLength::Octets512);
    // record_size_limit (28) of 64 octets, one of which is the type; max_fragment_length (1) of 512; heartbeat (15).
    for (own, extensions, expected) in [
        (limited(), &[0, 6, 0, 28, 0, 2, 0, 64][..], Ok(63)),
        (limited(), &[0, 5, 0, 15, 0, 1, 1], Ok((1 << 14) - 1)),
        (limited(), &[0, 6, 0, 28, 0, 2, 0, 63], Err(47)),
        (limited(), &[0, 5, 0, 1, 0, 1, 1], Err(110)),
        (shorter(), &[0, 5, 0, 1, 0, 1, 1], Ok(511)),
        (shorter(), &[0, 5, 0, 1, 0, 1, 2], Err(47)),
        (shorter(), &[0, 6, 0, 28, 0, 2, 0, 64], Err(110)),
        (config(KEYS).with_record_size_limit(200).unwrap(), &[0, 6, 0, 28, 0, 2, 0, 64], Err(110)),
    ] {
        let (mut client, mut server) = after_server_hello(own, both());
        let datagram = server.message(2, Kind::EncryptedExtensions, extensions);
        client.receive(&datagram);
        match expected {
            Ok(limit) => assert_eq!((client.refused(), client.connection.max_data(usize::MAX)), (None, limit)),
            Err(alert) => assert_eq!(client.refused(), Some(alert), "{extensions:?}"),
        }
    }
}
