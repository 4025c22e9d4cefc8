//! What handshakes cost: those of a library through the network and without it, and weightless ones, in turn, in one run.
//!
//! `cargo bench -p slowhand-lab --bench handshakes` prints the ratio of 1,000 PSK handshakes of mbedTLS over one hop of TSCH
//! to the same 1,000 in memory, how many times as long they take as 1,000 of lean-dtls with weightless cryptography, and how
//! many frames one core simulates in a second. With `--check` it fails if the first is above 1.3 or the second below 4.
//!
//! `cargo bench -p slowhand-lab --bench handshakes -- weightless 2000` only runs that many weightless handshakes, for a
//! profiler.

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
/// The most that the network may cost: the time through it against the time without it.
const MOST: f64 = 1.3;
/// The least that weightless cryptography has to bring: the time of mbedTLS against its own.
const LEAST: f64 = 4.0;

fn main() -> ExitCode {
    // The text above is a scenario that can be run.
    let scenario: Scenario = SCENARIO.parse().expect("the scenario of the benchmark");
    let plan = Plan::new(&scenario).expect("the scenario of the benchmark");
    let weightless = Plan::new(&weightless()).expect("the weightless scenario of the benchmark");
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "weightless") {
        let count = arguments.get(at + 1).and_then(|count| count.parse().ok()).unwrap_or(HANDSHAKES);
        println!("{} frames", through_network(&weightless, count));
        return ExitCode::SUCCESS;
    }
    let mut rounds: Vec<[Duration; 3]> = Vec::new();
    let mut frames = [0, 0];
    for _ in 0..ROUNDS {
        let (memory, _) = timed(|| in_memory(&scenario));
        let (network, counted) = timed(|| through_network(&plan, HANDSHAKES));
        let (without_weight, counted_without) = timed(|| through_network(&weightless, HANDSHAKES));
        rounds.push([memory, network, without_weight]);
        frames = [counted, counted_without];
    }
    let by_network = median(&rounds, |[memory, network, _]| (*network, *memory));
    let by_weight = median(&rounds, |[_, network, weightless]| (*network, *weightless));
    println!("{HANDSHAKES} PSK handshakes, medians of {ROUNDS} rounds in turn, one core");
    println!("  mbedTLS in memory          {:8.1} us a handshake", each(by_network.1));
    println!("  mbedTLS through one hop    {:8.1} us a handshake", each(by_network.0));
    println!("  ratio                      {:8.3} (at most {MOST})", ratio(&by_network));
    println!("  frames                     {:8.0} a second, cryptography included", rate(frames[0], by_network.0));
    println!("  weightless through one hop {:8.1} us a handshake", each(by_weight.1));
    println!("  mbedTLS against weightless {:8.3} (at least {LEAST})", ratio(&by_weight));
    println!("  frames                     {:8.0} a second", rate(frames[1], by_weight.1));
    let is_check = arguments.iter().any(|argument| argument == "--check");
    let too_slow = is_check && (ratio(&by_network) > MOST || ratio(&by_weight) < LEAST);
    if too_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The same scenario with lean-dtls, which computes nothing.
fn weightless() -> Scenario {
    let stack = "stack = \"lean-dtls\"\ncryptography = \"weightless\"";
    SCENARIO.replace("stack = \"mbedtls\"", stack).parse().expect("the weightless scenario of the benchmark")
}

/// The two durations whose ratio is the median of all rounds.
fn median(rounds: &[[Duration; 3]], pair: impl Fn(&[Duration; 3]) -> (Duration, Duration)) -> (Duration, Duration) {
    let mut pairs: Vec<_> = rounds.iter().map(pair).collect();
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    pairs[ROUNDS / 2]
}

fn ratio((upper, lower): &(Duration, Duration)) -> f64 {
    upper.as_secs_f64() / lower.as_secs_f64()
}

/// Microseconds of each handshake.
fn each(all: Duration) -> f64 {
    all.as_secs_f64() * 1e6 / HANDSHAKES as f64
}

fn rate(frames: u64, all: Duration) -> f64 {
    frames as f64 / all.as_secs_f64()
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

fn through_network(plan: &Plan, count: u64) -> u64 {
    (0..count).flat_map(|seed| plan.run(seed, &mut ())).map(|record| record.frames + record.frames_ack).sum()
}
