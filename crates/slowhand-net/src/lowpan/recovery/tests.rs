use super::*;
use crate::address::{Eui64, NodeId, mesh_address};
use crate::clock::{Duration, Instant};
use crate::ip::{Endpoint, UdpDatagram, udp_datagram};
use crate::lowpan::forwarding::{self, Route};
use crate::lowpan::reassembly::{self, Discard, Limits};
use crate::lowpan::{Contexts, Link};

const LINK: Link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId::ROOT) };

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn packet(size: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..size - UdpDatagram::HEADERS).map(|at| (at * 7) as u8).collect();
    let mut packet = vec![0; size];
    let source = Endpoint::new(mesh_address(NodeId(1)), 61617);
    let destination = Endpoint::new(mesh_address(NodeId::ROOT), 5684);
    udp_datagram(source, destination, &payload, &mut packet).unwrap();
    packet
}

/// All fragments of a window at once, as RIOT sends them.
fn all_at_once() -> RecoveryConfig {
    RecoveryConfig { first_alone: false, ..RecoveryConfig::default() }
}

fn sender(packet: &[u8], config: RecoveryConfig) -> Sender {
    Sender::new(packet, LINK, &Contexts::mesh(), 0x42, config).unwrap()
}

fn receiver() -> Receiver {
    let linger = RecoveryConfig::default().persistence();
    Receiver::new(Limits { buffers: 1, ..Limits::default() }, linger, Contexts::mesh())
}

/// All frames that the sender sends at this instant.
fn flight(sender: &mut Sender, now: Instant, packet: &[u8]) -> Vec<Vec<u8>> {
    let mut out = [0; 127];
    let mut frames = Vec::new();
    while let Some(length) = sender.next_frame(now, packet, &mut out).unwrap() {
        frames.push(out[..length].to_vec());
    }
    frames
}

fn sequences(frames: &[Vec<u8>]) -> Vec<(u8, bool)> {
    let headers = frames.iter().map(|frame| Rfrag::parse(frame).unwrap().0);
    headers.map(|header| (header.sequence, header.wants_acknowledgement)).collect()
}

fn deliver<'a>(receiver: &'a mut Receiver, now: Instant, frame: &[u8]) -> Reception<'a> {
    receiver.handle_fragment(now, LINK, frame, 5)
}

/// The fields laid out by hand after the figures of RFC 8931 sections 5.1 and 5.2.
#[test]
fn layouts() {
    let header = Rfrag {
        congestion: true,
        tag: 0x42,
        wants_acknowledgement: true,
        sequence: 0b10101,
        fragment_size: 3,
        fragment_offset: 0x1234,
    };
    let octets = [0b1110_1001, 0x42, 0b1101_0100, 0x03, 0x12, 0x34];
    assert_eq!(header.emit(), octets);
    let payload = [&octets[..], &[7, 8, 9]].concat();
    assert_eq!(Rfrag::parse(&payload), Ok((header, &[7, 8, 9][..])));
    assert_eq!(Rfrag::parse(&payload[..8]), Err(Error::Truncated));

    let plain = Rfrag { congestion: false, wants_acknowledgement: false, sequence: 1, fragment_size: 0x3ff, ..header };
    assert_eq!(plain.emit(), [0b1110_1000, 0x42, 0b0000_0111, 0xff, 0x12, 0x34]);

    // The first and the third fragment.
    let acknowledgement = RfragAck { congestion: false, tag: 0x42, bitmap: bit(0) | bit(2) };
    let octets = [0b1110_1010, 0x42, 0b1010_0000, 0, 0, 0];
    assert_eq!(acknowledgement.emit(), octets);
    assert_eq!(RfragAck::parse(&octets), Ok(acknowledgement));
    assert_eq!(RfragAck::parse(&octets[..5]), Err(Error::Truncated));
    assert_eq!(RfragAck::parse(&payload), Err(Error::Dispatch(0b1110_1001)));
    assert_eq!(Rfrag::parse(&octets), Err(Error::Dispatch(0b1110_1010)));
}

