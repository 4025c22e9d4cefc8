//! Payloads of UDP datagrams that are compressed: by GHC (RFC 7400), or the headers of DTLS as in Lithe.

use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Endpoint, UdpDatagram, udp_datagram};
use slowhand_net::lowpan::forwarding::{self, Forwarder, Route, SLACK};
use slowhand_net::lowpan::fragment::{FragmentHeader, Room, complete_frame, compress_for_frame};
use slowhand_net::lowpan::reassembly::{Discard, Limits, Outcome};
use slowhand_net::lowpan::{
    Contexts, Error, FRAME_CAPACITY, Fragmenter, Link, MAX_COMPRESSED, PayloadCompression, Reassembler, ghc,
};

const LINK: Link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId::ROOT) };

/// The octets of compressed IPv6 and UDP headers between node 1 and the server.
const HEADERS: usize = 15;

fn contexts(scheme: PayloadCompression) -> Contexts {
    Contexts::mesh().with_payload_compression(Some(scheme))
}

fn packet(payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
    let [source, destination] = [mesh_address(NodeId(1)), internet_address()].map(|host| Endpoint::new(host, 61617));
    udp_datagram(source, destination, payload, &mut packet).unwrap();
    packet
}

/// A record of DTLS 1.2.
fn record(kind: u8, epoch: u16, sequence: u64, fragment: &[u8]) -> Vec<u8> {
    let number = u64::from(epoch) << 48 | sequence;
    let length = (fragment.len() as u16).to_be_bytes();
    [&[kind, 0xfe, 0xfd][..], &number.to_be_bytes(), &length, fragment].concat()
}

/// A handshake message in a record of its own.
fn message(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    let length = &(body.len() as u32).to_be_bytes()[1..];
    let header = [&[kind][..], length, &sequence.to_be_bytes(), &[0; 3], length].concat();
    record(22, 0, sequence.into(), &[&header, body].concat())
}

/// A ClientHello without session ID and extensions, with one suite.
fn client_hello(cookie: &[u8], suite: [u8; 2]) -> Vec<u8> {
    let random: Vec<u8> = (100..132).collect();
    let rest = [&[0, cookie.len() as u8][..], cookie, &[0, 2], &suite, &[1, 0]].concat();
    message(1, 0, &[&[0xfe, 0xfd][..], &random, &rest].concat())
}

/// Sends a payload over one hop. Returns its frames.
fn send(payload: &[u8], contexts: &Contexts) -> Vec<Vec<u8>> {
    let packet = packet(payload);
    let mut fragmenter = Fragmenter::new(&packet, LINK, contexts, 1, FRAME_CAPACITY).unwrap();
    let promised = fragmenter.frames();
    let mut out = [0; FRAME_CAPACITY];
    let frames: Vec<_> =
        std::iter::from_fn(|| fragmenter.next_frame(&packet, &mut out).unwrap().map(|length| out[..length].to_vec()))
            .collect();
    assert_eq!(frames.len(), promised);
    let mut reassembler = Reassembler::new(Limits { datagram: 2047, ..Limits::default() }, contexts.clone());
    let (last, before) = frames.split_last().unwrap();
    let mut take = |frame: &[u8]| {
        let outcome = reassembler.handle_fragment(Instant::ZERO, LINK, frame, 0);
        match outcome {
            Outcome::Complete { packet: arrived, .. } => {
                assert_eq!(*arrived, *packet);
                true
            }
            outcome => {
                assert_eq!(outcome, Outcome::Incomplete);
                false
            }
        }
    };
    assert!(before.iter().all(|frame| !take(frame)));
    assert!(take(last));
    frames
}

/// The octets behind the IPv6 and UDP headers in the only frame of a payload.
fn compressed(payload: &[u8], scheme: PayloadCompression) -> Vec<u8> {
    let frames = send(payload, &contexts(scheme));
    let [frame] = &frames[..] else { panic!("{} frames", frames.len()) };
    frame[HEADERS..].to_vec()
}

/// Table 1 of draft-raza-dice-compressed-dtls-00: a record has 5 octets of header instead of 13.
#[test]
fn the_header_of_a_record_has_five_octets() {
    let data = record(23, 1, 2, b"some data");
    assert_eq!(compressed(&data, PayloadCompression::Lithe), [&[0x90, 23, 1, 0, 2][..], b"some data"].concat());
}

/// Table 1: with the header of a handshake message, 4 and 3 octets instead of 13 and 12.
#[test]
fn the_headers_of_a_handshake_message_have_seven_octets() {
    let done = message(14, 5, &[]);
    assert_eq!(compressed(&done, PayloadCompression::Lithe), [0x80, 0, 0, 5, 14, 0, 5]);
}

