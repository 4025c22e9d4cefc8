//! Causes that make the delivery of links change with time.

use super::alternating::Alternating;
use super::course::Course;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::random::{Probability, Streams};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The causes that make the delivery of links change with time. They are independent: a frame arrives if none of them loses
/// it.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// The delivery ratio over time by sender, receiver and channel (11..=26; `None` for those without a course of their
    /// own). It takes the place of the link's fixed ratio.
    pub courses: BTreeMap<(NodeId, NodeId, Option<u8>), Course>,
    /// True if each world begins at a random time in courses that repeat: the same time in all of them.
    pub random_start: bool,
    /// The states of each link, in each direction for itself.
    pub states: Option<GilbertElliott>,
    /// Wi-Fi networks nearby.
    pub interferers: Vec<Interferer>,
}

/// A link that alternates between a good and a bad state (Gilbert 1960, Elliott 1963), here in continuous time: each
/// time in a state is exponential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// The mean time in the good state.
    pub good: Duration,
    /// The mean time in the bad state.
    pub bad: Duration,
    /// The share of frames that arrive in the good state.
    pub good_pdr: f64,
    /// The share of frames that arrive in the bad state.
    pub bad_pdr: f64,
}

impl GilbertElliott {
    /// The share of frames that arrive over a long time.
    pub fn mean_pdr(&self) -> f64 {
        let [good, bad] = [self.good, self.bad].map(|time| time.as_micros() as f64);
        (good * self.good_pdr + bad * self.bad_pdr) / (good + bad)
    }
}

/// A Wi-Fi network. It is busy and idle in turn, each for an exponential time, and all nodes see the same times.
#[derive(Clone, Debug, PartialEq)]
pub struct Interferer {
    /// Its channel, 1..=13.
    pub channel: u8,
    /// The mean time that it sends without a pause.
    pub busy: Duration,
    /// The mean pause.
    pub idle: Duration,
    /// The probability that a frame is lost if Wi-Fi sends during any part of it.
    pub loss: f64,
    /// The nodes that receive badly then. `None`: all.
    pub nodes: Option<Vec<NodeId>>,
}

impl Interferer {
    /// The channels of IEEE 802.15.4 that a Wi-Fi channel covers. The centre of Wi-Fi channel n is at 2407 + 5 n MHz, and
    /// it is 22 MHz wide (IEEE 802.11-2020, section 15.4.4.3 and figure 15-12). The centre of channel k is at
    /// 2405 + 5 (k - 11) MHz (IEEE 802.15.4-2015, section 10.1.2.2). Less than 11 MHz apart are the four from n + 10 to
    /// n + 13: Wi-Fi channels 1, 6 and 11 leave only 15, 20, 25 and 26 free.
    pub fn covered(channel: u8) -> Range<u8> {
        channel + 10..channel + 14
    }

    /// True if it disturbs what a node receives on a channel.
    pub fn disturbs(&self, node: NodeId, channel: u8) -> bool {
        Self::covered(self.channel).contains(&channel) && self.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }
}

impl Variation {
    /// The ratio of a link that has a course, at an instant.
    fn ratio(&self, (from, to, channel): (NodeId, NodeId, u8), at: Instant, shift: Duration) -> Option<Probability> {
        let of_channel = self.courses.get(&(from, to, Some(channel)));
        of_channel.or_else(|| self.courses.get(&(from, to, None)))?.ratio(at, shift)
    }

    /// The probability that a frame arrives, with the states of its link and of the Wi-Fi networks.
    fn with_states(
        &self,
        mut probability: Probability,
        time: Range<Instant>,
        (to, channel): (NodeId, u8),
        bad: Option<&mut Alternating>,
        busy: &mut [Alternating],
    ) -> Probability {
        if let (Some(GilbertElliott { good_pdr, bad_pdr, .. }), Some(bad)) = (self.states, bad) {
            let is_bad = bad.is_on_at(time.start);
            probability = probability.and(Probability::new(if is_bad { bad_pdr } else { good_pdr }));
        }
        for (interferer, busy) in self.interferers.iter().zip(busy) {
            if interferer.disturbs(to, channel) && busy.is_on_during(time.clone()) {
                probability = probability.and(Probability::new(1.0 - interferer.loss));
            }
        }
        probability
    }

    /// True if nothing changes with time.
    pub fn is_empty(&self) -> bool {
        self.courses.is_empty() && self.states.is_none() && self.interferers.is_empty()
    }
}

