//! `[lowpan]`: how IPv6 datagrams travel in 802.15.4 frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{Integer, PositiveSeconds, Probability};

/// The adaptation layer between IPv6 and 802.15.4 (RFC 4944, RFC 6282).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lowpan {
    /// The probability that a fragment of a datagram is dropped before it reaches the link layer
    /// (the loss that Claeys et al. inject, Sensors 2021, section 3.3). Default: 0.
    pub fragment_loss: Probability,
    /// Single frames that are dropped before they reach the link layer, counted from 1 over all nodes in the
    /// order in which they come to it: losses chosen by hand. Default: none.
    pub dropped_frames: Vec<Integer<1, 4_294_967_295>>,
    /// How many octets of a frame 6LoWPAN may fill. Default: 104 = 127 less 21 of header (64-bit
    /// addresses, one PAN identifier) and 2 of check sequence; OpenWSN fills 80 or 96.
    pub max_frame_payload: Integer<40, 104>,
    /// How many datagrams a node can put together at the same time. Default: 2 (OpenWSN and
    /// Contiki-NG have room for two).
    pub reassembly_buffers: Integer<1, 65_535>,
    /// How long a node waits for the missing fragments of a datagram. Default: 60 (the longest that
    /// RFC 4944 section 5.3 allows, and OpenWSN's).
    pub reassembly_timeout_s: PositiveSeconds,
    /// Where datagrams are put together.
    pub reassembly: Reassembly,
}

/// Where the fragments of a datagram are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reassembly {
    /// At every hop (route-over as in RFC 6606; the default).
    #[default]
    PerHop,
}

impl Default for Lowpan {
    fn default() -> Self {
        Self {
            fragment_loss: Probability::constant(0.0),
            dropped_frames: Vec::new(),
            max_frame_payload: Integer::constant(104),
            reassembly_buffers: Integer::constant(2),
            reassembly_timeout_s: PositiveSeconds::constant(60.0),
            reassembly: Reassembly::PerHop,
        }
    }
}
