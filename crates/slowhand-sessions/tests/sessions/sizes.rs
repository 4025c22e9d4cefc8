//! The datagrams of lossless handshakes have the sizes that were measured with the same libraries in
//! plain C programs. The certificates have the length of those used there (332 and 246 octets).
//! ECDSA signatures in DER vary in length: each of the two integers loses an octet when its highest bit
//! is clear, and more with a probability of 1/256.

use std::collections::BTreeSet;

use slowhand_sessions::credentials::PSK_IDENTITY;
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{Auth, Curve, Protocol, Stack, Status, Suite};
use slowhand_wire::{ContentType, MessageType, dtls, tls};

use crate::pair::{Pair, dtls, negotiated, psk, set_rsa_bits, tls};

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
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[97, 60, 129, 131, 109, 67], &[]);
}

#[test]
fn mbedtls_mutual_secp256r1() {
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[101, 60, 133, 718, 621, 67], &[3, 4]);
}

#[test]
fn mbedtls_mutual_secp192r1() {
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
        .both(|config| tls(config).curve = Curve::Secp192r1);
    assert_sizes(&pair, &[101, 60, 133, 600, 504, 67], &[3, 4]);
}

#[test]
fn tinydtls_psk() {
    let pair = Pair::new(Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[77, 44, 93, 74, 25, 42, 14, 53, 14, 53], &[]);
}

#[test]
fn tinydtls_mutual_raw_public_keys() {
    let pair = Pair::new(Stack::TINYDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    let expected = [111, 44, 127, 90, 119, 168, 33, 25, 119, 91, 100, 14, 53, 14, 53];
    assert_sizes(&pair, &expected, &[5, 10]);
}

/// OpenSSL 3.0.19 in a plain C program sent ClientHellos of 87 and 107 octets, with certificates of 103 and 123. Since
/// then the client says that it knows secure renegotiation in an extension of 5 octets (RFC 5746 section 3.2), not in a
/// suite of 2 (section 3.3): 3 octets more.
#[test]
fn openssl_psk() {
    let pair = Pair::new(Stack::OPENSSL, Suite::TLS_PSK_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[87 + 3, 48, 107 + 3, 99, 109, 67], &[]);
}

#[test]
fn openssl_mutual_secp256r1() {
    let pair = Pair::new(Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    assert_sizes(&pair, &[103 + 3, 48, 123 + 3, 672, 621, 67], &[3, 4]);
}

/// As before with certificates and points of other lengths: the certificates are 86 octets shorter, a point 16, a
/// signature also 16.
#[test]
fn openssl_mutual_secp192r1() {
    let pair = Pair::new(Stack::OPENSSL, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)
        .both(|config| tls(config).curve = Curve::Secp192r1);
    assert_sizes(&pair, &[106, 48, 126, 672 - 86 - 2 * 16, 621 - 86 - 2 * 16, 67], &[3, 4]);
}

#[test]
fn a_longer_identity_lengthens_the_key_exchange_only() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        let short = pair.run(&Path::default()).sizes();
        let long = pair
            .both(|config| config.credential = psk(&(PSK_IDENTITY.to_owned() + "123")))
            .run(&Path::default())
            .sizes();
        let differences: Vec<_> = short.iter().zip(&long).map(|(short, long)| long - short).collect();
        assert_eq!(differences.iter().filter(|difference| **difference == 3).count(), 1, "{differences:?}");
        assert_eq!(differences.iter().sum::<usize>(), 3);
    }
}

#[test]
fn a_datagram_limit_is_kept() {
    let limits = [192, 256, 529, 1041].map(|mtu| (Stack::MBEDTLS, mtu));
    for (stack, mtu) in limits.into_iter().chain([208, 256, 529, 1041].map(|mtu| (Stack::OPENSSL, mtu))) {
        let pair = Pair::new(stack, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM).both(|config| config.mtu = Some(mtu));
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed, "{stack} {mtu}");
        assert!(transcript.sizes().iter().all(|size| *size <= mtu.into()), "{stack} {mtu}: {:?}", transcript.sizes());
    }
}

#[test]
fn the_smallest_datagram_limit_suits_every_handshake() {
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM).both(|config| {
        config.mtu = Some(192);
        dtls(config).connection_id = Some(32);
        tls(config).max_fragment_length = Some(4096);
    });
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed, "{transcript:?}");
    assert!(transcript.sizes().iter().all(|size| *size <= 192), "{:?}", transcript.sizes());
}

