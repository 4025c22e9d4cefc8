//! Neighbours that tell each other that they understand compressed payloads.

use super::*;
use slowhand_net::address::{Addressing, Host, NodeId};
use slowhand_net::datagram::is_of_router;
use slowhand_net::link::Links;
use slowhand_net::lowpan::{Contexts, PayloadCompression};
use slowhand_net::network::{Events, Network, NetworkConfig, Outage};
use slowhand_net::observer::FrameKind;
use slowhand_net::radio::csma::{Csma, CsmaConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_testing::wireshark::Tshark;
use std::collections::BTreeSet;

const ROOT: u16 = 0;

/// GHC needs few octets for so many zeros.
const ZEROS: [u8; 60] = [0; 60];

fn config() -> NetworkConfig {
    let contexts = Contexts::mesh().with_payload_compression(Some(PayloadCompression::Ghc));
    NetworkConfig { contexts, exchanges_capabilities: true, ..NetworkConfig::default() }
}

/// A message of neighbour discovery, or a frame with a datagram: when, in tenths of a second, from which node, to which, and what.
type Seen = (u64, u16, u16, &'static str);

/// Sends datagrams at these seconds, and runs a network for so many. The data frames on the air, each attempt once.
fn air(network: &mut Network, sends: &[(u64, u16, u16)], end: u64) -> (Vec<Frame>, Vec<Seen>) {
    let (mut air, mut events) = (Recorder::default(), Events::default());
    for (number, &(at, from, to)) in (0..).zip(sends) {
        network.handle_deadline(seconds(at), &mut events, &mut air);
        let [from, to] = [from, to].map(|node| endpoint(Host::Node(NodeId(node))));
        network.send(seconds(at), from, to, &ZEROS, number, &mut events).unwrap();
    }
    network.handle_deadline(seconds(end), &mut events, &mut air);
    let mut known = BTreeSet::new();
    air.frames.retain(|frame| frame.kind == FrameKind::Data && known.insert((frame.datagram, frame.from)));
    let seen = air.frames.iter().map(|frame| {
        let what = match (is_of_router(frame.datagram), frame.from > frame.to) {
            (true, true) => "solicits",
            (true, false) => "advertises",
            (false, _) if frame.octets.len() > ZEROS.len() => "plain",
            (false, _) => "compressed",
        };
        (frame.at / 100_000, frame.from.0, frame.to.0, what)
    });
    let seen = seen.collect();
    (air.frames, seen)
}

/// The events over one hop of CSMA.
fn over_one_hop(config: NetworkConfig, sends: &[(u64, u16, u16)], end: u64) -> Vec<Seen> {
    air(&mut network(csma, 1, 1.0, config, 1), sends, end).1
}

/// When node 1 solicits first, in tenths of a second: within a second (RFC 4861 section 6.3.7).
fn first() -> u64 {
    let at = over_one_hop(config(), &[], 2)[0].0;
    assert!(at < 10);
    at
}

/// Twenty-one octets of MAC header, and 3 of IPHC: next header and hop limit, both addresses follow from those of the frame. A
/// solicitation has 8 octets (RFC 4861 section 4.1), an advertisement 16 (section 4.2), the address 16 (RFC 4944 section 8), the option 8.
#[test]
fn frames_have_the_octets_that_the_standards_say() {
    let (frames, seen) = air(&mut network(csma, 1, 1.0, config(), 1), &[], 100);
    assert_eq!(seen, [(first(), 1, 0, "solicits"), (first(), 0, 1, "advertises")]);
    let lengths: Vec<_> = frames.iter().map(|frame| frame.octets.len()).collect();
    assert_eq!(lengths, [21 + 3 + 8 + 16 + 8, 21 + 3 + 16 + 16 + 8]);
    let without = NetworkConfig { without_payload_compression: [NodeId::ROOT].into(), ..config() };
    let (frames, _) = air(&mut network(csma, 1, 1.0, without, 1), &[], 100);
    let lengths: Vec<_> = frames.iter().map(|frame| frame.octets.len()).collect();
    assert_eq!(lengths, [21 + 3 + 8 + 16 + 8, 21 + 3 + 16 + 16]);
}

/// tshark reads types, hop limit, checksum, options and the G bit; with 64-bit and 16-bit addresses, and of a parent that does not
/// understand it.
#[test]
fn tshark_reads_the_messages() {
    let fields = [
        "_ws.expert",
        "ipv6.src",
        "ipv6.dst",
        "ipv6.hlim",
        "icmpv6.type",
        "icmpv6.checksum.status",
        "icmpv6.opt.type",
        "icmpv6.opt.length",
        "icmpv6.opt.6cio.flag_g",
        "icmpv6.opt.6cio.unassigned1",
        "icmpv6.opt.6cio.unassigned2",
        "icmpv6.nd.ra.router_lifetime",
    ];
    let rows = |network: &mut Network| -> Vec<String> {
        let rows = Tshark::default().rows(&capture(&air(network, &[], 2).0), &fields);
        rows.iter().map(|row| row.join(" ")).collect()
    };
    let [up, down] = ["fe80::12:7400:0:1 fe80::12:7400:0:0", "fe80::12:7400:0:0 fe80::12:7400:0:1"];
    let extended = rows(&mut network(csma, 1, 1.0, config(), 1));
    assert_eq!(
        extended,
        [
            format!(" {up} 255 133 1 1,36 2,1 0x0001 0x0000 0x00000000 "),
            format!(" {down} 255 134 1 1,36 2,1 0x0001 0x0000 0x00000000 65535"),
        ]
    );
    let without = NetworkConfig { without_payload_compression: [NodeId::ROOT].into(), ..config() };
    assert_eq!(rows(&mut network(csma, 1, 1.0, without, 1))[1], format!(" {down} 255 134 1 1 2    65535"));
    assert_eq!(rows(&mut with_short_addresses())[0], format!(" {up} 255 133 1 1,36 1,1 0x0001 0x0000 0x00000000 "));
}

/// One hop with 16-bit addresses.
fn with_short_addresses() -> Network {
    let (links, streams) = (line(1, 1.0), Streams::new(1));
    let routes = Routes::shortest(2, &links).unwrap();
    let csma = CsmaConfig { addressing: Addressing::Short, ..CsmaConfig::openthread() };
    let mac = Csma::new(csma, Links::new(2, &links, &streams), &routes.parents(), &[false; 2], &streams).unwrap();
    Network::new(Box::new(mac), routes, config(), &streams)
}

/// Both ends send plain payloads before they have heard of each other, and compressed ones then. Without an exchange they compress from
/// the beginning.
#[test]
fn payloads_are_plain_until_the_neighbour_has_told() {
    let sends = [(0, 1, ROOT), (0, ROOT, 1), (5, 1, ROOT), (5, ROOT, 1)];
    let of_datagrams = |config| -> Vec<_> {
        let seen = over_one_hop(config, &sends, 10).into_iter();
        seen.filter_map(|(_, _, _, what)| ["plain", "compressed"].contains(&what).then_some(what)).collect()
    };
    assert_eq!(of_datagrams(config()), ["plain", "plain", "compressed", "compressed"]);
    let known = NetworkConfig { exchanges_capabilities: false, ..config() };
    assert_eq!(of_datagrams(known), ["compressed"; 4]);
}

/// The first frame is the solicitation.
#[test]
fn a_lost_solicitation_is_sent_again() {
    let config = NetworkConfig { dropped_frames: vec![1], ..config() };
    let (first, sends) = (first(), [(5, 1, ROOT), (5, ROOT, 1), (15, 1, ROOT), (15, ROOT, 1)]);
    let seen = over_one_hop(config, &sends, 60);
    let expected = [
        (first, 1, ROOT, "solicits"),
        (50, 1, ROOT, "plain"),
        (50, ROOT, 1, "plain"),
        (first + 100, 1, ROOT, "solicits"),
        (first + 100, ROOT, 1, "advertises"),
        (150, 1, ROOT, "compressed"),
        (150, ROOT, 1, "compressed"),
    ];
    assert_eq!(sorted(seen), sorted(expected.to_vec()));
}

/// The second frame is the advertisement. The parent knows what its child understands, the child nothing: until the solicitation is
/// answered that it sends again, or until it receives a compressed payload.
#[test]
fn after_a_lost_advertisement_the_child_learns_from_what_it_receives() {
    let run =
        |sends: &[(u64, u16, u16)]| over_one_hop(NetworkConfig { dropped_frames: vec![2], ..config() }, sends, 60);
    let first = first();
    let messages = [
        (first, 1, ROOT, "solicits"),
        (first, ROOT, 1, "advertises"),
        (first + 100, 1, ROOT, "solicits"),
        (first + 100, ROOT, 1, "advertises"),
    ];
    let with = |datagrams: &[Seen]| sorted([&messages[..], datagrams].concat());
    let up = [(50, 1, ROOT, "plain"), (150, 1, ROOT, "compressed")];
    assert_eq!(sorted(run(&[(5, 1, ROOT), (15, 1, ROOT)])), with(&up));
    let both = [(40, ROOT, 1, "compressed"), (50, 1, ROOT, "compressed")];
    assert_eq!(sorted(run(&[(4, ROOT, 1), (5, 1, ROOT)])), with(&both));
}

/// Events in an order that does not depend on the order of those that are sent at the same time.
fn sorted(mut seen: Vec<Seen>) -> Vec<Seen> {
    seen.sort_unstable();
    seen
}

/// RFC 6775 section 5.3, while the parent's radio is off.
#[test]
fn solicitations_without_an_answer_become_rarer() {
    let outages = vec![Outage { node: NodeId::ROOT, from: at(0), until: seconds(190) }];
    let seen = over_one_hop(NetworkConfig { outages, ..config() }, &[], 400);
    let at: Vec<_> = seen.iter().map(|(at, _, _, what)| (*what, at - first())).collect();
    let unanswered = [0, 100, 200, 400, 800, 1_400].map(|at| ("solicits", at));
    assert_eq!(at, [&unanswered[..], &[("solicits", 2_000), ("advertises", 2_000)]].concat());
}

/// Nodes 0, 1 and 3 understand it. Node 2 does not solicit, and says nothing of it in its answer to node 3.
#[test]
fn each_hop_decides_alone() {
    let without = NetworkConfig { without_payload_compression: [NodeId(2)].into(), ..config() };
    let seen = air(&mut network(csma, 3, 1.0, without, 1), &[(5, 3, ROOT), (6, ROOT, 3)], 200).1;
    let links = |kind: &str| {
        let seen = seen.iter().filter(|(_, _, _, what)| *what == kind);
        sorted(seen.map(|&(_, from, to, _)| (0, from, to, "")).collect())
    };
    let expected = |links: &[(u16, u16)]| sorted(links.iter().map(|&(from, to)| (0, from, to, "")).collect());
    assert_eq!(links("solicits"), expected(&[(1, 0), (3, 2)]));
    assert_eq!(links("advertises"), expected(&[(0, 1), (2, 3)]));
    assert_eq!(links("compressed"), expected(&[(1, 0), (0, 1)]));
    assert_eq!(links("plain"), expected(&[(3, 2), (2, 1), (1, 2), (2, 3)]));
}

/// Three hops, under every link layer: after 30 s all neighbours know each other. Two runs are the same.
#[test]
fn every_link_layer_carries_the_messages() {
    for link_layer in LINK_LAYERS {
        let run = || air(&mut network(link_layer, 3, 1.0, config(), 7), &[(30, 3, ROOT), (40, ROOT, 3)], 60);
        let (frames, seen) = run();
        let count = |kind| seen.iter().filter(|(_, _, _, what)| *what == kind).count();
        assert_eq!([count("plain"), count("compressed")], [0, 6], "{seen:?}");
        assert!(count("solicits") >= 3 && count("advertises") >= 3, "{seen:?}");
        assert_eq!(run().0, frames);
    }
}
