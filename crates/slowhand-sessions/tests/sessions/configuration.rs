//! Wrong configurations are refused with the field, what was found and what is allowed.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{
    Auth, BuildError, Credential, CredentialKind, Cryptography, Curve, LeanSwitch, Protocol, PskMode, Resumption, Role,
    SessionConfig, Stack, Suite, Version, Weightless, best_common_suite, build,
};

use crate::pair::{self, dtls, psk, set_rsa_bits, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const RSA: Suite = Suite::TLS_RSA_WITH_AES_128_CBC_SHA;

fn refused(stack: Stack, suite: Suite, change: impl Fn(&mut SessionConfig)) -> (String, String) {
    let mut config = pair::config(Role::Server, stack, Protocol::Dtls12, suite);
    change(&mut config);
    match build(&config, Arc::new(Weightless)) {
        Err(BuildError::Config(error)) => (error.field.to_owned(), error.to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{config:?} was accepted"),
    }
}

fn tls13(change: impl Fn(&mut SessionConfig)) -> (String, String) {
    refused(Stack::MBEDTLS, Suite::TLS_AES_128_CCM_SHA256, |config| {
        tls(config).version = Version::Tls13;
        change(config);
    })
}

#[test]
fn each_field_is_checked() {
    let ms = |ms| Some(Duration::from_millis(ms));
    let cases: Vec<(&str, (String, String))> = vec![
        ("suite", refused(Stack::TINYDTLS, Suite::TLS_PSK_WITH_AES_256_CCM, |_| ())),
        (
            "credential",
            refused(Stack::TINYDTLS, ECDHE, |config| config.credential = CredentialKind::Certificate.into()),
        ),
        ("credential", refused(Stack::MBEDTLS, ECDHE, |config| config.credential = Credential::RawPublicKey)),
        ("credential", refused(Stack::MBEDTLS, PSK, |config| config.credential = CredentialKind::Certificate.into())),
        ("curve", refused(Stack::TINYDTLS, ECDHE, |config| tls(config).curve = Curve::Secp192r1)),
        ("rsa_bits", refused(Stack::MBEDTLS, RSA, |config| set_rsa_bits(config, 4096))),
        ("suite", refused(Stack::TINYDTLS, RSA, |_| ())),
        ("suite", refused(Stack::RUSTLS, RSA, |config| tls(config).version = Version::Tls12)),
        (
            "credential",
            refused(Stack::RUSTLS, PSK, |config| (tls(config).version, tls(config).suite) = (Version::Tls12, None)),
        ),
        ("suite", refused(Stack::MBEDTLS, RSA, |config| tls(config).version = Version::Tls13)),
        ("psk_identity", refused(Stack::MBEDTLS, PSK, |config| config.credential = psk(""))),
        ("psk_identity", refused(Stack::TINYDTLS, PSK, |config| config.credential = psk(&"x".repeat(33)))),
        ("psk_identity", refused(Stack::OPENSSL, PSK, |config| config.credential = psk("a\0b"))),
        ("mtu", refused(Stack::MBEDTLS, ECDHE, |config| config.mtu = Some(100))),
        ("mtu", refused(Stack::TINYDTLS, PSK, |config| config.mtu = Some(64))),
        ("mtu", refused(Stack::TINYDTLS, ECDHE, |config| config.mtu = Some(128))),
        ("max_fragment_length", refused(Stack::MBEDTLS, ECDHE, |config| tls(config).max_fragment_length = Some(1000))),
        ("max_fragment_length", refused(Stack::TINYDTLS, PSK, |config| tls(config).max_fragment_length = Some(512))),
        ("first_timeout", refused(Stack::TINYDTLS, PSK, |config| config.timers.first = ms(0))),
        ("first_timeout", refused(Stack::MBEDTLS, PSK, |config| config.timers.first = ms(0))),
        ("maximum_timeout", refused(Stack::TINYDTLS, PSK, |config| config.timers.maximum = ms(60_000))),
        ("maximum_timeout", refused(Stack::MBEDTLS, PSK, |config| config.timers.maximum = ms(500))),
        ("timeout_floor", refused(Stack::MBEDTLS, PSK, |config| config.timers.floor = ms(500))),
        ("timeout_floor", refused(Stack::LEAN_DTLS, PSK, |config| config.timers.floor = ms(60_001))),
        ("timeout_floor", refused(Stack::LEAN_DTLS, PSK, |config| config.timers.floor = ms(0))),
        ("connection_id", refused(Stack::TINYDTLS, PSK, |config| dtls(config).connection_id = Some(4))),
        ("connection_id", refused(Stack::MBEDTLS, PSK, |config| dtls(config).connection_id = Some(33))),
        ("connection_id", refused(Stack::LEAN_DTLS, PSK, |config| dtls(config).connection_id = Some(9))),
        ("lean", refused(Stack::MBEDTLS, PSK, |config| dtls(config).lean = [LeanSwitch::All].into_iter().collect())),
        (
            "lean",
            refused(Stack::LEAN_DTLS, ECDHE, |config| dtls(config).lean = [LeanSwitch::All].into_iter().collect()),
        ),
        ("psk_mode", refused(Stack::LEAN_DTLS, PSK, |config| dtls(config).psk_mode = PskMode::PskDheKe)),
        ("resumption", refused(Stack::TINYDTLS, PSK, |config| tls(config).resumption = Some(Resumption::Id))),
        ("resumption", tls13(|config| tls(config).resumption = Some(Resumption::Id))),
        ("protocol", refused(Stack::TINYDTLS, PSK, |config| tls(config).version = Version::Tls12)),
        ("suite", refused(Stack::MBEDTLS, PSK, |config| tls(config).version = Version::Tls13)),
        ("suite", refused(Stack::MBEDTLS, Suite::TLS_AES_128_CCM_SHA256, |_| ())),
        ("curve", tls13(|config| tls(config).curve = Curve::Secp192r1)),
        ("max_fragment_length", tls13(|config| tls(config).max_fragment_length = Some(512))),
        ("mtu", tls13(|config| config.mtu = Some(1280))),
        ("first_timeout", tls13(|config| config.timers.first = ms(1000))),
        ("maximum_timeout", tls13(|config| config.timers.maximum = ms(60_000))),
        ("timeout_floor", tls13(|config| config.timers.floor = ms(500))),
        ("rsa_bits", refused(Stack::OPENSSL, RSA, |config| set_rsa_bits(config, 512))),
        ("mtu", refused(Stack::OPENSSL, ECDHE, |config| config.mtu = Some(207))),
        ("first_timeout", refused(Stack::OPENSSL, PSK, |config| config.timers.first = ms(15))),
        ("maximum_timeout", refused(Stack::OPENSSL, PSK, |config| config.timers.maximum = ms(4_294_001))),
        ("connection_id", refused(Stack::OPENSSL, PSK, |config| dtls(config).connection_id = Some(0))),
        ("protocol", refused(Stack::RUSTLS, ECDHE, |_| ())),
        ("suite", refused(Stack::RUSTLS, ECDHE, |config| tls(config).version = Version::Tls12)),
        ("cookie", refused(Stack::TINYDTLS, PSK, |config| dtls(config).cookie = false)),
        ("cookie", refused(Stack::LEAN_DTLS, ECDHE, |config| dtls(config).cookie = false)),
    ];
    for (field, (found, message)) in cases {
        assert_eq!(field, found, "{message}");
        assert!(message.contains("found") && message.contains("allowed"), "{message}");
    }
}

/// mbedTLS and tinyDTLS count milliseconds in 32 bits, OpenSSL microseconds.
#[test]
fn a_timer_is_as_long_as_its_library_can_count() {
    for (stack, seconds) in [(Stack::MBEDTLS, 4_294_967), (Stack::TINYDTLS, 4_294_967), (Stack::OPENSSL, 4_294)] {
        let longest = Duration::from_secs(seconds);
        let mut config = pair::config(Role::Client, stack, Protocol::Dtls12, PSK);
        config.timers.first = Some(longest);
        assert!(build(&config, Arc::new(Weightless)).is_ok(), "{stack}");
        let (field, message) =
            refused(stack, PSK, |config| config.timers.first = Some(longest + Duration::from_secs(1)));
        assert_eq!(field, "first_timeout", "{stack}");
        assert!(message.ends_with(&format!(" to {seconds} s")), "{message}");
    }
}

#[test]
fn a_message_says_what_is_allowed() {
    let (_, message) = refused(Stack::MBEDTLS, ECDHE, |config| tls(config).max_fragment_length = Some(1000));
    assert_eq!(message, "max_fragment_length: found 1000, allowed: 512, 1024, 2048, 4096");
    let (_, message) = refused(Stack::TINYDTLS, PSK, |config| {
        config.timers.first = Some(Duration::from_secs(9));
        config.timers.maximum = Some(Duration::from_secs(60));
    });
    let allowed = "1152 s (fixed: the first timeout, doubled at each retransmission)";
    assert_eq!(message, format!("maximum_timeout: found 60 s, allowed: {allowed}"));
}

/// The libraries that take the length of an identity carry any text. OpenSSL would cut it at the NUL.
#[test]
fn an_identity_with_a_nul_is_carried_or_refused() {
    for stack in [Stack::MBEDTLS, Stack::TINYDTLS] {
        for (at_server, is_known) in [("a\0b", true), ("a\0c", false)] {
            let mut pair = pair::Pair::new(stack, PSK);
            (pair.client.credential, pair.server.credential) = (psk("a\0b"), psk(at_server));
            let transcript = pair.run(&Path::default());
            assert_eq!(transcript.end == End::Completed, is_known, "{stack}: {transcript:?}");
        }
    }
    let (_, message) = refused(Stack::OPENSSL, PSK, |config| config.credential = psk("a\0b"));
    let allowed = "text without NUL (the library takes a C string)";
    assert_eq!(message, format!("psk_identity: found a\\0b, allowed: {allowed}"));
}

#[test]
fn the_values_that_a_library_has_built_in_may_be_written_down() {
    let mut config = pair::config(Role::Client, Stack::TINYDTLS, Protocol::Dtls12, PSK);
    config.timers.first = Some(Duration::from_secs(9));
    config.timers.maximum = Some(Duration::from_secs(9 * 128));
    config.mtu = Some(1280);
    config.validate().unwrap();
}

#[test]
fn a_maximum_timeout_follows_a_first_one_that_is_larger() {
    let mut config = pair::config(Role::Client, Stack::MBEDTLS, Protocol::Dtls12, PSK);
    config.timers.first = Some(Duration::from_secs(90));
    config.validate().unwrap();
    config.stack = Stack::TINYDTLS;
    config.validate().unwrap();
}

#[test]
fn names_are_those_of_a_scenario() {
    #[derive(serde::Deserialize)]
    struct Names {
        stacks: Vec<Stack>,
        protocols: Vec<Protocol>,
        suite: Suite,
        curve: Curve,
        auth: Vec<Auth>,
        role: Role,
        credential: CredentialKind,
    }
    let names: Names = toml::from_str(
        r#"
        stacks = ["lean-dtls", "mbedtls", "openssl", "rustls", "tinydtls"]
        protocols = ["dtls1.2", "dtls1.3", "tls1.2", "tls1.3"]
        suite = "TLS_PSK_WITH_AES_128_CCM_8"
        curve = "secp256r1"
        auth = ["mutual", "server"]
        role = "client"
        credential = "raw_public_key"
        "#,
    )
    .unwrap();
    assert_eq!(names.stacks, [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::RUSTLS, Stack::TINYDTLS]);
    assert_eq!(names.protocols, [Protocol::Dtls12, Protocol::Dtls13, Protocol::Tls12, Protocol::Tls13]);
    assert_eq!(names.suite, PSK);
    assert_eq!((names.curve, names.role), (Curve::Secp256r1, Role::Client));
    assert_eq!(names.auth, [Auth::Mutual, Auth::Server]);
    assert_eq!(names.credential, CredentialKind::RawPublicKey);
    assert_eq!(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM.to_string(), "TLS_ECDHE_ECDSA_WITH_AES_128_CCM");
    assert_eq!(Stack::TINYDTLS.to_string(), "tinydtls");
    assert!(Suite::ALL.iter().all(|suite| Suite::from_iana(suite.iana()) == Some(*suite)));
}

#[test]
fn the_libraries_tell_their_versions() {
    let stacks = slowhand_sessions::stacks();
    assert_eq!(stacks.len(), Stack::BUILT_IN.len());
    assert_eq!(stacks[0].version, env!("CARGO_PKG_VERSION"), "of this workspace");
    assert!(stacks[3].version.starts_with("0.23."), "{}", stacks[3].version);
    let table: toml::Table = include_str!("../../carriers.toml").parse().unwrap();
    let listed = |name: &str| {
        let libraries = table["library"].as_array().unwrap();
        libraries.iter().find(|library| library["name"].as_str() == Some(name)).map(|library| &library["version"])
    };
    for stack in [&stacks[1], &stacks[2], &stacks[4]] {
        let version = listed(&stack.name.to_string()).and_then(toml::Value::as_str);
        assert_eq!(Some(&*stack.version), version, "{}: look for its holes, and change carriers.toml", stack.name);
        let holes = stack.holes.as_ref().unwrap();
        assert!(!holes.known.is_empty() && holes.reached.len() < holes.known.len());
    }
    assert_eq!([&stacks[0], &stacks[3]].map(|stack| stack.holes.as_ref().unwrap().known.len()), [0; 2]);
}

/// The first in the library's own list: `ciphersuite_preference` of mbedTLS, `openssl ciphers`, `cipher_suite_params`
/// of tinyDTLS, `DEFAULT_CIPHER_SUITES` of rustls.
#[test]
fn without_a_suite_it_is_the_best_of_the_library() {
    use CredentialKind::{Certificate, Psk, RawPublicKey};
    for (stack, protocol, credential, suite) in [
        (Stack::MBEDTLS, Protocol::Dtls12, Psk, Suite::TLS_PSK_WITH_AES_256_GCM_SHA384),
        (Stack::MBEDTLS, Protocol::Dtls12, Certificate, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Stack::OPENSSL, Protocol::Tls13, Certificate, Suite::TLS_AES_256_GCM_SHA384),
        (Stack::RUSTLS, Protocol::Tls12, Certificate, Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
        (Stack::TINYDTLS, Protocol::Dtls12, Psk, Suite::TLS_PSK_WITH_AES_128_CCM_8),
        (Stack::TINYDTLS, Protocol::Dtls12, RawPublicKey, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    ] {
        assert_eq!(stack.capabilities().best_suite(protocol, credential), Some(suite), "{stack}");
        let mut pair = pair::Pair::of(stack, protocol, suite).both(|config| tls(config).suite = None);
        pair.server.seed = [9; 32];
        let (mut client, mut server) = pair.build();
        slowhand_sessions::memory::Path::default().run(&mut *client, &mut *server);
        assert_eq!(pair::negotiated(&*client).1, suite, "{stack}");
    }
    for (stacks, protocol, credential, suite) in [
        ([Stack::MBEDTLS, Stack::TINYDTLS], Protocol::Dtls12, Psk, Some(Suite::TLS_PSK_WITH_AES_128_CCM)),
        ([Stack::TINYDTLS, Stack::MBEDTLS], Protocol::Dtls12, Psk, Some(PSK)),
        ([Stack::MBEDTLS, Stack::TINYDTLS], Protocol::Dtls12, Certificate, None),
        ([Stack::RUSTLS, Stack::MBEDTLS], Protocol::Tls12, Psk, None),
    ] {
        assert_eq!(best_common_suite(stacks, protocol, credential), suite, "{stacks:?}");
    }
}

#[test]
fn the_words_of_a_library_follow_from_what_it_can_do() {
    let words = |stack: Stack| stack.capabilities().features().join("; ");
    let keys = "secp192r1; secp256r1; RSA-1024, RSA-2048 and RSA-3072; server or mutual authentication";
    let datagrams = "cookie on or off; mtu; first and maximum timeout";
    assert_eq!(
        words(Stack::LEAN_DTLS),
        "secp256r1; server or mutual authentication; cookie on or off; mtu; datagram_packing; first and maximum timeout; \
         timeout floor; backoff; connection_id; lean profile; max_fragment_length; record_size_limit; pre_validation; false_start; resumption by identifier (1.2) or ticket \
         (1.2); application data; weightless cryptography with psk; ignores alerts in clear"
    );
    assert_eq!(
        words(Stack::MBEDTLS),
        format!(
            "{keys}; {datagrams}; connection_id; max_fragment_length; pre_validation; resumption by identifier (1.2) or \
             ticket; application data"
        )
    );
    assert_eq!(
        words(Stack::OPENSSL),
        format!("{keys}; {datagrams}; max_fragment_length; application data; one write per flight")
    );
    assert_eq!(
        words(Stack::RUSTLS),
        "secp256r1; server or mutual authentication; mtu; first timeout; certificate_compression; resumption by identifier (1.2) or ticket; \
         application data; one write per flight; QUIC by quinn-proto"
    );
    assert_eq!(
        words(Stack::TINYDTLS),
        "secp256r1; server or mutual authentication; first timeout; application data; one datagram and one timer per \
         message"
    );
}

/// Only lean-dtls can do without cryptography, and only where no signature is made.
#[test]
fn only_a_library_of_this_project_can_be_weightless() {
    let weightless = |config: &mut SessionConfig| config.cryptography = Cryptography::Weightless;
    let mut config = pair::config(Role::Client, Stack::LEAN_DTLS, Protocol::Dtls12, PSK);
    weightless(&mut config);
    assert!(build(&config, Arc::new(Weightless)).is_ok());
    for stack in Stack::BUILT_IN.iter().filter(|stack| **stack != Stack::LEAN_DTLS) {
        let suite = stack.capabilities().tls.suites[0];
        let mut config = pair::config(Role::Client, *stack, stack.capabilities().protocols().last().unwrap(), suite);
        weightless(&mut config);
        let error = config.validate().unwrap_err();
        assert_eq!(error.to_string(), "cryptography: found weightless, allowed: real", "{stack}");
    }
}

/// Cargo.lock has the version of lakers that the list says.
#[test]
fn what_stands_alone_is_listed_with_its_version() {
    let lock = std::fs::read_to_string("../../Cargo.lock").unwrap();
    let lakers = slowhand_sessions::implementations().into_iter().find(|each| each.name == "lakers").unwrap();
    assert!(lock.contains(&format!("name = \"lakers\"\nversion = \"{}\"", lakers.version)), "{}", lakers.version);
}
