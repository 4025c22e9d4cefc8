//! Sessions that resume one of before.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{
    Auth, BuildError, Operation, Protocol, Resumption, Session, Stack, Status, Suite, Timers, Weightless, build,
    build_pair,
};

use crate::pair::{Pair, dtls, failure, negotiated, psk, tls};

const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
const GCM: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const RSA: Suite = Suite::TLS_RSA_WITH_AES_128_CBC_SHA;

/// The sessions that can be resumed, and how.
const KINDS: &[(Stack, Protocol, Suite, Resumption)] = &[
    (Stack::MBEDTLS, Protocol::Dtls12, ECDHE, Resumption::Id),
    (Stack::MBEDTLS, Protocol::Dtls12, ECDHE, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Dtls12, PSK, Resumption::Id),
    (Stack::MBEDTLS, Protocol::Dtls12, PSK, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Dtls12, RSA, Resumption::Id),
    (Stack::MBEDTLS, Protocol::Dtls12, RSA, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Tls12, ECDHE, Resumption::Id),
    (Stack::MBEDTLS, Protocol::Tls12, ECDHE, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_CCM_8_SHA256, Resumption::Ticket),
    (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_256_GCM_SHA384, Resumption::Ticket),
    (Stack::RUSTLS, Protocol::Tls12, GCM, Resumption::Id),
    (Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, Resumption::Ticket),
];

fn pair(kind: &(Stack, Protocol, Suite, Resumption)) -> Pair {
    Pair::of(kind.0, kind.1, kind.2).both(|config| tls(config).resumption = Some(kind.3))
}

/// The lines of the key log in version 1.2.
fn master_secrets(session: &dyn Session) -> Vec<String> {
    session.key_log().into_iter().filter(|line| line.starts_with("CLIENT_RANDOM")).collect()
}

/// ECDH operations, and those with a private or public key of a certificate.
fn asymmetric(session: &mut dyn Session) -> [usize; 2] {
    let mut counts = [0; 2];
    session.drain_operations(&mut |performed| match performed.operation {
        Operation::EcdhKeyGeneration(_) | Operation::EcdhSharedSecret(_) => counts[0] += 1,
        Operation::EcdsaSign(_)
        | Operation::EcdsaVerify(_)
        | Operation::RsaSign(_)
        | Operation::RsaVerify(_)
        | Operation::RsaEncrypt(_)
        | Operation::RsaDecrypt(_) => counts[1] += 1,
        _ => {}
    });
    counts
}

/// Version 1.2 resumes with symmetric cryptography alone (RFC 5246 section 7.3); TLS 1.3 has fresh ECDHE beside the
/// pre-shared key, and no certificates (RFC 8446 section 2.2).
#[test]
fn nobody_signs_and_nobody_verifies() {
    for kind in KINDS {
        for auth in [Auth::Mutual, Auth::Server] {
            let (mut client, mut server) = pair(kind).both(|config| tls(config).auth = auth).build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{kind:?}: {transcript:?}");
            let ecdh = if kind.1 == Protocol::Tls13 { 2 } else { 0 };
            assert_eq!(asymmetric(&mut *client), [ecdh, 0], "{kind:?}");
            assert_eq!(asymmetric(&mut *server), [ecdh, 0], "{kind:?}");
            assert_eq!(negotiated(&*client).1, kind.2, "{kind:?}");
            assert_eq!(master_secrets(&*client), master_secrets(&*server), "{kind:?}");
        }
    }
}

#[test]
fn the_same_seeds_give_the_same_bytes() {
    for kind in KINDS {
        let pair = pair(kind);
        assert_eq!(pair.run(&Path::default()), pair.run(&Path::default()), "{kind:?}");
        let other = pair.clone().both(|config| config.seed[0] ^= 1).run(&Path::default());
        assert_ne!(pair.run(&Path::default()).datagrams[0].bytes, other.datagrams[0].bytes, "{kind:?}");
    }
}

/// Nothing of the first session takes the measured one's time, and nothing of it is reported.
#[test]
fn the_first_session_is_not_counted() {
    for kind in KINDS {
        let (mut client, mut server) = pair(kind).build();
        for end in [&mut client, &mut server] {
            assert_eq!((end.busy_until(), end.deadline()), (Duration::ZERO, None), "{kind:?}");
            assert!(end.poll_transmit().is_none(), "{kind:?}");
            end.drain_operations(&mut |performed| panic!("{kind:?}: {performed:?}"));
            assert_eq!(end.status(), Status::Handshaking);
        }
    }
}

/// Measured with the library in plain C programs: 133/60/165/179/67.
#[test]
fn mbedtls_by_identifier() {
    let transcript = pair(&(Stack::MBEDTLS, Protocol::Dtls12, ECDHE, Resumption::Id)).run(&Path::default());
    assert_eq!(transcript.sizes(), [133, 60, 165, 179, 67]);
}

