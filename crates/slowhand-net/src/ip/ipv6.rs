//! The fixed header of IPv6 (RFC 8200 section 3).

use std::net::Ipv6Addr;

use super::Error;

listed! {
    /// Explicit congestion notification: the low two bits of the traffic class (RFC 3168 section 5).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Ecn {
        /// Not-ECT: the transport does not support ECN.
        #[default]
        NotCapable = 0b00,
        /// ECT(1): the transport supports ECN.
        Capable1 = 0b01,
        /// ECT(0): the transport supports ECN.
        Capable0 = 0b10,
        /// CE: a router marked the packet instead of dropping it.
        CongestionExperienced = 0b11,
    }
}

impl Ecn {
    /// The codepoint in the low two bits of `traffic_class`.
    pub const fn of_traffic_class(traffic_class: u8) -> Self {
        Self::ALL[(traffic_class & 0b11) as usize]
    }

    /// True if the transport supports ECN: a router may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotCapable)
    }
}

/// The fixed header of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv6Header {
    /// DSCP (high six bits) and ECN (low two bits).
    pub traffic_class: u8,
    /// The flow label, 20 bits (RFC 6437).
    pub flow_label: u32,
    /// The octets after this header.
    pub payload_length: u16,
    /// The type of the header that follows: see [`next_header`](super::next_header).
    pub next_header: u8,
    /// The number of hops that are left.
    pub hop_limit: u8,
    /// The source address.
    pub source: Ipv6Addr,
    /// The destination address.
    pub destination: Ipv6Addr,
}

impl Ipv6Header {
    /// Octets of the header (RFC 8200 section 3).
    pub const LENGTH: usize = 40;

    /// The hop limit of new packets (the default TTL of RFC 1700; Linux and Contiki-NG use it too).
    pub const DEFAULT_HOP_LIMIT: u8 = 64;

    /// The largest value of the 20-bit flow label.
    pub const MAX_FLOW_LABEL: u32 = 0xf_ffff;

    /// The header of a new packet: no DSCP, no ECN, no flow label, and the [default](Self::DEFAULT_HOP_LIMIT) hop limit.
    pub const fn new(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, payload_length: u16) -> Self {
        let hop_limit = Self::DEFAULT_HOP_LIMIT;
        Self { traffic_class: 0, flow_label: 0, payload_length, next_header, hop_limit, source, destination }
    }

    /// Reads the header at the beginning of `octets`, and ignores the rest.
    ///
    /// # Errors
    /// [`Error::Truncated`] and [`Error::Version`].
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let header: &[u8; Self::LENGTH] =
            octets.first_chunk().ok_or(Error::Truncated { needed: Self::LENGTH, found: octets.len() })?;
        let word = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        let version = (word >> 28) as u8;
        if version != 6 {
            return Err(Error::Version(version));
        }
        Ok(Self {
            traffic_class: (word >> 20) as u8,
            flow_label: word & Self::MAX_FLOW_LABEL,
            payload_length: u16::from_be_bytes([header[4], header[5]]),
            next_header: header[6],
            hop_limit: header[7],
            source: address_at(header, 8),
            destination: address_at(header, 24),
        })
    }

    /// Reads a whole packet: the header and the payload. The payload must have exactly the length in the header.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and [`Error::Length`].
    pub fn parse_packet(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        let header = Self::parse(packet)?;
        let payload = &packet[Self::LENGTH..];
        if usize::from(header.payload_length) != payload.len() {
            return Err(Error::Length { field: header.payload_length.into(), found: payload.len() });
        }
        Ok((header, payload))
    }

    /// The octets of the header. A flow label above [`MAX_FLOW_LABEL`](Self::MAX_FLOW_LABEL) loses its high bits.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let word = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & Self::MAX_FLOW_LABEL;
        let mut header = [0; Self::LENGTH];
        header[0..4].copy_from_slice(&word.to_be_bytes());
        header[4..6].copy_from_slice(&self.payload_length.to_be_bytes());
        header[6] = self.next_header;
        header[7] = self.hop_limit;
        header[8..24].copy_from_slice(&self.source.octets());
        header[24..40].copy_from_slice(&self.destination.octets());
        header
    }

    /// The ECN field of the packet.
    pub const fn ecn(&self) -> Ecn {
        Ecn::of_traffic_class(self.traffic_class)
    }

    /// This header with another ECN field.
    pub const fn with_ecn(mut self, ecn: Ecn) -> Self {
        self.traffic_class = self.traffic_class & !0b11 | ecn as u8;
        self
    }
}

/// Sets the ECN field of a packet, as a router does when it marks the packet. No checksum covers the traffic class, so
/// nothing else changes.
///
/// # Errors
/// As [`Ipv6Header::parse`]; then the packet does not change.
pub fn mark(packet: &mut [u8], ecn: Ecn) -> Result<(), Error> {
    let header = Ipv6Header::parse(packet)?.with_ecn(ecn).emit();
    packet[..Ipv6Header::LENGTH].copy_from_slice(&header);
    Ok(())
}

/// Decrements the hop limit of a packet, as a router does. Returns the new hop limit. If it is zero, the router must
/// not forward the packet (RFC 8200 section 3).
///
/// # Errors
/// As [`Ipv6Header::parse`]; then the packet does not change.
pub fn take_hop(packet: &mut [u8]) -> Result<u8, Error> {
    let mut header = Ipv6Header::parse(packet)?;
    header.hop_limit = header.hop_limit.saturating_sub(1);
    packet[..Ipv6Header::LENGTH].copy_from_slice(&header.emit());
    Ok(header.hop_limit)
}

fn address_at(header: &[u8; Ipv6Header::LENGTH], at: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&header[at..at + 16]);
    Ipv6Addr::from(octets)
}
