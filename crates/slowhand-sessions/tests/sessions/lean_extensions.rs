//! The extensions of lean-dtls, with peers that have them too.

use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{CredentialKind, Resumption, Session, Stack, Status, Suite};
use slowhand_wire::{ContentType, dtls::records};

use crate::pair::{Pair, dtls, negotiated, tls};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

/// lean-dtls with itself, and with mbedTLS both ways.
const PAIRS: [(Stack, Stack); 3] =
    [(Stack::LEAN_DTLS, Stack::LEAN_DTLS), (Stack::LEAN_DTLS, Stack::MBEDTLS), (Stack::MBEDTLS, Stack::LEAN_DTLS)];

fn pair(client: Stack, server: Stack) -> Pair {
    let mut pair = Pair::new(client, PSK);
    pair.server.stack = server;
    pair
}

/// Returns what arrives of the data.
fn carried(from: &mut dyn Session, to: &mut dyn Session, transcript: &Transcript, data: &[u8]) -> Vec<u8> {
    from.write(transcript.at, data).unwrap();
    let datagram = from.poll_transmit().unwrap().bytes.to_vec();
    to.handle_input(transcript.at, &datagram);
    to.poll_received().unwrap().bytes.to_vec()
}

#[test]
fn the_fragment_length_is_agreed_and_kept() {
    for (client_stack, server_stack) in PAIRS {
        for length in [512, 1024, 2048, 4096] {
            let name = format!("{client_stack} to {server_stack}, {length}");
            let pair = pair(client_stack, server_stack).both(|config| tls(config).max_fragment_length = Some(length));
            let (mut client, mut server) = pair.build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
            // RFC 6066, section 4: the client's is 00 01 00 01 and the code, and the server's the same.
            let code = [0, 1, 0, 1, (length / 256).trailing_zeros() as u8];
            for hello in [&transcript.datagrams[0], &transcript.datagrams[3]] {
                assert!(hello.bytes.windows(5).any(|octets| octets == code), "{name}: {hello:?}");
            }
            let data = vec![7; length.into()];
            assert_eq!(carried(&mut *client, &mut *server, &transcript, &data), data, "{name}");
            assert_eq!(carried(&mut *server, &mut *client, &transcript, &data), data, "{name}");
            let longer = vec![7; usize::from(length) + 1];
            assert!(client.write(transcript.at, &longer).is_err(), "{name}");
            assert!(server.write(transcript.at, &longer).is_err(), "{name}");
        }
    }
}

#[test]
fn connection_ids_of_every_length_at_either_end() {
    for (client_stack, server_stack) in PAIRS {
        for lengths in [[0, 0], [0, 4], [8, 0], [1, 8], [8, 8]] {
            let name = format!("{client_stack} to {server_stack}, {lengths:?}");
            let mut pair = pair(client_stack, server_stack);
            dtls(&mut pair.client).connection_id = Some(lengths[0]);
            dtls(&mut pair.server).connection_id = Some(lengths[1]);
            let (mut client, mut server) = pair.build();
            let transcript = Path::default().run(&mut *client, &mut *server);
            assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
            for (direction, length) in [(Direction::ToClient, lengths[0]), (Direction::ToServer, lengths[1])] {
                let mut sent = transcript.datagrams.iter().rev().filter(|sent| sent.direction == direction);
                let last = sent.next().unwrap();
                let finished = records(&last.bytes, Some(length)).last().unwrap().unwrap();
                assert_eq!(finished.content_type == ContentType::Tls12Cid, length > 0, "{name}");
                assert_eq!(finished.connection_id.len(), usize::from(length), "{name}");
            }
            assert_eq!(carried(&mut *client, &mut *server, &transcript, b"22.5 C"), b"22.5 C", "{name}");
            assert_eq!(carried(&mut *server, &mut *client, &transcript, &[7; 200]), [7; 200], "{name}");
        }
    }
}

/// An agreed ID is told by both ends as with mbedTLS alone.
#[test]
fn the_length_of_an_id_is_told_as_by_other_libraries() {
    let told = |client_stack, server_stack| {
        let mut pair = pair(client_stack, server_stack);
        dtls(&mut pair.client).connection_id = Some(3);
        dtls(&mut pair.server).connection_id = Some(5);
        let (mut client, mut server) = pair.build();
        Path::default().run(&mut *client, &mut *server);
        [negotiated(&*client).2, negotiated(&*server).2]
    };
    let expected = told(Stack::MBEDTLS, Stack::MBEDTLS);
    for (client, server) in PAIRS {
        assert_eq!(told(client, server), expected, "{client} to {server}");
    }
}

#[test]
fn extensions_survive_the_loss_of_any_datagram() {
    for (client, server) in PAIRS {
        let pair = pair(client, server).both(|config| {
            tls(config).max_fragment_length = Some(512);
            dtls(config).connection_id = Some(4);
        });
        for lost in 0..6 {
            let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
            assert_eq!(transcript.end, End::Completed, "{client} to {server}, {lost}: {transcript:?}");
        }
    }
}

#[test]
fn who_does_not_know_an_extension_gets_a_session_without() {
    for server in [Stack::LEAN_DTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = pair(Stack::LEAN_DTLS, server);
        tls(&mut pair.client).max_fragment_length = Some(512);
        dtls(&mut pair.client).connection_id = Some(4);
        let (mut client, mut server_end) = pair.build();
        let transcript = Path::default().run(&mut *client, &mut *server_end);
        assert!(matches!(client.status(), Status::Established { .. }), "{server}: {transcript:?}");
        assert_eq!(negotiated(&*client).2, None, "{server}");
    }
}

