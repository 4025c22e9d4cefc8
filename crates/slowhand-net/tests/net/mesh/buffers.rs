//! The contents of the buffers of every node over time.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::lowpan::{forwarding, reassembly};
use slowhand_net::network::{BufferCounts, Fragments, Network, NetworkConfig};
use slowhand_net::observer::BufferLevel;
use slowhand_net::random::Probability;

/// 300 octets from node 2 to the root over the two hops whose microseconds `timing` works out: the fragments are at
/// node 1 at the ends of the exchanges in slots 1, 5, 9 and 13.
#[test]
fn fragments_wait_for_the_last_or_go_on() {
    let changes = |fragments, node: u16| {
        let mut watch = Recorder::of_buffers();
        let send = (Instant::ZERO, Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 300);
        run(
            &mut super::timing::two_hops(NetworkConfig { fragments, ..NetworkConfig::default() }),
            &[send],
            seconds(10),
            &mut watch,
        );
        let own = watch.levels.into_iter().filter(move |level| level.node == NodeId(node));
        let level = |l: BufferLevel| (l.at.as_micros() / 20_000, l.queued, l.fragments, l.octets, l.forwarding);
        own.map(level).collect::<Vec<_>>()
    };
    let slot_by_slot = [(0, 4, 0, 0, 0), (1, 3, 0, 0, 0), (5, 2, 0, 0, 0), (9, 1, 0, 0, 0), (13, 0, 0, 0, 0)];
    assert_eq!(changes(Fragments::Reassembled, 2), slot_by_slot);
    assert_eq!(changes(forwarded(), 2), slot_by_slot);
    // 128 octets of the packet in the first fragment, 96 in the next two; the fourth completes it, and four frames wait.
    let held = [(1, 0, 1, 128, 0), (5, 0, 2, 224, 0), (9, 0, 3, 320, 0), (13, 4, 0, 0, 0)];
    let sent = [(15, 3, 0, 0, 0), (19, 2, 0, 0, 0), (23, 1, 0, 0, 0), (27, 0, 0, 0, 0)];
    assert_eq!(changes(Fragments::Reassembled, 1), [held, sent].concat());
    // Each goes on in the slot after next; a virtual buffer is taken until the last has come.
    let one_by_one = [(1, 1, 0, 0, 1), (3, 0, 0, 0, 1), (5, 1, 0, 0, 1), (7, 0, 0, 0, 1), (9, 1, 0, 0, 1)];
    let to_the_end = [(11, 0, 0, 0, 1), (13, 1, 0, 0, 0), (15, 0, 0, 0, 0)];
    assert_eq!(changes(forwarded(), 1), [&one_by_one[..], &to_the_end[..]].concat());
}

