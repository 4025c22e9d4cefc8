//! QUIC: what its datagrams are, what becomes of losses, and whatever arrives.

use std::time::Duration;

use proptest::prelude::*;
use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{
    Auth, CredentialKind, FailureKind, Operation, Performed, Protocol, Resumption, Session, SessionConfig, Stack,
    Status, Suite,
};
use slowhand_wire::quic;

use crate::pair::{Pair, failure, negotiated, set_length, tls};

const SUITE: Suite = Suite::TLS_AES_128_GCM_SHA256;

fn pair() -> Pair {
    Pair::of(Stack::RUSTLS, Protocol::Quic, SUITE)
}

/// The types of the packets of each datagram.
fn packets(transcript: &Transcript) -> Vec<String> {
    let of =
        |datagram: &[u8]| quic::packets(datagram).map(|packet| packet.unwrap().name()).collect::<Vec<_>>().join("+");
    transcript.datagrams.iter().map(|datagram| of(&datagram.bytes)).collect()
}

/// RFC 9000 section 14.1: datagrams with Initial packets have 1,200 octets at least, but for a server's that asks for no answer.
#[test]
fn a_handshake() {
    for suite in [SUITE, Suite::TLS_AES_256_GCM_SHA384] {
        for auth in [Auth::Server, Auth::Mutual] {
            let pair = Pair::of(Stack::RUSTLS, Protocol::Quic, suite).both(|config| tls(config).auth = auth);
            let (mut client, mut server) = pair.build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed);
            // Two one-way delays for the client, three for the server.
            assert_eq!(transcript.at, Duration::from_millis(150));
            let packets = packets(&transcript);
            assert_eq!((&*packets[0], transcript.sizes()[0]), ("Initial", 1200));
            assert!(packets[1].starts_with("Initial+Handshake"), "{packets:?}");
            assert_eq!(transcript.sizes()[1], 1200);
            assert!(transcript.sizes().iter().all(|size| *size <= 1200));
            for end in [client, server] {
                assert_eq!(negotiated(&*end), (Protocol::Quic, suite, None));
            }
        }
    }
}

/// Whatever single datagram, and whatever two of the first ones, are lost, the handshake completes; the probe timeout of the
/// beginning is 0.999 s (RFC 9002 section 6.2.2).
#[test]
fn losses() {
    let pair = pair();
    let run = |dropped: Vec<usize>| pair.run(&Path { dropped, ..Path::default() });
    let whole = run(vec![]);
    for first in 0..whole.datagrams.len() {
        let transcript = run(vec![first]);
        assert_eq!(transcript.end, End::Completed, "{first}: {transcript:?}");
        for second in first + 1..transcript.datagrams.len() {
            assert_eq!(run(vec![first, second]).end, End::Completed, "{first} {second}");
        }
    }
    assert_eq!(run(vec![0]).datagrams[1].at, Duration::from_millis(999));
    let slow = pair.clone().both(|config| config.timers.first = Some(Duration::from_secs(6)));
    let transcript = slow.run(&Path { dropped: vec![0, 1, 2], ..Path::default() });
    // The timer doubles; a probe is up to two datagrams (RFC 9002 section 6.2.4).
    let mut times: Vec<_> = transcript.datagrams[..4].iter().map(|datagram| datagram.at.as_secs()).collect();
    times.dedup();
    assert_eq!(times, [0, 6, 18]);
}

#[test]
fn copies_and_datagrams_that_are_overtaken() {
    let pair = pair();
    let count = pair.run(&Path::default()).datagrams.len();
    for number in 0..count {
        let twice = pair.run(&Path { duplicated: vec![number], ..Path::default() });
        assert_eq!(twice.end, End::Completed, "{number}");
        for late in [70, 2000] {
            let held_back = vec![(number, Duration::from_millis(late))];
            let overtaken = pair.run(&Path { held_back, ..Path::default() });
            assert_eq!(overtaken.end, End::Completed, "{number}");
        }
    }
}

/// A server sends at most three times what has arrived (RFC 9000 section 8.1): certificates of 8,000 octets need more round trips.
#[test]
fn long_certificates() {
    let pair = pair().both(|config| set_length(config, Some(8000)));
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    let [mut to_server, mut to_client] = [0; 2];
    for datagram in transcript.datagrams.iter().take_while(|datagram| datagram.at < Duration::from_millis(100)) {
        match datagram.direction {
            Direction::ToServer => to_server += datagram.bytes.len(),
            Direction::ToClient => to_client += datagram.bytes.len(),
        }
    }
    assert_eq!((to_server, to_client), (1200, 3600));
}

