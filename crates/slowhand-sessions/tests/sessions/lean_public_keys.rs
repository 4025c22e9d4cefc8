//! lean-dtls with key agreement, raw public keys and certificates, and with AES-GCM: with every library that has the
//! suite and the credential, both ways, over a path with faults.

use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path};
use slowhand_sessions::{Auth, CredentialKind, Protocol, Stack, Suite};

use crate::lean::carried;
use crate::pair::{Pair, negotiated, tls};

const ECDSA_CCM_8: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const ECDSA_GCM: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
const ECDHE_PSK_CCM_8: Suite = Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256;
const ECDHE_PSK_GCM: Suite = Suite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256;
const PSK_GCM: Suite = Suite::TLS_PSK_WITH_AES_128_GCM_SHA256;

const NEW: [Suite; 5] = [ECDSA_CCM_8, ECDSA_GCM, ECDHE_PSK_CCM_8, ECDHE_PSK_GCM, PSK_GCM];

/// A pair with lean-dtls on one side.
struct Case {
    name: String,
    pair: Pair,
    server: Stack,
}

/// Every pair with lean-dtls on one side that has one of these suites, with each credential that both libraries have.
fn cases(suites: &[Suite]) -> Vec<Case> {
    let to = Stack::BUILT_IN.iter().map(|peer| (Stack::LEAN_DTLS, *peer));
    let from =
        Stack::BUILT_IN.iter().map(|peer| (*peer, Stack::LEAN_DTLS)).filter(|(peer, _)| *peer != Stack::LEAN_DTLS);
    let mut cases = Vec::new();
    for (client, server) in to.chain(from) {
        let both = [client, server].map(Stack::capabilities);
        for suite in suites {
            if !both.iter().all(|end| end.suites(Protocol::Dtls12).any(|own| own == *suite)) {
                continue;
            }
            for credential in
                both[0].credentials(Protocol::Dtls12, *suite).filter(|kind| both[1].credentials.contains(kind))
            {
                let auths: &[Auth] =
                    if credential == CredentialKind::Psk { &[Auth::Mutual] } else { &[Auth::Mutual, Auth::Server] };
                cases.extend(auths.iter().map(|auth| case(client, server, *suite, credential, *auth)));
            }
        }
    }
    cases
}

fn case(client: Stack, server: Stack, suite: Suite, credential: CredentialKind, auth: Auth) -> Case {
    let mut pair = Pair::new(client, suite).both(|config| {
        config.credential = credential.into();
        config.timers.first = Some(Duration::from_secs(2));
        tls(config).auth = auth;
    });
    pair.server.stack = server;
    // tinyDTLS has a timer for each message, and begins anew if the ClientHello comes again before.
    if server == Stack::TINYDTLS {
        pair.client.timers.first = Some(Duration::from_secs(3));
    }
    Case { name: format!("{client} to {server}, {suite}, {credential}, {auth}"), pair, server }
}

#[test]
fn every_pair_completes_shares_its_secret_and_carries_data() {
    let cases = cases(&NEW);
    // By hand. Itself: 2 suites with 2 credentials and 2 ways of authentication, and 3 with a pre-shared key. Both
    // ways: with mbedTLS and with OpenSSL 2 suites with certificates and 2 ways, and one with a pre-shared key; with
    // tinyDTLS one suite.
    assert_eq!(cases.len(), 11 + 2 * (5 + 5 + 2));
    for Case { name, pair, .. } in cases {
        let (mut client, mut server) = pair.build();
        let transcript = Path::default().run(&mut *client, &mut *server);
        assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
        assert_eq!((client.key_log().len(), client.key_log()), (1, server.key_log()), "{name}");
        assert_eq!(Some(negotiated(&*client).1), tls(&mut pair.client.clone()).suite, "{name}");
        assert_eq!(carried(&mut *client, &mut *server, &transcript, b"22.5 C"), b"22.5 C", "{name}");
        assert_eq!(carried(&mut *server, &mut *client, &transcript, &[7; 200]), [7; 200], "{name}");
    }
}

