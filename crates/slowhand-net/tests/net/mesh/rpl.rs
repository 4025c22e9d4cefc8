//! The headers that RPL adds to packets: in the octets of each frame, as tshark reads them, and to every kind of packet.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::lowpan::{Context, Contexts};
use slowhand_net::network::{Fragments, NetworkConfig, RplConfig, RplEncoding, RplMode};
use slowhand_net::observer::FrameKind;
use slowhand_testing::wireshark::{Pcap, Tshark};

const EXTENSION: RplEncoding = RplEncoding::ExtensionHeaders;
const ROUTING: RplEncoding = RplEncoding::RoutingHeaders;

fn rpl(mode: RplMode, encoding: RplEncoding) -> Option<RplConfig> {
    Some(RplConfig { mode, encoding, address_octets: RplConfig::ADDRESS_OCTETS })
}

fn config(mode: RplMode, encoding: RplEncoding, fragments: Fragments) -> NetworkConfig {
    NetworkConfig { rpl: rpl(mode, encoding), fragments, ..NetworkConfig::default() }
}

/// The data frames of one datagram on a line of four hops.
fn heard(config: NetworkConfig, from: Host, to: Host, octets: usize) -> Vec<Frame> {
    heard_over(4, config, from, to, octets)
}

fn heard_over(hops: u16, config: NetworkConfig, from: Host, to: Host, octets: usize) -> Vec<Frame> {
    let mut air = Recorder::default();
    let fates =
        run(&mut network(tsch, hops, 1.0, config, 1), &[(Instant::ZERO, from, to, octets)], seconds(60), &mut air);
    assert_eq!(fates.delivered[&0].1, payload(0, octets));
    air.frames.retain(|frame| frame.kind == FrameKind::Data);
    air.frames
}

/// The octets of 6LoWPAN in each frame: the MAC header has 21 (frame version 2, two long addresses, one PAN ID).
fn lengths(frames: &[Frame]) -> Vec<usize> {
    frames.iter().map(|frame| frame.octets.len() - 21).collect()
}

const LEAF: Host = Host::Node(NodeId(4));
const ROOT: Host = Host::Node(NodeId::ROOT);

/// 20 octets in UDP between ports 5684. The UDP header takes 7 octets (encoding 1, ports 4, checksum 2), the IPv6 header
/// 2, its contexts 1 if there is a second prefix, the hop limit 1 if it is not 64, an interface identifier 8 if it does
/// not follow from the frame or from the outer header. The octets are those of the four hops.
#[test]
fn the_headers_take_the_octets_that_the_standards_say() {
    let lengths = |config, from, to| lengths(&heard(config, from, to, 20));
    let per_hop = Fragments::Reassembled;
    // Without RPL: 2 + 1 + 8 (the server) + 7, and behind the first hop 8 (the source) + 1. On the last hop down the
    // destination is elided.
    let none = NetworkConfig::default;
    assert_eq!(lengths(none(), LEAF, Host::Internet), [38, 47, 47, 47]);
    assert_eq!(lengths(none(), Host::Internet, LEAF), [47, 47, 47, 39]);

    for (mode, down) in [
        // The outer header: 2 + 8 (node 4), behind the first hop 8 (the root) + 1, without node 4 on the last hop. The
        // option: 8. The inner header: 1 + 2 + 1 + 1 + 8 (the server). UDP: 7.
        (RplMode::Storing, [58, 67, 67, 59]),
        // The outer header: 2, behind the first hop 8 (the root) + 1. The route to three more nodes: 8 and 3 times 8.
        // The inner header: 1 + 2 + 1 + 1 + 8 (the server) + 8 (node 4, which is the outer destination on the last hop).
        (RplMode::NonStoring, [82, 91, 91, 83]),
    ] {
        let config = || config(mode, EXTENSION, per_hop);
        assert_eq!(lengths(config(), LEAF, Host::Internet), [46, 55, 55, 55], "8 for the option");
        assert_eq!(lengths(config(), Host::Internet, LEAF), down);
    }

    for (mode, down) in [
        // Page 1 (1), the option (3), the tunnel (3); then the inner header as without RPL.
        (RplMode::Storing, [54, 54, 54, 46]),
        // Page 1 (1), 2 and 8 for each address that is left, the tunnel (3); then as without RPL.
        (RplMode::NonStoring, [85, 77, 69, 53]),
    ] {
        let config = || config(mode, ROUTING, per_hop);
        assert_eq!(lengths(config(), LEAF, Host::Internet), [42, 51, 51, 51], "4 for the option");
        assert_eq!(lengths(config(), Host::Internet, LEAF), down);
    }
    // The root's own packet needs no tunnel around a source route, unless the encoding has no form for that: 2, the route
    // of 32, 7 of UDP; the source and the hop limit behind the first hop.
    assert_eq!(lengths(config(RplMode::NonStoring, EXTENSION, per_hop), ROOT, LEAF), [61, 70, 70, 70]);
    assert_eq!(lengths(config(RplMode::Storing, EXTENSION, per_hop), ROOT, LEAF), [45, 54, 54, 46]);
    // A route of addresses of one octet: 8, 3, and 5 of padding; then two octets less for each address at each hop.
    let short = |encoding| {
        let rpl = Some(RplConfig { mode: RplMode::NonStoring, encoding, address_octets: 1 });
        lengths(NetworkConfig { rpl, ..NetworkConfig::default() }, Host::Internet, LEAF)
    };
    assert_eq!(short(EXTENSION), [66, 75, 75, 67]);
    assert_eq!(short(ROUTING), [57, 56, 55, 46]);
}

