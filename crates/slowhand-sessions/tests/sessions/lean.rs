//! lean-dtls speaks with every library that has its suite, both ways, over a path with faults.

use std::sync::Arc;
use std::time::Duration;

use slowhand_sessions::memory::{Direction, End, Path, Transcript};
use slowhand_sessions::{FailureKind, LeanSwitch, Operation, Processor, Session, Stack, Suite};

use crate::pair::{Pair, dtls, failure, psk};

const PSK: Suite = Suite::TLS_PSK_WITH_AES_128_CCM_8;

const PEERS: [Stack; 4] = [Stack::LEAN_DTLS, Stack::MBEDTLS, Stack::OPENSSL, Stack::TINYDTLS];

/// Every pair with lean-dtls on one side, with this size of lean-dtls's datagrams and this timer.
fn pairs(mtu: Option<u16>) -> Vec<(Stack, Stack, Pair)> {
    let to = PEERS.into_iter().map(|peer| (Stack::LEAN_DTLS, peer));
    let from = PEERS.into_iter().skip(1).map(|peer| (peer, Stack::LEAN_DTLS));
    to.chain(from)
        .map(|(client, server)| {
            let mut pair = Pair::new(client, PSK);
            pair.server.stack = server;
            for config in [&mut pair.client, &mut pair.server] {
                config.mtu = mtu.filter(|_| config.stack == Stack::LEAN_DTLS);
                config.timers.first = Some(Duration::from_secs(2));
            }
            (client, server, pair)
        })
        .collect()
}

/// tinyDTLS of 2024 begins anew, with another random number, when a ClientHello comes again; and it never sends its
/// last flight again. So it cannot lose its ServerHelloDone (4) or its Finished (7), or get the ClientHello (2) twice.
fn is_tinydtls(server: Stack, number: usize, cannot: &[usize]) -> bool {
    server == Stack::TINYDTLS && cannot.contains(&number)
}

#[test]
fn every_pair_completes_shares_its_secret_and_carries_data() {
    for (client_stack, server_stack, pair) in pairs(None) {
        let name = format!("{client_stack} to {server_stack}");
        let (mut client, mut server) = pair.build();
        let transcript = Path::default().run(&mut *client, &mut *server);
        assert_eq!(transcript.end, End::Completed, "{name}: {transcript:?}");
        assert_eq!((client.key_log().len(), client.key_log()), (1, server.key_log()), "{name}");
        assert_eq!(carried(&mut *client, &mut *server, &transcript, b"22.5 C"), b"22.5 C", "{name}");
        assert_eq!(carried(&mut *server, &mut *client, &transcript, &[7; 200]), [7; 200], "{name}");
    }
}

pub fn carried(from: &mut dyn Session, to: &mut dyn Session, transcript: &Transcript, data: &[u8]) -> Vec<u8> {
    from.write(transcript.at, data).unwrap();
    let datagram = from.poll_transmit().unwrap().bytes.to_vec();
    to.handle_input(transcript.at, &datagram);
    to.poll_received().unwrap().bytes.to_vec()
}

#[test]
fn every_pair_survives_the_loss_of_any_datagram() {
    for (client, server, pair) in pairs(None) {
        let datagrams = pair.run(&Path::default()).datagrams.len();
        for lost in 0..datagrams {
            let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
            let completed = transcript.end == End::Completed;
            assert_eq!(completed, !is_tinydtls(server, lost, &[4, 7]), "{client} to {server}, {lost}: {transcript:?}");
            // One wait of 2 s, or none where the peer's next message makes up for the loss.
            assert!(
                !completed || transcript.at < Duration::from_secs(3),
                "{client} to {server}, {lost}: {transcript:?}"
            );
        }
    }
}

/// The third datagram is the ClientHello with the cookie. Without a floor the client sends it again after 2 s. With one, it has
/// measured the round trip of the cookie exchange, 80 ms, and waits three times as long (RFC 6298, section 2.2), or the floor.
#[test]
fn a_timer_with_a_floor_follows_the_round_trip() {
    let delay = Duration::from_millis(40);
    for (floor_ms, wait_ms) in [(None, 2000), (Some(100), 240), (Some(700), 700)] {
        let mut pair = Pair::new(Stack::LEAN_DTLS, PSK);
        pair.client.timers.first = Some(Duration::from_secs(2));
        pair.client.timers.floor = floor_ms.map(Duration::from_millis);
        let transcript = pair.run(&Path { delay, dropped: vec![2], ..Path::default() });
        assert_eq!(transcript.end, End::Completed, "{transcript:?}");
        let [lost, again] = [2, 3].map(|number| transcript.datagrams[number].at);
        assert_eq!(again - lost, Duration::from_millis(wait_ms), "{floor_ms:?}");
    }
}

#[test]
fn every_pair_survives_datagrams_that_come_twice_or_late() {
    for (client, server, pair) in pairs(None) {
        for number in 0..8 {
            let twice = Path { duplicated: vec![number], ..Path::default() };
            let late = Path { held_back: vec![(number, Duration::from_millis(120))], ..Path::default() };
            for path in [twice, late] {
                let transcript = pair.run(&path);
                let can = !is_tinydtls(server, number, &[2]) || path.duplicated.is_empty();
                assert_eq!(transcript.end == End::Completed, can, "{client} to {server}, {path:?}: {transcript:?}");
            }
        }
    }
}

