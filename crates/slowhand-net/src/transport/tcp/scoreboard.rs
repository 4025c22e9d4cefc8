//! What is in flight, and what of it arrived, was lost, was sent again (RFC 6675 section 3).

use super::options::SackBlocks;
use super::ranges::{RangeSet, SeqRange};
use super::seq::SeqNumber;

/// The send sequence space between the first unacknowledged octet and the next new one.
///
/// A loss is a watermark: below `lost_before`, all that is not selectively acknowledged counts
/// as lost. SACK raises it (if an octet is lost by the rule of RFC 6675, so is everything below
/// it), a duplicate acknowledgment without SACK raises it by one segment, a timeout raises it
/// over all that is in flight.
#[derive(Debug)]
pub(super) struct Scoreboard {
    una: SeqNumber,
    next: SeqNumber,
    sacked: RangeSet,
    lost_before: SeqNumber,
    /// The end of the highest retransmission in this recovery, `HighRxt` + 1.
    retransmitted_to: SeqNumber,
}

impl Scoreboard {
    pub(super) fn new(start: SeqNumber, ranges: usize) -> Self {
        Self {
            una: start,
            next: start,
            sacked: RangeSet::with_limit(ranges),
            lost_before: start,
            retransmitted_to: start,
        }
    }

    /// The first octet that is not acknowledged.
    pub(super) fn una(&self) -> SeqNumber {
        self.una
    }

    /// The next octet that was never sent.
    pub(super) fn next(&self) -> SeqNumber {
        self.next
    }

    /// All octets that are not cumulatively acknowledged, `FlightSize`.
    pub(super) fn flight(&self) -> u32 {
        self.next.since(self.una)
    }

    /// The octets thought to be in the network, `pipe` (RFC 6675 section 4, `SetPipe`).
    pub(super) fn pipe(&self) -> u32 {
        let not_lost = SeqRange::new(self.una.latest(self.lost_before), self.next);
        let sent_again = SeqRange::new(self.una, self.retransmitted_to);
        self.sacked.missing(not_lost) + self.sacked.missing(sent_again)
    }

    /// Whether something arrived behind something that did not.
    pub(super) fn has_gap(&self) -> bool {
        !self.sacked.is_empty()
    }

    pub(super) fn sent_new(&mut self, octets: u32) {
        self.next += octets;
    }

    pub(super) fn sent_again_to(&mut self, end: SeqNumber) {
        self.retransmitted_to = self.retransmitted_to.latest(end);
    }

    /// All before `ack` arrived.
    pub(super) fn acknowledge(&mut self, ack: SeqNumber) {
        self.una = ack;
        self.sacked.remove_before(ack);
        self.lost_before = self.lost_before.latest(ack);
        self.retransmitted_to = self.retransmitted_to.latest(ack);
    }

    /// Takes in SACK blocks; returns how many octets were news. Blocks that cannot be, and
    /// reports of duplicates, are passed over.
    pub(super) fn sack(&mut self, blocks: &SackBlocks) -> u32 {
        // Counted from `una`, because edges from all around the circle have no order.
        let offset = |seq: SeqNumber| seq.0.wrapping_sub(self.una.0);
        let flight = self.flight();
        let plausible = |block: &SeqRange| {
            let (start, end) = (offset(block.start), offset(block.end));
            0 < start && start < end && end <= flight
        };
        let blocks = blocks.iter().filter(plausible);
        blocks.map(|block| self.sacked.insert(block)).sum()
    }

    /// Applies `IsLost` of RFC 6675 section 4: lost is what has `threshold` ranges, or more than
    /// `threshold - 1` segments' octets, selectively acknowledged above it. Returns whether
    /// anything is lost.
    pub(super) fn find_lost(&mut self, threshold: u32, mss: u32) -> bool {
        let (mut ranges, mut octets) = (0, 0);
        for range in self.sacked.as_slice().iter().rev() {
            ranges += 1;
            octets += range.len();
            if ranges >= threshold || octets > (threshold - 1) * mss {
                self.lost_before = self.lost_before.latest(range.start);
                break;
            }
        }
        self.lost_before.after(self.una)
    }

    /// The octets up to `end` are lost, and none of them was sent again.
    pub(super) fn mark_lost(&mut self, end: SeqNumber) {
        self.lost_before = end.earliest(self.next);
        self.retransmitted_to = self.una;
    }

