//! Time-slotted channel hopping (IEEE 802.15.4-2015, 6.2.6), as 6TiSCH uses it.
//!
//! All nodes are synchronised and share one slotframe length. The simulation does not step through slots: it computes
//! the next slot in which a node has a frame *and* a cell for it, and then the whole slot at once. Idle listening is
//! computed on request.
//!
//! The schedule is static ([`layout`]), or a [scheduling function](scheduling) changes it while the network runs. Its
//! 6P messages are frames like all others. Beacons, DIOs and keep-alives are [load] that a network may have or not: nodes have
//! joined already, and clocks do not drift.

mod activity;
mod attempt;
pub mod autonomous;
mod config;
mod event;
mod formation;
pub mod frame;
pub mod hopping;
pub mod layout;
pub mod load;
mod node;
mod scan;
pub mod schedule;
pub mod scheduling;
mod slot;
mod state;
pub mod timing;
mod upkeep;

use super::{Indication, Mac, NodeQueue};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{FrameKind, Observer, RadioTimes, RadioWork, Slots};
use crate::radio::Msdu;
use crate::random::Streams;
use event::Event;
use node::TschNode;
use schedule::{Cell, Schedule};
use scheduling::{Control, Plane, SchedulingFunction};
use state::{TschState, limit_of};

pub use config::TschConfig;
pub use load::{Load, Member, Trickle};
pub use node::CellsUsed;

/// All nodes of one TSCH network.
#[derive(Debug)]
pub struct Tsch {
    state: TschState,
    /// The scheduling function; `None` if the schedule is static.
    control: Option<Box<Control>>,
}

impl Tsch {
    /// A network of nodes with these links and a static schedule. `cells` gives each node's cells.
    pub fn new(config: TschConfig, links: Links, cells: Vec<Vec<Cell>>, streams: &Streams) -> Self {
        Self { state: TschState::new(config, links, cells, false, streams), control: None }
    }

    /// A network whose schedule begins with `cells`. A scheduling function changes it.
    pub fn with_function(
        config: TschConfig,
        links: Links,
        cells: Vec<Vec<Cell>>,
        function: Box<dyn SchedulingFunction>,
        streams: &Streams,
    ) -> Self {
        let state = TschState::new(config, links, cells, true, streams);
        let control = Control::new(function, state.nodes.iter().map(|node| node.neighbors.len()));
        let mut tsch = Self { state, control: Some(Box::new(control)) };
        tsch.with_control(Instant::ZERO, |function, plane| function.start(plane));
        tsch
    }

    /// This network with a load on its minimal cells. `members` has one entry for each node.
    pub fn with_load(mut self, load: Load, members: Vec<Member>, streams: &Streams) -> Self {
        self.state.add_load(load, members, streams);
        self
    }

    /// Sets the parent and the hops of a node, which its beacons tell.
    pub fn set_member(&mut self, node: NodeId, parent: Option<NodeId>, hops: u8) {
        if let Some(load) = &mut self.state.load {
            load.set_member(node, parent, hops);
        }
    }

    /// A node sends a beacon in its next minimal cell, unless one waits already.
    pub fn send_beacon(&mut self, now: Instant, node: NodeId) {
        self.state.announce(now, node, None);
    }

    /// A node sends a frame to all neighbours in its next minimal cell, unless one of this kind waits already.
    pub fn send_to_all(&mut self, now: Instant, node: NodeId, kind: FrameKind, payload: Vec<u8>) {
        self.state.announce(now, node, Some((kind, payload)));
    }

    /// A node has chosen its parent: the scheduling function asks it for cells.
    pub fn choose_parent(&mut self, now: Instant, node: NodeId, parent: NodeId) {
        self.with_control(now, |function, plane| function.choose_parent(node, parent, plane));
    }

    /// The present schedule of a node.
    pub fn schedule(&self, node: NodeId) -> &Schedule {
        &self.state.nodes[node.index()].schedule
    }

    /// Calls `act` with the scheduling function, if there is one.
    fn with_control(&mut self, now: Instant, act: impl FnOnce(&mut dyn SchedulingFunction, &mut Plane<'_>)) {
        if let Some(control) = &mut self.control {
            control.act(now, &mut self.state, act);
        }
    }
}

impl Mac for Tsch {
    /// A frame that is enqueued at the start of a slot is too late for that slot.
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        self.state.enqueue(now, msdu)
    }

