//! Nothing that is forged, replayed, downgraded or too early is accepted, and nothing that arrives ends the process.

use lean_dtls::{Admission, Client, Failure, Instant, Psk, RustCrypto, Status, Versions};
use proptest::prelude::*;

use super::world::{
    KEYS, PEER, TestClient, TestServer, client, config, established, from_client, from_server, random, run, server,
    to_client, to_server,
};
use crate::assault::{attack, attacks, repeat_records};
use crate::network::At as _;
use crate::network::{ack_in_clear, in_clear};

const NOW: Instant = Instant::from_millis(0);

/// A record in clear that says it is of an epoch.
fn in_clear_of(epoch: u8, content_type: u8, number: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16).to_be_bytes();
    [&[content_type, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, number], &length[..], content].concat()
}

/// True if a datagram is a HelloRetryRequest: its random number says so (RFC 8446, section 4.1.3).
fn is_retry(datagram: &[u8]) -> bool {
    datagram.get(13 + 12 + 2..).is_some_and(|random| random.starts_with(&[0xcf, 0x21, 0xad, 0x74]))
}

/// A client and a server after so many exchanges, of which the attacker changes the client's datagrams.
fn after(rounds: usize, mut change: impl FnMut(&mut Vec<u8>)) -> (TestClient, TestServer) {
    let (mut client, mut server) = (client(1, config(KEYS, 256)), server(config(KEYS, 256)));
    client.connect();
    for _ in 0..rounds {
        for mut datagram in from_client(&mut client, NOW) {
            change(&mut datagram);
            server.hear(PEER, &mut datagram, |_| panic!("delivered"));
        }
        for mut datagram in from_server(&mut server, NOW) {
            client.receive(&mut datagram, |_| panic!("delivered"));
        }
    }
    (client, server)
}

#[test]
fn a_server_keeps_nothing_of_a_client_whose_cookie_has_not_returned() {
    let mut server = server(config(KEYS, 256));
    for peer in 0..=255 {
        let mut flooding = client(u64::from(peer) + 1, config(KEYS, 256));
        flooding.connect();
        for mut datagram in from_client(&mut flooding, NOW) {
            server.hear([1, peer], &mut datagram, |_| {});
            let answers = from_server(&mut server, NOW);
            assert_eq!(answers.len(), 1);
            assert!(answers[0].len() < datagram.len(), "nothing is amplified");
        }
        assert_eq!((server.status_at([1, peer]), server.deadline()), (None, None));
    }
}

#[test]
fn a_cookie_is_good_for_one_address_and_one_random_number() {
    let (mut honest, mut server) = after(1, |_| {});
    let with_cookie = from_client(&mut honest, NOW).remove(0);
    // The extension cookie has the number 44, a length of 43, and a vector of 41: group, digest, MAC.
    let cookie = with_cookie.windows(6).position(|octets| octets == [0, 44, 0, 43, 0, 41]).unwrap() + 6;
    // From another address; with another random number; with other groups, digest and MAC. Group 23 is P-256.
    for (peer, place, change) in [
        ([7, 7], 0, 0),
        (PEER, 13 + 12 + 2, 1),
        (PEER, cookie, 1),
        (PEER, cookie, 23),
        (PEER, cookie + 1, 1),
        (PEER, cookie + 40, 1),
    ] {
        let mut datagram = with_cookie.clone();
        datagram[place] ^= change;
        server.hear(peer, &mut datagram, |_| {});
        assert_eq!(server.status_at(peer), None, "{peer:?} {place}");
        // A fatal illegal_parameter (47).
        assert!(from_server(&mut server, NOW)[0].ends_with(&[2, 47]), "{peer:?} {place}");
    }
    server.hear(PEER, &mut with_cookie.clone(), |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Handshaking));
}

