//! Frames that the scenario drops before they reach the MAC.

use crate::address::NodeId;
use crate::random::{Probability, Stream, Streams};

/// Draws what is dropped.
#[derive(Debug)]
pub(super) struct Losses {
    /// The probability that a frame's payload is dropped, at every hop.
    probability: Probability,
    /// Single frames that are dropped, by their number; in ascending order.
    chosen: Vec<u64>,
    /// By node.
    random: Vec<Stream>,
    /// Frames that have come to the MAC so far.
    frames: u64,
}

impl Losses {
    pub(super) fn new(probability: Probability, chosen: Vec<u64>, nodes: usize, streams: &Streams) -> Self {
        let random = (0..nodes as u64).map(|node| streams.stream("fragment loss", node)).collect();
        Self { probability, chosen, random, frames: 0 }
    }

    /// Whether the next frame, which `node` sends, is dropped.
    pub(super) fn drops(&mut self, node: NodeId) -> bool {
        self.frames += 1;
        let chosen = self.chosen.binary_search(&self.frames).is_ok();
        self.random[node.index()].happens(self.probability) || chosen
    }
}
