//! The state machine against the behaviour that the sources describe.

use super::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::xmac::XmacConfig;
use slowhand_net::radio::{Mac, Msdu};

/// From the last symbol of a strobe to the last of a data frame of this many octets of payload.
fn strobe_to_data_end(payload: u64) -> u64 {
    1_000 + 992 + 1_000 + (6 + 21 + payload + 2) * 32
}

#[test]
fn a_lost_strobe_acknowledgement_prolongs_the_train() {
    let mut lost = 0;
    for seed in 0..20 {
        let links = [pair(1.0)[0].clone(), LinkQuality { ack: 0.5, ..pair(1.0)[1].clone() }];
        let mut world = World::new(config(), &[100_000, 40_000], &links, seed);
        world.send(0, A, B, 60, 1);
        world.run_out(2_000_000);
        assert_eq!(world.received(B).len(), 1);
        let frames: Vec<_> = world.air.frames.iter().map(|frame| (frame.at, frame.kind, frame.received)).collect();
        for window in frames.windows(3) {
            let [(strobe, FrameKind::Strobe, true), (_, FrameKind::StrobeAck, arrived), next] = *window else {
                continue;
            };
            lost += u32::from(!arrived);
            let expected =
                if arrived { (strobe + 3_984, FrameKind::Data) } else { (strobe + 5_432, FrameKind::Strobe) };
            assert_eq!((next.0, next.1), expected, "seed {seed}");
        }
    }
    assert!(lost > 0);
}

#[test]
fn a_lost_data_frame_goes_unnoticed() {
    let mut world = World::new(config(), &[100_000, 40_000], &pair(0.7), 5);
    for datagram in 0..40 {
        world.send(u64::from(datagram) * 2_000_000, A, B, 60, datagram);
    }
    world.run_out(80_000_000);
    let data: Vec<_> = world.air.frames.iter().filter(|frame| frame.kind == FrameKind::Data).collect();
    let (arrived, lost): (Vec<&Frame>, Vec<&Frame>) = data.iter().copied().partition(|frame| frame.received);
    // 40 draws of 30 %: between 2 and 25 with a probability of more than 1 - 1e-4.
    assert!((2..=25).contains(&lost.len()), "{}", lost.len());
    assert_eq!(world.sent(), data.iter().map(|frame| (frame.at + 2_848, frame.datagram)).collect::<Vec<_>>());
    assert_eq!(world.received(B), arrived.iter().map(|frame| (frame.at + 2_848, frame.datagram)).collect::<Vec<_>>());
}

/// Worlds in which B has just answered A's strobe and lost the data frame; and when that frame began.
fn data_frames_lost() -> impl Iterator<Item = (World, u64)> {
    (0..200).filter_map(|seed| {
        let mut world = World::new(config(), &[100_000, 40_000], &pair(0.6), seed);
        world.send(0, A, B, 60, 1);
        world.run_until(60_000);
        let data = world.air.frames.iter().find(|frame| frame.kind == FrameKind::Data && !frame.received)?.at;
        Some((world, data))
    })
}

#[test]
fn who_has_answered_a_strobe_waits_through_the_end_of_the_next_wake_up() {
    let mut worlds = 0;
    for (mut world, data) in data_frames_lost() {
        world.run_out(500_000);
        // It was awake from 40,000 us to 47,812, and wakes up again 125,000 and 250,000 us later.
        let answered = world.air.begins(FrameKind::StrobeAck, B).last().unwrap() - 1_000;
        let until = if answered < 47_812 { 172_812 } else { 297_812 };
        let since = |from, to| world.mac.radio_times(B, at(to)).since(world.mac.radio_times(B, at(from)));
        assert_eq!(since(data + 2_848, until).listen.as_micros(), until - (data + 2_848));
        assert_eq!(since(until, until + 117_188).sleep.as_micros(), 117_188);
        worlds += 1;
    }
    assert!(worlds > 10);
}

