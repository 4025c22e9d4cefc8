//! Handshakes whose datagrams are lost, duplicated or overtaken: golden tables of what each
//! library does by itself. Datagrams are numbered as sent, from 0; the path takes 50 ms one way.

use std::time::Duration;

use proptest::prelude::*;
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{FailureKind, Growth, Stack, Status, Suite, Timers};

use crate::pair::{Pair, failure};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;
const ECDHE: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8;

fn run(pair: &Pair, dropped: &[usize]) -> Transcript {
    pair.run(&Path { dropped: dropped.to_vec(), ..Path::default() })
}

/// `c` and the milliseconds until it completed, `t` when the client's timer gave up, `f` when it refused
/// what came.
fn outcome(transcript: &Transcript) -> String {
    match (&transcript.end, &transcript.client) {
        (End::Completed, _) => format!("c{}", transcript.at.as_millis()),
        (End::Failed, Status::Failed(failure)) if failure.kind == FailureKind::TimedOut => "t".to_owned(),
        (End::Failed, Status::Failed(failure)) if matches!(failure.kind, FailureKind::Library { .. }) => "f".to_owned(),
        _ => panic!("{transcript:?}"),
    }
}

/// The outcome for each datagram of the lossless handshake when it is lost.
fn singles(pair: &Pair) -> String {
    let count = run(pair, &[]).datagrams.len();
    (0..count).map(|lost| outcome(&run(pair, &[lost]))).collect::<Vec<_>>().join(" ")
}

/// mbedTLS sends a whole flight again when its timer of 1 s runs out, the last one as well.
#[test]
fn mbedtls_survives_the_loss_of_any_datagram() {
    for suite in [PSK, ECDHE] {
        let pair = Pair::new(Stack::MBEDTLS, suite);
        assert_eq!(outcome(&run(&pair, &[])), "c300");
        assert_eq!(singles(&pair), "c1300 c1300 c1300 c1300 c1300 c1300", "{suite}");
    }
}

#[test]
fn mbedtls_survives_the_loss_of_any_two_datagrams() {
    let pair = Pair::new(Stack::MBEDTLS, PSK);
    for first in 0..6 {
        for second in first + 1..run(&pair, &[first]).datagrams.len() {
            assert_eq!(run(&pair, &[first, second]).end, End::Completed, "{first} {second}");
        }
    }
}

/// OpenSSL sends a flight again when its timer of 1 s runs out, the last one as well.
#[test]
fn openssl_survives_the_loss_of_any_datagram() {
    for suite in [PSK, ECDHE] {
        let pair = Pair::new(Stack::OPENSSL, suite);
        assert_eq!(outcome(&run(&pair, &[])), "c300");
        assert_eq!(singles(&pair), "c1300 c1300 c1300 c1300 c1300 c1300", "{suite}");
    }
}

#[test]
fn openssl_survives_the_loss_of_any_two_datagrams() {
    let pair = Pair::new(Stack::OPENSSL, ECDHE);
    for first in 0..6 {
        for second in first + 1..run(&pair, &[first]).datagrams.len() {
            assert_eq!(run(&pair, &[first, second]).end, End::Completed, "{first} {second}");
        }
    }
}

/// A datagram is several when it is sent again.
#[test]
fn openssl_repeats_a_flight_message_by_message() {
    let pair = Pair::new(Stack::OPENSSL, ECDHE);
    let sizes = run(&pair, &[3]).sizes();
    // The lost flight; the client's timer runs out first. Then ServerHello, Certificate, ServerKeyExchange,
    // CertificateRequest and ServerHelloDone.
    assert_eq!(sizes[2], sizes[4]);
    assert_eq!(sizes[5..10].iter().sum::<usize>(), sizes[3], "{sizes:?}");
    // RFC 6347: 13 octets before a record, 12 before a message; the lengths of the list and of the certificate.
    assert_eq!((sizes[6], sizes[9]), (13 + 12 + 3 + 3 + 332, 13 + 12), "{sizes:?}");
    assert_eq!(sizes[10..], run(&pair, &[]).sizes()[4..]);
}

/// tinyDTLS's server forgets the handshake when it has sent its Finished: the client's repetitions are
/// ignored, and a client that has lost the server's ChangeCipherSpec or Finished (8, 9) never
/// completes. The ServerHello (3) costs two timeouts: the client sends its ClientHello again before the
/// server does its part, the server begins anew, and the client refuses the new ServerHello as a replay.
#[test]
fn tinydtls_psk_and_the_loss_of_a_datagram() {
    let pair = Pair::new(Stack::TINYDTLS, PSK);
    assert_eq!(outcome(&run(&pair, &[])), "c300");
    assert_eq!(singles(&pair), "c2300 c2300 c2300 c4300 c2300 c2300 c2300 c2300 t t");
}

