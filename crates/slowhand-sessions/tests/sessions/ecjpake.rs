//! EC-JPAKE, which Thread's joiners use. Of the libraries here only mbedTLS has it, so it stands at both ends.

use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path};
use slowhand_sessions::{
    Credential, CredentialKind, Curve, FailureKind, Operation, Protocol, Resumption, Session, SessionConfig, Stack,
    Suite, Version,
};
use slowhand_testing::hex;
use slowhand_testing::wireshark::{Pcap, Transport, Tshark};

use crate::failures::{assert_failed, exchange};
use crate::pair::{Pair, dtls, negotiated, tls};

const SUITE: Suite = Suite::TLS_ECJPAKE_WITH_AES_128_CCM_8;

fn pair() -> Pair {
    Pair::new(Stack::MBEDTLS, SUITE)
}

fn password(text: &str) -> Credential {
    Credential::Ecjpake { password: text.to_owned() }
}

/// The sizes that the same library had in a plain C program. A proof has a number of 32 octets without its leading zeros, so one in
/// 256 is shorter: 2 in each hello, 1 in each of the other two messages.
#[test]
fn datagrams_have_the_measured_sizes() {
    let transcript = pair().run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    let expected = [445, 60, 477, 664, 257, 67];
    let sizes = transcript.sizes();
    assert_eq!(sizes.len(), expected.len(), "{sizes:?}");
    assert!(sizes.iter().zip(expected).all(|(size, expected)| (expected - 3..=expected).contains(size)), "{sizes:?}");
    // The client keeps its keys and proofs for the second hello: only the cookie of 32 octets is new.
    assert_eq!(sizes[2], sizes[0] + 32);
}

#[test]
fn it_runs_over_a_stream_too_and_without_a_cookie() {
    let pair = Pair::of(Stack::MBEDTLS, Protocol::Tls12, SUITE);
    let (mut client, mut server) = pair.build();
    assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
    assert_eq!(negotiated(&*client), (Protocol::Tls12, SUITE, None));
    let without = self::pair().both(|config| dtls(config).cookie = false).run(&Path::default());
    assert_eq!((without.sizes().len(), without.end), (4, End::Completed));
}

/// Multiplications of the base point, and of other points, by the end of the session.
fn multiplications(session: &mut dyn Session) -> [usize; 2] {
    let mut counts = [0; 2];
    session.drain_operations(&mut |performed| match performed.operation {
        Operation::EcdhKeyGeneration(Curve::Secp256r1) => counts[0] += 1,
        Operation::EcdhSharedSecret(Curve::Secp256r1) => counts[1] += 1,
        Operation::EcdhKeyGeneration(_) | Operation::EcdhSharedSecret(_) => panic!("another curve"),
        _ => {}
    });
    counts
}

/// RFC 8236 section 3.2 with the proofs of RFC 8235 section 3.2. To make a public key `[x]G` takes one multiplication, to make its
/// proof `[v]G` one, to check a proof `[r]G + [h]X` two.
///
/// Round one: an end makes two keys with their proofs (4 of the base point), and checks two (2 of the base point, 2 of other
/// points). Round two has a generator of its own, so no multiplication is of the base point: one key with its proof (2), one check
/// (2). The secret `[x](B - [x s]X)` takes 2.
#[test]
fn an_end_multiplies_fourteen_points() {
    for (cookie, extra) in [(false, 0), (true, 2)] {
        let pair = pair().both(|config| dtls(config).cookie = cookie);
        let (mut client, mut server) = pair.build();
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
        assert_eq!(multiplications(&mut *client), [6, 8]);
        // The library checks the proofs of the first hello before it asks for the cookie, and those of the second again.
        assert_eq!(multiplications(&mut *server), [6 + extra, 8 + extra]);
    }
}

/// The Finished of the client, encrypted with a key that follows from the wrong password, is the first that the server cannot
/// read. The words are those of `error.c`, the codes those of `ssl.h`; bad_record_mac is 20 (RFC 5246 section 7.2).
#[test]
fn a_wrong_password_fails() {
    let mut pair = pair();
    pair.client.credential = password("J01NM3");
    let (mut client, mut server) = pair.build();
    client.start(Duration::ZERO);
    exchange(&mut *client, &mut *server);
    let words = "SSL - A fatal alert message was received from our peer (-0x7780): bad_record_mac (20)";
    assert_failed(&*client, FailureKind::AlertReceived { description: 20 }, words);
    let words = "SSL - Verification of the message MAC failed (-0x7180)";
    assert_failed(&*server, FailureKind::Library { code: -0x7180 }, words);
}

