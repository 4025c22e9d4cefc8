//! The properties of every world, whatever its link layer.

use super::*;
use crate::device::Device;
use crate::record::{Table, columns};
use crate::scenario::Override;
use proptest::prelude::*;
use slowhand_net::clock::Duration;
use slowhand_net::observer::RadioState;
use std::path::Path;

fn scenario(name: &str, changes: &[String]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::load(&file, &changes).unwrap()
}

/// The time for which a node was in a state from one instant to another, by the timeline.
fn total(inspection: &Inspection, node: u16, state: RadioState, from: Instant, to: Instant) -> Duration {
    let own = inspection.timeline.iter().filter(|interval| (interval.node.0, interval.state) == (node, state));
    own.fold(Duration::ZERO, |sum, interval| sum + interval.to.min(to).since(interval.from.max(from)))
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn times_and_energies_add_up(
        mac in prop::sample::select(vec!["psk-tinydtls.toml", "xmac.toml", "beacon.toml", "csma.toml"]),
        hops in 1u8..4, pdr in 0.7f64..=1.0, at_the_root in any::<bool>(), handling in 0u8..3,
        seed in 0u64..1000,
    ) {
        let at = if at_the_root { "server.at=0" } else { "server.at=\"internet\"" };
        let hops = format!("network.topology={{ kind = \"line\", hops = {hops} }}");
        let [pdr, handling_ms] = [format!("network.link_pdr={pdr}"), format!("network.frame_handling_ms={handling}")];
        let scenario = scenario(mac, &[hops, pdr, handling_ms, at.to_owned()]);
        let inspection = inspect(&scenario, seed, &Interrupt::default()).unwrap().unwrap();
        let plan = Plan::new(&scenario).unwrap();
        prop_assert_eq!(&inspection.records, &plan.run(seed, &mut ()), "looking changes nothing");
        prop_assert_eq!(inspection.nodes.len(), plan.nodes());
        let end = Instant::from_micros(inspection.nodes[0].elapsed.as_micros() as u64);
        for node in &inspection.nodes {
            let RadioTimes { transmit, receive, listen, sleep } = node.radio;
            prop_assert_eq!(transmit + receive + listen + sleep, end.since(Instant::ZERO));
            prop_assert!(node.computed + node.waited <= node.elapsed);
            let states = [RadioState::Transmit, RadioState::Receive, RadioState::Listen];
            let totals = states.map(|state| total(&inspection, node.node, state, Instant::ZERO, end));
            prop_assert_eq!(totals, [transmit, receive, listen], "node {}", node.node);
            // Energest's method written out: volts times milliamperes times seconds.
            let device = if scenario.server.at.is_node(NodeId(node.node)) { &scenario.server_device } else { &scenario.client_device };
            let Device { supply_v, current, tpm: None, .. } = &**device else { panic!("a TPM") };
            let active = node.active.as_secs_f64();
            prop_assert!(node.computed + node.waited + node.handled <= node.active);
            prop_assert_eq!(node.handled > std::time::Duration::ZERO, handling > 0, "every node is on the path");
            let charge = current.cpu_active_ma.value * active
                + current.cpu_sleep_ma.value * (node.elapsed.as_secs_f64() - active)
                + current.radio_tx_ma.value * transmit.as_secs_f64()
                + current.radio_rx_ma.value * receive.as_secs_f64()
                + current.radio_listen_ma.value * listen.as_secs_f64()
                + current.radio_sleep_ma.value * sleep.as_secs_f64();
            // A law (`tests/laws`) has the rest: a radio that starts, ramps up or is ready does not sleep.
            let Energy { startup_mj, idle_mj, .. } = node.energy;
            let asleep = current.radio_sleep_ma.value * sleep.as_secs_f64() * supply_v.value;
            let rest = node.energy.total_mj() - startup_mj - idle_mj;
            let charge = charge * supply_v.value;
            prop_assert!(rest >= charge - asleep - 1e-9 && rest <= charge + 1e-9, "node {}", node.node);
        }
        let own = |number: u16| inspection.timeline.iter().filter(move |interval| interval.node.0 == number);
        for node in 0..plan.nodes() as u16 {
            prop_assert!(own(node).zip(own(node).skip(1)).all(|(one, next)| one.to <= next.from));
        }

        for node in &inspection.nodes {
            let own = || inspection.buffers.iter().filter(|level| level.node.0 == node.node);
            prop_assert!(own().zip(own().skip(1)).all(|(one, next)| one.at < next.at));
            // The peaks go on until the last datagram has arrived.
            prop_assert!(own().all(|level| level.queued as u64 <= node.queue_peak));
            prop_assert!(own().all(|level| level.octets as u64 <= node.reassembly_peak_bytes));
            prop_assert!(node.queue_peak == 0 || own().any(|level| level.queued > 0), "node {}", node.node);
        }

        // The client's record is about the last part of that time.
        let record = &inspection.records[0];
        let client = &inspection.nodes[usize::from(record.client)];
        if let Some(duration) = record.duration_s {
            prop_assert!(close(client.computed.as_secs_f64(), record.compute_client_s));
            // Computation before the first datagram is in the node's account alone.
            let (of_node, of_record) = (client.energy.cpu_mj, record.energy_client.cpu_mj);
            prop_assert!(of_record <= of_node + 1e-9 && of_record > 0.5 * of_node, "{of_record} of {of_node}");
            prop_assert_eq!(client.queue_peak, record.queue_peak[usize::from(record.client)]);
            let begun = Instant::from_micros(end.as_micros() - (duration * 1e6).round() as u64);
            let Device { supply_v, current, .. } = &*scenario.client_device;
            let of = |state, current: f64| total(&inspection, record.client, state, begun, end).as_secs_f64() * current * supply_v.value;
            prop_assert!(close(of(RadioState::Transmit, current.radio_tx_ma.value), record.energy_client.tx_mj));
            // In a beacon-enabled network a frame under way counts as listening until it ends, in a record too.
            if mac != "beacon.toml" {
                prop_assert!(close(of(RadioState::Receive, current.radio_rx_ma.value), record.energy_client.rx_mj));
                prop_assert!(close(of(RadioState::Listen, current.radio_listen_ma.value), record.energy_client.listen_mj));
            }
        }
    }
}

