//! Fragments over several hops and lossy links: forwarded one by one (RFC 8930), and recovered (RFC 8931).

use proptest::collection::vec;
use proptest::prelude::*;
use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Endpoint, UdpDatagram, ipv6, udp_datagram};
use slowhand_net::lowpan::forwarding::{self, Discard, Forwarder, Outcome, Route, SLACK};
use slowhand_net::lowpan::reassembly::{self, Limits, Reassembler};
use slowhand_net::lowpan::recovery::{Receiver, RecoveryConfig, RfragAck, Router, Sender, State};
use slowhand_net::lowpan::{Contexts, FRAME_CAPACITY, Fragmenter, Link};

#[test]
fn a_packet_crosses_four_hops_without_reassembly() {
    let mut line = Line::new(4);
    let packet = packet(4, 800);
    let arrived = line.send(&packet, 1, |_| Fate::Arrives);
    assert_eq!(arrived, [hopped(&packet, 3)]);
    assert!(line.forwarders.iter().all(|forwarder| forwarder.occupancy() == 0 && forwarder.peak() == 1));
}

/// The first link elides the source and the hop limit; without slack the first forwarder finds no room.
#[test]
fn without_slack_the_grown_header_does_not_fit() {
    let packet = packet(2, 800);
    let mut forwarder = Forwarder::new(node(1), forwarding::Limits::default(), Contexts::mesh());
    let link = Link { source: node(2), destination: node(1) };
    let mut fragmenter = Fragmenter::new(&packet, link, &Contexts::mesh(), 1, FRAME_CAPACITY).unwrap();
    let (mut frame, mut out) = ([0; FRAME_CAPACITY], [0; FRAME_CAPACITY]);
    let length = fragmenter.next_frame(&packet, &mut frame).unwrap().unwrap();
    let next = |_: &mut [u8], _| Route::Next { to: node(0), tag: 9, congested: false, capacity: FRAME_CAPACITY };
    let outcome = forwarder.handle_fragment(Instant::ZERO, node(2), &frame[..length], 0, next, &mut out);
    assert_eq!(outcome, Outcome::Discarded(Discard::NoSlack));
    assert_eq!(forwarder.occupancy(), 0);
}

/// The next link has frames that are one octet too small for the first fragment, or for the second.
#[test]
fn a_fragment_that_is_too_long_for_the_next_link_is_discarded() {
    let packet = packet(2, 800);
    let link = Link { source: node(2), destination: node(1) };
    let contexts = Contexts::mesh();
    let mut fragmenter = Fragmenter::new(&packet, link, &contexts, 1, FRAME_CAPACITY).unwrap().with_slack(SLACK);
    let frames: Vec<Vec<u8>> = (0..2)
        .map(|_| {
            let mut frame = [0; FRAME_CAPACITY];
            let length = fragmenter.next_frame(&packet, &mut frame).unwrap().unwrap();
            frame[..length].to_vec()
        })
        .collect();
    let forward = |capacity: usize| {
        let mut forwarder = Forwarder::new(node(1), forwarding::Limits::default(), Contexts::mesh());
        let outcomes = [0, 1].map(|index: usize| {
            let next = |_: &mut [u8], _| Route::Next { to: node(0), tag: 9, congested: false, capacity };
            let mut out = [0; FRAME_CAPACITY];
            forwarder.handle_fragment(Instant::ZERO, node(2), &frames[index], 0, next, &mut out)
        });
        (outcomes, forwarder.occupancy())
    };
    let ([first, second], occupancy) = forward(FRAME_CAPACITY);
    let (Outcome::Forward { length: first, .. }, Outcome::Forward { length: second, .. }) = (first, second) else {
        panic!("{first:?}, {second:?}")
    };
    assert_eq!(occupancy, 1);
    assert!(second > first, "the second fragment has no headers and leaves no slack: {first}, {second}");
    let no_slack = Outcome::Discarded(Discard::NoSlack);
    assert_eq!(forward(second - 1), ([Outcome::Forward { to: node(0), length: first }, no_slack], 1));
    assert_eq!(forward(first - 1), ([no_slack, Outcome::Discarded(Discard::Unknown)], 0));
}

