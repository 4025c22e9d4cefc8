//! The cost of the network, without any session on it.
//!
//! `cargo bench -p slowhand-net --bench network` prints simulated seconds per second of one core, and ratios that hold on
//! a noisy machine. `... -- frames N csma` runs the line under one link layer until N frames have been sent, for a
//! profiler: `valgrind --tool=callgrind` counts its instructions.

mod case;

use case::{Case, cheapest};
use slowhand_net::clock::Duration;
use slowhand_net::radio::beacon::Superframe;

const TURNS: usize = 15;

const USAGE: &str = "usage: network [frames N [tsch | csma | xmac | beacon]]";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, frames, mac @ ..] = &arguments[..] {
        assert!(mode == "frames" && mac.len() < 2, "{USAGE}");
        let frames = frames.parse().expect("N is a number of frames");
        let case = line_under(mac.first().map_or("tsch", String::as_str), Duration::from_millis(1100));
        let cost = case.run(Duration::from_secs(u64::MAX >> 24), frames);
        return println!("{} frames, {} of {} datagrams delivered", cost.frames, cost.delivered, cost.sent);
    }
    line();
    contention();
    idle();
    tree();
}

/// The line of 5 nodes under a link layer.
fn line_under(mac: &str, period: Duration) -> Case {
    match mac {
        "tsch" => Case::line(101, period),
        "csma" => Case::line_of_csma(period),
        "xmac" => Case::line_of_xmac(Duration::from_millis(125), period),
        "beacon" => Case::line_of_beacons(Superframe::of_orders(4, 1).expect("orders of the standard"), period),
        _ => panic!("{USAGE}"),
    }
}

fn line() {
    let case = line_under("tsch", Duration::from_millis(1100));
    let [cost] = cheapest([(&case, Duration::from_secs(24 * 3600))], TURNS);
    println!("line of 5 nodes, slotframe 101 x 10 ms, 60 octets end to end every 1.1 s, 24 h:");
    println!("  {:>9.0} simulated s per s of one core", cost.simulated_per_second());
    println!(
        "  {:>9.0} ns a frame ({} frames, {} datagrams)",
        cost.nanoseconds_per_frame(),
        cost.frames,
        cost.delivered
    );
}

fn contention() {
    let (period, hours) = (Duration::from_millis(1100), Duration::from_secs(6 * 3600));
    let cases = ["csma", "xmac", "beacon"].map(|mac| line_under(mac, period));
    let [csma, xmac, beacon] = &cases;
    let costs = cheapest([(csma, hours), (xmac, hours), (beacon, hours)], TURNS);
    println!("the same line and traffic, 6 h:");
    let names = ["unslotted CSMA/CA", "X-MAC, a check every 125 ms", "beacons every 245.76 ms, CAP 30.72 ms"];
    for (name, cost) in names.iter().zip(&costs) {
        let (speed, delivered) = (cost.simulated_per_second(), cost.delivered);
        println!(
            "  {speed:>9.0} simulated s per s of one core, {name} ({delivered} of {} datagrams delivered)",
            cost.sent
        );
    }
}

fn idle() {
    let (period, week) = (Duration::from_secs(11), Duration::from_secs(7 * 24 * 3600));
    let (short, long) = (Case::line(101, period), Case::line(1010, period));
    let [short, long] = cheapest([(&short, week), (&long, week)], TURNS);
    let ratio = short.simulated_per_second() / long.simulated_per_second();
    println!("the same line, 60 octets every 11 s, slotframe 1010 against 101:");
    println!("  {ratio:>9.2} times the cost of a simulated second");
}

fn tree() {
    let (small, large) = (Case::tree(10), Case::tree(1000));
    let [small, large] =
        cheapest([(&small, Duration::from_secs(24 * 3600)), (&large, Duration::from_secs(600))], TURNS);
    println!("trees whose nodes all send 60 octets to the root within every minute:");
    for (nodes, cost) in [("10", &small), ("1,000", &large)] {
        let (each, delivered) = (cost.nanoseconds_per_frame(), cost.delivered);
        println!("  {each:>9.0} ns a frame with {nodes} nodes ({delivered} of {} datagrams delivered)", cost.sent);
    }
    let growth = large.nanoseconds_per_frame() / small.nanoseconds_per_frame();
    println!("  {growth:>9.2} times the cost of a frame");
    let (small, large) = (Case::tree_of_csma(10), Case::tree_of_csma(10_000));
    let [small, large] = cheapest([(&small, Duration::from_secs(3_600)), (&large, Duration::from_secs(3_600))], TURNS);
    println!("trees under unslotted CSMA/CA, two packets a second:");
    for (nodes, cost) in [("10", &small), ("10,000", &large)] {
        let (each, delivered) = (cost.nanoseconds_per_frame(), cost.delivered);
        println!("  {each:>9.0} ns a frame with {nodes} nodes ({delivered} of {} datagrams delivered)", cost.sent);
    }
    let growth = large.nanoseconds_per_frame() / small.nanoseconds_per_frame();
    println!("  {growth:>9.2} times the cost of a frame");
}
