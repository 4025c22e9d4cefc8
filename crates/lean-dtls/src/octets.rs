//! A few octets, whose number is known only when they arrive.

/// At most `MOST` octets, 255 at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Octets<const MOST: usize> {
    octets: [u8; MOST],
    length: u8,
}

impl<const MOST: usize> Octets<MOST> {
    /// None.
    pub(crate) const EMPTY: Self = Self { octets: [0; MOST], length: 0 };

    /// `None` if they are too many.
    pub(crate) fn new(octets: &[u8]) -> Option<Self> {
        let mut kept = Self::EMPTY;
        kept.keep(octets);
        (kept.octets() == octets).then_some(kept)
    }

    /// Keeps these octets, or none if they are too many.
    pub(crate) fn keep(&mut self, octets: &[u8]) {
        self.length = 0;
        if let Some(place) = self.octets.get_mut(..octets.len()) {
            place.copy_from_slice(octets);
            self.length = octets.len() as u8;
        }
    }

    pub(crate) fn octets(&self) -> &[u8] {
        self.octets.get(..usize::from(self.length)).unwrap_or(&[])
    }
}

impl<const MOST: usize> Default for Octets<MOST> {
    fn default() -> Self {
        Self::EMPTY
    }
}
