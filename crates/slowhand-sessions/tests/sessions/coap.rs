//! CoAP over UDP and TCP, with OSCORE, EDHOC, DTLS and TLS: what both ends say to each other, under faults too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

use slowhand_coap::block::BlockSize;
use slowhand_sessions::{
    AeadMode, Coap, Congestion, Credential, CredentialKind, Curve, Edhoc, FailureKind, Family, MAX_BODY, Operation,
    Protocol, REQUEST_OVERHEAD, RESPONSE_OVERHEAD, Role, Security, Session, SessionConfig, Stack, Status, Suite,
    Transfer, Weightless, WriteError, build, memory,
};

use crate::pair::tls;

pub(crate) const REQUEST: &[u8] = b"a request of 24 octets..";
const RESPONSE: &[u8] = b"22.5 C";

/// One way.
pub(crate) const DELAY: Duration = Duration::from_millis(50);

fn config(role: Role, protocol: Protocol) -> SessionConfig {
    let stack = if protocol.is_stream() { Stack::MBEDTLS } else { Stack::LEAN_DTLS };
    let credential = match protocol.transport() {
        Some(Protocol::Tls13) => CredentialKind::Certificate,
        _ => CredentialKind::Psk,
    };
    let seed = [role as u8 + 1; 32];
    SessionConfig { seed, ..SessionConfig::new(role, stack, protocol.family(), credential.into()) }
}

fn edhoc(config: &mut SessionConfig) -> &mut Edhoc {
    let Family::Coap(Coap { security: Security::Edhoc(edhoc), .. }) = &mut config.family else {
        panic!("a session of EDHOC")
    };
    edhoc
}

/// The fault of a path in the datagram with this number, both directions together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    None,
    Lost(usize),
    Twice(usize),
    Late(usize),
}

/// The record of an exchange.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    /// The datagrams of both ends, in the order of sending.
    pub(crate) sent: Vec<Vec<u8>>,
    /// The data that each end received.
    pub(crate) received: [Vec<Vec<u8>>; 2],
    pub(crate) operations: [Vec<Operation>; 2],
    pub(crate) status: [Status; 2],
    /// When each handshake was over.
    pub(crate) established: [Option<Duration>; 2],
    /// When the last thing happened.
    pub(crate) ended: Duration,
}

/// A client asks as soon as it can, and again when it is answered, so many times.
fn exchange(configs: &[SessionConfig; 2], requests: usize, fault: Fault) -> Seen {
    exchange_of([REQUEST, RESPONSE], configs, requests, fault)
}

/// Runs an exchange with this request and this response.
fn exchange_of([request, response]: [&[u8]; 2], configs: &[SessionConfig; 2], requests: usize, fault: Fault) -> Seen {
    converse(configs, requests, |_| request.to_vec(), |_| response.to_vec(), None, fault)
}

