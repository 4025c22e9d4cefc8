//! Frames whose loss the scenario asks for. The decision falls when the MAC gets the frame. The MAC sends it like any
//! other, and its receiver discards it.

use super::config::{LossSpread, NetworkConfig};
use crate::address::{Host, NodeId};
use crate::clock::{Duration, Instant};
use crate::datagram::DatagramId;
use crate::lowpan::is_fragment;
use crate::random::{Probability, Stream, Streams};
use std::collections::VecDeque;
use std::net::Ipv6Addr;

/// Decides which frame payloads are lost.
#[derive(Debug)]
pub(super) struct Losses {
    /// The probability that a fragment is lost, at every hop.
    of_fragment: Probability,
    /// The probability that another frame payload is lost, at every hop.
    of_other: Probability,
    /// The numbers of single frame payloads that are lost, in ascending order.
    chosen: Vec<u64>,
    /// The random stream of each node.
    random: Vec<Stream>,
    /// The number of frame payloads so far.
    frames: u64,
    /// The latest datagrams, the newest last, if losses spread over flights.
    flights: Option<VecDeque<Member>>,
}

/// The number of datagrams that are remembered (assumed: nothing of older ones is still on its way).
const REMEMBERED: usize = 1024;

/// The longest pause between two datagrams of a flight (assumed): a device encrypts its Finished after it has sent the
/// rest. A round trip takes longer than this.
const PAUSE: Duration = Duration::from_millis(50);

/// A datagram of a flight.
#[derive(Clone, Copy, Debug)]
struct Member {
    datagram: DatagramId,
    /// Source and destination.
    ends: (Host, Ipv6Addr),
    sent: Instant,
    /// When the first datagram of its flight was sent. It identifies the flight.
    flight: Instant,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing is lost.
    Whole,
    /// A frame of this node is lost. All its later ones are lost too.
    CutAt(NodeId),
    /// An earlier datagram of the flight was cut. All frames of this one are lost.
    Gone,
}

impl Losses {
    pub(super) fn new(config: &NetworkConfig, nodes: usize, streams: &Streams) -> Self {
        Self {
            of_fragment: of_fragment(config.fragment_loss, config.frame_loss),
            of_other: config.frame_loss,
            chosen: config.dropped_frames.clone(),
            random: (0..nodes as u64).map(|node| streams.stream("fragment loss", node)).collect(),
            frames: 0,
            flights: (config.loss_spread == LossSpread::Flight).then(|| VecDeque::with_capacity(REMEMBERED)),
        }
    }

    /// Changes the probabilities for the next frame payloads.
    pub(super) fn set(&mut self, fragment_loss: Probability, frame_loss: Probability) {
        (self.of_fragment, self.of_other) = (of_fragment(fragment_loss, frame_loss), frame_loss);
    }

    /// Notes that a host sends a datagram.
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

    /// True if the next frame payload, which `node` sends, is lost.
    pub(super) fn takes(&mut self, node: NodeId, datagram: DatagramId, payload: &[u8]) -> bool {
        self.frames += 1;
        let chosen = self.chosen.binary_search(&self.frames).is_ok();
        let probability = if is_fragment(payload) { self.of_fragment } else { self.of_other };
        let taken = self.random[node.index()].happens(probability) || chosen;
        let Some(flights) = &mut self.flights else { return taken };
        let Some(index) = flights.iter().rposition(|member| member.datagram == datagram) else { return taken };
        let Member { ends, flight, fate, .. } = flights[index];
        if taken && fate == Fate::Whole {
            flights[index].fate = Fate::CutAt(node);
            let later = flights.range_mut(index + 1..).filter(|member| (member.ends, member.flight) == (ends, flight));
            later.for_each(|member| member.fate = Fate::Gone);
        }
        taken || fate == Fate::CutAt(node) || fate == Fate::Gone
    }
}

/// A fragment is exposed to both losses.
fn of_fragment(fragment_loss: Probability, frame_loss: Probability) -> Probability {
    frame_loss.or(fragment_loss)
}
