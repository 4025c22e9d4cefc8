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

/// A star with a cell in each direction between each leaf and the root, each in a slot of its own.
fn schedule(cells: u32) -> String {
    let leaves = cells / 2;
    let mut text = format!("[network]\ntopology = {{ kind = \"star\", leaves = {leaves} }}\n");
    text += "[mac]\nkind = \"tsch\"\nslotframe = 65535\nautonomous = false\nschedule = [\n";
    (1..=leaves).for_each(|leaf| {
        let (up, down) = (2 * leaf - 1, 2 * leaf);
        writeln!(text, "{{ slot = {up}, from = {leaf}, to = 0 }},").unwrap();
        writeln!(text, "{{ slot = {down}, from = 0, to = {leaf} }},").unwrap();
    });
    text += "]\n[client]\ndevice = \"openmote-cc2538\"\nnodes = [\n";
    (1..=200).for_each(|node| writeln!(text, "{node},").unwrap());
    text + "]\n[session]\nstack = \"tinydtls\"\nclient_port = 1\n"
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

#[test]
fn eight_times_the_cells_are_about_eight_times_the_work() {
    let [few, many] = [7_500, 60_000].map(|cells| work(&schedule(cells)));
    assert!(many < 20.0 * few, "{many} ns after {few} ns");
}
