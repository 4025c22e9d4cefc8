//! TSCH against the text of IEEE 802.15.4-2015, 6.2.5.3 and 6.2.6, slot by slot.

use crate::harness::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::NO_DATAGRAM;
use slowhand_net::link::{Capture, LinkQuality, Links};
use slowhand_net::observer::{FrameKind, RadioState};
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;

const SLOTFRAME: u16 = 10;

/// With a channel offset.
fn cell(slot: u16, channel_offset: u8, options: CellOptions, neighbor: u16) -> Cell {
    Cell { channel_offset, ..crate::harness::cell(slot, options, neighbor) }
}

fn minimal() -> Cell {
    Cell { slot: 0, channel_offset: 0, options: CellOptions::SHARED, neighbor: None, handle: handle::MINIMAL }
}

/// The data frames of a node.
fn data(air: &Recorder, from: u16) -> impl Iterator<Item = &Frame> {
    air.frames.iter().filter(move |frame| (frame.kind, frame.from) == (FrameKind::Data, NodeId(from)))
}

fn asn(frame: &Frame) -> u64 {
    frame.asn.unwrap()
}

fn tsch(links: &[LinkQuality], cells: Vec<Vec<Cell>>, seed: u64) -> Tsch {
    let streams = Streams::new(seed);
    let config = tsch::TschConfig { timing: Timing::SLOT_10_MS, ..tsch::TschConfig::openwsn(SLOTFRAME) };
    let links = Links::new(cells.len(), links, &streams);
    Tsch::new(config, links, cells, &streams)
}

/// Runs until nothing more happens. Returns how many frames were passed up.
fn run(mac: &mut Tsch, air: &mut Recorder) -> usize {
    let indications = run_mac(mac, NEVER, air);
    indications.iter().filter(|(_, indication)| matches!(indication, Indication::Received { .. })).count()
}

fn both(a: u16, b: u16) -> [LinkQuality; 2] {
    crate::harness::both(a, b, 1.0)
}

#[test]
fn two_frames_in_a_shared_cell_collide_and_back_off_within_the_window() {
    let links = clique(3);
    let mut gaps = Vec::new();
    for seed in 0..200 {
        let mut mac = tsch(&links, vec![vec![minimal()]; 3], seed);
        for node in [1, 2] {
            mac.enqueue(Instant::ZERO, Msdu::new(NodeId(node), NodeId::ROOT, &[1], 0)).unwrap();
        }
        let mut air = Recorder::default();
        assert_eq!(run(&mut mac, &mut air), 2);
        let of_first: Vec<&Frame> = data(&air, 1).collect();
        // Slot 0 is the minimal cell, and the frames came too late for that of slotframe 0.
        assert_eq!((asn(of_first[0]), of_first[0].received), (10, false));
        // After the n-th failure in a row the exponent is macMinBe + n = 2 + n, at most macMaxBe = 5: up to 2^BE - 1 shared
        // cells pass unused.
        for (failure, pair) in of_first.windows(2).enumerate() {
            let passed = (asn(pair[1]) - asn(pair[0])) / u64::from(SLOTFRAME) - 1;
            let window = 1 << (2 + failure + 1).min(5);
            assert!(passed < window, "{passed} shared cells passed after failure {}", failure + 1);
            if failure == 0 {
                gaps.push(passed);
            }
        }
    }
    // All values of the first window occur, none much more often than the others: 25 of 200 each on average.
    for value in 0..8 {
        let count = gaps.iter().filter(|&&gap| gap == value).count();
        assert!((10..=45).contains(&count), "{value}: {count} times");
    }
}

