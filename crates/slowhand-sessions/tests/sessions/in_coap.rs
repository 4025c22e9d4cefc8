//! DTLS whose flights are in CoAP messages.

use std::time::Duration;

use slowhand_coap::block::BlockSize;
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{
    Coap, Credential, CredentialKind, FailureKind, Protocol, Resumption, Role, Security, Session, SessionConfig, Stack,
    Status, Suite, Weightless, WriteError, build,
};

use crate::pair::{Pair, config, dtls, failure, set_length, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const IN_13: Suite = Suite::TLS_AES_128_CCM_8_SHA256;

/// Everything that the built-in libraries have, with the sizes of their blocks.
const KINDS: &[(Stack, Protocol, Suite, Option<Resumption>)] = &[
    (Stack::LEAN_DTLS, Protocol::Dtls12, PSK, None),
    (Stack::LEAN_DTLS, Protocol::Dtls12, ECDHE, None),
    (Stack::LEAN_DTLS, Protocol::Dtls12, PSK, Some(Resumption::Id)),
    (Stack::LEAN_DTLS, Protocol::Dtls13, IN_13, None),
    (Stack::MBEDTLS, Protocol::Dtls12, PSK, None),
    (Stack::MBEDTLS, Protocol::Dtls12, ECDHE, None),
    (Stack::MBEDTLS, Protocol::Dtls12, ECDHE, Some(Resumption::Ticket)),
    (Stack::OPENSSL, Protocol::Dtls12, ECDHE, None),
    (Stack::TINYDTLS, Protocol::Dtls12, PSK, None),
    (Stack::TINYDTLS, Protocol::Dtls12, ECDHE, None),
];

fn in_coap(block: usize) -> Option<Box<Coap>> {
    Some(Box::new(Coap { block: BlockSize::new(block).unwrap(), ..Coap::new(Security::None) }))
}

fn pair(&(stack, protocol, suite, resumption): &(Stack, Protocol, Suite, Option<Resumption>), block: usize) -> Pair {
    Pair::of(stack, protocol, suite).both(|config| {
        tls(config).resumption = resumption;
        config.in_coap = in_coap(block);
        if protocol == Protocol::Dtls13 {
            config.credential = CredentialKind::Psk.into();
        }
    })
}

fn run(pair: &Pair, path: &Path) -> Transcript {
    let (mut client, mut server) = pair.build();
    path.run_until_quiet(&mut *client, &mut *server)
}

#[test]
fn every_library_completes_whatever_happens_to_one_datagram() {
    for kind in KINDS {
        for block in [64, 1024] {
            let pair = pair(kind, block);
            let whole = run(&pair, &Path::default());
            assert_eq!(whole.end, End::Completed, "{kind:?}, {block}: {whole:?}");
            assert!(whole.datagrams.iter().all(|datagram| (0x40..=0x7f).contains(&datagram.bytes[0])), "all are CoAP");
            assert_eq!(run(&pair, &Path::default()), whole, "the same again");
            for number in 0..whole.datagrams.len() {
                let late = Duration::from_millis(300);
                for path in [
                    Path { dropped: vec![number], ..Path::default() },
                    Path { duplicated: vec![number], ..Path::default() },
                    Path { held_back: vec![(number, late)], ..Path::default() },
                ] {
                    let transcript = run(&pair, &path);
                    assert_eq!(transcript.end, End::Completed, "{kind:?}, {block}, {path:?}: {transcript:?}");
                }
            }
        }
    }
}

/// A body in blocks has no datagram beyond the MTU, and CoAP's blocks take the place of fragments.
#[test]
fn datagrams_have_the_mtu_at_most() {
    for kind in KINDS {
        for mtu in [64, 256] {
            let pair = pair(kind, 1024).both(|config| config.mtu = Some(mtu));
            let transcript = run(&pair, &Path { datagram_limit: 10_000, ..Path::default() });
            assert_eq!(transcript.end, End::Completed, "{kind:?}, {mtu}");
            assert!(
                *transcript.sizes().iter().max().unwrap() <= usize::from(mtu),
                "{kind:?}: {:?}",
                transcript.sizes()
            );
        }
    }
    let mut long = pair(&KINDS[1], 64);
    for end in [&mut long.client, &mut long.server] {
        end.mtu = Some(128);
        end.credential = CredentialKind::Certificate.into();
        end.stack = Stack::MBEDTLS;
        set_length(end, Some(8_000));
    }
    let transcript = run(&long, &Path::default());
    assert_eq!(transcript.end, End::Completed);
    assert!(transcript.datagrams.len() > 2 * 2 * 8_000 / 64, "two certificates in blocks of 64 octets");
}

/// Handshakes of the flights of RFC 6347 figure 1: each of the client's is a request, so a full one with a cookie has three exchanges, and
/// one without two.
#[test]
fn a_flight_is_an_exchange() {
    let datagrams = |kind, cookie| {
        let mut pair = pair(kind, 1024);
        dtls(&mut pair.server).cookie = cookie;
        run(&pair, &Path::default()).datagrams.len()
    };
    assert_eq!([true, false].map(|cookie| datagrams(&KINDS[0], cookie)), [6, 4]);
    // Resumed, the last flight of the client has an empty answer.
    assert_eq!([true, false].map(|cookie| datagrams(&KINDS[2], cookie)), [6, 4]);
    // Two and a half, and an acknowledgement.
    assert_eq!(datagrams(&KINDS[3], false), 4);
}

/// Losses are mended by the timer of CoAP, 2 to 3 s, and not by those of the libraries, which are 1 and 2 s.
#[test]
fn coap_alone_repeats() {
    for kind in KINDS {
        let transcript = run(&pair(kind, 1024), &Path { dropped: vec![1], ..Path::default() });
        assert!((2_200..=3_400).contains(&transcript.at.as_millis()), "{kind:?}: {:?}", transcript.at);
    }
}

/// A client without an answer gives up as CoAP does, after five transmissions.
#[test]
fn who_hears_nothing_gives_up_as_coap_does() {
    for stack in [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let suite = if stack == Stack::OPENSSL { ECDHE } else { PSK };
        let pair = pair(&(stack, Protocol::Dtls12, suite, None), 1024);
        let transcript = run(&pair, &Path { dropped: (0..100).collect(), ..Path::default() });
        assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut, "{stack}");
        assert_eq!(transcript.datagrams.len(), 5, "{stack}");
    }
}

