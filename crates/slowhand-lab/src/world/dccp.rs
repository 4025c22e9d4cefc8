//! DCCP below the sessions: packets and timers of each end's connection, and what its session sends and gets.
//!
//! The client's session begins when the connection is open (RFC 5238 section 3.2). From then on each datagram of a session
//! travels in one packet, as soon as the congestion window lets it out. DCCP works independently of the session: it
//! acknowledges a packet while the device computes. The timer of DTLS stays, because DCCP repeats no data; it starts when the
//! session hands a datagram over, even if the datagram waits for the window then.

use super::carrier::Datagram;
use super::end::{End, Work};
use super::payload::Payload;
use super::trace::{Cause, Lost, StepId, Timer};
use super::{Event, World, to_std};
use crate::ids::EndId;
use crate::record::{Holders, Phase};
use slowhand_net::address::Host;
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::ip::{Ecn, Endpoint, Ipv6Header, next_header};
use slowhand_net::transport::dccp::{Body, ConnectionError, Packet, SendError, Transmit};
use slowhand_sessions::Role;

/// True if a packet of IPv6 carries one of DCCP.
pub(super) fn is_packet(packet: &[u8]) -> bool {
    Ipv6Header::parse(packet).is_ok_and(|header| header.next_header == next_header::DCCP)
}

/// The packet of DCCP in a packet of IPv6, with its two ends.
fn parse(packet: &[u8]) -> Option<(Ipv6Header, &[u8], [Endpoint; 2])> {
    let (header, octets) = Ipv6Header::parse_packet(packet).ok()?;
    let Packet { source_port, destination_port, .. } =
        Packet::parse(octets).ok().filter(|_| header.next_header == next_header::DCCP)?;
    let source = Endpoint::new(header.source, source_port);
    Some((header, octets, [source, Endpoint::new(header.destination, destination_port)]))
}

