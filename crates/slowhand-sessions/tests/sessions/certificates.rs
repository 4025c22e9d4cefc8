//! Certificates of a length that is asked for.

use std::fs;
use std::path::Path as File;
use std::process::Command;

use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{Auth, Credential, Curve, Operation, Protocol, Session, Stack, Suite};
use slowhand_wire::{ContentType, MessageType, dtls, tls};

use crate::pair::{Pair, set_length, set_rsa_bits, tls};

const ECDSA: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const RSA: Suite = Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;

/// The key of a certificate: the name of its files, the length of the certificate in the file
/// (`credentials/README.md`).
const KEYS: [(&str, u16); 5] =
    [("secp192r1", 246), ("secp256r1", 332), ("rsa1024", 467), ("rsa2048", 728), ("rsa3072", 984)];

fn with_key(key: &str, protocol: Protocol, length: u16) -> Pair {
    let suite = if key.starts_with("rsa") { RSA } else { ECDSA };
    Pair::of(Stack::MBEDTLS, protocol, suite).both(|config| {
        set_length(config, Some(length));
        match key.strip_prefix("rsa") {
            Some(bits) => set_rsa_bits(config, bits.parse().unwrap()),
            None if key == "secp192r1" => tls(config).curve = Curve::Secp192r1,
            None => {}
        }
    })
}

/// The certificates of the two ends: the bodies of their Certificate messages in a handshake over TLS 1.2, where each
/// message is in clear and, shorter than a record, whole.
fn certificate_messages(transcript: &Transcript) -> [Vec<u8>; 2] {
    [Direction::ToClient, Direction::ToServer].map(|direction| {
        let writes = transcript.datagrams.iter().filter(|write| write.direction == direction);
        let stream: Vec<u8> = writes.flat_map(|write| write.bytes.iter().copied()).collect();
        let handshake =
            tls::records(&stream).map(Result::unwrap).filter(|it| it.content_type == ContentType::Handshake);
        let mut messages = handshake.flat_map(|record| tls::messages(record.fragment)).map_while(Result::ok);
        messages.find(|message| message.message_type == MessageType::Certificate).unwrap().body.to_vec()
    })
}

fn number(octets: &[u8]) -> usize {
    octets.iter().fold(0, |number, octet| number << 8 | usize::from(*octet))
}

/// The one certificate of a message: behind the length of the list and its own, 3 octets each (RFC 5246 section 7.4.2).
fn only_certificate(message: &[u8]) -> &[u8] {
    assert_eq!(number(&message[..3]), message.len() - 3);
    assert_eq!(number(&message[3..6]), message.len() - 6);
    &message[6..]
}

/// The certificates of server and client, as they are sent.
fn certificates(key: &str, length: u16) -> [Vec<u8>; 2] {
    let transcript = with_key(key, Protocol::Tls12, length).run(&Path::default());
    assert_eq!(transcript.end, End::Completed, "{key} {length}: {transcript:?}");
    certificate_messages(&transcript).map(|message| only_certificate(&message).to_vec())
}

/// The shortest, around the boundaries of DER's lengths (content of 128 and 256 octets, at all depths of a
/// certificate), and far from them.
fn many_lengths(least: u16) -> impl Iterator<Item = u16> {
    let near = (0..45).chain(105..155).chain(240..285).map(move |more| least + more);
    near.chain([1_000, 1_500, 2_047, 4_096, 7_999, 8_000]).filter(|length| *length != 259)
}

#[test]
fn every_length_is_met_exactly() {
    for (key, least) in KEYS {
        // A signature with RSA takes longer, and all have one length: less to find.
        let step = if key.starts_with("rsa") { 3 } else { 1 };
        for length in many_lengths(least).step_by(step) {
            for certificate in certificates(key, length) {
                assert_eq!(certificate.len(), usize::from(length), "{key}");
            }
        }
    }
}

