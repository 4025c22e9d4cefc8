//! The packet (RFC 4340 section 5): generic header, the fields of its type, options, application data, checksum.

use super::seq::SeqNumber;
use crate::ip::{checksum, next_header};
use std::net::Ipv6Addr;

/// Octets of the generic header with 48-bit sequence numbers (section 5.1).
const GENERIC_LEN: usize = 16;

/// The most octets of a header with its options: the data offset has 8 bits and counts words (section 5.1).
pub const MAX_HEADER_LEN: usize = 255 * 4;

/// The numbers of the types (section 5.1, Table 1).
mod kind {
    pub(super) const REQUEST: u8 = 0;
    pub(super) const RESPONSE: u8 = 1;
    pub(super) const DATA: u8 = 2;
    pub(super) const ACK: u8 = 3;
    pub(super) const DATA_ACK: u8 = 4;
    pub(super) const CLOSE_REQ: u8 = 5;
    pub(super) const CLOSE: u8 = 6;
    pub(super) const RESET: u8 = 7;
    pub(super) const SYNC: u8 = 8;
    pub(super) const SYNC_ACK: u8 = 9;
}

/// Why a packet is reset (section 5.6, Table 2). Numbers that the table leaves free are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResetCode(pub u8);

impl ResetCode {
    /// The connection is closed in order.
    pub const CLOSED: Self = Self(1);
    /// The peer ended the connection, for example because an end did not answer.
    pub const ABORTED: Self = Self(2);
    /// There is no connection for the packet.
    pub const NO_CONNECTION: Self = Self(3);
    /// A packet that is valid by its numbers, but of a wrong type.
    pub const PACKET_ERROR: Self = Self(4);
    /// An option is wrong.
    pub const OPTION_ERROR: Self = Self(5);
    /// A mandatory option was not understood.
    pub const MANDATORY_ERROR: Self = Self(6);
    /// The server does not take the connection.
    pub const CONNECTION_REFUSED: Self = Self(7);
    /// The server has no such service.
    pub const BAD_SERVICE_CODE: Self = Self(8);
}

/// The type of a packet, with the fields that only this type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The client asks for a connection.
    Request {
        /// The application that the client wants to speak with (section 8.1.2).
        service_code: u32,
    },
    /// The server answers a Request.
    Response {
        /// The Request that it answers.
        ack: SeqNumber,
        /// The service code of the Request.
        service_code: u32,
    },
    /// Application data.
    Data,
    /// An acknowledgement.
    Ack {
        /// The greatest sequence number that was received.
        ack: SeqNumber,
    },
    /// Both.
    DataAck {
        /// The greatest sequence number that was received.
        ack: SeqNumber,
    },
    /// The server asks the client to close.
    CloseReq {
        /// The greatest sequence number that was received.
        ack: SeqNumber,
    },
    /// An end closes the connection.
    Close {
        /// The greatest sequence number that was received.
        ack: SeqNumber,
    },
    /// The end of the connection, in order or not.
    Reset {
        /// The packet that it answers.
        ack: SeqNumber,
        /// Why.
        code: ResetCode,
        /// More about why (section 5.6).
        data: [u8; 3],
    },
    /// An end asks if the numbers of a packet are right.
    Sync {
        /// The packet that was not valid, or the greatest valid sequence number.
        ack: SeqNumber,
    },
    /// The answer to a Sync.
    SyncAck {
        /// The Sync that it answers.
        ack: SeqNumber,
    },
}

impl Body {
    /// The number of the type, and its name, as the RFC has it.
    const fn kind(self) -> (u8, &'static str) {
        match self {
            Self::Request { .. } => (kind::REQUEST, "DCCP-Request"),
            Self::Response { .. } => (kind::RESPONSE, "DCCP-Response"),
            Self::Data => (kind::DATA, "DCCP-Data"),
            Self::Ack { .. } => (kind::ACK, "DCCP-Ack"),
            Self::DataAck { .. } => (kind::DATA_ACK, "DCCP-DataAck"),
            Self::CloseReq { .. } => (kind::CLOSE_REQ, "DCCP-CloseReq"),
            Self::Close { .. } => (kind::CLOSE, "DCCP-Close"),
            Self::Reset { .. } => (kind::RESET, "DCCP-Reset"),
            Self::Sync { .. } => (kind::SYNC, "DCCP-Sync"),
            Self::SyncAck { .. } => (kind::SYNC_ACK, "DCCP-SyncAck"),
        }
    }