/// A server that has no suite of the client says so in its response. A client of lean-dtls does not believe what nothing protects, with and
/// without CoAP.
#[test]
fn alerts_arrive() {
    let stack = Stack::MBEDTLS;
    let mut pair = pair(&(stack, Protocol::Dtls12, PSK, None), 1024);
    pair.server = pair_of_certificates(stack).server;
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Failed, "{stack}");
    // The run ends when the server has failed: its response is under way.
    client.handle_input(transcript.at, &transcript.datagrams.last().unwrap().bytes);
    let status = client.status();
    let is_alert = |failed: &slowhand_sessions::Failure| matches!(failed.kind, FailureKind::AlertReceived { .. });
    assert!(matches!(&status, Status::Failed(failed) if is_alert(failed)), "{stack}: {status:?}, {transcript:?}");
}

fn pair_of_certificates(stack: Stack) -> Pair {
    pair(&(stack, Protocol::Dtls12, ECDHE, None), 1024)
}

/// A server ignores a Finished that it cannot verify (RFC 6347 section 4.1.2.7): CoAP has delivered it, so only patience ends.
#[test]
fn who_gets_empty_answers_gives_up() {
    let mut pair = pair(&KINDS[0], 1024);
    pair.server.credential =
        Credential::Psk { identity: "Client_identity".to_owned(), key: std::sync::Arc::from(&b"another secret.."[..]) };
    let transcript = run(&pair, &Path::default());
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    assert!((93..94).contains(&transcript.at.as_secs()), "MAX_TRANSMIT_WAIT: {:?}", transcript.at);
}

