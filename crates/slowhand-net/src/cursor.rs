//! Reading and writing octets in order, never past the end.

use std::marker::PhantomData;

/// The errors of a format, which also says the order of its octets.
pub(crate) trait Format: Sized {
    /// True if the most significant octet of a number comes first.
    const IS_BIG_ENDIAN: bool;

    /// The octets end inside a field.
    const TRUNCATED: Self;

    /// The octets do not fit into a buffer of this length.
    fn too_small(length: usize) -> Self;
}

/// Reads octets from the front of a slice.
pub(crate) struct Reader<'a, F> {
    rest: &'a [u8],
    length: usize,
    format: PhantomData<F>,
}

impl<'a, F: Format> Reader<'a, F> {
    #[inline]
    pub(crate) const fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets, length: octets.len(), format: PhantomData }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], F> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(F::TRUNCATED)?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub(crate) fn slice(&mut self, length: usize) -> Result<&'a [u8], F> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(F::TRUNCATED)?;
        self.rest = rest;
        Ok(head)
    }

    /// The number of octets read so far.
    #[inline]
    pub(crate) const fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// The octets that are not read yet.
    #[inline]
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Appends octets to a buffer of the caller.
pub(crate) struct Writer<'a, F> {
    out: &'a mut [u8],
    written: usize,
    format: PhantomData<F>,
}

impl<'a, F: Format> Writer<'a, F> {
    #[inline]
    pub(crate) const fn new(out: &'a mut [u8]) -> Self {
        Self { out, written: 0, format: PhantomData }
    }

    #[inline]
    pub(crate) fn slice(&mut self, octets: &[u8]) -> Result<(), F> {
        let length = self.out.len();
        let space = self.out.get_mut(self.written..self.written + octets.len());
        space.ok_or_else(|| F::too_small(length))?.copy_from_slice(octets);
        self.written += octets.len();
        Ok(())
    }

    /// Goes over octets that are written elsewhere: before, or later.
    pub(crate) fn skip(&mut self, octets: usize) -> Result<(), F> {
        if octets > self.out.len() - self.written {
            return Err(F::too_small(self.out.len()));
        }
        self.written += octets;
        Ok(())
    }

    /// Forgets all octets behind the first `length`.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.written = self.written.min(length);
    }

    /// The octets that are not written yet, for [`skip`](Self::skip) to go over.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        &mut self.out[self.written..]
    }

    /// The octets written so far, to change them.
    pub(crate) fn octets(&mut self) -> &mut [u8] {
        &mut self.out[..self.written]
    }

    /// The number of octets written so far.
    #[inline]
    pub(crate) const fn written(&self) -> usize {
        self.written
    }
}

macro_rules! numbers {
    ($($number:ident)*) => {
        impl<F: Format> Reader<'_, F> {
            $(#[inline]
            pub(crate) fn $number(&mut self) -> Result<$number, F> {
                self.array().map(if F::IS_BIG_ENDIAN { $number::from_be_bytes } else { $number::from_le_bytes })
            })*
        }

        impl<F: Format> Writer<'_, F> {
            $(#[inline]
            pub(crate) fn $number(&mut self, value: $number) -> Result<(), F> {
                self.slice(&if F::IS_BIG_ENDIAN { value.to_be_bytes() } else { value.to_le_bytes() })
            })*
        }
    };
}

numbers! { u8 u16 u32 u64 }
