//! Frames that are sent often and differ only in sequence number and payload.

use super::error::Error;
use super::kind::{MAX_FRAME, SEQUENCE};
use super::value::Frame;

/// Octets of space in a template: more than any header without security.
const MAX_TEMPLATE: usize = 40;

/// The octets of a frame before its payload, written once.
#[derive(Clone, Debug)]
pub struct Template {
    octets: [u8; MAX_TEMPLATE],
    length: usize,
    has_ies: bool,
}

impl Template {
    /// A template of a frame. It must have a sequence number, no payload and no message integrity code.
    ///
    /// # Errors
    /// [`Error::Range`] if the frame is not like that; those of [`Frame::emit`].
    pub fn new(frame: &Frame<'_>) -> Result<Self, Error> {
        if frame.header.sequence.is_none() || !frame.payload.is_empty() || frame.header.mic_length() > 0 {
            return Err(Error::Range("template"));
        }
        let mut octets = [0; MAX_TEMPLATE];
        let length = frame.emit(&mut octets)?;
        Ok(Self { octets, length, has_ies: !frame.header_ies.is_empty() || !frame.payload_ies.is_empty() })
    }

    /// Writes the frame with this sequence number and payload, and returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`]; [`Error::Range`] for a payload after information elements, which would need a
    /// termination IE.
    #[inline]
    pub fn emit(&self, sequence: u8, payload: &[u8], out: &mut [u8; MAX_FRAME]) -> Result<usize, Error> {
        if self.has_ies && !payload.is_empty() {
            return Err(Error::Range("template"));
        }
        let length = self.length + payload.len();
        if length > MAX_FRAME {
            return Err(Error::BufferTooSmall(MAX_FRAME));
        }
        // Copies the whole template: a copy of constant length is cheap. The payload overwrites the surplus.
        out[..MAX_TEMPLATE].copy_from_slice(&self.octets);
        out[SEQUENCE] = sequence;
        if !payload.is_empty() {
            out[self.length..length].copy_from_slice(payload);
        }
        Ok(length)
    }
}
