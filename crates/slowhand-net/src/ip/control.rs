//! The messages of a node of RPL that joins (RFC 6550): it asks its neighbours for their DIOs (DIS, section 6.2), and tells the root
//! its parent (DAO of the non-storing mode, section 6.4). And the reader of these messages and of [`dio`](super::dio).

use std::net::Ipv6Addr;

use super::{Ipv6Header, icmpv6};
use crate::address::{Host, NodeId, link_local_address, mesh_address};

/// All RPL nodes on the link (RFC 6550, section 6).
pub(super) const ALL_RPL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1a);

/// The type of RPL's ICMPv6 messages (section 6).
pub(super) const RPL_CONTROL: u8 = 155;

/// The codes of the messages (section 6).
pub(super) mod code {
    pub const DIS: u8 = 0x00;
    pub const DIO: u8 = 0x01;
    pub const DAO: u8 = 0x02;
}

/// The options of a DAO, and how many octets each has behind its length (sections 6.7.7 and 6.7.8).
mod option {
    pub const TARGET: [u8; 2] = [5, 18];
    pub const TRANSIT: [u8; 2] = [6, 20];
}

/// A route that never ends, in units of the lifetime of the DODAG (section 6.7.8).
const FOR_EVER: u8 = 0xff;

/// The hop limit of messages that do not leave their link (RFC 6550 section 6 asks for link-local addresses; 255 as in DIOs here).
const ON_LINK: u8 = 255;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Its sender asks for DIOs.
    Dis,
    /// Its sender tells its rank.
    Dio {
        /// The rank.
        rank: u16,
    },
    /// A node tells the root its parent.
    Dao {
        /// The node.
        target: NodeId,
        /// Its parent.
        parent: NodeId,
    },
}

/// The packet with a DIS of a node: to one neighbour, or to all.
pub fn dis(node: NodeId, to: Option<NodeId>) -> Vec<u8> {
    let destination = to.map_or(ALL_RPL_NODES, link_local_address);
    // Flags and a reserved octet (section 6.2.1).
    packet(link_local_address(node), destination, ON_LINK, code::DIS, &[0, 0])
}

/// The packet with which a node tells the root its parent: instance 0, without asking for an acknowledgement.
pub fn dao(node: NodeId, parent: NodeId, sequence: u8) -> Vec<u8> {
    let mut body = vec![0, 0, 0, sequence];
    body.extend(option::TARGET);
    body.extend([0, 128]);
    body.extend(mesh_address(node).octets());
    body.extend(option::TRANSIT);
    // Not external; path control 0; the path sequence is that of the DAO.
    body.extend([0, 0, sequence, FOR_EVER]);
    body.extend(mesh_address(parent).octets());
    packet(mesh_address(node), mesh_address(NodeId::ROOT), Ipv6Header::DEFAULT_HOP_LIMIT, code::DAO, &body)
}

/// A packet with a message.
pub(super) fn packet(source: Ipv6Addr, destination: Ipv6Addr, hop_limit: u8, code: u8, body: &[u8]) -> Vec<u8> {
    icmpv6::packet(source, destination, hop_limit, [RPL_CONTROL, code], body)
}

/// Reads a message, and the address of its sender. `None` if it is none of these, or was altered.
pub fn parse(packet: &[u8]) -> Option<(Ipv6Addr, Control)> {
    let (Ipv6Header { source, .. }, [RPL_CONTROL, code], body) = icmpv6::parse(packet)? else { return None };
    let control = match code {
        code::DIS => Control::Dis,
        code::DIO => Control::Dio { rank: u16::from_be_bytes(body.get(2..4)?.try_into().ok()?) },
        code::DAO => {
            let (target, rest) = address_in(body.get(4..)?, option::TARGET, 2)?;
            let (parent, _) = address_in(rest, option::TRANSIT, 4)?;
            Control::Dao { target, parent }
        }
        _ => return None,
    };
    Some((source, control))
}

/// The node whose address stands behind `before` octets of an option, and what follows the option.
fn address_in(options: &[u8], head: [u8; 2], before: usize) -> Option<(NodeId, &[u8])> {
    let (value, rest) = options.strip_prefix(&head)?.split_at_checked(head[1].into())?;
    let address: [u8; 16] = value.get(before..)?.try_into().ok()?;
    match Host::of_address(address.into())? {
        Host::Node(node) => Some((node, rest)),
        Host::Internet => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::dio::{DioTimer, Mode, dio};
    use super::*;
    use proptest::prelude::*;

    const TIMER: DioTimer = DioTimer { interval_min: 3, doublings: 20, redundancy: 10 };

    /// By hand after RFC 6550: a DIS is 6 octets of ICMPv6, a DAO with its two options 8 + 20 + 22, a DIO 28 with 16 of its option.
    #[test]
    fn messages_have_the_lengths_of_the_standard_and_are_read() {
        let (node, parent) = (NodeId(7), NodeId(3));
        let messages = [
            (dis(node, None), 6, Control::Dis),
            (dis(node, Some(parent)), 6, Control::Dis),
            (dao(node, parent, 1), 8 + 20 + 22, Control::Dao { target: node, parent }),
            (dio(node, None, 2, Mode::NonStoring, TIMER), 28 + 16, Control::Dio { rank: 3 * 256 }),
        ];
        for (packet, octets, expected) in messages {
            assert_eq!(packet.len(), Ipv6Header::LENGTH + octets);
            let (source, control) = parse(&packet).unwrap();
            assert_eq!(control, expected);
            assert!([link_local_address(node), mesh_address(node)].contains(&source));
            for place in Ipv6Header::LENGTH..packet.len() {
                let mut altered = packet.clone();
                altered[place] ^= 1;
                assert_eq!(parse(&altered), None, "octet {place}");
            }
        }
    }

    proptest! {
        /// Any message with a right checksum is read or refused.
        #[test]
        fn nobody_panics(code in 0_u8..4, body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&packet(mesh_address(NodeId(1)), mesh_address(NodeId(0)), 64, code, &body));
            let _ = parse(&body);
        }
    }
}
