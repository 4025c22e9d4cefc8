//! Exchanges small enough to be worked out by hand, to the microsecond.
//!
//! All figures are derived here from IEEE 802.15.4-2006: a symbol is 16 us, an octet 32 us, synchronisation header
//! and length are 6 octets, a back-off period is 20 symbols (320 us).

use super::*;
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::beacon::{BeaconConfig, Downward};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;

/// The root's first beacon: the children switch on at time 0, a guard of 320 us before it.
const BEACON: u64 = 320;

/// A beacon that lists nobody: 19 octets and 6, that is 800 us, then 640 us of space: 1,440 us. The first back-off
/// boundary after that is the fifth after the beacon's first symbol.
const FIRST_BOUNDARY: u64 = BEACON + 5 * 320;

/// 21 octets of header, 60 of payload, 2 of FCS, and 6.
const DATA: u64 = 89 * 32;

/// 5 octets and 6.
const ACK: u64 = 11 * 32;

/// The first draw of the node, from 0..8 (macMinBE 3).
fn first_backoff(node: u64) -> u64 {
    Streams::new(SEED).stream("back-off", node).below(8)
}

#[test]
fn one_frame_upwards() {
    let mut mac = of_tree(BeaconConfig::standard(superframe()), &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    let indications = run(&mut mac, at(900_000), &mut air);

    // Two assessments, each in a back-off period of its own.
    let data = FIRST_BOUNDARY + first_backoff(1) * 320 + 2 * 320;
    // Boundary to boundary: 2,848 us of data and 192 us of turnaround end 9.5 periods after the data's beginning.
    let ack = data + 10 * 320;
    let times: Vec<_> = air.frames.iter().map(|frame| (frame.kind, frame.at, frame.received)).collect();
    assert_eq!(times, [(FrameKind::Beacon, BEACON, true), (FrameKind::Data, data, true), (FrameKind::Ack, ack, true)]);
    assert!(matches!(indications[0], (time, Indication::Received { .. }) if time == at(data + DATA)));
    assert!(matches!(indications[1], (time, Indication::Sent { .. }) if time == at(ack + ACK)));

    let end = at(900_000);
    let child = mac.radio_times(node(1), end);
    assert_eq!(child.transmit, us(DATA));
    assert_eq!(child.receive, us(800 + ACK));
    // On from a guard before the beacon until the acknowledgement has come.
    assert_eq!(child.listen, us(ack + ACK - DATA - 800 - ACK));
    let root = mac.radio_times(node(0), end);
    assert_eq!(root.transmit, us(800 + ACK));
    assert_eq!(root.receive, us(DATA));
    assert_eq!(root.listen, us(61_440 - 800 - ACK - DATA));
}

#[test]
fn one_frame_downwards_by_request() {
    let mut mac = of_tree(BeaconConfig::standard(superframe()), &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0xab; 60], 5)).unwrap();
    let indications = run(&mut mac, at(900_000), &mut air);

    // The beacon lists one address: 27 octets and 6 are 1,056 us, with 640 us of space 1,696 us: the sixth boundary.
    let request = BEACON + (6 + first_backoff(1) + 2) * 320;
    // 24 octets and 6 are 960 us, 192 us of turnaround: 1,152 us, that is 3.6 periods.
    let request_ack = request + 4 * 320;
    // 352 us of acknowledgement and 192 us of turnaround are 1.7 periods.
    let data = request_ack + 2 * 320;
    let data_ack = data + 10 * 320;
    let times: Vec<_> = air.frames.iter().map(|frame| (frame.kind, frame.from.0, frame.at)).collect();
    assert_eq!(
        times,
        [
            (FrameKind::Beacon, 0, BEACON),
            (FrameKind::DataRequest, 1, request),
            (FrameKind::Ack, 0, request_ack),
            (FrameKind::Data, 0, data),
            (FrameKind::Ack, 1, data_ack)
        ]
    );
    assert!(matches!(indications[0], (time, Indication::Received { .. }) if time == at(data + DATA)));
    assert!(matches!(indications[1], (time, Indication::Sent { .. }) if time == at(data_ack + ACK)));
    // The acknowledgement of the request says that a frame follows. The frame says that no other follows it.
    let frame_pending: Vec<_> = air.frames.iter().map(|frame| frame.octets[0] & 0x10 != 0).collect();
    assert_eq!(frame_pending, [false, false, true, false, false]);

    let child = mac.radio_times(node(1), at(900_000));
    assert_eq!(child.transmit, us(960 + ACK));
    assert_eq!(child.receive, us(1056 + ACK + DATA));
    assert_eq!(child.listen + child.transmit + child.receive, us(data_ack + ACK));
}

