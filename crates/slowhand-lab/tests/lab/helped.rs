//! DTLS with help: its flights in CoAP, a key of a trust anchor, and LESS, which needs no handshake of DTLS.

use crate::coap::records;
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

/// A handshake of DTLS 1.2 with a pre-shared key, with what helps it.
const IN_COAP: [&str; 2] = ["session.carrier=coap", "session.coap.block_bytes=64"];
const ANCHOR: [&str; 1] = ["session.trust_anchor=true"];

fn scenario(changes: &[&str]) -> Scenario {
    let psk = "session.suite=TLS_PSK_WITH_AES_128_CCM_8";
    let changes: Vec<Override> =
        [psk, "session.auth=psk"].iter().chain(changes).map(|change| change.parse().unwrap()).collect();
    Scenario::load(Path::new("../../scenarios/quickstart.toml"), &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn run(changes: &[&str], seeds: std::ops::Range<u64>) -> Vec<Record> {
    let plan = Plan::new(&scenario(changes)).unwrap();
    seeds.flat_map(|seed| plan.run(seed, &mut ())).collect()
}

#[test]
fn handshakes_complete_where_frames_are_lost() {
    let lossy = "lowpan.frame_loss=0.15";
    for (name, help) in [("coap", &IN_COAP[..]), ("anchor", &ANCHOR[..])] {
        let with = |more: &[&str]| run(&[help, more].concat(), 1..5);
        let whole = with(&["lowpan.frame_loss=0"]);
        assert!(whole.iter().all(|record| record.outcome == Outcome::Completed), "{name}");
        assert!(whole.iter().all(|record| record.retransmissions_needed == 0), "{name}: nothing is lost");
        let found = with(&[lossy]);
        assert!(found.iter().filter(|record| record.outcome == Outcome::Completed).count() >= 3, "{name}");
        assert!(found.iter().any(|record| record.retransmissions_needed > 0), "{name}: something is sent again");
        assert_eq!(found, with(&[lossy]), "{name}: the same seeds, the same records");
    }
}

/// An exchange with the anchor is a request and a response more.
#[test]
fn a_trust_anchor_takes_two_datagrams() {
    let datagrams = |changes: &[&str]| run(changes, 1..2)[0].datagrams;
    assert_eq!(datagrams(&ANCHOR), datagrams(&[]) + 2);
}

/// Requests after the handshake: in records, as with DTLS alone.
#[test]
fn requests_go_on_after_the_handshake() {
    for help in [&IN_COAP[..], &ANCHOR] {
        let found = records(
            "coap+dtls1.2",
            &[help, &["session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.credential=psk", "lowpan.frame_loss=0.05"]]
                .concat(),
            1..5,
        );
        let data = found.iter().filter_map(|record| record.data.as_ref());
        assert!(data.filter(|data| data.outcome == Outcome::Completed).count() >= 3, "{help:?}");
    }
}

fn labels(scenario: &Scenario) -> Vec<String> {
    let explanation = explain(scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
    let document = serde_json::to_string(&explanation).unwrap();
    ["CON POST", "ACK 2.04", "with OSCORE", "ClientHello", "with an identity of LESS"]
        .into_iter()
        .filter(|label| document.contains(label))
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_explanation_names_the_messages() {
    assert_eq!(labels(&scenario(&IN_COAP)), ["CON POST", "ACK 2.04"]);
    assert_eq!(labels(&scenario(&ANCHOR)), ["CON POST", "ACK 2.04", "with OSCORE", "ClientHello"]);
    let less = scenario(&["session.protocol=less"]);
    assert_eq!(labels(&less), ["CON POST", "ACK 2.04", "with an identity of LESS"]);
}

/// The path of each request, as tshark reads it from the air.
#[test]
fn tshark_reads_the_messages_that_carry_a_handshake() {
    for (name, changes, path) in [("dtls", &IN_COAP[..], "dtls"), ("less", &["session.protocol=less"], "authorize")] {
        let scenario = scenario(changes);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("helped-{name}.pcapng"));
        capture_run(&scenario, 1, &file, &Interrupt::default()).unwrap().unwrap();
        let tshark = Tshark::of(wireshark_arguments(&scenario)).option("udp.check_checksum:TRUE");
        let rows = tshark.filter("coap.code == 2").rows_of_file(&file, &["udp.checksum.status", "coap.opt.uri_path"]);
        assert!(rows.len() >= 2 && rows.iter().all(|row| row[..] == ["1", path]), "{name}: {rows:?}");
    }
}

/// tshark decrypts the messages that have the compressed certificates (RFC 8879 section 4: type 25, algorithm 1), one of each end,
/// and finds none that are not.
#[test]
fn tshark_reads_compressed_certificates() {
    for protocol in ["tls1.3", "quic"] {
        let scenario = scenario(&[
            "session.stack=rustls",
            "session.max_fragment_length=",
            "session.auth=mutual",
            &format!("session.protocol={protocol}"),
            "session.suite=TLS_AES_128_GCM_SHA256",
            "session.certificate_compression=zlib",
            "session.certificate_length=1500",
        ]);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compressed-{protocol}.pcapng"));
        capture_run(&scenario, 1, &file, &Interrupt::default()).unwrap().unwrap();
        let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("tls.handshake.type");
        let fields = [
            "tls.handshake.type",
            "tls.compress_certificate.algorithm",
            "tls.compress_certificate.uncompressed_length",
        ];
        let rows = tshark.rows_of_file(&file, &fields);
        let all = |column: usize| rows.iter().flat_map(move |row| row[column].split(',')).collect::<Vec<_>>();
        let [types, lengths] = [all(0), all(2)];
        assert_eq!(types.iter().filter(|number| **number == "25").count(), 2, "{protocol}: {rows:?}");
        assert!(!types.contains(&"11"), "{protocol}: {rows:?}");
        // Behind the context and the length of the list, a certificate with its length and without extensions (RFC 8446 section 4.4.2).
        let length = (1 + 3 + 3 + 1500 + 2).to_string();
        assert_eq!(lengths.iter().filter(|found| **found == length).count(), 2, "{protocol}: {rows:?}");
    }
}