#[test]
fn the_loss_of_any_datagram_is_survived() {
    for lost in 0..6 {
        let transcript = pair().run(&Path { dropped: vec![lost], ..Path::default() });
        assert_eq!((transcript.end, transcript.at), (End::Completed, Duration::from_millis(1_300)), "{lost}");
    }
}

/// The longest ClientHello with the smallest MTU: it must fit, because the library cuts it not.
#[test]
fn the_smallest_mtu_holds_the_longest_hello() {
    let longest = pair().both(|config| {
        config.mtu = Some(520);
        dtls(config).connection_id = Some(32);
        tls(config).max_fragment_length = Some(512);
    });
    let transcript = longest.run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    assert!(transcript.sizes().iter().all(|size| *size <= 520), "{:?}", transcript.sizes());
}

/// tshark names the suite, and finds the extension of type 256 (ecjpake_key_kp_pair) in three hellos. It does not look into the
/// extension: draft-cragie-tls-ecjpake-01 section 7 has two keys, each with its proof. A key has a length and a point of 65
/// octets; a proof has a point too, and a number of 32 octets, or of some less, with its length.
#[test]
fn tshark_reads_the_hellos() {
    let transcript = pair().run(&Path::default());
    let sent =
        transcript.datagrams.iter().map(|datagram| (datagram.direction == Direction::ToServer, &datagram.bytes[..]));
    let fields = [
        "dtls.handshake.ciphersuite",
        "dtls.handshake.extension.type",
        "dtls.handshake.extension.data",
        "_ws.malformed",
    ];
    let capture = Pcap::of_payloads(Transport::Udp, sent);
    let rows = Tshark::default().decode_as("udp.port==5684,dtls").rows(&capture, &fields);
    let hellos: Vec<_> = rows.iter().filter(|row| row[1].contains("256")).collect();
    // The client also offers 0x00ff, which says that it knows secure renegotiation (RFC 5746 section 3.3).
    let suites: Vec<_> = hellos.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(suites, ["0xc0ff,0x00ff", "0xc0ff,0x00ff", "0xc0ff"]);
    assert!(rows.iter().all(|row| row[3].is_empty()), "{rows:?}");
    for hello in hellos {
        let pair = hex::octets(hello[2].split(',').max_by_key(|data| data.len()).unwrap());
        let mut rest = &pair[..];
        for _ in 0..2 {
            for _ in ["key", "proof"] {
                // An uncompressed point (SEC 1 section 2.3.3).
                assert_eq!(rest[..2], [65, 4]);
                rest = &rest[66..];
            }
            assert!((30..=32).contains(&rest[0]), "{}", rest[0]);
            rest = &rest[1 + usize::from(rest[0])..];
        }
        assert!(rest.is_empty());
    }
}

#[test]
fn what_it_cannot_be_is_refused() {
    let refused = |stack: Stack, change: &dyn Fn(&mut SessionConfig)| {
        let mut config = pair().server;
        config.stack = stack;
        change(&mut config);
        config.validate().expect_err("a refusal").to_string()
    };
    for stack in Stack::BUILT_IN.iter().copied().filter(|stack| *stack != Stack::MBEDTLS) {
        let suite = refused(stack, &|_| ());
        assert!(suite.starts_with(if stack == Stack::RUSTLS { "protocol: " } else { "suite: " }), "{suite}");
        let credential = refused(stack, &|config| tls(config).suite = None);
        assert!(
            credential.starts_with(if stack == Stack::RUSTLS { "protocol: " } else { "credential: found ecjpake" }),
            "{credential}"
        );
    }
    let of_mbedtls = |expected: &str, change: &dyn Fn(&mut SessionConfig)| {
        let found = refused(Stack::MBEDTLS, change);
        assert!(found.starts_with(expected), "{found}");
    };
    of_mbedtls("suite: found TLS_ECJPAKE_WITH_AES_128_CCM_8", &|config| tls(config).version = Version::Tls13);
    of_mbedtls("credential: found ecjpake, allowed: certificate", &|config| {
        (tls(config).version, tls(config).suite) = (Version::Tls13, None);
    });
    of_mbedtls("credential: found psk, allowed: ecjpake", &|config| config.credential = CredentialKind::Psk.into());
    of_mbedtls("curve: found secp192r1, allowed: secp256r1", &|config| tls(config).curve = Curve::Secp192r1);
    of_mbedtls("resumption: found id, allowed: none", &|config| tls(config).resumption = Some(Resumption::Id));
    of_mbedtls("password: found 5 octets, allowed: 6 to 32 octets", &|config| config.credential = password("J01NM"));
    of_mbedtls("mtu: found 519, allowed: 520 octets or more", &|config| config.mtu = Some(519));
}
