//! Properties of every packet, every loss and every octet string.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use slowhand_net::address::{Eui64, NodeId, mesh_address};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ecn, Endpoint, Ipv6Header, UdpDatagram, ipv6, udp, udp_datagram};
use slowhand_net::lowpan::reassembly::{Discard, Limits, Outcome, Reassembler, Timer, WhenFull};
use slowhand_net::lowpan::{
    Contexts, Fragmenter, Link, MAX_COMPRESSED, MAX_DECOMPRESSED, PayloadCompression, compress, decompress, fragment,
};

proptest! {
    #[test]
    fn compression_is_undone_by_decompression(
        packet in packet(200), link in link(), contexts in contexts(),
    ) {
        let mut compressed = [0; MAX_COMPRESSED];
        let done = compress(&packet, link, &contexts, &mut compressed).unwrap();
        let payload = [&compressed[..done.written], &packet[done.consumed..]].concat();
        let mut headers = [0; MAX_DECOMPRESSED];
        let undone = decompress(&payload, link, &contexts, None, &mut headers).unwrap();
        prop_assert_eq!(undone.consumed, done.written);
        prop_assert_eq!(undone.written, done.consumed);
        prop_assert!(!undone.checksum_elided);
        prop_assert_eq!(&headers[..undone.written], &packet[..done.consumed]);
    }

    #[test]
    fn frames_stay_within_capacity_and_are_as_many_as_promised(
        packet in packet(1500), link in link(), contexts in contexts(), capacity in 0usize..200,
    ) {
        let Ok(mut fragmenter) = Fragmenter::new(&packet, link, &contexts, 1, capacity) else {
            prop_assert!(capacity < fragment::FragmentHeader::FIRST_LENGTH + MAX_COMPRESSED);
            return Ok(());
        };
        let promised = fragmenter.frames();
        let frames = frames(&mut fragmenter, &packet, capacity);
        prop_assert_eq!(frames.len(), promised);
        prop_assert!(frames.iter().all(|frame| frame.len() <= capacity));
    }

    /// Fragments of several packets, interleaved, lost and doubled. Exactly the packets of which every fragment arrived
    /// come out, once and unchanged.
    #[test]
    fn what_is_reassembled_is_what_was_sent(
        packets in vec(packet(900), 1..5),
        link in link(),
        contexts in contexts(),
        order in vec((any::<Index>(), any::<Index>()), 0..120),
        capacity in 64usize..128,
    ) {
        let limits = Limits { buffers: packets.len(), datagram: 2047, ..Limits::default() };
        let mut reassembler = Reassembler::new(limits, contexts.clone());
        let sent: Vec<_> = packets
            .iter()
            .zip(0..)
            .map(|(packet, tag)| {
                let mut fragmenter = Fragmenter::new(packet, link, &contexts, tag, capacity).unwrap();
                frames(&mut fragmenter, packet, capacity)
            })
            .collect();
        // Another copy of a fragment would begin a complete packet again, so the test holds it back.
        let mut missing: Vec<Vec<bool>> = sent.iter().map(|frames| vec![true; frames.len()]).collect();
        for (packet, frame) in order {
            let packet = packet.index(packets.len());
            let frame = frame.index(sent[packet].len());
            if !missing[packet].contains(&true) {
                continue;
            }
            missing[packet][frame] = false;
            let is_whole = !missing[packet].contains(&true);
            let outcome = reassembler.handle_fragment(
                Instant::ZERO, link, &sent[packet][frame], packet as u32,
            );
            match outcome {
                Outcome::Complete { packet: octets, datagram } => {
                    prop_assert!(is_whole);
                    prop_assert_eq!(datagram as usize, packet);
                    prop_assert_eq!(&*octets, &packets[packet][..]);
                }
                Outcome::Incomplete => prop_assert!(!is_whole),
                Outcome::Discarded(reason) => prop_assert!(false, "{}", reason),
            }
        }
        let begun = missing.iter().filter(|m| m.contains(&true) && m.contains(&false)).count();
        prop_assert_eq!(reassembler.occupancy().buffers, begun);
    }

    /// Many fragments arrive from many nodes, whatever the rules of the buffers are. Their number and their memory stay
    /// within the limits, every buffer is freed, and every accepted packet has exactly one outcome, not before its time.
    #[test]
    fn buffers_are_bounded_and_come_back(
        arrivals in vec((0u64..3_000, 0u16..4, 0u16..6, any::<Index>()), 1..200),
        buffers in 0usize..4,
        memory in select(vec![None, Some(300), Some(900), Some(5_000)]),
        timer in select(vec![Timer::FirstFragment, Timer::EachFragment, Timer::OnDemand]),
        when_full in select(vec![WhenFull::Refuse, WhenFull::Oldest]),
    ) {
        let timeout = Duration::from_micros(20_000);
        let limits = Limits { buffers, datagram: 1280, memory, timeout, timer, when_full };
        let mut reassembler = Reassembler::new(limits, Contexts::mesh());
        let mut now = Instant::ZERO;
        // When the timer of each packet in reassembly began; the links, tags and sizes of all.
        let mut open: BTreeMap<u32, Instant> = BTreeMap::new();
        let mut packets: BTreeMap<(u16, u16), u32> = BTreeMap::new();
        for (at, (gap, node, tag, frame)) in arrivals.into_iter().enumerate() {
            now += Duration::from_micros(gap);
            while let Some(expired) = reassembler.handle_timeout(now) {
                let begun = open.remove(&expired.datagram);
                prop_assert!(begun.is_some_and(|begun| begun + timeout <= now));
            }
            let next = open.values().min().map(|&begun| begun + timeout);
            prop_assert_eq!(reassembler.deadline(), next.filter(|_| timer != Timer::OnDemand));
            prop_assert!(reassembler.deadline().is_none_or(|deadline| deadline > now));

            let from = Eui64::of_node(NodeId(node));
            let to = Eui64::of_node(NodeId::ROOT);
            let packet = datagram(node, 400 + 8 * usize::from(tag));
            let link = Link { source: from, destination: to };
            let mut fragmenter = Fragmenter::new(&packet, link, &Contexts::mesh(), tag, 104).unwrap();
            let frames = frames(&mut fragmenter, &packet, 104);
            let number = frame.index(frames.len());
            let before = reassembler.occupancy();
            let known = packets.get(&(node, tag)).copied().filter(|id| open.contains_key(id));
            let id = known.unwrap_or(at as u32);
            let accepted = match reassembler.handle_fragment(now, link, &frames[number], id) {
                Outcome::Complete { packet: octets, datagram } => {
                    prop_assert_eq!(&*octets, &packet[..]);
                    prop_assert!(open.remove(&datagram).is_some());
                    false
                }
                Outcome::Incomplete => true,
                Outcome::Discarded(Discard::FirstMissing) => {
                    prop_assert!(timer == Timer::OnDemand && number > 0 && known.is_none());
                    false
                }
                Outcome::Discarded(reason) => {
                    prop_assert_eq!(reason, Discard::Full);
                    let is_full = |memory| before.reserved > 0 && before.reserved + packet.len() > memory;
                    prop_assert!(before.buffers == buffers || memory.is_some_and(is_full));
                    prop_assert!(when_full == WhenFull::Refuse || buffers == 0);
                    false
                }
            };
            while let Some(expired) = reassembler.poll_displaced() {
                let begun = open.remove(&expired.datagram).unwrap();
                prop_assert!(timer == Timer::OnDemand && begun + timeout <= now || when_full == WhenFull::Oldest);
                prop_assert!(open.values().all(|&other| other >= begun), "the oldest goes");
            }
            if accepted && (known.is_none() || timer == Timer::EachFragment) {
                open.insert(id, now);
                packets.insert((node, tag), id);
            }
            prop_assert_eq!(reassembler.datagrams().collect::<BTreeSet<_>>(), open.keys().copied().collect());
            let occupancy = reassembler.occupancy();
            prop_assert!(occupancy.buffers == open.len() && open.len() <= buffers);
            prop_assert!(open.len() <= 1 || memory.is_none_or(|memory| occupancy.reserved <= memory));
        }
        now += timeout;
        while let Some(expired) = reassembler.handle_timeout(now) {
            prop_assert!(open.remove(&expired.datagram).is_some());
        }
        prop_assert!(open.is_empty() || timer == Timer::OnDemand);
        prop_assert!(reassembler.peak().buffers <= buffers);
        reassembler.clear();
        prop_assert_eq!(reassembler.occupancy(), Default::default());
    }

    #[test]
    fn no_octets_make_it_panic(
        frames in vec(vec(any::<u8>(), 0..140), 1..20), link in link(), contexts in contexts(),
    ) {
        let mut reassembler = Reassembler::new(Limits::default(), contexts);
        for frame in &frames {
            reassembler.handle_fragment(Instant::ZERO, link, frame, 0);
            let _ = UdpDatagram::parse(frame);
            let _ = ipv6::mark(&mut frame.clone(), Ecn::CongestionExperienced);
            let _ = ipv6::take_hop(&mut frame.clone());
            let _ = udp::fill_checksum(&mut frame.clone());
        }
    }

    /// Octets changed in real frames get further into the parser than arbitrary ones.
    #[test]
    fn no_damage_makes_it_panic(
        packet in packet(600),
        link in link(),
        contexts in contexts(),
        damage in vec((any::<Index>(), 0usize..12, any::<u8>()), 1..40),
    ) {
        let mut fragmenter = Fragmenter::new(&packet, link, &contexts, 1, 100).unwrap();
        let mut frames = frames(&mut fragmenter, &packet, 100);
        for (frame, octet, value) in damage {
            let frame = frame.index(frames.len());
            if let Some(octet) = frames[frame].get_mut(octet) {
                *octet = value;
            }
        }
        let mut reassembler = Reassembler::new(Limits::default(), contexts);
        for frame in &frames {
            reassembler.handle_fragment(Instant::ZERO, link, frame, 0);
        }
    }

    #[test]
    fn a_flipped_bit_in_a_datagram_is_noticed(
        payload in vec(any::<u8>(), 0..100), ports: (u16, u16), bit in any::<Index>(),
    ) {
        let (source, destination) = (mesh_address(NodeId(1)), mesh_address(NodeId(2)));
        let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
        let ends = (Endpoint::new(source, ports.0), Endpoint::new(destination, ports.1));
        udp_datagram(ends.0, ends.1, &payload, &mut packet).unwrap();
        let parsed = UdpDatagram::parse(&packet).unwrap();
        prop_assert_eq!((parsed.source, parsed.destination, parsed.payload), (ends.0, ends.1, &payload[..]));

        // Addresses and what follows them are covered by the checksum.
        let bit = bit.index((packet.len() - 8) * 8) + 8 * 8;
        packet[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(UdpDatagram::parse(&packet).is_err());
    }

    #[test]
    fn a_router_changes_what_it_should_and_nothing_else(packet in packet(40)) {
        let before = Ipv6Header::parse(&packet).unwrap();
        let mut marked = packet.clone();
        ipv6::mark(&mut marked, Ecn::CongestionExperienced).unwrap();
        let after = Ipv6Header::parse(&marked).unwrap();
        prop_assert_eq!(after, before.with_ecn(Ecn::CongestionExperienced));
        prop_assert_eq!(after.traffic_class >> 2, before.traffic_class >> 2);
        prop_assert_eq!(&marked[40..], &packet[40..]);

        let mut forwarded = packet.clone();
        let left = ipv6::take_hop(&mut forwarded).unwrap();
        prop_assert_eq!(left, before.hop_limit.saturating_sub(1));
        prop_assert_eq!(forwarded[7], left);
        prop_assert_eq!((&forwarded[..7], &forwarded[8..]), (&packet[..7], &packet[8..]));
    }
}

fn frames(fragmenter: &mut Fragmenter, packet: &[u8], capacity: usize) -> Vec<Vec<u8>> {
    let mut out = vec![0; capacity];
    let mut frames = Vec::new();
    while let Some(length) = fragmenter.next_frame(packet, &mut out).unwrap() {
        frames.push(out[..length].to_vec());
    }
    frames
}

fn datagram(node: u16, payload: usize) -> Vec<u8> {
    let mut packet = vec![0; UdpDatagram::HEADERS + payload];
    let source = Endpoint::new(mesh_address(NodeId(node)), 61616);
    let destination = Endpoint::new(mesh_address(NodeId::ROOT), 5684);
    udp_datagram(source, destination, &vec![node as u8; payload], &mut packet).unwrap();
    packet
}

fn link() -> impl Strategy<Value = Link> {
    let address = || prop_oneof![any::<[u8; 8]>().prop_map(Eui64), node_address()];
    (address(), address()).prop_map(|(source, destination)| Link { source, destination })
}

fn node_address() -> impl Strategy<Value = Eui64> {
    (0u16..4).prop_map(|node| Eui64::of_node(NodeId(node)))
}

/// Prefixes that the addresses of [`address`] often begin with, of any length, and any compression of payloads.
fn contexts() -> impl Strategy<Value = Contexts> {
    let context = (0u8..16, address(), 0u8..=128);
    let payload = select(vec![None, Some(PayloadCompression::Ghc), Some(PayloadCompression::Lithe)]);
    (vec(context, 0..8), payload).prop_map(|(list, payload)| {
        let mut contexts = Contexts::mesh().with_payload_compression(payload);
        for (id, prefix, length) in list {
            contexts.set(id, prefix, length).unwrap();
        }
        contexts
    })
}

/// Addresses near the forms that compress, and any others.
fn address() -> impl Strategy<Value = Ipv6Addr> {
    let prefix = select(vec!["::", "fe80::", "2001:db8::", "2001:db8:1::", "ff02::", "ff35:40:2001:db8::"])
        .prop_map(|text| text.parse::<Ipv6Addr>().unwrap().to_bits());
    let identifier = prop_oneof![
        Just(0u64),
        0u64..0x1_0000,
        (0u64..0x2_0000).prop_map(|short| 0xff_fe00_0000 | short),
        node_address().prop_map(|address| u64::from_be_bytes(address.interface_identifier())),
        any::<u64>(),
    ];
    prop_oneof![
        4 => (prefix, identifier).prop_map(|(prefix, low)| Ipv6Addr::from_bits(prefix | u128::from(low))),
        1 => any::<u128>().prop_map(Ipv6Addr::from_bits),
    ]
}

fn port() -> impl Strategy<Value = u16> {
    prop_oneof![0xf0b0u16..0xf0c0, 0xf000u16..0xf100, any::<u16>()]
}

/// Any octets, octets that repeat, or those of a record of DTLS behind a UDP header.
fn octets(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    let record = (0usize..longest, select(vec![20u8, 22, 22, 23]), 0u64..0x2_0000, any::<bool>(), any::<u8>())
        .prop_map(|(length, kind, number, is_whole, fill)| {
            let mut octets = vec![0; 8];
            octets.extend([kind, 0xfe, if is_whole { 0xfd } else { 0xff }]);
            octets.extend(number.to_be_bytes());
            octets.extend((length as u16).to_be_bytes());
            let message = length.saturating_sub(12) as u32;
            octets.push(fill % 3);
            octets.extend(&message.to_be_bytes()[1..]);
            octets.extend([0, fill, 0, 0, u8::from(!is_whole)]);
            octets.extend(&message.to_be_bytes()[1..]);
            octets.resize(8 + 13 + length, fill & 0xaf);
            octets
        });
    prop_oneof![vec(any::<u8>(), 0..longest), vec(0u8..3, 0..longest), record]
}

/// A packet of any protocol; where it is UDP, mostly with the right length.
fn packet(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    let traffic = (prop_oneof![Just(0u8), 0u8..4, any::<u8>()], prop_oneof![Just(0u32), 0u32..0x10_0000]);
    let hop_limit = prop_oneof![select(vec![1u8, 64, 255]), any::<u8>()];
    let next_header = prop_oneof![3 => Just(17u8), 1 => any::<u8>()];
    let ports = (port(), port(), any::<bool>());
    (traffic, hop_limit, next_header, address(), address(), ports, octets(longest)).prop_map(
        |((traffic_class, flow_label), hop_limit, next_header, source, destination, ports, mut payload)| {
            if let (17, Some(head)) = (next_header, payload.first_chunk::<4>()) {
                let length = payload.len() as u16 + u16::from(ports.2 && head[0] == 0);
                payload[0..2].copy_from_slice(&ports.0.to_be_bytes());
                payload[2..4].copy_from_slice(&ports.1.to_be_bytes());
                if payload.len() >= 8 {
                    payload[4..6].copy_from_slice(&length.to_be_bytes());
                }
            }
            let payload_length = payload.len() as u16;
            let header =
                Ipv6Header { traffic_class, flow_label, payload_length, next_header, hop_limit, source, destination };
            [&header.emit()[..], &payload].concat()
        },
    )
}
