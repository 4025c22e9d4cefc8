//! Properties of every TSCH network, whatever its topology, losses, schedule and traffic.

use crate::harness::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Events, Network, NetworkConfig};
use slowhand_net::observer::RadioTimes;
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::scheduling::{Msf, Tunnel, msf};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::Routes;

const QUEUE: usize = 8;

/// All that a run depends on.
#[derive(Clone, Debug)]
struct World {
    seed: u64,
    /// By node but the root: its parent, which is a node before it, and the delivery ratio of the link.
    tree: Vec<(u16, f64)>,
    /// Links that carry interference only.
    interference: Vec<(u16, u16)>,
    cells: Cells,
    fragment_loss: f64,
    traffic: Vec<Datagram>,
}

#[derive(Clone, Copy, Debug)]
enum Cells {
    Given { shared: u16, up: u16, down: u16, autonomous: bool },
    Negotiated,
    Tunnelled,
}

#[derive(Clone, Debug)]
struct Datagram {
    at: u64,
    from: u16,
    to: Option<u16>,
    octets: usize,
}

fn world() -> impl Strategy<Value = World> {
    (2..9u16).prop_flat_map(|nodes| {
        let parent = |child: u16| (0..child, 0.4..1.0f64);
        let tree: Vec<_> = (1..nodes).map(parent).collect();
        let given = (1..3u16, 0..3u16, 0..3u16, any::<bool>())
            .prop_map(|(shared, up, down, autonomous)| Cells::Given { shared, up, down, autonomous });
        let cells = prop_oneof![2 => given, 1 => Just(Cells::Negotiated), 1 => Just(Cells::Tunnelled)];
        let datagram = (0..60_000_000u64, 0..nodes, proptest::option::of(0..nodes), 0..500usize)
            .prop_map(|(at, from, to, octets)| Datagram { at, from, to, octets });
        let traffic = proptest::collection::vec(datagram, 1..25).prop_map(|mut traffic: Vec<Datagram>| {
            traffic.sort_by_key(|datagram| datagram.at);
            traffic
        });
        let interference = proptest::collection::vec((0..nodes, 0..nodes), 0..6);
        (any::<u64>(), tree, interference, cells, prop_oneof![Just(0.0), 0.0..0.2], traffic).prop_map(
            |(seed, tree, interference, cells, fragment_loss, traffic)| World {
                seed,
                tree,
                interference,
                cells,
                fragment_loss,
                traffic,
            },
        )
    })
}

impl World {
    fn network(&self) -> Network {
        let nodes = self.tree.len() + 1;
        let mut links: Vec<LinkQuality> = (1u16..)
            .zip(&self.tree)
            .flat_map(|(child, &(parent, pdr))| LinkQuality::symmetric(NodeId(parent), NodeId(child), pdr))
            .collect();
        for &(from, to) in &self.interference {
            let (from, to) = (NodeId(from), NodeId(to));
            if from != to && links.iter().all(|link| (link.from, link.to) != (from, to)) {
                links.push(LinkQuality { from, to, data: 0.0, ack: 0.0, channels: Vec::new() });
            }
        }
        let streams = Streams::new(self.seed);
        let routes = Routes::shortest(nodes, &links).unwrap();
        let (shared, up, down, autonomous) = match self.cells {
            Cells::Given { shared, up, down, autonomous } => (shared, up, down, autonomous),
            Cells::Negotiated | Cells::Tunnelled => (1, 0, 0, true),
        };
        let layout = Layout { slotframe: 37, shared, up, down, autonomous };
        let cells = layout.cells(&routes).unwrap();
        let config = tsch::TschConfig { timing: Timing::SLOT_10_MS, queue: QUEUE, ..tsch::TschConfig::openwsn(37) };
        let air = Links::new(nodes, &links, &streams);
        let msf = || Box::new(Msf::new(msf::MsfConfig::default(), &routes, &streams));
        let mac = match self.cells {
            Cells::Given { .. } => Tsch::new(config, air, cells, &streams),
            Cells::Negotiated => Tsch::with_function(config, air, cells, msf(), &streams),
            Cells::Tunnelled => {
                let function = Box::new(Tunnel::new(3, &routes, msf()));
                Tsch::with_function(config, air, cells, function, &streams)
            }
        };
        let config = NetworkConfig { fragment_loss: Probability::new(self.fragment_loss), ..NetworkConfig::default() };
        Network::new(Box::new(mac), routes, config, &streams)
    }

