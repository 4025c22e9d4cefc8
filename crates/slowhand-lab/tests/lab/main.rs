//! Whole worlds: real libraries across the emulated network, and what is said of them.

mod applications;
mod bad_input;
mod bursts;
mod capture_tshark;
mod devices;
mod examples;
mod extremes;
mod failures;
mod fragments;
mod gateway;
mod link_security;
mod loading;
mod losses;
mod refragmented;
mod reproducible;
mod running;
mod sizes;
mod sleepy;
mod sources;
mod storm;
mod thread;
mod timing;
mod tpm;
mod traffic;
mod variation;
mod weightless;
mod wireshark;

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

const TINYDTLS_PSK: &[&str] = &[];
/// The timer does not expire if nothing is lost.
const MBEDTLS_PSK: &[&str] = &["session.stack=mbedtls", "session.timeout_s=3"];
const MBEDTLS_ECDHE: &[&str] =
    &["session.stack=mbedtls", "session.timeout_s=3", "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM"];
const OPENSSL_ECDHE: &[&str] =
    &["session.stack=openssl", "session.timeout_s=3", "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM"];
/// mbedTLS over TCP. Both ends have the TCP of a small device.
const MBEDTLS_PSK_TLS: &[&str] = &["session.stack=mbedtls", "session.protocol=tls1.2"];

fn scenario(changes: &[&str]) -> Scenario {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    scenario_with(&changes)
}

fn scenario_with(changes: &[Override]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/one-hop.toml");
    Scenario::load(&file, changes).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(changes: &[&str]) -> Plan {
    Plan::new(&scenario(changes)).unwrap()
}
