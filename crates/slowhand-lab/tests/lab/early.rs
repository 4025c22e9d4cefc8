//! Data before the end of a handshake (False Start, RFC 7918).

use crate::plan;
use slowhand_lab::record::{Outcome, Record};

/// The round trip to the server is 0.8 s and that of a hop.
const LEAN: &[&str] = &[
    "session.stack=lean-dtls",
    "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
    "server.at=internet",
    "server.internet_delay_ms=400",
];
const REQUEST: &[&str] = &["session.protocol=coap+dtls1.2", "application.requests=1"];
const EARLY: &[&str] = &["session.false_start=true"];

fn run(changes: &[&[&str]]) -> Record {
    plan(&[&[LEAN], changes].concat().concat()).run(1, &mut ()).remove(0)
}

/// From the first datagram to the response.
fn until_the_response(record: &Record) -> f64 {
    let data = record.data.as_ref().expect("it has sent a request");
    assert_eq!((record.outcome, data.outcome), (Outcome::Completed, Outcome::Completed), "{:?}", record.failure);
    record.duration_s.unwrap() + data.duration_s.unwrap()
}

#[test]
fn the_response_comes_a_round_trip_earlier() {
    let [late, early] = [run(&[REQUEST]), run(&[REQUEST, EARLY])];
    let gain = until_the_response(&late) - until_the_response(&early);
    assert!((0.79..1.2).contains(&gain), "{gain}");
    // The number of octets sent is equal.
    let octets = |record: &Record| record.bytes_payload + record.data.as_ref().unwrap().costs.bytes_payload;
    assert_eq!(octets(&late), octets(&early));
    let credential = "session.credential=raw_public_key";
    assert!(
        until_the_response(&run(&[REQUEST, EARLY, &[credential]]))
            < until_the_response(&run(&[REQUEST, &[credential]]))
    );
}

/// CoAP gives the first request up before the server's Finished has come: what has failed is the request.
#[test]
fn a_request_that_is_given_up_does_not_end_the_handshake() {
    let short = ["session.coap.ack_timeout_s=0.1", "session.coap.ack_random_factor=1", "session.coap.max_retransmit=1"];
    for requests in ["application.requests=1", "application.requests=3"] {
        let record = run(&[REQUEST, &[requests], EARLY, &short]);
        assert_eq!((record.outcome, &record.failure), (Outcome::Completed, &None));
        let data = record.data.as_ref().unwrap();
        assert_eq!((data.outcome, data.duration_s), (Outcome::TimedOut, None));
        assert_eq!(data.failure.as_ref().unwrap().reason, "the peer did not acknowledge the last retransmission");
        let patient = run(&[REQUEST, &[requests], EARLY]);
        assert_eq!(patient.data.unwrap().outcome, Outcome::Completed);
        assert!(record.duration_s.unwrap() < patient.duration_s.unwrap() + 1.0, "{record:?}");
    }
}

/// CoAP sends the first request again before the server's Finished has come: what it repeats are data.
#[test]
fn what_repeats_an_early_request_belongs_to_the_data() {
    let timer = ["session.coap.ack_timeout_s=0.1", "session.coap.ack_random_factor=1"];
    let [once, thrice] = [0, 2].map(|repeated| {
        let most = format!("session.coap.max_retransmit={repeated}");
        run(&[REQUEST, EARLY, &timer, &[&most]])
    });
    assert_eq!((once.datagrams, once.frames), (thrice.datagrams, thrice.frames));
    let datagrams = |record: &Record| record.data.as_ref().unwrap().costs.datagrams;
    assert!(datagrams(&thrice) >= datagrams(&once) + 2, "{} {}", datagrams(&once), datagrams(&thrice));
}

/// A key that has no effect, and a session that is not resumed: the client opens a new one.
#[test]
fn what_has_no_effect_is_warned_of() {
    let warnings =
        |changes: &[&[&str]]| slowhand_lab::warnings(&crate::scenario(&[&[LEAN], changes].concat().concat()));
    let [warning] = &warnings(&[EARLY])[..] else { panic!() };
    assert!(warning.starts_with("session.false_start: it has no effect"), "{warning}");
    let resumed = |kind, server| [format!("session.resumption={kind}"), format!("session.server_stack={server}")];
    for (kind, server, count) in [("ticket", "mbedtls", 1), ("id", "mbedtls", 0), ("ticket", "lean-dtls", 0)] {
        let [kind, server] = &resumed(kind, server);
        let all = warnings(&[&["session.credential=certificate", kind, server]]);
        assert_eq!(all.len(), count, "{kind} {server}: {all:?}");
    }
}

/// An end that has no data waits for nothing, and says nothing of it to its peer.
#[test]
fn without_data_nothing_changes() {
    assert_eq!(format!("{:?}", run(&[])), format!("{:?}", run(&[EARLY])));
}

/// The session is allowed: where nothing is lost it is a round trip faster with such a server too.
#[test]
fn a_server_that_forgets_its_last_flight_is_warned_of() {
    let warnings =
        |changes: &[&[&str]]| slowhand_lab::warnings(&crate::scenario(&[&[LEAN, REQUEST], changes].concat().concat()));
    let mbedtls = ["session.server_stack=mbedtls", "session.credential=certificate"];
    let tinydtls = ["session.server_stack=tinydtls", "session.credential=raw_public_key"];
    for server in [&mbedtls, &tinydtls] {
        let all = warnings(&[EARLY, server]);
        let [warning] = &all[..] else { panic!("{all:?}") };
        assert!(warning.starts_with("session.server_stack: ") && warning.contains("session.false_start"), "{warning}");
        assert_eq!(warnings(&[server]), [""; 0]);
    }
    assert_eq!(warnings(&[EARLY]), [""; 0]);
    let openssl = ["session.server_stack=openssl", "session.credential=certificate"];
    assert_eq!(warnings(&[EARLY, &openssl]), [""; 0]);
}

/// The client has sent its request with its Finished, and gives up before the server's Finished is there.
#[test]
fn what_was_sent_early_counts_if_the_handshake_fails() {
    let complete = run(&[REQUEST, EARLY]);
    let give_up = format!("session.give_up_s={}", complete.duration_s.unwrap() - 0.3);
    let failed = run(&[REQUEST, EARLY, &[&give_up]]);
    assert_eq!(failed.outcome, Outcome::GaveUp);
    let data = failed.data.expect("the request was sent");
    assert_eq!((data.outcome, data.duration_s, data.energy_client.total_mj()), (Outcome::GaveUp, None, 0.0));
    assert!((1..=complete.data.unwrap().costs.datagrams).contains(&data.costs.datagrams));
    assert!(data.costs.frames > 0);
}