    /// The name of the type, as the RFC has it.
    pub const fn name(self) -> &'static str {
        self.kind().1
    }

    /// The acknowledgement number, which all but Request and Data have.
    pub const fn ack(self) -> Option<SeqNumber> {
        match self {
            Self::Request { .. } | Self::Data => None,
            Self::Response { ack, .. }
            | Self::Ack { ack }
            | Self::DataAck { ack }
            | Self::CloseReq { ack }
            | Self::Close { ack }
            | Self::Reset { ack, .. }
            | Self::Sync { ack }
            | Self::SyncAck { ack } => Some(ack),
        }
    }

    /// True if the packet carries application data to the application.
    pub const fn carries_data(self) -> bool {
        matches!(self, Self::Data | Self::DataAck { .. })
    }

    /// Octets of the header without options.
    const fn header_len(self) -> usize {
        GENERIC_LEN
            + match self {
                Self::Data => 0,
                Self::Request { .. } => 4,
                Self::Response { .. } | Self::Reset { .. } => 12,
                _ => 8,
            }
    }
}

/// Why octets are not a packet, or a packet cannot be written. Such a packet is ignored (section 8.5, step 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The octets end inside the header.
    #[error("{0} octets are too few for the header of a DCCP packet")]
    Truncated(usize),
    /// The data offset lies inside the header, or behind the packet.
    #[error("a data offset of {0} words does not fit the packet")]
    DataOffset(u8),
    /// The type is reserved (section 5.1).
    #[error("packet type {0} is reserved")]
    Type(u8),
    /// The sequence number is short, which the ends have not agreed on (section 7.6).
    #[error("a short sequence number, and the ends have not agreed on them")]
    ShortSequenceNumber,
    /// The checksum covers more than there is, or is wrong (section 9).
    #[error("the checksum does not fit the packet: it was altered on its way")]
    Checksum,
    /// The options take more room than a header has.
    #[error("{0} octets of options are too many for a header")]
    OptionsTooLong(usize),
    /// The output buffer is too small for the packet.
    #[error("the packet needs a buffer of {needed} octets, this one has {available}")]
    BufferTooSmall {
        /// The octets of the packet.
        needed: usize,
        /// The octets of the buffer.
        available: usize,
    },
}

