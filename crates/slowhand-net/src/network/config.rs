//! The configuration of a network.

use super::gateway::GatewayConfig;
use super::internet::InternetConfig;
use super::joiner_router::JoiningConfig;
use super::mesh_under::MeshUnderConfig;
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::lowpan::reassembly::Limits;
use crate::lowpan::{Contexts, FRAME_CAPACITY, forwarding, recovery};
use crate::radio::Mac;
use crate::radio::frame::MAX_FRAME;
use crate::random::Probability;
use std::collections::{BTreeMap, BTreeSet};

/// The configuration of a network, without its link layer.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The probability that a fragment is lost, at every hop: the MAC sends it, and its receiver discards it. A packet
    /// in one frame is not a fragment.
    pub fragment_loss: Probability,
    /// The probability that any frame payload is lost in this way, fragment or not. A fragment is exposed to both.
    pub frame_loss: Probability,
    /// The numbers of single frame payloads that are lost in this way, in ascending order. The payloads of all nodes
    /// are counted together, from 1, in the order in which the MAC gets them.
    pub dropped_frames: Vec<u64>,
    /// The frames and datagrams that are lost together with such a frame payload.
    pub loss_spread: LossSpread,
    /// A node marks ECN-capable packets (RFC 3168) while at least this share of its queue is in use. `None`: no node
    /// marks.
    pub ecn_threshold: Option<f64>,
    /// The most octets of a frame that 6LoWPAN uses, in addition to the limit of the MAC
    /// ([`Mac::payload_capacity`](crate::radio::Mac::payload_capacity)). Default: [`FRAME_CAPACITY`].
    pub frame_capacity: usize,
    /// True if a node refuses a packet of which not all fragments find room in its queue. If false, it sends those that do,
    /// and the others are lost. Not with [`Fragments::Recovered`], where a source sends lost fragments again.
    pub whole_packets: bool,
    /// The prefixes that compressed addresses can refer to, and how payloads are compressed. Default: [`Contexts::mesh`]. With
    /// [`Fragments::Recovered`], no node compresses payloads.
    pub contexts: Contexts,
    /// The nodes that do not know how payloads are compressed. Their neighbours send them payloads as they are: they know it from
    /// the beginning, or learn it ([`exchanges_capabilities`](Self::exchanges_capabilities)). With [`Fragments::Forwarded`], nobody
    /// compresses what goes through them.
    pub without_payload_compression: BTreeSet<NodeId>,
    /// True if neighbours know nothing of this at the beginning, and tell each other ([`ip::discovery`](crate::ip::discovery)). Only with
    /// Generic Header Compression and [`Fragments::Reassembled`], without mesh headers.
    pub exchanges_capabilities: bool,
    /// The reassembly buffers of a node.
    pub reassembly: Limits,
    /// The way in which nodes forward fragments.
    pub fragments: Fragments,
    /// Which nodes forward single frames below IPv6, with 16-bit addresses. Only with [`Fragments::Reassembled`]. `None`: no
    /// node does.
    pub mesh_under: Option<MeshUnderConfig>,
    /// The headers that RPL adds to each packet. `None`: none, packets follow the routes without them.
    pub rpl: Option<RplConfig>,
    /// The nodes that have not as many buffers as the others.
    pub buffers_of: BTreeMap<NodeId, BufferCounts>,
    /// The time in which the processor of a node handles a frame ([`Processor`](crate::radio::Processor)). No time at nodes that are
    /// not here.
    pub frame_handling: BTreeMap<NodeId, Duration>,
    /// When radios are switched off. The outages of a node do not overlap.
    pub outages: Vec<Outage>,
    /// The path between the border router and the Internet hosts.
    pub internet: InternetConfig,
    /// The tasks of the border router beyond forwarding.
    pub gateway: GatewayConfig,
    /// The nodes that join the network. `None`: all nodes have joined.
    pub joining: Option<JoiningConfig>,
}

impl NetworkConfig {
    /// The most octets that 6LoWPAN puts into a frame from a node to a neighbour: the limit of the link, and
    /// [`frame_capacity`](Self::frame_capacity). No frame has more than [`MAX_FRAME`].
    pub(super) fn payload_capacity(&self, mac: &dyn Mac, node: NodeId, next_hop: NodeId) -> usize {
        mac.payload_capacity(node, next_hop).min(self.frame_capacity).min(MAX_FRAME)
    }

    /// True if a node understands compressed payloads.
    pub(super) fn understands_compression(&self, node: NodeId) -> bool {
        !self.without_payload_compression.contains(&node)
    }

