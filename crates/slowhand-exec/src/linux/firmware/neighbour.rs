//! The router that firmware finds behind its interface: neighbour discovery (RFC 4861), and addresses.
//!
//! Firmware has the address that it makes of the router's prefix, or one that it was built with. In the network it has the
//! address of its node. So addresses are exchanged on the way, one for one, with the checksums that cover them.

use slowhand_live::tun::Side;
use slowhand_net::address::MESH_PREFIX;
use slowhand_net::ip::{Ipv6Header, checksum, next_header};
use std::net::Ipv6Addr;

/// An address of Ethernet.
pub(crate) type Mac = [u8; 6];

/// The router's, and that of the interface. *Assumed*: locally administered ones (IEEE 802, section 8.4), always the same.
const ROUTER: Mac = [0x02, 0, 0, 0, 0, 0x01];
pub(crate) const INTERFACE: Mac = [0x02, 0, 0, 0, 0, 0x10];

/// The router's address on the link.
const ROUTER_ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);

/// All nodes of the link (RFC 4291 section 2.7.1).
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The type of IPv6 in a frame of Ethernet (RFC 2464 section 3), and the octets before a packet.
const ETHERTYPE: [u8; 2] = [0x86, 0xdd];
const ETHERNET_HEADER: usize = 14;

/// Messages of ICMPv6, and their options (RFC 4861 sections 4.1 to 4.6).
const ROUTER_SOLICITATION: u8 = 133;
const ROUTER_ADVERTISEMENT: u8 = 134;
const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const TARGET_ADDRESS: u8 = 2;
const SOURCE_ADDRESS: u8 = 1;
const PREFIX: u8 = 3;
const MTU: u8 = 5;

/// Flags of a neighbour advertisement: of a router, asked for, and it replaces what was known.
const ROUTER_SOLICITED_OVERRIDE: u8 = 0b1110_0000;

/// The flag of a prefix from which hosts make their addresses. It is not one of the link: all packets go to the router.
const AUTONOMOUS: u8 = 0b0100_0000;

/// The lifetime of the router, in seconds: the longest (RFC 4861 section 6.2.1), because it says so once.
const ROUTER_LIFETIME_S: u16 = 9000;

/// The effect of a frame of the firmware.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A packet for the network, with the node's address.
    Packet(Vec<u8>),
    /// A frame for the firmware.
    Answer(Vec<u8>),
    /// Nothing: it concerns nobody here.
    Nothing,
}

/// The knowledge of the router about its only neighbour.
#[derive(Debug)]
pub(crate) struct Neighbour {
    /// True for frames of Ethernet (TAP); else there are packets alone (TUN).
    has_frames: bool,
    /// The address of the node.
    node: Ipv6Addr,
    /// The address that the firmware has.
    own: Option<Ipv6Addr>,
    /// Where frames go: its address when it has sent one, before that to all.
    mac: Mac,
}

impl Neighbour {
    pub(crate) fn new(has_frames: bool, node: Ipv6Addr) -> Self {
        Self { has_frames, node, own: None, mac: [0xff; 6] }
    }

    /// The firmware has sent a frame.
    pub(crate) fn hear(&mut self, frame: &[u8]) -> Heard {
        let Some(packet) = self.packet(frame) else { return Heard::Nothing };
        let Ok(header) = Ipv6Header::parse(packet) else { return Heard::Nothing };
        let length = Ipv6Header::LENGTH + usize::from(header.payload_length);
        let Some(packet) = packet.get(..length) else { return Heard::Nothing }; // a short frame is padded
        let body = &packet[Ipv6Header::LENGTH..];
        if header.next_header == next_header::ICMPV6
            && let Some(answer) = self.discover(&header, body)
        {
            return answer;
        }
        let is_global = |address: Ipv6Addr| {
            !(address.is_multicast() || address.is_unicast_link_local() || address.is_unspecified())
        };
        if !is_global(header.source) || !is_global(header.destination) {
            return Heard::Nothing;
        }
        self.own = Some(header.source);
        let mut packet = packet.to_vec();
        exchange(&mut packet, &Ipv6Header { source: self.node, ..header });
        Heard::Packet(packet)
    }

