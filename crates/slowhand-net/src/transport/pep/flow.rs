//! One TCP connection, split in two.

use super::config::{ProxyConfig, rto};
use crate::address::{Host, NodeId};
use crate::clock::Instant;
use crate::ip::{Endpoint, Ipv6Header, TcpPacket};
use crate::transport::Path;
use crate::transport::tcp::{Connection, ConnectionError, HEADER_LEN, SegmentError, SeqNumber, State, Transmit};

/// The octets of options that the estimate assumes for a segment into the mesh: two SACK blocks, padded (RFC 2018
/// section 3).
const OPTIONS: usize = 20;

/// The most octets of a segment into the mesh without data, in its packet.
const HEADERS: usize = Ipv6Header::LENGTH + HEADER_LEN + OPTIONS;

/// The side of the border router on which an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In the mesh.
    Mesh,
    /// On the Internet.
    Internet,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Mesh, Self::Internet];

    /// The other side.
    pub const fn other(self) -> Self {
        match self {
            Self::Mesh => Self::Internet,
            Self::Internet => Self::Mesh,
        }
    }
}

/// One connection to each end, with the address and port of the other end.
#[derive(Debug)]
pub(super) struct Flow {
    node: NodeId,
    /// By [`Side`].
    legs: [Connection; 2],
}

impl Flow {
    /// The flow that a SYN from `opener`, on `side`, to `target` opens. None if there is no node at the mesh end, or
    /// the configuration of a leg is not valid.
    pub(super) fn open(
        config: &ProxyConfig,
        side: Side,
        opener: Endpoint,
        target: Endpoint,
        initial_seqs: [SeqNumber; 2],
    ) -> Option<Self> {
        let of_node = match side {
            Side::Mesh => opener,
            Side::Internet => target,
        };
        let Some(Host::Node(node)) = Host::of_address(of_node.address) else { return None };
        let leg_config = |side| match side {
            Side::Mesh => &config.mesh,
            Side::Internet => &config.internet,
        };
        let near = Connection::listen(leg_config(side), target, initial_seqs[0]).ok()?;
        let far = Connection::connect(leg_config(side.other()), opener, target, initial_seqs[1]).ok()?;
        let legs = match side {
            Side::Mesh => [near, far],
            Side::Internet => [far, near],
        };
        Some(Self { node, legs })
    }

    pub(super) fn leg(&self, side: Side) -> &Connection {
        &self.legs[side as usize]
    }

    fn leg_mut(&mut self, side: Side) -> &mut Connection {
        &mut self.legs[side as usize]
    }

    /// True if a segment from `source` on `side` to `destination` belongs to this flow.
    pub(super) fn is_of(&self, side: Side, source: Endpoint, destination: Endpoint) -> bool {
        self.leg(side).local() == destination && self.leg(side.other()).local() == source
    }

    /// True if the ends may open a new connection between the same ports.
    pub(super) fn is_over(&self) -> bool {
        self.legs.iter().all(|leg| matches!(leg.state(), State::Closed | State::TimeWait))
    }

    /// True if both legs are closed. Call it only when there is nothing left to transmit.
    pub(super) fn is_closed(&self) -> bool {
        self.legs.iter().all(|leg| leg.state() == State::Closed)
    }

    pub(super) fn handle_segment(
        &mut self,
        now: Instant,
        side: Side,
        packet: TcpPacket<'_>,
        buffer: &mut [u8],
    ) -> Result<(), SegmentError> {
        self.leg_mut(side).handle_segment(now, packet.source, packet.ecn, packet.segment)?;
        self.relay(buffer);
        Ok(())
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.legs.iter().filter_map(Connection::deadline).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, buffer: &mut [u8]) {
        for leg in &mut self.legs {
            leg.handle_timeout(now);
        }
        self.relay(buffer);
    }

    /// Writes the next segment to an end.
    pub(super) fn poll_transmit(&mut self, now: Instant, path: &impl Path, out: &mut [u8]) -> Option<(Side, Transmit)> {
        self.set_timer(path);
        let segment = HEADERS + self.leg(Side::Mesh).segment_size() as usize;
        let may_send = |side: &Side| *side == Side::Internet || path.has_room(self.node, segment);
        let sides = Side::BOTH.map(|side| Some(side).filter(may_send));
        sides.into_iter().flatten().find_map(|side| Some((side, self.leg_mut(side).poll_transmit(now, out)?)))
    }

    /// Sets the retransmission timer towards the node to the round trip, by the schedule, of the data in flight and to
    /// send.
    fn set_timer(&mut self, path: &impl Path) {
        let mesh = self.leg(Side::Mesh);
        let octets = mesh.unacknowledged().min(mesh.congestion_window());
        let segment = mesh.segment_size().max(1);
        let (packets, payload) = (octets.div_ceil(segment).max(1), octets.min(segment));
        let there = path.downward(self.node, packets.into(), HEADERS + payload as usize);
        let round_trip = there + path.upward(self.node, HEADERS);
        // It cannot fail: `rto` gives only values in the range that a connection accepts.
        let _ = self.leg_mut(Side::Mesh).set_rto(rto(round_trip));
    }

    /// Relays received data between both legs as far as the send buffers have room, then FIN and RST.
    fn relay(&mut self, buffer: &mut [u8]) {
        let [mesh, internet] = &mut self.legs;
        relay(mesh, internet, buffer);
        relay(internet, mesh, buffer);
    }
}

fn relay(from: &mut Connection, to: &mut Connection, buffer: &mut [u8]) {
    loop {
        let room = to.writable().min(buffer.len());
        let Ok(count @ 1..) = from.read(&mut buffer[..room]) else { break };
        // It cannot fail: `writable` has said that there is room.
        let _ = to.write(&buffer[..count]);
    }
    if from.at_end() {
        to.close();
    }
    if from.error().is_some_and(|error| error != ConnectionError::Aborted) {
        to.abort();
    }
}
