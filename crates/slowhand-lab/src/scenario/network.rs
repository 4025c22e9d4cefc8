//! `[network]`: the nodes, and how well they hear each other.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use slowhand_net::address::NodeId;

use crate::input::{Integer, Probability};

/// The nodes of the mesh and the links between them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Which node hears which. Node 0 is the root (the border router) in every topology.
    pub topology: Topology,
    /// The share of data frames that arrive over a link, in each direction (packet delivery ratio).
    /// Default: 1, nothing is lost.
    #[serde(default = "certain")]
    pub link_pdr: Probability,
    /// The share of acknowledgement frames that arrive over a link. Default: that of the data frames
    /// in that direction; acknowledgements are shorter and in reality do a little better.
    pub ack_pdr: Option<Probability>,
    /// The share of frames, data and acknowledgement, that survive on a channel (11 to 26), on top of
    /// the link's own ratio: a channel with a jammer on it. Default: 1 on each channel.
    #[serde(default)]
    pub channel_pdr: BTreeMap<Channel, Probability>,
}

/// Which node hears which. Frames follow the path of fewest hops.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(tag = "kind")]
pub enum Topology {
    /// Nodes 0, 1, ..., `hops` in a row.
    Line {
        /// Hops from the root to the last node.
        hops: Integer<1, MAX_NODE>,
    },
    /// Nodes 1 to `leaves` around the root.
    Star {
        /// Nodes around the root.
        leaves: Integer<1, MAX_NODE>,
    },
    /// Each node down to `depth` has `fan_out` children; numbered level by level from the root.
    Tree {
        /// Hops from the root to a leaf.
        depth: Integer<1, MAX_NODE>,
        /// Children of each node that is no leaf.
        fan_out: Integer<1, MAX_NODE>,
    },
    /// A list of links. Every node from 0 to the highest number used must have a path to the root.
    Explicit {
        /// The links; each works in both directions.
        links: Vec<LinkEntry>,
    },
}

/// The highest node number: a node number has 16 bits, and the last one is the broadcast address.
pub const MAX_NODE: u32 = 65_534;

/// One line of an explicit list of links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// One end of the link.
    pub from: Integer<0, MAX_NODE>,
    /// The other end.
    pub to: Integer<0, MAX_NODE>,
    /// The share of frames that arrive. Default: `network.link_pdr`.
    pub pdr: Option<Probability>,
    /// The share of frames that arrive in the other direction, `to` to `from`. Default: `pdr`.
    pub reverse_pdr: Option<Probability>,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// The probability that a data frame arrives.
    pub pdr: f64,
    /// The probability that an acknowledgement frame arrives.
    pub ack_pdr: f64,
}

/// A channel of the 2.4 GHz band, 11 to 26 (IEEE 802.15.4 channel page 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel(u8);

impl Channel {
    /// The channel's number, 11 to 26.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Network {
    /// Every link in both directions, in the order of the topology.
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        let mut join = |from, to, pdr: Probability, reverse: Probability| {
            for (from, to, pdr) in [(from, to, pdr), (to, from, reverse)] {
                let ack_pdr = self.ack_pdr.unwrap_or(pdr).get();
                let pdr = pdr.get();
                links.push(Link { from, to, pdr, ack_pdr });
            }
        };
        if let Topology::Explicit { links } = &self.topology {
            for entry in links {
                let pdr = entry.pdr.unwrap_or(self.link_pdr);
                let reverse = entry.reverse_pdr.unwrap_or(pdr);
                join(node(entry.from.get()), node(entry.to.get()), pdr, reverse);
            }
        } else {
            for (parent, child) in self.topology.edges() {
                join(parent, child, self.link_pdr, self.link_pdr);
            }
        }
        links
    }
}

impl Topology {
    /// How many nodes there are, the root included.
    pub fn node_count(&self) -> usize {
        match self {
            Self::Line { hops: below } | Self::Star { leaves: below } => below.get() as usize + 1,
            Self::Tree { depth, fan_out } => {
                let mut level = 1_usize;
                let mut count = level;
                for _ in 0..depth.get() {
                    level = level.saturating_mul(fan_out.get() as usize);
                    count = count.saturating_add(level);
                    // More than can be addressed: how many more does not matter.
                    if count > MAX_NODE as usize + 1 {
                        break;
                    }
                }
                count
            }
            Self::Explicit { links } => {
                let ends = links.iter().flat_map(|link| [link.from.get(), link.to.get()]);
                ends.max().map_or(1, |last| last as usize + 1)
            }
        }
    }

    /// The pairs of nodes with a link between them; in a generated topology, parent first.
    fn edges(&self) -> Vec<(NodeId, NodeId)> {
        let below = 1..self.node_count() as u32;
        match self {
            Self::Line { .. } => below.map(|n| (node(n - 1), node(n))).collect(),
            Self::Star { .. } => below.map(|n| (NodeId::ROOT, node(n))).collect(),
            Self::Tree { fan_out, .. } => below.map(|n| (node((n - 1) / fan_out.get()), node(n))).collect(),
            Self::Explicit { links } => links.iter().map(|link| (node(link.from.get()), node(link.to.get()))).collect(),
        }
    }

    /// The parent of every node on its shortest path to the root, indexed by node; among equals the
    /// lowest number. `None` for the root and for a node without a path.
    pub fn parents(&self) -> Vec<Option<NodeId>> {
        let mut neighbours = vec![Vec::new(); self.node_count()];
        for (a, b) in self.edges() {
            neighbours[a.index()].push(b);
            neighbours[b.index()].push(a);
        }
        let mut parents = vec![None; neighbours.len()];
        let mut queue = VecDeque::from([NodeId::ROOT]);
        while let Some(parent) = queue.pop_front() {
            neighbours[parent.index()].sort_unstable();
            for &child in &neighbours[parent.index()] {
                if child != NodeId::ROOT && parents[child.index()].is_none() {
                    parents[child.index()] = Some(parent);
                    queue.push_back(child);
                }
            }
        }
        parents
    }

    /// The nodes that are nobody's parent: the last node of a line, the leaves of a star or tree.
    pub fn leaves(&self) -> Vec<NodeId> {
        let parents = self.parents();
        let mut is_leaf = vec![true; parents.len()];
        is_leaf[NodeId::ROOT.index()] = false;
        for parent in parents.iter().flatten() {
            is_leaf[parent.index()] = false;
        }
        (0..parents.len()).filter(|&n| is_leaf[n]).map(|n| node(n as u32)).collect()
    }
}

/// The node of a number that is at most [`MAX_NODE`].
fn node(number: u32) -> NodeId {
    NodeId(number as u16)
}

fn certain() -> Probability {
    Probability::constant(1.0)
}

impl<'de> Deserialize<'de> for Channel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;

        impl Visitor<'_> for Key {
            type Value = Channel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a channel from 11 to 26")
            }

            fn visit_str<E: de::Error>(self, key: &str) -> Result<Channel, E> {
                let number = key.parse().ok().filter(|number| (11..=26).contains(number));
                number.map(Channel).ok_or_else(|| E::invalid_value(de::Unexpected::Str(key), &self))
            }
        }

        deserializer.deserialize_str(Key)
    }
}

impl JsonSchema for Channel {
    fn schema_name() -> Cow<'static, str> {
        "Channel".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(1[1-9]|2[0-6])$" })
    }
}
