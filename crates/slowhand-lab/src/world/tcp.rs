//! TCP below the sessions: segments and timers of each end's connection, and what its session reads and writes.
//!
//! TCP works independently of the session: it acknowledges a segment while the device computes, unless the scenario
//! says that the network stack waits too. Data that arrived in order stays in the receive buffer until the session
//! takes it. Until then it makes the announced window smaller.

use super::end::{End, Work};
use super::trace::{Cause, StepId, Timer};
use super::{Event, World, to_std};
use crate::ids::EndId;
use slowhand_net::address::Host;
use slowhand_net::clock::Instant;
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::ip::{Ecn, Endpoint, TcpPacket};
use slowhand_net::transport::tcp::{ConnectionError, Segment};
use slowhand_sessions::Role;
use std::net::Ipv6Addr;

impl World<'_> {
    /// The end to which a segment is addressed, which arrived at a host.
    pub(super) fn receiver(&self, host: Host, packet: &TcpPacket<'_>) -> Option<EndId> {
        let [source, destination] = end_points(packet)?;
        self.end_at(host, destination, source)
    }

    /// The end in whose name a segment is sent.
    pub(super) fn sender(&self, packet: &TcpPacket<'_>) -> Option<EndId> {
        let [source, destination] = end_points(packet)?;
        self.end_at(Host::of_address(source.address)?, source, destination)
    }

    /// A segment arrived at an end.
    pub(super) fn receive_segment(&mut self, now: Instant, end: EndId, datagram: DatagramId, packet: &TcpPacket<'_>) {
        let waits = self.ends[end].stream.as_ref().is_some_and(|stream| stream.waits_while_computing);
        if waits && self.is_busy(now, end) {
            let segment = packet.segment.to_vec();
            let TcpPacket { source, ecn, .. } = *packet;
            return self.defer(end, Work::Segment { end, datagram, arrived: now, source, ecn, segment });
        }
        self.begin_step(now, end, Cause::Arrival { datagram, at: now });
        self.take_segment(now, end, packet.source, packet.ecn, packet.segment);
    }

    /// The connection takes a segment: it answers first, and then the session gets what is in it.
    pub(super) fn take_segment(&mut self, now: Instant, end: EndId, source: Ipv6Addr, ecn: Ecn, segment: &[u8]) {
        if !self.admits(now, end, segment) {
            return;
        }
        let Some(stream) = &mut self.ends[end].stream else { return };
        if stream.connection.handle_segment(now, source, ecn, segment).is_ok() {
            stream.fill();
            self.transmit(now, end);
            self.serve(now, end);
        }
    }

    /// The session wrote something.
    pub(super) fn write(&mut self, now: Instant, end: EndId, octets: &[u8]) {
        let Some(stream) = &mut self.ends[end].stream else { return };
        stream.write(octets);
        self.note(|trace| trace.write(octets));
        self.transmit(now, end);
    }

    /// A timer of TCP fires.
    pub(super) fn handle_stream_timeout(&mut self, now: Instant, end: EndId) {
        let busy_until = self.computers[self.ends[end].computer].busy_until;
        let Some(stream) = &mut self.ends[end].stream else { return };
        if stream.timer != Some(now) {
            return; // it was stopped or set again
        }
        stream.timer = None;
        if self.is_shut_down(end) {
            return;
        }
        let Some(stream) = &mut self.ends[end].stream else { return };
        if stream.waits_while_computing && busy_until > now {
            stream.timer = Some(busy_until);
            return self.events.push(busy_until, Event::StreamTimeout { end });
        }
        stream.connection.handle_timeout(now);
        self.note(|trace| trace.expire(now, end, Timer::Stream));
        self.transmit(now, end);
    }

    /// Gives the session what waits for it, as soon as its computer is free.
    pub(super) fn serve(&mut self, now: Instant, end: EndId) {
        let by = self.step_number();
        if self.is_busy(now, end) {
            let Some(stream) = &mut self.ends[end].stream else { return };
            if stream.is_ready() && !stream.is_read_waiting {
                stream.is_read_waiting = true;
                self.defer(end, Work::Read { end, by });
            }
            return;
        }
        self.read(now, end, by);
    }

    /// The session learns that the connection is open, and takes what has arrived.
    pub(super) fn read(&mut self, now: Instant, end: EndId, by: StepId) {
        self.begin_step(now, end, Cause::Read { by });
        let End { stream: Some(stream), session, .. } = &mut self.ends[end] else { return };
        stream.is_read_waiting = false;
        let opens = stream.becomes_open();
        if opens && end.role() == Role::Client {
            session.start(to_std(now));
        }
        let takes_input = session.takes_input();
        let mut octets = vec![0; if takes_input { stream.connection.readable() } else { 0 }];
        let count = stream.connection.read(&mut octets).unwrap_or(0);
        if count > 0 {
            session.handle_input(to_std(now), &octets[..count]);
        }
        self.transmit(now, end); // reading opens the window
        self.after_call(now, end);
    }

    /// Hands the segments that the connection sends to the network. The clock of the handshake starts with the client's
    /// SYN. Segments that are sent after the end of the conversation, such as the last acknowledgement, are not
    /// accounted.
    pub(super) fn transmit(&mut self, now: Instant, end: EndId) {
        let is_over = self.conversations[end.conversation()].is_over();
        let mut events = std::mem::take(&mut self.network_events);
        let mut segment = std::mem::take(&mut self.segment);
        while let Some(stream) = &mut self.ends[end].stream {
            segment.resize(stream.connection.max_segment_len(), 0);
            let Some(transmit) = stream.connection.poll_transmit(now, &mut segment) else { break };
            self.begin(now, end.conversation());
            let End { local, peer, .. } = self.ends[end];
            let octets = &segment[..transmit.len];
            let phase = self.ends[end].phase.max(self.conversations[end.conversation()].phase());
            let id = match (is_over, &self.outside) {
                (false, _) => self.ledger.sent_segment(end, phase, octets),
                (true, None) => NO_DATAGRAM,
                (true, Some(_)) => self.ledger.sent_by_none(), // it arrives: the other end may be a program
            };
            self.note(|trace| trace.send(now, end, id, &octets.into()));
            let packet =
                TcpPacket { source: local.address, destination: peer.address, ecn: transmit.ecn, segment: octets };
            if let Err(error) = self.network.send_segment(now, packet, id, &mut events) {
                self.refused(id, end, &error);
            }
        }
        self.segment = segment;
        self.arm_stream(now, end);
        self.handle_network_events(now, &mut events);
        self.network_events = events;
    }

    /// Sets the timer of the connection, and ends the conversation if the connection has failed.
    fn arm_stream(&mut self, now: Instant, end: EndId) {
        let Some(stream) = &mut self.ends[end].stream else { return };
        let deadline = stream.connection.deadline().map(|at| at.max(now));
        if deadline != stream.timer {
            stream.timer = deadline;
            self.set_connection_timer(end, Timer::Stream, deadline, Event::StreamTimeout { end });
        }
        let Some(stream) = &mut self.ends[end].stream else { return };
        if let Some(error) = stream.connection.error()
            && !std::mem::replace(&mut stream.has_failed, true)
        {
            let (timed_out, reason) = (matches!(error, ConnectionError::TimedOut), error.to_string());
            self.connection_failed(now, end, timed_out, reason);
        }
    }
}

/// The source and the destination of a segment.
fn end_points(packet: &TcpPacket<'_>) -> Option<[Endpoint; 2]> {
    let segment = Segment::parse(packet.segment).ok()?;
    Some([
        Endpoint::new(packet.source, segment.source_port),
        Endpoint::new(packet.destination, segment.destination_port),
    ])
}
