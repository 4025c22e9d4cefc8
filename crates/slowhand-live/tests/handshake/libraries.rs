//! The instant at which a watcher calls an end established, against the one that its library tells.

use std::sync::Arc;
use std::time::Duration;

use slowhand_live::handshake::Alert;
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{
    Auth, Credential, CredentialKind, Dtls, LeanSwitch, Protocol, Resumption, Role, Session, SessionConfig, Stack,
    Status, Suite, Tls, Version, Weightless, build_pair,
};

use crate::watched::Watched;

/// Both ends of a session, to be changed before they are built.
#[derive(Clone)]
struct Pair([SessionConfig; 2]);

impl Pair {
    fn new(stacks: [Stack; 2], protocol: Protocol, suite: Suite) -> Self {
        let end = |role, stack: Stack, seed| {
            let credential = stack.capabilities().credential(suite).into();
            let mut config = SessionConfig::new(role, stack, protocol.family(), credential);
            config.seed = [seed; 32];
            tls(&mut config).suite = Some(suite);
            config
        };
        Self([end(Role::Client, stacks[0], 1), end(Role::Server, stacks[1], 2)])
    }

    fn both(mut self, change: impl Fn(&mut SessionConfig)) -> Self {
        self.0.iter_mut().for_each(change);
        self
    }

    /// The ends on computers that take no time.
    fn build(&self) -> [Watched; 2] {
        let [client, server] = &self.0;
        let is_stream = client.protocol().is_stream();
        let sessions = build_pair([client, server], [Arc::new(Weightless), Arc::new(Weightless)]).unwrap();
        let mut roles = [Role::Client, Role::Server].into_iter();
        sessions.map(|session| Watched::new(session, roles.next().unwrap(), is_stream))
    }

    fn run(&self, path: &Path) -> ([Watched; 2], Transcript) {
        let mut ends = self.build();
        let [client, server] = &mut ends;
        let transcript = path.run_until_quiet(client, server);
        (ends, transcript)
    }
}

fn tls(config: &mut SessionConfig) -> &mut Tls {
    let Some(tls) = config.family.tls_mut() else { panic!("a session of TLS or DTLS") };
    tls
}

fn dtls(config: &mut SessionConfig) -> &mut Dtls {
    match &mut tls(config).version {
        Version::Dtls12(dtls) | Version::Dtls13(dtls) => dtls,
        version => panic!("{version:?}"),
    }
}

/// Runs a handshake, and compares both ends. Where a library gives up, the watcher does not call it established either.
fn compare(pair: &Pair, path: &Path, name: &str) -> Transcript {
    let (ends, transcript) = pair.run(path);
    for (end, which) in ends.iter().zip(["client", "server"]) {
        assert!(end.watcher.is_secure() && !end.watcher.is_closed(), "{name}");
        assert_eq!(end.seen, end.told, "{name}: the {which}");
    }
    transcript
}

/// Compares both ends with [`compare`]; the handshake must complete.
fn agree(pair: &Pair, name: &str) -> Transcript {
    let transcript = compare(pair, &Path::default(), name);
    assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
    transcript
}

/// Compares the ends as [`agree`] does, and with the loss of each datagram in turn.
fn agree_with_losses(pair: &Pair, name: &str) {
    for number in 0..agree(pair, name).datagrams.len() {
        compare(pair, &Path { dropped: vec![number], ..Path::default() }, &format!("{name}, {number} lost"));
    }
}

/// Compares the ends as [`agree`] does, and with the loss or a delay of each datagram in turn, so that later ones come first.
fn agree_with_faults(pair: &Pair, name: &str) {
    agree_with_losses(pair, name);
    for number in 0..agree(pair, name).datagrams.len() {
        let held_back = vec![(number, Duration::from_millis(120))];
        compare(pair, &Path { held_back, ..Path::default() }, &format!("{name}, {number} late"));
    }
}

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const CERTIFICATES: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;

#[test]
fn dtls12_of_every_library() {
    let [lean, mbedtls, openssl, tinydtls] = [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS];
    for suite in [PSK, CERTIFICATES] {
        for stacks in [[mbedtls, mbedtls], [openssl, openssl], [lean, lean], [lean, openssl], [mbedtls, lean]] {
            agree_with_faults(&Pair::new(stacks, Protocol::Dtls12, suite), &format!("{stacks:?} {suite}"));
        }
        // It does not keep a Finished that comes before ChangeCipherSpec, and never completes then.
        agree_with_losses(&Pair::new([tinydtls; 2], Protocol::Dtls12, suite), &format!("tinydtls {suite}"));
    }
}

