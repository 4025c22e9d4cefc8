//! Packets of any protocol, hosts of any address, and the errors of routers (RFC 4443).

use super::*;
use slowhand_net::address::{Host, MESH_PREFIX, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::is_of_router;
use slowhand_net::ip::{Ipv6Header, checksum, next_header};
use slowhand_net::lowpan::reassembly;
use slowhand_net::network::internet::InternetConfig;
use slowhand_net::network::{Event, Events, Network, NetworkConfig, SendError};
use std::net::Ipv6Addr;

/// Two hosts on the Internet that no context of 6LoWPAN covers.
const HOSTS: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd00, 0, 0, 7, 8, 9, 10, 11)];

fn node(number: u16) -> Ipv6Addr {
    Host::Node(NodeId(number)).address()
}

/// An ICMPv6 message of this type with `octets` behind its header.
fn message(kind: u8, source: Ipv6Addr, destination: Ipv6Addr, hop_limit: u8, octets: usize) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0, 0, 7, 0, 9];
    message.extend((0..octets).map(|at| at as u8));
    let sum = checksum::transport(source, destination, next_header::ICMPV6, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = Ipv6Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: message.len() as u16,
        next_header: next_header::ICMPV6,
        hop_limit,
        source,
        destination,
    };
    [&header.emit()[..], &message].concat()
}

fn network() -> Network {
    let internet = InternetConfig { delay: Duration::from_millis(10), ..InternetConfig::default() };
    crate::harness::network(tsch, 2, 1.0, NetworkConfig { internet, ..NetworkConfig::default() }, 1)
}

