//! The memory of a life does not grow with its time. This test is alone in its process, so that nothing else takes memory.

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::life::{DAY_S, simulate};
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

/// The most octets that the process has had in memory.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

const PSK: &str = "session.suite=TLS_PSK_WITH_AES_128_CCM_8";

#[test]
fn a_longer_life_takes_no_more_memory() {
    let asking = "application.period_s=30";
    let other = "traffic=[{ from = 1, to = \"root\", interval_ms = 60000, octets = 20 }]";
    for more in [
        &[
            "application.idle_timeout_s=20",
            "session.connection_id=2",
            "session.stack=lean-dtls",
            PSK,
            "session.auth=psk",
        ][..],
        &["application.session=resumed", "session.resumption=id", PSK, "session.auth=psk"],
    ] {
        let changes = [&["application.pattern=periodic", asking, other], more].concat();
        let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
        let scenario = Scenario::load(Path::new("../../scenarios/quickstart.toml"), &changes).unwrap();
        let live = |days: f64| {
            let life = simulate(&scenario, None, days * DAY_S, 1, &Interrupt::default()).unwrap();
            assert!(life.counts.requests > (2_000.0 * days) as u64 && life.counts.failed < 100, "{:?}", life.counts);
            peak()
        };
        // As many requests as latencies are kept of.
        let before = live(4.0);
        let after = live(16.0);
        // 35,000 more requests, and 17,000 more datagrams of other traffic.
        assert!(after < before + 1_000_000, "{more:?}: {before} and {after} octets");
    }
}
