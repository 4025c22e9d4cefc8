//! Time-slotted channel hopping (IEEE 802.15.4-2015, 6.2.6), as 6TiSCH uses it.
//!
//! All nodes are synchronised and share one slotframe length. Nothing steps through slots: the next
//! slot in which a node has a frame *and* a cell for it is computed, and what happens in that slot is
//! worked out at once. Idle listening is counted when somebody asks.

pub mod hopping;
pub mod layout;
pub mod msf;
pub mod schedule;
mod slot;
pub mod timing;

use super::frame::{self, DATA_HEADER};
use super::link::Links;
use super::pool::{FramePool, FrameQueue};
use super::{DatagramId, DropReason, Indication, Mac, Observer, Payload, RadioTimes};
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::queue::EventQueue;
use crate::random::{Stream, Streams};
use schedule::{Cell, Schedule, TransmitCells};
use timing::Timing;

/// The constants of a TSCH network.
#[derive(Clone, Debug)]
pub struct Config {
    /// The timeslot template.
    pub timing: Timing,
    /// Slots in a slotframe.
    pub slotframe: u16,
    /// The channel hopping sequence; not empty.
    pub hopping: Vec<u8>,
    /// How often a frame is sent again when no acknowledgement comes (macMaxFrameRetries).
    pub max_retries: u8,
    /// Smallest and largest back-off exponent in shared cells (macMinBe, macMaxBe).
    pub backoff_exponents: (u8, u8),
    /// How many frames a node can queue.
    pub queue: usize,
}

impl Config {
    /// OpenWSN's constants on the OpenMote: slots of 20 ms, 15 retries, exponents 2..5, 20 frames.
    /// Source: OpenWSN firmware, commit 7ee5f2033: `board_info.h`, `IEEE802154E.h`, `schedule.h`, `config.h`.
    pub fn openwsn(slotframe: u16) -> Self {
        Self {
            timing: Timing::SLOT_20_MS,
            slotframe,
            hopping: hopping::DEFAULT_SEQUENCE.to_vec(),
            max_retries: 15,
            backoff_exponents: (2, 5),
            queue: 20,
        }
    }
}

/// All nodes of one TSCH network.
#[derive(Debug)]
pub struct Tsch {
    config: Config,
    links: Links,
    nodes: Vec<Node>,
    pool: FramePool,
    events: EventQueue<Event>,
    /// The transmissions of the slot that is being worked out; kept for its memory.
    slot: Vec<slot::Attempt>,
}

#[derive(Debug)]
struct Node {
    schedule: Schedule,
    /// By identifier.
    neighbors: Vec<Neighbor>,
    queued: usize,
    peak: usize,
    /// The slot for which a wake-up is in the event queue.
    wake: Option<u64>,
    /// The slot in which it last sent or received: a radio does one thing in a slot.
    busy: Option<u64>,
    backoff: Stream,
    transmit: Duration,
    receive: Duration,
    listen: Duration,
    /// Slots with a cell to receive in that were spent otherwise than on idle listening.
    receive_slots_used: u64,
}

#[derive(Debug)]
struct Neighbor {
    id: NodeId,
    cells: TransmitCells,
    queue: FrameQueue,
    /// The slot of the next attempt; none where nothing waits or the head of the queue is on the air.
    next: Option<u64>,
    on_air: bool,
    /// Counted for each neighbour, so that no two frames in a row carry the same number.
    sequence: u8,
    last_received: Option<u8>,
    backoff_exponent: u8,
    backoff_cells: u32,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A slot begins in which the node may have something to send.
    Wake(NodeId),
    /// An exchange is over.
    Finish { node: NodeId, neighbor: u16, shared: bool, received: bool, acknowledged: bool },
}

impl Tsch {
    /// A network of nodes with these links; `cells` gives each node's cells.
    pub fn new(config: Config, links: Links, cells: Vec<Vec<Cell>>, streams: &Streams) -> Self {
        let nodes = cells
            .into_iter()
            .enumerate()
            .map(|(index, cells)| Node::new(index, Schedule::new(config.slotframe, cells), &links, &config, streams))
            .collect();
        Self { config, links, nodes, pool: FramePool::default(), events: EventQueue::default(), slot: Vec::new() }
    }
}

