//! Slotted CSMA/CA and indirect transmission, clause by clause against IEEE 802.15.4-2006.

use super::*;
use crate::contention::air_time;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::PanError;
use slowhand_net::radio::beacon::{Beacon, BeaconConfig, BeaconConfigError, Downward, Superframe};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;

const INTERVAL: u64 = 983_040;
const BEACON: u64 = 320;

fn standard() -> BeaconConfig {
    BeaconConfig::standard(superframe())
}

/// A root and its children, all of which hear each other.
fn star(config: BeaconConfig, children: u16) -> Beacon {
    let parents: Vec<_> = (0..=children).map(|child| (child > 0).then_some(0)).collect();
    of_links(config, &parents, &clique(children + 1))
}

fn drops(indications: &[(slowhand_net::clock::Instant, Indication)]) -> Vec<(u64, DropReason)> {
    let dropped = |(time, indication): &(slowhand_net::clock::Instant, Indication)| match indication {
        Indication::Dropped { reason, .. } => Some((time.as_micros(), *reason)),
        _ => None,
    };
    indications.iter().filter_map(dropped).collect()
}

/// 7.5.1.4, steps 2 to 5, worked out by hand for two contenders. A node that finds the channel busy draws from a window
/// twice as large. The new back-off starts at the boundary after the assessment.
#[test]
fn a_busy_channel_doubles_the_window() {
    let mut mac = star(standard(), 2);
    let mut air = Recorder::default();
    for child in [1, 2] {
        mac.enqueue(at(0), Msdu::new(node(child), node(0), &[0; 60], u32::from(child))).unwrap();
    }
    run(&mut mac, at(BEACON + 61_440), &mut air);

    let streams = Streams::new(SEED);
    let mut random = [1, 2].map(|child| streams.stream("back-off", child));
    let first: Vec<u64> = random.iter_mut().map(|stream| 5 + stream.below(8)).collect();
    assert!(first[0].abs_diff(first[1]) > 1, "choose a seed with draws that let one find the other busy");
    let (winner, loser) = if first[0] < first[1] { (0, 1) } else { (1, 0) };
    let sent = first[winner] + 2;
    // In back-off periods: the data takes 8.9 of them, the acknowledgement begins 10 after it and takes 1.1. An
    // assessment is the first 8 symbols of a period; in the period between data and acknowledgement it is clear.
    let busy = |period: u64| (sent..sent + 9).contains(&period) || (sent + 10..sent + 12).contains(&period);
    let (mut period, mut exponent) = (first[loser], 3);
    loop {
        if busy(period) || busy(period + 1) {
            let assessed = if busy(period) { period } else { period + 1 };
            exponent = (exponent + 1).min(5);
            period = assessed + 1 + random[loser].below(1 << exponent);
            continue;
        }
        break;
    }
    let data: Vec<_> = air.of(FrameKind::Data).iter().map(|frame| (frame.from.0, frame.at)).collect();
    let expected = [(winner as u16 + 1, BEACON + sent * 320), (loser as u16 + 1, BEACON + (period + 2) * 320)];
    assert_eq!(data, expected);
}

/// 7.5.1.4: after macMaxCSMABackoffs busy assessments the algorithm ends with a failure; 7.5.6.4: no repetition then.
#[test]
fn a_channel_that_stays_busy_ends_a_frame() {
    let config = BeaconConfig { max_csma_backoffs: 0, backoff_exponents: (1, 1), ..standard() };
    let mut mac = star(config, 3);
    let mut air = Recorder::default();
    for child in 1..=3 {
        mac.enqueue(at(0), Msdu::new(node(child), node(0), &[0; 60], u32::from(child))).unwrap();
    }
    let indications = run(&mut mac, at(INTERVAL), &mut air);
    let streams = Streams::new(SEED);
    let drawn: Vec<u64> = (1..=3).map(|child| streams.stream("back-off", child).below(2)).collect();
    let late = drawn.iter().filter(|&&periods| periods > *drawn.iter().min().unwrap()).count();
    assert!(late > 0, "choose a seed whose draws differ");
    // Children that drew one period more find the channel busy at their second assessment, 3 periods after the first boundary.
    let busy = BEACON + (5 + 1 + 1) * 320 + 128;
    assert_eq!(drops(&indications)[..late], vec![(busy, DropReason::ChannelAccessFailure); late]);
    assert_eq!(air.of(FrameKind::Data).iter().filter(|frame| frame.attempt == 0).count(), 3 - late);
}

