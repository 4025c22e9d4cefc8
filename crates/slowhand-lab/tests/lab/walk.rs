//! A client that walks past its servers: they come into its reach and leave it.

use slowhand_lab::explanation::explain;
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

/// Four servers, ten seconds from one to the next. The client begins when a server comes into its reach.
const WALK: [&str; 4] = [
    "network.topology.leaves=4",
    "server.at=leaves",
    "client.start_spread_s=0",
    "network.walk={ every_s = 10, reach_s = 8 }",
];

fn scenario(changes: &[&str]) -> Scenario {
    let changes: Vec<Override> = WALK.iter().chain(changes).map(|change| change.parse().unwrap()).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/star.toml");
    Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn run(changes: &[&str]) -> Vec<Record> {
    Plan::new(&scenario(changes)).unwrap_or_else(|error| panic!("{error}")).run(1, &mut ())
}

const DTLS: &[&str] = &[];
const TLS: &[&str] = &["session.stack=mbedtls", "session.protocol=tls1.2"];

#[test]
fn the_root_opens_a_session_with_each_server_that_it_passes() {
    for session in [DTLS, TLS] {
        // One slot: each server has its own.
        let records = run(&[session, &["server.slots=1"]].concat());
        let starts: Vec<(u16, f64)> = records.iter().map(|record| (record.client, record.start_s)).collect();
        assert_eq!(starts, [(1, 0.0), (2, 10.0), (3, 20.0), (4, 30.0)]);
        assert!(records.iter().all(|record| record.outcome == Outcome::Completed), "{records:?}");
    }
}

#[test]
fn who_is_out_of_reach_hears_nothing() {
    // The link goes after the first frames, and comes back for nobody.
    let records = run(&["network.walk={ every_s = 10, reach_s = 0.01 }"]);
    assert!(records.iter().all(|record| record.outcome == Outcome::GaveUp && record.frames > 0), "{records:?}");
    // A node that is in reach later than its client begins.
    let early = run(&["client.start_s=9", "session.give_up_s=0.9"]);
    assert!(early.iter().all(|record| record.outcome == Outcome::GaveUp), "out of reach since 8 s: {early:?}");
}

#[test]
fn a_walk_takes_nodes_that_are_clients_too() {
    let records = run(&["server.at=root", "client.start_spread_s=1"]);
    let in_turn = |record: &Record| (record.start_s - 10.0 * f64::from(record.client - 1)).clamp(0.0, 1.0);
    assert!(records.iter().all(|r| r.start_s == 10.0 * f64::from(r.client - 1) + in_turn(r)), "{records:?}");
    assert!(records.iter().all(|record| record.outcome == Outcome::Completed && record.energy_server.is_none()));
}

/// Both ends are the same device, and the whole air is theirs: what the one sends the other receives.
#[test]
fn the_server_pays_as_its_client_does() {
    let device = ["client.device=wismote", "server.device=wismote", "network.topology.leaves=1"];
    let records = run(&device);
    let (client, server) = (records[0].energy_client, records[0].energy_server.unwrap());
    assert!(server.tx_mj > 0.0 && server.rx_mj > 0.0, "{server:?}");
    let seconds = |mj: f64, current: f64| mj / current;
    let radio = &scenario(&device).client_device.current;
    let sent = seconds(client.tx_mj, radio.radio_tx_ma.value);
    let received = seconds(server.rx_mj, radio.radio_rx_ma.value);
    assert!((sent / received - 1.0).abs() < 0.1, "{client:?} {server:?}");
}

#[test]
fn an_explanation_knows_who_is_where() {
    let explanation = explain(&scenario(DTLS), 1, Some(3), &Interrupt::default()).unwrap().unwrap();
    let record = run(DTLS).remove(2);
    assert_eq!((explanation.client, Some(explanation.duration_s)), (3, record.duration_s));
    let roles: Vec<(&str, &str)> = explanation.hosts.iter().map(|host| (host.name.as_str(), host.role)).collect();
    assert_eq!(roles, [("node 0", "client"), ("node 3", "server")]);
}
