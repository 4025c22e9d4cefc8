//! The tree of parents and children along which frames go.

use super::PanError;
use crate::address::NodeId;
use crate::link::Links;

/// Parents and children of all nodes.
#[derive(Debug)]
pub struct Tree {
    parents: Vec<Option<NodeId>>,
    /// By node, in ascending order.
    children: Vec<Vec<NodeId>>,
}

impl Tree {
    /// The tree of these parents: one entry for each node, `None` for the root.
    pub fn new(parents: &[Option<NodeId>], links: &Links) -> Result<Self, PanError> {
        let nodes = links.nodes();
        let roots = parents.iter().filter(|parent| parent.is_none()).count();
        if parents.len() != nodes || roots != 1 {
            return Err(PanError::Parents { parents: parents.len() - roots, nodes });
        }
        let mut children = vec![Vec::new(); nodes];
        for (child, parent) in parents.iter().enumerate() {
            let child = NodeId(child as u16);
            let Some(parent) = *parent else { continue };
            if parent.index() >= nodes {
                return Err(PanError::NotATree(child));
            }
            if !links.hears(parent, child) || !links.hears(child, parent) {
                return Err(PanError::NoLink { child, parent });
            }
            children[parent.index()].push(child);
        }
        let tree = Self { parents: parents.to_vec(), children };
        let mut reached = vec![false; nodes];
        for node in tree.root_first() {
            reached[node.index()] = true;
        }
        match reached.iter().position(|reached| !reached) {
            Some(node) => Err(PanError::NotATree(NodeId(node as u16))),
            None => Ok(tree),
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The parent of a node. `None` for the root, and for a node that is not in the tree.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.parents.get(node.index()).copied().flatten()
    }

    /// The children of a node.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.children[node.index()]
    }

    /// All nodes, each after its parent.
    pub fn root_first(&self) -> Vec<NodeId> {
        let root = self.parents.iter().position(Option::is_none).map(|root| NodeId(root as u16));
        let mut order: Vec<NodeId> = root.into_iter().collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            order.extend(self.children(node));
            next += 1;
        }
        order
    }
}
