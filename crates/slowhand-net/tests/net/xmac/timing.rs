//! Microseconds worked out by hand from the check interval, the on-time, the strobes and their gap.
//!
//! The figures behind all of them: the check interval is 125,000 us, a wake-up lasts 7,812 us. The radio listens for
//! 5,432 us (178/32,768 s) before each strobe, which begins 320 us later: strobe k begins 5,752 + 5,432 k
//! after the radio was switched on. A strobe and its acknowledgement have 25 octets and, with 6 of
//! synchronisation, last 31 * 32 = 992 us. A data frame with 60 octets of payload has 83, and lasts 2,848 us.
//! Between strobe, acknowledgement and data there are 1,000 us.

use super::*;
use slowhand_net::clock::Duration;
use slowhand_net::link::LinkQuality;
use slowhand_net::observer::{FrameKind, RadioTimes, RadioWork};
use slowhand_net::radio::Mac;
use slowhand_net::radio::xmac::{Retry, XmacConfig};

/// A sends to B. It does not know B's wake-ups, at 40,000 us and every 125,000 us from there.
fn first_frame() -> World {
    let mut world = World::new(config(), &[100_000, 40_000], &pair(1.0), 1);
    world.send(0, A, B, 60, 1);
    world.run_until(60_000);
    world
}

#[test]
fn with_the_phase_unknown_the_train_meets_the_first_wake_up() {
    let world = first_frame();
    // The first strobe from 40,000 us on is number 7, at 5,752 + 7 * 5,432 = 43,776.
    let strobes: Vec<u64> = (0..8).map(|strobe| 5_752 + 5_432 * strobe).collect();
    assert_eq!(world.air.begins(FrameKind::Strobe, A), strobes);
    assert_eq!(strobes[7], 43_776);
    // It ends at 44,768, its acknowledgement lasts from 45,768 to 46,760, the data frame from 47,760 to 50,608.
    assert_eq!(world.air.begins(FrameKind::StrobeAck, B), [45_768]);
    assert_eq!(world.air.begins(FrameKind::Data, A), [47_760]);
    assert_eq!(world.received(B), [(50_608, 1)]);
    assert_eq!(world.sent(), [(50_608, 1)]);
    assert_eq!(
        world.air.frames.iter().filter(|frame| frame.received).count(),
        3,
        "one strobe, its acknowledgement, data"
    );
}

#[test]
fn the_states_of_both_radios_account_for_each_microsecond() {
    let world = first_frame();
    let times = |transmit, receive, listen, sleep| RadioTimes {
        transmit: Duration::from_micros(transmit),
        receive: Duration::from_micros(receive),
        listen: Duration::from_micros(listen),
        sleep: Duration::from_micros(sleep),
    };
    let end = at(50_608);
    // A: 8 strobes and the data frame; one strobe acknowledgement. It is on until the end of the acknowledgement, then
    // off until the data frame.
    let listen = 46_760 - 8 * 992 - 992;
    assert_eq!(world.mac.radio_times(A, end), times(8 * 992 + 2_848, 992, listen, 1_000));
    // B: asleep up to its wake-up; awake before the strobe, before its answer and before the data.
    assert_eq!(world.mac.radio_times(B, end), times(992, 992 + 2_848, 3_776 + 1_000 + 1_000, 40_000));
    // After that B goes back to sleep and wakes up at 165,000 us, A at 100,000 us.
    assert_eq!(world.mac.radio_times(B, at(165_000)).since(world.mac.radio_times(B, end)), times(0, 0, 0, 114_392));
    assert_eq!(world.mac.radio_times(A, at(200_000)).since(world.mac.radio_times(A, end)), times(0, 0, 7_812, 141_580));
    // A is on from the beginning, ready until its data frame, and has woken up once since. B wakes up at 40,000 and 165,000 us.
    let ready = us(1_000);
    assert_eq!(world.mac.radio_work(A, end), RadioWork { starts: 0, ramps: 1, ramps_from_ready: 1, ready });
    assert_eq!(world.mac.radio_work(A, at(200_000)), RadioWork { starts: 1, ramps: 2, ramps_from_ready: 1, ready });
    assert_eq!(world.mac.radio_work(B, end), RadioWork { starts: 1, ramps: 1, ..RadioWork::default() });
    assert_eq!(world.mac.radio_work(B, at(165_001)), RadioWork { starts: 2, ramps: 2, ..RadioWork::default() });
    // B handles the strobe, makes its acknowledgement, and handles the data frame.
    assert_eq!(world.mac.queue(B).processor().frames().all, 3);
    // A was busy with sending all the time.
    assert_eq!(world.mac.processor_time(A), Duration::from_micros(50_608));
    assert_eq!(world.mac.processor_time(B), Duration::ZERO);
}

