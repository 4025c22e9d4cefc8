//! Runs a scenario file with 100 seeds and prints how the handshakes went.
//!
//! `cargo run -p slowhand-lab --example records scenarios/quickstart.toml`
//!
//! ```text
//! quickstart: 100 completed, failed: {}
//! duration_s         mean     4.309, median     4.305, 95 % below     4.509
//! frames             mean    39.720, median    39.500, 95 % below    44.000
//! energy_client_mj   mean   102.616, median   102.434, 95 % below   104.145
//! ```

use slowhand_lab::runner::{RunConfig, Runner};
use slowhand_lab::scenario::Scenario;
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("scenarios/quickstart.toml"), PathBuf::from);
    let scenario = Scenario::load(&file, &[])?;

    let threads = std::thread::available_parallelism()?.get();
    let config = RunConfig { first_seed: 1, count: 100, threads, keeps_records: false };
    let runner = Runner::start(&scenario, config)?;
    while !runner.wait(Duration::from_secs(1)).finished {}
    let summary = &runner.finish().summary;

    println!("{}: {} completed, failed: {:?}", scenario.name, summary.completed, summary.failed);
    for (name, metric) in &summary.metrics {
        if ["duration_s", "frames", "energy_client_mj"].contains(name) {
            println!(
                "{name:<18} mean {:>9.3}, median {:>9.3}, 95 % below {:>9.3}",
                metric.mean, metric.p50, metric.p95
            );
        }
    }
    Ok(())
}
