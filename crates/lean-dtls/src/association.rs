//! The name of a connection of a server.

use core::num::NonZeroU32;

/// A connection of a [`Server`](crate::Server) with one client: a DTLS association.
///
/// It stays the same when the client's address changes. The next connection with the same client is another association. It names
/// nothing any more when its slot has been given to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Association(NonZeroU32);

impl Association {
    /// Before the first one.
    pub(crate) const NONE: u32 = 0;

    /// The one after so many. After 2^32 of them the numbers begin again.
    pub(crate) const fn after(last: u32) -> Self {
        match NonZeroU32::new(last.wrapping_add(1)) {
            Some(number) => Self(number),
            None => Self(NonZeroU32::MIN),
        }
    }

    /// Its number, for code that cannot keep the type. Never 0.
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// That with this number. `None` for 0.
    pub const fn with_number(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}
