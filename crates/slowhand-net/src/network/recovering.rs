//! Fragment recovery (RFC 8931): the source keeps a packet until it is acknowledged.

use super::adaptation::{AdaptationLayer, FragmentHandling};
use super::config::Fragments;
use super::destination::{NextHop, host, last_node};
use super::events::Events;
use super::handling::Received;
use super::hop::next_hop_of;
use super::recovery::{Outgoing, Recovery, free_tag};
use super::{Network, adaptation, rpl};
use crate::address::{Host, NodeId};
use crate::clock::Duration;
use crate::datagram::DatagramId;
use crate::drop_reason::DropReason;
use crate::ip::Ipv6Header;
use crate::lowpan::forwarding::Route;
use crate::lowpan::recovery::{Outcome, Reception, Rfrag, RfragAck, Sender, State};
use crate::lowpan::{Link, reassembly, recovery};
use crate::radio::Msdu;
use crate::radio::frame::MAX_FRAME;
use crate::transport::Path;

impl Network {
    /// Starts to send a packet in recoverable fragments.
    #[allow(clippy::too_many_arguments)] // the arguments of `send_over_hop`, and its results
    pub(super) fn recover(
        &mut self,
        link: Link,
        (node, next_hop): (NodeId, NodeId),
        slack: usize,
        packet: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), DropReason> {
        let capacity = self.payload_capacity(node, next_hop);
        let end = last_node(rpl::last_destination(packet).and_then(|to| host(&self.routes, to)));
        let timeout = self.acknowledgement_timeout(node, end);
        let Some(Recovery { config, router, outgoing, spare, next_tag, .. }) = self.recovering(node) else {
            return Ok(());
        };
        let tag = free_tag(*next_tag, router, outgoing).ok_or(DropReason::QueueFull)?;
        *next_tag = tag.wrapping_add(1);
        let config = recovery::RecoveryConfig { capacity: config.capacity.min(capacity), ..*config };
        let mut kept = spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(packet);
        let sender = Sender::new(packet, link, &self.contexts, tag, config).and_then(|sender| sender.with_slack(slack));
        let mut sender = sender.map_err(|error| adaptation::send_failure(&error))?;
        if let Some(timeout) = timeout {
            sender.set_timeout(timeout);
        }
        if node == NodeId::ROOT {
            self.tell_gateway_of_recovery(datagram);
        }
        self.send_recoverable(node, Outgoing { sender, packet: kept, datagram, next_hop, end, waiting: 0 }, events);
        Ok(())
    }

    /// Sends all frames that a sender has ready. Keeps the sender until the packet is delivered or given up.
    fn send_recoverable(&mut self, node: NodeId, mut outgoing: Outgoing, events: &mut Events) {
        let mut frame = [0; MAX_FRAME];
        while let Ok(Some(length)) = outgoing.sender.next_frame(self.now, &outgoing.packet, &mut frame) {
            // If the MAC refuses a frame, the fragment is lost: the acknowledgement will not confirm it.
            let given = self.enqueue(Msdu::new(node, outgoing.next_hop, &frame[..length], outgoing.datagram));
            outgoing.waiting += usize::from(given.is_ok());
        }
        let state = outgoing.sender.state();
        match state {
            State::Delivered if node == NodeId::ROOT => self.tell_gateway_of_arrival(outgoing.datagram),
            State::Failed => events.lost(Host::Node(node), outgoing.datagram, DropReason::RecoveryFailed),
            _ => {}
        }
        let Some(recovering) = self.recovering(node) else { return };
        match state {
            State::Delivered | State::Failed => recovering.spare.push(outgoing.packet),
            State::Sending | State::Waiting => recovering.outgoing.push(outgoing),
        }
        self.arm_timer(node);
    }

    /// Handles a frame payload at a node that recovers fragments.
    pub(super) fn receive_recoverable(&mut self, received: Received<'_>, events: &mut Events) {
        match received.payload.first() {
            Some(&octet) if Rfrag::is_dispatch(octet) => self.receive_fragment(received, events),
            Some(&octet) if RfragAck::is_dispatch(octet) => self.receive_acknowledgement(received, events),
            _ => self.reassemble(received, events),
        }
    }

    fn receive_fragment(&mut self, Received { node, from, payload, datagram }: Received<'_>, events: &mut Events) {
        let congested = self.is_congested(node);
        let Self { nodes, routes, mac, config, .. } = self;
        let FragmentHandling::Recover(recovering) = &mut nodes[node.index()].fragments else { return };
        let Recovery { router, receiver, outgoing, next_tag, .. } = &mut **recovering;
        let tag = free_tag(*next_tag, router, outgoing);
        let has_rpl = config.rpl.is_some();
        let route = |headers: &mut [u8], is_new| match (next_hop_of(routes, has_rpl, node, headers), tag) {
            (NextHop::Here, _) => Route::Local,
            (NextHop::Neighbor(to), Some(tag)) => {
                if is_new {
                    *next_tag = tag.wrapping_add(1);
                }
                let capacity = config.payload_capacity(&**mac, node, to);
                Route::Next { to: self.addressing.of_node(to), tag: tag.into(), congested, capacity }
            }
            (NextHop::Neighbor(_), None) => Route::None,
        };
        let [source, destination] = [from, node].map(|node| self.addressing.of_node(node));
        let link = Link { source, destination };
        let mut frame = [0; MAX_FRAME];
        let answer = match router.handle_fragment(self.now, source, payload, congested, route, &mut frame) {
            Outcome::Forward { to, length } => {
                // If the MAC refuses the frame, the acknowledgement will not confirm it.
                let _ = self.enqueue(Msdu::new(node, to.node(), &frame[..length], datagram));
                None
            }
            Outcome::Unknown(refusal) if !receiver.knows(self.now, link, tag_of(payload)) => refusal,
            Outcome::Discarded(_, refusal) => refusal,
            Outcome::Local | Outcome::Unknown(_) => {
                let Reception { outcome, acknowledgement } =
                    receiver.handle_fragment(self.now, link, payload, datagram);
                // The source learns of a discarded packet from the acknowledgement, and reports the loss.
                if let reassembly::Outcome::Complete { packet, datagram } = outcome {
                    self.packet.clear();
                    self.packet.extend_from_slice(packet);
                    self.arrive_reassembled(node, datagram, events);
                }
                acknowledgement
            }
        };
        if let Some(answer) = answer {
            let _ = self.enqueue(Msdu::new(node, from, &answer.emit(), datagram));
        }
        self.arm_timer(node);
    }

