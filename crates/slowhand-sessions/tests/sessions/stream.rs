//! TLS over a stream: what is written, however it arrives.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{Auth, Operation, Processor, Protocol, Session, Stack, Status, Suite};
use slowhand_wire::tls;

use crate::pair::{Pair, tls};

const KINDS: &[(Stack, Protocol, Suite)] = &[
    (Stack::MBEDTLS, Protocol::Tls12, Suite::TLS_PSK_WITH_AES_128_CCM_8),
    (Stack::MBEDTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    (Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_CCM_8_SHA256),
    (Stack::OPENSSL, Protocol::Tls12, Suite::TLS_PSK_WITH_AES_128_CCM_8),
    (Stack::OPENSSL, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8),
    (Stack::OPENSSL, Protocol::Tls13, Suite::TLS_AES_128_CCM_8_SHA256),
    (Stack::RUSTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    (Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256),
];

/// All that was written in one direction.
fn stream(transcript: &Transcript, direction: Direction) -> Vec<u8> {
    let writes = transcript.datagrams.iter().filter(|write| write.direction == direction);
    writes.flat_map(|write| write.bytes.iter().copied()).collect()
}

fn sizes(transcript: &Transcript, direction: Direction) -> Vec<usize> {
    let writes = transcript.datagrams.iter().filter(|write| write.direction == direction);
    writes.map(|write| write.bytes.len()).collect()
}

/// The sizes of the records of a stream, with their headers.
fn records(stream: &[u8]) -> Vec<usize> {
    tls::records(stream).map(|record| tls::RECORD_HEADER + record.unwrap().fragment.len()).collect()
}

/// RFC 5246 section 7.4 and RFC 4279 section 2, by hand: a record header of 5 octets, a message header of 4. mbedTLS
/// writes each record by itself.
#[test]
fn mbedtls_tls12_psk_writes_a_record_at_a_time() {
    let transcript = Pair::of(Stack::MBEDTLS, Protocol::Tls12, Suite::TLS_PSK_WITH_AES_128_CCM_8).run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    // The identity has 15 octets and a length of 2. The explicit nonce (8), a message of 4 + 12, the tag (8).
    let (key_exchange, change_cipher_spec, finished) = (5 + 4 + 2 + 15, 5 + 1, 5 + 8 + 4 + 12 + 8);
    let client = sizes(&transcript, Direction::ToServer);
    assert_eq!(client[1..], [key_exchange, change_cipher_spec, finished]);
    // ServerHello with a session ID of 32 octets: version, random, ID, suite, compression; then extensions.
    let server = sizes(&transcript, Direction::ToClient);
    assert_eq!(server[1..], [5 + 4, change_cipher_spec, finished]);
    assert!(server[0] > 5 + 4 + 2 + 32 + 33 + 2);
}

/// DTLS writes the same messages in its datagrams with longer headers: 8 octets more for a record and for
/// a message (RFC 6347 sections 4.1 and 4.2.2). Sizes of the datagrams: measured with plain C programs.
#[test]
fn mbedtls_tls12_ecdhe_writes_what_dtls_does_with_shorter_headers() {
    let suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;
    let of = |protocol| Pair::of(Stack::MBEDTLS, protocol, suite).run(&Path::default());
    let (dtls, tls) = (of(Protocol::Dtls12), of(Protocol::Tls12));
    assert_eq!(tls.end, End::Completed);
    // Certificate: its length and that of the list, 3 octets each; the certificate has 332.
    assert_eq!(sizes(&tls, Direction::ToClient)[1], 5 + 4 + 3 + 3 + 332);
    // The client's last flight: Certificate, ClientKeyExchange, CertificateVerify, ChangeCipherSpec, Finished.
    let client: usize = sizes(&tls, Direction::ToServer)[1..].iter().sum();
    let headers = 8 + 8;
    let signature = 2;
    assert!((client + 3 * headers + 8 + 16).abs_diff(dtls.sizes()[4]) <= signature, "{client} {:?}", dtls.sizes());
}

/// RFC 8446: an encrypted record has a content type octet more and a tag of 16; mbedTLS pads its content to
/// multiples of 16 octets (`MBEDTLS_SSL_CID_TLS1_3_PADDING_GRANULARITY`).
#[test]
fn mbedtls_tls13_sizes() {
    let pair = Pair::of(Stack::MBEDTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256);
    let transcript = pair.run(&Path::default());
    assert_eq!(transcript.end, End::Completed);
    let encrypted = |message: usize| 5 + (message + 1).next_multiple_of(16) + 16;
    // Certificate: context, list length, certificate length, no extensions.
    let certificate = encrypted(4 + 1 + 3 + 3 + 332 + 2);
    let finished = encrypted(4 + 32);
    let client = sizes(&transcript, Direction::ToServer);
    assert_eq!((client[1], client[2], client[4]), (5 + 1, certificate, finished));
    let server = sizes(&transcript, Direction::ToClient);
    // EncryptedExtensions without any.
    assert_eq!((server[1], server[2], server[4], server[6]), (5 + 1, encrypted(4 + 2), certificate, finished));
    // CertificateVerify: algorithm and length, then a signature of 70 to 72 octets, or now and then fewer.
    assert!([client[3], server[5]].iter().all(|size| [encrypted(4 + 4 + 71), encrypted(4 + 4 + 72)].contains(size)));
}

/// rustls writes a flight at once; in TLS 1.3 it joins the messages of a flight in one record, and pads nothing.
#[test]
fn rustls_sizes() {
    let pair = Pair::of(Stack::RUSTLS, Protocol::Tls13, Suite::TLS_AES_128_GCM_SHA256);
    let transcript = pair.run(&Path::default());
    let client = sizes(&transcript, Direction::ToServer);
    // RFC 8446: Certificate, CertificateVerify and Finished; content type, tag.
    let (certificate, verify, finished) = (4 + 1 + 3 + 3 + 332 + 2, 4 + 4 + 71, 4 + 32);
    assert_eq!(client.len(), 2, "{transcript:?}");
    assert!(client[1].abs_diff(6 + 5 + certificate + verify + finished + 1 + 16) <= 2, "{client:?}");
    assert_eq!(records(&stream(&transcript, Direction::ToServer))[1..], [6, client[1] - 6]);

    let pair = Pair::of(Stack::RUSTLS, Protocol::Tls12, Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256);
    let transcript = pair.run(&Path::default());
    let client = sizes(&transcript, Direction::ToServer);
    // RFC 5246 and RFC 8422: Certificate, ClientKeyExchange, CertificateVerify; ChangeCipherSpec; Finished.
    let (certificate, key_exchange, verify) = (4 + 3 + 3 + 332, 4 + 1 + 65, 4 + 4 + 71);
    let finished = 5 + 8 + 4 + 12 + 16;
    assert_eq!(client.len(), 2, "{transcript:?}");
    let records = 5 + certificate + 5 + key_exchange + 5 + verify + 6 + finished;
    assert!(client[1].abs_diff(records) <= 2, "{client:?}");
}

/// The two streams of a handshake whose bytes arrive in pieces of these sizes, over and over.
fn run_in_pieces(pair: &Pair, pieces: &[usize]) -> [Vec<u8>; 2] {
    let (client, server) = pair.build();
    let mut ends = [client, server];
    let mut sent = [Vec::new(), Vec::new()];
    let mut unread = [VecDeque::new(), VecDeque::new()];
    let mut pieces = pieces.iter().copied().cycle();
    ends[0].start(Duration::ZERO);
    loop {
        for (index, end) in ends.iter_mut().enumerate() {
            while let Some(write) = end.poll_transmit() {
                sent[index].extend_from_slice(write.bytes);
                unread[1 - index].extend(write.bytes.iter().copied());
            }
        }
        let Some(index) = (0..2).find(|index| !unread[*index].is_empty()) else { break };
        let size = pieces.next().unwrap().min(unread[index].len());
        let piece: Vec<u8> = unread[index].drain(..size).collect();
        ends[index].handle_input(Duration::ZERO, &piece);
    }
    assert!(ends.iter().all(|end| matches!(end.status(), Status::Established { .. })), "{:?}", ends[0].status());
    sent
}

/// On a device that takes no time to compute, at a clock that stands still, so that the seconds in the randoms agree.
fn at_once() -> Path {
    Path { delay: Duration::ZERO, ..Path::default() }
}

#[test]
fn bytes_may_come_one_by_one_or_all_at_once() {
    for (stack, protocol, suite) in KINDS {
        let pair = Pair::of(*stack, *protocol, *suite);
        let whole = pair.run(&at_once());
        for pieces in [&[1][..], &[1 << 20]] {
            let [client, server] = run_in_pieces(&pair, pieces);
            assert_eq!(records(&client), records(&stream(&whole, Direction::ToServer)), "{stack} {protocol}");
            assert_eq!(client, stream(&whole, Direction::ToServer), "{stack} {protocol}");
            assert_eq!(server, stream(&whole, Direction::ToClient), "{stack} {protocol}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bytes_may_come_in_any_pieces(kind in 0..KINDS.len(), pieces in prop::collection::vec(1..400usize, 1..20)) {
        let (stack, protocol, suite) = KINDS[kind];
        let pair = Pair::of(stack, protocol, suite);
        let whole = pair.run(&at_once());
        let [client, server] = run_in_pieces(&pair, &pieces);
        prop_assert_eq!(client, stream(&whole, Direction::ToServer));
        prop_assert_eq!(server, stream(&whole, Direction::ToClient));
    }

    /// An octet damaged on its way (TCP's checksum misses one in 65,536) never completes a handshake at both ends.
    #[test]
    fn a_damaged_stream_never_completes(
        kind in 0..KINDS.len(), to_server in any::<bool>(), at in any::<prop::sample::Index>(), by in 1..=255u8,
    ) {
        let (stack, protocol, suite) = KINDS[kind];
        let pair = Pair::of(stack, protocol, suite);
        let whole = pair.run(&at_once());
        let damaged = if to_server { Direction::ToServer } else { Direction::ToClient };
        let at = at.index(stream(&whole, damaged).len());
        let (client, server) = run_damaged(&pair, damaged, at, by);
        // The version in a record's header is not protected (RFC 8446 section 5.1), nor is TLS 1.3's
        // ChangeCipherSpec; a change there may go unnoticed, or be answered with an alert.
        let established = |end: &dyn Session| matches!(end.status(), Status::Established { .. });
        if established(&*client) && established(&*server) {
            let octets = stream(&whole, damaged);
            prop_assert!(is_unprotected(&octets, at), "octet {} of {}", at, octets.len());
        }
    }
}

/// Whether the octet is in the version of a record's header, or belongs to a ChangeCipherSpec.
fn is_unprotected(stream: &[u8], at: usize) -> bool {
    let mut begin = 0;
    for size in records(stream) {
        if (begin..begin + size).contains(&at) {
            return [1, 2].contains(&(at - begin)) || stream[begin] == 20;
        }
        begin += size;
    }
    false
}

fn run_damaged(pair: &Pair, damaged: Direction, at: usize, by: u8) -> (Box<dyn Session>, Box<dyn Session>) {
    let (mut client, mut server) = pair.build();
    client.start(Duration::ZERO);
    let mut sent = 0;
    loop {
        let mut quiet = true;
        for direction in [Direction::ToServer, Direction::ToClient] {
            let (sender, receiver) = match direction {
                Direction::ToServer => (&mut client, &mut server),
                Direction::ToClient => (&mut server, &mut client),
            };
            while let Some(write) = sender.poll_transmit() {
                quiet = false;
                let mut bytes = write.bytes.to_vec();
                if direction == damaged {
                    if let Some(octet) = at.checked_sub(sent).and_then(|at| bytes.get_mut(at)) {
                        *octet ^= by;
                    }
                    sent += bytes.len();
                }
                receiver.handle_input(Duration::ZERO, &bytes);
            }
        }
        if quiet {
            return (client, server);
        }
    }
}

#[test]
fn a_stream_session_has_no_timer() {
    for (stack, protocol, suite) in KINDS {
        let (mut client, server) = Pair::of(*stack, *protocol, *suite).build();
        client.start(Duration::ZERO);
        assert!(client.poll_transmit().is_some());
        assert_eq!((client.deadline(), server.deadline()), (None, None));
        client.handle_timeout(Duration::from_secs(100));
        assert!(client.poll_transmit().is_none());
    }
}

/// A key for a ClientHello and a ServerHello, one secret, a signature where there is a certificate of one's own, two
/// verifications (the peer's signature and the authority's on its certificate).
#[test]
fn tls13_computes_what_the_protocol_asks_for() {
    for (auth, client_signs, server_verifies) in [(Auth::Mutual, 1, 2), (Auth::Server, 0, 0)] {
        for (stack, protocol, suite) in KINDS.iter().filter(|(_, protocol, _)| *protocol == Protocol::Tls13) {
            let (mut client, mut server) =
                Pair::of(*stack, *protocol, *suite).both(|config| tls(config).auth = auth).build();
            assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
            assert_eq!(asymmetric(&mut *client), [1, 1, client_signs, 2], "{stack}");
            assert_eq!(asymmetric(&mut *server), [1, 1, 1, server_verifies], "{stack}");
        }
    }
}

/// Key generations, shared secrets, signatures, verifications.
fn asymmetric(session: &mut dyn Session) -> [usize; 4] {
    let mut counts = [0; 4];
    session.drain_operations(&mut |performed| match performed.operation {
        Operation::EcdhKeyGeneration(_) => counts[0] += 1,
        Operation::EcdhSharedSecret(_) => counts[1] += 1,
        Operation::EcdsaSign(_) => counts[2] += 1,
        Operation::EcdsaVerify(_) => counts[3] += 1,
        _ => {}
    });
    counts
}

/// A second for each operation that is not hashing.
struct Slow;

impl Processor for Slow {
    fn time(&self, operation: Operation) -> Duration {
        match operation {
            Operation::Sha256 { .. } | Operation::Sha512 { .. } => Duration::ZERO,
            _ => Duration::from_secs(1),
        }
    }
}

/// The key of a ClientHello of TLS 1.3 is computed when the client starts, not before.
#[test]
fn a_device_that_computes_writes_later() {
    for (stack, protocol, suite) in KINDS.iter().filter(|(_, protocol, _)| *protocol == Protocol::Tls13) {
        let mut pair = Pair::of(*stack, *protocol, *suite);
        pair.client_processor = Arc::new(Slow);
        let (mut client, _) = pair.build();
        let start = Duration::from_secs(5);
        client.start(start);
        assert_eq!(client.poll_transmit().unwrap().at, start + Duration::from_secs(1), "{stack}");
        let mut first = None;
        client.drain_operations(&mut |performed| {
            first = first.or(matches!(performed.operation, Operation::EcdhKeyGeneration(_)).then_some(performed.at));
        });
        assert_eq!(first, Some(start), "{stack}");
        assert_eq!(client.busy_until(), start + Duration::from_secs(1));
    }
}

/// RFC 8446 section 7.1 and the NSS key log format.
#[test]
fn tls13_logs_the_traffic_secrets() {
    for (stack, protocol, suite) in KINDS.iter().filter(|(_, protocol, _)| *protocol == Protocol::Tls13) {
        let (mut client, mut server) = Pair::of(*stack, *protocol, *suite).build();
        let transcript = Path::default().run(&mut *client, &mut *server);
        // Record header, message header, legacy_version, then the random.
        let random: String = transcript.datagrams[0].bytes[11..43].iter().map(|octet| format!("{octet:02x}")).collect();
        let mut labels = Vec::new();
        for line in server.key_log() {
            let [label, client_random, secret] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert_eq!((client_random, secret.len()), (&*random, 2 * 32), "{stack}");
            labels.push(label.to_owned());
        }
        for label in ["HANDSHAKE_TRAFFIC_SECRET", "TRAFFIC_SECRET_0"] {
            for end in ["CLIENT", "SERVER"] {
                assert!(labels.contains(&format!("{end}_{label}")), "{stack}: {labels:?}");
            }
        }
    }
}
