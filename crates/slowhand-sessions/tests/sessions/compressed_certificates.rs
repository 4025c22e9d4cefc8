//! Compressed certificates (RFC 8879): of TLS 1.3 and QUIC with rustls at both ends.

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{Auth, CertificateCompression, Protocol, Stack, Suite};

use crate::pair::{Pair, set_length, tls};

/// The handshake with certificates of a length (none: the default, 332), compressed or not.
fn pair(protocol: Protocol, auth: Auth, length: Option<u16>, is_compressed: bool) -> Pair {
    Pair::of(Stack::RUSTLS, protocol, Suite::TLS_AES_128_GCM_SHA256).both(|config| {
        set_length(config, length);
        tls(config).auth = auth;
        tls(config).certificate_compression = is_compressed.then_some(CertificateCompression::Zlib);
    })
}

/// The octets of a handshake that completes, twice the same.
fn octets(pair: &Pair) -> usize {
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed, "{transcript:?}");
    assert_eq!(transcript, pair.run(&Path::default()));
    transcript.sizes().iter().sum()
}

/// A short certificate has keys and signatures, which zlib cannot shorten; what makes one longer here is a comment of one word,
/// repeated, which all but vanishes. The extension that asks for it has 7 octets, and a compressed message 8 more of its own (RFC
/// 8879 sections 3 and 4). The signature of a CertificateVerify may have an octet or two more or less.
#[test]
fn octets_of_a_handshake() {
    for (auth, length, expected) in [
        (Auth::Server, None, 10..=16),
        (Auth::Server, Some(1_500), 1_130..=1_140),
        (Auth::Mutual, None, 20..=32),
        (Auth::Mutual, Some(1_500), 2_264..=2_280),
    ] {
        let [whole, compressed] = [false, true].map(|is| octets(&pair(Protocol::Tls13, auth, length, is)));
        assert!(expected.contains(&(whole - compressed)), "{auth} {length:?}: {whole} {compressed}");
    }
}

/// QUIC has the TLS of rustls. Its first datagrams have 1,200 octets in any case.
#[test]
fn of_quic() {
    for auth in [Auth::Server, Auth::Mutual] {
        let [whole, compressed] = [false, true].map(|is| octets(&pair(Protocol::Quic, auth, Some(4_000), is)));
        assert!(compressed + 3_000 < whole, "{compressed} {whole}");
    }
}

/// Only where both ends have said that they can: otherwise certificates are sent as they are.
#[test]
fn of_one_end_alone() {
    let mut pair = pair(Protocol::Tls13, Auth::Mutual, Some(1_500), true);
    let hello = |pair: &Pair| pair.run(&Path::default()).sizes()[0];
    let (both, hello_with) = (octets(&pair), hello(&pair));
    tls(&mut pair.server).certificate_compression = None;
    assert!(both + 2_000 < octets(&pair));
    tls(&mut pair.client).certificate_compression = None;
    assert_eq!(hello_with, hello(&pair) + 7);
}

#[test]
fn who_has_it_not_is_told() {
    let refused = |stack, protocol, suite| {
        let mut pair = Pair::of(stack, protocol, suite);
        tls(&mut pair.client).certificate_compression = Some(CertificateCompression::Zlib);
        pair.client.validate().unwrap_err().to_string()
    };
    let ecdhe = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
    let elsewhere = "not with this library; zlib in tls1.3 with rustls, quic with rustls";
    for (stack, protocol, suite, allowed) in [
        (Stack::RUSTLS, Protocol::Tls12, ecdhe, "not in tls1.2 with this library"),
        (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, "not with this library; zlib with rustls"),
        (Stack::OPENSSL, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, "not with this library; zlib with rustls"),
        (Stack::LEAN_DTLS, Protocol::Dtls13, Suite::TLS_AES_128_GCM_SHA256, elsewhere),
        (Stack::LEAN_DTLS, Protocol::Dtls12, ecdhe, elsewhere),
    ] {
        let expected = format!("certificate_compression: found zlib, allowed: {allowed}");
        assert_eq!(refused(stack, protocol, suite), expected, "{stack} {protocol}");
    }
}
