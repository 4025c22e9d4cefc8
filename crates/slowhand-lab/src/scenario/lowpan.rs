//! `[lowpan]`: how IPv6 datagrams travel in 802.15.4 frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slowhand_net::clock::Duration;
use slowhand_net::lowpan::reassembly::Limits;
use slowhand_net::lowpan::{FRAME_CAPACITY, forwarding, recovery};
use slowhand_net::network::{self, Fragments};
use slowhand_net::random;

use super::{Ordinal, ascending};
use crate::input::{Integer, PositiveSeconds, Probability};

/// The adaptation layer between IPv6 and 802.15.4 (RFC 4944, RFC 6282).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lowpan {
    /// The probability that a fragment of a datagram is dropped before it reaches the link layer
    /// (the loss that Claeys et al. inject, Sensors 2021, section 3.3). Default: 0.
    pub fragment_loss: Probability,
    /// What else is dropped with a fragment. Default: `fragment`.
    pub loss_spread: LossSpread,
    /// Single frames that are dropped before they reach the link layer, counted from 1 over all nodes in the
    /// order in which they come to it: losses chosen by hand. Default: none.
    pub dropped_frames: Vec<Ordinal>,
    /// How many octets of a frame 6LoWPAN may fill. Default: 104 = 127 less 21 of header (64-bit
    /// addresses, one PAN identifier) and 2 of check sequence; OpenWSN fills 80 or 96.
    pub max_frame_payload: Integer<40, 104>,
    /// How many datagrams a node can put together at the same time. Default: 2 (OpenWSN and
    /// Contiki-NG have room for two).
    pub reassembly_buffers: Integer<1, 65_535>,
    /// How long a node waits for the missing fragments of a datagram. Default: 60 (the longest that
    /// RFC 4944 section 5.3 allows, and OpenWSN's).
    pub reassembly_timeout_s: PositiveSeconds,
    /// The share of its queue from which on a node marks the packets that it sends with congestion experienced, where
    /// their transport understands that (ECN, RFC 3168). Default: none are marked (Claeys et al. 2021, section 4.3: 0.75).
    pub ecn_threshold: Option<Probability>,
    /// What happens to the fragments of a datagram on their way through the mesh. Default: `per-hop`.
    pub reassembly: Reassembly,
    /// Fragments that are not put together on their way: with `reassembly` as `forwarding` or `recovery` only.
    pub forwarding: Forwarding,
    /// Fragments that are sent again: with `reassembly` as `recovery` only.
    pub recovery: Recovery,
}

/// What else is dropped with a fragment that `fragment_loss` or `dropped_frames` drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossSpread {
    /// Nothing (the default).
    #[default]
    Fragment,
    /// All that follows in its flight, which is what one end (or the border router's TCP proxy) gives to the network for
    /// another without a pause of more than 50 ms: the fragments behind it at its hop, and the datagrams after its own (the
    /// loss model of Kothmayr et al. 2013, section 5.2).
    Flight,
}

/// What happens to the fragments of a datagram on their way through the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reassembly {
    /// They are put together at every hop (RFC 4944; route-over as in RFC 6606; the default).
    #[default]
    PerHop,
    /// They are forwarded one by one, and put together where the datagram leaves the mesh (RFC 8930).
    Forwarding,
    /// They are forwarded so too, and those that are lost are sent again from where the datagram entered the mesh
    /// (RFC 8931).
    Recovery,
}

/// Virtual reassembly buffers: what a node remembers of the datagrams whose fragments it forwards.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Forwarding {
    /// How many datagrams a node can forward at the same time. Default: 16 (RIOT, gnrc/sixlowpan/config.h; OpenWSN
    /// has 2).
    pub entries: Integer<1, 65_535>,
    /// How long a node remembers where the fragments of a datagram go: after the first with `forwarding`, after the
    /// last that passed with `recovery`. Default: 60 (the longest that RFC 4944 section 5.3 allows for reassembly).
    pub timeout_s: PositiveSeconds,
}

impl Default for Forwarding {
    fn default() -> Self {
        let forwarding::Limits { entries, timeout } = forwarding::Limits::default();
        Self { entries: Integer::constant(entries as u32), timeout_s: PositiveSeconds::of(timeout) }
    }
}

