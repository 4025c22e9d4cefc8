//! Properties over random topologies, losses, constants and traffic.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::{FrameKind, RadioTimes};
use slowhand_net::radio::phy::air_time;
use slowhand_net::radio::xmac::{Retry, XmacConfig};
use slowhand_net::radio::{Indication, Mac, Msdu};

#[derive(Clone, Debug)]
struct Scenario {
    nodes: u16,
    links: Vec<LinkQuality>,
    phases: Vec<u64>,
    config: XmacConfig,
    /// Microsecond, sender, octets; to the neighbour that the last number chooses.
    traffic: Vec<(u64, u16, usize, usize)>,
    seed: u64,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    (2u16..7).prop_flat_map(|nodes| {
        let pairs = usize::from(nodes * (nodes - 1) / 2);
        let quality =
            prop_oneof![2 => Just(None), 2 => Just(Some((1.0, 1.0))), 3 => (0.0..1.0, 0.0..1.0).prop_map(Some)];
        let config =
            (prop::sample::select(vec![62_500u64, 125_000, 250_000]), any::<[bool; 5]>(), 0usize..5, 1usize..9);
        let traffic = prop::collection::vec((0u64..3_000_000, 0..nodes, 0usize..105, 0usize..6), 1..25);
        (
            prop::collection::vec(quality, pairs),
            prop::collection::vec(0u64..250_000, usize::from(nodes)),
            config,
            traffic,
            any::<u64>(),
        )
            .prop_map(
                move |(
                    qualities,
                    phases,
                    (interval, [data_ack, delayed, assess, finishes, linear], encounters, queue),
                    traffic,
                    seed,
                )| {
                    let pairs = (1..nodes).flat_map(|b| (0..b).map(move |a| (NodeId(a), NodeId(b))));
                    let link = |((a, b), quality): (_, Option<(f64, f64)>)| {
                        let (data, ack) = quality?;
                        Some(LinkQuality::symmetric(a, b, data).map(|link| LinkQuality { ack, ..link }))
                    };
                    let mut config = XmacConfig {
                        data_ack,
                        sending_delays_wake_ups: delayed,
                        assess_channel: assess,
                        finishes_reception: finishes,
                        retry: if linear { Retry::LINEAR } else { Retry::EXPONENTIAL },
                        encounters,
                        queue,
                        ..XmacConfig::cxmac(Duration::from_micros(interval))
                    };
                    config.neighbor_queues = queue.min(3);
                    let phases = phases.iter().map(|phase| phase % interval).collect();
                    let links = pairs.zip(qualities).filter_map(link).flatten().collect();
                    let mut traffic = traffic;
                    traffic.sort_unstable();
                    Scenario { nodes, links, phases, config, traffic, seed }
                },
            )
    })
}

/// The frames that the MAC accepted: from whom, to whom, the payload.
type Accepted = Vec<(NodeId, NodeId, Vec<u8>)>;

fn run(scenario: &Scenario) -> (World, Accepted) {
    run_watched(scenario, false)
}

fn run_watched(scenario: &Scenario, watched: bool) -> (World, Accepted) {
    let mut world = World::new(scenario.config.clone(), &scenario.phases, &scenario.links, scenario.seed);
    world.air.watches_radios = watched;
    let mut accepted = Accepted::new();
    for &(us, from, octets, choice) in &scenario.traffic {
        world.run_until(us);
        check_nodes(scenario, &world, us);
        if choice == 0 {
            check_timelines(scenario, &mut world, us);
        }
        let from = NodeId(from);
        let neighbors: Vec<_> = scenario.links.iter().filter(|link| link.from == from).map(|link| link.to).collect();
        let Some(&to) = neighbors.get(choice % neighbors.len().max(1)) else { continue };
        let payload: Vec<u8> = (0..octets).map(|octet| (octet + accepted.len()) as u8).collect();
        match world.mac.enqueue(at(us), Msdu::new(from, to, &payload, accepted.len() as u32)) {
            Ok(()) => accepted.push((from, to, payload)),
            Err(reason) => assert_eq!(reason, DropReason::QueueFull),
        }
        assert!(world.mac.queue(from).len() <= scenario.config.queue);
    }
    let mut us = 3_000_000;
    while world.mac.deadline().is_some() {
        us += 50_000_000;
        assert!(us < 10_000_000_000, "it never ends");
        world.run_until(us);
        check_nodes(scenario, &world, us);
        check_timelines(scenario, &mut world, us);
    }
    (world, accepted)
}

/// The times in the four states add up to the time that has passed. No queue is longer than its limit.
fn check_nodes(scenario: &Scenario, world: &World, us: u64) {
    for node in (0..scenario.nodes).map(NodeId) {
        let RadioTimes { transmit, receive, listen, sleep } = world.mac.radio_times(node, at(us));
        assert_eq!((transmit + receive + listen + sleep).as_micros(), us, "{node}");
        assert!(world.mac.queue(node).len() <= world.mac.queue(node).peak());
        assert!(world.mac.queue(node).peak() <= scenario.config.queue);
    }
}

