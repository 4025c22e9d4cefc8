//! The microsecond at which a handshake ends, worked out by hand.

use crate::{MBEDTLS_PSK, MBEDTLS_PSK_TLS, plan};
use slowhand_lab::record::{Outcome, Record};
use slowhand_net::clock::Instant;
use slowhand_net::observer::{Observer, Transmission};

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a datagram of `udp` octets in one
/// piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 8 + `udp` + 2 at 32 us each,
/// 5,521 us to the acknowledgement, 25 octets of that.
///
/// The 8 octets: IPHC 2 (both addresses follow from context 0 and the link), UDP header compression 1 with 1 octet of the
/// client's port 61617 = 0xf0b1 and 2 of the server's 5684, checksum 2.
const fn exchange(udp: u64) -> u64 {
    exchange_of(8 + udp)
}

/// As [`exchange`], for a frame that carries `lowpan` octets.
const fn exchange_of(lowpan: u64) -> u64 {
    5_215 + (6 + 21 + lowpan + 2) * 32 + 5_521 + (6 + 19) * 32
}

fn only(mut records: Vec<Record>) -> Record {
    assert_eq!(records.len(), 1);
    records.remove(0)
}

#[test]
fn a_psk_handshake_of_tinydtls() {
    let record = only(plan(&[]).run(1, &mut ()));
    // Slots for the client's frames: 1 and 3 of every 5; for the server's: 4. A frame goes in the first slot that begins
    // after it is ready, and each flight is ready when the last message of the one before has arrived.
    //   ClientHello 1; HelloVerifyRequest 4; ClientHello 6; ServerHello 9, ServerHelloDone 14;
    //   ClientKeyExchange 16, ChangeCipherSpec 18, Finished 21; ChangeCipherSpec 24, Finished 29.
    // The last, of 53 octets, ends the handshake.
    let expected = 29 * 20_000 + exchange(53);
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!(record.duration_s, Some(expected as f64 / 1e6));
    // The ten datagrams, one frame each: 77 + 44 + 93 + 74 + 25 + 42 + 14 + 53 + 14 + 53 octets and 31 around each.
    assert_eq!((record.datagrams, record.frames, record.frames_ack), (10, 10, 10));
    assert_eq!((record.bytes_payload, record.bytes_phy, record.bytes_ack), (489, 489 + 10 * 31, 10 * 19));
    assert_eq!((record.retransmissions_needed, record.retransmissions_spurious), (0, 0));
}

#[test]
fn a_psk_handshake_of_mbedtls() {
    let record = only(plan(MBEDTLS_PSK).run(1, &mut ()));
    // 97 / 60 / 129 / 131 / 109 / 67 octets. Those above 104 - 8 = 96 take two fragments: the first carries 4 + 8 octets
    // of headers for 48 of the packet and 88 more, the second the rest.
    //   97: slots 1, 3; 60: slot 4; 129: 6, 8; 131: 9, 14; 109: 16, 18; 67: 19.
    let expected = 19 * 20_000 + exchange(67);
    assert_eq!(record.duration_s, Some(expected as f64 / 1e6));
    assert_eq!((record.datagrams, record.frames, record.bytes_payload), (6, 10, 97 + 60 + 129 + 131 + 109 + 67));
    // Around a whole datagram 31 octets; around one in two fragments twice 23 of header and FCS, 4 + 8 and 5.
    assert_eq!(record.bytes_phy, record.bytes_payload + 2 * 31 + 4 * (2 * 23 + 12 + 5));
}

