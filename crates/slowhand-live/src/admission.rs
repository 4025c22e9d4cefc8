//! Which node a new client gets, and who is not let in.
//!
//! A client is a node, as long as there are nodes without one; then nodes have several. A client to which the server has not
//! answered yet is a newcomer. A flood of packets that mean nothing makes newcomers only: each node has few of them, which
//! may send little, and they give way to each other. So it takes no place from clients that the server has answered. Where
//! programs speak DTLS, who begins with something else is not let in at all: what it sends would take air and buffers.

use crate::programs::Conversation;
use slowhand_lab::live::Live;
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_sessions::Role;
use slowhand_wire::{ContentType, dtls};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The most conversations of a node. *Assumed*: more than a class-1 device has (RFC 7228: 10 KiB of RAM).
const MOST_OF_NODE: usize = 8;

/// The most newcomers of a node. *Assumed*.
const MOST_NEWCOMERS: usize = 4;

/// The most datagrams of a newcomer that are on their way. *Assumed*: a ClientHello has one, or with large keys a few.
const MOST_OF_NEWCOMER: usize = 4;

/// A newcomer whose datagrams have all arrived or were lost gives way after this time without an answer. *Assumed*: a server
/// on this host answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// A conversation without DTLS gives way after this time without a datagram. *Assumed*: above the time between a request of
/// CoAP and its answer (RFC 7252 section 4.8: PROCESSING_DELAY is 2 s).
const IDLE: Duration = Duration::from_secs(5);

/// A handshake of DTLS, or a connection without an answer, gives way after this time without a datagram or an octet.
/// *Assumed*: above the first timers of libraries.
const IDLE_HANDSHAKE: Duration = Duration::from_secs(30);

/// A session of DTLS gives way after this time without a datagram. *Assumed*: longer pauses end a session only where a node
/// has all the conversations that it can have.
const IDLE_SECURE: Duration = Duration::from_secs(120);

/// Why a client, or what it sent, is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoRoom,
    Newcomers,
    Hurry,
    NoSession,
}

impl Refusal {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::NoRoom => "every node has all the sessions that it can have; use a scenario with more clients",
            Self::Newcomers => "too many new clients that the server has not answered",
            Self::NoSession => "a new client that does not begin with a ClientHello, where others speak DTLS",
            Self::Hurry => "a new client that the server has not answered sends too much",
        }
    }
}

/// The protocol of the clients of a listener for datagrams, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Speech {
    #[default]
    Unknown,
    /// DTLS: the server has answered a client that began with a ClientHello.
    Dtls,
    /// Something else: the server has answered a client that did not.
    Any,
}

impl Speech {
    /// The protocol of the clients of this server. An emulated server speaks DTLS.
    pub(crate) fn of(server: Option<SocketAddr>) -> Self {
        if server.is_none() { Self::Dtls } else { Self::Unknown }
    }

    pub(crate) fn is_dtls(self) -> bool {
        self == Self::Dtls
    }

    /// The server has answered a client.
    pub(crate) fn note_answer(&mut self, is_secure: bool) {
        if *self == Self::Unknown {
            *self = if is_secure { Self::Dtls } else { Self::Any };
        }
    }
}

/// True if a datagram may be the first of a client: a ClientHello, or a record with a connection ID, whose client has another
/// address now (RFC 9146 section 6, RFC 9147 section 9).
pub(crate) fn begins_session(octets: &[u8]) -> bool {
    const TLS12_CID: u8 = 25;
    match octets.first() {
        Some(&TLS12_CID | 0x30..=0x3f) => true, // the latter is the unified header with its C bit
        _ => is_client_hello(octets),
    }
}

/// True if a datagram begins with a ClientHello in the clear (RFC 6347 sections 4.1 and 4.2.2).
pub(crate) fn is_client_hello(octets: &[u8]) -> bool {
    const CLIENT_HELLO: u8 = 1;
    let is_hello = |record: &dtls::Record<'_>| {
        record.content_type == ContentType::Handshake
            && record.epoch == 0
            && record.fragment.first() == Some(&CLIENT_HELLO)
    };
    dtls::records(octets, None).next().is_some_and(|record| record.as_ref().is_ok_and(is_hello))
}

