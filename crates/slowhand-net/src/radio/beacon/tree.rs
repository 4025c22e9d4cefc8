//! The cluster tree: the start of each coordinator's active period. A cluster is a coordinator and its children. A node
//! belongs to its parent's cluster and to its own.

use super::config::{BeaconConfig, BeaconConfigError};
use crate::address::NodeId;
use crate::clock::Duration;
use crate::link::Links;
use crate::radio::contention::Tree;

/// The start of each coordinator's active period, relative to the root's.
///
/// Two clusters never overlap in time if a member of one hears a member of the other. So beacons and frames of
/// different clusters never collide. From the root downwards, each coordinator takes the first free period after
/// its parent's. The standard leaves this to the layer above: 7.5.1.1 only requires that a coordinator's active
/// period does not overlap its parent's.
pub fn offsets(tree: &Tree, config: &BeaconConfig, links: &Links) -> Result<Vec<Duration>, BeaconConfigError> {
    let cap = config.superframe.cap;
    let room = config.superframe.interval.as_micros() / cap.as_micros();
    let audible = audible_clusters(tree, links);
    let mut periods: Vec<Option<u64>> = vec![None; tree.nodes()];
    for coordinator in tree.root_first() {
        if tree.children(coordinator).is_empty() {
            continue;
        }
        let first = match tree.parent(coordinator) {
            Some(parent) => periods[parent.index()].map_or(0, |period| period + 1),
            None => 0,
        };
        let taken = |period| audible[coordinator.index()].iter().any(|other| periods[other.index()] == Some(period));
        let free = (0..room).map(|step| (first + step) % room).find(|&period| !taken(period));
        let period = free.ok_or(BeaconConfigError::NoRoom { coordinator, room })?;
        periods[coordinator.index()] = Some(period);
    }
    Ok(periods.into_iter().map(|period| cap * period.unwrap_or(0)).collect())
}

/// The coordinators of the clusters that hear a coordinator's cluster or are heard by it, by coordinator.
fn audible_clusters(tree: &Tree, links: &Links) -> Vec<Vec<NodeId>> {
    let clusters = |node: NodeId| {
        let own = Some(node).filter(|&node| !tree.children(node).is_empty());
        own.into_iter().chain(tree.parent(node))
    };
    let mut audible = vec![Vec::new(); tree.nodes()];
    for from in (0..tree.nodes() as u16).map(NodeId) {
        for to in links.audience(from).chain([from]) {
            for (one, other) in clusters(from).flat_map(|one| clusters(to).map(move |other| (one, other))) {
                audible[one.index()].push(other);
                audible[other.index()].push(one);
            }
        }
    }
    for (coordinator, others) in audible.iter_mut().enumerate() {
        others.sort_unstable();
        others.dedup();
        others.retain(|other| other.index() != coordinator);
    }
    audible
}
