//! Scheduling functions over real 6P frames: first cells, adaptation to load, tunnels, and what losses do.

mod functions;
mod messages;
mod negotiation;

use crate::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::sixtop::Message;
use slowhand_net::radio::tsch::frame::sixtop_message;
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, Schedule, handle};
use slowhand_net::radio::tsch::scheduling::SchedulingFunction;
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::any::Any;

const SLOTFRAME: u16 = 101;

/// A network with a scheduling function.
struct World {
    network: Network,
    air: Recorder,
    now: Instant,
    sent: u32,
    /// When the datagrams arrived.
    delivered: Vec<Instant>,
}

impl World {
    /// A line of `hops` hops whose links deliver with probability `pdr`: minimal and autonomous cells to begin with.
    fn line(hops: u16, pdr: f64, function: impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction>) -> Self {
        Self::new(usize::from(hops) + 1, &line(hops, pdr), &[], function)
    }

    /// `given` are cells that nodes have from the beginning, besides minimal and autonomous ones.
    fn new(
        nodes: usize,
        links: &[LinkQuality],
        given: &[(u16, Cell)],
        function: impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction>,
    ) -> Self {
        Self::with_slotframe(SLOTFRAME, nodes, links, given, function)
    }

    fn with_slotframe(
        slotframe: u16,
        nodes: usize,
        links: &[LinkQuality],
        given: &[(u16, Cell)],
        function: impl FnOnce(&Routes, &Streams) -> Box<dyn SchedulingFunction>,
    ) -> Self {
        let streams = Streams::new(1);
        let routes = Routes::shortest(nodes, links).unwrap();
        let layout = Layout { slotframe, shared: 1, up: 0, down: 0, autonomous: true };
        let mut cells = layout.cells(&routes).unwrap();
        given.iter().for_each(|&(node, cell)| cells[usize::from(node)].push(cell));
        let config = TschConfig { timing: Timing::SLOT_10_MS, ..TschConfig::openwsn(slotframe) };
        let function = function(&routes, &streams);
        let mac = Tsch::with_function(config, Links::new(nodes, links, &streams), cells, function, &streams);
        Self {
            network: Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams),
            air: Recorder::default(),
            now: Instant::ZERO,
            sent: 0,
            delivered: Vec::new(),
        }
    }

    /// Runs until `end`; every `period` the node sends 60 octets to the root.
    fn run(&mut self, end: Instant, node: NodeId, period: Duration) {
        self.run_all(end, &[node], period);
    }

    /// Runs until `end`, as [`run`](Self::run), with several nodes, which send at the same time.
    fn run_all(&mut self, end: Instant, nodes: &[NodeId], period: Duration) {
        let times = std::iter::successors(Some(self.now), |&now| Some(now + period)).take_while(|&now| now < end);
        let to_root = |at| nodes.iter().map(move |&node| (at, Host::Node(node), Host::Node(NodeId::ROOT), 60));
        let sends: Vec<Send> = times.flat_map(to_root).collect();
        self.run_with(end, &sends);
    }

    /// Runs without traffic.
    fn idle(&mut self, end: Instant) {
        self.run_with(end, &[]);
    }

    fn run_with(&mut self, end: Instant, sends: &[Send]) {
        let fates = run_watched(&mut self.network, self.sent, sends, end, &mut self.air, |_, _| {});
        self.sent += sends.len() as u32;
        self.delivered.extend(fates.delivered.into_values().map(|(at, _)| at));
        self.delivered.sort();
        self.now = end;
    }

    /// The 6P messages that arrived: when, from whom, the message.
    fn messages(&self) -> Vec<(Instant, NodeId, Message)> {
        let of_sixtop = self.air.frames.iter().filter(|frame| frame.kind == FrameKind::SixTop && frame.received);
        let message = |frame: &Frame| {
            let message = Message::parse(sixtop_message(&frame.octets).unwrap());
            (at(frame.at), frame.from, message.expect("only 6P is in such frames"))
        };
        of_sixtop.map(message).collect()
    }

    /// The schedule of a node as it is now.
    fn schedule(&self, node: NodeId) -> &Schedule {
        let mac: &dyn Any = self.network.mac();
        mac.downcast_ref::<Tsch>().unwrap().schedule(node)
    }

    /// The cells in which a node sends to, or receives from, a neighbour, of one slotframe.
    fn cells(&self, node: u16, neighbor: u16, options: CellOptions, handle: u8) -> Vec<Cell> {
        let schedule = self.schedule(NodeId(node));
        let cells = schedule.agreed(NodeId(neighbor), options).copied().filter(|cell| cell.handle == handle);
        let mut cells: Vec<Cell> = cells.collect();
        cells.sort_by_key(|cell| cell.slot);
        cells
    }

    /// The number of cells that a node has negotiated to send to its parent; asserts that the parent has the same to receive.
    fn negotiated_up(&self, child: u16) -> usize {
        let up = self.cells(child, child - 1, CellOptions::TRANSMIT, handle::NEGOTIATED);
        let at_parent = self.cells(child - 1, child, CellOptions::RECEIVE, handle::NEGOTIATED);
        let ids = |cells: &[Cell]| cells.iter().map(Cell::id).collect::<Vec<_>>();
        assert_eq!(ids(&up), ids(&at_parent), "node {child} and its parent agree");
        up.len()
    }
}