#[test]
fn without_its_first_fragment_a_packet_goes_nowhere() {
    let mut line = Line::new(3);
    let arrived = line.send(&packet(3, 500), 1, |frame| if frame == 0 { Fate::Lost } else { Fate::Arrives });
    assert!(arrived.is_empty());
    assert_eq!(line.discarded, vec![Discard::Unknown; 5]);
}

#[test]
fn an_entry_is_forgotten_when_its_time_has_come() {
    let limits = forwarding::Limits { entries: 1, timeout: Duration::from_secs(2) };
    let mut forwarder = Forwarder::new(node(1), limits, Contexts::mesh());
    let packet = packet(2, 500);
    let link = Link { source: node(2), destination: node(1) };
    let mut hand = |tag: u16, at: Instant| {
        let fragmenter = Fragmenter::new(&packet, link, &Contexts::mesh(), tag, FRAME_CAPACITY).unwrap();
        let (mut frame, mut out) = ([0; FRAME_CAPACITY], [0; FRAME_CAPACITY]);
        let length = fragmenter.with_slack(SLACK).next_frame(&packet, &mut frame).unwrap().unwrap();
        let next =
            |_: &mut [u8], _| Route::Next { to: node(0), tag: 100 + tag, congested: false, capacity: FRAME_CAPACITY };
        let expired = forwarder.handle_timeout(at);
        (forwarder.handle_fragment(at, node(2), &frame[..length], tag.into(), next, &mut out), expired)
    };
    assert!(matches!(hand(1, Instant::from_micros(5)), (Outcome::Forward { .. }, None)));
    assert_eq!(hand(2, Instant::from_micros(2_000_004)), (Outcome::Discarded(Discard::Full), None));
    let (outcome, expired) = hand(2, Instant::from_micros(2_000_005));
    assert!(matches!(outcome, Outcome::Forward { .. }));
    let expired = expired.unwrap();
    // 48 octets of headers, and 64 in whole units of the 69 that frame, headers and slack leave.
    assert_eq!((expired.tag, expired.datagram, expired.size, expired.received), (1, 1, 548, 48 + 64));
}

#[test]
fn the_last_hop_is_not_taken() {
    let mut packet = packet(2, 500);
    for _ in 0..63 {
        ipv6::take_hop(&mut packet).unwrap();
    }
    let mut line = Line::new(2);
    assert!(line.send(&packet, 1, |_| Fate::Arrives).is_empty());
    assert_eq!(line.discarded[0], Discard::HopLimit);
}

