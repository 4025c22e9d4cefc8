//! The microseconds of a one-hop TSCH network, worked out by hand from slot timing and schedule.

use crate::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::Links;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::{FrameKind, Observer};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::{Indication, Mac, Msdu, frame};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

const CLIENT: NodeId = NodeId(1);

fn one_hop() -> Network {
    crate::harness::one_hop(NetworkConfig::default())
}

/// Sends one datagram of `octets` from the client to the root at `at`; returns when it is delivered.
fn delivery(network: &mut Network, at: Instant, octets: usize, observer: &mut impl Observer) -> Instant {
    let send = (at, Host::Node(CLIENT), Host::Node(NodeId::ROOT), octets);
    let fates = run(network, &[send], at + Duration::from_secs(100), observer);
    let (at, arrived) = &fates.delivered[&0];
    assert_eq!(*arrived, payload(0, octets));
    *at
}

/// When each frame began, its kind, its PSDU, and if it was received.
fn frames(air: &Recorder) -> Vec<(u64, FrameKind, usize, bool)> {
    let row = |frame: &Frame| (frame.at, frame.kind, frame.octets.len() + frame::FCS, frame.received);
    air.frames.iter().map(row).collect()
}

#[test]
fn a_datagram_of_60_octets() {
    // IPHC 2 (both addresses from the context and the link), hop limit 64 in the IPHC octets, UDP header compression
    // 1 + two ports in full 4 + checksum 2 = 7: 9 octets of headers. PSDU: 21 + 9 + 60 + 2 = 92.
    let data = 92;
    // The datagram comes at 7,000 us, in slot 0; the next cell of the client is in slot 1, from 20,000 us.
    // First symbol at 20,000 + 5,215 = 25,215. On the air (6 + 92) * 32 = 3,136 us, until 28,351.
    // Acknowledgement 5,521 us later, at 33,872, on the air (6 + 19) * 32 = 800 us: until 34,672.
    let mut air = Recorder::default();
    let delivered = delivery(&mut one_hop(), Instant::from_micros(7_000), 60, &mut air);
    assert_eq!(frames(&air), [(25_215, FrameKind::Data, data, true), (33_872, FrameKind::Ack, 19, true)]);
    assert_eq!(delivered, Instant::from_micros(34_672));
}

#[test]
fn a_datagram_at_the_start_of_its_slot_is_late_for_it() {
    let delivered = delivery(&mut one_hop(), Instant::from_micros(20_000), 60, &mut ());
    // Slot 3, from 60,000 us: 40,000 us after slot 1.
    assert_eq!(delivered, Instant::from_micros(34_672 + 40_000));
}

#[test]
fn a_datagram_of_300_octets_in_fragments() {
    // The packet has 40 + 8 + 300 = 348 octets. First fragment: 4 + 9 octets of headers stand for 48 of the packet, and
    // of the 91 left, 88 are whole units: 136 octets of the packet. Others: 5 + 96 octets: 232, 328; the rest, 20.
    // PSDUs: 21 + 4 + 9 + 88 + 2 = 124; 21 + 5 + 96 + 2 = 124 twice; 21 + 5 + 20 + 2 = 48.
    let psdus = [124, 124, 124, 48];
    // Cells in slots 1, 3, 6 and 8.
    let starts = [20_000, 60_000, 120_000, 160_000].map(|slot| slot + 5_215);
    let mut air = Recorder::default();
    let delivered = delivery(&mut one_hop(), Instant::ZERO, 300, &mut air);
    let data: Vec<_> =
        air.of(FrameKind::Data).iter().map(|frame| (frame.at, frame.octets.len() + frame::FCS)).collect();
    assert_eq!(data, starts.into_iter().zip(psdus).collect::<Vec<_>>());
    // The last frame: (6 + 48) * 32 = 1,728 us, then 5,521 + 800.
    assert_eq!(delivered, Instant::from_micros(165_215 + 1_728 + 5_521 + 800));
}

