use super::*;
use crate::address::{Eui64, NodeId, internet_address, mesh_address};
use crate::ip::{Endpoint, UdpDatagram, udp_datagram};
use crate::lowpan::{Contexts, Link};

fn contexts(address_octets: usize) -> Contexts {
    Contexts::mesh().with_routing_headers(RoutingHeaders { root: mesh_address(NodeId(0)), address_octets })
}

fn link(from: u16, to: u16) -> Link {
    Link { source: Eui64::of_node(NodeId(from)), destination: Eui64::of_node(NodeId(to)) }
}

fn datagram(source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
    let mut packet = vec![0; UdpDatagram::HEADERS + 5];
    let ends = [source, destination].map(|address| Endpoint::new(address, 61617));
    udp_datagram(ends[0], ends[1], b"hello", &mut packet).unwrap();
    packet
}

fn option(down: bool, sender_rank: u16) -> RplOption {
    RplOption { down, rank_error: false, forwarding_error: false, instance: 0, sender_rank }
}

/// Compresses, compares the octets before the IPv6 header, decompresses and compares the packet.
fn check(packet: &[u8], link: Link, contexts: &Contexts, expected: &[u8], hidden: usize) {
    let mut out = [0; super::super::MAX_COMPRESSED];
    let done = super::super::compress(packet, link, contexts, &mut out).unwrap();
    assert_eq!(out[..expected.len()], *expected);
    assert!(iphc::is_dispatch(out[expected.len()]));
    assert_eq!((done.consumed, done.hidden), (packet.len() - 5, hidden));

    let payload = [&out[..done.written], &packet[done.consumed..]].concat();
    for size in [None, Some(packet.len() - hidden)] {
        let mut back = [0; super::super::MAX_DECOMPRESSED];
        let read = super::super::decompress(&payload, link, contexts, size, &mut back).unwrap();
        assert_eq!((read.consumed, read.written, read.hidden), (done.written, done.consumed, hidden));
        assert_eq!(back[..read.written], packet[..done.consumed]);
    }
    for length in 0..done.written {
        let mut back = [0; super::super::MAX_DECOMPRESSED];
        assert!(super::super::decompress(&payload[..length], link, contexts, None, &mut back).is_err());
    }
}

/// RFC 8138 section 6.2, by hand: 100, O R F zero, I and K set, type 5, and the high octet of rank 0x0400.
#[test]
fn an_option_takes_three_octets() {
    let mut packet = datagram(mesh_address(NodeId(3)), internet_address());
    rpl::insert(&mut packet, next_header::HOP_BY_HOP, &option(false, 0x400).emit(0)).unwrap();
    check(&packet, link(3, 2), &contexts(8), &[0xf1, 0b1000_0011, 5, 0x04], 8);

    // Down, an instance, and a rank with a low octet: O is set, I and K are not.
    let mut packet = datagram(mesh_address(NodeId(3)), mesh_address(NodeId(4)));
    let other = RplOption { instance: 7, ..option(true, 0x123) };
    rpl::insert(&mut packet, next_header::HOP_BY_HOP, &other.emit(0)).unwrap();
    check(&packet, link(3, 4), &contexts(8), &[0xf1, 0b1001_0000, 5, 7, 0x01, 0x23], 8);
}

/// From the Internet in storing mode: the option, and the outer header in three octets (101, length 1, type 6, hop limit
/// 64). The root and the destination of the inner packet are left out.
#[test]
fn a_tunnel_from_the_root_takes_three_octets() {
    let mut packet = datagram(internet_address(), mesh_address(NodeId(3)));
    let header = option(true, 0x100).emit(0);
    let ends = [0, 3].map(|node| mesh_address(NodeId(node)));
    rpl::encapsulate(&mut packet, ends[0], ends[1], (next_header::HOP_BY_HOP, &header)).unwrap();
    let expected = [0xf1, 0b1001_0011, 5, 0x01, 0b1010_0001, 6, 64];
    check(&packet, link(0, 1), &contexts(8), &expected, 48);
}

/// A tunnel to the root names its source, compressed like the addresses of a route: to two octets (length 3), or to its
/// interface identifier (length 9).
#[test]
fn a_tunnel_to_the_root_names_the_node() {
    let mut packet = datagram(mesh_address(NodeId(3)), mesh_address(NodeId(4)));
    let header = option(false, 0x400).emit(0);
    let ends = [3, 0].map(|node| mesh_address(NodeId(node)));
    rpl::encapsulate(&mut packet, ends[0], ends[1], (next_header::HOP_BY_HOP, &header)).unwrap();
    let begin = [0xf1, 0b1000_0011, 5, 0x04];
    check(&packet, link(3, 2), &contexts(2), &[&begin[..], &[0b1010_0011, 6, 64, 0, 3]].concat(), 48);
    let identifier = [0, 0x12, 0x74, 0, 0, 0, 0, 3];
    check(&packet, link(3, 2), &contexts(8), &[&begin[..], &[0b1010_1001, 6, 64], &identifier].concat(), 48);
}

