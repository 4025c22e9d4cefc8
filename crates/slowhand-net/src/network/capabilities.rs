//! Capabilities that neighbours tell each other: the compression of payloads (RFC 7400 sections 3.3 and 3.4).
//!
//! Each node that understands it solicits its parent, and says so in the solicitation. The parent answers with an advertisement, and
//! says it there if it understands it too. A node compresses towards a neighbour as soon as it has heard that, or has received a
//! payload from it that is compressed. Until then it sends payloads as they are. What a node has learned stays. Assumed: a node
//! knows its parent and solicits it alone, and nobody solicits again before the lifetime of an advertisement is over.

use super::events::Events;
use super::{Network, Timer};
use crate::address::{Eui64, Host, NodeId, link_local_address};
use crate::clock::{Duration, Instant};
use crate::ip::discovery::{self, Kind, Message};
use crate::lowpan::has_compressed_payload;
use crate::queue::EventQueue;
use crate::random::Streams;
use crate::route::Routes;
use std::collections::BTreeSet;

/// The longest time before the first solicitation of a node, which is drawn (RFC 4861 sections 6.3.7 and 10).
const MAX_RTR_SOLICITATION_DELAY: Duration = Duration::from_secs(1);

/// The time between the first solicitations, and how many these are (RFC 6775 sections 5.3 and 9).
const RTR_SOLICITATION_INTERVAL: Duration = Duration::from_secs(10);
const MAX_RTR_SOLICITATIONS: u32 = 3;

/// The longest time between later ones: each is twice as long as the one before (the same sections).
const MAX_RTR_SOLICITATION_INTERVAL: Duration = Duration::from_secs(60);

/// The knowledge of nodes about their neighbours.
#[derive(Debug)]
pub(super) struct Capabilities {
    /// A node and a neighbour of which it knows that it understands compression.
    known: BTreeSet<(NodeId, NodeId)>,
    /// By node: how many solicitations it has sent. `None` if it waits for no advertisement.
    sent: Vec<Option<u32>>,
}

impl Capabilities {
    /// The state at the beginning: nobody knows anything. The nodes for which `understands` is true begin to solicit.
    pub(super) fn new(
        routes: &Routes,
        understands: impl Fn(NodeId) -> bool,
        streams: &Streams,
        timers: &mut EventQueue<Timer>,
    ) -> Self {
        let mut sent = vec![None; routes.nodes()];
        let nodes = (0..routes.nodes()).map(|node| NodeId(node as u16));
        for node in nodes.filter(|&node| understands(node) && routes.parent(node).is_some()) {
            let mut random = streams.stream("router solicitation", node.0.into());
            let delay = Duration::from_micros(random.below(MAX_RTR_SOLICITATION_DELAY.as_micros()));
            timers.push(Instant::ZERO + delay, Timer::Solicitation(node));
            sent[node.index()] = Some(0);
        }
        Self { known: BTreeSet::new(), sent }
    }

    /// True if a node knows that a neighbour understands compression.
    pub(super) fn knows(&self, node: NodeId, neighbor: NodeId) -> bool {
        self.known.contains(&(node, neighbor))
    }
}

/// The time that a node waits for an advertisement after so many solicitations.
fn interval(sent: u32) -> Duration {
    let doublings = sent.saturating_sub(MAX_RTR_SOLICITATIONS - 1).min(3); // more are beyond the longest
    (RTR_SOLICITATION_INTERVAL * (1 << doublings)).min(MAX_RTR_SOLICITATION_INTERVAL)
}

impl Network {
    /// A node solicits its parent, unless it has had an advertisement.
    pub(super) fn solicit(&mut self, node: NodeId, events: &mut Events) {
        let waiting = self.capabilities.as_mut().and_then(|capabilities| capabilities.sent[node.index()].as_mut());
        let (Some(sent), Some(parent)) = (waiting, self.routes.parent(node)) else { return };
        *sent += 1;
        self.timers.push(self.now + interval(*sent), Timer::Solicitation(node));
        self.tell((node, parent), Kind::RouterSolicitation, events);
    }

    /// Handles a packet at a node if it is a message of neighbour discovery of a neighbour. Returns true if it is.
    pub(super) fn discover(&mut self, node: NodeId, packet: &[u8], events: &mut Events) -> bool {
        let Some((source, Message { kind, ghc })) = discovery::parse(packet) else { return false };
        let from = Eui64::of_address(source).node();
        if link_local_address(from) != source || from.index() >= self.routes.nodes() {
            return false;
        }
        let Some(capabilities) = &mut self.capabilities else { return false };
        if ghc {
            capabilities.known.insert((node, from));
        }
        match kind {
            Kind::RouterSolicitation => self.tell((node, from), Kind::RouterAdvertisement, events),
            Kind::RouterAdvertisement => capabilities.sent[node.index()] = None,
        }
        true
    }

    /// A node has received a frame payload. If a payload of UDP is compressed in it, its sender understands that too.
    #[inline] // for every frame
    pub(super) fn notice(&mut self, node: NodeId, from: NodeId, payload: &[u8]) {
        let Some(capabilities) = &self.capabilities else { return };
        if !capabilities.knows(node, from)
            && has_compressed_payload(payload, self.link(from, node), &self.contexts)
            && let Some(capabilities) = &mut self.capabilities
        {
            capabilities.known.insert((node, from));
        }
    }

    /// Sends a message from a node to a neighbour.
    fn tell(&mut self, (from, to): (NodeId, NodeId), kind: Kind, events: &mut Events) {
        let ghc = self.config.understands_compression(from);
        let mut packet = discovery::packet(from, to, self.addressing, Message { kind, ghc });
        let datagram = self.next_datagram();
        let sent = self.send_over_hop(from, to, &mut packet, datagram, events);
        events.lost_if_failed(Host::Node(from), datagram, sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6775 section 5.3: three solicitations 10 s apart, then twice as long each time, up to 60 s.
    #[test]
    fn solicitations_become_rarer() {
        let waits: Vec<u64> = (1..8).map(|sent| interval(sent).as_micros() / 1_000_000).collect();
        assert_eq!(waits, [10, 10, 20, 40, 60, 60, 60]);
        assert_eq!(interval(u32::MAX), MAX_RTR_SOLICITATION_INTERVAL);
    }
}
