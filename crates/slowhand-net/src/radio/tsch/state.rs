//! The nodes of a TSCH network with their schedules, queues and radios. The scheduling function is above this module.

use super::attempt::Attempt;
use super::config::TschConfig;
use super::event::{Event, Exchange};
use super::frame;
use super::load::{Load, LoadState, Member};
use super::node::{NEVER, Neighbor, TschNode};
use super::scan::Formation;
use super::schedule::{Cell, Schedule, handle};
use crate::address::{Eui64, NodeId};
use crate::clock::Instant;
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioInterval};
use crate::queue::EventQueue;
use crate::radio::frame::{Error, MAX_FRAME, Security};
use crate::radio::pool::FramePool;
use crate::radio::{Indication, Msdu, Payload};
use crate::random::Streams;

/// Frames of a node's queue that are reserved for 6P if cells are negotiated. Without them, a node whose queue is full
/// because it lacks cells could not ask for cells. Assumed; RFC 8180, section 4.6, asks for such a reserve and gives no
/// number.
const RESERVED_FOR_CONTROL: usize = 2;

/// All nodes of one TSCH network, without its scheduling function.
#[derive(Debug)]
pub struct TschState {
    pub(super) config: TschConfig,
    /// The most octets of payload in a data frame.
    pub(super) payload_capacity: usize,
    pub(super) links: Links,
    pub(super) nodes: Vec<TschNode>,
    pub(super) pool: FramePool,
    pub(super) events: EventQueue<Event>,
    /// The transmissions of the current slot. Kept between slots to reuse the memory.
    pub(super) slot: Vec<Attempt>,
    /// True if a scheduling function changes the schedule: the use of cells is counted for it.
    counts_use: bool,
    /// The state of the network while it forms; `None` if all nodes have joined.
    pub(super) formation: Option<Box<Formation>>,
    /// Beacons, DIOs and keep-alives.
    pub(super) load: Option<Box<LoadState>>,
    /// True while the timeline is kept: until an observer says that it does not watch radios.
    pub(super) watched: bool,
    /// The intervals that the observer has not seen yet.
    pub(super) timeline: Vec<RadioInterval>,
}

/// The frames of the layer above that fit into a queue, if a scheduling function needs room in it too.
pub(super) fn limit_of(queue: usize, has_function: bool) -> usize {
    queue.saturating_sub(if has_function { RESERVED_FOR_CONTROL } else { 0 })
}

/// An attempt at a frame with a 6P message is over.
#[derive(Clone, Debug)]
pub struct MessageAttempt {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The frame.
    pub(super) frame: Payload,
    /// True if the destination has received the message for the first time.
    pub(super) arrived: bool,
    pub(super) acknowledged: bool,
    pub(super) given_up: bool,
}

impl TschState {
    /// A network of nodes with these links. `cells` gives each node's cells. `has_function` is true if a scheduling
    /// function changes them.
    pub(super) fn new(
        config: TschConfig,
        links: Links,
        cells: Vec<Vec<Cell>>,
        has_function: bool,
        streams: &Streams,
    ) -> Self {
        let limit = limit_of(config.queue, has_function);
        let node = |(id, cells): (u16, Vec<Cell>)| {
            let schedule = Schedule::new(config.slotframe, cells);
            TschNode::new(NodeId(id), schedule, limit, &links, &config, streams)
        };
        Self {
            nodes: (0..).zip(cells).map(node).collect(),
            counts_use: has_function,
            formation: None,
            load: None,
            payload_capacity: frame::data_capacity(config.security),
            config,
            links,
            pool: FramePool::default(),
            events: EventQueue::default(),
            slot: Vec::new(),
            watched: true,
            timeline: Vec::new(),
        }
    }

    /// See [`Tsch::with_load`](super::Tsch::with_load).
    pub(super) fn add_load(&mut self, load: Load, members: Vec<Member>, streams: &Streams) {
        let cells = self.nodes.iter().map(|node| node.schedule.minimal_cells());
        self.load = Some(Box::new(LoadState::new(load, members, cells, &mut self.events, streams)));
    }

