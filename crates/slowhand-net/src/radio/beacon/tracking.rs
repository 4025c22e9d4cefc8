//! The beacons of its parent that a node receives.

use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::link::{Kind, Links, OneLink};
use crate::random::{Probability, Streams};
use std::cell::RefCell;

/// The beacons of a parent at one child, numbered from 0.
///
/// The loss of a beacon is a function of its number, not a draw from a stream. So it does not depend on the order or
/// number of calls, and unused beacons need no draw.
#[derive(Clone, Debug)]
pub struct Tracking {
    key: u64,
    /// The link, if it changes with time.
    varying: Option<Box<RefCell<Varying>>>,
    /// The delivery probability of a beacon, times 2^32.
    delivered: u64,
    /// The number of beacons counted so far.
    counted: u64,
    /// The number of received ones among them.
    received: u64,
}

/// The beacons over a link that changes with time.
#[derive(Clone, Debug)]
struct Varying {
    link: OneLink,
    times: BeaconTimes,
    /// The number of beacons counted so far.
    counted: u64,
    /// The number of received ones among them.
    received: u64,
    /// The last beacon that was asked for, and whether it was received.
    last: (u64, bool),
}

/// When the beacons of a parent are on the air.
#[derive(Clone, Copy, Debug)]
pub struct BeaconTimes {
    /// The first symbol of the first one.
    pub first: Instant,
    /// From one to the next.
    pub interval: Duration,
    /// The length of each. A beacon that lists children lasts longer: the difference is not modelled here.
    pub air_time: Duration,
}

impl Tracking {
    /// The beacons of `parent` at `child`.
    pub fn new(
        parent: NodeId,
        child: NodeId,
        channel: u8,
        times: BeaconTimes,
        links: &Links,
        streams: &Streams,
    ) -> Self {
        let index = u64::from(parent.0) << 16 | u64::from(child.0);
        let key = streams.number("beacon loss", index);
        let delivered = limit(links.probability(parent, child, channel, Kind::Data));
        let varying = |link| {
            let varying = Varying { link, times, counted: 0, received: 0, last: (u64::MAX, false) };
            Box::new(RefCell::new(varying))
        };
        let varying = links.varying_link(parent, child, channel).map(varying);
        Self { key, varying, delivered, counted: 0, received: 0 }
    }

    /// True if the child receives the beacon of this number.
    pub fn receives(&self, number: u64) -> bool {
        match &self.varying {
            None => output(self.key, number) < self.delivered,
            Some(varying) => varying.borrow_mut().receives(self.key, number),
        }
    }

