//! A network with a scheduling function, and everything that was on its air.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::radio::sixtop::Message;
use slowhand_net::radio::tsch::frame::sixtop_message;
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, Schedule, handle};
use slowhand_net::radio::tsch::scheduling::SchedulingFunction;
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::any::Any;

pub const SLOTFRAME: u16 = 101;

/// Frames with their time, and the 6P messages among them.
#[derive(Default)]
pub struct Air {
    pub frames: Vec<(Instant, FrameKind, Vec<u8>)>,
    pub messages: Vec<(Instant, NodeId, NodeId, Message)>,
}

impl Observer for Air {
    fn transmission(&mut self, sent: &Transmission<'_>) {
        self.frames.push((sent.at, sent.kind, sent.octets.to_vec()));
        if sent.kind == FrameKind::SixTop && sent.received {
            let message = Message::parse(sixtop_message(sent.octets).unwrap()).expect("only 6P is in such frames");
            self.messages.push((sent.at, sent.from, sent.to, message));
        }
    }
}

pub struct World {
    pub network: Network,
    pub air: Air,
    pub events: Events,
    pub now: Instant,
    pub sent: u32,
    pub delivered: Vec<(Instant, u32)>,
}

impl World {
    /// A line of `hops` hops whose links deliver with probability `pdr`: minimal and autonomous cells to begin with.
    pub fn line(hops: u16, pdr: f64, function: impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction>) -> Self {
        let links: Vec<LinkQuality> =
            (0..hops).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), pdr)).collect();
        Self::new(usize::from(hops) + 1, &links, &[], function)
    }

    /// `given` are cells that nodes have from the beginning, besides minimal and autonomous ones.
    pub fn new(
        nodes: usize,
        links: &[LinkQuality],
        given: &[(u16, Cell)],
        function: impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction>,
    ) -> Self {
        let streams = Streams::new(1);
        let routes = Routes::shortest(nodes, links).unwrap();
        let layout = Layout { slotframe: SLOTFRAME, shared: 1, managed: 0, autonomous: true };
        let mut cells = layout.cells(&routes).unwrap();
        given.iter().for_each(|&(node, cell)| cells[usize::from(node)].push(cell));
        let config = tsch::TschConfig { timing: Timing::SLOT_10_MS, ..tsch::TschConfig::openwsn(SLOTFRAME) };
        let function = function(&routes, &streams);
        let mac = Tsch::with_function(config, Links::new(nodes, links, &streams), cells, function, &streams);
        Self {
            network: Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams),
            air: Air::default(),
            events: Events::default(),
            now: Instant::ZERO,
            sent: 0,
            delivered: Vec::new(),
        }
    }

    /// Runs until `end`; every `period` the node sends 60 octets to the root.
    pub fn run(&mut self, end: Instant, node: NodeId, period: Duration) {
        self.run_all(end, &[node], period);
    }

    /// The same with several nodes, which send at the same time.
    pub fn run_all(&mut self, end: Instant, nodes: &[NodeId], period: Duration) {
        let mut send_at = self.now;
        loop {
            let now = self.network.deadline().map_or(send_at, |deadline| deadline.min(send_at));
            if now >= end {
                break;
            }
            if now == send_at {
                let endpoint = |node| Endpoint::new(Host::Node(node).address(), 5684);
                for &node in nodes {
                    let (from, to) = (endpoint(node), endpoint(NodeId::ROOT));
                    self.network.send(now, from, to, &[0x5a; 60], self.sent, &mut self.events).unwrap();
                    self.sent += 1;
                }
                send_at += period;
            } else {
                self.network.handle_deadline(now, &mut self.events, &mut self.air);
            }
            for event in self.events.iter() {
                if let Event::Delivered { datagram, .. } = event {
                    self.delivered.push((now, datagram));
                }
            }
            self.events.clear();
        }
        self.now = end;
    }

    /// Runs without traffic.
    pub fn idle(&mut self, end: Instant) {
        while let Some(now) = self.network.deadline().filter(|&now| now < end) {
            self.network.handle_deadline(now, &mut self.events, &mut self.air);
            self.events.clear();
        }
        self.now = end;
    }

    /// The schedule of a node as it is now.
    pub fn schedule(&self, node: NodeId) -> &Schedule {
        let mac: &dyn Any = self.network.mac();
        mac.downcast_ref::<Tsch>().unwrap().schedule(node)
    }

    /// The cells in which a node sends to, or receives from, a neighbour, of one slotframe.
    pub fn cells(&self, node: u16, neighbor: u16, options: CellOptions, handle: u8) -> Vec<Cell> {
        let schedule = self.schedule(NodeId(node));
        let cells = schedule.agreed(NodeId(neighbor), options).copied().filter(|cell| cell.handle == handle);
        let mut cells: Vec<Cell> = cells.collect();
        cells.sort_by_key(|cell| cell.slot);
        cells
    }

    /// How many cells a node has negotiated to send to its parent; asserts that the parent has the same to receive.
    pub fn negotiated_up(&self, child: u16) -> usize {
        let up = self.cells(child, child - 1, CellOptions::TRANSMIT, handle::NEGOTIATED);
        let at_parent = self.cells(child - 1, child, CellOptions::RECEIVE, handle::NEGOTIATED);
        let ids = |cells: &[Cell]| cells.iter().map(Cell::id).collect::<Vec<_>>();
        assert_eq!(ids(&up), ids(&at_parent), "node {child} and its parent agree");
        up.len()
    }
}

pub fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}
