//! Application data: both ways, in order, until one end closes the session.

use std::time::Duration;

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{
    CredentialKind, FailureKind, Operation, Processor, Protocol, Session, Stack, Status, Suite, WriteError,
    best_common_suite,
};

use crate::pair::{Pair, failure};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

/// Every library with each of its protocols and credentials.
fn every_kind() -> Vec<(Stack, Stack, Protocol, Suite, CredentialKind)> {
    let mut kinds = Vec::new();
    for client in Stack::BUILT_IN.iter().copied() {
        for server in Stack::BUILT_IN.iter().copied() {
            // QUIC acknowledges data, with a timer: it has its own test (`quic`).
            for protocol in client.capabilities().protocols().filter(|protocol| *protocol != Protocol::Quic) {
                for credential in [CredentialKind::Psk, CredentialKind::RawPublicKey, CredentialKind::Certificate] {
                    let suite = best_common_suite([client, server], protocol, credential);
                    kinds.extend(suite.map(|suite| (client, server, protocol, suite, credential)));
                }
            }
        }
    }
    kinds
}

fn established(
    client: Stack,
    server: Stack,
    protocol: Protocol,
    suite: Suite,
    credential: CredentialKind,
) -> [Box<dyn Session>; 2] {
    let mut pair = Pair::of(client, protocol, suite).both(|config| config.credential = credential.into());
    pair.server.stack = server;
    let (mut client, mut server) = pair.build();
    let transcript = Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, End::Completed, "{transcript:?}");
    [client, server]
}

/// Carries what both ends have to send, until they have nothing more.
fn carry(ends: &mut [Box<dyn Session>; 2], now: Duration) -> usize {
    let mut count = 0;
    loop {
        let before = count;
        for (from, to) in [(0, 1), (1, 0)] {
            while let Some(bytes) = ends[from].poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                ends[to].handle_input(now, &bytes);
                count += 1;
            }
        }
        if count == before {
            return count;
        }
    }
}

fn received(end: &mut dyn Session) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| end.poll_received().map(|received| received.bytes.to_vec())).collect()
}

const NOW: Duration = Duration::from_secs(10);

#[test]
fn what_one_end_writes_the_other_receives_in_order() {
    let kinds = every_kind();
    assert!(kinds.len() > 30, "{}", kinds.len());
    for (client, server, protocol, suite, credential) in kinds {
        let name = format!("{client} {server} {protocol} {suite} {credential}");
        let mut ends = established(client, server, protocol, suite, credential);
        carry(&mut ends, NOW);
        for (from, to) in [(0, 1), (1, 0)] {
            let sizes = [1, 2, 15, 16, 17, 100, 512, 1_000, 1_300];
            let messages: Vec<Vec<u8>> = sizes.iter().map(|size| vec![*size as u8; *size]).collect();
            for message in &messages {
                ends[from].write(NOW, message).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            let sent = carry(&mut ends, NOW);
            assert_eq!(sent, messages.len(), "{name}: one datagram or write for each");
            assert_eq!(received(&mut *ends[to]), messages, "{name}");
            assert_eq!(received(&mut *ends[from]), Vec::<Vec<u8>>::new(), "{name}");
        }
        ends[0].close(NOW);
        ends[0].close(NOW);
        carry(&mut ends, NOW);
        for end in &mut ends {
            assert_eq!(end.status(), Status::Closed, "{name}");
            assert_eq!(end.write(NOW, b"late"), Err(WriteError::NotEstablished), "{name}");
        }
        ends[1].close(NOW);
        carry(&mut ends, NOW);
        assert_eq!((ends[1].status(), ends[1].deadline()), (Status::Closed, None), "{name}");
    }
}

/// A stream carries any length, in records of at most 2^14 octets (RFC 8446 section 5.1).
#[test]
fn a_stream_takes_any_length() {
    for (client, server, protocol, suite, credential) in every_kind() {
        if !protocol.is_stream() {
            continue;
        }
        let mut ends = established(client, server, protocol, suite, credential);
        let message: Vec<u8> = (0..200_000u32).map(|index| (index % 251) as u8).collect();
        ends[0].write(NOW, &message).unwrap();
        carry(&mut ends, NOW);
        assert_eq!(received(&mut *ends[1]).concat(), message, "{client} {server} {protocol}");
    }
}

#[test]
fn a_datagram_is_as_long_as_the_limit_says() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let (mut client, mut server) = Pair::new(stack, PSK).both(|config| config.mtu = Some(300)).build();
        Path::default().run(&mut *client, &mut *server);
        let limit = match client.write(NOW, &[7; 301]) {
            Err(WriteError::TooLong { length: 301, limit }) => limit,
            other => panic!("{stack}: {other:?}"),
        };
        // RFC 6347 section 4.1 and RFC 6655: header 13, explicit nonce 8, tag 8; tinyDTLS leaves room for a tag of 16.
        assert_eq!(limit, 300 - 13 - 8 - if stack == Stack::TINYDTLS { 16 } else { 8 }, "{stack}");
        assert!(client.write(NOW, &vec![7; limit + 1]).is_err());
        assert!(client.poll_transmit().is_none());
        client.write(NOW, &vec![7; limit]).unwrap();
        let datagram = client.poll_transmit().unwrap().bytes.to_vec();
        assert!(datagram.len() <= 300, "{stack}: {}", datagram.len());
        server.handle_input(NOW, &datagram);
        assert_eq!(server.poll_received().unwrap().bytes.len(), limit);
    }
}

