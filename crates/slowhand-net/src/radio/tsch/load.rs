//! The frames that keep a 6TiSCH network together, as load on the minimal cell: enhanced beacons, DIOs of RPL and
//! keep-alives (RFC 8180).
//!
//! They are on the air, contend, collide and take energy, and nothing else: nodes have joined already, routes do not change,
//! and clocks do not drift. Beacons and DIOs are broadcasts. They go into the next minimal cell, before all other frames of
//! the node, without back-off, acknowledgement or retransmission (IEEE 802.15.4-2015, 6.2.5.3: the back-off follows a
//! missing acknowledgement). A keep-alive is an empty data frame to the parent, which waits in the queue as others do.

use super::event::{Event, LoadTimer};
use super::node::NEVER;
use super::schedule::TransmitCells;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::FrameKind;
use crate::queue::EventQueue;
use crate::random::{Stream, Streams};
use std::collections::VecDeque;

/// The destination of a broadcast in [`Transmission::to`](crate::observer::Transmission::to). It counts as received if all
/// nodes in range that listened received it.
pub const EVERY_NEIGHBOR: NodeId = NodeId::EVERYONE;

/// The shortest of all times of a load: shorter ones are taken as this. It is the smallest interval that a DIO can tell.
const SHORTEST: Duration = Duration::from_millis(1);

/// Which frames there are, and how often. `None`: never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The longest time from one enhanced beacon of a node to its next. Each time is drawn from three quarters of it to all
    /// of it, as `tsch_send_eb_process` of Contiki-NG does.
    pub beacon_period: Option<Duration>,
    /// The timer of a node's DIOs.
    pub dio: Option<Trickle>,
    /// A node that has not heard its parent for this time sends a keep-alive.
    pub keep_alive: Option<Duration>,
}

/// A Trickle timer (RFC 6206). It begins at the start of the simulation, as in a network that has just formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trickle {
    /// The smallest interval (Imin).
    pub min: Duration,
    /// The number of times that the interval doubles (Imax).
    pub doublings: u8,
    /// A node that has heard this many DIOs in an interval sends none (k). Zero: it always sends.
    pub redundancy: u8,
}

/// The facts that a node needs for it.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its parent. `None` for the root.
    pub parent: Option<NodeId>,
    /// Its hops to the root: the join metric of its beacons.
    pub hops: u8,
    /// The payload of the frame that carries its DIO. Not longer than fits.
    pub dio: Vec<u8>,
}

/// The load of a network.
#[derive(Debug)]
pub(super) struct LoadState {
    pub(super) config: Load,
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) member: Member,
    /// The minimal cells.
    pub(super) cells: TransmitCells,
    /// The slot in which it sends a broadcast. [`NEVER`] if none waits.
    pub(super) next: u64,
    pub(super) has_beacon: bool,
    pub(super) has_dio: bool,
    /// The payloads of other frames to all neighbours that wait.
    pub(super) packets: VecDeque<(FrameKind, Vec<u8>)>,
    pub(super) sequence: u8,
    /// The interval of its Trickle timer.
    pub(super) interval: Duration,
    /// The DIOs that it has heard in this interval.
    pub(super) heard: u8,
    /// When it has heard its parent last.
    pub(super) synchronised: Instant,
    pub(super) random: Stream,
}

impl LoadState {
    /// The load of these nodes. Arms their first timers.
    pub(super) fn new(
        config: Load,
        members: Vec<Member>,
        cells: impl Iterator<Item = TransmitCells>,
        events: &mut EventQueue<Event>,
        streams: &Streams,
    ) -> Self {
        let at_least = |time: Duration| time.max(SHORTEST);
        let config = Load {
            beacon_period: config.beacon_period.map(at_least),
            dio: config.dio.map(|dio| Trickle { min: at_least(dio.min), ..dio }),
            keep_alive: config.keep_alive.map(at_least),
        };
        let node = |(index, (member, cells)): (u64, (Member, TransmitCells))| Node {
            member,
            cells,
            next: NEVER,
            has_beacon: false,
            has_dio: false,
            packets: VecDeque::new(),
            sequence: 0,
            interval: config.dio.map_or(Duration::ZERO, |dio| dio.min),
            heard: 0,
            synchronised: Instant::ZERO,
            random: streams.stream("load", index),
        };
        let mut load = Self { config, nodes: (0..).zip(members.into_iter().zip(cells)).map(node).collect() };
        for (node, id) in load.nodes.iter_mut().zip((0..).map(NodeId)) {
            let mut arm = |at: Duration, timer| events.push(Instant::ZERO + at, Event::Load(id, timer));
            let mut phase = |period: Duration| Duration::from_micros(node.random.below(period.as_micros().max(1)));
            if let Some(period) = config.beacon_period {
                arm(phase(period), LoadTimer::Beacon);
            }
            if config.dio.is_some() {
                arm(Duration::ZERO, LoadTimer::Interval);
            }
            if let Some(period) = config.keep_alive.filter(|_| node.member.parent.is_some()) {
                // Nodes have heard their parents last at different times.
                let since = phase(period);
                arm(period.saturating_sub(since), LoadTimer::KeepAlive);
            }
        }
        load
    }

    /// The slot in which a node sends its next broadcast.
    pub(super) fn next(&self, node: NodeId) -> u64 {
        self.nodes[node.index()].next
    }

    /// Computes that slot, from `asn` on.
    pub(super) fn plan(&mut self, node: NodeId, asn: u64) {
        let node = &mut self.nodes[node.index()];
        let waits = node.has_beacon || node.has_dio || !node.packets.is_empty();
        node.next = if waits { node.cells.next(asn, 0).unwrap_or(NEVER) } else { NEVER };
    }

    /// Sets the place of a node in the network.
    pub(super) fn set_member(&mut self, node: NodeId, parent: Option<NodeId>, hops: u8) {
        let member = &mut self.nodes[node.index()].member;
        (member.parent, member.hops) = (parent, hops);
    }

    /// The node's broadcasts that have not been sent are not sent any more.
    pub(super) fn clear(&mut self, node: NodeId) {
        let node = &mut self.nodes[node.index()];
        (node.has_beacon, node.next) = (false, NEVER);
        node.packets.clear();
    }

    /// A node has received a broadcast.
    pub(super) fn heard(&mut self, now: Instant, node: NodeId, from: NodeId, kind: FrameKind) {
        if kind == FrameKind::Dio {
            let heard = &mut self.nodes[node.index()].heard;
            *heard = heard.saturating_add(1);
        }
        self.synchronise(now, node, from);
    }

    /// A node has received any frame of a neighbour. That of its parent synchronises it (IEEE 802.15.4-2015, 6.5.4.2).
    pub(super) fn synchronise(&mut self, now: Instant, node: NodeId, from: NodeId) {
        let node = &mut self.nodes[node.index()];
        if node.member.parent == Some(from) {
            node.synchronised = now;
        }
    }
}
