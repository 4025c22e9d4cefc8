//! A bounded set of sequence ranges, for octets that arrived out of order, and for octets that the
//! peer has selectively acknowledged.

use super::seq::SeqNumber;

/// A half-open range of sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeqRange {
    /// The first octet.
    pub start: SeqNumber,
    /// The octet after the last.
    pub end: SeqNumber,
}

impl SeqRange {
    /// The range from `start` to `end`, without `end`.
    pub const fn new(start: SeqNumber, end: SeqNumber) -> Self {
        Self { start, end }
    }

    /// The number of octets.
    pub const fn len(self) -> u32 {
        self.end.since(self.start)
    }

    /// True if the range has no octets.
    pub const fn is_empty(self) -> bool {
        !self.start.before(self.end)
    }

    /// True if `seq` is in the range.
    pub const fn contains(self, seq: SeqNumber) -> bool {
        self.start.at_or_before(seq) && seq.before(self.end)
    }

    fn intersection(self, other: Self) -> Self {
        Self::new(self.start.latest(other.start), self.end.earliest(other.end))
    }
}

/// Disjoint ranges in ascending order, with gaps between them. The set refuses a range that does not
/// fit: this only costs a retransmission.
#[derive(Debug)]
pub struct RangeSet {
    ranges: Vec<SeqRange>,
    limit: usize,
}

impl RangeSet {
    /// An empty set with room for `limit` ranges.
    pub fn with_limit(limit: usize) -> Self {
        Self { ranges: Vec::new(), limit }
    }

    /// The ranges, in ascending order.
    pub fn as_slice(&self) -> &[SeqRange] {
        &self.ranges
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// True if one more range fits, at any position.
    pub fn has_room(&self) -> bool {
        self.ranges.len() < self.limit
    }

    /// Adds a range, and merges it with the ranges that it touches. Returns the number of octets that
    /// are new in the set; zero if there is no room.
    pub fn insert(&mut self, range: SeqRange) -> u32 {
        if range.is_empty() {
            return 0;
        }
        let first = self.ranges.partition_point(|known| known.end.before(range.start));
        let past = first + self.ranges[first..].partition_point(|known| known.start.at_or_before(range.end));
        if first == past {
            if !self.has_room() {
                return 0;
            }
            self.ranges.insert(first, range);
            return range.len();
        }
        let merged =
            SeqRange::new(range.start.earliest(self.ranges[first].start), range.end.latest(self.ranges[past - 1].end));
        let known: u32 = self.ranges[first..past].iter().map(|r| r.len()).sum();
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..past);
        merged.len() - known
    }

    /// Removes everything before `seq`.
    pub fn remove_before(&mut self, seq: SeqNumber) {
        let gone = self.ranges.partition_point(|known| known.end.at_or_before(seq));
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.start = first.start.latest(seq);
        }
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The range that contains `seq`.
    pub fn find(&self, seq: SeqNumber) -> Option<SeqRange> {
        self.ranges.iter().copied().find(|r| r.contains(seq))
    }

    /// The number of octets of `window` that are in the set.
    pub fn covered(&self, window: SeqRange) -> u32 {
        let overlaps = self.ranges.iter().map(|r| r.intersection(window).len());
        overlaps.sum()
    }

    /// The number of octets of `window` that are not in the set.
    pub fn missing(&self, window: SeqRange) -> u32 {
        window.len() - self.covered(window)
    }

    /// The first gap of the set in `window`, as long as possible.
    pub fn first_gap(&self, window: SeqRange) -> Option<SeqRange> {
        let mut gap = window;
        for known in &self.ranges {
            if known.end.at_or_before(gap.start) {
                continue;
            }
            if known.start.after(gap.start) {
                gap.end = gap.end.earliest(known.start);
                break;
            }
            gap.start = known.end;
        }
        (!gap.is_empty()).then_some(gap)
    }

    /// The octet after the last range.
    pub fn end(&self) -> Option<SeqNumber> {
        self.ranges.last().map(|last| last.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(base: SeqNumber, start: u32, end: u32) -> SeqRange {
        SeqRange::new(base + start, base + end)
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_octets(
            base: u32,
            inserts in prop::collection::vec((0u32..200, 0u32..40), 0..30),
            cut in 0u32..200,
            window in (0u32..200, 0u32..100),
        ) {
            let base = SeqNumber(base);
            let mut set = RangeSet::with_limit(64);
            let mut octets = BTreeSet::new();
            for (start, len) in inserts {
                let before = octets.len();
                octets.extend(start..start + len);
                let new = set.insert(range(base, start, start + len));
                prop_assert_eq!(new as usize, octets.len() - before);
            }
            set.remove_before(base + cut);
            octets.retain(|octet| *octet >= cut);
            let (start, end) = (window.0, window.0 + window.1);
            prop_assert_eq!(
                set.covered(range(base, start, end)) as usize,
                octets.range(start..end).count()
            );
            let gap = (start..end).find(|octet| !octets.contains(octet));
            let found = set.first_gap(range(base, start, end));
            prop_assert_eq!(found.map(|g| g.start), gap.map(|g| base + g));
            if let (Some(found), Some(gap)) = (found, gap) {
                let past = (gap..end).find(|octet| octets.contains(octet)).unwrap_or(end);
                prop_assert_eq!(found.end, base + past);
            }
            for pair in set.as_slice().windows(2) {
                prop_assert!(pair[0].end.before(pair[1].start));
            }
        }
    }

    #[test]
    fn a_full_set_refuses_a_new_range_but_still_merges() {
        let base = SeqNumber(u32::MAX - 10);
        let mut set = RangeSet::with_limit(2);
        assert_eq!(set.insert(range(base, 0, 5)), 5);
        assert_eq!(set.insert(range(base, 10, 15)), 5);
        assert_eq!(set.insert(range(base, 20, 25)), 0);
        assert_eq!(set.insert(range(base, 5, 10)), 5);
        assert_eq!(set.as_slice(), [range(base, 0, 15)]);
    }
}
