//! Links: which node receives which other node, and with what probability. The probability may change with time
//! ([`Variation`]).

mod alternating;
mod capture;
mod course;
mod variation;

use crate::address::NodeId;
use crate::clock::Instant;
use crate::random::{Probability, Stream, Streams};
use capture::Powers;
use std::ops::Range;
use std::sync::Arc;
use variation::Varying;

pub(crate) use variation::OneLink;

pub use capture::Capture;
pub use course::Course;
pub use variation::{GilbertElliott, Interferer, Variation};

/// The quality of a link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkQuality {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The probability that a data frame arrives, on channels that `channels` does not list.
    /// With zero, frames of the sender only disturb other frames.
    pub data: f64,
    /// The probability that an acknowledgement arrives.
    pub ack: f64,
    /// Delivery ratios of single channels (11..=26), for data frames and acknowledgements alike.
    pub channels: Vec<(u8, f64)>,
}

impl LinkQuality {
    /// The two directions of a link with one delivery ratio for data and acknowledgements.
    pub fn symmetric(a: NodeId, b: NodeId, pdr: f64) -> [Self; 2] {
        let link = |from, to| Self { from, to, data: pdr, ack: pdr, channels: Vec::new() };
        [link(a, b), link(b, a)]
    }
}

/// The kinds of frames that a link distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A data frame, beacon or command.
    Data,
    /// An acknowledgement.
    Ack,
}

/// All links of one radio network.
#[derive(Debug)]
pub struct Links {
    /// The links out of node n.
    of_node: Vec<Outgoing>,
    /// The causes that change links with time. `None` if nothing does.
    varying: Option<Box<Varying>>,
    /// The powers of the links. `None` if frames that overlap are all lost.
    powers: Option<Box<Powers>>,
}

/// The links out of one node.
#[derive(Debug, Default)]
struct Outgoing {
    /// The nodes in range, in ascending order. They are not in `links`, because they are read much more often.
    receivers: Vec<NodeId>,
    /// The link to each of them.
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    ratios: Ratios,
    losses: Stream,
    ack_losses: Stream,
}

/// The ratios of one direction, from a [`LinkQuality`].
#[derive(Debug)]
struct Ratios {
    data: Probability,
    ack: Probability,
    channels: Option<Box<[Option<Probability>; 16]>>,
}

impl Links {
    /// The links between `nodes` nodes. Each direction of each link draws its losses from its own streams.
    pub fn new(nodes: usize, qualities: &[LinkQuality], streams: &Streams) -> Self {
        let mut of_node: Vec<Vec<(NodeId, Link)>> = (0..nodes).map(|_| Vec::new()).collect();
        for quality in qualities {
            let index = u64::from(quality.from.0) << 16 | u64::from(quality.to.0);
            let link = Link {
                ratios: Ratios::of(quality),
                losses: streams.stream("link loss", index),
                ack_losses: streams.stream("acknowledgement loss", index),
            };
            of_node[quality.from.index()].push((quality.to, link));
        }
        let outgoing = |mut links: Vec<(NodeId, Link)>| {
            links.sort_by_key(|&(to, _)| to);
            let (receivers, links) = links.into_iter().unzip();
            Outgoing { receivers, links }
        };
        Self { of_node: of_node.into_iter().map(outgoing).collect(), varying: None, powers: None }
    }

    /// These links, with a delivery that changes with time.
    pub fn varying(mut self, variation: &Arc<Variation>, streams: &Streams) -> Self {
        let receivers = self.of_node.iter().map(|outgoing| &*outgoing.receivers);
        let varying = || Box::new(Varying::new(Arc::clone(variation), receivers, streams));
        self.varying = (!variation.is_empty()).then(varying);
        self
    }

    /// These links, over which a frame may survive others that overlap it.
    pub fn capturing(mut self, capture: &Capture, streams: &Streams) -> Self {
        let receivers = self.of_node.iter().map(|outgoing| &*outgoing.receivers);
        self.powers = Some(Box::new(Powers::new(capture, receivers, streams)));
        self
    }

    /// Sets the delivery ratio of a link in one direction, for data frames and acknowledgements on all channels. It
    /// takes the place of the link's own ratios and of its course over time. Without effect if there is no such link.
    pub fn set_delivery(&mut self, from: NodeId, to: NodeId, pdr: f64) {
        self.set_quality(&LinkQuality { from, to, data: pdr, ack: pdr, channels: Vec::new() });
    }