#[test]
fn who_computes_is_who_is_charged() {
    let of = |at: &str| {
        let scenario = scenario("xmac.toml", &[format!("server.at={at}")]);
        inspect(&scenario, 1, &Interrupt::default()).unwrap().unwrap()
    };
    let (inside, outside) = (of("0"), of("\"internet\""));
    assert!(inside.nodes[0].computed.as_secs_f64() > 0.0);
    assert_eq!(inside.nodes[0].computed.as_secs_f64(), inside.records[0].compute_server_s);
    assert_eq!(outside.nodes[0].computed.as_secs_f64(), 0.0);
    assert!(outside.records[0].compute_server_s > 0.0);
    assert!(inside.nodes[1].waited.as_secs_f64() > 0.0, "X-MAC waits actively");
}

/// Nothing that begins at the end or later is shown, and what lasts longer is cut there.
#[test]
fn what_is_shown_ends_with_the_last_handshake() {
    let at = Instant::from_micros;
    let interval =
        |node, from, to| RadioInterval { node: NodeId(node), state: RadioState::Listen, from: at(from), to: at(to) };
    let level =
        |at_us, queued| BufferLevel { node: NodeId(1), at: at(at_us), queued, fragments: 0, octets: 0, forwarding: 0 };
    let watch = Watch {
        timeline: vec![interval(2, 10, 90), interval(1, 100, 110), interval(1, 90, 130), interval(1, 120, 140)],
        buffers: vec![level(10, 1), level(50, 2), level(50, 3), level(100, 4), level(101, 5)],
    };
    let (timeline, buffers) = watch.until(at(100));
    assert_eq!(timeline, [interval(1, 90, 100), interval(2, 10, 90)]);
    // Of two changes at one instant the last counts.
    assert_eq!(buffers, [level(10, 1), level(50, 3), level(100, 4)]);
}

#[test]
fn the_time_and_the_energy_of_a_tpm_are_those_of_its_node() {
    let changes = [
        "client.device=opal-tpm",
        "session={ stack = \"mbedtls\", suite = \"TLS_RSA_WITH_AES_128_CBC_SHA\", timeout_s = 9 }",
    ];
    let scenario = scenario("quickstart.toml", &changes.map(str::to_owned));
    let inspection = inspect(&scenario, 1, &Interrupt::default()).unwrap().unwrap();
    let record = &inspection.records[0];
    for node in &inspection.nodes {
        // The client's TPM computes only during the handshake.
        let expected = if node.node == record.client { record.energy_client.tpm_mj } else { 0.0 };
        assert_eq!(node.energy.tpm_mj, expected, "node {}", node.node);
    }
    assert!(record.energy_client.tpm_mj > 0.0);
}

