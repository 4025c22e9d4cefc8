//! The handshake of a sleepy device under CSMA/CA.

use crate::plan;
use slowhand_lab::record::Outcome;

/// The time that handshakes over two hops take, in seconds: of twenty seeds, ascending. (Over one hop this server, which takes no
/// time to compute, answers before the acknowledgement, which says so.)
fn durations(keys: &str) -> Vec<f64> {
    let mac = format!("mac={{ kind = \"csma\", {keys} }}");
    let plan = plan(&[&mac, "network.topology.hops=2", "session.timeout_s=9"]);
    let duration = |seed| {
        let record = plan.run(seed, &mut ()).remove(0);
        assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0), "{keys}");
        record.duration_s.unwrap()
    };
    let mut durations: Vec<f64> = (0..20).map(duration).collect();
    durations.sort_by(f64::total_cmp);
    durations
}

/// Each of the server's three flights (HelloVerifyRequest, ServerHello and ServerHelloDone, Finished) waits for a poll. The
/// client answers the first two at once, so that the second and the third wait for a whole period, and the first for a
/// part of one. The exchanges themselves take some milliseconds.
#[test]
fn each_flight_of_the_server_waits_for_a_poll() {
    let assert_within = |keys: &str, least: f64, most: f64| {
        let durations = durations(keys);
        assert!(least <= durations[0] && durations[19] <= most, "{keys}: {durations:?}");
    };
    assert_within("sleepy = \"none\"", 0.02, 0.2);
    assert_within("sleepy = \"leaves\", poll_period_ms = 1000, fast_poll = \"never\"", 2.0, 3.1);
    // The first fast poll comes within a period of the device's own frame.
    assert_within("sleepy = [2], poll_period_ms = 60000", 2.0 * 0.188, 3.0 * 0.188 + 0.1);
    assert_within("sleepy = [2], poll_period_ms = 60000, fast_poll = \"session\"", 2.0 * 0.188, 3.0 * 0.188 + 0.1);
    // Samples come ten times a second.
    let csl = "sleepy = \"leaves\", csl = { period_ms = 100 }, fast_poll = \"never\"";
    assert_within(csl, 2.0 * 0.09, 3.0 * 0.1 + 0.1);
}