/// Children that do not hear each other collide at their parent, and both try again.
#[test]
fn hidden_terminals_collide_and_recover() {
    let parents = [None, Some(0), Some(0)];
    let contend = |seed| {
        let mut mac = seeded(seed, standard(), &parents, &tree(&parents, 1.0)).unwrap();
        let mut air = Recorder::default();
        for child in [1, 2] {
            mac.enqueue(at(0), Msdu::new(node(child), node(0), &[0; 10], u32::from(child))).unwrap();
        }
        (run(&mut mac, at(INTERVAL), &mut air), air)
    };
    let (mut collided, mut recovered) = (0, 0);
    for seed in 0..64 {
        let (indications, air) = contend(seed);
        let mut random = [1, 2].map(|child| Streams::new(seed).stream("back-off", child));
        let [one, other] = random.each_mut().map(|stream| stream.below(8));
        // 33 octets last 3.9 periods: frames that begin less than four periods apart overlap. The acknowledgement
        // begins after five. A node that begins four or five periods later sends while its parent sends. A node that
        // begins later hears the acknowledgement in one of its assessments and backs off.
        let first_attempts_received =
            air.of(FrameKind::Data).iter().filter(|frame| frame.attempt == 0 && frame.received).count();
        let expected = [0, 0, 0, 0, 1, 1, 2, 2][one.abs_diff(other) as usize];
        assert_eq!(first_attempts_received, expected, "seed {seed}");
        collided += usize::from(first_attempts_received == 0);
        let sent = indications.iter().filter(|(_, what)| matches!(what, Indication::Sent { .. })).count();
        recovered += usize::from(first_attempts_received == 0 && sent == 2);
        assert!(air.frames.is_sorted_by_key(|frame| frame.at), "shown in the order of their beginnings");
    }
    assert!(collided > 16 && recovered > collided / 2, "{recovered} of {collided} collisions recovered");
}

/// 7.5.5 and 7.2.2.1.6: a beacon lists seven addresses at most, first come, first served.
#[test]
fn a_beacon_lists_the_seven_that_wait_longest() {
    let mut mac = star(BeaconConfig { queue: 16, ..standard() }, 9);
    let mut air = Recorder::default();
    for child in (1..=9).rev() {
        mac.enqueue(at(0), Msdu::new(node(0), node(child), &[0; 10], u32::from(child))).unwrap();
    }
    run(&mut mac, at(4 * INTERVAL), &mut air);
    let beacons = air.of(FrameKind::Beacon);
    let listed = |octets: &[u8]| -> Vec<u8> { octets[17..].chunks(8).map(|address| address[0]).collect() };
    assert_eq!(beacons[0].octets[16], 0x70);
    assert_eq!(listed(&beacons[0].octets), [9, 8, 7, 6, 5, 4, 3]);
    let second = listed(&beacons[1].octets);
    assert!(second.ends_with(&[2, 1]), "{second:?}");
    let polls = air.frames.iter().filter(|frame| frame.kind == FrameKind::DataRequest && frame.at < INTERVAL);
    assert!(polls.clone().count() >= 7 && polls.clone().all(|frame| frame.from.0 >= 3));
}

/// 7.5.6.3: a child whose frame says that more waits asks again in the same active period.
#[test]
fn more_frames_for_one_child_are_fetched_one_by_one() {
    let mut mac = of_tree(standard(), &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    for datagram in 0..2 {
        mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 10], datagram)).unwrap();
    }
    run(&mut mac, at(INTERVAL / 2), &mut air);
    let frames: Vec<_> =
        air.frames.iter().map(|frame| (frame.kind, frame.from.0, frame.octets[0] & 0x10 != 0)).collect();
    use FrameKind::*;
    let expected = [
        (Beacon, 0, false),
        (DataRequest, 1, false),
        (Ack, 0, true),
        (Data, 0, true),
        (Ack, 1, false),
        (DataRequest, 1, false),
        (Ack, 0, true),
        (Data, 0, false),
        (Ack, 1, false),
    ];
    assert_eq!(frames, expected);
}

