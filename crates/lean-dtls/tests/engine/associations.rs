//! Whose datagram it is, and who keeps a slot: several clients of a server, one of whom may be an attacker.

use lean_dtls::{Admission, Client, Config, Instant, RustCrypto, Server, Status, Timeouts};

use crate::network::At as _;
use crate::network::{Address, PEER, Random, from_client, from_server, random};
use crate::world::{KEYS, Keys};

type TestClient = Client<Keys, RustCrypto<Random>, 512>;
type TestServer<const SLOTS: usize> = Server<Keys, RustCrypto<Random>, Address, SLOTS, 512>;

const NOW: Instant = Instant::from_millis(0);

/// A configuration of each version.
fn configs() -> Vec<Config<Keys>> {
    let config = Config::new(KEYS, 400, Timeouts { initial_ms: 1000, ..Timeouts::default() }).unwrap();
    #[cfg(feature = "dtls13")]
    return vec![config, config.with_versions(lean_dtls::Versions::Dtls13)];
    #[cfg(not(feature = "dtls13"))]
    vec![config]
}

fn client(seed: u64, config: Config<Keys>) -> TestClient {
    let mut client = Client::new(config, RustCrypto::new(random(seed)));
    client.connect();
    client
}

fn server<const SLOTS: usize>(config: Config<Keys>) -> TestServer<SLOTS> {
    Server::new(config, RustCrypto::new(random(99)))
}

/// Exchanges datagrams so many times. Returns those of the client.
fn exchange<const SLOTS: usize>(
    client: &mut TestClient,
    server: &mut TestServer<SLOTS>,
    at: Address,
    times: usize,
    now: Instant,
) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    for _ in 0..times {
        for datagram in from_client(client, now) {
            server.hear(at, &mut datagram.clone(), |_| {});
            sent.push(datagram);
        }
        for (to, mut datagram) in from_server(server, now) {
            if to == at {
                client.receive(&mut datagram, |_| {});
            }
        }
    }
    sent
}

/// True if what the client sends arrives, and what the server answers.
fn works<const SLOTS: usize>(client: &mut TestClient, server: &mut TestServer<SLOTS>, at: Address) -> bool {
    let (mut datagram, mut heard) = ([0; 100], Vec::new());
    let Ok(length) = client.send(b"up", &mut datagram) else { return false };
    server.hear(at, &mut datagram[..length], |data| heard.extend_from_slice(data));
    let Ok(length) = server.send_at(at, b"down", &mut datagram) else { return false };
    client.receive(&mut datagram[..length], |data| heard.extend_from_slice(data));
    heard == b"updown"
}

/// Somebody has recorded a handshake with its cookie, and sends its datagrams again, in any order, when the same client has a newer
/// session: it goes on (RFC 6347, section 4.2.8; RFC 9147, section 5.11).
fn replay<const SLOTS: usize>() {
    for config in configs() {
        let mut server = server::<SLOTS>(config);
        let mut old = client(1, config);
        let recorded = exchange(&mut old, &mut server, PEER, 4, NOW);
        assert!(works(&mut old, &mut server, PEER));
        let mut new = client(2, config);
        exchange(&mut new, &mut server, PEER, 4, NOW);
        assert!(works(&mut new, &mut server, PEER), "a client that really begins again gets in");
        for first in 0..recorded.len() {
            for datagram in recorded[first..].iter().chain(&recorded) {
                server.hear(PEER, &mut datagram.clone(), |_| panic!("delivered"));
                for (_, mut datagram) in from_server(&mut server, NOW) {
                    new.receive(&mut datagram, |_| {});
                }
                assert!(works(&mut new, &mut server, PEER), "{SLOTS} slots, after datagram {first}");
            }
        }
    }
}

#[test]
fn an_old_hello_ends_no_newer_session() {
    replay::<1>();
    replay::<2>();
    replay::<4>();
}

/// Somebody at the address of a client begins a handshake, and does not finish it. As long as there is another slot, the session of the
/// client lives: it ends when the new handshake has proved itself.
#[test]
fn a_session_lives_until_the_next_one_of_its_client_has_proved_itself() {
    for config in configs() {
        let mut server = server::<2>(config);
        let mut old = client(1, config);
        exchange(&mut old, &mut server, PEER, 4, NOW);
        let mut new = client(2, config);
        exchange(&mut new, &mut server, PEER, 2, NOW);
        let in_between = from_client(&mut new, NOW);
        assert!(!in_between.is_empty(), "it would go on");
        assert!(works(&mut old, &mut server, PEER), "the old one does not know of the new one");
        for mut datagram in in_between {
            server.hear(PEER, &mut datagram, |_| {});
        }
        exchange(&mut new, &mut server, PEER, 3, NOW);
        assert!(works(&mut new, &mut server, PEER));
        let mut datagram = [0; 100];
        let length = old.send(b"old", &mut datagram).unwrap();
        server.hear(PEER, &mut datagram[..length], |_| panic!("delivered"));
    }
}

