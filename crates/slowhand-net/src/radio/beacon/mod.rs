//! Beacon-enabled IEEE 802.15.4: a cluster tree with staggered superframes, slotted CSMA/CA, indirect transmission.
//!
//! Each coordinator sends a beacon in each interval, and listens until its active period ends. Its children contend for
//! the channel in that period (sections 7.5.1 to 7.5.6 of IEEE 802.15.4-2006; [`config`] has the constants). Then all
//! radios are off. The active periods follow each other down the tree. Clusters that hear each other never overlap, so
//! only the children of one coordinator contend with each other.
//!
//! Superframes without waiting frames need no events: their beacons are accounted when the radio times are read. The
//! observer sees only beacons of superframes in which frames wait, or all with [`BeaconConfig::trace_idle_beacons`]. A
//! frame that is enqueued in the middle of an idle superframe can still be sent in that superframe.
//!
//! Open points of the standard, and simplifications of this model:
//! - A child that loses a beacon sleeps during that superframe. It never loses synchronisation (in the standard: after
//!   aMaxLostBeacons = 4 lost beacons), because all nodes share one clock.
//! - There is no association: the tree is part of the configuration.
//! - The answer to a data request is sent without CSMA/CA on the first back-off boundary after a turnaround, which the
//!   standard allows (7.5.6.3). If it does not fit into the active period, or is lost, the next beacon lists the child
//!   again, and the child asks again.
//! - A retransmission begins with the smallest back-off exponent, as in the standard (7.5.6.4.3) and in TKN15.4 of TinyOS
//!   (`DispatchSlottedCsmaP.nc`): no delay separates children that do not hear each other.
//! - A child first fetches the announced frames, then sends its own.
//! - A CSMA/CA failure ends a frame at once, as in the standard (7.5.1.4). Only a missing acknowledgement leads to a
//!   retransmission.

mod cluster;
pub mod config;
mod contention;
mod exchange;
mod frame;
mod node;
mod radio;
mod radio_time;
mod station;
mod superframe;
mod timeline;
mod tracking;
mod tree;

use super::contention::{Trace, TraceIndex, Tree};
use super::medium::{Medium, OnAir, Reception};
use super::pool::FramePool;
use super::{Indication, Mac, NodeQueue};
use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::link::Links;
use crate::observer::{Observer, RadioTimes};
use crate::queue::EventQueue;
use crate::random::Streams;
pub use config::{BeaconConfig, BeaconConfigError, Downward, Superframe};
use node::{BeaconNode, Direction};
use station::{Phase, Role, StationId};

/// The destination of a beacon in [`Transmission::to`](crate::observer::Transmission::to): all children of its sender.
/// The beacon counts as received if all of them received it.
pub const EVERY_CHILD: NodeId = NodeId::EVERYONE;

/// All nodes of one beacon-enabled PAN.
#[derive(Debug)]
pub struct Beacon {
    config: BeaconConfig,
    tree: Tree,
    nodes: Vec<BeaconNode>,
    medium: Medium,
    pool: FramePool,
    events: EventQueue<Event>,
    handled: u64,
    trace: Trace,
    /// True if the observer watches radios.
    watched: bool,
    /// The receptions of the frame that ends. Kept between frames to reuse the memory.
    receptions: Vec<Reception>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A superframe begins in which frames may wait.
    Beacon(NodeId),
    /// Its beacon is over.
    Contention(NodeId),
    /// A clear channel assessment is over.
    Assessed(StationId),
    /// A data frame or request begins.
    Send(StationId),
    /// The data frame or request ends.
    Sent(StationId, OnAir, TraceIndex),
    /// The acknowledgement of the station's frame begins.
    Acknowledge(StationId),
    /// The acknowledgement ends.
    Acknowledged(StationId, OnAir, TraceIndex),
    /// The station has waited too long for an acknowledgement.
    NoAcknowledgement(StationId),
    /// A child has waited too long for the frame that it requested, if the request has this number.
    NoData(NodeId, u32),
}

impl Beacon {
    /// A PAN of nodes with these links. `parents` gives each node's parent, and `None` for the root, which is the PAN
    /// coordinator.
    ///
    /// # Errors
    /// [`BeaconConfigError`]: constants or orders out of range, parents that are not a tree or not in range, active
    /// periods that do not fit into the beacon interval.
    pub fn new(
        config: BeaconConfig,
        links: Links,
        parents: &[Option<NodeId>],
        streams: &Streams,
    ) -> Result<Self, BeaconConfigError> {
        config.check()?;
        let tree = Tree::new(parents, &links)?;
        let offsets = tree::offsets(&tree, &config, &links)?;
        let nodes = (0..parents.len() as u16)
            .map(|index| BeaconNode::new(NodeId(index), &config, &tree, &offsets, &links, streams))
            .collect();
        let mut beacon = Self {
            medium: Medium::new(config.channel, links),
            config,
            tree,
            nodes,
            pool: FramePool::default(),
            events: EventQueue::default(),
            handled: 0,
            trace: Trace::default(),
            watched: false,
            receptions: Vec::new(),
        };
        if beacon.config.trace_idle_beacons {
            for node in (0..parents.len() as u16).map(NodeId) {
                if beacon.is_coordinator(node) {
                    beacon.schedule_superframe(Instant::ZERO, node);
                }
            }
        }
        Ok(beacon)
    }