/// 7.5.6.4.3: an indirect frame that is not acknowledged is repeated when the child asks again, with the same number.
#[test]
fn an_unacknowledged_indirect_frame_waits_for_the_next_request() {
    let mut links = LinkQuality::symmetric(node(0), node(1), 1.0);
    links[1].ack = 0.0; // what node 1 acknowledges is not heard
    let mut mac = of_links(BeaconConfig { transaction_persistence: 3, ..standard() }, &[None, Some(0)], &links);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 10], 9)).unwrap();
    let indications = run(&mut mac, at(20 * INTERVAL), &mut air);
    let data = air.of(FrameKind::Data);
    let superframes: Vec<_> = data.iter().map(|frame| frame.at / INTERVAL).collect();
    assert_eq!(superframes, [0, 1, 2], "one transmission a superframe");
    assert!(data.iter().all(|frame| frame.received && frame.octets[2] == data[0].octets[2]));
    let received = indications.iter().filter(|(_, what)| matches!(what, Indication::Received { .. })).count();
    assert_eq!(received, 1, "repetitions are not passed up");
    // Given at 0, it has persisted for three intervals at the fourth beacon.
    assert_eq!(drops(&indications), [(BEACON + 3 * INTERVAL, DropReason::TransactionExpired)]);
}

/// 7.4.2: macTransactionPersistenceTime is 500 intervals.
#[test]
fn what_is_never_fetched_expires() {
    let mut links = LinkQuality::symmetric(node(0), node(1), 1.0);
    links[0].data = 0.0; // node 1 hears no beacon
    let mut mac = of_links(standard(), &[None, Some(0)], &links);
    let mut air = Recorder::default();
    mac.enqueue(at(BEACON), Msdu::new(node(0), node(1), &[0; 10], 9)).unwrap();
    let indications = run(&mut mac, at(600 * INTERVAL), &mut air);
    assert_eq!(drops(&indications), [(BEACON + 500 * INTERVAL, DropReason::TransactionExpired)]);
    assert!(air.frames.iter().all(|frame| frame.kind == FrameKind::Beacon && !frame.received));
    assert_eq!(mac.deadline(), None);
}

/// 7.5.6.3: the child waits macMaxFrameTotalWaitTime for what the acknowledgement promised.
#[test]
fn a_promised_frame_that_does_not_come_is_waited_for() {
    // Windows of 8, 16 and twice 31 periods, and the longest frame of 266 symbols: 1,986 symbols.
    assert_eq!(standard().max_frame_total_wait(), us(1_986 * 16));
    let parents = [None, Some(0)];
    // The beacon must arrive and the data frame after it must not. The test tries seeds, each with an even chance.
    let lossy = |seed: u64| {
        let mut links = LinkQuality::symmetric(node(0), node(1), 1.0);
        links[0].data = 0.5;
        let mut mac = seeded(seed, standard(), &parents, &links).unwrap();
        let mut air = Recorder::default();
        mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0; 10], 9)).unwrap();
        run(&mut mac, at(INTERVAL / 2), &mut air);
        (mac, air)
    };
    let lost = |air: &Recorder| air.of(FrameKind::Data).first().is_some_and(|frame| !frame.received);
    let (mac, air) = (0..64).map(lossy).find(|(_, air)| lost(air)).unwrap();
    assert_eq!(air.of(FrameKind::Data).len(), 1, "it asks again after the next beacon only");
    let acknowledged = air.of(FrameKind::Ack)[0].at + 352;
    let times = mac.radio_times(node(1), at(INTERVAL / 2));
    assert_eq!(times.listen + times.transmit + times.receive, us(acknowledged + 1_986 * 16));
}

/// A child that loses a beacon takes no part in the superframe.
#[test]
fn a_lost_beacon_is_a_lost_superframe() {
    let mut links = LinkQuality::symmetric(node(0), node(1), 1.0);
    links[0].data = 0.5;
    let config = BeaconConfig { trace_idle_beacons: true, ..standard() };
    let mut mac = of_links(config, &[None, Some(0)], &links);
    let (mut air, mut sent) = (Recorder::default(), 0);
    for superframe in 0..64u64 {
        // In the middle of the active period.
        let now = at(BEACON + superframe * INTERVAL + 30_000);
        run(&mut mac, now, &mut air);
        mac.enqueue(now, Msdu::new(node(1), node(0), &[0; 10], superframe as u32)).unwrap();
        let indications = run(&mut mac, now + us(30_000), &mut air);
        let beacon = air.of(FrameKind::Beacon)[superframe as usize].clone();
        assert_eq!(beacon.octets[2], superframe as u8);
        let heard = !indications.is_empty();
        assert_eq!(heard, beacon.received, "superframe {superframe}");
        sent += u32::from(heard);
        run(&mut mac, now + us(60_000), &mut air);
        if !heard {
            assert!(!mac.queue(node(1)).is_empty());
        }
    }
    assert!((16..=48).contains(&sent), "{sent} of 64 at an even chance");
    let times = mac.radio_times(node(1), at(64 * INTERVAL));
    assert_eq!(times.listen + times.receive + times.transmit + times.sleep, us(64 * INTERVAL));
}

