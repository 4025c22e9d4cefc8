//! One node of a network that forms.

use std::collections::BTreeSet;

use slowhand_coap::cojp::{Pledge, Proxy};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::random::Stream;

use super::record::{JoinRecord, Phase};

/// The stage that a node has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It is switched off.
    Off,
    /// It listens for beacons.
    Scanning,
    /// It knows the time and asks for keys.
    Synchronised,
    /// It has keys and waits for a DIO.
    Joined,
    /// It has a parent and waits for a cell.
    Parent,
    /// It can send to the root.
    Connected,
    /// Its datagram has arrived.
    Complete,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) stage: Stage,
    /// When it was switched on.
    pub(super) start: Instant,
    /// The number of its scans: timers of an earlier scan do not count.
    pub(super) generation: u32,
    /// The neighbours whose beacons it has heard in this scan, in that order, with their join metrics.
    pub(super) heard: Vec<(NodeId, u8)>,
    pub(super) proxy: NodeId,
    pub(super) pledge: Pledge,
    /// The request that is sent again, and how often it was sent.
    pub(super) request: Vec<u8>,
    pub(super) attempt: u32,
    pub(super) timeout: Duration,
    /// The length of the timer that says when the first request is sent. Zero: at once.
    pub(super) first_request: Duration,
    /// Its work as a proxy for others.
    pub(super) proxying: Proxy,
    /// All neighbours whose beacons it has heard.
    pub(super) neighbors: BTreeSet<NodeId>,
    pub(super) parent: NodeId,
    pub(super) hops: u16,
    pub(super) dao_sequence: u8,
    /// True while it sends beacons and DIOs.
    pub(super) is_advertising: bool,
    pub(super) trickle: Trickle,
    pub(super) random: Stream,
    pub(super) record: JoinRecord,
}

/// The state of a Trickle timer (RFC 6206).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trickle {
    /// The length of the next interval.
    pub(super) interval: Duration,
    /// The DIOs that were heard in this one.
    pub(super) heard: u8,
    /// The number of its starts: timers of an earlier start do not count.
    pub(super) starts: u32,
}

impl Node {
    /// It is through a phase.
    pub(super) fn reach(&mut self, phase: Phase, now: Instant) {
        self.record.phases[phase as usize] = Some(now.since(self.start));
    }

    /// The neighbour nearest to the root, and of these the one that was heard first.
    pub(super) fn best_proxy(&self) -> Option<NodeId> {
        self.heard.iter().min_by_key(|(_, metric)| metric).map(|(node, _)| *node)
    }

    /// True if it passes join requests on: it knows the way to the root.
    pub(super) fn is_proxy(&self) -> bool {
        self.stage >= Stage::Parent
    }
}
