//! `[network]`: the nodes, and how well they hear each other.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use slowhand_net::address::NodeId;
use slowhand_net::link::{self, LinkQuality, Links, Variation};
use slowhand_net::network::BufferCounts;
use slowhand_net::random::Streams;
use slowhand_net::route::{Loop, Routes, Unreachable};

use super::handling::FrameHandling;
use super::keys::table;
use super::nodes::{MAX_NODE, node};
use super::profile::Profile;
use super::variation::{Change, GilbertElliott, Outage, Trace, Walk, WiFi, certain};
use crate::input::{
    Decibels, Forms, Integer, Milliseconds, NumberKey, PositiveDecibels, Probability, RelativeDecibels,
};

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
    /// Which path to the root a node takes. Default: `hops`.
    #[serde(default)]
    pub routing: Routing,
    /// The parent of each node, for routes that you choose: `{ 1 = 0, 2 = 0, 3 = 2 }`. Every node but the root needs one,
    /// to which it has a link. Default: none, the parents follow from `routing`.
    pub parents: Option<BTreeMap<NumberKey<MAX_NODE>, Integer<0, MAX_NODE>>>,
    /// The properties of single nodes that differ from those of the others, by their numbers:
    /// `{ 0 = { queue = 60 }, 5 = { queue = 4 } }`. Default: all nodes are alike.
    #[serde(default)]
    pub nodes: BTreeMap<NumberKey<MAX_NODE>, NodeBuffers>,
    /// The software of the nodes: the defaults of the keys that say how many frames and datagrams a node keeps, for how
    /// long, and how often it tries. Default: the project that the link layer is from, because its numbers fit each other:
    /// `openwsn` with `mac.kind = "tsch"`, `openthread` with `"csma"`, `contiki-ng` with `"xmac"`, `rfc` with `"beacon"`.
    /// docs/reference/nodes.md compares them: in the default schedule of TSCH no handshake with certificates completes with the
    /// timers of OpenThread and Zephyr, 2 % do with RIOT's, 39 % with Contiki-NG's numbers, all with OpenWSN's.
    pub profile: Option<Profile>,
    /// The time that the processor of a node takes for each frame that it receives or sends: a time, or `"device"`: the
    /// `processor.frame_handling_us` of its device (the server's where the server is, else the client's). Default: 0,
    /// processors take no time for frames.
    #[serde(default)]
    pub frame_handling_ms: FrameHandling,
    /// Frames that survive a collision (capture effect). Default: none, all frames that overlap are lost. Delivery ratios say
    /// nothing of powers, and this is the worst case.
    pub capture: Option<Capture>,
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
    /// The nodes around the root come into its reach one after the other, and leave it. Only in a star. Default: none, they are
    /// always in reach.
    pub walk: Option<Walk>,
    /// Times in which the radio of a node is off. Default: none.
    #[serde(default)]
    pub outages: Vec<Outage>,
}

table! {
    /// Which frames survive a collision: those that are received with enough power above the sum of the others. Each link has
    /// a power of its own, the same in both directions (shadowing), which does not change with time.
    #[derive(Copy, PartialEq)]
    pub struct Capture {
        /// The power by which a frame must be stronger at all times, in dB. Of two frames that overlap at most one survives.
        /// Default: 3 (CC2420 data sheet, co-channel rejection).
        pub threshold_db: PositiveDecibels { PositiveDecibels::constant(3.0) },
        /// The standard deviation of the powers of links, in dB: each is drawn from the normal distribution, anew for each
        /// seed. Default: 4 (assumed).
        pub spread_db: Decibels { Decibels::constant(4.0) },
    }
}

/// The properties of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeBuffers {
    /// The number of frames that its queue holds. Default: `mac.queue`.
    pub queue: Option<Integer<1, 65_535>>,
    /// The number of datagrams that it can reassemble at the same time. Default: `lowpan.reassembly_buffers`.
    pub reassembly_buffers: Option<Integer<1, 65_535>>,
    /// The number of datagrams that it can forward at the same time, with `lowpan.reassembly = "forwarding"` or `"recovery"`.
    /// Default: `lowpan.forwarding.entries`.
    pub forwarding_entries: Option<Integer<1, 65_535>>,
    /// The time that its processor takes for a frame. Default: `network.frame_handling_ms`.
    pub frame_handling_ms: Option<Milliseconds>,
    /// False if the node does not understand `lowpan.payload_compression`. `lowpan.capabilities` says how its neighbours learn that.
    /// Default: true.
    pub payload_compression: Option<bool>,
}

