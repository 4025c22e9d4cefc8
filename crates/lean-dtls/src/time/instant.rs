//! A point in time.

/// A point in time: milliseconds since any beginning that the owner chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// So many milliseconds after the beginning.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// Milliseconds since the beginning.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    pub(crate) const fn after(self, milliseconds: u32) -> Self {
        Self(self.0.saturating_add(milliseconds as u64))
    }
}
