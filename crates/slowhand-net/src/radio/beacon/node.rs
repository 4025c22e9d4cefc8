//! The state of a node that only a beacon-enabled PAN has. It is a child of its parent and the coordinator of its children.

use super::BeaconRules;
use super::cluster::Cluster;
use super::config::{BeaconConfig, Superframe};
use super::radio::Radio;
use super::tracking::{BeaconTimes, Tracking};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::link::Links;
use crate::radio::contention::{Node, Station, Tree};
use crate::random::Streams;

/// The part of a node that only this MAC has.
#[derive(Debug)]
pub struct BeaconNode {
    /// Its own cluster, if it has children.
    pub cluster: Cluster,
    pub tracking: Tracking,
    /// True if its parent has announced a frame that it has not fetched yet.
    pub to_fetch: bool,
}

/// The part of a station that only this MAC has.
#[derive(Debug, Default)]
pub struct Slots {
    /// CW of the standard: assessments that must still find the channel clear.
    pub window: u8,
    /// Back-off periods that were left when the active period ended.
    pub paused: Option<u64>,
}

impl Node<BeaconRules> {
    /// A node with nothing to send: a station among its parent's children, and one in its own active period.
    pub fn of_beacon(
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
        let station = |name| Station::new(streams.stream(name, index), Slots::default());
        let mac = BeaconNode {
            cluster: Cluster::new(offset),
            tracking: Tracking::new(parent, id, config.channel, times, links, streams),
            to_fetch: false,
        };
        let stations = [station("back-off"), station("coordinator back-off")];
        Self::new(config.queue, stations, Radio::new(guard), mac)
    }
}
