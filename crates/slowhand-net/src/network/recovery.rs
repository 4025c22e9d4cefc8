//! The state of fragment recovery at a node (RFC 8931).

use crate::address::{Eui64, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::lowpan::reassembly::Limits;
use crate::lowpan::recovery::{Receiver, RecoveryConfig, Router, Sender};
use crate::lowpan::{Contexts, forwarding};
use crate::transport::tcp::{Rto, RttEstimator};
use std::collections::BTreeMap;

/// The state of fragment recovery at a node: as a router between the ends, and as either end.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) config: RecoveryConfig,
    pub(super) router: Router,
    pub(super) receiver: Receiver,
    /// The packets of this node that are not acknowledged yet.
    pub(super) outgoing: Vec<Outgoing>,
    /// The memory of finished packets, to use again.
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) next_tag: u8,
    /// The measured round trips, by the node that acknowledges.
    pub(super) round_trips: BTreeMap<NodeId, RttEstimator>,
}

/// A packet on its way from this node.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) sender: Sender,
    pub(super) packet: Vec<u8>,
    pub(super) datagram: DatagramId,
    pub(super) next_hop: NodeId,
    /// The node that acknowledges.
    pub(super) end: NodeId,
    /// The number of its frames in the MAC. The timer of the acknowledgement starts when the last of them has left.
    pub(super) waiting: usize,
}

impl Outgoing {
    /// When the timer of the acknowledgement expires.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.sender.deadline().filter(|_| self.waiting == 0)
    }
}

impl Recovery {
    /// A node without packets.
    pub(super) fn new(
        own: Eui64,
        config: RecoveryConfig,
        forwarding: forwarding::Limits,
        reassembly: Limits,
        contexts: &Contexts,
    ) -> Self {
        Self {
            config,
            router: Router::new(own, forwarding, contexts.clone()),
            // A delivered packet is remembered for the reassembly timeout.
            receiver: Receiver::new(reassembly, reassembly.timeout, contexts.clone()),
            outgoing: Vec::new(),
            spare: Vec::new(),
            next_tag: 0,
            round_trips: BTreeMap::new(),
        }
    }

    /// The time to wait for the acknowledgement of a node, if a round trip to it was measured.
    pub(super) fn timeout(&self, end: NodeId) -> Option<Duration> {
        self.round_trips.get(&end).map(RttEstimator::timeout)
    }

    /// Notes a round trip to a node and back. Returns how long to wait from now on.
    pub(super) fn note_round_trip(&mut self, end: NodeId, measured: Duration) -> Duration {
        // The shortest is that of `RecoveryConfig::default`, which is short for a network without duty cycle.
        let RecoveryConfig { timeout: max, .. } = self.config;
        let min = RecoveryConfig::default().timeout.min(max);
        let limits = Rto { initial: max, after_syn_loss: max, min, max, granularity: Duration::ZERO };
        let estimator = self.round_trips.entry(end).or_insert_with(|| RttEstimator::new(limits));
        estimator.sample(measured);
        estimator.timeout()
    }

    /// When a fragment must be sent again, or a packet or path times out.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let overdue = self.outgoing.iter().filter_map(Outgoing::deadline);
        overdue.chain(self.receiver.deadline()).chain(self.router.deadline()).min()
    }
}

/// The first free tag from `next` on; none if all are in use.
pub(super) fn free_tag(next: u8, router: &Router, outgoing: &[Outgoing]) -> Option<u8> {
    let is_free = |tag: &u8| !router.uses_tag(*tag) && outgoing.iter().all(|other| other.sender.tag() != *tag);
    (0..=u8::MAX).map(|step| next.wrapping_add(step)).find(is_free)
}