/// Which path to the root a node takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// The path with the fewest hops, over any link that delivers something in both directions (the default). Of several
    /// parents with the same number of hops, a node takes the one with the smallest number.
    #[default]
    Hops,
    /// The path with the smallest expected transmission count (ETX, RFC 6551 section 4.3.2; the objective function MRHOF of
    /// RFC 6719, without its hysteresis). A hop counts 1 / (d * a): d is the share of frames that arrive at the parent, a
    /// the share of its acknowledgements that come back. `channel_pdr` does not count. Of several parents with the same
    /// count, a node takes the one with the smallest number.
    Etx,
}

/// Which nodes have a link.
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
        /// The number of nodes, the root included: those with higher numbers are left out. Default: the whole tree.
        nodes: Option<Integer<2, 65_535>>,
    },
    /// A list of links. Every node from 0 to the highest number used must have a path to the root.
    Explicit {
        /// The links; each works in both directions.
        #[schemars(length(min = 1))]
        links: Vec<Link>,
    },
}

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
    /// With `network.capture`: the mean power with which both ends receive each other, in dB relative to the other links.
    /// Default: 0.
    pub power_db: Option<RelativeDecibels>,
}

/// The links and the routes of a mesh, worked out once when the scenario is loaded.
#[derive(Clone, Debug)]
pub struct Mesh {
    links: Vec<LinkQuality>,
    routes: Routes,
    variation: Arc<Variation>,
    capture: Option<Arc<link::Capture>>,
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
    /// The links that `changes` names, each in both directions.
    pub(super) fn links_that_change(&self) -> BTreeSet<(NodeId, NodeId)> {
        let ends = self.changes.iter().map(|change| (node(change.from.get()), node(change.to.get())));
        ends.flat_map(|(from, to)| [(from, to), (to, from)]).collect()
    }

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

    /// The nodes whose queues are not as long as those of the others.
    pub fn queues(&self) -> impl Iterator<Item = (NodeId, usize)> + '_ {
        self.nodes.iter().filter_map(|(id, own)| Some((node(id.get()), own.queue?.get() as usize)))
    }

    /// The nodes that have not as many other buffers as the others.
    pub fn buffers(&self) -> BTreeMap<NodeId, BufferCounts> {
        let count = |number: Option<Integer<1, 65_535>>| number.map(|number| number.get() as usize);
        let counts = |own: &NodeBuffers| BufferCounts {
            reassembly: count(own.reassembly_buffers),
            forwarding: count(own.forwarding_entries),
        };
        self.nodes.iter().map(|(id, own)| (node(id.get()), counts(own))).collect()
    }

    /// The nodes that do not understand how payloads are compressed.
    pub fn without_payload_compression(&self) -> BTreeSet<NodeId> {
        let without = self.nodes.iter().filter(|(_, own)| own.payload_compression == Some(false));
        without.map(|(id, _)| node(id.get())).collect()
    }

    /// The links, and the routing tree that follows from them or is given.
    ///
    /// # Errors
    /// A node without a path to the root, or with a parent that it cannot have.
    pub fn mesh(&self) -> Result<Mesh, RouteError> {
        let (links, nodes) = (self.links(), self.topology.node_count());
        let routes = match (&self.parents, self.routing) {
            (Some(parents), _) => Routes::of_parents(parents_of(parents, nodes, &links)?)?,
            (None, Routing::Hops) => Routes::shortest(nodes, &links)?,
            (None, Routing::Etx) => Routes::by_etx(nodes, &links)?,
        };
        Ok(Mesh { links, routes, variation: Arc::default(), capture: self.capture().map(Arc::new) })
    }

    /// Which frames survive others.
    fn capture(&self) -> Option<link::Capture> {
        let capture = self.capture?;
        let mut powers_db = BTreeMap::new();
        if let Topology::Explicit { links } = &self.topology {
            for link in links {
                let (from, to, power) = (node(link.from.get()), node(link.to.get()), link.power_db);
                let both = power.into_iter().flat_map(|power| [(from, to), (to, from)].map(|ends| (ends, power.get())));
                powers_db.extend(both);
            }
        }
        let (threshold_db, spread_db) = (capture.threshold_db.get(), capture.spread_db.get());
        Some(link::Capture { threshold_db, spread_db, powers_db })
    }
}

