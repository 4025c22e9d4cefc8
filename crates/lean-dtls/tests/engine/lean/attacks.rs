//! Attacks on the path: an attacker strips, alters, forges, replays or reflects.

use std::collections::VecDeque;

use lean_dtls::{Failure, Instant, Lean, Psk, RustCrypto, Server, Status};
use proptest::prelude::*;

use super::octets::handshake;
use super::{KNOWN, Known, client, config, established, server, set, sets};
use crate::assault::{attack, attacks, repeat_records};
use crate::network::At as _;
use crate::world::{PEER, TestClient, TestServer, from_client, from_server, random, run};

const NOW: Instant = Instant::from_millis(0);
const ALL: Lean = Lean::ALL.with(Lean::KNOWN_ADDRESS);

/// Where the extension of the lean profile begins in a datagram with a hello.
fn extension(datagram: &[u8]) -> Option<usize> {
    datagram.windows(2).position(|window| window == [0xff, 0x4c])
}

/// A handshake in which somebody on the path changes the clear part of what passes.
fn run_altered(
    client: &mut TestClient<Known>,
    server: &mut TestServer<Known>,
    mut alter: impl FnMut(bool, &mut Vec<u8>),
) {
    client.connect();
    for _ in 0..6 {
        for mut datagram in from_client(client, NOW) {
            alter(true, &mut datagram);
            server.hear(PEER, &mut datagram, |_| panic!("delivered"));
        }
        for (_, mut datagram) in from_server(server, NOW) {
            alter(false, &mut datagram);
            client.receive(&mut datagram, |_| panic!("delivered"));
        }
    }
}

/// Neither end goes on, lean or plain.
fn assert_failed(client: &TestClient<Known>, server: &TestServer<Known>, note: &str) {
    assert_ne!(client.status(), Status::Established, "{note}");
    assert_ne!(server.status_at(PEER), Some(Status::Established), "{note}");
}

#[test]
fn a_stripped_extension_ends_the_handshake() {
    for lean in sets().skip(1) {
        for in_hello in [[true, false], [false, true], [true, true]] {
            let (mut client, mut server) = (client(1, 256, lean), server(256, lean));
            let mut stripped = 0;
            run_altered(&mut client, &mut server, |is_clients, datagram| {
                if let Some(place) = extension(datagram).filter(|_| in_hello[usize::from(!is_clients)]) {
                    // A number that the server ignores; one that the client knows takes the place in the ServerHello.
                    match is_clients {
                        true => datagram[place + 1] = 0x4d,
                        false => datagram.splice(place.., [0xff, 1, 0, 1, 0]).for_each(drop),
                    }
                    stripped += 1;
                }
            });
            assert!(stripped > 0 || lean.without(Lean::KNOWN_ADDRESS).without(Lean::SERVER_FINISHED_FIRST).is_empty());
            if stripped > 0 {
                assert_failed(&client, &server, &format!("{lean:?} {in_hello:?}"));
            }
        }
    }
}

/// A handshake with a ticket leaves nothing out. Somebody adds the extension for tickets to a ServerHello that leaves out messages.
#[test]
#[cfg(feature = "resumption")]
fn a_ticket_and_left_out_messages_do_not_go_together() {
    let asking = config(KNOWN, 256, Lean::SLIDES).with_tickets();
    let mut client = TestClient::<Known>::new(asking, RustCrypto::new(random(1)));
    let mut server = server(256, Lean::SLIDES);
    run_altered(&mut client, &mut server, |is_clients, datagram| {
        if let Some(place) = extension(datagram).filter(|_| !is_clients) {
            // Behind the list's length, which follows version, random number, no session, suite and compression. All lengths are 4
            // octets more: of the record, the message, the fragment, and the list.
            let list = 13 + 12 + 2 + 32 + 1 + 2 + 1;
            assert!(place >= list + 2);
            datagram.splice(list + 2..list + 2, [0, 35, 0, 0]);
            [12, 13 + 3, 13 + 11, list + 1].into_iter().for_each(|octet| datagram[octet] += 4);
        }
    });
    // illegal_parameter is 47.
    assert_eq!(client.status(), Status::Failed(Failure::AlertSent(47)));
}