/// A place for a new client.
pub(crate) struct Place {
    pub(crate) node: NodeId,
    pub(crate) port: u16,
    /// The conversation that gives way to it.
    pub(crate) evicted: Option<u64>,
}

/// Finds a place for a new client of a program, where each node had so many conversations.
pub(crate) fn place(
    clients: &[NodeId],
    conversations: &BTreeMap<u64, Conversation>,
    live: &Live<'_>,
    most_of_node: usize,
    had: &[u64],
) -> Result<Place, Refusal> {
    let mut of_node: BTreeMap<NodeId, Vec<&Conversation>> =
        clients.iter().map(|&client| (client, Vec::new())).collect();
    for conversation in conversations.values() {
        of_node.entry(conversation.node).or_default().push(conversation);
    }
    let now = live.now();
    let mut refusal = Refusal::NoRoom;
    let mut by_load: Vec<_> = of_node.into_iter().filter(|(node, _)| clients.contains(node)).collect();
    by_load.sort_by_key(|(_, conversations)| conversations.len());
    for (node, conversations) in by_load {
        let is_full = conversations.len() >= most_of_node;
        let newcomers = conversations.iter().filter(|conversation| is_newcomer(conversation, live)).count();
        if newcomers >= MOST_NEWCOMERS {
            refusal = Refusal::Newcomers;
        }
        let evicted = match is_full || newcomers >= MOST_NEWCOMERS {
            false => None,
            true => {
                let gives_way = |conversation: &&&Conversation| match newcomers >= MOST_NEWCOMERS {
                    true => is_newcomer(conversation, live) && gives_way(conversation, live, now),
                    false => gives_way(conversation, live, now),
                };
                let Some(oldest) = conversations.iter().filter(gives_way).min_by_key(|found| found.active) else {
                    continue;
                };
                Some(oldest.session)
            }
        };
        let first = live.endpoints(node)[0].port;
        // One more than there are conversations: that of one that gives way is free later.
        let count = most_of_node as u64 + u64::from(most_of_node > 1);
        // One after the other: what is on its way to the last conversation of a port does not reach the next one.
        let begin = had[node.index()];
        let ports = (0..count).map(|offset| first.wrapping_add(((begin + offset) % count) as u16).max(1));
        let is_free = |port: &u16| !live.is_port_taken(node, *port);
        let port = ports.into_iter().find(is_free).or_else(|| evicted.is_some().then_some(first));
        if let Some(port) = port {
            return Ok(Place { node, port, evicted });
        }
    }
    Err(refusal)
}

/// The most conversations that a node of this scenario has. Joiners have one port.
pub(crate) const fn most_of_node(is_joining: bool) -> usize {
    if is_joining { 1 } else { MOST_OF_NODE }
}

/// Checks that a client may send a datagram now.
pub(crate) fn may_send(conversation: &Conversation, live: &Live<'_>) -> Result<(), Refusal> {
    match is_newcomer(conversation, live) && live.state(conversation.id).on_their_way >= MOST_OF_NEWCOMER {
        true => Err(Refusal::Hurry),
        false => Ok(()),
    }
}

/// A connection of TCP is none: nobody has one with an address that is not his.
fn is_newcomer(conversation: &Conversation, live: &Live<'_>) -> bool {
    !conversation.is_answered && !is_stream(conversation, live)
}

fn is_stream(conversation: &Conversation, live: &Live<'_>) -> bool {
    Role::BOTH.into_iter().any(|role| live.stream(conversation.id, role).is_some())
}

/// True if a conversation may end for another one.
fn gives_way(conversation: &Conversation, live: &Live<'_>, now: Instant) -> bool {
    let idle = now.since(conversation.active);
    if conversation.ended.is_some() || conversation.is_closed() {
        return live.state(conversation.id).on_their_way == 0;
    }
    match (conversation.is_answered, conversation.is_secure()) {
        (true, _) if is_stream(conversation, live) => false, // programs close connections
        (false, _) if is_stream(conversation, live) => idle >= IDLE_HANDSHAKE,
        (false, _) => idle >= PATIENCE && live.state(conversation.id).on_their_way == 0,
        (true, true) if conversation.is_established => idle >= IDLE_SECURE,
        (true, true) => idle >= IDLE_HANDSHAKE,
        (true, false) => idle >= IDLE,
    }
}
