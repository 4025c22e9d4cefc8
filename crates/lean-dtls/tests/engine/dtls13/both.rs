//! Ends that speak both versions.

use lean_dtls::crypto::{Aead, Group};
use lean_dtls::{Config, HeartbeatError, Instant, Lean, RustCrypto, Server, SessionCache, Status, Suite, Versions};
use proptest::prelude::*;

use super::world::{
    KEYS, Keys, PEER, TestClient, TestServer, client, config, fates, from_client, random, run, server, to_client,
    to_server,
};
use crate::network::At as _;

const NOW: Instant = Instant::from_millis(0);

/// The version that a client and a server agree on.
const PAIRS: [([Versions; 2], Versions); 5] = [
    ([Versions::Both, Versions::Both], Versions::Dtls13),
    ([Versions::Both, Versions::Dtls13], Versions::Dtls13),
    ([Versions::Both, Versions::Dtls12], Versions::Dtls12),
    ([Versions::Dtls13, Versions::Both], Versions::Dtls13),
    ([Versions::Dtls12, Versions::Both], Versions::Dtls12),
];

fn pair(versions: [Versions; 2], change: impl Fn(Config<Keys>) -> Config<Keys>) -> (TestClient, TestServer) {
    let [own, peers] = versions.map(|versions| change(config(KEYS, 512).with_versions(versions)));
    (client(1, own), server(peers))
}

/// Both ends are established with this version, and what one sends the other reads.
fn works(client: &mut TestClient, server: &mut TestServer, version: Versions) {
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    assert_eq!((client.versions(), server.versions_at(PEER)), (version, Some(version)));
    assert_eq!(to_server(client, server, b"22.5 C"), b"22.5 C");
    assert_eq!(to_client(client, server, &[7; 40]), [7; 40]);
}

#[test]
fn two_ends_speak_the_latest_version_that_both_have() {
    for (versions, version) in PAIRS {
        for suites in [Suite::DEFAULT, Suite::ALL] {
            let (mut client, mut server) = pair(versions, |config| config.with_suites(suites));
            assert_eq!((client.versions(), server.versions_at(PEER)), (versions[0], None));
            let (trace, at) = run(&mut client, &mut server, []);
            works(&mut client, &mut server, version);
            assert_eq!(at, 0, "{versions:?}: no timer was needed");
            // ClientHello, HelloRetryRequest, ClientHello, ServerHello to Finished, Finished, acknowledgement; or ClientHello,
            // HelloVerifyRequest, ClientHello, ServerHello to ServerHelloDone, ClientKeyExchange to Finished, Finished.
            assert_eq!(trace.len(), 6, "{versions:?}");
        }
    }
}

/// An end with one version does not hear of the other one.
#[test]
fn the_hello_of_a_client_with_one_version_is_as_it_was() {
    let hello = |versions| {
        let mut client = client(1, config(KEYS, 512).with_versions(versions));
        client.connect();
        from_client(&mut client, NOW).remove(0)
    };
    let [older, newer, both] = [Versions::Dtls12, Versions::Dtls13, Versions::Both].map(hello);
    let number_of_versions =
        |hello: &[u8]| hello.windows(4).find(|octets| octets[..2] == [0, 43]).map(|octets| octets[3]);
    assert_eq!(
        (number_of_versions(&older), number_of_versions(&newer), number_of_versions(&both)),
        (None, Some(3), Some(5))
    );
    // DTLS 1.2 adds a version, a suite with the signal of RFC 5746, and extended_master_secret.
    assert_eq!(both.len(), newer.len() + 2 + 4 + 4);
}

proptest! {
    #[test]
    fn a_handshake_completes_when_the_network_does_no_more_harm(
        fates in fates(),
        (versions, version) in proptest::sample::select(&PAIRS[..]),
        mtus in [64_u16..220, 64_u16..220],
        ids in [0_u8..5, 0_u8..5],
        has_agreement in any::<bool>(),
        group in prop_oneof![Just(Group::ALL), Just(&[Group::X25519][..])],
        seed in 1_u64..1000,
    ) {
        let suites = if has_agreement { &[Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256][..] } else { Suite::DEFAULT };
        let [own, peers] = [0, 1].map(|end| {
            let config = config(KEYS, mtus[end]).with_versions(versions[end]).with_suites(suites);
            let config = config.with_connection_id(ids[end]).unwrap().with_aeads(&[Aead::Gcm]);
            if has_agreement { config.with_psk_agreement() } else { config }
        });
        // The server may ask for the other group.
        let (mut client, mut server) = (client(seed, own), server(peers.with_groups(group)));
        let (trace, _) = run(&mut client, &mut server, fates);
        prop_assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
        works(&mut client, &mut server, version);
        prop_assert_eq!(client.connection_ids(), Some(ids.map(usize::from)));
        prop_assert_eq!((client.deadline(), server.deadline()), (None, None));
        for (_, is_to_server, datagram) in trace {
            prop_assert!(datagram.len() <= usize::from(mtus[usize::from(!is_to_server)]));
        }
    }
}

/// The extensions in a ClientHello, which is a datagram of its own: their numbers and contents.
fn extensions(datagram: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let number = |octets: &[u8]| u16::from_be_bytes([octets[0], octets[1]]);
    // After the headers, version and random number: session, cookie, suites, compression methods.
    let mut rest = &datagram[13 + 12 + 2 + 32..];
    rest = &rest[1 + usize::from(rest[0])..];
    rest = &rest[1 + usize::from(rest[0])..];
    rest = &rest[2 + usize::from(number(rest))..];
    rest = &rest[1 + usize::from(rest[0]) + 2..];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (content, after) = rest[4..].split_at(number(&rest[2..]).into());
        found.push((number(rest), content.to_vec()));
        rest = after;
    }
    found
}

