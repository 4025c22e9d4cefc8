//! Properties of every PAN with CSMA/CA, under every loss and traffic: its kinds share them.

use crate::harness::*;
use proptest::prelude::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::{FrameKind, RadioTimes};
use slowhand_net::radio::{Indication, Mac, Msdu};
use std::collections::{BTreeMap, BTreeSet};

/// When a run ends. The traffic ends in the middle.
pub const HORIZON: u64 = 30_000_000;

/// A tree, and the frames that are sent in it.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub parents: Vec<Option<u16>>,
    pub links: Vec<LinkQuality>,
    /// When, from whom, to which child (the parent if none), how many octets.
    traffic: Vec<(u64, u16, Option<u16>, usize)>,
}

/// Trees of up to nine nodes, in which some others hear each other too. Frames are shorter than `longest`.
pub fn cases(longest: usize) -> impl Strategy<Value = Case> {
    let ratio = prop_oneof![2 => Just(1.0), 1 => Just(0.0), 5 => 0.3f64..1.0];
    let tree = prop::collection::vec(any::<u16>(), 1..9);
    let strangers = prop::collection::vec((any::<u16>(), any::<u16>()), 0..6);
    let ratios = prop::collection::vec(ratio, 4 * 16);
    let traffic = prop::collection::vec((0..HORIZON / 2, any::<u16>(), any::<Option<u16>>(), 0..longest), 1..60);
    (any::<u64>(), tree, strangers, ratios, traffic).prop_map(|(seed, tree, strangers, ratios, mut traffic)| {
        // Each node's parent is one with a smaller number.
        let parents: Vec<Option<u16>> =
            std::iter::once(None).chain(tree.iter().zip(1u16..).map(|(pick, n)| Some(pick % n))).collect();
        let nodes = parents.len() as u16;
        let mut pairs: BTreeSet<(u16, u16)> = BTreeSet::new();
        for (child, parent) in parents.iter().enumerate() {
            pairs.extend(parent.map(|parent| (child as u16, parent)));
        }
        pairs.extend(strangers.iter().map(|&(a, b)| (a % nodes, b % nodes)).filter(|(a, b)| a > b));
        let mut ratios = ratios.into_iter().cycle();
        let mut links = Vec::new();
        for (a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let (data, ack) = (ratios.next().unwrap(), ratios.next().unwrap());
                links.push(LinkQuality { from: NodeId(from), to: NodeId(to), data, ack, channels: Vec::new() });
            }
        }
        traffic.sort();
        Case { seed, parents, links, traffic }
    })
}

/// All that is known of a run.
pub struct Outcome<M> {
    pub mac: M,
    pub air: Recorder,
    pub indications: Vec<(Instant, Indication)>,
    /// The frames that were accepted, by datagram: sender, destination, payload.
    accepted: BTreeMap<u32, (u16, u16, Vec<u8>)>,
    pub refused: usize,
    pub times: Vec<RadioTimes>,
}

impl<M: Mac> Outcome<M> {
    /// Runs a case to its horizon.
    pub fn new(case: &Case, mac: M) -> Self {
        let (air, indications, accepted) = (Recorder::of_radios(), Vec::new(), BTreeMap::new());
        let times = vec![RadioTimes::default(); case.parents.len()];
        let mut outcome = Self { mac, air, indications, accepted, refused: 0, times };
        for (datagram, &(time, from, to, length)) in (0u32..).zip(&case.traffic) {
            outcome.run(time);
            let from = from % case.parents.len() as u16;
            let children: Vec<u16> = (0u16..)
                .zip(&case.parents)
                .filter(|(_, parent)| **parent == Some(from))
                .map(|(child, _)| child)
                .collect();
            let child = to.filter(|_| !children.is_empty()).map(|pick| children[usize::from(pick) % children.len()]);
            let Some(to) = child.or(case.parents[usize::from(from)]) else { continue };
            let payload: Vec<u8> = (0..length).map(|octet| (octet as u32 * 7 + datagram) as u8).collect();
            match outcome.mac.enqueue(at(time), Msdu::new(NodeId(from), NodeId(to), &payload, datagram)) {
                Ok(()) => drop(outcome.accepted.insert(datagram, (from, to, payload))),
                Err(_) => outcome.refused += 1,
            }
            outcome.check_times(time);
        }
        outcome.run(HORIZON);
        outcome.check_times(HORIZON);
        outcome
    }