/// As with a pre-shared key, but when the ServerHello (3) is lost the client keeps the rest of the server's
/// first flight, and mixes it with the flight of the server that began anew: the signature does not fit.
#[test]
fn tinydtls_raw_public_keys_and_the_loss_of_a_datagram() {
    let pair = Pair::new(Stack::TINYDTLS, ECDHE);
    assert_eq!(outcome(&run(&pair, &[])), "c300");
    assert_eq!(singles(&pair), "c2300 c2300 c2300 f c2300 c2300 c2300 c2300 c2300 c2300 c2300 c2300 c2300 t t");
}

/// Every pair: a line for each first loss, a letter for each later datagram of that run as the second.
#[test]
fn tinydtls_psk_and_the_loss_of_two_datagrams() {
    let pair = Pair::new(Stack::TINYDTLS, PSK);
    let table: Vec<String> = (0..10)
        .map(|first| {
            let count = run(&pair, &[first]).datagrams.len().min(20);
            (first + 1..count).map(|second| outcome(&run(&pair, &[first, second]))[..1].to_owned()).collect()
        })
        .collect();
    assert_eq!(table, TINYDTLS_PSK_PAIRS);
}

const TINYDTLS_PSK_PAIRS: [&str; 10] = [
    "cccccccctt",
    "cccccccctt",
    "cccccctt",
    "ccccccccctt",
    "ccccctt",
    "ccccccctt",
    "cccctt",
    "ccctt",
    "ttttttttttt",
    "tttttttttt",
];

#[test]
fn a_client_without_a_server_gives_up() {
    // RFC 6347 section 4.2.4.1: doubled from 1 s to 60 s; mbedTLS gives up when 60 s have passed in vain.
    let mbedtls = Pair::new(Stack::MBEDTLS, PSK);
    let transcript = run(&mbedtls, &(0..100).collect::<Vec<_>>());
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    assert_eq!((times, transcript.at), (vec![0, 1, 3, 7, 15, 31, 63], Duration::from_secs(123)));

    // OpenSSL has the timer without an end; the thirteenth time that it runs out is the last (`DTLS1_TMO_ALERT_COUNT`).
    let openssl = Pair::new(Stack::OPENSSL, PSK);
    let transcript = run(&openssl, &(0..100).collect::<Vec<_>>());
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    assert_eq!(times, vec![0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423]);
    assert_eq!(transcript.at, Duration::from_secs(483));

    // 2 s, doubled with each of 7 retransmissions.
    let tinydtls = Pair::new(Stack::TINYDTLS, PSK);
    let transcript = run(&tinydtls, &(0..100).collect::<Vec<_>>());
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    assert_eq!((times, transcript.at), (vec![0, 2, 6, 14, 30, 62, 126, 254], Duration::from_secs(510)));
}

#[test]
fn the_timer_is_the_one_chosen() {
    let pair = Pair::new(Stack::MBEDTLS, PSK).both(|config| {
        config.timers.first = Some(Duration::from_secs(9));
        config.timers.maximum = Some(Duration::from_secs(20));
    });
    let transcript = run(&pair, &(0..100).collect::<Vec<_>>());
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    assert_eq!((times, transcript.at), (vec![0, 9, 27], Duration::from_secs(47)));

    let pair = pair.both(|config| config.stack = Stack::OPENSSL);
    let transcript = run(&pair, &(0..100).collect::<Vec<_>>());
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    assert_eq!(times[..5], [0, 9, 27, 47, 67]);

    let pair = Pair::new(Stack::TINYDTLS, PSK).both(|config| config.timers.first = Some(Duration::from_secs(9)));
    let transcript = run(&pair, &(0..100).collect::<Vec<_>>());
    let times: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at.as_secs()).collect();
    let doubled = vec![0, 9, 27, 63, 135, 279, 567, 1143];
    assert_eq!((times, transcript.at), (doubled, Duration::from_secs(1143 + 9 * 128)));
}

