//! Information elements (IEEE Std 802.15.4-2020, 7.4).
//!
//! ```text
//! header IE:    | length (7)  | element ID (8) | 0 (1) | content ...
//! payload IE:   | length (11) | group ID (4)   | 1 (1) | content ...
//! nested short: | length (8)  | sub-ID (7)     | 0 (1) | content ...
//! nested long:  | length (11) | sub-ID (4)     | 1 (1) | content ...
//! ```
//! A termination IE ends the list of header IEs if anything follows it, and the list of payload IEs if a payload
//! follows it (table 7-6). The codec writes and skips termination IEs itself.

use super::cursor::{Reader, Writer};
use super::error::Error;
use std::marker::PhantomData;

/// Octets of the descriptor in front of the content.
const DESCRIPTOR: usize = 2;
const LONG: u16 = 1 << 15;
const MAX_LONG_CONTENT: usize = (1 << 11) - 1;

/// ACK/NACK time correction (7.4.2.7).
const TIME_CORRECTION: u8 = 0x1e;
/// Header termination 1: payload IEs follow.
const HEADER_TERMINATION_1: u8 = 0x7e;
/// Header termination 2: the payload follows.
const HEADER_TERMINATION_2: u8 = 0x7f;
/// Payload IE that contains nested IEs of the MLME (7.4.3.2).
const MLME: u8 = 0x1;
/// Payload IE of the IETF (RFC 8137).
const IETF: u8 = 0x5;
/// Payload termination.
const PAYLOAD_TERMINATION: u8 = 0xf;

/// The subtype of the 6top IE among the IEs of the IETF (RFC 8480, section 3.2.1; the number is IANA's).
pub const SIXTOP: u8 = 0xc9;

/// The content of the time correction IE. An enhanced acknowledgement carries it to keep its receiver synchronised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeCorrection {
    /// The correction in microseconds: -2048 to 2047.
    pub microseconds: i16,
    /// True if the frame was received but is not accepted.
    pub nack: bool,
}

impl TimeCorrection {
    const LENGTH: usize = 2;

    fn from_bits(bits: u16) -> Self {
        // Moves the twelve bits of the number to the top, so that the shift back extends its sign.
        Self { microseconds: (bits << 4) as i16 >> 4, nack: bits & 1 << 15 != 0 }
    }

    #[inline]
    fn bits(self) -> Result<u16, Error> {
        if !(-2048..=2047).contains(&self.microseconds) {
            return Err(Error::Range("time correction"));
        }
        Ok(self.microseconds as u16 & 0x0fff | u16::from(self.nack) << 15)
    }
}

/// A header IE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeaderIe<'a> {
    /// ACK/NACK time correction.
    TimeCorrection(TimeCorrection),
    /// Any other IE.
    Other {
        /// The element ID.
        id: u8,
        /// The content, at most 127 octets.
        content: &'a [u8],
    },
}

impl<'a> HeaderIe<'a> {
    /// Octets of the IE, its descriptor included.
    #[inline]
    pub const fn length(&self) -> usize {
        DESCRIPTOR
            + match self {
                Self::TimeCorrection(_) => TimeCorrection::LENGTH,
                Self::Other { content, .. } => content.len(),
            }
    }

    #[inline]
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        match *self {
            Self::TimeCorrection(correction) => {
                writer.u16(header_descriptor(TIME_CORRECTION, TimeCorrection::LENGTH))?;
                writer.u16(correction.bits()?)
            }
            Self::Other { id: id @ (TIME_CORRECTION | HEADER_TERMINATION_1 | HEADER_TERMINATION_2), .. } => {
                Err(Error::IeId(id))
            }
            Self::Other { content, .. } if content.len() > 0x7f => Err(Error::IeLength(content.len())),
            Self::Other { id, content } => {
                writer.u16(header_descriptor(id, content.len()))?;
                writer.slice(content)
            }
        }
    }

    fn new(id: u8, content: &'a [u8]) -> Result<Self, Error> {
        match (id, content) {
            (TIME_CORRECTION, &[low, high]) => {
                Ok(Self::TimeCorrection(TimeCorrection::from_bits(u16::from_le_bytes([low, high]))))
            }
            (TIME_CORRECTION, _) => Err(Error::IeLength(content.len())),
            _ => Ok(Self::Other { id, content }),
        }
    }
}

/// The element that follows the header IEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// Nothing but the message integrity code.
    Nothing,
    /// Payload IEs.
    PayloadIes,
    /// The payload.
    Payload,
}

