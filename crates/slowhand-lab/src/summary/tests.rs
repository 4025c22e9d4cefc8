use super::*;
use crate::plan::Plan;
use crate::record::{Failure, Loss};
use slowhand_net::address::NodeId;
use slowhand_sessions::Role;

fn scenario() -> Scenario {
    r#"
        network.topology = { kind = "line", hops = 1 }
        mac = { kind = "tsch", slotframe = 11 }
        client.device = "openmote-cc2538"
        session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    "#
    .parse()
    .unwrap()
}

/// A completed handshake.
fn completed(scenario: &Scenario) -> Record {
    Plan::new(scenario).unwrap().run(1, &mut ()).remove(0)
}

fn failed(record: &Record, seed: u64, outcome: Outcome, failure: Option<(Role, &str)>) -> Record {
    let failure = failure.map(|(end, reason)| Failure { end, reason: reason.to_owned() });
    Record { seed, outcome, failure, duration_s: None, frames: 100, ..record.clone() }
}

#[test]
fn failures_are_counted_by_end_and_words() {
    let scenario = scenario();
    let record = completed(&scenario);
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
    // What failed has metrics of its own, and no duration.
    assert_eq!(json["metrics"]["frames"]["max"], record.frames as f64);
    assert_eq!(json["metrics_failed"]["frames"]["mean"], 100.0);
    assert_eq!(json["metrics"]["duration_s"]["ci95"], serde_json::Value::Null, "one world has no interval");
    assert!(json["metrics_failed"].get("duration_s").is_none());
    assert!(json["metrics_failed"]["energy_client_mj"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!(json["quantiles"]["relative_error"], 0.0);
}

#[test]
fn losses_are_counted_by_reason_and_place() {
    let scenario = scenario();
    let at = |host, reason, count| Loss { host, reason, count };
    let root = Host::Node(NodeId::ROOT);
    let losses = vec![
        at(root, DropReason::ReassemblyFull, 2),
        at(Host::Node(NodeId(1)), DropReason::ReassemblyFull, 1),
        at(root, DropReason::Suppressed, 9),
        at(Host::Internet, DropReason::Internet, 1),
    ];
    let record = Record { losses, ..completed(&scenario) };
    assert_eq!(record.lost_because(), BTreeMap::from([("internet", 1), ("reassembly_full", 3), ("suppressed", 9)]));
    // Losses count whatever became of the handshake. What is held back is not lost.
    let summary = summarise(&scenario, &[record.clone(), failed(&record, 2, Outcome::GaveUp, None)]);
    let json = serde_json::to_value(&summary.losses).unwrap();
    let expected = serde_json::json!([
        {"reason": "reassembly_full", "node": 0, "count": 4, "key": "lowpan.reassembly_buffers"},
        {"reason": "reassembly_full", "node": 1, "count": 2, "key": "lowpan.reassembly_buffers"},
        {"reason": "internet", "node": "internet", "count": 2, "key": "server.internet_loss"},
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
    let record = completed(&scenario);
    let vary = |seed: u64| {
        let record = Record { seed, duration_s: Some(1.0 + (seed * 7919 % 1000) as f64 / 100.0), ..record.clone() };
        if seed % 10 == 0 { failed(&record, seed, Outcome::GaveUp, None) } else { record }
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
    let names: Vec<&str> =
        summarise(&scenario, &[completed(&scenario)]).metrics.into_iter().map(|(name, _)| name).collect();
    let expected = [
        "duration_s",
        "bytes_phy",
        "bytes_ack",
        "bytes_control",
        "frames",
        "frames_ack",
        "frames_control",
        "datagrams",
        "bytes_payload",
        "retransmissions_needed",
        "retransmissions_spurious",
        "retransmissions_spurious_server",
        "datagrams_lost",
        "compute_client_s",
        "compute_server_s",
        "energy_client_mj",
        "energy_client_cpu_mj",
        "energy_client_tpm_mj",
        "energy_client_tx_mj",
        "energy_client_rx_mj",
        "energy_client_listen_mj",
        "energy_client_sleep_mj",
        "queue_peak",
        "reassembly_peak_bytes",
    ];
    assert_eq!(names, expected);
}
