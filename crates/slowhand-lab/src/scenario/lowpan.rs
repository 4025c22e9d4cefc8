//! `[lowpan]`: how IPv6 datagrams travel in 802.15.4 frames.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slowhand_net::clock::Duration;
use slowhand_net::lowpan::reassembly::{Timer, WhenFull};
use slowhand_net::lowpan::recovery::{self, RecoveryConfig};
use slowhand_net::lowpan::{self, Context, Contexts, FRAME_CAPACITY, forwarding};
use slowhand_net::network::{BufferCounts, Fragments, LossSpread, NetworkConfig, RplConfig, RplEncoding, RplMode};

use super::keys::table;
use super::{Ordinal, ascending};
use crate::input::{Integer, NumberKey, PositiveSeconds, Prefix, Probability};

table! {
    /// The adaptation layer between IPv6 and 802.15.4 (RFC 4944, RFC 6282).
    pub struct Lowpan(NetworkConfig = NetworkConfig::default()) {
        /// The probability that a fragment of a datagram is lost at a hop: FRAG1 and FRAGN (RFC 4944), RFRAG (RFC 8931). A
        /// datagram that fits one frame has no fragments and is not lost, nor are acknowledgements of fragments (RFRAG-ACK).
        /// A lost fragment has been sent: the receiver's link layer acknowledges it, its octets and its energy count at both
        /// ends, then the receiver discards it. A fragment that the link layer itself loses is lost there. (Claeys et al.,
        /// Sensors 2021, section 3.3: "6LoWPAN fragments have a 5% probability of being dropped when traversing the
        /// network".) Default: 0.
        pub fragment_loss: Probability = fragment_loss,
        /// The probability of such a loss for every frame that 6LoWPAN gives to the link layer, fragment or not (Kothmayr et
        /// al. 2013, section 5.2: an artificial drop rate on the link layer). A fragment is exposed to both. Default: 0.
        pub frame_loss: Probability = frame_loss,
        /// The other frames that are lost with a frame. Default: `fragment`.
        pub loss_spread: LossSpread = loss_spread,
        /// The numbers of frames that are lost in the same way, for losses that you choose. Frames are counted from 1, over
        /// all nodes, in the order in which the link layer gets them. Default: none.
        pub dropped_frames: Vec<Ordinal>,
        /// The most octets of a frame that 6LoWPAN uses. Default: 104. That is 127 octets without the MAC header (21 with
        /// 64-bit addresses and one PAN ID) and the FCS (2). OpenWSN uses 80 or 96. With 16-bit addresses
        /// (`mac.addresses`) up to 116 fit into a frame.
        pub max_frame_payload: Integer<40, 116> = frame_capacity,
        /// The prefixes to which compressed addresses refer, by the number of their context (RFC 6282 section 3.1.1). An address
        /// that no prefix covers travels in full. The nodes have addresses in `2001:db8::/64`, the server on the Internet has
        /// `2001:db8:1::1`. Default: `{ 0 = "2001:db8::/64", 1 = "2001:db8:1::/64" }` (assumed: the root announces both).
        pub contexts: BTreeMap<NumberKey<15>, Prefix> { contexts_of(&Contexts::mesh()) },
        /// True if a node refuses a datagram of which not all fragments find room in its queue. If false, it sends those that do
        /// for nothing: the others are lost. It has no effect with `reassembly = "recovery"`. Default: that of
        /// `network.profile`.
        #[schemars(extend("default" = null))]
        pub whole_datagrams: bool = whole_packets,
        /// The number of datagrams that a node can reassemble at the same time. Default: that of `network.profile`.
        #[schemars(extend("default" = null))]
        pub reassembly_buffers: Integer<1, 65_535> = reassembly.buffers,
        /// The number of datagrams that the border router can reassemble at the same time: it is often a stronger machine.
        /// Default: `reassembly_buffers`.
        pub border_router_reassembly_buffers: Option<Integer<1, 65_535>>,
        /// The longest datagram that a node can reassemble, in octets. Default: that of `network.profile`.
        #[schemars(extend("default" = null))]
        pub reassembly_buffer_octets: Integer<1, 2_047> = reassembly.datagram,
        /// The most octets that all datagrams in reassembly at a node have together, each with its length when it is
        /// complete. A datagram that is alone has room. It has no effect with `reassembly = "recovery"`, nor at nodes that
        /// have a number of buffers of their own. Default: that of `network.profile`; no limit where `reassembly_buffers` is
        /// given.
        pub reassembly_octets: Option<Integer<1, 4_294_967_295>>,
        /// The time for which a node waits for the missing fragments of a datagram; RFC 4944 section 5.3 allows at most 60,
        /// and longer times are lowered to it. Default: that of `network.profile`.
        #[schemars(extend("default" = null))]
        pub reassembly_timeout_s: PositiveSeconds = reassembly.timeout,
        /// When this time begins, and what happens at its end. No effect with `reassembly = "recovery"`. Default: that of
        /// `network.profile`.
        #[schemars(extend("default" = null))]
        pub reassembly_timer: Timer = reassembly.timer,
        /// The fate of a datagram for which there is no room. No effect with `reassembly = "recovery"`: it is refused.
        /// Default: that of `network.profile`.
        #[schemars(extend("default" = null))]
        pub reassembly_when_full: WhenFull = reassembly.when_full,
        /// A node marks packets with Congestion Experienced (ECN, RFC 3168) when at least this share of its queue is full.
        /// It marks only packets of a transport that uses ECN. Default: none, it marks no packet (Claeys et al. 2021,
        /// section 4.3: 0.75).
        pub ecn_threshold: Option<Probability>,
        /// The compression of the payloads of UDP datagrams. A node sends one that is compressed only to neighbours that
        /// understand it (`network.nodes.N.payload_compression`), and only where it is shorter. It takes no computing time
        /// (assumed). Default: `none`.
        pub payload_compression: PayloadCompression,
        /// The way in which a node learns which neighbours understand `payload_compression = "ghc"`. Only with
        /// `reassembly = "per-hop"`, and without joiners (`client.joining`). Default: `known`.
        pub capabilities: Capabilities,
        /// The handling of the fragments of a datagram on their way through the mesh. Default: `per-hop`.
        pub reassembly: Reassembly,
        /// The forwarding of fragments. Only with `reassembly = "forwarding"` or `"recovery"`.
        pub forwarding: Forwarding,
        /// The recovery of lost fragments. Only with `reassembly = "recovery"`.
        pub recovery: Recovery,
        /// The headers that the routing protocol RPL adds to each packet. Default: `none`, packets follow the routes without
        /// it.
        pub rpl: Rpl,
        /// The form of RPL's headers in frames. Only with `rpl`. Default: `extension-headers`.
        pub rpl_encoding: RplEncoding,
        /// The number of octets that each address in a source route keeps at least: the last ones. It keeps more where the
        /// addresses of the route differ before them (CmprI and CmprE of RFC 6554; an SRH-6LoRH has 1, 2, 4, 8 or 16). Only
        /// with `rpl = "non-storing"`. Default: 8, the interface identifier: the EUI-64 of real devices have little in
        /// common, while the nodes of a scenario differ in their last two octets only.
        pub source_route_octets: Integer<1, 16> { Integer::constant(RplConfig::ADDRESS_OCTETS as u32) },
    }
}

