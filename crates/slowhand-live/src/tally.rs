//! Counts of the network so far: frames by link, levels of buffers.

use crate::event::LinkState;
use slowhand_net::address::NodeId;
use slowhand_net::observer::{BufferLevel, Observer, Transmission};
use slowhand_net::radio::frame::FCS;
use std::collections::BTreeMap;

/// Counts what an observer sees.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) frames: u64,
    pub(crate) bytes_phy: u64,
    links: BTreeMap<(NodeId, NodeId), [u64; 2]>,
    levels: Vec<BufferLevel>,
}

impl Tally {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { frames: 0, bytes_phy: 0, links: BTreeMap::new(), levels: vec![BufferLevel::default(); nodes] }
    }

    pub(crate) fn links(&self) -> Vec<LinkState> {
        let state = |(&(from, to), &[frames, received]): (&(NodeId, NodeId), &[u64; 2])| LinkState {
            from: from.0,
            to: (to != NodeId::EVERYONE).then_some(to.0),
            frames,
            received,
        };
        self.links.iter().map(state).collect()
    }

    pub(crate) fn level(&self, node: NodeId) -> BufferLevel {
        self.levels[node.index()]
    }
}

impl Observer for Tally {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.frames += 1;
        self.bytes_phy += (frame.octets.len() + FCS) as u64;
        let [frames, received] = self.links.entry((frame.from, frame.to)).or_default();
        *frames += 1;
        *received += u64::from(frame.received);
    }

    fn watches_buffers(&self) -> bool {
        true
    }

    fn buffers(&mut self, level: &BufferLevel) {
        self.levels[level.node.index()] = *level;
    }
}
