use super::*;
use crate::fixtures::{record, scenario};
use crate::plan::Plan;
use crate::record::{Failure, Loss};
use slowhand_net::address::NodeId;
use slowhand_sessions::Role;

fn failed(record: &Record, seed: u64, outcome: Outcome, failure: Option<(Role, &str)>) -> Record {
    let failure = failure.map(|(end, reason)| Failure { end, reason: reason.to_owned() });
    Record { seed, outcome, failure, duration_s: None, frames: 100, ..record.clone() }
}

#[test]
fn failures_are_counted_by_end_and_words() {
    let scenario = scenario();
    let record = record();
    let alert = |seed, words| failed(&record, seed, Outcome::Alert, Some((Role::Server, words)));
    let records = [
        record.clone(),
        alert(2, "b"),
        alert(3, "a"),
        failed(&record, 4, Outcome::Error, Some((Role::Client, "no memory"))),
        failed(&record, 5, Outcome::Error, Some((Role::Client, "no memory"))),
        failed(&record, 6, Outcome::GaveUp, None),
    ];
    let summary = summarise(&scenario, &records);
    assert_eq!(summary.completed, 1);
    assert_eq!(summary.failed, BTreeMap::from([("alert", 2), ("error", 2), ("gave_up", 1)]));
    let told: Vec<_> = summary.failures.iter().map(|f| (f.outcome, f.end, f.reason.as_str(), f.count)).collect();
    // The most frequent first, then by the text.
    let expected = [
        ("error", Some("client"), "no memory", 2),
        ("gave_up", None, "", 1),
        ("alert", Some("server"), "a", 1),
        ("alert", Some("server"), "b", 1),
    ];
    assert_eq!(told, expected);

    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["failures"][1], serde_json::json!({"outcome": "gave_up", "end": null, "reason": "", "count": 1}));
    // Failed handshakes have metrics of their own, and no duration.
    assert_eq!(json["metrics"]["frames"]["max"], record.frames as f64);
    assert_eq!(json["metrics_failed"]["frames"]["mean"], 100.0);
    assert_eq!(json["metrics"]["duration_s"]["ci95"], serde_json::Value::Null, "one world has no interval");
    assert!(json["metrics_failed"].get("duration_s").is_none());
    assert!(json["metrics_failed"]["energy_client_mj"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!(json["quantiles"]["relative_error"], 0.0);
}

#[test]
fn the_reasons_that_are_told_apart_have_a_bound() {
    let scenario = scenario();
    let completed = record();
    let record = |number: u64| {
        let reason = format!("{number} octets");
        failed(&completed, number, Outcome::Error, Some((Role::Client, &reason)))
    };
    // Each reason twice: what was counted goes on to be counted.
    let records: Vec<Record> = (0..150).chain(0..150).map(record).collect();
    let summary = summarise(&scenario, &records);
    assert_eq!(summary.failures.len(), MOST_REASONS + 1);
    assert_eq!((summary.failures[0].reason.as_str(), summary.failures[0].count), (OTHER_REASONS, 100));
    assert!(summary.failures[1..].iter().all(|failure| failure.count == 2));
    assert_eq!(summary.failed["error"], 300);
}

/// A loss that is rare: the interval of Student's t would begin below 0.
#[test]
fn no_interval_of_a_run_is_negative() {
    let scenario: Scenario = r#"
        network = { topology = { kind = "line", hops = 1 } }
        mac = { kind = "tsch", slotframe = 11 }
        lowpan.fragment_loss = 0.02
        client.device = "openmote-cc2538"
        session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    "#
    .parse()
    .unwrap();
    let plan = Plan::new(&scenario).unwrap();
    let records: Vec<Record> = (1..=20).flat_map(|seed| plan.run(seed, &mut ())).collect();
    let summary = summarise(&scenario, &records);
    let of = |name| summary.metrics.iter().find(|(metric, _)| *metric == name).unwrap().1;
    let lost = of("datagrams_lost");
    let [low, high] = lost.ci95.unwrap();
    assert!(lost.mean > 0.0 && lost.half.unwrap() > lost.mean, "{lost:?}");
    assert_eq!((low, high), (0.0, lost.mean + lost.half.unwrap()));
    for (name, metric) in summary.metrics {
        let (half, [low, high]) = (metric.half.unwrap(), metric.ci95.unwrap());
        assert_eq!([low, high], [(metric.mean - half).max(0.0), metric.mean + half], "{name}");
    }
}

#[test]
fn losses_are_counted_by_reason_and_place() {
    let scenario = scenario();
    let at = |host, reason, count, holders| Loss { host, reason, count, holders };
    let (none, held) = (Holders::default(), |datagrams, lost| Holders { datagrams, lost, refused: 0 });
    let root = Host::Node(NodeId::ROOT);
    let losses = vec![
        at(root, DropReason::ReassemblyFull, 2, held(8, 4)),
        at(Host::Node(NodeId(1)), DropReason::ReassemblyFull, 1, held(2, 2)),
        at(root, DropReason::Suppressed, 9, none),
        at(Host::Internet, DropReason::Internet, 1, none),
    ];
    let record = Record { losses, ..record() };
    assert_eq!(record.lost_because(), BTreeMap::from([("internet", 1), ("reassembly_full", 3), ("suppressed", 9)]));
    // Losses count whatever became of the handshake. What is held back is not lost.
    let summary = summarise(&scenario, &[record.clone(), failed(&record, 2, Outcome::GaveUp, None)]);
    let json = serde_json::to_value(&summary.losses).unwrap();
    let expected = serde_json::json!([
        {"reason": "reassembly_full", "node": 0, "count": 4, "key": "lowpan.border_router_reassembly_buffers",
         "advice": "raise", "holders": {"datagrams": 16, "lost": 8, "refused": 0}},
        // More buffers do not help where those that there are wait for what is lost.
        {"reason": "reassembly_full", "node": 1, "count": 2, "key": "lowpan.reassembly_timeout_s", "advice": "lower",
         "holders": {"datagrams": 4, "lost": 4, "refused": 0}},
        {"reason": "internet", "node": "internet", "count": 2, "key": "server.internet_loss",
         "advice": null},
    ]);
    assert_eq!(json, expected);
}

#[test]
fn nothing_has_an_empty_summary() {
    let summary = summarise(&scenario(), []);
    assert_eq!(summary.completed, 0);
    assert!(summary.metrics.is_empty() && summary.metrics_failed.is_empty() && summary.failures.is_empty());
}

#[test]
fn many_handshakes_are_sketched_and_few_are_exact() {
    let scenario = scenario();
    let record = record();
    let vary = |seed: u64| {
        let record = Record { seed, duration_s: Some(1.0 + (seed * 7919 % 1000) as f64 / 100.0), ..record.clone() };
        if seed.is_multiple_of(10) { failed(&record, seed, Outcome::GaveUp, None) } else { record }
    };
    let records: Vec<Record> = (0..2 * MOST_EXACT).map(vary).collect();
    let exact = summarise(&scenario, &records[..MOST_EXACT as usize]);
    assert_eq!(exact.quantiles.relative_error, 0.0);
    let of_completed = |number: &Record| number.duration_s.map(|duration| (duration, number.seed));
    let (values, worlds): (Vec<f64>, Vec<u64>) = records[..MOST_EXACT as usize].iter().filter_map(of_completed).unzip();
    assert_eq!(exact.metrics[0], ("duration_s", Metric::of_worlds(values, &worlds).unwrap()));

    let sketched = summarise(&scenario, &records);
    assert_eq!(sketched.quantiles.relative_error, RELATIVE_ERROR);
    assert_eq!((sketched.completed, sketched.failed["gave_up"]), (18_000, 2_000));
    let (values, worlds): (Vec<f64>, Vec<u64>) = records.iter().filter_map(of_completed).unzip();
    let expected = Metric::of_worlds(values, &worlds).unwrap();
    let (name, ours) = sketched.metrics[0];
    assert_eq!((name, ours.mean, ours.max), ("duration_s", expected.mean, expected.max));
    assert!((ours.p95 / expected.p95 - 1.0).abs() < RELATIVE_ERROR);
    assert_ne!(ours.p95, expected.p95, "it is a sketch");
}

#[test]
fn every_metric_of_a_record_is_in_the_summary() {
    let scenario = scenario();
    let names: Vec<&str> = summarise(&scenario, &[record()]).metrics.into_iter().map(|(name, _)| name).collect();
    let expected = [
        "duration_s",
        "start_s",
        "end_s",
        "attempts",
        "bytes_phy",
        "bytes_ack",
        "bytes_control",
        "frames",
        "frames_ack",
        "frames_control",
        "datagrams",
        "bytes_payload",
        "datagrams_proxy",
        "retransmissions_needed",
        "retransmissions_spurious",
        "retransmissions_spurious_server",
        "datagrams_lost",
        "datagrams_waiting",
        "compute_client_s",
        "compute_server_s",
        "energy_client_mj",
        "energy_client_cpu_mj",
        "energy_client_tpm_mj",
        "energy_client_tx_mj",
        "energy_client_rx_mj",
        "energy_client_listen_mj",
        "energy_client_startup_mj",
        "energy_client_idle_mj",
        "energy_client_sleep_mj",
        "queue_peak",
        "reassembly_peak_bytes",
        "traffic_sent",
        "traffic_delivered",
        "traffic_lost",
    ];
    assert_eq!(names, expected);
}