#[test]
fn only_what_is_missing_is_sent_again() {
    let packet = packet(600);
    let mut sender = sender(&packet, all_at_once());
    let mut receiver = receiver();
    // 600 - 48 + 8 octets in pieces of 98.
    assert_eq!(sender.fragments(), 6);
    let frames = flight(&mut sender, at(0), &packet);
    let first_to_last = [(0, false), (1, false), (2, false), (3, false), (4, false), (5, true)];
    assert_eq!(sequences(&frames), first_to_last);
    assert_eq!((sender.state(), sender.deadline()), (State::Waiting, Some(at(700))));

    let mut answer = None;
    for lost in [0, 1, 2, 3, 4, 5].iter().filter(|sequence| ![1, 4].contains(*sequence)) {
        let reception = deliver(&mut receiver, at(1), &frames[*lost]);
        assert_eq!(reception.outcome, reassembly::Outcome::Incomplete);
        answer = reception.acknowledgement;
    }
    let answer = answer.unwrap();
    assert_eq!(answer.bitmap >> 26, 0b101101);
    sender.handle_acknowledgement(&answer);
    let frames = flight(&mut sender, at(2), &packet);
    assert_eq!(sequences(&frames), [(1, false), (4, true)]);

    assert_eq!(deliver(&mut receiver, at(3), &frames[0]).acknowledgement, None);
    let reception = deliver(&mut receiver, at(4), &frames[1]);
    assert_eq!(reception.outcome, reassembly::Outcome::Complete { packet: &mut packet.clone()[..], datagram: 5 });
    let answer = reception.acknowledgement.unwrap();
    assert_eq!(answer.bitmap, RfragAck::FULL);

    // The acknowledgement is lost: the sender requests it again, and the receiver repeats it.
    sender.handle_timeout(at(702));
    let frames = flight(&mut sender, at(702), &packet);
    assert_eq!(sequences(&frames), [(1, false), (4, true)]);
    let reception = deliver(&mut receiver, at(703), &frames[1]);
    assert_eq!(reception, Reception { outcome: reassembly::Outcome::Incomplete, acknowledgement: Some(answer) });
    sender.handle_acknowledgement(&answer);
    assert_eq!((sender.state(), sender.deadline()), (State::Delivered, None));
    assert_eq!(sender.frames_sent(), 10);
    assert_eq!(receiver.occupancy().buffers, 0);
    // Later, another packet may have this tag.
    let reception = deliver(&mut receiver, at(4_000), &frames[1]);
    assert_eq!(reception.acknowledgement.unwrap().bitmap, bit(4));
}

/// The sender measures from the departure of the fragment that asks until the acknowledgement, and only if nothing was sent
/// twice. The timer doubles at each expiry, up to the configured time.
#[test]
fn a_sender_measures_what_is_not_ambiguous() {
    let packet = packet(400);
    let mut sender = sender(&packet, all_at_once());
    flight(&mut sender, at(0), &packet);
    assert_eq!(sender.round_trip(at(5)), None, "the frame has not left");
    sender.handle_departure(at(10));
    assert_eq!(sender.round_trip(at(110)), Some(Duration::from_millis(100)));
    sender.set_timeout(Duration::from_millis(200));
    sender.handle_departure(at(110));
    assert_eq!(sender.deadline(), Some(at(310)));
    for (now, next) in [(310, 400), (710, 700)] {
        sender.handle_timeout(at(now));
        flight(&mut sender, at(now), &packet);
        sender.handle_departure(at(now));
        assert_eq!(sender.round_trip(at(now + 50)), None, "sent twice");
        assert_eq!(sender.deadline(), Some(at(now + next)));
    }
    sender.handle_timeout(at(1_410));
    assert_eq!(sender.state(), State::Failed, "sent three times");
}

#[test]
fn a_window_at_a_time_narrower_after_congestion() {
    let packet = packet(1000);
    let mut sender = sender(&packet, RecoveryConfig { window: 4, ..all_at_once() });
    assert_eq!(sequences(&flight(&mut sender, at(0), &packet)), [(0, false), (1, false), (2, false), (3, true)]);
    sender.handle_acknowledgement(&RfragAck { congestion: true, tag: 0x42, bitmap: 0xf << 28 });
    assert_eq!(sequences(&flight(&mut sender, at(1), &packet)), [(4, false), (5, true)]);
    // An acknowledgement with another tag is ignored.
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x43, bitmap: RfragAck::FULL });
    assert_eq!(sender.state(), State::Waiting);
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x42, bitmap: 0x3f << 26 });
    assert_eq!(sequences(&flight(&mut sender, at(2), &packet)), [(6, false), (7, false), (8, true)]);
}

