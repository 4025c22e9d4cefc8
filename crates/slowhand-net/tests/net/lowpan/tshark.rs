//! tshark reads a capture of our frames. Every address, port, length, checksum and payload has to be as intended.

use std::net::Ipv6Addr;

use slowhand_net::address::{Eui64, NodeId, internet_address, mesh_address};
use slowhand_net::clock::Instant;
use slowhand_net::ip::{Endpoint, Ipv6Header, UdpDatagram, checksum, next_header, udp::fill_checksum, udp_datagram};
use slowhand_net::lowpan::reassembly::Limits;
use slowhand_net::lowpan::recovery::{Receiver, RecoveryConfig, Sender, State};
use slowhand_net::lowpan::{Contexts, FRAME_CAPACITY, Fragmenter, Link};
use slowhand_net::radio::frame::fcs;
use slowhand_testing::hex;
use slowhand_testing::wireshark::{Pcap, Tshark};

/// The contexts for tshark; the same as in [`contexts`].
const CONTEXTS: [(u8, &str, u8); 5] = [
    (0, "2001:db8::", 64),
    (1, "2001:db8:1::", 64),
    (2, "2001:db8:2::99", 128),
    (3, "2001:db8:3::ff:fe12:0", 112),
    (15, "2001:db8:f::", 48),
];

const FIELDS: [&str; 14] = [
    "ipv6.src",
    "ipv6.dst",
    "ipv6.tclass",
    "ipv6.flow",
    "ipv6.hlim",
    "ipv6.plen",
    "ipv6.nxt",
    "udp.srcport",
    "udp.dstport",
    "udp.length",
    "udp.checksum.status",
    "udp.payload",
    "6lowpan.fragment.count",
    "_ws.expert",
];

#[test]
fn every_pair_of_addresses() {
    let mut capture = Capture::default();
    for (at, source) in sources().into_iter().enumerate() {
        for destination in destinations() {
            let ports = PORTS[at % PORTS.len()];
            capture.send(&packet(source, destination, ports, 20));
        }
    }
    capture.check();
}

#[test]
fn every_pair_of_ports() {
    let mut capture = Capture::default();
    for source in PORTS.map(|ports| ports.0) {
        for destination in PORTS.map(|ports| ports.1) {
            capture.send(&packet(mesh_address(NodeId(1)), mesh_address(NodeId::ROOT), (source, destination), 9));
        }
    }
    capture.check();
}

#[test]
fn every_form_of_traffic_class_flow_label_and_hop_limit() {
    let mut capture = Capture::default();
    for traffic_class in [0x00, 0x01, 0x02, 0x03, 0xb8, 0xb9, 0xff] {
        for flow_label in [0, 1, 0x8_0001, 0xf_ffff] {
            for hop_limit in [0, 1, 2, 63, 64, 65, 254, 255] {
                let mut packet = packet(mesh_address(NodeId(1)), internet_address(), (61617, 5684), 12);
                let header = Ipv6Header::parse(&packet).unwrap();
                let header = Ipv6Header { traffic_class, flow_label, hop_limit, ..header };
                packet[..Ipv6Header::LENGTH].copy_from_slice(&header.emit());
                capture.send(&packet);
            }
        }
    }
    capture.check();
}

/// The sizes around each limit of one, two and three frames, and the longest size.
#[test]
fn every_size_in_fragments() {
    let mut capture = Capture::default();
    for size in (0..300).chain([511, 512, 513, 1024, 1232, 1999]) {
        capture.send(&packet(mesh_address(NodeId(1)), internet_address(), (61617, 5684), size));
    }
    capture.check();
}

#[test]
fn pieces_of_other_sizes() {
    for capacity in [40, 64, 85, 101] {
        let mut capture = Capture { capacity, ..Capture::default() };
        for size in [0, 1, 90, 500, 1232] {
            let source: Ipv6Addr = "2001:db8:ffff::1".parse().unwrap();
            let destination = if capacity < 60 { internet_address() } else { source };
            capture.send(&packet(mesh_address(NodeId(9)), destination, (1, 2), size));
        }
        capture.check();
    }
}