#[test]
fn no_more_is_allowed_than_can_be() {
    for (key, least) in KEYS {
        for length in [0, least - 1, 8_001, u16::MAX] {
            let error = with_key(key, Protocol::Dtls12, length).client.validate().unwrap_err();
            let allowed = format!("{least} to 8000 octets");
            assert_eq!(error.to_string(), format!("certificate_length: found {length}, allowed: {allowed}"));
        }
    }
    // A header of 3 octets and 255 more are 258; 256 more have a header of 4.
    let error = with_key("secp192r1", Protocol::Dtls12, 259).client.validate().unwrap_err();
    let allowed = "246 to 8000 octets except 259 (no DER encoding has this length)";
    assert_eq!(error.to_string(), format!("certificate_length: found 259, allowed: {allowed}"));
    // Where a certificate does not go with the library or the suite, there is no length to choose.
    for (stack, suite, has) in [
        (Stack::TINYDTLS, ECDSA, "raw_public_key with TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"),
        (Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8, "psk with TLS_PSK_WITH_AES_128_CCM_8"),
        (Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8, "psk with TLS_PSK_WITH_AES_128_CCM_8"),
    ] {
        let credential = Credential::Certificate { rsa_bits: 2048, length: Some(500) };
        let pair = Pair::new(stack, suite).both(|config| config.credential = credential.clone());
        let error = pair.server.validate().unwrap_err().to_string();
        assert_eq!(error, format!("credential: found certificate, allowed: {has}"));
    }
}

#[test]
fn every_library_accepts_them() {
    let suite = |protocol| match protocol {
        Protocol::Tls13 => Suite::TLS_AES_128_GCM_SHA256,
        _ => Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    };
    for (client, server, protocol) in [
        (Stack::MBEDTLS, Stack::MBEDTLS, Protocol::Dtls12),
        (Stack::MBEDTLS, Stack::MBEDTLS, Protocol::Tls13),
        (Stack::OPENSSL, Stack::OPENSSL, Protocol::Dtls12),
        (Stack::OPENSSL, Stack::MBEDTLS, Protocol::Dtls12),
        (Stack::RUSTLS, Stack::RUSTLS, Protocol::Tls12),
        (Stack::RUSTLS, Stack::RUSTLS, Protocol::Tls13),
        (Stack::MBEDTLS, Stack::RUSTLS, Protocol::Tls12),
        (Stack::RUSTLS, Stack::MBEDTLS, Protocol::Tls13),
    ] {
        for length in [332, 340, 352, 500, 1_024, 8_000] {
            for auth in [Auth::Mutual, Auth::Server] {
                let mut pair = Pair::of(client, protocol, suite(protocol)).both(|config| {
                    set_length(config, Some(length));
                    tls(config).auth = auth;
                });
                pair.server.stack = server;
                let transcript = pair.run(&Path::default());
                assert_eq!(transcript.end, End::Completed, "{client} {server} {protocol} {length}: {transcript:?}");
                assert_eq!(transcript, pair.run(&Path::default()), "{client} {server} {protocol} {length}");
            }
        }
    }
}

/// An end trusts who issued the peer's certificate, not every issuer there is.
#[test]
fn the_authority_of_the_files_is_another() {
    let mut pair = with_key("secp256r1", Protocol::Tls12, 332);
    set_length(&mut pair.client, None);
    assert_ne!(pair.run(&Path::default()).end, End::Completed);
}

#[test]
fn a_handshake_over_datagrams_carries_the_length() {
    for length in [332, 500, 1_200] {
        let pair = with_key("secp256r1", Protocol::Dtls12, length).both(|config| config.mtu = Some(1_400));
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed, "{length}: {transcript:?}");
        let messages: Vec<_> = transcript
            .datagrams
            .iter()
            .flat_map(|datagram| dtls::records(&datagram.bytes, Some(0)))
            .flat_map(|record| record.unwrap().fragments())
            .map(Result::unwrap)
            .filter(|message| message.message_type == MessageType::Certificate)
            .map(|message| message.length)
            .collect();
        assert!(messages.len() >= 2);
        assert!(messages.iter().all(|message| *message == 3 + 3 + u32::from(length)), "{messages:?}");
    }
}