#[test]
fn altered_switches_end_the_handshake() {
    for lean in [Lean::SLIDES, Lean::ALL, ALL, Lean::SHORT_HEADER.with(Lean::SHORT_NONCE)] {
        for bit in 0..8 {
            for altered in [true, false] {
                let (mut client, mut server) = (client(1, 256, lean), server(256, ALL));
                let mut count = 0;
                run_altered(&mut client, &mut server, |is_clients, datagram| {
                    if let Some(place) = extension(datagram).filter(|_| is_clients == altered) {
                        datagram[place + 4] ^= 1 << bit;
                        count += 1;
                    }
                });
                assert!(count > 0);
                assert_failed(&client, &server, &format!("{lean:?} {bit} {altered}"));
            }
        }
    }
}

/// The identity in the extension is another's, whose key the server knows, too.
#[test]
fn an_altered_identity_ends_the_handshake() {
    let (mut client, mut server) = (client(1, 256, Lean::ALL), server(256, Lean::ALL));
    run_altered(&mut client, &mut server, |is_clients, datagram| {
        if is_clients && extension(datagram).is_some() {
            *datagram.last_mut().unwrap() ^= 1;
        }
    });
    assert_failed(&client, &server, "altered");
    let impostor = Known { psk: Psk { key: b"0123456789abcdeF", ..KNOWN.psk }, ..KNOWN };
    for lean in sets() {
        let mut client = TestClient::new(config(impostor, 256, lean), RustCrypto::new(random(1)));
        let mut server = super::server(256, ALL);
        run(&mut client, &mut server, []);
        assert_failed(&client, &server, &format!("without the key, {lean:?}"));
    }
}

/// illegal_parameter is 47 (RFC 5246, section 7.2).
#[test]
fn a_server_that_takes_what_was_not_offered_is_refused() {
    let mut client = client(1, 256, Lean::SHORT_NONCE);
    let mut server = server(256, ALL);
    run_altered(&mut client, &mut server, |is_clients, datagram| {
        if let Some(place) = extension(datagram).filter(|_| !is_clients) {
            datagram[place + 4] |= 8;
        }
    });
    assert_eq!(client.status(), Status::Failed(Failure::AlertSent(47)));
}

/// A client that does not offer the extended master secret (here: it was altered, so that the handshake fails) gets nothing
/// of the profile: without it the keys do not depend on the hellos.
#[test]
fn nothing_is_left_out_without_the_extended_master_secret() {
    let (mut client, mut server) = (client(1, 256, ALL), server(256, ALL));
    let mut answers = 0;
    run_altered(&mut client, &mut server, |is_clients, datagram| {
        match datagram.windows(4).position(|window| window == [0, 0x17, 0, 0]) {
            Some(place) if is_clients => datagram[place + 1] = 0x99,
            _ => answers += usize::from(!is_clients && extension(datagram).is_some()),
        }
    });
    assert_eq!(answers, 0);
    assert_failed(&client, &server, "altered");
}

#[test]
fn a_lean_record_is_delivered_once() {
    sets().for_each(|lean| repeat_records(established(lean)));
}

/// The header is not in the record as it is authenticated, but every bit of it counts.
#[test]
fn an_altered_short_header_is_not_the_peers() {
    let (mut client, mut server) = established(Lean::ALL);
    let mut datagram = [0; 64];
    let length = client.send(b"22.5 C", &mut datagram).unwrap();
    for bit in 0..length * 8 {
        let mut altered = datagram[..length].to_vec();
        altered[bit / 8] ^= 1 << (bit % 8);
        server.hear(PEER, &mut altered, |_| panic!("delivered {bit}"));
    }
    // Longer, shorter, and followed by another record: a short record reaches to the end of its datagram.
    for other in
        [&datagram[..length + 1], &datagram[..length - 1], &[&datagram[..length], &datagram[..length]].concat()]
    {
        server.hear(PEER, &mut other.to_vec(), |_| panic!("delivered"));
    }
    for length in 0..12 {
        server.hear(PEER, &mut datagram[..length].to_vec(), |_| panic!("delivered"));
    }
    let mut received = 0;
    server.hear(PEER, &mut datagram[..length], |data| received += data.len());
    assert_eq!((received, server.status_at(PEER)), (6, Some(Status::Established)));
}

