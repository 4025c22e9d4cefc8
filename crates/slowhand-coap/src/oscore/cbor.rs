//! The few items of CBOR that OSCORE computes with, and that CoJP sends (RFC 8949, section 3).

/// An item under construction.
#[derive(Default)]
pub(crate) struct Cbor(Vec<u8>);

impl Cbor {
    /// An array of so many items, which follow.
    pub(crate) fn array(items: usize) -> Self {
        Self::default().head(4, items)
    }

    /// A map of so many pairs, which follow.
    pub(crate) fn map(pairs: usize) -> Self {
        Self::default().head(5, pairs)
    }

    /// A number that is not negative.
    pub(crate) fn unsigned(self, number: usize) -> Self {
        self.head(0, number)
    }

    /// A number that may be negative.
    pub(crate) fn integer(self, number: i64) -> Self {
        match usize::try_from(number) {
            Ok(number) => self.unsigned(number),
            Err(_) => self.head(1, number.unsigned_abs() as usize - 1),
        }
    }

    /// A string of octets.
    pub(crate) fn octets(self, octets: &[u8]) -> Self {
        self.head(2, octets.len()).raw(octets)
    }

    /// A text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.head(3, text.len()).raw(text.as_bytes())
    }

    /// Null.
    pub(crate) fn null(self) -> Self {
        self.raw(&[0xf6])
    }

    /// Items that are already written.
    pub(crate) fn raw(mut self, octets: &[u8]) -> Self {
        self.0.extend_from_slice(octets);
        self
    }

    /// All of it.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// The major type and its number, in as few octets as it takes.
    fn head(self, major: u8, number: usize) -> Self {
        let [.., high, low] = number.to_be_bytes();
        match number {
            0..24 => self.raw(&[major << 5 | low]),
            24..0x100 => self.raw(&[major << 5 | 24, low]),
            0x100..0x1_0000 => self.raw(&[major << 5 | 25, high, low]),
            _ => self.raw(&[major << 5 | 27]).raw(&(number as u64).to_be_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::octets;

    use super::*;

    /// RFC 8949, appendix A; and by hand, strings at the borders of the lengths.
    #[test]
    fn heads_are_those_of_the_standard() {
        for (number, expected) in [(0, "00"), (23, "17"), (24, "1818"), (100, "1864"), (1000, "1903e8")] {
            assert_eq!(Cbor::default().unsigned(number).finish(), octets(expected), "{number}");
        }
        assert_eq!(Cbor::array(3).unsigned(1).unsigned(2).unsigned(3).finish(), octets("83 01 02 03"));
        assert_eq!(Cbor::default().octets(&octets("01020304")).finish(), octets("44 01020304"));
        assert_eq!(Cbor::default().text("IETF").null().finish(), octets("64 49455446 f6"));
        for (length, head) in [(23, "57"), (24, "5818"), (255, "58ff"), (256, "590100"), (65536, "5b0000000000010000")]
        {
            let written = Cbor::default().octets(&vec![7; length]).finish();
            assert_eq!((&written[..head.len() / 2], written.len()), (&octets(head)[..], head.len() / 2 + length));
        }
    }
}