#[test]
fn who_has_answered_a_strobe_sends_nothing_until_its_next_wake_up() {
    let mut worlds = 0;
    for (mut world, data) in data_frames_lost() {
        world.send(data + 2_849, B, A, 60, 2);
        world.run_until(300_000);
        assert!(world.air.begins(FrameKind::Strobe, B).iter().all(|&strobe| strobe >= 165_000));
        worlds += 1;
    }
    assert!(worlds > 10);
}

#[test]
fn a_strobe_is_held_back_while_the_channel_is_busy_unless_that_comes_too_late() {
    let everyone = clique(3);
    let first_strobe_of_c = |start, assess_channel| {
        let config = XmacConfig { assess_channel, ..config() };
        let mut world = World::new(config, &[90_000, 100_000, 80_000], &everyone, 1);
        world.send(0, A, B, 60, 1);
        world.send(start, C, B, 60, 2);
        world.run_out(10_000_000);
        world.air.begins(FrameKind::Strobe, C)[0]
    };
    // A's first strobe lasts from 5,752 to 6,744 us. C's would begin at 6,252. C assesses the channel until 192 us
    // before that.
    assert_eq!(first_strobe_of_c(500, false), 6_252);
    assert!(first_strobe_of_c(500, true) > 100_000, "after A's frame is through");
    // Here C has assessed the channel until 5,660. It is already turning to send when A begins.
    assert_eq!(first_strobe_of_c(100, true), 5_852);
}

#[test]
fn a_strobe_of_another_ends_the_train() {
    let everyone = clique(3);
    for seed in 0..20 {
        let mut world = World::new(config(), &[90_000, 100_000, 80_000], &everyone, seed);
        world.send(0, A, B, 60, 1);
        world.send(1_000, C, B, 60, 2);
        world.run_until(6_745);
        // C has listened from 1,000 us until A's first strobe was over, at 6,744.
        assert_eq!(world.mac.processor_time(C).as_micros(), 5_744);
        world.run_out(10_000_000);
        assert_eq!(world.received(B).len(), 2);
        // If all nodes hear each other, one exchange is over before another begins.
        let done = world.received(B)[0].0;
        assert!(world.air.begins(FrameKind::Strobe, C)[0] > done, "seed {seed}");
    }
}

#[test]
fn who_overhears_a_strobe_lets_it_go_first_for_two_wake_ups() {
    let everyone = clique(3);
    for seed in 0..20 {
        // C is awake from 5,000 us and hears A's first strobe, at 5,752, but not the data frame.
        let mut world = World::new(config(), &[90_000, 100_000, 5_000], &everyone, seed);
        world.send(0, A, B, 60, 1);
        world.send(8_000, C, B, 60, 2);
        world.run_out(20_000_000);
        assert!(world.air.begins(FrameKind::Strobe, C)[0] >= 255_000, "seed {seed}: before C's second wake-up");
        assert_eq!(world.received(B).len(), 2);
    }
}

#[test]
fn strobes_of_hidden_terminals_collide_and_both_give_up() {
    let mut world = World::new(config(), &[0, 40_000, 0], &line(2, 1.0), 1);
    world.send(0, A, B, 60, 1);
    world.send(0, C, B, 60, 2);
    world.run_out(2_000_000);
    // A train that nobody answers is followed by the next at once. So both nodes keep in step: 8 trains of 147,976 us.
    assert!(world.air.frames.iter().all(|frame| frame.kind == FrameKind::Strobe && !frame.received));
    let dropped: Vec<_> =
        world.indications.iter().map(|(now, dropped)| (now.as_micros(), format!("{dropped:?}"))).collect();
    let drop = |node, datagram| {
        (1_183_808, format!("Dropped {{ node: NodeId({node}), datagram: {datagram}, reason: RetriesExhausted }}"))
    };
    assert_eq!(dropped, [drop(0, 1), drop(2, 2)]);
}