/// A record in another form: keys, nonce and what the tag covers are the same, so only the agreed form protects from
/// a record that an attacker has made longer or shorter.
#[test]
fn records_of_a_form_that_was_not_agreed_are_discarded() {
    let number = [0, 1, 0, 0, 0, 0, 0, 1];
    let forms = |cipher: &[u8]| {
        let header = |length: usize| [&[23, 0xfe, 0xfd][..], &number, &[0, length as u8]].concat();
        let full = [&header(cipher.len() + 8)[..], &number, cipher].concat();
        let without_nonce = [&header(cipher.len())[..], cipher].concat();
        let short_with_nonce = [&[30, 0, 1][..], &number, cipher].concat();
        let short = [&[30, 0, 1][..], cipher].concat();
        [full, without_nonce, short_with_nonce, short]
    };
    // With short headers, full ones are read too: for content types that have no short one.
    for (lean, accepted) in [
        (Lean::NONE, [true, false, false, false]),
        (Lean::SHORT_NONCE, [false, true, false, false]),
        (Lean::SHORT_HEADER, [true, false, true, false]),
        (Lean::SHORT_HEADER.with(Lean::SHORT_NONCE), [false, true, false, true]),
    ] {
        for (place, accepted) in accepted.into_iter().enumerate() {
            let (mut client, mut server) = established(lean);
            let mut datagram = [0; 64];
            let length = client.send(b"22.5 C", &mut datagram).unwrap();
            let mut form = forms(&datagram[length - 14..length])[place].clone();
            let mut received = 0;
            server.hear(PEER, &mut form, |data| received += data.len());
            assert_eq!(received, if accepted { 6 } else { 0 }, "{lean:?} {place}");
        }
    }
}

/// Short records before there are keys, and between hellos that nobody has answered.
#[test]
fn short_records_before_their_time_change_nothing() {
    let junk = (28..=31).map(|first| [&[first][..], &[0; 40]].concat());
    for mut record in junk {
        let (mut client, mut server) = (client(1, 256, ALL), server(256, ALL));
        server.hear(PEER, &mut record, |_| panic!("delivered"));
        client.connect();
        client.receive(&mut record, |_| panic!("delivered"));
        run(&mut client, &mut server, []);
        assert_eq!(client.status(), Status::Established);
    }
}

/// Each end gets back what it has sent, at every point of the handshake and after it.
#[test]
fn reflected_messages_change_nothing() {
    for lean in sets() {
        let (mut client, mut server) = (client(1, 256, lean), server(256, lean));
        client.connect();
        for round in 0..5 {
            for mut datagram in from_client(&mut client, NOW) {
                client.receive(&mut datagram.clone(), |_| panic!("delivered"));
                server.hear(PEER, &mut datagram, |_| {});
            }
            for (_, mut datagram) in from_server(&mut server, NOW) {
                server.hear(PEER, &mut datagram.clone(), |_| panic!("delivered"));
                client.receive(&mut datagram, |_| {});
            }
            assert!(!matches!(client.status(), Status::Failed(_)), "{lean:?} {round}");
        }
        assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        let mut datagram = [0; 64];
        let length = client.send(b"x", &mut datagram).unwrap();
        client.receive(&mut datagram[..length], |_| panic!("delivered"));
        let length = server.send_at(PEER, b"x", &mut datagram).unwrap();
        server.hear(PEER, &mut datagram[..length], |_| panic!("delivered"));
    }
}