/// The other messages have the sizes of a resumption by identifier; the two ClientHellos have a ticket besides.
/// Measured with the library in plain C programs: 564/60/596/179/67, of which 564 would be a ticket with a certificate
/// of 278 octets.
#[test]
fn mbedtls_by_ticket() {
    let kind = (Stack::MBEDTLS, Protocol::Dtls12, ECDHE, Resumption::Ticket);
    for (auth, certificate) in [(Auth::Mutual, 332), (Auth::Server, 0)] {
        // `ssl_tls12_session_save` of ssl_tls.c: header and suite, start, identifier, master secret, result of
        // verification, the client's certificate, creation of the ticket, fragment length, RFC 7366;
        // `mbedtls_ssl_ticket_write` of ssl_ticket.c: name of the key, IV, length, tag.
        let state = 9 + 8 + (1 + 32) + 48 + 4 + (3 + certificate) + 8 + 1 + 1;
        let ticket = 4 + 12 + 2 + state + 16;
        let transcript = pair(&kind).both(|config| tls(config).auth = auth).run(&Path::default());
        let extension = 4 + ticket;
        assert_eq!(transcript.sizes(), [133 + extension, 60, 165 + extension, 179, 67]);
    }
}

fn sizes(transcript: &Transcript, direction: Direction) -> Vec<usize> {
    let writes = transcript.datagrams.iter().filter(|write| write.direction == direction);
    writes.map(|write| write.bytes.len()).collect()
}

/// RFC 5246 section 7.3 by hand: the server ends first, and each end sends ChangeCipherSpec and Finished alone.
#[test]
fn an_abbreviated_handshake_over_a_stream() {
    let changed = [5 + 1, 5 + 8 + 16 + 8];
    let transcript = pair(&(Stack::MBEDTLS, Protocol::Tls12, ECDHE, Resumption::Id)).run(&Path::default());
    assert_eq!(sizes(&transcript, Direction::ToServer)[1..], changed);
    assert_eq!(sizes(&transcript, Direction::ToClient)[1..], changed);
    // rustls writes its flights at once; the tag of GCM has 16 octets.
    let transcript = pair(&(Stack::RUSTLS, Protocol::Tls12, GCM, Resumption::Id)).run(&Path::default());
    assert_eq!(sizes(&transcript, Direction::ToServer)[1..], [6 + 5 + 8 + 16 + 16]);
    assert_eq!(transcript.datagrams.len(), 3);
}

/// A client that comes with a ticket or an identifier that the server does not know gets a full handshake. This server
/// begins alone, so it has no session of before.
#[test]
fn a_server_that_does_not_know_the_session_begins_anew() {
    for kind in KINDS {
        let resuming = pair(kind);
        let (mut client, _) = resuming.build();
        let mut server = build(&resuming.server, Arc::new(Weightless)).unwrap();
        let transcript = Path::default().run(&mut *client, &mut *server);
        assert_eq!(transcript.end, End::Completed, "{kind:?}: {transcript:?}");
        if kind.2 != PSK {
            assert!(asymmetric(&mut *client)[1] >= 2, "{kind:?}");
        }
    }
}

#[test]
fn a_resumption_survives_losses() {
    for kind in KINDS.iter().filter(|kind| kind.1 == Protocol::Dtls12) {
        for dropped in 0..5 {
            let path = Path { dropped: vec![dropped], ..Path::default() };
            let (mut client, mut server) = pair(kind).build();
            let transcript = path.run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{kind:?}: datagram {dropped}");
            assert_eq!(asymmetric(&mut *client), [0, 0], "{kind:?}: datagram {dropped}");
        }
    }
}

/// An end of each library: the ticket is the server's, the session the client's.
#[test]
fn libraries_resume_with_each_other() {
    for (client, server) in [(Stack::MBEDTLS, Stack::RUSTLS), (Stack::RUSTLS, Stack::MBEDTLS)] {
        for (protocol, suite, resumption) in [
            (Protocol::Tls12, GCM, Resumption::Id),
            (Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256, Resumption::Ticket),
        ] {
            let mut pair = pair(&(client, protocol, suite, resumption));
            pair.server.stack = server;
            let (mut client_end, mut server_end) = pair.build();
            let transcript = Path::default().run(&mut *client_end, &mut *server_end);
            assert_eq!(transcript.end, End::Completed, "{client} {server} {protocol}: {transcript:?}");
            let counts = asymmetric(&mut *client_end);
            assert_eq!(counts[1], 0, "{client} {server} {protocol}");
        }
    }
}

