//! Nothing that is forged, replayed or too early is accepted, and nothing that arrives ends the process.

use lean_dtls::{Admission, Client, Failure, Instant, RustCrypto, Server, Status};
use proptest::prelude::*;

use crate::assault::{attack, attacks, repeat_records};
use crate::network::At as _;
use crate::world::{
    KEYS, OTHER_KEYS, PEER, TestServer, client, config, established, from_client, from_server, random, run, server,
};

const NOW: Instant = Instant::from_millis(0);

#[test]
fn a_server_keeps_nothing_of_a_client_whose_cookie_has_not_returned() {
    let mut server = server(256, Admission::Refuse);
    for peer in 0..=255 {
        let mut flooding = client(u64::from(peer) + 1, 256);
        flooding.connect();
        for mut datagram in from_client(&mut flooding, NOW) {
            server.hear([1, peer], &mut datagram, |_| {});
        }
        let answers = from_server(&mut server, NOW);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].1.len() < 75, "the answer is shorter than the ClientHello: nothing is amplified");
        assert_eq!((server.status_at([1, peer]), server.deadline()), (None, None));
    }
}

#[test]
fn a_cookie_is_good_for_one_address_and_one_hello() {
    let mut server = server(256, Admission::Refuse);
    let mut honest = client(1, 256);
    honest.connect();
    for mut datagram in from_client(&mut honest, NOW) {
        server.hear(PEER, &mut datagram, |_| {});
    }
    for (_, mut datagram) in from_server(&mut server, NOW) {
        honest.receive(&mut datagram, |_| {});
    }
    let with_cookie = from_client(&mut honest, NOW).remove(0);
    // From another address; with another random number; with another cookie.
    for (peer, place) in [([7, 7], None), (PEER, Some(13 + 12 + 2)), (PEER, Some(13 + 12 + 2 + 32 + 2))] {
        let mut datagram = with_cookie.clone();
        place.into_iter().for_each(|place: usize| datagram[place] ^= 1);
        server.hear(peer, &mut datagram, |_| {});
        assert_eq!(server.status_at(peer), None, "{peer:?} {place:?}");
        assert_eq!(from_server(&mut server, NOW).len(), 1, "a new cookie");
    }
    server.hear(PEER, &mut with_cookie.clone(), |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Handshaking));
}