proptest! {
    /// Each frame of each hop is lost, doubled or arrives. A packet that arrives is the packet that was sent.
    #[test]
    fn what_is_forwarded_is_what_was_sent(
        hops in 1usize..5,
        sizes in vec(0usize..1000, 1..4),
        fates in vec(prop_oneof![6 => Just(Fate::Arrives), 1 => Just(Fate::Lost), 1 => Just(Fate::Doubled)], 300),
    ) {
        let mut line = Line::new(hops);
        for (tag, size) in (1..).zip(sizes) {
            let packet = packet(hops as u16, size);
            let mut trouble = false;
            let arrived = line.send(&packet, tag, |frame| {
                trouble |= fates[frame % 300] == Fate::Lost;
                fates[frame % 300]
            });
            let expected = hopped(&packet, hops - 1);
            prop_assert!(arrived.iter().all(|octets| *octets == expected));
            prop_assert!(trouble || !arrived.is_empty());
        }
    }

    /// Frames and acknowledgements are lost at random. What the sender reports is true. With enough retries every packet
    /// arrives once.
    #[test]
    fn recovery_ends_and_tells_the_truth(
        size in 0usize..1200,
        capacity in 64usize..128,
        window in 1usize..33,
        max_retries in 0u8..40,
        first_alone in any::<bool>(),
        slack in 0usize..20,
        losses in vec(any::<bool>(), 1..400),
    ) {
        let packet = packet(1, size);
        let link = Link { source: node(1), destination: node(0) };
        let config = RecoveryConfig { capacity, window, max_retries, first_alone, ..RecoveryConfig::default() };
        let sender = Sender::new(&packet, link, &Contexts::mesh(), 1, config).unwrap();
        let mut sender = sender.with_slack(slack).unwrap();
        let mut receiver = Receiver::new(Limits::default(), config.persistence(), Contexts::mesh());
        // Random losses at first, then none.
        let mut losses = losses.into_iter();
        let mut now = Instant::ZERO;
        let mut delivered = 0;
        let mut frame = vec![0; capacity];
        while matches!(sender.state(), State::Sending | State::Waiting) {
            let Some(length) = sender.next_frame(now, &packet, &mut frame).unwrap() else {
                now = sender.deadline().unwrap();
                sender.handle_timeout(now);
                continue;
            };
            prop_assert!(length <= capacity);
            if losses.next().unwrap_or(false) {
                continue;
            }
            let reception = receiver.handle_fragment(now, link, &frame[..length], 7);
            match reception.outcome {
                reassembly::Outcome::Complete { packet: octets, datagram } => {
                    prop_assert_eq!(&*octets, &packet[..]);
                    prop_assert_eq!(datagram, 7);
                    delivered += 1;
                }
                reassembly::Outcome::Incomplete => {}
                reassembly::Outcome::Discarded(reason) => prop_assert!(false, "{}", reason),
            }
            if let Some(acknowledgement) = reception.acknowledgement
                && !losses.next().unwrap_or(false)
            {
                let octets = acknowledgement.emit();
                sender.handle_acknowledgement(&RfragAck::parse(&octets).unwrap());
            }
        }
        prop_assert!(delivered <= 1);
        if sender.state() == State::Delivered {
            prop_assert_eq!(delivered, 1);
        }
        prop_assert!(sender.frames_sent() <= sender.fragments() * (1 + usize::from(max_retries)));
    }

    #[test]
    fn no_octets_make_it_panic(
        frames in vec((select_dispatch(), vec(any::<u8>(), 0..60)), 1..30), acknowledgements in vec(any::<[u8; 5]>(), 0..20),
    ) {
        let mut forwarder = Forwarder::new(node(1), forwarding::Limits::default(), Contexts::mesh());
        let linger = RecoveryConfig::default().persistence();
        let mut receiver = Receiver::new(Limits::default(), linger, Contexts::mesh());
        let mut router = Router::new(node(1), forwarding::Limits::default(), Contexts::mesh());
        let mut out = [0; FRAME_CAPACITY];
        for (first, rest) in &frames {
            let frame = [&[*first][..], rest].concat();
            let next = |_: &mut [u8], _| Route::Next { to: node(0), tag: 9, congested: false, capacity: FRAME_CAPACITY };
            forwarder.handle_fragment(Instant::ZERO, node(2), &frame, 0, next, &mut out);
            receiver.handle_fragment(Instant::ZERO, Link { source: node(2), destination: node(1) }, &frame, 0);
            router.handle_fragment(Instant::ZERO, node(2), &frame, true, next, &mut out);
        }
        let packet = packet(1, 900);
        let link = Link { source: node(1), destination: node(0) };
        let mut sender = Sender::new(&packet, link, &Contexts::mesh(), 1, RecoveryConfig::default()).unwrap();
        for rest in &acknowledgements {
            let octets = [&[0xea, 1], &rest[..4]].concat();
            let _ = sender.next_frame(Instant::ZERO, &packet, &mut out);
            sender.handle_acknowledgement(&RfragAck::parse(&octets).unwrap());
            router.handle_acknowledgement(Instant::ZERO, node(0), &RfragAck::parse(&octets).unwrap());
        }
    }
}

