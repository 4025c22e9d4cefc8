//! Reads items of CBOR (RFC 8949, section 3) of definite lengths, as CoJP uses them.

use super::Error;

/// Major types.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const OCTETS: u8 = 2;
const ARRAY: u8 = 4;
const MAP: u8 = 5;

/// What is left of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    /// The number of pairs of a map that begins here.
    pub(super) fn map(&mut self) -> Result<u64, Error> {
        self.expect(MAP)
    }

    /// The number of items of an array that begins here.
    pub(super) fn array(&mut self) -> Result<u64, Error> {
        self.expect(ARRAY)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, Error> {
        self.expect(UNSIGNED)
    }

    /// A number that may be negative.
    pub(super) fn integer(&mut self) -> Result<i64, Error> {
        let (major, number) = self.head()?;
        let number = i64::try_from(number).map_err(|_| Error::Object)?;
        match major {
            UNSIGNED => Ok(number),
            NEGATIVE => Ok(-1 - number),
            _ => Err(Error::Object),
        }
    }

    pub(super) fn octets(&mut self) -> Result<&'a [u8], Error> {
        let length = usize::try_from(self.expect(OCTETS)?).map_err(|_| Error::Object)?;
        let (octets, rest) = self.0.split_at_checked(length).ok_or(Error::Object)?;
        self.0 = rest;
        Ok(octets)
    }

    /// True if a number begins here.
    pub(super) fn is_integer(&self) -> bool {
        self.0.first().is_some_and(|head| matches!(head >> 5, UNSIGNED | NEGATIVE))
    }

    /// True if a string of octets begins here.
    pub(super) fn is_octets(&self) -> bool {
        self.0.first().is_some_and(|head| head >> 5 == OCTETS)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn expect(&mut self, major: u8) -> Result<u64, Error> {
        match self.head()? {
            (found, number) if found == major => Ok(number),
            _ => Err(Error::Object),
        }
    }

    /// The major type and its number.
    fn head(&mut self) -> Result<(u8, u64), Error> {
        let (head, rest) = self.0.split_first().ok_or(Error::Object)?;
        let width = match head & 0x1f {
            0..24 => 0,
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => return Err(Error::Object), // of indefinite length, or reserved
        };
        let (number, rest) = rest.split_at_checked(width).ok_or(Error::Object)?;
        self.0 = rest;
        let wide = number.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        Ok((head >> 5, if width == 0 { u64::from(head & 0x1f) } else { wide }))
    }
}
