//! Clients that try again after a handshake that failed.

use crate::{MBEDTLS_PSK, MBEDTLS_PSK_TLS, plan, scenario};
use slowhand_lab::explanation::explain;
use slowhand_lab::inspect::inspect;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::summary::summarise;

/// Two seconds for an attempt, which is less than the library's timer, and five until the next one: a multiple of the
/// slotframe of 0.1 s, so that each attempt meets the same cells.
const AGAIN: &[&str] = &["session.give_up_s=2", "application.retry={ kind = \"fixed\", wait_s = 5, jitter = 0 }"];

/// The first frame of the client's ClientHello is lost.
const FIRST_LOST: &str = "lowpan.dropped_frames=[1]";

fn run(changes: &[&[&str]]) -> Record {
    plan(&changes.concat()).run(1, &mut ()).remove(0)
}

#[test]
fn a_record_has_all_attempts_and_the_waits_between_them() {
    // Over TCP the SYN is sent again after 1 s, and is lost again.
    for (session, lost, datagrams) in
        [(MBEDTLS_PSK, FIRST_LOST, 1), (MBEDTLS_PSK_TLS, "lowpan.dropped_frames=[1, 2]", 2)]
    {
        let alone = run(&[session]);
        let again = run(&[session, AGAIN, &[lost]]);
        assert_eq!((alone.attempts, again.attempts, again.outcome), (1, 2, Outcome::Completed), "{session:?}");
        let duration = |record: &Record| (record.duration_s.unwrap() * 1e6).round();
        assert_eq!(duration(&again), 7e6 + duration(&alone), "{session:?}");
        assert_eq!((again.start_s, again.end_s), (0.0, again.duration_s.unwrap()));
        let sent = again.datagrams - alone.datagrams;
        assert_eq!((sent, again.datagrams_lost), (datagrams, datagrams), "{session:?}");
        assert!(again.frames > alone.frames, "{session:?}");
    }
}

#[test]
fn the_energy_is_that_of_the_node_from_the_first_attempt_on() {
    let changes = [MBEDTLS_PSK, AGAIN, &[FIRST_LOST, "client.device=openmote-cc2538"]].concat();
    let inspection = inspect(&scenario(&changes), 1, &Interrupt::default()).unwrap().unwrap();
    // The world begins with the first attempt and ends with the last one.
    let (record, node) = (&inspection.records[0], &inspection.nodes[1]);
    assert!((record.energy_client.total_mj() - node.energy.total_mj()).abs() < 1e-9 * node.energy.total_mj());
    assert!((record.compute_client_s - node.computed.as_secs_f64()).abs() < 1e-9, "{record:?}");
    assert!(record.compute_client_s > 0.0 && record.energy_client.sleep_mj > 0.0);
}

#[test]
fn a_client_gives_up_for_good() {
    let all: Vec<u64> = (1..=100).collect();
    let (dropped, retry) = (
        format!("lowpan.dropped_frames={all:?}"),
        "application.retry={ kind = \"exponential\", first_s = 2, longest_s = 3, jitter = 0, attempts = 4 }",
    );
    let record = run(&[MBEDTLS_PSK, &["session.give_up_s=2", retry, &dropped]]);
    assert_eq!((record.outcome, record.attempts, record.duration_s), (Outcome::GaveUp, 4, None));
    // Four attempts of 2 s, and the waits: 2 s, then at most 3 s.
    assert_eq!((record.start_s, record.end_s), (0.0, 4.0 * 2.0 + 2.0 + 3.0 + 3.0));
    assert_eq!((record.datagrams, record.datagrams_lost), (4, 4), "one ClientHello an attempt");
}

#[test]
fn who_does_not_fail_has_the_same_record() {
    let losses = ["network.link_pdr=0.6", "mac.max_retries=1", "session.give_up_s=10", "session.timeout_s=1"];
    let changes = [MBEDTLS_PSK, &losses].concat();
    let without = plan(&changes);
    let with = plan(&[&changes[..], &["application.retry={ kind = \"fixed\", wait_s = 5 }"]].concat());
    let [mut failed, mut retried] = [0, 0];
    for seed in 1..=40 {
        let [without, with] = [&without, &with].map(|plan| plan.run(seed, &mut ()).remove(0));
        match without.outcome {
            Outcome::Completed => assert_eq!(without, with, "seed {seed}"),
            _ => {
                failed += 1;
                retried += u64::from(with.outcome == Outcome::Completed && with.attempts > 1);
                assert_eq!(without.start_s, with.start_s, "seed {seed}");
            }
        }
    }
    assert!(failed >= 5 && 2 * retried > failed, "{retried} of {failed}");
}

#[test]
fn an_explanation_says_that_there_were_attempts() {
    let changes = [MBEDTLS_PSK, AGAIN, &["lowpan.dropped_frames=[1, 3]"]].concat();
    let explanation = explain(&scenario(&changes), 1, None, &Interrupt::default()).unwrap().unwrap();
    let record = plan(&changes).run(1, &mut ()).remove(0);
    assert_eq!((record.attempts, explanation.attempts), (3, 3));
    assert_eq!((explanation.start_s, Some(explanation.duration_s)), (0.0, record.duration_s));
    let of = |kind: &str| explanation.parts.iter().filter(|part| part.kind == kind).map(|part| part.microseconds).sum();
    let [attempts, waits]: [u64; 2] = ["attempt", "again"].map(of);
    assert_eq!((attempts, waits), (4_000_000, 10_000_000));
    let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
    assert_eq!(sum as f64 / 1e6, explanation.duration_s);
    assert!(explanation.summary.contains("before this one, which failed: gave_up"), "{}", explanation.summary);
}

#[test]
fn the_makespan_is_that_of_the_slowest_client() {
    let changes = [
        MBEDTLS_PSK,
        &[
            "network.topology={ kind = \"star\", leaves = 3 }",
            "client.start_spread_s=10",
            "mac.schedule=[]",
            "mac.autonomous=true",
            "mac.slotframe=11",
            "mac.cells={ shared = 1 }",
        ],
    ]
    .concat();
    let scenario = scenario(&changes);
    let worlds: Vec<Vec<Record>> = (1..=3).map(|seed| plan(&changes).run(seed, &mut ())).collect();
    let expected: Vec<f64> = worlds
        .iter()
        .map(|world| {
            let start = world.iter().map(|record| record.start_s).fold(f64::INFINITY, f64::min);
            world.iter().map(|record| record.end_s).fold(0.0, f64::max) - start
        })
        .collect();
    let makespan = summarise(&scenario, worlds.iter().flatten()).makespan.unwrap();
    assert_eq!((makespan.worlds, makespan.completed), (3, 3));
    assert!((makespan.makespan_s.mean - expected.iter().sum::<f64>() / 3.0).abs() < 1e-9);
    assert_eq!(makespan.makespan_s.max, expected.iter().copied().fold(0.0, f64::max));
    let [first, ..] = &worlds[..] else { panic!("three worlds") };
    assert!(summarise(&scenario, &first[..1]).makespan.is_none(), "one client has none");
}