#[test]
fn every_pair_survives_the_loss_of_any_datagram() {
    for Case { name, pair, server } in cases(&NEW) {
        let datagrams = pair.run(&Path::default()).datagrams.len();
        for lost in 0..datagrams {
            let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
            // tinyDTLS never sends its last flight again.
            let can = server != Stack::TINYDTLS || lost + 1 < datagrams;
            assert_eq!(transcript.end == End::Completed, can, "{name}, {lost}: {transcript:?}");
            // One wait of 2 s or 3 s.
            assert!(!can || transcript.at < Duration::from_secs(4), "{name}, {lost}: {transcript:?}");
        }
    }
}

#[test]
fn every_pair_survives_datagrams_that_come_twice_or_late() {
    for Case { name, pair, server } in cases(&NEW) {
        for number in 0..10 {
            let twice = Path { duplicated: vec![number], ..Path::default() };
            let late = Path { held_back: vec![(number, Duration::from_millis(120))], ..Path::default() };
            for path in [twice, late] {
                let transcript = pair.run(&path);
                // tinyDTLS begins anew, with another random number, when a ClientHello comes again.
                let can = server != Stack::TINYDTLS || path.duplicated != [2];
                assert_eq!(transcript.end == End::Completed, can, "{name}, {path:?}: {transcript:?}");
            }
        }
    }
}

#[test]
fn flights_are_cut_to_the_size_of_a_datagram() {
    for mtu in [64, 128] {
        for Case { name, mut pair, server } in cases(&NEW) {
            for config in [&mut pair.client, &mut pair.server] {
                config.mtu = Some(mtu).filter(|_| config.stack == Stack::LEAN_DTLS);
            }
            let transcript = pair.run(&Path::default());
            // mbedTLS takes no fragments of a ClientHello: with a cookie of 32 octets it has 107 or 129. tinyDTLS takes
            // no fragments: its server gets messages of 125 octets or less, but its client a ServerKeyExchange of 169.
            let can = match (pair.client.stack, server) {
                (_, Stack::MBEDTLS) => mtu >= 128 && tls(&mut pair.client).suite == Some(PSK_GCM),
                (_, Stack::TINYDTLS) => mtu >= 128,
                (Stack::TINYDTLS, _) => false,
                _ => true,
            };
            assert_eq!(transcript.end == End::Completed, can, "{name}, {mtu}: {transcript:?}");
            let own = if pair.client.stack == Stack::LEAN_DTLS { Direction::ToServer } else { Direction::ToClient };
            let longest = transcript.datagrams.iter().filter(|sent| sent.direction == own).map(|sent| sent.bytes.len());
            assert!(longest.max() <= Some(mtu.into()), "{name}, {mtu}: {:?}", transcript.sizes());
        }
    }
}

#[test]
fn the_datagrams_of_a_handshake() {
    let sizes = |suite, credential| {
        case(Stack::LEAN_DTLS, Stack::LEAN_DTLS, suite, credential, Auth::Mutual).pair.run(&Path::default()).sizes()
    };
    // By hand, beside the 75 octets with a pre-shared key (tests of that): supported_groups 8, ec_point_formats 6,
    // signature_algorithms 8, and both types of certificates 6 each.
    let [hello, verify, again, ..] = sizes(ECDSA_CCM_8, CredentialKind::RawPublicKey)[..] else { panic!() };
    assert_eq!([hello, verify, again], [75 + 8 + 6 + 8 + 6 + 6, 44, 75 + 8 + 6 + 8 + 6 + 6 + 16]);
    assert_eq!(sizes(ECDSA_CCM_8, CredentialKind::Certificate)[0], 75 + 8 + 6 + 8);
    // ServerHello with the answer to ec_point_formats, ServerKeyExchange 25 + 2 + 69, ServerHelloDone;
    // ClientKeyExchange with the identity and a public key.
    let [hello, _, again, first, second, last] = sizes(ECDHE_PSK_CCM_8, CredentialKind::Psk)[..] else { panic!() };
    assert_eq!([hello, again, first], [75 + 8 + 6, 75 + 8 + 6 + 16, 74 + 6 + 96 + 25]);
    assert_eq!([second, last], [42 + 66 + 14 + 53, 14 + 53]);
}
