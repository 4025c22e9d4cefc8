//! The charge of what a node does again and again, against published measurements.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::Energy;
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::network::{Events, Network};
use std::path::Path;

const ROUNDS: u64 = 1_000;

/// A sleepy Thread device one hop from its parent, which polls every second and does nothing else.
fn polling(device: &str) -> Plan {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/thread.toml");
    let changes = [
        "network.topology={ kind = \"line\", hops = 1 }",
        "mac.poll_period_ms=1000",
        "mac.fast_poll=never",
        &format!("client.device={device}"),
    ];
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Plan::new(&Scenario::load(&file, &changes).unwrap()).unwrap()
}

fn run(network: &mut Network, end: Instant) {
    let mut events = Events::default();
    while let Some(now) = network.deadline().filter(|&now| now <= end) {
        network.handle_deadline(now, &mut events, &mut ());
    }
}

/// Microcoulombs of a poll, by what used them, and of a second of sleep.
fn charge_of_a_poll(device: &str, supply_v: f64) -> Energy {
    let plan = polling(device);
    let mut network = plan.network(1);
    let end = Instant::ZERO + Duration::from_secs(ROUNDS);
    run(&mut network, end);
    let of = plan.energy(&network, NodeId(1), end);
    let uc = |mj: f64| mj * 1e3 / supply_v / ROUNDS as f64;
    Energy {
        cpu_mj: uc(of.cpu_mj),
        tpm_mj: uc(of.tpm_mj),
        tx_mj: uc(of.tx_mj),
        rx_mj: uc(of.rx_mj),
        listen_mj: uc(of.listen_mj),
        startup_mj: uc(of.startup_mj),
        idle_mj: uc(of.idle_mj),
        sleep_mj: uc(of.sleep_mj),
    }
}

#[test]
fn a_poll() {
    for device in ["nrf52840", "nrf52833", "nrf5340", "nrf54l15"] {
        let uc = charge_of_a_poll(device, 3.0);
        println!("{device}: {uc:?} sum {}", uc.total_mj() - uc.sleep_mj);
    }
}
