//! Which record carried which part of a flight, and which parts the peer has.
//!
//! Places are those of the flight's octets.

use crate::ranges::Ranges;

/// The number of records that are remembered. An acknowledgement of an older one says nothing: its content was sent again, in a record
/// that is remembered. (Assumed: a flight of 1,000 octets in datagrams of 64 octets.)
const RECORDS: usize = 20;

/// The number of separate parts that the peer can have. An acknowledgement that would make more says nothing. (Assumed.)
const RANGES: usize = 8;

pub(super) struct Sent {
    /// The latest records: where their part begins and ends, and the low bits of their sequence numbers.
    records: [(u16, u16, u32); RECORDS],
    /// The number of records so far.
    count: usize,
    acknowledged: Ranges<RANGES>,
}

impl Sent {
    pub(super) const fn new() -> Self {
        Self { records: [(0, 0, 0); RECORDS], count: 0, acknowledged: Ranges::new() }
    }

    /// Notes that a record has carried the part from `begin` to `end`.
    pub(super) const fn note(&mut self, begin: u16, end: u16, sequence: u64) {
        self.records[self.count % RECORDS] = (begin, end, sequence as u32);
        self.count += 1;
    }

    /// Notes that the peer has a record, which was one of those from `first` to `last`. Says whether that was not known; `None`
    /// if no such record is remembered.
    pub(super) fn acknowledge(&mut self, first: u16, last: u16, sequence: u64) -> Option<bool> {
        let mut is_news = None;
        for &(begin, end, number) in &self.records[..self.count.min(RECORDS)] {
            if u64::from(number) == sequence && first <= begin && end <= last {
                let is_missing = self.gap(begin, end).is_some();
                let is_noted = self.acknowledged.cover(begin, end);
                is_news = Some(is_news == Some(true) || is_missing && is_noted);
            }
        }
        is_news
    }

    /// Nothing has been acknowledged.
    pub(super) const fn forget_acknowledged(&mut self) {
        self.acknowledged = Ranges::new();
    }

    /// True if the peer has all octets before `end`.
    pub(super) fn is_acknowledged(&self, end: u16) -> bool {
        self.acknowledged.reach(end)
    }

    /// The first part of a range that the peer does not have, as far as is known.
    pub(super) fn gap(&self, begin: u16, end: u16) -> Option<(u16, u16)> {
        self.acknowledged.gap(begin, end)
    }
}
