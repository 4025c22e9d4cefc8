//! Sessions of DTLS over DCCP (RFC 5238).

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_net::drop_reason::DropReason;

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

#[test]
fn small_datagrams_wait_for_the_window_and_the_queue_may_be_too_short() {
    let small = ["session.mtu=256", DCCP];
    let record = run(MBEDTLS_ECDHE, &small);
    assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0));
    let narrow = run(MBEDTLS_ECDHE, &[small[0], DCCP, "transport.dccp.initial_window=1"]);
    assert_eq!(narrow.outcome, Outcome::Completed);
    assert!(narrow.duration_s > record.duration_s, "a flight takes round trips");
    let short = run(MBEDTLS_ECDHE, &[small[0], DCCP, "transport.dccp.initial_window=1", "transport.dccp.send_queue=1"]);
    assert!(short.losses.iter().any(|loss| loss.reason == DropReason::SendQueueFull), "{:?}", short.losses);
    assert!(short.outcome == Outcome::Completed && short.retransmissions_needed > 0, "{short:?}");
    let at_once = run(MBEDTLS_PSK, &[DCCP, "transport.dccp.ack_ratio=1"]);
    assert_eq!(at_once.outcome, Outcome::Completed);
    assert!(at_once.datagrams > run(MBEDTLS_PSK, &[DCCP]).datagrams, "more acknowledgements");
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
