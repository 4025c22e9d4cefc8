//! Certificates with RSA keys, and suites in CBC mode.

use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{Auth, Cbc, KeyExchange, Operation, Protocol, Session, Stack, Suite};

use crate::pair::{Pair, set_rsa_bits, tls};

const KOTHMAYR: Suite = Suite::TLS_RSA_WITH_AES_128_CBC_SHA;
const RSA_BITS: [u16; 3] = [1024, 2048, 3072];

/// The length of both ends' certificates, from `credentials/README.md`.
fn certificate(bits: u16) -> usize {
    match bits {
        1024 => 467,
        2048 => 728,
        _ => 984,
    }
}

fn pair(protocol: Protocol, suite: Suite, bits: u16, auth: Auth) -> Pair {
    Pair::of(Stack::MBEDTLS, protocol, suite).both(|config| {
        set_rsa_bits(config, bits);
        tls(config).auth = auth;
    })
}

/// mbedTLS has no key agreement with a pre-shared key here.
fn is_rsa_or_cbc(suite: &Suite) -> bool {
    let exchange = suite.key_exchange();
    exchange.has_rsa() || (!exchange.has_psk() && suite.to_string().contains("CBC"))
}

#[test]
fn every_combination_completes_and_is_the_same_again() {
    let mut combinations = 0;
    for suite in Suite::ALL.iter().copied().filter(is_rsa_or_cbc) {
        for protocol in [Protocol::Dtls12, Protocol::Tls12] {
            for auth in [Auth::Mutual, Auth::Server] {
                for bits in if suite.key_exchange().has_rsa() { &RSA_BITS[..] } else { &RSA_BITS[..1] } {
                    let pair = pair(protocol, suite, *bits, auth);
                    let transcript = pair.run(&Path::default());
                    assert_eq!(transcript.end, End::Completed, "{protocol} {suite} {auth} {bits}: {transcript:?}");
                    assert_eq!(transcript, pair.run(&Path::default()), "{protocol} {suite} {auth} {bits}");
                    combinations += 1;
                }
            }
        }
    }
    assert_eq!(combinations, 2 * 2 * (6 * 3 + 2));
}

fn operations(session: &mut dyn Session) -> Vec<Operation> {
    let mut all = Vec::new();
    session.drain_operations(&mut |performed| all.push(performed.operation));
    all
}

/// RSA operations of a handshake, in order; the ECDH of ECDHE between them.
fn asymmetric(session: &mut dyn Session, bits: u16) -> Vec<&'static str> {
    names(operations(session), bits)
}

fn names(operations: Vec<Operation>, bits: u16) -> Vec<&'static str> {
    let name = |operation| match operation {
        Operation::RsaSign(length) if length == bits => Some("sign"),
        Operation::RsaVerify(length) if length == bits => Some("verify"),
        Operation::RsaEncrypt(length) if length == bits => Some("encrypt"),
        Operation::RsaDecrypt(length) if length == bits => Some("decrypt"),
        Operation::EcdhKeyGeneration(_) => Some("generate"),
        Operation::EcdhSharedSecret(_) => Some("agree"),
        Operation::RsaSign(_) | Operation::RsaVerify(_) | Operation::RsaEncrypt(_) | Operation::RsaDecrypt(_) => {
            panic!("{operation:?} with a key of {bits} bits")
        }
        _ => None,
    };
    operations.into_iter().filter_map(name).collect()
}

/// RFC 5246 section 7.4: the client verifies the authority's signature on the server's certificate, encrypts the
/// premaster secret with its key, and signs CertificateVerify; the server verifies the client's certificate, decrypts,
/// and verifies CertificateVerify.
#[test]
fn a_key_exchange_by_rsa_computes_what_the_protocol_asks_for() {
    for protocol in [Protocol::Dtls12, Protocol::Tls12] {
        for bits in RSA_BITS {
            let both_ends = |auth| {
                let (mut client, mut server) = pair(protocol, KOTHMAYR, bits, auth).build();
                assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
                [asymmetric(&mut *client, bits), asymmetric(&mut *server, bits)]
            };
            let [client, server] = both_ends(Auth::Mutual);
            assert_eq!(client, ["verify", "encrypt", "sign"]);
            assert_eq!(server, ["verify", "decrypt", "verify"]);
            let [client, server] = both_ends(Auth::Server);
            assert_eq!(client, ["verify", "encrypt"]);
            assert_eq!(server, ["decrypt"]);
        }
    }
}

/// OpenSSL computes the same, at the other end as well. The IV that precedes a record's ciphertext (RFC 5246 section
/// 6.2.3.2) goes through the cipher there, as a block more.
#[test]
fn openssl_computes_it_in_the_same_order() {
    for stacks in [[Stack::OPENSSL; 2], [Stack::OPENSSL, Stack::MBEDTLS], [Stack::MBEDTLS, Stack::OPENSSL]] {
        for bits in RSA_BITS {
            let mut pair = pair(Protocol::Dtls12, KOTHMAYR, bits, Auth::Mutual);
            [pair.client.stack, pair.server.stack] = stacks;
            let (mut client, mut server) = pair.build();
            assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
            let performed = [operations(&mut *client), operations(&mut *server)];
            let [client, server] = performed.clone().map(|performed| names(performed, bits));
            assert_eq!(client, ["verify", "encrypt", "sign"]);
            assert_eq!(server, ["verify", "decrypt", "verify"]);
            for (stack, end) in stacks.into_iter().zip(performed) {
                let finished = Cbc { key_bits: 128, octets: if stack == Stack::OPENSSL { 16 + 32 } else { 32 } };
                let times = |wanted| end.iter().filter(|operation| **operation == wanted).count();
                assert_eq!((times(Operation::CbcEncrypt(finished)), times(Operation::CbcDecrypt(finished))), (1, 1));
            }
        }
    }
}

