//! The MAC header up to the auxiliary security header (IEEE Std 802.15.4-2020, 7.2).
//!
//! ```text
//! | frame control (16) | sequence number (0 or 8) | destination PAN ID (0 or 16) | destination (0, 16 or 64)
//! | source PAN ID (0 or 16) | source (0, 16 or 64) | auxiliary security header |
//! ```
//! Bits of the frame control field, from the least significant on:
//!
//! ```text
//! | type (3) | security enabled | frame pending | AR | PAN ID compression | 0
//! | sequence number suppression | IE present | destination mode (2) | version (2) | source mode (2) |
//! ```

use super::address::{self, Address, Mode};
use super::cursor::{Reader, Writer};
use super::error::Error;
use super::kind::{FrameType, MAX_FRAME, SEQUENCE, Version};
use super::security::Security;
use crate::address::Eui64;

const SECURITY_ENABLED: u16 = 1 << 3;
const FRAME_PENDING: u16 = 1 << 4;
const ACK_REQUEST: u16 = 1 << 5;
const PAN_ID_COMPRESSION: u16 = 1 << 6;
const SEQUENCE_NUMBER_SUPPRESSION: u16 = 1 << 8;
const IE_PRESENT: u16 = 1 << 9;

/// A MAC header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The frame type.
    pub frame_type: FrameType,
    /// The frame version.
    pub version: Version,
    /// True if the sender has more frames for the destination.
    pub frame_pending: bool,
    /// True if the sender asks for an acknowledgement (the AR field).
    pub ack_request: bool,
    /// The sequence number. `None` if it is suppressed, which needs version 2.
    pub sequence: Option<u8>,
    /// The PAN ID of the destination, if the frame has one.
    pub destination_pan: Option<u16>,
    /// The address of the destination.
    pub destination: Option<Address>,
    /// The PAN ID of the source, if the frame has one. If not, the source is in the PAN of the destination.
    pub source_pan: Option<u16>,
    /// The address of the source.
    pub source: Option<Address>,
    /// The auxiliary security header, if security is enabled.
    pub security: Option<Security>,
}

impl Header {
    /// A header without sequence number, addresses and security.
    #[inline]
    pub const fn new(frame_type: FrameType, version: Version) -> Self {
        Self {
            frame_type,
            version,
            frame_pending: false,
            ack_request: false,
            sequence: None,
            destination_pan: None,
            destination: None,
            source_pan: None,
            source: None,
            security: None,
        }
    }

    /// A header with two extended addresses in one PAN. The frame carries the PAN ID once.
    #[inline]
    pub const fn between(
        frame_type: FrameType,
        version: Version,
        sequence: u8,
        pan: u16,
        source: Eui64,
        destination: Eui64,
    ) -> Self {
        Self {
            sequence: Some(sequence),
            destination_pan: Some(pan),
            destination: Some(Address::Extended(destination)),
            source: Some(Address::Extended(source)),
            ..Self::new(frame_type, version)
        }
    }

    /// The header of an enhanced acknowledgement to an extended address: frame version 2, no source address (IEEE Std
    /// 802.15.4-2020, 6.7.4.2).
    #[inline]
    pub const fn enhanced_ack(sequence: u8, pan: u16, destination: Eui64) -> Self {
        Self {
            sequence: Some(sequence),
            destination_pan: Some(pan),
            destination: Some(Address::Extended(destination)),
            ..Self::new(FrameType::Ack, Version::V2)
        }
    }

    /// Octets of the header.
    #[inline]
    pub const fn length(&self) -> usize {
        const fn pan(pan: Option<u16>) -> usize {
            if pan.is_some() { 2 } else { 0 }
        }
        let sequence = if self.sequence.is_some() { 1 } else { 0 };
        let security = match &self.security {
            None => 0,
            Some(security) => security.length(),
        };
        let destination = pan(self.destination_pan) + Mode::of(self.destination).length();
        let source = pan(self.source_pan) + Mode::of(self.source).length();
        2 + sequence + destination + source + security
    }

    /// Octets of the message integrity code at the end of the frame.
    #[inline]
    pub const fn mic_length(&self) -> usize {
        match &self.security {
            None => 0,
            Some(security) => security.level.mic_length(),
        }
    }

    /// The most octets of payload in a frame with this header and no information elements.
    #[inline]
    pub const fn payload_capacity(&self) -> usize {
        MAX_FRAME - self.length() - self.mic_length()
    }

    /// True if payload IEs and payload are encrypted.
    #[inline]
    pub const fn is_encrypted(&self) -> bool {
        match &self.security {
            None => false,
            Some(security) => security.level.is_encrypted(),
        }
    }

    /// Writes the header. `ie_present` is true if information elements follow it.
    #[inline]
    pub(super) fn write(&self, ie_present: bool, writer: &mut Writer<'_>) -> Result<(), Error> {
        writer.u16(self.control(ie_present)?)?;
        if let Some(sequence) = self.sequence {
            writer.u8(sequence)?;
        }
        if let Some(pan) = self.destination_pan {
            writer.u16(pan)?;
        }
        address::write(self.destination, writer)?;
        if let Some(pan) = self.source_pan {
            writer.u16(pan)?;
        }
        address::write(self.source, writer)?;
        match &self.security {
            None => Ok(()),
            Some(security) => security.write(self.version, writer),
        }
    }