/// Each end writes what has the next number: the client when it is answered, the server when it is asked. With a period the
/// client asks once, and the server writes after each of these times too. Ends when the client has so many answers, or when nothing more
/// happens.
pub(crate) fn converse(
    configs: &[SessionConfig; 2],
    answers: usize,
    request: impl Fn(usize) -> Vec<u8>,
    response: impl Fn(usize) -> Vec<u8>,
    period: Option<Duration>,
    fault: Fault,
) -> Seen {
    let mut ends = configs.each_ref().map(|config| build(config, Arc::new(Weightless)).unwrap());
    let mut seen = Seen {
        sent: Vec::new(),
        received: [const { Vec::new() }; 2],
        operations: [const { Vec::new() }; 2],
        status: [Status::Handshaking, Status::Handshaking],
        established: [None; 2],
        ended: Duration::ZERO,
    };
    let mut arriving: BinaryHeap<Reverse<(Duration, usize, usize)>> = BinaryHeap::new();
    let (mut now, mut asked, mut answered) = (Duration::ZERO, 0, 0);
    let requests = if period.is_some() { 1 } else { answers };
    let mut due = None;
    ends[0].start(now);
    loop {
        for (side, end) in ends.iter_mut().enumerate() {
            take(&mut **end, side, now, &mut seen);
            let is_established = matches!(end.status(), Status::Established { .. });
            let may_write = is_established || end.may_write_early();
            if side == 0 && may_write && asked < requests && asked == seen.received[0].len() {
                end.write(now, &request(asked)).unwrap();
                asked += 1;
            }
            let is_asked = answered < seen.received[1].len();
            if side == 1 && (is_asked || due.is_some_and(|due| due <= now)) && is_established {
                end.write(now, &response(answered)).unwrap();
                answered += 1;
                due = period.map(|period| now + period).filter(|_| answered < answers);
            }
            while let Some(transmit) = end.poll_transmit() {
                let (number, at) = (seen.sent.len(), transmit.at + DELAY);
                seen.sent.push(transmit.bytes.to_vec());
                let arrivals = match fault {
                    Fault::Lost(lost) if lost == number => vec![],
                    Fault::Twice(twice) if twice == number => vec![at, at + DELAY],
                    Fault::Late(late) if late == number => vec![at + 3 * DELAY],
                    _ => vec![at],
                };
                arriving.extend(arrivals.into_iter().map(|at| Reverse((at, number, 1 - side))));
            }
        }
        seen.ended = now;
        seen.status = [0, 1].map(|side| ends[side].status());
        let is_done = seen.received[0].len() == answers && seen.established.iter().all(Option::is_some);
        let has_failed = seen.status.iter().any(|status| matches!(status, Status::Failed(_)));
        let timeouts = [0, 1].into_iter().filter_map(|side| Some((ends[side].deadline()?, Some(side))));
        let timeout = timeouts.chain(due.map(|due| (due, None))).min();
        let timeout = timeout.filter(|_| !is_done && !has_failed);
        let arrival = arriving.peek().map(|Reverse(next)| *next);
        match (arrival, timeout) {
            (Some((at, number, to)), _) if timeout.is_none_or(|(by, _)| at <= by) => {
                arriving.pop();
                now = at;
                ends[to].handle_input(now, &seen.sent[number]);
            }
            (_, Some((at, side))) => {
                now = now.max(at);
                if let Some(side) = side {
                    ends[side].handle_timeout(now);
                }
            }
            _ => return seen,
        }
    }
}

fn take(end: &mut dyn Session, side: usize, now: Duration, seen: &mut Seen) {
    while let Some(received) = end.poll_received() {
        seen.received[side].push(received.bytes.to_vec());
    }
    end.drain_operations(&mut |performed| seen.operations[side].push(performed.operation));
    if matches!(end.status(), Status::Established { .. }) {
        seen.established[side].get_or_insert(now);
    }
}

pub(crate) fn both(protocol: Protocol, change: impl Fn(&mut SessionConfig)) -> [SessionConfig; 2] {
    [Role::Client, Role::Server].map(|role| {
        let mut config = config(role, protocol);
        change(&mut config);
        config
    })
}

/// Every protocol of CoAP, and the variants of EDHOC.
pub(crate) fn variants() -> Vec<(&'static str, [SessionConfig; 2])> {
    let edhoc_with = |options: Edhoc| both(Protocol::Edhoc, |config| *edhoc(config) = options);
    let early = |config: &mut SessionConfig| {
        config.credential = CredentialKind::Certificate.into();
        let tls = tls(config);
        (tls.suite, tls.false_start) = (Some(Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8), true);
    };
    vec![
        ("coap", both(Protocol::Coap, |_| ())),
        ("oscore", both(Protocol::Oscore, |_| ())),
        ("coap+dtls1.2", both(Protocol::CoapDtls12, |_| ())),
        ("coap+dtls1.2, False Start", both(Protocol::CoapDtls12, early)),
        ("coap+dtls1.3", both(Protocol::CoapDtls13, |_| ())),
        ("coap+tcp", both(Protocol::CoapTcp, |_| ())),
        ("coap+tls1.2", both(Protocol::CoapTls12, |_| ())),
        ("coap+tls1.3", both(Protocol::CoapTls13, |_| ())),
        ("edhoc", both(Protocol::Edhoc, |_| ())),
        ("edhoc by value", edhoc_with(Edhoc { transfer: Transfer::Value, ..Edhoc::DEFAULT })),
        ("edhoc with message_4", edhoc_with(Edhoc { message_4: true, ..Edhoc::DEFAULT })),
        ("edhoc combined", edhoc_with(Edhoc { combined: true, ..Edhoc::DEFAULT })),
        ("less", both(Protocol::Less, |_| ())),
    ]
}