#[test]
fn with_the_phase_known_strobing_begins_two_on_times_before_the_wake_up() {
    let mut world = first_frame();
    world.air.frames.clear();
    world.send(60_000, A, B, 60, 2);
    world.run_until(171_895);
    // The acknowledgement came at 46,760: B is expected at 171,760, and 2 * 6,225 us before that, at 159,310, the radio
    // goes on. The first strobe, at 165,062, already meets B, which is awake from 165,000 on.
    assert_eq!(world.air.begins(FrameKind::Strobe, A), [165_062]);
    assert_eq!(world.air.begins(FrameKind::StrobeAck, B), [167_054]);
    assert_eq!(world.air.begins(FrameKind::Data, A), [169_046]);
    assert_eq!(world.received(B), [(50_608, 1), (171_894, 2)]);
}

#[test]
fn who_begins_to_send_hears_nothing_more() {
    let mut world = first_frame();
    world.send(60_000, A, B, 60, 2);
    // B is awake from 165,000 us on. A's strobe lasts from 165,062 to 166,054. In the middle of it B has a frame for A: from
    // then on it listens before its own strobe, and A's is not received.
    world.send(165_500, B, A, 60, 3);
    world.run_until(166_000);
    let [before, after] = [165_500, 166_000].map(|us| world.mac.radio_times(B, at(us)));
    let listened = RadioTimes { listen: Duration::from_micros(500), ..RadioTimes::default() };
    assert_eq!(after.since(before), listened);
    world.run_until(170_000);
    let strobe = world.air.frames.iter().find(|frame| frame.at == 165_062).unwrap();
    assert_eq!((strobe.from, strobe.received), (A, false));
}

#[test]
fn a_wake_up_that_fell_due_while_sending_happens_afterwards() {
    let mut world = first_frame();
    world.send(60_000, A, B, 60, 2);
    world.run_until(171_895);
    // A should have woken up at 100,000 us, but waited for B. It wakes up when it has sent, at 171,894 us. B then has a
    // frame for A: its first strobe lasts from 177,646 to 178,638, within A's 7,812 us.
    world.send(171_895, B, A, 60, 3);
    world.run_out(200_000);
    assert_eq!(world.air.begins(FrameKind::Strobe, B), [177_647]);
    assert_eq!(world.received(A), [(177_647 + 992 + 1_000 + 992 + 1_000 + 2_848, 3)]);
}

#[test]
fn where_sending_does_not_delay_wake_ups_they_keep_their_phase() {
    let config = XmacConfig { sending_delays_wake_ups: false, ..config() };
    let mut world = World::new(config, &[100_000, 40_000], &pair(1.0), 1);
    world.send(0, A, B, 60, 1);
    world.send(60_000, A, B, 60, 2);
    world.send(171_895, B, A, 60, 3);
    world.run_out(400_000);
    // A is awake at 100,000 and 225,000. B's strobe k begins at 171,895 + 5,752 + 5,432 k: the first of them from 225,000 on is
    // number 9, at 226,535.
    assert_eq!(world.air.begins(FrameKind::Strobe, B).last(), Some(&226_535));
    assert_eq!(world.received(A), [(226_535 + 992 + 1_000 + 992 + 1_000 + 2_848, 3)]);
}

#[test]
fn a_neighbour_that_never_answers_is_given_up_after_eight_full_trains() {
    let deaf = [pair(1.0)[0].clone(), LinkQuality { ack: 0.0, ..pair(1.0)[1].clone() }];
    let mut world = World::new(config(), &[100_000, 40_000], &deaf, 1);
    world.send(0, A, B, 60, 1);
    world.run_out(2_000_000);
    // The limit of a train is 125,000 + 3 * 6,225 = 143,675 us. Strobe k ends at 6,744 + 5,432 k, and is the last if that is
    // not before the limit: number 26, at 147,976. The next train begins at once.
    let train = |number: u64| (0..27).map(move |strobe| 147_976 * number + 5_752 + 5_432 * strobe);
    assert_eq!(world.air.begins(FrameKind::Strobe, A), (0..8).flat_map(train).collect::<Vec<_>>());
    let attempts: Vec<u8> =
        world.air.frames.iter().filter(|frame| frame.from == A).map(|frame| frame.attempt).collect();
    assert_eq!(attempts, (0..8).flat_map(|attempt| [attempt; 27]).collect::<Vec<_>>());
    let [(when, dropped)] = &world.indications[..] else { panic!("{:?}", world.indications) };
    assert_eq!(when.as_micros(), 8 * 147_976);
    assert_eq!(format!("{dropped:?}"), "Dropped { node: NodeId(0), datagram: 1, reason: RetriesExhausted }");
}