    /// The number of received ones among the first `beacons`. On a link that loses beacons it counts them one by one,
    /// in about a nanosecond each, from the last [`count`](Self::count) on.
    pub fn received_before(&self, beacons: u64) -> u64 {
        if let Some(varying) = &self.varying {
            return varying.borrow_mut().received_before(self.key, beacons);
        }
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

impl Varying {
    /// True if the beacon of this number is received. The beacons before it are counted first: then the states of the link
    /// are asked for in the order of time.
    fn receives(&mut self, key: u64, number: u64) -> bool {
        if self.last.0 != number {
            self.count(key, number);
            self.last = (number, self.draw(key, number));
        }
        self.last.1
    }

    fn received_before(&mut self, key: u64, beacons: u64) -> u64 {
        self.count(key, beacons);
        let not_yet = (beacons..self.counted).filter(|&number| self.draw(key, number)).count() as u64;
        self.received - not_yet
    }

    fn count(&mut self, key: u64, beacons: u64) {
        while self.counted < beacons {
            self.received += u64::from(self.draw(key, self.counted));
            self.counted += 1;
        }
    }

    fn draw(&mut self, key: u64, number: u64) -> bool {
        let BeaconTimes { first, interval, air_time } = self.times;
        let begin = first + interval * number;
        output(key, number) < limit(self.link.probability(begin..begin + air_time))
    }
}

/// The upper half of the output of SplitMix64 (Steele, Lea, Flood 2014) for a number, without the earlier outputs.
fn output(key: u64, number: u64) -> u64 {
    let mut z = key.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) >> 32
}

/// A probability times 2^32. Exact: a probability has 32 fractional bits.
fn limit(probability: Probability) -> u64 {
    (probability.get() * (1u64 << 32) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Course, GilbertElliott, Interferer, LinkQuality, Variation};
    use std::sync::Arc;

    /// A beacon of 800 us in every second.
    const TIMES: BeaconTimes =
        BeaconTimes { first: Instant::ZERO, interval: Duration::from_secs(1), air_time: Duration::from_micros(800) };

    /// 100,000 beacons: the standard deviation of their number is 158 at most, and 1,000 is more than six of them.
    #[test]
    fn as_many_beacons_arrive_as_the_link_delivers() {
        for pdr in [0.1, 0.5, 0.9] {
            let link = LinkQuality { from: NodeId(0), to: NodeId(1), data: pdr, ack: pdr, channels: vec![(15, 0.3)] };
            let streams = Streams::new(1);
            let links = Links::new(2, &[link], &streams);
            for (channel, pdr) in [(26, pdr), (15, 0.3)] {
                let tracking = Tracking::new(NodeId(0), NodeId(1), channel, TIMES, &links, &streams);
                let received = tracking.received_before(100_000);
                assert!(received.abs_diff((pdr * 100_000.0) as u64) < 1_000, "{received} of a share of {pdr}");
            }
        }
    }

    fn with_key(key: u64, delivered: u64) -> Tracking {
        Tracking { key, varying: None, delivered, counted: 0, received: 0 }
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
            let mut tracking = fresh.clone();
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

    /// The beacons over a link that delivers everything, but for what varies.
    fn varying(variation: Variation) -> Tracking {
        let streams = Streams::new(3);
        let links = Links::new(2, &LinkQuality::symmetric(NodeId(0), NodeId(1), 1.0), &streams);
        let links = links.varying(&Arc::new(variation), &streams);
        Tracking::new(NodeId(0), NodeId(1), 16, TIMES, &links, &streams)
    }

    /// Wi-Fi sends for 2 ms and pauses for 8 ms on average. It is silent during a beacon if it is so at the beginning, 0.8,
    /// and for 800 us, e^-0.1: 0.7239. Of the other beacons a tenth arrives: 0.7515. The standard deviation of 100,000
    /// beacons is 137.
    #[test]
    fn beacons_meet_wifi() {
        let wifi = Interferer {
            channel: 6,
            busy: Duration::from_millis(2),
            idle: Duration::from_millis(8),
            loss: 0.9,
            nodes: None,
        };
        let tracking = varying(Variation { interferers: vec![wifi], ..Variation::default() });
        let received = tracking.received_before(100_000);
        assert!(received.abs_diff(75_147) < 700, "{received}");
    }

    /// Ten seconds good, five bad, in which nothing arrives: after a lost beacon the next one is lost too with the
    /// probability 1/3 + 2/3 e^-(1/10 + 1/5) = 0.8272. 33,000 lost beacons: a standard deviation of 0.003, with the
    /// correlation.
    #[test]
    fn beacons_are_lost_in_bursts() {
        let [good, bad] = [10, 5].map(Duration::from_secs);
        let states = GilbertElliott { good, bad, good_pdr: 1.0, bad_pdr: 0.0 };
        let tracking = varying(Variation { states: Some(states), ..Variation::default() });
        let lost: Vec<bool> = (0..100_000).map(|number| !tracking.receives(number)).collect();
        let after_a_loss: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        let share = after_a_loss.iter().filter(|&&lost| lost).count() as f64 / after_a_loss.len() as f64;
        assert!((share - 0.8272).abs() < 0.015, "{share}");
    }

    /// A link that is lost after 100 s, and every order of calls.
    #[test]
    fn what_was_asked_before_changes_nothing() {
        let steps = vec![(Instant::ZERO, 0.5), (Instant::ZERO + Duration::from_secs(100), 0.0)];
        let courses = [((NodeId(0), NodeId(1), None), Course::new(steps, None))].into();
        let fresh = varying(Variation { courses, ..Variation::default() });
        let received: Vec<bool> = (0..200).map(|number| fresh.receives(number)).collect();
        let total = received.iter().filter(|&&received| received).count() as u64;
        assert!((30..70).contains(&total) && received[100..].iter().all(|&received| !received), "{total}");
        assert_eq!(fresh.received_before(200), total);
        assert_eq!(fresh.received_before(50), received[..50].iter().filter(|&&received| received).count() as u64);
        assert!((0..200).rev().all(|number| fresh.receives(number) == received[number as usize]));
    }
}