/// RFC 6347, section 4.2.1: a server that makes other cookies takes those from before for a while, and no older ones.
#[test]
fn a_cookie_is_good_until_the_second_rotation() {
    for (rotations, is_good) in [(0, true), (1, true), (2, false)] {
        let mut server = server(256, Admission::Refuse);
        let mut late = client(1, 256);
        late.connect();
        from_client(&mut late, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
        from_server(&mut server, NOW).iter_mut().for_each(|(_, datagram)| late.receive(datagram, |_| {}));
        (0..rotations).for_each(|_| server.rotate_cookies());
        from_client(&mut late, NOW).iter_mut().for_each(|datagram| server.hear(PEER, datagram, |_| {}));
        assert_eq!(server.status_at(PEER).is_some(), is_good, "{rotations} rotations");
        // The answer to a cookie that is too old is another one. A client that begins again gets a connection.
        from_server(&mut server, NOW);
        let mut another = client(2, 256);
        run(&mut another, &mut server, []);
        assert_eq!(another.status(), Status::Established);
    }
}

/// HelloVerifyRequests that the client cannot use: the one that it has answered, one that is malformed, and one with an old
/// number. None of them takes the place of the ServerHello.
#[test]
fn a_useless_hello_verify_request_takes_no_place() {
    let request = |sequence: u8, body: &[u8]| {
        let mut record = vec![22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12 + body.len() as u8];
        record.extend([3, 0, 0, body.len() as u8, 0, sequence, 0, 0, 0, 0, 0, body.len() as u8]);
        record.extend_from_slice(body);
        record
    };
    for (number, is_malformed) in [(1, false), (1, true), (0, false), (0, true)] {
        let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
        client.connect();
        let mut first = from_client(&mut client, NOW).remove(0);
        server.hear(PEER, &mut first, |_| {});
        let answer = from_server(&mut server, NOW).remove(0).1;
        client.receive(&mut answer.clone(), |_| {});
        let mut with_cookie = from_client(&mut client, NOW).remove(0);
        let body = if is_malformed { &[0xff] } else { &answer[25..] };
        client.receive(&mut request(number, body), |_| {});
        assert!(from_client(&mut client, NOW).is_empty());
        server.hear(PEER, &mut with_cookie, |_| {});
        run(&mut client, &mut server, []);
        assert_eq!(client.status(), Status::Established, "{number} {is_malformed}");
    }
}

#[test]
fn another_key_is_another_peer() {
    let mut other = Client::new(config(OTHER_KEYS, 256), RustCrypto::new(random(1)));
    let mut server = server(256, Admission::Refuse);
    run(&mut other, &mut server, []);
    assert!(matches!(other.status(), Status::Failed(_)), "{:?}", other.status());
    assert_ne!(server.status_at(PEER), Some(Status::Established));
}

/// Somebody on the path takes the extended master secret out of the client's hellos (RFC 7627, section 6.1): the keys are then
/// the same at both ends, and only the Finished can tell.
#[test]
fn a_stripped_extension_is_found_by_the_finished() {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    client.connect();
    for _ in 0..3 {
        for mut datagram in from_client(&mut client, NOW) {
            if let Some(place) = datagram.windows(4).position(|window| window == [0, 0x17, 0, 0]) {
                datagram[place + 1] = 0x99;
            }
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut server, NOW) {
            client.receive(&mut datagram, |_| {});
        }
    }
    // decrypt_error is 51 (RFC 5246, section 7.2).
    assert_eq!(server.status_at(PEER), Some(Status::Failed(Failure::AlertSent(51))));
    assert_eq!(client.status(), Status::Handshaking, "the alert was in clear");
}

#[test]
fn a_record_is_delivered_once() {
    repeat_records(established());
}

#[test]
fn application_data_in_clear_or_before_the_handshake_is_discarded() {
    let (_, mut server) = established();
    let clear = [&[23, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 3][..], b"abc"].concat();
    server.hear(PEER, &mut clear.clone(), |_| panic!("delivered"));
    let mut client = client(1, 256);
    client.connect();
    client.receive(&mut clear.clone(), |_| panic!("delivered"));
}

/// Every message of a whole handshake, before its turn and after it, in every state: none of them establishes anything, and
/// the handshake goes on as if nothing had come.
#[test]
fn messages_out_of_turn_change_nothing() {
    // Datagrams of both ends in a handshake of their own, which the attacker has recorded.
    let mut recorded_client = client(5, 256);
    let mut recorded_server: TestServer = Server::new(config(KEYS, 256), RustCrypto::new(random(98)));
    let mut recorded = Vec::new();
    recorded_client.connect();
    for _ in 0..4 {
        for mut datagram in from_client(&mut recorded_client, NOW) {
            recorded.push(datagram.clone());
            recorded_server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut recorded_server, NOW) {
            recorded.push(datagram.clone());
            recorded_client.receive(&mut datagram, |_| {});
        }
    }
    assert_eq!(recorded.len(), 6);
    // The datagrams that can poison a handshake in clear are the hello of the state: a HelloVerifyRequest and a ServerHello where
    // the client waits for one, and what belongs to them. All others go in.
    for rounds in 0..4 {
        let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
        client.connect();
        for _ in 0..rounds {
            for mut datagram in from_client(&mut client, NOW) {
                server.hear(PEER, &mut datagram, |_| {});
            }
            for (_, mut datagram) in from_server(&mut server, NOW) {
                client.receive(&mut datagram, |_| {});
            }
        }
        let before = (client.status(), server.status_at(PEER));
        for (number, datagram) in recorded.iter().enumerate() {
            // A client before round 1 waits for datagram 1 or 3, before round 2 for 3; a server in round 2 for 4.
            if !(rounds == 0 && matches!(number, 1 | 3) || rounds == 1 && number == 3) {
                client.receive(&mut datagram.clone(), |_| panic!("delivered"));
            }
            server.hear(PEER, &mut datagram.clone(), |_| panic!("delivered"));
            assert_eq!((client.status(), server.status_at(PEER)), before, "{rounds} {number}");
        }
        if rounds != 2 {
            run(&mut client, &mut server, []);
            assert_eq!(client.status(), Status::Established, "{rounds}");
        }
    }
}

/// A flight is not sent again because some other message has the number of the hello that it answers: a client that has begun
/// again may send such a message in its flight, which it repeats when the server repeats. Both would do so for ever.
#[test]
fn another_message_with_the_number_of_the_hello_says_nothing() {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    client.connect();
    let mut hello = Vec::new();
    for _ in 0..2 {
        for mut datagram in from_client(&mut client, NOW) {
            hello = datagram.clone();
            server.hear(PEER, &mut datagram, |_| {});
        }
        from_server(&mut server, NOW).into_iter().for_each(|(_, mut datagram)| client.receive(&mut datagram, |_| {}));
    }
    server.hear(PEER, &mut hello.clone(), |_| {});
    assert_eq!(from_server(&mut server, NOW).len(), 1, "the hello again");
    hello[10] += 1; // the record's number
    hello[13] = 16; // ClientKeyExchange
    server.hear(PEER, &mut hello, |_| {});
    assert_eq!(from_server(&mut server, NOW).len(), 0);
}

proptest! {
    /// Random octets, and datagrams of the handshake with octets changed, at any time: no panic, nothing established between
    /// ends that do not share a key, nothing delivered.
    #[test]
    fn nothing_that_arrives_ends_the_process_or_opens_a_connection(
        seed in 1_u64..1000,
        attacks in attacks(),
    ) {
        let client = Client::<_, _, 192>::new(config(OTHER_KEYS, 100), RustCrypto::new(random(seed)));
        attack(client, server(100, Admission::EvictOldest), attacks)?;
    }
}
