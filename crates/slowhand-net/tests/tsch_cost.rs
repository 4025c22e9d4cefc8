//! The cost of a network grows with its frames, not with idle time, and hardly with its nodes. Ratios within one run: no
//! time of a machine is compared with a number.

#[path = "../../../benches/network/case.rs"]
mod case;

use case::{Case, cheapest};
use slowhand_net::clock::Duration;

#[test]
fn idle_time_is_free() {
    let period = Duration::from_secs(11);
    let (short, long) = (Case::line(101, period), Case::line(1010, period));
    let day = Duration::from_secs(24 * 3600);
    let [short, long] = cheapest([(&short, day), (&long, day)], 40);
    assert!(short.frames.abs_diff(long.frames) < 8, "the same traffic");
    let ratio = short.simulated_per_wall_second() / long.simulated_per_wall_second();
    assert!(ratio <= 1.2, "a slotframe ten times as long costs {ratio:.2} times as much");
}

#[test]
fn a_thousand_nodes_cost_little_more_a_frame_than_ten() {
    let (small, large) = (Case::tree(10), Case::tree(1000));
    let spans = (Duration::from_secs(3600), Duration::from_secs(300));
    let [small, large] = cheapest([(&small, spans.0), (&large, spans.1)], 40);
    assert_eq!(small.delivered, small.sent);
    assert!(large.delivered * 100 >= large.sent * 99, "{} of {} delivered", large.delivered, large.sent);
    let growth = large.nanoseconds_per_frame() / small.nanoseconds_per_frame();
    assert!(growth <= 1.5, "a frame among 1,000 nodes costs {growth:.2} times one among ten");
}