#[test]
fn a_psk_handshake_over_tcp() {
    let record = only(plan(MBEDTLS_PSK_TLS).run(1, &mut ()));
    // Headers are 3 octets of IPv6 (both addresses follow from context 0 and the link, the next header inline) and 20 of
    // TCP, 8 more for the options of a SYN (MSS 4, SACK permitted 2, padding 2). A segment of up to 104 octets is one frame.
    //   SYN 1, SYN-ACK 4; ACK 6 and ClientHello (76 octets of TLS) 8; ServerHello (90, two fragments) 9 and 14,
    //   ServerHelloDone (9) 19, without Nagle in a segment of its own and in the initial window of 536;
    //   ClientKeyExchange (26) 21, ChangeCipherSpec (6) 23, Finished (37) 26; ChangeCipherSpec 29, Finished 34.
    // Every segment but the first ACK carries data, before the 200 ms of a delayed acknowledgement are over.
    let expected = 34 * 20_000 + exchange_of(3 + 20 + 37);
    assert_eq!(record.duration_s, Some(expected as f64 / 1e6));
    assert_eq!((record.datagrams, record.frames, record.bytes_payload), (11, 12, 76 + 90 + 9 + 2 * (6 + 37) + 26));
    // ServerHello: 3 octets of headers for 40, and 104 - 4 - 3 holds 96 of the 110 behind them: a second fragment, 5 octets.
    assert_eq!(record.bytes_phy, record.bytes_payload + 11 * 23 + 2 * 8 + 12 * 23 + 4 + 5);
    assert_eq!((record.retransmissions_needed, record.retransmissions_spurious), (0, 0));
}

#[test]
fn a_segment_is_acknowledged_while_the_device_computes() {
    // The client computes for most of a second after the server's flight, and the server's timer is less than that. The
    // client's network stack acknowledges meanwhile; where it waits too, the server sends again what has arrived.
    let computing = [
        "client.device=openmote-cc2538",
        "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
        "transport.server={ initial_rto_s = 0.5, min_rto_s = 0.5 }",
    ];
    let run = |waits: &str| only(plan(&[MBEDTLS_PSK_TLS, &computing, &[waits]].concat()).run(1, &mut ()));
    let interrupted = run("transport.client.waits_while_computing=false");
    let waiting = run("transport.client.waits_while_computing=true");
    assert!(interrupted.compute_client_s > 0.8, "{interrupted:?}");
    assert_eq!((interrupted.outcome, interrupted.retransmissions_spurious), (Outcome::Completed, 0));
    assert!(waiting.outcome == Outcome::Completed && waiting.retransmissions_spurious > 0, "{waiting:?}");
}

#[test]
fn a_timer_that_is_due_while_the_computer_serves_another_session_waits_for_it() {
    // Both clients begin at 0. The server computes for 0.57 s before its flight to one of them, and then as long before its
    // flight to the other: the timer of the first flight, of 0.5 s, is due before that is done.
    let records = plan(&[
        "network.topology={ kind = \"star\", leaves = 2 }",
        "mac={ kind = \"tsch\", slotframe = 11, cells = { shared = 0, up = 1, down = 1 } }",
        "server.device=openmote-cc2538",
        "session={ stack = \"mbedtls\", timeout_s = 9, suite = \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM\" }",
        "session.server_timeout_s=0.5",
    ])
    .run(1, &mut ());
    for record in records {
        assert_eq!(record.outcome, Outcome::Completed);
        assert!(record.compute_server_s > 0.57 && record.retransmissions_spurious_server > 0, "{record:?}");
    }
}

/// When the last frame was sent.
#[derive(Default)]
struct Last(Instant);

impl Observer for Last {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.0 = self.0.max(frame.at);
    }
}

#[test]
fn a_world_ends_when_nothing_is_on_its_way() {
    // Beacons would go on. The last datagram of the handshake is also the last one on its way.
    let beacon = plan(&["mac={ kind = \"beacon\", beacon_interval_ms = 245.76, cap_ms = 61.44 }"]);
    let mut last = Last::default();
    let record = only(beacon.run(1, &mut last));
    let end = Instant::from_micros((record.duration_s.unwrap() * 1e6) as u64);
    assert!(last.0 <= end, "{:?} after the end at {end:?}", last.0);
}

#[test]
fn a_client_computes_as_many_times_as_long_as_the_scenario_says() {
    let computed = |factor: &str| {
        let changes = [MBEDTLS_PSK, &["client.device=openmote-cc2538", factor]].concat();
        only(plan(&changes).run(1, &mut ())).compute_client_s
    };
    let once = computed("client.compute_factor=1");
    assert!(once > 0.01);
    assert!((computed("client.compute_factor=2.5") / once - 2.5).abs() < 1e-6);
    assert_eq!(computed("client.compute_factor=0"), 0.0);
}
