//! A world that does not run to its end at once: conversations come and go, and hosts may be outside of it.

use super::carrier::Dccp;
use super::conversation::GivesUp;
use super::end::{End, Work};
use super::ledger::DatagramCounts;
use super::traffic::Traffic;
use super::{AFTERMATH, Cause, Event, NetworkEvents, World};
use crate::ids::{ConversationId, EndId};
use crate::record::{Conversation as Report, Costs, Energy, Failure, Holders, Outcome, Phase};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::datagram::DatagramId;
use slowhand_net::ip::{Endpoint, Ipv6Header, UdpDatagram, next_header};
use slowhand_net::network::SendError;
use slowhand_net::observer::Observer;
use slowhand_net::transport::tcp::{ConnectionError, Segment};
use slowhand_sessions::{Resumable, Role};
use std::sync::Arc;

/// The hosts that are outside of a world: what arrives there leaves the world, and what they send comes into it.
#[derive(Debug)]
pub(crate) struct Outside {
    /// True if all nodes of the mesh but the border router are outside.
    nodes: bool,
    /// True if the border router and the hosts on the Internet are.
    internet: bool,
    /// The packets that have arrived there.
    packets: Vec<(Host, Vec<u8>)>,
}

/// The state of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationState {
    /// Its phase.
    pub phase: Phase,
    /// True if it is over: nothing is sent any more.
    pub is_over: bool,
    /// The number of its datagrams on their way.
    pub on_their_way: usize,
}

/// The state of the TCP connection of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamState {
    /// True if the connection takes data.
    pub is_open: bool,
    /// Octets that the session wrote and for which the connection has no room.
    pub backlog: usize,
    /// Octets that arrived and the session has not taken.
    pub unread: usize,
    /// True if the peer has closed its side, and the session has taken everything.
    pub at_end: bool,
    /// True if everything that was written is acknowledged, the FIN too.
    pub all_acknowledged: bool,
    /// Why the connection failed.
    pub error: Option<ConnectionError>,
}

impl<'a> World<'a> {
    /// A world without conversations, in which the flows of other traffic begin.
    pub(crate) fn live(plan: &'a crate::plan::Plan, seed: u64, outside: Outside) -> Self {
        let mut world = Self::empty(plan, seed);
        world.outside = Some(Box::new(outside));
        world.begin_traffic();
        world
    }