#[test]
fn one_frame_downwards_directly() {
    let config =
        BeaconConfig { downward: Downward::Direct, rx_on_when_idle: true, ..BeaconConfig::standard(superframe()) };
    let mut mac = of_tree(config, &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(0), node(1), &[0xab; 60], 5)).unwrap();
    run(&mut mac, at(900_000), &mut air);
    let backoff = Streams::new(SEED).stream("coordinator back-off", 0).below(8);
    let data = FIRST_BOUNDARY + (backoff + 2) * 320;
    let times: Vec<_> = air.frames.iter().map(|frame| (frame.kind, frame.from.0, frame.at)).collect();
    assert_eq!(
        times,
        [(FrameKind::Beacon, 0, BEACON), (FrameKind::Data, 0, data), (FrameKind::Ack, 1, data + 10 * 320)]
    );
    // The child listens from the guard before the beacon to the end of the active period.
    let child = mac.radio_times(node(1), at(900_000));
    assert_eq!(child.listen + child.transmit + child.receive, us(320 + 61_440));
}

#[test]
fn no_acknowledgement_within_54_symbols() {
    let mut links = slowhand_net::link::LinkQuality::symmetric(node(0), node(1), 1.0);
    links[1].data = 0.0; // nothing that node 1 sends arrives
    let mut mac = of_links(BeaconConfig::standard(superframe()), &[None, Some(0)], &links);
    let mut air = Recorder::default();
    mac.enqueue(at(0), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    let indications = run(&mut mac, at(900_000), &mut air);

    let mut backoffs = Streams::new(SEED).stream("back-off", 1);
    let mut boundary = FIRST_BOUNDARY;
    let mut expected = Vec::new();
    for attempt in 0..4 {
        let data = boundary + backoffs.below(8) * 320 + 2 * 320;
        expected.push((FrameKind::Data, attempt, data));
        // 2,848 us of data and 864 us of waiting are 11.6 periods; then a new contention with BE 3.
        boundary = data + 12 * 320;
    }
    let times: Vec<_> = air.of(FrameKind::Data).iter().map(|frame| (frame.kind, frame.attempt, frame.at)).collect();
    assert_eq!(times, expected);
    assert!(matches!(indications[..], [(time, Indication::Dropped { .. })] if time == at(expected[3].2 + DATA + 864)));
}

#[test]
fn what_does_not_fit_waits_for_the_next_superframe() {
    // The frame comes 4.8 ms before the active period ends. It needs 4,832 us from a boundary on: two assessments (640
    // us), data for 2,848 us, the acknowledgement, which begins 10 periods after the data, and 640 us of space.
    let mut mac = of_tree(BeaconConfig::standard(superframe()), &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    let end = BEACON + 61_440;
    let given = end - 4_800 - 1;
    mac.enqueue(at(given), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    run(&mut mac, at(2_000_000), &mut air);
    let next = BEACON + 983_040;
    // The node received the beacon of the first superframe, but no frame waited for it: idle beacons are not shown.
    assert_eq!(air.frames[0].at, next);
    let mut backoffs = Streams::new(SEED).stream("back-off", 1);
    let first = backoffs.below(8);
    assert!(first <= 15, "the drawn periods themselves fit");
    let second = backoffs.below(8);
    assert_eq!(air.frames[1].at, next + (5 + second + 2) * 320);
}

#[test]
fn periods_that_do_not_fit_are_counted_down_in_the_next_superframe() {
    let mut mac = of_tree(BeaconConfig::standard(superframe()), &[None, Some(0)], 1.0);
    let mut air = Recorder::default();
    // One period is left when the frame comes.
    mac.enqueue(at(BEACON + 61_440 - 320), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
    run(&mut mac, at(2_000_000), &mut air);
    let drawn = first_backoff(1);
    assert!(drawn > 1, "choose another seed");
    assert_eq!(air.frames[1].at, BEACON + 983_040 + (5 + drawn - 1 + 2) * 320);
}

#[test]
fn a_frame_given_in_an_active_period_may_be_late() {
    let given = BEACON + 10_000;
    for (late_frames, begin) in [(true, given.next_multiple_of(320)), (false, FIRST_BOUNDARY + 983_040)] {
        let config = BeaconConfig { late_frames, ..BeaconConfig::standard(superframe()) };
        let mut mac = of_tree(config, &[None, Some(0)], 1.0);
        let mut air = Recorder::default();
        mac.enqueue(at(given), Msdu::new(node(1), node(0), &[0xab; 60], 5)).unwrap();
        run(&mut mac, at(2_000_000), &mut air);
        assert_eq!(air.of(FrameKind::Data)[0].at, begin + (first_backoff(1) + 2) * 320);
    }
}

/// Six frames fit into an active period of 61.44 ms: each takes 10,016 us (the longest frame, requested, with back-offs of
/// mean length). The present interval may be too short.
#[test]
fn the_time_for_a_number_of_frames_is_in_whole_intervals() {
    let mac = of_tree(BeaconConfig::standard(superframe()), &[None, Some(0)], 1.0);
    for (frames, intervals) in [(0, 1), (1, 2), (6, 2), (7, 3), (12, 3), (13, 4)] {
        assert_eq!(mac.sending_time(node(0), node(1), frames), us(intervals * 983_040), "{frames} frames");
    }
}
