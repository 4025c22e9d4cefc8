//! Time-slotted channel hopping (IEEE 802.15.4-2015, 6.2.6), as 6TiSCH uses it.
//!
//! All nodes are synchronised and share one slotframe length. The simulation does not step through slots: it computes
//! the next slot in which a node has a frame *and* a cell for it, and then the whole slot at once. Idle listening is
//! computed on request.
//!
//! The schedule is static ([`layout`]), or a [scheduling function](scheduling) changes it while the network runs. Its
//! 6P messages are frames like all others. Nodes send no enhanced beacons or keep-alives, because clocks do not drift.

mod activity;
mod attempt;
pub mod autonomous;
mod config;
pub mod frame;
pub mod hopping;
pub mod layout;
mod node;
pub mod schedule;
pub mod scheduling;
mod slot;
pub mod timing;

use super::frame::FrameView;
use super::pool::FramePool;
use super::{Indication, Mac, Payload};
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioInterval, RadioTimes};
use crate::queue::EventQueue;
use crate::random::Streams;
use attempt::Attempt;
use node::{NEVER, TschNode};
use schedule::{Cell, Schedule, handle};
use scheduling::{Control, SchedulingFunction};

pub use config::TschConfig;
pub use node::CellsUsed;

/// Frames of a node's queue that are reserved for 6P if cells are negotiated. Without them, a node whose queue is full
/// because it lacks cells could not ask for cells. Assumed; RFC 8180, section 4.6, asks for such a reserve and gives no
/// number.
const RESERVED_FOR_CONTROL: usize = 2;

/// All nodes of one TSCH network.
#[derive(Debug)]
pub struct Tsch {
    config: TschConfig,
    links: Links,
    nodes: Vec<TschNode>,
    pool: FramePool,
    events: EventQueue<Event>,
    /// The transmissions of the current slot. Kept between slots to reuse the memory.
    slot: Vec<Attempt>,
    /// The scheduling function; `None` if the schedule is static, and while the function runs.
    control: Option<Box<Control>>,
    /// The most frames in a node's queue, 6P messages not counted.
    capacity: usize,
    /// True if the observer watches the radios.
    watched: bool,
    /// The intervals that the observer has not seen yet.
    timeline: Vec<RadioInterval>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A slot begins in which the node may have a frame to send.
    Wake(NodeId),
    /// An attempt at a frame is over.
    Finish(Exchange),
    /// A timer of the scheduling function.
    Function { node: NodeId, timer: u32 },
    /// The timeout of a 6P transaction.
    SixTop { node: NodeId, neighbor: u16, serial: u32 },
}

/// The outcome of one attempt at a frame.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    node: NodeId,
    /// Position of the destination among the sender's neighbours.
    neighbor: u16,
    /// The slotframe of the cell.
    handle: u8,
    shared: bool,
    received: bool,
    acknowledged: bool,
}

impl Tsch {
    /// A network of nodes with these links and a static schedule. `cells` gives each node's cells.
    pub fn new(config: TschConfig, links: Links, cells: Vec<Vec<Cell>>, streams: &Streams) -> Self {
        let node = |(id, cells): (u16, Vec<Cell>)| {
            TschNode::new(NodeId(id), Schedule::new(config.slotframe, cells), &links, &config, streams)
        };
        Self {
            nodes: (0..).zip(cells).map(node).collect(),
            capacity: config.queue,
            config,
            links,
            pool: FramePool::default(),
            events: EventQueue::default(),
            slot: Vec::new(),
            control: None,
            watched: false,
            timeline: Vec::new(),
        }
    }

    /// A network whose schedule begins with `cells`. A scheduling function changes it.
    pub fn with_function(
        config: TschConfig,
        links: Links,
        cells: Vec<Vec<Cell>>,
        function: Box<dyn SchedulingFunction>,
        streams: &Streams,
    ) -> Self {
        let mut tsch = Self::new(config, links, cells, streams);
        tsch.capacity = tsch.config.queue.saturating_sub(RESERVED_FOR_CONTROL);
        tsch.control = Some(Box::new(Control::new(function, tsch.nodes.iter().map(|node| node.neighbors.len()))));
        tsch.with_control(Instant::ZERO, |function, plane| function.start(plane));
        tsch
    }

    /// The present schedule of a node.
    pub fn schedule(&self, node: NodeId) -> &Schedule {
        &self.nodes[node.index()].schedule
    }
}

impl Mac for Tsch {
    /// A frame that is enqueued at the start of a slot is too late for that slot.
    fn enqueue(
        &mut self,
        now: Instant,
        node: NodeId,
        next_hop: NodeId,
        payload: &[u8],
        datagram: DatagramId,
    ) -> Result<(), DropReason> {
        let after_now = self.config.timing.asn(now) + 1;
        let sender = &mut self.nodes[node.index()];
        let position = sender.position(next_hop).ok_or(DropReason::NoCell)?;
        let neighbor = &mut sender.neighbors[position];
        if neighbor.cells.is_empty() {
            return Err(DropReason::NoCell);
        }
        if sender.queued >= self.capacity {
            return Err(DropReason::QueueFull);
        }
        let frame = self
            .pool
            .allocate(datagram, neighbor.sequence, |octets| neighbor.data.emit(neighbor.sequence, payload, octets))
            .map_err(|_| DropReason::Malformed)?;
        neighbor.sequence = neighbor.sequence.wrapping_add(1);
        neighbor.queue.push(&mut self.pool, frame);
        neighbor.waiting += 1;
        sender.queued += 1;
        sender.peak = sender.peak.max(sender.queued);
        if sender.next[position] == NEVER {
            sender.plan(position, after_now);
            self.schedule_wake(node);
        }
        Ok(())
    }

