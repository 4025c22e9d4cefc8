//! Keys that change how a session opens, each with each neighbour: the two are refused by name, or they complete one world.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::Outcome;
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

const PSK: [&str; 2] = ["session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.auth=psk"];
const CERTIFICATES: [&str; 3] =
    ["session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", "session.auth=mutual", "session.credential=certificate"];

/// Each key with what it needs.
const KEYS: [(&[&str], &[&str]); 10] = [
    (&["lowpan.payload_compression=ghc"], &PSK),
    (&["session.carrier=coap"], &PSK),
    (&["session.carrier=dccp"], &PSK),
    (&["session.protocol=less"], &[]),
    (
        &["session.protocol=quic", "session.stack=rustls", "session.suite=TLS_AES_128_GCM_SHA256"],
        &["session.auth=mutual"],
    ),
    (&["session.trust_anchor=true"], &PSK),
    (&["gateway.delegation=border-router", "session.resumption=id"], &CERTIFICATES),
    (&["gateway.pre_validation=true"], &CERTIFICATES),
    (&["session.false_start=true", "session.protocol=coap+dtls1.2", "application.requests=1"], &CERTIFICATES),
    (&["session.backoff=cocoa"], &PSK),
];

const NEIGHBOURS: [&[&str]; 10] = [
    &["server.slots=3"],
    &["client.joining=true"],
    &["session.resumption=id"],
    &["session.connection_id=4"],
    &["session.lean=[\"slides\"]"],
    &["session.mtu=256"],
    &["gateway.suppress_spurious_flights=true"],
    &["gateway.tcp_proxy=true"],
    &["lowpan.reassembly=forwarding"],
    &["lowpan.reassembly=recovery"],
];

/// Joiners need CSMA, which all others take too.
const ONE_HOP: [&str; 4] = [
    "network.topology={ kind = \"line\", hops = 1 }",
    "network.link_pdr=1.0",
    "mac={ kind = \"csma\" }",
    "session.stack=lean-dtls",
];

/// The key of a change, which a refusal names.
fn name(change: &str) -> &str {
    change.split('=').next().unwrap_or(change)
}

/// The fate of a scenario with these changes: a refusal in words, or the outcome of the only client of one world.
fn outcome(changes: &[&str]) -> Result<Outcome, String> {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario =
        Scenario::load(Path::new("../../scenarios/csma.toml"), &changes).map_err(|error| error.to_string())?;
    let plan = Plan::new(&scenario).map_err(|error| error.to_string())?;
    let records = plan.run(1, &mut ());
    assert_eq!(records.len(), 1, "one client");
    Ok(records[0].outcome)
}

#[test]
fn each_pair_is_refused_by_name_or_completes() {
    let mut wrong = Vec::new();
    let (mut refused, mut completed) = (0, 0);
    for (key, needs) in KEYS {
        for neighbour in NEIGHBOURS {
            let changes = [&ONE_HOP[..], needs, key, neighbour].concat();
            match outcome(&changes) {
                Ok(Outcome::Completed) => completed += 1,
                Ok(outcome) => wrong.push(format!("{key:?} with {neighbour:?}: {outcome:?}")),
                Err(message) if key.iter().chain(neighbour).any(|change| message.contains(name(change))) => {
                    refused += 1
                }
                Err(message) => wrong.push(format!("{key:?} with {neighbour:?}: {message}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), KEYS.len() * NEIGHBOURS.len(), wrong.join("\n"));
    assert_eq!((refused, completed), (19, 81));
}