#[track_caller]
fn has_exchanged(seen: &Seen, requests: usize, what: &str) {
    assert_eq!(seen.received[0], vec![RESPONSE.to_vec(); requests], "{what}: {:?}", seen.status);
    assert_eq!(seen.received[1], vec![REQUEST.to_vec(); requests], "{what}: each request is taken once");
    assert!(seen.status.iter().all(|status| matches!(status, Status::Established { .. })), "{what}: {:?}", seen.status);
}

#[test]
fn both_ends_hear_each_other_whatever_happens_to_one_datagram() {
    for (name, configs) in variants() {
        let whole = exchange(&configs, 2, Fault::None);
        has_exchanged(&whole, 2, name);
        assert_eq!(exchange(&configs, 2, Fault::None), whole, "{name}: the same seeds, the same octets");
        // TCP repeats what is lost below a stream.
        let is_stream = configs[0].protocol().is_stream();
        for number in 0..if is_stream { 0 } else { whole.sent.len() } {
            for fault in [Fault::Lost(number), Fault::Twice(number), Fault::Late(number)] {
                has_exchanged(&exchange(&configs, 2, fault), 2, &format!("{name}, {fault:?}"));
            }
        }
    }
}

/// The overheads are what `REQUEST_OVERHEAD` and `RESPONSE_OVERHEAD` say. OSCORE adds 13 octets to a request of a client whose
/// Sender ID is empty, and 11 to its response (draft-ietf-iotops-security-protocol-comparison, Fig. "Overhead", with a tag of 8
/// octets). After EDHOC the Sender ID has one octet.
#[test]
fn messages_have_the_octets_of_their_formats() {
    let sizes = |protocol| {
        let seen = exchange(&both(protocol, |_| ()), 1, Fault::None);
        seen.sent.iter().map(Vec::len).collect::<Vec<_>>()
    };
    let (request, response) = (REQUEST_OVERHEAD + REQUEST.len(), RESPONSE_OVERHEAD + RESPONSE.len());
    assert_eq!(sizes(Protocol::Coap), [request, response]);
    assert_eq!(sizes(Protocol::Oscore), [request + 13, response + 11]);
    // RFC 8323 section 3.2: Len and TKL, a length of one octet from 13 on, the code, the token, and then the path, the marker and data.
    let csm = 1 + 1 + 3 + 1;
    let of_stream = [csm, 1 + 1 + 1 + 4 + 2 + 1 + REQUEST.len(), csm, 1 + 1 + 4 + 1 + RESPONSE.len()];
    assert_eq!(sizes(Protocol::CoapTcp), of_stream);
    // The header of CoAP takes 8 octets, the option Uri-Path 17, Content-Format 2 (3 behind another option's delta), the marker 1.
    let [message_1, message_2, message_3] = [37, 45, 19];
    let post = 4 + 4 + 18 + 2 + 1 + 1;
    let changed = 4 + 4 + 2 + 1;
    let handshake = [post + message_1, changed + message_2, post + message_3, 4 + 4];
    let edhoc = sizes(Protocol::Edhoc);
    assert_eq!(edhoc[..4], handshake);
    assert_eq!(edhoc[4..], [request + 14, response + 11]);
}

/// Method 3 (RFC 9528 section 4.1.2): an ephemeral key pair and two or three shared secrets an end.
#[test]
fn the_handshake_of_edhoc_computes_what_its_standard_says() {
    let seen = exchange(&both(Protocol::Edhoc, |_| ()), 1, Fault::None);
    for operations in &seen.operations {
        let count = |wanted: &dyn Fn(&Operation) -> bool| operations.iter().filter(|found| wanted(found)).count();
        assert_eq!(count(&|found| *found == Operation::EcdhKeyGeneration(Curve::Secp256r1)), 1);
        assert_eq!(count(&|found| *found == Operation::EcdhSharedSecret(Curve::Secp256r1)), 3);
        let is_seal = |found: &Operation| matches!(found, Operation::Seal(aead) if aead.mode == AeadMode::Ccm);
        // message_3 and a request, or a response.
        assert!((1..=2).contains(&count(&is_seal)), "{operations:?}");
    }
}