/// A handshake at each slot that is never finished, from addresses where somebody listens: another client gets a slot when the bound is
/// over, that of the oldest; not before, and not that of a client with a session.
#[test]
fn handshakes_that_are_not_finished_keep_nobody_out_for_long() {
    for config in configs() {
        let (bound, timeouts) = (5_000, Timeouts { initial_ms: 9_000, ..Timeouts::default() });
        let server_config = Config::new(KEYS, 400, timeouts).unwrap().with_half_open_ms(bound);
        #[cfg(feature = "dtls13")]
        let server_config = server_config.with_versions(lean_dtls::Versions::Both);
        let mut server = server::<4>(server_config);
        let mut honest = client(1, config);
        exchange(&mut honest, &mut server, [1, 1], 4, NOW);
        for number in 2..=4 {
            let at = Instant::from_millis(100 * u64::from(number));
            exchange(&mut client(number.into(), config), &mut server, [1, number], 2, at);
            assert_eq!(server.status_at([1, number]), Some(Status::Handshaking));
        }
        for (at, is_in) in [(4_000, false), (5_199, false), (5_200, true)] {
            let now = Instant::from_millis(at);
            assert!(from_server(&mut server, now).is_empty());
            let mut late = client(at, config);
            exchange(&mut late, &mut server, PEER, 4, now);
            assert_eq!(late.status() == Status::Established, is_in, "{at} ms");
        }
        assert_eq!([1, 2, 3, 4].map(|number| server.status_at([1, number]).is_some()), [true, false, true, true]);
        assert!(works(&mut honest, &mut server, [1, 1]));
    }
}

/// Half-open connections go first also where a policy would end a session.
#[test]
#[cfg(feature = "eviction")]
fn a_policy_ends_no_session_while_a_handshake_takes_too_long() {
    for admission in [Admission::EvictOldest, Admission::EvictLeastRecentlyUsed] {
        for config in configs() {
            let mut server = server::<2>(config.with_admission(admission).with_half_open_ms(1_000));
            let mut honest = client(1, config);
            exchange(&mut honest, &mut server, [1, 1], 4, NOW);
            exchange(&mut client(2, config), &mut server, [1, 2], 2, NOW);
            let now = Instant::from_millis(1_000);
            assert!(from_server(&mut server, now).len() <= 1);
            let mut late = client(3, config);
            exchange(&mut late, &mut server, PEER, 4, now);
            assert_eq!(late.status(), Status::Established);
            assert!(works(&mut honest, &mut server, [1, 1]), "{admission:?}");
        }
    }
}

/// A ClientHello again and again, whatever the rhythm: the half-open connection has an end.
#[test]
fn a_hello_that_is_repeated_for_ever_keeps_no_slot() {
    for config in configs() {
        for every_ms in [10, 500, 800, 999, 1_000, 8_000, 59_000] {
            let mut server = server::<1>(config);
            let mut attacker = client(1, config);
            exchange(&mut attacker, &mut server, PEER, 1, NOW);
            let hello = from_client(&mut attacker, NOW).remove(0);
            let (mut at, mut next) = (0, 0);
            loop {
                let now = Instant::from_millis(at);
                server.handle_timeout(now);
                if at >= next {
                    server.hear(PEER, &mut hello.clone(), |_| {});
                    next += every_ms;
                }
                from_server(&mut server, now);
                if server.status_at(PEER) != Some(Status::Handshaking) {
                    break;
                }
                let deadline = server.deadline().map_or(u64::MAX, Instant::as_millis);
                at = next.min(deadline.max(at + 1));
                // Each of eight waits is begun twice at most: 2 * 183 s.
                assert!(at < 366_000, "one hello each {every_ms} ms");
            }
        }
    }
}