    fn payload_capacity(&self, _node: NodeId, _next_hop: NodeId) -> usize {
        self.state.payload_capacity
    }

    fn deadline(&self) -> Option<Instant> {
        self.state.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        debug_assert!(self.state.slot.is_empty());
        self.state.watched = observer.watches_radios();
        if !self.state.watched {
            self.state.timeline.clear();
        }
        while let Some(event) = self.state.events.pop_due(now) {
            match event {
                Event::Wake(node) => self.state.wake(now, node),
                Event::Finish(exchange) => {
                    if let Some(message) = self.state.finish(now, exchange, indications)
                        && let Some(control) = &mut self.control
                    {
                        control.finish_message(now, &mut self.state, &message);
                    }
                }
                Event::Heard => indications.extend(self.state.heard()),
                Event::Load(node, timer) => self.state.load_timer(now, node, timer),
                Event::Function { node, timer } => {
                    self.with_control(now, |function, plane| function.handle_timer(node, timer, plane));
                }
                Event::SixTop { node, neighbor, serial } => {
                    if let Some(control) = &mut self.control {
                        control.expire(now, &mut self.state, node, usize::from(neighbor), serial);
                    }
                }
            }
        }
        if !self.state.slot.is_empty() {
            self.state.run_slot(now, observer);
        }
        self.state.show_timeline(observer);
    }

    /// Whole slotframes until there are enough cells, and the slot that has begun already. Zero if the node has no cell
    /// to the neighbour.
    fn sending_time(&self, node: NodeId, next_hop: NodeId, frames: u64) -> Duration {
        let sender = &self.state.nodes[node.index()];
        let cells = sender.position(next_hop).map_or(0, |position| sender.neighbors[position].cells.len() as u64);
        match cells {
            0 => Duration::ZERO,
            _ => self.state.config.timing.slot * (frames.div_ceil(cells) * u64::from(self.state.config.slotframe) + 1),
        }
    }

    fn queue(&self, node: NodeId) -> &NodeQueue {
        &self.state.nodes[node.index()].queue
    }

    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue {
        &mut self.state.nodes[node.index()].queue
    }

    fn set_queue(&mut self, node: NodeId, frames: usize) {
        let limit = limit_of(frames, self.control.is_some());
        self.queue_mut(node).set_limit(limit);
    }

    fn links_mut(&mut self) -> Option<&mut Links> {
        Some(&mut self.state.links)
    }

    fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) -> bool {
        self.state.switch_radio(now, node, on);
        true
    }

    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let TschNode { activity, schedule, scan, scanned, .. } = &self.state.nodes[node.index()];
        let times = activity.times(now, &self.state.config.timing, schedule);
        scanned.with(scan.as_ref(), now).in_times(times)
    }

    fn radio_work(&self, node: NodeId, now: Instant) -> RadioWork {
        let TschNode { activity, schedule, scan, scanned, .. } = &self.state.nodes[node.index()];
        scanned.with(scan.as_ref(), now).in_work(activity.work(now, &self.state.config.timing, schedule))
    }

    fn slots(&self, node: NodeId, now: Instant) -> Option<Slots> {
        let TschNode { activity, schedule, .. } = &self.state.nodes[node.index()];
        Some(activity.slots(now, &self.state.config.timing, schedule))
    }

    /// A slot with a frame has already been shown as a whole, the part after `now` included.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if !observer.watches_radios() {
            return;
        }
        for (id, TschNode { activity, schedule, .. }) in (0..).zip(&mut self.state.nodes) {
            activity.show_idle_until(NodeId(id), now, &self.state.config.timing, schedule, &mut self.state.timeline);
        }
        self.state.show_timeline(observer);
    }

    /// See [`scheduling::tunnel`]; other scheduling functions do nothing.
    fn begin_burst(&mut self, now: Instant, node: NodeId) {
        self.with_control(now, |function, plane| function.begin_burst(node, plane));
    }

    fn end_burst(&mut self, now: Instant, node: NodeId) {
        self.with_control(now, |function, plane| function.end_burst(node, plane));
    }
}
