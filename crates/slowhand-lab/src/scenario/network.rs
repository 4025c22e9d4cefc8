//! `[network]`: the nodes, and how well they hear each other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use slowhand_net::address::NodeId;
use slowhand_net::link::{LinkQuality, Links, Variation};
use slowhand_net::random::Streams;
use slowhand_net::route::{Routes, Unreachable};

use super::variation::{Change, GilbertElliott, Outage, Trace, WiFi};
use crate::input::{Integer, Probability};

/// The nodes of the mesh and the links between them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Which nodes have a link. Node 0 is the root (the border router) in every topology.
    pub topology: Topology,
    /// The share of data frames that arrive over a link, in each direction (packet delivery ratio).
    /// Default: 1, no frame is lost.
    #[serde(default = "certain")]
    pub link_pdr: Probability,
    /// The share of acknowledgement frames that arrive over a link. Default: the share of the data frames
    /// in that direction. Real acknowledgements are shorter, so a few more of them arrive.
    pub ack_pdr: Option<Probability>,
    /// The share of frames (data and acknowledgement) that arrive on a channel (11 to 26). It replaces the link's ratio
    /// on that channel, for example to model a jammer. Default: no channel has a share of its own.
    #[serde(default)]
    pub channel_pdr: BTreeMap<Channel, Probability>,
    /// Losses in bursts: links that alternate between a good and a bad state. Default: none.
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Measured delivery ratios over time, which take the place of the fixed ones. Default: none.
    pub trace: Option<Trace>,
    /// Wi-Fi networks nearby. Default: none.
    #[serde(default)]
    pub wifi: Vec<WiFi>,
    /// Links whose ratio changes at an instant. Default: none.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Times in which the radio of a node is off. Default: none.
    #[serde(default)]
    pub outages: Vec<Outage>,
}

/// Which nodes have a link. Frames take the path with the fewest hops.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(tag = "kind")]
pub enum Topology {
    /// Nodes 0, 1, ..., `hops` in a row.
    Line {
        /// The number of hops from the root to the last node.
        hops: Integer<1, MAX_NODE>,
    },
    /// Nodes 1 to `leaves` around the root.
    Star {
        /// The number of nodes around the root.
        leaves: Integer<1, MAX_NODE>,
    },
    /// Each node above `depth` has `fan_out` children. The nodes are numbered level by level from the root.
    Tree {
        /// The number of hops from the root to a leaf.
        depth: Integer<1, MAX_NODE>,
        /// The number of children of each node that is not a leaf.
        fan_out: Integer<1, MAX_NODE>,
    },
    /// A list of links. Every node from 0 to the highest number used must have a path to the root.
    Explicit {
        /// The links; each works in both directions.
        #[schemars(length(min = 1))]
        links: Vec<Link>,
    },
}

/// The highest node number: 16 bits less the one that could be taken for a broadcast (0xffff).
pub const MAX_NODE: u32 = 65_534;

/// One line of an explicit list of links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// One end of the link.
    pub from: Integer<0, MAX_NODE>,
    /// The other end.
    pub to: Integer<0, MAX_NODE>,
    /// The share of frames that arrive. Default: `network.link_pdr`.
    pub pdr: Option<Probability>,
    /// The share of frames that arrive in the other direction, `to` to `from`. Default: `pdr`.
    pub reverse_pdr: Option<Probability>,
}

/// The links and the routes of a mesh, worked out once when the scenario is loaded.
#[derive(Clone, Debug)]
pub struct Mesh {
    links: Vec<LinkQuality>,
    routes: Routes,
    variation: Arc<Variation>,
}

/// A channel of the 2.4 GHz band, 11 to 26 (IEEE 802.15.4 channel page 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(extend("pattern" = "^(1[1-9]|2[0-6])$"))]
pub struct Channel(#[schemars(with = "String")] u8);

impl Channel {
    /// The channel's number, 11 to 26.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Network {
    /// Every link in both directions.
    pub fn links(&self) -> Vec<LinkQuality> {
        let mut links = Vec::new();
        let mut join = |a: u32, b: u32, pdr: Probability, reverse: Probability| {
            for (from, to, pdr) in [(a, b, pdr), (b, a, reverse)] {
                links.push(LinkQuality {
                    from: node(from),
                    to: node(to),
                    data: pdr.get(),
                    ack: self.ack_pdr.unwrap_or(pdr).get(),
                    channels: self.channel_pdr.iter().map(|(channel, pdr)| (channel.get(), pdr.get())).collect(),
                });
            }
        };
        let below = 1..self.topology.node_count() as u32;
        match &self.topology {
            Topology::Line { .. } => below.for_each(|n| join(n - 1, n, self.link_pdr, self.link_pdr)),
            Topology::Star { .. } => below.for_each(|n| join(0, n, self.link_pdr, self.link_pdr)),
            Topology::Tree { fan_out, .. } => {
                below.for_each(|n| join((n - 1) / fan_out.get(), n, self.link_pdr, self.link_pdr));
            }
            Topology::Explicit { links } => links.iter().for_each(|link| {
                let pdr = link.pdr.unwrap_or(self.link_pdr);
                join(link.from.get(), link.to.get(), pdr, link.reverse_pdr.unwrap_or(pdr));
            }),
        }
        links
    }

    /// The links, and the routing tree that follows from them: each node takes the path of fewest hops to the root.
    ///
    /// # Errors
    /// A node without such a path.
    pub fn mesh(&self) -> Result<Mesh, Unreachable> {
        let links = self.links();
        let routes = Routes::shortest(self.topology.node_count(), &links)?;
        Ok(Mesh { links, routes, variation: Arc::default() })
    }
}

impl Mesh {
    /// How many nodes there are, the root included.
    pub fn nodes(&self) -> usize {
        self.routes.nodes()
    }

    /// The routing tree.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The links as they are where nothing changes with time.
    pub(super) fn qualities(&self) -> &[LinkQuality] {
        &self.links
    }

    /// The same mesh, whose links change with time.
    pub(super) fn varying(self, variation: Variation) -> Self {
        Self { variation: Arc::new(variation), ..self }
    }

    /// The links, each direction with a random stream of its own for its losses.
    pub fn links(&self, streams: &Streams) -> Links {
        Links::new(self.nodes(), &self.links, streams).varying(&self.variation, streams)
    }
}

impl Topology {
    /// How many nodes there are, the root included. More than [`MAX_NODE`] + 1 cannot be addressed; how
    /// many more does not matter.
    pub fn node_count(&self) -> usize {
        let most = u64::from(MAX_NODE) + 2;
        let last = match self {
            Self::Line { hops: below } | Self::Star { leaves: below } => u64::from(below.get()),
            Self::Tree { depth, fan_out } => {
                let levels = (0..depth.get()).scan(1_u64, |level, _| {
                    *level = (*level * u64::from(fan_out.get())).min(most);
                    Some(*level)
                });
                levels.take(most as usize).fold(0, |sum, level| (sum + level).min(most))
            }
            Self::Explicit { links } => {
                links.iter().map(|link| u64::from(link.from.max(link.to).get())).max().unwrap_or(0)
            }
        };
        (last + 1).min(most) as usize
    }
}

/// The node of a number that is at most [`MAX_NODE`].
pub(super) fn node(number: u32) -> NodeId {
    NodeId(number as u16)
}

pub(super) fn certain() -> Probability {
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
