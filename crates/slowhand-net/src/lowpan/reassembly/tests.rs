use super::*;
use crate::address::{NodeId, mesh_address};
use crate::ip::{Endpoint, UdpDatagram, udp_datagram};
use crate::lowpan::{FRAME_CAPACITY, Fragmenter};

const FROM: Eui64 = Eui64::of_node(NodeId(1));
const TO: Eui64 = Eui64::of_node(NodeId::ROOT);
const LINK: Link = Link { source: FROM, destination: TO };
const LIMITS: Limits = Limits {
    buffers: 2,
    datagram: 1280,
    memory: None,
    timeout: Duration::from_secs(3),
    timer: Timer::FirstFragment,
    when_full: WhenFull::Refuse,
};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn reassembler() -> Reassembler {
    Reassembler::new(LIMITS, Contexts::mesh())
}

fn packet(size: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..size - UdpDatagram::HEADERS).map(|at| at as u8).collect();
    let mut packet = vec![0; size];
    let source = Endpoint::new(mesh_address(NodeId(1)), 61617);
    let destination = Endpoint::new(mesh_address(NodeId::ROOT), 5684);
    udp_datagram(source, destination, &payload, &mut packet).unwrap();
    packet
}

fn frames(packet: &[u8], tag: u16, capacity: usize) -> Vec<Vec<u8>> {
    let mut fragmenter = Fragmenter::new(packet, LINK, &Contexts::mesh(), tag, capacity).unwrap();
    let mut out = vec![0; capacity];
    let mut frames = Vec::new();
    while let Some(length) = fragmenter.next_frame(packet, &mut out).unwrap() {
        frames.push(out[..length].to_vec());
    }
    frames
}

/// A later fragment by hand: 11100, size, tag, offset in units of eight.
fn later(size: u16, tag: u16, offset: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = (0xe000 | size).to_be_bytes();
    let tag = tag.to_be_bytes();
    [&[high, low, tag[0], tag[1], offset], body].concat()
}

#[test]
fn a_packet_is_given_up_just_when_its_time_has_come() {
    let mut reassembler = reassembler();
    let packet = packet(300);
    let frames = frames(&packet, 9, FRAME_CAPACITY);
    assert_eq!(reassembler.deadline(), None);
    reassembler.handle_fragment(at(100), LINK, &frames[0], 77);
    // A later fragment does not make the timeout longer.
    reassembler.handle_fragment(at(2_000), LINK, &frames[1], 78);
    assert_eq!(reassembler.deadline(), Some(at(3_100)));
    assert_eq!(reassembler.handle_timeout(at(3_100) - Duration::from_micros(1)), None);
    let expired = reassembler.handle_timeout(at(3_100)).unwrap();
    // 48 octets of headers and 88 in the first frame, 96 in the second.
    let expected = Expired { link: LINK, tag: 9, size: 300, received: 136 + 96, datagram: 77, reason: Expiry::Timeout };
    assert_eq!(expired, expected);
    assert_eq!(reassembler.handle_timeout(at(3_100)), None);
    assert_eq!(reassembler.occupancy(), Occupancy::default());
    // The last fragment comes too late: it takes a new buffer, and cannot complete the packet.
    let outcome = reassembler.handle_fragment(at(3_200), LINK, &frames[2], 77);
    assert_eq!(outcome, Outcome::Incomplete);
}

#[test]
fn the_timeout_never_exceeds_the_standard() {
    let limits = Limits { timeout: Duration::from_secs(100), ..LIMITS };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    reassembler.handle_fragment(at(0), LINK, &later(300, 1, 17, &[0; 8]), 1);
    assert_eq!(reassembler.deadline(), Some(at(60_000)));
}

#[test]
fn a_packet_without_a_buffer_is_discarded_and_the_others_are_not() {
    let mut reassembler = reassembler();
    let small = packet(60);
    let packet = packet(300);
    let [one, two, three] = [1, 2, 3].map(|tag| frames(&packet, tag, FRAME_CAPACITY));
    assert_eq!(reassembler.handle_fragment(at(0), LINK, &one[0], 1), Outcome::Incomplete);
    assert_eq!(reassembler.handle_fragment(at(1), LINK, &two[0], 2), Outcome::Incomplete);
    let refused = reassembler.handle_fragment(at(2), LINK, &three[0], 3);
    assert_eq!(refused, Outcome::Discarded(Discard::Full));
    assert_eq!(reassembler.occupancy(), Occupancy { buffers: 2, fragments: 2, received: 2 * 136, reserved: 600 });
    // A packet in one frame needs no buffer.
    let small = frames(&small, 0, FRAME_CAPACITY);
    let whole = reassembler.handle_fragment(at(3), LINK, &small[0], 4);
    assert!(matches!(whole, Outcome::Complete { datagram: 4, .. }));

    reassembler.handle_fragment(at(4), LINK, &one[2], 1);
    let whole = reassembler.handle_fragment(at(5), LINK, &one[1], 1);
    assert_eq!(whole, Outcome::Complete { packet: &mut packet.clone()[..], datagram: 1 });
    // The oldest is now the second.
    assert_eq!(reassembler.deadline(), Some(at(3_001)));
    assert_eq!(reassembler.handle_fragment(at(6), LINK, &three[0], 3), Outcome::Incomplete);
    assert_eq!(reassembler.peak(), Occupancy { buffers: 2, fragments: 4, received: 300 + 136, reserved: 600 });
}

