//! IPv6 packets: the fixed header, UDP datagrams, ICMPv6 errors, messages of neighbour discovery and of RPL, and the headers of RPL,
//! parsed and written.
//!
//! All types are plain values. They are parsed from octets, or written into a buffer of the caller.

use std::fmt;
use std::net::Ipv6Addr;

pub mod checksum;
pub mod control;
pub mod dio;
pub mod discovery;
pub mod icmpv6;
pub mod ipv6;
pub mod rpl;
pub mod udp;

pub use ipv6::{Ecn, Ipv6Header};
pub use udp::{UdpDatagram, UdpHeader, udp_datagram};

/// Next header numbers (IANA, "Assigned Internet Protocol Numbers").
pub mod next_header {
    /// Hop-by-hop options (RFC 8200 section 4.3).
    pub const HOP_BY_HOP: u8 = 0;
    /// Transmission Control Protocol (RFC 9293).
    pub const TCP: u8 = 6;
    /// User Datagram Protocol (RFC 768).
    pub const UDP: u8 = 17;
    /// Datagram Congestion Control Protocol (RFC 4340).
    pub const DCCP: u8 = 33;
    /// A whole IPv6 packet (RFC 2473).
    pub const IPV6: u8 = 41;
    /// Routing header (RFC 8200 section 4.4).
    pub const ROUTING: u8 = 43;
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
    /// Destination options (RFC 8200 section 4.6).
    pub const DESTINATION_OPTIONS: u8 = 60;
}

/// One end of a conversation: an address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The IPv6 address.
    pub address: Ipv6Addr,
    /// The UDP, TCP or DCCP port.
    pub port: u16,
}

impl Endpoint {
    /// The endpoint with this address and port.
    pub const fn new(address: Ipv6Addr, port: u16) -> Self {
        Self { address, port }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]:{}", self.address, self.port)
    }
}

/// A TCP segment, and the fields of its IPv6 header that TCP needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket<'a> {
    /// The source address.
    pub source: Ipv6Addr,
    /// The destination address.
    pub destination: Ipv6Addr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The segment: header and payload. Its checksum is not verified.
    pub segment: &'a [u8],
}

impl<'a> TcpPacket<'a> {
    /// The segment in a packet. `None` if the packet has none, or its IPv6 header is damaged. Nothing checks TCP's checksum here.
    pub fn of(packet: &'a [u8]) -> Option<Self> {
        let (header, segment) = Ipv6Header::parse_packet(packet).ok()?;
        let Ipv6Header { source, destination, .. } = header;
        (header.next_header == next_header::TCP).then_some(Self { source, destination, ecn: header.ecn(), segment })
    }
}

/// Why octets are not a packet, or a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output buffer is too small for the packet.
    #[error("the packet needs a buffer of {needed} octets, this one has {found}")]
    BufferTooSmall {
        /// The octets of the packet.
        needed: usize,
        /// The octets of the buffer.
        found: usize,
    },
    /// The checksum is wrong, or is zero, which IPv6 forbids (RFC 8200 section 8.1).
    #[error("checksum {found:#06x} does not match the packet: it was altered on its way")]
    Checksum {
        /// The checksum that the packet carries.
        found: u16,
    },
    /// A length field contradicts the number of octets.
    #[error("a length field says {field} octets, the packet has {found}")]
    Length {
        /// The value of the field.
        field: usize,
        /// The number of octets.
        found: usize,
    },
    /// The payload does not fit the 16-bit length field.
    #[error("a payload of {0} octets exceeds what a length field can say: at most 65535 with its header")]
    PayloadTooLong(usize),
    /// The packet carries another protocol than the caller expects.
    #[error("next header {found}, expected {expected}")]
    Protocol {
        /// The next header that the caller expects.
        expected: u8,
        /// The next header of the packet.
        found: u8,
    },
    /// The octets end inside a header.
    #[error("{found} octets are too few: the header takes {needed}")]
    Truncated {
        /// The octets of the header.
        needed: usize,
        /// The octets that exist.
        found: usize,
    },
    /// The version field is not 6.
    #[error("IP version {0}, expected 6")]
    Version(u8),
}
