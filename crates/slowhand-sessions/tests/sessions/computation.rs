//! Operations of the libraries, and the effect of the device's time on flights and timers.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path};
use slowhand_sessions::{
    Aead, AeadMode, Cbc, Credential, Operation, Performed, Processor, Session, Stack, Status, Suite,
};

use crate::pair::{Pair, tls};

const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

/// A processor that is slow at one thing.
struct Slow(Duration, fn(Operation) -> bool);

impl Processor for Slow {
    fn time(&self, operation: Operation) -> Duration {
        if (self.1)(operation) { self.0 } else { Duration::ZERO }
    }
}

fn operations(session: &mut dyn Session) -> Vec<Performed> {
    let mut all = Vec::new();
    session.drain_operations(&mut |performed| all.push(performed));
    all
}

/// Key generations, shared secrets, signatures, verifications, records sealed, records opened.
fn counts(performed: &[Performed]) -> [usize; 6] {
    let mut counts = [0; 6];
    for performed in performed {
        let index = match performed.operation {
            Operation::EcdhKeyGeneration(_) => 0,
            Operation::EcdhSharedSecret(_) => 1,
            Operation::EcdsaSign(_) => 2,
            Operation::EcdsaVerify(_) => 3,
            Operation::Seal(_) => 4,
            Operation::Open(_) => 5,
            _ => continue,
        };
        counts[index] += 1;
    }
    counts
}

fn sha256_blocks(performed: &[Performed]) -> u32 {
    performed
        .iter()
        .map(|performed| match performed.operation {
            Operation::Sha256 { blocks } => blocks,
            _ => 0,
        })
        .sum()
}

fn both_ends(pair: &Pair) -> (Vec<Performed>, Vec<Performed>) {
    let (mut client, mut server) = pair.build();
    assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
    (operations(&mut *client), operations(&mut *server))
}

#[test]
fn psk_is_hashing_and_two_records() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let (client, server) = both_ends(&Pair::new(stack, PSK));
        // Each end seals its Finished and opens the other's.
        assert_eq!(counts(&client), [0, 0, 0, 0, 1, 1], "{stack}");
        assert_eq!(counts(&server), [0, 0, 0, 0, 1, 1], "{stack}");
        // RFC 5246 section 5 and RFC 7627: the extended master secret (48 octets), the key block (40) and
        // two Finished (12 each) take 2 + 2 + 1 + 1 outputs of HMAC-SHA-256. Each output needs A(i) and
        // one more HMAC, each of which is at least 4 compressions; OpenSSL does the two of the key once for each of
        // the four secrets.
        let least = if stack == Stack::OPENSSL { 2 * 2 * 6 + 2 * 4 } else { 2 * 4 * 6 };
        assert!(sha256_blocks(&client) >= least, "{stack}: {client:?}");
    }
}

#[test]
fn mutual_ecdhe_with_certificates() {
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL] {
        let (client, server) = both_ends(&Pair::new(stack, ECDHE));
        // Each end generates an ephemeral key, agrees on a secret and signs once (ServerKeyExchange there,
        // CertificateVerify here). Each verifies twice: the other's certificate with the authority's key,
        // and the other's signature with the certificate's key.
        assert_eq!(counts(&client), [1, 1, 1, 2, 1, 1], "{stack}");
        assert_eq!(counts(&server), [1, 1, 1, 2, 1, 1], "{stack}");
    }
}

#[test]
fn mutual_ecdhe_with_raw_public_keys() {
    for stack in [Stack::LEAN_DTLS, Stack::TINYDTLS] {
        let pair = Pair::new(stack, ECDHE).both(|config| config.credential = Credential::RawPublicKey);
        let (client, server) = both_ends(&pair);
        // As with certificates, but nobody has issued the keys: one verification less.
        assert_eq!(counts(&client), [1, 1, 1, 1, 1, 1], "{stack}");
        assert_eq!(counts(&server), [1, 1, 1, 1, 1, 1], "{stack}");
    }
}

#[test]
fn key_agreement_with_a_pre_shared_key() {
    let (client, server) = both_ends(&Pair::new(Stack::LEAN_DTLS, Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256));
    assert_eq!((counts(&client), counts(&server)), ([1, 1, 0, 0, 1, 1], [1, 1, 0, 0, 1, 1]));
}

