//! Routes in the mesh: a tree. Packets go up to the root or down from it.

use crate::address::NodeId;
use crate::link::LinkQuality;
use std::collections::VecDeque;

/// The routing tree. Every node except the root has a parent, as in RPL with storing mode (RFC 6550).
#[derive(Clone, Debug)]
pub struct Routes {
    /// The parent of node n. The root is its own parent.
    parents: Vec<NodeId>,
    /// The number of hops from node n to the root.
    depths: Vec<u16>,
}

/// A node that cannot reach the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node {0} cannot reach the root over links that work in both directions")]
pub struct Unreachable(pub NodeId);

impl Routes {
    /// The tree in which every node has the fewest hops to the root, over links that deliver in both directions. Among
    /// parents of equal depth, a node takes the one with the smallest number.
    ///
    /// # Errors
    /// The first node that cannot reach the root.
    pub fn shortest(nodes: usize, links: &[LinkQuality]) -> Result<Self, Unreachable> {
        let mut delivers: Vec<(NodeId, NodeId)> =
            links.iter().filter(|link| link.data > 0.0).map(|link| (link.from, link.to)).collect();
        delivers.sort();
        let mut parents: Vec<Option<NodeId>> = vec![None; nodes];
        let mut depths = vec![0; nodes];
        parents[NodeId::ROOT.index()] = Some(NodeId::ROOT);
        let mut reached = VecDeque::from([NodeId::ROOT]);
        while let Some(parent) = reached.pop_front() {
            let first = delivers.partition_point(|&(from, _)| from < parent);
            for &(_, child) in delivers[first..].iter().take_while(|&&(from, _)| from == parent) {
                if parents[child.index()].is_none() && delivers.binary_search(&(child, parent)).is_ok() {
                    parents[child.index()] = Some(parent);
                    depths[child.index()] = depths[parent.index()] + 1;
                    reached.push_back(child);
                }
            }
        }
        let reachable = |(node, parent): (usize, Option<NodeId>)| parent.ok_or(Unreachable(NodeId(node as u16)));
        let parents = parents.into_iter().enumerate().map(reachable).collect::<Result<_, _>>()?;
        Ok(Self { parents, depths })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The parent of a node; none for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId::ROOT).then(|| self.parents[node.index()])
    }

    /// The parents of all nodes, by node; none for the root.
    pub fn parents(&self) -> Vec<Option<NodeId>> {
        (0..self.nodes() as u16).map(|node| self.parent(NodeId(node))).collect()
    }

    /// The number of hops between a node and the root.
    pub fn depth(&self, node: NodeId) -> u16 {
        self.depths[node.index()]
    }

    /// The neighbour to which `at` sends a packet for `to`: down if `to` is below `at` in the tree, else up to the
    /// parent. None if `at` is the destination.
    pub fn next_hop(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        if at == to {
            return None;
        }
        let mut below = to;
        while self.depth(below) > self.depth(at) {
            let above = self.parents[below.index()];
            if above == at {
                return Some(below);
            }
            below = above;
        }
        self.parent(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(u16, u16)]) -> Vec<LinkQuality> {
        pairs.iter().flat_map(|&(a, b)| LinkQuality::symmetric(NodeId(a), NodeId(b), 1.0)).collect()
    }

    #[test]
    fn down_a_branch_up_to_the_common_ancestor() {
        //    0
        //   1  2
        //  3 4  5
        let routes = Routes::shortest(6, &links(&[(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)])).unwrap();
        let path = |from: u16, to: u16| {
            let mut path = vec![from];
            while let Some(next) = routes.next_hop(NodeId(path[path.len() - 1]), NodeId(to)) {
                path.push(next.0);
            }
            path
        };
        assert_eq!(path(3, 0), [3, 1, 0]);
        assert_eq!(path(0, 5), [0, 2, 5]);
        assert_eq!(path(4, 5), [4, 1, 0, 2, 5]);
        assert_eq!(path(3, 4), [3, 1, 4]);
    }

    #[test]
    fn a_link_of_one_direction_is_no_route() {
        let mut one_way = links(&[(0, 1)]);
        one_way.push(LinkQuality { from: NodeId(0), to: NodeId(2), data: 1.0, ack: 1.0, channels: Vec::new() });
        assert_eq!(Routes::shortest(3, &one_way).unwrap_err(), Unreachable(NodeId(2)));
    }
}
