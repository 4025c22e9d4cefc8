//! Sequence numbers: integers modulo 2^48 (RFC 4340 section 7).

use std::fmt;
use std::ops::{Add, Sub};

/// The bits of a sequence number.
const MASK: u64 = (1 << 48) - 1;

/// A sequence number of DCCP. Each packet has one, and the next packet the next one. Two numbers can be compared if they
/// are less than 2^47 apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNumber(u64);

impl SeqNumber {
    /// The number whose low 48 bits these are.
    pub const fn new(number: u64) -> Self {
        Self(number & MASK)
    }

    /// The number, below 2^48.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The distance of this number ahead of another one; negative if it is behind it.
    pub const fn ahead_of(self, other: Self) -> i64 {
        // The difference in the high 48 bits of a signed number has the sign of the shorter way around.
        (self.0.wrapping_sub(other.0) << 16) as i64 >> 16
    }

    /// True if this number lies from `first` to `last`, both included.
    pub const fn is_within(self, first: Self, last: Self) -> bool {
        self.ahead_of(first) >= 0 && self.ahead_of(last) <= 0
    }

    /// The later of the two.
    pub const fn latest(self, other: Self) -> Self {
        if self.ahead_of(other) >= 0 { self } else { other }
    }
}

impl Add<u64> for SeqNumber {
    type Output = Self;
    fn add(self, packets: u64) -> Self {
        Self::new(self.0.wrapping_add(packets))
    }
}

impl Sub<u64> for SeqNumber {
    type Output = Self;
    fn sub(self, packets: u64) -> Self {
        Self::new(self.0.wrapping_sub(packets))
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
        fn order_holds_across_the_wrap(start in 0..=MASK, step in 1u64..1 << 47) {
            let (a, b) = (SeqNumber::new(start), SeqNumber::new(start) + step);
            prop_assert_eq!(b.ahead_of(a), step as i64);
            prop_assert_eq!(a.ahead_of(b), -(step as i64));
            prop_assert_eq!(a.latest(b), b);
            prop_assert_eq!(b.latest(a), b);
            prop_assert_eq!(b - step, a);
            prop_assert!(a.is_within(a, b) && b.is_within(a, b) && !(b + 1).is_within(a, b) && !(a - 1).is_within(a, b));
        }
    }
}
