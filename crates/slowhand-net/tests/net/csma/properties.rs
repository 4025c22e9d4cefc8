//! Properties of every network, under every loss and traffic.

use super::*;
use crate::contention::{Case, HORIZON, Outcome, air_time, cases};
use proptest::prelude::*;
use slowhand_net::observer::FrameKind;
use std::collections::BTreeSet;

fn config() -> impl Strategy<Value = CsmaConfig> {
    let fast = prop_oneof![Just((FastPoll::Never, 8)), (1u8..9).prop_map(|polls| (FastPoll::Data, polls))];
    let csl = prop_oneof![Just(None), (63u16..3_000).prop_map(Some)];
    let access = (0u8..3, 0u8..4, 0u8..6, 0u8..5, any::<bool>(), 0u8..6);
    (fast, csl, access, 1usize..9, 200_000u64..5_000_000, 100_000u64..10_000_000).prop_map(
        |(
            (fast, fast_polls),
            csl,
            (min, wider, max_csma_backoffs, max_retries, retries_busy_channel, retry),
            queue,
            period,
            timeout,
        )| {
            let polling = Polling { period: us(period), fast, fast_polls, ..Polling::openthread() };
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

/// Constants, which leaves sleep, and a case.
fn setups() -> impl Strategy<Value = (CsmaConfig, Vec<bool>, Case)> {
    (config(), prop::collection::vec(any::<bool>(), 10), cases(97))
}

/// Runs a case to its horizon. Only sleepy nodes sleep.
fn outcome(config: &CsmaConfig, sleeps: &[bool], case: &Case) -> Outcome<Csma> {
    let nodes = case.parents.len() as u16;
    let is_leaf = |node: &u16| !case.parents.contains(&Some(*node));
    let sleepy: Vec<u16> = (1..nodes).filter(is_leaf).filter(|node| sleeps[usize::from(*node)]).collect();
    let outcome = Outcome::new(case, of_links(config.clone(), &case.parents, &sleepy, &case.links).unwrap());
    for (id, time) in (0..).zip(&outcome.times) {
        assert!(time.sleep == us(0) || sleepy.contains(&id), "node {id} slept");
    }
    outcome
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
    fn frames_are_conserved((config, sleeps, case) in setups()) {
        outcome(&config, &sleeps, &case).assert_conserved(config.queue);
    }

    #[test]
    fn the_air_obeys_the_standard((config, sleeps, case) in setups()) {
        let outcome = outcome(&config, &sleeps, &case);
        let frames = &outcome.air.frames;
        prop_assert!(frames.is_sorted_by_key(|frame| frame.at));
        let heard: BTreeSet<(NodeId, NodeId)> = case.links.iter().map(|link| (link.from, link.to)).collect();
        for (index, frame) in frames.iter().enumerate() {
            let end = frame.at + air_time(frame);
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
        outcome.assert_frames_account_for_transmission();
    }

    #[test]
    fn timelines_say_what_the_times_say((config, sleeps, case) in setups()) {
        outcome(&config, &sleeps, &case).assert_timelines(true);
    }
}
