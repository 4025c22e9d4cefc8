//! The adaptation layer of a node: what it keeps of packets that it cuts into fragments or puts together.

use super::config::{Fragments, NetworkConfig};
use super::recovery::Recovery;
use crate::address::{Eui64, NodeId};
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::lowpan::reassembly::Occupancy;
use crate::lowpan::{Contexts, Error, FRAME_CAPACITY, Forwarder, Reassembler, recovery};

/// The adaptation layer of a node.
#[derive(Debug)]
pub(super) struct AdaptationLayer {
    pub(super) reassembler: Reassembler,
    pub(super) fragments: FragmentHandling,
    /// When the earliest timer of this node that is in the queue fires.
    pub(super) timer: Option<Instant>,
    /// The datagram tag of its next fragmented packet.
    pub(super) next_tag: u16,
}

/// What a node does with fragments that are not for it.
#[derive(Debug)]
pub(super) enum FragmentHandling {
    Reassemble,
    Forward(Forwarder),
    Recover(Box<Recovery>),
}

impl AdaptationLayer {
    /// The adaptation layer of node `id`.
    pub(super) fn new(id: NodeId, config: &NetworkConfig, contexts: &Contexts) -> Self {
        let own = Eui64::of_node(id);
        let fragments = match config.fragments {
            Fragments::Reassembled => FragmentHandling::Reassemble,
            Fragments::Forwarded(limits) => FragmentHandling::Forward(Forwarder::new(own, limits, contexts.clone())),
            Fragments::Recovered { sender, forwarding } => {
                let capacity = sender.capacity.min(config.frame_capacity).min(FRAME_CAPACITY);
                let sender = recovery::RecoveryConfig { capacity, ..sender };
                FragmentHandling::Recover(Box::new(Recovery::new(own, sender, forwarding, config.reassembly, contexts)))
            }
        };
        Self { reassembler: Reassembler::new(config.reassembly, contexts.clone()), fragments, timer: None, next_tag: 0 }
    }

    /// How much has been in reassembly at most.
    pub(super) fn reassembly_peak(&self) -> Occupancy {
        match &self.fragments {
            FragmentHandling::Recover(recovering) => self.reassembler.peak().max(recovering.receiver.peak()),
            _ => self.reassembler.peak(),
        }
    }

    /// How much is in reassembly, and how many virtual reassembly buffers are taken.
    pub(super) fn occupancy(&self) -> (Occupancy, usize) {
        let own = self.reassembler.occupancy();
        match &self.fragments {
            FragmentHandling::Reassemble => (own, 0),
            FragmentHandling::Forward(forwarder) => (own, forwarder.occupancy()),
            FragmentHandling::Recover(recovering) => (own + recovering.receiver.occupancy(), recovering.paths()),
        }
    }

    /// When something is to be given up, or sent again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let other = match &self.fragments {
            FragmentHandling::Reassemble => None,
            FragmentHandling::Forward(forwarder) => forwarder.deadline(),
            FragmentHandling::Recover(recovering) => recovering.deadline(),
        };
        [self.reassembler.deadline(), other].into_iter().flatten().min()
    }
}

/// Why a packet could not be sent.
pub(super) fn unsent(error: &Error) -> DropReason {
    match error {
        Error::TooLong(_) => DropReason::ReassemblyTooLong,
        _ => DropReason::Malformed,
    }
}
