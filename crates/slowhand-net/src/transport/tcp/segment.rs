//! The TCP segment (RFC 9293 section 3.1): header, options, payload, checksum.

use std::fmt;
use std::net::Ipv6Addr;
use std::ops::{BitOr, BitOrAssign};

use super::error::SegmentError;
use super::options::Options;
use super::seq::SeqNumber;
use crate::ip::{checksum, next_header};

/// The octets of the header without options.
pub const HEADER_LEN: usize = 20;

/// The control bits, with the ECN bits of RFC 3168.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: give the data to the application now.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// ECN-Echo (RFC 3168 section 6.1).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub const CWR: Self = Self(0x80);

    /// True if all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets the bits of `other` if `condition` holds.
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Flags {
    /// One letter for each bit, as in tcpdump: `S`, `F`, `R`, `P`, `.` for ACK, `U`, `E`, `W`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::RST, 'R'),
            (Self::PSH, 'P'),
            (Self::ECE, 'E'),
            (Self::CWR, 'W'),
            (Self::URG, 'U'),
            (Self::ACK, '.'),
        ];
        for (_, letter) in letters.iter().filter(|(bit, _)| self.contains(*bit)) {
            write!(f, "{letter}")?;
        }
        Ok(())
    }
}

/// One segment. Its payload is borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The sequence number of the first octet (of the SYN, if there is one).
    pub seq: SeqNumber,
    /// The next octet that the sender expects, if [`Flags::ACK`] is set.
    pub ack: SeqNumber,
    /// The control bits.
    pub flags: Flags,
    /// The window field of the header, not scaled.
    pub window: u16,
    /// The urgent pointer. This implementation does not use it.
    pub urgent: u16,
    /// The options.
    pub options: Options,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads a segment. It does not check the checksum: use [`checksum_holds`].
    ///
    /// # Errors
    /// The lengths contradict each other.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        let truncated = SegmentError::Truncated(bytes.len());
        let header: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(truncated)?;
        let words = header[12] >> 4;
        let offset = usize::from(words) * 4;
        if offset < HEADER_LEN {
            return Err(SegmentError::DataOffset(words));
        }
        let options = bytes.get(HEADER_LEN..offset).ok_or(truncated)?;
        let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        Ok(Self {
            source_port: half(0),
            destination_port: half(2),
            seq: SeqNumber(word(4)),
            ack: SeqNumber(word(8)),
            flags: Flags(header[13]),
            window: half(14),
            urgent: half(18),
            options: Options::parse(options)?,
            payload: &bytes[offset..],
        })
    }

    /// The octets of the whole segment.
    pub fn wire_len(&self) -> usize {
        HEADER_LEN + self.options.len() + self.payload.len()
    }

    /// The number of sequence numbers that the segment occupies: payload, SYN and FIN (RFC 9293
    /// section 3.4).
    pub fn seq_len(&self) -> u32 {
        let control = u32::from(self.flags.contains(Flags::SYN)) + u32::from(self.flags.contains(Flags::FIN));
        self.payload.len() as u32 + control
    }

    /// The reset with which a host answers this segment if no connection exists for it (RFC 9293
    /// section 3.10.7.1). There is none for a reset.
    pub fn reset_reply(&self) -> Option<Segment<'static>> {
        if self.flags.contains(Flags::RST) {
            return None;
        }
        let has_ack = self.flags.contains(Flags::ACK);
        let (seq, ack, flags) = if has_ack {
            (self.ack, SeqNumber(0), Flags::RST)
        } else {
            (SeqNumber(0), self.seq + self.seq_len(), Flags::RST | Flags::ACK)
        };
        let (source_port, destination_port) = (self.destination_port, self.source_port);
        Some(Segment { source_port, destination_port, seq, ack, flags, ..Segment::default() })
    }

    /// Writes the segment with its checksum. Returns the number of octets written.
    ///
    /// # Errors
    /// [`SegmentError::BufferTooSmall`].
    pub fn emit(&self, source: Ipv6Addr, destination: Ipv6Addr, out: &mut [u8]) -> Result<usize, SegmentError> {
        let copy = |payload: &mut [u8]| payload.copy_from_slice(self.payload);
        self.emit_with(source, destination, self.payload.len(), copy, out)
    }

    /// As [`emit`](Self::emit), but `fill` writes the payload of `payload_len` octets. (The send buffer
    /// is a ring, so there is no slice to borrow.)
    pub(super) fn emit_with(
        &self,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        payload_len: usize,
        fill: impl FnOnce(&mut [u8]),
        out: &mut [u8],
    ) -> Result<usize, SegmentError> {
        let offset = HEADER_LEN + self.options.len();
        let needed = offset + payload_len;
        let available = out.len();
        let out = out.get_mut(..needed).ok_or(SegmentError::BufferTooSmall { needed, available })?;
        out[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        out[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        out[12] = (offset as u8 / 4) << 4;
        out[13] = self.flags.0;
        out[14..16].copy_from_slice(&self.window.to_be_bytes());
        out[16..18].fill(0);
        out[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        self.options.emit(&mut out[HEADER_LEN..offset]);
        fill(&mut out[offset..]);
        let sum = checksum::transport(source, destination, next_header::TCP, out);
        out[16..18].copy_from_slice(&sum.to_be_bytes());
        Ok(needed)
    }
}

/// True if the checksum of a segment from `source` to `destination` is right (RFC 8200 section
/// 8.1).
pub fn checksum_holds(source: Ipv6Addr, destination: Ipv6Addr, segment: &[u8]) -> bool {
    checksum::transport(source, destination, next_header::TCP, segment) == 0
}
