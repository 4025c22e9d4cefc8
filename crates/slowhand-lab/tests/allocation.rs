//! The memory of a summary does not grow with the handshakes.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::Scenario;
use slowhand_lab::summary::{MOST_EXACT, Summariser};

#[test]
fn a_hundred_thousand_handshakes_take_no_more_memory_than_ten_thousand() {
    let scenario: Scenario = r#"
        network = { topology = { kind = "line", hops = 1 }, link_pdr = 0.8 }
        mac = { kind = "tsch", slotframe = 11 }
        client.device = "openmote-cc2538"
        session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    "#
    .parse()
    .unwrap();
    let plan = Plan::new(&scenario).unwrap();
    let records: Vec<Record> = (0..50).flat_map(|seed| plan.run(seed, &mut ())).collect();
    // Some of them fail.
    let record = |seed: u64| {
        let outcome = if seed % 9 == 0 { Outcome::GaveUp } else { Outcome::Completed };
        Record { seed, outcome, ..records[seed as usize % records.len()].clone() }
    };
    let mut summariser = Summariser::default();
    (0..=MOST_EXACT).for_each(|seed| summariser.add(&record(seed)));
    let counted =
        allocation_counter::measure(|| (MOST_EXACT + 1..100_000).for_each(|seed| summariser.add(&record(seed))));
    assert!(counted.bytes_max < 20_000, "{counted:?}");
    assert_eq!(summariser.summary(&scenario).failed["gave_up"], 100_000 / 9 + 1);

    // The counter works: it would count the records that are kept.
    let kept = allocation_counter::measure(|| drop((0..100).map(record).collect::<Vec<_>>()));
    assert!(kept.bytes_max >= 100 * std::mem::size_of::<Record>() as u64, "{kept:?}");
}
