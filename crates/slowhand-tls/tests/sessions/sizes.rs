//! The datagrams of lossless handshakes have the sizes that were measured with the same libraries in
//! plain C programs. The certificates have the length of those used there (332 and 246 octets).
//! ECDSA signatures in DER vary in length: each of the two integers loses an octet when its highest bit
//! is clear, and more with a probability of 1/256.

use slowhand_tls::memory::{End, Path};
use slowhand_tls::wire::{self, MessageType};
use slowhand_tls::{Auth, Curve, Protocol, Stack, Status, Suite};

use crate::pair::Pair;

fn assert_sizes(pair: &Pair, expected: &[usize], signatures: &[usize]) {
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    let sizes = transcript.sizes();
    assert_eq!(sizes.len(), expected.len(), "{sizes:?}");
    for (index, (size, expected)) in sizes.iter().zip(expected).enumerate() {
        let tolerance = if signatures.contains(&index) { 2 } else { 0 };
        assert!(size.abs_diff(*expected) <= tolerance, "datagram {index}: {sizes:?}, expected {expected}");
    }
}

#[test]
fn mbedtls_psk() {
    let pair = Pair::new(Stack::Mbedtls, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[97, 60, 129, 131, 109, 67], &[]);
}

#[test]
fn mbedtls_mutual_secp256r1() {
    let pair = Pair::new(Stack::Mbedtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[101, 60, 133, 718, 621, 67], &[3, 4]);
}

#[test]
fn mbedtls_mutual_secp192r1() {
    let pair = Pair::new(Stack::Mbedtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
        .both(|config| config.curve = Curve::Secp192r1);
    assert_sizes(&pair, &[101, 60, 133, 600, 504, 67], &[3, 4]);
}

#[test]
fn tinydtls_psk() {
    let pair = Pair::new(Stack::Tinydtls, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[77, 44, 93, 74, 25, 42, 14, 53, 14, 53], &[]);
}

#[test]
fn tinydtls_mutual_raw_public_keys() {
    let pair = Pair::new(Stack::Tinydtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    let expected = [111, 44, 127, 90, 119, 168, 33, 25, 119, 91, 100, 14, 53, 14, 53];
    assert_sizes(&pair, &expected, &[5, 10]);
}

#[test]
fn a_longer_identity_lengthens_the_key_exchange_only() {
    for stack in [Stack::Mbedtls, Stack::Tinydtls] {
        let pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        let short = pair.run(&Path::default()).sizes();
        let long = pair.both(|config| config.psk_identity.push_str("123")).run(&Path::default()).sizes();
        let differences: Vec<_> = short.iter().zip(&long).map(|(short, long)| long - short).collect();
        assert_eq!(differences.iter().filter(|difference| **difference == 3).count(), 1, "{differences:?}");
        assert_eq!(differences.iter().sum::<usize>(), 3);
    }
}

#[test]
fn a_datagram_limit_is_kept() {
    for mtu in [192, 256, 529, 1041] {
        let pair =
            Pair::new(Stack::Mbedtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM).both(|config| config.mtu = Some(mtu));
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed, "{mtu}");
        assert!(transcript.sizes().iter().all(|size| *size <= mtu.into()), "{mtu}: {:?}", transcript.sizes());
    }
}

#[test]
fn the_smallest_datagram_limit_suits_every_handshake() {
    let pair = Pair::new(Stack::Mbedtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM).both(|config| {
        config.mtu = Some(192);
        config.connection_id = Some(32);
        config.max_fragment_length = Some(4096);
    });
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed, "{transcript:?}");
    assert!(transcript.sizes().iter().all(|size| *size <= 192), "{:?}", transcript.sizes());
}

#[test]
fn the_fragment_length_is_negotiated_and_kept() {
    for length in [512, 1024, 2048, 4096] {
        let pair = Pair::new(Stack::Mbedtls, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM)
            .both(|config| config.max_fragment_length = Some(length));
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed);
        // The ClientHello is 5 octets longer: the extension of RFC 6066 section 4.
        assert_eq!(transcript.sizes()[0], 101 + 5);
        for datagram in &transcript.datagrams {
            for record in wire::records(&datagram.bytes, 0).map(Result::unwrap) {
                // RFC 5246 section 6.2.3: protection may add to the fragment.
                assert!(record.fragment.len() <= usize::from(length) + 24, "{length}");
            }
        }
        let first_flight: usize = transcript.sizes()[3..].iter().sum();
        assert!(length > 512 || first_flight > 718 + 621, "{:?}", transcript.sizes());
    }
}

#[test]
fn connection_ids_are_negotiated() {
    let pair =
        Pair::new(Stack::Mbedtls, Suite::TLS_PSK_WITH_AES_128_CCM_8).both(|config| config.connection_id = Some(4));
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Completed);
    assert_eq!(client.negotiated().unwrap().connection_id, Some(4));
    assert_eq!(server.negotiated().unwrap().connection_id, Some(4));
    let last = transcript.datagrams.last().unwrap();
    let finished = wire::records(&last.bytes, 4).last().unwrap().unwrap();
    assert_eq!(finished.content_type, wire::ContentType::Tls12Cid);
    assert_eq!(finished.connection_id.len(), 4);
}

#[test]
fn without_a_cookie_two_datagrams_are_saved() {
    let mut pair = Pair::new(Stack::Mbedtls, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    pair.server.cookie = false;
    assert_sizes(&pair, &[97, 131, 109, 67], &[]);
}

#[test]
fn a_server_alone_is_authenticated_without_a_client_certificate() {
    for stack in [Stack::Mbedtls, Stack::Tinydtls] {
        let pair =
            Pair::new(stack, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8).both(|config| config.auth = Auth::Server);
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed);
        let types: Vec<_> = transcript
            .datagrams
            .iter()
            .flat_map(|datagram| wire::records(&datagram.bytes, 0))
            .flat_map(|record| record.unwrap().messages())
            .map(|message| message.unwrap().message_type)
            .collect();
        assert!(!types.contains(&MessageType::CertificateRequest));
        assert!(!types.contains(&MessageType::CertificateVerify));
        assert_eq!(types.iter().filter(|kind| **kind == MessageType::Certificate).count(), 1);
    }
}

#[test]
fn every_suite_completes_and_is_the_one_negotiated() {
    for (stack, protocol, suite) in every_kind() {
        let (mut client, mut server) = Pair::of(stack, protocol, suite).build();
        let transcript = Path::default().run(&mut *client, &mut *server);
        assert_eq!(transcript.end, End::Completed, "{stack} {protocol} {suite}: {transcript:?}");
        for end in [&client, &server] {
            assert!(matches!(end.status(), Status::Established { .. }));
            let negotiated = end.negotiated().unwrap();
            assert_eq!((negotiated.protocol, negotiated.suite), (protocol, suite));
        }
        assert_eq!(client.secrets(), server.secrets());
        assert_eq!(client.secrets().is_some(), protocol != Protocol::Tls13);
        assert!(!client.key_log().is_empty());
        assert_eq!(client.key_log(), server.key_log(), "{stack} {protocol} {suite}");
    }
}

/// Every library with each of its protocols and suites.
fn every_kind() -> Vec<(Stack, Protocol, Suite)> {
    let mut kinds = Vec::new();
    for stack in slowhand_tls::stacks() {
        for protocol in &stack.protocols {
            let suites = stack.suites.iter().filter(|suite| suite.is_tls13() == (*protocol == Protocol::Tls13));
            kinds.extend(suites.map(|suite| (stack.name, *protocol, *suite)));
        }
    }
    kinds
}
