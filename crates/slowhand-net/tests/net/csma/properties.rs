//! What holds in every network, under every loss and traffic.

use super::*;
use proptest::prelude::*;
use slowhand_net::observer::{FrameKind, RadioTimes};
use slowhand_net::radio::{Indication, Mac};
use std::collections::{BTreeMap, BTreeSet};

/// A network, and the frames that are sent in it.
#[derive(Clone, Debug)]
struct Case {
    config: CsmaConfig,
    parents: Vec<Option<u16>>,
    sleepy: Vec<u16>,
    links: Vec<LinkQuality>,
    /// When, from whom, to which child (the parent if none), how many octets.
    traffic: Vec<(u64, u16, Option<u16>, usize)>,
}

const HORIZON: u64 = 30_000_000;

fn config() -> impl Strategy<Value = CsmaConfig> {
    let fast = prop_oneof![Just(FastPolls::Never), (1u8..9).prop_map(FastPolls::AfterData)];
    let csl = prop_oneof![Just(None), (63u16..3_000).prop_map(Some)];
    let access = (0u8..3, 0u8..4, 0u8..6, 0u8..5, any::<bool>(), 0u8..6);
    (fast, csl, access, 1usize..9, 200_000u64..5_000_000, 100_000u64..10_000_000).prop_map(
        |(
            fast,
            csl,
            (min, wider, max_csma_backoffs, max_retries, retries_busy_channel, retry),
            queue,
            period,
            timeout,
        )| {
            let polling = Polling { period: us(period), fast, ..Polling::openthread() };
            CsmaConfig {
                backoff_exponents: (min, min + wider),
                max_csma_backoffs,
                max_retries,
                retries_busy_channel,
                retry_max_exponent: retry,
                queue,
                indirect_timeout: us(timeout),
                csl: csl.map(|period| Csl { timeout: us(6_000_000), ..Csl::openthread(period) }),
                polling,
                ..CsmaConfig::openthread()
            }
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let ratio = prop_oneof![2 => Just(1.0), 1 => Just(0.0), 5 => 0.3f64..1.0];
    let tree = prop::collection::vec(any::<u16>(), 1..9);
    let strangers = prop::collection::vec((any::<u16>(), any::<u16>()), 0..6);
    let ratios = prop::collection::vec(ratio, 4 * 16);
    let traffic = prop::collection::vec((0..HORIZON / 2, any::<u16>(), any::<Option<u16>>(), 0usize..97), 1..60);
    let sleeps = prop::collection::vec(any::<bool>(), 10);
    (config(), tree, strangers, ratios, traffic, sleeps).prop_map(
        |(config, tree, strangers, ratios, mut traffic, sleeps)| {
            // Each node's parent is one with a smaller number.
            let parents: Vec<Option<u16>> =
                std::iter::once(None).chain(tree.iter().zip(1u16..).map(|(pick, n)| Some(pick % n))).collect();
            let nodes = parents.len() as u16;
            let is_leaf = |node: &u16| !parents.contains(&Some(*node));
            let sleepy = (1..nodes).filter(is_leaf).filter(|node| sleeps[usize::from(*node)]).collect();
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
                    links.push(LinkQuality { from: node(from), to: node(to), data, ack, channels: Vec::new() });
                }
            }
            traffic.sort();
            Case { config, parents, sleepy, links, traffic }
        },
    )
}

/// All that is known of a run.
struct Outcome {
    mac: Csma,
    air: Recorder,
    indications: Vec<(Instant, Indication)>,
    /// The frames that were accepted, by datagram: sender, destination, payload.
    accepted: BTreeMap<u32, (u16, u16, Vec<u8>)>,
    times: Vec<RadioTimes>,
}

fn outcome(case: &Case) -> Outcome {
    let mac = of_links(case.config.clone(), &case.parents, &case.sleepy, &case.links).unwrap();
    let (accepted, indications, air) = (BTreeMap::new(), Vec::new(), Recorder::of_radios());
    let mut outcome = Outcome { mac, air, indications, accepted, times: Vec::new() };
    for (datagram, &(time, from, to, length)) in (0u32..).zip(&case.traffic) {
        let Outcome { mac, air, indications, .. } = &mut outcome;
        indications.extend(run(mac, at(time), air));
        let from = from % case.parents.len() as u16;
        let children: Vec<u16> =
            (0..case.parents.len() as u16).filter(|&child| case.parents[usize::from(child)] == Some(from)).collect();
        let child = to.filter(|_| !children.is_empty()).map(|pick| children[usize::from(pick) % children.len()]);
        let Some(to) = child.or(case.parents[usize::from(from)]) else { continue };
        let payload: Vec<u8> = (0..length).map(|octet| (octet as u32 * 7 + datagram) as u8).collect();
        if mac.enqueue(at(time), node(from), node(to), &payload, datagram, false).is_ok() {
            outcome.accepted.insert(datagram, (from, to, payload));
        }
        outcome.check_times(case, time);
    }
    let Outcome { mac, air, indications, .. } = &mut outcome;
    indications.extend(run(mac, at(HORIZON), air));
    outcome.check_times(case, HORIZON);
    outcome
}

