//! S3K: a pre-shared key from a trust anchor.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{
    Coap, Credential, CredentialKind, FailureKind, Operation, Processor, Protocol, Resumption, Security, Stack, Suite,
};

use crate::pair::{Pair, failure, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

const KINDS: &[(Stack, Protocol, Suite)] = &[
    (Stack::LEAN_DTLS, Protocol::Dtls12, PSK),
    (Stack::LEAN_DTLS, Protocol::Dtls13, Suite::TLS_AES_128_CCM_8_SHA256),
    (Stack::MBEDTLS, Protocol::Dtls12, PSK),
    (Stack::OPENSSL, Protocol::Dtls12, PSK),
    (Stack::TINYDTLS, Protocol::Dtls12, PSK),
];

fn pair(&(stack, protocol, suite): &(Stack, Protocol, Suite)) -> Pair {
    Pair::of(stack, protocol, suite).both(|config| {
        config.trust_anchor = Some(Box::new(Coap::new(Security::None)));
        if protocol == Protocol::Dtls13 {
            config.credential = CredentialKind::Psk.into();
        }
    })
}

#[test]
fn every_library_completes_whatever_happens_to_one_datagram() {
    for kind in KINDS {
        let pair = pair(kind);
        let whole = pair.run(&Path::default());
        assert_eq!(whole.end, End::Completed, "{kind:?}: {whole:?}");
        assert_eq!(pair.run(&Path::default()), whole, "the same again");
        for number in 0..whole.datagrams.len() {
            for fault in 0..3 {
                // Two datagrams of the anchor come before those of DTLS, of which tinyDTLS does not survive every copy.
                let expected =
                    number.checked_sub(2).map_or(End::Completed, |number| plain(kind).run(&path(fault, number)).end);
                let transcript = pair.run(&path(fault, number));
                assert_eq!(transcript.end, expected, "{kind:?}, {number}, {fault}: {transcript:?}");
            }
        }
    }
}

fn path(fault: usize, number: usize) -> Path {
    match fault {
        0 => Path { dropped: vec![number], ..Path::default() },
        1 => Path { duplicated: vec![number], ..Path::default() },
        _ => Path { held_back: vec![(number, Duration::from_millis(300))], ..Path::default() },
    }
}

/// A pair with a key that both ends have from the beginning.
fn plain(kind: &(Stack, Protocol, Suite)) -> Pair {
    Pair::of(kind.0, kind.1, kind.2).both(|config| {
        config.credential = Credential::Psk { identity: "0123456789abcdef".to_owned(), key: Arc::new([7; 16]) };
    })
}

/// The extra exchange is one request and one response, with OSCORE: 13 and 11 octets more than their data and what CoAP adds. Then comes
/// the handshake of any other key, with an identity of 16 octets.
#[test]
fn the_exchange_with_the_anchor_is_all_that_is_more() {
    for kind in KINDS {
        let with_anchor = pair(kind).run(&Path::default()).sizes();
        assert_eq!(with_anchor[..2], [11 + 13 + 6, 9 + 11 + 16 + 16], "{kind:?}");
        assert_eq!(with_anchor[2..], plain(kind).run(&Path::default()).sizes(), "{kind:?}");
    }
}

/// A server whose key with the anchor is another one has another key than the client.
#[test]
fn the_key_comes_from_that_of_the_server() {
    let mut changed = pair(&KINDS[0]);
    for end in [&mut changed.client, &mut changed.server] {
        end.credential = Credential::Psk { identity: "x".to_owned(), key: Arc::from(&b"another secret.."[..]) };
    }
    assert_eq!(changed.run(&Path::default()).end, End::Completed, "nothing but the anchor and the server knows it");
    let sent = |pair: &Pair| pair.run(&Path::default()).datagrams.last().unwrap().bytes.clone();
    assert_ne!(sent(&changed), sent(&pair(&KINDS[0])), "Finished is another one");
}

struct Slow;

impl Processor for Slow {
    fn time(&self, operation: Operation) -> Duration {
        match operation {
            Operation::Sha256 { blocks } => Duration::from_millis(10) * blocks,
            _ => Duration::ZERO,
        }
    }
}

/// One HMAC of a short key and identity: four compressions. Those of the anchor are not the server's.
#[test]
fn the_server_computes_the_key() {
    let of_server = |pair: Pair| {
        let (mut client, mut server) = pair.build();
        Path::default().run(&mut *client, &mut *server);
        let (mut blocks, mut last) = (0, Duration::ZERO);
        server.drain_operations(&mut |performed| {
            assert!(performed.at >= last, "in the order of time");
            last = performed.at;
            if let Operation::Sha256 { blocks: more } = performed.operation {
                blocks += more;
            }
        });
        blocks
    };
    let with = |mut pair: Pair| {
        pair.server_processor = Arc::new(Slow);
        of_server(pair)
    };
    assert_eq!(with(pair(&KINDS[0])), with(plain(&KINDS[0])) + 4);
}

#[test]
fn without_an_answer_of_the_anchor_there_is_no_session() {
    let transcript = pair(&KINDS[0]).run(&Path { dropped: (0..100).collect(), ..Path::default() });
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    assert_eq!(transcript.datagrams.len(), 5, "CoAP sends it again four times");
}

#[test]
fn bad_combinations_are_named() {
    let field = |pair: Pair| pair.client.validate().unwrap_err().field;
    let with = |stack, protocol, suite| pair(&(stack, protocol, suite));
    assert_eq!(field(with(Stack::MBEDTLS, Protocol::Tls12, PSK)), "trust_anchor");
    assert_eq!(
        field(with(Stack::MBEDTLS, Protocol::Dtls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8)),
        "trust_anchor"
    );
    assert_eq!(field(pair(&KINDS[2]).both(|config| tls(config).resumption = Some(Resumption::Id))), "trust_anchor");
    let both = pair(&KINDS[0]).both(|config| config.in_coap = Some(Box::new(Coap::new(Security::None))));
    assert_eq!(field(both), "trust_anchor");
}