#[test]
fn each_column_has_its_value() {
    let radio = RadioTimes {
        transmit: Duration::from_millis(1000),
        receive: Duration::from_millis(2000),
        listen: Duration::from_millis(3000),
        sleep: Duration::from_millis(4000),
    };
    let energy = Energy {
        cpu_mj: 1.0,
        tpm_mj: 2.0,
        tx_mj: 4.0,
        rx_mj: 8.0,
        listen_mj: 16.0,
        startup_mj: 32.0,
        idle_mj: 64.0,
        sleep_mj: 128.0,
    };
    let seconds = std::time::Duration::from_secs;
    let node = NodeReport {
        node: 3,
        device: "mote".to_owned(),
        elapsed: seconds(10),
        radio,
        work: RadioWork { starts: 11, ramps: 12, ramps_from_ready: 3, ready: Duration::from_millis(1500) },
        slots: Slots {
            rx_idle: 21,
            tx_data_rx_ack: 22,
            tx_data_rx_ack_none: 23,
            tx_data: 24,
            rx_data_tx_ack: 25,
            rx_data: 26,
        },
        computed: seconds(5),
        waited: seconds(6),
        handled: seconds(7),
        frames: HandledFrames { all: 13, untimed: 14 },
        active: seconds(8),
        energy,
        queue_peak: 7,
        reassembly_peak_bytes: 8,
    };
    let interval = RadioInterval {
        node: NodeId(3),
        state: RadioState::Listen,
        from: Instant::from_micros(500_000),
        to: Instant::from_micros(750_000),
    };
    let level = BufferLevel {
        node: NodeId(3),
        at: Instant::from_micros(1_500_000),
        queued: 1,
        fragments: 2,
        octets: 300,
        forwarding: 4,
    };
    let inspection =
        Inspection { records: Vec::new(), nodes: vec![node], timeline: vec![interval], buffers: vec![level] };

    let told = |columns: Table| -> Vec<String> {
        columns.into_iter().map(|(field, column)| format!("{} {column:?}", field.name)).collect()
    };
    let nodes = [
        "node U64([3])",
        "device Text([\"mote\"])",
        "elapsed_s F64([10.0])",
        "radio_transmit_s F64([1.0])",
        "radio_receive_s F64([2.0])",
        "radio_listen_s F64([3.0])",
        "radio_sleep_s F64([4.0])",
        "radio_ready_s F64([1.5])",
        "radio_starts U64([11])",
        "radio_rampups U64([12])",
        "slots_rx_idle U64([21])",
        "slots_tx_data_rx_ack U64([22])",
        "slots_tx_data_rx_ack_none U64([23])",
        "slots_tx_data U64([24])",
        "slots_rx_data_tx_ack U64([25])",
        "slots_rx_data U64([26])",
        "cpu_compute_s F64([5.0])",
        "cpu_wait_s F64([6.0])",
        "cpu_handling_s F64([7.0])",
        "frames_handled U64([13])",
        "cpu_active_s F64([8.0])",
        "energy_mj F64([255.0])",
        "energy_cpu_mj F64([1.0])",
        "energy_tpm_mj F64([2.0])",
        "energy_tx_mj F64([4.0])",
        "energy_rx_mj F64([8.0])",
        "energy_listen_mj F64([16.0])",
        "energy_startup_mj F64([32.0])",
        "energy_idle_mj F64([64.0])",
        "energy_sleep_mj F64([128.0])",
        "queue_peak U64([7])",
        "reassembly_peak_bytes U64([8])",
    ];
    assert_eq!(told(columns(&inspection.nodes)), nodes);
    let timeline = ["node U64([3])", "state Text([\"listen\"])", "from_s F64([0.5])", "to_s F64([0.75])"];
    assert_eq!(told(columns(&inspection.timeline)), timeline);
    let buffers = [
        "node U64([3])",
        "from_s F64([1.5])",
        "queued_frames U64([1])",
        "reassembly_fragments U64([2])",
        "reassembly_bytes U64([300])",
        "forwarding_entries U64([4])",
    ];
    assert_eq!(told(columns(&inspection.buffers)), buffers);
}