#[test]
fn the_fragment_length_is_negotiated_and_kept() {
    for length in [512, 1024, 2048, 4096] {
        let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM)
            .both(|config| tls(config).max_fragment_length = Some(length));
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed);
        // The ClientHello is 5 octets longer: the extension of RFC 6066 section 4.
        assert_eq!(transcript.sizes()[0], 101 + 5);
        for datagram in &transcript.datagrams {
            for record in dtls::records(&datagram.bytes, Some(0)).map(Result::unwrap) {
                // RFC 5246 section 6.2.3: protection may add to the fragment.
                assert!(record.fragment.len() <= usize::from(length) + 24, "{length}");
            }
        }
        let first_flight: usize = transcript.sizes()[3..].iter().sum();
        assert!(length > 512 || first_flight > 718 + 621, "{:?}", transcript.sizes());
    }
}

/// OpenSSL cuts as well, over a stream and in version 1.3 too.
#[test]
fn openssl_keeps_the_fragment_length() {
    for (protocol, suite) in [
        (Protocol::Dtls12, Suite::TLS_RSA_WITH_AES_128_GCM_SHA256),
        (Protocol::Tls12, Suite::TLS_RSA_WITH_AES_128_GCM_SHA256),
        (Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
    ] {
        let whole = Pair::of(Stack::OPENSSL, protocol, suite).both(|config| set_rsa_bits(config, 3072));
        let cut = whole.clone().both(|config| tls(config).max_fragment_length = Some(512));
        let [whole, cut] = [whole, cut].map(|pair| pair.run(&Path::default()));
        assert_eq!(cut.end, End::Completed, "{protocol}: {cut:?}");
        assert_eq!(cut.sizes()[0], whole.sizes()[0] + 5, "{protocol}");
        // RFC 5246 section 6.2.3 and RFC 8446 section 5.2: protection may add to the fragment.
        let limit = 512 + 24;
        let longest = |transcript: &Transcript| {
            let fragments = transcript.datagrams.iter().flat_map(|sent| fragments(&sent.bytes, protocol));
            fragments.max().unwrap()
        };
        assert!(longest(&whole) > limit || protocol == Protocol::Tls13, "{protocol} {}", longest(&whole));
        assert!(longest(&cut) <= limit, "{protocol} {}", longest(&cut));
    }
}

/// The lengths of the contents of the records.
fn fragments(octets: &[u8], protocol: Protocol) -> Vec<usize> {
    match protocol.is_stream() {
        true => tls::records(octets).map(|record| record.unwrap().fragment.len()).collect(),
        false => dtls::records(octets, Some(0)).map(|record| record.unwrap().fragment.len()).collect(),
    }
}

#[test]
fn connection_ids_are_negotiated() {
    let pair = Pair::new(Stack::MBEDTLS, Suite::TLS_PSK_WITH_AES_128_CCM_8)
        .both(|config| dtls(config).connection_id = Some(4));
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Completed);
    assert_eq!(negotiated(&*client).2, Some(4));
    assert_eq!(negotiated(&*server).2, Some(4));
    let last = transcript.datagrams.last().unwrap();
    let finished = dtls::records(&last.bytes, Some(4)).last().unwrap().unwrap();
    assert_eq!(finished.content_type, ContentType::Tls12Cid);
    assert_eq!(finished.connection_id.len(), 4);
}

#[test]
fn without_a_cookie_two_datagrams_are_saved() {
    for (stack, sizes) in [(Stack::MBEDTLS, [97, 131, 109, 67]), (Stack::OPENSSL, [90, 99, 109, 67])] {
        let mut pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        dtls(&mut pair.server).cookie = false;
        assert_sizes(&pair, &sizes, &[]);
    }
}

#[test]
fn a_server_alone_is_authenticated_without_a_client_certificate() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let pair =
            Pair::new(stack, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8).both(|config| tls(config).auth = Auth::Server);
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed);
        let types: Vec<_> = transcript
            .datagrams
            .iter()
            .flat_map(|datagram| dtls::records(&datagram.bytes, Some(0)))
            .flat_map(|record| record.unwrap().fragments())
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
            assert_eq!(negotiated(&**end), (protocol, suite, None));
        }
        let has_master_secret = client.key_log().iter().any(|line| line.starts_with("CLIENT_RANDOM"));
        assert_eq!(has_master_secret, !matches!(protocol, Protocol::Dtls13 | Protocol::Tls13 | Protocol::Quic));
        // The order is the library's.
        let [client, server] = [client, server].map(|end| BTreeSet::from_iter(end.key_log()));
        assert_eq!(client, server, "{stack} {protocol} {suite}");
    }
}

/// Every library with each of its protocols and suites.
fn every_kind() -> Vec<(Stack, Protocol, Suite)> {
    let mut kinds = Vec::new();
    for stack in Stack::BUILT_IN.iter().copied() {
        for protocol in stack.capabilities().protocols() {
            kinds.extend(stack.capabilities().suites(protocol).map(|suite| (stack, protocol, suite)));
        }
    }
    kinds
}
