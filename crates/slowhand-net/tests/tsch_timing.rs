//! The microseconds of a one-hop TSCH network, worked out by hand from slot timing and schedule.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::observer::{FrameKind, Observer, Transmission};
use slowhand_net::radio::tsch::schedule::{Cell, CellOptions, handle};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, Tsch};
use slowhand_net::radio::{Mac, frame};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

const CLIENT: NodeId = NodeId(1);

/// Slotframe of 5 slots of 20 ms; the client sends in slots 1 and 3, the root in slot 4.
fn one_hop(pdr: f64) -> Network {
    let links = LinkQuality::symmetric(NodeId::ROOT, CLIENT, pdr);
    let cell = |slot, options, neighbor| Cell {
        slot,
        channel_offset: 0,
        options,
        neighbor: Some(neighbor),
        handle: handle::NEGOTIATED,
    };
    let (send, listen) = (CellOptions::TRANSMIT, CellOptions::RECEIVE);
    let cells = vec![
        vec![cell(1, listen, CLIENT), cell(3, listen, CLIENT), cell(4, send, CLIENT)],
        vec![cell(1, send, NodeId::ROOT), cell(3, send, NodeId::ROOT), cell(4, listen, NodeId::ROOT)],
    ];
    let streams = Streams::new(1);
    let config = tsch::TschConfig { timing: Timing::SLOT_20_MS, ..tsch::TschConfig::openwsn(5) };
    let mac = Tsch::new(config, Links::new(2, &links, &streams), cells, &streams);
    Network::new(Box::new(mac), Routes::shortest(2, &links).unwrap(), NetworkConfig::default(), &streams)
}

fn endpoint(node: NodeId) -> Endpoint {
    Endpoint::new(Host::Node(node).address(), 5684)
}

/// Sends one datagram of `octets` from the client to the root at `at`; returns when it is delivered.
fn delivery(network: &mut Network, at: Instant, octets: usize, observer: &mut impl Observer) -> Instant {
    let mut events = Events::default();
    let payload = vec![0x5a; octets];
    network.send(at, endpoint(CLIENT), endpoint(NodeId::ROOT), &payload, 7, &mut events).unwrap();
    while let Some(now) = network.deadline() {
        network.handle_deadline(now, &mut events, observer);
        if let Some(event) = events.iter().next() {
            let Event::Delivered { host, datagram, payload: arrived, .. } = event else { panic!("{event:?}") };
            assert_eq!((host, datagram, arrived), (Host::Node(NodeId::ROOT), 7, &payload[..]));
            return now;
        }
    }
    panic!("nothing was delivered");
}

#[derive(Default)]
struct Air(Vec<(u64, FrameKind, usize, bool)>);

impl Observer for Air {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.0.push((frame.at.as_micros(), frame.kind, frame.octets.len() + frame::FCS, frame.received));
    }
}

#[test]
fn a_datagram_of_60_octets() {
    // IPHC 2 (both addresses from the context and the link), hop limit 64 in the IPHC octets, UDP header compression
    // 1 + two ports in full 4 + checksum 2 = 7: 9 octets of headers. PSDU: 21 + 9 + 60 + 2 = 92.
    let data = 92;
    // The datagram comes at 7,000 us, in slot 0; the next cell of the client is in slot 1, from 20,000 us.
    // First symbol at 20,000 + 5,215 = 25,215. On the air (6 + 92) * 32 = 3,136 us, until 28,351.
    // Acknowledgement 5,521 us later, at 33,872, on the air (6 + 19) * 32 = 800 us: until 34,672.
    let mut air = Air::default();
    let delivered = delivery(&mut one_hop(1.0), Instant::from_micros(7_000), 60, &mut air);
    assert_eq!(air.0, [(25_215, FrameKind::Data, data, true), (33_872, FrameKind::Ack, 19, true)]);
    assert_eq!(delivered, Instant::from_micros(34_672));
}

#[test]
fn a_datagram_at_the_start_of_its_slot_is_late_for_it() {
    let delivered = delivery(&mut one_hop(1.0), Instant::from_micros(20_000), 60, &mut ());
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
    let mut air = Air::default();
    let delivered = delivery(&mut one_hop(1.0), Instant::ZERO, 300, &mut air);
    let data: Vec<_> = air.0.iter().filter(|frame| frame.1 == FrameKind::Data).map(|f| (f.0, f.2)).collect();
    assert_eq!(data, starts.into_iter().zip(psdus).collect::<Vec<_>>());
    // The last frame: (6 + 48) * 32 = 1,728 us, then 5,521 + 800.
    assert_eq!(delivered, Instant::from_micros(165_215 + 1_728 + 5_521 + 800));
}

#[test]
fn radios_are_on_as_long_as_their_cells_say() {
    let mut network = one_hop(1.0);
    delivery(&mut network, Instant::from_micros(7_000), 60, &mut ());
    // After two slotframes, 200,000 us. The client: one frame of 3,136 us sent; 700 us of guard and 800 us of
    // acknowledgement; it listened in slots 4 and 9 for 2 * 1,311 us each.
    let us = Duration::from_micros;
    let client = network.radio_times(CLIENT, Instant::from_micros(200_000));
    assert_eq!((client.transmit, client.receive, client.listen), (us(3_136), us(800), us(700 + 2 * 2_622)));
    assert_eq!(client.transmit + client.receive + client.listen + client.sleep, us(200_000));
    // The root: 1,311 us until the frame, the frame, its acknowledgement; idle in slots 3, 6 and 8.
    let root = network.radio_times(NodeId::ROOT, Instant::from_micros(200_000));
    assert_eq!((root.transmit, root.receive, root.listen), (us(800), us(3_136), us(1_311 + 3 * 2_622)));
}

#[test]
fn a_frame_is_sent_sixteen_times_and_given_up() {
    let links = [LinkQuality { data: 1e-9, ..LinkQuality::symmetric(CLIENT, NodeId::ROOT, 1.0)[0].clone() }];
    let all: Vec<_> =
        links.into_iter().chain(LinkQuality::symmetric(NodeId::ROOT, CLIENT, 1.0).into_iter().take(1)).collect();
    let streams = Streams::new(1);
    let cell = Cell {
        slot: 1,
        channel_offset: 0,
        options: CellOptions::TRANSMIT,
        neighbor: Some(NodeId::ROOT),
        handle: handle::NEGOTIATED,
    };
    let mut mac =
        Tsch::new(tsch::TschConfig::openwsn(5), Links::new(2, &all, &streams), vec![vec![], vec![cell]], &streams);
    mac.enqueue(Instant::ZERO, CLIENT, NodeId::ROOT, &[1, 2, 3], 9).unwrap();
    let (mut air, mut indications) = (Air::default(), Vec::new());
    while let Some(now) = mac.deadline() {
        mac.handle_deadline(now, &mut indications, &mut air);
    }
    // OpenWSN's 15 retries after the first transmission, in slot 1 of 16 slotframes of 100,000 us.
    let expected: Vec<u64> = (0..16).map(|frame| frame * 100_000 + 25_215).collect();
    assert_eq!(air.0.iter().map(|frame| frame.0).collect::<Vec<_>>(), expected);
    assert!(matches!(indications[..], [slowhand_net::radio::Indication::Dropped { datagram: 9, .. }]));
}