#[test]
fn message_4_and_the_combined_request_cost_what_they_should() {
    let datagrams = |options: Edhoc| {
        let configs = both(Protocol::Edhoc, |config| *edhoc(config) = options);
        exchange(&configs, 1, Fault::None).sent
    };
    let usual = datagrams(Edhoc::DEFAULT);
    let with_message_4 = datagrams(Edhoc { message_4: true, ..Edhoc::DEFAULT });
    // message_4 of 9 octets, Content-Format and the marker.
    assert_eq!(with_message_4[3].len(), usual[3].len() + 9 + 2 + 1);
    let combined = datagrams(Edhoc { combined: true, ..Edhoc::DEFAULT });
    assert_eq!((usual.len(), combined.len()), (6, 4), "a round trip less");
    // The option EDHOC takes 1 or 2 octets (RFC 9668 section 3.1).
    assert!(combined[2].len() - (usual[4].len() + 19) <= 2);
}

#[test]
fn who_hears_nothing_gives_up_as_coap_does() {
    for protocol in [Protocol::Coap, Protocol::Oscore, Protocol::Edhoc, Protocol::Less] {
        let config = config(Role::Client, protocol);
        let mut client = build(&config, Arc::new(Weightless)).unwrap();
        client.start(Duration::ZERO);
        if !protocol.has_handshake() {
            client.write(Duration::ZERO, REQUEST).unwrap();
        }
        let (mut sent, mut last) = (0, Duration::ZERO);
        while let Some(at) = client.deadline() {
            last = at;
            client.handle_timeout(at);
            while client.poll_transmit().is_some() {
                sent += 1;
            }
        }
        // RFC 7252 section 4.8.2: MAX_TRANSMIT_WAIT is 93 s, and 62 s without the random factor.
        assert_eq!(sent, 5, "{protocol}: the first time and MAX_RETRANSMIT");
        assert!((62..=93).contains(&last.as_secs()), "{protocol}: {last:?}");
        let Status::Failed(failure) = client.status() else { panic!("{protocol}: {:?}", client.status()) };
        assert_eq!(failure.kind, FailureKind::TimedOut);
    }
}

#[test]
fn another_secret_is_refused() {
    let mut configs = both(Protocol::Oscore, |_| ());
    configs[1].credential =
        Credential::Psk { identity: "Client_identity".to_owned(), key: Arc::from(&b"another secret.."[..]) };
    let seen = exchange(&configs, 1, Fault::None);
    assert_eq!(seen.received[1], Vec::<Vec<u8>>::new());
    assert!(matches!(seen.status[0], Status::Failed(_)), "{:?}", seen.status);
}

fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

fn with_blocks(configs: [SessionConfig; 2], octets: usize) -> [SessionConfig; 2] {
    configs.map(|mut config| {
        let Family::Coap(coap) = &mut config.family else { panic!("CoAP") };
        coap.block = BlockSize::new(octets).unwrap();
        config
    })
}

#[test]
fn long_data_come_whole_whatever_happens_to_one_datagram() {
    let long = body(300);
    for (name, configs) in variants().into_iter().filter(|(_, [config, _])| !config.protocol().is_stream()) {
        let configs = with_blocks(configs, 64);
        let run = |fault| {
            let seen = exchange_of([&long, &long], &configs, 1, fault);
            assert_eq!(seen.received, [[long.clone()], [long.clone()]], "{name}, {fault:?}: {:?}", seen.status);
            seen
        };
        let whole = run(Fault::None);
        for number in 0..whole.sent.len() {
            run(Fault::Lost(number));
            run(Fault::Twice(number));
        }
    }
}

