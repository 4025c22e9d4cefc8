//! One hop of a packet: how a node cuts it into frames, and what the next node does with these frames.

use super::adaptation::{AdaptationLayer, FragmentHandling, send_failure};
use super::destination::{NextHop, destination, host, last_node, next_hop};
use super::events::Events;
use super::handling::Received;
use super::on_link::to_all;
use super::{Network, Timer, rpl};
use crate::address::{Host, NodeId};
use crate::datagram::{DatagramId, NO_DATAGRAM};
use crate::drop_reason::DropReason;
use crate::ip::{self, Ecn, Ipv6Header};
use crate::lowpan::forwarding::{self, Route, SLACK};
use crate::lowpan::fragment::Room;
use crate::lowpan::mesh::MeshHeader;
use crate::lowpan::reassembly::{Discard, Expiry, Occupancy, Outcome};
use crate::lowpan::{Fragmenter, Link, fragment, is_fragment};
use crate::observer::{BufferLevel, Reception};
use crate::radio::frame::MAX_FRAME;
use crate::radio::{Indication, Msdu};
use crate::route::Routes;

impl Network {
    pub(super) fn handle_indication(&mut self, indication: &Indication, events: &mut Events) {
        let (Indication::Received { node, .. }
        | Indication::Beacon { node, .. }
        | Indication::Multicast { node, .. }
        | Indication::Lost { node, .. }
        | Indication::Dropped { node, .. }
        | Indication::Sent { node, .. }) = *indication;
        match *indication {
            Indication::Received { handled_at, .. } if handled_at > self.now => {
                let place = self.unhandled.keep(indication.clone());
                return self.timers.push(handled_at, Timer::Handled(place));
            }
            Indication::Received { from, datagram, ref payload, discard, .. } => {
                self.receptions.note(Reception { at: self.now, node, from, datagram, discarded: discard });
                match discard {
                    true => self.lose_frame(node, datagram, DropReason::InjectedLoss, events),
                    false => self.receive(Received { node, from, payload, datagram }, events),
                }
            }
            Indication::Beacon { from, join_metric, .. } => events.beacon(node, from, join_metric),
            Indication::Multicast { from, ref payload, .. } => {
                let received = Received { node, from, payload, datagram: NO_DATAGRAM };
                self.reassemble_over(to_all(from), received, events);
            }
            Indication::Lost { datagram, reason, .. } => self.lose_frame(node, datagram, reason, events),
            Indication::Dropped { datagram, reason, .. } => {
                self.lose_frame(node, datagram, reason, events);
                self.handle_departure(node, datagram);
            }
            Indication::Sent { datagram, .. } => self.handle_departure(node, datagram),
        }
        self.note_level(node);
    }

    /// The processor of its node has handled a received frame.
    pub(super) fn handle_received(&mut self, place: u32, events: &mut Events) {
        let received = self.unhandled.take(place);
        self.handle_indication(&received, events);
    }

    /// A frame of a datagram is lost at a node. That is no loss of the datagram if its source sends the frame again.
    fn lose_frame(&self, node: NodeId, datagram: DatagramId, reason: DropReason, events: &mut Events) {
        if !self.is_recovering(datagram) {
            events.lost(Host::Node(node), datagram, reason);
        }
    }