/// The longest that each library has room for without a limit of its own arrives whole.
#[test]
fn the_longest_datagram_arrives() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut ends = established(stack, stack, Protocol::Dtls12, PSK, CredentialKind::Psk);
        let Err(WriteError::TooLong { limit, .. }) = ends[1].write(NOW, &[0; 20_000]) else { panic!("{stack}") };
        ends[1].write(NOW, &vec![9; limit]).unwrap();
        carry(&mut ends, NOW);
        assert_eq!(received(&mut *ends[0]), [vec![9; limit]], "{stack}");
    }
}

/// A millisecond for each block of AES.
struct Slow;

impl Processor for Slow {
    fn time(&self, operation: Operation) -> Duration {
        match operation {
            Operation::Seal(aead) | Operation::Open(aead) => Duration::from_millis(aead.aes_blocks().into()),
            _ => Duration::ZERO,
        }
    }
}

/// 40 octets with CCM: 1 block for B0, 1 for 13 octets of additional data, 2 for each of 3 blocks of plaintext, 1 for
/// the tag (RFC 3610): 9 ms on either device.
#[test]
fn the_device_computes_before_it_sends() {
    for stack in [Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS] {
        let mut pair = Pair::new(stack, PSK);
        pair.client_processor = std::sync::Arc::new(Slow);
        pair.server_processor = std::sync::Arc::new(Slow);
        let (mut client, mut server) = pair.build();
        Path::default().run(&mut *client, &mut *server);
        for end in [&mut client, &mut server] {
            end.drain_operations(&mut |_| ());
        }
        client.write(NOW, &[1; 40]).unwrap();
        let later = NOW + Duration::from_millis(9);
        assert_eq!(client.busy_until(), later, "{stack}");
        let transmit = client.poll_transmit().unwrap();
        assert_eq!(transmit.at, later, "{stack}");
        server.handle_input(NOW, transmit.bytes);
        let received = server.poll_received().unwrap();
        assert_eq!((received.at, received.bytes), (later, &[1; 40][..]), "{stack}");
        let mut operations = Vec::new();
        client.drain_operations(&mut |performed| operations.push(performed.operation));
        let [Operation::Seal(aead)] = operations[..] else { panic!("{stack}: {operations:?}") };
        assert_eq!((aead.octets, aead.tag), (40, 8));
    }
}

/// Calls that make no sense do nothing, in any order.
#[test]
fn no_order_of_calls_is_harmful() {
    for (client, server, protocol, suite, credential) in every_kind() {
        let mut pair = Pair::of(client, protocol, suite).both(|config| config.credential = credential.into());
        pair.server.stack = server;
        let name = format!("{client} {server} {protocol} {suite} {credential}");
        let (client, server) = pair.build();
        let mut ends = [client, server];
        for end in &mut ends {
            assert_eq!(end.write(NOW, b"early"), Err(WriteError::NotEstablished), "{name}");
            end.close(NOW);
            end.handle_timeout(NOW);
            end.handle_input(NOW, b"");
            end.resumable();
            assert!(end.poll_transmit().is_none() && end.poll_received().is_none(), "{name}");
            assert_eq!(end.status(), Status::Handshaking, "{name}");
        }
        // A client that has not started is not there for anybody.
        ends[0].handle_input(NOW, &[0x16, 3, 3, 0, 4, 1, 2, 3, 4]);
        assert!(ends[0].poll_transmit().is_none(), "{name}");
        for _ in 0..2 {
            ends[0].start(NOW);
            ends[1].start(NOW);
        }
        assert_eq!(ends[0].write(NOW, b"early"), Err(WriteError::NotEstablished), "{name}");
        carry(&mut ends, NOW);
        for end in &mut ends {
            assert!(matches!(end.status(), Status::Established { .. }), "{name}: {:?}", end.status());
            end.start(NOW);
            end.write(NOW, b"").unwrap();
            end.write(NOW, b"in time").unwrap();
        }
        carry(&mut ends, NOW);
        for end in &mut ends {
            assert_eq!(received(&mut **end), [b"in time"], "{name}");
        }
        // Both at once.
        ends[0].close(NOW);
        ends[1].close(NOW);
        carry(&mut ends, NOW);
        for end in &mut ends {
            end.start(NOW);
            end.close(NOW);
            end.handle_input(NOW, &[0x17, 3, 3, 0, 1, 0]);
            end.handle_timeout(NOW * 100);
            assert_eq!(end.status(), Status::Closed, "{name}");
        }
    }
}

/// A session that has failed stays so.
#[test]
fn a_failed_session_takes_no_data() {
    let (mut client, _) = Pair::new(Stack::MBEDTLS, PSK).build();
    client.start(Duration::ZERO);
    while let Some(deadline) = client.deadline() {
        client.handle_timeout(deadline);
    }
    assert_eq!(failure(&client.status()).kind, FailureKind::TimedOut);
    assert_eq!(client.write(NOW, b"x"), Err(WriteError::NotEstablished));
    client.close(NOW);
    assert_eq!(failure(&client.status()).kind, FailureKind::TimedOut);
}