    /// Sets all that a link is in one direction. It takes the place of its ratios and of its course over time. Without
    /// effect if there is no such link.
    pub fn set_quality(&mut self, quality: &LinkQuality) {
        let Some(position) = self.position(quality.from, quality.to) else { return };
        self.of_node[quality.from.index()].links[position].ratios = Ratios::of(quality);
        if let Some(varying) = &mut self.varying {
            varying.replace(quality.from, quality.to, None);
        }
    }

    /// Gives a link a course over time in one direction, on all channels. It takes the place of the link's ratios and of
    /// its earlier course. Without effect if there is no such link.
    pub fn set_course(&mut self, from: NodeId, to: NodeId, course: Course) {
        if self.hears(from, to) {
            let receivers = self.of_node.iter().map(|outgoing| &*outgoing.receivers);
            // Without causes, nothing is drawn.
            let constant = || Box::new(Varying::new(Arc::default(), receivers, &Streams::new(0)));
            let varying = self.varying.get_or_insert_with(constant);
            varying.replace(from, to, Some(course));
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.of_node.len()
    }

    /// True if frames of `from` reach `to`, even if only as interference.
    pub fn hears(&self, from: NodeId, to: NodeId) -> bool {
        self.position(from, to).is_some()
    }

    /// True if `to` can receive a frame of `from` while all of `others` send too. Those that it does not hear do not
    /// matter.
    #[inline]
    pub fn survives(&self, from: NodeId, to: NodeId, others: impl Iterator<Item = NodeId>) -> bool {
        let mut heard = others.filter_map(|other| Some((other, self.position(other, to)?)));
        match (&self.powers, self.position(from, to)) {
            (Some(powers), Some(position)) => {
                let sum = heard.map(|(other, position)| powers.of(other, position)).sum();
                powers.survives(powers.of(from, position), sum)
            }
            _ => heard.next().is_none(),
        }
    }

    /// True if a frame may survive others.
    pub fn can_capture(&self) -> bool {
        self.powers.is_some()
    }

    /// All nodes that frames of `from` reach.
    pub fn audience(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.of_node[from.index()].receivers.iter().copied()
    }

    /// Draws a random number: true if a frame arrives that no other frame disturbs. It is on the air for this `time`.
    pub fn delivers(&mut self, time: Range<Instant>, from: NodeId, to: NodeId, channel: u8, kind: Kind) -> bool {
        let Some(position) = self.position(from, to) else {
            return false;
        };
        let link = &mut self.of_node[from.index()].links[position];
        let mut probability = link.ratios.probability(channel, kind);
        if let Some(varying) = &mut self.varying {
            probability = varying.probability(probability, time, (from, position, to), channel);
        }
        match kind {
            Kind::Data => link.losses.happens(probability),
            Kind::Ack => link.ack_losses.happens(probability),
        }
    }

    /// The probability that a frame arrives that no other frame disturbs, where nothing changes it with time. It is
    /// zero without a link.
    pub fn probability(&self, from: NodeId, to: NodeId, channel: u8, kind: Kind) -> Probability {
        let link = self.position(from, to).map(|position| &self.of_node[from.index()].links[position]);
        link.map_or(Probability::NEVER, |link| link.ratios.probability(channel, kind))
    }

    /// A copy of one direction of a link on one channel, for data frames. `None` if nothing changes with time.
    pub(crate) fn varying_link(&self, from: NodeId, to: NodeId, channel: u8) -> Option<OneLink> {
        let position = self.position(from, to)?;
        let fixed = self.of_node[from.index()].links[position].ratios.probability(channel, Kind::Data);
        Some(self.varying.as_ref()?.of_link(fixed, (from, position, to), channel))
    }

    /// True if Wi-Fi sends during any part of this time, where this node listens to this channel.
    pub fn is_disturbed(&mut self, time: Range<Instant>, node: NodeId, channel: u8) -> bool {
        self.varying.as_mut().is_some_and(|varying| varying.is_disturbed(time, node, channel))
    }

    fn position(&self, from: NodeId, to: NodeId) -> Option<usize> {
        self.of_node[from.index()].receivers.binary_search(&to).ok()
    }
}

impl Ratios {
    fn of(quality: &LinkQuality) -> Self {
        let mut channels = None;
        for &(channel, pdr) in &quality.channels {
            let table = channels.get_or_insert_with(|| Box::new([None; 16]));
            table[usize::from(channel - 11)] = Some(Probability::new(pdr));
        }
        Self { data: Probability::new(quality.data), ack: Probability::new(quality.ack), channels }
    }

    fn probability(&self, channel: u8, kind: Kind) -> Probability {
        let of_channel = self.channels.as_ref().and_then(|table| table[usize::from(channel - 11)]);
        of_channel.unwrap_or(match kind {
            Kind::Data => self.data,
            Kind::Ack => self.ack,
        })
    }
}