/// Datagrams of 3 fragments to a root that can reassemble two. The first three lack their second fragment: the root
/// waits a minute for it in the first two, and has no room for the third. Each takes a virtual buffer for a second. The
/// last takes none, because its first fragment is lost.
#[test]
fn a_virtual_buffer_times_out_where_reassembly_is_full() {
    let second = Duration::from_secs(1);
    let config = NetworkConfig {
        fragments: Fragments::Forwarded(forwarding::Limits { timeout: second, ..Default::default() }),
        reassembly: reassembly::Limits { buffers: 2, ..Default::default() },
        dropped_frames: vec![2, 5, 8, 10],
        ..NetworkConfig::default()
    };
    let sends = [0, 5, 10, 15].map(|at| (seconds(at), Host::Node(NodeId(1)), Host::Node(NodeId::ROOT), 200));
    let mut watch = Recorder::of_buffers();
    run(&mut network(tsch, 1, 1.0, config, 1), &sends, seconds(50), &mut watch);
    let of_root =
        watch.levels.iter().filter(|level| level.node == NodeId::ROOT).map(|level| (level.at, level.forwarding));
    let mut changes: Vec<(Instant, usize)> = of_root.collect();
    changes.dedup_by_key(|change| change.1);
    let taken: Vec<Duration> = changes.chunks(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    assert_eq!(taken, [second; 3], "{changes:?}");
}

/// The highest levels are the peaks. At the end all buffers are empty.
#[test]
fn levels_agree_with_peaks() {
    fn check(mut network: Network) {
        let mut watch = Recorder::of_buffers();
        let sends: Vec<Send> = (0..10)
            .map(|n| (seconds(3 * n), Host::Node(NodeId(3)), Host::Internet, 400))
            .chain((10..20).map(|n| (seconds(3 * n), Host::Internet, Host::Node(NodeId(3)), 400)))
            .collect();
        run(&mut network, &sends, seconds(1_000), &mut watch);
        assert!(watch.levels.windows(2).all(|pair| pair[0].at <= pair[1].at));
        for node in (0..4).map(NodeId) {
            let own = || watch.levels.iter().filter(|level| level.node == node);
            assert_eq!(own().map(|level| level.queued).max().unwrap(), network.queue_peak(node));
            let peak = network.reassembly_peak(node);
            let (fragments, octets) = own().fold((0, 0), |(f, o), level| (level.fragments.max(f), level.octets.max(o)));
            // The fragment that completes a packet leaves at the instant at which it comes.
            assert!(fragments <= peak.fragments && fragments + 1 >= peak.fragments, "{fragments} of {peak:?}");
            assert!(octets <= peak.received);
            let last = own().next_back().unwrap();
            assert_eq!((last.queued, last.fragments, last.octets), (0, 0, 0), "node {node}");
        }
    }
    for fragments in [Fragments::Reassembled, forwarded(), recovered(9)] {
        let config = || NetworkConfig { fragments, fragment_loss: Probability::new(0.05), ..NetworkConfig::default() };
        for link_layer in LINK_LAYERS {
            check(network(link_layer, 3, 0.9, config(), 1));
        }
    }
}

/// Datagrams of 3 fragments, each without its second one, go up to the root and down from it. Each end holds as many of
/// them as it has buffers, and loses the others because its buffers are full.
#[test]
fn the_border_router_has_buffers_of_its_own() {
    let lost = |fragments, border_router, up: bool| {
        let config = NetworkConfig {
            fragments,
            buffers_of: [(NodeId::ROOT, border_router)].into(),
            reassembly: reassembly::Limits { buffers: 2, ..Default::default() },
            dropped_frames: (0..5).map(|datagram| 3 * datagram + 2).collect(),
            ..NetworkConfig::default()
        };
        let (root, leaf) = (Host::Node(NodeId::ROOT), Host::Node(NodeId(1)));
        let (from, to) = if up { (leaf, root) } else { (root, leaf) };
        let sends: Vec<Send> = (0..5).map(|n| (seconds(3 * n), from, to, 200)).collect();
        let mut full = losses(&mut network(tsch, 1, 1.0, config, 1), &sends, seconds(50));
        full.retain(|loss| matches!(loss.reason, DropReason::ReassemblyFull | DropReason::ForwardingFull));
        full.dedup_by_key(|loss| loss.datagram);
        assert!(full.iter().all(|loss| loss.host == to), "{full:?}");
        full.len()
    };
    let counts = |reassembly, forwarding| BufferCounts { reassembly, forwarding };
    let one = Fragments::Forwarded(forwarding::Limits { entries: 1, ..Default::default() });
    for (fragments, border_router, at_root, at_leaf) in [
        (Fragments::Reassembled, counts(None, None), 3, 3),
        (Fragments::Reassembled, counts(Some(4), None), 1, 3),
        (forwarded(), counts(Some(1), None), 4, 3),
        (one, counts(Some(5), Some(5)), 0, 4),
    ] {
        assert_eq!(lost(fragments, border_router, true), at_root, "{fragments:?}, {border_router:?}");
        assert_eq!(lost(fragments, border_router, false), at_leaf, "{fragments:?}, {border_router:?}");
    }
}

/// A line of three nodes. Five datagrams of one frame each wait at node 2 at the same time, and at the root. Each has the
/// room that its queue has, and loses the others.
#[test]
fn a_node_may_have_a_queue_of_its_own() {
    for link_layer in LINK_LAYERS {
        let (mut mac, routes) = link_layer(2, 1.0, 1);
        mac.set_queue(NodeId(2), 2);
        mac.set_queue(NodeId::ROOT, 4);
        assert_eq!([0, 1, 2].map(|node| mac.queue(NodeId(node)).limit()), [4, 60, 2]);
        let mut network = Network::new(mac, routes, NetworkConfig::default(), &slowhand_net::random::Streams::new(1));
        let (root, leaf) = (Host::Node(NodeId::ROOT), Host::Node(NodeId(2)));
        let up = (0..5).map(|_| (Instant::ZERO, leaf, root, 20));
        let down = (0..5).map(|_| (Instant::ZERO, root, leaf, 20));
        let mut full = losses(&mut network, &up.chain(down).collect::<Vec<_>>(), seconds(60));
        full.retain(|loss| loss.reason == DropReason::QueueFull);
        let at = |host| full.iter().filter(|loss| loss.host == host).count();
        assert_eq!((at(leaf), at(root), full.len()), (3, 1, 4));
    }
}

/// As [`the_border_router_has_buffers_of_its_own`], at a node that is not the border router.
#[test]
fn any_node_may_have_buffers_of_its_own() {
    let full = |own: Option<usize>| {
        let counts = BufferCounts { reassembly: own, forwarding: None };
        let config = NetworkConfig {
            buffers_of: [(NodeId(1), counts)].into(),
            dropped_frames: (0..5).map(|datagram| 3 * datagram + 2).collect(),
            ..NetworkConfig::default()
        };
        let ends = (Host::Node(NodeId::ROOT), Host::Node(NodeId(1)));
        let sends: Vec<Send> = (0..5).map(|n| (seconds(3 * n), ends.0, ends.1, 200)).collect();
        let mut full = losses(&mut network(tsch, 1, 1.0, config, 1), &sends, seconds(50));
        full.retain(|loss| loss.reason == DropReason::ReassemblyFull);
        full.dedup_by_key(|loss| loss.datagram);
        full.len()
    };
    assert_eq!((full(None), full(Some(1)), full(Some(4))), (3, 4, 1));
}

/// Two datagrams of 3 fragments for a queue of 4. The second is refused whole, or one of its fragments is sent for nothing and
/// takes a buffer of the root.
#[test]
fn a_datagram_goes_into_the_queue_whole() {
    let lost = |whole_packets| {
        let (mut mac, routes) = tsch(1, 1.0, 1);
        mac.set_queue(NodeId(1), 4);
        let config = NetworkConfig { whole_packets, ..NetworkConfig::default() };
        let mut network = Network::new(mac, routes, config, &slowhand_net::random::Streams::new(1));
        let send = (Instant::ZERO, Host::Node(NodeId(1)), Host::Node(NodeId::ROOT), 200);
        let losses = losses(&mut network, &[send, send], seconds(100));
        losses.into_iter().map(|loss| (loss.datagram, loss.host, loss.reason)).collect::<Vec<_>>()
    };
    let refused = (1, Host::Node(NodeId(1)), DropReason::QueueFull);
    let held = (1, Host::Node(NodeId::ROOT), DropReason::ReassemblyTimeout);
    assert_eq!((lost(true), lost(false)), (vec![refused], vec![refused, refused, held]));
}

/// The second fragment of the first datagram is lost, so that it holds the only buffer of the root when the second datagram
/// comes. Whoever is lost there, the event says what was in the buffer.
#[test]
fn a_loss_says_what_was_in_the_buffers() {
    use slowhand_net::network::{Event, Events};
    let lost = |when_full| {
        let reassembly = reassembly::Limits { buffers: 1, when_full, ..Default::default() };
        let config = NetworkConfig { reassembly, dropped_frames: vec![2], ..NetworkConfig::default() };
        let mut network = network(tsch, 1, 1.0, config, 1);
        let (from, to) = (Host::Node(NodeId(1)), Host::Node(NodeId::ROOT));
        let mut events = Events::default();
        for datagram in 0..2 {
            let at = seconds(3 * u64::from(datagram));
            network.handle_deadline(at, &mut events, &mut ());
            network.send(at, endpoint(from), endpoint(to), &[7; 200], datagram, &mut events).unwrap();
        }
        network.handle_deadline(seconds(20), &mut events, &mut ());
        let full = events.iter().filter_map(|event| match event {
            Event::Lost { datagram, reason: DropReason::ReassemblyFull, holders, .. } => {
                Some((datagram, holders.to_vec()))
            }
            _ => None,
        });
        let mut full: Vec<_> = full.collect();
        full.dedup();
        let delivered = events.iter().filter(|event| matches!(event, Event::Delivered { .. })).count();
        (full, delivered)
    };
    assert_eq!(lost(reassembly::WhenFull::Refuse), (vec![(1, vec![0])], 0));
    assert_eq!(lost(reassembly::WhenFull::Oldest), (vec![(0, vec![0])], 1));
}
