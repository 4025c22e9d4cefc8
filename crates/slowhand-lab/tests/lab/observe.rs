//! Observe (RFC 7641): runs in which a client asks once, and the server sends what it has by itself.

use crate::coap::records;
use crate::{plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{DataReport, Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

/// Four answers, one each ten seconds.
const OBSERVE: [&str; 2] = ["application.requests=4", "application.observe.period_s=10"];
const ONCE: &str = "application.observe.confirmable=false";
const LOSSLESS: &str = "network.link_pdr=1.0";

fn data(record: &Record) -> &DataReport {
    record.data.as_ref().expect("it has asked")
}

fn observed(protocol: &str, changes: &[&str], seeds: std::ops::Range<u64>) -> Vec<Record> {
    records(protocol, &[&OBSERVE, changes].concat(), seeds)
}

/// A request and a response of 40 octets have 1 and 2 more with Observe (RFC 7641 section 2); an acknowledgement has 4. What protects
/// them adds what it adds to requests and responses (`requests_have_the_octets_of_their_protection`); OSCORE has an empty Observe inside,
/// and a Partial IV in notifications (RFC 8613 sections 4.1.3.5 and 6.1: two octets). Each acknowledgement is a record of its own; in DTLS 1.3 it
/// is padded to the 16 octets that hide its number (RFC 9147 section 4.2.3).
#[test]
fn notifications_have_the_octets_of_their_protection() {
    let of = |protocol: &str, change: &str| {
        let record = observed(protocol, &[LOSSLESS, change], 1..2).remove(0);
        let data = data(&record);
        assert_eq!((record.outcome, data.outcome), (Outcome::Completed, Outcome::Completed), "{protocol}");
        let took = data.duration_s.unwrap();
        assert!((30.0..32.0).contains(&took), "{protocol}: {took} s for three periods");
        [data.costs.datagrams, data.costs.bytes_payload]
    };
    let confirmable = "application.observe.confirmable=true";
    for (protocol, request, response, notification, acknowledgement) in [
        ("coap", 0, 0, 0, 0),
        ("oscore", 13 + 1, 11 + 1, 11 + 1 + 2, 0),
        ("edhoc", 14 + 1, 11 + 1, 11 + 1 + 2, 0),
        ("coap+dtls1.2", 29, 29, 29, 29),
        ("coap+dtls1.3", 11, 11, 11, 11 + 3),
    ] {
        let first = 41 + request + 42 + response;
        assert_eq!(of(protocol, ONCE), [5, first + 3 * (42 + notification)], "{protocol}");
        let each = 42 + notification + 4 + acknowledgement;
        assert_eq!(of(protocol, confirmable), [8, first + 3 * each], "{protocol}");
    }
}

#[test]
fn confirmable_notifications_come_whatever_is_lost() {
    for protocol in ["coap", "oscore", "edhoc", "coap+dtls1.2", "coap+dtls1.3"] {
        // A handshake may take minutes.
        let lossy = ["lowpan.frame_loss=0.1", "application.observe.period_s=60", "session.give_up_s=900"];
        let found = observed(protocol, &lossy, 1..11);
        let data: Vec<_> = found.iter().filter_map(|record| record.data.as_ref()).collect();
        // A long flight of DTLS may be lost too often.
        assert!(data.len() >= 8, "{protocol}: {} of 10 handshakes", data.len());
        let datagrams: Vec<_> = data.iter().filter(|data| data.outcome == Outcome::Completed).collect();
        assert!(datagrams.len() + 1 >= data.len(), "{protocol}: {} of {}", datagrams.len(), data.len());
        assert!(datagrams.iter().any(|data| data.costs.datagrams > 8), "{protocol}: something is sent again");
        assert_eq!(found, observed(protocol, &lossy, 1..11), "{protocol}: the same seeds, the same records");
    }
}

/// They are sent once: a run whose client has not got all of them says so.
#[test]
fn notifications_that_are_not_confirmable_may_be_lost() {
    let lossy = [ONCE, "lowpan.frame_loss=0.1", "session.give_up_s=60"];
    let found = observed("coap", &lossy, 1..21);
    let outcomes: Vec<_> = found.iter().map(|record| data(record).outcome).collect();
    assert!(outcomes.contains(&Outcome::Completed) && outcomes.contains(&Outcome::GaveUp), "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| [Outcome::Completed, Outcome::GaveUp].contains(outcome)), "{outcomes:?}");
}

#[test]
fn a_client_observes_over_a_stream() {
    let tls = ["session.stack=mbedtls", "session.suite=TLS_AES_128_CCM_SHA256"];
    for changes in [&["session.protocol=coap+tcp"][..], &[&["session.protocol=coap+tls1.3"][..], &tls].concat()] {
        let without = [&OBSERVE, changes].concat();
        let whole = plan(&without).run(1, &mut ()).remove(0);
        assert_eq!((whole.outcome, data(&whole).outcome), (Outcome::Completed, Outcome::Completed), "{changes:?}");
        assert!(data(&whole).duration_s.unwrap() >= 30.0);
        // The last notification, or what acknowledges it, is lost: TCP sends it again.
        let frames = whole.frames + data(&whole).costs.frames;
        for frame in frames - 3..=frames {
            let dropped = format!("lowpan.dropped_frames=[{frame}]");
            let record = plan(&[&without[..], &[&dropped]].concat()).run(1, &mut ()).remove(0);
            assert_eq!(data(&record).outcome, Outcome::Completed, "{changes:?}, {frame}");
        }
    }
}

#[test]
fn an_explanation_names_who_observes() {
    for (protocol, request) in [("coap", "CON FETCH to observe"), ("oscore", "CON FETCH to observe with OSCORE")] {
        let protocol = format!("session.protocol={protocol}");
        let scenario = scenario(&[&OBSERVE[..], &[&protocol]].concat());
        let explanation = explain(&scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
        let names: Vec<_> = explanation.events.iter().map(|event| event.name.as_str()).collect();
        assert!(names.contains(&request), "{protocol}: {names:?}");
    }
}

/// The third frame has the first notification.
#[test]
fn a_capture_names_a_notification_that_is_lost() {
    for (protocol, name) in [("coap", "NON 2.05 notification"), ("oscore", "NON 2.05 notification with OSCORE")] {
        let protocol = format!("session.protocol={protocol}");
        let changes = [ONCE, &protocol, "lowpan.dropped_frames=[3]", "session.give_up_s=40"];
        let scenario = scenario(&[&OBSERVE[..], &changes].concat());
        let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("observe-lost.pcapng");
        let records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(data(&records[0]).outcome, Outcome::GaveUp, "{protocol}");
        let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("frame.comment");
        let comments = tshark.rows_of_file(&capture, &["frame.comment"]).concat().join("; ");
        assert!(comments.contains(&format!("{name} was dropped")), "{protocol}: {comments}");
    }
}

/// FETCH and 2.05 (RFC 8132 section 8, RFC 7252 section 12.1) with the values of Observe; inside OSCORE the same codes.
#[test]
fn tshark_reads_notifications() {
    let read = |protocol: &str, fields: &[&str]| {
        let own = format!("session.protocol={protocol}");
        let scenario = scenario(&[&OBSERVE[..], &[&own]].concat());
        let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("observe-{protocol}.pcapng"));
        let records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(data(&records[0]).outcome, Outcome::Completed);
        let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("coap && coap.code != 0 && coap.code != 225");
        let rows = tshark.rows_of_file(&capture, fields);
        rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>()
    };
    let fields = ["coap.type", "coap.code", "coap.opt.observe", "_ws.malformed"];
    assert_eq!(read("coap", &fields), ["0 5 0 ", "2 69 1 ", "0 69 2 ", "0 69 3 ", "0 69 4 "]);
    let fields = ["coap.code", "coap.opt.observe", "oscore.code", "oscore.payload_length"];
    assert_eq!(read("oscore", &fields)[1..], ["69 1 69 3", "69 2 69 3", "69 3 69 3", "69 4 69 3"]);
    assert_eq!(read("coap+tcp", &["coap.code"]), ["5", "69", "69", "69", "69"]);
}

#[test]
fn what_cannot_be_observed_is_named() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/one-hop.toml");
    for (changes, said) in [
        (
            &["session.protocol=tls1.2", "session.stack=mbedtls"][..],
            "application.observe: found a resource to observe, allowed: none with tls1.2",
        ),
        (&["application.requests=0"], "none without application.requests"),
        (&["application.pattern=periodic", "application.period_s=60"], "none with application.pattern"),
        (
            &["application.observe.period_s=100"],
            "application.observe.period_s: found 100, allowed: less than 100: all 3",
        ),
        (&[ONCE, "application.observe.period_s=2"], "application.observe.period_s: found 2, allowed: 3 or more"),
        (
            &["application.response_bytes=74", "session.coap.block_bytes=64"],
            "application.response_bytes: found 74, allowed: at most 73",
        ),
        (
            &["application.request_bytes=76", "session.coap.block_bytes=64"],
            "application.request_bytes: found 76, allowed: at most 75",
        ),
    ] {
        let changes = [&OBSERVE[..], &["session.protocol=coap"], changes].concat();
        let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
        let error = Scenario::load(&file, &changes).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