fn client_gets(server: &mut dyn Session) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| server.poll_transmit().map(|transmit| transmit.bytes.to_vec())).collect()
}

/// After the handshake data are records in datagrams, as without CoAP; copies of old messages change nothing.
#[test]
fn data_go_in_records() {
    for kind in KINDS {
        let pair = pair(kind, 64).both(|config| config.mtu = Some(128));
        let (mut client, mut server) = pair.build();
        let transcript = Path::default().run_until_quiet(&mut *client, &mut *server);
        assert_eq!(transcript.end, End::Completed, "{kind:?}");
        let mut now = transcript.at;
        for datagram in &transcript.datagrams {
            server.handle_input(now, &datagram.bytes);
            client.handle_input(now, &datagram.bytes);
        }
        client_gets(&mut *server);
        client_gets(&mut *client);
        now += Duration::from_secs(1);
        client.write(now, b"22.5 C").unwrap();
        let sent = client_gets(&mut *client);
        assert!(sent.len() == 1 && !(0x40..=0x7f).contains(&sent[0][0]), "{kind:?}: {sent:?}");
        server.handle_input(now, &sent[0]);
        assert_eq!(
            server.poll_received().map(|received| received.bytes.to_vec()),
            Some(b"22.5 C".to_vec()),
            "{kind:?}"
        );
        assert!(matches!(client.write(now, &[0; 128]), Err(WriteError::TooLong { .. })), "{kind:?}");
        client.close(now);
        for datagram in client_gets(&mut *client) {
            server.handle_input(now, &datagram);
        }
        assert_eq!(server.status(), Status::Closed, "{kind:?}");
    }
}

/// Anything may come to the port.
#[test]
fn other_datagrams_change_nothing() {
    let pair = pair(&KINDS[0], 64);
    let whole = run(&pair, &Path::default());
    let (mut client, mut server) = pair.build();
    let mut octets = 1_u32;
    let mut next = || {
        octets = octets.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (octets >> 24) as u8
    };
    for length in 0..200 {
        let datagram: Vec<u8> = (0..length).map(|at| if at == 0 { 0x40 | next() & 0x3f } else { next() }).collect();
        for end in [&mut client, &mut server] {
            end.handle_input(Duration::ZERO, &datagram);
            client_gets(&mut **end);
        }
    }
    // Records without CoAP open no session.
    let plain = Pair::new(KINDS[0].0, PSK).run(&Path::default());
    server.handle_input(Duration::ZERO, &plain.datagrams[0].bytes);
    assert_eq!(client_gets(&mut *server), Vec::<Vec<u8>>::new());
    let transcript = Path::default().run_until_quiet(&mut *client, &mut *server);
    assert_eq!((transcript.end, transcript.datagrams.len()), (End::Completed, whole.datagrams.len()));
}

#[test]
fn bad_combinations_are_named() {
    let refused = |protocol: Protocol, mtu: Option<u16>| {
        let (stack, suite) = if protocol == Protocol::Tls12 { (Stack::MBEDTLS, PSK) } else { (Stack::LEAN_DTLS, PSK) };
        let mut end = match protocol {
            Protocol::Oscore => SessionConfig::new(Role::Client, stack, protocol.family(), CredentialKind::Psk.into()),
            _ => config(Role::Client, stack, protocol, suite),
        };
        (end.in_coap, end.mtu) = (in_coap(64), mtu);
        let error = end.validate().unwrap_err();
        assert!(build(&end, std::sync::Arc::new(Weightless)).is_err());
        error.field
    };
    assert_eq!(refused(Protocol::Oscore, None), "carrier");
    assert_eq!(refused(Protocol::Tls12, None), "carrier");
    assert_eq!(refused(Protocol::Dtls12, Some(63)), "mtu");
}