/// RFC 7959 sections 2 and 4: five blocks of 64 octets up, the last one with the first block of the response, and four more of these.
/// The options: Block1 after Uri-Path has 2 octets and its value 1, Size1 2 and 2; Block2 has 2 and 1, after Uri-Path 1 and 1, the
/// repeated Block1 1 and 1 behind it, Size2 1 and 2.
#[test]
fn blocks_have_the_octets_of_their_formats() {
    let long = body(300);
    let seen = exchange_of([&long, &long], &with_blocks(both(Protocol::Coap, |_| ()), 64), 1, Fault::None);
    let (request, response) = (REQUEST_OVERHEAD + 64, RESPONSE_OVERHEAD + 64);
    let (block1, size1, block2, size2, block1_again) = (3, 4, 3, 3, 2);
    // 2.31 has no payload, so no marker.
    let next = RESPONSE_OVERHEAD - 1 + 4 - 1;
    let expected = [
        [request + block1 + size1, next],
        [request + block1, next],
        [request + block1, next],
        [request + block1, next],
        [request + block1 - 20, response + block2 + block1_again + size2],
        [REQUEST_OVERHEAD - 1 + 2, response + block2],
        [REQUEST_OVERHEAD - 1 + 2, response + block2],
        [REQUEST_OVERHEAD - 1 + 2, response + block2],
        [REQUEST_OVERHEAD - 1 + 2, response + block2 - 20],
    ];
    let sizes: Vec<_> = seen.sent.iter().map(Vec::len).collect();
    assert_eq!(sizes.chunks(2).map(<[usize]>::to_vec).collect::<Vec<_>>(), expected);
}

/// Data fit into a datagram in smaller blocks than the configuration says, and the end refuses only what no peer would keep.
#[test]
fn data_are_sent_in_blocks_that_fit() {
    for (name, configs) in variants() {
        let is_stream = configs[0].protocol().is_stream();
        for mtu in [160, 256] {
            let configs =
                configs.clone().map(|config| SessionConfig { mtu: Some(mtu).filter(|_| !is_stream), ..config });
            let long = body(2_000);
            let seen = exchange_of([&long, &long], &configs, 1, Fault::None);
            assert_eq!(seen.received, [[long.clone()], [long.clone()]], "{name}, {mtu}: {:?}", seen.status);
            assert!(is_stream || seen.sent.iter().all(|datagram| datagram.len() <= mtu.into()), "{name}, {mtu}");
        }
        let mut ends = configs.each_ref().map(|config| build(config, Arc::new(Weightless)).unwrap());
        ends[0].start(Duration::ZERO);
        pass_all(&mut ends, Duration::ZERO);
        let refused = ends[0].write(Duration::ZERO, &body(MAX_BODY + 1));
        assert_eq!(refused, Err(WriteError::TooLong { length: MAX_BODY + 1, limit: MAX_BODY }), "{name}");
        assert_eq!(ends[0].write(Duration::ZERO, &body(MAX_BODY)), Ok(()), "{name}");
        pass_all(&mut ends, Duration::ZERO);
        let received: Vec<u8> =
            std::iter::from_fn(|| ends[1].poll_received().map(|data| data.bytes.to_vec())).flatten().collect();
        assert!(received == body(MAX_BODY), "{name}: {} octets, {:?}", received.len(), ends[1].status());
    }
}

/// Several bodies at once, in both directions: no block of one comes into another one.
#[test]
fn bodies_in_blocks_are_not_mixed_up() {
    for (name, configs) in variants() {
        let configs = with_blocks(configs, 32);
        let mut ends = configs.each_ref().map(|config| build(config, Arc::new(Weightless)).unwrap());
        let mut now = Duration::ZERO;
        ends[0].start(now);
        pass_all(&mut ends, now);
        let bodies = [body(1_500), body(40), body(1_400), body(3)];
        for (from, to) in [(0, 1), (1, 0)] {
            bodies.iter().for_each(|body| ends[from].write(now, body).unwrap());
            settle(&mut ends, &mut now);
            let received: Vec<_> =
                std::iter::from_fn(|| ends[to].poll_received().map(|data| data.bytes.to_vec())).collect();
            let lengths: Vec<_> = received.iter().map(Vec::len).collect();
            assert!(received == bodies, "{name}, from {from}: {lengths:?}, {:?}", ends[to].status());
        }
    }
}