    /// A packet has come for the node: the frame for the firmware. `None` if it is none of IPv6.
    pub(crate) fn frame(&self, mut packet: Vec<u8>) -> Option<Vec<u8>> {
        let header = Ipv6Header::parse(&packet).ok()?;
        if let Some(own) = self.own {
            exchange(&mut packet, &Ipv6Header { destination: own, ..header });
        }
        Some(self.framed(&packet))
    }

    /// The packet in a frame. Who has sent it is remembered.
    fn packet<'a>(&mut self, frame: &'a [u8]) -> Option<&'a [u8]> {
        if !self.has_frames {
            return Some(frame);
        }
        let (header, packet) = frame.split_at_checked(ETHERNET_HEADER)?;
        if header[12..] != ETHERTYPE {
            return None;
        }
        self.mac.copy_from_slice(&header[6..12]);
        Some(packet)
    }

    fn framed(&self, packet: &[u8]) -> Vec<u8> {
        if !self.has_frames {
            return packet.to_vec();
        }
        [&self.mac[..], &ROUTER, &ETHERTYPE, packet].concat()
    }

    /// Answers neighbour discovery. `None` if it is something else.
    fn discover(&mut self, header: &Ipv6Header, body: &[u8]) -> Option<Heard> {
        let asker = if header.source.is_unspecified() { ALL_NODES } else { header.source };
        match *body.first()? {
            ROUTER_SOLICITATION => Some(Heard::Answer(self.message(asker, &advertisement()))),
            NEIGHBOUR_SOLICITATION => {
                let target: [u8; 16] = body.get(8..24)?.try_into().ok()?;
                if header.source.is_unspecified() {
                    // It makes sure that nobody else has its address (RFC 4862 section 5.4): nobody has.
                    let target = Ipv6Addr::from(target);
                    self.own = Some(target).filter(|target| !target.is_unicast_link_local()).or(self.own);
                    return Some(Heard::Nothing);
                }
                let mut message = vec![NEIGHBOUR_ADVERTISEMENT, 0, 0, 0, ROUTER_SOLICITED_OVERRIDE, 0, 0, 0];
                message.extend(target);
                message.extend([TARGET_ADDRESS, 1]);
                message.extend(ROUTER);
                Some(Heard::Answer(self.message(asker, &message)))
            }
            ROUTER_ADVERTISEMENT | NEIGHBOUR_ADVERTISEMENT => Some(Heard::Nothing),
            _ => None,
        }
    }

    /// A message of ICMPv6 from the router, without its checksum, as a frame.
    fn message(&self, destination: Ipv6Addr, message: &[u8]) -> Vec<u8> {
        let header = Ipv6Header::new(ROUTER_ADDRESS, destination, next_header::ICMPV6, message.len() as u16);
        let header = Ipv6Header { hop_limit: 255, ..header }; // RFC 4861 section 6.1.2: so nobody farther away can have sent it
        let mut packet = [&header.emit(), message].concat();
        fill_checksum(&mut packet, &header);
        self.framed(&packet)
    }
}

/// A router advertisement: the prefix of the mesh, the MTU, and where the router is.
fn advertisement() -> Vec<u8> {
    let mut message = vec![ROUTER_ADVERTISEMENT, 0, 0, 0, Ipv6Header::DEFAULT_HOP_LIMIT, 0];
    message.extend(ROUTER_LIFETIME_S.to_be_bytes());
    message.extend([0; 8]); // how long a neighbour is reachable, and when it is asked again: not said
    message.extend([SOURCE_ADDRESS, 1]);
    message.extend(ROUTER);
    message.extend([MTU, 1, 0, 0]);
    message.extend(u32::from(Side::Device.mtu()).to_be_bytes());
    message.extend([PREFIX, 4, 64, AUTONOMOUS]);
    message.extend([0xff; 8]); // valid, and preferred, for ever
    message.extend([0; 4]);
    message.extend(MESH_PREFIX);
    message.extend([0; 8]);
    message
}