/// A strobes from 5,752 us on, C from 7,752. B wakes up at 40,000. C's strobe number 6, at 40,344, is the first that it
/// receives. B answers from 42,336 to 43,328. C's data frame of 100 octets lasts from 44,328 to 48,456 and overlaps A's
/// strobe at 43,776.
fn data_of_a_hidden_terminal_collides(config: XmacConfig) -> World {
    let mut world = World::new(config, &[0, 40_000, 0], &line(2, 1.0), 1);
    world.send(0, A, B, 100, 1);
    world.send(2_000, C, B, 100, 2);
    world.run_out(2_000_000);
    assert_eq!(world.air.begins(FrameKind::StrobeAck, B)[0], 42_336);
    let first = world.air.frames.iter().find(|frame| frame.kind == FrameKind::Data).unwrap();
    assert_eq!((first.at, first.from, first.received), (44_328, C, false));
    let overlapping = world.air.frames.iter().find(|frame| frame.at == 43_776).unwrap();
    assert_eq!((overlapping.from, overlapping.received), (A, false));
    // A's next strobe, at 49,208, finds B still waiting.
    assert_eq!(world.received(B)[0], (49_208 + 992 + strobe_to_data_end(100), 1));
    world
}

#[test]
fn data_of_a_hidden_terminal_is_lost_in_a_collision() {
    let world = data_of_a_hidden_terminal_collides(config());
    assert_eq!(world.sent()[0], (48_456, 2));
    assert_eq!(world.received(B).len(), 1, "C's frame is gone");
}

#[test]
fn with_acknowledged_data_the_collision_is_noticed() {
    let world = data_of_a_hidden_terminal_collides(config().with_data_ack());
    // C knows since 43,328 when B is awake, and begins to strobe 12,450 us before 168,328; B is awake from 165,000.
    let strobes = world.air.begins(FrameKind::Strobe, C);
    let strobe = 168_328 - 12_450 + 5_752 + 5_432;
    assert_eq!(strobes[strobes.len() - 2..], [strobe - 5_432, strobe]);
    assert_eq!(world.received(B)[1], (strobe + 992 + strobe_to_data_end(100), 2));
}

#[test]
fn a_repeated_data_frame_is_passed_up_once() {
    let links = [pair(1.0)[0].clone(), LinkQuality { ack: 0.5, ..pair(1.0)[1].clone() }];
    let mut world = World::new(config().with_data_ack(), &[100_000, 40_000], &links, 3);
    for datagram in 0..30 {
        world.send(u64::from(datagram) * 3_000_000, A, B, 60, datagram);
    }
    world.run_out(120_000_000);
    let data: Vec<_> = world.air.begins(FrameKind::Data, A);
    assert!(data.len() > 40, "about half of the acknowledgements are lost: {}", data.len());
    assert_eq!(world.air.begins(FrameKind::Ack, B).len(), data.len());
    let arrived: Vec<_> = world.received(B).iter().map(|(_, datagram)| *datagram).collect();
    assert_eq!(arrived, (0..30).collect::<Vec<_>>());
}

#[test]
fn four_neighbours_are_remembered() {
    let leaves: Vec<NodeId> = (1..=5).map(NodeId).collect();
    let links: Vec<_> = leaves.iter().flat_map(|&leaf| LinkQuality::symmetric(A, leaf, 1.0)).collect();
    let phases = [0, 60_000, 70_000, 80_000, 90_000, 100_000];
    let mut world = World::new(config(), &phases, &links, 1);
    let mut strobes = |from_us: u64| -> Vec<usize> {
        let train = |(&leaf, number): (&NodeId, u64)| {
            world.air.frames.clear();
            let start = from_us + number * 1_000_000;
            world.send(start, A, leaf, 60, 1);
            world.run_out(start + 1_000_000);
            world.air.begins(FrameKind::Strobe, A).len()
        };
        leaves.iter().zip(0..).map(train).collect()
    };
    assert!(strobes(0).iter().all(|&count| count > 9), "no wake-up is known");
    let again = strobes(5_000_000);
    assert!(again[..4].iter().all(|&count| count <= 2), "{again:?}");
    assert!(again[4] > 9, "{again:?}");
}