#[test]
fn fragments_belong_together_by_link_tag_and_size() {
    let limits = Limits { buffers: 8, ..LIMITS };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    let other = Eui64::of_node(NodeId(2));
    for (source, destination, size, tag) in
        [(FROM, TO, 300, 1), (other, TO, 300, 1), (FROM, other, 300, 1), (FROM, TO, 308, 1), (FROM, TO, 300, 2)]
    {
        let before = reassembler.occupancy().buffers;
        for _ in 0..2 {
            reassembler.handle_fragment(at(0), Link { source, destination }, &later(size, tag, 17, &[0; 8]), 0);
        }
        assert_eq!(reassembler.occupancy().buffers, before + 1);
    }
}

#[test]
fn doubles_are_ignored_and_overlaps_end_the_packet() {
    // Around the fragment of octets 136 to 232: (offset in units, octets, whether it is the same).
    let cases = [
        (17, 96, true),
        (17, 88, false),  // shorter
        (17, 104, false), // longer
        (16, 96, false),  // begins before
        (18, 88, false),  // within
        (18, 96, false),  // ends after
        (16, 112, false), // around
    ];
    for (offset, octets, is_double) in cases {
        let mut reassembler = reassembler();
        let frames = frames(&packet(400), 5, FRAME_CAPACITY);
        reassembler.handle_fragment(at(0), LINK, &frames[1], 50);
        let again = later(400, 5, offset, &vec![0xee; octets]);
        let outcome = reassembler.handle_fragment(at(1), LINK, &again, 51);
        if is_double {
            assert_eq!(outcome, Outcome::Incomplete);
            assert_eq!(reassembler.occupancy().received, 96);
        } else {
            assert_eq!(outcome, Outcome::Discarded(Discard::Overlap { datagram: 50 }));
            assert_eq!(reassembler.occupancy(), Occupancy::default());
            assert_eq!(reassembler.deadline(), None);
        }
    }
}

#[test]
fn neighbouring_fragments_do_not_overlap() {
    let mut reassembler = reassembler();
    let packet = packet(400);
    let frames = frames(&packet, 5, FRAME_CAPACITY);
    for frame in [1, 2, 3, 2, 1, 3] {
        let outcome = reassembler.handle_fragment(at(0), LINK, &frames[frame], 0);
        assert_eq!(outcome, Outcome::Incomplete, "fragment {frame}");
    }
    let whole = reassembler.handle_fragment(at(0), LINK, &frames[0], 0);
    assert_eq!(whole, Outcome::Complete { packet: &mut packet.clone()[..], datagram: 0 });
}

#[test]
fn what_contradicts_itself_is_malformed() {
    let cases = [
        (later(300, 1, 17, &[0; 9]), Error::FragmentLength(9)),
        (later(300, 1, 17, &[]), Error::Truncated),
        (later(300, 1, 37, &[0; 5]), ip::Error::Length { field: 300, found: 301 }.into()),
        (later(0, 1, 0, &[0; 8]), ip::Error::Length { field: 0, found: 8 }.into()),
        (vec![0xe1, 0x2c, 0, 1], Error::Truncated),
        (vec![0xc1], Error::Truncated),
        (vec![], Error::Truncated),
        (vec![0x00], Error::Dispatch(0x00)),    // not a LoWPAN frame
        (vec![0x42, 0], Error::Dispatch(0x42)), // HC1
        // A first fragment whose size is less than the headers it carries.
        (
            [&[0xc0, 40, 0, 1, 0x7e, 0x77, 0xf3, 0x10, 1, 2][..], &[0; 8]].concat(),
            ip::Error::Length { field: 40, found: 48 }.into(),
        ),
        // DAC with DAM 0, M with DAC and DAM 1.
        (vec![0x7e, 0x74, 0xf3, 0x10, 1, 2], Error::Reserved),
        (vec![0x7e, 0x7d, 0xf3, 0x10, 1, 2], Error::Reserved),
        // Context 5 is not set; a fragment header (EID 2) is compressed.
        (vec![0x7e, 0xf7, 0x50, 0xf3, 0x10, 1, 2], Error::Context(5)),
        (vec![0x7e, 0x77, 0xe4, 17, 0], Error::NextHeader(0xe4)),
    ];
    for (payload, error) in cases {
        let mut reassembler = reassembler();
        let outcome = reassembler.handle_fragment(at(0), LINK, &payload, 0);
        assert_eq!(outcome, Outcome::Discarded(Discard::Malformed(error)), "{payload:02x?}");
        assert_eq!(reassembler.occupancy(), Occupancy::default());
    }
}

