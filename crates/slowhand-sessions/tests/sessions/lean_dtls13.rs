//! DTLS 1.3 of lean-dtls, in the laboratory.

use std::time::Duration;

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{CredentialKind, Cryptography, Negotiated, Protocol, PskMode, Stack, Suite};

use crate::pair::{Pair, dtls, psk};

const SUITES: [Suite; 3] =
    [Suite::TLS_AES_128_CCM_8_SHA256, Suite::TLS_AES_128_CCM_SHA256, Suite::TLS_AES_128_GCM_SHA256];

fn pair(suite: Suite, credential: CredentialKind) -> Pair {
    Pair::of(Stack::LEAN_DTLS, Protocol::Dtls13, suite).both(|config| {
        config.credential = credential.into();
        config.timers.first = Some(Duration::from_secs(2));
    })
}

#[test]
fn a_session_with_every_suite_and_credential_survives_the_loss_of_any_datagram() {
    for suite in SUITES {
        for credential in [CredentialKind::Psk, CredentialKind::Certificate, CredentialKind::RawPublicKey] {
            let pair = pair(suite, credential);
            let (mut client, mut server) = pair.build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{suite} {credential}: {transcript:?}");
            let expected = Negotiated::Tls { protocol: Protocol::Dtls13, suite, connection_id: None };
            assert_eq!((client.negotiated(), server.negotiated()), (Some(expected), Some(expected)));
            // Both traffic secrets of the handshake and of the data.
            assert_eq!((client.key_log().len(), client.key_log()), (4, server.key_log()), "{suite} {credential}");
            for lost in 0..transcript.datagrams.len() {
                let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
                assert_eq!(transcript.end, End::Completed, "{suite} {credential}, {lost}: {transcript:?}");
                assert!(transcript.at < Duration::from_secs(3), "{suite} {credential}, {lost}: {transcript:?}");
            }
        }
    }
}

#[test]
fn the_datagrams_of_a_handshake() {
    let mut pair = pair(SUITES[0], CredentialKind::Psk);
    // By hand, as in the tests of lean-dtls, with an identity of 15 octets.
    assert_eq!(pair.run(&Path::default()).sizes(), [144, 118, 191, 146, 55, 29]);
    // Both extensions with 2 octets, and the ID in each encrypted record.
    pair = pair.both(|config| dtls(config).connection_id = Some(2));
    assert_eq!(pair.run(&Path::default()).sizes(), [151, 118, 198, 146 + 7 + 2, 57, 31]);
}

/// With key agreement, a hello has a group and a key of P-256 more: supported_groups with one, and key_share with one, which the
/// server answers with one.
#[test]
fn a_pre_shared_key_with_key_agreement() {
    let pair = pair(SUITES[0], CredentialKind::Psk).both(|config| dtls(config).psk_mode = PskMode::PskDheKe);
    let (offered, chosen) = ((4 + 2 + 2) + (4 + 2 + 2 + 2 + 65), 4 + 2 + 2 + 65);
    let sizes = pair.run(&Path::default()).sizes();
    assert_eq!(sizes, [144 + offered, 118, 191 + offered, 146 + chosen, 55, 29]);
    for lost in 0..sizes.len() {
        let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
        assert_eq!(transcript.end, End::Completed, "{lost}: {transcript:?}");
    }
}

#[test]
fn weightless_cryptography_sends_datagrams_of_the_same_sizes() {
    for mode in [PskMode::PskKe, PskMode::PskDheKe] {
        let real = pair(SUITES[0], CredentialKind::Psk).both(|config| dtls(config).psk_mode = mode);
        let weightless = pair(SUITES[0], CredentialKind::Psk).both(|config| {
            dtls(config).psk_mode = mode;
            config.cryptography = Cryptography::Weightless;
        });
        assert_eq!(weightless.run(&Path::default()).sizes(), real.run(&Path::default()).sizes());
    }
}

#[test]
fn another_identity_is_refused() {
    let mut pair = pair(SUITES[0], CredentialKind::Psk);
    pair.client.credential = psk("nobody");
    assert_eq!(pair.run(&Path::default()).end, End::Failed);
}
