//! Other traffic beside a handshake.

use crate::{plan, scenario};
use slowhand_lab::record::{Outcome, Record, Traffic};
use slowhand_net::random::Streams;

fn run(changes: &[&str], seed: u64) -> Record {
    plan(changes).run(seed, &mut ()).remove(0)
}

/// A star of two: node 1 has slot 1 of five for its flow, node 2 opens the session in the others.
const STAR: [&str; 3] = [
    "network.topology={ kind = \"star\", leaves = 2 }",
    "client.nodes=[2]",
    "mac.schedule=[{ slot = 0, from = 0, to = 1 }, { slot = 1, from = 1, to = 0 }, { slot = 2, from = 2, to = 0 }, { slot = 3, from = 2, to = 0 }, \
     { slot = 4, from = 0, to = 2 }]",
];

/// The slotframe has 100,000 us. A datagram that comes at `phase` waits for the next slot 1, which begins 20,000 us after
/// the slotframe. There its frame of 92 octets (as in `timing.rs` of the network: 60 octets and 9 of headers) begins after
/// 5,215 us and lasts 3,136 us; its acknowledgement comes 5,521 us later and lasts 800 us: 14,672 us in all.
#[test]
fn the_latency_of_a_periodic_flow_over_one_cell() {
    let flow = "traffic=[{ from = 1, to = \"root\", interval_ms = 100, octets = 60 }]";
    let changes: Vec<&str> = STAR.into_iter().chain([flow]).collect();
    for seed in 1..=5 {
        let record = run(&changes, seed);
        // The flow's interval is the slotframe, so that all its datagrams come at the same phase.
        let phase = Streams::new(seed).stream("traffic", 0).below(100_000);
        let waits = if phase < 20_000 { 20_000 - phase } else { 120_000 - phase };
        let latency = (waits + 14_672) as f64 / 1e6;
        let Traffic { sent, delivered, ref losses, latency_mean_s, latency_p95_s } = record.traffic;
        assert!((latency_mean_s.unwrap() - latency).abs() < 1e-9, "{latency_mean_s:?}, not {latency}");
        assert!((latency_p95_s.unwrap() - latency).abs() < 1e-9, "{latency_p95_s:?}, not {latency}");
        // One in each slotframe of the handshake.
        let slotframes = record.duration_s.unwrap() / 0.1;
        assert!((sent as f64 - slotframes).abs() < 1.0 && slotframes > 3.0, "{sent} in {slotframes} slotframes");
        assert!(delivered == sent && losses.is_empty());
    }
}

#[test]
fn the_counts_of_a_handshake_have_nothing_of_other_traffic() {
    let alone = run(&STAR, 1);
    let flow = "traffic=[{ from = 1, to = \"internet\", pattern = \"poisson\", interval_ms = 150, octets = 60 }]";
    let record = run(&STAR.into_iter().chain([flow]).collect::<Vec<_>>(), 1);
    assert!(record.traffic.sent > 0 && alone.traffic == Traffic::default());
    // Their cells are not the same, so the handshake does not wait for the flow.
    let (queue_peak, traffic) = (record.queue_peak.clone(), Traffic::default());
    assert_eq!(Record { traffic, ..record.clone() }, Record { queue_peak, ..alone });
    assert!(record.queue_peak[1] > 0, "the flow waits in a queue");
}

#[test]
fn a_handshake_waits_for_the_frames_of_others() {
    let busy = "traffic=[{ from = 1, to = 0, pattern = \"bursts\", interval_ms = 400, octets = 200, burst = 2 }]";
    let [alone, busy] = [&[][..], &[busy]].map(|changes| run(changes, 1));
    assert_eq!((alone.outcome, busy.outcome), (Outcome::Completed, Outcome::Completed));
    assert!(busy.duration_s > alone.duration_s, "{:?} after {:?}", busy.duration_s, alone.duration_s);
    assert!(busy.energy_client.tx_mj >= alone.energy_client.tx_mj && busy.queue_peak[1] > alone.queue_peak[1]);
}

