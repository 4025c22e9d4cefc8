//! Non-beacon IEEE 802.15.4, as Thread and Zigbee use it: unslotted CSMA/CA, nodes that always listen, and sleepy
//! devices that poll their parents.
//!
//! A node with a frame backs off for a random time, assesses the channel, and sends if it is clear (section 7.5.1.4 of
//! IEEE 802.15.4-2006; [`config`] has the constants and their sources). Nodes that forward frames always listen. A leaf
//! may be a sleepy device: its radio is off unless it sends. Its parent keeps the frames for it. The device polls its
//! parent with data requests, and the acknowledgement says whether a frame follows (7.5.6.3). A device with
//! coordinated sampled listening (CSL) also listens for a moment in every period, and its parent sends into these
//! samples.
//!
//! Idle time has no events but polls: listening and samples are added up when the radio times are read.
//!
//! Simplifications of this model:
//! - There is no association and no MLE: the tree is part of the configuration, and does not change.
//! - All nodes share one exact clock. CSL receivers listen as long as the tolerances of their clocks ask for. The
//!   simulation starts with parents and CSL receivers that are synchronised.
//! - OpenThread waits 8 ms after a frame that the next node forwards. This model does not.
//! - OpenThread drops the whole message if one of its frames to a sleepy child fails. This MAC drops the frame.
//! - A radio with a frame on the air for another node receives it to its end.

mod access;
pub mod config;
mod exchange;
mod frame;
mod indirect;
mod node;
mod polls;
mod radio;

use super::contention::{Sequence, Trace, TraceIndex, Tree};
use super::medium::{Medium, OnAir, Reception};
use super::pool::FramePool;
use super::timeline::{Span, Timeline};
use super::{Indication, Mac, NodeQueue};
use crate::address::{Addressing, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioInterval, RadioTimes};
use crate::queue::EventQueue;
use crate::random::Streams;
use config::MAX_SHORT_ADDRESSES;
pub use config::{Csl, CsmaConfig, CsmaConfigError, FastPolls, Polling};
use node::{CsmaNode, Known};
use polls::Polls;
use radio::{Radio, Samples};

/// All nodes of one non-beacon PAN.
#[derive(Debug)]
pub struct Csma {
    config: CsmaConfig,
    tree: Tree,
    nodes: Vec<CsmaNode>,
    medium: Medium,
    pool: FramePool,
    /// By buffer of the pool.
    destinations: Vec<NodeId>,
    events: EventQueue<Event>,
    handled: u64,
    trace: Trace,
    /// True while timelines are kept: until an observer says that it does not watch radios.
    watched: bool,
    /// The receptions of the frame that ends. Kept between frames to reuse the memory.
    receptions: Vec<Reception>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A clear channel assessment is over.
    Assessed(NodeId),
    /// A data frame or poll begins.
    Send(NodeId),
    /// The data frame or poll ends.
    Sent(NodeId, OnAir, TraceIndex),
    /// The acknowledgement of the node's frame begins.
    Acknowledge(NodeId),
    /// The acknowledgement ends.
    Acknowledged(NodeId, OnAir, TraceIndex),
    /// The node has waited too long for an acknowledgement.
    NoAcknowledgement(NodeId),
    /// A device has waited too long for the announced frame, if its wait has this number.
    NoData(NodeId, u32),
    /// A device polls.
    Poll(NodeId),
    /// A frame has waited too long for this child.
    Expire(NodeId),
    /// A frame may be sent into the next sample of this child.
    Sample(NodeId),
}

