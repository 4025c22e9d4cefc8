//! What holds in every network, under every loss and traffic.

use super::*;
use proptest::prelude::*;
use slowhand_net::clock::Instant;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::{FrameKind, RadioTimes};
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Downward, EVERY_CHILD, Superframe};
use slowhand_net::radio::{Indication, Mac};
use std::collections::{BTreeMap, BTreeSet};

/// A network, and the frames that are sent in it.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    config: BeaconConfig,
    parents: Vec<Option<u16>>,
    links: Vec<LinkQuality>,
    /// When, from whom, to which child (the parent if none), how many octets.
    traffic: Vec<(u64, u16, Option<u16>, usize)>,
}

const HORIZON: u64 = 30_000_000;

fn config() -> impl Strategy<Value = BeaconConfig> {
    let mode = prop_oneof![
        Just((Downward::Indirect, false)),
        Just((Downward::Indirect, true)),
        Just((Downward::Direct, true)),
    ];
    // Intervals and active periods of the standard, and odd ones.
    let superframe = prop_oneof![
        (4u8..7, 0u8..2).prop_map(|(beacon, active)| Superframe::of_orders(beacon, active).unwrap()),
        (500_000u64..2_000_000, 14_000u64..40_000)
            .prop_map(|(interval, cap)| Superframe { interval: us(interval), cap: us(cap) }),
    ];
    (mode, superframe, 1usize..9, 0u64..700, 0u16..20, any::<bool>()).prop_map(
        |(mode, superframe, queue, guard, persistence, late_frames)| BeaconConfig {
            downward: mode.0,
            rx_on_when_idle: mode.1,
            late_frames,
            queue,
            guard: us(guard),
            transaction_persistence: persistence,
            ..BeaconConfig::standard(superframe)
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let ratio = prop_oneof![2 => Just(1.0), 1 => Just(0.0), 5 => 0.3f64..1.0];
    let tree = prop::collection::vec(any::<u16>(), 1..9);
    let strangers = prop::collection::vec((any::<u16>(), any::<u16>()), 0..6);
    let ratios = prop::collection::vec(ratio, 4 * 16);
    let traffic = prop::collection::vec((0..HORIZON / 2, any::<u16>(), any::<Option<u16>>(), 0usize..105), 1..60);
    (any::<u64>(), config(), tree, strangers, ratios, traffic).prop_map(
        |(seed, config, tree, strangers, ratios, mut traffic)| {
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
                    links.push(LinkQuality { from: node(from), to: node(to), data, ack, channels: Vec::new() });
                }
            }
            traffic.sort();
            Case { seed, config, parents, links, traffic }
        },
    )
}

/// All that is known of a run.
struct Outcome {
    mac: Beacon,
    air: Recorder,
    indications: Vec<(Instant, Indication)>,
    /// The frames that were accepted, by datagram: sender, destination, payload.
    accepted: BTreeMap<u32, (u16, u16, Vec<u8>)>,
    refused: usize,
    times: Vec<RadioTimes>,
}

/// Runs a case to its horizon. Returns none if its superframes do not fit the tree.
fn outcome(case: &Case) -> Option<Outcome> {
    let mac = seeded(case.seed, case.config.clone(), &case.parents, &case.links).ok()?;
    let (accepted, indications) = (BTreeMap::new(), Vec::new());
    let mut outcome = Outcome { mac, air: Recorder::of_radios(), indications, accepted, refused: 0, times: Vec::new() };
    for (datagram, &(time, from, to, length)) in (0u32..).zip(&case.traffic) {
        let Outcome { mac, air, indications, .. } = &mut outcome;
        indications.extend(run(mac, at(time), air));
        let from = from % case.parents.len() as u16;
        let children: Vec<u16> =
            (0..case.parents.len() as u16).filter(|&child| case.parents[usize::from(child)] == Some(from)).collect();
        let child = to.filter(|_| !children.is_empty()).map(|pick| children[usize::from(pick) % children.len()]);
        let Some(to) = child.or(case.parents[usize::from(from)]) else { continue };
        let payload: Vec<u8> = (0..length).map(|octet| (octet as u32 * 7 + datagram) as u8).collect();
        match mac.enqueue(at(time), node(from), node(to), &payload, datagram, false) {
            Ok(()) => drop(outcome.accepted.insert(datagram, (from, to, payload))),
            Err(_) => outcome.refused += 1,
        }
        outcome.check_times(time);
    }
    let Outcome { mac, air, indications, .. } = &mut outcome;
    indications.extend(run(mac, at(HORIZON), air));
    outcome.check_times(HORIZON);
    Some(outcome)
}

impl Outcome {
    /// The times in the four states add up to the time that has passed, and none of them decreases.
    fn check_times(&mut self, now: u64) {
        let nodes = 0..self.mac_nodes();
        let times: Vec<_> = nodes.map(|id| self.mac.radio_times(node(id), at(now))).collect();
        for (id, time) in times.iter().enumerate() {
            assert_eq!(time.transmit + time.receive + time.listen + time.sleep, us(now), "node {id}: {time:?}");
            if let Some(before) = self.times.get(id) {
                assert!(before.transmit <= time.transmit && before.receive <= time.receive);
                assert!(before.sleep <= time.sleep);
            }
        }
        self.times = times;
    }

    fn mac_nodes(&self) -> u16 {
        (0..).take_while(|&id| self.mac.contains(node(id))).count() as u16
    }
}