/// Without cookies anybody can say to be anywhere. Nobody loses a slot to such a client: neither the one that has its address, nor the
/// one that would be next by the policy.
#[test]
fn a_client_without_a_cookie_takes_no_slot_of_another() {
    let policy = config(KEYS, 256).without_cookie().with_admission(Admission::EvictOldest);
    let mut server = server(policy);
    let mut established = client(1, config(KEYS, 256));
    run(&mut established, &mut server, []);
    // The first has the address of the client above; the second takes the second slot; the third finds none.
    for (seed, peer, expected) in [(2, PEER, None), (3, [7, 7], Some(Status::Handshaking)), (4, [8, 8], None)] {
        let mut other = client(seed, config(KEYS, 256));
        other.connect();
        for mut datagram in from_client(&mut other, NOW) {
            server.hear(peer, &mut datagram, |_| {});
        }
        assert_eq!(server.status_at(PEER), Some(Status::Established), "{peer:?}");
        assert_eq!(server.status_at(peer).filter(|_| peer != PEER), expected, "{peer:?}");
        // Who gets no slot is asked for a cookie.
        let answer = from_server(&mut server, NOW).remove(0);
        assert_eq!(is_retry(&answer), expected.is_none(), "{peer:?}");
    }
    assert_eq!(to_server(&mut established, &mut server, b"22.5 C"), b"22.5 C");
}

