//! The messages of a flight: kept until the peer's answer, and cut into datagrams (RFC 6347, section 4.2.3).

use crate::codec::{Full, Writer};
use crate::crypto::Crypto;
use crate::dtls12::{ContentType, Outbound};
use crate::handshake::{self, Kind};

/// Octets that are kept of a message's header: kind, length, number.
const KEPT: usize = 6;

/// A fragment shorter than this waits for the next datagram, if it is not the end of its message. (Assumed: its headers
/// would be longer than itself.)
const LEAST_FRAGMENT: usize = 16;

/// A flight. Its messages have `BUFFER` octets at most.
pub(crate) struct Flight<const BUFFER: usize> {
    octets: [u8; BUFFER],
    length: usize,
    /// Where the ChangeCipherSpec is, if there is one: what follows is in epoch 1.
    change: Option<usize>,
    /// A ChangeCipherSpec is sent before what is in epoch 1.
    is_announced: bool,
    /// What has been sent.
    cursor: Cursor,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    /// Where the next message begins.
    message: usize,
    /// What has been sent of its body.
    offset: usize,
    /// The ChangeCipherSpec has been sent.
    changed: bool,
}

impl<const BUFFER: usize> Flight<BUFFER> {
    pub(crate) const fn new() -> Self {
        let cursor = Cursor { message: 0, offset: 0, changed: false };
        Self { octets: [0; BUFFER], length: 0, change: None, is_announced: true, cursor }
    }

    /// Begins a new flight.
    pub(crate) fn clear(&mut self) {
        (self.length, self.change, self.cursor) = (0, None, Cursor::default());
    }

    /// Adds a message, and returns its body.
    ///
    /// # Errors
    /// It is too long. The flight is then as before.
    pub(crate) fn push(
        &mut self,
        kind: Kind,
        sequence: u16,
        body: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
    ) -> Result<&[u8], Full> {
        let start = self.length;
        let mut writer = Writer::new(&mut self.octets[start..]);
        writer.number(kind.number().into(), 1)?;
        writer.number(0, 3)?;
        writer.number(sequence.into(), 2)?;
        body(&mut writer)?;
        let length = writer.len() - KEPT;
        self.octets[start + 1..start + 4].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
        self.length = start + KEPT + length;
        Ok(&self.octets[start + KEPT..self.length])
    }

    /// Adds a ChangeCipherSpec, or a change that is not announced.
    pub(crate) const fn change_cipher_spec(&mut self, is_announced: bool) {
        (self.change, self.is_announced) = (Some(self.length), is_announced);
    }

    /// True if the peer is told, or will be, that what follows is encrypted.
    pub(crate) const fn has_changed(&self) -> bool {
        self.change.is_some()
    }

    /// True if no more of it is to be sent now.
    pub(crate) fn is_sent(&self) -> bool {
        let is_changed = self.change.is_none() || self.cursor.changed;
        self.cursor.message == self.length && is_changed
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// True if these octets are somewhere in it.
    pub(crate) fn holds(&self, octets: &[u8]) -> bool {
        octets.is_empty() || self.octets[..self.length].windows(octets.len()).any(|window| window == octets)
    }

    /// Sends all of it again.
    pub(crate) fn restart(&mut self) {
        self.cursor = Cursor::default();
    }

    /// Writes the next datagram: as many records as it has room for. Returns 0 if there is nothing to send.
    pub(crate) fn write<C: Crypto>(&mut self, crypto: &mut C, records: &mut Outbound, output: &mut [u8]) -> usize {
        let mut written = 0;
        while let Some(more) = self.write_record(crypto, records, &mut output[written..], written == 0) {
            written += more;
        }
        written
    }

    /// Writes the next record. `None` if there is none, or no room for it.
    fn write_record<C: Crypto>(
        &mut self,
        crypto: &mut C,
        records: &mut Outbound,
        output: &mut [u8],
        is_first: bool,
    ) -> Option<usize> {
        if self.change == Some(self.cursor.message) && !self.cursor.changed && self.cursor.offset == 0 {
            if self.is_announced {
                let written = records.write(crypto, (ContentType::ChangeCipherSpec, 0), &[&[1]], output).ok()?;
                self.cursor.changed = true;
                return Some(written);
            }
            self.cursor.changed = true;
        }
        let message = self.octets.get(self.cursor.message..self.length).filter(|rest| rest.len() >= KEPT)?;
        let [kind, l0, l1, l2, s0, s1] = *message.first_chunk::<KEPT>()?;
        let length = u32::from_be_bytes([0, l0, l1, l2]) as usize;
        let rest = message.get(KEPT + self.cursor.offset..KEPT + length)?;
        let epoch = u16::from(self.cursor.changed);
        let room = output.len().checked_sub(records.overhead(epoch) + handshake::HEADER)?;
        if room < rest.len() && (room == 0 || room < LEAST_FRAGMENT && !is_first) {
            return None;
        }
        let fragment = &rest[..rest.len().min(room)];
        let mut header = [0; handshake::HEADER];
        header[..KEPT].copy_from_slice(&[kind, l0, l1, l2, s0, s1]);
        header[6..9].copy_from_slice(&(self.cursor.offset as u32).to_be_bytes()[1..]);
        header[9..].copy_from_slice(&(fragment.len() as u32).to_be_bytes()[1..]);
        let written = records.write(crypto, (ContentType::Handshake, epoch), &[&header, fragment], output).ok()?;
        self.cursor.offset += fragment.len();
        if self.cursor.offset == length {
            self.cursor.message += KEPT + length;
            self.cursor.offset = 0;
        }
        Some(written)
    }
}