#[test]
fn hidden_senders_collide_at_the_receiver_and_senders_on_another_channel_do_not() {
    // 1 and 2 hear the root only; 3 hears 2 as well.
    let links: Vec<_> = [both(0, 1).to_vec(), both(2, 3).to_vec(), vec![link(2, 0, 0.0), link(3, 1, 0.0)]].concat();
    for (channel_offset, arrives) in [(4, false), (5, true)] {
        let cells = vec![
            vec![cell(3, 4, LISTEN, 1)],
            vec![cell(3, 4, SEND, 0)],
            vec![cell(3, channel_offset, SEND, 3)],
            vec![cell(3, channel_offset, LISTEN, 2)],
        ];
        let mut mac = tsch(&links, cells, 1);
        // Node 2, which interferes, always has a frame to send.
        for _ in 0..20 {
            mac.enqueue(Instant::ZERO, Msdu::new(NodeId(2), NodeId(3), &[0; 90], 0)).unwrap();
        }
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(1), NodeId::ROOT, &[0; 90], 1)).unwrap();
        let mut air = Recorder::default();
        run(&mut mac, &mut air);
        let of_first: Vec<bool> = data(&air, 1).map(|sent| sent.received).collect();
        assert_eq!(of_first, if arrives { vec![true] } else { vec![false; 16] });
        assert!(data(&air, 2).all(|sent| sent.received), "nobody disturbs node 3");
    }
}

#[test]
fn the_acknowledgement_of_a_short_frame_disturbs_a_longer_one_elsewhere() {
    // The root receives from 1; 3 receives from 2. The root hears 3, not 2: only the acknowledgement of 3 disturbs it.
    let links: Vec<_> = [both(0, 1).to_vec(), both(2, 3).to_vec(), vec![link(3, 0, 0.0)]].concat();
    let cells = vec![
        vec![cell(3, 4, LISTEN, 1)],
        vec![cell(3, 4, SEND, 0)],
        vec![cell(3, 4, SEND, 3)],
        vec![cell(3, 4, LISTEN, 2)],
    ];
    for (long, short, arrives) in [(100, 2, false), (20, 2, true)] {
        let mut mac = tsch(&links, cells.clone(), 1);
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(1), NodeId::ROOT, &vec![0; long], 0)).unwrap();
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(2), NodeId(3), &vec![0; short], 1)).unwrap();
        let mut air = Recorder::default();
        run(&mut mac, &mut air);
        // (6 + 23 + 100) * 32 = 4,128 us on the air. The acknowledgement begins after (6 + 23 + 2) * 32 + 1,000 = 1,992
        // us. A frame with 20 octets takes 1,568 us and is over before.
        let first = data(&air, 1).next().unwrap();
        assert_eq!(first.received, arrives, "{long} octets");
    }
}

#[test]
fn a_frame_whose_acknowledgements_are_lost_is_passed_up_once() {
    let mut links = both(0, 1);
    links[0].ack = 0.3; // from the root to node 1
    let cells = vec![vec![cell(3, 0, LISTEN, 1)], vec![cell(3, 0, SEND, 0)]];
    let mut mac = tsch(&links, cells, 4);
    for datagram in 0..20 {
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(1), NodeId::ROOT, &[datagram as u8], datagram)).unwrap();
    }
    let mut air = Recorder::default();
    let indications = run_mac(&mut mac, NEVER, &mut air);
    let sent = air.of(FrameKind::Data);
    assert!(sent.len() > 40, "frames were repeated: {}", sent.len());
    assert!(sent.iter().all(|sent| sent.received));
    let passed_up: Vec<u32> = received(&indications, NodeId::ROOT).iter().map(|(_, datagram)| *datagram).collect();
    assert_eq!(passed_up, (0..20).collect::<Vec<_>>());
}

#[test]
fn dedicated_cells_know_no_back_off() {
    let cells = vec![vec![cell(3, 0, LISTEN, 1)], vec![cell(3, 0, SEND, 0)]];
    let mut mac = tsch(&[link(1, 0, 0.5), link(0, 1, 1.0)], cells, 1);
    for _ in 0..20 {
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(1), NodeId::ROOT, &[0], 0)).unwrap();
    }
    let mut air = Recorder::default();
    run(&mut mac, &mut air);
    assert!(air.of(FrameKind::Data).iter().any(|sent| !sent.received));
    for (number, sent) in (0..).zip(air.of(FrameKind::Data)) {
        assert_eq!(asn(sent), 3 + 10 * number, "every cell is used");
    }
}

