//! X-MAC: preamble sampling (Buettner et al., SenSys 2006), as in Contiki's CX-MAC.
//!
//! A node's radio is on for some milliseconds in every check interval. The sender of a frame first sends a train of
//! short strobes, and listens in the gap after each of them. The destination wakes up, answers a strobe, and stays
//! awake for the data frame, which follows at once. The answer tells the sender when the neighbour wakes up. The next
//! train begins only shortly before that time.
//!
//! A sender that hears another node's frame between its strobes stops the train. Its frame waits for a random number of
//! check intervals. A node that hears a strobe for another node lets that exchange go first. Data frames are not
//! acknowledged, unless [`XmacConfig::data_ack`] is set: the loss of a strobe delays the frame, and the loss of a data
//! frame is final.
//!
//! Contiki's older `xmac.c` did the same with another timer for the wake-ups ([`XmacConfig::xmac_2010`]).
//!
//! The model leaves out some parts of Contiki:
//! - broadcasts and announcements;
//! - streaming (one second without duty cycling, which IPv6 traffic never requests);
//! - the extra frame buffer that sending takes while the queue is full;
//! - the rounding of back-offs and late wake-ups to whole ticks of the slow clock.

mod config;
mod cycle;
mod frame;
mod node;
mod receive;
mod retry;
mod send;

pub use config::XmacConfig;
pub use retry::Retry;

use super::contention::TURNAROUND;
use super::medium::{Medium, OnAir, Reception};
use super::phy::{MAX_PSDU, air_time};
use super::pool::FramePool;
use super::{Indication, Mac, NodeQueue};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::drop_reason::DropReason;
use crate::link::{Kind, Links};
use crate::observer::{FrameKind, Observer, RadioTimes, RadioWork, Transmission};
use crate::queue::EventQueue;
use crate::radio::Msdu;
use crate::random::Streams;
use cycle::Cycle;
use node::{Activity, Answering, Event, Neighbor, Sending, Stage, XmacNode};

/// All nodes of one X-MAC network.
#[derive(Debug)]
pub struct XMac {
    config: XmacConfig,
    medium: Medium,
    nodes: Vec<XmacNode>,
    pool: FramePool,
    events: EventQueue<Event>,
    /// Events for the layer above: the list of the caller while events are handled, else empty.
    indications: Vec<Indication>,
    /// The receptions of the frame that ends. Kept between frames to reuse the memory.
    receptions: Vec<Reception>,
    /// True while timelines are kept: until an observer says that it does not watch radios.
    watched: bool,
}

impl XMac {
    /// A network on one channel (11..=26) whose nodes wake up at random phases of the check interval.
    pub fn new(config: XmacConfig, channel: u8, links: Links, streams: &Streams) -> Self {
        let interval = config.check_interval.as_micros();
        let phase = |node| Duration::from_micros(streams.stream("wake-up phase", node as u64).below(interval));
        let phases: Vec<_> = (0..links.nodes()).map(phase).collect();
        Self::with_phases(config, channel, links, &phases, streams)
    }

    /// A network whose nodes wake up for the first time at these phases of the check interval, one for each node.
    pub fn with_phases(config: XmacConfig, channel: u8, links: Links, phases: &[Duration], streams: &Streams) -> Self {
        let node = |(index, &phase): (usize, &Duration)| {
            let neighbors = links.audience(NodeId(index as u16)).map(Neighbor::new).collect();
            let cycle = Cycle::new(Instant::ZERO + phase, config.check_interval, config.awake);
            XmacNode::new(neighbors, config.queue, cycle, streams.stream("back-off", index as u64))
        };
        let nodes = phases.iter().enumerate().map(node).collect();
        Self {
            config,
            medium: Medium::new(channel, links),
            nodes,
            pool: FramePool::default(),
            events: EventQueue::default(),
            indications: Vec::new(),
            receptions: Vec::new(),
            watched: true,
        }
    }

    /// Puts the node's frame on the air.
    fn begin(&mut self, now: Instant, node: NodeId, psdu: usize) {
        let air_time = air_time(psdu);
        let (end, nodes, config) = (now + air_time, &self.nodes, &self.config);
        let listens = |listener: NodeId| nodes[listener.index()].listens(now, end, config);
        let frame = self.medium.begin(now, node, air_time, listens);
        for reception in self.medium.receptions(frame) {
            self.nodes[reception.node.index()].radio.set_receiving(now, true);
        }
        self.events.push(end, Event::End { node, frame });
    }

    /// True if the channel assessment before a frame that begins now finds the channel clear.
    fn channel_is_clear(&mut self, now: Instant, node: NodeId) -> bool {
        !self.config.assess_channel || !self.medium.busy(now - TURNAROUND, node)
    }

    /// Switches the radio of a node off or on.
    fn power(&mut self, now: Instant, node: NodeId, on: bool) {
        let switched = &mut self.nodes[node.index()];
        switched.set_off(now, !on);
        let waits = match switched.activity {
            Activity::Idle => false,
            Activity::Answering(answering) => !answering.on_air,
            Activity::Sending(sending) => !matches!(sending.stage, Stage::Strobe | Stage::Data | Stage::AwaitDataAck),
        };
        match on {
            true => self.attempt_what_is_due(now, node),
            false => {
                if !matches!(self.nodes[node.index()].activity, Activity::Sending(_)) || waits {
                    self.stop_receiving(now, node);
                }
                if waits {
                    let activity = self.nodes[node.index()].activity;
                    self.nodes[node.index()].turn_to(now, activity);
                    self.plan(now, node);
                }
            }
        }
    }

    /// Ends a reception of the radio.
    fn stop_receiving(&mut self, now: Instant, node: NodeId) {
        self.medium.stop_listening(now, node);
        self.nodes[node.index()].radio.set_receiving(now, false);
    }