#[inline]
const fn header_descriptor(id: u8, length: usize) -> u16 {
    (id as u16) << 7 | length as u16
}

/// Writes the termination IE that ends the header IEs.
#[inline]
pub(super) fn write_header_termination(follows: Follows, writer: &mut Writer<'_>) -> Result<(), Error> {
    match follows {
        Follows::Nothing => Ok(()),
        Follows::PayloadIes => writer.u16(header_descriptor(HEADER_TERMINATION_1, 0)),
        Follows::Payload => writer.u16(header_descriptor(HEADER_TERMINATION_2, 0)),
    }
}

/// An information element of one of the three lists.
pub(super) trait Ie<'a>: Sized {
    /// Reads the next one. `None` at the end of the list.
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Error>;
}

/// A list of information elements without termination IEs, as checked octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ies<'a, I>(&'a [u8], PhantomData<I>);

impl<'a, I> Ies<'a, I> {
    pub(super) const fn new(octets: &'a [u8]) -> Self {
        Self(octets, PhantomData)
    }
}

impl<'a, I: Ie<'a>> Iterator for Ies<'a, I> {
    type Item = I;

    fn next(&mut self) -> Option<I> {
        let mut reader = Reader::new(self.0);
        // The octets were checked when the frame was parsed, or written by `emit`: this cannot fail before the end.
        let ie = I::read(&mut reader).ok()?;
        self.0 = reader.rest();
        ie
    }
}

/// The header IEs of a frame.
pub type HeaderIes<'a> = Ies<'a, HeaderIe<'a>>;

impl<'a> Ie<'a> for HeaderIe<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Error> {
        read_header_ie(reader).map(Result::ok)
    }
}

/// Reads the next header IE. The inner `Err` is the end of the list.
fn read_header_ie<'a>(reader: &mut Reader<'a>) -> Result<Result<HeaderIe<'a>, Follows>, Error> {
    if reader.rest().is_empty() {
        return Ok(Err(Follows::Nothing));
    }
    let descriptor = reader.u16()?;
    if descriptor & LONG != 0 {
        return Err(Error::IeType);
    }
    let (id, content) = ((descriptor >> 7) as u8, reader.slice(usize::from(descriptor & 0x7f))?);
    let end = match id {
        HEADER_TERMINATION_1 => Follows::PayloadIes,
        HEADER_TERMINATION_2 => Follows::Payload,
        _ => return Ok(Ok(HeaderIe::new(id, content)?)),
    };
    if content.is_empty() { Ok(Err(end)) } else { Err(Error::IeLength(content.len())) }
}

/// Checks a list of header IEs, reads it with its termination IE, and returns what follows.
pub(super) fn check_header_ies(reader: &mut Reader<'_>) -> Result<Follows, Error> {
    if reader.rest().is_empty() {
        // The IE Present field says that there is at least one.
        return Err(Error::Truncated);
    }
    loop {
        if let Err(follows) = read_header_ie(reader)? {
            return Ok(follows);
        }
    }
}

/// A payload IE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadIe<'a> {
    /// IEs of the MLME.
    Mlme(NestedIes<'a>),
    /// An IE of the IETF (RFC 8137).
    Ietf {
        /// The subtype, such as [`SIXTOP`].
        subtype: u8,
        /// The octets that follow the subtype.
        content: &'a [u8],
    },
    /// Any other IE.
    Other {
        /// The group ID.
        group: u8,
        /// The content, at most 2047 octets.
        content: &'a [u8],
    },
}

impl<'a> PayloadIe<'a> {
    /// Octets of the IE, its descriptor included.
    pub const fn length(&self) -> usize {
        DESCRIPTOR
            + match self {
                Self::Mlme(nested) => nested.0.len(),
                Self::Ietf { content, .. } => 1 + content.len(),
                Self::Other { content, .. } => content.len(),
            }
    }

    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        let length = self.length() - DESCRIPTOR;
        match *self {
            Self::Mlme(nested) => {
                writer.u16(long_descriptor(MLME, length)?)?;
                writer.slice(nested.0)
            }
            Self::Ietf { subtype, content } => {
                writer.u16(long_descriptor(IETF, length)?)?;
                writer.u8(subtype)?;
                writer.slice(content)
            }
            Self::Other { group: group @ (MLME | IETF | PAYLOAD_TERMINATION), .. } => Err(Error::IeId(group)),
            Self::Other { group, content } => {
                writer.u16(long_descriptor(group, length)?)?;
                writer.slice(content)
            }
        }
    }

    fn new(group: u8, content: &'a [u8]) -> Result<Self, Error> {
        match group {
            MLME => NestedIes::parse(content).map(Self::Mlme),
            IETF => {
                let (&subtype, content) = content.split_first().ok_or(Error::IeLength(0))?;
                Ok(Self::Ietf { subtype, content })
            }
            _ => Ok(Self::Other { group, content }),
        }
    }
}