    /// When something is due.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.deadline()
    }

    /// Does everything that is due at `now` or before, each thing at its own instant.
    pub(crate) fn run_until(&mut self, now: Instant, observer: &mut dyn Observer) {
        while let Some(at) = self.deadline().filter(|&at| at <= now) {
            self.step(at, observer);
        }
    }

    /// Opens a conversation, which begins at an instant.
    pub(crate) fn open_at(&mut self, at: Instant, opening: super::Opening, gives_up: GivesUp) -> ConversationId {
        let conversation = self.open(opening);
        self.conversations[conversation].gives_up = gives_up;
        self.events.push(at, Event::Start { conversation, cause: Cause::Start });
        conversation
    }

    /// Forgets what no report asks for any more.
    pub(crate) fn prune(&mut self, now: Instant) {
        self.ledger.prune();
        // The report of a conversation needs the traffic beside its handshake until the conversation is forgotten.
        let reported = self.conversations.ids().filter(|number| !self.vacant.contains(number));
        let begins = reported.filter_map(|number| self.conversations[number].handshake_began());
        let earliest = begins.min().unwrap_or(now);
        self.ledger.traffic.forget_before(Instant::ZERO + earliest.since(Instant::ZERO + AFTERMATH));
    }

    /// True if an end of a conversation computes, or has something to send or to acknowledge.
    pub(crate) fn is_at_work(&self, now: Instant, conversation: ConversationId) -> bool {
        conversation.ends().into_iter().any(|end| {
            let End { stream, dccp, .. } = &self.ends[end];
            let has_failed = stream.as_ref().is_some_and(|stream| stream.connection.error().is_some())
                || dccp.as_ref().is_some_and(Dccp::has_failed);
            !has_failed && (self.has_work(end) || self.is_busy(now, end))
        })
    }

    /// A conversation that has no handshake carries data.
    pub(crate) fn skip_handshake(&mut self, now: Instant, conversation: ConversationId) {
        self.establish(now, conversation);
    }

    /// The handshake of a conversation, or what follows it, has failed at an end.
    pub(crate) fn fail(&mut self, now: Instant, end: EndId, reason: &str) {
        let failure = Failure { end: end.role(), reason: reason.to_owned() };
        self.end(now, end.conversation(), Outcome::Reset, Some(failure));
    }

    /// A session has something to send, or room for input, that no call of the world brought about.
    pub(crate) fn wake(&mut self, now: Instant, end: EndId) {
        if self.is_outside(self.ends[end].host) {
            self.begin_outside(now, end, None);
        }
        match self.ends[end].stream {
            Some(_) => self.serve(now, end),
            None => self.after_call(now, end),
        }
    }

    /// The session of an end sends nothing more: its side of the connection is closed behind what it wrote.
    pub(crate) fn finish_stream(&mut self, now: Instant, end: EndId) {
        if let Some(stream) = &mut self.ends[end].stream {
            stream.finish();
            self.transmit(now, end);
        }
    }

    /// Ends the connection of an end at once, with a reset.
    pub(crate) fn abort_stream(&mut self, now: Instant, end: EndId) {
        if let Some(stream) = &mut self.ends[end].stream {
            stream.connection.abort();
            self.transmit(now, end);
        }
    }

    pub(crate) fn stream_state(&self, end: EndId) -> Option<StreamState> {
        let stream = self.ends[end].stream.as_ref()?;
        Some(StreamState {
            is_open: stream.takes_data(),
            backlog: stream.backlog(),
            unread: stream.connection.readable(),
            at_end: stream.connection.at_end(),
            all_acknowledged: stream.is_idle(),
            error: stream.connection.error(),
        })
    }

    pub(crate) fn conversation_state(&self, conversation: ConversationId) -> ConversationState {
        ConversationState {
            phase: self.conversations[conversation].phase(),
            is_over: self.conversations[conversation].is_over(),
            on_their_way: self.ledger.on_their_way_of(conversation),
        }
    }

    /// The end of a conversation, as if both applications had finished.
    pub(crate) fn complete(&mut self, now: Instant, conversation: ConversationId) {
        let outcome = match self.conversations[conversation].is_established() {
            true => Outcome::Completed,
            false => Outcome::GaveUp,
        };
        self.end(now, conversation, outcome, None);
    }

    /// The report of a conversation that is over, as it is now.
    pub(crate) fn report_now(&self, conversation: ConversationId) -> Report {
        self.report(conversation, &self.peaks())
    }

    /// The time that a handshake took, or has taken until the conversation was over.
    pub(crate) fn handshake_s(&self, conversation: ConversationId) -> f64 {
        let super::trace::Span { start, end } = self.handshake_span(conversation);
        end.since(start).as_secs_f64()
    }

    /// Prunes where no report is asked for.
    pub(crate) fn prune_all(&mut self, now: Instant) {
        self.ledger.prune();
        self.ledger.traffic.forget_before(Instant::ZERO + now.since(Instant::ZERO + AFTERMATH));
    }

    /// The application of an end has something to do that no call of the world brought about.
    pub(crate) fn prompt(&mut self, now: Instant, end: EndId) {
        self.handle_application(now, end);
    }

    /// The energy that the device of a client has used since the world began.
    pub(crate) fn energy_so_far(&self, client: NodeId, now: Instant) -> Energy {
        self.plan.energy_of(Role::Client, self.times_of(client, now))
    }

    /// The state that the ends of a conversation keep to resume its session later, client first.
    pub(crate) fn resumable(&mut self, conversation: ConversationId) -> [Option<Resumable>; 2] {
        conversation.ends().map(|end| self.ends[end].session.resumable())
    }

    /// The octets of all frames on the air that served a conversation, acknowledgements included.
    pub(crate) fn octets_of(&self, conversation: ConversationId) -> u64 {
        let costs: Costs = Phase::ALL.into_iter().map(|phase| self.ledger.costs(&[conversation], phase)).sum();
        costs.bytes_phy + costs.bytes_ack + costs.bytes_control
    }

    /// Forgets a conversation. Its number is free for another one.
    pub(crate) fn forget(&mut self, conversation: ConversationId) {
        let client = &self.ends[EndId::of(conversation, Role::Client)];
        self.of_port.remove(&(client.host, client.local.port));
        self.events.retain(|event| !event.is_of(conversation));
        for computer in self.computers.iter_mut() {
            computer.retain_work(|work: &Work| work.end().conversation() != conversation);
        }
        self.ledger.forget(conversation);
        self.vacant.push(conversation);
    }

    /// True if a port of a client belongs to a conversation.
    pub(crate) fn is_port_taken(&self, client: NodeId, port: u16) -> bool {
        self.of_port.contains_key(&(Host::Node(client), port))
    }

    /// True if nothing is left to do for any conversation, or if what is left has taken too long since `end`.
    pub(crate) fn has_ended(&self, now: Instant) -> bool {
        let end = self.conversations.iter().filter_map(super::Conversation::end).max().unwrap_or_default();
        self.open == 0 && (!self.ledger.any_on_its_way() || now > end + AFTERMATH)
    }

    pub(crate) fn network(&mut self) -> &mut slowhand_net::network::Network {
        &mut self.network
    }

    pub(crate) fn key_log(&self, end: EndId) -> Vec<String> {
        self.ends[end].session.key_log()
    }

    /// Takes a packet from a host that is outside, and sends it.
    ///
    /// # Errors
    /// The network refuses it.
    pub(crate) fn send_packet(&mut self, now: Instant, packet: &[u8]) -> Result<(), SendError> {
        let id = self.account(now, packet).unwrap_or_else(|| self.ledger.sent_by_none());
        let mut events = std::mem::take(&mut self.network_events);
        let sent = self.network.send_packet(now, packet, id, &mut events);
        if sent.is_err() {
            self.ledger.lost(id, slowhand_net::drop_reason::DropReason::Malformed, Host::Internet, Holders::default());
        }
        self.handle_network_events(now, &mut events);
        self.network_events = events;
        sent
    }

    /// The number of a packet from outside, if it is of a conversation: that has it in its account.
    fn account(&mut self, now: Instant, packet: &[u8]) -> Option<DatagramId> {
        let (source, destination, is_tcp) = end_points(packet)?;
        let end = self.end_at(Host::of_address(source.address)?, source, destination)?;
        if self.conversations[end.conversation()].is_over() {
            return None;
        }
        self.begin(now, end.conversation());
        self.begin_outside(now, end, None);
        let phase = self.conversations[end.conversation()].phase();
        if is_tcp {
            return Some(self.ledger.sent_segment(end, phase, &packet[Ipv6Header::LENGTH..]));
        }
        let payload = packet[UdpDatagram::HEADERS..].into();
        let datagram = self.ledger.sent(end, phase, &payload);
        self.note(|trace| trace.send(now, end, datagram, &payload));
        Some(datagram)
    }

    /// Takes the packets that have arrived outside.
    pub(crate) fn take_packets(&mut self, packets: &mut Vec<(Host, Vec<u8>)>) {
        if let Some(outside) = &mut self.outside {
            packets.append(&mut outside.packets);
        }
    }

    /// True if this host is outside.
    pub(super) fn is_outside(&self, host: Host) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.has(host))
    }

    /// Hands over the packets that arrived outside.
    pub(super) fn hand_over(&mut self, events: &NetworkEvents) {
        let Some(outside) = &mut self.outside else { return };
        for (_, host, datagram, packet) in events.deliveries() {
            if outside.has(host) && !Traffic::has(datagram) {
                outside.packets.push((host, packet.to_vec()));
            }
        }
    }

    /// The fate of all datagrams so far, and the number on their way.
    pub(crate) fn datagram_counts(&self) -> (&DatagramCounts, u64) {
        (&self.ledger.counts, self.ledger.waiting_now())
    }

    /// The longest queue and the fullest reassembly of each node so far.
    pub(super) fn peaks(&self) -> [Arc<[u64]>; 2] {
        let nodes = || (0..self.plan.nodes()).map(|node| NodeId(node as u16));
        [
            nodes().map(|node| self.network.queue_peak(node) as u64).collect(),
            nodes().map(|node| self.network.reassembly_peak(node).reserved as u64).collect(),
        ]
    }
}

impl Outside {
    pub(crate) fn new(nodes: bool, internet: bool) -> Self {
        Self { nodes, internet, packets: Vec::new() }
    }

    fn has(&self, host: Host) -> bool {
        match host {
            Host::Node(NodeId::ROOT) | Host::Internet => self.internet,
            Host::Node(_) => self.nodes,
        }
    }
}

/// Source and destination of a packet of UDP (false) or TCP (true).
pub(crate) fn end_points(packet: &[u8]) -> Option<(Endpoint, Endpoint, bool)> {
    let (header, payload) = Ipv6Header::parse_packet(packet).ok()?;
    match header.next_header {
        next_header::UDP => {
            let UdpDatagram { source, destination, .. } = UdpDatagram::parse(packet).ok()?;
            Some((source, destination, false))
        }
        next_header::TCP => {
            let segment = Segment::parse(payload).ok()?;
            let source = Endpoint::new(header.source, segment.source_port);
            Some((source, Endpoint::new(header.destination, segment.destination_port), true))
        }
        _ => None,
    }
}
