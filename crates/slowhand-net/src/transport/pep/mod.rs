//! A performance enhancing proxy for TCP (RFC 3135) at the border router.
//!
//! The [`Proxy`] splits each connection across the border router into two legs (RFC 3135 section 2.4). It answers each
//! end with the address and port of the other end, so neither end knows of the proxy. Each leg has its own sequence
//! numbers, window, MSS and timers. The proxy acknowledges data when it reaches the border router, and keeps it until
//! the other end has acknowledged it. So lost data is sent again from the border router.
//!
//! The proxy computes the retransmission timer into the mesh from the schedule and the number of fragments (Claeys et
//! al. 2021, section 5). A [`Path`] gives the round trip of the data in flight. Measurements with smaller segments do
//! not make the timer shorter.
//!
//! The proxy answers a SYN at once, and opens the other leg at the same time. If the other end refuses, the proxy
//! resets the first leg. It relays FIN and RST. As with every split connection, an acknowledgement does not mean that
//! the other end has the data (RFC 3135 section 4.1). TLS above TCP does not depend on that, and passes unchanged.

mod config;
mod flow;

pub use config::ProxyConfig;
pub use flow::Side;

use super::Path;
use super::tcp::{Flags, Segment, SegmentError, SeqNumber, checksum_holds};
use crate::clock::Instant;
use crate::ip::{Ecn, Endpoint, TcpPacket};
use crate::random::Stream;
use flow::Flow;
use std::net::Ipv6Addr;

/// The octets that are relayed from one leg to the other at a time.
const RELAY: usize = 2_048;

/// All TCP connections that cross a border router.
///
/// Use it like a [`Connection`](super::tcp::Connection): after each call of
/// [`handle_segment`](Self::handle_segment) or [`handle_timeout`](Self::handle_timeout), call
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`, then ask for the [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Proxy {
    config: ProxyConfig,
    /// The source of initial sequence numbers.
    random: Stream,
    /// In the order in which they were opened.
    flows: Vec<Flow>,
    /// The reset that answers a segment of no connection, with its source and destination.
    reset: Option<([Ipv6Addr; 2], Segment<'static>)>,
    relay: Box<[u8; RELAY]>,
}

/// A segment that was written to the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The source address: that of the other end.
    pub source: Ipv6Addr,
    /// The destination address.
    pub destination: Ipv6Addr,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The octets of the segment.
    pub length: usize,
}

impl Proxy {
    /// A proxy without connections. It draws initial sequence numbers from `random`.
    pub fn new(config: ProxyConfig, random: Stream) -> Self {
        Self { config, random, flows: Vec::new(), reset: None, relay: Box::new([0; RELAY]) }
    }

    /// Handles a segment from an end on `side` to the other end.
    ///
    /// # Errors
    /// Why the segment was dropped without effect.
    pub fn handle_segment(&mut self, now: Instant, side: Side, packet: TcpPacket<'_>) -> Result<(), SegmentError> {
        let segment = Segment::parse(packet.segment)?;
        if !checksum_holds(packet.source, packet.destination, packet.segment) {
            return Err(SegmentError::Checksum);
        }
        let source = Endpoint::new(packet.source, segment.source_port);
        let destination = Endpoint::new(packet.destination, segment.destination_port);
        if segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST | Flags::FIN) {
            self.open(side, source, destination);
        }
        match self.flows.iter_mut().find(|flow| flow.is_of(side, source, destination)) {
            Some(flow) => flow.handle_segment(now, side, packet, &mut *self.relay),
            None => {
                let reply = segment.reset_reply();
                self.reset = reply.map(|reply| ([packet.destination, packet.source], reply));
                Ok(())
            }
        }
    }

    /// Opens a flow for a SYN, unless the SYN is a retransmission.
    fn open(&mut self, side: Side, source: Endpoint, destination: Endpoint) {
        let known = |flow: &Flow| flow.is_of(side, source, destination);
        if self.flows.iter().any(|flow| known(flow) && !flow.is_over()) {
            return;
        }
        self.flows.retain(|flow| !known(flow));
        let initial_seqs = [(); 2].map(|()| SeqNumber(self.random.below(1 << 32) as u32));
        self.flows.extend(Flow::open(&self.config, side, source, destination, initial_seqs));
    }

    /// Writes the next segment to `out`. Call it until it returns `None`. If `out` is smaller than
    /// [`max_segment_len`](Self::max_segment_len), it writes nothing.
    pub fn poll_transmit(&mut self, now: Instant, path: &impl Path, out: &mut [u8]) -> Option<Transmit> {
        if let Some(([source, destination], segment)) = self.reset.take() {
            let length = segment.emit(source, destination, out).ok()?;
            return Some(Transmit { source, destination, ecn: Ecn::NotCapable, length });
        }
        for flow in &mut self.flows {
            if let Some((side, transmit)) = flow.poll_transmit(now, path, out) {
                let (source, peer) = (flow.leg(side).local(), flow.leg(side.other()).local());
                let destination = peer.address;
                return Some(Transmit { source: source.address, destination, ecn: transmit.ecn, length: transmit.len });
            }
        }
        self.flows.retain(|flow| !flow.is_closed());
        None
    }

    /// The longest segment that [`poll_transmit`](Self::poll_transmit) can write.
    pub fn max_segment_len(&self) -> usize {
        self.flows.iter().flat_map(|flow| Side::BOTH.map(|side| flow.leg(side).max_segment_len())).max().unwrap_or(64)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.flows.iter().filter_map(Flow::deadline).min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        for flow in self.flows.iter_mut().filter(|flow| flow.deadline().is_some_and(|deadline| deadline <= now)) {
            flow.handle_timeout(now, &mut *self.relay);
        }
    }

    /// The number of connections, including those in TIME-WAIT.
    pub fn connections(&self) -> usize {
        self.flows.len()
    }

    /// The statistics of the leg to the end `remote` on `side`; `local` is the address that the proxy uses on this leg.
    pub fn statistics(&self, side: Side, local: Endpoint, remote: Endpoint) -> Option<&super::tcp::Statistics> {
        self.flows.iter().find(|flow| flow.is_of(side, remote, local)).map(|flow| flow.leg(side).statistics())
    }
}
