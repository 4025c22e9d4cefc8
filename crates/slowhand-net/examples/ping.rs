//! Pings the border router from a node three hops away, under TSCH.
//!
//! ```text
//! $ cargo run -p slowhand-net --example ping
//! ping 2001:db8::12:7400:0:0 from 2001:db8::12:7400:0:3: 3 hops, 64 octets
//! reply to request 0: 0.975 s
//! reply to request 1: 0.595 s
//! reply to request 2: 0.655 s
//! reply to request 3: 1.155 s
//! reply to request 4: 0.775 s
//! ```
//!
//! Each hop waits for its cell in the slotframe, so the time depends on when the request is sent. The network carries
//! ICMPv6 packets and does not answer them: this program plays the ICMPv6 stack of both ends.

use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ipv6Header, checksum, next_header};
use slowhand_net::link::{LinkQuality, Links};
use slowhand_net::network::{Event, Events, Network, NetworkConfig};
use slowhand_net::radio::tsch::layout::Layout;
use slowhand_net::radio::tsch::{Tsch, TschConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::error::Error;
use std::net::Ipv6Addr;

const HOPS: u16 = 3;
const REQUESTS: u16 = 5;
const INTERVAL: Duration = Duration::from_secs(5);

/// Octets of data in a request: with its header, a message of 64 octets.
const DATA: usize = 56;

/// ICMPv6 types (RFC 4443 sections 4.1 and 4.2).
const ECHO_REQUEST: u8 = 128;
const ECHO_REPLY: u8 = 129;

fn main() -> Result<(), Box<dyn Error>> {
    let mut network = line(HOPS, 0.9)?;
    let (own, peer) = (Host::Node(NodeId(HOPS)), Host::Node(NodeId::ROOT));
    println!("ping {} from {}: {HOPS} hops, {} octets", peer.address(), own.address(), DATA + 8);

    let mut events = Events::default();
    for number in 0..REQUESTS {
        let sent = Instant::ZERO + INTERVAL * u64::from(number);
        let request = echo(ECHO_REQUEST, own.address(), peer.address(), &echo_body(number));
        network.send_packet(sent, &request, number.into(), &mut events)?;
        match round_trip(&mut network, peer, sent + INTERVAL, &mut events)? {
            Some(arrived) => println!("reply to request {number}: {:.3} s", arrived.since(sent).as_secs_f64()),
            None => println!("no reply to request {number}"),
        }
    }
    Ok(())
}

/// Runs the network until `end`, and answers the echo requests that reach `peer`. Returns when the reply arrived.
fn round_trip(
    network: &mut Network,
    peer: Host,
    end: Instant,
    events: &mut Events,
) -> Result<Option<Instant>, Box<dyn Error>> {
    let mut reply_at = None;
    while let Some(now) = network.deadline().filter(|&now| now < end) {
        network.handle_deadline(now, events, &mut ());
        let mut answers = Vec::new();
        for event in events.iter() {
            match event {
                Event::Packet { host, datagram, packet, .. } if host == peer => {
                    let (header, message) = Ipv6Header::parse_packet(packet)?;
                    // RFC 4443 section 4.2: the reply returns identifier, sequence number and data of the request.
                    let answer = echo(ECHO_REPLY, header.destination, header.source, &message[4..]);
                    answers.push((datagram, answer));
                }
                Event::Packet { at, .. } => reply_at = Some(at),
                Event::Lost { datagram, reason, .. } => println!("packet {datagram} is lost: {}", reason.name()),
                _ => {}
            }
        }
        events.clear();
        for (datagram, answer) in answers {
            network.send_packet(now, &answer, datagram + u32::from(REQUESTS), events)?;
        }
    }
    Ok(reply_at)
}

/// A line of nodes with a slotframe of 11 slots of 20 ms: one shared cell, and two cells for each pair of neighbours.
fn line(hops: u16, pdr: f64) -> Result<Network, Box<dyn Error>> {
    let nodes = usize::from(hops) + 1;
    let qualities: Vec<_> =
        (0..hops).flat_map(|node| LinkQuality::symmetric(NodeId(node), NodeId(node + 1), pdr)).collect();
    let streams = Streams::new(1);
    let links = Links::new(nodes, &qualities, &streams);
    let routes = Routes::shortest(nodes, &qualities)?;
    let layout = Layout { slotframe: 11, shared: 1, up: 1, down: 1, autonomous: false };
    let mac = Tsch::new(TschConfig::openwsn(layout.slotframe), links, layout.cells(&routes)?, &streams);
    Ok(Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams))
}

/// Identifier, sequence number and data of an echo request.
fn echo_body(number: u16) -> Vec<u8> {
    let identifier = [0, 1];
    [&identifier[..], &number.to_be_bytes(), &[0x55; DATA]].concat()
}

/// An IPv6 packet with an ICMPv6 echo message.
fn echo(kind: u8, source: Ipv6Addr, destination: Ipv6Addr, body: &[u8]) -> Vec<u8> {
    let mut message = [&[kind, 0, 0, 0], body].concat();
    let sum = checksum::transport(source, destination, next_header::ICMPV6, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = Ipv6Header {
        traffic_class: 0,
        flow_label: 0,
        payload_length: message.len() as u16, // 64
        next_header: next_header::ICMPV6,
        hop_limit: Ipv6Header::DEFAULT_HOP_LIMIT,
        source,
        destination,
    };
    [&header.emit()[..], &message].concat()
}
