//! The stream sessions against OpenSSL, by way of Python's `ssl` module.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::{Protocol, Role, Session, SessionConfig, Stack, Status, Suite, Weightless, build};
use slowhand_wire::{ContentType, tls};

use crate::pair::{config, negotiated};

/// A session of OpenSSL in a process of its own.
struct OpenSsl {
    process: Child,
    key_log: PathBuf,
}

impl OpenSsl {
    fn start(name: &str, role: Role, protocol: Protocol, ciphers: &str, kind: &str) -> Self {
        let key_log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("openssl-{name}.keys"));
        let _ = fs::remove_file(&key_log);
        let process = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions/openssl_peer.py"))
            .args([&role.to_string(), &protocol.to_string(), ciphers])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("credentials"))
            .arg(kind)
            .arg(&key_log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is what the project's command line runs on");
        Self { process, key_log }
    }

    /// Hands over what has arrived; returns whether the handshake is complete, and what OpenSSL sends.
    fn exchange(&mut self, input: &[u8]) -> (bool, Vec<u8>) {
        let stdin = self.process.stdin.as_mut().unwrap();
        stdin.write_all(&[&(input.len() as u32).to_be_bytes(), input].concat()).unwrap();
        let stdout = self.process.stdout.as_mut().unwrap();
        let mut header = [0; 5];
        stdout.read_exact(&mut header).expect("OpenSSL goes on with the handshake");
        let [length @ .., complete] = header;
        let mut output = vec![0; u32::from_be_bytes(length) as usize];
        stdout.read_exact(&mut output).unwrap();
        (complete == 1, output)
    }

    /// The lines of its key log.
    fn end(mut self) -> Vec<String> {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
        let lines = fs::read_to_string(&self.key_log).unwrap();
        fs::remove_file(&self.key_log).unwrap();
        lines.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }
}

/// The datagrams of each end, ours first.
fn handshake(ours: &mut dyn Session, theirs: &mut OpenSsl) -> [Vec<u8>; 2] {
    let mut sent = [Vec::new(), Vec::new()];
    ours.start(Duration::ZERO);
    loop {
        let mut output = Vec::new();
        while let Some(write) = ours.poll_transmit() {
            output.extend_from_slice(write.bytes);
        }
        let (complete, input) = theirs.exchange(&output);
        sent[0].extend_from_slice(&output);
        sent[1].extend_from_slice(&input);
        ours.handle_input(Duration::ZERO, &input);
        assert!(!matches!(ours.status(), Status::Failed(_)), "{:?}", ours.status());
        if complete && input.is_empty() {
            return sent;
        }
        assert!(!(output.is_empty() && input.is_empty()), "neither end has anything to say: {:?}", ours.status());
    }
}

fn with_openssl(stack: Stack, protocol: Protocol, suite: Suite, ciphers: &str) -> Vec<[Vec<u8>; 2]> {
    let mut streams = Vec::new();
    for (role, other) in [(Role::Client, Role::Server), (Role::Server, Role::Client)] {
        let name = format!("{stack}-{suite}-{role}");
        let config = SessionConfig { seed: [3; 32], ..config(role, stack, protocol, suite) };
        let mut ours = build(&config, Arc::new(Weightless)).unwrap();
        let mut theirs = OpenSsl::start(&name, other, protocol, ciphers, kind(suite));
        let sent = handshake(&mut *ours, &mut theirs);
        assert!(matches!(ours.status(), Status::Established { .. }), "{name}: {:?}", ours.status());
        assert_eq!(negotiated(&*ours).1, suite);
        let key_log = theirs.end();
        assert!(!key_log.is_empty());
        for line in ours.key_log() {
            assert!(key_log.contains(&line), "{name}: {line} is not in {key_log:#?}");
        }
        streams.push(sent);
    }
    streams
}

/// Of which credentials OpenSSL needs the files.
fn kind(suite: Suite) -> &'static str {
    if suite.key_exchange().has_rsa() { "rsa2048" } else { "secp256r1" }
}