#[test]
fn flights_are_cut_to_the_size_of_a_datagram() {
    for mtu in [64, 80, 128] {
        for (client, server, pair) in pairs(Some(mtu)) {
            let transcript = pair.run(&Path::default());
            // The ClientHello has 75 octets, with a cookie 91 and more. tinyDTLS takes no fragments, mbedTLS none of a
            // ClientHello; and tinyDTLS's client none of a ServerHello, which has 74 octets.
            let can = match (client, server) {
                (_, Stack::TINYDTLS | Stack::MBEDTLS) => mtu >= 128,
                (Stack::TINYDTLS, _) => mtu >= 74,
                _ => true,
            };
            assert_eq!(transcript.end == End::Completed, can, "{client} to {server}, {mtu}: {transcript:?}");
            let own = if client == Stack::LEAN_DTLS { Direction::ToServer } else { Direction::ToClient };
            let longest = transcript.datagrams.iter().filter(|sent| sent.direction == own).map(|sent| sent.bytes.len());
            assert!(longest.max() <= Some(mtu.into()), "{client} to {server}, {mtu}: {:?}", transcript.sizes());
        }
    }
}

/// Each message in a datagram of its own, as tinyDTLS has it; its peer may pack. The sizes by hand: plain messages in
/// 13 + 12 octets of headers, encrypted ones in 29 + 12.
#[test]
fn without_packing_each_record_is_a_datagram() {
    for (client, server, mut pair) in pairs(None) {
        for config in [&mut pair.client, &mut pair.server] {
            config.datagram_packing = config.stack != Stack::LEAN_DTLS;
        }
        let transcript = pair.run(&Path::default());
        assert_eq!(transcript.end, End::Completed, "{client} to {server}: {transcript:?}");
        if (client, server) == (Stack::LEAN_DTLS, Stack::LEAN_DTLS) {
            assert_eq!(transcript.sizes(), [75, 44, 91, 74, 25, 42, 14, 53, 14, 53]);
        }
        for lost in 0..transcript.datagrams.len() {
            let transcript = pair.run(&Path { dropped: vec![lost], ..Path::default() });
            let completed = transcript.end == End::Completed;
            assert!(completed || server == Stack::TINYDTLS, "{client} to {server}, {lost}: {transcript:?}");
        }
    }
}

/// A compression takes a millisecond.
struct Hashing;

impl Processor for Hashing {
    fn time(&self, operation: Operation) -> Duration {
        if let Operation::Sha256 { blocks } = operation { Duration::from_millis(blocks.into()) } else { Duration::ZERO }
    }
}

/// As the profile leaves out the ClientKeyExchange, both ends have all that the keys are made of when the ServerHello
/// is there. The server sends it first, so that both compute at the same time: more than 30 compressions each.
#[test]
fn a_server_of_the_lean_profile_derives_its_keys_while_the_client_does() {
    let mut pair =
        Pair::new(Stack::LEAN_DTLS, PSK).both(|config| dtls(config).lean = [LeanSwitch::Slides].into_iter().collect());
    pair.server_processor = Arc::new(Hashing);
    let path = Path { delay: Duration::from_millis(1), ..Path::default() };
    let transcript = pair.run(&path);
    let at: Vec<_> = transcript.datagrams.iter().map(|datagram| datagram.at).collect();
    assert_eq!((transcript.end, at.len()), (End::Completed, 6), "{at:?}");
    let milliseconds = |from: usize, to: usize| (at[to] - at[from]).as_millis();
    assert!(milliseconds(2, 3) < 15, "the ServerHello waited for the keys: {at:?}");
    assert!(milliseconds(4, 5) > 40, "the server did not derive them meanwhile: {at:?}");
}

#[test]
fn the_datagrams_of_a_handshake() {
    let transcript = Pair::new(Stack::LEAN_DTLS, PSK).run(&Path::default());
    // By hand. ClientHello 13 + 12 + 2 + 32 + 1 + 1 + 6 + 2 + 6; HelloVerifyRequest 13 + 12 + 3 + 16; the ClientHello
    // with 16 octets of cookie; ServerHello 13 + 12 + 2 + 32 + 1 + 3 + 11 and ServerHelloDone 25; ClientKeyExchange 25
    // + 2 + 15, ChangeCipherSpec 14, Finished 13 + 8 + 24 + 8; the last two again.
    assert_eq!(transcript.sizes(), [75, 44, 91, 74 + 25, 42 + 14 + 53, 14 + 53]);
}

#[test]
fn an_unknown_identity_is_refused_in_clear_and_the_client_hears_it_without_trusting_it() {
    let mut pair = Pair::new(Stack::LEAN_DTLS, PSK);
    pair.client.timers.first = Some(Duration::from_secs(1));
    pair.client.credential = psk("nobody");
    let transcript = pair.run(&Path::default());
    // unknown_psk_identity is 115 (RFC 4279, section 6).
    assert_eq!(failure(&transcript.server).reason, "AlertSent(115)");
    assert_eq!(transcript.end, End::Failed);
}

#[test]
fn a_client_without_an_answer_gives_up_after_seven_retransmissions() {
    let mut pair = Pair::new(Stack::LEAN_DTLS, PSK);
    pair.client.timers.first = Some(Duration::from_secs(2));
    let transcript = pair.run(&Path { dropped: (0..100).collect(), ..Path::default() });
    assert_eq!(failure(&transcript.client).kind, FailureKind::TimedOut);
    assert_eq!(transcript.datagrams.len(), 8);
    // By hand: 2, 4, 8, 16, 32, 60, 60 and 60 s.
    assert_eq!(transcript.at, Duration::from_secs(242));
}
