//! Beacons, DIOs and keep-alives as load on the minimal cell: their rates, their octets, and what they do to other frames.

use crate::harness::*;
use slowhand_net::address::{Addressing, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::dio::{DioTimer, Mode, dio};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::lowpan::{self, Contexts, Link};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::tsch::load::EVERY_NEIGHBOR;
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::{Load, Member, Trickle, Tsch, TschConfig};
use slowhand_net::radio::{Indication, Mac, Msdu};
use slowhand_net::random::Streams;
use slowhand_testing::wireshark::Tshark;

/// Slots of 20 ms: 220 ms.
const SLOTFRAME: u16 = 11;
const TIMER: DioTimer = DioTimer { interval_min: 12, doublings: 8, redundancy: 10 };

fn minimal() -> Cell {
    Cell { slot: 0, channel_offset: 0, options: CellOptions::SHARED, neighbor: None, handle: handle::MINIMAL }
}

/// Nodes in a row of which each is the parent of the next one, with these links and one minimal cell.
fn loaded(nodes: u16, links: &[LinkQuality], load: Load, seed: u64) -> Tsch {
    let streams = Streams::new(seed);
    let config = TschConfig { max_retries: 0, backoff_exponents: (0, 0), ..TschConfig::openwsn(SLOTFRAME) };
    let links = Links::new(nodes.into(), links, &streams);
    let member = |node: u16| {
        let packet = dio(NodeId(node), None, node, Mode::Storing, TIMER);
        let address = Addressing::Extended.of_node(NodeId(node));
        let mut headers = [0; 127];
        let done =
            lowpan::compress(&packet, Link { source: address, destination: address }, &Contexts::mesh(), &mut headers);
        let done = done.unwrap();
        let payload = [&headers[..done.written], &packet[done.consumed..]].concat();
        Member { parent: node.checked_sub(1).map(NodeId), hops: node as u8, dio: payload }
    };
    Tsch::new(config, links, vec![vec![minimal()]; nodes.into()], &streams).with_load(
        load,
        (0..nodes).map(member).collect(),
        &streams,
    )
}

fn seconds_of(load: u64) -> Option<Duration> {
    Some(Duration::from_secs(load))
}

/// A time from 12 to 16 s between the beacons of a node, 14 s on average, with a standard deviation of 4 / sqrt(12) = 1.155 s:
/// in 14,000 s each of 5 nodes sends 1,000 beacons, give or take 2.6.
#[test]
fn beacons_come_at_their_rate() {
    let mut mac = loaded(5, &clique(5), Load { beacon_period: seconds_of(16), ..Load::default() }, 1);
    let mut air = Recorder::default();
    run_mac(&mut mac, seconds(14_000), &mut air);
    for node in (0..5).map(NodeId) {
        let count = air.begins(FrameKind::Beacon, node).len();
        assert!(count.abs_diff(1_000) <= 13, "{node}: {count}");
    }
    assert!(air.frames.iter().all(|frame| frame.kind == FrameKind::Beacon && frame.asn.unwrap() % 11 == 0));
}

/// Intervals of 4, 8, 16, then 32 s. Without suppression each node sends one DIO in the second half of each: after 60 s four of
/// them, and one in each 32 s from then on.
#[test]
fn dios_follow_trickle() {
    let dio = Some(Trickle { min: Duration::from_secs(4), doublings: 3, redundancy: 0 });
    let mut mac = loaded(3, &clique(3), Load { dio, ..Load::default() }, 1);
    let mut air = Recorder::default();
    run_mac(&mut mac, seconds(60 + 10 * 32 + 1), &mut air);
    for node in (0..3).map(NodeId) {
        let sent = air.begins(FrameKind::Dio, node);
        let mut begin = 0;
        for (at, number) in sent.iter().zip(0..) {
            let interval = 4_000_000 << std::cmp::min(number, 3);
            let window = begin + interval / 2..begin + interval + 220_000 + 10_000;
            assert!(window.contains(at), "{node}: DIO {number} at {at}");
            begin += interval;
        }
        assert_eq!(sent.len(), 14, "{node}");
    }
}

/// Twenty nodes that hear each other and need to hear one DIO each: in an interval of 32 s the first one silences the others,
/// but for those that drew the same slotframe of 220 ms, or lost it. Without suppression there would be twenty.
#[test]
fn a_dio_that_was_heard_saves_another() {
    let dio = Some(Trickle { min: Duration::from_secs(32), doublings: 0, redundancy: 1 });
    let mut mac = loaded(20, &clique(20), Load { dio, ..Load::default() }, 1);
    let mut air = Recorder::default();
    run_mac(&mut mac, seconds(32 * 100), &mut air);
    let sent = air.of(FrameKind::Dio).len();
    // 19 others within 0.22 s of the first of 20 in 16 s: a quarter of one on average; a collision of two silences nobody.
    assert!((100..200).contains(&sent), "{sent}");
}

/// A node that hears nothing of its parent sends a keep-alive after 12 s: in 1,200 s a hundred, give or take the first and the
/// last. If its parent sends a beacon every 3 to 4 s, it needs none.
#[test]
fn keep_alives_keep_a_node_synchronised() {
    let keep_alive = seconds_of(12);
    let mut air = Recorder::default();
    run_mac(&mut loaded(2, &clique(2), Load { keep_alive, ..Load::default() }, 1), seconds(1_200), &mut air);
    let sent = air.begins(FrameKind::KeepAlive, NodeId(1));
    assert!((98..=101).contains(&sent.len()), "{}", sent.len());
    assert!(air.begins(FrameKind::KeepAlive, NodeId::ROOT).is_empty());
    assert_eq!(air.of(FrameKind::Ack).len(), sent.len());

    // A frame of the parent every 10 s synchronises it too.
    let (mut mac, mut air) = (loaded(2, &clique(2), Load { keep_alive, ..Load::default() }, 1), Recorder::default());
    for frame in 0..120 {
        run_mac(&mut mac, seconds(10 * frame), &mut air);
        mac.enqueue(seconds(10 * frame), Msdu::new(NodeId::ROOT, NodeId(1), &[0x5a; 20], 0)).unwrap();
    }
    assert!(air.of(FrameKind::Data).len() >= 119);
    assert!(air.of(FrameKind::KeepAlive).len() <= 1, "{}", air.of(FrameKind::KeepAlive).len());

    let mut air = Recorder::default();
    let load = Load { keep_alive, beacon_period: seconds_of(4), dio: None };
    run_mac(&mut loaded(2, &clique(2), load, 1), seconds(1_200), &mut air);
    assert!(air.of(FrameKind::KeepAlive).len() <= 2, "before the first beacon, and where two collide");
    // A beacon: 14 octets of header, 2 that end its information elements, 2 of the MLME's, 8 of synchronisation, 3 of timeslot
    // template, 3 of hopping sequence, 12 of slotframe and cell, 2 of FCS: 46, and 6.
    let octets = 46 + 6;
    let mut again = loaded(2, &clique(2), load, 1);
    run_mac(&mut again, seconds(1_200), &mut ());
    let own = air.begins(FrameKind::Beacon, NodeId(1)).len() as u64;
    let alive = air.begins(FrameKind::KeepAlive, NodeId(1)).len() as u64 * (21 + 2 + 6) * 32;
    assert_eq!(again.radio_times(NodeId(1), seconds(1_200)).transmit, us(own * octets * 32 + alive));
}

/// A node that takes 1 ms for a frame takes it for each of its data frames, and for no keep-alive, whatever waits behind what.
#[test]
fn the_processor_takes_time_for_data_alone() {
    let load = Load { keep_alive: seconds_of(1), ..Load::default() };
    let (mut mac, mut air) = (loaded(2, &clique(2), load, 1), Recorder::default());
    mac.queue_mut(NodeId(1)).processor_mut().set_handling(Duration::from_millis(1));
    let frames = 300;
    for pair in 0..frames / 2 {
        run_mac(&mut mac, Instant::from_micros(pair * 2_450_000), &mut air);
        for _ in 0..2 {
            mac.enqueue(Instant::from_micros(pair * 2_450_000), Msdu::new(NodeId(1), NodeId::ROOT, &[0x5a; 20], 0))
                .unwrap();
        }
    }
    run_mac(&mut mac, seconds(1_000), &mut air);
    assert!(air.of(FrameKind::KeepAlive).len() > 100);
    assert_eq!(air.of(FrameKind::Data).len() as u64, frames);
    assert_eq!(mac.queue(NodeId(1)).processor().busy(seconds(1_000)), Duration::from_millis(frames));
}

/// A join request goes from node 2 to its parent, node 1, in the minimal cell, without retries or back-off. All three nodes hear each other
/// and send a beacon every 1.5 to 2 s: a node sends in a share q = 0.22 / 1.75 = 0.1257 of the cells. The request arrives if
/// neither of the others sends in its cell: (1 - q)^2 = 0.7643. (If node 2 has a beacon itself, that goes first.) 20,000
/// requests: a standard deviation of 0.003.
#[test]
fn a_join_request_meets_beacons() {
    let load = Load { beacon_period: seconds_of(2), ..Load::default() };
    let mut mac = loaded(3, &clique(3), load, 1);
    let (requests, mut arrived) = (20_000, 0);
    for request in 0..requests {
        // 1,007 ms apart: at all phases of the slotframe.
        let now = Instant::from_micros(request * 1_007_000);
        let arrives = |(_, indication): &(_, Indication)| matches!(indication, Indication::Received { .. });
        arrived += run_mac(&mut mac, now, &mut ()).iter().filter(|indication| arrives(indication)).count();
        mac.enqueue(now, Msdu::new(NodeId(2), NodeId(1), &[0x5a; 60], 0)).unwrap();
    }
    let share = arrived as f64 / requests as f64;
    assert!((share - 0.7643).abs() < 0.015, "{share}");
}

/// Wireshark reads a beacon with its slot number and its cells, a DIO of RPL, and an empty frame that asks for an
/// acknowledgement.
#[test]
fn wireshark_reads_the_load() {
    let dio = Some(Trickle { min: Duration::from_secs(4), doublings: 3, redundancy: 0 });
    let load = Load { beacon_period: seconds_of(60), dio, keep_alive: seconds_of(5) };
    let mut mac = loaded(2, &clique(2), load, 1);
    let mut air = Recorder::default();
    run_mac(&mut mac, seconds(120), &mut air);
    let fields = [
        "wpan.frame_type",
        "wpan.dst16",
        "wpan.tsch.asn",
        "wpan.tsch.slotframe_size",
        "icmpv6.type",
        "icmpv6.rpl.dio.rank",
        "icmpv6.checksum.status",
        "ipv6.dst",
        "_ws.expert",
    ];
    let frames: Vec<&Frame> = air.frames.iter().filter(|frame| frame.kind != FrameKind::Ack).collect();
    let rows = Tshark::default().rows(&capture(frames.iter().copied()), &fields);
    for (frame, row) in frames.iter().zip(rows) {
        let row: Vec<&str> = row.iter().map(String::as_str).collect();
        let (asn, rank) = (frame.asn.unwrap().to_string(), (256 * (u32::from(frame.from.0) + 1)).to_string());
        let expected = match frame.kind {
            FrameKind::Beacon => vec!["0x0000", "0xffff", &asn, "11", "", "", "", "", ""],
            FrameKind::Dio => vec!["0x0001", "0xffff", "", "", "155", &rank, "1", "ff02::1a", ""],
            FrameKind::KeepAlive => vec!["0x0001", "", "", "", "", "", "", "", ""],
            kind => panic!("{kind:?}"),
        };
        assert_eq!(row, expected, "{:02x?}", frame.octets);
        assert!(frame.kind == FrameKind::KeepAlive || frame.to == EVERY_NEIGHBOR);
    }
    for kind in [FrameKind::Beacon, FrameKind::Dio, FrameKind::KeepAlive] {
        assert!(!air.of(kind).is_empty(), "{kind:?}");
    }
}