/// More than the 1,472 octets that fit Ethernet (the default of quinn-proto): the first datagrams have 1,600, and data fill them.
#[test]
fn datagrams_are_as_long_as_both_ends_allow() {
    for mtu in [1300, 1600] {
        let pair = pair().both(|config| config.mtu = Some(mtu));
        let (mut client, mut server) = pair.build();
        let now = Path::default().run_until_quiet(&mut *client, &mut *server).at;
        client.write(now, &[7; 9000]).unwrap();
        let mut longest = 0;
        let mut see = |datagram: &[u8]| {
            longest = longest.max(datagram.len());
            false
        };
        let [_, to_server] = carry(now, [&mut *client, &mut *server], &mut see);
        assert_eq!((to_server.len(), longest), (1, usize::from(mtu)));
    }
}

#[test]
fn what_quic_has_not_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut SessionConfig)| {
        let mut config = pair().client;
        change(&mut config);
        config.validate().unwrap_err().to_string()
    };
    let mtu = refused(&|config| config.mtu = Some(1199));
    assert_eq!(
        mtu,
        "mtu: found 1199, allowed: 1200 octets or more (QUIC pads its first datagrams to that, RFC 9000 section 14.1)"
    );
    let psk = refused(&|config| config.credential = CredentialKind::Psk.into());
    assert_eq!(psk, "credential: found psk, allowed: certificate with TLS_AES_128_GCM_SHA256");
    let floor = refused(&|config| config.timers.floor = Some(Duration::from_secs(1)));
    assert_eq!(floor, "timeout_floor: found 1 s, allowed: none (QUIC always measures round trips)");
    let maximum = refused(&|config| config.timers.maximum = Some(Duration::from_secs(60)));
    assert!(maximum.starts_with("maximum_timeout: found 60 s, allowed: 65470.464 s"), "{maximum}");
    let packing = refused(&|config| config.datagram_packing = false);
    assert_eq!(packing, "datagram_packing: found false, allowed: true (the library alone decides)");
    let id = refused(&|config| tls(config).resumption = Some(Resumption::Id));
    assert!(id.starts_with("resumption: found id, allowed: "), "{id}");
    let other = refused(&|config| config.stack = Stack::MBEDTLS);
    assert_eq!(other, "protocol: found quic, allowed: dtls1.2, tls1.2, tls1.3; quic with rustls");
}

