//! ICMPv6 (RFC 4443): packets with a message, and the error messages of a router.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     type      |     code      |           checksum            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  unused (zero), or the MTU                    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |         as much of the packet as fits 1280 octets ...         |
//! ```

use std::net::Ipv6Addr;

use super::{Ipv6Header, checksum, next_header};

/// The largest packet that every IPv6 link carries (RFC 8200 section 5). No error message is longer.
pub const MINIMUM_MTU: usize = 1280;

/// The octets of an error message before the packet that it quotes.
const HEADER: usize = 8;

/// The first type of informational messages. Lower types are errors (RFC 4443 section 2.1).
const FIRST_INFORMATIONAL: u8 = 128;

/// The Redirect message. A router sends no error about it (RFC 4443 section 2.4).
const REDIRECT: u8 = 137;

/// Extension headers whose length field counts units of eight octets after the first: hop-by-hop options, routing and
/// destination options (RFC 8200 sections 4.3, 4.4 and 4.6).
const EXTENSIONS: [u8; 3] = [0, 43, 60];

/// Why a router does not forward a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterError {
    /// Destination Unreachable, no route to destination (section 3.1, code 0).
    NoRoute,
    /// Packet Too Big (section 3.2).
    PacketTooBig {
        /// The largest packet that the next link carries, in octets.
        mtu: u32,
    },
    /// Time Exceeded, hop limit exceeded in transit (section 3.3, code 0).
    HopLimitExceeded,
}

impl RouterError {
    /// The error packet from `router` to the source of `packet`. None if there must be no error (section 2.4): `packet`
    /// is an error or a Redirect itself, it is for a multicast group, or its source is not a single host.
    pub fn message(self, router: Ipv6Addr, packet: &[u8]) -> Option<Vec<u8>> {
        let (header, payload) = Ipv6Header::parse_packet(packet).ok()?;
        let to_group = header.destination.is_multicast() && !matches!(self, Self::PacketTooBig { .. });
        let from_nobody = header.source.is_unspecified() || header.source.is_multicast();
        if to_group || from_nobody || is_error(header.next_header, payload) {
            return None;
        }
        let (kind, code, word) = match self {
            Self::NoRoute => (1, 0, 0),
            Self::PacketTooBig { mtu } => (2, 0, mtu),
            Self::HopLimitExceeded => (3, 0, 0_u32),
        };
        let quoted = &packet[..packet.len().min(MINIMUM_MTU - Ipv6Header::LENGTH - HEADER)];
        let body = [&word.to_be_bytes(), quoted].concat();
        Some(self::packet(router, header.source, Ipv6Header::DEFAULT_HOP_LIMIT, [kind, code], &body))
    }
}