/// The compression of the payloads of UDP datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadCompression {
    /// They are not (the default).
    #[default]
    None,
    /// Generic Header Compression (RFC 7400), of what travels in the first frame of a datagram.
    Ghc,
    /// The headers of DTLS records, handshake messages and hellos, as in Lithe (Raza et al. 2013;
    /// draft-raza-dice-compressed-dtls-00). Only with DTLS. A datagram of several records stays as it is.
    Lithe,
}

/// The way in which a node learns which neighbours understand compressed payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capabilities {
    /// It knows from the beginning (the default).
    #[default]
    Known,
    /// They tell each other by the capability indication option of neighbour discovery (6CIO, RFC 7400 section 3.3). In the first second
    /// each node that understands it sends its parent a router solicitation, which the parent answers with an advertisement. It sends
    /// it again after 10, 10, 20, 40 and each 60 s until there is an answer (RFC 6775 section 5.3). A node compresses for a neighbour
    /// as soon as it has received the option or a compressed payload from it. So a handshake that begins at time 0 begins plain:
    /// `client.start_s` delays it.
    Exchanged,
}

/// The headers that RPL adds to each packet (RFC 6550 section 11.2; who adds what: RFC 9008).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rpl {
    /// Nothing (the default).
    #[default]
    None,
    /// The storing mode: every packet has the RPL option, with the rank of its last sender (RFC 6553). Packets from the
    /// Internet travel in IPv6-in-IPv6 from the root.
    Storing,
    /// The non-storing mode: packets up have the option, packets down a source routing header (RFC 6554). Packets from
    /// the Internet travel in IPv6-in-IPv6 from the root. Packets between two nodes go over the root, in IPv6-in-IPv6
    /// on both parts of their way.
    NonStoring,
}