/// One packet. Its options and its payload are borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The number of this packet.
    pub seq: SeqNumber,
    /// The type, and what only this type has.
    pub body: Body,
    /// The octets of the options; see [`Options`](super::Options).
    pub options: &'a [u8],
    /// The application data.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads a packet. It does not check the checksum: use [`checksum_holds`].
    ///
    /// # Errors
    /// The lengths contradict each other, or the packet is of a kind that nobody may send here.
    pub fn parse(octets: &'a [u8]) -> Result<Self, PacketError> {
        let truncated = PacketError::Truncated(octets.len());
        let kind = octets.get(8).ok_or(truncated)? >> 1 & 0xf;
        if octets[8] & 1 == 0 {
            return Err(PacketError::ShortSequenceNumber);
        }
        let header: &[u8; GENERIC_LEN] = octets.first_chunk().ok_or(truncated)?;
        let half = |at: usize| -> Result<u64, PacketError> {
            let half = octets.get(at..at + 2).ok_or(truncated)?;
            Ok(u64::from(u16::from_be_bytes([half[0], half[1]])))
        };
        let word = |at: usize| Ok::<_, PacketError>((half(at)? << 16 | half(at + 2)?) as u32);
        let number = |at: usize| Ok(SeqNumber::new(half(at)? << 32 | half(at + 2)? << 16 | half(at + 4)?));
        // The acknowledgement number has 16 reserved bits before it (section 5.3).
        let ack = || number(GENERIC_LEN + 2);
        let body = match kind {
            kind::REQUEST => Body::Request { service_code: word(GENERIC_LEN)? },
            kind::RESPONSE => Body::Response { ack: ack()?, service_code: word(GENERIC_LEN + 8)? },
            kind::DATA => Body::Data,
            kind::ACK => Body::Ack { ack: ack()? },
            kind::DATA_ACK => Body::DataAck { ack: ack()? },
            kind::CLOSE_REQ => Body::CloseReq { ack: ack()? },
            kind::CLOSE => Body::Close { ack: ack()? },
            kind::RESET => {
                let [code, data @ ..] = word(GENERIC_LEN + 8)?.to_be_bytes();
                Body::Reset { ack: ack()?, code: ResetCode(code), data }
            }
            kind::SYNC => Body::Sync { ack: ack()? },
            kind::SYNC_ACK => Body::SyncAck { ack: ack()? },
            other => return Err(PacketError::Type(other)),
        };
        let offset = usize::from(header[4]) * 4;
        let wrong_offset = PacketError::DataOffset(header[4]);
        Ok(Self {
            source_port: half(0)? as u16,
            destination_port: half(2)? as u16,
            seq: number(10)?,
            body,
            options: octets.get(body.header_len()..offset).ok_or(wrong_offset)?,
            payload: &octets[offset..],
        })
    }

    /// Octets of the whole packet, with options that are padded to a word.
    pub fn wire_len(&self) -> usize {
        self.offset() + self.payload.len()
    }

    fn offset(&self) -> usize {
        self.body.header_len() + self.options.len().next_multiple_of(4)
    }

    /// The Reset with which a host answers this packet if no connection exists for it (section 8.3.1). There is none for
    /// a Reset.
    pub fn reset_reply(&self, code: ResetCode) -> Option<Packet<'static>> {
        if matches!(self.body, Body::Reset { .. }) {
            return None;
        }
        Some(Packet {
            source_port: self.destination_port,
            destination_port: self.source_port,
            seq: self.body.ack().map_or(SeqNumber::default(), |ack| ack + 1),
            body: Body::Reset { ack: self.seq, code, data: [0; 3] },
            options: &[],
            payload: &[],
        })
    }

    /// Writes the packet with a checksum over all of it. Returns the number of octets written.
    ///
    /// # Errors
    /// [`PacketError::BufferTooSmall`] and [`PacketError::OptionsTooLong`].
    pub fn emit(&self, source: Ipv6Addr, destination: Ipv6Addr, out: &mut [u8]) -> Result<usize, PacketError> {
        let (header_len, offset, needed) = (self.body.header_len(), self.offset(), self.wire_len());
        if offset > MAX_HEADER_LEN {
            return Err(PacketError::OptionsTooLong(self.options.len()));
        }
        let available = out.len();
        let out = out.get_mut(..needed).ok_or(PacketError::BufferTooSmall { needed, available })?;
        out[..offset].fill(0); // padding is zero (section 5.8.1)
        out[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4] = (offset / 4) as u8;
        out[8] = self.body.kind().0 << 1 | 1;
        out[10..16].copy_from_slice(&self.seq.get().to_be_bytes()[2..]);
        if let Some(ack) = self.body.ack() {
            out[18..24].copy_from_slice(&ack.get().to_be_bytes()[2..]);
        }
        match self.body {
            Body::Request { service_code } => out[16..20].copy_from_slice(&service_code.to_be_bytes()),
            Body::Response { service_code, .. } => out[24..28].copy_from_slice(&service_code.to_be_bytes()),
            Body::Reset { code, data, .. } => {
                out[24] = code.0;
                out[25..28].copy_from_slice(&data);
            }
            _ => {}
        }
        out[header_len..header_len + self.options.len()].copy_from_slice(self.options);
        out[offset..].copy_from_slice(self.payload);
        let sum = checksum::transport(source, destination, next_header::DCCP, out);
        out[6..8].copy_from_slice(&sum.to_be_bytes());
        Ok(needed)
    }
}

