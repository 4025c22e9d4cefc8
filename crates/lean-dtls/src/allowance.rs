//! The number of octets that may be sent to an address that nobody has verified. Without the feature `known-addresses` nothing is
//! sent to one.

/// The most octets that are sent to such an address, as a multiple of those from it (RFC 9000, section 8.1).
#[cfg(feature = "known-addresses")]
const AMPLIFICATION: usize = 3;

/// Without a limit, or the octets that are left.
#[derive(Default)]
pub(crate) struct Allowance {
    #[cfg(feature = "known-addresses")]
    left: Option<usize>,
}

#[cfg(feature = "known-addresses")]
impl Allowance {
    pub(crate) const fn is_limited(&self) -> bool {
        self.left.is_some()
    }

    /// So many octets have come from the address.
    pub(crate) fn receive(&mut self, octets: usize) {
        self.left = Some(self.left.unwrap_or(0).saturating_add(AMPLIFICATION * octets));
    }

    /// So many octets would be sent. False if they may not.
    pub(crate) fn take(&mut self, octets: usize) -> bool {
        let Some(left) = &mut self.left else { return true };
        let after = left.checked_sub(octets);
        *left = after.unwrap_or(*left);
        after.is_some()
    }

    /// The peer is at its address.
    pub(crate) const fn lift(&mut self) {
        self.left = None;
    }
}

#[cfg(not(feature = "known-addresses"))]
impl Allowance {
    pub(crate) const fn is_limited(&self) -> bool {
        false
    }

    pub(crate) const fn receive(&mut self, _: usize) {}

    pub(crate) const fn take(&mut self, _: usize) -> bool {
        true
    }

    pub(crate) const fn lift(&mut self) {}
}