/// As in DTLS 1.2 (RFC 6347, section 4.2.1): a server takes the cookies from before, and no older ones.
#[test]
fn a_cookie_is_good_until_the_second_rotation() {
    for (rotations, expected) in [(0, Some(Status::Handshaking)), (1, Some(Status::Handshaking)), (2, None)] {
        let (mut late, mut server) = after(1, |_| {});
        (0..rotations).for_each(|_| server.rotate_cookies());
        from_client(&mut late, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
        assert_eq!(server.status_at(PEER), expected, "{rotations} rotations");
        if expected.is_some() {
            // Its HelloRetryRequest is part of the transcript, as the server has sent it.
            from_server(&mut server, NOW).iter_mut().for_each(|datagram| late.receive(datagram, |_| {}));
            assert_eq!(late.status(), Status::Established);
        }
    }
}

#[test]
fn another_key_is_another_peer() {
    for (keys, alert, expected) in [
        // decrypt_error: the binder is wrong.
        ([Psk { identity: b"sensor-17", key: b"0123456789abcdeF" }], 51, Some(Status::Failed(Failure::AlertSent(51)))),
        // unknown_psk_identity, before there is a slot.
        ([Psk { identity: b"sensor-18", key: b"0123456789abcdef" }], 115, None),
    ] {
        let mut other = Client::new(config(keys, 256), RustCrypto::new(random(1)));
        let mut server = server(config(KEYS, 256));
        run(&mut other, &mut server, []);
        assert_eq!(other.status(), Status::Failed(Failure::TimedOut(Some(alert))));
        assert_eq!(server.status_at(PEER), expected);
    }
}

/// A server without the key cannot send a Finished, whatever it chooses.
#[test]
fn a_server_without_the_key_is_refused() {
    let (mut client, mut honest) = after(1, |_| {});
    let with_cookie = from_client(&mut client, NOW).remove(0);
    honest.receive(PEER, &mut with_cookie.clone(), |_| {});
    let mut flight = from_server(&mut honest, NOW).remove(0);
    // Another server hello: the transcript differs, and so do all keys.
    flight[13 + 12 + 2] ^= 1;
    client.receive(&mut flight, |_| panic!("delivered"));
    assert_eq!(client.status(), Status::Handshaking);
}

/// The binder covers what somebody on the path takes out of a ClientHello; also out of the first one, whose digest is in the
/// cookie.
#[test]
fn a_changed_client_hello_is_found_by_the_binder() {
    let with_id = |config: lean_dtls::Config<_>| config.with_connection_id(1).unwrap();
    for changed in [0, 1] {
        let (mut client, mut server) = (client(1, with_id(config(KEYS, 256))), server(with_id(config(KEYS, 256))));
        client.connect();
        for number in 0..2 {
            for mut datagram in from_client(&mut client, NOW) {
                // connection_id (54) with one octet becomes an extension that nobody knows.
                let place = datagram.windows(5).position(|octets| octets == [0, 54, 0, 2, 1]).unwrap();
                datagram[place] ^= u8::from(number == changed);
                server.hear(PEER, &mut datagram, |_| {});
            }
            for mut datagram in from_server(&mut server, NOW) {
                client.receive(&mut datagram, |_| {});
            }
        }
        // decrypt_error is 51.
        assert_eq!(server.status_at(PEER), Some(Status::Failed(Failure::AlertSent(51))), "{changed}");
        assert_eq!(client.status(), Status::Handshaking, "the alert was in clear");
    }
}

#[test]
fn a_record_is_delivered_once() {
    repeat_records(established());
}

#[test]
fn a_changed_octet_is_discarded() {
    let (mut client, mut server) = established();
    let mut datagram = [0; 64];
    let length = client.send(b"22.5 C", &mut datagram).unwrap();
    for place in 0..length {
        for bit in 0..8 {
            let mut forged = datagram[..length].to_vec();
            forged[place] ^= 1 << bit;
            server.hear(PEER, &mut forged, |_| panic!("delivered"));
            assert_eq!(server.status_at(PEER), Some(Status::Established));
        }
    }
    let mut received = Vec::new();
    server.hear(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
    assert_eq!(received, b"22.5 C");
}

/// Also if its header says that it is encrypted: with an epoch of DTLS 1.2.
#[test]
fn what_is_in_clear_is_not_taken_for_encrypted() {
    let (mut client, mut server) = established();
    for epoch in 0..5 {
        // Data; a fatal alert; a KeyUpdate with the number of the next message.
        let key_update = |next| [24, 0, 0, 1, 0, next, 0, 0, 0, 0, 0, 1, 0];
        for (content_type, content) in [(23, &b"abc"[..]), (21, &[2, 40]), (22, &key_update(3)), (22, &key_update(4))] {
            let mut datagram = in_clear_of(epoch, content_type, 9, content);
            server.hear(PEER, &mut datagram.clone(), |_| panic!("delivered"));
            client.receive(&mut datagram, |_| panic!("delivered"));
        }
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    }
    assert_eq!(to_server(&mut client, &mut server, b"22.5 C"), b"22.5 C");
}

/// Alerts and acknowledgements in clear can be anybody's.
#[test]
fn what_comes_in_clear_does_not_end_a_connection() {
    let (mut client, mut server) = established();
    for mut datagram in [in_clear(21, 9, &[2, 40]), ack_in_clear(&[(3, 0)]), ack_in_clear(&[])] {
        server.hear(PEER, &mut datagram.clone(), |_| {});
        client.receive(&mut datagram, |_| {});
    }
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    assert_eq!((from_client(&mut client, NOW).len(), from_server(&mut server, NOW).len()), (0, 0));
}

/// Before the server has chosen DTLS 1.3, an acknowledgement says nothing (RFC 9147, section 7); later, one for a record that
/// was never sent does not.
#[test]
fn an_acknowledgement_of_nothing_does_not_stop_a_retransmission() {
    for (rounds, records) in [(0, &[(0, 0), (0, 1)][..]), (1, &[(0, 7), (2, 0)]), (1, &[(0, 7)])] {
        let (mut client, _) = after(rounds, |_| {});
        let hello = from_client(&mut client, NOW);
        assert_eq!(hello.len(), 1);
        client.receive(&mut ack_in_clear(records), |_| {});
        // Nor does one that is malformed: one octet too many, and half of a number.
        for malformed in [&[0, 0, 9][..], &[0, 8, 0, 0, 0, 0, 0, 0, 0, 0]] {
            client.receive(&mut in_clear(26, 9, malformed), |_| {});
        }
        assert_eq!(client.status(), Status::Handshaking);
        assert!(from_client(&mut client, NOW).is_empty(), "it says nothing new");
        let deadline = client.deadline().unwrap();
        client.handle_timeout(deadline);
        assert_eq!(from_client(&mut client, deadline)[0].len(), hello[0].len(), "{rounds}");
    }
}

/// Empty acknowledgements in clear make a client send again once for each wait of its timer.
#[test]
fn empty_acknowledgements_do_not_make_a_flood() {
    let (mut client, _) = after(1, |_| {});
    from_client(&mut client, NOW);
    let mut sent = 0;
    for _ in 0..100 {
        client.receive(&mut ack_in_clear(&[]), |_| {});
        sent += from_client(&mut client, NOW).len();
    }
    assert_eq!(sent, 1);
}

/// A server sends its flight again if the ClientHello comes again that it answers, and not for other old messages, which anybody can
/// make; nor does it begin again before it has ended.
#[test]
fn old_messages_make_no_flood() {
    let ends = || {
        let (mut client, mut server) = (client(1, config(KEYS, 256)), server(config(KEYS, 64)));
        client.connect();
        for _ in 0..2 {
            from_client(&mut client, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
            if server.status_at(PEER).is_none() {
                from_server(&mut server, NOW).iter_mut().for_each(|datagram| client.receive(datagram, |_| {}));
            }
        }
        (client, server)
    };
    let (_, mut server) = ends();
    let flight = from_server(&mut server, NOW).len();
    assert_eq!(flight, 3);
    // Message 0 of another kind.
    server.hear(PEER, &mut in_clear(22, 9, &[2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 7]), |_| {});
    assert!(from_server(&mut server, NOW).is_empty());

    let (mut client, mut server) = ends();
    let mut output = [0; 600];
    assert!(server.poll_transmit(NOW, &mut output).is_some());
    let deadline = client.deadline().unwrap();
    client.handle_timeout(deadline);
    let mut again = from_client(&mut client, deadline).remove(0);
    server.hear(PEER, &mut again, |_| {});
    assert_eq!(from_server(&mut server, NOW).len(), flight - 1);
}

/// A server that follows its clients to new addresses follows the latest record only (RFC 9146, section 6).
#[test]
fn an_older_record_moves_no_client() {
    let with_id = || config(KEYS, 256).with_connection_id(2).unwrap();
    let (mut client, mut server) = (client(1, with_id()), server(with_id().with_followed_addresses()));
    run(&mut client, &mut server, []);
    let mut records = [0, 1, 2].map(|number| {
        let mut datagram = [0; 64];
        let length = client.send(&[number], &mut datagram).unwrap();
        datagram[..length].to_vec()
    });
    let (other, mut heard) = ([9, 9], Vec::new());
    for (number, peer, expected) in [(1, PEER, PEER), (0, other, PEER), (2, other, other)] {
        server.hear(peer, &mut records[number], |data| heard.extend_from_slice(data));
        assert_eq!(server.status_at(expected), Some(Status::Established), "{number}");
    }
    assert_eq!((heard, server.status_at(PEER)), (vec![1, 0, 2], None));
}

#[test]
fn a_second_hello_retry_request_is_refused() {
    let mut retry = Vec::new();
    let (mut client, mut server) = (client(1, config(KEYS, 256)), server(config(KEYS, 256)));
    client.connect();
    for mut datagram in from_client(&mut client, NOW) {
        server.hear(PEER, &mut datagram, |_| {});
    }
    for mut datagram in from_server(&mut server, NOW) {
        retry = datagram.clone();
        client.receive(&mut datagram, |_| {});
    }
    // A second copy of it is the network's.
    client.receive(&mut retry.clone(), |_| {});
    assert_eq!(client.status(), Status::Handshaking);
    // With the number of the next message: the server's.
    retry[13 + 5] = 1;
    client.receive(&mut retry, |_| {});
    // unexpected_message is 10.
    assert_eq!(client.status(), Status::Failed(Failure::AlertSent(10)));
}

/// Whoever asks for DTLS 1.3 gets nothing else.
#[test]
fn an_earlier_version_is_refused() {
    let earlier = |config: lean_dtls::Config<_>| config.with_versions(Versions::Dtls12);
    let (mut new, mut old) = (client(1, config(KEYS, 256)), server(earlier(config(KEYS, 256))));
    run(&mut new, &mut old, []);
    assert!(matches!(new.status(), Status::Failed(_)), "{:?}", new.status());
    let (mut old, mut new) = (client(1, earlier(config(KEYS, 256))), server(config(KEYS, 256)));
    run(&mut old, &mut new, []);
    assert_eq!((old.status(), new.status_at(PEER)), (Status::Failed(Failure::TimedOut(None)), None));
}

/// A peer that changes its key again and again costs as many messages as it sends.
#[test]
fn key_updates_keep_the_connection_and_are_not_amplified() {
    let (mut client, mut server) = established();
    for number in 0..300_u16 {
        client.update_keys();
        let (mut from_peer, mut own) = (0, 0);
        for _ in 0..3 {
            for mut datagram in from_client(&mut client, NOW) {
                from_peer += 1;
                server.hear(PEER, &mut datagram, |_| {});
            }
            for mut datagram in from_server(&mut server, NOW) {
                own += 1;
                client.receive(&mut datagram, |_| {});
            }
        }
        // KeyUpdate, and the acknowledgement of the server's; as many from the server.
        assert_eq!((from_peer, own), (2, 2), "{number}");
        assert_eq!(to_server(&mut client, &mut server, &number.to_be_bytes()), number.to_be_bytes());
        assert_eq!((client.deadline(), server.deadline()), (None, None));
    }
}

/// Records with the key before the last are old.
#[test]
fn the_key_before_the_last_is_forgotten() {
    let (mut client, mut server) = established();
    let mut datagram = [0; 64];
    let length = client.send(b"old", &mut datagram).unwrap();
    for _ in 0..4 {
        client.update_keys();
        for _ in 0..3 {
            from_client(&mut client, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
            from_server(&mut server, NOW).iter_mut().for_each(|datagram| client.receive(datagram, |_| {}));
        }
    }
    // After four updates the two bits of the epoch are those of the old record.
    server.hear(PEER, &mut datagram[..length], |_| panic!("delivered"));
}

/// RFC 9147, section 4.5.3: with a tag of 8 octets, the peer is asked for another key long before 2^7 forgeries.
#[test]
fn after_64_forgeries_the_peer_is_asked_for_another_key() {
    let (mut client, mut server) = established();
    let mut datagram = [0; 64];
    let length = client.send(b"22.5 C", &mut datagram).unwrap();
    for number in 1..200_u8 {
        let mut forged = datagram[..length].to_vec();
        forged[length - 1] ^= number;
        server.hear(PEER, &mut forged, |_| panic!("delivered"));
        let sent = from_server(&mut server, NOW);
        assert_eq!(sent.len(), usize::from(number == 64), "{number}");
        sent.into_iter().for_each(|mut datagram| client.receive(&mut datagram, |_| {}));
    }
    for _ in 0..3 {
        from_client(&mut client, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
        from_server(&mut server, NOW).iter_mut().for_each(|datagram| client.receive(datagram, |_| {}));
    }
    assert_eq!(to_server(&mut client, &mut server, b"22.5 C"), b"22.5 C");
}

/// Forgeries make an end ask for new keys. A peer that sleeps does not answer, and keeps its session: when it is heard again, both
/// have new keys.
#[test]
fn a_peer_that_sleeps_while_keys_are_asked_for_keeps_its_session() {
    for is_client_asleep in [true, false] {
        let (mut client, mut server) = established();
        let mut datagram = [0; 64];
        let length = match is_client_asleep {
            true => client.send(b"22.5 C", &mut datagram),
            false => server.send_at(PEER, b"22.5 C", &mut datagram),
        };
        let length = length.unwrap();
        for number in 1..=100 {
            let mut forged = datagram[..length].to_vec();
            forged[length - 1] ^= number;
            match is_client_asleep {
                true => server.hear(PEER, &mut forged, |_| panic!("delivered")),
                false => client.receive(&mut forged, |_| panic!("delivered")),
            }
        }
        let (mut now, mut sent) = (NOW, 0);
        loop {
            sent += from_server(&mut server, now).len() + from_client(&mut client, now).len();
            let Some(deadline) = [server.deadline(), client.deadline()].into_iter().flatten().min() else { break };
            now = deadline;
            server.handle_timeout(now);
            client.handle_timeout(now);
        }
        assert_eq!(sent, 8, "the KeyUpdate, and seven times again");
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        // It wakes up, and sends.
        match is_client_asleep {
            true => assert_eq!(to_server(&mut client, &mut server, b"awake"), b"awake"),
            false => assert_eq!(to_client(&mut client, &mut server, b"awake"), b"awake"),
        }
        let mut exchanged = 0;
        for _ in 0..4 {
            let mut from_client = from_client(&mut client, now);
            from_client.iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
            let mut from_server = from_server(&mut server, now);
            from_server.iter_mut().for_each(|datagram| client.receive(datagram, |_| {}));
            exchanged += from_client.len() + from_server.len();
        }
        // KeyUpdate, KeyUpdate with an acknowledgement before it, acknowledgement.
        assert_eq!(exchanged, 4);
        assert_eq!((client.deadline(), server.deadline()), (None, None));
        assert_eq!(to_server(&mut client, &mut server, b"1"), b"1");
        assert_eq!(to_client(&mut client, &mut server, b"2"), b"2");
    }
}

proptest! {
    /// Random octets, and datagrams of the handshake with octets changed, at any time: no panic, nothing established between
    /// ends that do not share a key, nothing delivered.
    #[test]
    fn nothing_that_arrives_ends_the_process_or_opens_a_connection(
        seed in 1_u64..1000,
        attacks in attacks(),
    ) {
        let other = [Psk { identity: b"sensor-17", key: b"0123456789abcdeF" }];
        let client = Client::<_, _, 384>::new(config(other, 100), RustCrypto::new(random(seed)));
        attack(client, server(config(KEYS, 100)), attacks)?;
    }
}