    fn run(&mut self, end: u64) {
        self.indications.extend(run_mac(&mut self.mac, at(end) + us(1), &mut self.air));
    }

    /// The times in the four states add up to the time that has passed, and none of them but listening decreases.
    fn check_times(&mut self, now: u64) {
        for (id, before) in (0..).map(NodeId).zip(&mut self.times) {
            let time = self.mac.radio_times(id, at(now));
            assert_eq!(time.transmit + time.receive + time.listen + time.sleep, us(now), "node {id}: {time:?}");
            assert!(before.transmit <= time.transmit && before.receive <= time.receive && before.sleep <= time.sleep);
            *before = time;
            let work = self.mac.radio_work(id, at(now));
            assert!(
                work.ready <= time.sleep && work.starts <= now && work.ramps <= now,
                "node {id}: {work:?} of {time:?}"
            );
        }
    }

    /// Every frame that was accepted arrives at most once, as it was sent, and ends once or still waits.
    pub fn assert_conserved(&self, queue: usize) {
        let (mut received, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for (_, indication) in &self.indications {
            match indication {
                Indication::Received { node, from, datagram, payload, .. } => {
                    let (sender, to, sent) = &self.accepted[datagram];
                    assert_eq!((from.0, node.0, &payload[..]), (*sender, *to, &sent[..]));
                    assert!(received.insert(*datagram), "datagram {datagram} was passed up twice");
                }
                Indication::Sent { node, datagram } => {
                    assert_eq!(self.accepted[datagram].0, node.0);
                    assert!(received.contains(datagram), "acknowledged but never received");
                    assert!(ended.insert(*datagram));
                }
                Indication::Lost { .. } | Indication::Beacon { .. } | Indication::Multicast { .. } => {
                    panic!("{indication:?}")
                }
                Indication::Dropped { node, datagram, reason } => {
                    assert_eq!(self.accepted[datagram].0, node.0);
                    assert!(ended.insert(*datagram));
                    assert!(!reason.name().is_empty());
                }
            }
        }
        let queues = || (0..self.times.len() as u16).map(|id| self.mac.queue(NodeId(id)));
        assert_eq!(ended.len() + queues().map(|queue| queue.len()).sum::<usize>(), self.accepted.len());
        assert!(queues().all(|own| own.peak() <= queue));
        // Every frame that was received was passed up, or repeats one that was.
        for frame in self.air.of(FrameKind::Data) {
            assert!(!frame.received || received.contains(&frame.datagram));
        }
    }

    /// A radio's time in transmission is that of its frames, except for frames on the air at the horizon.
    pub fn assert_frames_account_for_transmission(&self) {
        for (id, times) in self.times.iter().enumerate() {
            let own = self.air.frames.iter().filter(|frame| frame.from.index() == id);
            let (sent, counted) = (own.map(air_time).sum::<u64>(), times.transmit.as_micros());
            assert!(counted.abs_diff(sent) <= 4_256, "node {id}: {counted} us counted, {sent} us seen");
        }
    }

    /// The intervals of the timelines add up to the times, and a radio ramps up when it comes on. With `gaps_only`, only then:
    /// otherwise two times that touch count as two.
    pub fn assert_timelines(mut self, gaps_only: bool) {
        self.mac.report_radios(at(HORIZON), &mut self.air);
        for (id, times) in (0..).map(NodeId).zip(&self.times) {
            assert_eq!(self.air.radio_times(id, at(HORIZON)), *times, "node {id}");
            let (work, came_on) = (self.mac.radio_work(id, at(HORIZON)), self.air.ramps(id));
            assert!(
                work.ramps == came_on || !gaps_only && work.ramps > came_on,
                "node {id}: {work:?}, {came_on} times on"
            );
            // It may be ready, and not yet on, at the end.
            assert!(work.starts <= work.ramps + 1, "node {id}: {work:?}");
            assert!(work.ready <= times.sleep, "node {id}: {work:?} of {times:?}");
        }
    }
}

/// The time that a frame is on the air: 6 octets of synchronisation and 2 of FCS, 32 us each.
pub fn air_time(frame: &Frame) -> u64 {
    (frame.octets.len() as u64 + 8) * 32
}