/// Whether the two ends had an abbreviated handshake: five datagrams with a cookie, and the same secret as before.
fn is_resumed(transcript: &Transcript) -> bool {
    transcript.datagrams.len() == 5
}

#[test]
fn sessions_are_resumed_by_id_and_by_ticket() {
    for (client_stack, server_stack) in PAIRS {
        for resumption in [Resumption::Id, Resumption::Ticket] {
            for with_others in [false, true] {
                let name = format!("{client_stack} to {server_stack}, {resumption}, {with_others}");
                let pair = pair(client_stack, server_stack).both(|config| {
                    tls(config).resumption = Some(resumption);
                    if with_others {
                        tls(config).max_fragment_length = Some(1024);
                        dtls(config).connection_id = Some(5);
                    }
                });
                let (mut client, mut server) = pair.build();
                let transcript = Path::default().run(&mut *client, &mut *server);
                assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
                assert!(is_resumed(&transcript), "{name}: {:?}", transcript.sizes());
                assert_eq!((client.key_log().len(), client.key_log()), (1, server.key_log()), "{name}");
                assert_eq!(carried(&mut *client, &mut *server, &transcript, b"22.5 C"), b"22.5 C", "{name}");
                assert_eq!(carried(&mut *server, &mut *client, &transcript, &[7; 200]), [7; 200], "{name}");
                assert!(client.resumable().is_some() && server.resumable().is_some(), "{name}");
            }
        }
    }
}

#[test]
fn a_resumption_survives_the_loss_of_any_datagram() {
    for (client, server) in PAIRS {
        for resumption in [Resumption::Id, Resumption::Ticket] {
            let pair = pair(client, server).both(|config| tls(config).resumption = Some(resumption));
            for lost in 0..5 {
                let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
                assert_eq!(
                    transcript.end,
                    End::Completed,
                    "{client} to {server}, {resumption}, {lost}: {transcript:?}"
                );
            }
        }
    }
}

#[test]
fn a_server_that_does_not_know_the_session_begins_anew() {
    for resumption in [Resumption::Id, Resumption::Ticket] {
        for (client_stack, server_stack) in PAIRS {
            let pair = pair(client_stack, server_stack).both(|config| tls(config).resumption = Some(resumption));
            let (mut client, _) = pair.build();
            let mut server =
                slowhand_sessions::build(&pair.server, std::sync::Arc::new(slowhand_sessions::Weightless)).unwrap();
            let transcript = Path::default().run(&mut *client, &mut *server);
            let name = format!("{client_stack} to {server_stack}, {resumption}");
            assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
            assert!(!is_resumed(&transcript), "{name}");
        }
    }
}

/// By hand. ClientHello 75 and 32 of ID; HelloVerifyRequest 44; 16 of cookie more; ServerHello 74 and 32 of ID,
/// ChangeCipherSpec 14 and Finished 53; the last two again. A ticket has 84 octets and an identity of 15, its
/// extension 4, and the ID is one of 8.
#[test]
fn the_datagrams_of_a_resumption() {
    for (resumption, id, ticket) in [(Resumption::Id, 32, 0), (Resumption::Ticket, 8, 4 + 84 + 15)] {
        let pair = pair(Stack::LEAN_DTLS, Stack::LEAN_DTLS).both(|config| tls(config).resumption = Some(resumption));
        let sizes = pair.run(&Path::default()).sizes();
        assert_eq!(sizes, [75 + id + ticket, 44, 91 + id + ticket, 74 + id + 14 + 53, 14 + 53], "{resumption}");
    }
}

/// Sessions of key agreement and certificates: resumed without either (RFC 5246, section 7.3). mbedTLS puts the
/// client's certificate into its ticket, which lean-dtls then cannot keep: a full handshake.
#[test]
fn sessions_of_every_suite_are_resumed() {
    use CredentialKind::{Certificate, Psk, RawPublicKey};
    for (suite, credential) in [
        (Suite::TLS_PSK_WITH_AES_128_GCM_SHA256, Psk),
        (Suite::TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256, Psk),
        (Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, RawPublicKey),
        (Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8, Certificate),
        (Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, Certificate),
    ] {
        for (client_stack, server_stack) in PAIRS {
            let speaks = |stack: Stack| {
                let capabilities = stack.capabilities();
                capabilities.tls.suites.contains(&suite) && capabilities.credentials.contains(&credential)
            };
            for resumption in [Resumption::Id, Resumption::Ticket]
                .into_iter()
                .filter(|_| speaks(client_stack) && speaks(server_stack))
            {
                let name = format!("{client_stack} to {server_stack}, {suite}, {credential}, {resumption}");
                let pair = pair(client_stack, server_stack).both(|config| {
                    config.credential = credential.into();
                    (tls(config).suite, tls(config).resumption) = (Some(suite), Some(resumption));
                });
                let (mut client, mut server) = pair.build();
                let transcript = Path::default().run(&mut *client, &mut *server);
                assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
                let is_long =
                    credential == Certificate && server_stack == Stack::MBEDTLS && resumption == Resumption::Ticket;
                assert_eq!(is_resumed(&transcript), !is_long, "{name}: {:?}", transcript.sizes());
                assert_eq!((negotiated(&*client).1, negotiated(&*server).1), (suite, suite), "{name}");
                assert_eq!(carried(&mut *client, &mut *server, &transcript, b"22.5 C"), b"22.5 C", "{name}");
            }
        }
    }
}