/// 7.5.1.1: a coordinator's active period does not overlap its parent's. Here no two coordinators that hear each other
/// overlap.
#[test]
fn active_periods_are_staggered() {
    let parents = [None, Some(0), Some(1), Some(2), Some(3), Some(4)];
    let mac = of_tree(standard(), &parents, 1.0);
    let begin = |id: u16| mac.beacon_time(node(id)).map(|time| (time.as_micros() - BEACON) / 61_440);
    // BO 6, SO 2: 16 periods. Each follows its parent's.
    assert_eq!((0..6).map(begin).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), Some(3), Some(4), None]);
    // Four periods: the fifth coordinator takes the first period again. It does not hear the first coordinator.
    let mac = of_tree(BeaconConfig::standard(Superframe::of_orders(4, 2).unwrap()), &parents, 1.0);
    let begin = |id: u16| mac.beacon_time(node(id)).map(|time| (time.as_micros() - BEACON) / 61_440);
    assert_eq!((0..6).map(begin).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), Some(3), Some(0), None]);
}

#[test]
fn what_cannot_work_is_refused_with_a_reason() {
    let build = |config: BeaconConfig, parents: &[Option<u16>], linked: &[(u16, u16)]| {
        let links: Vec<_> = linked.iter().flat_map(|&(a, b)| LinkQuality::symmetric(node(a), node(b), 1.0)).collect();
        seeded(1, config, parents, &links).err()
    };
    let line = [(0, 1), (1, 2), (2, 3)];
    let parents = [None, Some(0), Some(1), Some(2)];
    let custom = |interval, cap| BeaconConfig::standard(Superframe { interval: us(interval), cap: us(cap) });
    assert_eq!(build(standard(), &parents, &line), None);
    assert_eq!(
        Superframe::of_orders(3, 4).err(),
        Some(BeaconConfigError::Orders { beacon_order: 3, superframe_order: 4 })
    );
    assert_eq!(
        Superframe::of_orders(15, 0).err(),
        Some(BeaconConfigError::Orders { beacon_order: 15, superframe_order: 0 })
    );
    assert_eq!(
        build(custom(61_440, 30_720), &parents, &line),
        Some(BeaconConfigError::NoRoom { coordinator: node(2), room: 2 })
    );
    assert!(matches!(
        build(custom(61_440, 7_040), &parents, &line),
        Some(BeaconConfigError::ActivePeriodTooShort { .. })
    ));
    assert!(matches!(build(custom(0, 0), &parents, &line), Some(BeaconConfigError::ActivePeriodTooShort { .. })));
    assert!(matches!(
        build(custom(30_000, 30_720), &parents, &line),
        Some(BeaconConfigError::ActivePeriodTooLong { .. })
    ));
    assert_eq!(
        build(BeaconConfig { channel: 27, ..standard() }, &parents, &line),
        Some(BeaconConfigError::Pan(PanError::Channel(27)))
    );
    assert_eq!(
        build(BeaconConfig { backoff_exponents: (4, 3), ..standard() }, &parents, &line),
        Some(BeaconConfigError::Pan(PanError::BackoffExponents { min: 4, max: 3 }))
    );
    assert_eq!(
        build(BeaconConfig { downward: Downward::Direct, ..standard() }, &parents, &line),
        Some(BeaconConfigError::NobodyListens)
    );
    assert_eq!(
        build(standard(), &parents, &line[..2]),
        Some(BeaconConfigError::Pan(PanError::NoLink { child: node(3), parent: node(2) }))
    );
    assert_eq!(
        build(standard(), &[None, Some(0), None, Some(2)], &line),
        Some(BeaconConfigError::Pan(PanError::Parents { parents: 2, nodes: 4 }))
    );
    let cycle = [None, Some(2), Some(1), Some(2)];
    assert_eq!(build(standard(), &cycle, &line), Some(BeaconConfigError::Pan(PanError::NotATree(node(1)))));
}

