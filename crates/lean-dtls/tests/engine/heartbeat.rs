//! Heartbeats (RFC 6520): is the peer there?

use lean_dtls::{Config, Failure, HeartbeatError, Instant, Liveness, Status};

use crate::network::At as _;
use crate::world::{Keys, PEER, TestClient, TestServer, from_client, from_server, pair, replace, run, run_through};

const fn at(milliseconds: u64) -> Instant {
    Instant::from_millis(milliseconds)
}

fn with(config: Config<Keys>) -> Config<Keys> {
    config.with_heartbeats()
}

fn connected() -> (TestClient, TestServer) {
    let (mut client, mut server) = pair(with, with);
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}

#[test]
fn the_peer_answers_and_the_round_trip_is_measured() {
    let (mut client, mut server) = connected();
    assert_eq!(client.liveness(), Liveness::Unknown);
    assert_eq!(client.heartbeat(), Ok(()));
    assert_eq!(client.heartbeat(), Err(HeartbeatError::InFlight));
    let mut request = from_client(&mut client, at(1_000));
    // Type, length of the payload, 4 octets of it, 16 of padding.
    assert_eq!((request.len(), request[0].len(), request[0][0]), (1, 29 + 3 + 4 + 16, 24));
    assert_eq!(client.liveness(), Liveness::Waiting);
    server.hear(PEER, &mut request[0], |_| panic!("delivered"));
    let mut answer = from_server(&mut server, at(1_100));
    assert_eq!((answer.len(), answer[0].1.len()), (1, 52));
    client.receive(&mut answer[0].1, |_| panic!("delivered"));
    assert!(from_client(&mut client, at(1_250)).is_empty());
    assert_eq!(client.liveness(), Liveness::Alive { round_trip_ms: Some(250) });
    assert_eq!((client.deadline(), client.heartbeat()), (None, Ok(())), "the next one");
}

#[test]
fn a_server_asks_its_clients_too() {
    let (mut client, mut server) = connected();
    assert_eq!(server.heartbeat_at([9, 9]), Err(HeartbeatError::NotEstablished));
    assert_eq!(server.heartbeat_at(PEER), Ok(()));
    let mut request = from_server(&mut server, at(5));
    client.receive(&mut request[0].1, |_| {});
    let mut answer = from_client(&mut client, at(10));
    server.hear(PEER, &mut answer[0], |_| {});
    from_server(&mut server, at(45));
    assert_eq!(server.liveness_at(PEER), Some(Liveness::Alive { round_trip_ms: Some(40) }));
}

/// The timer of the handshake: 1 s, and so on. A request that was repeated measures nothing (Karn's rule).
#[test]
fn a_lost_request_is_sent_again_and_a_silent_peer_given_up() {
    let (mut client, mut server) = connected();
    client.heartbeat().unwrap();
    assert_eq!(from_client(&mut client, at(0)).len(), 1);
    client.handle_timeout(at(1_000));
    let mut again = from_client(&mut client, at(1_000));
    server.hear(PEER, &mut again[0], |_| {});
    client.receive(&mut from_server(&mut server, at(1_010))[0].1, |_| {});
    from_client(&mut client, at(1_020));
    // The last measurement is that of the handshake, in which no time passed.
    assert_eq!(client.liveness(), Liveness::Alive { round_trip_ms: Some(0) });

    client.heartbeat().unwrap();
    let mut sent = from_client(&mut client, at(2_000)).len();
    while let Some(deadline) = client.deadline() {
        client.handle_timeout(deadline);
        sent += from_client(&mut client, deadline).len();
    }
    assert_eq!((sent, client.status()), (8, Status::Failed(Failure::TimedOut(None))));
}

#[test]
fn who_has_not_agreed_neither_asks_nor_answers() {
    for (mut client, mut server) in [pair(with, |config| config), pair(|config| config, with)] {
        run(&mut client, &mut server, []);
        assert_eq!(client.heartbeat(), Err(HeartbeatError::NotAgreed));
        assert_eq!(server.heartbeat_at(PEER), Err(HeartbeatError::NotAgreed));
    }
    let (mut client, _) = pair(with, with);
    assert_eq!(client.heartbeat(), Err(HeartbeatError::NotEstablished));
}

/// An answer that somebody kept: it has the payload of another request. One in clear, or altered, is nobody's.
#[test]
fn an_old_or_forged_answer_says_nothing() {
    let (mut client, mut server) = connected();
    let ask = |client: &mut TestClient, server: &mut TestServer| {
        client.heartbeat().unwrap();
        for mut request in from_client(client, at(0)) {
            server.hear(PEER, &mut request, |_| {});
        }
        from_server(server, at(0)).remove(0).1
    };
    let mut first = ask(&mut client, &mut server);
    let kept = first.clone();
    client.receive(&mut first, |_| {});
    let second = ask(&mut client, &mut server);
    for mut wrong in [kept, {
        let mut altered = second.clone();
        altered[30] ^= 1;
        altered
    }] {
        client.receive(&mut wrong, |_| {});
        assert_eq!(client.liveness(), Liveness::Waiting);
    }
    let mut clear = [&[24, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 23, 1, 0, 4][..], &[7; 20]].concat();
    server.hear(PEER, &mut clear, |_| {});
    assert!(from_server(&mut server, at(0)).is_empty(), "a request in clear");
    client.receive(&mut second.clone(), |_| {});
    assert!(matches!(client.liveness(), Liveness::Alive { .. }));
}

/// RFC 6520, section 2: extension 15, 1 is peer_allowed_to_send, 2 is not.
#[test]
fn the_octets_of_the_extension() {
    let (mut client, mut server) = pair(with, with);
    let sent = run_through(&mut client, &mut server, |_, _| {});
    for hello in [&sent[0], &sent[3]] {
        assert!(hello.windows(5).any(|octets| octets == [0, 15, 0, 1, 1]), "{hello:?}");
    }
    let (mut client, mut server) = pair(with, with);
    run_through(&mut client, &mut server, |to_server, datagram| {
        if to_server {
            replace(datagram, &[0, 15, 0, 1, 1], &[0, 15, 0, 1, 3]);
        }
    });
    // illegal_parameter (RFC 6520, section 2).
    assert_eq!(server.status_at(PEER), Some(Status::Failed(Failure::AlertSent(47))));
}