/// A longer certificate is hashed for longer, and costs nothing else; whoever was first to ask for it pays nothing.
#[test]
fn to_issue_one_is_no_operation_of_a_session() {
    let operations = |length| {
        let pair = with_key("secp256r1", Protocol::Dtls12, length);
        let (mut client, mut server) = pair.build();
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
        [drain(&mut *client), drain(&mut *server)]
    };
    let but_hashes = |all: &[Operation]| -> Vec<Operation> {
        let is_hash = |operation: &Operation| {
            matches!(operation, Operation::Sha1 { .. } | Operation::Sha256 { .. } | Operation::Sha512 { .. })
        };
        all.iter().copied().filter(|operation| !is_hash(operation)).collect()
    };
    let file = {
        let pair = Pair::new(Stack::MBEDTLS, ECDSA);
        let (mut client, mut server) = pair.build();
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
        [drain(&mut *client), drain(&mut *server)]
    };
    // 777 is asked for nowhere else: the first time it is issued, the second time found.
    let (first, second) = (operations(777), operations(777));
    assert_eq!(first, second);
    for (with, without) in first.iter().zip(&file) {
        assert_eq!(but_hashes(with), but_hashes(without));
    }
}

fn drain(session: &mut dyn Session) -> Vec<Operation> {
    let mut all = Vec::new();
    session.drain_operations(&mut |performed| all.push(performed.operation));
    all
}

/// OpenSSL verifies each with the issuer's certificate, and reads in it what stands in the file's. Without the command,
/// as in the other tests with tools of the system, there is nothing to compare with, and the test says so.
#[test]
fn openssl_verifies_them() {
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("skipped: there is no openssl command");
        return;
    }
    let credentials = File::new(env!("CARGO_MANIFEST_DIR")).join("credentials");
    let work = File::new(env!("CARGO_TARGET_TMPDIR"));
    for (key, least) in KEYS {
        let issuer = work.join(format!("{key}-issuer.pem"));
        openssl(&[
            "x509",
            "-inform",
            "DER",
            "-in",
            path(&credentials.join(format!("{key}-issuer.der"))),
            "-out",
            path(&issuer),
        ]);
        for length in [least, least + 10, least + 40, 2_000] {
            for (end, certificate) in ["server", "client"].iter().zip(certificates(key, length)) {
                let file = work.join(format!("{key}-{end}-{length}.der"));
                fs::write(&file, &certificate).unwrap();
                // Valid at the beginning of every simulated world. P-192 and RSA-1024 are below its default level.
                let verdict = openssl(&[
                    "verify",
                    "-auth_level",
                    "0",
                    "-attime",
                    "1893456000",
                    "-CAfile",
                    path(&issuer),
                    path(&file),
                ]);
                assert!(verdict.trim().ends_with(": OK"), "{verdict}");
                let fields = ["-noout", "-subject", "-pubkey", "-ext", "basicConstraints,keyUsage"];
                let read =
                    |file: &File| openssl(&[&["x509", "-inform", "DER", "-in", path(file)], &fields[..]].concat());
                assert_eq!(read(&file), read(&credentials.join(format!("{key}-{end}.der"))));
                let comment = openssl(&["x509", "-inform", "DER", "-in", path(&file), "-noout", "-ext", "nsComment"]);
                assert_eq!(comment.contains("padding"), length >= least + 40, "{length}: {comment}");
                fs::remove_file(file).unwrap();
            }
        }
        fs::remove_file(issuer).unwrap();
    }
}

fn path(path: &File) -> &str {
    path.to_str().unwrap()
}

fn openssl(arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text} {}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Sessions on many threads that ask for the same certificates at the same time.
#[test]
fn threads_share_them() {
    let run = || with_key("secp256r1", Protocol::Tls12, 901).run(&Path::default());
    let transcripts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(transcripts.iter().all(|transcript| *transcript == transcripts[0] && transcript.end == End::Completed));
}
