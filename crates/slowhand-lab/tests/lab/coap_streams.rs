//! CoAP over TCP and TLS (RFC 8323): sessions and requests, with losses too, and what Wireshark reads of them. Bodies in blocks (RFC
//! 7959).

use crate::{plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{DataReport, Outcome, Record};
use slowhand_lab::scenario::Scenario;
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

/// Each protocol, with a library that has it.
const PROTOCOLS: [&[&str]; 3] = [
    &["session.protocol=coap+tcp"],
    &["session.protocol=coap+tls1.2", "session.stack=mbedtls"],
    &["session.protocol=coap+tls1.3", "session.stack=mbedtls", "session.suite=TLS_AES_128_CCM_SHA256"],
];

fn run(changes: &[&str], dropped: &[u64]) -> Record {
    let drop = format!("lowpan.dropped_frames={dropped:?}");
    let record = plan(&[changes, &["application.requests=2", &drop]].concat()).run(1, &mut ()).remove(0);
    assert_eq!(record.outcome, Outcome::Completed, "{changes:?}, {dropped:?}: {:?}", record.failure);
    assert_eq!(data(&record).outcome, Outcome::Completed, "{changes:?}, {dropped:?}");
    record
}

#[test]
fn requests_are_answered_whatever_frame_is_lost() {
    for changes in PROTOCOLS {
        let whole = run(changes, &[]);
        let took = |record: &Record| record.duration_s.unwrap() + data(record).duration_s.unwrap();
        let frames = whole.frames + data(&whole).costs.frames;
        // Every frame of the short one; of the handshakes of TLS a few.
        let lost: Vec<u64> = (1..=frames).step_by(1 + frames as usize / 20).collect();
        let later = lost.iter().filter(|frame| took(&run(changes, &[**frame])) > took(&whole)).count();
        // An acknowledgement may be lost without harm: the next one says the same.
        assert!(2 * later > lost.len(), "{changes:?}: {later} of {lost:?}");
    }
}

fn data(record: &Record) -> &DataReport {
    record.data.as_ref().expect("it has sent requests")
}

/// TCP opens with a round trip, and the client's CSM follows its acknowledgement.
#[test]
fn without_tls_a_session_is_a_connection_with_a_csm() {
    let record = plan(&[PROTOCOLS[0]].concat()).run(1, &mut ()).remove(0);
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.data.is_none());
    assert!(record.duration_s.unwrap() < 1.0, "{:?}", record.duration_s);
}

#[test]
fn an_explanation_names_what_is_written() {
    let scenario = scenario(PROTOCOLS[0]);
    let explanation = explain(&scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
    let names: Vec<_> = explanation.events.iter().map(|event| event.name.as_str()).collect();
    assert!(names.contains(&"SYN") && names.contains(&"CSM"), "{names:?}");
}

/// 7.01, 0.02, 2.04 (RFC 8323 section 11.1, RFC 7252 section 12.1).
#[test]
fn tshark_reads_the_messages_in_the_stream() {
    for changes in &PROTOCOLS[..2] {
        let changes = [changes, &["application.requests=1", "session.server_port=7777"][..]].concat();
        let scenario = scenario(&changes);
        let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coap-stream.pcapng");
        capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
        let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("coap");
        let rows = tshark.rows_of_file(&capture, &["coap.code", "_ws.malformed"]);
        let codes: Vec<_> = rows.iter().flat_map(|row| row[0].split(',')).collect();
        assert_eq!(codes.iter().filter(|code| **code == "225").count(), 2, "{changes:?}: {rows:?}");
        assert!(codes.contains(&"2") && codes.contains(&"68"), "{changes:?}: {rows:?}");
        // Wireshark 4.0 takes the options of a CSM for those of a request, which are others.
        let others = rows.iter().filter(|row| row[0] != "225");
        assert!(others.map(|row| &row[1]).all(String::is_empty), "{changes:?}: {rows:?}");
    }
}

/// The payload of such a request has 289 octets: five blocks of 64, each with an answer.
#[test]
fn long_requests_go_in_blocks() {
    let of = |protocol: &str, block: u32| {
        let changes = [
            "application.requests=1",
            "application.request_bytes=300",
            protocol,
            &format!("session.coap.block_bytes={block}"),
        ];
        let record = plan(&changes).run(1, &mut ()).remove(0);
        assert_eq!(data(&record).outcome, Outcome::Completed, "{changes:?}: {:?}", record.failure);
        data(&record).costs.datagrams
    };
    for protocol in ["session.protocol=coap", "session.protocol=oscore"] {
        assert_eq!([of(protocol, 1_024), of(protocol, 64)], [2, 10], "{protocol}");
    }
    let changes = ["session.coap.block_bytes=100".parse().unwrap()];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/one-hop.toml");
    let error = Scenario::load(&file, &changes).unwrap_err().to_string();
    assert!(error.contains("session.coap.block_bytes: found 100, allowed: 16, 32, 64, 128"), "{error}");
}
