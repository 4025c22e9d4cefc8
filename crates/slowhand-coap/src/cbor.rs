//! The few items of CBOR that OSCORE, EDHOC and CoJP need (RFC 8949, section 3).

/// The simple value true (RFC 8949, section 3.3).
pub(crate) const TRUE: u8 = 0xf5;

/// An item under construction.
#[derive(Default)]
pub(crate) struct Cbor(Vec<u8>);

impl Cbor {
    /// Nothing yet, with room for so many octets: as long as they suffice, nothing that is written moves.
    pub(crate) fn with_capacity(octets: usize) -> Self {
        Self(Vec::with_capacity(octets))
    }

    /// An array of so many items, which follow.
    pub(crate) fn array(items: usize) -> Self {
        Self::default().head(4, items as u64)
    }

    /// A map of so many pairs, which follow.
    pub(crate) fn map(pairs: usize) -> Self {
        Self::default().head(5, pairs as u64)
    }

    /// A number that is not negative.
    pub(crate) fn unsigned(self, number: usize) -> Self {
        self.head(0, number as u64)
    }

    /// A number.
    pub(crate) fn integer(self, number: i64) -> Self {
        // It is -1 - n for the n that is written (section 3.1).
        let major = u8::from(number < 0);
        self.head(major, (if number < 0 { !number } else { number }).unsigned_abs())
    }

    /// A string of octets.
    pub(crate) fn octets(self, octets: &[u8]) -> Self {
        self.head(2, octets.len() as u64).raw(octets)
    }

    /// A text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.head(3, text.len() as u64).raw(text.as_bytes())
    }

    /// True.
    pub(crate) fn yes(self) -> Self {
        self.raw(&[TRUE])
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
    fn head(self, major: u8, number: u64) -> Self {
        let [.., high, low] = number.to_be_bytes();
        match number {
            0..24 => self.raw(&[major << 5 | low]),
            24..0x100 => self.raw(&[major << 5 | 24, low]),
            0x100..0x1_0000 => self.raw(&[major << 5 | 25, high, low]),
            0x1_0000..0x1_0000_0000 => self.raw(&[major << 5 | 26]).raw(&(number as u32).to_be_bytes()),
            _ => self.raw(&[major << 5 | 27]).raw(&number.to_be_bytes()),
        }
    }
}

/// The rest of a sequence of items (RFC 8742), all of definite lengths. A method gives `None`, and is then of no more use, if
/// the next item is another one.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    octets: &'a [u8],
    is_strict: bool,
}

impl<'a> Reader<'a> {
    /// All of it. Each item has the one form that section 4.2.1 of RFC 8949 allows, as EDHOC wants it (RFC 9528, section 3.1).
    pub(crate) const fn strict(octets: &'a [u8]) -> Self {
        Self { octets, is_strict: true }
    }

    /// All of it. A length or a number may have more octets than it takes (RFC 8949, section 3): CoJP does not forbid it.
    pub(crate) const fn lenient(octets: &'a [u8]) -> Self {
        Self { octets, is_strict: false }
    }

