//! The input of a target as a list of decisions. When it has come to its end, every decision is 0.

/// The rest of an input.
pub struct Input<'a> {
    octets: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of it.
    pub const fn new(octets: &'a [u8]) -> Self {
        Self { octets }
    }

    /// True if there is nothing left to decide.
    pub const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// The next octet.
    pub fn octet(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// The next two octets as a number.
    pub fn number(&mut self) -> u16 {
        u16::from(self.octet()) << 8 | u16::from(self.octet())
    }

    /// True for one half of the octets.
    pub fn flag(&mut self) -> bool {
        self.octet() & 1 == 1
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        let chosen = if end <= 256 { usize::from(self.octet()) } else { self.number().into() };
        chosen % end
    }

    /// As many of the next octets as there are, at most `length`.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.octets.split_at(length.min(self.octets.len()));
        self.octets = rest;
        taken
    }

    /// A string of octets with its length before it.
    pub fn string(&mut self) -> &'a [u8] {
        let length = self.octet();
        self.take(length.into())
    }
}

/// A number that is another one for every input: keys that follow from it are of no use in the next input.
pub fn seed(octets: &[u8]) -> u64 {
    // FNV-1a (Fowler, Noll, Vo), with the constants of its authors.
    octets
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, octet| (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3))
}
