//! Counts the TCP segments that were sent again, and how many of them were spurious.
//!
//! TCP may cut its stream into other segments when it sends again, so sequence numbers decide. A segment is a
//! retransmission if all its octets (SYN and FIN are one each) were sent before, and spurious if all of them were
//! in segments that arrived, even if those were still on their way.

use super::retransmission::Repetition;
use slowhand_net::transport::tcp::{Flags, Segment};
use slowhand_wire::RangeSet;
use std::ops::Range;

/// The sequence numbers that a segment occupies; empty for a pure acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    first: u32,
    length: u32,
}

impl Span {
    /// The sequence numbers of a segment.
    pub(super) fn of(segment: &Segment<'_>) -> Self {
        let control = [Flags::SYN, Flags::FIN].iter().filter(|&&flag| segment.flags.contains(flag)).count();
        Self { first: segment.seq.0, length: (segment.payload.len() + control) as u32 }
    }

    /// Counted from the first sequence number of the connection, so that nothing wraps.
    fn since(self, start: u32) -> Range<u32> {
        let first = self.first.wrapping_sub(start);
        first..first.saturating_add(self.length)
    }
}

/// Finds the retransmissions among the segments of one sender, in the order in which they were sent: what each
/// occupies, and whether it arrived. Each has a key of the caller. `None` for a segment that is no retransmission.
pub(super) fn classify<K>(
    segments: impl Iterator<Item = (K, (Span, bool))>,
) -> impl Iterator<Item = (K, Option<Repetition>)> {
    let mut start = None;
    let (mut sent, mut arrived) = (RangeSet::default(), RangeSet::default());
    segments.map(move |(key, (span, has_arrived))| {
        if span.length == 0 {
            return (key, None);
        }
        let span = span.since(*start.get_or_insert(span.first));
        let repetition = sent.contains(&span).then(|| match arrived.contains(&span) {
            true => Repetition::Spurious,
            false => Repetition::Needed,
        });
        sent.insert(span.clone());
        if has_arrived {
            arrived.insert(span);
        }
        (key, repetition)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::retransmission::Retransmissions;

    const ARRIVED: bool = true;
    const LOST: bool = false;

    fn count(sent: &[(u32, u32, bool)]) -> (u64, u64) {
        let counts: Retransmissions =
            classify(sent.iter().map(|&(first, length, arrived)| ((), (Span { first, length }, arrived))))
                .filter_map(|found| found.1)
                .collect();
        (counts.needed, counts.spurious)
    }

    #[test]
    fn what_arrived_need_not_be_sent_again() {
        assert_eq!(count(&[(9, 100, ARRIVED), (109, 100, LOST), (209, 0, ARRIVED)]), (0, 0));
        assert_eq!(count(&[(9, 100, ARRIVED), (109, 0, ARRIVED), (109, 0, ARRIVED)]), (0, 0), "acknowledgements");
        assert_eq!(count(&[(9, 100, LOST), (9, 100, ARRIVED), (9, 100, ARRIVED)]), (1, 1));
    }

    #[test]
    fn a_stream_cut_anew_is_needed_if_any_part_was_lost() {
        assert_eq!(count(&[(0, 100, ARRIVED), (100, 100, LOST), (0, 200, ARRIVED)]), (1, 0));
        assert_eq!(count(&[(0, 100, ARRIVED), (100, 100, ARRIVED), (50, 100, ARRIVED)]), (0, 1));
        assert_eq!(count(&[(0, 100, ARRIVED), (50, 100, ARRIVED)]), (0, 0), "half of it is new");
    }

    #[test]
    fn sequence_numbers_wrap() {
        let first = u32::MAX - 10;
        assert_eq!(count(&[(first, 100, ARRIVED), (first.wrapping_add(50), 50, ARRIVED)]), (0, 1));
        assert_eq!(count(&[(first, 100, LOST), (first.wrapping_add(100), 9, LOST), (89, 9, LOST)]), (1, 0));
    }
}