/// How long a frame is on the air: 6 octets of synchronisation and 2 of FCS, 32 us each.
fn air_time(frame: &Frame) -> u64 {
    (frame.octets.len() as u64 + 8) * 32
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_conserved(case in case()) {
        let Some(outcome) = outcome(&case) else { return Err(TestCaseError::reject("the superframes do not fit")) };
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
                Indication::Dropped { node, datagram, reason } => {
                    prop_assert_eq!(outcome.accepted[datagram].0, node.0);
                    prop_assert!(ended.insert(*datagram));
                    prop_assert!(!reason.name().is_empty());
                }
            }
        }
        let waiting: usize = (0..outcome.mac_nodes()).map(|id| outcome.mac.queue(node(id)).len()).sum();
        prop_assert_eq!(ended.len() + waiting, outcome.accepted.len());
        for id in 0..outcome.mac_nodes() {
            prop_assert!(outcome.mac.queue(node(id)).peak() <= case.config.queue);
        }
        // Every frame that was received was passed up, or repeats one that was.
        for frame in outcome.air.of(FrameKind::Data) {
            prop_assert!(!frame.received || received.contains(&frame.datagram));
        }
    }

    #[test]
    fn the_air_obeys_the_standard(case in case()) {
        let case = Case { config: BeaconConfig { trace_idle_beacons: true, ..case.config }, ..case };
        let Some(outcome) = outcome(&case) else { return Err(TestCaseError::reject("the superframes do not fit")) };
        let frames = &outcome.air.frames;
        prop_assert!(frames.is_sorted_by_key(|frame| frame.at));
        let Superframe { interval, cap } = case.config.superframe;
        let heard: BTreeSet<(NodeId, NodeId)> = case.links.iter().map(|link| (link.from, link.to)).collect();
        let mut sent = vec![0; case.parents.len()];
        for (index, frame) in frames.iter().enumerate() {
            sent[frame.from.index()] += air_time(frame);
            let parent = |id: NodeId| case.parents.get(id.index()).copied().flatten().map(NodeId);
            let coordinator = match frame.to == EVERY_CHILD || parent(frame.to) == Some(frame.from) {
                true => frame.from,
                false => frame.to,
            };
            let begin = outcome.mac.beacon_time(coordinator).unwrap();
            let into = (frame.at - begin.as_micros()) % interval.as_micros();
            prop_assert!(into + air_time(frame) <= cap.as_micros(), "a frame leaves the active period");
            prop_assert_eq!(into % 320, 0, "not on a back-off boundary");
            for other in frames[index + 1..].iter().take_while(|other| other.at < frame.at + air_time(frame)) {
                prop_assert_ne!(frame.from, other.from);
                let hears = heard.contains(&(frame.from, other.from));
                // Acknowledgements and answers to requests are sent without assessing the channel.
                let answers = case.config.downward == Downward::Indirect && parent(other.to) == Some(other.from);
                let assesses = other.kind != FrameKind::Ack && !answers;
                prop_assert!(
                    !hears || !assesses || other.at == frame.at,
                    "sent into a frame that was heard: {frame:?} {other:?}"
                );
            }
        }
        // A radio's time in transmission is that of its frames, except for frames on the air at the horizon.
        for (id, sent) in sent.into_iter().enumerate() {
            let counted = outcome.times[id].transmit.as_micros();
            prop_assert!(counted.abs_diff(sent) <= 4_256, "node {}: {} us counted, {} us seen", id, counted, sent);
        }
    }

    #[test]
    fn showing_idle_beacons_changes_nothing_else(case in case()) {
        let Some(lazy) = outcome(&case) else { return Err(TestCaseError::reject("the superframes do not fit")) };
        let case = Case { config: BeaconConfig { trace_idle_beacons: true, ..case.config }, ..case };
        let eager = outcome(&case).unwrap();
        // At one instant, clusters that do not hear each other may come in any order.
        let told = |outcome: &Outcome| {
            let mut told: Vec<_> = outcome.indications.iter().map(|(time, what)| (*time, format!("{what:?}"))).collect();
            told.sort();
            told
        };
        prop_assert_eq!(told(&lazy), told(&eager));
        prop_assert_eq!(&lazy.times, &eager.times);
        prop_assert_eq!(lazy.refused, eager.refused);
        let shown: BTreeMap<_, _> = eager.air.frames.iter().map(|frame| ((frame.at, frame.from), frame)).collect();
        for frame in &lazy.air.frames {
            let same = shown.get(&(frame.at, frame.from)) == Some(&frame);
            prop_assert!(same, "missing with all beacons shown: {:?}", frame);
        }
        let beside_beacons = |outcome: &Outcome| outcome.air.frames.len() - outcome.air.of(FrameKind::Beacon).len();
        prop_assert_eq!(beside_beacons(&lazy), beside_beacons(&eager));
    }

    #[test]
    fn timelines_say_what_the_times_say(case in case()) {
        let Some(outcome) = outcome(&case) else { return Err(TestCaseError::reject("the superframes do not fit")) };
        let Outcome { mut mac, mut air, times, .. } = outcome;
        mac.report_radios(at(HORIZON), &mut air);
        for (id, times) in times.iter().enumerate() {
            prop_assert_eq!(air.radio_times(node(id as u16), at(HORIZON)), *times, "node {}", id);
        }
    }
}
