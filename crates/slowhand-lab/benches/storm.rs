//! What a frame costs in a storm: in a tree of 10,000 nodes, a thousand open a session in the same second.
//!
//! `cargo bench -p slowhand-lab --bench storm` runs it on TSCH and on CSMA/CA, beside the same scenario with ten nodes, of
//! which one opens a session. It prints how long one core takes for a frame, cryptography and all, and the ratio. With
//! `--check` it fails above 2. `... -- tsch 100 network.topology.nodes=10 client.count=1` runs a hundred worlds of one link
//! layer with these changes, for a profiler: `valgrind --tool=callgrind` counts the instructions.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_testing::processor;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const MOST: f64 = 2.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mac, worlds, changes @ ..] = &arguments[..] {
        run(mac, worlds.parse().expect("a number of worlds"), changes).print(mac);
        return ExitCode::SUCCESS;
    }
    let calm = ["network.topology.nodes=10", "client.count=1"].map(str::to_owned);
    let mut has_grown = false;
    for mac in ["tsch", "csma"] {
        let [calm, storm] = [run(mac, 1_000, &calm), run(mac, 1, &[])];
        calm.print(mac);
        storm.print(mac);
        let growth = storm.cost_of_a_frame() / calm.cost_of_a_frame();
        println!("  growth {growth:.2} (at most {MOST})");
        has_grown |= growth > MOST;
    }
    println!(
        "peak memory {} MB",
        peak_memory().map_or("unknown".to_owned(), |octets| (octets / 1_000_000).to_string())
    );
    let fails = has_grown && arguments.iter().any(|argument| argument == "--check");
    if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Some worlds of one size.
struct Storm {
    nodes: usize,
    sessions: usize,
    completed: usize,
    frames: u64,
    took: Duration,
}

/// Runs worlds of a scenario with these changes.
fn run(mac: &str, worlds: u64, changes: &[String]) -> Storm {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/storm-{mac}.toml"));
    let changes: Vec<Override> =
        changes.iter().map(|change| change.parse().expect("a change of the benchmark")).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let start = processor::time();
    let records: Vec<Record> = (0..worlds).flat_map(|seed| plan.run(seed, &mut ())).collect();
    Storm {
        nodes: plan.nodes(),
        sessions: records.len(),
        completed: records.iter().filter(|record| record.outcome == Outcome::Completed).count(),
        frames: records.iter().map(|record| record.frames + record.frames_ack).sum(),
        took: processor::time() - start,
    }
}

impl Storm {
    /// Microseconds of processor time for each frame on the air, acknowledgements included.
    fn cost_of_a_frame(&self) -> f64 {
        self.took.as_secs_f64() * 1e6 / self.frames as f64
    }

    fn print(&self, mac: &str) {
        let Self { nodes, sessions, completed, frames, took } = self;
        let (cost, seconds) = (self.cost_of_a_frame(), took.as_secs_f64());
        println!("{mac}, {nodes} nodes: {completed} of {sessions} sessions completed, {frames} frames, {seconds:.1} s");
        println!("  {cost:.2} us a frame");
    }
}

/// The most memory that this process has had, in octets. Where the system does not tell (it is not Linux), `None`.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}