impl Outcome {
    /// The times in the four states add up to the time that has passed, and none of them decreases.
    fn check_times(&mut self, case: &Case, now: u64) {
        let nodes = 0..case.parents.len() as u16;
        let times: Vec<_> = nodes.map(|id| self.mac.radio_times(node(id), at(now))).collect();
        for (id, time) in times.iter().enumerate() {
            assert_eq!(time.transmit + time.receive + time.listen + time.sleep, us(now), "node {id}: {time:?}");
            if let Some(before) = self.times.get(id) {
                assert!(before.transmit <= time.transmit && before.receive <= time.receive);
                assert!(before.listen <= time.listen && before.sleep <= time.sleep);
            }
            assert!(time.sleep == us(0) || case.sleepy.contains(&(id as u16)), "node {id} slept");
        }
        self.times = times;
    }
}

/// How long a frame is on the air: 6 octets of synchronisation and 2 of FCS, 32 us each.
fn air_time(frame: &Frame) -> u64 {
    (frame.octets.len() as u64 + 8) * 32
}

/// The acknowledgements of a frame that ends at `end`.
fn acks_of(frames: &[Frame], index: usize, end: u64) -> impl Iterator<Item = &Frame> {
    let from = frames[index].from;
    let until = frames[index + 1..].iter().take_while(move |other| other.at <= end + 192);
    until.filter(move |other| (other.kind, other.at, other.to) == (FrameKind::Ack, end + 192, from))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_conserved(case in case()) {
        let outcome = outcome(&case);
        let (mut received, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for (_, indication) in &outcome.indications {
            match indication {
                Indication::Received { node, from, datagram, payload, .. } => {
                    let (sender, to, sent) = &outcome.accepted[datagram];
                    prop_assert_eq!((from.0, node.0, &payload[..]), (*sender, *to, &sent[..]));
                    prop_assert!(received.insert(*datagram), "datagram {} was passed up twice", datagram);
                }
                Indication::Sent { node, datagram } => {
                    prop_assert_eq!(outcome.accepted[datagram].0, node.0);
                    prop_assert!(received.contains(datagram), "acknowledged but never received");
                    prop_assert!(ended.insert(*datagram));
                }
                Indication::Lost { .. } => prop_assert!(false, "{indication:?}"),
                Indication::Dropped { node, datagram, .. } => {
                    prop_assert_eq!(outcome.accepted[datagram].0, node.0);
                    prop_assert!(ended.insert(*datagram));
                }
            }
        }
        let nodes = case.parents.len() as u16;
        let waiting: usize = (0..nodes).map(|id| outcome.mac.queue(node(id)).len()).sum();
        prop_assert_eq!(ended.len() + waiting, outcome.accepted.len());
        for id in 0..nodes {
            prop_assert!(outcome.mac.queue(node(id)).peak() <= case.config.queue);
        }
        // Every frame that was received was passed up, or repeats one that was.
        for frame in outcome.air.of(FrameKind::Data) {
            prop_assert!(!frame.received || received.contains(&frame.datagram));
        }
    }

    #[test]
    fn the_air_obeys_the_standard(case in case()) {
        let outcome = outcome(&case);
        let frames = &outcome.air.frames;
        prop_assert!(frames.is_sorted_by_key(|frame| frame.at));
        let heard: BTreeSet<(NodeId, NodeId)> = case.links.iter().map(|link| (link.from, link.to)).collect();
        let mut sent = vec![0; case.parents.len()];
        for (index, frame) in frames.iter().enumerate() {
            let end = frame.at + air_time(frame);
            sent[frame.from.index()] += air_time(frame);
            for other in frames[index + 1..].iter().take_while(|other| other.at < end) {
                prop_assert_ne!(frame.from, other.from);
                // An acknowledgement is sent without an assessment, and 192 us lie between assessment and frame.
                let late = other.kind != FrameKind::Ack && other.at > frame.at + 192;
                prop_assert!(!late || !heard.contains(&(frame.from, other.from)), "sent into a frame: {frame:?} {other:?}");
            }
            // An acknowledgement comes a turnaround after a frame that was received, or not at all. The longest has 27
            // octets, and is seen when it is over.
            let acked = acks_of(frames, index, end).count();
            if frame.kind != FrameKind::Ack && end + 192 + 1_056 <= HORIZON {
                prop_assert_eq!(acked, usize::from(frame.received), "{:?}", frame);
                // Of the datagram of the frame, even if another one has come for the device meanwhile.
                prop_assert!(acks_of(frames, index, end).all(|ack| ack.datagram == frame.datagram), "{:?}", frame);
            }
        }
        // A radio's time in transmission is that of its frames, except for frames on the air at the horizon.
        for (id, sent) in sent.into_iter().enumerate() {
            let counted = outcome.times[id].transmit.as_micros();
            prop_assert!(counted.abs_diff(sent) <= 4_256, "node {}: {} us counted, {} us seen", id, counted, sent);
        }
    }

    #[test]
    fn timelines_say_what_the_times_say(case in case()) {
        let Outcome { mut mac, mut air, times, .. } = outcome(&case);
        mac.report_radios(at(HORIZON), &mut air);
        for (id, times) in times.iter().enumerate() {
            prop_assert_eq!(air.radio_times(node(id as u16), at(HORIZON)), *times, "node {}", id);
        }
    }
}
