//! Idle time costs nothing.

use super::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::link::Links;
use slowhand_net::radio::xmac::XMac;
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;

const NODES: u16 = 5;

/// Sends 60 octets from one end of a line of five nodes to the other every `gap`. Returns how many calls the MAC
/// needed, and how many packets arrived.
fn relay(packets: u64, gap: Duration) -> (u64, u64) {
    let streams = Streams::new(1);
    let mut mac =
        XMac::new(config(), CHANNEL, Links::new(NODES.into(), &super::line(NODES - 1, 1.0), &streams), &streams);
    let (mut calls, mut arrived, mut indications) = (0, 0, Vec::new());
    for packet in 0..packets {
        let start = at(0) + gap * packet;
        mac.enqueue(start, Msdu::new(NodeId(NODES - 1), NodeId(NODES - 2), &[0x5a; 60], packet as u32)).unwrap();
        while let Some(now) = mac.deadline().filter(|&now| now < start + gap) {
            mac.handle_deadline(now, &mut indications, &mut ());
            calls += 1;
            for indication in indications.drain(..) {
                match indication {
                    Indication::Received { node: NodeId::ROOT, .. } => arrived += 1,
                    Indication::Received { node, datagram, payload, .. } => {
                        mac.enqueue(now, Msdu::new(node, NodeId(node.0 - 1), &payload, datagram)).unwrap();
                    }
                    _ => {}
                }
            }
        }
    }
    (calls, arrived)
}

#[test]
fn ten_times_the_idle_time_takes_no_more_events() {
    // Whole check intervals, so that the phases of the wake-ups are the same: 9 and 90 of them.
    let (busy, arrived) = relay(200, Duration::from_millis(1_125));
    assert_eq!(arrived, 200);
    let (idle, arrived) = relay(200, Duration::from_millis(11_250));
    assert_eq!(arrived, 200);
    assert!(idle <= busy, "{idle} calls instead of {busy}");
    // Four hops of at least a strobe, its acknowledgement and data, each of them begun and ended.
    assert!(busy >= 200 * 4 * 6, "{busy} calls");
}

/// Simulated seconds per second of wall clock: `cargo test --release -p slowhand-net --test net throughput -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn throughput() {
    let packets = 36_000;
    let gap = Duration::from_millis(1_100);
    let start = std::time::Instant::now();
    let (calls, arrived) = relay(packets, gap);
    let wall = start.elapsed().as_secs_f64();
    let simulated = (gap * packets).as_secs_f64();
    println!("{:.0} simulated s per wall s; {calls} calls for {packets} packets, {arrived} arrived", simulated / wall);
}
