//! The adaptation layer of a node: the state of fragmentation, reassembly and fragment forwarding.

use super::config::{Fragments, NetworkConfig};
use super::recovery::Recovery;
use crate::address::{Addressing, Eui64, NodeId};
use crate::clock::Instant;
use crate::drop_reason::DropReason;
use crate::lowpan::reassembly::Occupancy;
use crate::lowpan::{Contexts, Error, Forwarder, Reassembler, recovery};
use crate::route::Routes;

/// The adaptation layer of a node.
#[derive(Debug)]
pub(super) struct AdaptationLayer {
    pub(super) reassembler: Reassembler,
    pub(super) fragments: FragmentHandling,
    /// The time of this node's earliest timer in the queue.
    pub(super) timer: Option<Instant>,
    /// The datagram tag of its next fragmented packet.
    pub(super) next_tag: u16,
}

/// The handling of fragments that are for another node.
#[derive(Debug)]
pub(super) enum FragmentHandling {
    Reassemble,
    Forward(Forwarder),
    Recover(Box<Recovery>),
}

/// The adaptation layers of all nodes. Those that cannot compress payloads have the contexts `plain`.
pub(super) fn layers(
    addressing: Addressing,
    routes: &Routes,
    config: &NetworkConfig,
    (contexts, plain): (&Contexts, &Contexts),
) -> Vec<AdaptationLayer> {
    // A node reassembles a packet of the limit also with the headers that RPL adds (RFC 6553 section 3).
    let longer = config.rpl.map_or(0, |rpl| rpl.longest_headers(routes));
    let nodes = (0..routes.nodes()).map(|node| NodeId(node as u16));
    let contexts_of = |node| if config.understands_compression(node) { contexts } else { plain };
    nodes.map(|node| AdaptationLayer::new(addressing.of_node(node), config, longer, contexts_of(node))).collect()
}

impl AdaptationLayer {
    /// The adaptation layer of the node with this link-layer address, whose packets may be longer than the limit of the
    /// configuration.
    fn new(own: Eui64, config: &NetworkConfig, longer: usize, contexts: &Contexts) -> Self {
        let id = own.node();
        let mut reassembly = config.reassembly_of(id);
        reassembly.datagram += longer;
        let fragments = match config.fragments {
            Fragments::Reassembled => FragmentHandling::Reassemble,
            Fragments::Forwarded(limits) => {
                let limits = config.forwarding_of(id, limits);
                FragmentHandling::Forward(Forwarder::new(own, limits, contexts.clone()))
            }
            Fragments::Recovered { sender, forwarding } => {
                let forwarding = config.forwarding_of(id, forwarding);
                let capacity = sender.capacity.min(config.frame_capacity);
                let sender = recovery::RecoveryConfig { capacity, ..sender };
                FragmentHandling::Recover(Box::new(Recovery::new(own, sender, forwarding, reassembly, contexts)))
            }
        };
        Self { reassembler: Reassembler::new(reassembly, contexts.clone()), fragments, timer: None, next_tag: 0 }
    }

    /// The largest amount that has been in reassembly.
    pub(super) fn reassembly_peak(&self) -> Occupancy {
        match &self.fragments {
            FragmentHandling::Recover(recovering) => self.reassembler.peak().max(recovering.receiver.peak()),
            _ => self.reassembler.peak(),
        }
    }

    /// The amount in reassembly now, and the number of virtual reassembly buffers in use.
    pub(super) fn occupancy(&self) -> (Occupancy, usize) {
        let own = self.reassembler.occupancy();
        match &self.fragments {
            FragmentHandling::Reassemble => (own, 0),
            FragmentHandling::Forward(forwarder) => (own, forwarder.occupancy()),
            FragmentHandling::Recover(recovering) => {
                (own + recovering.receiver.occupancy(), recovering.router.occupancy())
            }
        }
    }

    /// When a packet times out, or a fragment must be sent again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let other = match &self.fragments {
            FragmentHandling::Reassemble => None,
            FragmentHandling::Forward(forwarder) => forwarder.deadline(),
            FragmentHandling::Recover(recovering) => recovering.deadline(),
        };
        [self.reassembler.deadline(), other].into_iter().flatten().min()
    }
}

/// The reason that a packet cannot be sent.
pub(super) fn send_failure(error: &Error) -> DropReason {
    match error {
        Error::TooLong(_) => DropReason::ReassemblyTooLong,
        _ => DropReason::Malformed,
    }
}
