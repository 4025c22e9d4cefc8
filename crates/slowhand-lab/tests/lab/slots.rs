//! Servers that hold few sessions.

use crate::every_session;
use slowhand_lab::capacity::Engset;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use std::collections::BTreeSet;
use std::path::Path;

fn plan(changes: &[&str]) -> Plan {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/star.toml");
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(&scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// The records of a world, in the order in which the clients began.
fn run(plan: &Plan, seed: u64) -> Vec<Record> {
    let mut records = plan.run(seed, &mut ());
    records.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    records
}

fn outcomes(records: &[Record]) -> Vec<Outcome> {
    records.iter().map(|record| record.outcome).collect()
}

/// The words of a record about its slot.
fn reason(record: &Record) -> &str {
    record.failure.as_ref().map_or("", |failure| &failure.reason)
}

const TAKEN: &str = "the session slot is taken";
const GIVEN: &str = "its session slot was given to another client";

#[test]
fn every_library_refuses_and_evicts() {
    use Outcome::{Completed, Evicted, Refused};
    let mut tried = BTreeSet::new();
    for session in every_session() {
        let (stack, protocol) = (session.changes[0].clone(), session.changes[1].clone());
        if !tried.insert((stack, protocol)) {
            continue;
        }
        let changes: Vec<&str> = session.changes.iter().map(String::as_str).chain(["server.slots=1"]).collect();
        let with = |more: &str| {
            let records = run(&plan(&[&changes[..], &[more]].concat()), 1);
            assert!(records[0].end_s < records[1].start_s, "{}: {records:?}", session.keys);
            records
        };
        let refuse = with("server.policy=refuse");
        assert_eq!((outcomes(&refuse), reason(&refuse[1])), (vec![Completed, Refused], TAKEN), "{}", session.keys);
        let evict = with("server.policy=evict-oldest");
        assert_eq!((outcomes(&evict), reason(&evict[0])), (vec![Evicted, Completed], GIVEN), "{}", session.keys);
        let closed = with("server.session_s=0.001");
        assert_eq!(outcomes(&closed), [Completed, Completed], "{}", session.keys);
    }
    assert!(tried.len() >= 9, "{tried:?}");
}

#[test]
fn enough_slots_change_nothing() {
    let leaves = "network.topology.leaves=6";
    let [without, with] = [&[leaves][..], &[leaves, "server.slots=6"]].map(plan);
    for seed in 1..=3 {
        assert_eq!(without.run(seed, &mut ()), with.run(seed, &mut ()));
    }
}

#[test]
fn who_tries_again_gets_a_slot_when_one_is_free() {
    let retried = |policy: &str, wait_s: u32| {
        let policy = format!("server.policy={policy}");
        let retry = format!("application.retry={{ kind = \"fixed\", wait_s = {wait_s}, attempts = 100 }}");
        let plan = plan(&["network.topology.leaves=8", "server.slots=2", "server.session_s=20", &policy, &retry]);
        let records = plan.run(1, &mut ());
        assert_eq!(records, plan.run(1, &mut ()), "the same bits");
        let attempts: u64 = records.iter().map(|record| record.attempts).sum();
        (records.iter().filter(|record| record.outcome == Outcome::Completed).count(), attempts)
    };
    for (policy, wait_s) in [("refuse", 5), ("evict-oldest", 60)] {
        let (completed, attempts) = retried(policy, wait_s);
        assert!(completed == 8 && attempts > 12, "{completed} in {attempts} attempts, {policy}");
    }
    // Who is evicted comes back before the sessions of the others end, and evicts one of them.
    let (completed, attempts) = retried("evict-oldest", 5);
    assert!(completed < 8 && attempts > 100, "{completed} in {attempts} attempts");
}

/// Half-open: nothing from the server arrives at node 1 any more. The server has a slot for it all the same.
#[test]
fn a_half_open_session_holds_its_slot_for_its_time() {
    let silent = "network.changes=[{ at_s = 0.001, from = 1, to = 0, pdr = 1, reverse_pdr = 0 }]";
    let plan =
        plan(&["server.slots=1", "server.half_open_s=10", "session.cookie=false", "session.timeout_s=9", silent]);
    let [mut refused, mut completed] = [0, 0];
    for seed in 1..=30 {
        let records = plan.run(seed, &mut ());
        assert_ne!(records[0].outcome, Outcome::Completed, "{records:?}");
        // When the second client asks, a slot of the first one is at most so old.
        let gap = records[1].start_s - records[0].start_s;
        match (gap > 0.1, gap > 10.0) {
            (true, false) => {
                refused += 1;
                assert_eq!(records[1].outcome, Outcome::Refused, "seed {seed}");
            }
            (true, true) => {
                completed += 1;
                assert_eq!(records[1].outcome, Outcome::Completed, "seed {seed}");
            }
            _ => assert_eq!(records[1].outcome, Outcome::Completed, "seed {seed}: it was the first"),
        }
    }
    assert!(refused > 3 && completed >= 3, "{refused} and {completed}");
}

/// The handshake takes half a second at least: the second client comes in the middle of it.
#[test]
fn a_half_open_session_can_lose_its_slot() {
    let changes = ["server.slots=1", "server.policy=evict-oldest", "client.start_spread_s=0.4", "server.at=internet"];
    let plan = plan(&[&changes[..], &["server.internet_delay_ms=200"]].concat());
    let records = run(&plan, 1);
    assert_eq!((outcomes(&records), reason(&records[0])), (vec![Outcome::Evicted, Outcome::Completed], GIVEN));
    assert_eq!(records[0].end_s - records[0].start_s, 5.0, "its client waits for an answer until it gives up");
}

/// Many clients ask once each, at random: the limit of Engset's formula in which it is Erlang's.
#[test]
fn a_world_refuses_as_often_as_the_formula_says() {
    const CLIENTS: u32 = 300;
    let (worlds, session_s, spread_s) = (20, 60.0, 12_000.0);
    let plan = plan(&[
        &format!("network.topology.leaves={CLIENTS}"),
        &format!("client.start_spread_s={spread_s}"),
        &format!("server.session_s={session_s}"),
        "server.slots=2",
        "session.cryptography=weightless",
        "session.timeout_s=9", // nobody asks twice
    ]);
    let rho = session_s / spread_s;
    let expected = Engset { slots: 2, clients: CLIENTS, rho }.call_congestion();
    let refused_in = |seed| {
        let mut records = plan.run(seed, &mut ());
        records.retain(|record| record.start_s > session_s); // the server is empty in the beginning
        let refused = records.iter().filter(|record| record.outcome == Outcome::Refused).count();
        let completed = records.iter().filter(|record| record.outcome == Outcome::Completed).count();
        assert_eq!(refused + completed, records.len());
        refused as f64 / records.len() as f64
    };
    let shares: Vec<f64> = (0..worlds).map(refused_in).collect();
    let mean = shares.iter().sum::<f64>() / worlds as f64;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (worlds - 1) as f64;
    let error = (variance / worlds as f64).sqrt();
    // Three standard errors of twenty worlds: a chance of 1 in 140 to fail rightly, once, for the seeds are fixed.
    assert!((mean - expected).abs() < 3.0 * error && error < 0.01, "{mean} ± {error}, the formula says {expected}");
}