#[test]
fn a_packet_longer_than_a_buffer_is_discarded() {
    let mut reassembler = reassembler();
    let packet = packet(1281);
    let first = &frames(&packet, 1, FRAME_CAPACITY)[0];
    let outcome = reassembler.handle_fragment(at(0), LINK, first, 0);
    assert_eq!(outcome, Outcome::Discarded(Discard::TooLong(1281)));
    let single = &frames(&packet, 1, 2000)[0];
    let outcome = reassembler.handle_fragment(at(0), LINK, single, 0);
    assert_eq!(outcome, Outcome::Discarded(Discard::TooLong(1281)));
}

/// The checksum elided in a first fragment is computed when the packet is whole.
#[test]
fn an_elided_checksum_is_restored_from_all_fragments() {
    let mut reassembler = reassembler();
    let packet = packet(300);
    let mut frames = frames(&packet, 1, FRAME_CAPACITY);
    // Fragment header (4), IPHC (2), NHC octet, ports 0xb1 and 5684 (3), checksum.
    assert_eq!(frames[0][6], 0xf2);
    assert_eq!(frames[0][10..12], packet[46..48]);
    frames[0][6] |= 0x04;
    frames[0].drain(10..12);
    reassembler.handle_fragment(at(0), LINK, &frames[2], 0);
    reassembler.handle_fragment(at(0), LINK, &frames[0], 0);
    let whole = reassembler.handle_fragment(at(0), LINK, &frames[1], 0);
    assert_eq!(whole, Outcome::Complete { packet: &mut packet.clone()[..], datagram: 0 });
}

#[test]
fn a_buffer_holds_nothing_of_the_packet_before() {
    let mut reassembler = Reassembler::new(Limits { buffers: 1, ..LIMITS }, Contexts::mesh());
    let long = packet(400);
    for frame in &frames(&long, 1, FRAME_CAPACITY)[1..] {
        reassembler.handle_fragment(at(0), LINK, frame, 1);
    }
    reassembler.handle_timeout(at(3_000)).unwrap();
    let short = packet(200);
    let frames = frames(&short, 2, FRAME_CAPACITY);
    assert_eq!(reassembler.handle_fragment(at(3_000), LINK, &frames[1], 2), Outcome::Incomplete);
    assert_eq!(reassembler.handle_fragment(at(3_000), LINK, &frames[1], 2), Outcome::Incomplete);
    let whole = reassembler.handle_fragment(at(3_000), LINK, &frames[0], 2);
    assert_eq!(whole, Outcome::Complete { packet: &mut short.clone()[..], datagram: 2 });
    reassembler.clear();
    assert_eq!(reassembler.peak(), Occupancy::default());
}

/// Three packets of 300 octets over one link, three frames each.
fn three() -> [Vec<Vec<u8>>; 3] {
    [1, 2, 3].map(|tag| frames(&packet(300), tag, FRAME_CAPACITY))
}

fn displaced(reassembler: &mut Reassembler) -> Vec<(u32, Expiry)> {
    std::iter::from_fn(|| reassembler.poll_displaced()).map(|expired| (expired.datagram, expired.reason)).collect()
}