/// A route to node 4 over 1, 2 and 3 (RFC 8138 section 5): 100, size 3 (four addresses), type 0 for one octet each. At
/// node 2 two addresses are left; at the last hop one, and no source routing header in the packet.
#[test]
fn a_route_gets_shorter_at_every_hop() {
    let route: Vec<Ipv6Addr> = (1..=4).map(|node| mesh_address(NodeId(node))).collect();
    let mut packet = datagram(internet_address(), route[3]);
    let mut header = [0; 64];
    let length = SourceRoute::emit(0, route[0], &route[1..], 1, &mut header).unwrap();
    let root = mesh_address(NodeId(0));
    rpl::encapsulate(&mut packet, root, route[0], (next_header::ROUTING, &header[..length])).unwrap();
    let expected = [0xf1, 0b1000_0011, 0, 1, 2, 3, 4, 0b1010_0001, 6, 64];
    check(&packet, link(0, 1), &contexts(1), &expected, 40 + 16);

    // Each node reads the packet, takes the step, and compresses what is left.
    let mut out = [0; 127];
    for (node, rest) in [(1_u16, &[2, 3, 4][..]), (2, &[3, 4]), (3, &[4])] {
        let done = super::super::compress(&packet, link(node - 1, node), &contexts(1), &mut out).unwrap();
        let payload = [&out[..done.written], &packet[done.consumed..]].concat();
        let mut back = [0; 512];
        let read = super::super::decompress(&payload, link(node - 1, node), &contexts(1), None, &mut back).unwrap();
        packet = [&back[..read.written], &payload[read.consumed..]].concat();
        let headers = RplHeaders::of(&packet);
        assert!(rpl::advance(&mut packet, &headers));
        let done = super::super::compress(&packet, link(node, node + 1), &contexts(1), &mut out).unwrap();
        let size = 0b1000_0000 | (rest.len() - 1) as u8;
        assert_eq!(out[..3 + rest.len()], [&[0xf1, size, 0], rest].concat());
        assert!(done.written < 127);
    }
}

/// Routes of more than 32 addresses take two headers.
#[test]
fn a_long_route_takes_two_headers() {
    let route: Vec<Ipv6Addr> = (1..=40).map(|node| mesh_address(NodeId(node))).collect();
    let mut packet = datagram(internet_address(), route[39]);
    let mut header = [0; 64];
    let length = SourceRoute::emit(0, route[0], &route[1..], 1, &mut header).unwrap();
    let root = mesh_address(NodeId(0));
    rpl::encapsulate(&mut packet, root, route[0], (next_header::ROUTING, &header[..length])).unwrap();
    let numbers: Vec<u8> = (1..=40).collect();
    let expected =
        [&[0xf1, 0b1001_1111, 0], &numbers[..32], &[0b1000_0111, 0], &numbers[32..], &[0b1010_0001, 6, 64]].concat();
    check(&packet, link(0, 1), &contexts(1), &expected, 40 + length);
}

/// A critical header of another type, and a route without a tunnel, which no root here makes. An elective header of another type
/// is skipped.
#[test]
fn what_is_not_understood() {
    let mut out = [0; 127];
    let plain = datagram(mesh_address(NodeId(3)), mesh_address(NodeId(4)));
    let done = super::super::compress(&plain, link(3, 4), &Contexts::mesh(), &mut out).unwrap();
    let with = |front: &[u8]| {
        let payload = [front, &out[..done.written], b"hello"].concat();
        let mut back = [0; 512];
        super::super::decompress(&payload, link(3, 4), &contexts(8), None, &mut back).map(|read| read.written)
    };
    assert_eq!(with(&[0xf1, 0b1000_0011, 5, 4]), Ok(56));
    assert_eq!(with(&[0xf1, 0b1010_0010, 15, 0xaa, 0xbb, 0b1000_0011, 5, 4]), Ok(56));
    assert_eq!(with(&[0xf1, 0b1000_0011, 7, 4]), Err(Error::RoutingHeader));
    assert_eq!(with(&[0xf1, 0b1000_0000, 0, 4]), Err(Error::RoutingHeader));
    assert_eq!(with(&[0xf1]), Err(Error::RoutingHeader));
    let mut back = [0; 512];
    let unaware =
        super::super::decompress(&[0xf1, 0x83, 5, 4, 0x7a, 0x33], link(3, 4), &Contexts::mesh(), None, &mut back);
    assert_eq!(unaware, Err(Error::Dispatch(0xf1)));
}
