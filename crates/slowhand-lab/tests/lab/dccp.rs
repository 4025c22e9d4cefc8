//! Sessions of DTLS over DCCP (RFC 5238).

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::life::{DAY_S, simulate};
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_net::drop_reason::DropReason;
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

const DCCP: &str = "session.carrier=dccp";
const LEAN_13: &[&str] = &[
    "session.stack=lean-dtls",
    "session.protocol=dtls1.3",
    "session.suite=TLS_AES_128_CCM_8_SHA256",
    "session.auth=psk",
];

fn run(changes: &[&str], more: &[&str]) -> Record {
    plan(&[changes, more].concat()).run(1, &mut ()).remove(0)
}

/// The connection opens first: a Request and a Response, and then the same messages with more octets and acknowledgements.
#[test]
fn the_same_messages_with_a_round_trip_before_them() {
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK, MBEDTLS_ECDHE, OPENSSL_ECDHE, LEAN_13] {
        let (udp, dccp) = (run(changes, &[]), run(changes, &[DCCP]));
        assert_eq!((udp.outcome, dccp.outcome), (Outcome::Completed, Outcome::Completed), "{changes:?}");
        assert_eq!(dccp.bytes_payload, udp.bytes_payload, "{changes:?}");
        assert_eq!((dccp.retransmissions_needed, dccp.retransmissions_spurious), (0, 0), "{changes:?}");
        assert!(dccp.datagrams >= udp.datagrams + 2 && dccp.bytes_phy > udp.bytes_phy, "{changes:?}");
        assert!(dccp.duration_s > udp.duration_s, "{changes:?}");
        assert_eq!(dccp, run(changes, &[DCCP]), "the same bits");
    }
}

/// The timer of DTLS repairs what DCCP does not, and the connection what DTLS does not see.
#[test]
fn every_single_frame_may_be_lost() {
    for changes in [MBEDTLS_PSK, LEAN_13] {
        let lossless = run(changes, &[DCCP]);
        for frame in 1..=lossless.frames {
            let dropped = format!("lowpan.dropped_frames=[{frame}]");
            let record = run(changes, &[DCCP, &dropped]);
            assert_eq!(record.outcome, Outcome::Completed, "{changes:?}, frame {frame}: {:?}", record.failure);
            assert_eq!(record.datagrams_lost, 1, "{changes:?}, frame {frame}");
            assert!(record.retransmissions_needed <= 4, "{changes:?}, frame {frame}: {record:?}");
        }
    }
}

/// Frame 1 is the Request, frame 2 the Response.
#[test]
fn packets_that_open_the_connection_again_are_counted() {
    let repeated = |more: &[&str]| {
        let record = run(MBEDTLS_PSK, &[&[DCCP], more].concat());
        assert_eq!(record.outcome, Outcome::Completed, "{more:?}");
        (record.retransmissions_needed, record.retransmissions_spurious, record.retransmissions_spurious_server)
    };
    assert_eq!(repeated(&[]), (0, 0, 0));
    assert_eq!(repeated(&["lowpan.dropped_frames=[1]"]), (1, 0, 0));
    // The Request had arrived. The server answers its copy with a Response that is needed.
    assert_eq!(repeated(&["lowpan.dropped_frames=[2]"]), (1, 1, 0));
    let slow = ["network.frame_handling_ms=400", "transport.dccp.initial_rto_s=0.3", "session.timeout_s=60"];
    let (needed, spurious, of_server) = repeated(&slow);
    assert!(needed == 0 && spurious > of_server, "{needed} {spurious} {of_server}");
}

#[test]
fn small_datagrams_wait_for_the_window_and_the_queue_may_be_too_short() {
    let small = ["session.mtu=256", DCCP];
    let record = run(MBEDTLS_ECDHE, &small);
    assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0));
    let narrow = run(MBEDTLS_ECDHE, &[small[0], DCCP, "transport.dccp.initial_window=1"]);
    assert_eq!(narrow.outcome, Outcome::Completed);
    assert!(narrow.duration_s > record.duration_s, "a flight takes round trips");
    // The end of a long flight is lost each time: nothing else goes in between, and the handshake never completes.
    let short = run(MBEDTLS_ECDHE, &[small[0], DCCP, "transport.dccp.initial_window=1", "transport.dccp.send_queue=1"]);
    assert_eq!(short.outcome, Outcome::TimedOut);
    let of = |reason| short.losses.iter().filter(|loss| loss.reason == reason).map(|loss| loss.count).sum::<u64>();
    assert!(of(DropReason::SendQueueFull) > 0, "{:?}", short.losses);
    assert_eq!(of(DropReason::SendQueueFull) + of(DropReason::ConnectionClosed), short.datagrams_lost);
    let at_once = run(MBEDTLS_PSK, &[DCCP, "transport.dccp.ack_ratio=1"]);
    assert_eq!(at_once.outcome, Outcome::Completed);
    assert!(at_once.datagrams > run(MBEDTLS_PSK, &[DCCP]).datagrams, "more acknowledgements");
}

