//! Router solicitations and advertisements of neighbour discovery (RFC 4861 sections 4.1 and 4.2, RFC 6775), as far as neighbours tell
//! each other in them that they understand Generic Header Compression: by the 6LoWPAN Capability Indication Option (6CIO, RFC 7400
//! section 3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   type = 36   |  length = 1   |        flags 0 to 14        |G|
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        flags 16 to 47                         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use std::net::Ipv6Addr;

use super::{Ipv6Header, icmpv6};
use crate::address::{Addressing, NodeId, link_local_address};

/// The kind of a message, with the number of its type in ICMPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A node asks a router for an advertisement.
    RouterSolicitation = 133,
    /// A router answers.
    RouterAdvertisement = 134,
}

impl Kind {
    /// The octets between the checksum and the options (RFC 4861 sections 4.1 and 4.2).
    const fn fixed(self) -> &'static [u8] {
        match self {
            Self::RouterSolicitation => &[0; 4],
            // Hop limit 64; no flags; the longest lifetime (RFC 6775 section 6.3); reachable time and retransmission timer are not said.
            Self::RouterAdvertisement => &[Ipv6Header::DEFAULT_HOP_LIMIT, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
        }
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The kind of the message.
    pub kind: Kind,
    /// True if its sender understands Generic Header Compression. Then it has the option, with the G bit.
    pub ghc: bool,
}

/// The options, and the unit of their lengths in octets (RFC 4861 section 4.6).
mod option {
    pub const UNIT: usize = 8;
    pub const SOURCE_LINK_LAYER_ADDRESS: u8 = 1;
    pub const CAPABILITY_INDICATION: u8 = 36;
}

/// The hop limit of all messages: who receives another one knows that a router has passed it on (RFC 4861 section 6.1).
const HOP_LIMIT: u8 = 255;

/// The packet with a message from a node to a neighbour, with the link-layer address of its sender (RFC 6775 sections 5.3 and 6.3).
pub fn packet(from: NodeId, to: NodeId, addressing: Addressing, Message { kind, ghc }: Message) -> Vec<u8> {
    let mut body = kind.fixed().to_vec();
    // The address stands before padding of zeros (RFC 4944 section 8).
    body.push(option::SOURCE_LINK_LAYER_ADDRESS);
    match addressing {
        Addressing::Extended => {
            body.push(2);
            body.extend(addressing.of_node(from).0);
            body.extend([0; 6]);
        }
        Addressing::Short => {
            body.push(1);
            body.extend(from.0.to_be_bytes());
            body.extend([0; 4]);
        }
    }
    if ghc {
        body.extend([option::CAPABILITY_INDICATION, 1, 0, 1, 0, 0, 0, 0]);
    }
    icmpv6::packet(link_local_address(from), link_local_address(to), HOP_LIMIT, [kind as u8, 0], &body)
}

/// Reads a message, and the address of its sender. `None` if it is none, or one to be discarded (RFC 4861 section 6.1). Flags of the option
/// that are not assigned have no effect, nor has what a longer one has behind its first eight octets (RFC 7400 section 3.4).
pub fn parse(packet: &[u8]) -> Option<(Ipv6Addr, Message)> {
    let (Ipv6Header { source, hop_limit, .. }, [kind, code], body) = icmpv6::parse(packet)?;
    if hop_limit != HOP_LIMIT || code != 0 || !source.is_unicast_link_local() {
        return None;
    }
    let kind = [Kind::RouterSolicitation, Kind::RouterAdvertisement].into_iter().find(|known| *known as u8 == kind)?;
    let mut options = body.get(kind.fixed().len()..)?;
    let mut ghc = false;
    while let [number, units, ..] = *options {
        let length = option::UNIT * usize::from(units);
        let (value, rest) = options.split_at_checked(length).filter(|_| units > 0)?;
        ghc |= number == option::CAPABILITY_INDICATION && value[3] & 1 == 1;
        options = rest;
    }
    options.is_empty().then_some((source, Message { kind, ghc }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slowhand_testing::hex;

    const NODES: [NodeId; 2] = [NodeId(2), NodeId(1)];

    /// By hand after RFC 4861 sections 4.1, 4.2 and 4.6, RFC 4944 section 8 and RFC 7400 section 3.3, with the checksums of a script of
    /// its own (RFC 1071).
    const SOLICITATION: &str = "60000000 0020 3a ff fe800000000000000012740000000002 fe800000000000000012740000000001 \
                                85 00 fa62 00000000 01 02 0212740000000002 000000000000 24 01 0001 00000000";
    const ADVERTISEMENT: &str = "60000000 0018 3a ff fe800000000000000012740000000001 fe800000000000000012740000000002 \
                                 86 00 5381 40 00 ffff 00000000 00000000 01 01 0001 00000000";

    #[test]
    fn messages_are_those_of_the_standards() {
        let [child, parent] = NODES;
        let solicitation = Message { kind: Kind::RouterSolicitation, ghc: true };
        let octets = packet(child, parent, Addressing::Extended, solicitation);
        assert_eq!(octets, hex::octets(SOLICITATION));
        assert_eq!(parse(&octets), Some((link_local_address(child), solicitation)));
        let advertisement = Message { kind: Kind::RouterAdvertisement, ghc: false };
        let octets = packet(parent, child, Addressing::Short, advertisement);
        assert_eq!(octets, hex::octets(ADVERTISEMENT));
        assert_eq!(parse(&octets), Some((link_local_address(parent), advertisement)));
    }

    /// A solicitation with these options.
    fn with(options: &[u8]) -> Vec<u8> {
        let [from, to] = NODES.map(link_local_address);
        icmpv6::packet(from, to, HOP_LIMIT, [133, 0], &[&[0; 4], options].concat())
    }

    fn ghc(options: &[u8]) -> Option<bool> {
        parse(&with(options)).map(|(_, message)| message.ghc)
    }

    #[test]
    fn other_flags_and_options_are_read_over() {
        let other = [36, 1, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff];
        let longer = [&[36, 2, 0, 1][..], &[0xff; 12]].concat();
        let unknown = [&[99, 2][..], &[0xff; 14]].concat();
        assert_eq!([&[][..], &other, &longer, &unknown].map(ghc), [Some(false), Some(false), Some(true), Some(false)]);
        assert_eq!(ghc(&[&unknown[..], &longer, &other].concat()), Some(true));
    }

    #[test]
    fn what_is_to_be_discarded_is_refused() {
        for options in [&[36][..], &[36, 0, 0, 1, 0, 0, 0, 0], &[36, 1, 0, 1, 0, 0, 0], &[36, 2, 0, 1, 0, 0, 0, 0]] {
            assert_eq!(ghc(options), None, "{options:?}");
        }
        let [from, to] = NODES.map(link_local_address);
        let global = crate::address::mesh_address(NODES[0]);
        for (from, hop_limit, message, body) in [
            (from, 254, [133, 0], 4),
            (from, 255, [133, 1], 4),
            (from, 255, [135, 0], 4),
            (from, 255, [133, 0], 3),
            (from, 255, [134, 0], 11),
            (global, 255, [133, 0], 4),
        ] {
            assert_eq!(
                parse(&icmpv6::packet(from, to, hop_limit, message, &vec![0; body])),
                None,
                "{message:?} {body}"
            );
        }
        let whole = hex::octets(SOLICITATION);
        for place in Ipv6Header::LENGTH..whole.len() {
            let mut altered = whole.clone();
            altered[place] ^= 1;
            assert_eq!(parse(&altered), None, "octet {place}");
            assert_eq!(parse(&whole[..place]), None, "{place} octets");
        }
    }

    proptest! {
        /// Any message with a right checksum is read or refused.
        #[test]
        fn nobody_panics(kind in 130_u8..140, body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let [from, to] = NODES.map(link_local_address);
            let _ = parse(&icmpv6::packet(from, to, HOP_LIMIT, [kind, 0], &body));
            let _ = parse(&body);
        }
    }
}
