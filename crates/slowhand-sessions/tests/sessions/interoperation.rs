//! The libraries speak with each other, and verify what they are told.

use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path};
use slowhand_sessions::{Auth, CredentialKind, Protocol, Session, Stack, Status, Suite};
use slowhand_wire::{MessageType, dtls};

use crate::pair::{Pair, negotiated, psk, tls};

#[test]
fn mbedtls_and_tinydtls_with_a_pre_shared_key() {
    for suite in [Suite::TLS_PSK_WITH_AES_128_CCM_8, Suite::TLS_PSK_WITH_AES_128_CCM] {
        for (client, server) in [(Stack::MBEDTLS, Stack::TINYDTLS), (Stack::TINYDTLS, Stack::MBEDTLS)] {
            let mut pair = Pair::new(client, suite);
            pair.server.stack = server;
            let (mut client, mut server) = pair.build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{transcript:?}");
            assert_eq!((client.key_log().len(), client.key_log()), (1, server.key_log()));
        }
    }
}

#[test]
fn mbedtls_and_rustls_over_a_stream() {
    for (protocol, suite) in [
        (Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
        (Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
        (Protocol::Tls13, Suite::TLS_AES_256_GCM_SHA384),
    ] {
        for (client, server) in [(Stack::MBEDTLS, Stack::RUSTLS), (Stack::RUSTLS, Stack::MBEDTLS)] {
            for auth in [Auth::Mutual, Auth::Server] {
                let mut pair = Pair::of(client, protocol, suite).both(|config| tls(config).auth = auth);
                pair.server.stack = server;
                let (mut client, mut server) = pair.build();
                let transcript = Path::default().run(&mut *client, &mut *server);
                assert_eq!(transcript.end, End::Completed, "{transcript:?}");
                assert_eq!(shared_secrets(&*client), shared_secrets(&*server));
                assert_eq!(shared_secrets(&*client).len(), if protocol == Protocol::Tls13 { 4 } else { 1 });
            }
        }
    }
}

/// Key logs without OpenSSL's and rustls's secret of exporters, in one order.
fn shared_secrets(end: &dyn Session) -> Vec<String> {
    let mut lines = end.key_log();
    lines.retain(|line| !line.starts_with("EXPORTER_SECRET "));
    lines.sort();
    lines
}

#[test]
fn openssl_and_the_others() {
    let mut handshakes = 0;
    for (other, protocol, suite) in openssl_and() {
        for (client, server) in [(Stack::OPENSSL, other), (other, Stack::OPENSSL)] {
            for auth in [Auth::Mutual, Auth::Server] {
                let mut pair = Pair::of(client, protocol, suite).both(|config| tls(config).auth = auth);
                pair.server.stack = server;
                let (mut client, mut server) = pair.build();
                let transcript = Path::default().run(&mut *client, &mut *server);
                assert_eq!(
                    transcript.end,
                    End::Completed,
                    "{protocol} {suite} {auth} {:?}: {transcript:?}",
                    pair.client.stack
                );
                assert_eq!(shared_secrets(&*client), shared_secrets(&*server));
                assert_eq!(negotiated(&*client).1, suite);
                handshakes += 1;
            }
        }
    }
    assert!(handshakes > 4 * 40, "{handshakes}");
}

fn credential(stack: Stack, suite: Suite) -> CredentialKind {
    stack.capabilities().credential(suite)
}

/// Everything that OpenSSL and another library both have, but raw public keys.
fn openssl_and() -> Vec<(Stack, Protocol, Suite)> {
    let mut both = Vec::new();
    let openssl = Stack::OPENSSL.capabilities();
    for other in Stack::BUILT_IN.iter().copied().filter(|stack| *stack != Stack::OPENSSL) {
        for protocol in other.capabilities().protocols() {
            let theirs: Vec<Suite> = openssl.suites(protocol).collect();
            let shared = other.capabilities().suites(protocol).filter(|suite| theirs.contains(suite));
            let shared = shared.filter(|suite| credential(other, *suite) == credential(Stack::OPENSSL, *suite));
            both.extend(shared.map(|suite| (other, protocol, suite)));
        }
    }
    both
}

/// Whichever of the two loses a datagram, both timers bring the handshake to its end.
#[test]
fn openssl_and_mbedtls_under_losses() {
    for suite in [Suite::TLS_PSK_WITH_AES_128_CCM_8, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8] {
        for (client, server) in [(Stack::OPENSSL, Stack::MBEDTLS), (Stack::MBEDTLS, Stack::OPENSSL)] {
            let mut pair = Pair::new(client, suite);
            pair.server.stack = server;
            for lost in 0..6 {
                for also in lost + 1..10 {
                    let path = Path { dropped: vec![lost, also], ..Path::default() };
                    let transcript = pair.run(&path);
                    assert_eq!(transcript.end, End::Completed, "{client} {suite} {lost} {also}: {transcript:?}");
                    assert_eq!(transcript, pair.run(&path));
                }
            }
        }
    }
}

#[test]
fn the_key_log_names_the_random_of_the_client_hello() {
    for (stack, suite) in [
        (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM),
        (Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM),
        (Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
        (Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    ] {
        let (mut client, mut server) = Pair::new(stack, suite).build();
        let transcript = Path::default().run(&mut *client, &mut *server);
        let record = dtls::records(&transcript.datagrams[2].bytes, Some(0)).next().unwrap().unwrap();
        let hello = record.fragments().next().unwrap().unwrap();
        assert_eq!(hello.message_type, MessageType::ClientHello);
        // client_version takes two octets, then the random (RFC 5246 section 7.4.1.2).
        let random: String = hello.body[2..34].iter().map(|octet| format!("{octet:02x}")).collect();
        let log = server.key_log();
        let fields: Vec<_> = log[0].split(' ').collect();
        assert_eq!((log.len(), fields[0], fields[1], fields[2].len()), (1, "CLIENT_RANDOM", &*random, 96));
    }
}

#[test]
fn a_different_key_or_identity_does_not_complete() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        pair.client.credential = psk("somebody_else");
        let transcript = pair.run(&Path::default());
        assert!(!matches!(transcript.server, Status::Established { .. }));
        assert!(!matches!(transcript.client, Status::Established { .. }), "{stack}: {transcript:?}");
    }
}

/// Runs a handshake by hand, with one octet of one datagram damaged on its way, until neither end has
/// anything more to say; no timer runs. Returns the datagrams' number and both ends.
fn run_damaged(pair: &Pair, damaged: usize, octet: usize) -> (usize, Box<dyn Session>, Box<dyn Session>) {
    let (mut client, mut server) = pair.build();
    let mut number = 0;
    client.start(Duration::ZERO);
    let mut direction = Direction::ToServer;
    let mut quiet = 0;
    while quiet < 2 {
        let (sender, receiver, next) = match direction {
            Direction::ToServer => (&mut client, &mut server, Direction::ToClient),
            Direction::ToClient => (&mut server, &mut client, Direction::ToServer),
        };
        quiet += 1;
        while let Some(transmit) = sender.poll_transmit() {
            let mut bytes = transmit.bytes.to_vec();
            if number == damaged {
                // Never in a record's header, whose sequence number is not protected in epoch 0.
                let at = (bytes.len() - 1 - octet).max(dtls::RECORD_HEADER);
                bytes[at] ^= 0x10;
            }
            number += 1;
            quiet = 0;
            receiver.handle_input(Duration::ZERO, &bytes);
        }
        direction = next;
    }
    (number, client, server)
}

#[test]
fn a_damaged_datagram_never_completes_a_handshake() {
    for (stack, suite) in [
        (Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
        (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
        (Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_CCM_8),
        (Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
        (Stack::OPENSSL, Suite::TLS_RSA_WITH_AES_128_CBC_SHA),
        (Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8),
        (Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    ] {
        let pair = Pair::new(stack, suite);
        let (count, ..) = run_damaged(&pair, usize::MAX, 0);
        assert!(count >= 6);
        // Datagrams before the server has accepted a cookie are not part of the transcript (RFC 6347 section
        // 4.2.1): they are simply sent again. So begin with the server's first flight.
        for datagram in 3..count {
            for octet in [0, 5] {
                let (_, client, server) = run_damaged(&pair, datagram, octet);
                let established = |end: &dyn Session| matches!(end.status(), Status::Established { .. });
                assert!(
                    !(established(&*client) && established(&*server)),
                    "{stack} {suite}: datagram {datagram}, octet {octet} from the end"
                );
            }
        }
    }
}

/// A tinyDTLS client that is to use CCM-8 offers CCM too, and the server here accepts only CCM.
#[test]
fn both_ends_report_the_suite_that_the_server_has_chosen() {
    let mut pair = Pair::new(Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    pair.server.stack = Stack::MBEDTLS;
    tls(&mut pair.server).suite = Some(Suite::TLS_PSK_WITH_AES_128_CCM);
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Completed, "{transcript:?}");
    for end in [&client, &server] {
        assert_eq!(negotiated(&**end).1, Suite::TLS_PSK_WITH_AES_128_CCM);
    }
}