/// The state of a [`Variation`] in one world.
#[derive(Debug)]
pub(super) struct Varying {
    variation: Arc<Variation>,
    /// The time in its courses at which the world begins.
    shift: Duration,
    /// True while in its bad state, by sender and position of the receiver.
    bad: Vec<Vec<Alternating>>,
    /// True while busy, by interferer.
    busy: Vec<Alternating>,
    /// Links that were changed while the world ran: the courses that they have now, in place of those of `variation`.
    replaced: BTreeMap<(NodeId, NodeId), Option<Course>>,
}

impl Varying {
    /// The state of links with these receivers by sender.
    pub(super) fn new<'a>(
        variation: Arc<Variation>,
        receivers: impl Iterator<Item = &'a [NodeId]>,
        streams: &Streams,
    ) -> Self {
        let longest = variation.courses.values().filter_map(Course::repeat).max().filter(|_| variation.random_start);
        let shift = longest.map_or(0, |longest| streams.stream("course start", 0).below(longest.as_micros()));
        let state = |from: u64, to: &NodeId| {
            let random = streams.stream("link state", from << 16 | u64::from(to.0));
            variation.states.map(|states| Alternating::new(states.good, states.bad, random))
        };
        let bad = (0..).zip(receivers).map(|(from, to)| to.iter().filter_map(|to| state(from, to)).collect());
        let busy = |(number, wifi): (u64, &Interferer)| {
            Alternating::new(wifi.idle, wifi.busy, streams.stream("wi-fi", number))
        };
        Self {
            shift: Duration::from_micros(shift),
            bad: bad.collect(),
            busy: (0..).zip(&variation.interferers).map(busy).collect(),
            replaced: BTreeMap::new(),
            variation,
        }
    }

    /// The probability that a frame arrives, on a link where it is `fixed` if nothing changes it. `position` is that of
    /// the receiver among those of the sender.
    pub(super) fn probability(
        &mut self,
        fixed: Probability,
        time: Range<Instant>,
        (from, position, to): (NodeId, usize, NodeId),
        channel: u8,
    ) -> Probability {
        let Self { variation, shift, bad, busy, replaced } = self;
        let course = |start| match replaced.get(&(from, to)) {
            Some(course) => course.as_ref()?.ratio(start, Duration::ZERO),
            None if variation.courses.is_empty() => None,
            None => variation.ratio((from, to, channel), start, *shift),
        };
        let probability = course(time.start).unwrap_or(fixed);
        let bad = bad[from.index()].get_mut(position);
        variation.with_states(probability, time, (to, channel), bad, busy)
    }

    /// The variation of one link alone, on one channel. Its states are those of the whole.
    pub(super) fn of_link(
        &self,
        fixed: Probability,
        (from, position, to): (NodeId, usize, NodeId),
        channel: u8,
    ) -> OneLink {
        OneLink {
            variation: Arc::clone(&self.variation),
            link: (from, to, channel),
            fixed,
            shift: self.shift,
            bad: self.bad[from.index()].get(position).cloned(),
            busy: self.busy.clone(),
        }
    }

    /// True if a Wi-Fi network that disturbs this node on this channel sends during any part of this time.
    pub(super) fn is_disturbed(&mut self, time: Range<Instant>, node: NodeId, channel: u8) -> bool {
        let mut interferers = self.variation.interferers.iter().zip(&mut self.busy);
        interferers.any(|(interferer, busy)| interferer.disturbs(node, channel) && busy.is_on_during(time.clone()))
    }

    /// Gives a link another course, or none.
    pub(super) fn replace(&mut self, from: NodeId, to: NodeId, course: Option<Course>) {
        self.replaced.insert((from, to), course);
    }
}

/// One direction of a link on one channel, as it changes with time.
#[derive(Clone, Debug)]
pub(crate) struct OneLink {
    variation: Arc<Variation>,
    /// Sender, receiver and channel.
    link: (NodeId, NodeId, u8),
    fixed: Probability,
    shift: Duration,
    bad: Option<Alternating>,
    busy: Vec<Alternating>,
}

impl OneLink {
    /// The probability that a frame arrives that is on the air for this `time`. It is fast if the times do not go back.
    pub(crate) fn probability(&mut self, time: Range<Instant>) -> Probability {
        let Self { variation, link, fixed, shift, bad, busy } = self;
        let probability = variation.ratio(*link, time.start, *shift).unwrap_or(*fixed);
        variation.with_states(probability, time, (link.1, link.2), bad.as_mut(), busy)
    }
}
