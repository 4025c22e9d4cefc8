//! Who computes on secp256r1, or with RSA, changes nothing: not an octet, not a time, not an operation that a device is told of.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{Datagram, Direction, Path, Transcript};
use slowhand_sessions::{
    Arithmetic, Credential, CredentialKind, Curve, Operation, Performed, Processor, Protocol, Resumption, Role,
    SessionConfig, Stack, Suite,
};

use crate::pair::{Pair, config, failure, set_length, tls};

/// Each operation takes some time, so that a missing one changes the times of all that follows.
struct Slow;

impl Processor for Slow {
    fn time(&self, operation: Operation) -> Duration {
        Duration::from_micros(match operation {
            Operation::EcdhKeyGeneration(_) => 3_001,
            Operation::EcdhSharedSecret(_) => 3_301,
            Operation::EcdsaSign(_) => 4_003,
            Operation::EcdsaVerify(_) => 5_009,
            _ => 7,
        })
    }
}

/// All that a handshake shows.
type Shown = (Transcript, [Vec<Performed>; 2], [Vec<String>; 2]);

fn run(pair: &Pair, path: &Path, arithmetic: Arithmetic) -> Shown {
    let mut pair = pair.clone().both(|end| end.arithmetic = arithmetic);
    pair.client_processor = Arc::new(Slow);
    pair.server_processor = Arc::new(Slow);
    let (mut client, mut server) = pair.build();
    let transcript = path.run(&mut *client, &mut *server);
    let operations = [&mut client, &mut server].map(|end| {
        let mut operations = Vec::new();
        end.drain_operations(&mut |performed| operations.push(performed));
        operations
    });
    (transcript, operations, [client.key_log(), server.key_log()])
}

fn assert_same(pair: &Pair, path: &Path) {
    let own = assert_same_without_ecdsa(pair, path);
    assert!(own.1.iter().flatten().any(|performed| matches!(performed.operation, Operation::EcdsaVerify(_))));
}

fn assert_same_without_ecdsa(pair: &Pair, path: &Path) -> Shown {
    let own = run(pair, path, Arithmetic::Library);
    // The second time, the memo holds all.
    for arithmetic in [Arithmetic::Assembly, Arithmetic::Memo, Arithmetic::Memo] {
        assert!(run(pair, path, arithmetic) == own, "{arithmetic:?} {:?} {:?}", pair.client, pair.server);
    }
    own
}

fn lossy() -> Path {
    Path { dropped: vec![4, 6], ..Path::default() }
}

#[test]
fn sessions_of_dtls_are_the_same() {
    let ccm = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
    for (client, server) in [
        (Stack::MBEDTLS, Stack::MBEDTLS),
        (Stack::OPENSSL, Stack::OPENSSL),
        (Stack::TINYDTLS, Stack::TINYDTLS),
        (Stack::LEAN_DTLS, Stack::LEAN_DTLS),
        (Stack::MBEDTLS, Stack::OPENSSL),
        (Stack::OPENSSL, Stack::MBEDTLS),
        (Stack::LEAN_DTLS, Stack::MBEDTLS),
    ] {
        let mut pair = Pair::new(client, ccm);
        let credential =
            if client == Stack::TINYDTLS { CredentialKind::RawPublicKey } else { CredentialKind::Certificate };
        pair.client.credential = credential.into();
        let end = config(Role::Server, server, Protocol::Dtls12, ccm);
        pair.server = SessionConfig { seed: pair.server.seed, credential: credential.into(), ..end };
        assert_same(&pair, &lossy());
    }
}

#[test]
fn sessions_of_tls_and_of_dtls_1_3_are_the_same() {
    for (stack, protocol, suite) in [
        (Stack::MBEDTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
        (Stack::OPENSSL, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Stack::OPENSSL, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
        (Stack::RUSTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
    ] {
        assert_same(&Pair::of(stack, protocol, suite), &Path::default());
    }
    let mut pair = Pair::of(Stack::LEAN_DTLS, Protocol::Dtls13, Suite::TLS_AES_128_CCM_8_SHA256);
    pair = pair.both(|end| end.credential = CredentialKind::Certificate.into());
    assert_same(&pair, &lossy());
}

#[test]
fn other_curves_lengths_and_resumed_sessions_are_the_same() {
    let ccm = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
    for stack in [Stack::MBEDTLS, Stack::OPENSSL] {
        assert_same(&Pair::new(stack, ccm).both(|end| tls(end).curve = Curve::Secp192r1), &Path::default());
    }
    assert_same(&Pair::new(Stack::MBEDTLS, ccm).both(|end| set_length(end, Some(1_500))), &lossy());
    let resumed = Pair::of(Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_CCM_8_SHA256)
        .both(|end| tls(end).resumption = Some(Resumption::Ticket));
    assert_same_without_ecdsa(&resumed, &Path::default());
}

#[test]
fn sessions_with_rsa_are_the_same() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL] {
        for suite in [Suite::TLS_RSA_WITH_AES_128_GCM_SHA256, Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256] {
            for bits in [1024, 2048, 3072] {
                let credential = Credential::Certificate { rsa_bits: bits, length: None };
                let pair = Pair::new(stack, suite).both(|end| end.credential = credential.clone());
                assert_same_without_ecdsa(&pair, &lossy());
            }
        }
    }
}

/// A signature with another bit is refused, also if the right one is known.
#[test]
fn a_memo_does_not_accept_what_was_changed() {
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    let transcript = pair.run(&Path::default());
    let to_client = |datagram: &&Datagram| datagram.direction == Direction::ToClient;
    for arithmetic in [Arithmetic::Library, Arithmetic::Memo] {
        let (mut client, _) = pair.clone().both(|end| end.arithmetic = arithmetic).build();
        client.start(Duration::ZERO);
        // A cookie, then the flight with ServerKeyExchange.
        for datagram in transcript.datagrams.iter().filter(to_client).take(2) {
            let mut bytes = datagram.bytes.clone();
            // ecdsa_secp256r1_sha256, and the length of a signature.
            let is_signature = |octets: &[u8]| octets[..3] == [4, 3, 0] && (0x40..=0x48).contains(&octets[3]);
            if let Some(at) = bytes.windows(4).position(is_signature) {
                bytes[at + 20] ^= 1;
            }
            client.handle_input(datagram.at + Duration::from_millis(50), &bytes);
        }
        let status = client.status();
        let failure = failure(&status);
        assert!(failure.reason.contains("signature is not valid"), "{arithmetic:?} {failure:?}");
    }
}