    /// See [`Mac::enqueue`](crate::radio::Mac::enqueue).
    #[inline]
    pub(super) fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let Msdu { node, next_hop, payload, datagram, discard } = msdu;
        let emit = |to: &Neighbor, octets: &mut _| to.data.emit(to.sequence.next(), payload, octets);
        self.insert(now, [node, next_hop], (datagram, discard), false, emit)
    }

    /// Enqueues a frame of the link layer itself, in front of all data frames if it is urgent. `write` gets the frame, its
    /// sequence number, source, destination and security.
    pub(super) fn enqueue_own(
        &mut self,
        now: Instant,
        node: NodeId,
        to: NodeId,
        is_urgent: bool,
        write: impl FnOnce(&mut [u8; MAX_FRAME], u8, Eui64, Eui64, Option<Security>) -> Result<usize, Error>,
    ) -> Result<(), DropReason> {
        let (source, destination, security) = (Eui64::of_node(node), Eui64::of_node(to), self.config.security);
        let write = |to: &Neighbor, octets: &mut _| write(octets, to.sequence.next(), source, destination, security);
        self.insert(now, [node, to], (NO_DATAGRAM, false), is_urgent, write)
    }

    /// Enqueues the frame that `write` makes.
    #[inline]
    fn insert(
        &mut self,
        now: Instant,
        [node, to]: [NodeId; 2],
        (datagram, discard): (DatagramId, bool),
        is_urgent: bool,
        write: impl FnOnce(&Neighbor, &mut [u8; MAX_FRAME]) -> Result<usize, Error>,
    ) -> Result<(), DropReason> {
        let after_now = self.config.timing.asn(now) + 1;
        let sender = &mut self.nodes[node.index()];
        let position = sender.position(to).ok_or(DropReason::NoCell)?;
        let neighbor = &mut sender.neighbors[position];
        if neighbor.cells.is_empty() {
            return Err(DropReason::NoCell);
        }
        // Urgent frames have room of their own.
        let room = if is_urgent { self.config.queue } else { sender.queue.limit() };
        if sender.queue.len() >= room {
            return Err(DropReason::QueueFull);
        }
        let write = |octets: &mut _| write(neighbor, octets);
        let frame = self.pool.allocate(now, datagram, discard, neighbor.sequence.next(), write)?;
        neighbor.sequence.take();
        if is_urgent {
            self.pool.get_mut(frame).age = 0; // older than any data
            neighbor.queue.push_urgent(&mut self.pool, frame, neighbor.on_air);
        } else {
            neighbor.queue.push(&mut self.pool, frame);
        }
        neighbor.waiting += 1;
        match datagram {
            NO_DATAGRAM => sender.queue.enter_own(),
            _ => sender.queue.enter(now),
        }
        if sender.next[position] == NEVER {
            sender.plan(position, after_now);
            self.schedule_wake(node);
        }
        Ok(())
    }

    /// Makes sure that an event wakes the node in the first slot in which it can send. What waits while its radio is off is
    /// planned when it is on again: until then the plan may name slots that are over.
    pub(super) fn schedule_wake(&mut self, node: NodeId) {
        let of_load = self.load.as_ref().map_or(NEVER, |load| load.next(node));
        let sender = &mut self.nodes[node.index()];
        if sender.is_off {
            return;
        }
        let asn = sender.next().min(of_load);
        if asn < sender.wake.unwrap_or(NEVER) {
            sender.wake = Some(asn);
            self.events.push(self.config.timing.start(asn), Event::Wake(node));
        }
    }

    /// See [`Mac::switch_radio`](crate::radio::Mac::switch_radio).
    pub(super) fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) {
        let after_now = self.config.timing.asn(now) + 1;
        let TschNode { schedule, activity, is_off, neighbors, .. } = &mut self.nodes[node.index()];
        if *is_off != on {
            return;
        }
        if self.watched {
            activity.show_idle(node, after_now, &self.config.timing, schedule, &mut self.timeline);
        }
        *is_off = !on;
        activity.switch(after_now, on, schedule);
        if on {
            for position in 0..neighbors.len() {
                self.nodes[node.index()].plan(position, after_now);
            }
            if let Some(load) = &mut self.load {
                load.plan(node, after_now);
            }
            self.schedule_wake(node);
        }
    }

    /// Chooses the frame that the node sends in the slot that begins.
    pub(super) fn wake(&mut self, now: Instant, node: NodeId) {
        let asn = self.config.timing.asn(now);
        let sender = &mut self.nodes[node.index()];
        if sender.wake != Some(asn) {
            return; // an earlier wake-up has replaced this one
        }
        sender.wake = None;
        if sender.is_off {
            return; // its frames are planned again when its radio is on
        }
        let free_at = sender.queue.processor().free_at();
        if free_at > now {
            let free = self.config.timing.asn_from(free_at);
            if let Some(load) = self.load.as_mut().filter(|load| load.next(node) == asn) {
                load.plan(node, free);
            }
            return self.put_off(node, asn, free);
        }
        if self.broadcast(node, asn) {
            return self.put_off(node, asn, asn + 1);
        }
        let sender = &mut self.nodes[node.index()];
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

    /// The node does not send the frames that it would send in slot `asn`. It tries again from slot `from` on.
    fn put_off(&mut self, node: NodeId, asn: u64, from: u64) {
        let sender = &mut self.nodes[node.index()];
        for position in 0..sender.next.len() {
            if sender.next[position] == asn {
                sender.plan(position, from);
            }
        }
        self.schedule_wake(node);
    }

    /// Ends an attempt: passes the frame up at the receiver, removes or repeats it at the sender. Returns the attempt
    /// if the frame has a 6P message.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        exchange: Exchange,
        indications: &mut Vec<Indication>,
    ) -> Option<MessageAttempt> {
        let Exchange { node, received, acknowledged, .. } = exchange;
        let asn = self.config.timing.asn(now);
        let position = usize::from(exchange.neighbor);
        let neighbor = &mut self.nodes[node.index()].neighbors[position];
        let to = neighbor.id;
        // The frame is still there: only this event removes it from the queue.
        let index = neighbor.queue.head()?;
        let frame = self.pool.get(index);
        let datagram = frame.datagram;
        let receiver = &mut self.nodes[to.index()];
        let arrived = received && receiver.accepts(node, frame.sequence);
        if arrived && datagram != NO_DATAGRAM {
            indications.extend(receiver.queue.receive_frame(now, to, node, frame));
        } else if received && datagram != NO_DATAGRAM {
            receiver.queue.handle_own(1);
        }
        if let Some(load) = &mut self.load {
            if received {
                load.synchronise(now, to, node);
            }
            if acknowledged {
                load.synchronise(now, node, to);
            }
        }
        let is_own = datagram == NO_DATAGRAM;
        let octets = self.pool.get(index).octets();
        let message = (is_own && frame::sixtop_message(octets).is_some()).then(|| Payload::new(octets));
        if self.counts_use {
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
            if is_own {
                sender.queue.leave_own();
            } else {
                sender.queue.leave(now);
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
        if is_own && message.is_none() && (acknowledged || given_up) {
            self.keep_alive_done(now, node);
        }

        message.map(|frame| MessageAttempt { from: node, to, frame, arrived, acknowledged, given_up })
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
    pub(super) fn change_schedule(
        &mut self,
        now: Instant,
        node: NodeId,
        neighbor: NodeId,
        change: impl FnOnce(&mut Schedule),
    ) {
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
            let on_demand = self.formation.as_ref().and_then(|formation| formation.on_demand(neighbor.id));
            neighbor.cells = changed.schedule.cells_to(neighbor.id, on_demand).with_uses_of(&neighbor.cells);
            changed.plan(position, next);
        }
        self.schedule_wake(node);
    }

    pub(super) fn show_timeline(&mut self, observer: &mut dyn Observer) {
        for interval in self.timeline.drain(..) {
            observer.radio(&interval);
        }
    }
}
