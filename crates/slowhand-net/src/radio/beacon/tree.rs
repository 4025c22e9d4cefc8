//! The cluster tree: parents and children, and the start of each coordinator's active period.

use super::config::{BeaconConfig, BeaconConfigError};
use crate::address::NodeId;
use crate::clock::Duration;
use crate::link::Links;

/// The cluster tree. A cluster is a coordinator and its children. A node belongs to its parent's cluster and to its
/// own.
#[derive(Debug)]
pub struct Tree {
    parents: Vec<Option<NodeId>>,
    /// By node, in ascending order. A node with children is a coordinator.
    children: Vec<Vec<NodeId>>,
}

impl Tree {
    /// The tree of these parents: one entry for each node, `None` for the root.
    pub fn new(parents: &[Option<NodeId>], links: &Links) -> Result<Self, BeaconConfigError> {
        let nodes = links.nodes();
        let roots = parents.iter().filter(|parent| parent.is_none()).count();
        if parents.len() != nodes || roots != 1 {
            return Err(BeaconConfigError::Parents { parents: parents.len() - roots, nodes });
        }
        let mut children = vec![Vec::new(); nodes];
        for (child, parent) in parents.iter().enumerate() {
            let child = NodeId(child as u16);
            let Some(parent) = *parent else { continue };
            if parent.index() >= nodes {
                return Err(BeaconConfigError::NotATree(child));
            }
            if !links.hears(parent, child) || !links.hears(child, parent) {
                return Err(BeaconConfigError::NoLink { child, parent });
            }
            children[parent.index()].push(child);
        }
        let tree = Self { parents: parents.to_vec(), children };
        let mut reached = vec![false; nodes];
        for node in tree.root_first() {
            reached[node.index()] = true;
        }
        match reached.iter().position(|reached| !reached) {
            Some(node) => Err(BeaconConfigError::NotATree(NodeId(node as u16))),
            None => Ok(tree),
        }
    }

    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.parents[node.index()]
    }

    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.children[node.index()]
    }

    /// The start of each coordinator's active period, relative to the root's.
    ///
    /// Two clusters never overlap in time if a member of one hears a member of the other. So beacons and frames of
    /// different clusters never collide. From the root downwards, each coordinator takes the first free period after
    /// its parent's. The standard leaves this to the layer above: 7.5.1.1 only requires that a coordinator's active
    /// period does not overlap its parent's.
    pub fn offsets(&self, config: &BeaconConfig, links: &Links) -> Result<Vec<Duration>, BeaconConfigError> {
        let cap = config.superframe.cap;
        let room = config.superframe.interval.as_micros() / cap.as_micros();
        let audible = self.audible_clusters(links);
        let mut periods: Vec<Option<u64>> = vec![None; self.parents.len()];
        for coordinator in self.root_first() {
            if self.children(coordinator).is_empty() {
                continue;
            }
            let first = match self.parent(coordinator) {
                Some(parent) => periods[parent.index()].map_or(0, |period| period + 1),
                None => 0,
            };
            let taken =
                |period| audible[coordinator.index()].iter().any(|other| periods[other.index()] == Some(period));
            let free = (0..room).map(|step| (first + step) % room).find(|&period| !taken(period));
            let period = free.ok_or(BeaconConfigError::NoRoom { coordinator, room })?;
            periods[coordinator.index()] = Some(period);
        }
        Ok(periods.into_iter().map(|period| cap * period.unwrap_or(0)).collect())
    }

    /// All nodes below the root and the root itself, each after its parent.
    fn root_first(&self) -> Vec<NodeId> {
        let root = self.parents.iter().position(Option::is_none).map(|root| NodeId(root as u16));
        let mut order: Vec<NodeId> = root.into_iter().collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            order.extend(self.children(node));
            next += 1;
        }
        order
    }

    /// The coordinators of the clusters that hear a coordinator's cluster or are heard by it, by coordinator.
    fn audible_clusters(&self, links: &Links) -> Vec<Vec<NodeId>> {
        let clusters = |node: NodeId| {
            let own = Some(node).filter(|&node| !self.children(node).is_empty());
            own.into_iter().chain(self.parent(node))
        };
        let mut audible = vec![Vec::new(); self.parents.len()];
        for from in (0..self.parents.len() as u16).map(NodeId) {
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
}