    /// The limits of reassembly at a node.
    pub(super) fn reassembly_of(&self, node: NodeId) -> Limits {
        match self.buffers_of.get(&node).and_then(|own| own.reassembly) {
            Some(buffers) => Limits { buffers, memory: None, ..self.reassembly },
            None => self.reassembly,
        }
    }

    /// The limits of fragment forwarding at a node, where those of the other nodes are `limits`.
    pub(super) fn forwarding_of(&self, node: NodeId, limits: forwarding::Limits) -> forwarding::Limits {
        let own = self.buffers_of.get(&node).and_then(|own| own.forwarding);
        forwarding::Limits { entries: own.unwrap_or(limits.entries), ..limits }
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            fragment_loss: Probability::NEVER,
            frame_loss: Probability::NEVER,
            dropped_frames: Vec::new(),
            loss_spread: LossSpread::default(),
            ecn_threshold: None,
            frame_capacity: FRAME_CAPACITY,
            whole_packets: false,
            contexts: Contexts::mesh(),
            without_payload_compression: BTreeSet::new(),
            exchanges_capabilities: false,
            reassembly: Limits::default(),
            fragments: Fragments::default(),
            mesh_under: None,
            rpl: None,
            buffers_of: BTreeMap::new(),
            frame_handling: BTreeMap::new(),
            outages: Vec::new(),
            internet: InternetConfig::default(),
            gateway: GatewayConfig::default(),
            joining: None,
        }
    }
}

/// A time in which the radio of a node is off ([`Mac::switch_radio`](crate::radio::Mac::switch_radio)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The node.
    pub node: NodeId,
    /// When it is switched off.
    pub from: Instant,
    /// When it is switched on again.
    pub until: Instant,
}

/// The number of buffers of one node. `None`: as many as the other nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// The number of packets in reassembly at the same time ([`Limits::buffers`]). It replaces [`Limits::memory`] too.
    pub reassembly: Option<usize>,
    /// The number of virtual reassembly buffers ([`forwarding::Limits::entries`]).
    pub forwarding: Option<usize>,
}

/// The way in which the nodes between the two ends of a path forward fragments. A packet that fits one frame has no fragments: each
/// node forwards it whole.
#[derive(Clone, Copy, Debug, Default)]
pub enum Fragments {
    /// Every node reassembles the packet (RFC 4944; route-over as in RFC 6606).
    #[default]
    Reassembled,
    /// Every node forwards fragments one by one, along the path of the first fragment (RFC 8930).
    Forwarded(forwarding::Limits),
    /// As `Forwarded`, and the source sends lost fragments again (RFC 8931).
    Recovered {
        /// The parameters of the source. [`NetworkConfig::frame_capacity`] limits the capacity.
        sender: recovery::RecoveryConfig,
        /// The table of paths of each node. A path is deleted when it was not used for the timeout.
        forwarding: forwarding::Limits,
    },
}

/// Other frames that are lost with one that `fragment_loss`, `frame_loss` or `dropped_frames` takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LossSpread {
    /// Nothing (the default).
    #[default]
    Fragment,
    /// The rest of its flight: the later frames of the datagram at this hop, and the later datagrams (the loss model of
    /// Kothmayr et al. 2013, section 5.2). A flight is what one end (or the border router's TCP proxy) sends to another
    /// without a pause of more than 50 ms.
    Flight,
}

/// The headers that RPL adds to each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RplConfig {
    /// Who knows the routes down.
    pub mode: RplMode,
    /// The form of its headers in frames.
    pub encoding: RplEncoding,
    /// The octets that an address in a source route keeps at least, 1 to 16: the last ones. It keeps more where the
    /// addresses of the route differ before them.
    pub address_octets: usize,
}

/// Who knows the routes down: the mode of operation (RFC 6550 section 6.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RplMode {
    /// Each node knows the way to all nodes below it.
    Storing,
    /// Only the root knows, and gives each packet its route. A packet from node to node goes over the root.
    NonStoring,
}

/// The form of RPL's headers in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum RplEncoding {
    /// As extension headers of IPv6 (RFC 6553, RFC 6554), compressed by RFC 6282 section 4.2 (the default; Contiki-NG).
    #[default]
    ExtensionHeaders,
    /// As 6LoWPAN routing headers (RFC 8138), which a 6TiSCH network uses (RFC 9030; OpenWSN).
    #[cfg_attr(feature = "serde", serde(rename = "6lorh"))]
    RoutingHeaders,
}

impl RplConfig {
    /// The octets that an address in a source route keeps by default: its interface identifier. Those of real devices
    /// have no more in common than the prefix.
    pub const ADDRESS_OCTETS: usize = 8;
}