/// Gives a packet another header, with other addresses, and the checksum that covers them.
fn exchange(packet: &mut [u8], header: &Ipv6Header) {
    packet[..Ipv6Header::LENGTH].copy_from_slice(&header.emit());
    fill_checksum(packet, header);
}

/// Computes the checksum of UDP, TCP or ICMPv6, whose headers have it in different places. Other packets, fragments too, stay as
/// they are.
fn fill_checksum(packet: &mut [u8], header: &Ipv6Header) {
    let place = match header.next_header {
        next_header::UDP => 6,    // RFC 768
        next_header::TCP => 16,   // RFC 9293 section 3.1
        next_header::ICMPV6 => 2, // RFC 4443 section 2.1
        _ => return,
    };
    let body = &mut packet[Ipv6Header::LENGTH..];
    if body.len() < place + 2 {
        return;
    }
    body[place..place + 2].fill(0);
    let mut sum = checksum::transport(header.source, header.destination, header.next_header, body);
    if sum == 0 && header.next_header == next_header::UDP {
        sum = 0xffff; // RFC 768: 0 means that there is none
    }
    body[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slowhand_net::ip::{Endpoint, UdpDatagram, udp_datagram};

    const OWN: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0xff, 0xfe00, 0x11);
    const NODE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0x1a, 0, 0, 3);
    const SERVER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
    const MAC: Mac = [2, 0, 0, 0, 0, 0x11];

    fn datagram(source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
        let mut packet = vec![0; UdpDatagram::HEADERS + 5];
        udp_datagram(Endpoint::new(source, 1), Endpoint::new(destination, 2), b"hello", &mut packet).unwrap();
        packet
    }

    fn framed(packet: &[u8]) -> Vec<u8> {
        [&ROUTER[..], &MAC, &ETHERTYPE, packet].concat()
    }

    #[test]
    fn addresses_are_exchanged_both_ways() {
        let mut neighbour = Neighbour::new(true, NODE);
        let padded = [framed(&datagram(OWN, SERVER)), vec![0; 3]].concat();
        assert_eq!(neighbour.hear(&padded), Heard::Packet(datagram(NODE, SERVER)));
        let back = neighbour.frame(datagram(SERVER, NODE)).unwrap();
        assert_eq!(back, [&MAC[..], &ROUTER, &ETHERTYPE, &datagram(SERVER, OWN)].concat());
        let mut packets = Neighbour::new(false, NODE);
        assert_eq!(packets.hear(&datagram(OWN, SERVER)), Heard::Packet(datagram(NODE, SERVER)));
    }

    #[test]
    fn what_stays_on_the_link_is_not_for_the_network() {
        let mut neighbour = Neighbour::new(true, NODE);
        for (source, destination) in [(ROUTER_ADDRESS, SERVER), (OWN, ALL_NODES), (Ipv6Addr::UNSPECIFIED, SERVER)] {
            assert_eq!(neighbour.hear(&framed(&datagram(source, destination))), Heard::Nothing);
        }
        let mut arp = framed(&[0; 46]);
        arp[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(neighbour.hear(&arp), Heard::Nothing);
    }

    proptest! {
        #[test]
        fn no_frame_and_no_packet_crashes(frame in prop::collection::vec(any::<u8>(), 0..200), has_frames: bool) {
            let mut neighbour = Neighbour::new(has_frames, NODE);
            neighbour.hear(&frame);
            neighbour.frame(frame.clone());
            neighbour.hear(&framed(&frame));
            // The frame behind a header that is whole: what follows it is looked at.
            let header = Ipv6Header {
                traffic_class: 0,
                flow_label: 0,
                payload_length: frame.len() as u16,
                next_header: next_header::ICMPV6,
                hop_limit: 255,
                source: OWN,
                destination: SERVER,
            };
            let packet = [&header.emit(), &frame[..]].concat();
            neighbour.hear(&if has_frames { framed(&packet) } else { packet });
        }
    }
}
