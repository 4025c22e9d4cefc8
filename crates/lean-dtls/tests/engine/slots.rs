//! The slots of a server, and its policies for clients beyond them.

use lean_dtls::{Admission, Instant, Status};

use crate::network::At as _;
use crate::world::{Address, TestClient, TestServer, client, from_client, from_server, server};

fn connect(server: &mut TestServer, peer: Address, milliseconds: u64) -> TestClient {
    let now = Instant::from_millis(milliseconds);
    let mut client = client(u64::from(peer[1]) + 1, 256);
    client.connect();
    for _ in 0..4 {
        for mut datagram in from_client(&mut client, now) {
            server.hear(peer, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, now) {
            client.receive(&mut datagram, |_| {});
        }
    }
    client
}

const PEERS: [Address; 3] = [[0, 1], [0, 2], [0, 3]];

fn holding(server: &TestServer) -> [bool; 3] {
    PEERS.map(|peer| server.status_at(peer) == Some(Status::Established))
}

/// The policies of `slowhand capacity`, with two slots: the first client is the oldest, the second was used longest ago.
#[test]
fn a_server_without_a_free_slot_does_as_its_policy_says() {
    let idle = |idle_after_ms| Admission::EvictIdleLongest { idle_after_ms };
    for (admission, expected) in [
        (Admission::Refuse, [true, true, false]),
        (Admission::EvictOldest, [false, true, true]),
        (Admission::EvictLeastRecentlyUsed, [true, false, true]),
        // The second was used at 1 s, the first at 5 s; the third asks at 6 s.
        (idle(4_000), [true, false, true]),
        (idle(5_000), [true, false, true]),
        (idle(5_001), [true, true, false]),
    ] {
        let mut server = server(256, admission);
        let mut first = connect(&mut server, PEERS[0], 0);
        connect(&mut server, PEERS[1], 1_000);
        let mut datagram = [0; 100];
        let length = first.send(b"x", &mut datagram).unwrap();
        server.hear(PEERS[0], &mut datagram[..length], |_| {});
        assert!(from_server(&mut server, Instant::from_millis(5_000)).is_empty());
        connect(&mut server, PEERS[2], 6_000);
        assert_eq!(holding(&server), expected, "{admission:?}");
    }
}

/// A datagram that the server sends counts as a use, and a forged one does not.
#[test]
fn a_use_is_a_record_that_is_the_peers_or_is_sent_to_it() {
    for (is_sent, expected) in [(true, [true, false, true]), (false, [false, true, true])] {
        let mut server = server(256, Admission::EvictLeastRecentlyUsed);
        let mut first = connect(&mut server, PEERS[0], 0);
        connect(&mut server, PEERS[1], 0);
        let mut datagram = [0; 100];
        if is_sent {
            server.send_at(PEERS[0], b"x", &mut datagram).unwrap();
        } else {
            let length = first.send(b"x", &mut datagram).unwrap();
            datagram[length - 1] ^= 1;
            server.hear(PEERS[0], &mut datagram[..length], |_| {});
        }
        connect(&mut server, PEERS[2], 0);
        assert_eq!(holding(&server), expected, "{is_sent}");
    }
}

/// A half-open session is not idle, however long it lasts: its client has shown that it is there.
#[test]
fn a_half_open_session_is_not_idle() {
    let mut server = server(256, Admission::EvictIdleLongest { idle_after_ms: 0 });
    for peer in &PEERS[..2] {
        let mut client = client(u64::from(peer[1]), 256);
        client.connect();
        for _ in 0..2 {
            for mut datagram in from_client(&mut client, Instant::from_millis(0)) {
                server.hear(*peer, &mut datagram, |_| {});
            }
            for (_, mut datagram) in from_server(&mut server, Instant::from_millis(0)) {
                client.receive(&mut datagram, |_| {});
            }
        }
    }
    connect(&mut server, PEERS[2], 100);
    assert_eq!(server.status_at(PEERS[2]), None);
    assert_eq!(server.status_at(PEERS[0]), Some(Status::Handshaking));
}

#[test]
fn the_slot_of_a_session_that_is_over_is_free() {
    let mut server = server(256, Admission::Refuse);
    let mut first = connect(&mut server, PEERS[0], 0);
    connect(&mut server, PEERS[1], 0);
    first.close();
    let now = Instant::from_millis(9);
    for mut datagram in from_client(&mut first, now) {
        server.hear(PEERS[0], &mut datagram, |_| {});
    }
    from_server(&mut server, now);
    connect(&mut server, PEERS[2], 10);
    assert_eq!(holding(&server), [false, true, true]);
}
