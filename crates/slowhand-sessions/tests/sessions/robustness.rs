//! Whatever arrives, a session takes it without harm to the process, and goes on or fails in an orderly way.

use std::sync::Arc;
use std::time::Duration;

use lean_dtls::crypto::{Aead, Crypto, Protection, RustCrypto};
use proptest::prelude::*;
use slowhand_sessions::memory::{Direction, Path, Transcript};
use slowhand_sessions::{
    CredentialKind, FailureKind, Operation, Processor, Session, Stack, Status, Suite, Weightless, best_common_suite,
};

use crate::pair::{Pair, failure};

const KINDS: [(Stack, Suite); 6] = [
    (Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
    (Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_CCM_8),
    (Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
    (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    (Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    (Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
];

/// The damage to a datagram on its way.
#[derive(Clone, Debug)]
enum Damage {
    Octets(Vec<(prop::sample::Index, u8)>),
    Truncate(prop::sample::Index),
    Extend(Vec<u8>),
    Replace(Vec<u8>),
}

impl Damage {
    fn apply(&self, datagram: &mut Vec<u8>) {
        match self {
            Self::Octets(octets) => {
                for (at, octet) in octets {
                    let at = at.index(datagram.len());
                    datagram[at] = *octet;
                }
            }
            Self::Truncate(length) => datagram.truncate(length.index(datagram.len())),
            Self::Extend(octets) => datagram.extend(octets),
            Self::Replace(octets) => datagram.clone_from(octets),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4).prop_map(Damage::Octets),
        any::<prop::sample::Index>().prop_map(Damage::Truncate),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Damage::Extend),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Damage::Replace),
    ]
}

/// A handshake in which each datagram of the list comes once damaged, then as it is. Whenever it is quiet, a
/// timer expires.
fn run(pair: &Pair, damages: &[(usize, Damage)]) {
    let (mut client, mut server) = pair.build();
    client.start(Duration::ZERO);
    let mut number = 0;
    let mut now = Duration::ZERO;
    for _ in 0..40 {
        let before = number;
        for direction in [Direction::ToServer, Direction::ToClient] {
            let (sender, receiver): (&mut dyn Session, &mut dyn Session) = match direction {
                Direction::ToServer => (&mut *client, &mut *server),
                Direction::ToClient => (&mut *server, &mut *client),
            };
            while let Some(transmit) = sender.poll_transmit() {
                for (_, damage) in damages.iter().filter(|(at, _)| *at == number) {
                    let mut bytes = transmit.bytes.to_vec();
                    damage.apply(&mut bytes);
                    receiver.handle_input(now, &bytes);
                }
                receiver.handle_input(now, transmit.bytes);
                number += 1;
            }
        }
        if number > before {
            continue;
        }
        let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else { break };
        now = now.max(deadline);
        client.handle_timeout(now);
        server.handle_timeout(now);
    }
    for end in [&client, &server] {
        let complete = matches!(end.status(), Status::Established { .. });
        assert_eq!(end.negotiated().is_some(), complete);
        if let Status::Failed(failure) = end.status() {
            assert!(!failure.reason.is_empty(), "{failure:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_datagrams_psk(kind in 0..3usize, damages in prop::collection::vec((0..12usize, damage()), 1..4)) {
        let (stack, suite) = KINDS[kind];
        run(&Pair::new(stack, suite), &damages);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn damaged_datagrams_ecdhe(kind in 3..6usize, damages in prop::collection::vec((0..16usize, damage()), 1..4)) {
        let (stack, suite) = KINDS[kind];
        run(&Pair::new(stack, suite), &damages);
    }
}

#[test]
fn datagrams_of_another_session_are_harmless() {
    for (stack, suite) in KINDS {
        let mut other = Pair::new(stack, suite);
        other.client.seed = [7; 32];
        other.server.seed = [8; 32];
        let foreign = other.run(&Path::default());
        let (mut client, mut server) = Pair::new(stack, suite).build();
        client.start(Duration::ZERO);
        for datagram in &foreign.datagrams {
            match datagram.direction {
                Direction::ToServer => server.handle_input(Duration::ZERO, &datagram.bytes),
                Direction::ToClient => client.handle_input(Duration::ZERO, &datagram.bytes),
            }
        }
        for end in [client, server] {
            assert!(!matches!(end.status(), Status::Established { .. }), "{stack} {suite}");
        }
    }
}

/// A processor that never finishes.
struct Endless;

impl Processor for Endless {
    fn time(&self, _: Operation) -> Duration {
        Duration::MAX
    }
}

/// A panic would end the process here: the libraries read the clock from C.
#[test]
fn a_clock_at_its_end_harms_no_session() {
    for stack in Stack::BUILT_IN.iter().copied() {
        for protocol in stack.capabilities().protocols() {
            let credentials = [CredentialKind::Psk, CredentialKind::RawPublicKey, CredentialKind::Certificate];
            let suites = credentials.into_iter().filter_map(|kind| best_common_suite([stack; 2], protocol, kind));
            for suite in suites {
                for processor in [Arc::new(Weightless) as Arc<dyn Processor>, Arc::new(Endless)] {
                    let mut pair = Pair::of(stack, protocol, suite);
                    (pair.client_processor, pair.server_processor) = (processor.clone(), processor);
                    let (mut client, mut server) = pair.build();
                    client.start(Duration::MAX);
                    for _ in 0..8 {
                        while let Some(bytes) = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                            server.handle_input(Duration::MAX, &bytes);
                        }
                        while let Some(bytes) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                            client.handle_input(Duration::MAX, &bytes);
                        }
                        client.handle_timeout(Duration::MAX);
                        server.handle_timeout(Duration::MAX);
                    }
                    let (at_client, at_server) = (client.busy_until(), server.busy_until());
                    assert_eq!(at_client, at_server, "{stack} {protocol} {suite}");
                }
            }
        }
    }
}

/// A tinyDTLS server is established when it sends its ChangeCipherSpec. The client refuses a damaged one (RFC 5246
/// section 7.1: its only octet is 1) with a fatal alert, which the server must not ignore.
#[test]
fn a_fatal_alert_ends_an_established_session() {
    let (mut client, mut server) = Pair::new(Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8).build();
    client.start(Duration::ZERO);
    let mut was_established = false;
    for _ in 0..4 {
        while let Some(transmit) = client.poll_transmit() {
            server.handle_input(Duration::ZERO, transmit.bytes);
        }
        was_established |= matches!(server.status(), Status::Established { .. });
        while let Some(bytes) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            let mut damaged = bytes.clone();
            if let [20, .., octet] = &mut damaged[..] {
                *octet = 2;
            }
            client.handle_input(Duration::ZERO, &damaged);
        }
    }
    assert!(was_established);
    let status = server.status();
    assert!(matches!(failure(&status).kind, FailureKind::AlertReceived { .. }), "{status:?}");
    assert_eq!((server.negotiated(), server.deadline()), (None, None));
}

/// A client that waits for the server's certificate, the datagram that has it, and where its handshake header begins.
fn before_the_certificate(stack: Stack) -> (Box<dyn Session>, Vec<u8>, usize) {
    let (mut client, mut server) = Pair::new(stack, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8).build();
    client.start(Duration::ZERO);
    loop {
        while let Some(transmit) = client.poll_transmit() {
            server.handle_input(Duration::ZERO, transmit.bytes);
        }
        while let Some(bytes) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            if let Some(at) = certificate(&bytes) {
                return (client, bytes, at);
            }
            client.handle_input(Duration::ZERO, &bytes);
        }
    }
}

/// Where a Certificate message begins (RFC 6347: content type 22, length at octet 11, header of 13 octets; message 11).
fn certificate(datagram: &[u8]) -> Option<usize> {
    let mut record = 0;
    while let Some(header) = datagram.get(record..record + 14) {
        if (header[0], header[13]) == (22, 11) {
            return Some(record + 13);
        }
        record += 13 + usize::from(u16::from_be_bytes([header[11], header[12]]));
    }
    None
}

/// CVE-2026-35189 needs long certificates. The library's own limit is 102,400 octets (`SSL_MAX_CERT_LIST_DEFAULT`).
#[test]
fn openssl_takes_no_long_list_of_certificates() {
    let (mut client, mut datagram, at) = before_the_certificate(Stack::OPENSSL);
    datagram[at + 1..at + 4].copy_from_slice(&20_000u32.to_be_bytes()[1..]);
    client.handle_input(Duration::ZERO, &datagram);
    assert!(matches!(client.status(), Status::Failed(_)), "{:?}", client.status());
}

/// The library does not check the length of a Certificate (pull request 267 of eclipse-tinydtls), and would take the rest from
/// the datagram before, which lay in the same place.
#[test]
fn tinydtls_finds_nothing_after_the_end_of_a_datagram() {
    let (mut client, mut datagram, at) = before_the_certificate(Stack::TINYDTLS);
    assert_eq!(at, 13);
    let content_type = std::mem::replace(&mut datagram[0], 0);
    client.handle_input(Duration::ZERO, &datagram);
    assert_eq!(client.status(), Status::Handshaking, "it ignores a record without a type");
    // Only a header, which says that the message is empty (RFC 6347 section 4.2.2).
    datagram.truncate(at + 12);
    (datagram[0], datagram[12]) = (content_type, 12);
    datagram[11] = 0;
    datagram[at + 1..at + 4].fill(0);
    datagram[at + 9..at + 12].fill(0);
    client.handle_input(Duration::ZERO, &datagram);
    let status = client.status();
    assert!(failure(&status).reason.contains("decode_error"), "{status:?}");
}

/// CVE-2026-75806, which SECURITY.md says can be reached: a record too short for its nonce and tag ends the session, although
/// RFC 6347 section 4.1.2.7 has it dropped. A version without the hole fails this test: then remove it from `carriers.toml`.
#[test]
fn openssl_ends_with_a_short_record() {
    let (mut client, mut server) = Pair::new(Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_CCM_8).build();
    Path::default().run(&mut *client, &mut *server);
    assert!(matches!(server.status(), Status::Established { .. }));
    // Application data (23) of DTLS 1.2, epoch 1, a sequence number that the client has not used, and one octet.
    server.handle_input(Duration::ZERO, &[23, 254, 253, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0]);
    assert!(matches!(server.status(), Status::Failed(_)), "{:?}", server.status());
}

/// The library checks the length of a ClientHello with `assert` (issue 272 of eclipse-tinydtls), which would stop the process here.
/// In an established session its peer can send one that is too short.
#[test]
fn tinydtls_ignores_a_short_client_hello_of_its_peer() {
    let (mut client, mut server) = Pair::new(Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8).build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    let message = record(&transcript, &*client, &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    server.handle_input(Duration::ZERO, &message);
    assert!(matches!(server.status(), Status::Established { .. }), "{:?}", server.status());
}

/// A handshake message from the client, encrypted with AES-128-CCM-8 as record 9 of epoch 1 (RFC 6655 section 3).
fn record(transcript: &Transcript, client: &dyn Session, message: &[u8]) -> Vec<u8> {
    // CLIENT_RANDOM, the random and the master secret, in hexadecimal.
    let log = client.key_log().concat();
    let octets = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let [client_random, secret] = [1, 2].map(|word| octets(log.split(' ').nth(word).unwrap()));
    // After the headers of record and message, and the version (RFC 5246 section 7.4.1.3).
    let hello = transcript.datagrams.iter().find(|datagram| (datagram.bytes[0], datagram.bytes[13]) == (22, 2));
    let server_random = &hello.unwrap().bytes[27..59];

    // RFC 5246 sections 5 and 6.3: two blocks of the key block, of which each end has a key and then four octets of nonce.
    let mut crypto = RustCrypto::new(|_: &mut [u8]| ());
    let seed: [&[u8]; 3] = [b"key expansion", server_random, &client_random];
    let first = crypto.hmac(&secret, &seed);
    let second = crypto.hmac(&secret, &[&first]);
    let keys = [first, second].map(|a| crypto.hmac(&secret, &[&a, seed[0], seed[1], seed[2]])).concat();

    let number = [0, 1, 0, 0, 0, 0, 0, 9];
    let mut associated = number.to_vec();
    associated.extend([22, 254, 253, 0, u8::try_from(message.len()).unwrap()]);
    let protection = Protection {
        aead: Aead::Ccm8,
        key: keys[..16].try_into().unwrap(),
        nonce: &[&keys[32..36], &number[..]].concat().try_into().unwrap(),
        associated: &associated,
    };
    let (mut content, mut tag) = (message.to_vec(), [0; 8]);
    crypto.seal(&protection, &mut content, &mut tag).unwrap();
    let length = u8::try_from(number.len() + content.len() + tag.len()).unwrap();
    [&[22, 254, 253][..], &number, &[0, length], &number, &content, &tag].concat()
}