#[test]
fn what_cannot_be_sent_is_refused_with_a_reason() {
    let mut mac = of_tree(BeaconConfig { queue: 2, ..standard() }, &[None, Some(0), Some(1)], 1.0);
    let mut give = |from, to, length| mac.enqueue(at(0), Msdu::new(node(from), node(to), &vec![0; length], 0));
    assert_eq!(give(0, 2, 10), Err(DropReason::NoCell), "not a neighbour in the tree");
    assert_eq!(give(0, 1, 105), Err(DropReason::Malformed));
    assert_eq!(give(1, 0, 104), Ok(()));
    assert_eq!(give(1, 2, 104), Ok(()));
    assert_eq!(give(1, 0, 104), Err(DropReason::QueueFull));
    assert_eq!((mac.queue(node(1)).len(), mac.queue(node(1)).peak(), mac.queue(node(0)).len()), (2, 2, 0));
}

/// Two children that do not hear each other contend after the same beacon, each for one attempt. Each draws a number below
/// W = 2^BE. The acknowledgement of the first frame begins L periods after it, on a boundary at least 192 us behind its end.
/// The second child hears the acknowledgement in its assessments, and waits, if its number is higher by L + 1 or more. Else
/// both frames overlap, or the root sends when the second begins. So both arrive with the probability
/// (W - L - 1)(W - L) / W^2: never if W <= L. The standard has no other random delay here, not before a repetition either
/// (7.5.6.4.3; TKN15.4 of TinyOS does the same, `DispatchSlottedCsmaP.nc`). 1,000 superframes: five standard deviations of the
/// share are at most 0.079.
#[test]
fn hidden_children_meet_as_often_as_their_windows_say() {
    for (exponent, octets) in [(3, 98), (3, 20), (5, 98), (6, 98), (7, 98)] {
        let air = (21 + octets as u64 + 2 + 6) * 32;
        let (window, length) = (1u64 << exponent, (air + 192).div_ceil(320));
        let apart = window.saturating_sub(length + 1);
        let expected = (apart * (apart + 1)) as f64 / (window * window) as f64;
        let superframe = Superframe::of_orders(6, 4).unwrap();
        let config = BeaconConfig {
            backoff_exponents: (exponent, exponent),
            max_retries: 0,
            ..BeaconConfig::standard(superframe)
        };
        let parents = [None, Some(0), Some(0)];
        let mut mac = of_tree(config, &parents, 1.0);
        let rounds = 1_000;
        let mut both = 0;
        for round in 0..rounds {
            // In the inactive part, so that both wait for the next beacon.
            let now = at(320 + 500_000) + superframe.interval * round;
            run(&mut mac, now, &mut Recorder::default());
            for child in [1, 2] {
                mac.enqueue(now, Msdu::new(node(child), node(0), &vec![0; octets], child.into())).unwrap();
            }
            let indications = run(&mut mac, now + superframe.interval, &mut Recorder::default());
            both += usize::from(received(&indications, node(0)).len() == 2);
        }
        let share = both as f64 / rounds as f64;
        assert!((share - expected).abs() < 0.079, "BE {exponent}, {octets} octets: {share}, {expected} expected");
    }
}

/// An answer goes without an assessment of the channel. If its coordinator then has another child's frame to acknowledge, the
/// answer waits: a radio sends one frame at a time.
#[test]
fn an_answer_waits_while_its_coordinator_acknowledges_another_child() {
    const CHILDREN: u16 = 4;
    for handling in [0, 1_500, 5_500] {
        let (mut mac, mut air) = (star(standard(), CHILDREN), Recorder::default());
        mac.queue_mut(node(0)).processor_mut().set_handling(us(handling));
        for (number, child) in (0..100).flat_map(|number| (1..=CHILDREN).map(move |child| (number, child))) {
            run(&mut mac, at(number * INTERVAL), &mut air);
            for [from, to] in [[0, child], [child, 0]] {
                mac.enqueue(at(number * INTERVAL), Msdu::new(node(from), node(to), &[0; 20], child.into())).ok();
            }
        }
        run(&mut mac, at(200 * INTERVAL), &mut air);
        let own: Vec<_> = air.frames.iter().filter(|frame| frame.from == node(0)).collect();
        let answers = own.iter().filter(|frame| frame.kind == FrameKind::Data && frame.received).count();
        assert!(answers > 100, "{answers} answers arrived, each after {handling} us");
        for two in own.windows(2) {
            assert!(two[0].at + air_time(two[0]) <= two[1].at, "{handling} us for a frame: {two:?}");
        }
    }
}
