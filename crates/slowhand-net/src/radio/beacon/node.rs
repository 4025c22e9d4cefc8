//! One node, which is a child of its parent and the coordinator of its children.

use super::cluster::Cluster;
use super::config::{BeaconConfig, Superframe};
use super::radio::Radio;
use super::station::Station;
use super::tracking::{BeaconTimes, Tracking};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::link::Links;
use crate::radio::NodeQueue;
use crate::radio::contention::{Sequence, Tree};
use crate::radio::pool::FrameQueue;
use crate::random::Streams;

/// The state of one node.
#[derive(Debug)]
pub struct BeaconNode {
    /// Its own cluster, if it has children.
    pub cluster: Cluster,
    /// The station that contends among its parent's children.
    pub device: Station,
    /// The station that sends in its own active period.
    pub coordinator: Station,
    pub tracking: Tracking,
    /// True if its parent has announced a frame that it has not fetched yet.
    pub to_fetch: bool,
    /// Frames to its parent.
    pub up: LinkQueue,
    /// Frames that wait for it at its parent.
    pub down: LinkQueue,
    pub queue: NodeQueue,
    pub radio: Radio,
}

/// The frames from a child to its parent, or from the parent to the child.
#[derive(Debug, Default)]
pub struct LinkQueue {
    pub queue: FrameQueue,
    /// The number of frames in `queue`.
    pub waiting: usize,
    pub sequence: Sequence,
}

/// The direction of a frame in the tree: up from a child to its parent, or down.
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
        // The root has no parent. Its tracking is never used.
        let parent = tree.parent(id).unwrap_or(id);
        let Superframe { interval, cap } = config.superframe;
        let own_end = offset + cap;
        let until_parent = (offsets[parent.index()] + interval * 2 - own_end) % interval;
        // If its own active period ends shortly before its parent's beacon, the radio is on until then anyway.
        let guard = if tree.children(id).is_empty() { config.guard } else { config.guard.min(until_parent) };
        let index = u64::from(id.0);
        let first = Instant::ZERO + config.guard + offsets[parent.index()];
        let times = BeaconTimes { first, interval, air_time: config.idle_beacon() };
        Self {
            cluster: Cluster::new(offset),
            device: Station::new(streams.stream("back-off", index)),
            coordinator: Station::new(streams.stream("coordinator back-off", index)),
            tracking: Tracking::new(parent, id, config.channel, times, links, streams),
            to_fetch: false,
            up: LinkQueue::default(),
            down: LinkQueue::default(),
            queue: NodeQueue::new(config.queue),
            radio: Radio { guard, ..Radio::default() },
        }
    }
}