impl Csma {
    /// A PAN of nodes with these links. `parents` gives each node's parent, and `None` for the root; `sleepy` says which
    /// nodes are sleepy devices.
    ///
    /// # Errors
    /// [`CsmaConfigError`]: constants out of range, parents that are not a tree or not in range, a sleepy node with
    /// children.
    pub fn new(
        config: CsmaConfig,
        links: Links,
        parents: &[Option<NodeId>],
        sleepy: &[bool],
        streams: &Streams,
    ) -> Result<Self, CsmaConfigError> {
        config.check()?;
        let tree = Tree::new(parents, &links)?;
        check_roles(&tree, sleepy)?;
        if config.addressing == Addressing::Short && tree.nodes() > MAX_SHORT_ADDRESSES {
            return Err(CsmaConfigError::ShortAddresses(tree.nodes()));
        }
        let nodes = sleepy.iter().zip(0..).map(|(&sleepy, index)| new_node(index, sleepy, &config, streams)).collect();
        let mut csma = Self {
            medium: Medium::new(config.channel, links),
            config,
            tree,
            nodes,
            pool: FramePool::default(),
            destinations: Vec::new(),
            events: EventQueue::default(),
            handled: 0,
            trace: Trace::default(),
            watched: true,
            receptions: Vec::new(),
        };
        (0..csma.nodes.len()).for_each(|node| csma.arm_polls(NodeId(node as u16)));
        Ok(csma)
    }

    /// The number of handled events: the work of the simulation.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// Starts or stops keeping timelines.
    fn keep_timelines(&mut self, watched: bool) {
        if self.watched != watched {
            self.watched = watched;
            for node in &mut self.nodes {
                node.radio.timeline = watched.then(Timeline::default);
            }
        }
    }

    /// The numbers of the frames from one node to another.
    fn link(&mut self, from: NodeId, to: NodeId) -> &mut Sequence {
        match self.tree.parent(from) == Some(to) {
            true => &mut self.nodes[from.index()].up,
            false => &mut self.nodes[to.index()].down,
        }
    }
}

/// Sleepy nodes are leaves.
fn check_roles(tree: &Tree, sleepy: &[bool]) -> Result<(), CsmaConfigError> {
    if sleepy.len() != tree.nodes() {
        return Err(CsmaConfigError::Parents { parents: sleepy.len(), nodes: tree.nodes() });
    }
    for node in sleepy.iter().zip(0..).filter(|(sleepy, _)| **sleepy).map(|(_, node)| NodeId(node)) {
        if tree.parent(node).is_none() {
            return Err(CsmaConfigError::SleepyRoot(node));
        }
        if !tree.children(node).is_empty() {
            return Err(CsmaConfigError::SleepyParent(node));
        }
    }
    Ok(())
}

fn new_node(index: u16, sleepy: bool, config: &CsmaConfig, streams: &Streams) -> CsmaNode {
    let number = u64::from(index);
    let drawn = |name, below: Duration| {
        Instant::ZERO + Duration::from_micros(streams.stream(name, number).below(below.as_micros()))
    };
    let polls = sleepy.then(|| Polls::new(&config.polling, drawn("poll phase", config.polling.period)));
    let first = |csl: &Csl| drawn("sample phase", csl.interval());
    let samples = config.csl.as_ref().filter(|_| sleepy).map(|csl| Samples::new(csl.clone(), first(csl)));
    let mut node = CsmaNode::new(Radio::new(!sleepy, samples), polls, config.queue, streams.stream("back-off", number));
    node.indirect.samples = config.csl.as_ref().filter(|_| sleepy).map(|csl| Known {
        sample: first(csl),
        heard: Instant::ZERO,
        failures: 0,
        is_scheduled: false,
    });
    node
}

impl Mac for Csma {
    fn enqueue(
        &mut self,
        now: Instant,
        node: NodeId,
        next_hop: NodeId,
        payload: &[u8],
        datagram: DatagramId,
        discard: bool,
    ) -> Result<(), DropReason> {
        if self.tree.parent(node) != Some(next_hop) && self.tree.parent(next_hop) != Some(node) {
            return Err(DropReason::NoCell);
        }
        if self.nodes[node.index()].queue.is_full() {
            return Err(DropReason::QueueFull);
        }
        let form = self.form(node, next_hop);
        if payload.len() > form.data_capacity() {
            return Err(DropReason::Malformed);
        }
        let sequence = self.link(node, next_hop).take();
        let frame = self
            .pool
            .allocate(now, datagram, discard, sequence, |octets| {
                form.write_data(octets, sequence, node, next_hop, payload)
            })
            .map_err(|_| DropReason::Malformed)?;
        match self.destinations.get_mut(frame as usize) {
            Some(place) => *place = next_hop,
            None => self.destinations.push(next_hop),
        }
        let sender = &mut self.nodes[node.index()];
        sender.queue.enter(now);
        if self.nodes[next_hop.index()].is_sleepy() {
            let indirect = &mut self.nodes[next_hop.index()].indirect;
            indirect.queue.push(&mut self.pool, frame);
            indirect.waiting += 1;
            self.keep(now, next_hop);
        } else {
            self.nodes[node.index()].direct.push(&mut self.pool, frame);
            self.expect_answer(now, node);
            self.resume(now, node);
        }
        Ok(())
    }

    fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize {
        self.form(node, next_hop).data_capacity()
    }

    fn addressing(&self) -> Addressing {
        self.config.addressing
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        self.keep_timelines(observer.watches_radios());
        while let Some(event) = self.events.pop_due(now) {
            self.handled += 1;
            match event {
                Event::Assessed(node) => self.assessed(now, node, indications),
                Event::Send(node) => self.send(now, node),
                Event::Sent(node, on_air, trace) => self.sent(now, node, on_air, trace, indications),
                Event::Acknowledge(node) => self.acknowledge(now, node),
                Event::Acknowledged(node, on_air, trace) => self.acknowledged(now, node, on_air, trace, indications),
                Event::NoAcknowledgement(node) => self.no_acknowledgement(now, node, indications),
                Event::NoData(node, wait) => self.no_data(now, node, wait),
                Event::Poll(node) => self.poll_timer(now, node),
                Event::Expire(child) => self.expire(now, child, indications),
                Event::Sample(child) => self.sample(now, child),
            }
        }
        self.trace.show(self.config.channel, observer);
    }

    fn sending_time(&self, _node: NodeId, next_hop: NodeId, frames: u64) -> Duration {
        let exchange = self.config.longest_exchange();
        if !self.nodes[next_hop.index()].is_sleepy() {
            return exchange * frames;
        }
        // The child polls for each frame. The first poll or sample may be a whole period away.
        let polls = self.config.polling.period;
        self.config.csl.as_ref().map_or(polls, |csl| csl.interval().min(polls)) + exchange * 2 * frames
    }

    fn queue(&self, node: NodeId) -> &NodeQueue {
        &self.nodes[node.index()].queue
    }

    fn queue_mut(&mut self, node: NodeId) -> &mut NodeQueue {
        &mut self.nodes[node.index()].queue
    }

    fn set_joiners(&mut self, joiners: &[NodeId]) {
        joiners.iter().for_each(|joiner| self.nodes[joiner.index()].joins = true);
    }

    fn links_mut(&mut self) -> Option<&mut Links> {
        Some(self.medium.links_mut())
    }

    /// A frame that has begun is finished, with its acknowledgement. A node that backs off begins anew when its radio is
    /// on again. Frames for a sleepy device go on to expire.
    fn switch_radio(&mut self, now: Instant, node: NodeId, on: bool) -> bool {
        self.power(now, node, on);
        true
    }

    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        self.nodes[node.index()].radio.times(now)
    }

    /// All intervals are reported here. Call it at the end; call it also in between to save memory.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if !observer.watches_radios() {
            return;
        }
        self.keep_timelines(true);
        for (node, id) in self.nodes.iter_mut().zip((0..).map(NodeId)) {
            node.radio.settle(now);
            for Span { state, from, to } in node.radio.timeline.iter_mut().flat_map(Timeline::drain) {
                observer.radio(&RadioInterval { node: id, state, from, to });
            }
        }
    }

    /// A device whose application polls fast in bursts begins to do so.
    fn begin_burst(&mut self, now: Instant, node: NodeId) {
        self.set_burst(now, node, true);
    }

    fn end_burst(&mut self, now: Instant, node: NodeId) {
        self.set_burst(now, node, false);
    }
}