/// In small datagrams, the first session completes only after a timeout: when mbedTLS has put a message together from
/// its fragments, it drops the records that follow in the same datagram if these have a connection ID. How long the
/// fragments are follows from the length of a signature, which differs from seed to seed.
#[test]
fn a_first_session_that_needs_its_timers_is_resumed() {
    let suites = [GCM, ECDHE, PSK, Suite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA];
    let mut built = 0;
    for (suite, connection_id, mtu) in suites.into_iter().flat_map(|suite| {
        [None, Some(0), Some(29)]
            .into_iter()
            .flat_map(move |id| [192, 300, 554, 1280].into_iter().map(move |mtu| (suite, id, mtu)))
    }) {
        for (fragment, resumption) in [(None, Resumption::Id), (Some(512), Resumption::Id), (None, Resumption::Ticket)]
        {
            let kind = (Stack::MBEDTLS, Protocol::Dtls12, suite, resumption);
            let mut pair = pair(&kind).both(|config| {
                (config.mtu, tls(config).max_fragment_length) = (Some(mtu), fragment);
                dtls(config).connection_id = connection_id;
            });
            for seed in [1, 77] {
                pair.client.seed = [seed; 32];
                let (mut client, mut server) = pair.build();
                let transcript = Path::default().run(&mut *client, &mut *server);
                let name = format!("{kind:?}, {connection_id:?}, {mtu}, {fragment:?}, {seed}");
                assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
                assert_eq!(asymmetric(&mut *client), [0, 0], "{name}");
                built += 1;
            }
        }
    }
    assert_eq!(built, 4 * 3 * 4 * 3 * 2);
}

/// A ticket with a certificate in it makes the ClientHello longer than a fragment of 512 octets. mbedTLS 3.6 does not
/// put a ClientHello together (`ssl_tls12_server.c`).
#[test]
fn a_ticket_that_a_fragment_cannot_hold_fails_in_the_words_of_the_library() {
    let kind = (Stack::MBEDTLS, Protocol::Dtls12, GCM, Resumption::Ticket);
    let transcript = pair(&kind).both(|config| tls(config).max_fragment_length = Some(512)).run(&Path::default());
    assert_eq!(failure(&transcript.server).reason, "SSL - The requested feature is not available (-0x7080)");
}

/// The seeds of a session do not change the one that it resumes: with these values, the seeds of the first session
/// decided whether it needed a timer.
#[test]
fn the_first_session_does_not_depend_on_the_seeds() {
    let kind = (Stack::MBEDTLS, Protocol::Dtls12, GCM, Resumption::Id);
    let mut pair = pair(&kind).both(|config| {
        config.mtu = Some(554);
        dtls(config).connection_id = Some(29);
    });
    let identifier = |pair: &Pair| {
        let (mut client, _) = pair.build();
        client.start(Duration::ZERO);
        // RFC 6347 section 4.2.2: record header, handshake header, version, random, the length of the identifier.
        let hello = client.poll_transmit().map(|transmit| transmit.bytes.to_vec()).unwrap();
        (hello[13 + 12 + 2..][..32].to_vec(), hello[13 + 12 + 2 + 32..][..1 + 32].to_vec())
    };
    let (random, first) = identifier(&pair);
    for seed in 2..27 {
        (pair.client.seed, pair.server.seed) = ([2 * seed; 32], [2 * seed + 1; 32]);
        let (other, again) = identifier(&pair);
        assert_ne!(other, random, "{seed}");
        assert_eq!(again, first, "{seed}");
    }
}

/// Why the first session of these two ends fails.
fn first_session_of(pair: &Pair) -> String {
    let refused = build_pair([&pair.client, &pair.server], [Arc::new(Weightless), Arc::new(Weightless)]);
    let Err(BuildError::FirstSession(why)) = refused.map(|_| ()) else { panic!("it was built") };
    why
}

#[test]
fn a_first_session_that_fails_says_why() {
    // The server does not know the client's identity.
    let mut strangers = pair(&(Stack::MBEDTLS, Protocol::Dtls12, PSK, Resumption::Id));
    strangers.client.credential = psk("someone else");
    let why = first_session_of(&strangers);
    assert_eq!(why, "server: SSL - Unknown identity received (eg, PSK identity) (-0x6C80)");
    // The client needs the server to send again (see above), and does not wait for that.
    let mut hasty = pair(&(Stack::MBEDTLS, Protocol::Dtls12, GCM, Resumption::Id)).both(|config| {
        config.mtu = Some(192);
        dtls(config).connection_id = Some(29);
    });
    let timers = |seconds| {
        let time = Some(Duration::from_secs(seconds));
        Timers { first: time, maximum: time, ..Timers::default() }
    };
    (hasty.client.timers, hasty.server.timers) = (timers(1), timers(3000));
    assert_eq!(first_session_of(&hasty), "client: SSL - The operation timed out (-0x6800)");
}

#[test]
fn a_first_session_has_a_limit_in_time() {
    let kind = (Stack::MBEDTLS, Protocol::Dtls12, GCM, Resumption::Id);
    let slow = pair(&kind).both(|config| {
        (config.mtu, config.timers.first) = (Some(192), Some(Duration::from_secs(3601)));
        dtls(config).connection_id = Some(29);
    });
    assert_eq!(first_session_of(&slow), "it takes longer than 3600 s (first_timeout may be too long)");
}