#[test]
fn dtls12_in_small_datagrams() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::LEAN_DTLS] {
        let pair = Pair::new([stack; 2], Protocol::Dtls12, CERTIFICATES).both(|config| config.mtu = Some(256));
        agree_with_faults(&pair, &format!("{stack}"));
    }
}

/// Here the client sends the last flight.
#[test]
fn resumption() {
    for resumption in [Resumption::Id, Resumption::Ticket] {
        for stack in [Stack::MBEDTLS, Stack::LEAN_DTLS] {
            let pair =
                Pair::new([stack; 2], Protocol::Dtls12, PSK).both(|config| tls(config).resumption = Some(resumption));
            agree_with_faults(&pair, &format!("{stack} {resumption}"));
        }
        let pair = Pair::new([Stack::MBEDTLS; 2], Protocol::Tls12, PSK)
            .both(|config| tls(config).resumption = Some(resumption));
        agree(&pair, &format!("TLS {resumption}"));
    }
}

#[test]
fn connection_ids_and_the_lean_profile() {
    for stack in [Stack::MBEDTLS, Stack::LEAN_DTLS] {
        let pair = Pair::new([stack; 2], Protocol::Dtls12, PSK).both(|config| dtls(config).connection_id = Some(4));
        agree_with_faults(&pair, &format!("{stack}"));
    }
    for switch in LeanSwitch::EACH {
        let lean = Pair::new([Stack::LEAN_DTLS; 2], Protocol::Dtls12, PSK)
            .both(|config| dtls(config).lean = [LeanSwitch::OmitMessages, switch].into_iter().collect());
        agree_with_faults(&lean, &format!("{switch:?}"));
    }
}

#[test]
fn dtls13_with_every_credential() {
    for suite in [Suite::TLS_AES_128_CCM_8_SHA256, Suite::TLS_AES_128_GCM_SHA256] {
        for credential in [CredentialKind::Psk, CredentialKind::RawPublicKey, CredentialKind::Certificate] {
            for (mtu, connection_id) in [(None, None), (Some(256), None), (None, Some(2))] {
                let pair = Pair::new([Stack::LEAN_DTLS; 2], Protocol::Dtls13, suite).both(|config| {
                    config.credential = credential.into();
                    config.mtu = mtu;
                    dtls(config).connection_id = connection_id;
                });
                agree_with_faults(&pair, &format!("{suite} {credential} {mtu:?} {connection_id:?}"));
            }
        }
    }
}

#[test]
fn tls_of_every_library() {
    for (protocol, suite) in TLS {
        for client in [Stack::MBEDTLS, Stack::OPENSSL, Stack::RUSTLS] {
            for server in [Stack::MBEDTLS, Stack::OPENSSL, Stack::RUSTLS] {
                for auth in [Auth::Server, Auth::Mutual] {
                    let pair = Pair::new([client, server], protocol, suite).both(|config| tls(config).auth = auth);
                    match (client, protocol, auth) {
                        (Stack::RUSTLS, Protocol::Tls13, Auth::Mutual) => a_flight_in_one_record(&pair),
                        _ => drop(agree(&pair, &format!("{client} to {server}, {protocol}, {auth}"))),
                    }
                }
            }
        }
    }
}

