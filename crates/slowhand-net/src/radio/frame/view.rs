//! A frame as checked octets.

use super::cursor::Reader;
use super::error::Error;
use super::header::Header;
use super::ie::{self, Follows, HeaderIes, PayloadIes};
use super::kind::SEQUENCE;

/// Octets that are a valid frame, without their FCS.
#[derive(Clone, Copy, Debug)]
pub struct FrameView<'a> {
    octets: &'a [u8],
    /// Positions of the header IEs, the payload IEs, the payload, and the message integrity code.
    header_ies: usize,
    payload_ies: usize,
    payload: usize,
    mic: usize,
}

impl<'a> FrameView<'a> {
    /// Checks all fields of a frame. Ignores reserved fields, as the standard requires.
    ///
    /// The payload IEs of an encrypted frame cannot be checked: they are part of the [payload](Self::payload).
    ///
    /// # Errors
    /// See [`Error`].
    #[inline]
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        match Header::plain_length(octets) {
            Some(header) => {
                Ok(Self { octets, header_ies: header, payload_ies: header, payload: header, mic: octets.len() })
            }
            None => Self::parse_any(octets, true),
        }
    }

    /// Parses a frame that is not encrypted yet, or no longer: whatever its security level is, its payload IEs are
    /// read.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn parse_decrypted(octets: &'a [u8]) -> Result<Self, Error> {
        Self::parse_any(octets, false)
    }

    #[cold]
    fn parse_any(octets: &'a [u8], may_be_encrypted: bool) -> Result<Self, Error> {
        let mut reader = Reader::new(octets);
        let (header, has_ies) = Header::read(&mut reader)?;
        let header_ies = octets.len() - reader.rest().len();
        let mic = octets.len().checked_sub(header.mic_length()).filter(|&mic| mic >= header_ies);
        let mic = mic.ok_or(Error::Truncated)?;
        let is_encrypted = may_be_encrypted && header.is_encrypted();
        let (payload_ies, payload) = if has_ies { check_ies(&octets[header_ies..mic], is_encrypted)? } else { (0, 0) };
        let (payload_ies, payload) = (header_ies + payload_ies, header_ies + payload);
        Ok(Self { octets, header_ies, payload_ies, payload, mic })
    }

    /// The header.
    pub fn header(&self) -> Header {
        let header = Header::read(&mut Reader::new(self.octets));
        header.expect("the octets were checked when the frame was parsed").0
    }

    /// The sequence number, if the frame has one.
    #[inline]
    pub fn sequence(&self) -> Option<u8> {
        Header::has_sequence(self.octets).then(|| self.octets[SEQUENCE])
    }

    /// The header IEs.
    pub fn header_ies(&self) -> HeaderIes<'a> {
        HeaderIes::new(&self.octets[self.header_ies..self.payload_ies])
    }

    /// The payload IEs. None in an encrypted frame.
    pub fn payload_ies(&self) -> PayloadIes<'a> {
        PayloadIes::new(&self.octets[self.payload_ies..self.payload])
    }

    /// The payload. In an encrypted frame it is everything encrypted: payload IEs, termination IE, payload.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.octets[self.payload..self.mic]
    }

    /// The position behind the header and the header IEs.
    pub(super) const fn header_end(&self) -> usize {
        self.payload_ies
    }

    /// The position behind the payload.
    pub(super) const fn payload_end(&self) -> usize {
        self.mic
    }

    /// The message integrity code. Empty if the frame has none.
    pub fn mic(&self) -> &'a [u8] {
        &self.octets[self.mic..]
    }
}

/// Positions of the payload IEs and the payload, counted from the first header IE.
fn check_ies(octets: &[u8], is_encrypted: bool) -> Result<(usize, usize), Error> {
    let mut reader = Reader::new(octets);
    let follows = ie::check_header_ies(&mut reader)?;
    let payload_ies = octets.len() - reader.rest().len();
    if follows == Follows::PayloadIes && !is_encrypted {
        ie::check_payload_ies(&mut reader)?;
    }
    Ok((payload_ies, octets.len() - reader.rest().len()))
}