/// 32 octets of route make two frames of one: 47 octets of data fit into one frame without RPL (18 + 9 of headers on the
/// second hop), in storing mode (67), and not with a route of four hops (91 + 27 are more than 104).
#[test]
fn a_route_makes_two_frames_of_one() {
    let frames = |rpl| heard(NetworkConfig { rpl, ..NetworkConfig::default() }, Host::Internet, LEAF, 37).len();
    assert_eq!(frames(None), 4);
    assert_eq!(frames(rpl(RplMode::Storing, EXTENSION)), 4);
    // The first hop has 62 octets of headers, the last 63: 99 and 100. The hops between have 71, which is 108.
    assert_eq!(frames(rpl(RplMode::NonStoring, EXTENSION)), 6);
    // 65 octets on the first hop, 57 on the second.
    assert_eq!(frames(rpl(RplMode::NonStoring, ROUTING)), 4);
}

/// Forwarding fragments, the first fragment gets shorter with its route. 100 octets are two fragments on each of four
/// hops.
#[test]
fn the_first_fragment_gets_shorter_with_its_route() {
    for fragments in [forwarded(), recovered(2)] {
        let frames = heard(config(RplMode::NonStoring, ROUTING, fragments), Host::Internet, LEAF, 100);
        let is_first = |frame: &&Frame| frame.octets[21] >> 3 == 0b11000 || frame.octets[21] == 0xe8;
        let first: Vec<usize> = frames.iter().filter(is_first).map(|frame| frame.octets.len() - 21).collect();
        // Each hop takes an address of 8 octets out. The last hop also leaves out the destination of the packet.
        let begin = first[0];
        assert_eq!(first[..4], [begin, begin - 8, begin - 16, begin - 32], "{fragments:?}: {first:?}");
    }
}

/// The first hop from node 4 to the server: 2, contexts 1, the server's interface identifier 8, UDP 7. A context of all 128
/// bits leaves nothing of the server's address. Without contexts both addresses travel in full: 2 + 16 + 16 + 7. tshark
/// reads each with the same contexts.
#[test]
fn contexts_replace_what_they_cover() {
    let mut whole = Contexts::none();
    whole.set(0, "2001:db8::".parse().unwrap(), 64).unwrap();
    whole.set(15, "2001:db8:1::1".parse().unwrap(), 128).unwrap();
    for (contexts, first) in [(Contexts::mesh(), 18), (whole, 10), (Contexts::none(), 41)] {
        let config = NetworkConfig { contexts: contexts.clone(), ..NetworkConfig::default() };
        let frames = heard(config, LEAF, Host::Internet, 20);
        assert_eq!(lengths(&frames)[0], first + 20, "{contexts:?}");
        let with = |tshark: Tshark, (id, context): (u8, Context)| {
            tshark.context(id, &context.prefix().to_string(), context.length())
        };
        let tshark = contexts.iter().fold(Tshark::default(), with);
        let rows = tshark.rows(&capture(&frames), &["ipv6.src", "ipv6.dst", "udp.checksum.status", "_ws.expert"]);
        assert!(rows.iter().all(|row| *row == ["2001:db8::12:7400:0:4", "2001:db8:1::1", "1", ""]), "{rows:?}");
    }
}