const TLS: [(Protocol, Suite); 2] = [
    (Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    (Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
];

/// rustls puts Certificate, CertificateVerify and Finished into one record. What the server sends next says that they were
/// right; with records of an alert's length, the second one.
fn a_flight_in_one_record(pair: &Pair) {
    let ([client, mut server], transcript) = pair.run(&Path::default());
    assert_eq!((client.seen, server.seen.is_none()), (client.told, true));
    for _ in 0..2 {
        server.write(transcript.at, b"22.5 C").unwrap();
        while server.poll_transmit().is_some() {}
    }
    assert!(server.watcher.is_established());
}

/// A server that refuses the client's flight says so by an alert, which nobody else can read.
#[test]
fn a_flight_that_the_server_refuses() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::RUSTLS] {
        let pair = Pair::new([Stack::OPENSSL, stack], Protocol::Tls13, TLS[1].1)
            .both(|config| tls(config).auth = Auth::Mutual);
        let [mut client, mut server] = pair.build();
        client.start(Duration::ZERO);
        while client.told.is_none() {
            let hello = client.poll_transmit().expect("the handshake goes on").bytes.to_vec();
            server.handle_input(Duration::ZERO, &hello);
            while let Some(octets) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                client.handle_input(Duration::ZERO, &octets);
            }
        }
        let mut flight = Vec::new();
        while let Some(transmit) = client.poll_transmit() {
            flight.extend_from_slice(transmit.bytes);
        }
        let mut records: Vec<Vec<u8>> = Vec::new();
        while let [kind, _, _, high, low, ..] = flight[..] {
            let rest = flight.split_off(5 + usize::from(u16::from_be_bytes([high, low])));
            let is_damaged = kind == 23 && records.iter().all(|record| record[0] != 23);
            *flight.last_mut().unwrap() ^= u8::from(is_damaged);
            records.push(std::mem::replace(&mut flight, rest));
        }
        let mut alerts = 0;
        for record in &records {
            server.handle_input(Duration::ZERO, record);
            while server.poll_transmit().is_some() {
                alerts += 1;
            }
        }
        assert!(alerts > 0 && records.len() > 2, "{stack}");
        assert!(matches!(server.status(), Status::Failed(_)), "{stack}");
        assert!(!server.watcher.is_established(), "{stack}");
    }
}

/// With a ticket for the next session, which the server sends at once.
#[test]
fn tickets_of_tls13() {
    for stack in [Stack::MBEDTLS, Stack::RUSTLS] {
        let pair = Pair::new([stack; 2], Protocol::Tls13, TLS[1].1)
            .both(|config| tls(config).resumption = Some(Resumption::Ticket));
        agree(&pair, &format!("{stack}"));
    }
}

/// A close_notify of either end ends a session of 1.2, also for the other one. In 1.3 nobody sees it.
#[test]
fn a_closed_session() {
    for (stack, protocol, suite, is_visible) in [
        (Stack::MBEDTLS, Protocol::Dtls12, PSK, true),
        (Stack::TINYDTLS, Protocol::Dtls12, PSK, true),
        (Stack::OPENSSL, Protocol::Tls12, PSK, true),
        (Stack::LEAN_DTLS, Protocol::Dtls13, Suite::TLS_AES_128_CCM_8_SHA256, false),
        (Stack::OPENSSL, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, false),
    ] {
        for closer in [0, 1] {
            let (mut ends, transcript) = Pair::new([stack; 2], protocol, suite).run(&Path::default());
            ends[closer].write(transcript.at, b"22.5 C").unwrap();
            while let Some(transmit) = ends[closer].poll_transmit() {
                let octets = transmit.bytes.to_vec();
                ends[1 - closer].handle_input(transcript.at, &octets);
            }
            assert!(ends.iter().all(|end| !end.watcher.is_closed()), "{stack} {protocol}");
            ends[closer].close(transcript.at);
            let close_notify = ends[closer].poll_transmit().unwrap().bytes.to_vec();
            ends[1 - closer].handle_input(transcript.at, &close_notify);
            let name = format!("{stack} {protocol}, by {closer}");
            assert!(ends.iter().all(|end| end.watcher.is_closed() == is_visible), "{name}");
            assert!(ends.iter().all(|end| end.watcher.is_established()), "{name}");
        }
    }
}

/// RFC 4279 section 2: a server that does not know the identity answers unknown_psk_identity (115).
#[test]
fn a_handshake_that_an_alert_ends() {
    for (protocol, stack) in [(Protocol::Dtls12, Stack::MBEDTLS), (Protocol::Tls12, Stack::MBEDTLS)] {
        let mut pair = Pair::new([stack; 2], protocol, PSK);
        pair.0[0].credential = Credential::Psk { identity: "nobody".into(), key: vec![1; 16].into() };
        let (ends, transcript) = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Failed, "{protocol}");
        assert_eq!(ends[1].watcher.alert(), Some(Alert::Sent(115)), "{protocol}");
        assert!(ends.iter().all(|end| end.watcher.is_secure() && !end.watcher.is_established()), "{protocol}");
    }
}
