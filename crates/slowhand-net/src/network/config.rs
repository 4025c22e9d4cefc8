//! What a network is made of.

use super::gateway::GatewayConfig;
use super::internet::InternetConfig;
use crate::lowpan::reassembly::Limits;
use crate::lowpan::{FRAME_CAPACITY, forwarding, recovery};
use crate::random::Probability;

/// What a network is made of, its link layer apart.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The probability that a frame's payload is dropped before it reaches the MAC, at every hop.
    pub fragment_loss: Probability,
    /// Single frames that are dropped before they reach the MAC, counted from 1 over all nodes in the order in
    /// which they come to it; in ascending order.
    pub dropped_frames: Vec<u64>,
    /// What else is dropped then.
    pub loss_spread: LossSpread,
    /// The share of a node's queue from which on a node marks what it sends, where the transport understands that
    /// (RFC 3168): with so many frames or more in the queue when a packet comes. `None`: no node does.
    pub ecn_threshold: Option<f64>,
    /// Octets of a frame that 6LoWPAN may fill; [`FRAME_CAPACITY`] at most.
    pub frame_capacity: usize,
    /// How much each node can reassemble.
    pub reassembly: Limits,
    /// What the nodes between the two ends of a path do with fragments.
    pub fragments: Fragments,
    /// The path between the border router and the Internet hosts.
    pub internet: InternetConfig,
    /// What the border router does beyond forwarding.
    pub gateway: GatewayConfig,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            fragment_loss: Probability::NEVER,
            dropped_frames: Vec::new(),
            loss_spread: LossSpread::default(),
            ecn_threshold: None,
            frame_capacity: FRAME_CAPACITY,
            reassembly: Limits::default(),
            fragments: Fragments::default(),
            internet: InternetConfig::default(),
            gateway: GatewayConfig::default(),
        }
    }
}

/// What the nodes between the two ends of a path do with fragments. A packet that fits one frame goes from hop to hop as it
/// is.
#[derive(Clone, Copy, Debug, Default)]
pub enum Fragments {
    /// They are put together at every hop (RFC 4944; route-over as in RFC 6606).
    #[default]
    Reassembled,
    /// They are forwarded one by one, along the way of the first (RFC 8930).
    Forwarded(forwarding::Limits),
    /// They are forwarded so too, and those that are lost are sent again from the first end (RFC 8931).
    Recovered {
        /// What the first end does; the capacity is [`NetworkConfig::frame_capacity`] where that is less.
        sender: recovery::RecoveryConfig,
        /// How many datagrams a node can forward; a path is forgotten when it was not used for the timeout.
        forwarding: forwarding::Limits,
    },
}

/// What else is dropped when the scenario drops a fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossSpread {
    /// Nothing.
    #[default]
    Fragment,
    /// All that follows it of its flight: of its own datagram at this hop, and the datagrams that the same host gave to
    /// the network after it for the same destination, without a pause of more than 50 ms (the loss model of Kothmayr et
    /// al. 2013, section 5.2). In their field a flight is what an end of a handshake sends at once.
    Flight,
}
