//! Who computes with public keys, a library or what replaces its arithmetic by default, changes no record.

use std::collections::BTreeMap;

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, columns};

use super::{EverySession, every_session};

/// The records of two worlds, as text: frames get lost, and each computation of the client takes its time.
fn records(session: &EverySession, arithmetic: &str) -> String {
    let arithmetic = format!("session.arithmetic={arithmetic}");
    let network = ["client.device=openmote-cc2538", "server.device=linux-host", "lowpan.frame_loss=0.05"];
    let changes: Vec<&str> = session.changes.iter().chain([&arithmetic]).map(String::as_str).chain(network).collect();
    let plan = Plan::new(&super::scenario(&changes)).unwrap_or_else(|error| panic!("{changes:?}: {error}"));
    let records: Vec<_> = (1..=2).flat_map(|seed| plan.run(seed, &mut ())).collect();
    assert!(records.iter().any(|record| record.outcome == Outcome::Completed), "{changes:?}");
    format!("{:?}", columns(&records))
}

/// Every library, protocol, key exchange and credential.
#[test]
fn the_records_are_the_same_whoever_computes() {
    let sessions: BTreeMap<_, _> = every_session().into_iter().map(|session| (session.keys.clone(), session)).collect();
    assert!(sessions.len() > 30, "{:?}", sessions.keys());
    for (name, session) in &sessions {
        let own = records(session, "library");
        // The second time the memo holds all.
        for _ in 0..2 {
            assert!(records(session, "memo") == own, "{name}");
        }
    }
}