/// The events within a minute after a packet was sent. Arrivals: the host, the number, the packet. Losses: the
/// number, the reason.
type Arrivals = (Vec<(Host, u32, Vec<u8>)>, Vec<(u32, &'static str)>);

fn send(network: &mut Network, packet: &[u8], air: &mut Recorder) -> Arrivals {
    let mut events = Events::default();
    network.send_packet(Instant::ZERO, packet, 5, &mut events).unwrap();
    network.handle_deadline(seconds(60), &mut events, air);
    let (mut arrived, mut lost) = (Vec::new(), Vec::new());
    for event in events.iter() {
        match event {
            Event::Packet { host, datagram, packet, .. } => arrived.push((host, datagram, packet.to_vec())),
            Event::Lost { datagram, reason, .. } => lost.push((datagram, reason.name())),
            other => panic!("nobody sends {other:?}"),
        }
    }
    (arrived, lost)
}

/// The packet after this many routers.
fn after(packet: &[u8], routers: u8) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[7] -= routers;
    packet
}

#[test]
fn an_echo_request_and_its_answer_cross() {
    for host in HOSTS {
        for octets in [0, 56, 1_000] {
            // Echo Request is type 128, Echo Reply 129.
            let request = message(128, host, node(2), 64, octets);
            let arrived = send(&mut network(), &request, &mut Recorder::default());
            assert_eq!(arrived, (vec![(Host::Node(NodeId(2)), 5, after(&request, 2))], vec![]));
            let reply = message(129, node(2), host, 64, octets);
            let arrived = send(&mut network(), &reply, &mut Recorder::default());
            assert_eq!(arrived, (vec![(Host::Internet, 5, after(&reply, 2))], vec![]));
        }
    }
}

/// By RFC 6282 section 3.1.1: 011, TF 11 (no class, no label), NH 0 (in full), HLIM 10 (64); CID 0, SAC 1, SAM 11 (context 0,
/// the identifier is the sender's EUI-64), M 0, DAC 0, DAM 00 (in full). Then next header, destination, and the message.
#[test]
fn an_address_without_context_travels_in_full() {
    let packet = message(128, node(1), HOSTS[0], 64, 8);
    let mut air = Recorder::default();
    send(&mut network(), &packet, &mut air);
    let expected = [&[0b0111_1010, 0b0111_0000, 58], &packet[24..40], &packet[40..]].concat();
    assert!(air.frames[0].octets.ends_with(&expected), "{:02x?}", air.frames[0].octets);
}

/// An error message: the router, the destination, type, code, the second word, and the packet that it quotes.
type ErrorMessage = (Ipv6Addr, Ipv6Addr, u8, u8, u32, Vec<u8>);

fn error(packet: &[u8]) -> ErrorMessage {
    let (header, message) = Ipv6Header::parse_packet(packet).unwrap();
    assert_eq!(header.next_header, next_header::ICMPV6);
    assert_eq!(checksum::transport(header.source, header.destination, next_header::ICMPV6, message), 0);
    let word = u32::from_be_bytes(message[4..8].try_into().unwrap());
    (header.source, header.destination, message[0], message[1], word, message[8..].to_vec())
}

/// Sends a packet that a router refuses; returns the router's error and why the packet was lost.
fn refused(packet: &[u8]) -> (ErrorMessage, &'static str) {
    let (arrived, lost) = send(&mut network(), packet, &mut Recorder::default());
    let [(host, number, answer)] = &arrived[..] else { panic!("{arrived:?}") };
    let source = Ipv6Header::parse(packet).unwrap().source;
    assert_eq!(Some(*host), Host::of_address(source));
    assert!(is_of_router(*number));
    let [(5, reason)] = lost[..] else { panic!("{lost:?}") };
    (error(answer), reason)
}

#[test]
fn an_address_of_the_mesh_that_nobody_has_is_unreachable() {
    let mut elsewhere = [0xee; 16];
    elsewhere[..8].copy_from_slice(&MESH_PREFIX);
    for nobody in [node(77), Ipv6Addr::from(elsewhere)] {
        // From the Internet, and from a node: its parent passes it up to the border router.
        for (source, routers) in [(HOSTS[0], 1), (node(2), 2)] {
            let packet = message(128, source, nobody, 64, 8);
            let (error, reason) = refused(&packet);
            assert_eq!(error, (node(0), source, 1, 0, 0, after(&packet, routers)));
            assert_eq!(reason, "no_route");
        }
    }
}

#[test]
fn a_hop_limit_is_exceeded_at_the_router_that_uses_it_up() {
    for (source, destination, hop_limit, router) in
        [(HOSTS[0], node(2), 1, 0), (HOSTS[0], node(2), 2, 1), (node(2), HOSTS[1], 1, 1), (node(2), HOSTS[1], 2, 0)]
    {
        let packet = message(128, source, destination, hop_limit, 8);
        let (error, reason) = refused(&packet);
        assert_eq!(error, (node(router), source, 3, 0, 0, after(&packet, hop_limit)));
        assert_eq!(reason, "hop_limit");
    }
}

/// The 11 bits of datagram_size count to 2047. The default buffers hold the minimum MTU.
#[test]
fn a_packet_that_6lowpan_cannot_count_is_too_big() {
    let packet = message(128, HOSTS[0], node(2), 64, 2_048 - 48);
    assert_eq!(packet.len(), 2_048);
    let (error, reason) = refused(&packet);
    assert_eq!(error, (node(0), HOSTS[0], 2, 0, 1_280, after(&packet, 1)[..1_232].to_vec()));
    assert_eq!(reason, "reassembly_too_long");
}

/// A packet of `octets` octets from the Internet to node 2.
fn packet_of(octets: usize) -> Vec<u8> {
    let packet = message(128, HOSTS[0], node(2), 64, octets - 48);
    assert_eq!(packet.len(), octets);
    packet
}

/// The path MTU of the mesh is the longest packet that the nodes can reassemble: by default the minimum MTU, 1280.
#[test]
fn a_packet_that_the_nodes_cannot_reassemble_is_too_big() {
    for octets in [1_281, 1_500, 2_047] {
        let packet = packet_of(octets);
        let (error, reason) = refused(&packet);
        assert_eq!(error, (node(0), HOSTS[0], 2, 0, 1_280, after(&packet, 1)[..1_232].to_vec()));
        assert_eq!(reason, "reassembly_too_long");
    }
    let fits = packet_of(1_280);
    let arrived = send(&mut network(), &fits, &mut Recorder::default());
    assert_eq!(arrived, (vec![(Host::Node(NodeId(2)), 5, after(&fits, 2))], vec![]));
}

#[test]
fn larger_reassembly_buffers_make_the_path_mtu_larger() {
    let network = || {
        let reassembly = reassembly::Limits { datagram: 1_500, ..Default::default() };
        crate::harness::network(tsch, 2, 1.0, NetworkConfig { reassembly, ..NetworkConfig::default() }, 1)
    };
    let fits = packet_of(1_500);
    let arrived = send(&mut network(), &fits, &mut Recorder::default());
    assert_eq!(arrived, (vec![(Host::Node(NodeId(2)), 5, after(&fits, 2))], vec![]));
    let (arrived, lost) = send(&mut network(), &packet_of(1_501), &mut Recorder::default());
    assert_eq!((error(&arrived[0].2).4, lost), (1_500, vec![(5, "reassembly_too_long")]));
}

/// The times at which ten packets from node 1 arrive on the Internet, where the delay varies. If `with_errors`, a host
/// sends a packet before each of them that the border router answers with an error.
fn arrivals_after_errors(with_errors: bool) -> Vec<(Instant, u32)> {
    let internet = InternetConfig { jitter: Duration::from_millis(400), ..InternetConfig::default() };
    let config = NetworkConfig { internet, ..NetworkConfig::default() };
    let mut network = crate::harness::network(tsch, 2, 1.0, config, 1);
    let (mut events, mut arrivals) = (Events::default(), Vec::new());
    let mut send = |now: Instant, packet: &[u8], number| {
        network.handle_deadline(now, &mut events, &mut ());
        network.send_packet(now, packet, number, &mut events).unwrap();
    };
    for number in 0..10 {
        let second = 4 * u64::from(number);
        if with_errors {
            send(seconds(second), &message(128, HOSTS[0], node(77), 64, 8), 100 + number);
        }
        send(seconds(second + 2), &message(128, node(1), HOSTS[1], 64, 8), number);
    }
    network.handle_deadline(seconds(60), &mut events, &mut ());
    for event in events.iter() {
        if let Event::Packet { at, datagram: datagram @ ..10, .. } = event {
            arrivals.push((at, datagram));
        }
    }
    let errors =
        events.iter().filter(|event| matches!(event, Event::Packet { datagram, .. } if is_of_router(*datagram)));
    assert_eq!(errors.count(), if with_errors { 10 } else { 0 });
    arrivals
}

#[test]
fn errors_do_not_change_what_happens_to_later_packets() {
    let arrivals = arrivals_after_errors(false);
    assert_eq!(arrivals.len(), 10);
    assert_eq!(arrivals, arrivals_after_errors(true));
}

#[test]
fn no_router_answers_an_error() {
    // Destination Unreachable with a hop limit of 1.
    let packet = message(1, HOSTS[0], node(2), 1, 8);
    assert_eq!(send(&mut network(), &packet, &mut Recorder::default()), (vec![], vec![(5, "hop_limit")]));
}

#[test]
fn what_is_no_packet_of_a_host_is_refused() {
    let mut events = Events::default();
    let mut send = |packet: &[u8]| network().send_packet(Instant::ZERO, packet, 5, &mut events);
    let group = "ff02::1".parse().unwrap();
    let link_local = "fe80::1".parse().unwrap();
    assert_eq!(send(&message(128, node(3), node(1), 64, 8)), Err(SendError::Source(node(3))));
    assert_eq!(send(&message(128, link_local, node(1), 64, 8)), Err(SendError::Source(link_local)));
    for destination in [group, link_local, Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED] {
        assert_eq!(send(&message(128, node(1), destination, 64, 8)), Err(SendError::Destination(destination)));
    }
    let packet = message(128, node(1), node(2), 64, 8);
    for damaged in [&packet[..30], &packet[..50], &[&packet[..], &[0]].concat()] {
        assert!(matches!(send(damaged), Err(SendError::Packet(_))));
    }
    let mut version_4 = packet.clone();
    version_4[0] = 0x45;
    assert!(matches!(send(&version_4), Err(SendError::Packet(_))));
    assert!(events.is_empty());
}