    /// Handles an acknowledgement: it is for a packet of this node, or goes back along the path of the fragments.
    fn receive_acknowledgement(
        &mut self,
        Received { node, from, payload, datagram }: Received<'_>,
        events: &mut Events,
    ) {
        let Ok(acknowledgement) = RfragAck::parse(payload) else { return };
        let (now, source) = (self.now, self.addressing.of_node(from));
        let Some(Recovery { router, outgoing, .. }) = self.recovering(node) else { return };
        let is_its = |own: &Outgoing| own.next_hop == from && own.sender.tag() == acknowledgement.tag;
        if let Some(index) = outgoing.iter().position(is_its) {
            let mut own = outgoing.swap_remove(index);
            self.learn_round_trip(node, &mut own);
            own.sender.handle_acknowledgement(&acknowledgement);
            self.send_recoverable(node, own, events);
        } else if let Some((to, on)) = router.handle_acknowledgement(now, source, &acknowledgement) {
            let _ = self.enqueue(Msdu::new(node, to.node(), &on.emit(), datagram));
        }
    }

    /// Measures the round trip that an acknowledgement ends, if the node adapts its timer.
    fn learn_round_trip(&mut self, node: NodeId, own: &mut Outgoing) {
        let now = self.now;
        let Some(recovering) = self.recovering(node).filter(|recovering| recovering.config.adaptive) else { return };
        if let Some(measured) = own.sender.round_trip(now) {
            let timeout = recovering.note_round_trip(own.end, measured);
            own.sender.set_timeout(timeout);
        }
    }

    /// The time that a node that adapts its timer waits for the acknowledgement of another one: as measured. Before the first
    /// measurement the border router computes it from the schedule of the mesh; other nodes know only their own cells.
    fn acknowledgement_timeout(&self, node: NodeId, end: NodeId) -> Option<Duration> {
        let FragmentHandling::Recover(recovering) = &self.nodes[node.index()].fragments else { return None };
        let by_schedule = || {
            let (path, one_frame) = (self.schedule_path(), Ipv6Header::LENGTH);
            path.downward(end, 1, one_frame) + path.upward(end, one_frame)
        };
        let is_computed = recovering.config.adaptive && node == NodeId::ROOT;
        recovering.timeout(end).or_else(|| is_computed.then(by_schedule))
    }

    /// Notes that a frame has left the MAC, sent or given up.
    pub(super) fn handle_departure(&mut self, node: NodeId, datagram: DatagramId) {
        let now = self.now;
        let Some(Recovery { outgoing, .. }) = self.recovering(node) else { return };
        let Some(own) = outgoing.iter_mut().find(|own| own.datagram == datagram) else { return };
        own.waiting = own.waiting.saturating_sub(1);
        if own.waiting == 0 {
            own.sender.handle_departure(now);
            self.arm_timer(node);
        }
    }

    /// Sends fragments again that were not acknowledged in time, and deletes packets and paths that have timed out.
    pub(super) fn handle_overdue(&mut self, node: NodeId, events: &mut Events) {
        let now = self.now;
        if let Some(Recovery { router, receiver, .. }) = self.recovering(node) {
            router.handle_timeout(now);
            // The source learns of it when it asks for an acknowledgement, or has given up already.
            while receiver.handle_timeout(now).is_some() {}
        }
        let is_due = |own: &Outgoing| own.deadline().is_some_and(|at| at <= now);
        while let Some(Recovery { outgoing, .. }) = self.recovering(node)
            && let Some(index) = outgoing.iter().position(is_due)
        {
            let mut own = outgoing.swap_remove(index);
            own.sender.handle_timeout(now);
            self.send_recoverable(node, own, events);
        }
    }

    /// True if the source of a datagram still waits for the acknowledgement. Then a lost frame is not a lost datagram.
    pub(super) fn is_recovering(&self, datagram: DatagramId) -> bool {
        matches!(self.config.fragments, Fragments::Recovered { .. })
            && self.nodes.iter().any(|node| match &node.fragments {
                FragmentHandling::Recover(recovering) => {
                    recovering.outgoing.iter().any(|outgoing| outgoing.datagram == datagram)
                }
                _ => false,
            })
    }

    fn recovering(&mut self, node: NodeId) -> Option<&mut Recovery> {
        match &mut self.nodes[node.index()] {
            AdaptationLayer { fragments: FragmentHandling::Recover(recovering), .. } => Some(recovering),
            _ => None,
        }
    }
}

/// The tag of a fragment that is known to be valid.
fn tag_of(payload: &[u8]) -> u8 {
    Rfrag::parse(payload).map_or(0, |(header, _)| header.tag)
}
