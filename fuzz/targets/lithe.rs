//! The headers of DTLS as in Lithe: any frame at a node, any payload there and back, in one frame or several, with a node that
//! forwards them or without.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Endpoint, UdpDatagram, udp_datagram};
use slowhand_net::lowpan::forwarding::{self, Forwarder, Route, SLACK};
use slowhand_net::lowpan::fragment::{Room, compress_for_frame};
use slowhand_net::lowpan::reassembly::{Limits, Outcome};
use slowhand_net::lowpan::{Contexts, Fragmenter, Link, MAX_COMPRESSED, PayloadCompression, Reassembler};

/// The compressed IPv6 and UDP headers of the packets below, before their checksum; UDP says that Lithe follows.
const HEADERS: [u8; 13] = [0x7e, 0xf7, 0x01, 0, 0, 0, 0, 0, 0, 0, 1, 0xdb, 0x11];

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let capacity = 72 + input.below(40);
    let is_forwarded = input.flag();
    let payload = input.take(octets.len());
    let contexts = Contexts::mesh().with_payload_compression(Some(PayloadCompression::Lithe));
    let [own, between, root] = [1, 2, 0].map(|node| Eui64::of_node(NodeId(node)));
    let mut reassembler = Reassembler::new(Limits { datagram: 2_047, ..Limits::default() }, contexts.clone());
    for frame in [payload.to_vec(), [&HEADERS[..], payload].concat()] {
        reassembler.handle_fragment(Instant::ZERO, Link { source: own, destination: root }, &frame, 0);
    }
    reassembler.clear();

    let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
    let ends = [mesh_address(NodeId(1)), internet_address()].map(|host| Endpoint::new(host, 61_617));
    udp_datagram(ends[0], ends[1], payload, &mut packet).unwrap();
    let next = if is_forwarded { between } else { root };
    let link = Link { source: own, destination: next };
    let room = Room { capacity, slack: if is_forwarded { SLACK } else { 0 } };
    let mut headers = [0; MAX_COMPRESSED];
    let done = compress_for_frame(&packet, link, &contexts, room, &mut headers).unwrap();
    let fragmenter = Fragmenter::with_headers(&packet, done, &headers, capacity).unwrap();
    let mut fragmenter = fragmenter.with_slack(room.slack);
    let mut forwarder = Forwarder::new(between, forwarding::Limits::default(), contexts);
    let (mut frame, mut forwarded) = ([0; MAX_COMPRESSED], [0; MAX_COMPRESSED]);
    let mut arrived = false;
    while let Some(length) = fragmenter.next_frame(&packet, &mut frame).unwrap() {
        let route = |_: &mut [u8], _| Route::Next { to: root, tag: 1, congested: false, capacity };
        let (source, frame) =
            match forwarder.handle_fragment(Instant::ZERO, own, &frame[..length], 0, route, &mut forwarded) {
                forwarding::Outcome::Forward { length, .. } if is_forwarded => (between, &forwarded[..length]),
                forwarding::Outcome::Discarded(reason) if is_forwarded => panic!("{reason}"),
                _ => (own, &frame[..length]),
            };
        let destination = if source == own { next } else { root };
        match reassembler.handle_fragment(Instant::ZERO, Link { source, destination }, frame, 0) {
            Outcome::Complete { packet: whole, .. } => {
                assert_eq!(whole[40..], packet[40..]); // the hop limit is in the header before
                arrived = true;
            }
            Outcome::Incomplete => {}
            Outcome::Discarded(reason) => panic!("{reason}"),
        }
    }
    assert!(arrived);
});
