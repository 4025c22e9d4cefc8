//! Networks whose cost is measured, and how it is measured.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::radio::beacon::{self, Beacon, Superframe};
use slowhand_net::radio::csma::{Csma, CsmaConfig};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::xmac::{self, XMac};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_testing::processor;
use std::time;

/// A parent for every node but the root, in ascending order of node.
type Parents = Vec<u16>;

/// A network, and how often each of its senders sends 60 octets to the root.
pub struct Case {
    parents: Parents,
    link_layer: LinkLayer,
    senders: Vec<NodeId>,
    period: Duration,
}

/// The medium access control of a case.
enum LinkLayer {
    /// Slots of 10 ms, and these cells.
    Tsch(Layout),
    /// Contiki's CX-MAC.
    XMac {
        check_interval: Duration,
    },
    Beacon(Superframe),
    /// Unslotted CSMA/CA of nodes that always listen.
    Csma,
}

impl Case {
    /// Five nodes in a line, one dedicated cell a link, a packet from end to end now and then.
    pub fn line(slotframe: u16, period: Duration) -> Self {
        Self {
            parents: (0..4).collect(),
            link_layer: LinkLayer::Tsch(Layout { slotframe, shared: 0, up: 1, down: 0, autonomous: false }),
            senders: vec![NodeId(4)],
            period,
        }
    }

    /// A tree of which every node has ten children at most, and all nodes send within a minute.
    pub fn tree(nodes: u16) -> Self {
        Self {
            parents: (1..nodes).map(|node| (node - 1) / 10).collect(),
            link_layer: LinkLayer::Tsch(Layout { slotframe: 101, shared: 0, up: 5, down: 4, autonomous: false }),
            senders: (1..nodes).map(NodeId).collect(),
            period: Duration::from_secs(60),
        }
    }

    /// This line under X-MAC.
    pub fn line_of_xmac(check_interval: Duration, period: Duration) -> Self {
        Self { link_layer: LinkLayer::XMac { check_interval }, ..Self::line(101, period) }
    }

    /// This line under beacons.
    pub fn line_of_beacons(superframe: Superframe, period: Duration) -> Self {
        Self { link_layer: LinkLayer::Beacon(superframe), ..Self::line(101, period) }
    }

    /// This line under unslotted CSMA/CA.
    pub fn line_of_csma(period: Duration) -> Self {
        Self { link_layer: LinkLayer::Csma, ..Self::line(101, period) }
    }

    /// This tree under unslotted CSMA/CA. Two packets a second, however many nodes there are.
    pub fn tree_of_csma(nodes: u16) -> Self {
        let period = Duration::from_millis(500) * u64::from(nodes);
        Self { link_layer: LinkLayer::Csma, period, ..Self::tree(nodes) }
    }

    /// Runs for a span of virtual time, or until enough frames have been sent.
    pub fn run(&self, span: Duration, frames: u64) -> Cost {
        let nodes = self.parents.len() + 1;
        let links: Vec<LinkQuality> = (1u16..)
            .zip(&self.parents)
            .flat_map(|(child, &parent)| LinkQuality::symmetric(NodeId(parent), NodeId(child), 1.0))
            .collect();
        let streams = Streams::new(1);
        let routes = Routes::shortest(nodes, &links).expect("every node has a parent");
        let links = Links::new(nodes, &links, &streams);
        match self.link_layer {
            LinkLayer::Tsch(layout) => {
                let cells = layout.cells(&routes).expect("the slotframe is long enough");
                let config =
                    tsch::TschConfig { timing: Timing::SLOT_10_MS, ..tsch::TschConfig::openwsn(layout.slotframe) };
                let mac = Tsch::new(config, links, cells, &streams);
                self.drive(Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams), span, frames)
            }
            LinkLayer::XMac { check_interval } => {
                let mac = XMac::new(xmac::XmacConfig::cxmac(check_interval), 26, links, &streams);
                self.drive(Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams), span, frames)
            }
            LinkLayer::Beacon(superframe) => {
                let mac = Beacon::new(beacon::BeaconConfig::standard(superframe), links, &routes.parents(), &streams)
                    .expect("the active periods fit");
                self.drive(Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams), span, frames)
            }
            LinkLayer::Csma => {
                let mac = Csma::new(CsmaConfig::openthread(), links, &routes.parents(), &vec![false; nodes], &streams)
                    .expect("every node has a parent");
                self.drive(Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams), span, frames)
            }
        }
    }

    fn drive(&self, mut network: Network, span: Duration, frames: u64) -> Cost {
        let (mut events, mut air) = (Events::default(), Air::default());
        let mut cost =
            Cost { simulated: span, frames: 0, calls: 0, sent: 0, delivered: 0, spent: time::Duration::ZERO };
        let started = processor::time();
        let senders = self.senders.len() as u64;
        let (mut turn, end) = (0u64, Instant::ZERO + span);
        loop {
            // The senders take turns, evenly spread over the period.
            let send_at = Instant::ZERO + self.period * (turn / senders) + self.period * (turn % senders) / senders;
            let now = network.deadline().map_or(send_at, |deadline| deadline.min(send_at));
            if now >= end || air.frames >= frames {
                break;
            }
            if now == send_at {
                // In an order that spreads them over the tree: 617 is coprime to their numbers.
                let sender = self.senders[(turn * 617 % senders) as usize];
                let (from, to) = (endpoint(sender, 61616), endpoint(NodeId::ROOT, 5684));
                network.send(now, from, to, &[0x5a; 60], turn as u32, &mut events).expect("60 octets fit");
                turn += 1;
            } else {
                network.handle_deadline(now, &mut events, &mut air);
                cost.calls += 1;
            }
            cost.delivered += events.iter().filter(|event| matches!(event, Event::Delivered { .. })).count() as u64;
            events.clear();
        }
        cost.spent = processor::time() - started;
        cost.frames = air.frames;
        cost.sent = turn;
        cost
    }
}

/// The work of a run, and its cost.
pub struct Cost {
    /// Virtual time.
    pub simulated: Duration,
    /// Data frames on the air, repetitions included.
    pub frames: u64,
    /// Calls of `Network::handle_deadline`.
    pub calls: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that arrived.
    pub delivered: u64,
    /// Of a processor.
    pub spent: time::Duration,
}

impl Cost {
    pub fn simulated_per_second(&self) -> f64 {
        self.simulated.as_secs_f64() / self.spent.as_secs_f64()
    }

    pub fn nanoseconds_per_frame(&self) -> f64 {
        self.spent.as_nanos() as f64 / self.frames as f64
    }
}

/// Counts data frames.
#[derive(Default)]
struct Air {
    frames: u64,
}

impl Observer for Air {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.frames += u64::from(frame.kind == FrameKind::Data);
    }
}

fn endpoint(node: NodeId, port: u16) -> Endpoint {
    Endpoint::new(Host::Node(node).address(), port)
}

/// The cheapest run of each case, over a span each. The cases take turns. The cheapest run counts, because other work of
/// the machine only adds to the time.
pub fn cheapest<const N: usize>(cases: [(&Case, Duration); N], turns: usize) -> [Cost; N] {
    let mut best: [Option<Cost>; N] = [const { None }; N];
    for _ in 0..turns {
        for ((case, span), best) in cases.iter().zip(&mut best) {
            let cost = case.run(*span, u64::MAX);
            if best.as_ref().is_none_or(|best| cost.spent < best.spent) {
                *best = Some(cost);
            }
        }
    }
    best.map(|cost| cost.expect("there is at least one turn"))
}