    /// Runs until all traffic and the longest reassembly are over, and checks the nodes at every step.
    fn run(&self) -> (Fates, Recorder) {
        let nodes = || (0..=self.tree.len() as u16).map(NodeId);
        let (mut network, mut air) = (self.network(), Recorder::of_radios());
        let host = |node: Option<u16>| node.map_or(Host::Internet, |node| Host::Node(NodeId(node)));
        let send =
            |datagram: &Datagram| (at(datagram.at), host(Some(datagram.from)), host(datagram.to), datagram.octets);
        let sends: Vec<Send> = self.traffic.iter().map(send).collect();
        let mut end = seconds(1_200);
        let mut step = 0;
        let fates = run_watched(&mut network, 0, &sends, end, &mut air, |network, moment| match moment {
            Moment::BeforeSend(&(now, from, ..)) => {
                let Host::Node(from) = from else { panic!("no host of the Internet sends") };
                network.begin_burst(now, from);
            }
            Moment::After(now) => {
                step += 1;
                for node in nodes() {
                    let queued = network.mac().queue(node).len();
                    assert!(queued <= QUEUE && queued <= network.queue_peak(node));
                    if step % 16 == 0 {
                        let RadioTimes { transmit, receive, listen, sleep } = network.mac().radio_times(node, now);
                        let sum = transmit + receive + listen + sleep;
                        assert_eq!(sum, now.since(Instant::ZERO), "node {node} at {now}");
                    }
                }
            }
        });
        // A scheduling function goes on for ever: a frame that waits now may be a message of 6P. It leaves too.
        let mut waiting: Vec<NodeId> = nodes().filter(|&node| !network.mac().queue(node).is_empty()).collect();
        let mut events = Events::default();
        while !waiting.is_empty() && end < seconds(1_800) {
            end += Duration::from_secs(1);
            while let Some(now) = network.deadline().filter(|&now| now < end) {
                network.handle_deadline(now, &mut events, &mut air);
                waiting.retain(|&node| !network.mac().queue(node).is_empty());
            }
        }
        assert_eq!(waiting, [], "everything is sent or given up");
        network.report_radios(end, &mut air);
        for node in nodes() {
            let times = network.mac().radio_times(node, end);
            assert_eq!(times, air.radio_times(node, end), "node {node}");
            let work = network.mac().radio_work(node, end);
            assert_eq!(work.ramps, air.ramps(node), "node {node}");
            assert!(work.ready <= times.sleep, "node {node}: {work:?}");
            // The slot that begins at the end has not counted yet.
            let slots = network.mac().slots(node, end).unwrap();
            assert_eq!(work.starts, slots.sum(), "node {node}: {slots:?}");
        }
        (fates, air)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_comes_from_nowhere_or_vanishes(world in world()) {
        let (fates, air) = world.run();
        for (datagram, (at, octets)) in &fates.delivered {
            let sent = &world.traffic[*datagram as usize];
            prop_assert!(at.as_micros() >= sent.at, "not before it was sent");
            prop_assert_eq!(octets, &payload(*datagram, sent.octets));
        }
        for datagram in 0..world.traffic.len() as u32 {
            let has_fate = fates.lost.contains_key(&datagram) || fates.delivered.contains_key(&datagram);
            prop_assert!(has_fate, "datagram {} vanished", datagram);
        }
        prop_assert_eq!(world.run(), (fates, air), "a run is repeated to the last octet");
    }
}
