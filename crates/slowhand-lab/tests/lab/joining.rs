//! Networks that form.

use std::path::Path;

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::joining::{JoinPlan, JoinRecord, Phase, capture_join};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::wireshark_arguments;
use slowhand_testing::wireshark::Tshark;

fn scenario(changes: &[&str]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/join.toml");
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"))
}

fn joined(changes: &[&str], worlds: u64) -> Vec<JoinRecord> {
    JoinPlan::new(&scenario(changes)).unwrap().run_all(1, worlds, 2, &Interrupt::default())
}

fn seconds(record: &JoinRecord, phase: Phase) -> f64 {
    record.at(phase).unwrap_or_else(|| panic!("{record:?}")).as_secs_f64()
}

const ONE_HOP: &str = "network.topology.hops=1";
const PLAIN: &str = "mac.security=";
const BY_STANDARDS: &str = "network.profile=rfc";

/// Each node begins when the one before it is through, and goes through all phases in their order.
#[test]
fn a_row_of_nodes_joins_one_after_the_other() {
    for profile in ["openwsn", "rfc"] {
        let records = joined(&[&format!("network.profile={profile}")], 3);
        assert_eq!(records.len(), 3 * 4);
        for world in records.chunks(4) {
            let ready = |record: &JoinRecord| record.start.as_secs_f64() + seconds(record, Phase::Cell);
            assert!(world.is_sorted_by_key(ready), "{profile}");
            for (record, number) in world.iter().zip(1..) {
                assert_eq!((record.node, record.hops, record.missing()), (number, Some(number), None), "{profile}");
                assert_eq!((record.proxy, record.parent), (Some(number - 1), Some(number - 1)), "{profile}");
                assert!(Phase::ALL.map(|phase| record.at(phase)).is_sorted(), "{record:?}");
                // The radio of 20 mA at 3 V is on all the time until then (devices/openmote-cc2538.toml).
                let watts = record.scan_mj.unwrap() / 1e3 / (seconds(record, Phase::Synchronised) + 1.0);
                assert!((0.04..0.08).contains(&watts), "{watts} W");
            }
        }
    }
}

/// A beacon is sent in every tenth slotframe of 2.02 s, and the pledge listens to one of 16 channels, drawn anew each time: it hears
/// one after 16 * 10 * 2.02 s on average, as long as it changes its channel between two beacons.
#[test]
fn the_time_to_the_first_beacon_is_that_of_theory() {
    let records = joined(&[ONE_HOP, "join.channel_s=1"], 400);
    let mean = records.iter().map(|record| seconds(record, Phase::Synchronised)).sum::<f64>() / 400.0;
    let expected = 16.0 * 10.0 * 2.02;
    // A geometric distribution: its standard deviation is its mean. Three standard errors.
    assert!((mean - expected).abs() < 3.0 * expected / 400_f64.sqrt(), "{mean} s, expected {expected} s");
    let four = joined(&[ONE_HOP, "join.channel_s=1", "mac.hopping_sequence=[15, 20, 25, 26]"], 400);
    let mean = four.iter().map(|record| seconds(record, Phase::Synchronised)).sum::<f64>() / 400.0;
    assert!((mean - expected / 4.0).abs() < 3.0 * expected / 4.0 / 400_f64.sqrt(), "{mean} s with four channels");
}

/// With one neighbour there is no second beacon to wait for: all of MAX_EB_DELAY is over.
#[test]
fn a_pledge_waits_for_a_second_source_of_beacons() {
    let records = joined(&[ONE_HOP, BY_STANDARDS], 20);
    assert!(records.iter().all(|record| seconds(record, Phase::Synchronised) > 180.0));
    let at_once = joined(&[ONE_HOP, BY_STANDARDS, "join.beacon_sources=1"], 20);
    for (waited, at_once) in records.iter().zip(&at_once) {
        let difference = seconds(waited, Phase::Synchronised) - seconds(at_once, Phase::Synchronised);
        assert!((difference - 180.0).abs() < 1e-6, "the same beacon, and 180 s: {difference}");
    }
}

/// By hand, beside the root: MAC header 21, IPHC 2, UDP 1 + 4 + 2, FCS 2 = 32, and messages of 52 and 42 octets.
#[test]
fn octets_of_the_join_are_those_worked_out_by_hand() {
    for record in joined(&[ONE_HOP], 5) {
        assert_eq!((record.requests, record.join_frames, record.join_repeated_frames), (1, 2, 0));
        assert_eq!(record.join_octets, 32 + 52 + 32 + 42);
    }
}

