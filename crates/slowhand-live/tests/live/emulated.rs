//! Both ends emulated: the same world as that of a run.

use super::{ONE_HOP, records, scenario, setup};
use slowhand_lab::plan::Plan;
use slowhand_live::{EndReason, Event, Live, Ways};
use std::time::Duration;

#[test]
fn a_live_world_has_the_records_of_a_run() {
    let tree = r#"
        network = { topology = { kind = "tree", depth = 2, fan_out = 3 }, link_pdr = 0.8 }
        mac = { kind = "tsch", slotframe = 31, cells = { shared = 3, up = 1, down = 1 } }
        client = { device = "openmote-cc2538", start_spread_s = 20 }
        session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    "#;
    let stream = ONE_HOP.replace("session = {", "session = { protocol = \"tls1.2\",");
    for text in [ONE_HOP, tree, &stream] {
        let scenario = scenario(text);
        let plan = Plan::new(&scenario).unwrap();
        for seed in [1, 7] {
            let setup = slowhand_live::Setup { seed, speed: 1000.0, ..setup(Ways::Emulated) };
            let live = Live::start(&scenario, setup).unwrap();
            assert_eq!(records(&live), plan.run(seed, &mut ()), "seed {seed} of {text}");
        }
    }
}

#[test]
fn events_come_in_order() {
    let live = super::start(ONE_HOP, slowhand_live::Setup { speed: 100.0, ..setup(Ways::Emulated) });
    let mut names = Vec::new();
    while let Some(event) = live.next_event(Duration::from_secs(20)) {
        names.push(serde_json::to_value(&event).unwrap()["event"].as_str().unwrap().to_owned());
        if let Event::Ended { reason, .. } = event {
            assert_eq!(reason, EndReason::Finished);
            break;
        }
    }
    names.retain(|name| name != "late");
    assert_eq!(names, ["started", "opened", "established", "closed", "ended"]);
}