/// A packet with a message of this type and code. The body, behind the checksum, is shorter than the length field can say.
pub(super) fn packet(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    hop_limit: u8,
    [kind, code]: [u8; 2],
    body: &[u8],
) -> Vec<u8> {
    let mut message = [&[kind, code, 0, 0], body].concat();
    let sum = checksum::transport(source, destination, next_header::ICMPV6, &message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = Ipv6Header::new(source, destination, next_header::ICMPV6, message.len() as u16);
    let header = Ipv6Header { hop_limit, ..header };
    [&header.emit()[..], &message].concat()
}

/// The header of a packet, the type and the code of its message, and the body of the message. `None` if the packet has no message right
/// behind its header, or was altered.
pub(super) fn parse(packet: &[u8]) -> Option<(Ipv6Header, [u8; 2], &[u8])> {
    let (header, message) = Ipv6Header::parse_packet(packet).ok()?;
    let Ipv6Header { source, destination, next_header, .. } = header;
    if next_header != next_header::ICMPV6 || checksum::transport(source, destination, next_header, message) != 0 {
        return None;
    }
    let (&[kind, code, ..], body) = message.split_first_chunk::<4>()?;
    Some((header, [kind, code], body))
}

/// True if a payload is an ICMPv6 error message or a Redirect, perhaps after extension headers.
fn is_error(mut next_header: u8, mut payload: &[u8]) -> bool {
    while EXTENSIONS.contains(&next_header) {
        let [following, length, ..] = *payload else { return false };
        let Some(behind) = payload.get(8 * (usize::from(length) + 1)..) else { return false };
        (next_header, payload) = (following, behind);
    }
    let kind = payload.first().copied();
    next_header == self::next_header::ICMPV6 && kind.is_none_or(|kind| kind < FIRST_INFORMATIONAL || kind == REDIRECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of 2001:db8::1 for 2001:db8:1::1: hop limit 1, and an ICMPv6 message of this type.
    fn packet(kind: u8) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 4, 58, 1];
        packet.extend_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend_from_slice(&[kind, 0, 0xab, 0xcd]);
        packet
    }

    const ROUTER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

    /// Derived by hand from RFC 4443 section 3.3. The checksum is the complement of the sum of these 16-bit words:
    /// the pseudo-header 2001 0db8 .. 0002, 2001 0db8 .. 0001, 0034 (52 octets), 003a, and the message
    /// 0300 0000 0000 0000, then the packet 6000 0000 0004 3a01 2001 0db8 .. 0001 2001 0db8 0001 .. 0001 8000 abcd.
    #[test]
    fn hop_limit_exceeded_octet_by_octet() {
        let message = RouterError::HopLimitExceeded.message(ROUTER, &packet(128)).unwrap();
        let words: [u32; 22] = [
            0x2001, 0x0db8, 0x0002, 0x2001, 0x0db8, 0x0001, 0x0034, 0x003a, 0x0300, 0x6000, 0x0004, 0x3a01, 0x2001,
            0x0db8, 0x0001, 0x2001, 0x0db8, 0x0001, 0x0001, 0x8000, 0xabcd, 0,
        ];
        let sum: u32 = words.iter().sum();
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        let mut expected = vec![0x60, 0, 0, 0, 0, 52, 58, 64];
        expected.extend_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        expected.extend_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        expected.extend_from_slice(&[3, 0]);
        expected.extend_from_slice(&checksum.to_be_bytes());
        expected.extend_from_slice(&[0; 4]);
        expected.extend_from_slice(&packet(128));
        assert_eq!(message, expected);
    }

    #[test]
    fn the_message_fits_every_link() {
        let mut long = packet(128);
        long.resize(3_000, 0x55);
        long[4..6].copy_from_slice(&2_960_u16.to_be_bytes());
        let message = RouterError::PacketTooBig { mtu: 1_400 }.message(ROUTER, &long).unwrap();
        assert_eq!(message.len(), 1_280);
        assert_eq!(message[40..42], [2, 0]);
        assert_eq!(message[44..48], [0, 0, 0x05, 0x78]);
        assert_eq!(message[48..], long[..1_232]);
    }

    #[test]
    fn no_error_answers_an_error() {
        let unreachable = |packet: &[u8]| RouterError::NoRoute.message(ROUTER, packet);
        assert_eq!(unreachable(&packet(129)).unwrap()[40..42], [1, 0]);
        for kind in [1, 2, 3, 4, 127, 137] {
            assert_eq!(unreachable(&packet(kind)), None, "type {kind}");
        }
        // An error after hop-by-hop options.
        let mut optional = packet(1);
        optional[5] = 12;
        optional[6] = 0;
        optional.splice(40..40, [58, 0, 1, 4, 0, 0, 0, 0]);
        assert_eq!(unreachable(&optional), None);
        optional[48] = 128;
        assert!(unreachable(&optional).is_some());
        // From the unspecified address, and for a group.
        let mut unspecified = packet(128);
        unspecified[8..24].fill(0);
        assert_eq!(unreachable(&unspecified), None);
        let mut group = packet(128);
        group[24] = 0xff;
        assert_eq!(unreachable(&group), None);
        assert!(RouterError::PacketTooBig { mtu: 1_280 }.message(ROUTER, &group).is_some());
        assert_eq!(unreachable(&packet(128)[..43]), None, "damaged");
    }
}