/// True if the checksum of a packet from `source` to `destination` is right. It covers what its sender has chosen: the whole packet,
/// or the header and some of the data (section 9.2). It may not cover more than there is.
pub fn checksum_holds(source: Ipv6Addr, destination: Ipv6Addr, packet: &[u8]) -> bool {
    let [.., offset, coverage] = match packet.first_chunk::<6>() {
        Some(start) => *start,
        None => return false,
    };
    let covered = match coverage & 0xf {
        0 => packet.len(),
        words => usize::from(offset) * 4 + (usize::from(words) - 1) * 4,
    };
    let Some(covered) = packet.get(..covered) else { return false };
    checksum::partial(source, destination, next_header::DCCP, packet.len(), covered) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
    const B: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);

    fn packet<'a>(body: Body, options: &'a [u8], payload: &'a [u8]) -> Packet<'a> {
        let seq = SeqNumber::new(0x0102_0304_0506);
        Packet { source_port: 0xf0b1, destination_port: 5684, seq, body, options, payload }
    }

    fn written(packet: &Packet<'_>) -> Vec<u8> {
        let mut out = vec![0xff; packet.wire_len()];
        assert_eq!(packet.emit(A, B, &mut out), Ok(out.len()));
        out
    }

    /// Written by hand after the figures of section 5.
    #[test]
    fn the_octets_are_those_of_the_rfc() {
        let ack = SeqNumber::new(0x0a0b_0c0d_0e0f);
        let data_ack = written(&packet(Body::DataAck { ack }, &[38, 3, 0x05], b"hello"));
        let rest = [0x09, 1, 2, 3, 4, 5, 6, 0, 0, 10, 11, 12, 13, 14, 15, 38, 3, 5, 0];
        assert_eq!(data_ack[..6], [0xf0, 0xb1, 0x16, 0x34, 7, 0]);
        assert_eq!(data_ack[8], rest[0]);
        assert_eq!(data_ack[10..28], rest[1..]);
        assert_eq!(&data_ack[28..], b"hello");
        let reset = written(&packet(Body::Reset { ack, code: ResetCode(6), data: [1, 2, 3] }, &[], b""));
        assert_eq!((reset.len(), reset[4], reset[8], &reset[24..]), (28, 7, 0x0f, &[6, 1, 2, 3][..]));
        let request = written(&packet(Body::Request { service_code: 0x4449_5343 }, &[], b""));
        assert_eq!((request.len(), request[4], request[8], &request[16..]), (20, 5, 0x01, &b"DISC"[..]));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let ack = SeqNumber::new(u64::MAX);
        let bodies = [
            Body::Request { service_code: 7 },
            Body::Response { ack, service_code: 7 },
            Body::Data,
            Body::Ack { ack },
            Body::DataAck { ack },
            Body::CloseReq { ack },
            Body::Close { ack },
            Body::Reset { ack, code: ResetCode::ABORTED, data: [9, 8, 7] },
            Body::Sync { ack },
            Body::SyncAck { ack },
        ];
        for body in bodies {
            let packet = packet(body, &[37, 3, 1, 0], b"odd");
            let octets = written(&packet);
            assert_eq!(Packet::parse(&octets), Ok(packet));
            assert!(checksum_holds(A, B, &octets));
            assert!(!checksum_holds(A, A, &octets), "the addresses are covered");
            for length in 0..body.header_len() + 4 {
                assert!(Packet::parse(&octets[..length]).is_err(), "{length} octets of {body:?}");
            }
        }
    }

    #[test]
    fn the_checksum_covers_what_its_sender_chose() {
        let mut octets = written(&packet(Body::Data, &[], b"0123456789"));
        octets[5] = 2; // the header and four octets
        octets[6..8].fill(0);
        let sum = checksum::partial(A, B, next_header::DCCP, octets.len(), &octets[..20]);
        octets[6..8].copy_from_slice(&sum.to_be_bytes());
        assert!(checksum_holds(A, B, &octets));
        octets[20] ^= 1;
        assert!(checksum_holds(A, B, &octets), "this octet is not covered");
        octets[19] ^= 1;
        assert!(!checksum_holds(A, B, &octets), "this one is");
        octets[5] = 15; // more than there is
        assert!(!checksum_holds(A, B, &octets));
    }

    #[test]
    fn what_nobody_may_send_is_refused() {
        let octets = written(&packet(Body::Data, &[], b"data"));
        let with = |at: usize, octet: u8| {
            let mut octets = octets.clone();
            octets[at] = octet;
            Packet::parse(&octets).map(drop).unwrap_err()
        };
        assert_eq!(with(8, 0x04), PacketError::ShortSequenceNumber);
        assert_eq!(with(8, 10 << 1 | 1), PacketError::Type(10));
        assert_eq!(with(4, 3), PacketError::DataOffset(3));
        assert_eq!(with(4, 200), PacketError::DataOffset(200));
        let options = [1; MAX_HEADER_LEN];
        let mut out = [0; 2_000];
        assert_eq!(
            packet(Body::Data, &options, b"").emit(A, B, &mut out),
            Err(PacketError::OptionsTooLong(options.len()))
        );
        let small = packet(Body::Data, &[], b"").emit(A, B, &mut out[..9]);
        assert_eq!(small, Err(PacketError::BufferTooSmall { needed: 16, available: 9 }));
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused(octets: Vec<u8>) {
            let _ = checksum_holds(A, B, &octets);
            if let Ok(packet) = Packet::parse(&octets) {
                let again = written(&packet);
                prop_assert_eq!(Packet::parse(&again), Ok(packet));
            }
        }
    }
}
