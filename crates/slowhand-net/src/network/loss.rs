//! Frames that the scenario drops before they reach the MAC.

use super::config::{LossSpread, NetworkConfig};
use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::random::{Probability, Stream, Streams};
use std::collections::VecDeque;
use std::net::Ipv6Addr;

/// Draws what is dropped.
#[derive(Debug)]
pub(super) struct Losses {
    /// The probability that a frame's payload is dropped, at every hop.
    probability: Probability,
    /// Single frames that are dropped, by their number; in ascending order.
    chosen: Vec<u64>,
    /// By node.
    random: Vec<Stream>,
    /// Frames that have come to the MAC so far.
    frames: u64,
    /// Where losses spread over flights: the last datagrams, the newest last.
    flights: Option<VecDeque<Member>>,
}

/// How many datagrams are remembered with their flights (assumed; of older ones nothing is on its way any more).
const REMEMBERED: usize = 1024;

/// The longest that a host computes between two datagrams of a flight (assumed): a device encrypts its Finished after the
/// rest has left, and a round trip takes longer.
const PAUSE: Duration = Duration::from_millis(50);

/// A datagram of a flight.
#[derive(Clone, Copy, Debug)]
struct Member {
    datagram: DatagramId,
    /// From whom and to whom.
    ends: (Host, Ipv6Addr),
    sent: Instant,
    /// When the first of its flight was sent.
    flight: Instant,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing before it was lost.
    Whole,
    /// A fragment of it was lost at a node: from there on nothing follows.
    CutAt(NodeId),
    /// One before it was lost.
    Gone,
}

impl Losses {
    pub(super) fn new(config: &NetworkConfig, nodes: usize, streams: &Streams) -> Self {
        Self {
            probability: config.fragment_loss,
            chosen: config.dropped_frames.clone(),
            random: (0..nodes as u64).map(|node| streams.stream("fragment loss", node)).collect(),
            frames: 0,
            flights: (config.loss_spread == LossSpread::Flight).then(|| VecDeque::with_capacity(REMEMBERED)),
        }
    }

    /// A host gives a datagram to the network, for another one.
    pub(super) fn sent(&mut self, now: Instant, from: Host, to: Ipv6Addr, datagram: DatagramId) {
        let Some(flights) = &mut self.flights else { return };
        let ends = (from, to);
        let is_before = |member: &&Member| member.ends == ends && now.since(member.sent) <= PAUSE;
        let before = flights.iter().rev().find(is_before).copied();
        if flights.len() == REMEMBERED {
            flights.pop_front();
        }
        let is_whole = before.is_none_or(|before| before.fate == Fate::Whole);
        let fate = if is_whole { Fate::Whole } else { Fate::Gone };
        let flight = before.map_or(now, |before| before.flight);
        flights.push_back(Member { datagram, ends, sent: now, flight, fate });
    }

    /// Whether the next frame, which `node` sends, is dropped.
    pub(super) fn drops(&mut self, node: NodeId, datagram: DatagramId) -> bool {
        self.frames += 1;
        let chosen = self.chosen.binary_search(&self.frames).is_ok();
        let dropped = self.random[node.index()].happens(self.probability) || chosen;
        let Some(flights) = &mut self.flights else { return dropped };
        let Some(index) = flights.iter().rposition(|member| member.datagram == datagram) else { return dropped };
        let Member { ends, flight, fate, .. } = flights[index];
        if dropped && fate == Fate::Whole {
            flights[index].fate = Fate::CutAt(node);
            let later = flights.range_mut(index + 1..).filter(|member| (member.ends, member.flight) == (ends, flight));
            later.for_each(|member| member.fate = Fate::Gone);
        }
        dropped || fate == Fate::CutAt(node) || fate == Fate::Gone
    }
}
