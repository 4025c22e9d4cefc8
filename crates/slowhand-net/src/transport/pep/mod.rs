//! A performance enhancing proxy for TCP (RFC 3135) at the border router.
//!
//! Each connection across the border is split in two (RFC 3135 section 2.4). The [`Proxy`] answers each end in the name
//! of the other, with its address and port, so that neither knows of it; sequence numbers, window, MSS and timers are
//! of each leg its own. What an end sends is acknowledged when it reaches the border router, and kept until the other
//! end has acknowledged it too: what the mesh loses is sent again from there.
//!
//! The retransmission timer into the mesh is computed from the schedule and the number of fragments (Claeys et al.
//! 2021, section 5): a [`Path`] tells the round trip of what is on its way, and a measurement of smaller segments
//! does not shorten it.
//!
//! A SYN is answered at once, and passed on at the same time. Should the other end then refuse, the opener's
//! connection is reset. FIN and RST are passed on. As with every split connection an acknowledgment no longer says
//! that the other end has the data (RFC 3135 section 4.1); TLS on top of it does not mind, and is not touched.

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

/// Octets that are passed from one leg to the other in one go.
const RELAY: usize = 2_048;

/// The connections that cross a border router.
///
/// The rule of use is that of a [`Connection`](super::tcp::Connection): after each call of
/// [`handle_segment`](Self::handle_segment) or [`handle_timeout`](Self::handle_timeout), call
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`, then ask for the [`deadline`](Self::deadline).
#[derive(Debug)]
pub struct Proxy {
    config: ProxyConfig,
    /// Initial sequence numbers.
    random: Stream,
    /// In the order in which they were opened.
    flows: Vec<Flow>,
    /// The answer to a segment of no connection.
    reset: Option<(TcpAddresses, Segment<'static>)>,
    relay: Box<[u8; RELAY]>,
}

/// Source and destination.
type TcpAddresses = (Ipv6Addr, Ipv6Addr);

/// A segment that was written to the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// In whose name.
    pub source: Ipv6Addr,
    /// To whom.
    pub destination: Ipv6Addr,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Its octets.
    pub length: usize,
}

impl Proxy {
    /// A proxy without connections, which draws its initial sequence numbers from `random`.
    pub fn new(config: ProxyConfig, random: Stream) -> Self {
        Self { config, random, flows: Vec::new(), reset: None, relay: Box::new([0; RELAY]) }
    }

    /// Takes in a segment that comes from an end on `side` and is meant for the other.
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
                self.reset = reply.map(|reply| ((packet.destination, packet.source), reply));
                Ok(())
            }
        }
    }

    /// Makes ready for a SYN, unless it is one that comes again.
    fn open(&mut self, side: Side, source: Endpoint, destination: Endpoint) {
        let known = |flow: &Flow| flow.is_of(side, source, destination);
        if self.flows.iter().any(|flow| known(flow) && !flow.is_over()) {
            return;
        }
        self.flows.retain(|flow| !known(flow));
        let initial_seqs = [(); 2].map(|()| SeqNumber(self.random.below(1 << 32) as u32));
        self.flows.extend(Flow::open(&self.config, side, source, destination, initial_seqs));
    }

    /// Writes the next segment to `out`, which has room for [`max_segment_len`](Self::max_segment_len) octets; a
    /// smaller buffer gets nothing. Call it until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant, path: &impl Path, out: &mut [u8]) -> Option<Transmit> {
        if let Some(((source, destination), segment)) = self.reset.take() {
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

    /// How many connections there are, those that only wait to be forgotten included.
    pub fn connections(&self) -> usize {
        self.flows.len()
    }

    /// What its connection to an end on `side` has done; `local` is in whose name, `remote` the end.
    pub fn statistics(&self, side: Side, local: Endpoint, remote: Endpoint) -> Option<&super::tcp::Statistics> {
        self.flows.iter().find(|flow| flow.is_of(side, remote, local)).map(|flow| flow.leg(side).statistics())
    }
}
