//! A record is a function of scenario and seed.

use crate::{MBEDTLS_PSK, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_lab::record::Record;
use slowhand_lab::runner::{RunConfig, Runner};
use slowhand_lab::scenario::Scenario;

const LOSSY: &[&str] = &["network.link_pdr=0.8", "lowpan.fragment_loss=0.05", "session.timeout_s=2"];

fn lossy() -> Vec<&'static str> {
    [MBEDTLS_PSK, LOSSY].concat()
}

fn run_scenario(scenario: &Scenario, first_seed: u64, count: u64, threads: usize) -> Vec<Record> {
    let config = RunConfig { first_seed, count, threads, keeps_records: true };
    Runner::start(scenario, config).unwrap().finish().records.clone()
}

fn run(first_seed: u64, count: u64, threads: usize) -> Vec<Record> {
    run_scenario(&scenario(&lossy()), first_seed, count, threads)
}

#[test]
fn threads_do_not_matter() {
    let one = run(1, 120, 1);
    assert_eq!(one.len(), 120);
    assert_eq!(one, run(1, 120, 2));
    assert_eq!(one, run(1, 120, 5));
    let durations: std::collections::BTreeSet<_> = one.iter().map(|r| r.duration_s.map(f64::to_bits)).collect();
    assert!(durations.len() > 20, "losses make the handshakes differ");
}

#[test]
fn threads_do_not_matter_to_openssl() {
    let scenario = scenario(&[OPENSSL_ECDHE, LOSSY].concat());
    assert_eq!(run_scenario(&scenario, 1, 20, 1), run_scenario(&scenario, 1, 20, 2));
}

#[test]
fn the_order_of_seeds_does_not_matter() {
    let plan = plan(&lossy());
    let forwards: Vec<_> = (1..20).flat_map(|seed| plan.run(seed, &mut ())).collect();
    let mut backwards: Vec<_> = (1..20).rev().flat_map(|seed| plan.run(seed, &mut ())).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_eq!(forwards, run(1, 19, 2));
}

#[test]
fn losses_do_not_change_nonces() {
    // A line of a key log names the client's random, and the master secret follows from that and the server's.
    let key_log = |changes: &[&str]| {
        let (_, key_log) = plan(&[MBEDTLS_PSK, changes].concat()).run_with_key_log(3, &mut ());
        assert_eq!(key_log.len(), 1);
        key_log
    };
    assert_eq!(key_log(&[]), key_log(LOSSY));
    let (_, other) = plan(MBEDTLS_PSK).run_with_key_log(4, &mut ());
    assert_ne!(key_log(&[]), other, "another seed has other nonces");
}

#[test]
fn a_better_link_meets_the_same_losses_and_fewer() {
    // Common random numbers: with the same seed a link of 70 % loses every frame that a link of 90 % loses. So the
    // better link is not slower, even on the average of few seeds.
    let mean = |pdr: &str| {
        let change = format!("network.link_pdr={pdr}");
        let records = plan(&[MBEDTLS_PSK, &[change.as_str()], &["session.timeout_s=30"]].concat());
        let durations: Vec<f64> = (0..30).filter_map(|seed| records.run(seed, &mut ())[0].duration_s).collect();
        durations.iter().sum::<f64>() / durations.len() as f64
    };
    assert!(mean("0.9") < mean("0.7"));
}

/// The key's own length matters only where it makes the premaster secret longer than a block of the hash function.
#[test]
fn another_key_of_the_same_length_changes_no_record() {
    let default = "session.psk=736c6f7768616e642d746573746b6579";
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK] {
        let records = ["session.give_up_s=300", default, "session.psk=00ff00ff00ff00ff00ff00ff00ff00ff"]
            .map(|key| plan(&[changes, LOSSY, &[key]].concat()).run(3, &mut ()));
        assert_eq!(records[0], records[1]);
        assert_eq!(records[0], records[2]);
    }
    let files = scenario(&["session.psk=00ff00ff00ff00ff00ff00ff00ff00ff"]).credentials().unwrap();
    assert_eq!(files["psk.txt"], "Client_identity:00ff00ff00ff00ff00ff00ff00ff00ff\n");
}
