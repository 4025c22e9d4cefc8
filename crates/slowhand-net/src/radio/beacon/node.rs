//! One node: as a child of its parent, and as the coordinator of its children.

use super::cluster::Cluster;
use super::config::{BeaconConfig, Superframe};
use super::radio::Radio;
use super::station::Station;
use super::tracking::Tracking;
use super::tree::Tree;
use crate::address::NodeId;
use crate::clock::Duration;
use crate::link::Links;
use crate::radio::pool::FrameQueue;
use crate::random::Streams;

/// The state of one node.
#[derive(Debug)]
pub struct BeaconNode {
    /// It and its children, if it has any.
    pub cluster: Cluster,
    /// As it contends among its parent's children.
    pub device: Station,
    /// As it sends in its own active period.
    pub coordinator: Station,
    pub tracking: Tracking,
    /// Whether its parent has announced something that it has not fetched yet.
    pub to_fetch: bool,
    /// To its parent, and waiting at its parent for it.
    pub up: LinkQueue,
    pub down: LinkQueue,
    pub queued: usize,
    pub peak: usize,
    pub radio: Radio,
}

/// What goes from a child to its parent, or from the parent to the child.
#[derive(Debug, Default)]
pub struct LinkQueue {
    pub queue: FrameQueue,
    /// How many frames are in it.
    pub waiting: usize,
    /// The number of the next frame: counted for each direction, so that no two frames in a row carry the same.
    pub sequence: u8,
    last_received: Option<u8>,
}

/// From a child to its parent, or to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

impl BeaconNode {
    /// A node with nothing to send.
    pub fn new(
        id: NodeId,
        config: &BeaconConfig,
        tree: &Tree,
        offsets: &[Duration],
        links: &Links,
        streams: &Streams,
    ) -> Self {
        let offset = offsets[id.index()];
        // The root tracks nobody: its own entry is never looked at.
        let parent = tree.parent(id).unwrap_or(id);
        let Superframe { interval, cap } = config.superframe;
        let own_end = offset + cap;
        let until_parent = (offsets[parent.index()] + interval * 2 - own_end) % interval;
        // Where its own active period ends shortly before its parent's beacon, it is on until then anyway.
        let guard = if tree.children(id).is_empty() { config.guard } else { config.guard.min(until_parent) };
        let index = u64::from(id.0);
        Self {
            cluster: Cluster::new(offset),
            device: Station::new(streams.stream("back-off", index)),
            coordinator: Station::new(streams.stream("coordinator back-off", index)),
            tracking: Tracking::new(parent, id, config.channel, links, streams),
            to_fetch: false,
            up: LinkQueue::default(),
            down: LinkQueue::default(),
            queued: 0,
            peak: 0,
            radio: Radio { guard, ..Radio::default() },
        }
    }
}

impl LinkQueue {
    /// Whether a frame is new: the same number twice in a row is a repetition whose acknowledgement was lost.
    pub fn accepts(&mut self, sequence: u8) -> bool {
        self.last_received.replace(sequence) != Some(sequence)
    }
}
