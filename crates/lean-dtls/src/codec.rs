//! Reading and writing numbers and vectors of RFC 5246, section 4.

/// The rest of octets from the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    octets: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// The octets that are left.
    pub(crate) const fn rest(self) -> &'a [u8] {
        self.octets
    }

    /// The next octets. `None` if there are not so many.
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.octets.split_at_checked(length)?;
        self.octets = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// A number of 1 to 4 octets, the most significant first.
    pub(crate) fn number(&mut self, octets: usize) -> Option<u32> {
        self.take(octets).map(|taken| taken.iter().fold(0, |number, octet| number << 8 | u32::from(*octet)))
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.number(1).map(|number| number as u8)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.number(2).map(|number| number as u16)
    }

    /// A vector whose length is in the first `prefix` octets.
    pub(crate) fn vector(&mut self, prefix: usize) -> Option<&'a [u8]> {
        self.vector_of::<usize>(prefix)
    }

    /// Reads a vector where lengths are of this type: on an AVR they have 16 bits, and 24 bits arrive. A longer vector is not there.
    fn vector_of<L: TryFrom<u32> + TryInto<usize>>(&mut self, prefix: usize) -> Option<&'a [u8]> {
        let length = L::try_from(self.number(prefix)?).ok()?;
        self.take(length.try_into().ok()?)
    }
}

/// There is no room for what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Octets that are filled from the front.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    octets: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(octets: &'a mut [u8]) -> Self {
        Self { octets, length: 0 }
    }

    /// The number of octets so far.
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn put(&mut self, octets: &[u8]) -> Result<(), Full> {
        let end = self.length + octets.len();
        self.octets.get_mut(self.length..end).ok_or(Full)?.copy_from_slice(octets);
        self.length = end;
        Ok(())
    }

    /// A number in `octets` octets, 4 at most, the most significant first.
    pub(crate) fn number(&mut self, number: u32, octets: usize) -> Result<(), Full> {
        self.put(&number.to_be_bytes()[4 - octets..])
    }

    /// A vector with its length in the first `prefix` octets.
    pub(crate) fn vector(
        &mut self,
        prefix: usize,
        content: impl FnOnce(&mut Self) -> Result<(), Full>,
    ) -> Result<(), Full> {
        self.number(0, prefix)?;
        let start = self.length;
        content(self)?;
        self.end_vector(prefix, start);
        Ok(())
    }

    /// Writes the length of a vector, which stands before its `start`.
    fn end_vector(&mut self, prefix: usize, start: usize) {
        let length = (self.length - start) as u32;
        let place = self.octets.get_mut(start - prefix..start).unwrap_or_default();
        place.iter_mut().rev().zip(length.to_le_bytes()).for_each(|(place, octet)| *place = octet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_vectors_are_read_to_the_last_octet_and_not_beyond() {
        let mut reader = Reader::new(&[1, 2, 3, 0, 2, 9, 8, 7]);
        assert_eq!(reader.number(3), Some(0x01_02_03));
        assert_eq!(reader.vector(2), Some(&[9, 8][..]));
        assert_eq!(reader.vector(1), None, "seven octets are announced, none is there");
        assert!(reader.is_empty());
        assert_eq!(reader.u16(), None);
    }

    /// Where `usize` has 16 bits, a length of 0x01_00_02 is not one of 2.
    #[test]
    fn a_length_of_three_octets_is_read_without_loss() {
        for (octets, expected) in [([0, 0, 2, 7, 8], Some(&[7, 8][..])), ([1, 0, 2, 7, 8], None)] {
            assert_eq!(Reader::new(&octets).vector_of::<u16>(3), expected);
            assert_eq!(Reader::new(&octets).vector_of::<usize>(3), expected);
        }
        let octets = [[0, 0xff, 0xff].as_slice(), &[7; 0xffff]].concat();
        assert_eq!(Reader::new(&octets).vector_of::<u16>(3).map(<[u8]>::len), Some(0xffff));
    }

    #[test]
    fn a_vector_gets_its_length_and_no_octet_is_written_beyond_the_end() {
        let mut octets = [0; 5];
        let mut writer = Writer::new(&mut octets);
        assert_eq!(writer.vector(2, |writer| writer.put(&[7, 7, 7])), Ok(()));
        assert_eq!(writer.put(&[1]), Err(Full));
        assert_eq!(writer.len(), 5);
        assert_eq!(octets, [0, 3, 7, 7, 7]);
    }
}
