//! The number of octets that may be sent to an address that nobody has verified. Without the feature `known-addresses` nothing is
//! sent to one.

use crate::features::{KNOWN_ADDRESSES, Slot};

/// The most octets that are sent to such an address, as a multiple of those from it (RFC 9000, section 8.1).
const AMPLIFICATION: usize = 3;

/// Without a limit, or the octets that are left.
#[derive(Default)]
pub(crate) struct Allowance {
    left: Slot<KNOWN_ADDRESSES, Option<usize>>,
}

impl Allowance {
    pub(crate) const fn is_limited(&self) -> bool {
        matches!(self.left.first(), Some(Some(_)))
    }

    /// So many octets have come from the address.
    pub(crate) fn receive(&mut self, octets: usize) {
        for left in &mut self.left {
            *left = Some(left.unwrap_or(0).saturating_add(AMPLIFICATION * octets));
        }
    }

    /// So many octets would be sent. False if they may not.
    pub(crate) fn take(&mut self, octets: usize) -> bool {
        if !KNOWN_ADDRESSES {
            return true; // at once: otherwise the compiler finds too late that the loop around this has one turn
        }
        let Some(Some(left)) = self.left.first_mut() else { return true };
        let after = left.checked_sub(octets);
        *left = after.unwrap_or(*left);
        after.is_some()
    }

    /// The peer is at its address.
    pub(crate) fn lift(&mut self) {
        self.left.fill(None);
    }
}