impl Mac for Tsch {
    /// A frame given at the very start of a slot is too late for that slot.
    fn enqueue(
        &mut self,
        now: Instant,
        node: NodeId,
        next_hop: NodeId,
        payload: &[u8],
        datagram: DatagramId,
    ) -> Result<(), DropReason> {
        let after_now = self.asn(now) + 1;
        let sender = &mut self.nodes[node.index()];
        let position = sender.position(next_hop).ok_or(DropReason::NoCell)?;
        let neighbor = &mut sender.neighbors[position];
        if neighbor.cells.is_empty() {
            return Err(DropReason::NoCell);
        }
        if sender.queued == self.config.queue {
            return Err(DropReason::QueueFull);
        }
        let (from, to) = (Eui64::of_node(node), Eui64::of_node(next_hop));
        let frame = self
            .pool
            .allocate(datagram, |octets| frame::write_data(octets, neighbor.sequence, from, to, payload))
            .ok_or(DropReason::Malformed)?;
        neighbor.sequence = neighbor.sequence.wrapping_add(1);
        neighbor.queue.push(&mut self.pool, frame);
        sender.queued += 1;
        sender.peak = sender.peak.max(sender.queued);
        if neighbor.next.is_none() && !neighbor.on_air {
            neighbor.next = neighbor.cells.next(after_now, neighbor.backoff_cells);
            self.schedule_wake(node);
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut impl Observer) {
        debug_assert!(self.slot.is_empty());
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Wake(node) => self.wake(now, node),
                Event::Finish { node, neighbor, shared, received, acknowledged } => {
                    self.finish(now, node, usize::from(neighbor), shared, received, acknowledged, indications);
                }
            }
        }
        if !self.slot.is_empty() {
            self.run_slot(now, observer);
        }
    }

    fn queued(&self, node: NodeId) -> usize {
        self.nodes[node.index()].queued
    }

    fn queue_peak(&self, node: NodeId) -> usize {
        self.nodes[node.index()].peak
    }

    /// A slot counts as soon as it begins.
    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        let slots = now.as_micros().div_ceil(self.config.timing.slot.as_micros());
        let Node { schedule, transmit, receive, listen, receive_slots_used, .. } = &self.nodes[node.index()];
        let idle = schedule.receive_slots_before(slots).saturating_sub(*receive_slots_used);
        let listen = *listen + self.config.timing.guard * 2 * idle;
        let awake = *transmit + *receive + listen;
        let sleep = now.since(Instant::ZERO).saturating_sub(awake);
        RadioTimes { transmit: *transmit, receive: *receive, listen, sleep }
    }
}

impl Tsch {
    /// The absolute slot number of the slot in which an instant lies.
    fn asn(&self, at: Instant) -> u64 {
        at.as_micros() / self.config.timing.slot.as_micros()
    }

    /// Sees to it that the node is woken in the first slot in which it can send.
    fn schedule_wake(&mut self, node: NodeId) {
        let sender = &mut self.nodes[node.index()];
        let next = sender.neighbors.iter().filter_map(|neighbor| neighbor.next).min();
        if let Some(asn) = next.filter(|&asn| sender.wake.is_none_or(|wake| asn < wake)) {
            sender.wake = Some(asn);
            self.events.push(Instant::ZERO + self.config.timing.slot * asn, Event::Wake(node));
        }
    }

    /// Chooses what the node sends in the slot that begins, if anything.
    fn wake(&mut self, now: Instant, node: NodeId) {
        let asn = self.asn(now);
        let sender = &mut self.nodes[node.index()];
        if sender.wake != Some(asn) {
            return; // overtaken by an earlier wake-up, which has seen to everything
        }
        sender.wake = None;
        let due = |neighbor: &&Neighbor| neighbor.next == Some(asn);
        let age = |neighbor: &Neighbor| neighbor.queue.head().map(|frame| self.pool.get(frame).age);
        let oldest = sender.neighbors.iter().filter(due).min_by_key(|neighbor| age(neighbor)).map(|chosen| chosen.id);
        for (position, neighbor) in sender.neighbors.iter_mut().enumerate() {
            if neighbor.next != Some(asn) {
                continue;
            }
            neighbor.backoff_cells = 0;
            if Some(neighbor.id) != oldest {
                neighbor.next = neighbor.cells.next(asn + 1, 0);
                continue;
            }
            neighbor.next = None;
            let slot = (asn % u64::from(self.config.slotframe)) as u16;
            // Both are there: `next` named this slot because a frame waits and a cell lies in it.
            if let (Some(frame), Some(cell)) = (neighbor.queue.head(), neighbor.cells.at(slot)) {
                neighbor.on_air = true;
                self.slot.push(slot::Attempt::new(node, position, neighbor.id, frame, cell));
            }
        }
        self.schedule_wake(node);
    }

