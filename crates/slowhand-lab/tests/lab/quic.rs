//! QUIC across the network: its long datagrams, losses, requests, and what Wireshark reads.

use crate::{plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::collections::BTreeSet;
use std::path::Path;

const QUIC: &[&str] = &["session.stack=rustls", "session.protocol=quic", "session.suite=TLS_AES_128_GCM_SHA256"];

fn run(changes: &[&str]) -> Record {
    plan(&[QUIC, changes].concat()).run(1, &mut ()).remove(0)
}

/// A datagram of 1,200 octets is 13 frames and more: 96 octets of each at most carry it (RFC 4944).
#[test]
fn a_handshake_completes_whatever_frame_is_lost() {
    let whole = run(&[]);
    assert_eq!((whole.outcome, whole.retransmissions_spurious), (Outcome::Completed, 0), "{:?}", whole.failure);
    assert!(whole.datagrams >= 4 && whole.bytes_payload > 3 * 1200 && whole.frames > 3 * 13, "{whole:?}");
    for lost in (1..=whole.frames).step_by(5) {
        let record = run(&[&format!("lowpan.dropped_frames=[{lost}]")]);
        assert_eq!(record.outcome, Outcome::Completed, "{lost}: {:?}", record.failure);
        assert!(record.duration_s >= whole.duration_s, "{lost}");
    }
}

/// The probe timeout is as long as the scenario says (RFC 9002 section 6.2). Where there is one buffer for reassembly, as by default,
/// a datagram that has lost a fragment keeps it for 60 s (RFC 4944 section 5.3), and all probes until then are refused.
#[test]
fn the_timeout_is_that_of_the_scenario() {
    let after = |timeout: &str, room: &[&str]| {
        let changes = [&[timeout], room].concat();
        let lossless = run(&changes).duration_s.unwrap();
        run(&[&changes[..], &["lowpan.dropped_frames=[1]"]].concat()).duration_s.unwrap() - lossless
    };
    let of_room = |room: &[&str]| [after("session.timeout_s=6", room), after("session.timeout_s=12", room)];
    let [short, long] = of_room(&["mac.queue=64", "lowpan.reassembly_buffers=8"]);
    assert!((long - short - 6.0).abs() < 1.0 && short < 8.0, "{short} {long}");
    let [short, long] = of_room(&[]);
    assert!(short > 60.0 && long > 60.0, "{short} {long}");
}

/// Requests are answered, although what carries them may be lost: QUIC sends it again.
#[test]
fn requests_are_answered() {
    let whole = run(&["application.requests=3"]);
    for lost in [&[][..], &[whole.frames + 1], &[whole.frames + 2]] {
        let record = run(&["application.requests=3", &format!("lowpan.dropped_frames={lost:?}")]);
        let data = record.data.expect("it has sent requests");
        assert_eq!((record.outcome, data.outcome), (Outcome::Completed, Outcome::Completed), "{lost:?}");
        assert!(data.costs.datagrams >= 6, "{data:?}");
    }
}

#[test]
fn an_explanation_names_the_packets() {
    let explanation = explain(&scenario(QUIC), 1, None, &Interrupt::default()).unwrap().unwrap();
    let names: BTreeSet<_> = explanation.events.iter().map(|event| event.name.as_str()).collect();
    assert!(names.contains("Initial"), "{names:?}");
    // Between them a Handshake packet.
    assert!(names.contains("Initial to 1-RTT") && names.contains("1-RTT"), "{names:?}");
}

/// A server with one slot admits a client by its Initial.
#[test]
fn a_server_with_slots() {
    let record = run(&["server.slots=1"]);
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.failure);
}

/// tshark decrypts all packets with the secrets in the file, and the arguments that we print: both Finished, and the requests.
#[test]
fn tshark_decrypts_a_session() {
    let scenario = scenario(&[QUIC, &["application.requests=1"]].concat());
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quic.pcapng");
    let records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
    assert_eq!(records[0].data.as_ref().unwrap().outcome, Outcome::Completed);
    let tshark = || Tshark::of(wireshark_arguments(&scenario)).option("udp.check_checksum:TRUE");
    let fields = ["udp.checksum.status", "tls.handshake.type", "quic.frame_type", "_ws.malformed"];
    let rows = tshark().filter("quic").rows_of_file(&capture, &fields);
    assert!(rows.iter().all(|row| row[0] == "1" && row[3].is_empty()), "{rows:?}");
    let numbers =
        |column: usize| rows.iter().flat_map(move |row| row[column].split(',')).filter(|text| !text.is_empty());
    // ClientHello, ServerHello, EncryptedExtensions, Certificate, CertificateRequest, CertificateVerify, Finished (RFC 8446
    // section 4).
    assert_eq!(BTreeSet::from_iter(numbers(1)), BTreeSet::from(["1", "2", "8", "11", "13", "15", "20"]));
    assert_eq!(numbers(1).filter(|number| *number == "20").count(), 2);
    // ACK, CRYPTO, HANDSHAKE_DONE, and STREAM with FIN and without an offset (RFC 9000 section 19).
    for frame in ["2", "6", "30"] {
        assert!(numbers(2).any(|number| number == frame), "{frame}: {rows:?}");
    }
    assert!(numbers(2).any(|number| number == "9" || number == "11"), "{rows:?}");
}