#[test]
fn queues_are_bounded() {
    let links: Vec<_> = (1..=3).flat_map(|leaf| LinkQuality::symmetric(A, NodeId(leaf), 1.0)).collect();
    let mut world = World::new(config(), &[0, 10_000, 20_000, 30_000], &links, 1);
    let mut enqueue =
        |node, octets: usize| world.mac.enqueue(at(0), Msdu::new(A, NodeId(node), &vec![0x5a; octets], 1));
    assert_eq!(enqueue(4, 60), Err(DropReason::NoCell));
    assert_eq!(enqueue(1, 105), Err(DropReason::Malformed));
    assert_eq!(enqueue(1, 104), Ok(()));
    assert_eq!(enqueue(2, 60), Ok(()));
    assert_eq!(enqueue(3, 60), Err(DropReason::QueueFull), "frames for two neighbours at most");
    assert!((0..6).all(|_| enqueue(2, 60) == Ok(())));
    assert_eq!(enqueue(2, 60), Err(DropReason::QueueFull), "eight frames at most");
    assert_eq!((world.mac.queue(A).len(), world.mac.queue(A).peak()), (8, 8));
    world.run_out(10_000_000);
    assert_eq!((world.mac.queue(A).len(), world.mac.queue(A).peak()), (0, 8));
    assert_eq!(world.received(NodeId(2)).len(), 7);
}

#[test]
fn a_strobe_carries_the_number_and_the_addresses_of_its_data_frame() {
    let mut world = World::new(config(), &[100_000, 40_000], &pair(1.0), 1);
    world.send(0, A, B, 60, 1);
    world.send(0, A, B, 60, 2);
    world.run_out(1_000_000);
    for datagram in [1, 2] {
        let of = |kind| world.air.frames.iter().find(|frame| frame.kind == kind && frame.datagram == datagram).unwrap();
        let (strobe, data) = (of(FrameKind::Strobe), of(FrameKind::Data));
        assert_eq!(strobe.octets[..21], data.octets[..21]);
        assert_eq!((strobe.octets.len(), data.octets.len()), (23, 81));
        assert_eq!(u32::from(strobe.octets[2]) + 1, datagram);
    }
}

#[test]
fn the_constants_are_those_of_the_sources() {
    let config = XmacConfig::cxmac(Duration::from_millis(500));
    // 32,768 ticks a second: 204 of them are 6,225 us, 178 are 5,432 us; a tick of 1/128 s is 7,812 us.
    assert_eq!(config.awake.as_micros(), 7_812);
    assert_eq!(config.strobe_gap.as_micros(), 5_432);
    assert_eq!(config.phase_lead.as_micros(), 2 * 6_225);
    // 4 on-times and the off-time of 493,775 us.
    assert_eq!(config.strobe_limit.as_micros(), 4 * 6_225 + 493_775);
    // 20 + 12 symbols, and 6 + 15 octets.
    assert_eq!(config.data_ack_wait.as_micros(), 32 * 16 + 21 * 32);
}

/// B has answered C's strobe, and C sends its data frame. In between comes a strobe of A, which hears neither C nor, without
/// an assessment, that the channel was busy. B's processor is busy with the answer to A, and loses the data frame.
#[test]
fn a_data_frame_that_comes_while_the_processor_answers_is_lost_with_a_reason() {
    let config = XmacConfig { assess_channel: false, ..config() };
    let links = [both(0, 1, 1.0), both(1, 2, 1.0)].concat();
    let mut world = World::new(config, &[100_000, 40_000, 100_000], &links, 1);
    world.send(0, C, B, 1, 1);
    // The answer to C ends at 46,760 (see the tests of the timing). A's first strobe lasts from 46,764 to 47,756, C's data
    // frame of 30 octets from 47,760 to 48,720, and the answer to A begins at 48,756.
    world.send(46_764 - 5_752, A, B, 60, 2);
    world.run_until(48_756);
    assert_eq!(world.air.begins(FrameKind::Strobe, A), [46_764]);
    assert_eq!(world.air.begins(FrameKind::Data, C), [47_760]);
    assert_eq!(world.received(B), []);
    let lost = |(_, indication): &(_, Indication)| {
        matches!(indication, Indication::Lost { node: B, datagram: 1, reason: DropReason::FrameLost })
    };
    assert_eq!(world.indications.iter().filter(|indication| lost(indication)).count(), 1);
}