/// RFC 8446, section 4.1.2: after a HelloRetryRequest the client says the same, with the cookie and another binder. After a
/// HelloVerifyRequest it says the same with the cookie of that.
#[test]
fn the_second_hello_is_the_first_one_with_the_cookie() {
    const COOKIE: u16 = 44;
    const PRE_SHARED_KEY: u16 = 41;
    for peers in [Versions::Both, Versions::Dtls12] {
        let everything = |config: Config<Keys>| {
            let config = config.with_connection_id(3).unwrap().with_heartbeats().with_tickets().with_lean(Lean::ALL);
            config.with_record_size_limit(300).unwrap().with_suites(Suite::ALL)
        };
        let (mut client, mut server) = pair([Versions::Both, peers], everything);
        let (trace, _) = run(&mut client, &mut server, []);
        let hellos: Vec<_> =
            trace.iter().filter(|(_, is_to_server, _)| *is_to_server).map(|sent| &sent.2).take(2).collect();
        // Version, random number, session: up to the cookie of DTLS 1.2.
        assert_eq!(hellos[0][25..60], hellos[1][25..60]);
        let [first, second] = [0, 1].map(|number| {
            let without = extensions(hellos[number]).into_iter().filter(|(extension, _)| *extension != COOKIE);
            without
                .map(|(extension, content)| match extension {
                    PRE_SHARED_KEY => (extension, content[..content.len() - 32].to_vec()),
                    _ => (extension, content),
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(first, second);
        assert_eq!(extensions(hellos[1]).iter().any(|(number, _)| *number == COOKIE), peers == Versions::Both);
        assert_eq!(first.last().unwrap().0, PRE_SHARED_KEY, "it is always the last");
        let mut numbers: Vec<_> = first.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), first.len(), "none is there twice");
    }
}

#[test]
fn what_dtls12_has_besides_works_if_it_is_chosen() {
    let (mut client, mut server) =
        pair([Versions::Both, Versions::Dtls12], |config| config.with_heartbeats().with_lean(Lean::ALL));
    let (trace, _) = run(&mut client, &mut server, []);
    works(&mut client, &mut server, Versions::Dtls12);
    // The lean profile: ServerHello and the server's Finished follow the cookie, and the client's Finished ends it.
    assert!(trace[4..].iter().all(|(_, _, datagram)| datagram.len() < 40), "{trace:?}");
    assert_eq!(client.heartbeat(), Ok(()));

    let (mut client, mut server) = pair([Versions::Both; 2], |config| config.with_heartbeats().with_lean(Lean::ALL));
    run(&mut client, &mut server, []);
    works(&mut client, &mut server, Versions::Dtls13);
    assert_eq!(client.heartbeat(), Err(HeartbeatError::NotAgreed));
}

/// A session of DTLS 1.2 is resumed by a server that speaks nothing else. A server that has learnt DTLS 1.3 has no use for it.
#[test]
fn a_session_of_dtls12_is_resumed_until_the_server_speaks_dtls13() {
    type Caching = Server<Keys, RustCrypto<super::world::Random>, super::world::Address, 2, 384, SessionCache<2>>;
    for has_tickets in [false, true] {
        let with = |versions| {
            let config = config(KEYS, 512).with_versions(versions);
            if has_tickets { config.with_tickets() } else { config }
        };
        let mut kept: Option<lean_dtls::Session> = None;
        let mut cache = SessionCache::<2>::new();
        for (number, versions) in [Versions::Dtls12, Versions::Dtls12, Versions::Both].into_iter().enumerate() {
            let mut own = client(1 + number as u64, with(Versions::Both));
            let mut server: Caching = Server::with_sessions(with(versions), RustCrypto::new(random(99)), cache);
            server.rotate_ticket_key(&[3; 16]);
            kept.clone().into_iter().for_each(|session| own.resume(session));
            own.connect();
            for _ in 0..4 {
                for mut datagram in from_client(&mut own, NOW) {
                    server.hear(PEER, &mut datagram, |_| {});
                }
                let mut output = [0; 600];
                while let Some((_, length)) = server.poll_transmit(NOW, &mut output) {
                    own.receive(&mut output[..length], |_| {});
                }
            }
            assert_eq!((own.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
            assert_eq!(
                (own.is_resumed(), server.is_resumed_at(PEER)),
                (number == 1, number == 1),
                "{has_tickets} {number}"
            );
            let session = own.take_session();
            assert_eq!(session.is_some(), number < 2, "{has_tickets} {number}");
            kept = session.or(kept);
            cache = server.sessions().clone();
        }
    }
}

/// A client that is gone may come back with the other version.
#[test]
fn a_slot_takes_a_client_of_another_version() {
    let mut server = server(config(KEYS, 512).with_versions(Versions::Both));
    for (number, versions) in
        [Versions::Dtls12, Versions::Dtls13, Versions::Both, Versions::Dtls12].into_iter().enumerate()
    {
        let mut client = client(1 + number as u64, config(KEYS, 512).with_versions(versions));
        run(&mut client, &mut server, []);
        let version = if versions == Versions::Dtls12 { versions } else { Versions::Dtls13 };
        works(&mut client, &mut server, version);
    }
}