#[test]
fn a_fragment_is_sent_again_only_so_often() {
    let packet = packet(150);
    let mut sender = sender(&packet, all_at_once());
    for now in [0, 700, 1_400] {
        assert_eq!(sequences(&flight(&mut sender, at(now), &packet)), [(0, false), (1, true)]);
        sender.handle_timeout(at(now + 699));
        assert_eq!(sender.state(), State::Waiting);
        sender.handle_timeout(at(now + 700));
    }
    assert_eq!((sender.state(), sender.deadline()), (State::Failed, None));
    // The sender tells the receiver: fragment_offset 0.
    let frames = flight(&mut sender, at(2_100), &packet);
    assert_eq!(frames, [vec![0b1110_1000, 0x42, 0, 0, 0, 0]]);
    assert!(flight(&mut sender, at(2_101), &packet).is_empty());
}

#[test]
fn giving_up_frees_the_buffer_at_once() {
    let packet = packet(600);
    let mut receiver = receiver();
    let frames = flight(&mut sender(&packet, all_at_once()), at(0), &packet);
    deliver(&mut receiver, at(0), &frames[0]);
    assert_eq!(receiver.occupancy().buffers, 1);
    let reception = receiver.handle_fragment(at(1), LINK, &[0xe8, 0x42, 0, 0, 0, 0], 6);
    assert_eq!(reception.outcome, reassembly::Outcome::Discarded(Discard::Aborted { datagram: 5 }));
    assert_eq!(receiver.occupancy().buffers, 0);
}

#[test]
fn without_a_buffer_the_sender_is_told_to_give_up() {
    let packet = packet(600);
    let mut receiver = receiver();
    let mut first = sender(&packet, all_at_once());
    let mut second = Sender::new(&packet, LINK, &Contexts::mesh(), 0x43, all_at_once()).unwrap();
    deliver(&mut receiver, at(0), &flight(&mut first, at(0), &packet)[0]);
    let frames = flight(&mut second, at(0), &packet);
    let reception = deliver(&mut receiver, at(1), &frames[0]);
    assert_eq!(reception.outcome, reassembly::Outcome::Discarded(Discard::Full));
    second.handle_acknowledgement(&reception.acknowledgement.unwrap());
    assert_eq!(second.state(), State::Failed);
    // The first packet is discarded at its timeout.
    assert_eq!(receiver.deadline(), Some(at(60_000)));
    let expired = receiver.handle_timeout(at(60_000)).unwrap();
    assert_eq!((expired.tag, expired.size, expired.received, expired.datagram), (0x42, 560, 98, 5));
}

#[test]
fn fragments_that_contradict_each_other_end_the_packet() {
    let fragment = |sequence, fragment_offset, fragment: &[u8]| {
        let header = Rfrag {
            congestion: false,
            tag: 0x42,
            wants_acknowledgement: false,
            sequence,
            fragment_size: fragment.len() as u16,
            fragment_offset,
        };
        [&header.emit()[..], fragment].concat()
    };
    let overlap = Discard::Overlap { datagram: 5 };
    let behind = |found| Discard::Malformed(crate::ip::Error::Length { field: 100, found }.into());
    let cases = [
        (fragment(1, 20, &[0; 20]), overlap), // begins within
        (fragment(2, 50, &[0; 20]), overlap), // ends within
        (fragment(1, 60, &[0; 10]), overlap), // the same number, elsewhere
        (fragment(3, 90, &[0; 20]), behind(110)),
    ];
    for (frame, reason) in cases {
        let mut receiver = receiver();
        deliver(&mut receiver, at(0), &fragment(0, 100, &[0; 30]));
        deliver(&mut receiver, at(0), &fragment(1, 60, &[0; 20]));
        let reception = deliver(&mut receiver, at(0), &frame);
        assert_eq!(reception.outcome, reassembly::Outcome::Discarded(reason));
        assert_eq!(reception.acknowledgement.unwrap().bitmap, RfragAck::NULL);
        assert_eq!(receiver.occupancy().buffers, 0);
    }
}