/// TCP and ICMPv6 travel uncompressed behind the IPv6 header.
#[test]
fn other_protocols() {
    let mut capture = Capture::default();
    // An ACK from port 61617; the port it goes to differs, so that each is a connection of its own.
    let tcp = |port| [0xf0, 0xb1, 0x01, port, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    let echo = [128, 0, 0, 0, 0, 1, 0, 2, b's', b'l', b'o', b'w'];
    for length in [0, 40, 200] {
        let body = [0x55; 200];
        let tcp = [&tcp(length as u8), &body[..length]].concat();
        let echo = [&echo, &body[..length]].concat();
        capture.send(&with_checksum(next_header::TCP, tcp, 16));
        capture.send(&with_checksum(next_header::ICMPV6, echo, 2));
    }
    capture.check();
    let statuses = capture.tshark(&["tcp.checksum.status", "icmpv6.checksum.status"]);
    for (at, line) in statuses.iter().filter(|line| !line.trim().is_empty()).enumerate() {
        let expected = if at % 2 == 0 { "1\t" } else { "\t1" };
        assert_eq!(line, expected, "packet {at}");
    }
}

/// Recoverable fragments and their acknowledgement (RFC 8931).
#[test]
fn recoverable_fragments() {
    let packet = packet(mesh_address(NodeId(1)), internet_address(), (61617, 5684), 300);
    let config = RecoveryConfig { window: 2, first_alone: false, ..RecoveryConfig::default() };
    let mut sender = Sender::new(&packet, LINK, &contexts(), 0x42, config).unwrap();
    let mut receiver = Receiver::new(Limits::default(), config.persistence(), contexts());
    let mut capture = Capture::default();
    let mut payload = [0; FRAME_CAPACITY];
    while sender.state() != State::Delivered {
        let length = sender.next_frame(Instant::ZERO, &packet, &mut payload).unwrap().unwrap();
        let frame = &payload[..length];
        capture.frame(LINK, frame);
        let reception = receiver.handle_fragment(Instant::ZERO, LINK, frame, 0);
        if let Some(acknowledgement) = reception.acknowledgement {
            let back = Link { source: LINK.destination, destination: LINK.source };
            capture.frame(back, &acknowledgement.emit());
            sender.handle_acknowledgement(&acknowledgement);
        }
    }
    // 348 octets, of which 48 compress to 2 + 1 (contexts) + 8 (destination) + 6 = 17: 317 in pieces of 98.
    let fields = ["ack_requested", "tag", "sequence", "size", "datagram_size", "offset", "ack_bitmask"];
    let names = fields.map(|field| format!("6lowpan.rfrag.{field}"));
    let lines = capture.tshark(&names.each_ref().map(String::as_str));
    let expected = [
        "0 66 0 98 317  ",
        "1 66 1 98  98 ",
        " 66     0xc0000000",
        "0 66 2 98  196 ",
        "1 66 3 23  294 ",
        " 66     0xffffffff",
    ];
    assert_eq!(lines, expected.map(|line| line.replace(' ', "\t")));

    // The fourth fragment completes the packet. (After an acknowledgement tshark 4.0 looks for another header and calls
    // the frame malformed where it ends. So its expert information counts for the fragments alone.)
    let whole = capture.tshark(&["ipv6.src", "ipv6.dst", "udp.length", "udp.checksum.status", "_ws.expert"]);
    let fragments = [0, 1, 3, 4].map(|at| whole[at].as_str());
    let packet = "2001:db8::12:7400:0:1\t2001:db8:1::1\t308\t1\t";
    assert_eq!(fragments, ["\t\t\t\t", "\t\t\t\t", "\t\t\t\t", packet]);
}

const LINK: Link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId::ROOT) };

const PORTS: [(u16, u16); 9] = [
    (61616, 61631),
    (61631, 61616),
    (61617, 5684),
    (5684, 61617),
    (0xf000, 0xf0ff),
    (0xefff, 0xf100),
    (0xf0af, 0xf0c0),
    (1, 65535),
    (0xf0b8, 0xf001),
];

fn sources() -> Vec<Ipv6Addr> {
    let fixed = ["::", "fe80::12:7400:0:1", "2001:db8::12:7400:0:1"];
    fixed.map(|text| text.parse().unwrap()).into_iter().chain(unicast()).collect()
}

fn destinations() -> Vec<Ipv6Addr> {
    let fixed = [
        "fe80::12:7400:0:0",
        "2001:db8::12:7400:0:0",
        "ff02::1",
        "ff02::1a",
        "ff02::1:2",
        "ff05::1:3",
        "ff02::1:ff00:1",
        "ff0e::1:2:3",
        "ff02:1::1",
        "ff35:40:2001:db8::1234:5678",
        "ff35:140:2001:db8:1::1",
        "ff35:30:2001:db8:f::1",
    ];
    fixed.map(|text| text.parse().unwrap()).into_iter().chain(unicast()).collect()
}

fn unicast() -> impl Iterator<Item = Ipv6Addr> {
    let addresses = [
        "::1",
        "fe80::1",
        "fe80::ff:fe00:1234",
        "fe80::ff:fe01:1234",
        "fe80::1:2:3:4",
        "fe80:0:0:1::1",
        "2001:db8::1",
        "2001:db8::ff:fe00:8001",
        "2001:db8:0:1::1",
        "2001:db8:1::1",
        "2001:db8:1::12:7400:0:1",
        "2001:db8:2::99",
        "2001:db8:2::9a",
        "2001:db8:3::ff:fe12:3456",
        "2001:db8:3::ff:fe13:3456",
        "2001:db8:f::1",
        "2001:db8:f::ff:fe00:77",
        "2001:db8:f:1::1",
        "2a00:1:2:3:4:5:6:7",
    ];
    addresses.into_iter().map(|text| text.parse().unwrap())
}

