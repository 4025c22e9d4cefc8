//! What the network costs, without any session on it.
//!
//! `cargo bench -p slowhand-net --bench network` prints simulated seconds per second of one core, and ratios that hold on
//! a noisy machine. `... -- frames N` runs the line until N frames have been sent, for a profiler:
//! `valgrind --tool=callgrind` counts its instructions.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::network::{Config, Event, Events, Network};
use slowhand_net::radio::link::{LinkQuality, Links};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::{FrameKind, Observer, Transmission};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::time;

/// A parent for every node but the root, in ascending order of node.
type Parents = Vec<u16>;

/// A network, and how often each of its senders sends 60 octets to the root.
struct Case {
    parents: Parents,
    layout: Layout,
    senders: Vec<NodeId>,
    period: Duration,
}

impl Case {
    /// Five nodes in a line, one dedicated cell a link, a packet from end to end now and then.
    fn line(slotframe: u16, period: Duration) -> Self {
        Self {
            parents: (0..4).collect(),
            layout: Layout { slotframe, shared: 0, managed: 1, autonomous: false },
            senders: vec![NodeId(4)],
            period,
        }
    }

    /// A tree of which every node has ten children at most, and all nodes send within a minute.
    fn tree(nodes: u16) -> Self {
        Self {
            parents: (1..nodes).map(|node| (node - 1) / 10).collect(),
            layout: Layout { slotframe: 101, shared: 0, managed: 9, autonomous: false },
            senders: (1..nodes).map(NodeId).collect(),
            period: Duration::from_secs(60),
        }
    }

    fn network(&self) -> Network<Tsch> {
        let nodes = self.parents.len() + 1;
        let links: Vec<LinkQuality> = (1u16..)
            .zip(&self.parents)
            .flat_map(|(child, &parent)| LinkQuality::symmetric(NodeId(parent), NodeId(child), 1.0))
            .collect();
        let streams = Streams::new(1);
        let routes = Routes::shortest(nodes, &links).expect("every node has a parent");
        let cells = self.layout.cells(&routes).expect("the slotframe is long enough");
        let config = tsch::Config { timing: Timing::SLOT_10_MS, ..tsch::Config::openwsn(self.layout.slotframe) };
        let mac = Tsch::new(config, Links::new(nodes, &links, &streams), cells, &streams);
        Network::new(mac, routes, Config::default(), &streams)
    }

    /// Runs for a span of virtual time, or until enough frames have been sent.
    fn run(&self, span: Duration, frames: u64) -> Cost {
        let mut network = self.network();
        let (mut events, mut air) = (Events::default(), Air::default());
        let mut cost = Cost { simulated: span, frames: 0, sent: 0, delivered: 0, wall: time::Duration::ZERO };
        let started = time::Instant::now();
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
            }
            cost.delivered += events.iter().filter(|event| matches!(event, Event::Delivered { .. })).count() as u64;
            events.clear();
        }
        cost.wall = started.elapsed();
        cost.frames = air.frames;
        cost.sent = turn;
        cost
    }
}

struct Cost {
    simulated: Duration,
    frames: u64,
    sent: u64,
    delivered: u64,
    wall: time::Duration,
}

impl Cost {
    fn simulated_per_wall_second(&self) -> f64 {
        self.simulated.as_secs_f64() / self.wall.as_secs_f64()
    }

    fn nanoseconds_per_frame(&self) -> f64 {
        self.wall.as_nanos() as f64 / self.frames as f64
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

/// The cheapest of some runs: what else the machine does only ever adds.
fn cheapest(case: &Case, span: Duration) -> Cost {
    (0..7).map(|_| case.run(span, u64::MAX)).min_by_key(|cost| cost.wall).expect("there are seven")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, frames] = &arguments[..] {
        assert_eq!(mode, "frames", "usage: network [frames N]");
        let frames = frames.parse().expect("N is a number of frames");
        let cost = Case::line(101, Duration::from_millis(1100)).run(Duration::from_secs(u64::MAX >> 24), frames);
        return println!("{} frames, {} of {} datagrams delivered", cost.frames, cost.delivered, cost.sent);
    }

    let line = cheapest(&Case::line(101, Duration::from_millis(1100)), Duration::from_secs(24 * 3600));
    println!("line of 5 nodes, slotframe 101 x 10 ms, 60 octets end to end every 1.1 s, 24 h:");
    println!("  {:>9.0} simulated s per wall s", line.simulated_per_wall_second());
    println!(
        "  {:>9.0} ns per frame ({} frames, {} datagrams)",
        line.nanoseconds_per_frame(),
        line.frames,
        line.delivered
    );

    let slow = Duration::from_secs(11);
    let week = Duration::from_secs(7 * 24 * 3600);
    let (short, long) = (cheapest(&Case::line(101, slow), week), cheapest(&Case::line(1010, slow), week));
    let ratio = short.simulated_per_wall_second() / long.simulated_per_wall_second();
    println!("the same line, 60 octets every 11 s, slotframe 1010 against 101:");
    println!("  {ratio:>9.2} times the cost of a simulated second");

    let (small, large) = (
        cheapest(&Case::tree(10), Duration::from_secs(24 * 3600)),
        cheapest(&Case::tree(1000), Duration::from_secs(600)),
    );
    let growth = large.nanoseconds_per_frame() / small.nanoseconds_per_frame();
    println!("trees whose nodes all send once a minute:");
    println!("  {:>9.0} ns per frame with 10 nodes ({} frames)", small.nanoseconds_per_frame(), small.frames);
    println!(
        "  {:>9.0} ns per frame with 1,000 nodes ({} frames, {} of {} datagrams delivered)",
        large.nanoseconds_per_frame(),
        large.frames,
        large.delivered,
        large.sent
    );
    println!("  {growth:>9.2} times the cost of a frame");
}
