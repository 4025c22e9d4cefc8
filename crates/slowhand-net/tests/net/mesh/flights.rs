//! Losses that spread over the rest of a flight.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::network::{Fragments, LossSpread, NetworkConfig};
use slowhand_net::observer::FrameKind;

/// Three datagrams at once from node 2 to the root, of 3 fragments on each of two hops, and one a minute later.
fn delivered(loss_spread: LossSpread, fragments: Fragments, dropped: u64) -> (Vec<u32>, usize) {
    let flight = [0, 0, 0, 60].map(|at| (seconds(at), Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 200));
    let config = NetworkConfig { loss_spread, fragments, dropped_frames: vec![dropped], ..NetworkConfig::default() };
    let mut air = Recorder::default();
    let fates = run(&mut network(tsch, 2, 1.0, config, 1), &flight, seconds(200), &mut air);
    assert!(fates.lost.values().all(|reason| *reason == "injected_loss" || *reason == "first_fragment_missing"));
    (fates.delivered.into_keys().collect(), air.of(FrameKind::Data).len())
}

#[test]
fn what_follows_a_lost_fragment_is_lost() {
    // Fragment 5 of the 9 that node 2 gives to its MAC is the second of its second datagram.
    let alone = delivered(LossSpread::Fragment, Fragments::Reassembled, 5);
    assert_eq!(alone, (vec![0, 2, 3], 9 + 6 + 6), "two of three fragments of the second stay behind at node 1");
    let spread = delivered(LossSpread::Flight, Fragments::Reassembled, 5);
    assert_eq!(spread, (vec![0, 3], 9 + 3 + 6), "node 1 discards the rest of the flight, and forwards nothing of it");
    // A loss in the first datagram: nothing of its flight arrives. The datagram a minute later is another flight.
    assert_eq!(delivered(LossSpread::Flight, Fragments::Reassembled, 1), (vec![3], 9 + 6));
    // After the last frame of a flight nothing else is lost.
    assert_eq!(delivered(LossSpread::Flight, Fragments::Reassembled, 9).0, [0, 1, 3]);
    assert_eq!(delivered(LossSpread::Flight, forwarded(), 5).0, [0, 3]);
}

/// Frame 10 is the first that node 1 forwards. What follows it is lost on the same hop, what went before it has arrived.
#[test]
fn a_loss_on_the_second_hop_spreads_too() {
    assert_eq!(delivered(LossSpread::Flight, Fragments::Reassembled, 10).0, [3]);
    assert_eq!(delivered(LossSpread::Fragment, Fragments::Reassembled, 10).0, [1, 2, 3]);
    assert_eq!(delivered(LossSpread::Flight, Fragments::Reassembled, 13).0, [0, 3]);
}

/// The host pauses between the second and the third datagram. A pause of up to 50 ms does not end a flight.
#[test]
fn a_flight_ends_with_a_pause() {
    for (pause, arrived) in [(50, vec![3]), (51, vec![2, 3])] {
        let third = Instant::ZERO + Duration::from_millis(40 + pause);
        let times = [Instant::ZERO, Instant::ZERO + Duration::from_millis(40), third, seconds(60)];
        let flight = times.map(|at| (at, Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 200));
        let config =
            NetworkConfig { loss_spread: LossSpread::Flight, dropped_frames: vec![1], ..NetworkConfig::default() };
        let fates = run(&mut network(tsch, 2, 1.0, config, 1), &flight, seconds(200), &mut Recorder::default());
        assert_eq!(fates.delivered.into_keys().collect::<Vec<_>>(), arrived, "{pause} ms");
    }
}

/// The root begins two flights at once, one to each node. In the first flight the first fragment of 3 is lost.
#[test]
fn a_flight_has_one_destination() {
    let flight = [1, 2, 1, 2].map(|node| (Instant::ZERO, Host::Node(NodeId::ROOT), Host::Node(NodeId(node)), 200));
    let config = NetworkConfig { loss_spread: LossSpread::Flight, dropped_frames: vec![1], ..NetworkConfig::default() };
    let fates = run(&mut network(tsch, 2, 1.0, config, 1), &flight, seconds(200), &mut Recorder::default());
    assert_eq!(fates.delivered.into_keys().collect::<Vec<_>>(), [1, 3]);
}
