//! IPv6 packets as they travel: the fixed header and the UDP datagram, checked in both directions.
//!
//! Everything here is a plain value that is parsed from octets or written into a buffer of the
//! caller. Next headers other than UDP are passed on as they are.

use std::fmt;
use std::net::Ipv6Addr;

pub mod checksum;
pub mod icmpv6;
pub mod ipv6;
pub mod udp;

pub use ipv6::{Ecn, Ipv6Header};
pub use udp::{UdpDatagram, UdpHeader, udp_datagram};

/// Next header numbers (IANA, "Assigned Internet Protocol Numbers").
pub mod next_header {
    /// Transmission Control Protocol (RFC 9293).
    pub const TCP: u8 = 6;
    /// User Datagram Protocol (RFC 768).
    pub const UDP: u8 = 17;
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
}

/// One end of a conversation: an address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The IPv6 address.
    pub address: Ipv6Addr,
    /// The UDP or TCP port.
    pub port: u16,
}

impl Endpoint {
    /// The end point `port` of `address`.
    pub const fn new(address: Ipv6Addr, port: u16) -> Self {
        Self { address, port }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]:{}", self.address, self.port)
    }
}

/// A TCP segment with what its IPv6 header says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket<'a> {
    /// Who sends it.
    pub source: Ipv6Addr,
    /// To whom.
    pub destination: Ipv6Addr,
    /// The congestion notification.
    pub ecn: Ecn,
    /// The segment: header and payload. Nothing here looks at its checksum.
    pub segment: &'a [u8],
}

/// Why octets are not a packet, or a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output buffer ends before the packet does.
    #[error("the packet needs a buffer of {needed} octets, this one has {found}")]
    BufferTooSmall {
        /// Octets the packet takes.
        needed: usize,
        /// Octets the buffer has.
        found: usize,
    },
    /// The checksum does not match the octets, or is zero, which IPv6 forbids (RFC 8200 section 8.1).
    #[error("checksum {found:#06x} does not match the packet: it was altered on its way")]
    Checksum {
        /// The checksum that the packet carries.
        found: u16,
    },
    /// A length field contradicts the number of octets there are.
    #[error("a length field says {field} octets, the packet has {found}")]
    Length {
        /// What the field says.
        field: usize,
        /// What is there.
        found: usize,
    },
    /// The payload does not fit the 16-bit length field.
    #[error("a payload of {0} octets exceeds what a length field can say: at most 65535 with its header")]
    PayloadTooLong(usize),
    /// The packet carries another protocol than the one asked for.
    #[error("next header {found}, expected {expected}")]
    Protocol {
        /// The next header asked for.
        expected: u8,
        /// The next header found.
        found: u8,
    },
    /// The octets end inside a header.
    #[error("{found} octets are too few: the header takes {needed}")]
    Truncated {
        /// Octets the header takes.
        needed: usize,
        /// Octets there are.
        found: usize,
    },
    /// The version field is not 6.
    #[error("IP version {0}, expected 6")]
    Version(u8),
}