    fn payload_capacity(&self, _node: NodeId, _next_hop: NodeId) -> usize {
        frame::DATA_CAPACITY
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        debug_assert!(self.slot.is_empty());
        self.watched = observer.watches_radios();
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Wake(node) => self.wake(now, node),
                Event::Finish(exchange) => self.finish(now, exchange, indications),
                Event::Function { node, timer } => {
                    self.with_control(now, |function, plane| function.handle_timer(node, timer, plane));
                }
                Event::SixTop { node, neighbor, serial } => self.expire(now, node, usize::from(neighbor), serial),
            }
        }
        if !self.slot.is_empty() {
            self.run_slot(now, observer);
        }
        self.show_timeline(observer);
    }

    /// Whole slotframes until there are enough cells, and the slot that has begun already. Zero if the node has no cell
    /// to the neighbour.
    fn sending_time(&self, node: NodeId, next_hop: NodeId, frames: u64) -> Duration {
        let sender = &self.nodes[node.index()];
        let cells = sender.position(next_hop).map_or(0, |position| sender.neighbors[position].cells.len() as u64);
        match cells {
            0 => Duration::ZERO,
            _ => self.config.timing.slot * (frames.div_ceil(cells) * u64::from(self.config.slotframe) + 1),
        }
    }

    fn queued(&self, node: NodeId) -> usize {
        self.nodes[node.index()].queued
    }

    fn queue_limit(&self) -> usize {
        self.capacity
    }

    fn queue_peak(&self, node: NodeId) -> usize {
        self.nodes[node.index()].peak
    }

    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let TschNode { activity, schedule, .. } = &self.nodes[node.index()];
        activity.times(now, &self.config.timing, schedule)
    }

    /// A slot with a frame has already been shown as a whole, the part after `now` included.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if !observer.watches_radios() {
            return;
        }
        for (id, TschNode { activity, schedule, .. }) in (0..).zip(&mut self.nodes) {
            activity.show_idle_until(NodeId(id), now, &self.config.timing, schedule, &mut self.timeline);
        }
        self.show_timeline(observer);
    }

    /// See [`scheduling::tunnel`]; other scheduling functions do nothing.
    fn begin_burst(&mut self, now: Instant, node: NodeId) {
        self.with_control(now, |function, plane| function.begin_burst(node, plane));
    }

    fn end_burst(&mut self, now: Instant, node: NodeId) {
        self.with_control(now, |function, plane| function.end_burst(node, plane));
    }
}

impl Tsch {
    /// Makes sure that an event wakes the node in the first slot in which it can send.
    fn schedule_wake(&mut self, node: NodeId) {
        let sender = &mut self.nodes[node.index()];
        if let Some(asn) = sender.next().filter(|&asn| sender.wake.is_none_or(|wake| asn < wake)) {
            sender.wake = Some(asn);
            self.events.push(self.config.timing.start(asn), Event::Wake(node));
        }
    }

    /// Chooses the frame that the node sends in the slot that begins.
    fn wake(&mut self, now: Instant, node: NodeId) {
        let asn = self.config.timing.asn(now);
        let sender = &mut self.nodes[node.index()];
        if sender.wake != Some(asn) {
            return; // an earlier wake-up has replaced this one
        }
        sender.wake = None;
        let chosen = sender.choose(asn, &self.pool);
        for position in 0..sender.next.len() {
            if sender.next[position] != asn {
                continue;
            }
            if Some(position) != chosen {
                sender.plan(position, asn + 1);
                continue;
            }
            sender.next[position] = NEVER;
            let neighbor = &mut sender.neighbors[position];
            let slot = (asn % u64::from(self.config.slotframe)) as u16;
            // Both exist: `next` is this slot because a frame waits and there is a cell for it.
            if let (Some(frame), Some(cell)) = (neighbor.queue.head(), neighbor.cells.at(slot)) {
                neighbor.on_air = true;
                self.slot.push(Attempt::new(node, position, neighbor.id, frame, cell));
            }
        }
        self.schedule_wake(node);
    }

