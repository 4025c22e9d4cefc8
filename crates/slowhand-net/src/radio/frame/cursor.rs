//! Reading and writing octets in order, least significant octet first, never past the end.

use super::error::Error;

/// Reads a slice from its front.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[inline]
    pub(super) const fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets }
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub(super) fn slice(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_le_bytes)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// The octets that have not been read.
    #[inline]
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Appends octets to a buffer of the caller.
pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    #[inline]
    pub(super) const fn new(out: &'a mut [u8]) -> Self {
        Self { out, written: 0 }
    }

    #[inline]
    pub(super) fn slice(&mut self, octets: &[u8]) -> Result<(), Error> {
        let length = self.out.len();
        let space = self.out.get_mut(self.written..self.written + octets.len());
        space.ok_or(Error::BufferTooSmall(length))?.copy_from_slice(octets);
        self.written += octets.len();
        Ok(())
    }

    #[inline]
    pub(super) fn u8(&mut self, octet: u8) -> Result<(), Error> {
        self.slice(&[octet])
    }

    #[inline]
    pub(super) fn u16(&mut self, value: u16) -> Result<(), Error> {
        self.slice(&value.to_le_bytes())
    }

    #[inline]
    pub(super) fn u32(&mut self, value: u32) -> Result<(), Error> {
        self.slice(&value.to_le_bytes())
    }

    #[inline]
    pub(super) fn u64(&mut self, value: u64) -> Result<(), Error> {
        self.slice(&value.to_le_bytes())
    }

    /// The number of octets appended so far.
    #[inline]
    pub(super) const fn written(&self) -> usize {
        self.written
    }
}
