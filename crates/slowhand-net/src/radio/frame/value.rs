//! A frame as a value.

use super::cursor::Writer;
use super::error::Error;
use super::header::Header;
use super::ie::{self, Follows, HeaderIe, PayloadIe};
use super::security::MAX_MIC;

/// The place of a message integrity code that is not computed yet.
const ZEROS: &[u8] = &[0; MAX_MIC];

/// A frame as a value, without its FCS.
///
/// The IE Present field and the termination IEs follow from the lists. The codec writes payload and message integrity code
/// as they are given; [`protect`](super::protect) encrypts and authenticates the octets.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The header IEs.
    pub header_ies: &'a [HeaderIe<'a>],
    /// The payload IEs.
    pub payload_ies: &'a [PayloadIe<'a>],
    /// The payload. That of a MAC command is its command ID and content.
    pub payload: &'a [u8],
    /// The message integrity code. The security level gives its length. [`new`](Self::new) sets zeros.
    pub mic: &'a [u8],
}

impl<'a> Frame<'a> {
    /// A frame that is a header and nothing else.
    #[inline]
    pub const fn new(header: Header) -> Self {
        let (mic, _) = ZEROS.split_at(header.mic_length());
        Self { header, header_ies: &[], payload_ies: &[], payload: &[], mic }
    }

    /// Octets of the frame.
    #[inline]
    pub fn length(&self) -> usize {
        let header_ies: usize = self.header_ies.iter().map(HeaderIe::length).sum();
        let payload_ies: usize = self.payload_ies.iter().map(PayloadIe::length).sum();
        let terminations = match self.follows_header_ies() {
            Follows::Nothing => 0,
            Follows::PayloadIes if self.payload.is_empty() => 2,
            Follows::PayloadIes => 2 + 2,
            Follows::Payload => 2,
        };
        let ies = if self.has_ies() { header_ies + payload_ies + terminations } else { 0 };
        self.header.length() + ies + self.payload.len() + self.mic.len()
    }

    /// Writes the frame and returns its length.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::BufferTooSmall`] if `out` is too short. The content of `out` is then unspecified.
    #[inline]
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut writer = Writer::new(out);
        self.header.write(self.has_ies(), &mut writer)?;
        if self.has_ies() {
            self.write_ies(&mut writer)?;
        }
        writer.slice(self.payload)?;
        let expected = self.header.mic_length();
        if self.mic.len() != expected {
            return Err(Error::MicLength { expected, found: self.mic.len() });
        }
        writer.slice(self.mic)?;
        Ok(writer.written())
    }

    #[inline]
    fn write_ies(&self, writer: &mut Writer<'_>) -> Result<(), Error> {
        for ie in self.header_ies {
            ie.write(writer)?;
        }
        ie::write_header_termination(self.follows_header_ies(), writer)?;
        for ie in self.payload_ies {
            ie.write(writer)?;
        }
        if !self.payload_ies.is_empty() && !self.payload.is_empty() {
            ie::write_payload_termination(writer)?;
        }
        Ok(())
    }

    #[inline]
    const fn has_ies(&self) -> bool {
        !self.header_ies.is_empty() || !self.payload_ies.is_empty()
    }

    #[inline]
    const fn follows_header_ies(&self) -> Follows {
        match (self.payload_ies.is_empty(), self.payload.is_empty()) {
            (false, _) => Follows::PayloadIes,
            (true, false) => Follows::Payload,
            (true, true) => Follows::Nothing,
        }
    }
}
