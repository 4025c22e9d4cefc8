//! Whole worlds: real libraries across the emulated network, and what is said of them.

mod applications;
mod arithmetic;
mod bad_input;
mod bursts;
mod capture_tshark;
mod charge;
mod coap;
mod coap_streams;
mod compression;
mod dccp;
mod delegation;
mod devices;
mod early;
mod every_help;
mod examples;
mod extremes;
mod failures;
mod fragments;
mod gateway;
mod helped;
mod joining;
mod life;
mod link_security;
mod loading;
mod losses;
mod observe;
mod pairs;
mod quic;
mod readers;
mod refragmented;
mod reproducible;
mod retry;
mod running;
mod sizes;
mod sleepy;
mod slots;
mod sources;
mod storm;
mod thread;
mod timing;
mod tpm;
mod traffic;
mod variation;
mod walk;
mod weightless;
mod wireshark;

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_sessions::{CredentialKind, Stack};
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

/// A session that a library can have with itself.
struct EverySession {
    /// The keys of the scenario that distinguish its public keys from those of others.
    keys: String,
    /// The keys of its scenario.
    changes: Vec<String>,
}

/// Every library with every protocol, suite, credential, and who authenticates itself.
fn every_session() -> Vec<EverySession> {
    let mut sessions = Vec::new();
    for stack in Stack::BUILT_IN {
        let capabilities = stack.capabilities();
        for protocol in capabilities.protocols() {
            for suite in capabilities.suites(protocol) {
                for credential in capabilities.credentials(protocol, suite) {
                    let auths = match credential {
                        CredentialKind::Psk => &["psk"][..],
                        CredentialKind::Ecjpake => &["mutual"],
                        _ => &["mutual", "server"],
                    };
                    sessions.extend(auths.iter().map(|auth| EverySession {
                        keys: format!("{stack} {protocol} {:?} {credential} {auth}", suite.key_exchange()),
                        changes: vec![
                            format!("session.stack={stack}"),
                            format!("session.protocol={protocol}"),
                            format!("session.suite={suite}"),
                            format!("session.credential={credential}"),
                            format!("session.auth={auth}"),
                        ],
                    }));
                }
            }
        }
    }
    sessions
}