/// A frame is lost here and there, and requests too; the timer of the pledge repairs it. In a world where nothing but
/// acknowledgements is lost, frames are sent again.
#[test]
fn lossy_links_take_longer() {
    let changes = ["network.topology.hops=2", "network.link_pdr=0.7", "join.give_up_s=100000", "mac.max_retries=5"];
    let records = joined(&changes, 10);
    assert!(records.iter().all(|record| record.missing().is_none()));
    assert!(records.iter().any(|record| record.requests > 1), "a request or its response was lost");
    let records = joined(&[ONE_HOP, "network.ack_pdr=0.5"], 20);
    assert!(records.iter().all(|record| record.missing().is_none()));
    assert!(records.iter().any(|record| record.join_repeated_frames > 0));
}

/// The pledge gives its proxy up, and scans again.
#[test]
fn whoever_gets_no_response_scans_again() {
    let changes = [ONE_HOP, BY_STANDARDS, "join.retries=0", "join.timeout_s=0.01", "join.give_up_s=3000"];
    let records = joined(&changes, 3);
    for record in records {
        assert!(record.scans > 2 && record.missing().is_some(), "{record:?}");
        assert_eq!(record.requests + 1, record.scans + u64::from(record.at(Phase::Synchronised).is_some()));
    }
}

#[test]
fn without_a_scheduling_function_there_is_no_cell_to_negotiate() {
    let records = joined(&["mac.scheduling=static", "mac.autonomous=false", "network.topology.hops=2"], 3);
    for record in records {
        assert_eq!((record.at(Phase::Cell), record.missing(), record.sixtop_frames), (None, None, 0));
    }
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let plan = JoinPlan::new(&scenario(&["network.link_pdr=0.8"])).unwrap();
    let run = |threads| plan.run_all(5, 4, threads, &Interrupt::default());
    assert_eq!(run(1), run(3));
    assert_eq!(plan.run_all(6, 1, 1, &Interrupt::default()), run(1)[4..8]);
    let last = plan.run_all(u64::MAX - 1, 5, 3, &Interrupt::default());
    assert_eq!(last.iter().map(|record| record.seed).collect::<Vec<_>>(), [[u64::MAX - 1; 4], [u64::MAX; 4]].concat());
    let interrupt = Interrupt::default();
    interrupt.set();
    assert!(plan.run_all(1, 4, 2, &interrupt).is_empty());
}

#[test]
fn only_a_tsch_network_forms() {
    let error = |change: &str| JoinPlan::new(&scenario(&[PLAIN, change])).unwrap_err().to_string();
    assert!(error("network.outages=[{ node = 1, from_s = 1, until_s = 2 }]").starts_with("network.outages: "));
    assert!(error("mac.cells.shared=0").starts_with("mac.cells.shared: found 0, allowed: 1 or more"));
    let told = scenario(&[PLAIN, "lowpan.payload_compression=ghc", "lowpan.capabilities=exchanged"]);
    assert!(JoinPlan::new(&told).unwrap_err().to_string().starts_with("lowpan.capabilities: "));
    let csma = "mac={ kind = \"csma\" }";
    let error = JoinPlan::new(&scenario(&["lowpan.rpl=none", "lowpan.rpl_encoding=", csma])).unwrap_err();
    assert!(error.to_string().starts_with("mac.kind: found another link layer, allowed: \"tsch\""), "{error}");
}

/// tshark reads every frame: what a pledge and its proxy say to each other is in the clear, all else is secured and decrypted.
#[test]
fn tshark_reads_how_a_network_forms() {
    let scenario = scenario(&["network.topology.hops=2"]);
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("joining.pcapng");
    let records = capture_join(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
    assert!(records.iter().all(|record| record.missing().is_none()));
    let fields = [
        "wpan.security",
        "wpan.frame_type",
        "coap.opt.uri_host",
        "coap.code",
        "icmpv6.code",
        "wpan.6top_code",
        "ipv6.src",
        "udp.length",
    ];
    let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("wpan.frame_type != 2");
    let rows = tshark.rows_of_file(&capture, &fields);
    let in_clear: Vec<_> = rows.iter().filter(|row| row[0] == "0").collect();
    // The requests and the responses of both pledges: 52 and 42 octets, and 8 of UDP.
    let said: Vec<_> = in_clear.iter().map(|row| (row[2].as_str(), row[3].as_str(), row[7].as_str())).collect();
    let of_each = [("6tisch.arpa", "2", "60"), ("", "68", "50")];
    assert_eq!(said, of_each.repeat(2));
    let count = |column: usize, value: &str| rows.iter().filter(|row| row[column] == value).count();
    assert!(count(1, "0x0000") > 20, "beacons");
    assert!(count(4, "1") > 5, "DIOs");
    assert!(count(4, "2") >= 1, "DAOs");
    assert_eq!(count(5, "0x01"), 2, "each node adds a cell");
    // A frame that is no beacon is 6P, or a packet: all of it was decrypted.
    let is_read = |row: &Vec<String>| row[1] == "0x0000" || !row[5].is_empty() || !row[6].is_empty();
    assert!(rows.iter().all(is_read));
}