#[test]
fn the_oldest_packet_is_given_up_for_one_without_a_buffer() {
    let limits = Limits { when_full: WhenFull::Oldest, ..LIMITS };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    let [one, two, three] = three();
    reassembler.handle_fragment(at(0), LINK, &one[0], 1);
    reassembler.handle_fragment(at(1), LINK, &two[0], 2);
    assert_eq!(displaced(&mut reassembler), []);
    assert_eq!(reassembler.handle_fragment(at(2), LINK, &three[0], 3), Outcome::Incomplete);
    assert_eq!(displaced(&mut reassembler), [(1, Expiry::Displaced)]);
    assert_eq!(reassembler.datagrams().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(reassembler.occupancy(), Occupancy { buffers: 2, fragments: 2, received: 2 * 136, reserved: 600 });
    reassembler.handle_fragment(at(3), LINK, &two[1], 2);
    let whole = reassembler.handle_fragment(at(4), LINK, &two[2], 2);
    assert_eq!(whole, Outcome::Complete { packet: &mut packet(300)[..], datagram: 2 });
    // A later fragment of the packet that was given up takes a buffer again, as in RIOT.
    assert_eq!(reassembler.handle_fragment(at(5), LINK, &one[1], 4), Outcome::Incomplete);
    assert_eq!(reassembler.datagrams().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(displaced(&mut reassembler), []);
}

#[test]
fn each_fragment_may_start_the_timer_again() {
    let limits = Limits { timer: Timer::EachFragment, when_full: WhenFull::Oldest, ..LIMITS };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    let [one, two, three] = three();
    reassembler.handle_fragment(at(0), LINK, &one[0], 1);
    reassembler.handle_fragment(at(1_000), LINK, &two[0], 2);
    reassembler.handle_fragment(at(2_000), LINK, &one[1], 1);
    assert_eq!(reassembler.deadline(), Some(at(4_000)));
    // The second packet has waited for longer now.
    reassembler.handle_fragment(at(2_500), LINK, &three[0], 3);
    assert_eq!(displaced(&mut reassembler), [(2, Expiry::Displaced)]);
    assert_eq!(reassembler.handle_timeout(at(4_999)), None);
    assert_eq!(reassembler.handle_timeout(at(5_000)).unwrap().datagram, 1);
    assert_eq!(reassembler.deadline(), Some(at(5_500)));
}

#[test]
fn a_packet_whose_time_is_over_may_stay_until_another_needs_its_place() {
    let limits = Limits { timer: Timer::OnDemand, ..LIMITS };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    let [one, two, three] = three();
    // Only a first fragment takes a buffer.
    let refused = reassembler.handle_fragment(at(0), LINK, &one[1], 1);
    assert_eq!(refused, Outcome::Discarded(Discard::FirstMissing));
    reassembler.handle_fragment(at(0), LINK, &one[0], 1);
    assert_eq!((reassembler.deadline(), reassembler.handle_timeout(at(9_000))), (None, None));
    reassembler.handle_fragment(at(9_000), LINK, &one[1], 1);
    let whole = reassembler.handle_fragment(at(9_001), LINK, &one[2], 1);
    assert_eq!(whole, Outcome::Complete { packet: &mut packet(300)[..], datagram: 1 });

    // Before its time is over, a packet keeps its buffer. Then it goes, also where another buffer is free.
    reassembler.handle_fragment(at(10_000), LINK, &one[0], 4);
    reassembler.handle_fragment(at(11_000), LINK, &two[0], 5);
    let refused = reassembler.handle_fragment(at(12_999), LINK, &three[0], 6);
    assert_eq!(refused, Outcome::Discarded(Discard::Full));
    assert_eq!(displaced(&mut reassembler), []);
    assert_eq!(reassembler.handle_fragment(at(13_000), LINK, &three[0], 6), Outcome::Incomplete);
    assert_eq!(displaced(&mut reassembler), [(4, Expiry::Timeout)]);
    let late = reassembler.handle_fragment(at(13_001), LINK, &one[1], 4);
    assert_eq!(late, Outcome::Discarded(Discard::FirstMissing));
}

#[test]
fn packets_share_their_memory() {
    let limits = Limits { buffers: 9, memory: Some(700), ..LIMITS };
    let [one, two, three] = three();
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    for (frames, datagram) in [(&one, 1), (&two, 2)] {
        assert_eq!(reassembler.handle_fragment(at(0), LINK, &frames[0], datagram), Outcome::Incomplete);
    }
    let refused = reassembler.handle_fragment(at(0), LINK, &three[0], 3);
    assert_eq!(refused, Outcome::Discarded(Discard::Full));

    // A long packet takes the place of two.
    let limits = Limits { when_full: WhenFull::Oldest, ..limits };
    let mut reassembler = Reassembler::new(limits, Contexts::mesh());
    for (frames, datagram) in [(&one, 1), (&two, 2)] {
        reassembler.handle_fragment(at(0), LINK, &frames[0], datagram);
    }
    let long = frames(&packet(800), 4, FRAME_CAPACITY);
    assert_eq!(reassembler.handle_fragment(at(1), LINK, &long[0], 4), Outcome::Incomplete, "alone it has room");
    assert_eq!(displaced(&mut reassembler), [(1, Expiry::Displaced), (2, Expiry::Displaced)]);
}
