//! Runs of CoAP, OSCORE and EDHOC: what is sent, and what becomes of requests where frames are lost.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_sessions::Role;
use std::path::Path;

const PROTOCOLS: [&str; 6] = ["coap", "oscore", "edhoc", "less", "coap+dtls1.2", "coap+dtls1.3"];

fn scenario(protocol: &str, changes: &[&str]) -> Scenario {
    let protocol = format!("session.protocol={protocol}");
    // In DTLS 1.3 the suite is another one.
    let suite = if protocol.ends_with("1.3") { "session.suite=TLS_AES_128_CCM_8_SHA256" } else { "session.nonces=1" };
    let changes: Vec<Override> =
        [&protocol, suite].iter().chain(changes).map(|change| change.parse().unwrap()).collect();
    Scenario::load(Path::new("../../scenarios/edhoc.toml"), &changes).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn records(protocol: &str, changes: &[&str], seeds: std::ops::Range<u64>) -> Vec<Record> {
    let plan = Plan::new(&scenario(protocol, changes)).unwrap();
    seeds.flat_map(|seed| plan.run(seed, &mut ())).collect()
}

/// A request of 40 octets and its response of 40: OSCORE adds 13 and 11, with the identifiers of EDHOC 14 and 11; a record of DTLS 1.2
/// with CCM-8 has 29 more (RFC 6347 section 4.1, RFC 6655), one of DTLS 1.3 at the end of its datagram 11 (RFC 9147 section 4: a header
/// of two octets, the type, a tag of eight).
#[test]
fn requests_have_the_octets_of_their_protection() {
    let without_loss = ["network.link_pdr=1.0"];
    let of = |protocol: &str| {
        let record = records(protocol, &without_loss, 1..2).remove(0);
        let data = record.data.as_ref().unwrap();
        assert_eq!((record.outcome, data.outcome, data.costs.datagrams), (Outcome::Completed, Outcome::Completed, 2));
        (record.datagrams, data.costs.bytes_payload)
    };
    assert_eq!(of("coap"), (0, 80));
    assert_eq!(of("oscore"), (0, 80 + 13 + 11));
    assert_eq!(of("edhoc"), (4, 80 + 14 + 11));
    assert_eq!(of("less"), (4, 80 + 2 * 29));
    assert_eq!(of("coap+dtls1.2").1, 80 + 2 * 29);
    assert_eq!(of("coap+dtls1.3").1, 80 + 2 * 11);
}

#[test]
fn requests_are_answered_whatever_is_lost() {
    for protocol in PROTOCOLS {
        let lossy = ["lowpan.frame_loss=0.1", "application.requests=3"];
        let found = records(protocol, &lossy, 1..11);
        let data: Vec<_> = found.iter().filter_map(|record| record.data.as_ref()).collect();
        // A long flight of DTLS may be lost too often.
        assert!(data.len() >= 8, "{protocol}: {} of 10 handshakes", data.len());
        let answered = data.iter().filter(|data| data.outcome == Outcome::Completed);
        let datagrams: Vec<u64> = answered.map(|data| data.costs.datagrams).collect();
        assert!(datagrams.len() + 1 >= data.len(), "{protocol}: {} of {}", datagrams.len(), data.len());
        assert!(datagrams.iter().all(|&count| count >= 6), "{protocol}: three requests and three responses");
        assert!(datagrams.iter().any(|&count| count > 6), "{protocol}: something is sent again");
        let again = records(protocol, &lossy, 1..11);
        assert_eq!(found, again, "{protocol}: the same seeds, the same records");
    }
}

/// A request that nobody hears: the record says why it failed, and where.
#[test]
fn a_request_that_fails_has_a_reason() {
    let deaf = ["network.link_pdr=0.000001"];
    for protocol in ["coap", "oscore"] {
        let record = records(protocol, &deaf, 1..2).remove(0);
        assert_eq!((record.outcome, record.failure), (Outcome::Completed, None), "{protocol}: it has no handshake");
        let data = record.data.unwrap();
        let failure = data.failure.unwrap();
        assert_eq!((data.outcome, failure.end), (Outcome::TimedOut, Role::Client), "{protocol}");
        assert_eq!(failure.reason, "the peer did not acknowledge the last retransmission", "{protocol}");
    }
    let failed = records("edhoc", &deaf, 1..2).remove(0);
    assert!(failed.failure.is_some() && failed.data.is_none(), "a handshake that failed: {failed:?}");
    let answered = records("oscore", &["network.link_pdr=1.0"], 1..2).remove(0);
    assert_eq!(answered.data.unwrap().failure, None);
}

/// Repetitions in the handshake of EDHOC are counted as those of DTLS are.
#[test]
fn repetitions_of_edhoc_are_counted() {
    let found = records("edhoc", &["lowpan.frame_loss=0.2"], 1..21);
    let needed: u64 = found.iter().map(|record| record.retransmissions_needed).sum();
    let lost: u64 = found.iter().map(|record| record.datagrams_lost).sum();
    assert!(needed > 0 && needed <= lost, "{needed} {lost}");
    let whole = records("edhoc", &["network.link_pdr=1.0"], 1..4);
    assert!(whole.iter().all(|record| record.retransmissions_needed + record.retransmissions_spurious == 0));
}

/// RFC 9668: a round trip less.
#[test]
fn the_combined_request_saves_a_round_trip() {
    let datagrams = |combined: &str| {
        let record = records("edhoc", &["network.link_pdr=1.0", combined], 1..2).remove(0);
        record.datagrams + record.data.unwrap().costs.datagrams
    };
    assert_eq!(datagrams("session.edhoc.combined=false"), 6);
    assert_eq!(datagrams("session.edhoc.combined=true"), 4);
}

/// A client that computes for longer than the shortest first wait: its timer starts when its message is ready.
#[test]
fn a_slow_client_repeats_nothing() {
    let slow = ["network.link_pdr=1.0", "client.device=wismote", "session.coap.ack_random_factor=1.0"];
    for record in records("edhoc", &slow, 1..4) {
        assert!(record.compute_client_s > 2.0, "{}", record.compute_client_s);
        assert_eq!((record.datagrams, record.retransmissions_spurious), (4, 0));
    }
}

/// A record of DTLS holds no more than was agreed on: longer messages go in blocks.
#[test]
fn short_records_carry_long_responses() {
    let short = ["network.link_pdr=1.0", "session.max_fragment_length=512", "application.response_bytes=1000"];
    let data = records("coap+dtls1.2", &short, 1..2).remove(0).data.unwrap();
    assert_eq!(data.outcome, Outcome::Completed);
}