/// If radios are watched, their intervals do not overlap, and they add up to the times.
fn check_timelines(scenario: &Scenario, world: &mut World, us: u64) {
    world.mac.report_radios(at(us), &mut world.air);
    if !world.air.watches_radios {
        return;
    }
    for node in (0..scenario.nodes).map(NodeId) {
        let end = at(us);
        assert!(world.air.timeline.iter().all(|interval| interval.to <= end));
        assert_eq!(world.air.radio_times(node, end), world.mac.radio_times(node, end), "{node} at {us}");
        let work = world.mac.radio_work(node, end);
        assert_eq!(work.ramps, world.air.ramps(node), "{node} at {us}");
        assert!(work.starts <= work.ramps + 1, "{node} at {us}: {work:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_invented_repeated_or_lost_without_a_reason(scenario in scenario()) {
        let (world, accepted) = run(&scenario);
        let mut received = vec![0; accepted.len()];
        let mut ended = vec![None; accepted.len()];
        let mut lost = vec![0; accepted.len()];
        for (_, indication) in &world.indications {
            match indication {
                Indication::Beacon { .. } | Indication::Multicast { .. } => unreachable!("all nodes have joined"),
                Indication::Received { node, from, datagram, payload, .. } => {
                    let (sender, destination, sent) = &accepted[*datagram as usize];
                    prop_assert_eq!((from, node, &payload[..]), (sender, destination, &sent[..]));
                    received[*datagram as usize] += 1;
                }
                Indication::Lost { node, datagram, reason } => {
                    prop_assert_eq!(*node, accepted[*datagram as usize].1);
                    prop_assert_eq!(*reason, DropReason::FrameLost);
                    lost[*datagram as usize] += 1;
                }
                Indication::Sent { node, datagram } => {
                    prop_assert_eq!(*node, accepted[*datagram as usize].0);
                    prop_assert_eq!(ended[*datagram as usize].replace("sent"), None);
                }
                Indication::Dropped { node, datagram, reason } => {
                    prop_assert_eq!(*node, accepted[*datagram as usize].0);
                    prop_assert_eq!(*reason, DropReason::RetriesExhausted);
                    prop_assert_eq!(ended[*datagram as usize].replace(reason.name()), None);
                }
            }
        }
        prop_assert!(received.iter().all(|&times| times <= 1), "{:?}", received);
        prop_assert!(ended.iter().all(Option::is_some), "{:?}", ended);
        let data = |datagram: usize| {
            world.air.frames.iter().filter(move |frame| frame.kind == FrameKind::Data && frame.datagram as usize == datagram)
        };
        for datagram in 0..accepted.len() {
            prop_assert!(received[datagram] == 0 || data(datagram).any(|frame| frame.received));
            if scenario.config.data_ack && ended[datagram] == Some("sent") {
                prop_assert_eq!(received[datagram], 1, "an acknowledged frame has arrived");
            }
            if !scenario.config.data_ack {
                prop_assert!(data(datagram).count() <= 1);
                // The observer sees what the link or a collision loses.
                let seen = data(datagram).filter(|frame| !frame.received).count();
                let sent = usize::from(ended[datagram] == Some("sent"));
                prop_assert_eq!(received[datagram] + lost[datagram] + seen, sent, "datagram {}", datagram);
            }
        }
        prop_assert!((0..scenario.nodes).all(|node| world.mac.queue(NodeId(node)).is_empty()));
    }

    #[test]
    fn nodes_transmit_exactly_what_is_on_the_air(scenario in scenario()) {
        let (world, _) = run(&scenario);
        let end = world.air.frames.iter().map(|frame| frame.at).max().unwrap_or(0) + 10_000;
        for node in (0..scenario.nodes).map(NodeId) {
            let frames = world.air.frames.iter().filter(|frame| frame.from == node);
            let on_air: u64 = frames.map(|frame| air_time(frame.octets.len() + 2).as_micros()).sum();
            prop_assert_eq!(world.mac.radio_times(node, at(end.max(3_000_000))).transmit.as_micros(), on_air);
        }
    }

    #[test]
    fn timelines_say_what_the_times_say(scenario in scenario()) {
        let (watched, unwatched) = (run_watched(&scenario, true).0, run(&scenario).0);
        prop_assert_eq!(watched.air.frames, unwatched.air.frames, "watching changes nothing");
        prop_assert_eq!(format!("{:?}", watched.indications), format!("{:?}", unwatched.indications));
    }

    #[test]
    fn the_same_seed_gives_the_same_run(scenario in scenario()) {
        let (first, second) = (run(&scenario).0, run(&scenario).0);
        prop_assert_eq!(first.air.frames, second.air.frames);
        prop_assert_eq!(format!("{:?}", first.indications), format!("{:?}", second.indications));
    }
}
