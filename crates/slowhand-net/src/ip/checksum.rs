//! The Internet checksum over a transport segment and its IPv6 pseudo-header.

use std::net::Ipv6Addr;

/// The checksum (RFC 1071) of `segment` and its IPv6 pseudo-header (RFC 8200 section 8.1).
///
/// If the checksum field of `segment` is zero, the result is the checksum to send. For a received
/// segment, the result is zero if and only if the segment is intact. UDP sends 0xffff instead of
/// zero: see [`udp_datagram`](super::udp_datagram).
pub fn transport(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, segment: &[u8]) -> u16 {
    partial(source, destination, next_header, segment.len(), segment)
}

/// The checksum of a segment of `length` octets, as [`transport`], of which only these are covered (DCCP, RFC 4340 section 9.2).
pub fn partial(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, length: usize, covered: &[u8]) -> u16 {
    let mut sum = words(&source.octets()) + words(&destination.octets());
    sum += length as u64 + u64::from(next_header);
    sum += words(covered);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The sum of the big-endian 16-bit words. An odd last octet is padded with zero.
///
/// It adds 32 bits at a time: the carries come around in the end (RFC 1071 section 2, parallel summation).
fn words(octets: &[u8]) -> u64 {
    let (chunks, rest) = octets.as_chunks::<4>();
    let sum: u64 = chunks.iter().map(|&chunk| u64::from(u32::from_be_bytes(chunk))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}