/// Passes what both ends send, and waits for their acknowledgements: the next request goes after the one of the last (RFC 7252
/// section 4.7).
fn settle(ends: &mut [Box<dyn Session>; 2], now: &mut Duration) {
    loop {
        pass_all(ends, *now);
        let next = ends.iter().filter_map(|end| end.deadline()).min();
        let Some(next) = next.filter(|next| *next < *now + Duration::from_secs(5)) else { return };
        *now = next;
        ends.iter_mut().for_each(|end| end.handle_timeout(*now));
    }
}

/// RFC 8323 section 5.5: over a stream an end says that it wants nothing more.
#[test]
fn who_closes_a_stream_releases_it() {
    for (name, configs) in variants().into_iter().filter(|(_, [config, _])| config.protocol().is_stream()) {
        let mut ends = configs.each_ref().map(|config| build(config, Arc::new(Weightless)).unwrap());
        let now = Duration::from_secs(1);
        ends[0].start(now);
        pass_all(&mut ends, now);
        ends[0].close(now);
        pass_all(&mut ends, now);
        assert_eq!(ends.map(|end| end.status()), [Status::Closed, Status::Closed], "{name}");
    }
}

/// Passes what both ends send, until they send nothing.
pub(crate) fn pass_all(ends: &mut [Box<dyn Session>; 2], now: Duration) {
    loop {
        let mut is_quiet = true;
        for side in [0, 1] {
            while let Some(octets) = ends[side].poll_transmit().map(|transmit| transmit.bytes.to_vec()) {
                is_quiet = false;
                ends[1 - side].handle_input(now, &octets);
            }
        }
        if is_quiet {
            return;
        }
    }
}

/// LESS has AES and HMAC only: an end encrypts and decrypts in all five blocks of AES, and computes its key block with four HMAC. Its
/// messages have the sizes of their formats.
#[test]
fn less_costs_what_its_formats_say() {
    let seen = exchange(&both(Protocol::Less, |_| ()), 1, Fault::None);
    // Header and token 8, path 10, AUTH 2, AUTH_MSG_TYPE 1 (2 if it is not 0), marker 1.
    let request = 8 + 10 + 2 + 1 + 1;
    let response = 8 + 1;
    let handshake = [request + 15, response + 32, request + 1 + 32, response + 16];
    // A record adds 29 octets (RFC 6347 section 4.1, RFC 6655 section 3).
    let data = [29 + REQUEST_OVERHEAD + REQUEST.len(), 29 + RESPONSE_OVERHEAD + RESPONSE.len()];
    assert_eq!(seen.sent.iter().map(Vec::len).collect::<Vec<_>>(), [&handshake[..], &data].concat());
    for operations in &seen.operations {
        let octets = operations.iter().map(|operation| match operation {
            Operation::CbcEncrypt(cbc) | Operation::CbcDecrypt(cbc) => cbc.octets,
            _ => 0,
        });
        assert_eq!(octets.sum::<u32>(), 5 * 16);
        // HMAC of 45 octets twice: 2 blocks inside, 2 outside... the chain's second has 32, and the outputs 77.
        let blocks = operations.iter().map(|operation| match operation {
            Operation::Sha256 { blocks } => *blocks,
            _ => 0,
        });
        assert_eq!(blocks.sum::<u32>(), 4 + 5 + 4 + 5);
    }
}

#[test]
fn another_key_opens_no_session_of_less() {
    let mut configs = both(Protocol::Less, |_| ());
    configs[1].credential =
        Credential::Psk { identity: "Client_identity".to_owned(), key: Arc::from(&b"another secret.."[..]) };
    let seen = exchange(&configs, 0, Fault::None);
    let Status::Failed(failure) = &seen.status[0] else { panic!("{:?}", seen.status) };
    assert_eq!(failure.reason, "the server answered 4.01");
    assert_eq!(seen.status[1], Status::Handshaking, "the server waits for somebody who has the key");
}