    /// Gives the MAC of `node` the frames of a packet. If the MAC refuses a frame, that is an event, and no error.
    pub(super) fn send_over_hop(
        &mut self,
        node: NodeId,
        next_hop: NodeId,
        packet: &mut [u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), DropReason> {
        if self.is_congested(node) && Ipv6Header::parse(packet).is_ok_and(|header| header.ecn().is_capable()) {
            // It cannot fail: the header was parsed just before.
            let _ = ip::ipv6::mark(packet, Ecn::CongestionExperienced);
        }
        let (link, mesh) = self.framing(node, next_hop, packet);
        let mut frame = [0; MAX_FRAME];
        let before = mesh.map_or(0, |mesh| mesh.emit(&mut frame).unwrap_or(0)); // the longest header fits
        let capacity = self.payload_capacity(node, next_hop).saturating_sub(before);
        let payload = &mut frame[before..];
        let contexts = self.contexts_for(node, next_hop, mesh, packet);
        // Only a payload that is compressed must know of the slack before.
        let slack = contexts.payload_compression().map_or(0, |_| self.slack(node, next_hop, packet));
        let headers = fragment::compress_for_frame(packet, link, contexts, Room { capacity, slack }, payload)
            .map_err(|error| send_failure(&error))?;
        let mut sent = Ok(());
        if let Some(length) = fragment::complete_frame(packet, headers, capacity, payload) {
            let given = self.enqueue(Msdu::new(node, next_hop, &frame[..before + length], datagram));
            events.lost_if_failed(Host::Node(node), datagram, given);
        } else {
            let fragmenter = Fragmenter::with_headers(packet, headers, payload, capacity);
            let fragmenter = fragmenter.map_err(|error| send_failure(&error))?;
            sent = self.send_fragments(fragmenter, (link, mesh), (node, next_hop), packet, datagram, events);
        }
        self.note_level(node);
        sent
    }

    /// Gives the MAC of `node` the fragments of a packet that is longer than a frame.
    #[allow(clippy::too_many_arguments)] // the arguments of `send_over_hop`, and what it has worked out
    fn send_fragments(
        &mut self,
        fragmenter: Fragmenter,
        (link, mesh): (Link, Option<MeshHeader>),
        (node, next_hop): (NodeId, NodeId),
        packet: &[u8],
        datagram: DatagramId,
        events: &mut Events,
    ) -> Result<(), DropReason> {
        let slack = self.slack(node, next_hop, packet);
        let AdaptationLayer { next_tag, fragments, .. } = &mut self.nodes[node.index()];
        if matches!(fragments, FragmentHandling::Recover(_)) {
            return self.recover(link, (node, next_hop), slack, packet, datagram, events);
        }
        let mut fragmenter = fragmenter.with_tag(*next_tag).with_slack(slack);
        if self.config.whole_packets && self.mac.queue(node).len() + fragmenter.frames() > self.mac.queue(node).limit()
        {
            return Err(DropReason::QueueFull);
        }
        *next_tag = next_tag.wrapping_add(1);
        let mut frame = [0; MAX_FRAME];
        let before = mesh.map_or(0, |mesh| mesh.emit(&mut frame).unwrap_or(0));
        while let Ok(Some(length)) = fragmenter.next_frame(packet, &mut frame[before..]) {
            let given = self.enqueue(Msdu::new(node, next_hop, &frame[..before + length], datagram));
            events.lost_if_failed(Host::Node(node), datagram, given);
        }
        Ok(())
    }

    /// The octets of a first fragment that stay free. A node that forwards it compresses the header again, and it may grow. It
    /// needs slack only if the next hop is not the last.
    fn slack(&self, node: NodeId, next_hop: NodeId, packet: &[u8]) -> usize {
        if matches!(self.nodes[node.index()].fragments, FragmentHandling::Reassemble) {
            return 0;
        }
        let goes_on = destination(packet).is_none_or(|to| last_node(host(&self.routes, to)) != next_hop)
            || self.config.rpl.is_some() && rpl::has_segments_left(packet);
        if goes_on { SLACK } else { 0 }
    }

    /// The octets of a frame from a node to a neighbour that 6LoWPAN may use.
    pub(super) fn payload_capacity(&self, node: NodeId, next_hop: NodeId) -> usize {
        self.config.payload_capacity(&*self.mac, node, next_hop)
    }

    /// True if a node's queue is so full that the node marks packets.
    pub(super) fn is_congested(&self, node: NodeId) -> bool {
        let queued = || self.mac.queue(node).len() as f64;
        self.config.ecn_threshold.is_some_and(|share| queued() >= share * self.mac.queue(node).limit() as f64)
    }

    /// Notes the level of a node's buffers, if the observer watches it.
    fn note_level(&mut self, node: NodeId) {
        if self.levels.are_watched() {
            let (Occupancy { fragments, received, .. }, forwarding) = self.nodes[node.index()].occupancy();
            let queued = self.mac.queue(node).len();
            self.levels.note(BufferLevel { at: self.now, node, queued, fragments, octets: received, forwarding });
        }
    }

    /// Gives the MAC of a node a frame payload. Here the scenario decides if its receiver discards it.
    pub(super) fn enqueue(&mut self, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let discard = self.losses.takes(msdu.node, msdu.datagram, msdu.payload);
        self.mac.enqueue(self.now, Msdu { discard, ..msdu })
    }

    fn receive(&mut self, received: Received<'_>, events: &mut Events) {
        if self.config.mesh_under.is_some() {
            return self.receive_of_mesh(received, events);
        }
        let Received { node, from, payload, datagram } = received;
        let congested = self.is_congested(node);
        let Self { nodes, routes, mac, config, .. } = self;
        let AdaptationLayer { fragments, next_tag, .. } = &mut nodes[node.index()];
        match fragments {
            FragmentHandling::Reassemble => self.reassemble(received, events),
            FragmentHandling::Forward(forwarder) => {
                let route = |headers: &mut [u8], is_new| match next_hop_of(routes, config.rpl.is_some(), node, headers)
                {
                    NextHop::Here => Route::Local,
                    NextHop::Neighbor(to) => {
                        let tag = *next_tag;
                        *next_tag = tag.wrapping_add(u16::from(is_new));
                        let capacity = config.payload_capacity(&**mac, node, to);
                        Route::Next { to: self.addressing.of_node(to), tag, congested, capacity }
                    }
                };
                let mut frame = [0; MAX_FRAME];
                let source = self.addressing.of_node(from);
                let done = match forwarder.handle_fragment(self.now, source, payload, datagram, route, &mut frame) {
                    forwarding::Outcome::Local => return self.reassemble(received, events),
                    forwarding::Outcome::Forward { to, length } => {
                        self.enqueue(Msdu::new(node, to.node(), &frame[..length], datagram))
                    }
                    forwarding::Outcome::Discarded(reason) => Err(forwarding_failure(reason)),
                };
                events.lost_if_failed(Host::Node(node), datagram, done);
                self.arm_timer(node);
            }
            FragmentHandling::Recover(_) => self.receive_recoverable(received, events),
        }
    }

    /// Gives a frame payload to the reassembler: its packet is for this node, or every node reassembles.
    pub(super) fn reassemble(&mut self, received: Received<'_>, events: &mut Events) {
        self.notice(received.node, received.from, received.payload);
        self.reassemble_over(self.link(received.from, received.node), received, events);
    }

    /// Gives the reassembler a frame payload whose headers are compressed for these addresses.
    pub(super) fn reassemble_over(
        &mut self,
        link: Link,
        Received { node, payload, datagram, .. }: Received<'_>,
        events: &mut Events,
    ) {
        let reassembler = &mut self.nodes[node.index()].reassembler;
        match reassembler.handle_fragment(self.now, link, payload, datagram) {
            Outcome::Complete { packet, datagram } => {
                self.packet.clear();
                self.packet.extend_from_slice(packet);
                self.arrive_reassembled(node, datagram, events);
            }
            Outcome::Incomplete => {}
            Outcome::Discarded(reason) => {
                // An overlap discards the packet in the buffer too.
                if let Discard::Overlap { datagram: buffered } = reason {
                    events.lost(Host::Node(node), buffered, DropReason::Malformed);
                }
                match reassembly_failure(reason) {
                    DropReason::ReassemblyFull => {
                        let holders = self.nodes[node.index()].reassembler.datagrams();
                        events.lost_to(holders, Host::Node(node), datagram);
                    }
                    reason => events.lost(Host::Node(node), datagram, reason),
                }
            }
        }
        self.lose_displaced(node, datagram, events);
        if is_fragment(payload) {
            // In any case: with fragment forwarding, the virtual reassembly buffer has a timer too.
            self.arm_timer(node);
        }
    }

    /// Reports the packets that made room for `datagram`.
    fn lose_displaced(&mut self, node: NodeId, datagram: DatagramId, events: &mut Events) {
        let (host, reassembler) = (Host::Node(node), &mut self.nodes[node.index()].reassembler);
        let gone: Vec<_> = std::iter::from_fn(|| reassembler.poll_displaced()).collect(); // usually none
        let displaced = || gone.iter().filter(|expired| expired.reason == Expiry::Displaced);
        for expired in &gone {
            match expired.reason {
                Expiry::Timeout => events.lost(host, expired.datagram, DropReason::ReassemblyTimeout),
                Expiry::Displaced => {
                    let others = reassembler.datagrams().filter(|&other| other != datagram);
                    let holders = others.chain(displaced().map(|expired| expired.datagram));
                    events.lost_to(holders, host, expired.datagram);
                }
            }
        }
    }

    /// Handles the reassembled packet in `self.packet`.
    pub(super) fn arrive_reassembled(&mut self, node: NodeId, datagram: DatagramId, events: &mut Events) {
        let mut packet = std::mem::take(&mut self.packet);
        self.arrive(node, &mut packet, datagram, events);
        self.packet = packet;
    }

    /// Sets the timer of a node to its earliest deadline.
    pub(super) fn arm_timer(&mut self, node: NodeId) {
        let own = &mut self.nodes[node.index()];
        if let Some(deadline) = own.deadline().filter(|&at| own.timer.is_none_or(|armed| at < armed)) {
            own.timer = Some(deadline);
            self.timers.push(deadline, Timer::Fragments(node));
        }
    }

    pub(super) fn handle_timer(&mut self, node: NodeId, events: &mut Events) {
        let own = &mut self.nodes[node.index()];
        own.timer = None;
        while let Some(expired) = own.reassembler.handle_timeout(self.now) {
            events.lost(Host::Node(node), expired.datagram, DropReason::ReassemblyTimeout);
        }
        match &mut own.fragments {
            FragmentHandling::Reassemble => {}
            FragmentHandling::Forward(forwarder) => {
                while let Some(expired) = forwarder.handle_timeout(self.now) {
                    events.lost(Host::Node(node), expired.datagram, DropReason::ForwardingTimeout);
                }
            }
            FragmentHandling::Recover(_) => self.handle_overdue(node, events),
        }
        self.arm_timer(node);
        self.note_level(node);
    }
}

/// The next hop of a packet that a node forwards, of which it has the headers. With RPL, the node changes them.
pub(super) fn next_hop_of(routes: &Routes, has_rpl: bool, node: NodeId, headers: &mut [u8]) -> NextHop {
    if has_rpl {
        rpl::pass(routes, node, headers);
    }
    destination(headers).map_or(NextHop::Here, |destination| next_hop(routes, node, destination))
}

fn reassembly_failure(reason: Discard) -> DropReason {
    match reason {
        Discard::FirstMissing => DropReason::FirstFragmentMissing,
        Discard::Full => DropReason::ReassemblyFull,
        Discard::TooLong(_) => DropReason::ReassemblyTooLong,
        Discard::Malformed(_) | Discard::Overlap { .. } | Discard::Aborted { .. } => DropReason::Malformed,
    }
}

fn forwarding_failure(reason: forwarding::Discard) -> DropReason {
    match reason {
        forwarding::Discard::Full => DropReason::ForwardingFull,
        forwarding::Discard::HopLimit => DropReason::HopLimit,
        forwarding::Discard::NoRoute => DropReason::NoRoute,
        forwarding::Discard::NoSlack => DropReason::NoSlack,
        forwarding::Discard::Unknown => DropReason::FirstFragmentMissing,
        forwarding::Discard::ChecksumElided | forwarding::Discard::Malformed(_) => DropReason::Malformed,
    }
}
