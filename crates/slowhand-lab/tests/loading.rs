//! Loading a scenario takes work that grows with its length, and not with the square of it.

use slowhand_lab::scenario::Scenario;
use std::fmt::Write;

/// A ternary tree, as a list with a line for each link, and a list of all its leaves.
fn text(links: u32) -> String {
    let mut text = String::from("[network]\ntopology = { kind = \"explicit\", links = [\n");
    (1..=links).for_each(|node| writeln!(text, "{{ from = {}, to = {node} }},", (node - 1) / 3).unwrap());
    text += "] }\n[mac]\nkind = \"beacon\"\nbeacon_interval_ms = 1e6\n[client]\ndevice = \"wismote\"\nnodes = [\n";
    ((links - 1) / 3 + 1..=links).for_each(|node| writeln!(text, "{node},").unwrap());
    text + "]\n[limits]\nmemory_mb = 16000\n[session]\nstack = \"tinydtls\"\nclient_port = 1\n"
}

/// The processor time of this thread that loading takes, in nanoseconds: the least of three. Other programs do not count.
fn work(text: &str) -> f64 {
    let now = || -> f64 {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    };
    let measure = || {
        let before = now();
        let scenario: Scenario = text.parse().unwrap();
        assert!(scenario.clients().len() > 100);
        now() - before
    };
    (0..3).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Eight times the links: work that grows with the square would be 64 times as much.
#[test]
fn eight_times_the_links_are_about_eight_times_the_work() {
    let [few, many] = [7_500, 60_000].map(|links| work(&text(links)));
    assert!(many < 20.0 * few, "{many} ns after {few} ns");
}