#[test]
fn every_channel_has_its_own_delivery_ratio() {
    let mut links = both(0, 1);
    for link in &mut links {
        link.channels = vec![(11, 0.0), (20, 0.0), (26, 1.0)];
    }
    // A slotframe that is coprime to the 16 channels meets them all; here 10 slots meet every second entry.
    let cells =
        vec![vec![cell(3, 0, LISTEN, 1), cell(4, 0, LISTEN, 1)], vec![cell(3, 0, SEND, 0), cell(4, 0, SEND, 0)]];
    let mut mac = tsch(&links, cells, 1);
    let mut air = Recorder::default();
    let mut delivered = 0;
    for batch in 0..20u64 {
        for _ in 0..20 {
            let now = Instant::ZERO + Duration::from_secs(100) * batch;
            mac.enqueue(now, Msdu::new(NodeId(1), NodeId::ROOT, &[0], 0)).unwrap();
        }
        delivered += run(&mut mac, &mut air);
    }
    assert_eq!(delivered, 400);
    for sent in air.of(FrameKind::Data) {
        assert_eq!(sent.received, !matches!(sent.channel, 11 | 20), "{sent:?}");
    }
    let mut channels: Vec<u8> = air.of(FrameKind::Data).iter().map(|sent| sent.channel).collect();
    channels.sort();
    channels.dedup();
    assert_eq!(channels, (11..=26).collect::<Vec<_>>());
}

/// The intervals of each radio come in order and add up to its times, to the microsecond.
#[test]
fn the_timeline_of_every_radio_adds_up_to_its_times() {
    let links = clique(3);
    let own = |node: u16| match node {
        0 => vec![cell(3, 1, LISTEN, 1), cell(6, 1, LISTEN, 2)],
        1 => vec![cell(3, 1, SEND, 0), cell(8, 2, LISTEN, 2)],
        _ => vec![cell(6, 1, SEND, 0), cell(8, 2, SEND, 1)],
    };
    let cells = (0..3).map(|node| [vec![minimal()], own(node)].concat()).collect();
    let mut mac = tsch(&links, cells, 7);
    let mut air = Recorder::of_radios();
    for (at, from, to) in [(5_000, 1, 0), (5_000, 2, 1), (350_000, 2, 0), (351_000, 0, 1), (351_500, 0, 2)] {
        mac.enqueue(Instant::from_micros(at), Msdu::new(NodeId(from), NodeId(to), &[0; 50], 0)).unwrap();
    }
    // Many of these instants are in the middle of a frame or of idle listening.
    for end in (0..=1_000).map(|ms| Instant::from_micros(ms * 1_000)) {
        run_mac(&mut mac, end, &mut air);
        mac.report_radios(end, &mut air);
        for node in (0..3).map(NodeId) {
            assert_eq!(mac.radio_times(node, end), air.radio_times(node, end), "node {node} at {end}");
        }
    }
    assert!(air.timeline.iter().any(|interval| interval.state == RadioState::Transmit));
}

/// Three cells in each slotframe of 10 slots of 10 ms, and the slot that has begun already.
#[test]
fn frames_take_whole_slotframes_until_there_are_enough_cells() {
    let cells = [1, 3, 5].map(|slot| cell(slot, 0, SEND, 0)).to_vec();
    let mac = tsch(&line(1, 1.0), vec![vec![], cells], 1);
    for (frames, slots) in [(1, 11), (3, 11), (4, 21), (6, 21), (7, 31)] {
        let time = mac.sending_time(NodeId(1), NodeId::ROOT, frames);
        assert_eq!(time, Duration::from_millis(slots * 10), "{frames} frames");
    }
    assert_eq!(mac.sending_time(NodeId::ROOT, NodeId(1), 1), Duration::ZERO, "the root has no cell");
}

