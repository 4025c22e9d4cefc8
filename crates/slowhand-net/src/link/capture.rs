//! The capture effect: of frames that overlap, the one whose power is far enough above the others arrives.
//!
//! The power with which a node receives another one is a number of decibels, relative to that of the other links: what is
//! given for the link, and a normally distributed part that is the same in both directions (shadowing). It does not change
//! with time. Delivery ratios do not depend on it.

use crate::address::NodeId;
use crate::random::{Stream, Streams};
use std::collections::BTreeMap;

/// Which frames survive others, and with which powers nodes receive each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    /// A frame survives if its power is, at all times, at least this much above the sum of all others on the air, in dB. Above 0:
    /// of two frames that overlap at most one survives.
    pub threshold_db: f64,
    /// The standard deviation of the powers of links, in dB.
    pub spread_db: f64,
    /// The mean power of a link in one direction, in dB. 0 for all that are not listed.
    pub powers_db: BTreeMap<(NodeId, NodeId), f64>,
}

/// The powers of all links.
#[derive(Debug)]
pub(super) struct Powers {
    /// The ratio that is needed.
    threshold: f64,
    /// By sender, in the order of its receivers.
    of_node: Vec<Vec<f64>>,
}

/// 10^(1/1000): the power ratio of a hundredth of a decibel, in which all powers are expressed.
const HUNDREDTH: f64 = 1.002_305_238_077_899_7;

impl Powers {
    /// The powers of links from each node to `receivers`.
    pub(super) fn new<'a>(capture: &Capture, receivers: impl Iterator<Item = &'a [NodeId]>, streams: &Streams) -> Self {
        let power = |from: NodeId, to: NodeId| {
            let (one, other) = (from.min(to), from.max(to));
            let mut random = streams.stream("shadowing", u64::from(one.0) << 16 | u64::from(other.0));
            let mean = capture.powers_db.get(&(from, to)).copied().unwrap_or(0.0);
            ratio(mean + capture.spread_db * normal(&mut random))
        };
        let of_node = (0..).map(NodeId).zip(receivers);
        let of_node = of_node.map(|(from, receivers)| receivers.iter().map(|&to| power(from, to)).collect());
        Self { threshold: ratio(capture.threshold_db), of_node: of_node.collect() }
    }

    /// The power of the link from a node to its receiver at this position.
    pub(super) fn of(&self, from: NodeId, position: usize) -> f64 {
        self.of_node[from.index()][position]
    }

    /// True if a frame with this power survives others with this sum of powers.
    pub(super) fn survives(&self, power: f64, others: f64) -> bool {
        power >= self.threshold * others
    }
}

/// The ratio of two powers that are this many decibels apart, rounded to a hundredth. By multiplications only, so that each
/// computer gets the same bits.
fn ratio(db: f64) -> f64 {
    let hundredths = (db * 100.0).round();
    let (mut result, mut square, mut left) = (1.0, HUNDREDTH, hundredths.abs() as u32);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    if hundredths < 0.0 { 1.0 / result } else { result }
}

/// A number of the standard normal distribution, nearly: the sum of twelve uniform ones less 6, which differs from it by less
/// than 0.0024 in probability (the distribution of Irwin and Hall, computed exactly; most at 0.75). By additions only, as above.
fn normal(random: &mut Stream) -> f64 {
    (0..12).map(|_| random.below(1 << 32) as f64 / (1u64 << 32) as f64).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_are_ratios_of_powers() {
        for (db, expected) in
            [(0.0, 1.0), (3.0, 1.995_262), (10.0, 10.0), (-20.0, 0.01), (0.01, 1.002_305), (60.0, 1e6)]
        {
            assert!((ratio(db) / expected - 1.0).abs() < 1e-6, "{db} dB are {}", ratio(db));
        }
    }

    /// The share below x is that of the normal distribution. 100,000 draws: five standard deviations are 0.008 at most.
    #[test]
    fn powers_spread_normally() {
        let mut random = Streams::new(1).stream("test", 0);
        let draws: Vec<f64> = (0..100_000).map(|_| normal(&mut random)).collect();
        for (x, share) in [(-2.0, 0.022_750), (-1.0, 0.158_655), (0.0, 0.5), (0.5, 0.691_462), (1.5, 0.933_193)] {
            let below = draws.iter().filter(|&&draw| draw < x).count() as f64 / 1e5;
            assert!((below - share).abs() < 0.01, "{below} below {x}");
        }
    }

    #[test]
    fn the_two_directions_of_a_link_have_the_same_shadowing() {
        let capture = Capture { threshold_db: 3.0, spread_db: 4.0, ..Capture::default() };
        let receivers = [vec![NodeId(1)], vec![NodeId(0), NodeId(2)], vec![NodeId(1)]];
        let powers = Powers::new(&capture, receivers.iter().map(Vec::as_slice), &Streams::new(1));
        assert_eq!(powers.of(NodeId(0), 0).to_bits(), powers.of(NodeId(1), 0).to_bits());
        assert_ne!(powers.of(NodeId(1), 0).to_bits(), powers.of(NodeId(1), 1).to_bits());
    }
}