/// The handling of the fragments of a datagram on their way through the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reassembly {
    /// Every hop reassembles the datagram (RFC 4944; route-over as in RFC 6606; the default).
    #[default]
    PerHop,
    /// Routers pass single frames on, below IPv6: each has a mesh header with 16-bit addresses (RFC 4944 section 5.2;
    /// mesh-under as in RFC 6606; Thread). The node where the datagram leaves the mesh reassembles it, or the parent of
    /// the sleepy device for which it is. A sleepy device sends without the header, to its parent. Only with
    /// `mac.addresses = "short"`.
    MeshUnder,
    /// Each hop forwards every fragment at once. The node where the datagram leaves the mesh reassembles it (RFC 8930).
    Forwarding,
    /// As `forwarding`. In addition, the node where the datagram entered the mesh sends lost fragments again
    /// (RFC 8931).
    Recovery,
}

table! {
    /// Virtual reassembly buffers: what a node remembers of the datagrams whose fragments it forwards.
    pub struct Forwarding(forwarding::Limits = forwarding::Limits::default()) {
        /// The number of datagrams that a node can forward at the same time. Default: 16 (RIOT, gnrc/sixlowpan/config.h; 2 in
        /// OpenWSN).
        pub entries: Integer<1, 65_535> = entries,
        /// The number of datagrams that the border router can forward at the same time. Default: `entries`.
        pub border_router_entries: Option<Integer<1, 65_535>>,
        /// The time for which a node remembers where it forwards the fragments of a datagram. The time starts with the first
        /// fragment under `forwarding`, and again with each fragment under `recovery`. Default: 60 (the longest time that RFC
        /// 4944 section 5.3 allows for reassembly).
        pub timeout_s: PositiveSeconds = timeout,
    }
}

table! {
    /// Selective fragment recovery; the names of RFC 8931 section 7.1 in parentheses.
    pub struct Recovery(RecoveryConfig = RecoveryConfig::default()) {
        /// The number of fragments after which the sender requests an acknowledgement (OptWindowSize). Default: 16 (RIOT,
        /// gnrc/sixlowpan/config.h).
        pub window: Integer<1, 32> = window,
        /// The most octets of a fragment, without its header (OptFragmentSize). Default: 98, for which the longest frame
        /// payload has room (RIOT: 96 to 112). It is less if `max_frame_payload` is less.
        pub fragment_size: Integer<40, 98> { Integer::constant((FRAME_CAPACITY - recovery::Rfrag::LENGTH) as u32) },
        /// The time for which the sender waits for an acknowledgement (OptARQTimeOut). The time starts when the fragment that
        /// requests the acknowledgement has left the node. Default: four periods of the link layer (slotframe, check interval
        /// or beacon interval) for each hop to the farthest node, at least 0.7. RIOT has 0.7. Two periods in each direction
        /// of a hop are assumed.
        pub arq_timeout_s: Option<PositiveSeconds> = timeout,
        /// True if each node measures how long acknowledgements take, and waits for as long as RFC 6298 computes from that:
        /// at most `arq_timeout_s`, at least 0.7 s. Before the first measurement the border router computes this time from
        /// the schedule. (RFC 8931 section 7.1 has a least, a first and a greatest time. How it changes is assumed.) Default:
        /// false.
        pub adaptive: bool = adaptive,
        /// The number of times that a fragment is sent again before the sender drops the datagram (MaxFragRetries). Default:
        /// 2 (RIOT).
        pub retries: Integer<0, 254> = max_retries,
        /// True if the sender waits for the acknowledgement of the first fragment, which sets up the path, before it sends
        /// the others. Default: true (assumed; RIOT does not wait). If false and the first fragment is lost, the datagram is
        /// lost: a router that gets another fragment first aborts the datagram (RFC 8931 section 6.1.2).
        pub first_alone: bool = first_alone,
    }
}