/// Where the path is slower by as much as tinyDTLS's timer, the same happens, only slower.
#[test]
fn tinydtls_with_another_first_timeout_is_the_same_library_on_another_clock() {
    for (numerator, denominator) in [(1, 2000), (1, 8), (3, 2), (9, 2), (50, 1)] {
        let scaled = |time: Duration| time * numerator / denominator;
        for dropped in [vec![0], vec![2], vec![3], vec![5, 13], vec![8], vec![3, 4, 5, 16]] {
            let pair = Pair::new(Stack::TINYDTLS, PSK);
            let path = Path { dropped, ..Path::default() };
            let as_built = pair.run(&path);
            let path = Path { delay: scaled(path.delay), time_limit: scaled(path.time_limit), ..path };
            let chosen = pair.both(|config| config.timers.first = Some(scaled(Duration::from_secs(2)))).run(&path);
            assert_eq!(chosen.end, as_built.end);
            assert_eq!(chosen.at, scaled(as_built.at));
            let sent = |transcript: Transcript| transcript.datagrams.into_iter().map(|it| (it.at, it.bytes));
            assert!(sent(chosen).eq(sent(as_built).map(|(at, bytes)| (scaled(at), bytes))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the timeout and wherever in a tick the clock stands: at its deadline the library retransmits (it never
    /// asks to be called again at the same time), and not before.
    #[test]
    fn tinydtls_retransmits_at_its_deadline(first_ns in 1_000_000..100_000_000_000u64, start_ns in 0..10_000_000_000u64) {
        let (first, start) = (Duration::from_nanos(first_ns), Duration::from_nanos(start_ns));
        let (mut client, _) =
            Pair::new(Stack::TINYDTLS, PSK).both(|config| config.timers.first = Some(first)).build();
        client.start(start);
        prop_assert_eq!(client.poll_transmit().map(|transmit| transmit.at), Some(start));
        let tick = first / 2000 + Duration::from_nanos(1);
        let mut sent = start;
        for doubled in 0..7 {
            let deadline = client.deadline().unwrap();
            prop_assert!(deadline.abs_diff(sent + first * (1 << doubled)) <= tick);
            client.handle_timeout(deadline - Duration::from_nanos(1));
            prop_assert!(client.poll_transmit().is_none());
            client.handle_timeout(deadline);
            prop_assert_eq!(client.poll_transmit().map(|transmit| transmit.at), Some(deadline));
            sent = deadline;
        }
    }
}

/// Each datagram of the lossless handshake twice, the copy 50 ms later; then each 30 ms late, so that
/// those behind overtake it.
///
/// tinyDTLS's server begins anew with the copy of a ClientHello whose cookie is right (2), and the client does
/// not follow. When its Finished overtakes its ChangeCipherSpec (8), the client cannot read it and
/// it is not sent again.
#[test]
fn duplicated_and_overtaken_datagrams() {
    for (stack, twice, late) in [
        (Stack::MBEDTLS, "c300 c300 c300 c300 c300 c300", "c330 c330 c330 c330 c330 c330"),
        (Stack::OPENSSL, "c300 c300 c300 c300 c300 c300", "c330 c330 c330 c330 c330 c330"),
        (
            Stack::TINYDTLS,
            "c300 c300 t c300 c300 c300 c300 c300 c300 c300",
            "c330 c330 c330 c330 c330 c2300 c2300 c330 t c330",
        ),
    ] {
        let pair = Pair::new(stack, PSK);
        let count = run(&pair, &[]).datagrams.len();
        let each = |path: fn(usize) -> Path| {
            (0..count).map(|number| outcome(&pair.run(&path(number)))).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(each(|number| Path { duplicated: vec![number], ..Path::default() }), twice, "{stack}");
        assert_eq!(
            each(|number| Path { held_back: vec![(number, Duration::from_millis(30))], ..Path::default() }),
            late,
            "{stack}"
        );
    }
}

/// The variable back-off factor of draft-ietf-core-cocoa-03 section 4.2.1, which the first wait decides, by hand: 500 ms, 1.5, 4.5, 13.5 and
/// 40.5 s, each longer by the same share of up to a half, and none above 60 s.
#[test]
fn the_timer_of_lean_dtls_grows_as_that_of_cocoa() {
    let waits = |seed| {
        let mut pair = Pair::new(Stack::LEAN_DTLS, PSK).both(|config| {
            config.timers =
                Timers { first: Some(Duration::from_millis(500)), growth: Growth::Cocoa, ..Timers::default() };
        });
        pair.client.seed = [seed; 32];
        let transcript = run(&pair, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(transcript.end, End::Completed);
        let times: Vec<_> = transcript.datagrams[..7].iter().map(|datagram| datagram.at.as_millis()).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    for seed in 1..20 {
        let waits = waits(seed);
        assert!((500..750).contains(&waits[0]), "{waits:?}");
        for (wait, times) in waits.iter().zip([1.0, 3.0, 9.0, 27.0, 81.0, 243.0]) {
            // Of milliseconds, half a one is lost at each step.
            let expected = (waits[0] as f64 * times).min(60_000.0);
            assert!((*wait as f64 - expected).abs() <= times, "{waits:?}");
        }
    }
    assert_ne!(waits(1), waits(2), "two ends do not repeat together");
}
