//! The answer to a client without a slot: one record in clear, which may be longer than a datagram.

use crate::dtls13::server::HEADERS;
use crate::features::{DTLS13, Feature, Slot, Switch};
use crate::handshake;
use crate::{dtls12, dtls13};

/// Octets of the longest record.
const LONGEST: usize = if DTLS13 { dtls13::server::REPLY } else { dtls12::server::REPLY };

/// A record that waits to be sent.
pub(crate) struct Reply {
    octets: [u8; LONGEST],
    length: usize,
    /// The part of its message that has been sent.
    offset: Slot<DTLS13, usize>,
}

impl Reply {
    /// A record of at most [`LONGEST`] octets.
    pub(crate) fn new(record: &[u8]) -> Self {
        let mut octets = [0; LONGEST];
        let length = record.len().min(LONGEST);
        octets[..length].copy_from_slice(&record[..length]);
        Self { octets, length, offset: Feature::<DTLS13>::slot(|| 0) }
    }

    /// Writes the next datagram, and returns its length and whether it is the last one.
    pub(crate) fn write(&mut self, output: &mut [u8]) -> (usize, bool) {
        match output.get_mut(..self.length) {
            None => self.write_fragment(output).unwrap_or((0, true)),
            Some(_) if self.offset.first().is_some_and(|offset| *offset > 0) => {
                self.write_fragment(output).unwrap_or((0, true))
            }
            Some(place) => {
                place.copy_from_slice(&self.octets[..self.length]);
                (self.length, true)
            }
        }
    }

    /// Writes a record with the next fragment of the message. Each has the next record number.
    fn write_fragment(&mut self, output: &mut [u8]) -> Option<(usize, bool)> {
        let offset = self.offset.first_mut()?;
        let rest = self.octets.get(HEADERS + *offset..self.length)?;
        let length = rest.len().min(output.len().checked_sub(HEADERS)?);
        let (headers, place) = output.split_at_mut(HEADERS);
        headers.copy_from_slice(&self.octets[..HEADERS]);
        headers[11..13].copy_from_slice(&((handshake::HEADER + length) as u16).to_be_bytes());
        headers[19..22].copy_from_slice(&(*offset as u32).to_be_bytes()[1..]);
        headers[22..25].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
        place[..length].copy_from_slice(&rest[..length]);
        let is_last = length == rest.len();
        *offset += length;
        let number = u64::from_be_bytes(*self.octets[3..].first_chunk()?).wrapping_add(1);
        self.octets[3..11].copy_from_slice(&number.to_be_bytes());
        Some((HEADERS + length, is_last || length == 0))
    }
}