/// The parent of each node. The root has itself.
fn parents_of(
    given: &BTreeMap<NumberKey<MAX_NODE>, Integer<0, MAX_NODE>>,
    nodes: usize,
    links: &[LinkQuality],
) -> Result<Vec<NodeId>, RouteError> {
    let delivers: HashSet<(NodeId, NodeId)> =
        links.iter().filter(|link| link.data > 0.0).map(|link| (link.from, link.to)).collect();
    let mut parents = vec![None; nodes];
    parents[NodeId::ROOT.index()] = Some(NodeId::ROOT);
    for (child, parent) in given {
        let (child, parent) = (node(child.get()), node(parent.get()));
        if child == NodeId::ROOT || child.index() >= nodes {
            return Err(RouteError::NoSuchNode(child));
        }
        if !(delivers.contains(&(child, parent)) && delivers.contains(&(parent, child))) {
            return Err(RouteError::OutOfRange { child, parent });
        }
        parents[child.index()] = Some(parent);
    }
    let parent = |(child, parent): (usize, Option<NodeId>)| parent.ok_or(RouteError::NoParent(NodeId(child as u16)));
    parents.into_iter().enumerate().map(parent).collect()
}

/// A mesh without routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// A node cannot reach the root.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// The parents of a node lead back to it.
    #[error(transparent)]
    Loop(#[from] Loop),
    /// A parent is given for a node that has none: it is the root, or is not there.
    #[error("node {0} has no parent")]
    NoSuchNode(NodeId),
    /// The node and its parent have no link in both directions.
    #[error("node {child} has no link to {parent} that works in both directions")]
    OutOfRange {
        /// The node.
        child: NodeId,
        /// The parent that is given for it.
        parent: NodeId,
    },
    /// Parents are given, but none for this node.
    #[error("no parent is given for node {0}")]
    NoParent(NodeId),
}

impl Mesh {
    /// The number of nodes, the root included.
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

    /// The changes with time.
    pub(crate) fn variation(&self) -> &Variation {
        &self.variation
    }

    /// Nodes and routes of this mesh, with these links.
    pub(super) fn with_links(&self, links: Vec<LinkQuality>) -> Self {
        Self { links, variation: Arc::default(), ..self.clone() }
    }

    /// Makes the links of this mesh change with time.
    pub(super) fn varying(self, variation: Variation) -> Self {
        Self { variation: Arc::new(variation), ..self }
    }

    /// Keeps the courses of the links for which `is_kept` holds, and no other one.
    pub(super) fn retain_courses(&mut self, mut is_kept: impl FnMut(&(NodeId, NodeId, Option<u8>)) -> bool) {
        if self.variation.courses.keys().any(|link| !is_kept(link)) {
            Arc::make_mut(&mut self.variation).courses.retain(|link, _| is_kept(link));
        }
    }

    /// The links, each direction with a random stream of its own for its losses.
    pub fn links(&self, streams: &Streams) -> Links {
        let links = Links::new(self.nodes(), &self.links, streams).varying(&self.variation, streams);
        match &self.capture {
            Some(capture) => links.capturing(capture, streams),
            None => links,
        }
    }
}

impl Topology {
    /// The number of nodes, the root included. More than [`MAX_NODE`] + 1 cannot be addressed; how
    /// many more does not matter.
    pub fn node_count(&self) -> usize {
        let most = u64::from(MAX_NODE) + 2;
        let last = match self {
            Self::Line { hops: below } | Self::Star { leaves: below } => u64::from(below.get()),
            Self::Tree { depth, fan_out, nodes } => {
                let levels = (0..depth.get()).scan(1_u64, |level, _| {
                    *level = (*level * u64::from(fan_out.get())).min(most);
                    Some(*level)
                });
                let whole = levels.take(most as usize).fold(0, |sum, level| (sum + level).min(most));
                nodes.map_or(whole, |nodes| whole.min(u64::from(nodes.get()) - 1))
            }
            Self::Explicit { links } => {
                links.iter().map(|link| u64::from(link.from.max(link.to).get())).max().unwrap_or(0)
            }
        };
        (last + 1).min(most) as usize
    }
}

impl<'de> Deserialize<'de> for Channel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of_key = |key: &str| key.parse().ok().filter(|number| (11..=26).contains(number)).map(Self);
        Forms::text("a channel from 11 to 26", of_key).read(deserializer)
    }
}
