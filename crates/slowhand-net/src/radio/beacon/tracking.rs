//! Which of its parent's beacons a node receives.

use crate::address::NodeId;
use crate::link::Kind;
use crate::link::Links;
use crate::random::Streams;

/// The beacons of a parent at one child, numbered from 0.
///
/// Whether a beacon is lost is a function of its number alone, not of a stream that is drawn from: it is the same
/// whenever, however often and in whatever order somebody asks, and beacons that nobody looks at need no draw.
#[derive(Clone, Copy, Debug)]
pub struct Tracking {
    key: u64,
    /// How many of 2^32 equally likely draws deliver a beacon.
    delivered: u64,
    /// Beacons that have been counted, and those of them that were received.
    counted: u64,
    received: u64,
}

impl Tracking {
    /// The beacons of `parent` at `child`.
    pub fn new(parent: NodeId, child: NodeId, channel: u8, links: &Links, streams: &Streams) -> Self {
        let index = u64::from(parent.0) << 16 | u64::from(child.0);
        let [a, b, c, d, e, f, g, h, ..] = streams.derive("beacon loss", index);
        // Exact: a probability has 32 fractional bits.
        let delivered = (links.probability(parent, child, channel, Kind::Data).get() * (1u64 << 32) as f64) as u64;
        Self { key: u64::from_le_bytes([a, b, c, d, e, f, g, h]), delivered, counted: 0, received: 0 }
    }

    /// Whether the beacon of this number is received.
    pub fn receives(&self, number: u64) -> bool {
        // SplitMix64 (Steele, Lea, Flood 2014): its output for a number needs no output before it.
        let mut z = self.key.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) >> 32 < self.delivered
    }

    /// How many of the first `beacons` are received. On a link that loses beacons they are counted one by one, about
    /// a nanosecond each, from where [`count`](Self::count) has left off.
    pub fn received_before(&self, beacons: u64) -> u64 {
        if self.delivered == 0 || self.delivered == 1 << 32 {
            return if self.delivered == 0 { 0 } else { beacons };
        }
        let (from, sum) = if beacons >= self.counted { (self.counted, self.received) } else { (0, 0) };
        sum + (from..beacons).filter(|&number| self.receives(number)).count() as u64
    }

    /// Remembers how many of the first `beacons` are received, so that they need not be counted again.
    pub fn count(&mut self, beacons: u64) {
        self.received = self.received_before(beacons);
        self.counted = beacons;
    }
}