impl World<'_> {
    /// A packet arrived at a host. The connection answers first, and then the session gets what is in it.
    pub(super) fn receive_dccp(&mut self, now: Instant, host: Host, datagram: DatagramId, packet: &[u8]) {
        let Some((header, octets, [source, destination])) = parse(packet) else { return };
        let Some(end) = self.end_at(host, destination, source) else { return };
        let Some(dccp) = &mut self.ends[end].dccp else { return };
        let Ok(received) = dccp.connection.handle_packet(now, header.source, header.ecn(), octets) else { return };
        let opens = dccp.becomes_open();
        self.begin_step(now, end, Cause::Arrival { datagram, at: now });
        let by = self.step_number();
        self.transmit_dccp(now, end);
        if opens && end.role() == Role::Client {
            match self.is_busy(now, end) {
                true => self.defer(end, Work::Open { end, by }),
                false => self.start_over_dccp(now, end, by),
            }
        }
        if let Some(payload) = received {
            self.receive(now, end, datagram, payload);
        }
    }

    /// The connection is open: the client's session begins.
    pub(super) fn start_over_dccp(&mut self, now: Instant, end: EndId, by: StepId) {
        if self.conversations[end.conversation()].is_over() {
            return;
        }
        self.begin_step(now, end, Cause::Read { by });
        self.ends[end].session.start(to_std(now));
        self.after_call(now, end);
    }

    /// A session sends a datagram. One that finds the send queue full is lost, and so is one that finds the connection closed. After
    /// the end of its conversation an end sends nothing.
    pub(super) fn send_over_dccp(&mut self, now: Instant, end: EndId, phase: Phase, payload: Payload) {
        let Some(dccp) = self.ends[end].dccp.as_mut().filter(|_| !self.conversations[end.conversation()].is_over())
        else {
            return;
        };
        match dccp.connection.send(Datagram { phase, payload }) {
            Ok(()) => {}
            Err(SendError::Full(datagram)) => self.lose_unsent(now, end, datagram, DropReason::SendQueueFull),
            Err(SendError::Closed(datagram)) => self.lose_unsent(now, end, datagram, DropReason::ConnectionClosed),
        }
        self.transmit_dccp(now, end);
        self.finish_dccp(now, end);
    }

    /// A datagram of a session is lost before it leaves its host.
    fn lose_unsent(&mut self, now: Instant, end: EndId, datagram: Datagram, reason: DropReason) {
        let phase = datagram.phase.max(self.conversations[end.conversation()].phase());
        let id = self.ledger.sent(end, phase, &datagram.payload);
        let (host, holders) = (self.ends[end].host, Holders::default());
        if let Some(trace) = &mut self.trace {
            trace.send(now, end, id, &datagram.payload);
            trace.lose(Lost { at: now, datagram: id, host, reason, holders });
        }
        self.ledger.lost(id, reason, host, holders);
    }

    /// The session of an end closes: its connection is to close behind what the session still makes.
    pub(super) fn begin_finishing_dccp(&mut self, end: EndId) {
        if let Some(dccp) = &mut self.ends[end].dccp {
            dccp.is_finishing = true;
        }
    }

    /// Closes the connection of a session that has closed, if the session has made all.
    pub(super) fn finish_dccp(&mut self, now: Instant, end: EndId) {
        let has_unsent = self.ends[end].has_unsent();
        if let Some(dccp) = self.ends[end].dccp.as_mut().filter(|dccp| dccp.is_finishing && !has_unsent) {
            dccp.is_finishing = false;
            dccp.connection.close();
            self.transmit_dccp(now, end);
        }
    }

    /// A timer of the connection fires.
    pub(super) fn handle_dccp_timeout(&mut self, now: Instant, end: EndId) {
        let is_shut_down = self.is_shut_down(end);
        let Some(dccp) = self.ends[end].dccp.as_mut().filter(|dccp| dccp.timer == Some(now)) else { return };
        dccp.timer = None;
        if is_shut_down {
            return;
        }
        dccp.connection.handle_timeout(now);
        self.note(|trace| trace.expire(now, end, Timer::Dccp));
        self.transmit_dccp(now, end);
    }

    /// Hands the packets that the connection sends to the network. The clock of the handshake starts with the client's
    /// Request. Packets that are sent after the end of the conversation, such as the last acknowledgement, are not
    /// accounted.
    pub(super) fn transmit_dccp(&mut self, now: Instant, end: EndId) {
        let is_over = self.conversations[end.conversation()].is_over();
        let mut events = std::mem::take(&mut self.network_events);
        let mut packet = std::mem::take(&mut self.segment);
        while let Some(dccp) = &mut self.ends[end].dccp {
            let room = Ipv6Header::LENGTH + dccp.connection.max_packet_len();
            packet.resize(room.max(packet.len()), 0); // what is there is written over: it need not be cleared
            let Some(transmit) = dccp.connection.poll_transmit(now, &mut packet[Ipv6Header::LENGTH..]) else { break };
            self.begin(now, end.conversation());
            let packet = &mut packet[..Ipv6Header::LENGTH + transmit.len];
            packet[..Ipv6Header::LENGTH].copy_from_slice(&self.header(end, transmit.len, transmit.ecn).emit());
            let id = if is_over { NO_DATAGRAM } else { self.account_dccp(now, end, transmit) };
            if let Err(error) = self.network.send_packet(now, packet, id, &mut events) {
                self.refused(id, end, &error);
            }
        }
        self.segment = packet;
        while let Some(datagram) = self.ends[end].dccp.as_mut().and_then(|dccp| dccp.connection.poll_dropped()) {
            if !is_over {
                self.lose_unsent(now, end, datagram, DropReason::ConnectionClosed);
            }
        }
        self.arm_dccp(now, end);
        self.handle_network_events(now, &mut events);
        self.network_events = events;
    }

    fn header(&self, end: EndId, length: usize, ecn: Ecn) -> Ipv6Header {
        let End { local, peer, .. } = self.ends[end];
        Ipv6Header {
            traffic_class: ecn as u8,
            flow_label: 0,
            payload_length: length as u16, // a datagram of a session is shorter than 2^16 less the headers
            next_header: next_header::DCCP,
            hop_limit: Ipv6Header::DEFAULT_HOP_LIMIT,
            source: local.address,
            destination: peer.address,
        }
    }

    /// Enters a packet into the account.
    fn account_dccp(&mut self, now: Instant, end: EndId, transmit: Transmit<Datagram>) -> DatagramId {
        let of_conversation = self.conversations[end.conversation()].phase();
        let is_control = transmit.datagram.is_none();
        let (phase, payload) = match transmit.datagram {
            Some(Datagram { phase, payload }) => (phase.max(of_conversation), payload),
            None => (of_conversation, Payload::default()),
        };
        let id = match transmit.body {
            Body::Request { .. } | Body::Response { .. } => self.ledger.sent_opening(end, phase),
            _ => self.ledger.sent(end, phase, &payload),
        };
        if let Some(trace) = &mut self.trace {
            trace.send(now, end, id, &payload);
            if is_control {
                trace.name_control(id, transmit.body.name());
            }
        }
        id
    }

    /// Sets the timer of the connection, and ends the conversation if the connection has failed.
    fn arm_dccp(&mut self, now: Instant, end: EndId) {
        let Some(dccp) = &mut self.ends[end].dccp else { return };
        let deadline = dccp.connection.deadline().map(|at| at.max(now));
        if deadline != dccp.timer {
            dccp.timer = deadline;
            self.set_connection_timer(end, Timer::Dccp, deadline, Event::DccpTimeout { end });
        }
        let Some(dccp) = &mut self.ends[end].dccp else { return };
        if let Some(error) = dccp.connection.error()
            && !std::mem::replace(&mut dccp.has_failed, true)
        {
            let (timed_out, reason) = (matches!(error, ConnectionError::TimedOut), error.to_string());
            self.connection_failed(now, end, timed_out, reason);
        }
    }
}
