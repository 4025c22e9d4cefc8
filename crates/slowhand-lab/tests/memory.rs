//! The estimate of a world's memory. This test is alone in its process, so that nothing else takes memory.

use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Override, Scenario};
use std::path::Path;

/// Octets that the process has in memory, and the most that it had since the last call.
fn resident() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let of = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    };
    [of("VmRSS:"), of("VmHWM:")]
}

fn scenario(changes: &[&str]) -> Scenario {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::load(Path::new("../../scenarios/quickstart.toml"), &changes).unwrap()
}

/// The estimate is not less than what a world takes, and at most four times as much.
#[test]
fn a_world_takes_about_what_is_estimated() {
    let session = |stack: &str| {
        format!(
            "session={{ stack = \"{stack}\", suite = \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8\", timeout_s = 1, client_port = 1 }}"
        )
    };
    for (leaves, stack) in [(300, "mbedtls"), (600, "openssl")] {
        let topology = format!("network.topology={{ kind = \"star\", leaves = {leaves} }}");
        let scenario = scenario(&[
            &topology,
            "mac={ kind = \"xmac\" }",
            &session(stack),
            "client.start_spread_s=0",
            "session.give_up_s=60",
        ]);
        let plan = Plan::new(&scenario).unwrap();
        let before = resident()[0];
        plan.run(1, &mut ());
        let taken = resident()[1] - before;
        let estimate = scenario.memory();
        assert!(taken < estimate && estimate < 4 * taken, "{stack}: {taken} taken, {estimate} estimated");
    }
}
