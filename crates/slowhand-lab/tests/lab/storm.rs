//! Storms: a thousand of ten thousand nodes open a session at once. The tests compare costs of one run, without cryptography.
//! `cargo bench -p slowhand-lab --bench storm` has it too.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_testing::processor;
use std::path::Path;
use std::time::Duration;

/// Some worlds of one scenario.
struct Run {
    sessions: usize,
    completed: usize,
    frames: u64,
    spent: Duration,
}

impl Run {
    fn cost_of_a_frame(&self) -> f64 {
        self.spent.as_secs_f64() / self.frames as f64
    }
}

/// The sessions compute nothing, so that the costs are those of network and world.
fn plan(link_layer: &str, nodes: u32, clients: u32, more: &[&str]) -> Plan {
    let mut changes = vec![
        format!("network.topology.nodes={nodes}"),
        format!("client.count={clients}"),
        "session.stack=lean-dtls".to_owned(),
        "session.cryptography=weightless".to_owned(),
    ];
    changes.extend(more.iter().map(|&change| change.to_owned()));
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let file = format!("../../scenarios/storm-{link_layer}.toml");
    Plan::new(&Scenario::load(Path::new(&file), &changes).unwrap()).unwrap()
}

fn run(plan: &Plan, worlds: u64) -> Run {
    let start = processor::time();
    let records: Vec<Record> = (0..worlds).flat_map(|seed| plan.run(seed, &mut ())).collect();
    Run {
        spent: processor::time() - start,
        sessions: records.len(),
        completed: records.iter().filter(|record| record.outcome == Outcome::Completed).count(),
        frames: records.iter().map(|record| record.frames + record.frames_ack).sum(),
    }
}

/// A frame of a storm costs at most twice as much as one among ten nodes, of which one opens a session. Other work of the
/// machine only adds to a cost, so the cheapest run of each counts.
fn assert_costs_no_more(link_layer: &str) -> Run {
    let (calm, storm) = (plan(link_layer, 10, 1, &[]), plan(link_layer, 10_000, 1_000, &[]));
    let cheaper = |one: Run, other: Run| if one.spent < other.spent { one } else { other };
    let (mut small, mut large) = (run(&calm, 1_000), run(&storm, 1));
    for _ in 0..20 {
        if large.cost_of_a_frame() <= 2.0 * small.cost_of_a_frame() {
            break;
        }
        (small, large) = (cheaper(small, run(&calm, 1_000)), cheaper(large, run(&storm, 1)));
    }
    assert_eq!((small.completed, small.sessions, large.sessions), (1_000, 1_000, 1_000));
    let growth = large.cost_of_a_frame() / small.cost_of_a_frame();
    assert!(growth <= 2.0, "a frame of a storm on {link_layer} costs {growth:.2} times one among ten nodes");
    large
}

#[test]
fn on_tsch_all_sessions_of_a_storm_complete() {
    assert_eq!(assert_costs_no_more("tsch").completed, 1_000);
}

/// Sessions that begin in one second also ask again in one second, and collide again. The run ends nevertheless. Within ten
/// minutes nearly all complete.
#[test]
fn on_csma_a_storm_ends_and_sessions_complete_where_they_do_not_begin_at_once() {
    let at_once = assert_costs_no_more("csma");
    let spread = run(&plan("csma", 10_000, 1_000, &["client.start_spread_s=600"]), 1);
    assert!(at_once.completed < 100 && spread.completed > 900, "{} and {}", at_once.completed, spread.completed);
}

/// After the power cut of the scenario, a cookie of mbedTLS (60 s) expires in a queue that takes two minutes, and the answer to it is
/// one more ClientHello. What the scenario and docs/cases/power-cut.md say of the timer of 9 s.
#[test]
fn cookies_that_expire_in_long_queues_keep_a_power_cut_going() {
    let completed = |more: &str| {
        let changes = ["session.timeout_s=9", "session.give_up_s=600", more];
        let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
        let scenario = Scenario::load(Path::new("../../scenarios/power-cut.toml"), &changes).unwrap();
        run(&Plan::new(&scenario).unwrap(), 1).completed
    };
    let [long, short] = ["mac.queue=512", "mac.queue=256"].map(completed);
    assert!(long < 500 && short == 1_000, "{long} with queues of two minutes, {short} with those of 57 s");
}