    /// Begins a recovery: nothing was sent again yet.
    pub(super) fn begin_recovery(&mut self) {
        self.retransmitted_to = self.una;
    }

    /// Ends a recovery: nothing is known to be lost.
    pub(super) fn end_recovery(&mut self) {
        self.lost_before = self.una;
        self.retransmitted_to = self.una;
    }

    /// The receiver dropped what it had selectively acknowledged (RFC 2018 section 8): it can
    /// not have the octet after those it acknowledged without acknowledging it.
    pub(super) fn forget_if_reneged(&mut self) {
        if self.sacked.find(self.una).is_some() {
            self.sacked.clear();
        }
    }

    /// What is lost and was not sent again, `NextSeg` rule 1.
    pub(super) fn next_lost(&self) -> Option<SeqRange> {
        let candidates = SeqRange::new(self.retransmitted_to.latest(self.una), self.lost_before);
        self.sacked.first_gap(candidates)
    }

    /// What lies below a selective acknowledgment and was not sent again, `NextSeg` rule 3.
    pub(super) fn next_hole(&self) -> Option<SeqRange> {
        let end = self.sacked.end()?;
        let candidates = SeqRange::new(self.retransmitted_to.latest(self.una), end);
        self.sacked.first_gap(candidates)
    }

    /// The last `mss` octets in flight, if they are not selectively acknowledged: the segment
    /// of a rescue retransmission (`NextSeg` rule 4) and of a tail loss probe.
    pub(super) fn last_segment(&self, mss: u32) -> Option<SeqRange> {
        let floor = self.sacked.end().unwrap_or(self.una).latest(self.una);
        let len = self.next.since(floor).min(mss);
        (len > 0).then(|| SeqRange::new(self.next - len, self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 100;

    fn at(segment: u32) -> SeqNumber {
        SeqNumber(u32::MAX - 250) + segment * MSS
    }

    fn board(segments: u32, sacked: &[(u32, u32)]) -> Scoreboard {
        let mut board = Scoreboard::new(at(0), 16);
        board.sent_new(segments * MSS);
        for &(start, end) in sacked {
            let mut blocks = SackBlocks::default();
            blocks.push(SeqRange::new(at(start), at(end)));
            assert_eq!(board.sack(&blocks), (end - start) * MSS);
        }
        board
    }

    #[test]
    fn three_segments_above_make_a_loss() {
        assert!(!board(10, &[(1, 3)]).find_lost(3, MSS));
        let mut board = board(10, &[(1, 4)]);
        assert!(board.find_lost(3, MSS));
        assert_eq!(board.next_lost(), Some(SeqRange::new(at(0), at(1))));
        // 10 in flight, 3 arrived, 1 lost.
        assert_eq!(board.pipe(), 6 * MSS);
        board.sent_again_to(at(1));
        assert_eq!(board.pipe(), 7 * MSS);
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn three_ranges_above_make_a_loss() {
        let mut board = board(10, &[(2, 3), (4, 5), (6, 7)]);
        assert!(board.find_lost(3, 4 * MSS));
        assert_eq!(board.next_lost(), Some(SeqRange::new(at(0), at(2))));
        board.sent_again_to(at(2));
        assert_eq!(board.next_lost(), None);
        assert_eq!(board.next_hole(), Some(SeqRange::new(at(3), at(4))));
    }

    #[test]
    fn a_timeout_loses_all_that_did_not_arrive() {
        let mut board = board(6, &[(2, 4)]);
        board.mark_lost(board.next());
        assert_eq!(board.pipe(), 0);
        assert_eq!(board.next_lost(), Some(SeqRange::new(at(0), at(2))));
        board.sent_again_to(at(2));
        assert_eq!(board.next_lost(), Some(SeqRange::new(at(4), at(6))));
        assert_eq!(board.pipe(), 2 * MSS);
    }

    #[test]
    fn impossible_blocks_are_passed_over() {
        let mut board = board(6, &[]);
        for (start, end) in [(0, 3), (4, 7), (5, 5), (4, 2), (100, 101)] {
            let mut blocks = SackBlocks::default();
            blocks.push(SeqRange::new(at(start), at(end)));
            assert_eq!(board.sack(&blocks), 0, "{start} {end}");
        }
    }
}