/// RFC 9146, section 6: with connection IDs, the address says nothing about the sender. B's record from A's address is B's; its answer
/// goes to B, and B's name is B.
#[test]
#[cfg(feature = "connection-id")]
fn data_belong_to_their_association_whatever_the_address() {
    const A: lean_dtls::Psk<'static> = lean_dtls::Psk { identity: b"A", key: b"0123456789abcdef" };
    const B: lean_dtls::Psk<'static> = lean_dtls::Psk { identity: b"B", key: b"fedcba9876543210" };
    const AT: [Address; 2] = [[1, 1], [2, 2]];
    for follows in [false, true] {
        for versions in configs() {
            let with = |keys: [lean_dtls::Psk<'static>; 2]| {
                let config = Config::new(keys, 400, Timeouts::default()).unwrap().with_connection_id(4).unwrap();
                let config = if follows { config.with_followed_addresses() } else { config };
                #[cfg(feature = "dtls13")]
                return config.with_versions(client(1, versions).versions());
                #[cfg(not(feature = "dtls13"))]
                config
            };
            let _ = versions;
            let mut server = Server::<_, _, Address, 2, 512>::new(with([A, B]), RustCrypto::new(random(99)));
            let mut clients = [([A, B], 1), ([B, A], 2)].map(|(keys, seed)| {
                let client = Client::<_, _, 512>::new(with(keys), RustCrypto::new(random(seed)));
                (client, AT[usize::from(seed == 2)])
            });
            for (client, at) in &mut clients {
                client.connect();
                for _ in 0..4 {
                    from_client(client, NOW).iter_mut().for_each(|sent| server.hear(*at, sent, |_| {}));
                    from_server(&mut server, NOW).iter_mut().for_each(|(_, sent)| client.receive(sent, |_| {}));
                }
                assert_eq!(client.status(), Status::Established);
            }
            let [a, b] = AT.map(|at| server.association_at(at).unwrap());
            assert_eq!([a, b].map(|each| server.peer_identity(each)), [Some(&b"A"[..]), Some(b"B")]);
            let (mut datagram, mut heard) = ([0; 100], Vec::new());
            let length = clients[1].0.send(b"from B", &mut datagram).unwrap();
            let whose = server.receive(AT[0], &mut datagram[..length], |data| heard.extend_from_slice(data));
            assert_eq!((heard.as_slice(), whose), (&b"from B"[..], Some(b)));
            assert_eq!((server.address(a), server.address(b)), (Some(AT[0]), Some(AT[1])), "it is A's address");
            let length = server.send(b, b"to B", &mut datagram).unwrap();
            let mut answer = datagram[..length].to_vec();
            clients[0].0.receive(&mut answer.clone(), |_| panic!("A can read it"));
            clients[1].0.receive(&mut answer, |data| assert_eq!(data, b"to B"));
            // A record that is forged, or comes a second time, is nobody's.
            let length = clients[1].0.send(b"again", &mut datagram).unwrap();
            let (sent, mut forged) = (datagram[..length].to_vec(), datagram[..length].to_vec());
            forged[length - 1] ^= 1;
            assert_eq!(server.receive(AT[1], &mut forged, |_| panic!("delivered")), None);
            assert_eq!(server.receive(AT[1], &mut sent.clone(), |_| {}), Some(b));
            assert_eq!(server.receive(AT[1], &mut sent.clone(), |_| panic!("delivered")), None);
            // At a new address it stays the same association.
            let length = clients[1].0.send(b"moved", &mut datagram).unwrap();
            assert_eq!(server.receive([3, 3], &mut datagram[..length], |_| {}), Some(b));
            assert_eq!(server.address(b), Some(if follows { [3, 3] } else { AT[1] }));
            assert_eq!((server.status(b), server.peer_identity(b)), (Some(Status::Established), Some(&b"B"[..])));
            server.close(b);
            assert_eq!((server.status(b), server.peer_identity(b)), (Some(Status::Closing), None));
        }
    }
}

/// The name of an association that has lost its slot names nothing, whoever has the slot now.
#[test]
fn an_association_without_a_slot_is_gone() {
    for config in configs() {
        let mut server = server::<1>(config);
        let mut first = client(1, config);
        exchange(&mut first, &mut server, [1, 1], 4, NOW);
        let gone = server.association_at([1, 1]).unwrap();
        assert_eq!(lean_dtls::Association::with_number(gone.number()), Some(gone));
        first.close();
        exchange(&mut first, &mut server, [1, 1], 1, NOW);
        exchange(&mut client(2, config), &mut server, [2, 2], 4, NOW);
        assert_eq!((server.status(gone), server.address(gone), server.peer_identity(gone)), (None, None, None));
        assert_eq!(server.send(gone, b"x", &mut [0; 100]), Err(lean_dtls::SendError::NotEstablished));
        assert_eq!(server.associations().count(), 1);
    }
}

/// Waits that are far shorter than the round trip: both ends send again and again, and are established all the same. Nothing that an
/// attacker could do as well takes from their patience.
#[test]
fn waits_far_below_the_round_trip_end_no_handshake() {
    for config in configs() {
        // The first wait is 1 s.
        for way_ms in [300, 2_500, 10_000, 30_000] {
            let (mut client, mut server) = (client(1, config), server::<1>(config));
            let mut flying: std::collections::VecDeque<(u64, bool, Vec<u8>)> = [].into();
            let mut at = 0;
            while client.status() == Status::Handshaking || server.status_at(PEER) != Some(Status::Established) {
                let now = Instant::from_millis(at);
                let sent = from_client(&mut client, now).into_iter().map(|sent| (at + way_ms, true, sent));
                flying.extend(sent);
                let sent = from_server(&mut server, now).into_iter().map(|(_, sent)| (at + way_ms, false, sent));
                flying.extend(sent);
                let deadlines = [client.deadline(), server.deadline()].into_iter().flatten().map(Instant::as_millis);
                let Some(next) = deadlines.chain(flying.front().map(|sent| sent.0)).min() else { break };
                at = next.max(at);
                if flying.front().is_some_and(|sent| sent.0 <= at) {
                    let (_, is_to_server, mut datagram) = flying.pop_front().unwrap();
                    match is_to_server {
                        true => server.hear(PEER, &mut datagram, |_| {}),
                        false => client.receive(&mut datagram, |_| {}),
                    }
                } else {
                    client.handle_timeout(Instant::from_millis(at));
                    server.handle_timeout(Instant::from_millis(at));
                }
            }
            assert_eq!(client.status(), Status::Established, "{way_ms} ms each way, {at} ms");
        }
    }
}
