//! Frames that are sent often and differ only in sequence number and payload.

use super::error::Error;
use super::kind::{MAX_FRAME, SEQUENCE};
use super::security::MAX_MIC;
use super::value::Frame;

/// Octets of space in a template: more than the header of a data frame with security, or of an enhanced acknowledgement
/// with its time correction IE.
const MAX_TEMPLATE: usize = 40;

/// The octets of a frame before its payload, written once, and the place of the message integrity code behind it.
#[derive(Clone, Debug)]
pub struct Template {
    octets: [u8; MAX_TEMPLATE],
    length: usize,
    mic: usize,
    has_ies: bool,
}

impl Template {
    /// A template of a frame. It must have a sequence number and no payload.
    ///
    /// # Errors
    /// [`Error::Range`] if the frame is not like that; those of [`Frame::emit`].
    pub fn new(frame: &Frame<'_>) -> Result<Self, Error> {
        if frame.header.sequence.is_none() || !frame.payload.is_empty() {
            return Err(Error::Range("template"));
        }
        let mut written = [0; MAX_TEMPLATE + MAX_MIC];
        let mic = frame.mic.len();
        let length = frame.emit(&mut written)? - mic;
        let mut octets = [0; MAX_TEMPLATE];
        let space = octets.get_mut(..length).ok_or(Error::BufferTooSmall(MAX_TEMPLATE))?;
        space.copy_from_slice(&written[..length]);
        Ok(Self { octets, length, mic, has_ies: !frame.header_ies.is_empty() || !frame.payload_ies.is_empty() })
    }

    /// Octets of the frame without payload.
    pub const fn length(&self) -> usize {
        self.length + self.mic
    }

    /// Writes the frame with this sequence number and payload, and returns its length. The message integrity code is
    /// zero.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`]; [`Error::Range`] for a payload after information elements, which would need a
    /// termination IE.
    #[inline]
    pub fn emit(&self, sequence: u8, payload: &[u8], out: &mut [u8; MAX_FRAME]) -> Result<usize, Error> {
        if self.has_ies && !payload.is_empty() {
            return Err(Error::Range("template"));
        }
        let end = self.length + payload.len();
        let length = end + self.mic;
        if length > MAX_FRAME {
            return Err(Error::BufferTooSmall(MAX_FRAME));
        }
        // Copies the whole template: a copy of constant length is cheap. The payload overwrites the surplus.
        out[..MAX_TEMPLATE].copy_from_slice(&self.octets);
        out[SEQUENCE] = sequence;
        if !payload.is_empty() {
            out[self.length..end].copy_from_slice(payload);
        }
        if self.mic > 0 {
            out[end..length].fill(0);
        }
        Ok(length)
    }
}