#[test]
fn what_does_not_fit_is_said_at_once() {
    let config = RecoveryConfig { capacity: 40, ..all_at_once() };
    let result = Sender::new(&packet(1280), LINK, &Contexts::mesh(), 0, config).err();
    assert_eq!(result, Some(Error::TooLong(1280)));
    let config = RecoveryConfig { capacity: 12, ..all_at_once() };
    let result = Sender::new(&packet(100), LINK, &Contexts::mesh(), 0, config).err();
    assert!(matches!(result, Some(Error::Capacity { found: 12, .. })));
}

/// A router with room for this many paths. It forwards everything to the root with tag 9.
struct Between(Router);

impl Between {
    fn new(entries: usize) -> Self {
        let limits = forwarding::Limits { entries, ..Default::default() };
        Self(Router::new(LINK.source, limits, Contexts::mesh()))
    }

    fn take(&mut self, frame: &[u8], tag: u16, congested: bool) -> (Outcome, Vec<u8>) {
        let mut out = [0; 104];
        let next = |_: &mut [u8], _| Route::Next { to: LINK.destination, tag, congested, capacity: 104 };
        let outcome = self.0.handle_fragment(at(0), Eui64::of_node(NodeId(2)), frame, congested, next, &mut out);
        let length = if let Outcome::Forward { length, .. } = outcome { length } else { 0 };
        (outcome, out[..length].to_vec())
    }
}

/// The fragments of a packet of 300 octets from node 2 to the root over node 1, as node 2 sends them.
fn fragments_from_afar(tag: u8) -> Vec<Vec<u8>> {
    let payload = [0x5a; 252];
    let mut packet = [0; 300];
    let source = Endpoint::new(mesh_address(NodeId(2)), 61617);
    udp_datagram(source, Endpoint::new(mesh_address(NodeId::ROOT), 5684), &payload, &mut packet).unwrap();
    let link = Link { source: Eui64::of_node(NodeId(2)), destination: LINK.source };
    let sender = Sender::new(&packet, link, &Contexts::mesh(), tag, all_at_once()).unwrap();
    flight(&mut sender.with_slack(17).unwrap(), at(0), &packet)
}

/// The headers have 2 + 8 + 6 octets (IPHC, address, UDP with one port in one octet), then 252 octets follow: 268.
/// The second link carries the source address (8) and the hop limit (1) too, but no longer the destination address (8):
/// one octet more. Size, offsets and tag change accordingly (RFC 8931 section 4.4).
#[test]
fn offsets_follow_the_header_that_grows() {
    let mut between = Between::new(1);
    let headers = |frames: &[Vec<u8>]| -> Vec<_> {
        let headers = frames.iter().map(|frame| Rfrag::parse(frame).unwrap().0);
        headers.map(|h| (h.tag, h.sequence, h.fragment_size, h.fragment_offset, h.congestion)).collect()
    };
    let frames = fragments_from_afar(0x42);
    let sent = [(0x42, 0, 81, 268, false), (0x42, 1, 98, 81, false), (0x42, 2, 89, 179, false)];
    assert_eq!(headers(&frames), sent);
    let congested = [false, true, false];
    let forwarded: Vec<_> = frames.iter().zip(congested).map(|(frame, full)| between.take(frame, 9, full).1).collect();
    assert_eq!(headers(&forwarded), [(9, 0, 82, 269, false), (9, 1, 98, 82, true), (9, 2, 89, 180, false)]);
    assert_eq!(forwarded[1][Rfrag::LENGTH..], frames[1][Rfrag::LENGTH..]);
}

