//! A session that fails says why, in the words of its library.

use std::time::Duration;

use slowhand_sessions::{FailureKind, Protocol, Session, Stack, Suite};

use crate::pair::{Pair, failure, psk};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

/// Delivers all that the two ends send, without delay.
pub fn exchange(client: &mut dyn Session, server: &mut dyn Session) {
    for _ in 0..4 {
        while let Some(transmit) = client.poll_transmit() {
            server.handle_input(Duration::ZERO, transmit.bytes);
        }
        while let Some(transmit) = server.poll_transmit() {
            client.handle_input(Duration::ZERO, transmit.bytes);
        }
    }
}

pub fn assert_failed(session: &dyn Session, kind: FailureKind, words: &str) {
    let status = session.status();
    let failure = failure(&status);
    assert_eq!((failure.kind, failure.to_string().as_str()), (kind, words));
}

/// The client has an identity that the server does not know. RFC 4279 section 2: the server may answer
/// unknown_psk_identity (115), or decrypt_error (51) as if the key were wrong. The words are those of `error.c` (with
/// the code of `ssl.h`) and of `ssl_err.c`. tinyDTLS has none, and its error code has the level and the description of
/// the alert that it sends (`alert.h`).
#[test]
fn an_end_says_what_it_refuses_and_the_other_which_alert_came() {
    for (stack, alert, at_client, code, at_server) in [
        (
            Stack::MBEDTLS,
            115,
            "SSL - A fatal alert message was received from our peer (-0x7780): unknown_psk_identity (115)",
            -0x6C80,
            "SSL - Unknown identity received (eg, PSK identity) (-0x6C80)",
        ),
        (Stack::OPENSSL, 115, "tlsv1 alert unknown psk identity: SSL alert number 115", 223, "psk identity not found"),
        (
            Stack::TINYDTLS,
            51,
            "received the alert decrypt_error (51)",
            -(2 * 256 + 51),
            "sent the alert decrypt_error (51)",
        ),
    ] {
        let mut pair = Pair::new(stack, PSK);
        pair.client.credential = psk("someone else");
        let (mut client, mut server) = pair.build();
        client.start(Duration::ZERO);
        exchange(&mut *client, &mut *server);
        assert_failed(&*client, FailureKind::AlertReceived { description: alert }, at_client);
        assert_failed(&*server, FailureKind::Library { code }, at_server);
    }
}

/// A server of another protocol answers. RFC 8446 section 6.2: the answer to what cannot be decoded is decode_error
/// (50). The words are those of `Display` of `rustls::Error`.
#[test]
fn rustls_says_it_too() {
    let pair = Pair::of(Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256);
    let (mut client, mut server) = pair.build();
    client.start(Duration::ZERO);
    client.handle_input(Duration::ZERO, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    exchange(&mut *client, &mut *server);
    let words = "received corrupt message of type InvalidContentType";
    assert_failed(&*client, FailureKind::Library { code: 0 }, words);
    let words = "received fatal alert: DecodeError";
    assert_failed(&*server, FailureKind::AlertReceived { description: 50 }, words);
}

#[test]
fn a_client_without_an_answer_says_so() {
    for (stack, words) in [
        (Stack::MBEDTLS, "SSL - The operation timed out (-0x6800)"),
        (Stack::OPENSSL, "read timeout expired"),
        (Stack::TINYDTLS, "no answer to the last retransmission"),
    ] {
        let (mut client, _) = Pair::new(stack, PSK).build();
        client.start(Duration::ZERO);
        while let Some(deadline) = client.deadline() {
            client.handle_timeout(deadline);
        }
        assert_failed(&*client, FailureKind::TimedOut, words);
    }
}
