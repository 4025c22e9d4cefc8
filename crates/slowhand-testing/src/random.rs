//! Random numbers for tests, from a seed.

use std::ops::Range;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, figure 16): small, and good enough to choose examples.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in this range, which is not empty.
    pub fn in_range(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// True in this share of all cases, in percent.
    pub fn percent(&mut self, share: u64) -> bool {
        self.in_range(0..100) < share
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.in_range(0..choices.len() as u64) as usize]
    }

    /// One of these, each as often as its weight says.
    pub fn weighted<'a, T>(&mut self, choices: &'a [(u64, T)]) -> &'a T {
        let mut left = self.in_range(0..choices.iter().map(|(weight, _)| weight).sum());
        let chosen = choices.iter().find(|(weight, _)| {
            let is_chosen = left < *weight;
            left = left.saturating_sub(*weight);
            is_chosen
        });
        &chosen.expect("a number below the sum of the weights").1
    }
}
