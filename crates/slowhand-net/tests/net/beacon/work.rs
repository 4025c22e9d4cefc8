//! Idle time is free: the work grows with frames, and with nothing else.

use super::*;
use slowhand_net::clock::Duration;
use slowhand_net::observer::{FrameKind, RadioWork};
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Superframe};
use slowhand_net::radio::{Indication, Mac, Msdu};

/// Five nodes in a line; the last sends 60 octets to the first once a period, hop by hop. Returns how many arrive.
fn relay(mac: &mut Beacon, period: Duration, packets: u32, air: &mut Recorder) -> u32 {
    let mut arrived = 0;
    let mut indications = Vec::new();
    for packet in 0..=packets {
        let send_at = at(1_000) + period * u64::from(packet);
        while let Some(now) = mac.deadline().filter(|&now| now < send_at) {
            mac.handle_deadline(now, &mut indications, air);
            for indication in indications.drain(..) {
                if let Indication::Received { node: at_node, datagram, payload, .. } = indication {
                    match at_node.0.checked_sub(1) {
                        Some(next) => mac.enqueue(now, Msdu::new(at_node, node(next), &payload, datagram)).unwrap(),
                        None => arrived += 1,
                    }
                }
            }
        }
        if packet < packets {
            mac.enqueue(send_at, Msdu::new(node(4), node(3), &[0x5a; 60], packet)).unwrap();
        }
    }
    arrived
}

fn line(superframe: Superframe, trace_idle_beacons: bool, pdr: f64) -> Beacon {
    let config = BeaconConfig { trace_idle_beacons, ..BeaconConfig::standard(superframe) };
    of_tree(config, &[None, Some(0), Some(1), Some(2), Some(3)], pdr)
}

#[test]
fn work_grows_with_frames_and_not_with_time() {
    let superframe = Superframe::of_orders(4, 1).unwrap();
    let work = |period: Duration, trace| {
        let (mut mac, mut air) = (line(superframe, trace, 1.0), Recorder::default());
        assert_eq!(relay(&mut mac, period, 100, &mut air), 100);
        let data = air.of(FrameKind::Data).len() as u64;
        assert_eq!(data, 400, "100 packets over four hops");
        mac.events_handled()
    };
    let frequent = work(Duration::from_millis(1_100), false);
    let rare = work(Duration::from_secs(110), false);
    // The frames come at other places in the superframes, so that a few back-offs more or fewer are deferred.
    assert!(rare.abs_diff(frequent) * 20 < frequent, "{frequent} events in 110 s, {rare} in 11,000 s");
    assert!(frequent < 400 * 12, "{frequent} events for 400 frames");
    // With `trace_idle_beacons` every beacon is an event. Without it, idle beacons are not.
    let shown = work(Duration::from_secs(110), true);
    assert!(shown > 100 * rare, "{shown} events with all beacons, {rare} without");
}

#[test]
fn a_silent_network_has_no_events_and_still_spends_energy() {
    let superframe = Superframe::of_orders(6, 1).unwrap();
    let mac = line(superframe, false, 1.0);
    assert_eq!(mac.deadline(), None);
    let day = Duration::from_secs(86_400);
    let end = at(day.as_micros());
    // 24 h are 87,890 intervals of 983.04 ms and 614,400 us, in which the beacons of all four coordinators lie.
    let beacons = 87_891;
    let root = mac.radio_times(node(0), end);
    assert_eq!(root.transmit, us(800) * beacons);
    assert_eq!(root.listen, us(30_720 - 800) * beacons);
    let leaf = mac.radio_times(node(4), end);
    assert_eq!((leaf.transmit, leaf.receive, leaf.listen), (us(0), us(800) * beacons, us(320) * beacons));
    assert_eq!(leaf.sleep, day - us(1_120) * beacons);
    // A coordinator in the middle: its own active periods, and its parent's beacons.
    let middle = mac.radio_times(node(2), end);
    assert_eq!(middle.transmit, us(800) * beacons);
    assert_eq!(middle.receive, us(800) * beacons);
    assert_eq!(middle.listen, us(30_720 - 800 + 320) * beacons);
    // The radio starts for each of these, and the processor handles each beacon. No event happens for them.
    for (id, times) in [(0, 1), (4, 1), (2, 2)] {
        let work = RadioWork { starts: times * beacons, ramps: times * beacons, ..RadioWork::default() };
        assert_eq!(mac.radio_work(node(id), end), work, "node {id}");
        assert_eq!(mac.regular_frames(node(id), end), times * beacons, "node {id}");
    }
}

#[test]
fn lost_idle_beacons_are_counted_exactly() {
    let superframe = Superframe::of_orders(4, 1).unwrap();
    let (mut shown, mut air) = (line(superframe, true, 0.7), Recorder::default());
    let end = at(60_000_000);
    run(&mut shown, end, &mut air);
    let of_child = |parent: u16| {
        let beacons = air.of(FrameKind::Beacon);
        beacons.iter().filter(|beacon| beacon.from.0 == parent && beacon.received).count() as u64
    };
    let lazy = line(superframe, false, 0.7);
    for child in 1..5 {
        let received = lazy.radio_times(node(child), end).receive;
        assert_eq!(received, us(800) * of_child(child - 1), "node {child}");
        assert_eq!(shown.radio_times(node(child), end), lazy.radio_times(node(child), end));
        assert_eq!(shown.radio_work(node(child), end), lazy.radio_work(node(child), end));
        let handled = of_child(child - 1) + air.begins(FrameKind::Beacon, node(child)).len() as u64;
        assert_eq!(shown.regular_frames(node(child), end), handled, "node {child}");
        assert_eq!(lazy.regular_frames(node(child), end), handled, "node {child}");
    }
    // 60 s hold 244 beacons; five standard deviations of a binomial(244, 0.7) are 36.
    assert!(of_child(0).abs_diff(171) < 36, "{} of 244 received at 70 %", of_child(0));
}
