//! UDP (RFC 768) over IPv6 (RFC 8200 section 8.1).

use super::{Endpoint, Error, Ipv6Header, checksum, next_header};

/// The header of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UdpHeader {
    /// The source port.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
    /// The octets of header and payload.
    pub length: u16,
    /// The checksum over pseudo-header, header and payload.
    pub checksum: u16,
}

impl UdpHeader {
    /// Octets of the header.
    pub const LENGTH: usize = 8;

    /// Reads the header at the beginning of `octets`. It does not verify length and checksum.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn parse(octets: &[u8]) -> Result<Self, Error> {
        let header: &[u8; Self::LENGTH] =
            octets.first_chunk().ok_or(Error::Truncated { needed: Self::LENGTH, found: octets.len() })?;
        let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        Ok(Self { source_port: field(0), destination_port: field(2), length: field(4), checksum: field(6) })
    }

    /// The octets of the header.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let mut header = [0; Self::LENGTH];
        let fields = [self.source_port, self.destination_port, self.length, self.checksum];
        for (octets, field) in header.chunks_exact_mut(2).zip(fields) {
            octets.copy_from_slice(&field.to_be_bytes());
        }
        header
    }
}

/// A UDP datagram in an IPv6 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpDatagram<'a> {
    /// The IPv6 header of the packet.
    pub ip: Ipv6Header,
    /// The source.
    pub source: Endpoint,
    /// The destination.
    pub destination: Endpoint,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> UdpDatagram<'a> {
    /// The octets of both headers, IPv6 and UDP.
    pub const HEADERS: usize = Ipv6Header::LENGTH + UdpHeader::LENGTH;

    /// Reads a whole packet, and verifies both lengths and the checksum.
    ///
    /// # Errors
    /// As [`Ipv6Header::parse_packet`]; [`Error::Protocol`] if it is not UDP; [`Error::Truncated`],
    /// [`Error::Length`] or [`Error::Checksum`] if the datagram is damaged. A zero checksum counts as damaged
    /// (RFC 8200 section 8.1).
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let (ip, udp, segment) = headers(packet)?;
        if usize::from(udp.length) != segment.len() {
            return Err(Error::Length { field: udp.length.into(), found: segment.len() });
        }
        let intact = checksum::transport(ip.source, ip.destination, next_header::UDP, segment) == 0;
        if udp.checksum == 0 || !intact {
            return Err(Error::Checksum { found: udp.checksum });
        }
        Ok(Self {
            ip,
            source: Endpoint::new(ip.source, udp.source_port),
            destination: Endpoint::new(ip.destination, udp.destination_port),
            payload: &segment[UdpHeader::LENGTH..],
        })
    }
}

/// Both headers of a packet, and its payload from the UDP header on.
fn headers(packet: &[u8]) -> Result<(Ipv6Header, UdpHeader, &[u8]), Error> {
    let (ip, segment) = Ipv6Header::parse_packet(packet)?;
    if ip.next_header != next_header::UDP {
        return Err(Error::Protocol { expected: next_header::UDP, found: ip.next_header });
    }
    Ok((ip, UdpHeader::parse(segment)?, segment))
}

/// Writes a whole IPv6 packet with a UDP datagram into `out`. Returns the number of octets.
///
/// Traffic class and flow label are zero and the hop limit is [`Ipv6Header::DEFAULT_HOP_LIMIT`].
///
/// # Errors
/// [`Error::PayloadTooLong`] and [`Error::BufferTooSmall`]; then `out` does not change.
pub fn udp_datagram(source: Endpoint, destination: Endpoint, payload: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let length = u16::try_from(UdpHeader::LENGTH + payload.len()).map_err(|_| Error::PayloadTooLong(payload.len()))?;
    let total = UdpDatagram::HEADERS + payload.len();
    let found = out.len();
    let packet = out.get_mut(..total).ok_or(Error::BufferTooSmall { needed: total, found })?;

    let ip = Ipv6Header::new(source.address, destination.address, next_header::UDP, length);
    let udp = UdpHeader { source_port: source.port, destination_port: destination.port, length, checksum: 0 };
    packet[..Ipv6Header::LENGTH].copy_from_slice(&ip.emit());
    packet[Ipv6Header::LENGTH..UdpDatagram::HEADERS].copy_from_slice(&udp.emit());
    packet[UdpDatagram::HEADERS..].copy_from_slice(payload);
    fill_checksum(packet)?;
    Ok(total)
}

/// Computes the checksum of the UDP datagram in `packet`, and writes it into the UDP header.
///
/// # Errors
/// As [`Ipv6Header::parse_packet`]; [`Error::Protocol`] if it is not UDP; [`Error::Truncated`].
pub fn fill_checksum(packet: &mut [u8]) -> Result<(), Error> {
    let (ip, ..) = headers(packet)?;
    let field = Ipv6Header::LENGTH + 6..Ipv6Header::LENGTH + 8;
    packet[field.clone()].fill(0);
    let segment = &packet[Ipv6Header::LENGTH..];
    let sum = match checksum::transport(ip.source, ip.destination, next_header::UDP, segment) {
        0 => 0xffff, // zero means "no checksum" (RFC 768)
        sum => sum,
    };
    packet[field].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}