/// The records of a stream: content type and length.
fn records(stream: &[u8]) -> Vec<(ContentType, usize)> {
    let records = tls::records(stream).map(Result::unwrap);
    records.map(|record| (record.content_type, record.fragment.len())).collect()
}

/// A client's last flight (Certificate, ClientKeyExchange, CertificateVerify, ChangeCipherSpec, Finished) has the same
/// records with the same lengths whoever sends it, but for the signature, which varies, and OpenSSL's longer chain.
#[test]
fn tls12() {
    for (stack, suite, ciphers) in [
        (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, "ECDHE-ECDSA-AES128-CCM8:@SECLEVEL=0"),
        (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256, "ECDHE-ECDSA-AES128-SHA256"),
        (Stack::MBEDTLS, Suite::TLS_RSA_WITH_AES_128_CBC_SHA, "AES128-SHA:@SECLEVEL=0"),
        (Stack::MBEDTLS, Suite::TLS_RSA_WITH_AES_128_CBC_SHA256, "AES128-SHA256"),
        (Stack::MBEDTLS, Suite::TLS_RSA_WITH_AES_128_GCM_SHA256, "AES128-GCM-SHA256"),
        (Stack::MBEDTLS, Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"),
        (Stack::MBEDTLS, Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256"),
        (Stack::RUSTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (Stack::RUSTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ] {
        let streams = with_openssl(stack, Protocol::Tls12, suite, ciphers);
        let (ours, theirs) = (records(&streams[0][0]), records(&streams[1][1]));
        assert_eq!((ours.len(), theirs.len()), (6, 6), "{ours:?} {theirs:?}");
        let [_, certificate, key_exchange, verify, change_cipher_spec, finished] = ours[..] else { panic!("{ours:?}") };
        // OpenSSL sends the authority's certificate as well, behind a length of 3 octets.
        let authority = match kind(suite) {
            "rsa2048" => include_bytes!("../../credentials/rsa2048-authority.der").len(),
            _ => include_bytes!("../../credentials/secp256r1-authority.der").len(),
        };
        assert_eq!(theirs[1], (certificate.0, certificate.1 + 3 + authority), "{stack} {suite}");
        assert_eq!((theirs[2], theirs[4], theirs[5]), (key_exchange, change_cipher_spec, finished), "{stack} {suite}");
        // Header, algorithm and length take 8 octets. An ECDSA signature on this curve has 72 at most (RFC 3279 section
        // 2.2.3); one in 2^80 has fewer than 60. One of RSA has the length of the modulus.
        let lengths = if kind(suite) == "rsa2048" { 256..=256 } else { 60..=72 };
        for (content_type, length) in [verify, theirs[3]] {
            assert!(
                content_type == ContentType::Handshake && lengths.contains(&(length - 8)),
                "{stack} {suite}: {length}"
            );
        }
    }
}

/// OpenSSL offers a key of another curve first, so its ClientHello is answered with a HelloRetryRequest; it sends two
/// tickets behind the handshake, which our clients read.
#[test]
fn tls13() {
    for (stack, suite) in [
        (Stack::MBEDTLS, Suite::TLS_AES_128_GCM_SHA256),
        (Stack::MBEDTLS, Suite::TLS_AES_256_GCM_SHA384),
        (Stack::RUSTLS, Suite::TLS_AES_128_GCM_SHA256),
        (Stack::RUSTLS, Suite::TLS_AES_256_GCM_SHA384),
    ] {
        let streams = with_openssl(stack, Protocol::Tls13, suite, "DEFAULT");
        let hellos = |stream: &[u8]| {
            records(stream).iter().filter(|(content_type, _)| *content_type == ContentType::Handshake).count()
        };
        assert_eq!((hellos(&streams[0][0]), hellos(&streams[1][1])), (1, 2), "{stack} {suite}");
        let finished = match suite {
            Suite::TLS_AES_256_GCM_SHA384 => 4 + 48 + 1 + 16,
            _ => 4 + 32 + 1 + 16,
        };
        assert_eq!(records(&streams[1][1]).last(), Some(&(ContentType::ApplicationData, finished)));
    }
}
