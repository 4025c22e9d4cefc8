//! The time that processors take for frames: microseconds worked out by hand on a line of three nodes, under every link
//! layer. Datagrams of 20 octets go from node 2 to the root.
//!
//! A frame on the first link has 21 octets of header, 17 of compressed headers (see [`super::timing`]), 20 of data and 2 of
//! FCS, and is on the air for (60 + 6) * 32 us. On the second link it has one octet more.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::link::Links;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::Mac;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Superframe};
use slowhand_net::radio::csma::{Csma, CsmaConfig};
use slowhand_net::radio::xmac::{XMac, XmacConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

const SEED: u64 = 7;
const FIRST: u64 = 66 * 32;
const SECOND: u64 = 67 * 32;

/// Nodes that handle each frame for so many microseconds.
fn handling(us: u64) -> NetworkConfig {
    let frame_handling = (0..3).map(|node| (NodeId(node), self::us(us))).collect();
    NetworkConfig { frame_handling, ..NetworkConfig::default() }
}

fn network_of(mac: Box<dyn Mac>, handling: NetworkConfig) -> Network {
    Network::new(mac, Routes::shortest(3, &line(2, 1.0)).unwrap(), handling, &Streams::new(SEED))
}

fn links() -> Links {
    Links::new(3, &line(2, 1.0), &Streams::new(SEED))
}

/// Sends this number of datagrams at time 0. Returns when the data frames of nodes 2 and 1 began, and when the datagrams
/// were delivered.
fn exchange(network: &mut Network, datagrams: usize) -> [Vec<u64>; 3] {
    let send = (Instant::ZERO, Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 20);
    let mut air = Recorder::default();
    let fates = run(network, &vec![send; datagrams], seconds(30), &mut air);
    let frames = |node| air.begins(FrameKind::Data, NodeId(node));
    [frames(2), frames(1), fates.delivered.values().map(|(at, _)| at.as_micros()).collect()]
}

/// Slots of 20 ms, 4 in a slotframe: node 2 sends in slot 1, node 1 in slot 3. A frame takes 30 ms.
///
/// Node 2 has prepared the first datagram at 30 ms, after slot 1, and sends it in slot 5. It arrives at 113,648 us: its end,
/// and the acknowledgement. From then on node 2 prepares the second one for 30 ms, and sends it in slot 9. Node 1 has
/// handled the first one at 143,648 us, and prepared it at 173,648 us. In its slot 11, at 220 ms, it still handles the
/// second one, which came at 193,648 us. So it sends the first one in slot 15, and the second one, prepared 30 ms later,
/// in slot 19.
#[test]
fn under_tsch() {
    let mut network = super::timing::two_hops(handling(30_000));
    let [first, second, delivered] = exchange(&mut network, 2);
    let begin = |slot: u64| slot * 20_000 + 5_215;
    let end = |slot: u64, air: u64| begin(slot) + air + 5_521 + 25 * 32;
    assert_eq!((end(5, FIRST), end(9, FIRST)), (113_648, 193_648));
    assert_eq!(first, [begin(5), begin(9)]);
    assert_eq!(second, [begin(15), begin(19)]);
    assert_eq!(delivered, [end(15, SECOND) + 30_000, end(19, SECOND) + 30_000]);
    // Node 1 has received and sent two frames. The root has been at work on its last one for 10 ms.
    let busy = |node, now| network.handling_time(NodeId(node), at(now));
    assert_eq!([2, 1].map(|node| busy(node, 1_000_000)), [us(2 * 30_000), us(4 * 30_000)]);
    assert_eq!(busy(0, end(19, SECOND) + 10_000), us(30_000 + 10_000));
}

/// A frame takes 5 ms. Each node backs off when it has prepared its frame; the assessment takes 128 us, the turnaround 192.
#[test]
fn under_csma() {
    let parents = [None, Some(NodeId(0)), Some(NodeId(1))];
    let mac = Csma::new(CsmaConfig::openthread(), links(), &parents, &[false; 3], &Streams::new(SEED)).unwrap();
    let [first, second, delivered] = exchange(&mut network_of(Box::new(mac), handling(5_000)), 1);
    let access = |node| Streams::new(SEED).stream("back-off", node).below(8) * 320 + 128 + 192;
    let sent = 5_000 + access(2);
    let forwarded = sent + FIRST + 5_000 + 5_000 + access(1);
    assert_eq!((first, second), (vec![sent], vec![forwarded]));
    assert_eq!(delivered, [forwarded + SECOND + 5_000]);
}

/// A frame takes 20 ms. Node 2 begins its train of strobes at 20,000 us: strobe k at 20,000 + 5,752 + 5,432 k (see the tests
/// of X-MAC). Node 1 is awake from 40,000 us on: the strobe at 42,048 reaches it. Its answer ends at 45,032, and the data
/// frame lasts from 46,032 to 48,144. At 68,144 node 1 has handled it, at 88,144 it has prepared it. The root is awake from
/// 100,000 us on: of the strobes at 93,896 + 5,432 k the one at 104,760 reaches it. The data frame begins at 108,744.
#[test]
fn under_xmac() {
    let phases = [100_000, 40_000, 70_000].map(us);
    let config = XmacConfig::cxmac(us(125_000));
    let mac = XMac::with_phases(config, 26, links(), &phases, &Streams::new(SEED));
    let [first, second, delivered] = exchange(&mut network_of(Box::new(mac), handling(20_000)), 1);
    assert_eq!((first, second), (vec![46_032], vec![108_744]));
    assert_eq!(delivered, [108_744 + SECOND + 20_000]);
}

/// A frame takes 14 ms. The beacon of node 1 is on the air for 800 us; with 640 us of space the first back-off boundary is the
/// fifth. Frame, turnaround and acknowledgement: 2,112 + 192 us end before the eighth boundary, and 2,144 + 192 too;
/// 352 us later the frame has left. Then the processor prepares the next one, and the node backs off from the boundary after
/// that.
///
/// Node 1 sends in the next active period of the root. Until then it has handled both frames, and prepared the first.
#[test]
fn under_beacons() {
    let config = BeaconConfig::standard(Superframe::of_orders(6, 2).unwrap());
    let parents = [None, Some(NodeId(0)), Some(NodeId(1))];
    let mac = Beacon::new(config, links(), &parents, &Streams::new(SEED)).unwrap();
    let beacon = mac.beacon_time(NodeId(1)).unwrap().as_micros();
    let of_root = mac.beacon_time(NodeId::ROOT).unwrap().as_micros() + 983_040;
    let [first, second, delivered] = exchange(&mut network_of(Box::new(mac), handling(14_000)), 2);

    let two_frames = |beacon: u64, node| {
        let mut draws = Streams::new(SEED).stream("back-off", node);
        let mut access = || (draws.below(8) + 2) * 320;
        let sent = beacon + 5 * 320 + access();
        let left = sent + 8 * 320 + 352;
        let prepared = left + 14_000;
        [sent, beacon + (prepared - beacon).div_ceil(320) * 320 + access()]
    };
    assert!(beacon > 14_000, "the first frame is prepared before the beacon");
    assert_eq!(first, two_frames(beacon, 2));
    let sent = two_frames(of_root, 1);
    assert_eq!(second, sent);
    assert_eq!(delivered, sent.map(|at| at + SECOND + 14_000));
}

/// Nodes that take longer for a frame than the next one needs to come lose what their queues do not hold.
#[test]
fn a_node_that_is_too_slow_loses_frames() {
    let streams = Streams::new(SEED);
    let parents = [None, Some(NodeId(0)), Some(NodeId(1))];
    let config = CsmaConfig { queue: 4, ..CsmaConfig::openthread() };
    let mac = Csma::new(config, links(), &parents, &[false; 3], &streams).unwrap();
    let slow = NetworkConfig { frame_handling: [(NodeId(1), us(1_000_000))].into(), ..NetworkConfig::default() };
    let mut network = network_of(Box::new(mac), slow);
    let sends: Vec<_> =
        (0..20).map(|number| (at(number * 20_000), Host::Node(NodeId(2)), Host::Node(NodeId(1)), 20)).collect();
    let fates = run(&mut network, &sends, seconds(60), &mut ());
    // 20 come in 0.4 s. One is being handled, four wait.
    assert_eq!(fates.delivered.len(), 5);
    assert!(fates.lost.values().all(|&reason| reason == "queue_full"));
    assert_eq!(fates.delivered.len() + fates.lost.len(), 20);
}
