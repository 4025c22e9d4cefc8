//! What a frame costs as the network grows: a power cut ends and every leaf of a tree opens a session within a minute.
//!
//! `cargo bench -p slowhand-lab --bench power_cut` prints, for trees of 15 and of 1,111 nodes in one run, how long one core
//! takes for a frame, cryptography and all, and the ratio. With `--check` it fails above 1.5.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const ROUNDS: u64 = 5;
const MOST: f64 = 1.5;

fn main() -> ExitCode {
    let [small, large] = ["network.topology.fan_out=2", "network.topology.fan_out=10"].map(plan);
    let mut rounds: Vec<[f64; 2]> = Vec::new();
    for round in 0..ROUNDS {
        // 125 worlds of 8 leaves and one of 1,000: as many handshakes on either side.
        rounds
            .push([cost_of_a_frame(&small, round * 125..(round + 1) * 125), cost_of_a_frame(&large, round..round + 1)]);
    }
    rounds.sort_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    let [of_small, of_large] = rounds[rounds.len() / 2];
    println!("A power cut ends, median of {ROUNDS} rounds in turn, one core, cryptography included");
    println!("  {:5} nodes {of_small:9.2} us a frame", small.nodes());
    println!("  {:5} nodes {of_large:9.2} us a frame", large.nodes());
    println!("  growth      {:9.3} (at most {MOST})", of_large / of_small);
    let grown = std::env::args().any(|argument| argument == "--check") && of_large / of_small > MOST;
    if grown { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn plan(change: &str) -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/power-cut.toml");
    let change: Override = change.parse().expect("a change of the benchmark");
    let scenario = Scenario::load(&file, &[change]).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(&scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// Microseconds of wall time for each frame on the air, acknowledgements included.
fn cost_of_a_frame(plan: &Plan, seeds: std::ops::Range<u64>) -> f64 {
    let start = Instant::now();
    let records: Vec<Record> = seeds.flat_map(|seed| plan.run(seed, &mut ())).collect();
    let took = start.elapsed();
    assert!(records.iter().all(|record| record.outcome == Outcome::Completed), "everybody gets through");
    let frames: u64 = records.iter().map(|record| record.frames + record.frames_ack).sum();
    took.as_secs_f64() * 1e6 / frames as f64
}