#[test]
fn a_client_that_is_not_authenticated_does_not_sign() {
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let pair = Pair::new(stack, ECDHE).both(|config| tls(config).auth = slowhand_sessions::Auth::Server);
        let (client, server) = both_ends(&pair);
        assert_eq!(counts(&client)[2], 0, "{stack}");
        assert_eq!(counts(&server)[3], 0, "{stack}");
    }
}

#[test]
fn the_order_is_that_of_the_protocol() {
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS] {
        let (client, _) = both_ends(&Pair::new(stack, ECDHE));
        let order: Vec<_> = client
            .iter()
            .filter(|performed| !matches!(performed.operation, Operation::Sha256 { .. } | Operation::Sha512 { .. }))
            .map(|performed| match performed.operation {
                Operation::EcdsaVerify(_) => "verify",
                Operation::EcdhKeyGeneration(_) => "generate",
                Operation::EcdhSharedSecret(_) => "agree",
                Operation::EcdsaSign(_) => "sign",
                Operation::Seal(_) => "seal",
                Operation::Open(_) => "open",
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(order, ["verify", "verify", "generate", "agree", "sign", "seal", "open"], "{stack}");
    }
}

#[test]
fn a_finished_costs_the_octets_that_it_has() {
    for (stack, suite, mode, tag) in [
        (Stack::MBEDTLS, PSK, AeadMode::Ccm, 8),
        (Stack::OPENSSL, PSK, AeadMode::Ccm, 8),
        (Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_GCM_SHA256, AeadMode::Gcm, 16),
    ] {
        let (client, server) = both_ends(&Pair::new(stack, suite));
        // A handshake header of 12 octets and verify_data of 12; the additional data of RFC 5246 section 6.2.3.3.
        let finished = Aead { mode, key_bits: 128, tag, octets: 24, additional: 13 };
        for end in [client, server] {
            let performed = |operation| end.iter().filter(|performed| performed.operation == operation).count();
            assert_eq!(
                [Operation::Seal(finished), Operation::Open(finished)].map(performed),
                [1, 1],
                "{stack}: {end:?}"
            );
        }
        // RFC 3610: B0, one block of additional data, two blocks of plaintext twice, the tag's.
        assert!(mode == AeadMode::Gcm || finished.aes_blocks() == 1 + 1 + 4 + 1);
    }
}

/// CCM: B0, the additional data with two octets for its length, each block of plaintext twice, the tag's (RFC 3610
/// section 2). GCM: the hash key, each block of plaintext, the tag's (NIST SP 800-38D section 7.1). CBC: each block.
#[test]
fn the_blocks_of_records() {
    let aead = |mode, octets, additional| Aead { mode, key_bits: 128, tag: 8, octets, additional }.aes_blocks();
    for (octets, additional, blocks) in
        [(0, 0, 2), (1, 0, 4), (16, 0, 4), (17, 0, 6), (0, 1, 3), (0, 14, 3), (0, 15, 4), (23, 8, 7), (33, 31, 11)]
    {
        assert_eq!(aead(AeadMode::Ccm, octets, additional), blocks, "{octets} octets, {additional} additional");
    }
    for (octets, blocks) in [(0, 2), (1, 3), (16, 3), (17, 4), (60, 6)] {
        assert_eq!(aead(AeadMode::Gcm, octets, 13), blocks, "{octets} octets");
    }
    assert_eq!([16, 32, 48].map(|octets| Cbc { key_bits: 128, octets }.aes_blocks()), [1, 2, 3]);
}

#[test]
fn computing_delays_the_flight_and_what_follows() {
    let sign = Duration::from_millis(400);
    let mut pair = Pair::new(Stack::MBEDTLS, ECDHE);
    let before = pair.run(&Path::default());
    pair.server_processor = Arc::new(Slow(sign, |operation| matches!(operation, Operation::EcdsaSign(_))));
    let after = pair.run(&Path::default());
    assert_eq!(after.end, End::Completed);
    // Nonces do not change with time but for the seconds in the randoms: the same datagrams, later.
    assert_eq!(before.datagrams.len(), after.datagrams.len());
    let later: Vec<_> =
        before.datagrams.iter().zip(&after.datagrams).map(|(before, after)| after.at - before.at).collect();
    assert_eq!(later, [Duration::ZERO, Duration::ZERO, Duration::ZERO, sign, sign, sign]);
    assert_eq!(after.at, before.at + sign);
}

#[test]
fn the_timer_starts_when_the_flight_has_been_computed() {
    let sign = Duration::from_millis(2500);
    for (stack, timeout) in [
        (Stack::MBEDTLS, Duration::from_secs(1)),
        (Stack::OPENSSL, Duration::from_secs(1)),
        (Stack::TINYDTLS, Duration::from_secs(2)),
    ] {
        let mut pair = Pair::new(stack, ECDHE);
        pair.server_processor = Arc::new(Slow(sign, |operation| matches!(operation, Operation::EcdsaSign(_))));
        let (mut client, mut server) = pair.build();
        // Two round trips by hand, each taking no time.
        client.start(Duration::ZERO);
        for _ in 0..2 {
            while let Some(transmit) = client.poll_transmit() {
                server.handle_input(transmit.at, transmit.bytes);
            }
            if server.busy_until() > Duration::ZERO {
                break;
            }
            while let Some(transmit) = server.poll_transmit() {
                client.handle_input(transmit.at, transmit.bytes);
            }
        }
        assert_eq!(server.busy_until(), sign, "{stack}");
        let deadline = server.deadline().unwrap();
        let first = server.poll_transmit().unwrap().at;
        let mut last = first;
        while let Some(transmit) = server.poll_transmit() {
            assert!(transmit.at >= last);
            last = transmit.at;
        }
        assert_eq!(last, sign, "{stack}");
        // mbedTLS and OpenSSL send the flight at once when it is complete, with one timer; tinyDTLS sends each message,
        // with a timer of its own, as soon as it has it.
        match stack {
            Stack::MBEDTLS | Stack::OPENSSL => assert_eq!((first, deadline), (sign, sign + timeout)),
            _ => assert_eq!((first, deadline), (Duration::ZERO, timeout)),
        }
    }
}

#[test]
fn a_peer_with_an_impatient_timer_repeats_its_flight_while_the_node_computes() {
    let slow = Duration::from_millis(1500);
    let mut pair = Pair::new(Stack::MBEDTLS, ECDHE);
    pair.client_processor = Arc::new(Slow(slow, |operation| matches!(operation, Operation::EcdsaVerify(_))));
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    // The server's timer of 1 s runs out twice (1 s, then 2 s later) in the two verifications' 3 s; the
    // client reads the copies when it has time.
    let flights: Vec<_> = transcript
        .datagrams
        .iter()
        .filter(|datagram| datagram.direction == Direction::ToClient && datagram.bytes.len() > 500)
        .map(|datagram| datagram.at)
        .collect();
    assert!(flights.len() >= 2, "{flights:?}");
    assert_eq!(flights[1] - flights[0], Duration::from_secs(1));
}

#[test]
fn a_busy_device_does_not_go_back_in_time() {
    let slow = Duration::from_secs(2);
    let mut pair = Pair::new(Stack::MBEDTLS, ECDHE);
    pair.client_processor = Arc::new(Slow(slow, |operation| !matches!(operation, Operation::Sha256 { .. })));
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Completed);
    let all = operations(&mut *client);
    for pair in all.windows(2) {
        assert!(pair[0].at + pair[0].took <= pair[1].at, "{pair:?}");
    }
    let Status::Established { at } = client.status() else { panic!("{transcript:?}") };
    assert!(at >= slow * 6, "{at:?}");
    assert_eq!(client.busy_until(), all.last().map(|last| last.at + last.took).unwrap().max(at));
}

#[test]
fn a_server_is_established_when_it_has_verified_not_when_it_has_answered() {
    let slow = Duration::from_millis(100);
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = Pair::new(stack, PSK);
        pair.server_processor =
            Arc::new(Slow(slow, |operation| matches!(operation, Operation::Open(_) | Operation::Seal(_))));
        let (mut client, mut server) = pair.build();
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed, "{stack}");
        // It opens the client's Finished for 100 ms, and then seals its own for as long (RFC 5246 section 7.3).
        let all = operations(&mut *server);
        let open = all.iter().find(|performed| matches!(performed.operation, Operation::Open(_))).unwrap();
        // tinyDTLS says so only when it has answered.
        let verified = if stack == Stack::TINYDTLS { 2 * slow } else { slow };
        assert_eq!(server.status(), Status::Established { at: open.at + verified }, "{stack}");
        assert_eq!(server.busy_until(), open.at + 2 * slow, "{stack}");
    }
}