#[test]
fn bad_combinations_are_named() {
    let refused = |protocol, change: &dyn Fn(&mut SessionConfig)| {
        let mut config = config(Role::Client, protocol);
        change(&mut config);
        config.validate().unwrap_err().field
    };
    let both =
        |config: &mut SessionConfig| *edhoc(config) = Edhoc { message_4: true, combined: true, ..Edhoc::DEFAULT };
    assert_eq!(refused(Protocol::Edhoc, &both), "message_4");
    assert_eq!(refused(Protocol::Coap, &|config| config.mtu = Some(63)), "mtu");
    let short = |config: &mut SessionConfig| {
        config.credential = Credential::Psk { identity: "node".to_owned(), key: Arc::from(&b"short"[..]) };
    };
    assert_eq!(refused(Protocol::Less, &short), "psk");
    assert_eq!(refused(Protocol::CoapTcp, &|config| config.mtu = Some(512)), "mtu");
    assert_eq!(refused(Protocol::CoapTls12, &|config| config.mtu = Some(512)), "mtu");
    let weightless = |config: &mut SessionConfig| config.cryptography = slowhand_sessions::Cryptography::Weightless;
    assert_eq!(refused(Protocol::Oscore, &weightless), "cryptography");
    // lean-dtls has no TLS 1.2: what carries CoAP is checked as if it were alone.
    let of_stack = |config: &mut SessionConfig| config.stack = Stack::RUSTLS;
    assert_eq!(refused(Protocol::CoapDtls12, &of_stack), "protocol");
}

/// After many round trips of 0.1 s, CoCoA waits for less than 1 s before it sends again; otherwise it is 2 to 3 s.
#[test]
fn cocoa_waits_as_long_as_round_trips_are() {
    let delay_by_a_loss = |congestion| {
        let mut configs = both(Protocol::Coap, |_| ());
        for config in &mut configs {
            let Family::Coap(coap) = &mut config.family else { panic!("CoAP") };
            coap.congestion = congestion;
        }
        let whole = exchange(&configs, 20, Fault::None);
        let lost = exchange(&configs, 20, Fault::Lost(whole.sent.len() - 2));
        has_exchanged(&lost, 20, "the last request is lost once");
        lost.ended - whole.ended
    };
    let [default, cocoa] = [Congestion::Default, Congestion::Cocoa].map(delay_by_a_loss);
    assert!((Duration::from_secs(2)..=Duration::from_secs(3)).contains(&default), "{default:?}");
    assert!(cocoa < Duration::from_secs(1), "{cocoa:?}");
}

/// With the smallest datagrams that are allowed both variants of EDHOC complete.
#[test]
fn edhoc_has_room_in_the_smallest_datagrams() {
    for (transfer, least) in [(Transfer::Reference, 67), (Transfer::Value, 158)] {
        let with = |mtu| {
            both(Protocol::Edhoc, |config| {
                config.mtu = Some(mtu);
                edhoc(config).transfer = transfer;
            })
        };
        assert_eq!(with(least - 1)[0].validate().unwrap_err().field, "mtu");
        let seen = exchange(&with(least), 0, Fault::None);
        assert!(seen.established.iter().all(Option::is_some), "{transfer:?}: {:?}", seen.status);
    }
}

/// A session is one handshake: another client at the same address does not end it.
#[test]
fn an_established_server_begins_no_other_handshake() {
    let [of_client, of_server] = both(Protocol::Edhoc, |_| ());
    let [mut client, mut server, mut other] =
        [&of_client, &of_server, &SessionConfig { seed: [9; 32], ..of_client.clone() }]
            .map(|config| build(config, Arc::new(Weightless)).unwrap());
    let transcript = memory::Path::default().run(&mut *client, &mut *server);
    assert_eq!(transcript.end, memory::End::Completed);
    other.start(transcript.at);
    let message_1 = other.poll_transmit().unwrap().bytes.to_vec();
    server.handle_input(transcript.at, &message_1);
    assert!(matches!(server.status(), Status::Established { .. }), "{:?}", server.status());
}
