use super::*;
use slowhand_net::address::NodeId;

fn record() -> Record {
    let loss = |reason, host, count| Loss { reason, host, count, holders: Holders::default() };
    Record {
        seed: 7,
        client: 3,
        outcome: Outcome::Alert,
        failure: Some(Failure { end: Role::Server, reason: "no shared cipher".to_owned() }),
        duration_s: None,
        start_s: 1.5,
        end_s: 4.0,
        attempts: 2,
        bytes_phy: 11,
        bytes_ack: 12,
        bytes_control: 13,
        frames: 14,
        frames_ack: 15,
        frames_control: 16,
        datagrams: 17,
        bytes_payload: 18,
        datagrams_proxy: 24,
        retransmissions_needed: 19,
        retransmissions_spurious: 20,
        retransmissions_spurious_server: 21,
        datagrams_lost: 22,
        datagrams_waiting: 23,
        losses: vec![
            loss(DropReason::QueueFull, Host::Node(NodeId(3)), 1),
            loss(DropReason::InjectedLoss, Host::Node(NodeId(0)), 2),
            loss(DropReason::InjectedLoss, Host::Node(NodeId(3)), 3),
            loss(DropReason::Internet, Host::Internet, 4),
        ],
        compute_client_s: 0.5,
        compute_server_s: 0.25,
        energy_server: Some(Energy { rx_mj: 1.5, sleep_mj: 0.5, ..Energy::default() }),
        energy_client: Energy {
            cpu_mj: 1.0,
            tpm_mj: 2.0,
            tx_mj: 4.0,
            rx_mj: 8.0,
            listen_mj: 16.0,
            startup_mj: 32.0,
            idle_mj: 64.0,
            sleep_mj: 128.0,
        },
        queue_peak: [1, 5].into(),
        reassembly_peak_bytes: [306, 0].into(),
        traffic: Traffic {
            sent: 40,
            delivered: 30,
            losses: [(DropReason::QueueFull, 5), (DropReason::NoCell, 3)].into(),
            latency_mean_s: Some(0.125),
            latency_p95_s: None,
        },
        data: Some(DataReport {
            outcome: Outcome::TimedOut,
            failure: Some(Failure { end: Role::Client, reason: "no response".to_owned() }),
            duration_s: None,
            costs: Costs { datagrams: 51, bytes_payload: 52, frames: 53, bytes_phy: 54, ..Costs::default() },
            energy_client: Energy { tx_mj: 55.0, ..Energy::default() },
        }),
    }
}