/// The server's Finished says nothing about the client: only the client's own does.
#[test]
fn a_server_accepts_no_data_before_the_clients_finished() {
    let (mut client, mut server) = (client(1, 256, ALL), server(256, ALL));
    client.connect();
    for _ in 0..2 {
        for mut datagram in from_client(&mut client, NOW) {
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(&mut server, NOW) {
            client.receive(&mut datagram, |_| {});
        }
    }
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Handshaking)));
    assert!(server.send_at(PEER, b"x", &mut [0; 64]).is_err());
    let finished = from_client(&mut client, NOW).remove(0);
    let mut data = [0; 64];
    let length = client.send(b"22.5 C", &mut data).unwrap();
    server.hear(PEER, &mut data[..length], |_| panic!("delivered"));
    assert_eq!(server.status_at(PEER), Some(Status::Handshaking));
    // The data say that the Finished is lost: the server asks for it by its flight, without waiting for its timer.
    let again = from_server(&mut server, NOW);
    assert_eq!(again.len(), 1);
    for (_, mut datagram) in again {
        client.receive(&mut datagram, |_| {});
    }
    let repeated = from_client(&mut client, NOW).remove(0);
    assert_eq!((repeated.len(), &repeated[..3]), (finished.len(), &[29, 0, 2][..]));
    server.hear(PEER, &mut repeated.clone(), |_| {});
    assert_eq!(server.status_at(PEER), Some(Status::Established));
}

/// Datagrams of both ends in a handshake of their own, at any point of another one.
#[test]
fn messages_of_another_handshake_change_nothing() {
    for lean in [Lean::SLIDES, ALL] {
        let recorded = handshake(&mut client(5, 256, lean), &mut super::server(256, lean));
        for rounds in 1..4 {
            let mut client = client(1, 256, lean);
            let mut server = Server::new(config(KNOWN, 256, lean), RustCrypto::new(random(77)));
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
                // A client waits for a ServerHello before it has one, and has nothing else to know it by.
                if !(rounds == 1 && matches!(number, 1 | 3)) {
                    client.receive(&mut datagram.clone(), |_| panic!("delivered"));
                }
                server.hear(PEER, &mut datagram.clone(), |_| panic!("delivered"));
                assert_eq!((client.status(), server.status_at(PEER)), before, "{lean:?} {rounds} {number}");
            }
            // The answer to the other ClientHello is for another client. In clear, nobody can tell (RFC 6347, section 4.2.1).
            from_server(&mut server, NOW);
            run(&mut client, &mut server, []);
            assert_eq!(server.status_at(PEER), Some(Status::Established), "{lean:?} {rounds}");
        }
    }
}

/// Somebody repeats a hello so often that the client forgets in which records its Finished went before the
/// acknowledgements of these come back. The ends do not answer each other for ever.
#[test]
fn acknowledgements_of_forgotten_records_repeat_nothing() {
    let lean = Lean::OMIT_MESSAGES.with(Lean::SERVER_FINISHED_FIRST).with(Lean::ACKNOWLEDGE);
    let (mut client, mut server) = (client(1, 256, lean), server(256, lean));
    client.connect();
    let mut hello = from_client(&mut client, NOW).remove(0);
    server.hear(PEER, &mut hello, |_| {});
    from_server(&mut server, NOW).into_iter().for_each(|(_, mut verify)| client.receive(&mut verify, |_| {}));
    let hello = from_client(&mut client, NOW).remove(0);
    let mut flying: VecDeque<(bool, Vec<u8>)> = (0..50).map(|_| (true, hello.clone())).collect();
    let mut delivered = 0;
    while let Some((to_server, mut datagram)) = flying.pop_front() {
        match to_server {
            true => server.hear(PEER, &mut datagram, |_| {}),
            false => client.receive(&mut datagram, |_| {}),
        }
        flying.extend(from_client(&mut client, NOW).into_iter().map(|datagram| (true, datagram)));
        flying.extend(from_server(&mut server, NOW).into_iter().map(|(_, datagram)| (false, datagram)));
        delivered += 1;
        assert!(delivered <= 4 * 50, "each hello is answered once, by three datagrams");
    }
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
}

proptest! {
    /// Random octets, and datagrams of the handshake with octets changed, between ends that do not share a key.
    #[test]
    fn nothing_that_arrives_opens_a_lean_connection(
        seed in 1_u64..1000,
        bits in 0_u8..128,
        attacks in attacks(),
    ) {
        let other = Known { psk: Psk { key: b"0123456789abcdeF", ..KNOWN.psk }, ..KNOWN };
        let client = TestClient::new(config(other, 100, set(bits)), RustCrypto::new(random(seed)));
        attack(client, server(100, set(bits)), attacks)?;
    }
}
