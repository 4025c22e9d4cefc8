//! Properties of every network, under every loss and traffic.

use super::*;
use crate::contention::{Case, Outcome, air_time, cases};
use proptest::prelude::*;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, Downward, EVERY_CHILD, Superframe};
use std::collections::{BTreeMap, BTreeSet};

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

/// Runs a case to its horizon.
///
/// # Errors
/// The case is rejected: the superframes do not fit the tree.
fn outcome(config: &BeaconConfig, case: &Case) -> Result<Outcome<Beacon>, TestCaseError> {
    let mac = seeded(case.seed, config.clone(), &case.parents, &case.links);
    let mac = mac.map_err(|_| TestCaseError::reject("the superframes do not fit"))?;
    Ok(Outcome::new(case, mac))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_conserved((config, case) in (config(), cases(105))) {
        outcome(&config, &case)?.assert_conserved(config.queue);
    }

    #[test]
    fn the_air_obeys_the_standard((config, case) in (config(), cases(105))) {
        let config = BeaconConfig { trace_idle_beacons: true, ..config };
        let outcome = outcome(&config, &case)?;
        let frames = &outcome.air.frames;
        prop_assert!(frames.is_sorted_by_key(|frame| frame.at));
        let Superframe { interval, cap } = config.superframe;
        let heard: BTreeSet<(NodeId, NodeId)> = case.links.iter().map(|link| (link.from, link.to)).collect();
        for (index, frame) in frames.iter().enumerate() {
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
                let answers = config.downward == Downward::Indirect && parent(other.to) == Some(other.from);
                let assesses = other.kind != FrameKind::Ack && !answers;
                prop_assert!(
                    !hears || !assesses || other.at == frame.at,
                    "sent into a frame that was heard: {frame:?} {other:?}"
                );
            }
        }
        outcome.assert_frames_account_for_transmission();
    }

    #[test]
    fn showing_idle_beacons_changes_nothing_else((config, case) in (config(), cases(105))) {
        let lazy = outcome(&config, &case)?;
        let eager = outcome(&BeaconConfig { trace_idle_beacons: true, ..config }, &case)?;
        // At one instant, clusters that do not hear each other may come in any order.
        let told = |outcome: &Outcome<Beacon>| {
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
        let beside_beacons = |outcome: &Outcome<Beacon>| outcome.air.frames.len() - outcome.air.of(FrameKind::Beacon).len();
        prop_assert_eq!(beside_beacons(&lazy), beside_beacons(&eager));
    }

    #[test]
    fn timelines_say_what_the_times_say((config, case) in (config(), cases(105))) {
        outcome(&config, &case)?.assert_timelines(false);
    }
}
