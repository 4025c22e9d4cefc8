//! The parts of a sequence of octets that have arrived.

/// Beginnings and ends in ascending order, that neither touch nor overlap. There are at most `MOST`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges<const MOST: usize> {
    ranges: [(u16, u16); MOST],
    count: u8,
}

impl<const MOST: usize> Ranges<MOST> {
    pub(crate) const fn new() -> Self {
        Self { ranges: [(0, 0); MOST], count: 0 }
    }

    /// Notes that a range has arrived. False if that would make too many: nothing is noted then.
    pub(crate) fn cover(&mut self, mut begin: u16, mut end: u16) -> bool {
        let mut kept = 0;
        for index in 0..usize::from(self.count).min(MOST) {
            let (first, last) = self.ranges[index];
            if last >= begin && first <= end {
                (begin, end) = (begin.min(first), end.max(last));
            } else if let Some(place) = self.ranges.get_mut(kept) {
                *place = (first, last);
                kept += 1;
            }
        }
        let Some(last) = self.ranges.get_mut(kept) else { return false };
        *last = (begin, end);
        self.count = kept as u8 + 1;
        while kept > 0 && self.ranges[kept - 1].0 > begin {
            self.ranges.swap(kept - 1, kept);
            kept -= 1;
        }
        true
    }

    /// True if all octets before `end` have arrived.
    pub(crate) fn reach(&self, end: u16) -> bool {
        self.count == 1 && self.ranges[0] == (0, end)
    }

    /// The number of octets that have arrived before the first gap.
    pub(crate) fn progress(&self) -> u16 {
        if self.count > 0 && self.ranges[0].0 == 0 { self.ranges[0].1 } else { 0 }
    }

    /// The first part of a range that has not arrived. `None` if all of it has, or if it is empty.
    pub(crate) fn gap(&self, mut begin: u16, mut end: u16) -> Option<(u16, u16)> {
        for &(first, last) in &self.ranges[..usize::from(self.count)] {
            if first <= begin {
                begin = begin.max(last);
            } else {
                end = end.min(first);
                break;
            }
        }
        (begin < end).then_some((begin, end))
    }
}

#[cfg(all(test, feature = "acknowledgements"))]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of all octets.
        #[test]
        fn the_first_gap_is_that_of_a_set(
            covered in proptest::collection::vec((0_u16..60, 1_u16..20), 0..12),
            begin in 0_u16..60,
            length in 0_u16..30,
        ) {
            let mut ranges = Ranges::<4>::new();
            let mut set = BTreeSet::new();
            for (begin, length) in covered {
                if ranges.cover(begin, begin + length) {
                    set.extend(begin..begin + length);
                }
            }
            let end = begin + length;
            let first = (begin..end).find(|place| !set.contains(place));
            let gap = first.map(|first| (first, (first..end).find(|place| set.contains(place)).unwrap_or(end)));
            prop_assert_eq!(ranges.gap(begin, end), gap);
        }
    }
}
