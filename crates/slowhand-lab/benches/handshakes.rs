//! What the network costs beside the libraries: handshakes through it and without it, in turn, in one run.
//!
//! `cargo bench -p slowhand-lab --bench handshakes` prints the ratio of 1,000 PSK handshakes of mbedTLS over one hop of TSCH
//! to the same 1,000 in memory, and how many frames one core simulates in a second. With `--check` it fails above 1.3.

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::Scenario;
use slowhand_net::random::Streams;
use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{Processor, Role, SessionConfig};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCENARIO: &str = r#"
[network]
topology = { kind = "line", hops = 1 }
[mac]
kind = "tsch"
slotframe = 5
cells = { shared = 1, up = 2, down = 1 }
[client]
device = "openmote-cc2538"
[session]
stack = "mbedtls"
suite = "TLS_PSK_WITH_AES_128_CCM_8"
timeout_s = 3
"#;

const HANDSHAKES: u64 = 1_000;
const ROUNDS: usize = 9;
const MOST: f64 = 1.3;

fn main() -> ExitCode {
    // The text above is a scenario that can be run.
    let scenario: Scenario = SCENARIO.parse().expect("the scenario of the benchmark");
    let plan = Plan::new(&scenario).expect("the scenario of the benchmark");
    let mut rounds: Vec<(Duration, Duration)> = Vec::new();
    let mut frames = 0;
    for _ in 0..ROUNDS {
        let (memory, _) = timed(|| in_memory(&scenario));
        let (network, counted) = timed(|| through_network(&plan));
        rounds.push((memory, network));
        frames = counted;
    }
    rounds.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let median = rounds[ROUNDS / 2];
    let [per_handshake, alone] = [median.1, median.0].map(|all| all.as_secs_f64() * 1e6 / HANDSHAKES as f64);
    println!("{HANDSHAKES} PSK handshakes of mbedTLS, median of {ROUNDS} rounds in turn, one core");
    println!("  in memory          {alone:8.1} us a handshake");
    println!("  through one hop    {per_handshake:8.1} us a handshake");
    println!("  ratio              {:8.3} (at most {MOST})", ratio(&median));
    println!("  frames             {:8.0} a second, cryptography included", frames as f64 / median.1.as_secs_f64());
    let too_slow = std::env::args().any(|argument| argument == "--check") && ratio(&median) > MOST;
    if too_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn ratio((memory, network): &(Duration, Duration)) -> f64 {
    network.as_secs_f64() / memory.as_secs_f64()
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn in_memory(scenario: &Scenario) {
    for seed in 0..HANDSHAKES {
        let streams = Streams::new(seed);
        // The same devices price what is computed.
        let ends = [(Role::Client, &scenario.client_device), (Role::Server, &scenario.server_device)];
        let [mut client, mut server] = ends.map(|(role, device)| {
            let seed = streams.derive("session", 2 + u64::from(role == Role::Server));
            let config = SessionConfig { seed, ..scenario.session.config(role) };
            let processor: Arc<dyn Processor> = device.clone();
            slowhand_sessions::build(&config, processor).expect("a session of the benchmark")
        });
        assert_eq!(Path::default().run(&mut *client, &mut *server).end, End::Completed);
    }
}

fn through_network(plan: &Plan) -> u64 {
    (0..HANDSHAKES).flat_map(|seed| plan.run(seed, &mut ())).map(|record| record.frames + record.frames_ack).sum()
}