/// The descriptor of a payload IE, or of a long nested IE.
fn long_descriptor(id: u8, length: usize) -> Result<u16, Error> {
    if id > 0xf {
        return Err(Error::IeId(id));
    }
    if length > MAX_LONG_CONTENT {
        return Err(Error::IeLength(length));
    }
    Ok(LONG | u16::from(id) << 11 | length as u16)
}

/// Writes the termination IE between payload IEs and payload.
pub(super) fn write_payload_termination(writer: &mut Writer<'_>) -> Result<(), Error> {
    writer.u16(long_descriptor(PAYLOAD_TERMINATION, 0)?)
}

/// The payload IEs of a frame.
pub type PayloadIes<'a> = Ies<'a, PayloadIe<'a>>;

impl<'a> Ie<'a> for PayloadIe<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Error> {
        if reader.rest().is_empty() {
            return Ok(None);
        }
        let descriptor = reader.u16()?;
        if descriptor & LONG == 0 {
            return Err(Error::IeType);
        }
        let group = (descriptor >> 11 & 0xf) as u8;
        let content = reader.slice(usize::from(descriptor) & MAX_LONG_CONTENT)?;
        match group {
            PAYLOAD_TERMINATION if content.is_empty() => Ok(None),
            PAYLOAD_TERMINATION => Err(Error::IeLength(content.len())),
            _ => PayloadIe::new(group, content).map(Some),
        }
    }
}

/// Checks a list of payload IEs, and reads it with its termination IE.
pub(super) fn check_payload_ies(reader: &mut Reader<'_>) -> Result<(), Error> {
    if reader.rest().is_empty() {
        // Header termination 1 means that there is at least one.
        return Err(Error::Truncated);
    }
    while PayloadIe::read(reader)?.is_some() {}
    Ok(())
}

/// An IE inside the MLME's payload IE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NestedIe<'a> {
    /// An IE with a sub-ID of 7 bits.
    Short {
        /// The sub-ID.
        id: u8,
        /// The content, at most 255 octets.
        content: &'a [u8],
    },
    /// An IE with a sub-ID of 4 bits.
    Long {
        /// The sub-ID.
        id: u8,
        /// The content, at most 2047 octets.
        content: &'a [u8],
    },
}

/// IEs inside the MLME's payload IE.
pub type NestedIes<'a> = Ies<'a, NestedIe<'a>>;

impl<'a> NestedIes<'a> {
    /// Checks the octets of nested IEs.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(octets);
        while NestedIe::read(&mut reader)?.is_some() {}
        Ok(Self::new(octets))
    }

    /// Writes nested IEs into `out`.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::IeId`], [`Error::IeLength`].
    pub fn emit(ies: &[NestedIe<'_>], out: &'a mut [u8]) -> Result<Self, Error> {
        let mut writer = Writer::new(out);
        for ie in ies {
            let content = match *ie {
                NestedIe::Short { id, .. } if id > 0x7f => return Err(Error::IeId(id)),
                NestedIe::Short { content, .. } if content.len() > 0xff => return Err(Error::IeLength(content.len())),
                NestedIe::Short { id, content } => {
                    writer.u16(u16::from(id) << 8 | content.len() as u16)?;
                    content
                }
                NestedIe::Long { id, content } => {
                    writer.u16(long_descriptor(id, content.len())?)?;
                    content
                }
            };
            writer.slice(content)?;
        }
        let written = writer.written();
        Ok(Self::new(&out[..written]))
    }
}

impl<'a> Ie<'a> for NestedIe<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Error> {
        if reader.rest().is_empty() {
            return Ok(None);
        }
        let descriptor = reader.u16()?;
        Ok(Some(if descriptor & LONG == 0 {
            NestedIe::Short { id: (descriptor >> 8) as u8, content: reader.slice(usize::from(descriptor & 0xff))? }
        } else {
            let content = reader.slice(usize::from(descriptor) & MAX_LONG_CONTENT)?;
            NestedIe::Long { id: (descriptor >> 11 & 0xf) as u8, content }
        }))
    }
}
