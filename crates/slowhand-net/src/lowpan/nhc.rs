//! Compression of the UDP header (RFC 6282 section 4.3).
//!
//! ```text
//!   0   1   2   3   4   5   6   7
//! +---+---+---+---+---+---+---+---+
//! | 1 | 1 | 1 | 1 | 0 | C |   P   |
//! +---+---+---+---+---+---+---+---+
//! ```
//! The length is always elided. This sender never elides the checksum: an upper layer would have to authorise that
//! (section 4.3.2), and no one does. The receiver accepts an elided checksum.

use super::Error;
use super::cursor::{Reader, Writer};
use crate::ip::UdpHeader;

/// 11110 in the first five bits (RFC 6282 section 4.3.3).
const DISPATCH: u8 = 0b1111_0000;
const DISPATCH_MASK: u8 = 0b1111_1000;

/// C: the checksum is elided.
const CHECKSUM_ELIDED: u8 = 0b0000_0100;

/// The high bits of ports that compress to eight bits (RFC 6282 section 4.3.1).
const PORT_BASE_8: u16 = 0xf000;

/// The high bits of ports that compress to four bits (RFC 6282 section 4.3.1).
const PORT_BASE_4: u16 = 0xf0b0;

/// The fields of a compressed UDP header.
#[derive(Clone, Copy)]
pub(super) struct CompressedUdp {
    source_port: u16,
    destination_port: u16,
    /// `None` if it was elided.
    pub(super) checksum: Option<u16>,
}

impl CompressedUdp {
    /// The uncompressed header. An elided checksum is zero; the caller computes it later.
    pub(super) fn header(self, length: u16) -> UdpHeader {
        UdpHeader {
            source_port: self.source_port,
            destination_port: self.destination_port,
            length,
            checksum: self.checksum.unwrap_or(0),
        }
    }
}

/// P: how the ports are encoded (RFC 6282 section 4.3.3).
#[derive(Clone, Copy)]
enum PortMode {
    /// Both in full: four octets.
    Full = 0b00,
    /// The source in full, the destination in eight bits: three octets.
    Destination8 = 0b01,
    /// The source in eight bits, the destination in full: three octets.
    Source8 = 0b10,
    /// Both in four bits, the source first: one octet.
    Both4 = 0b11,
}

impl PortMode {
    fn of(source: u16, destination: u16) -> Self {
        let fits_8 = |port: u16| port & 0xff00 == PORT_BASE_8;
        let fits_4 = |port: u16| port & 0xfff0 == PORT_BASE_4;
        match (source, destination) {
            (s, d) if fits_4(s) && fits_4(d) => Self::Both4,
            (_, d) if fits_8(d) => Self::Destination8,
            (s, _) if fits_8(s) => Self::Source8,
            _ => Self::Full,
        }
    }

    fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::Full,
            0b01 => Self::Destination8,
            0b10 => Self::Source8,
            _ => Self::Both4,
        }
    }
}

pub(super) fn emit_udp(udp: &UdpHeader, out: &mut Writer<'_>) -> Result<(), Error> {
    let (source, destination) = (udp.source_port, udp.destination_port);
    let mode = PortMode::of(source, destination);
    out.u8(DISPATCH | mode as u8)?;
    match mode {
        PortMode::Full => {
            out.u16(source)?;
            out.u16(destination)?;
        }
        PortMode::Destination8 => {
            out.u16(source)?;
            out.u8(destination as u8)?;
        }
        PortMode::Source8 => {
            out.u8(source as u8)?;
            out.u16(destination)?;
        }
        PortMode::Both4 => out.u8(((source & 0xf) << 4 | destination & 0xf) as u8)?,
    }
    out.u16(udp.checksum)
}

pub(super) fn read_udp(input: &mut Reader<'_>) -> Result<CompressedUdp, Error> {
    let encoding = input.u8()?;
    if encoding & DISPATCH_MASK != DISPATCH {
        return Err(Error::NextHeader(encoding));
    }
    let (source_port, destination_port) = match PortMode::from_bits(encoding) {
        PortMode::Full => (input.u16()?, input.u16()?),
        PortMode::Destination8 => (input.u16()?, PORT_BASE_8 | u16::from(input.u8()?)),
        PortMode::Source8 => (PORT_BASE_8 | u16::from(input.u8()?), input.u16()?),
        PortMode::Both4 => {
            let both = u16::from(input.u8()?);
            (PORT_BASE_4 | both >> 4, PORT_BASE_4 | both & 0xf)
        }
    };
    let checksum = if encoding & CHECKSUM_ELIDED == 0 { Some(input.u16()?) } else { None };
    Ok(CompressedUdp { source_port, destination_port, checksum })
}
