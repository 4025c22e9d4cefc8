//! The longest times that a scenario may have. The tests are compiled with checks for overflow.

use super::scenario;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::Outcome;

const TIMING: &str = "mac.timing={ tx_offset_us = 1000000, long_guard_us = 1000000, tx_ack_delay_us = 1000000, short_guard_us = 1000000 }";

/// A slotframe of two years, and every other time at its maximum.
#[test]
fn no_clock_overflows() {
    let every = [
        "session.timeout_s=1e6",
        "session.give_up_s=1e6",
        "client.start_s=1e6",
        "client.compute_factor=1e6",
        "client.device=openmote-cc2538",
        "lowpan.reassembly_timeout_s=1e6",
        "server.at=internet",
        "server.internet_delay_ms=1e6",
        "server.internet_jitter_ms=1e6",
        "gateway={ suppress_spurious_flights = true, answer_time_s = 1e6 }",
    ];
    let slots =
        ["mac.slot_ms=1e6", TIMING, "mac.slotframe=65535", "mac.max_retries=254", "mac.min_be=8", "mac.max_be=8"];
    let recovery =
        "lowpan={ reassembly = \"recovery\", recovery = { retries = 254 }, forwarding = { timeout_s = 1e6 } }";
    for layer in [
        &slots[..],
        &[&slots[..], &[recovery]].concat(),
        &[&slots[..], &["mac.scheduling=msf"]].concat(),
        &[&slots[..], &["session.stack=mbedtls", "session.protocol=tls1.2", "gateway={ tcp_proxy = true }"]].concat(),
        &["mac={ kind = \"beacon\", beacon_interval_ms = 1e6, cap_ms = 1e4, transaction_persistence = 65535 }"],
        &["mac={ kind = \"xmac\", check_interval_ms = 1e6 }"],
    ] {
        for spread in ["client.start_spread_s=0", "client.start_spread_s=1e6"] {
            let changes = [&every[..], layer, &[spread]].concat();
            let records = Plan::new(&scenario(&changes)).unwrap().run(1, &mut ());
            assert_ne!(records[0].outcome, Outcome::Completed, "{changes:?}");
        }
    }
}
