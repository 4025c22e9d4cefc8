//! The charge of what a node does again and again, against published measurements.

use crate::plan;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::Energy;
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
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

/// Two nodes with TSCH, and the guard times and the acknowledgement of the published charges: 1 ms around a frame, 0.2 ms before an
/// acknowledgement of 27 octets.
fn slotted(payload: usize) -> (Plan, Network, Instant) {
    let timing = "{ tx_offset_us = 2120, long_guard_us = 1000, tx_ack_delay_us = 1000, short_guard_us = 200 }";
    let mac = format!(
        "mac={{ kind = \"tsch\", slot_ms = 15, slotframe = 11, cells = {{ shared = 1, up = 1, down = 1 }}, \
         ack_source_address = true, timing = {timing} }}"
    );
    let plan = plan(&[&mac, "server.at=0", "client.device=iotlab-m3", "server.device=iotlab-m3", "network.link_pdr=1"]);
    let mut network = plan.network(1);
    let mut events = Events::default();
    let [from, to] = [1, 0].map(|node| Endpoint::new(Host::Node(NodeId(node)).address(), 5683));
    // Whole slotframes: nothing is cut.
    let second = Duration::from_millis(15 * 11 * 7);
    for number in 0..50u32 {
        let now = Instant::ZERO + second * u64::from(number);
        run(&mut network, now);
        network.send(now, from, to, &vec![0; payload], number, &mut events).unwrap();
    }
    let end = Instant::ZERO + second * 60;
    run(&mut network, end);
    (plan, network, end)
}

/// The charges of slots with frames of 127 octets, in microcoulombs, of nodes with an AT86RF231: those that the 6TiSCH simulator takes
/// from Vilajosana et al., "A Realistic Energy Consumption Model for TSCH Networks" (IEEE Sensors Journal, 2014).
const PUBLISHED: [(&str, f64); 3] = [("Idle", 24.60), ("TxDataRxAck", 64.82), ("RxDataTxAck", 76.90)];

/// They are the time of the radio in a slot, times its currents: what ours are without start, ramp-up and processor.
#[test]
fn a_slot_of_tsch_has_the_published_charge() {
    let payload = (40..110).find(|&payload| {
        let (_, network, end) = slotted(payload);
        network.radio_times(NodeId(1), end).transmit == Duration::from_micros(4_256) * 50
    });
    let (plan, network, end) = slotted(payload.expect("a payload that fills a frame of 127 octets"));
    let [idle, sent, received] = PUBLISHED.map(|(_, charge)| charge);
    for (node, used) in [(1, sent), (0, received)] {
        let slots = network.slots(NodeId(node), end).unwrap();
        assert_eq!(slots.tx_data_rx_ack + slots.rx_data_tx_ack, 50, "{slots:?}");
        let of = plan.energy(&network, NodeId(node), end);
        let radio_uc = (of.tx_mj + of.rx_mj + of.listen_mj) * 1e3 / 3.3;
        let expected = idle * slots.rx_idle as f64 + used * 50.0;
        assert!((radio_uc / expected - 1.0).abs() < 0.002, "node {node}: {radio_uc} uC, published {expected} uC");
        // In each of its slots the radio starts: 380 us of 0.4 mA. It ramps up once, or twice if it turns around: 110 us of 5.6 mA.
        let work = network.radio_work(NodeId(node), end);
        assert_eq!((work.starts, work.ramps), (slots.rx_idle + 50, slots.rx_idle + 2 * 50));
        let startup = (380e-6 * 0.4 * work.starts as f64 + 110e-6 * 5.6 * work.ramps as f64) * 3.3;
        assert!((of.startup_mj / startup - 1.0).abs() < 1e-9, "{of:?}");
        // Each frame and each acknowledgement takes the processor 1,047 us, and it wakes up for it and for each slot.
        assert_eq!(network.handled_frames(NodeId(node), end).all, 2 * 50);
        let active_s = 1_047e-6 * 100.0 + 5.4e-6 * (100 + work.starts) as f64;
        assert!((of.cpu_mj / (active_s * 30.5 * 3.3) - 1.0).abs() < 1e-9, "{of:?}");
    }
}

#[test]
fn a_poll() {
    for device in ["nrf52840", "nrf52833", "nrf5340", "nrf54l15"] {
        let uc = charge_of_a_poll(device, 3.0);
        println!("{device}: {uc:?} sum {}", uc.total_mj() - uc.sleep_mj);
    }
}
