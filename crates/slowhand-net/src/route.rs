//! Routes in the mesh: a tree. Packets go up to the root or down from it.

use crate::address::NodeId;
use crate::link::LinkQuality;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The routing tree. Every node except the root has a parent, as in RPL (RFC 6550): a packet goes up until it is above
/// its destination, then down. In RPL's storing mode each node knows the way to the nodes below it. In the non-storing
/// mode only the root does, and packets carry their way down
/// ([`RplConfig`](crate::network::RplConfig)).
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

/// A node whose parents lead back to it, not to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parents of node {0} form a loop")]
pub struct Loop(pub NodeId);

/// The unit of the costs of routes: whole numbers, so that equal sums are equal (assumed; RFC 6551 section 4.3.2 has 128,
/// with 16 bits for a sum).
const ETX_1: f64 = 1_048_576.0;

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
        parents[NodeId::ROOT.index()] = Some(NodeId::ROOT);
        let mut reached = VecDeque::from([NodeId::ROOT]);
        while let Some(parent) = reached.pop_front() {
            let first = delivers.partition_point(|&(from, _)| from < parent);
            for &(_, child) in delivers[first..].iter().take_while(|&&(from, _)| from == parent) {
                if parents[child.index()].is_none() && delivers.binary_search(&(child, parent)).is_ok() {
                    parents[child.index()] = Some(parent);
                    reached.push_back(child);
                }
            }
        }
        Self::of_reached(parents)
    }

    /// The tree in which every node has the path of the smallest expected transmission count (ETX) to the root (RFC 6551
    /// section 4.3.2). The count of a hop is 1 / (d * a): d is the delivery ratio of a frame to the parent, a that of the
    /// acknowledgement that comes back. Ratios of single channels do not count. Among parents with the same sum, a node
    /// takes the one with the smallest number.
    ///
    /// # Errors
    /// The first node that cannot reach the root.
    pub fn by_etx(nodes: usize, links: &[LinkQuality]) -> Result<Self, Unreachable> {
        let mut sorted: Vec<&LinkQuality> = links.iter().filter(|link| link.data > 0.0).collect();
        sorted.sort_by_key(|link| (link.from, link.to));
        let find = |from: NodeId, to: NodeId| sorted.binary_search_by_key(&(from, to), |link| (link.from, link.to));
        let mut costs = vec![u64::MAX; nodes];
        let mut parents: Vec<Option<NodeId>> = vec![None; nodes];
        costs[NodeId::ROOT.index()] = 0;
        parents[NodeId::ROOT.index()] = Some(NodeId::ROOT);
        let mut reached = BinaryHeap::from([Reverse((0, NodeId::ROOT))]);
        while let Some(Reverse((cost, parent))) = reached.pop() {
            if cost > costs[parent.index()] {
                continue; // a shorter path was found
            }
            let first = sorted.partition_point(|link| link.from < parent);
            for down in sorted[first..].iter().take_while(|link| link.from == parent) {
                let child = down.to;
                let Ok(up) = find(child, parent) else { continue };
                let hop = ETX_1 / (sorted[up].data * down.ack);
                if !hop.is_finite() {
                    continue; // no acknowledgement arrives
                }
                let sum = cost.saturating_add(hop.round() as u64);
                if (sum, Some(parent)) < (costs[child.index()], parents[child.index()]) {
                    costs[child.index()] = sum;
                    parents[child.index()] = Some(parent);
                    reached.push(Reverse((sum, child)));
                }
            }
        }
        Self::of_reached(parents)
    }

    /// The tree with these parents, which lead to the root. `None` for a node that cannot reach it.
    fn of_reached(parents: Vec<Option<NodeId>>) -> Result<Self, Unreachable> {
        let reachable = |(node, parent): (usize, Option<NodeId>)| parent.ok_or(Unreachable(NodeId(node as u16)));
        let parents: Vec<NodeId> = parents.into_iter().enumerate().map(reachable).collect::<Result<_, _>>()?;
        let depths = depths_of(&parents).unwrap_or_default(); // each hop leads nearer to the root, so there is no loop
        Ok(Self { parents, depths })
    }

    /// The tree with these parents, by node. The root's own is not used.
    ///
    /// # Errors
    /// The first node whose parents form a loop.
    pub fn of_parents(mut parents: Vec<NodeId>) -> Result<Self, Loop> {
        parents[NodeId::ROOT.index()] = NodeId::ROOT;
        let depths = depths_of(&parents)?;
        Ok(Self { parents, depths })
    }

    /// Gives a node another parent.
    ///
    /// # Errors
    /// Its parents would form a loop; then nothing changes.
    pub fn set_parent(&mut self, node: NodeId, parent: NodeId) -> Result<(), Loop> {
        let mut parents = self.parents.clone();
        parents[node.index()] = parent;
        *self = Self::of_parents(parents)?;
        Ok(())
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

    /// The nodes between the root and `node`, `node` included, from `node` upwards.
    pub fn ancestry(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(node), |&below| self.parent(below)).take_while(|&above| above != NodeId::ROOT)
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

/// The depth of each node: 0 for the root.
fn depths_of(parents: &[NodeId]) -> Result<Vec<u16>, Loop> {
    let mut depths: Vec<Option<u16>> = vec![None; parents.len()];
    depths[NodeId::ROOT.index()] = Some(0);
    let mut path = Vec::new();
    for node in (0..parents.len()).map(|node| NodeId(node as u16)) {
        path.clear();
        let mut above = node;
        while depths[above.index()].is_none() {
            if path.len() == parents.len() {
                return Err(Loop(node));
            }
            path.push(above);
            above = parents[above.index()];
        }
        for below in path.drain(..).rev() {
            // There are at most 65,535 nodes, so no depth is larger.
            depths[below.index()] = depths[above.index()].map(|depth| depth + 1);
            above = below;
        }
    }
    Ok(depths.into_iter().flatten().collect())
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

    /// A direct link of 0.2 has an ETX of 1 / (0.2 * 0.2) = 25. The way over node 1 has 1 / (0.93 * 0.93) + 1 / (0.71 *
    /// 0.71) = 1.156 + 1.984.
    #[test]
    fn two_good_hops_are_better_than_a_bad_one() {
        let links: Vec<LinkQuality> = [(0, 1, 0.93), (1, 2, 0.71), (0, 2, 0.2)]
            .iter()
            .flat_map(|&(a, b, pdr)| LinkQuality::symmetric(NodeId(a), NodeId(b), pdr))
            .collect();
        let parents = |routes: Routes| (routes.parents(), (0..3).map(|n| routes.depth(NodeId(n))).collect::<Vec<_>>());
        let [root, one] = [Some(NodeId(0)), Some(NodeId(1))];
        assert_eq!(parents(Routes::shortest(3, &links).unwrap()), (vec![None, root, root], vec![0, 1, 1]));
        assert_eq!(parents(Routes::by_etx(3, &links).unwrap()), (vec![None, root, one], vec![0, 1, 2]));
    }

    /// Node 3 has two parents. Frames reach both alike. The acknowledgements of node 1 arrive in 8 of 10 cases, those of
    /// node 2 always: 1 / (0.9 * 0.8) is 1.39, 1 / 0.9 is 1.11. What arrives in the other direction does not count.
    #[test]
    fn acknowledgements_count_and_ties_go_to_the_smaller_number() {
        let with = |ack: f64, down: f64| {
            let mut links = links(&[(0, 1), (0, 2), (1, 3), (2, 3)]);
            for link in &mut links {
                match (link.from.0, link.to.0) {
                    (3, _) => (link.data, link.ack) = (0.9, 0.1),
                    (1, 3) => (link.data, link.ack) = (down, ack),
                    _ => {}
                }
            }
            Routes::by_etx(4, &links).unwrap().parent(NodeId(3)).unwrap().0
        };
        assert_eq!((with(1.0, 1.0), with(0.8, 1.0), with(1.0, 0.1), with(0.0, 1.0)), (1, 2, 1, 2));
    }

    #[test]
    fn a_node_without_acknowledgements_is_not_reached_by_etx() {
        let mut links = links(&[(0, 1), (1, 2)]);
        links.iter_mut().filter(|link| link.to == NodeId(2)).for_each(|link| link.ack = 0.0);
        assert_eq!(Routes::by_etx(3, &links).unwrap_err(), Unreachable(NodeId(2)));
    }

    #[test]
    fn parents_make_a_tree_or_a_loop() {
        let parents = |parents: &[u16]| Routes::of_parents(parents.iter().map(|&parent| NodeId(parent)).collect());
        let routes = parents(&[0, 2, 0, 1]).unwrap();
        assert_eq!((0..4).map(|node| routes.depth(NodeId(node))).collect::<Vec<_>>(), [0, 2, 1, 3]);
        assert_eq!(parents(&[0, 0, 3, 4, 2]).unwrap_err(), Loop(NodeId(2)));
        assert_eq!(parents(&[0, 1]).unwrap_err(), Loop(NodeId(1)));
    }

    #[test]
    fn a_link_of_one_direction_is_no_route() {
        let mut one_way = links(&[(0, 1)]);
        one_way.push(LinkQuality { from: NodeId(0), to: NodeId(2), data: 1.0, ack: 1.0, channels: Vec::new() });
        assert_eq!(Routes::shortest(3, &one_way).unwrap_err(), Unreachable(NodeId(2)));
    }
}