/// Selective fragment recovery; the names of RFC 8931 section 7.1 in parentheses.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recovery {
    /// How many fragments are sent before an acknowledgment is asked for (OptWindowSize). Default: 16 (RIOT,
    /// gnrc/sixlowpan/config.h).
    pub window: Integer<1, 32>,
    /// Octets of a fragment, its header not counted (OptFragmentSize). Default: 98, what the longest frame payload has
    /// room for (RIOT: 96 to 112); less where `max_frame_payload` is less.
    pub fragment_size: Integer<40, 98>,
    /// How long an acknowledgment may take once the last fragment asked for has left the node (OptARQTimeOut).
    /// Default: four periods of the link layer (slotframe, check interval or beacon interval) for each hop to the
    /// farthest node, at least 0.7. The 0.7 is RIOT's; two periods in each direction of a hop are assumed.
    pub arq_timeout_s: Option<PositiveSeconds>,
    /// How often a fragment is sent again before the datagram is given up (MaxFragRetries). Default: 2 (RIOT).
    pub retries: Integer<0, 254>,
    /// True if the first fragment, which sets up the path, goes alone until it is acknowledged. Default: true
    /// (assumed; RIOT lets the others follow). Without, the loss of the first is the loss of the datagram: a router
    /// that sees another fragment before it has the datagram given up (RFC 8931 section 6.1.2).
    pub first_alone: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        let recovery::RecoveryConfig { capacity, window, max_retries, first_alone, .. } =
            recovery::RecoveryConfig::default();
        Self {
            window: Integer::constant(window as u32),
            fragment_size: Integer::constant((capacity - recovery::Rfrag::LENGTH) as u32),
            arq_timeout_s: None,
            retries: Integer::constant(max_retries.into()),
            first_alone,
        }
    }
}

impl Forwarding {
    /// The limits of what a node forwards.
    fn config(&self) -> forwarding::Limits {
        forwarding::Limits { entries: self.entries.get() as usize, timeout: self.timeout_s.duration() }
    }
}

impl Recovery {
    /// The parameters of the end that fragments, in a mesh of this depth whose link layer has this period.
    fn config(&self, depth: u16, period: Duration) -> recovery::RecoveryConfig {
        let least = recovery::RecoveryConfig::default().timeout;
        let by_distance = || (period * 4 * u64::from(depth)).max(least);
        recovery::RecoveryConfig {
            capacity: (recovery::Rfrag::LENGTH + self.fragment_size.get() as usize).min(FRAME_CAPACITY),
            window: self.window.get() as usize,
            timeout: self.arq_timeout_s.map_or_else(by_distance, PositiveSeconds::duration),
            max_retries: self.retries.get() as u8,
            first_alone: self.first_alone,
        }
    }
}

impl Lowpan {
    /// The part of the network's configuration that is about 6LoWPAN, in a mesh of this depth whose link layer has this
    /// period. All other parts are the defaults.
    pub fn config(&self, depth: u16, period: Duration) -> network::NetworkConfig {
        network::NetworkConfig {
            fragment_loss: random::Probability::new(self.fragment_loss.get()),
            dropped_frames: ascending(&self.dropped_frames),
            loss_spread: match self.loss_spread {
                LossSpread::Fragment => network::LossSpread::Fragment,
                LossSpread::Flight => network::LossSpread::Flight,
            },
            ecn_threshold: self.ecn_threshold.map(Probability::get),
            frame_capacity: self.max_frame_payload.get() as usize,
            reassembly: Limits {
                buffers: self.reassembly_buffers.get() as usize,
                timeout: self.reassembly_timeout_s.duration(),
                ..Limits::default()
            },
            fragments: self.fragments(depth, period),
            ..network::NetworkConfig::default()
        }
    }

    /// What happens to fragments in a mesh of this depth whose link layer has this period.
    fn fragments(&self, depth: u16, period: Duration) -> Fragments {
        let forwarding = self.forwarding.config();
        match self.reassembly {
            Reassembly::PerHop => Fragments::Reassembled,
            Reassembly::Forwarding => Fragments::Forwarded(forwarding),
            Reassembly::Recovery => Fragments::Recovered { sender: self.recovery.config(depth, period), forwarding },
        }
    }
}

impl Default for Lowpan {
    fn default() -> Self {
        let (network, reassembly) = (network::NetworkConfig::default(), Limits::default());
        Self {
            fragment_loss: Probability::constant(network.fragment_loss.get()),
            loss_spread: LossSpread::default(),
            dropped_frames: Vec::new(),
            max_frame_payload: Integer::constant(FRAME_CAPACITY as u32),
            reassembly_buffers: Integer::constant(reassembly.buffers as u32),
            reassembly_timeout_s: PositiveSeconds::of(reassembly.timeout),
            ecn_threshold: None,
            reassembly: Reassembly::default(),
            forwarding: Forwarding::default(),
            recovery: Recovery::default(),
        }
    }
}