/// Packets overtake each other on the Internet, and frames whose acknowledgement is lost are sent twice.
#[test]
fn overtaking_repeated_frames_and_losses_change_nothing_but_time() {
    let hard = [
        "session.mtu=256",
        "server.at=internet",
        "network.link_pdr=0.9",
        "network.ack_pdr=0.7",
        "server.internet_jitter_ms=200",
        "server.internet_loss=0.05",
        DCCP,
    ];
    for changes in [MBEDTLS_ECDHE, LEAN_13] {
        let plan = plan(&[changes, &hard].concat());
        let records: Vec<Record> = (1..=4).flat_map(|seed| plan.run(seed, &mut ())).collect();
        for record in &records {
            assert_eq!(record.outcome, Outcome::Completed, "{changes:?}, {}: {:?}", record.seed, record.failure);
            let lost: u64 = record.losses.iter().map(|loss| loss.count).sum();
            assert_eq!(lost, record.datagrams_lost, "{changes:?}, {}", record.seed);
        }
        assert!(records.iter().any(|record| record.duration_s > run(changes, &[DCCP]).duration_s), "{changes:?}");
    }
}

/// A session that closes takes its connection with it, and the next session opens its own.
#[test]
fn sessions_that_close_open_again() {
    let day = |more: &[&str]| {
        let asking = ["application.pattern=periodic", "application.period_s=3600", "application.session=anew"];
        let scenario = scenario(&[MBEDTLS_PSK, &asking, more].concat());
        simulate(&scenario, None, DAY_S / 4.0, 1, &Interrupt::default()).unwrap()
    };
    let (udp, dccp) = (day(&[]), day(&[DCCP]));
    assert!(udp.counts.requests >= 5, "{:?}", udp.counts);
    for life in [&udp, &dccp] {
        let counts = life.counts;
        assert_eq!((counts.failed, counts.handshakes_failed), (0, 0));
        assert_eq!(counts.handshakes_full, counts.requests);
    }
    assert_eq!(dccp.counts.requests, udp.counts.requests);
    assert!(dccp.octets > udp.octets, "{} and {}", dccp.octets, udp.octets);
    assert_eq!(dccp, day(&[DCCP]), "the same bits");
}

#[test]
fn an_end_that_hears_nothing_gives_up_in_the_words_of_dccp() {
    let all: Vec<u64> = (1..=100).collect();
    let record = run(MBEDTLS_PSK, &[DCCP, &format!("lowpan.dropped_frames={all:?}")]);
    assert_eq!(record.outcome, Outcome::TimedOut);
    assert_eq!(record.failure.unwrap().reason, "DCCP connection timed out: the peer does not answer");
}

#[test]
fn an_explanation_names_the_packets_and_the_timers() {
    let scenario = scenario(&[MBEDTLS_PSK, &[DCCP, "lowpan.dropped_frames=[1]"]].concat());
    let explanation = explain(&scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
    let names: Vec<&str> = explanation.events.iter().map(|event| event.name.as_str()).collect();
    for name in ["DCCP-Request", "DCCP-Response", "ClientHello", "DCCP timer, due"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(explanation.parts.iter().any(|part| part.kind == "dccp"), "{:?}", explanation.parts);
    assert!(explanation.parts.iter().all(|part| part.kind != "other"), "{:?}", explanation.parts);
}

/// The arguments that we print are enough. Wireshark 4.0 knows no DTLS over DCCP: a datagram of it is data.
#[test]
fn tshark_reads_the_packets_of_a_capture() {
    let scenario = scenario(&[MBEDTLS_PSK, &[DCCP, "session.mtu=256"]].concat());
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dccp.pcapng");
    let record = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap().remove(0);
    assert_eq!(record.outcome, Outcome::Completed);
    let tshark = Tshark::of(wireshark_arguments(&scenario)).option("dccp.check_checksum:TRUE").filter("dccp");
    let rows = tshark.rows_of_file(&capture, &["dccp.checksum.status", "dccp.type", "data.data", "ipv6.tclass.ecn"]);
    assert_eq!(rows.len() as u64, record.datagrams, "one hop");
    assert!(rows.iter().all(|row| row[0] == "1"), "a checksum is wrong: {rows:?}");
    let of_type = |kind: &str| rows.iter().filter(|row| row[1] == kind).count();
    assert_eq!((of_type("0"), of_type("1")), (1, 1));
    // Records of DTLS 1.2 or 1.0 (the first ClientHello), and what stands in front of them has none.
    let is_dtls = |row: &&Vec<String>| ["16fefd", "16feff", "14fefd"].iter().any(|start| row[2].starts_with(start));
    let octets: usize = rows.iter().filter(is_dtls).map(|row| row[2].len() / 2).sum();
    assert_eq!(octets as u64, record.bytes_payload);
    let opens = |row: &Vec<String>| ["0", "1"].contains(&row[1].as_str());
    assert!(rows.iter().all(|row| (row[3] == "2") != opens(row)), "ECT(0): {rows:?}");
}
