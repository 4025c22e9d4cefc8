//! A handshake completes whatever the network loses, repeats or reorders, with datagrams of any size.

use lean_dtls::{Admission, Failure, Instant, SendError, Status};
use proptest::prelude::*;

use crate::world::{Fate, PEER, client, established, from_client, from_server, run, server};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![3 => Just(Fate::Pass), 2 => Just(Fate::Drop), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)]
}

/// What a network does to the first datagrams. It drops fewer than an end sends before it gives up: 8.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fates = proptest::collection::vec(fate(), 0..12);
    fates.prop_filter("at most 7 are lost", |fates| fates.iter().filter(|fate| **fate == Fate::Drop).count() < 8)
}

proptest! {
    #[test]
    fn a_handshake_completes_when_the_network_does_no_more_harm(
        fates in fates(),
        mtus in [64_u16..200, 64_u16..200],
        seed in 1_u64..1000,
    ) {
        let (mut client, mut server) = (client(seed, mtus[0]), server(mtus[1], Admission::Refuse));
        run(&mut client, &mut server, fates);
        prop_assert_eq!(client.status(), Status::Established);
        prop_assert_eq!(server.status(PEER), Some(Status::Established));
        let (mut datagram, mut received) = ([0; 300], Vec::new());
        let length = client.send(b"22.5 C", &mut datagram).unwrap();
        server.receive(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
        prop_assert_eq!(received, b"22.5 C");
    }
}

/// By hand: each lost datagram of the loss-free run costs the 1 s of the timer, which both ends have.
#[test]
fn each_lost_flight_costs_one_timeout() {
    for lost in 0..6 {
        let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
        let fates = (0..6).map(|number| if number == lost { Fate::Drop } else { Fate::Pass });
        assert_eq!(run(&mut client, &mut server, fates), 1000, "{lost}");
        assert_eq!(client.status(), Status::Established, "{lost}");
    }
}

#[test]
fn a_close_is_an_alert_that_only_the_peer_can_have_sent() {
    let (mut client, mut server) = established();
    let now = Instant::from_millis(5);
    client.close();
    assert_eq!(client.status(), Status::Closed);
    assert_eq!(client.send(b"x", &mut [0; 100]), Err(SendError::NotEstablished));
    let mut sent = from_client(&mut client, now);
    assert_eq!(sent.len(), 1);
    let mut forged = sent[0].clone();
    *forged.last_mut().unwrap() ^= 1;
    server.receive(PEER, &mut forged, |_| {});
    assert_eq!(server.status(PEER), Some(Status::Established));
    server.receive(PEER, &mut sent[0], |_| {});
    assert_eq!((server.status(PEER), from_server(&mut server, now)), (Some(Status::Closed), Vec::new()));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_sent() {
    let (mut client, mut server) = established();
    // 13 octets of header, 8 of nonce, 8 of tag.
    assert_eq!(client.send(&[0; 100], &mut [0; 128]), Err(SendError::TooLong));
    let mut datagram = [0; 129];
    assert_eq!(client.send(&[0; 100], &mut datagram), Ok(129));
    let mut received = 0;
    server.receive(PEER, &mut datagram, |data| received += data.len());
    assert_eq!(received, 100);
    assert_eq!(server.send([9, 9], b"x", &mut [0; 100]), Err(SendError::NotEstablished), "nobody is there");
}

#[test]
fn a_server_without_a_free_slot_refuses_or_evicts_as_its_policy_says() {
    for (admission, expected) in [
        (Admission::Refuse, [Some(Status::Established), Some(Status::Established), None]),
        (Admission::EvictOldest, [None, Some(Status::Established), Some(Status::Established)]),
    ] {
        let mut server = server(256, admission);
        let peers = [[0, 1], [0, 2], [0, 3]];
        let mut clients = Vec::new();
        for (seed, peer) in (1..).zip(peers) {
            let mut client = client(seed, 256);
            client.connect();
            for _ in 0..4 {
                let now = Instant::from_millis(0);
                for mut datagram in from_client(&mut client, now) {
                    server.receive(peer, &mut datagram, |_| {});
                }
                for (to, mut datagram) in from_server(&mut server, now) {
                    assert_eq!(to, peer);
                    client.receive(&mut datagram, |_| {});
                }
            }
            clients.push(client);
        }
        assert_eq!(peers.map(|peer| server.status(peer)), expected, "{admission:?}");
        assert_eq!(clients[1].status(), Status::Established);
    }
}

/// A device that has lost its state begins again under the same address: RFC 6347, section 4.2.8.
#[test]
fn a_client_that_begins_again_gets_a_new_connection_after_its_cookie() {
    let (_, mut server) = established();
    let mut again = client(2, 256);
    run(&mut again, &mut server, []);
    assert_eq!((again.status(), server.status(PEER)), (Status::Established, Some(Status::Established)));
}

#[test]
fn a_client_gives_up_after_its_last_retransmission() {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    let at = run(&mut client, &mut server, [Fate::Drop; 100]);
    assert_eq!(client.status(), Status::Failed(Failure::TimedOut(None)));
    // By hand: 1, 2, 4, 8, 16, 32, 60 and 60 s.
    assert_eq!(at, 183_000);
}