/// Table 1: without the random, a ClientHello has 1 octet instead of 10, and a ServerHello 1 instead of 6; also with the random,
/// 33 instead of 42 and 38.
#[test]
fn hellos_have_one_octet_and_their_random() {
    let hello = client_hello(&[], [0xc0, 0xae]);
    assert_eq!(hello.len(), 25 + 42);
    let ours = compressed(&hello, PayloadCompression::Lithe);
    assert_eq!((ours.len(), ours[7]), (7 + 33, 0xa0));

    let random: Vec<u8> = (100..132).collect();
    let hello = message(2, 0, &[&[0xfe, 0xff][..], &random, &[0, 0xc0, 0xae, 0]].concat());
    assert_eq!(hello.len(), 25 + 38);
    let ours = compressed(&hello, PayloadCompression::Lithe);
    assert_eq!((ours.len(), ours[7]), (7 + 33, 0xb0));
}

#[test]
fn fields_of_hellos_follow_that_are_not_the_usual_ones() {
    let ours = compressed(&client_hello(&[7; 8], [0xc0, 0xa8]), PayloadCompression::Lithe);
    assert_eq!(ours[7], 0xa6);
    assert_eq!(ours[8 + 32..], [&[8][..], &[7; 8], &[0, 2, 0xc0, 0xa8]].concat());

    // DTLS 1.2, a session ID, another suite.
    let random: Vec<u8> = (100..132).collect();
    let body = [&[0xfe, 0xfd][..], &random, &[2, 9, 9, 0xc0, 0xa8, 0, 0xff, 0xee]].concat();
    let ours = compressed(&message(2, 0, &body), PayloadCompression::Lithe);
    assert_eq!(ours[7..10], [0xbe, 0xfe, 0xfd]);
    assert_eq!(ours[10 + 32..], [2, 9, 9, 0xc0, 0xa8, 0xff, 0xee]);
}

/// Fields that do not follow from the length of the datagram stay as they are.
#[test]
fn datagrams_of_several_records_and_fragments_of_messages_stay_longer() {
    let one = record(20, 0, 3, &[1]);
    let two = [&one[..], &one].concat();
    assert_eq!(compressed(&two, PayloadCompression::Lithe), two);

    let mut fragment = message(11, 2, &[1; 20]);
    fragment[13 + 3] = 40; // the message is longer than its fragment
    let ours = compressed(&fragment, PayloadCompression::Lithe);
    assert_eq!(ours, [&[0x90, 22, 0, 0, 2][..], &fragment[13..]].concat());

    let text = b"no record at all";
    assert_eq!(compressed(text, PayloadCompression::Lithe), text);
}

#[test]
fn long_numbers_and_other_versions_follow() {
    let mut data = record(23, 0x0102, 0x0a0b_0c0d_0e0f, b"x");
    assert_eq!(compressed(&data, PayloadCompression::Lithe)[..10], [0x97, 23, 1, 2, 10, 11, 12, 13, 14, 15]);
    data = record(23, 1, 0x1_0000, b"x");
    assert_eq!(compressed(&data, PayloadCompression::Lithe)[..6], [0x91, 23, 1, 1, 0, 0]);
    data[2] = 0xff;
    assert_eq!(compressed(&data, PayloadCompression::Lithe)[..8], [0x99, 23, 0xfe, 0xff, 1, 1, 0, 0]);
}

/// The first fragment carries more of a packet; the others what they carry without compression, and offsets count octets of the
/// packet as it was.
#[test]
fn only_the_first_fragment_is_compressed() {
    let certificate: Vec<u8> = (0..400).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let hello = message(11, 2, &certificate);
    let plain = send(&hello, &Contexts::mesh());
    for (scheme, dispatch) in [(PayloadCompression::Ghc, 0b11010), (PayloadCompression::Lithe, 0b11011)] {
        let frames = send(&hello, &contexts(scheme));
        assert_eq!(frames[0][FragmentHeader::FIRST_LENGTH + HEADERS - 4] >> 3, dispatch);
        let offset = |frames: &[Vec<u8>]| FragmentHeader::parse(&frames[1]).unwrap().0.datagram_offset.unwrap();
        let gained = 8 * (offset(&frames) - offset(&plain));
        assert!((8..=24).contains(&gained), "{scheme:?}: {gained} octets");
        assert_eq!(FragmentHeader::parse(&frames[0]).unwrap().0.datagram_size as usize, 48 + hello.len());
    }
}

#[test]
fn what_becomes_longer_stays_as_it_is() {
    let noise: Vec<u8> = (0..60).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    assert_eq!(compressed(&noise, PayloadCompression::Ghc), noise);
    assert!(compressed(&[], PayloadCompression::Ghc).is_empty());
}