#[test]
fn with_linear_retries_a_check_interval_and_more_lies_between_trains() {
    let deaf = [pair(1.0)[0].clone(), LinkQuality { ack: 0.0, ..pair(1.0)[1].clone() }];
    let mut delays = Vec::new();
    for seed in 0..50 {
        let config = XmacConfig { retry: Retry::LINEAR, ..config() };
        let mut world = World::new(config, &[100_000, 40_000], &deaf, seed);
        world.send(0, A, B, 60, 1);
        world.run_out(3_000_000);
        let strobes: Vec<u64> = world.air.begins(FrameKind::Strobe, A);
        assert_eq!(strobes.len(), 3 * 27, "three transmissions");
        // From the end of one train, 147,976 us after its beginning, to the first strobe of the next.
        let ends = [strobes[0] + 142_224, strobes[27] + 142_224];
        delays.push([strobes[27] - ends[0] - 5_752, strobes[54] - ends[1] - 5_752]);
    }
    // One interval and up to 2, then up to 3 more.
    for (transmission, limit) in [(0, 375_000), (1, 500_000)] {
        let delays = || delays.iter().map(|delays| delays[transmission]);
        assert!(delays().all(|delay| (125_000..limit).contains(&delay)));
        assert!(delays().max() > Some(limit - 60_000), "50 draws come near the end of the window");
    }
}

#[test]
fn with_linear_retries_a_check_interval_lies_between_frames() {
    let mut world = World::new(XmacConfig { retry: Retry::LINEAR, ..config() }, &[100_000, 40_000], &pair(1.0), 1);
    world.send(0, A, B, 60, 1);
    world.send(0, A, B, 60, 2);
    world.run_out(400_000);
    // The first ends at 50,608; the second is attempted at 175,608, when the wake-up at 171,760 has gone by. The next is expected
    // at 296,760; the train begins at 284,310, its first strobe at 290,062, where B is awake since 290,000.
    assert_eq!(world.air.begins(FrameKind::Strobe, A)[8..], [290_062]);
    assert_eq!(world.received(B)[1], (290_062 + 992 + 1_000 + 992 + 1_000 + 2_848, 2));
}

#[test]
fn a_strobe_that_outlasts_the_wake_up_is_received_where_reception_is_finished() {
    // B is awake from 38,345 for 6,225 us: strobe 6 began at 38,344, strobe 7 lasts from 43,776 to 44,768.
    let first_answer = |finishes_reception| {
        let config = XmacConfig { finishes_reception, ..XmacConfig::xmac_2010(Duration::from_millis(125)) };
        let mut world = World::new(config, &[100_000, 38_345], &pair(1.0), 1);
        world.send(0, A, B, 60, 1);
        world.run_out(2_000_000);
        world.air.begins(FrameKind::StrobeAck, B)[0]
    };
    assert_eq!(first_answer(true), 45_768);
    assert!(first_answer(false) > 163_345, "the next wake-up");
}

/// The radio acknowledges a data frame by itself, after a turnaround of 12 symbols: 192 us (IEEE 802.15.4-2015, 6.7.4.2).
#[test]
fn a_data_frame_is_acknowledged_after_the_turnaround() {
    let mut world = World::new(config().with_data_ack(), &[100_000, 40_000], &pair(1.0), 1);
    world.send(0, A, B, 60, 1);
    world.run_until(60_000);
    assert_eq!(world.air.begins(FrameKind::Data, A), [47_760]);
    assert_eq!(world.air.begins(FrameKind::Ack, B), [50_608 + 192]);
    // Frame control 2, sequence 1, PAN 2, address of the sender 8, FCS 2; with 6 of synchronisation 21 octets, 672 us.
    assert_eq!(world.sent(), [(50_608 + 192 + 672, 1)]);
}