    /// Starts or stops keeping timelines.
    fn keep_timelines(&mut self, watched: bool) {
        if self.watched != watched {
            self.watched = watched;
            self.nodes.iter_mut().for_each(|node| node.radio.account_mut().watch(watched));
        }
    }

    /// Plans the next step of the node's activity.
    fn plan(&mut self, at: Instant, node: NodeId) {
        let step = self.nodes[node.index()].step;
        self.events.push(at, Event::Step { node, step });
    }
}

impl Mac for XMac {
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let Msdu { node, next_hop, payload, datagram, discard } = msdu;
        let sender = &mut self.nodes[node.index()];
        let position = sender.position(next_hop).ok_or(DropReason::NoCell)?;
        let first = sender.neighbors[position].queue.head().is_none();
        let queues = sender.neighbors.iter().filter(|neighbor| neighbor.queue.head().is_some()).count();
        if sender.queue.is_full() || first && queues == self.config.neighbor_queues {
            return Err(DropReason::QueueFull);
        }
        let neighbor = &mut sender.neighbors[position];
        let (sequence, acknowledged) = (neighbor.sequence.next(), self.config.data_ack);
        let security = self.config.security;
        let write =
            |octets: &mut _| frame::write_data(octets, sequence, node, next_hop, payload, acknowledged, security);
        let frame = self.pool.allocate(now, datagram, discard, sequence, write)?;
        neighbor.sequence.take();
        neighbor.queue.push(&mut self.pool, frame);
        sender.queue.enter(now);
        if first {
            self.events.push(now, Event::Attempt { node, neighbor: position });
        }
        Ok(())
    }

    fn payload_capacity(&self, _node: NodeId, _next_hop: NodeId) -> usize {
        frame::data_capacity(self.config.security)
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        self.keep_timelines(observer.watches_radios());
        std::mem::swap(&mut self.indications, indications);
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Attempt { node, neighbor } => self.attempt(now, node, neighbor),
                Event::Step { node, step } if step == self.nodes[node.index()].step => {
                    self.step(now, node);
                }
                Event::Step { .. } => {} // the node does something else now
                Event::End { node, frame } => self.end(now, node, frame, observer),
            }
        }
        std::mem::swap(&mut self.indications, indications);
    }

    /// The longest train of strobes for each frame.
    fn sending_time(&self, _node: NodeId, _next_hop: NodeId, frames: u64) -> Duration {
        (self.config.strobe_limit + self.config.data_delay + air_time(MAX_PSDU)) * frames
    }

    fn queue(&self, node: NodeId) -> &NodeQueue {
        &self.nodes[node.index()].queue
    }

    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue {
        &mut self.nodes[node.index()].queue
    }

    fn links_mut(&mut self) -> Option<&mut Links> {
        Some(self.medium.links_mut())
    }

    /// A frame that has begun is finished. The train of strobes ends, as if another node were sending.
    fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) -> bool {
        if self.nodes[node.index()].is_off == on {
            self.power(now, node, on);
        }
        true
    }

    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        self.nodes[node.index()].radio.times(now)
    }

    fn radio_work(&self, node: NodeId, now: Instant) -> RadioWork {
        self.nodes[node.index()].radio.work(now)
    }

    /// The MAC waits actively from the decision to send a frame until it has been sent, the wait for the neighbour's
    /// wake-up included. A frame that is still being sent does not count yet.
    fn processor_time(&self, node: NodeId) -> Duration {
        self.nodes[node.index()].busy
    }

    /// All intervals are reported here. Call it at the end; call it also in between to save memory.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if observer.watches_radios() {
            self.keep_timelines(true);
            (0..).zip(&mut self.nodes).for_each(|(id, node)| node.radio.report(now, NodeId(id), observer));
        }
    }
}

impl XMac {
    /// The node's frame ends: the observer sees it, and the nodes that have received it handle it.
    fn end(&mut self, now: Instant, from: NodeId, frame: OnAir, observer: &mut dyn Observer) {
        let mut receptions = std::mem::take(&mut self.receptions);
        let Self { medium, nodes, pool, .. } = self;
        let (at, channel) = (medium.begun(frame), medium.channel());
        let sender = &nodes[from.index()];
        let control = &sender.control[..sender.control_length];
        let (kind, to, datagram, queued_at, attempt, octets) = match sender.activity {
            Activity::Idle => return, // cannot happen: a frame that has begun is finished
            Activity::Answering(Answering { kind, to, datagram, queued_at, attempt, .. }) => {
                (kind, to, datagram, queued_at, attempt, control)
            }
            Activity::Sending(Sending { stage, to, frame, attempt, .. }) => {
                let frame = pool.get(frame);
                let (kind, octets) = match stage {
                    Stage::Strobe => (FrameKind::Strobe, control),
                    _ => (FrameKind::Data, frame.octets()),
                };
                (kind, to, frame.datagram, frame.queued_at, attempt, octets)
            }
        };
        let link = if matches!(kind, FrameKind::Ack | FrameKind::StrobeAck) { Kind::Ack } else { Kind::Data };
        medium.end(frame, link, &mut receptions);
        let received = receptions.iter().any(|reception| reception.node == to && reception.is_received());
        let sent = Transmission::new(at, channel, kind, from, to);
        let sent = Transmission { datagram, queued_at, attempt, received, ..sent };
        observer.transmission(&Transmission { octets, ..sent });
        for Reception { node, .. } in &receptions {
            nodes[node.index()].radio.set_receiving(now, medium.receiving_until(now, *node).is_some());
        }
        for reception in receptions.iter().filter(|reception| reception.is_received()) {
            self.hear(now, reception.node, &sent);
        }
        self.receptions = receptions;
        self.sent(now, from);
    }
}
