//! Sequence numbers: integers modulo 2^32 (RFC 9293 section 3.4).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A TCP sequence number. Two numbers can be compared if they are less than 2^31 apart. Of two numbers
/// that are exactly 2^31 apart, neither lies before the other (RFC 1982 section 3.2: the order is not
/// defined). There is no `Ord`, because this order is not total and not transitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// True if `self` lies before `other`.
    pub const fn before(self, other: Self) -> bool {
        // The distance as a signed number: -2^31, the one that has no positive counterpart, is no order.
        other.0.wrapping_sub(self.0) as i32 > 0
    }

    /// True if `self` is `other` or lies before it.
    pub const fn at_or_before(self, other: Self) -> bool {
        self.0 == other.0 || self.before(other)
    }

    /// True if `self` lies after `other`.
    pub const fn after(self, other: Self) -> bool {
        other.before(self)
    }

    /// The number of octets from `earlier` to `self`, or zero if `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> u32 {
        if self.after(earlier) { self.0.wrapping_sub(earlier.0) } else { 0 }
    }

    /// The later of the two.
    pub const fn latest(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }

    /// The earlier of the two.
    pub const fn earliest(self, other: Self) -> Self {
        if other.before(self) { other } else { self }
    }
}

impl Add<u32> for SeqNumber {
    type Output = Self;
    fn add(self, octets: u32) -> Self {
        Self(self.0.wrapping_add(octets))
    }
}

impl AddAssign<u32> for SeqNumber {
    fn add_assign(&mut self, octets: u32) {
        *self = *self + octets;
    }
}

impl Sub<u32> for SeqNumber {
    type Output = Self;
    fn sub(self, octets: u32) -> Self {
        Self(self.0.wrapping_sub(octets))
    }
}

impl fmt::Display for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_holds_across_the_wrap(start: u32, step in 1u32..0x8000_0000) {
            let (a, b) = (SeqNumber(start), SeqNumber(start) + step);
            prop_assert!(a.before(b) && b.after(a));
            prop_assert!(!b.before(a) && a.at_or_before(b) && a.at_or_before(a));
            prop_assert_eq!(b.since(a), step);
            prop_assert_eq!(a.since(b), 0);
            prop_assert_eq!(a.latest(b), b);
            prop_assert_eq!(b.earliest(a), a);
            prop_assert_eq!(b - step, a);
        }

        /// RFC 1982 section 3.2: the order of such a pair is not defined. Here it has none.
        #[test]
        fn half_of_the_space_apart_there_is_no_order(start: u32) {
            let (a, b) = (SeqNumber(start), SeqNumber(start) + 0x8000_0000);
            for (one, other) in [(a, b), (b, a)] {
                prop_assert!(!one.before(other) && !one.after(other) && !one.at_or_before(other));
                prop_assert_eq!(one.since(other), 0);
            }
        }
    }
}