/// The worst that a sender can do: a frame that stands for a packet seventeen times as long (RFC 7400 section 5).
#[test]
fn a_frame_can_hold_a_packet_that_is_much_longer() {
    let frames = send(&[0; 1_500], &contexts(PayloadCompression::Ghc));
    assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [HEADERS + 1_500_usize.div_ceil(17)]);
}

/// A node without the compression does not understand it.
#[test]
fn others_discard_what_is_compressed() {
    for scheme in [PayloadCompression::Ghc, PayloadCompression::Lithe] {
        let frames = send(&client_hello(&[], [0xc0, 0xae]), &contexts(scheme));
        let mut reassembler = Reassembler::new(Limits::default(), Contexts::mesh());
        let outcome = reassembler.handle_fragment(Instant::ZERO, LINK, &frames[0], 0);
        let Outcome::Discarded(Discard::Malformed(Error::NextHeader(octet))) = outcome else { panic!("{outcome:?}") };
        assert_eq!(octet >> 4, 0b1101);
    }
}

/// A node that forwards fragments reads the first one and compresses it again (RFC 8930). The others pass.
#[test]
fn a_first_fragment_is_compressed_again_by_a_node_that_forwards_it() {
    let message = message(11, 2, &[[1, 2, 3, 4, 5].repeat(20), (0..200).collect()].concat());
    let packet = packet(&message);
    for scheme in [PayloadCompression::Ghc, PayloadCompression::Lithe] {
        let contexts = contexts(scheme);
        let link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId(2)) };
        let mut headers = [0; MAX_COMPRESSED];
        let room = Room { capacity: FRAME_CAPACITY, slack: SLACK };
        let done = compress_for_frame(&packet, link, &contexts, room, &mut headers).unwrap();
        assert_eq!(complete_frame(&packet, done, FRAME_CAPACITY, &mut headers.clone()), None);
        let fragmenter = Fragmenter::with_headers(&packet, done, &headers, FRAME_CAPACITY).unwrap();
        let mut fragmenter = fragmenter.with_slack(SLACK);
        let mut forwarder = Forwarder::new(Eui64::of_node(NodeId(2)), forwarding::Limits::default(), contexts.clone());
        let mut reassembler = Reassembler::new(Limits::default(), contexts);
        let (mut frame, mut out) = ([0; FRAME_CAPACITY], [0; FRAME_CAPACITY]);
        let mut arrived = false;
        while let Some(length) = fragmenter.next_frame(&packet, &mut frame).unwrap() {
            let to = Eui64::of_node(NodeId::ROOT);
            let next = |_: &mut [u8], _| Route::Next { to, tag: 9, congested: false, capacity: FRAME_CAPACITY };
            let from = Eui64::of_node(NodeId(1));
            let forwarded = forwarder.handle_fragment(Instant::ZERO, from, &frame[..length], 0, next, &mut out);
            let forwarding::Outcome::Forward { length, .. } = forwarded else { panic!("{scheme:?}: {forwarded:?}") };
            let link = Link { source: Eui64::of_node(NodeId(2)), destination: to };
            let outcome = reassembler.handle_fragment(Instant::ZERO, link, &out[..length], 0);
            if let Outcome::Complete { packet: whole, .. } = outcome {
                assert_eq!(whole[48..], packet[48..], "{scheme:?}");
                arrived = true;
            }
        }
        assert!(arrived, "{scheme:?}");
    }
}

#[test]
fn instructions_that_are_not_valid_are_refused() {
    let [source, destination] = [mesh_address(NodeId(1)), internet_address()];
    let mut out = [0; 64];
    let mut decompress = |code: &[u8]| ghc::decompress(source, destination, code, &mut out);
    for (code, error) in [
        (&[0x60][..], Error::Instruction(0x60)),
        (&[0x91], Error::Instruction(0x91)),
        (&[0x90, 0x80], Error::Instruction(0x90)),
        (&[2, 1], Error::Truncated),
        (&[0xaf, 0xc0], Error::Instruction(0xc0)), // 122 octets back, where there are 48
        (&[0x8f, 0x8f, 0x8f, 0x8f], Error::BufferTooSmall(64)),
    ] {
        assert_eq!(decompress(code), Err(error), "{code:02x?}");
    }
    assert_eq!(decompress(&[0x90]), Ok(0));
    assert_eq!(decompress(&[]), Ok(0));
    // Its own end, and the oldest octet of the dictionary.
    assert_eq!(decompress(&[2, 7, 8, 0xc0]), Ok(4));
    assert_eq!(out[..4], [7, 8, 7, 8]);
    let mut decompress = |code: &[u8]| ghc::decompress(source, destination, code, &mut out);
    assert_eq!(decompress(&[0xa5, 0xc6]), Ok(2));
    assert_eq!(out[..2], [0x20, 0x01]);
}
