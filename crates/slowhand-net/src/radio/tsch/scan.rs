//! The state of nodes that scan, while a network forms.

use super::autonomous;
use super::schedule::Cell;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::observer::{RadioTimes, RadioWork};
use crate::radio::Indication;
use crate::random::Stream;
use std::collections::VecDeque;
use std::ops::Range;

/// A node listens for beacons.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) since: Instant,
    pub(super) dwell: Duration,
    /// Which channels it chooses follows from this.
    pub(super) seed: u64,
}

impl Scan {
    /// The channel on which it listens during all of this time. `None` if it changes its channel meanwhile.
    pub(super) fn hears(&self, during: &Range<Instant>, hopping: &[u8]) -> Option<u8> {
        let dwell = self.dwell.as_micros().max(1);
        let number = |at: Instant| at.since(self.since).as_micros() / dwell;
        let first = number(during.start);
        (during.start >= self.since && number(during.end) == first)
            .then(|| hopping[(mixed(self.seed.wrapping_add(first)) % hopping.len() as u64) as usize])
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): each number gives another one that looks random.
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// The time that a node has scanned, and the number of its scans.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scanned {
    pub(super) time: Duration,
    pub(super) scans: u64,
}

impl Scanned {
    /// With the scan that goes on.
    pub(super) fn with(self, scan: Option<&Scan>, now: Instant) -> Self {
        match scan {
            Some(scan) => Self { time: self.time + now.since(scan.since), scans: self.scans + 1 },
            None => self,
        }
    }

    /// It counts as listening.
    pub(super) fn in_times(self, times: RadioTimes) -> RadioTimes {
        RadioTimes { listen: times.listen + self.time, sleep: times.sleep.saturating_sub(self.time), ..times }
    }

    /// The radio starts once for each scan.
    pub(super) fn in_work(self, work: RadioWork) -> RadioWork {
        RadioWork { starts: work.starts + self.scans, ramps: work.ramps + self.scans, ..work }
    }
}

/// State that exists only while a network forms.
#[derive(Debug)]
pub(super) struct Formation {
    /// The frames that were heard, in the order in which they end.
    pub(super) heard: VecDeque<Indication>,
    /// By node: seeds of its scans.
    pub(super) random: Vec<Stream>,
    /// True if neighbours have autonomous cells, which nodes use on demand.
    pub(super) has_autonomous: bool,
    pub(super) slotframe: u16,
}

impl Formation {
    /// The cell for frames to a neighbour that has no other one.
    pub(super) fn on_demand(&self, neighbor: NodeId) -> Option<Cell> {
        self.has_autonomous.then(|| autonomous::transmit_cell(neighbor, self.slotframe))
    }
}
