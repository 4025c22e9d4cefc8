//! What handshakes with certificates cost, by who computes.
//!
//! `cargo bench -p slowhand-lab --bench certificates` prints the processor time of a mutual handshake through one hop of
//! TSCH, for each library and each value of `session.arithmetic`: with ECDHE-ECDSA on secp256r1, then with keys of RSA-2048.
//! With `--check` it fails if the assembly makes a handshake of mbedTLS with ECDHE-ECDSA less than 8 times as cheap, or the
//! memo less than 12 times.
//!
//! `cargo bench -p slowhand-lab --bench certificates -- mbedtls dtls1.2 ecdsa memo 2000` only runs that many handshakes, for a
//! profiler. A sixth argument is the number of sets of nonces.

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::Scenario;
use std::process::ExitCode;
use std::sync::LazyLock;
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
"#;

const HANDSHAKES: u64 = 300;
const ROUNDS: usize = 3;
/// The least gains of mbedTLS by assembly, and by the memo.
const LEAST: [f64; 2] = [8.0, 12.0];

/// The libraries, each with the protocol and the keys of its handshake.
const STACKS: [(&str, &str, &str); 8] = [
    ("mbedtls", "dtls1.2", "ecdsa"),
    ("mbedtls", "tls1.3", "ecdsa"),
    ("openssl", "dtls1.2", "ecdsa"),
    ("rustls", "tls1.3", "ecdsa"),
    ("tinydtls", "dtls1.2", "ecdsa"),
    ("lean-dtls", "dtls1.3", "ecdsa"),
    ("mbedtls", "dtls1.2", "rsa"),
    ("openssl", "dtls1.2", "rsa"),
];

/// The suite with RSA: the client encrypts, the server decrypts, both sign and verify.
const RSA: &str = "suite = \"TLS_RSA_WITH_AES_128_GCM_SHA256\"\n";

/// A column: its name, `session.arithmetic`, and the sets of nonces.
const COLUMNS: [(&str, &str, Option<u64>); 4] = [
    ("library", "library", None),
    ("assembly", "assembly", None),
    ("memo", "memo", None),
    ("64 nonces", "memo", Some(64)),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let [stack, protocol, keys, arithmetic, count, nonces @ ..] = &arguments[..] {
        let nonces = nonces.first().and_then(|nonces| nonces.parse().ok());
        let count = count.parse().unwrap_or(HANDSHAKES);
        println!("{:.1} us", cost(&plan(stack, protocol, keys, arithmetic, nonces), count));
        return ExitCode::SUCCESS;
    }
    println!("Processor time of a mutual handshake in us, the least of {ROUNDS} rounds");
    println!("{:24}{}", "", COLUMNS.map(|(name, ..)| format!("{name:>11}")).concat());
    let mut gains = [0.0; 2];
    for (stack, protocol, keys) in STACKS {
        let plans = COLUMNS.map(|(_, arithmetic, nonces)| plan(stack, protocol, keys, arithmetic, nonces));
        let mut least = [f64::INFINITY; 4];
        for _ in 0..ROUNDS {
            for (least, plan) in least.iter_mut().zip(&plans) {
                *least = least.min(cost(plan, HANDSHAKES));
            }
        }
        println!("{stack:10}{protocol:8}{keys:6}{}", least.map(|cost| format!("{cost:11.1}")).concat());
        if (stack, protocol, keys) == STACKS[0] {
            gains = [least[0] / least[1], least[0] / least[2]];
        }
    }
    let too_slow = gains.iter().zip(LEAST).any(|(gain, least)| *gain < least);
    let is_check = std::env::args().any(|argument| argument == "--check");
    if is_check && too_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn plan(stack: &str, protocol: &str, keys: &str, arithmetic: &str, nonces: Option<u64>) -> Plan {
    let mut text = format!(
        "{SCENARIO}[session]\nstack = \"{stack}\"\nprotocol = \"{protocol}\"\nauth = \"mutual\"\ntimeout_s = 20\n\
         arithmetic = \"{arithmetic}\"\n"
    );
    if keys == "rsa" {
        text += RSA;
    }
    if let Some(nonces) = nonces {
        text += &format!("nonces = {nonces}\n");
    }
    let scenario: Scenario = text.parse().expect("the scenario of the benchmark");
    Plan::new(&scenario).expect("the scenario of the benchmark")
}

/// Microseconds of each handshake. All seeds are new ones, so that the memo knows none of them from an earlier round.
fn cost(plan: &Plan, count: u64) -> f64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let first = NEXT.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    let begin = processor_time();
    let frames: u64 = (first..first + count).flat_map(|seed| plan.run(seed, &mut ())).map(|record| record.frames).sum();
    assert!(frames > 0);
    (processor_time() - begin).as_secs_f64() * 1e6 / count as f64
}

/// How long this thread has run on a processor. Where the system does not tell (it is not Linux), the time that has passed.
fn processor_time() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    std::thread::yield_now(); // the system brings its count up to date
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counts.and_then(|counts| counts.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}