/// The table of docs/reference/routes.md: the most octets of headers on the path of a packet from the Internet.
#[test]
fn the_table_of_header_octets() {
    let most = |rpl, hops| {
        let config = NetworkConfig { rpl, ..NetworkConfig::default() };
        let frames = heard_over(hops, config, Host::Internet, Host::Node(NodeId(hops)), 20);
        assert_eq!(frames.len(), usize::from(hops));
        lengths(&frames).into_iter().max().unwrap() - 20
    };
    let modes = [RplMode::Storing, RplMode::NonStoring];
    let columns = [None]
        .into_iter()
        .chain([EXTENSION, ROUTING].into_iter().flat_map(|encoding| modes.map(|mode| rpl(mode, encoding))));
    let table = columns.map(|rpl| [1, 2, 3, 4].map(|hops| most(rpl, hops))).collect::<Vec<_>>();
    assert_eq!(table, [[19, 27, 27, 27], [30, 39, 47, 47], [19, 47, 63, 71], [26, 34, 34, 34], [19, 49, 57, 65]]);
}

fn dissect(frames: &[Frame], fields: &[&str]) -> Vec<String> {
    let capture: Pcap = capture(frames);
    // It recognises 6LoWPAN by its first octet, but not if that switches to page 1.
    let tshark = Tshark::default().decode_as("wpan.panid==0xcafe,6lowpan");
    let rows = tshark.rows(&capture, &[&["_ws.expert"], fields].concat());
    assert!(rows.iter().all(|row| row[0].is_empty()), "{rows:?}");
    rows.into_iter().map(|row| row[1..].join(" ")).collect()
}

/// The rank of node n is 256 (n + 1).
#[test]
fn tshark_reads_the_option_at_every_hop() {
    let fields = ["ipv6.opt.rpl.sender_rank", "ipv6.opt.rpl.flag.o", "ipv6.src", "ipv6.dst", "udp.checksum.status"];
    let storing =
        |from, to| dissect(&heard(config(RplMode::Storing, EXTENSION, Fragments::Reassembled), from, to, 20), &fields);
    let ends = "2001:db8::12:7400:0:4 2001:db8:1::1 1";
    let up = ["0x0500", "0x0400", "0x0300", "0x0200"].map(|rank| format!("{rank} 0 {ends}"));
    assert_eq!(storing(LEAF, Host::Internet), up);
    // The outer addresses come before those of the inner packet.
    let ends = "2001:db8::12:7400:0:0,2001:db8:1::1 2001:db8::12:7400:0:4,2001:db8::12:7400:0:4 1";
    let down = ["0x0100", "0x0200", "0x0300", "0x0400"].map(|rank| format!("{rank} 1 {ends}"));
    assert_eq!(storing(Host::Internet, LEAF), down);
    // From node to node without a tunnel.
    let ends = "2001:db8::12:7400:0:2 2001:db8::12:7400:0:4 1";
    let across = ["0x0300", "0x0400"].map(|rank| format!("{rank} 1 {ends}"));
    assert_eq!(storing(Host::Node(NodeId(2)), LEAF), across);
    // In the non-storing mode over the root, in a tunnel each way.
    let frames = heard(config(RplMode::NonStoring, EXTENSION, Fragments::Reassembled), Host::Node(NodeId(1)), LEAF, 20);
    let over_the_root = dissect(&frames, &["ipv6.opt.rpl.sender_rank", "ipv6.src", "ipv6.dst", "ipv6.routing.segleft"]);
    let [one, root, four] = [1, 0, 4].map(|node| format!("2001:db8::12:7400:0:{node}"));
    assert_eq!(over_the_root[0], format!("0x0200 {one},{one} {root},{four} "));
    assert_eq!(over_the_root[1], format!(" {root},{one} {one},{four} 3"));
    assert_eq!(over_the_root.len(), 5);
}

#[test]
fn tshark_reads_the_source_route_at_every_hop() {
    let fields = ["ipv6.dst", "ipv6.routing.segleft", "ipv6.routing.rpl.cmprI", "ipv6.routing.rpl.full_address"];
    let frames = heard(config(RplMode::NonStoring, EXTENSION, Fragments::Reassembled), ROOT, LEAF, 20);
    let node = |number: u16| format!("2001:db8::12:7400:0:{number}");
    let route = |nodes: [u16; 3]| nodes.map(node).join(",");
    // Each node changes places with the next one.
    let expected = [(1, 3, [2, 3, 4]), (2, 2, [1, 3, 4]), (3, 1, [1, 2, 4]), (4, 0, [1, 2, 3])];
    let expected = expected.map(|(to, left, nodes)| format!("{} {left} 8 {}", node(to), route(nodes)));
    assert_eq!(dissect(&frames, &fields), expected);
}