    /// True if there is no item.
    pub(crate) const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// The octets of all items that are left.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.octets
    }

    /// The next item if it is one that `read` reads; else nothing is read.
    pub(crate) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = *self;
        let item = read(&mut ahead)?;
        *self = ahead;
        Some(item)
    }

    /// A number that is not negative.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        self.number(0)
    }

    /// A number.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        match self.head()? {
            (0, number) => i64::try_from(number).ok(),
            (1, number) => i64::try_from(number).ok().map(|number| !number),
            _ => None,
        }
    }

    /// A string of octets.
    pub(crate) fn octets(&mut self) -> Option<&'a [u8]> {
        let length = self.number(2)?;
        self.take(length)
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.number(3)?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// The number of items in an array, which follow.
    pub(crate) fn array(&mut self) -> Option<u64> {
        self.number(4)
    }

    /// The number of pairs in a map, which follow.
    pub(crate) fn map(&mut self) -> Option<u64> {
        self.number(5)
    }

    /// The octets of an item of any type, with all that is in it.
    pub(crate) fn item(&mut self) -> Option<&'a [u8]> {
        let all = self.octets;
        let mut items = 1_u64;
        while items > 0 {
            items -= 1;
            match self.head()? {
                (2 | 3, length) => drop(self.take(length)?),
                (4, more) => items = items.checked_add(more)?,
                (5, pairs) => items = items.checked_add(pairs.checked_mul(2)?)?,
                (6, _) => items += 1,
                _ => {}
            }
        }
        Some(&all[..all.len() - self.octets.len()])
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.octets.split_at_checked(usize::try_from(length).ok()?)?;
        self.octets = rest;
        Some(taken)
    }

    /// The number of the next item, if it has this major type.
    fn number(&mut self, major: u8) -> Option<u64> {
        self.head().filter(|(found, _)| *found == major).map(|(_, number)| number)
    }

    /// The major type and its number.
    fn head(&mut self) -> Option<(u8, u64)> {
        let first = self.take(1)?[0];
        let (major, short) = (first >> 5, first & 0x1f);
        let length = match short {
            0..24 => return Some((major, short.into())),
            24..28 => 1 << (short - 24),
            // Reserved, or without a length: the end comes later.
            _ => return None,
        };
        let number = self.take(length)?.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        let least = match length {
            1 => 24,
            length => 1 << (4 * length),
        };
        // Heads of major type 7 are floating-point numbers, but for one octet (section 3.3).
        let is_shortest = if major == 7 { length > 1 || number >= 32 } else { number >= least };
        (is_shortest || !self.is_strict).then_some((major, number))
    }
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::{octets, text};

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
        for (length, head) in [(23, "57"), (24, "5818"), (255, "58ff"), (256, "590100"), (65536, "5a00010000")] {
            let written = Cbor::default().octets(&vec![7; length]).finish();
            assert_eq!((&written[..head.len() / 2], written.len()), (&octets(head)[..], head.len() / 2 + length));
        }
    }
    /// RFC 8949, appendix A.
    #[test]
    fn items_are_read_as_the_standard_has_them() {
        for (written, number) in [
            ("00", 0),
            ("17", 23),
            ("1818", 24),
            ("1903e8", 1000),
            ("1a000f4240", 1_000_000),
            ("1b000000e8d4a51000", 1_000_000_000_000),
            ("20", -1),
            ("3863", -100),
            ("3903e7", -1000),
        ] {
            assert_eq!(Reader::strict(&octets(written)).integer(), Some(number), "{written}");
            assert_eq!(text(&Cbor::default().integer(number).finish()), written);
        }
        assert_eq!(Reader::strict(&octets("44 01020304")).octets(), Some(&[1, 2, 3, 4][..]));
        assert_eq!(Reader::strict(&octets("64 49455446")).text(), Some("IETF"));
        for whole in [
            "f4",
            "f5",
            "f8ff",
            "f93c00",
            "fb3ff199999999999a",
            "c11a514b67b0",
            "80",
            "8301820203820405",
            "a26161016162820203",
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
        ] {
            let sequence = octets(&format!("{whole}07"));
            let mut reader = Reader::strict(&sequence);
            assert_eq!(reader.item().map(<[u8]>::to_vec), Some(octets(whole)), "{whole}");
            assert_eq!((reader.rest(), reader.integer(), reader.is_empty()), (&[7][..], Some(7), true));
        }
    }

    /// RFC 8949, section 3: heads may be longer than they need to be.
    #[test]
    fn a_lenient_reader_takes_every_definite_length() {
        for (written, number) in
            [("1805", 5), ("190005", 5), ("1a00000005", 5), ("1b0000000000000005", 5), ("3800", -1)]
        {
            assert_eq!(Reader::lenient(&octets(written)).integer(), Some(number), "{written}");
            assert_eq!(Reader::strict(&octets(written)).integer(), None, "{written}");
        }
        assert_eq!(Reader::lenient(&octets("590002 cafe")).octets(), Some(&[0xca, 0xfe][..]));
        for refused in ["", "18", "1900", "1c", "1f", "590002 ca", "5f 41ca ff", "9f ff"] {
            assert_eq!(Reader::lenient(&octets(refused)).item(), None, "{refused}");
        }
    }

    #[test]
    fn what_is_not_whole_or_not_shortest_is_refused() {
        for refused in [
            "",
            "18",
            "1817",
            "190018",
            "1900ff",
            "1a0000ffff",
            "1b00000000ffffffff",
            "1c",
            "44010203",
            "5817",
            "9f01ff",
            "5f4100ff",
            "8201",
            "a101",
            "f81f",
            "bb8000000000000000",
            "9bffffffffffffffff00",
            "c1",
        ] {
            assert_eq!(Reader::strict(&octets(refused)).item(), None, "{refused}");
        }
    }
}