/// Two nodes that do not hear each other send to the root in the first minimal cell. One is 5 dB stronger.
#[test]
fn the_stronger_of_two_frames_in_a_slot_arrives() {
    for (threshold_db, arrives) in [(4.9, true), (5.1, false)] {
        let streams = Streams::new(1);
        let powers_db = [((NodeId(2), NodeId(0)), 5.0)].into();
        let capture = Capture { threshold_db, spread_db: 0.0, powers_db };
        let links = [both(1, 0), both(2, 0)].concat();
        let config = tsch::TschConfig { timing: Timing::SLOT_10_MS, ..tsch::TschConfig::openwsn(SLOTFRAME) };
        let links = Links::new(3, &links, &streams).capturing(&capture, &streams);
        let mut mac = Tsch::new(config, links, vec![vec![minimal()]; 3], &streams);
        for node in [1, 2] {
            mac.enqueue(Instant::ZERO, Msdu::new(NodeId(node), NodeId(0), &[0; 60], node.into())).unwrap();
        }
        let mut air = Recorder::default();
        assert_eq!(run(&mut mac, &mut air), 2, "later, both have backed off");
        let first = [1, 2].map(|node| data(&air, node).next().unwrap());
        assert_eq!((asn(first[0]), asn(first[1])), (10, 10));
        assert_eq!(first.map(|frame| frame.received), [false, arrives]);
    }
}

/// Node 1 sends a short frame to node 2, whose acknowledgement is over before the long frame of node 3 is. The root hears all
/// of them: the frame and its acknowledgement follow each other, so node 3 is 5 dB above the one and then above the other, not
/// 2 dB above both.
#[test]
fn a_frame_and_its_acknowledgement_do_not_disturb_at_the_same_time() {
    let streams = Streams::new(1);
    for (power_db, arrives) in [(5.0, true), (2.0, false)] {
        let powers_db = [((NodeId(3), NodeId(0)), power_db)].into();
        let capture = Capture { threshold_db: 3.0, spread_db: 0.0, powers_db };
        let links = [both(1, 0), both(2, 0), both(3, 0), both(1, 2)].concat();
        let config = tsch::TschConfig { timing: Timing::SLOT_10_MS, ..tsch::TschConfig::openwsn(SLOTFRAME) };
        let links = Links::new(4, &links, &streams).capturing(&capture, &streams);
        let mut mac = Tsch::new(config, links, vec![vec![minimal()]; 4], &streams);
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(1), NodeId(2), &[0; 10], 1)).unwrap();
        mac.enqueue(Instant::ZERO, Msdu::new(NodeId(3), NodeId(0), &[0; 100], 3)).unwrap();
        let mut air = Recorder::default();
        run(&mut mac, &mut air);
        let [short, long] = [1, 3].map(|node| data(&air, node).next().unwrap());
        assert_eq!((asn(short), asn(long), short.received), (10, 10, true));
        assert_eq!(long.received, arrives, "{power_db} dB");
    }
}

/// The processor prepares the first data frame that waits, for 1 s. A frame of no datagram, as a segment of TCP after the end of its
/// conversation, is not a data frame that waits: not before it has been sent, and not after.
#[test]
fn a_frame_of_no_datagram_leaves_no_data_frame_waiting() {
    let mut mac = tsch(&both(0, 1), vec![vec![cell(3, 0, LISTEN, 1)], vec![cell(3, 0, SEND, 0)]], 1);
    mac.queue_mut(NodeId(1)).processor_mut().set_handling(Duration::from_secs(1));
    for (at, datagram, kind, slot) in [(0, NO_DATAGRAM, FrameKind::KeepAlive, 3), (2, 1, FrameKind::Data, 303)] {
        let now = Instant::from_micros(at * 1_000_000);
        mac.enqueue(now, Msdu::new(NodeId(1), NodeId::ROOT, &[0; 60], datagram)).unwrap();
        let mut air = Recorder::default();
        run(&mut mac, &mut air);
        let sent = &air.frames[0];
        assert_eq!((sent.kind, asn(sent)), (kind, slot));
    }
}