    /// Ends an attempt: passes the frame up at the receiver, removes or repeats it at the sender.
    fn finish(&mut self, now: Instant, exchange: Exchange, indications: &mut Vec<Indication>) {
        let Exchange { node, received, acknowledged, .. } = exchange;
        let asn = self.config.timing.asn(now);
        let position = usize::from(exchange.neighbor);
        let neighbor = &mut self.nodes[node.index()].neighbors[position];
        let to = neighbor.id;
        // The frame is still there: only this event removes it from the queue.
        let Some(index) = neighbor.queue.head() else { return };
        let datagram = self.pool.get(index).datagram;
        let mut arrived = false;
        if received
            && let Ok(frame) = FrameView::parse(self.pool.get(index).octets())
            && let Some(sequence) = frame.sequence()
        {
            arrived = self.nodes[to.index()].accepts(node, sequence);
            if arrived && datagram != NO_DATAGRAM {
                let payload = Payload::new(frame.payload());
                indications.push(Indication::Received { node: to, from: node, datagram, payload });
            }
        }
        let message = (datagram == NO_DATAGRAM).then(|| Payload::new(self.pool.get(index).octets()));
        if self.control.is_some() {
            self.count_use(&exchange, to, (asn % u64::from(self.config.slotframe)) as u16);
        }

        let sender = &mut self.nodes[node.index()];
        let neighbor = &mut sender.neighbors[position];
        neighbor.on_air = false;
        let frame = self.pool.get_mut(index);
        frame.attempts = frame.attempts.saturating_add(1);
        let given_up = !acknowledged && frame.attempts > self.config.max_retries;
        if acknowledged || given_up {
            neighbor.queue.pop(&mut self.pool);
            self.pool.release(index);
            neighbor.waiting -= 1;
            sender.queued -= 1;
            if message.is_none() {
                let reason = DropReason::RetriesExhausted;
                indications.push(match given_up {
                    true => Indication::Dropped { node, datagram, reason },
                    false => Indication::Sent { node, datagram },
                });
            }
        }
        neighbor.back_off(asn, exchange.shared, acknowledged, self.config.backoff_exponents, &mut sender.backoff);
        sender.plan(position, asn + 1);
        self.schedule_wake(node);

        if let Some(octets) = message {
            self.finish_message(
                now,
                node,
                to,
                frame::sixtop_message(&octets).unwrap_or_default(),
                arrived,
                acknowledged,
                given_up,
            );
        }
    }

    /// Counts the use of the cell for the scheduling function.
    fn count_use(&mut self, exchange: &Exchange, to: NodeId, slot: u16) {
        let neighbor = &mut self.nodes[exchange.node.index()].neighbors[usize::from(exchange.neighbor)];
        neighbor.cells.count_use(slot, exchange.acknowledged);
        neighbor.used.transmit += u32::from(exchange.handle == handle::NEGOTIATED);
        let receiver = &mut self.nodes[to.index()];
        if exchange.received
            && matches!(exchange.handle, handle::AUTONOMOUS | handle::NEGOTIATED)
            && let Some(position) = receiver.position(exchange.node)
        {
            receiver.neighbors[position].used.receive += 1;
        }
    }

    /// Changes a node's cells with `neighbor`, from the next slot on.
    fn change_schedule(&mut self, now: Instant, node: NodeId, neighbor: NodeId, change: impl FnOnce(&mut Schedule)) {
        let timing = self.config.timing;
        let next = timing.asn(now) + 1;
        let changed = &mut self.nodes[node.index()];
        if self.watched {
            changed.activity.show_idle(node, next, &timing, &changed.schedule, &mut self.timeline);
        }
        changed.activity.change(next, &changed.schedule);
        change(&mut changed.schedule);
        if let Some(position) = changed.position(neighbor) {
            let neighbor = &mut changed.neighbors[position];
            neighbor.cells = changed.schedule.cells_to(neighbor.id).with_uses_of(&neighbor.cells);
            changed.plan(position, next);
        }
        self.schedule_wake(node);
    }

    /// Enqueues a 6P message in front of all data frames.
    fn enqueue_message(&mut self, now: Instant, node: NodeId, to: NodeId, message: &[u8]) -> Result<(), DropReason> {
        let after_now = self.config.timing.asn(now) + 1;
        let sender = &mut self.nodes[node.index()];
        let position = sender.position(to).ok_or(DropReason::NoCell)?;
        let neighbor = &mut sender.neighbors[position];
        if neighbor.cells.is_empty() {
            return Err(DropReason::NoCell);
        }
        if sender.queued >= self.config.queue {
            return Err(DropReason::QueueFull);
        }
        let (source, destination) = (Eui64::of_node(node), Eui64::of_node(to));
        let write = |octets: &mut _| frame::write_sixtop(octets, neighbor.sequence, source, destination, message);
        let frame = self.pool.allocate(NO_DATAGRAM, neighbor.sequence, write).map_err(|_| DropReason::Malformed)?;
        self.pool.get_mut(frame).age = 0; // older than any data
        neighbor.sequence = neighbor.sequence.wrapping_add(1);
        neighbor.queue.push_urgent(&mut self.pool, frame, neighbor.on_air);
        neighbor.waiting += 1;
        sender.queued += 1;
        sender.peak = sender.peak.max(sender.queued);
        if sender.next[position] == NEVER {
            sender.plan(position, after_now);
            self.schedule_wake(node);
        }
        Ok(())
    }

    fn show_timeline(&mut self, observer: &mut dyn Observer) {
        for interval in self.timeline.drain(..) {
            observer.radio(&interval);
        }
    }
}
