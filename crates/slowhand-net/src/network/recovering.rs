//! Datagrams whose fragments are recovered (RFC 8931): the sending end keeps the packet until it is acknowledged.

use super::hop::{self, Hop, Node, Way};
use super::{Events, Fragments, Network};
use crate::address::{Eui64, Host, NodeId};
use crate::clock::Instant;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::Ipv6Header;
use crate::lowpan::forwarding::{self, Route};
use crate::lowpan::reassembly::{self, Limits};
use crate::lowpan::recovery::{Config, Outcome, Receiver, Reception, Rfrag, RfragAck, Router, Sender, State};
use crate::lowpan::{Contexts, FRAME_CAPACITY, Link};

/// A node that recovers fragments: as a router between the ends, and as either end.
#[derive(Debug)]
pub(super) struct Recovering {
    config: Config,
    router: Router,
    pub(super) receiver: Receiver,
    /// What this node has sent and nobody has acknowledged.
    outgoing: Vec<Outgoing>,
    /// Memory of packets that are done.
    spare: Vec<Vec<u8>>,
    next_tag: u8,
}

/// A packet on its way from this node.
#[derive(Debug)]
struct Outgoing {
    sender: Sender,
    packet: Vec<u8>,
    datagram: DatagramId,
    next_hop: NodeId,
    /// Frames of it that wait in the MAC: the time for an acknowledgment begins when the last of them has left.
    waiting: usize,
}

impl Outgoing {
    fn deadline(&self) -> Option<Instant> {
        self.sender.deadline().filter(|_| self.waiting == 0)
    }
}

impl Recovering {
    pub(super) fn new(
        own: Eui64,
        config: Config,
        forwarding: forwarding::Limits,
        reassembly: Limits,
        contexts: &Contexts,
    ) -> Self {
        Self {
            config,
            router: Router::new(own, forwarding, contexts.clone()),
            // A delivered packet is remembered as long as one that is not complete.
            receiver: Receiver::new(reassembly, reassembly.timeout, contexts.clone()),
            outgoing: Vec::new(),
            spare: Vec::new(),
            next_tag: 0,
        }
    }

    /// Virtual reassembly buffers taken.
    pub(super) fn paths(&self) -> usize {
        self.router.occupancy()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let overdue = self.outgoing.iter().filter_map(Outgoing::deadline);
        overdue.chain(self.receiver.deadline()).chain(self.router.deadline()).min()
    }
}

/// A tag that no packet from this node has, from `next` on; none where all are taken.
fn free_tag(next: u8, router: &Router, outgoing: &[Outgoing]) -> Option<u8> {
    let is_free = |tag: &u8| !router.uses_tag(*tag) && outgoing.iter().all(|other| other.sender.tag() != *tag);
    (0..=u8::MAX).map(|step| next.wrapping_add(step)).find(is_free)
}

impl Network {
    /// Begins to send a packet in recoverable fragments.
    #[allow(clippy::too_many_arguments)] // those of `cross`, and what it worked out
    pub(super) fn recover(
        &mut self,
        now: Instant,
        link: Link,
        (node, next_hop): (NodeId, NodeId),
        slack: usize,
        packet: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) {
        let Some(Recovering { config, router, outgoing, spare, next_tag, .. }) = self.recovering(node) else { return };
        let Some(tag) = free_tag(*next_tag, router, outgoing) else {
            return events.lost(Host::Node(node), datagram, DropReason::QueueFull);
        };
        *next_tag = tag.wrapping_add(1);
        let config = *config;
        let mut kept = spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(packet);
        let sender = Sender::new(packet, link, &self.contexts, tag, config);
        match sender.and_then(|sender| sender.with_slack(slack)) {
            Ok(sender) => self.send_recoverable(
                now,
                node,
                Outgoing { sender, packet: kept, datagram, next_hop, waiting: 0 },
                events,
            ),
            Err(error) => events.lost(Host::Node(node), datagram, hop::unsent(&error)),
        }
    }

    /// Sends what a sender has to send, and keeps it until it is done.
    fn send_recoverable(&mut self, now: Instant, node: NodeId, mut outgoing: Outgoing, events: &mut Events) {
        let mut frame = [0; FRAME_CAPACITY];
        while let Ok(Some(length)) = outgoing.sender.next_frame(now, &outgoing.packet, &mut frame) {
            // A frame that the MAC does not take is a lost fragment: the acknowledgment will not confirm it.
            let given = self.give(now, node, outgoing.next_hop, &frame[..length], outgoing.datagram);
            outgoing.waiting += usize::from(given.is_ok());
        }
        if outgoing.sender.state() == State::Failed {
            events.lost(Host::Node(node), outgoing.datagram, DropReason::RecoveryFailed);
        }
        let Some(recovering) = self.recovering(node) else { return };
        match outgoing.sender.state() {
            State::Delivered | State::Failed => recovering.spare.push(outgoing.packet),
            State::Sending | State::Waiting => recovering.outgoing.push(outgoing),
        }
        self.arm_timer(node);
    }

    /// Takes a frame at a node that recovers fragments.
    pub(super) fn receive_recoverable(
        &mut self,
        now: Instant,
        node: NodeId,
        from: NodeId,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) {
        match payload.first() {
            Some(&octet) if Rfrag::is_dispatch(octet) => {
                self.receive_fragment(now, node, from, payload, datagram, events);
            }
            Some(&octet) if RfragAck::is_dispatch(octet) => {
                self.receive_acknowledgment(now, node, from, payload, datagram, events);
            }
            _ => self.reassemble(now, node, from, payload, datagram, events),
        }
    }