/// RFC 8422: the server signs its ephemeral key as well.
#[test]
fn ecdhe_signed_with_rsa() {
    let suite = Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;
    let (mut client, mut server) = pair(Protocol::Dtls12, suite, 2048, Auth::Mutual).build();
    assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
    assert_eq!(asymmetric(&mut *client, 2048), ["verify", "verify", "generate", "agree", "sign"]);
    assert_eq!(asymmetric(&mut *server, 2048), ["generate", "sign", "verify", "agree", "verify"]);
}

/// Finished: a header of 4 octets (12 over datagrams) and verify_data of 12, padded to blocks of 16 with at least one
/// octet. Both ends know RFC 7366, so the HMAC covers the ciphertext: header of the record (13), IV (16), two blocks.
#[test]
fn a_record_in_cbc_mode_is_aes_and_an_hmac() {
    let (mut client, mut server) = pair(Protocol::Dtls12, KOTHMAYR, 2048, Auth::Mutual).build();
    assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
    for end in [operations(&mut *client), operations(&mut *server)] {
        let finished = Cbc { key_bits: 128, octets: 32 };
        assert_eq!(finished.aes_blocks(), 2);
        let record = |operation: &&Operation| matches!(operation, Operation::CbcEncrypt(_) | Operation::CbcDecrypt(_));
        let records: Vec<_> = end.iter().filter(record).collect();
        assert!(records.contains(&&Operation::CbcEncrypt(finished)), "{records:?}");
        assert!(records.contains(&&Operation::CbcDecrypt(finished)), "{records:?}");
        assert_eq!(records.len(), 2, "{records:?}");
        let sha1: u32 =
            end.iter().map(|operation| if let Operation::Sha1 { blocks } = operation { *blocks } else { 0 }).sum();
        // An HMAC (RFC 2104): a block of the key and 61 octets with their padding in two; a block of the key and 20
        // octets in one. For each of two records, and the blocks of the key again for the next.
        assert!((2 * 4..=2 * 4 + 2 * 2 + 4).contains(&sha1), "{sha1}");
    }
}

fn writes(transcript: &Transcript, direction: Direction) -> Vec<usize> {
    let writes = transcript.datagrams.iter().filter(|write| write.direction == direction);
    writes.map(|write| write.bytes.len()).collect()
}

/// RFC 5246 by hand: 5 octets before a record, 4 before a message. mbedTLS writes each record by itself.
#[test]
fn tls12_sizes() {
    for bits in RSA_BITS {
        let transcript = pair(Protocol::Tls12, KOTHMAYR, bits, Auth::Mutual).run(&Path::default());
        let (certificate, key) = (5 + 4 + 3 + 3 + certificate(bits), usize::from(bits / 8));
        // IV, the message of 16 octets padded to 32, HMAC-SHA-1.
        let finished = 5 + 16 + 32 + 20;
        let (key_exchange, verify) = (5 + 4 + 2 + key, 5 + 4 + 2 + 2 + key);
        assert_eq!(writes(&transcript, Direction::ToServer)[1..], [certificate, key_exchange, verify, 6, finished]);
        let server = writes(&transcript, Direction::ToClient);
        assert_eq!((server[1], server[3], server[4], server[5]), (certificate, 5 + 4, 6, finished));
    }
}

/// RFC 6347 by hand: 13 octets before a record, 12 before a message.
#[test]
fn dtls12_sizes() {
    for bits in RSA_BITS {
        let sizes = pair(Protocol::Dtls12, KOTHMAYR, bits, Auth::Mutual).run(&Path::default()).sizes();
        let (message, key) = (13 + 12, usize::from(bits / 8));
        let finished = 13 + 16 + 32 + 20;
        let certificate = message + 3 + 3 + certificate(bits);
        assert_eq!(sizes.len(), 6, "{sizes:?}");
        assert_eq!(sizes[4], certificate + message + 2 + key + message + 2 + 2 + key + 14 + finished);
        assert_eq!(sizes[5], 14 + finished);
        let alone = pair(Protocol::Dtls12, KOTHMAYR, bits, Auth::Server).run(&Path::default()).sizes();
        assert_eq!(alone[4], message + 2 + key + 14 + finished);
    }
}

#[test]
fn key_exchanges_are_those_of_the_names() {
    for suite in Suite::ALL.iter().filter(|suite| !suite.is_tls13()) {
        let expected = match suite.to_string().split("_WITH_").next() {
            Some("TLS_PSK") => KeyExchange::Psk,
            Some("TLS_ECDHE_PSK") => KeyExchange::EcdhePsk,
            Some("TLS_ECJPAKE") => KeyExchange::Ecjpake,
            Some("TLS_RSA") => KeyExchange::Rsa,
            Some("TLS_ECDHE_RSA") => KeyExchange::EcdheRsa,
            _ => KeyExchange::EcdheEcdsa,
        };
        assert_eq!(suite.key_exchange(), expected, "{suite}");
    }
}