#[test]
fn acknowledgements_find_their_way_back() {
    let mut between = Between::new(1);
    let acknowledgement = RfragAck { congestion: false, tag: 9, bitmap: bit(0) };
    assert_eq!(between.0.handle_acknowledgement(at(0), LINK.destination, &acknowledgement), None, "no path");
    between.take(&fragments_from_afar(0x42)[0], 9, false);
    let back = Some((Eui64::of_node(NodeId(2)), RfragAck { tag: 0x42, ..acknowledgement }));
    assert_eq!(between.0.handle_acknowledgement(at(0), LINK.destination, &acknowledgement), back);
    assert_eq!(between.0.handle_acknowledgement(at(0), LINK.source, &acknowledgement), None, "from elsewhere");
    // While the packet is not complete, there is no room for another; afterwards there is.
    let other = fragments_from_afar(0x43);
    let refusal = RfragAck { congestion: false, tag: 0x43, bitmap: RfragAck::NULL };
    let full = Outcome::Discarded(forwarding::Discard::Full, Some(refusal));
    assert_eq!(between.take(&other[0], 10, false).0, full);
    assert_eq!(between.take(&other[1], 10, false).0, Outcome::Unknown(Some(refusal)));
    between.0.handle_acknowledgement(at(0), LINK.destination, &RfragAck { bitmap: RfragAck::FULL, ..acknowledgement });
    assert!(matches!(between.take(&other[0], 10, false).0, Outcome::Forward { .. }));
    // The receiver gives the packet up: the router deletes the path.
    let null = RfragAck { tag: 10, bitmap: RfragAck::NULL, congestion: false };
    assert!(between.0.handle_acknowledgement(at(0), LINK.destination, &null).is_some());
    assert_eq!((between.0.occupancy(), between.0.peak()), (0, 1));
}

#[test]
fn the_first_fragment_goes_alone_where_it_has_to() {
    let packet = packet(600);
    let mut sender = sender(&packet, RecoveryConfig::default());
    assert_eq!(sequences(&flight(&mut sender, at(0), &packet)), [(0, true)]);
    sender.handle_timeout(at(700));
    assert_eq!(sequences(&flight(&mut sender, at(700), &packet)), [(0, true)], "and again until it has arrived");
    // The frame leaves only now: the timer of the acknowledgement starts again.
    sender.handle_departure(at(1_000));
    assert_eq!(sender.deadline(), Some(at(1_700)));
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x42, bitmap: bit(0) });
    let rest = [(1, false), (2, false), (3, false), (4, false), (5, true)];
    assert_eq!(sequences(&flight(&mut sender, at(1_100), &packet)), rest);
}

/// RFC 8931 section 6: all fragments once, then those that are missing.
#[test]
fn what_was_never_sent_goes_before_what_is_missing() {
    let packet = packet(600);
    let mut sender = sender(&packet, RecoveryConfig { window: 2, ..all_at_once() });
    assert_eq!(sequences(&flight(&mut sender, at(0), &packet)), [(0, false), (1, true)]);
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x42, bitmap: bit(1) });
    assert_eq!(sequences(&flight(&mut sender, at(1), &packet)), [(2, false), (3, true)]);
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x42, bitmap: bit(1) | bit(2) | bit(3) });
    assert_eq!(sequences(&flight(&mut sender, at(2), &packet)), [(4, false), (5, true)]);
    sender.handle_acknowledgement(&RfragAck { congestion: false, tag: 0x42, bitmap: 0b011111 << 26 });
    assert_eq!(sequences(&flight(&mut sender, at(3), &packet)), [(0, true)]);
}

/// The buffer holds the compressed packet, whose size is in the offset field of the first fragment (RFC 8931
/// section 5.1).
#[test]
fn a_compressed_packet_may_be_as_long_as_a_buffer() {
    let packet = packet(300);
    let frames = flight(&mut sender(&packet, all_at_once()), at(0), &packet);
    let size = usize::from(Rfrag::parse(&frames[0]).unwrap().0.fragment_offset);
    let outcome = |datagram| {
        let limits = Limits { buffers: 1, datagram, ..Limits::default() };
        let mut receiver = Receiver::new(limits, Duration::ZERO, Contexts::mesh());
        let refused = matches!(
            deliver(&mut receiver, at(0), &frames[0]).outcome,
            reassembly::Outcome::Discarded(Discard::TooLong(_))
        );
        (refused, receiver.occupancy().buffers)
    };
    assert_eq!((outcome(size), outcome(size - 1)), ((false, 1), (true, 0)));
}