    /// Ends an exchange: passes the frame up at the receiver, drops or repeats it at the sender.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &mut self,
        now: Instant,
        node: NodeId,
        position: usize,
        shared: bool,
        received: bool,
        acknowledged: bool,
        indications: &mut Vec<Indication>,
    ) {
        let after_now = self.asn(now) + 1;
        let neighbor = &mut self.nodes[node.index()].neighbors[position];
        let to = neighbor.id;
        // The frame is there: only this event takes it from the queue.
        let Some(index) = neighbor.queue.head() else { return };
        let datagram = self.pool.get(index).datagram;
        if received {
            let octets = self.pool.get(index).octets();
            let (sequence, payload) = (octets[2], Payload::new(&octets[DATA_HEADER..]));
            if self.nodes[to.index()].accepts(node, sequence) {
                indications.push(Indication::Received { node: to, from: node, datagram, payload });
            }
        }
        let sender = &mut self.nodes[node.index()];
        let neighbor = &mut sender.neighbors[position];
        neighbor.on_air = false;
        let frame = self.pool.get_mut(index);
        frame.attempts += 1;
        let given_up = !acknowledged && frame.attempts > self.config.max_retries;
        if acknowledged || given_up {
            neighbor.queue.pop(&mut self.pool);
            self.pool.release(index);
            sender.queued -= 1;
            let reason = DropReason::RetriesExhausted;
            indications.push(if given_up {
                Indication::Dropped { node, datagram, reason }
            } else {
                Indication::Sent { node, datagram }
            });
        }
        neighbor.back_off(shared, acknowledged, self.config.backoff_exponents, &mut sender.backoff);
        if neighbor.queue.head().is_some() {
            neighbor.next = neighbor.cells.next(after_now, neighbor.backoff_cells);
            self.schedule_wake(node);
        }
    }
}

impl Node {
    fn new(index: usize, schedule: Schedule, links: &Links, config: &Config, streams: &Streams) -> Self {
        let neighbors = links
            .audience(NodeId(index as u16))
            .map(|id| Neighbor {
                id,
                cells: schedule.cells_to(id),
                queue: FrameQueue::default(),
                next: None,
                on_air: false,
                sequence: 0,
                last_received: None,
                backoff_exponent: config.backoff_exponents.0,
                backoff_cells: 0,
            })
            .collect();
        Self {
            schedule,
            neighbors,
            queued: 0,
            peak: 0,
            wake: None,
            busy: None,
            backoff: streams.stream("back-off", index as u64),
            transmit: Duration::ZERO,
            receive: Duration::ZERO,
            listen: Duration::ZERO,
            receive_slots_used: 0,
        }
    }

    fn position(&self, neighbor: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&neighbor, |neighbor| neighbor.id).ok()
    }

    /// Whether a frame is new: the same number twice in a row is a repetition whose acknowledgement was lost.
    fn accepts(&mut self, from: NodeId, sequence: u8) -> bool {
        let Some(position) = self.position(from) else {
            return true; // a link of one direction: nothing is known of its sender
        };
        self.neighbors[position].last_received.replace(sequence) != Some(sequence)
    }
}

impl Neighbor {
    /// The back-off of shared cells (IEEE 802.15.4-2015, 6.2.5.3): a failure in a shared cell doubles the
    /// window, a success there closes it, one in a dedicated cell does so when nothing more waits.
    fn back_off(&mut self, shared: bool, acknowledged: bool, (min, max): (u8, u8), random: &mut Stream) {
        if acknowledged && (shared || self.queue.head().is_none()) {
            self.backoff_exponent = min;
            self.backoff_cells = 0;
        } else if !acknowledged && shared {
            self.backoff_exponent = (self.backoff_exponent + 1).min(max);
            self.backoff_cells = random.below(1 << self.backoff_exponent) as u32;
        }
    }
}
