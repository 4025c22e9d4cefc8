//! Packets of QUIC version 1 (RFC 9000 section 17): their types, which no protection hides.

use crate::error::WireError;
use crate::octets::{items, take, take_array};

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketType {
    /// Of the first messages of both ends, with keys that everybody knows.
    Initial,
    /// Early data of a client.
    ZeroRtt,
    /// Of the rest of the handshake.
    Handshake,
    /// A server asks its client to begin anew, with a token.
    Retry,
    /// Of all that comes after the handshake: it has a short header.
    OneRtt,
}

impl PacketType {
    /// Its name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "Initial",
            Self::ZeroRtt => "0-RTT",
            Self::Handshake => "Handshake",
            Self::Retry => "Retry",
            Self::OneRtt => "1-RTT",
        }
    }
}

/// The packets in a datagram, in their order. The iterator ends after the first error. Padding behind the last packet is an error
/// too: QUIC pads inside of packets.
pub fn packets(datagram: &[u8]) -> impl Iterator<Item = Result<PacketType, WireError>> {
    items(datagram, packet)
}

const LONG: u8 = 0x80;
/// The bit that every packet of version 1 has.
const FIXED: u8 = 0x40;

fn packet(rest: &mut &[u8]) -> Result<PacketType, WireError> {
    let [first] = *take_array(rest)?;
    if first & FIXED == 0 {
        return Err(WireError::NotQuic { first });
    }
    // A packet with a short header, and a Retry, have no length: they are the last ones.
    if first & LONG == 0 {
        *rest = &[];
        return Ok(PacketType::OneRtt);
    }
    let version = take_array(rest)?;
    if *version != [0, 0, 0, 1] {
        return Err(WireError::NotQuic { first });
    }
    for _connection_id in 0..2 {
        let [length] = *take_array(rest)?;
        take(rest, length.into())?;
    }
    let packet_type = match (first >> 4) & 3 {
        0 => PacketType::Initial,
        1 => PacketType::ZeroRtt,
        2 => PacketType::Handshake,
        _ => {
            *rest = &[];
            return Ok(PacketType::Retry);
        }
    };
    if packet_type == PacketType::Initial {
        let token = number(rest)?;
        take(rest, token)?;
    }
    let length = number(rest)?;
    take(rest, length)?;
    Ok(packet_type)
}

/// A number of variable length (RFC 9000 section 16).
fn number(rest: &mut &[u8]) -> Result<usize, WireError> {
    let [first] = *take_array(rest)?;
    let more = take(rest, (1 << (first >> 6)) - 1)?;
    let number = more.iter().fold(u64::from(first & 0x3f), |number, octet| number << 8 | u64::from(*octet));
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(datagram: &[u8]) -> Vec<Result<&'static str, WireError>> {
        packets(datagram).map(|packet| packet.map(PacketType::name)).collect()
    }

    /// The header of the server's Initial in RFC 9001 appendix A.3, with 0x75 octets behind its length, and a packet with a short
    /// header behind it.
    #[test]
    fn packets_in_one_datagram() {
        let mut datagram = vec![0xcf, 0, 0, 0, 1, 0, 8, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5, 0, 0x40, 0x75];
        datagram.extend([0xc0; 0x75]);
        assert_eq!(names(&datagram), [Ok("Initial")]);
        datagram.extend([0x4c, 0xfe, 0x41, 0x89]);
        assert_eq!(names(&datagram), [Ok("Initial"), Ok("1-RTT")]);
        datagram.truncate(100);
        assert_eq!(names(&datagram), [Err(WireError::Truncated { needed: 0x75, found: 82 })]);
        // A Retry, as in appendix A.4; a record of DTLS; an unknown version.
        assert_eq!(names(&[0xff, 0, 0, 0, 1, 0, 0, 1, 2]), [Ok("Retry")]);
        assert_eq!(names(&[0x16, 0xfe, 0xfd]), [Err(WireError::NotQuic { first: 0x16 })]);
        assert_eq!(names(&[0xc0, 0, 0, 0, 2, 0, 0]), [Err(WireError::NotQuic { first: 0xc0 })]);
    }

    /// The samples of RFC 9000 appendix A.1.
    #[test]
    fn numbers() {
        for (mut octets, expected) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ] {
            assert_eq!(number(&mut octets), Ok(expected));
            assert!(octets.is_empty());
        }
    }
}