/// Octets that begin a fragment of either kind, or anything.
fn select_dispatch() -> impl Strategy<Value = u8> {
    prop_oneof![0xc0u8..0xc8, 0xe0u8..0xe8, 0xe8u8..0xea, any::<u8>()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Arrives,
    Lost,
    Doubled,
}

/// Nodes in a row: the last sends to node 0, all others forward.
struct Line {
    /// Of the nodes between, the nearest to the sender first.
    forwarders: Vec<Forwarder>,
    root: Reassembler,
    discarded: Vec<Discard>,
    tag: u16,
}

impl Line {
    fn new(hops: usize) -> Self {
        let between = (1..hops as u16).rev();
        let limits = forwarding::Limits::default();
        Self {
            forwarders: between.map(|at| Forwarder::new(node(at), limits, Contexts::mesh())).collect(),
            root: Reassembler::new(Limits { buffers: 16, ..Limits::default() }, Contexts::mesh()),
            discarded: Vec::new(),
            tag: 1000,
        }
    }

    /// Sends a packet from the end of the line. `fate` decides for each frame, in the order of sending. Returns the
    /// packets that the root received.
    fn send(&mut self, packet: &[u8], tag: u16, mut fate: impl FnMut(usize) -> Fate) -> Vec<Vec<u8>> {
        let hops = self.forwarders.len() + 1;
        let link = Link { source: node(hops as u16), destination: node(hops as u16 - 1) };
        let mut fragmenter =
            Fragmenter::new(packet, link, &Contexts::mesh(), tag, FRAME_CAPACITY).unwrap().with_slack(SLACK);
        let promised = fragmenter.frames();
        let mut frames = Vec::new();
        let mut frame = [0; FRAME_CAPACITY];
        while let Some(length) = fragmenter.next_frame(packet, &mut frame).unwrap() {
            frames.push(frame[..length].to_vec());
        }
        assert_eq!(frames.len(), promised);

        let mut sent = 0;
        let mut arrived = Vec::new();
        for frame in frames {
            self.carry(
                frame,
                hops,
                &mut |_| {
                    sent += 1;
                    fate(sent - 1)
                },
                &mut arrived,
            );
        }
        arrived
    }

    /// Sends one frame from node `from` towards the root.
    fn carry(&mut self, frame: Vec<u8>, from: usize, fate: &mut dyn FnMut(()) -> Fate, arrived: &mut Vec<Vec<u8>>) {
        let copies = match fate(()) {
            Fate::Lost => 0,
            Fate::Arrives => 1,
            Fate::Doubled => 2,
        };
        let (sender, own) = (node(from as u16), from - 1);
        let link = Link { source: sender, destination: node(own as u16) };
        for _ in 0..copies {
            if own == 0 {
                let outcome = self.root.handle_fragment(Instant::ZERO, link, &frame, 0);
                if let reassembly::Outcome::Complete { packet, .. } = outcome {
                    arrived.push(packet.to_vec());
                }
                continue;
            }
            let mut out = [0; FRAME_CAPACITY];
            let index = self.forwarders.len() - own;
            self.tag += 1;
            let next =
                Route::Next { to: node(own as u16 - 1), tag: self.tag, congested: false, capacity: FRAME_CAPACITY };
            match self.forwarders[index].handle_fragment(Instant::ZERO, sender, &frame, 0, |_, _| next, &mut out) {
                Outcome::Forward { length, .. } => self.carry(out[..length].to_vec(), own, fate, arrived),
                // A packet in one frame is reassembled, which here means decompressed, and forwarded as a packet.
                Outcome::Local => {
                    let mut reassembler = Reassembler::new(Limits::default(), Contexts::mesh());
                    let outcome = reassembler.handle_fragment(Instant::ZERO, link, &frame, 0);
                    let reassembly::Outcome::Complete { packet, .. } = outcome else { panic!("{outcome:?}") };
                    ipv6::take_hop(packet).unwrap();
                    let link = Link { source: node(own as u16), destination: node(own as u16 - 1) };
                    let mut fragmenter =
                        Fragmenter::new(packet, link, &Contexts::mesh(), self.tag, FRAME_CAPACITY).unwrap();
                    while let Some(length) = fragmenter.next_frame(packet, &mut out).unwrap() {
                        self.carry(out[..length].to_vec(), own, fate, arrived);
                    }
                }
                Outcome::Discarded(reason) => self.discarded.push(reason),
            }
        }
    }
}

fn node(number: u16) -> Eui64 {
    Eui64::of_node(NodeId(number))
}

fn packet(from: u16, payload: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..payload).map(|at| (at * 13) as u8).collect();
    let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
    let source = Endpoint::new(mesh_address(NodeId(from)), 61616 + from);
    udp_datagram(source, Endpoint::new(internet_address(), 5684), &payload, &mut packet).unwrap();
    packet
}

/// The packet after `hops` routers.
fn hopped(packet: &[u8], hops: usize) -> Vec<u8> {
    let mut packet = packet.to_vec();
    for _ in 0..hops {
        ipv6::take_hop(&mut packet).unwrap();
    }
    packet
}