#[test]
fn radios_are_on_as_long_as_their_cells_say() {
    let mut network = one_hop();
    delivery(&mut network, Instant::from_micros(7_000), 60, &mut ());
    // After two slotframes, 200,000 us. The client: one frame of 3,136 us sent; 700 us of guard and 800 us of
    // acknowledgement; it listened in slots 4 and 9 for 2 * 1,311 us each.
    let us = Duration::from_micros;
    let client = network.mac().radio_times(CLIENT, Instant::from_micros(200_000));
    assert_eq!((client.transmit, client.receive, client.listen), (us(3_136), us(800), us(700 + 2 * 2_622)));
    assert_eq!(client.transmit + client.receive + client.listen + client.sleep, us(200_000));
    // The root: 1,311 us until the frame, the frame, its acknowledgement; idle in slots 3, 6 and 8.
    let root = network.mac().radio_times(NodeId::ROOT, Instant::from_micros(200_000));
    assert_eq!((root.transmit, root.receive, root.listen), (us(800), us(3_136), us(1_311 + 3 * 2_622)));
}

#[test]
fn a_frame_is_sent_sixteen_times_and_given_up() {
    let mut links = line(1, 1.0);
    links[1].data = 1e-9; // from node 1 to the root
    let streams = Streams::new(1);
    let mut mac = Tsch::new(
        tsch::TschConfig::openwsn(5),
        Links::new(2, &links, &streams),
        vec![vec![], vec![cell(1, SEND, 0)]],
        &streams,
    );
    mac.enqueue(Instant::ZERO, Msdu::new(CLIENT, NodeId::ROOT, &[1, 2, 3], 9)).unwrap();
    let mut air = Recorder::default();
    let indications = run_mac(&mut mac, NEVER, &mut air);
    // OpenWSN's 15 retries after the first transmission, in slot 1 of 16 slotframes of 100,000 us.
    let expected: Vec<u64> = (0..16).map(|frame| frame * 100_000 + 25_215).collect();
    assert_eq!(air.frames.iter().map(|frame| frame.at).collect::<Vec<_>>(), expected);
    assert!(matches!(indications[..], [(_, Indication::Dropped { datagram: 9, .. })]));
}

/// The datagram of 60 octets again, where the offsets name the end of the SFD: 4 octets of preamble and 1 of SFD, 160 us,
/// are on the air before. Data from 25,215 - 160 = 25,055 us, for 3,136 us, until 28,191. The SFD of the acknowledgement
/// ends 5,521 us later, so it begins at 33,552 us and ends at 34,352 us.
#[test]
fn offsets_to_the_sfd_take_160_us_from_the_listener() {
    let cells = vec![vec![cell(1, LISTEN, 1)], vec![cell(1, SEND, 0)]];
    let (links, streams) = (line(1, 1.0), Streams::new(1));
    let timing = Timing::SLOT_20_MS.to_sfd();
    let config = tsch::TschConfig { timing, ..tsch::TschConfig::openwsn(5) };
    let mac = Tsch::new(config, Links::new(2, &links, &streams), cells, &streams);
    let routes = Routes::shortest(2, &links).unwrap();
    let mut network = Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams);
    let mut air = Recorder::default();
    let delivered = delivery(&mut network, Instant::from_micros(7_000), 60, &mut air);
    assert_eq!(frames(&air), [(25_055, FrameKind::Data, 92, true), (33_552, FrameKind::Ack, 19, true)]);
    assert_eq!(delivered, Instant::from_micros(34_352));
    let us = Duration::from_micros;
    let times = |node| {
        let times = network.mac().radio_times(node, Instant::from_micros(100_000));
        (times.transmit, times.receive, times.listen)
    };
    // The guard times begin where they begin without the difference: 1,311 and 700 us before the offsets.
    assert_eq!(times(CLIENT), (us(3_136), us(800), us(700 - 160)));
    assert_eq!(times(NodeId::ROOT), (us(800), us(3_136), us(1_311 - 160)));
    let shorter = Timing::SLOT_20_MS.shortest_slot(19).as_micros() - timing.shortest_slot(19).as_micros();
    assert_eq!(shorter, 2 * 160);
}