/// One cell in 100 ms carries half of what comes. The queue of OpenWSN has room for 20 frames.
#[test]
fn what_a_queue_has_no_room_for_is_lost_there() {
    let flow = "traffic=[{ from = 1, to = 0, interval_ms = 50, octets = 60 }]";
    let record = run(&STAR.into_iter().chain([flow, "client.start_s=10"]).collect::<Vec<_>>(), 1);
    let Traffic { sent, delivered, .. } = record.traffic;
    assert_eq!(record.traffic.lost_because().keys().collect::<Vec<_>>(), [&"queue_full"]);
    assert_eq!(sent, delivered + record.traffic.lost());
    assert!(delivered.abs_diff(sent / 2) <= 1, "{delivered} of {sent}");
    // 20 frames wait for 100 ms each; the newest has waited for all of them.
    let latency = record.traffic.latency_mean_s.unwrap();
    assert!((1.9..2.1).contains(&latency), "{latency}");
}

/// Every kind of flow on every link layer, over links that lose frames: what is sent arrives or is lost, for a reason.
#[test]
fn no_datagram_disappears() {
    let flows = "traffic=[\
        { from = \"nodes\", to = \"root\", interval_ms = 3000, octets = 30 }, \
        { from = \"internet\", to = \"nodes\", pattern = \"poisson\", interval_ms = 4000, octets = 150 }, \
        { from = 3, to = 1, pattern = \"bursts\", interval_ms = 5000, octets = 40, burst = 3 }]";
    let tsch = "mac={ kind = \"tsch\", slotframe = 17, max_retries = 2 }";
    let xmac = "mac={ kind = \"xmac\" }";
    let acknowledged = "mac={ kind = \"xmac\", data_ack = true }";
    let beacon = "mac={ kind = \"beacon\" }";
    for mac in [tsch, xmac, acknowledged, beacon] {
        let changes = [
            mac,
            flows,
            "network={ topology = { kind = \"line\", hops = 3 }, link_pdr = 0.8 }",
            "server={ at = \"internet\", device = \"weightless.toml\", internet_loss = 0.05 }",
            "client.start_s=30",
            "session={ stack = \"tinydtls\", suite = \"TLS_PSK_WITH_AES_128_CCM_8\", give_up_s = 60 }",
        ];
        let records: Vec<Record> = (1..=4).map(|seed| run(&changes, seed)).collect();
        for record in &records {
            let Traffic { sent, delivered, .. } = record.traffic;
            // A node of X-MAC that answers a strobe hears no data frame. Without acknowledgements nobody notices.
            let unnoticed = if mac == xmac { sent / 50 } else { 0 };
            let rest = sent.checked_sub(delivered + record.traffic.lost()).unwrap();
            assert!(rest <= unnoticed, "{mac}: {:?}", record.traffic);
        }
        let sum = |count: fn(&Traffic) -> u64| records.iter().map(|record| count(&record.traffic)).sum::<u64>();
        assert!(sum(|traffic| traffic.delivered) > 0 && sum(Traffic::lost) > 0, "{mac}");
    }
}

/// A flow that is added at the end does not change when the others send.
#[test]
fn flows_have_random_streams_of_their_own() {
    let one = "{ from = 1, to = 0, pattern = \"poisson\", interval_ms = 150, octets = 60 }";
    let other = "{ from = 0, to = 2, interval_ms = 100000, octets = 60 }";
    let [alone, both] = [format!("traffic=[{one}]"), format!("traffic=[{one}, {other}]")]
        .map(|flows| run(&STAR.into_iter().chain([flows.as_str(), "client.start_s=3"]).collect::<Vec<_>>(), 3).traffic);
    assert_eq!(alone, both, "the second flow sends after the handshake");
}

#[test]
fn memory_counts_the_datagrams_of_flows() {
    let flow = "traffic=[{ from = 1, to = 0, interval_ms = 0.001, octets = 60 }]";
    let more = scenario(&[flow, "limits.memory_mb=100000"]).memory() - scenario(&[]).memory();
    // A datagram in each microsecond of the 300 s after which the client gives up, and of 0.1 s before.
    assert_eq!(more, 48 * (300_000_000 + 1));
}
