//! Data of a client of lean-dtls before the server's Finished (RFC 7918), with servers that know nothing of it.

use std::time::Duration;

use slowhand_sessions::{CredentialKind, Stack, Status, Suite, Tls, WriteError};

use crate::pair::{Pair, tls};

const SUITE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;

fn pair(server: Stack, credential: CredentialKind) -> Pair {
    let mut pair = Pair::new(Stack::LEAN_DTLS, SUITE).both(|config| {
        config.credential = credential.into();
        *tls(config) = Tls { false_start: true, ..tls(config).clone() };
    });
    pair.server.stack = server;
    pair
}

/// A handshake in which the client writes as soon as it may. The server's first answer to the client's last flight is lost, or
/// not. Returns whether the server has the data, and whether the client is established in the end.
fn run(pair: &Pair, is_lost: bool) -> (bool, bool) {
    let (mut client, mut server) = pair.build();
    let mut now = Duration::ZERO;
    let (mut has_written, mut is_lost, mut has_data) = (false, is_lost, false);
    client.start(now);
    for _ in 0..60 {
        let mut is_quiet = true;
        assert_eq!(client.may_write_early(), client.may_write_early() && client.status() == Status::Handshaking);
        while let Some(datagram) = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            server.handle_input(now, &datagram);
            is_quiet = false;
        }
        if client.may_write_early() && !has_written {
            client.write(now, b"22.5 C").unwrap();
            has_written = true;
            continue;
        }
        has_data |= server.poll_received().is_some_and(|received| received.bytes == b"22.5 C");
        let mut lost = false;
        while let Some(datagram) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            is_quiet = false;
            lost |= has_written && is_lost;
            if !lost {
                client.handle_input(now, &datagram);
            }
        }
        is_lost &= !lost;
        if is_quiet {
            let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else { break };
            now = now.max(deadline);
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
    assert!(has_written);
    (has_data, matches!(client.status(), Status::Established { .. }))
}

/// Every server takes the data. If its last flight is lost, two of them have taken the data as a sign that it arrived.
#[test]
fn servers_that_know_nothing_of_it() {
    use CredentialKind::{Certificate, RawPublicKey};
    for (server, credential, mends) in [
        (Stack::LEAN_DTLS, Certificate, true),
        (Stack::LEAN_DTLS, RawPublicKey, true),
        (Stack::MBEDTLS, Certificate, false),
        (Stack::OPENSSL, Certificate, true),
        (Stack::TINYDTLS, RawPublicKey, false),
    ] {
        let pair = pair(server, credential);
        assert_eq!(run(&pair, false), (true, true), "{server} {credential}");
        assert_eq!(run(&pair, true), (true, mends), "{server} {credential}");
        assert_eq!(server.capabilities().tls.forgets_flight_on_data, !mends, "{server}");
    }
}

/// Without it, data wait.
#[test]
fn data_wait_otherwise() {
    let mut pair = pair(Stack::LEAN_DTLS, CredentialKind::Certificate);
    tls(&mut pair.client).false_start = false;
    let (mut client, mut server) = pair.build();
    client.start(Duration::ZERO);
    for _ in 0..3 {
        while let Some(datagram) = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            server.handle_input(Duration::ZERO, &datagram);
        }
        assert!(!client.may_write_early());
        assert_eq!(client.write(Duration::ZERO, b"22.5 C"), Err(WriteError::NotEstablished));
        while let Some(datagram) = server.poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
            if matches!(server.status(), Status::Established { .. }) {
                return;
            }
            client.handle_input(Duration::ZERO, &datagram);
        }
    }
    panic!("the server has not answered the client's last flight");
}
