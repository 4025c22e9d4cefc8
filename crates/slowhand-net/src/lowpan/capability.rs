//! The 6LoWPAN Capability Indication Option of neighbour discovery (6CIO, RFC 7400 section 3.3): what a node tells its neighbours
//! that it understands.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   type = 36   |  length = 1   |        flags 0 to 14        |G|
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        flags 16 to 47                         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A scenario does not simulate router solicitations: each node knows from the beginning what its neighbours understand, as if
//! this option had come with them.

use super::Error;
use super::cursor::Reader;

/// The type of the option (RFC 7400 section 4).
const TYPE: u8 = 36;

/// The unit of its length, in octets.
const UNIT: usize = 8;

/// The number of the flag of GHC: the G bit.
const GHC: u32 = 15;

/// The flags of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// G: the node understands Generic Header Compression.
    pub ghc: bool,
}

impl Capabilities {
    /// The octets of the option.
    pub fn emit(self) -> [u8; UNIT] {
        // Flags that are not assigned are sent as zero (section 3.4).
        let mut octets = (u64::from(self.ghc) << (47 - GHC)).to_be_bytes();
        [octets[0], octets[1]] = [TYPE, 1];
        octets
    }

    /// Reads an option. Flags that are not assigned have no effect, nor has what a longer option has behind the first eight
    /// octets (section 3.4).
    ///
    /// # Errors
    /// [`Error::Dispatch`] if it has another type, and [`Error::Truncated`].
    pub fn parse(option: &[u8]) -> Result<Self, Error> {
        let mut input = Reader::new(option);
        match input.u8()? {
            TYPE => {}
            other => return Err(Error::Dispatch(other)),
        }
        let length = UNIT * usize::from(input.u8()?);
        let body = input.slice(length.checked_sub(2).ok_or(Error::Truncated)?)?;
        let flags = Reader::new(body).array::<6>()?;
        let flags = flags.iter().fold(0, |flags, &octet| flags << 8 | u64::from(octet));
        Ok(Self { ghc: flags >> (47 - GHC) & 1 == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_of_ghc_is_the_last_bit_of_the_first_word() {
        let option = Capabilities { ghc: true }.emit();
        assert_eq!(option, [36, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(Capabilities::parse(&option), Ok(Capabilities { ghc: true }));
        assert_eq!(Capabilities { ghc: false }.emit(), [36, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn other_flags_and_longer_options_are_read_over() {
        let other = [36, 1, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(Capabilities::parse(&other), Ok(Capabilities { ghc: false }));
        let longer = [&[36, 2, 0, 1][..], &[0xff; 12]].concat();
        assert_eq!(Capabilities::parse(&longer), Ok(Capabilities { ghc: true }));
    }

    #[test]
    fn what_is_no_such_option_is_refused() {
        assert_eq!(Capabilities::parse(&[35, 1, 0, 1, 0, 0, 0, 0]), Err(Error::Dispatch(35)));
        for option in [&[][..], &[36], &[36, 0, 0, 1, 0, 0, 0, 0], &[36, 1, 0, 1, 0, 0, 0], &[36, 2, 0, 1, 0, 0, 0, 0]]
        {
            assert_eq!(Capabilities::parse(option), Err(Error::Truncated));
        }
    }
}
