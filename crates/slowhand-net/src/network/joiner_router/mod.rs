//! Joiners and joiner routers, as Thread has them: a device that has no key of the network yet opens a session with the
//! commissioner, which tells it the key.
//!
//! A joiner speaks with its parent only, by link-local addresses and without link security. The parent is its joiner
//! router. It puts each datagram of the joiner into a message of CoAP ([`relay`]), and sends that to the border agent: the
//! node where the commissioner is, or the border router if the commissioner is on the Internet. The way back is the same.
//! The [`Network`](super::Network) does this between the two ends of a session, which see only each other.
//!
//! File names are those of OpenThread (commit 29354352 of `src/core/meshcop`).

pub mod relay;

use super::destination::last_node;
use crate::address::{Host, NodeId};
use crate::ip::Endpoint;
use crate::random::{Stream, Streams};
use std::collections::BTreeSet;

/// The UDP port of a joiner and of a joiner router (`OPENTHREAD_CONFIG_JOINER_UDP_PORT`).
pub const JOINER_PORT: u16 = 1_000;

/// The UDP port of the messages between nodes of the mesh (`Tmf::kUdpPort`).
pub const MANAGEMENT_PORT: u16 = 61_631;

/// Who joins, and whom joiners speak to.
#[derive(Clone, Debug)]
pub struct JoiningConfig {
    /// The joiners. They have no children.
    pub joiners: Vec<NodeId>,
    /// The commissioner.
    pub commissioner: Endpoint,
}

/// The state of joining.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) commissioner: Endpoint,
    joiners: BTreeSet<NodeId>,
    /// The message IDs of CoAP, by the node that sends.
    message_ids: Vec<u16>,
    tokens: Stream,
    /// The message that is being written; kept for its memory.
    pub(super) message: Vec<u8>,
    /// The packet that is being written; kept for its memory.
    pub(super) packet: Vec<u8>,
}

impl Joining {
    /// None if no node joins.
    pub(super) fn new(config: Option<&JoiningConfig>, nodes: usize, streams: &Streams) -> Option<Box<Self>> {
        let config = config?;
        let mut first_ids = streams.stream("joining, message IDs", 0);
        Some(Box::new(Self {
            commissioner: config.commissioner,
            joiners: config.joiners.iter().copied().collect(),
            message_ids: (0..nodes).map(|_| first_ids.below(1 << 16) as u16).collect(),
            tokens: streams.stream("joining, tokens", 0),
            message: Vec::new(),
            packet: Vec::new(),
        }))
    }

    /// True if the node is a joiner.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.joiners.contains(&node)
    }

    /// The node that gives the commissioner what joiner routers send.
    pub(super) fn border_agent(&self) -> NodeId {
        last_node(Host::of_address(self.commissioner.address))
    }

    /// The message ID and the token of the next message of a node. OpenThread counts the IDs from a random one, and draws
    /// tokens (`CoapBase::SendMessage`, `Message::GenerateRandomToken`).
    pub(super) fn next_message(&mut self, node: NodeId) -> (u16, [u8; 2]) {
        let id = &mut self.message_ids[node.index()];
        *id = id.wrapping_add(1);
        (*id, (self.tokens.below(1 << 16) as u16).to_be_bytes())
    }
}