#[test]
fn each_column_has_its_value() {
    let columns = columns(&[record()]);
    let names: Vec<&str> = columns.iter().map(|(field, _)| field.name).collect();
    let of = |name: &str| &columns[names.iter().position(|other| *other == name).unwrap_or_else(|| panic!("{name}"))].1;
    let whole = [
        ("seed", 7),
        ("client", 3),
        ("attempts", 2),
        ("bytes_phy", 11),
        ("bytes_ack", 12),
        ("bytes_control", 13),
        ("frames", 14),
        ("frames_ack", 15),
        ("frames_control", 16),
        ("datagrams", 17),
        ("bytes_payload", 18),
        ("datagrams_proxy", 24),
        ("retransmissions_needed", 19),
        ("retransmissions_spurious", 20),
        ("retransmissions_spurious_server", 21),
        ("datagrams_lost", 22),
        ("datagrams_waiting", 23),
        ("traffic_sent", 40),
        ("traffic_delivered", 30),
        ("traffic_lost", 8),
    ];
    for (name, value) in whole {
        assert_eq!(of(name), &Column::U64(vec![value]), "{name}");
    }
    let numbers = [
        ("start_s", 1.5),
        ("end_s", 4.0),
        ("compute_client_s", 0.5),
        ("compute_server_s", 0.25),
        ("energy_client_mj", 255.0),
        ("energy_client_cpu_mj", 1.0),
        ("energy_client_tpm_mj", 2.0),
        ("energy_client_tx_mj", 4.0),
        ("energy_client_rx_mj", 8.0),
        ("energy_client_listen_mj", 16.0),
        ("energy_client_startup_mj", 32.0),
        ("energy_client_idle_mj", 64.0),
        ("energy_client_sleep_mj", 128.0),
    ];
    for (name, value) in numbers {
        assert_eq!(of(name), &Column::F64(vec![value]), "{name}");
    }
    assert_eq!(of("outcome"), &Column::Text(vec!["alert".to_owned()]));
    assert_eq!(of("duration_s"), &Column::OptF64(vec![None]));
    assert_eq!(of("lost_because"), &Column::Text(vec!["injected_loss:5 internet:4 queue_full:1".to_owned()]));
    assert_eq!(of("failure_end"), &Column::OptText(vec![Some("server".to_owned())]));
    assert_eq!(of("failure_reason"), &Column::OptText(vec![Some("no shared cipher".to_owned())]));
    assert_eq!(of("queue_peak"), &Column::Lists(vec![[1, 5].into()]));
    assert_eq!(of("reassembly_peak_bytes"), &Column::Lists(vec![[306, 0].into()]));
    assert_eq!(of("losses"), &Column::Losses(vec![record().losses]));
    assert_eq!(of("traffic_lost_because"), &Column::Text(vec!["no_cell:3 queue_full:5".to_owned()]));
    assert_eq!(of("traffic_latency_mean_s"), &Column::OptF64(vec![Some(0.125)]));
    assert_eq!(of("traffic_latency_p95_s"), &Column::OptF64(vec![None]));
    assert_eq!(of("energy_server_mj"), &Column::OptF64(vec![Some(2.0)]));
    let of_data = [("data_datagrams", 51), ("data_bytes_payload", 52), ("data_frames", 53), ("data_bytes_phy", 54)];
    for (name, value) in of_data {
        assert_eq!(of(name), &Column::OptU64(vec![Some(value)]), "{name}");
    }
    assert_eq!(of("data_outcome"), &Column::OptText(vec![Some("timed_out".to_owned())]));
    assert_eq!(of("data_s"), &Column::OptF64(vec![None]));
    assert_eq!(of("data_failure_end"), &Column::OptText(vec![Some("client".to_owned())]));
    assert_eq!(of("data_failure_reason"), &Column::OptText(vec![Some("no response".to_owned())]));
    assert_eq!(of("energy_client_data_mj"), &Column::OptF64(vec![Some(55.0)]));
    assert_eq!(names.len(), whole.len() + numbers.len() + 12 + of_data.len() + 5, "a column without a test: {names:?}");
}

#[test]
fn a_quantity_of_a_list_is_its_greatest_element() {
    let of = |name| quantities().find(|quantity| quantity.field.name == name).unwrap();
    assert_eq!(of("queue_peak").of(&record()), Some(5.0));
    assert_eq!(of("queue_peak").of(&Record { queue_peak: [].into(), ..record() }), Some(0.0));
    assert_eq!(of("duration_s").of(&record()), None);
    assert_eq!(of("duration_s").of(&Record { duration_s: Some(1.5), ..record() }), Some(1.5));
    assert!(of("queue_peak").is_whole() && of("frames").is_whole() && !of("duration_s").is_whole());
    assert!(!of("energy_client_mj").is_whole());
    assert!(quantities().all(|quantity| !["seed", "client", "outcome", "losses"].contains(&quantity.field.name)));
}

#[test]
fn names_are_those_of_json_and_tables() {
    use Outcome::*;
    let outcomes = [Completed, GaveUp, TimedOut, Reset, Alert, Error, Refused, Evicted].map(Outcome::name);
    assert_eq!(outcomes, ["completed", "gave_up", "timed_out", "reset", "alert", "error", "refused", "evicted"]);
    assert_eq!(Phase::ALL.map(Phase::name), ["handshake", "data", "closing"]);
    let ends = [Role::Client, Role::Server].map(|end| Failure { end, reason: String::new() }.end_name());
    assert_eq!(ends, ["client", "server"]);
    let nodes: Vec<Option<u16>> = record().losses.iter().map(Loss::node).collect();
    assert_eq!(nodes, [Some(3), Some(0), Some(3), None]);
}