    /// Reads a header. The `bool` is true if information elements follow it.
    #[inline]
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<(Self, bool), Error> {
        let control = reader.u16()?;
        let is_set = |bit| control & bit != 0;
        let frame_type = match control & 0b111 {
            0 => FrameType::Beacon,
            1 => FrameType::Data,
            2 => FrameType::Ack,
            3 => FrameType::Command,
            unknown => return Err(Error::FrameType(unknown as u8)),
        };
        let version = Version::from_bits(control >> 12)?;
        let (destination, source) = (Mode::from_bits(control >> 10)?, Mode::from_bits(control >> 14)?);
        let (destination_has_pan, source_has_pan) =
            address::pan_ids(version, destination, source, is_set(PAN_ID_COMPRESSION))?;
        check_version(version, is_set(SEQUENCE_NUMBER_SUPPRESSION), is_set(IE_PRESENT))?;
        let header = Self {
            frame_type,
            version,
            frame_pending: is_set(FRAME_PENDING),
            ack_request: is_set(ACK_REQUEST),
            sequence: if is_set(SEQUENCE_NUMBER_SUPPRESSION) { None } else { Some(reader.u8()?) },
            destination_pan: if destination_has_pan { Some(reader.u16()?) } else { None },
            destination: destination.read(reader)?,
            source_pan: if source_has_pan { Some(reader.u16()?) } else { None },
            source: source.read(reader)?,
            security: if is_set(SECURITY_ENABLED) { Some(Security::read(version, reader)?) } else { None },
        };
        Ok((header, is_set(IE_PRESENT)))
    }

    /// True if a frame that has been checked before has a sequence number.
    #[inline]
    pub(super) fn has_sequence(octets: &[u8]) -> bool {
        octets[1] & (SEQUENCE_NUMBER_SUPPRESSION >> 8) as u8 == 0
    }

    /// Octets of a header without security and information elements, from the frame control field alone. `None` if the
    /// frame has either of them, if the frame control field is not valid, or if the octets end inside the header.
    #[inline]
    pub(super) fn plain_length(octets: &[u8]) -> Option<usize> {
        let control = u16::from_le_bytes(*octets.first_chunk()?);
        // Leaves unknown frame types and suppressed sequence numbers to the full parser, which knows the errors.
        if control & (0b100 | SECURITY_ENABLED | SEQUENCE_NUMBER_SUPPRESSION | IE_PRESENT) != 0 {
            return None;
        }
        let length = SEQUENCE + 1 + address::addressing_length(control)?;
        (length <= octets.len()).then_some(length)
    }

    #[inline]
    fn control(&self, ie_present: bool) -> Result<u16, Error> {
        let (destination, source) = (Mode::of(self.destination), Mode::of(self.source));
        let pans = (self.destination_pan.is_some(), self.source_pan.is_some());
        let compression = address::pan_id_compression(self.version, destination, source, pans)?;
        check_version(self.version, self.sequence.is_none(), ie_present)?;
        let bit = |field, bit| if field { bit } else { 0 };
        Ok(self.frame_type as u16
            | bit(self.security.is_some(), SECURITY_ENABLED)
            | bit(self.frame_pending, FRAME_PENDING)
            | bit(self.ack_request, ACK_REQUEST)
            | bit(compression, PAN_ID_COMPRESSION)
            | bit(self.sequence.is_none(), SEQUENCE_NUMBER_SUPPRESSION)
            | bit(ie_present, IE_PRESENT)
            | destination.bits() << 10
            | (self.version as u16) << 12
            | source.bits() << 14)
    }
}

/// Rejects fields that only version 2 has in earlier versions (7.2.2.7, 7.2.2.8).
#[inline]
fn check_version(version: Version, sequence_suppressed: bool, ie_present: bool) -> Result<(), Error> {
    match version {
        Version::V2 => Ok(()),
        _ if sequence_suppressed => Err(Error::SequenceNumber),
        _ if ie_present => Err(Error::InformationElements),
        _ => Ok(()),
    }
}

/// Sets the frame pending field in the octets of a frame.
pub fn set_frame_pending(octets: &mut [u8]) {
    if let Some(control) = octets.first_mut() {
        *control |= FRAME_PENDING as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each frame control field: the short way and the full parser agree.
    #[test]
    fn the_length_of_a_plain_header_is_known_without_parsing_it() {
        let mut known = 0;
        for control in 0..=u16::MAX {
            let mut octets = [0; 32];
            octets[..2].copy_from_slice(&control.to_le_bytes());
            let parsed = Header::read(&mut Reader::new(&octets)).ok();
            let plain = parsed.filter(|(header, ies)| !ies && header.security.is_none() && header.sequence.is_some());
            let expected = plain.map(|(header, _)| header.length());
            assert_eq!(Header::plain_length(&octets), expected, "{control:04x}");
            if let Some(length) = expected {
                known += 1;
                assert_eq!(Header::plain_length(&octets[..length]), expected, "{control:04x}");
                assert_eq!(Header::plain_length(&octets[..length - 1]), None, "{control:04x}");
            }
        }
        // Four types. Three bits that do not matter here: frame pending, acknowledgement request, and a reserved one.
        // Of the 18 combinations of addresses and PAN ID compression, versions 0 and 1 allow 13, and version 2 all.
        assert_eq!(known, 4 * 8 * (13 + 13 + 18));
    }
}