/// Runs until nothing is on its way, and no timer of the handshake runs. Returns what the two ends have received.
fn carry(now: Duration, ends: [&mut dyn Session; 2], lost: &mut dyn FnMut(&[u8]) -> bool) -> [Vec<Vec<u8>>; 2] {
    let [client, server] = ends;
    let mut received = [Vec::new(), Vec::new()];
    let mut now = now;
    for _ in 0..200 {
        let mut is_quiet = true;
        for way in 0..2 {
            let (from, to): (&mut dyn Session, &mut dyn Session) =
                if way == 0 { (&mut *client, &mut *server) } else { (&mut *server, &mut *client) };
            while let Some(datagram) = from.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                is_quiet = false;
                if !lost(&datagram) {
                    to.handle_input(now, &datagram);
                }
            }
            while let Some(data) = to.poll_received() {
                received[1 - way].push(data.bytes.to_vec());
            }
        }
        if is_quiet {
            let Some(next) = [client.deadline(), server.deadline()].into_iter().flatten().min() else { break };
            now = now.max(next);
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
    received
}

/// Each message arrives once and as a whole, also if datagrams are lost, and before the session is closed.
#[test]
fn data_arrive_message_by_message() {
    for losses in [0, 3] {
        let (mut client, mut server) = pair().build();
        let now = Path::default().run_until_quiet(&mut *client, &mut *server).at;
        let messages: Vec<Vec<u8>> = (1..=150_usize).map(|number| vec![number as u8; 40 * number % 3000 + 1]).collect();
        for message in &messages {
            client.write(now, message).unwrap();
        }
        server.write(now, b"and back").unwrap();
        client.close(now);
        let mut count = 0;
        let mut lost = |_: &[u8]| {
            count += 1;
            losses > 0 && count % losses == 0
        };
        let [to_client, mut to_server] = carry(now, [&mut *client, &mut *server], &mut lost);
        to_server.sort_unstable();
        let mut sent = messages.clone();
        sent.sort_unstable();
        assert_eq!(to_server, sent, "{losses}");
        assert_eq!(to_client, [b"and back"]);
        assert_eq!((client.status(), server.status()), (Status::Closed, Status::Closed));
    }
}

/// With a ticket there are no certificates, and no signatures.
#[test]
fn a_session_is_resumed_by_a_ticket() {
    let signatures = |pair: &Pair| {
        let (mut client, mut server) = pair.build();
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
        let mut count = 0;
        let mut see =
            |performed: Performed| count += usize::from(matches!(performed.operation, Operation::EcdsaSign(_)));
        client.drain_operations(&mut see);
        server.drain_operations(&mut see);
        count
    };
    let resuming = pair().both(|config| tls(config).resumption = Some(Resumption::Ticket));
    assert_eq!([signatures(&pair()), signatures(&resuming)], [2, 0]);
}

/// A server whose client proves nothing, and a client whose server wants a certificate: the alert of TLS is in CONNECTION_CLOSE.
#[test]
fn an_alert() {
    let mut pair = pair();
    tls(&mut pair.client).auth = Auth::Server;
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run_until_quiet(&mut *client, &mut *server);
    assert!(matches!(failure(&transcript.server).kind, FailureKind::Library { .. }));
    let last = transcript.datagrams.iter().rfind(|datagram| datagram.direction == Direction::ToClient).unwrap();
    client.handle_input(transcript.at, &last.bytes);
    let certificate_required = FailureKind::AlertReceived { description: 116 };
    assert_eq!(failure(&client.status()).kind, certificate_required);
}

#[test]
fn a_session_is_the_same_with_the_same_seeds() {
    let first = pair().run(&Path::default());
    assert_eq!(first, pair().run(&Path::default()));
    let mut other = pair();
    other.client.seed = [9; 32];
    assert_ne!(first.datagrams[0].bytes, other.run(&Path::default()).datagrams[0].bytes);
}

/// A suite that the other end has not.
#[test]
fn no_common_suite() {
    let mut pair = pair();
    tls(&mut pair.client).suite = Some(Suite::TLS_AES_256_GCM_SHA384);
    let transcript = pair.run(&Path::default());
    assert_eq!(failure(&transcript.client).kind, FailureKind::AlertReceived { description: 40 });
    // The server waits for another client.
    assert_eq!(transcript.server, Status::Handshaking);
}

/// Damage to a datagram on its way.
fn damaged() -> impl Strategy<Value = (usize, Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>)> {
    let octets = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (0..12_usize, octets, prop::option::of(any::<prop::sample::Index>()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever comes before each datagram: damaged copies, and octets of nobody. Who has not the keys changes nothing: either
    /// the handshake completes, or it ends in an orderly way.
    #[test]
    fn whatever_arrives(
        damages in prop::collection::vec(damaged(), 1..5),
        garbage in prop::collection::vec(any::<u8>(), 0..1400),
        first in any::<u8>(),
    ) {
        let (mut client, mut server) = pair().build();
        client.start(Duration::ZERO);
        let mut garbage = garbage;
        garbage.insert(0, first);
        let (mut now, mut number) = (Duration::ZERO, 0);
        for _ in 0..60 {
            let before = number;
            for way in 0..2 {
                let (from, to) = if way == 0 { (&mut client, &mut server) } else { (&mut server, &mut client) };
                while let Some(datagram) = from.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                    to.handle_input(now, &garbage);
                    for (_, octets, length) in damages.iter().filter(|(at, ..)| *at == number) {
                        let mut datagram = datagram.clone();
                        for (at, octet) in octets {
                            let at = at.index(datagram.len());
                            datagram[at] = *octet;
                        }
                        datagram.truncate(length.map_or(datagram.len(), |length| length.index(datagram.len() + 1)));
                        to.handle_input(now, &datagram);
                    }
                    to.handle_input(now, &datagram);
                    number += 1;
                }
            }
            if number == before {
                let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else { break };
                now = now.max(deadline);
                client.handle_timeout(now);
                server.handle_timeout(now);
            }
        }
        for end in [client, server] {
            prop_assert_eq!(end.negotiated().is_some(), matches!(end.status(), Status::Established { .. }));
        }
    }
}

/// The names of the keys are those of TLS 1.3, so that Wireshark finds them.
#[test]
fn the_key_log() {
    let (mut client, mut server) = pair().build();
    Path::default().run_until_quiet(&mut *client, &mut *server);
    let labels = |end: &dyn Session| {
        let mut labels: Vec<_> = end.key_log().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
        labels.sort_unstable();
        labels
    };
    assert_eq!(labels(&*client), labels(&*server));
    assert!(labels(&*client).contains(&"CLIENT_TRAFFIC_SECRET_0".to_owned()));
}
