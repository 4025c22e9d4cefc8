//! The beacons of its parent that a node receives.

use crate::address::NodeId;
use crate::link::Kind;
use crate::link::Links;
use crate::random::Streams;

/// The beacons of a parent at one child, numbered from 0.
///
/// The loss of a beacon is a function of its number, not a draw from a stream. So it does not depend on the order or
/// number of calls, and unused beacons need no draw.
#[derive(Clone, Copy, Debug)]
pub struct Tracking {
    key: u64,
    /// The delivery probability of a beacon, times 2^32.
    delivered: u64,
    /// The number of beacons counted so far.
    counted: u64,
    /// The number of received ones among them.
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

    /// True if the child receives the beacon of this number.
    pub fn receives(&self, number: u64) -> bool {
        // SplitMix64 (Steele, Lea, Flood 2014) computes the output for a number without the earlier outputs.
        let mut z = self.key.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) >> 32 < self.delivered
    }

    /// The number of received ones among the first `beacons`. On a link that loses beacons it counts them one by one,
    /// in about a nanosecond each, from the last [`count`](Self::count) on.
    pub fn received_before(&self, beacons: u64) -> u64 {
        if self.delivered == 0 || self.delivered == 1 << 32 {
            return if self.delivered == 0 { 0 } else { beacons };
        }
        let (from, sum) = if beacons >= self.counted { (self.counted, self.received) } else { (0, 0) };
        sum + (from..beacons).filter(|&number| self.receives(number)).count() as u64
    }

    /// Remembers the number of received ones among the first `beacons`, so that they are not counted again.
    pub fn count(&mut self, beacons: u64) {
        self.received = self.received_before(beacons);
        self.counted = beacons;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkQuality;

    /// 100,000 beacons: the standard deviation of their number is 158 at most, and 1,000 is more than six of them.
    #[test]
    fn as_many_beacons_arrive_as_the_link_delivers() {
        for pdr in [0.1, 0.5, 0.9] {
            let link = LinkQuality { from: NodeId(0), to: NodeId(1), data: pdr, ack: pdr, channels: vec![(15, 0.3)] };
            let streams = Streams::new(1);
            let links = Links::new(2, &[link], &streams);
            for (channel, pdr) in [(26, pdr), (15, 0.3)] {
                let tracking = Tracking::new(NodeId(0), NodeId(1), channel, &links, &streams);
                let received = tracking.received_before(100_000);
                assert!(received.abs_diff((pdr * 100_000.0) as u64) < 1_000, "{received} of a share of {pdr}");
            }
        }
    }

    fn with_key(key: u64, delivered: u64) -> Tracking {
        Tracking { key, delivered, counted: 0, received: 0 }
    }

    /// The outputs of SplitMix64 with the seed 1234567, as they are published for the reference implementation
    /// (`splitmix64.c` of Vigna). A beacon arrives if the upper 32 bits are less than the limit.
    #[test]
    fn the_loss_of_a_beacon_is_an_output_of_splitmix64() {
        let outputs: [u64; 5] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (number, output) in (0..).zip(outputs) {
            assert!(!with_key(1_234_567, output >> 32).receives(number), "beacon {number}");
            assert!(with_key(1_234_567, (output >> 32) + 1).receives(number), "beacon {number}");
        }
    }

    #[test]
    fn what_was_counted_is_not_forgotten() {
        for delivered in [0, 1, 1 << 30, 1 << 31, (1 << 32) - 1, 1 << 32] {
            let fresh = with_key(7, delivered);
            let expected = |beacons: u64| (0..beacons).filter(|&number| fresh.receives(number)).count() as u64;
            let mut tracking = fresh;
            for counted in [0, 1, 10, 10, 50] {
                tracking.count(counted);
                for beacons in [0, 1, 9, 10, 11, 49, 50, 51, 200] {
                    assert_eq!(
                        tracking.received_before(beacons),
                        expected(beacons),
                        "{delivered}: {counted} {beacons}"
                    );
                }
            }
        }
        assert_eq!((with_key(7, 0).received_before(100), with_key(7, 1 << 32).received_before(100)), (0, 100));
    }
}
