//! The scoreboard (RFC 6675 section 3): which octets in flight have arrived, were lost, or were sent again.

use super::options::SackBlocks;
use super::ranges::{RangeSet, SeqRange};
use super::seq::SeqNumber;

/// The sequence numbers between the first unacknowledged octet and the next new one.
///
/// All octets before `lost_before` that are not selectively acknowledged count as lost. SACK moves
/// this limit up (if an octet is lost by the rule of RFC 6675, so is everything before it). Without
/// SACK, duplicate acknowledgements move it by one segment. A timeout moves it behind everything in
/// flight.
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

    /// The first octet that is not acknowledged, SND.UNA.
    pub(super) fn una(&self) -> SeqNumber {
        self.una
    }

    /// The first octet that was never sent, SND.NXT.
    pub(super) fn next(&self) -> SeqNumber {
        self.next
    }

    /// The number of octets sent and not cumulatively acknowledged, `FlightSize`.
    pub(super) fn flight(&self) -> u32 {
        self.next.since(self.una)
    }

    /// The estimated number of octets in the network, `pipe` (RFC 6675 section 4, `SetPipe`).
    pub(super) fn pipe(&self) -> u32 {
        let not_lost = SeqRange::new(self.una.latest(self.lost_before), self.next);
        let sent_again = SeqRange::new(self.una, self.retransmitted_to);
        self.sacked.missing(not_lost) + self.sacked.missing(sent_again)
    }

    /// True if octets have arrived after a gap.
    pub(super) fn has_gap(&self) -> bool {
        !self.sacked.is_empty()
    }

    pub(super) fn sent_new(&mut self, octets: u32) {
        self.next += octets;
    }

    pub(super) fn sent_again_to(&mut self, end: SeqNumber) {
        self.retransmitted_to = self.retransmitted_to.latest(end);
    }

    /// Handles a cumulative acknowledgement.
    pub(super) fn acknowledge(&mut self, ack: SeqNumber) {
        self.una = ack;
        self.sacked.remove_before(ack);
        self.lost_before = self.lost_before.latest(ack);
        self.retransmitted_to = self.retransmitted_to.latest(ack);
    }

    /// Handles SACK blocks. Returns the number of octets that are newly acknowledged. Ignores blocks
    /// that are not possible, and reports of duplicates.
    pub(super) fn sack(&mut self, blocks: &SackBlocks) -> u32 {
        // Offsets from `una`, because arbitrary sequence numbers have no order.
        let offset = |seq: SeqNumber| seq.0.wrapping_sub(self.una.0);
        let flight = self.flight();
        let plausible = |block: &SeqRange| {
            let (start, end) = (offset(block.start), offset(block.end));
            0 < start && start < end && end <= flight
        };
        let blocks = blocks.iter().filter(plausible);
        blocks.map(|block| self.sacked.insert(block)).sum()
    }

    /// Applies `IsLost` of RFC 6675 section 4: an octet is lost if `threshold` ranges, or more octets
    /// than `threshold - 1` segments have, are selectively acknowledged after it. Returns true if any
    /// octet is lost.
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

    /// Marks the octets up to `end` as lost, and as not sent again.
    pub(super) fn mark_lost(&mut self, end: SeqNumber) {
        self.lost_before = end.earliest(self.next);
        self.retransmitted_to = self.una;
    }

    /// Begins a recovery, in which nothing was sent again yet.
    pub(super) fn begin_recovery(&mut self) {
        self.retransmitted_to = self.una;
    }

    /// Ends a recovery: nothing counts as lost any more.
    pub(super) fn end_recovery(&mut self) {
        self.lost_before = self.una;
        self.retransmitted_to = self.una;
    }

    /// Forgets all SACK blocks if the receiver has dropped data that it had selectively acknowledged
    /// (RFC 2018 section 8): then the first unacknowledged octet is in a SACK block.
    pub(super) fn forget_if_reneged(&mut self) {
        if self.sacked.find(self.una).is_some() {
            self.sacked.clear();
        }
    }

    /// The first range that is lost and was not sent again, `NextSeg` rule 1.
    pub(super) fn next_lost(&self) -> Option<SeqRange> {
        let candidates = SeqRange::new(self.retransmitted_to.latest(self.una), self.lost_before);
        self.sacked.first_gap(candidates)
    }

    /// The first gap before a selective acknowledgement that was not sent again, `NextSeg` rule 3.
    pub(super) fn next_hole(&self) -> Option<SeqRange> {
        let end = self.sacked.end()?;
        let candidates = SeqRange::new(self.retransmitted_to.latest(self.una), end);
        self.sacked.first_gap(candidates)
    }

    /// The last octets in flight, at most `mss`, that lie after all selective acknowledgements: the
    /// segment of a rescue retransmission (`NextSeg` rule 4) and of a tail loss probe.
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

    /// There is no last segment, and no empty one, if the end of the flight has arrived.
    #[test]
    fn the_last_segment_lies_after_all_that_arrived() {
        let rows = [
            (10, &[][..], 1, Some((9, 10))),
            (10, &[(2, 8)][..], 3, Some((8, 10))),
            (10, &[(2, 9)], 1, Some((9, 10))),
            (10, &[(2, 10)], 1, None),
            (2, &[], 3, Some((0, 2))),
            (0, &[], 1, None),
        ];
        for (segments, sacked, longest, last) in rows {
            let expected = last.map(|(start, end)| SeqRange::new(at(start), at(end)));
            assert_eq!(board(segments, sacked).last_segment(longest * MSS), expected, "{segments} {sacked:?}");
        }
    }

    /// RFC 6675 section 4, `IsLost`: more octets than two segments have. Exactly two segments are not enough.
    #[test]
    fn an_octet_more_than_two_segments_above_makes_a_loss() {
        for (octets, lost) in [(2 * MSS - 1, false), (2 * MSS, false), (2 * MSS + 1, true)] {
            let mut board = board(10, &[]);
            let mut blocks = SackBlocks::default();
            blocks.push(SeqRange::new(at(1), at(1) + octets));
            board.sack(&blocks);
            assert_eq!(board.find_lost(3, MSS), lost, "{octets} octets");
        }
    }
}