    fn receive_fragment(
        &mut self,
        now: Instant,
        node: NodeId,
        from: NodeId,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) {
        let congested = self.is_congested(node);
        let Self { nodes, routes, .. } = self;
        let Way::Recover(recovering) = &mut nodes[node.index()].way else { return };
        let Recovering { router, receiver, outgoing, next_tag, .. } = &mut **recovering;
        let tag = free_tag(*next_tag, router, outgoing);
        let route = |header: &Ipv6Header| match (hop::next_hop(routes, node, header), tag) {
            (Hop::Here, _) => Route::Local,
            (Hop::Next(to), Some(tag)) => {
                *next_tag = tag.wrapping_add(1);
                Route::Next { to: Eui64::of_node(to), tag: tag.into(), congested }
            }
            _ => Route::None,
        };
        let (source, own) = (Eui64::of_node(from), Eui64::of_node(node));
        let mut frame = [0; FRAME_CAPACITY];
        let answer = match router.handle_fragment(now, source, payload, congested, route, &mut frame) {
            Outcome::Forward { to, length } => {
                // Of a fragment that is lost here its sender will hear.
                let _ = self.give(now, node, to.node(), &frame[..length], datagram);
                None
            }
            Outcome::Unknown(refusal) if !receiver.knows(now, source, own, tag_of(payload)) => refusal,
            Outcome::Discarded(_, refusal) => refusal,
            Outcome::Local | Outcome::Unknown(_) => {
                let Reception { outcome, acknowledgment } =
                    receiver.handle_fragment(now, source, own, payload, datagram);
                // What is thrown away here its sender gives up, and reports.
                if let reassembly::Outcome::Complete { packet, datagram } = outcome {
                    self.packet.clear();
                    self.packet.extend_from_slice(packet);
                    self.arrive_whole(now, node, datagram, events);
                }
                acknowledgment
            }
        };
        if let Some(answer) = answer {
            let _ = self.give(now, node, from, &answer.emit(), datagram);
        }
        self.arm_timer(node);
    }

    /// An acknowledgment is for a packet of this node, or goes back along the path of its fragments.
    fn receive_acknowledgment(
        &mut self,
        now: Instant,
        node: NodeId,
        from: NodeId,
        payload: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) {
        let Ok(acknowledgment) = RfragAck::parse(payload) else { return };
        let Some(Recovering { router, outgoing, .. }) = self.recovering(node) else { return };
        let is_its = |own: &Outgoing| own.next_hop == from && own.sender.tag() == acknowledgment.tag;
        if let Some(index) = outgoing.iter().position(is_its) {
            let mut own = outgoing.swap_remove(index);
            own.sender.handle_acknowledgment(&acknowledgment);
            self.send_recoverable(now, node, own, events);
        } else if let Some((to, on)) = router.handle_acknowledgment(now, Eui64::of_node(from), &acknowledgment) {
            let _ = self.give(now, node, to.node(), &on.emit(), datagram);
        }
    }

    /// A frame has left the MAC, one way or the other.
    pub(super) fn handle_departure(&mut self, now: Instant, node: NodeId, datagram: DatagramId) {
        let Some(Recovering { outgoing, .. }) = self.recovering(node) else { return };
        let Some(own) = outgoing.iter_mut().find(|own| own.datagram == datagram) else { return };
        own.waiting = own.waiting.saturating_sub(1);
        if own.waiting == 0 {
            own.sender.handle_departure(now);
            self.arm_timer(node);
        }
    }

    /// Sends again what was not acknowledged in time, and forgets what is never going to be complete.
    pub(super) fn handle_overdue(&mut self, now: Instant, node: NodeId, events: &mut Events) {
        if let Some(Recovering { router, receiver, .. }) = self.recovering(node) {
            router.handle_timeout(now);
            // Its sender hears of it when it asks, or has given it up already.
            while receiver.handle_timeout(now).is_some() {}
        }
        let is_due = |own: &Outgoing| own.deadline().is_some_and(|at| at <= now);
        while let Some(Recovering { outgoing, .. }) = self.recovering(node)
            && let Some(index) = outgoing.iter().position(is_due)
        {
            let mut own = outgoing.swap_remove(index);
            own.sender.handle_timeout(now);
            self.send_recoverable(now, node, own, events);
        }
    }

    /// Whether the sender of a datagram still waits for its acknowledgment: it will hear of a lost fragment.
    pub(super) fn is_recovering(&self, datagram: DatagramId) -> bool {
        matches!(self.config.fragments, Fragments::Recovered { .. })
            && self.nodes.iter().any(|node| match &node.way {
                Way::Recover(recovering) => recovering.outgoing.iter().any(|outgoing| outgoing.datagram == datagram),
                _ => false,
            })
    }

    fn recovering(&mut self, node: NodeId) -> Option<&mut Recovering> {
        match &mut self.nodes[node.index()] {
            Node { way: Way::Recover(recovering), .. } => Some(recovering),
            _ => None,
        }
    }
}

/// The tag of a fragment that was parsed before.
fn tag_of(payload: &[u8]) -> u8 {
    Rfrag::parse(payload).map_or(0, |(header, _)| header.tag)
}
