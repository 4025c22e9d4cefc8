//! Reading and writing octets in order, with checked bounds.

use super::Error;

/// Reads octets from the front of a slice.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets, length: octets.len() }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(super) fn slice(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    /// The number of octets read so far.
    pub(super) fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// The octets that are not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Appends octets to a buffer of the caller.
pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, written: 0 }
    }

    pub(super) fn slice(&mut self, octets: &[u8]) -> Result<(), Error> {
        let length = self.out.len();
        let space = self.out.get_mut(self.written..self.written + octets.len());
        space.ok_or(Error::BufferTooSmall(length))?.copy_from_slice(octets);
        self.written += octets.len();
        Ok(())
    }

    pub(super) fn u8(&mut self, octet: u8) -> Result<(), Error> {
        self.slice(&[octet])
    }

    pub(super) fn u16(&mut self, value: u16) -> Result<(), Error> {
        self.slice(&value.to_be_bytes())
    }

    /// Goes over octets that are written already.
    pub(super) fn skip(&mut self, octets: usize) -> Result<(), Error> {
        if octets > self.room() {
            return Err(Error::BufferTooSmall(self.out.len()));
        }
        self.written += octets;
        Ok(())
    }

    /// Forgets all octets behind the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        self.written = self.written.min(length);
    }

    /// The number of octets that still fit.
    fn room(&self) -> usize {
        self.out.len() - self.written
    }

    /// The octets that are not written yet, for [`skip`](Self::skip) to go over.
    pub(super) fn space(&mut self) -> &mut [u8] {
        &mut self.out[self.written..]
    }

    /// The octets written so far, to change them.
    pub(super) fn octets(&mut self) -> &mut [u8] {
        &mut self.out[..self.written]
    }

    /// The number of octets written so far.
    pub(super) fn written(&self) -> usize {
        self.written
    }
}
