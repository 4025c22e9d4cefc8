//! What holds in every TSCH network, whatever its topology, losses, schedule and traffic.

use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::observer::{Observer, RadioInterval, RadioState, RadioTimes, Transmission};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::scheduling::{Msf, Tunnel, msf};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::Routes;

const QUEUE: usize = 8;

/// A world to be: everything that a run depends on.
#[derive(Clone, Debug)]
struct World {
    seed: u64,
    /// Parent of each node but the root, always a node before it; and the delivery ratio of that link.
    tree: Vec<(u16, f64)>,
    /// Who is heard besides, as interference only.
    interference: Vec<(u16, u16)>,
    cells: Cells,
    fragment_loss: f64,
    traffic: Vec<Datagram>,
}

#[derive(Clone, Copy, Debug)]
enum Cells {
    Given { shared: u16, managed: u16, autonomous: bool },
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
        let given = (1..3u16, 0..4u16, any::<bool>()).prop_map(|(shared, managed, autonomous)| Cells::Given {
            shared,
            managed,
            autonomous,
        });
        let cells = prop_oneof![2 => given, 1 => Just(Cells::Negotiated), 1 => Just(Cells::Tunnelled)];
        let datagram = (0..60_000_000u64, 0..nodes, proptest::option::of(0..nodes), 0..500usize)
            .prop_map(|(at, from, to, octets)| Datagram { at, from, to, octets });
        let traffic = proptest::collection::vec(datagram, 1..25);
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

/// What happened.
#[derive(Debug, Default, PartialEq)]
struct Story {
    delivered: Vec<(u64, u32, Vec<u8>)>,
    lost: Vec<(u64, u32, &'static str)>,
    air: Vec<(u64, u8, u16, u16, bool, Vec<u8>)>,
    timeline: Vec<RadioInterval>,
}

impl Observer for Story {
    fn transmission(&mut self, sent: &Transmission<'_>) {
        let frame = (sent.at.as_micros(), sent.channel, sent.from.0, sent.to.0, sent.received, sent.octets.to_vec());
        self.air.push(frame);
    }

    fn watches_radios(&self) -> bool {
        true
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.timeline.push(*interval);
    }
}

fn payload(datagram: u32, octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (datagram as usize * 31 + at) as u8).collect()
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
        let (shared, managed, autonomous) = match self.cells {
            Cells::Given { shared, managed, autonomous } => (shared, managed, autonomous),
            Cells::Negotiated | Cells::Tunnelled => (1, 0, true),
        };
        let layout = Layout { slotframe: 37, shared, managed, autonomous };
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

    /// Runs until all traffic and the longest reassembly are over, looking at every step.
    fn run(&self) -> Result<Story, TestCaseError> {
        let nodes = || (0..=self.tree.len() as u16).map(NodeId);
        let (mut network, mut story, mut events) = (self.network(), Story::default(), Events::default());
        let mut traffic: Vec<(u32, &Datagram)> = (0..).zip(&self.traffic).collect();
        traffic.sort_by_key(|(_, datagram)| datagram.at);
        let mut traffic = traffic.into_iter().peekable();
        let end = Instant::ZERO + Duration::from_secs(1200);
        let mut step = 0;
        loop {
            let send_at = traffic.peek().map(|(_, datagram)| Instant::from_micros(datagram.at));
            let Some(now) = [network.deadline(), send_at].into_iter().flatten().min().filter(|&now| now < end) else {
                break;
            };
            if send_at == Some(now)
                && let Some((number, datagram)) = traffic.next()
            {
                let host = |node: Option<u16>| node.map_or(Host::Internet, |node| Host::Node(NodeId(node)));
                let endpoint = |host: Host| Endpoint::new(host.address(), 5684);
                let (from, to) = (endpoint(host(Some(datagram.from))), endpoint(host(datagram.to)));
                let octets = payload(number, datagram.octets);
                network.begin_burst(now, NodeId(datagram.from));
                network.send(now, from, to, &octets, number, &mut events).unwrap();
            } else {
                network.handle_deadline(now, &mut events, &mut story);
            }
            for event in events.iter() {
                match event {
                    Event::Delivered { datagram, payload, .. } => {
                        story.delivered.push((now.as_micros(), datagram, payload.to_vec()));
                    }
                    Event::Lost { datagram, reason, .. } => story.lost.push((now.as_micros(), datagram, reason.name())),
                    Event::Segment { .. }
                    | Event::Packet { .. }
                    | Event::Originated { .. }
                    | Event::Intercepted { .. } => {
                        panic!("nobody speaks TCP here")
                    }
                }
            }
            events.clear();
            step += 1;
            for node in nodes() {
                let queued = network.mac().queued(node);
                prop_assert!(queued <= QUEUE && queued <= network.queue_peak(node));
                if step % 16 == 0 {
                    let RadioTimes { transmit, receive, listen, sleep } = network.radio_times(node, now);
                    prop_assert_eq!(
                        transmit + receive + listen + sleep,
                        now.since(Instant::ZERO),
                        "node {} at {}",
                        node,
                        now
                    );
                }
            }
        }
        network.report_radios(end, &mut story);
        for node in nodes() {
            prop_assert_eq!(network.mac().queued(node), 0, "everything is sent or given up");
            let own: Vec<_> = story.timeline.iter().filter(|interval| interval.node == node).collect();
            prop_assert!(own.windows(2).all(|pair| pair[0].to <= pair[1].from));
            let sum = |state| {
                let lengths = own.iter().filter(|interval| interval.state == state);
                lengths.fold(Duration::ZERO, |sum, interval| sum + interval.to.since(interval.from))
            };
            let times = network.radio_times(node, end);
            let summed = (sum(RadioState::Transmit), sum(RadioState::Receive), sum(RadioState::Listen));
            prop_assert_eq!((times.transmit, times.receive, times.listen), summed, "node {}", node);
        }
        Ok(story)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nothing_comes_from_nowhere_or_vanishes(world in world()) {
        let story = world.run()?;
        let mut delivered: Vec<u32> = story.delivered.iter().map(|(_, datagram, _)| *datagram).collect();
        for (at, datagram, octets) in &story.delivered {
            let sent = &world.traffic[*datagram as usize];
            prop_assert!(*at >= sent.at, "not before it was sent");
            prop_assert_eq!(octets, &payload(*datagram, sent.octets));
        }
        delivered.sort();
        let all = delivered.len();
        delivered.dedup();
        prop_assert_eq!(delivered.len(), all, "none is delivered twice");
        for datagram in 0..world.traffic.len() as u32 {
            let is_lost = story.lost.iter().any(|(_, lost, _)| *lost == datagram);
            prop_assert!(is_lost || delivered.contains(&datagram), "datagram {} vanished", datagram);
        }
        prop_assert_eq!(world.run()?, story, "a run is repeated to the last octet");
    }
}