impl Recovery {
    /// The parameters of the end that fragments, in a mesh of this depth whose link layer has this period.
    fn config(&self, depth: u16, period: Duration) -> RecoveryConfig {
        let least = RecoveryConfig::default().timeout;
        let mut config = RecoveryConfig {
            capacity: (recovery::Rfrag::LENGTH + self.fragment_size.get() as usize).min(FRAME_CAPACITY),
            timeout: (period * 4 * u64::from(depth)).max(least),
            ..RecoveryConfig::default()
        };
        self.set(&mut config);
        config
    }
}

impl Lowpan {
    /// The part of the network's configuration that is about 6LoWPAN, in a mesh of this depth whose link layer has this
    /// period. All other parts are the defaults.
    pub fn config(&self, depth: u16, period: Duration) -> NetworkConfig {
        let mut config = NetworkConfig {
            dropped_frames: ascending(&self.dropped_frames),
            ecn_threshold: self.ecn_threshold.map(Probability::get),
            contexts: self.contexts(),
            exchanges_capabilities: self.capabilities == Capabilities::Exchanged,
            fragments: self.fragments(depth, period),
            rpl: self.rpl_config(),
            ..NetworkConfig::default()
        };
        self.set(&mut config);
        config.reassembly.memory = self.reassembly_octets.map(|octets| octets.get() as usize);
        config
    }

    /// The number of buffers that the border router has, if not as many as the other nodes.
    pub fn border_router(&self) -> BufferCounts {
        BufferCounts {
            reassembly: self.border_router_reassembly_buffers.map(|buffers| buffers.get() as usize),
            forwarding: self.forwarding.border_router_entries.map(|entries| entries.get() as usize),
        }
    }

    fn contexts(&self) -> Contexts {
        let mut contexts = Contexts::none().with_payload_compression(match self.payload_compression {
            PayloadCompression::None => None,
            PayloadCompression::Ghc => Some(lowpan::PayloadCompression::Ghc),
            PayloadCompression::Lithe => Some(lowpan::PayloadCompression::Lithe),
        });
        for (id, prefix) in &self.contexts {
            // It cannot fail: neither number is out of range.
            let _ = contexts.set(id.get() as u8, prefix.address(), prefix.length());
        }
        contexts
    }

    /// The headers that RPL adds to each packet.
    fn rpl_config(&self) -> Option<RplConfig> {
        let mode = match self.rpl {
            Rpl::None => return None,
            Rpl::Storing => RplMode::Storing,
            Rpl::NonStoring => RplMode::NonStoring,
        };
        let (encoding, address_octets) = (self.rpl_encoding, self.source_route_octets.get() as usize);
        Some(RplConfig { mode, encoding, address_octets })
    }

    /// The treatment of fragments in a mesh of this depth whose link layer has this period.
    fn fragments(&self, depth: u16, period: Duration) -> Fragments {
        let mut forwarding = forwarding::Limits::default();
        self.forwarding.set(&mut forwarding);
        match self.reassembly {
            Reassembly::PerHop | Reassembly::MeshUnder => Fragments::Reassembled,
            Reassembly::Forwarding => Fragments::Forwarded(forwarding),
            Reassembly::Recovery => Fragments::Recovered { sender: self.recovery.config(depth, period), forwarding },
        }
    }
}

/// The prefixes of a network's contexts.
fn contexts_of(contexts: &Contexts) -> BTreeMap<NumberKey<15>, Prefix> {
    let entry = |(id, context): (u8, Context)| {
        Some((NumberKey::new(id.into())?, Prefix::new(context.prefix(), context.length())?))
    };
    contexts.iter().filter_map(entry).collect()
}