/// In fragments too, with every way to forward them.
#[test]
fn tshark_reassembles_packets_with_the_headers() {
    let node = |number: u16| format!("2001:db8::12:7400:0:{number}");
    for fragments in [Fragments::Reassembled, forwarded()] {
        let frames = heard(config(RplMode::NonStoring, EXTENSION, fragments), Host::Internet, LEAF, 300);
        let rows = dissect(&frames, &["ipv6.dst", "ipv6.routing.segleft", "udp.length", "udp.checksum.status"]);
        let whole: Vec<_> = rows.into_iter().filter(|row| row.trim() != "").collect();
        let expected = [(1, 3), (2, 2), (3, 1), (4, 0)];
        assert_eq!(whole, expected.map(|(to, left)| format!("{},{} {left} 308 1", node(to), node(4))));
    }
}

/// tshark reads 6LoWPAN routing headers before a whole packet. (Version 4.0 knows them neither in a fragment nor in the
/// packet that it decompresses.)
#[test]
fn tshark_reads_the_routing_headers() {
    let frames = heard(config(RplMode::NonStoring, ROUTING, Fragments::Reassembled), Host::Internet, LEAF, 20);
    let fields =
        ["6lowpan.rhtype", "6lowpan.HopNuevo", "6lowpan.rhhop.limit", "ipv6.dst", "ipv6.hlim", "udp.checksum.status"];
    // Types 3 (one address more than the number, of 8 octets each) and 6 (the tunnel, with its hop limit). The packet in
    // the tunnel keeps its hop limit.
    let end = "2001:db8::12:7400:0:4 63 1";
    let expected = [(3, 64), (2, 63), (1, 62), (0, 61)]
        .map(|(more, hops)| format!("0x0003,0x0006 0x{more:04x} 0x{hops:02x} {end}"));
    let read: Vec<String> = dissect(&frames, &fields);
    assert_eq!(read, expected);

    let frames = heard(config(RplMode::Storing, ROUTING, Fragments::Reassembled), LEAF, Host::Internet, 20);
    let fields =
        ["6lowpan.rhtype", "6lowpan.6loRH.bitO", "6lowpan.6loRH.bitI", "6lowpan.6loRH.bitK", "6lowpan.sender.rank"];
    let ranks = [5, 4, 3, 2].map(|rank| format!("0x0005 0 1 1 0x{rank:02x}"));
    assert_eq!(dissect(&frames, &fields), ranks);
}

fn modes() -> impl Strategy<Value = RplConfig> {
    let mode = prop_oneof![Just(RplMode::Storing), Just(RplMode::NonStoring)];
    (mode, prop_oneof![Just(EXTENSION), Just(ROUTING)], 1usize..=16)
        .prop_map(|(mode, encoding, address_octets)| RplConfig { mode, encoding, address_octets })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The ends see packets as they were sent, whatever is added to them on the way. No link loses a frame.
    #[test]
    fn what_arrives_is_what_was_sent(
        rpl in modes(),
        fragments in prop_oneof![Just(Fragments::Reassembled), Just(forwarded()), (0u8..4).prop_map(recovered)],
        link_layer in 0..LINK_LAYERS.len(),
        hops in 1u16..5,
        sends in prop::collection::vec((0u16..6, 0u16..6, 0usize..1232), 1..4),
        seed: u64,
    ) {
        // Node 5 stands for the Internet; others that the line does not have, for its end.
        let host = |number: u16| if number == 5 { Host::Internet } else { Host::Node(NodeId(number.min(hops))) };
        let sends: Vec<Send> = (0..)
            .zip(sends)
            .map(|(at, (from, to, octets))| (seconds(60 * at), host(from), host(to), octets))
            .filter(|send| send.1 != send.2)
            .collect();
        let config = NetworkConfig { rpl: Some(rpl), fragments, ..NetworkConfig::default() };
        let is_contending = link_layer >= FIRST_CONTENDING;
        let mut network = network(LINK_LAYERS[link_layer], hops, 1.0, config, seed);
        let fates = run(&mut network, &sends, seconds(1_000), &mut ());
        for (number, send) in (0..).zip(&sends) {
            match fates.delivered.get(&number) {
                Some((_, octets)) => prop_assert_eq!(octets, &payload(number, send.3)),
                // The ends of two hops do not hear each other: their frames may collide in every attempt.
                None => {
                    let lost = fates.lost.get(&number);
                    prop_assert!(hops > 1 && is_contending && lost == Some(&"retries_exhausted"), "{lost:?}");
                }
            }
        }
    }
}