    /// The instant of a coordinator's first beacon. The simulation starts when the root's children switch on for the
    /// root's first beacon. `None` for a node without children.
    pub fn beacon_time(&self, node: NodeId) -> Option<Instant> {
        (self.contains(node) && self.is_coordinator(node)).then(|| self.first_beacon(node))
    }

    /// The number of handled events: the work of the simulation. It does not grow with idle time.
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// True if the PAN has this node.
    pub fn contains(&self, node: NodeId) -> bool {
        node.index() < self.nodes.len()
    }

    fn first_beacon(&self, node: NodeId) -> Instant {
        Instant::ZERO + self.config.guard + self.nodes[node.index()].cluster.offset
    }

    fn is_coordinator(&self, node: NodeId) -> bool {
        !self.tree.children(node).is_empty()
    }

    fn node(&mut self, node: NodeId) -> &mut BeaconNode {
        &mut self.nodes[node.index()]
    }
}

impl Mac for Beacon {
    /// A frame that is enqueued at the instant of a beacon is too late for that beacon to announce.
    fn enqueue(
        &mut self,
        now: Instant,
        node: NodeId,
        next_hop: NodeId,
        payload: &[u8],
        datagram: DatagramId,
        discard: bool,
    ) -> Result<(), DropReason> {
        let upwards = self.tree.parent(node) == Some(next_hop);
        let downwards = self.tree.parent(next_hop) == Some(node) && next_hop.index() < self.nodes.len();
        if !upwards && !downwards {
            return Err(DropReason::NoCell);
        }
        if self.nodes[node.index()].queue.is_full() {
            return Err(DropReason::QueueFull);
        }
        let (from, to, security) = (Eui64::of_node(node), Eui64::of_node(next_hop), self.config.security);
        let direction = if upwards { &mut self.nodes[node.index()].up } else { &mut self.nodes[next_hop.index()].down };
        let frame = self
            .pool
            .allocate(now, datagram, discard, direction.sequence.next(), |octets| {
                frame::write_data(octets, direction.sequence.next(), from, to, security, payload)
            })
            .map_err(|_| DropReason::Malformed)?;
        direction.sequence.take();
        direction.queue.push(&mut self.pool, frame);
        direction.waiting += 1;
        let sender = self.node(node);
        sender.queue.enter(now);
        self.frame_waits(now, if upwards { next_hop } else { node }, node);
        Ok(())
    }

    fn payload_capacity(&self, _node: NodeId, _next_hop: NodeId) -> usize {
        frame::data_capacity(self.config.security)
    }

    fn deadline(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, observer: &mut dyn Observer) {
        self.watched = observer.watches_radios();
        while let Some(event) = self.events.pop_due(now) {
            self.handled += 1;
            match event {
                Event::Beacon(coordinator) => self.begin_superframe(now, coordinator, indications),
                Event::Contention(coordinator) => self.open_contention(now, coordinator),
                Event::Assessed(station) => self.assessed(now, station, indications),
                Event::Send(station) => self.send(now, station),
                Event::Sent(station, on_air, trace) => self.sent(now, station, on_air, trace, indications),
                Event::Acknowledge(station) => self.acknowledge(now, station),
                Event::Acknowledged(station, on_air, trace) => {
                    self.acknowledged(now, station, on_air, trace, indications);
                }
                Event::NoAcknowledgement(station) => self.no_acknowledgement(now, station, indications),
                Event::NoData(node, request) => self.no_data(now, node, request),
            }
        }
        self.trace.show(self.config.channel, observer);
    }

    /// Whole beacon intervals, because the rest of the present interval may be too short.
    fn sending_time(&self, _node: NodeId, _next_hop: NodeId, frames: u64) -> Duration {
        self.config.superframe.interval * (frames.div_ceil(self.config.frames_per_superframe()) + 1)
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

    /// A frame counts as sent or received when it has ended. Until then its time counts as listening.
    fn radio_times(&self, node: NodeId, now: Instant) -> RadioTimes {
        self.times(node, now)
    }

    /// All intervals are reported here. Call it at the end; call it also in between to save memory.
    fn report_radios(&mut self, now: Instant, observer: &mut dyn Observer) {
        if observer.watches_radios() {
            self.report_timelines(now, observer);
        }
    }
}

impl Beacon {
    /// `node` has a new frame for the cluster of `coordinator`. It contends at once if the active period allows, or in
    /// the next superframe.
    fn frame_waits(&mut self, now: Instant, coordinator: NodeId, node: NodeId) {
        let role = if node == coordinator { Role::Coordinator } else { Role::Device };
        self.node(coordinator).cluster.waiting += 1;
        self.schedule_superframe(now, coordinator);
        let station = StationId { node, role };
        if self.station(station).phase == Phase::Idle && self.may_contend(now, station) {
            self.start(now, station);
        }
    }

    /// Removes the frame that has waited longest in this direction between a child and its parent.
    fn take(&mut self, now: Instant, child: NodeId, direction: Direction) {
        let parent = self.tree.parent(child).unwrap_or(child);
        let node = &mut self.nodes[child.index()];
        let (sender, direction) = match direction {
            Direction::Up => (child, &mut node.up),
            Direction::Down => (parent, &mut node.down),
        };
        if let Some(frame) = direction.queue.pop(&mut self.pool) {
            direction.waiting -= 1;
            self.pool.release(frame);
            self.node(sender).queue.leave(now);
            self.node(parent).cluster.waiting -= 1;
        }
    }
}
