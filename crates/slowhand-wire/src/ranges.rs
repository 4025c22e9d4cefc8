//! A set of numbers, kept as ranges.

use std::ops::Range;

/// A set of numbers: offsets of octets in a message, or sequence numbers of a stream.
///
/// The ranges are in ascending order, with a gap between each two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: Vec<Range<u32>>,
}

impl RangeSet {
    /// True if all of `range` is in the set. Always true if `range` is empty.
    pub fn contains(&self, range: &Range<u32>) -> bool {
        let next = self.ranges.partition_point(|known| known.end < range.end);
        range.is_empty() || self.ranges.get(next).is_some_and(|known| known.start <= range.start)
    }

    /// Adds all of `range`.
    pub fn insert(&mut self, mut range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|known| known.end < range.start);
        let after = self.ranges.partition_point(|known| known.start <= range.end);
        for known in &self.ranges[first..after] {
            range = known.start.min(range.start)..known.end.max(range.end);
        }
        self.ranges.splice(first..after, [range]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut set = RangeSet::default();
        for range in [10..20, 30..40, 20..25, 5..8, 50..50] {
            set.insert(range);
        }
        assert_eq!(set.ranges, [5..8, 10..25, 30..40]);
        assert!(set.contains(&(10..25)) && set.contains(&(60..60)));
        assert!(!set.contains(&(7..11)) && !set.contains(&(24..26)) && !set.contains(&(40..41)));
        set.insert(0..100);
        assert_eq!(set, RangeSet { ranges: vec![Range { start: 0, end: 100 }] });
    }

    proptest! {
        /// Compares the ranges with a set of single numbers.
        #[test]
        fn it_is_a_set(ranges in prop::collection::vec((0..60_u32, 0..12_u32), 0..20), start in 0..60_u32, length in 0..12_u32) {
            let (mut set, mut numbers) = (RangeSet::default(), BTreeSet::new());
            for (start, length) in ranges {
                set.insert(start..start + length);
                numbers.extend(start..start + length);
            }
            let expected = (start..start + length).all(|number| numbers.contains(&number));
            prop_assert_eq!(set.contains(&(start..start + length)), expected);
            prop_assert!(set.ranges.is_sorted_by(|one, next| one.end < next.start));
        }
    }
}