fn contexts() -> Contexts {
    let mut contexts = Contexts::none();
    for (id, prefix, length) in CONTEXTS {
        contexts.set(id, prefix.parse().unwrap(), length).unwrap();
    }
    contexts
}

fn packet(source: Ipv6Addr, destination: Ipv6Addr, ports: (u16, u16), payload: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..payload).map(|at| (at * 31 + at / 256) as u8).collect();
    let mut packet = vec![0; UdpDatagram::HEADERS + payload.len()];
    let (source, destination) = (Endpoint::new(source, ports.0), Endpoint::new(destination, ports.1));
    let length = udp_datagram(source, destination, &payload, &mut packet).unwrap();
    assert_eq!(length, packet.len());
    fill_checksum(&mut packet).unwrap();
    packet
}

fn with_checksum(next_header: u8, mut segment: Vec<u8>, at: usize) -> Vec<u8> {
    let (source, destination) = (mesh_address(NodeId(1)), internet_address());
    let sum = checksum::transport(source, destination, next_header, &segment);
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    let payload_length = segment.len() as u16;
    let header =
        Ipv6Header { traffic_class: 0, flow_label: 0, payload_length, next_header, hop_limit: 64, source, destination };
    [&header.emit()[..], &segment].concat()
}

/// Frames for tshark, and what it has to print of them.
struct Capture {
    capacity: usize,
    pcap: Pcap,
    /// One line for each frame. It is empty if the frame completes no packet.
    expected: Vec<String>,
    packets: u16,
    frames: u32,
}

impl Default for Capture {
    fn default() -> Self {
        let pcap = Pcap::of_frames();
        Self { capacity: FRAME_CAPACITY, pcap, expected: Vec::new(), packets: 0, frames: 0 }
    }
}

impl Capture {
    fn send(&mut self, packet: &[u8]) {
        let link = Link { source: Eui64::of_node(NodeId(1)), destination: Eui64::of_node(NodeId::ROOT) };
        let mut fragmenter = Fragmenter::new(packet, link, &contexts(), 100 + self.packets, self.capacity).unwrap();
        let frames = fragmenter.frames();
        let mut payload = vec![0; self.capacity];
        while let Some(length) = fragmenter.next_frame(packet, &mut payload).unwrap() {
            self.frame(LINK, &payload[..length]);
            let is_last = fragmenter.is_done();
            self.expected.push(if is_last { expected(packet, frames) } else { String::new() });
        }
        self.packets += 1;
    }

    fn frame(&mut self, link: Link, payload: &[u8]) {
        let mut frame = vec![0x61, 0xdc, self.frames as u8, 0xcd, 0xab];
        frame.extend(link.destination.0.iter().rev());
        frame.extend(link.source.0.iter().rev());
        frame.extend(payload);
        let at_us = u64::from(self.frames) * 1_000_000; // a second apart
        self.pcap.frame(at_us, &frame, fcs(&frame));
        self.frames += 1;
    }

    fn check(&self) {
        let lines = self.tshark(&FIELDS);
        assert_eq!(lines.len(), self.expected.len());
        for (at, (line, expected)) in lines.iter().zip(&self.expected).enumerate() {
            let found = if expected.is_empty() { line.trim() } else { line };
            assert_eq!(found, expected, "frame {}", at + 1);
        }
    }

    /// The fields of every frame, one line each, as tshark dissects them.
    fn tshark(&self, fields: &[&str]) -> Vec<String> {
        let with = |tshark: Tshark, (id, prefix, length): (u8, &str, u8)| tshark.context(id, prefix, length);
        let tshark = CONTEXTS.into_iter().fold(Tshark::default(), with);
        tshark.rows(&self.pcap, fields).iter().map(|row| row.join("	")).collect()
    }
}

/// The output of tshark that a packet must give: [`FIELDS`], separated by tabs.
fn expected(packet: &[u8], frames: usize) -> String {
    let (ip, segment) = Ipv6Header::parse_packet(packet).unwrap();
    let mut fields = vec![
        ip.source.to_string(),
        ip.destination.to_string(),
        format!("0x{:08x}", ip.traffic_class),
        format!("0x{:06x}", ip.flow_label),
        ip.hop_limit.to_string(),
        ip.payload_length.to_string(),
        ip.next_header.to_string(),
    ];
    if ip.next_header == next_header::UDP {
        let port = |at: usize| u16::from_be_bytes([segment[at], segment[at + 1]]).to_string();
        let payload = hex::text(&segment[8..]);
        fields.extend([port(0), port(2), segment.len().to_string(), "1".into(), payload]);
    } else {
        fields.extend(vec![String::new(); 5]);
    }
    fields.push(if frames > 1 { frames.to_string() } else { String::new() });
    fields.push(String::new()); // nothing that tshark's experts object to
    fields.join("\t")
}
