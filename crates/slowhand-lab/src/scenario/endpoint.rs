//! `[client]` and `[server]`: the two ends of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::network::internet::InternetConfig;
use slowhand_sessions::Carrier;

use super::keys::table;
use super::nodes::{MAX_NODE, written_node};
use super::{Ordinal, Session, ascending};
use crate::admission::{Policy, SlotRules};
use crate::input::{
    Document, Factor, Forms, InputError, Integer, Milliseconds, PositiveSeconds, Probability, Seconds, inline_schema,
};

/// The nodes that open sessions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The client's device: the name of a device that is built in (`slowhand devices` lists them), or the path of a
    /// device file, relative to the scenario.
    pub device: String,
    /// The client's computing time is multiplied by this factor: 0.1 for an accelerator that is ten times as fast, 0 if
    /// computing takes no time. Default: 1.
    #[serde(default = "as_the_device_says")]
    pub compute_factor: Factor,
    /// The nodes that are clients; each opens one session. Default: the last node of a line; every leaf of a star, a
    /// tree or a list of links.
    #[schemars(extend("minItems" = 1, "uniqueItems" = true))]
    pub nodes: Option<Vec<Integer<1, MAX_NODE>>>,
    /// The number of these nodes that are clients: so many, evenly spread over the list. Default: all of them.
    pub count: Option<Integer<1, MAX_NODE>>,
    /// True if the clients join the network while they open their sessions, as in Thread. They have no key of the network
    /// yet: they speak with their parent only, without link security and with 64-bit addresses. The parent is their
    /// joiner router, and passes each datagram on in a message of CoAP, to the commissioner: the server. With DTLS, and
    /// with `mac.kind = "csma"`. The UDP port of a joiner is 1000. Default: false.
    #[serde(default)]
    pub joining: bool,
    /// The earliest start of a client. Default: 0; 60 if the nodes negotiate their cells (`mac.scheduling`), which
    /// takes some time.
    pub start_s: Option<Seconds>,
    /// The start of each client is drawn uniformly from this span after `start_s`. Default: the period of the link
    /// layer (slotframe, check interval, beacon interval, poll or sample period), so that a client may start at any time within it.
    pub start_spread_s: Option<Seconds>,
}

impl Client {
    /// When the first client may start, on a link layer that needs this time to settle.
    pub fn start(&self, settling: Duration) -> Duration {
        self.start_s.map_or(settling, Seconds::duration)
    }

    /// The span from which each client draws its start, on a link layer with this period.
    pub fn start_spread(&self, period: Duration) -> Duration {
        self.start_spread_s.map_or(period, Seconds::duration)
    }
}

fn as_the_device_says() -> Factor {
    Factor::constant(1.0)
}

table! {
    /// The node or host that accepts sessions.
    pub struct Server(InternetConfig = InternetConfig::default()) {
        /// The server's device: a name or a file, as for the client. Default: `linux-host`.
        pub device: String { "linux-host".to_owned() },
        /// The place of the server: `"internet"`, behind the border router, `"root"`, or the number of a node. Or `"leaves"`: each
        /// leaf of a star is a server, and the root is the client, for example a handheld: it opens a session with each of them.
        /// Default: `internet`.
        pub at: ServerAt,
        /// The delay of a datagram between border router and server, in one direction. Default: 0.
        pub internet_delay_ms: Milliseconds = delay,
        /// The largest additional delay of a datagram. It is drawn uniformly from 0 to this value. Default: 0.
        pub internet_jitter_ms: Milliseconds = jitter,
        /// The probability that a datagram is lost between border router and server. Default: 0.
        pub internet_loss: Probability = loss,
        /// The numbers of the server's datagrams that are lost on the way to the border router, for losses that you choose.
        /// Datagrams are counted from 1 over all sessions. Default: none.
        pub internet_dropped: Vec<Ordinal>,
        /// The number of sessions that the server holds at the same time; a half-open one takes a slot too. With DTLS a
        /// client asks for a slot with the ClientHello that brings its cookie (without `session.cookie`: with its first one),
        /// with TLS by the SYN of its connection. A client without a slot gets no answer, and may ask again with a repeated
        /// message. It costs the server no time to ignore it (assumed). A live network takes every client, and
        /// `slowhand battery` has only one. Default: none, a slot for each client.
        pub slots: Option<Integer<1, 1_000>>,
        /// The server's treatment of a client that finds all slots taken, by the names of `slowhand capacity`. `refuse`: it
        /// ignores the client. The others end a session without an alert: `evict-least-recently-used` that whose client was
        /// heard longest ago, `evict-oldest` that which was admitted first, `evict-idle-longest` that whose client was heard
        /// longest ago, of the established ones that have not been heard for `idle_after_s`; if there is none, it ignores the
        /// client. The client of an established session notices at once (assumed), that of a half-open one when it gives up.
        /// Either may try again (`application.retry`). Only with `slots`. Default: `refuse`.
        pub policy: Policy,
        /// The time for which a session keeps its slot after its handshake; then both ends forget it, without a message
        /// (assumed). Only with `slots`. Default: for ever, because a run opens its sessions and does not close them.
        pub session_s: Option<PositiveSeconds>,
        /// The time for which a half-open session keeps its slot for certain. After that any client that finds no free slot
        /// gets it, under every policy; the oldest first. A client that has given up tells nobody, and leaves its session
        /// half-open. Only with `slots`. Default: `session.give_up_s`.
        pub half_open_s: Option<PositiveSeconds>,
        /// After so long without a datagram of its client a session counts as idle. Needed with `policy = "evict-idle-longest"`, and
        /// only there.
        pub idle_after_s: Option<PositiveSeconds>,
    }
}

/// Where the server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerAt {
    /// On the Internet, behind the border router.
    #[default]
    Internet,
    /// In the mesh.
    Node(NodeId),
    /// There are many: every leaf of a star. The root is their client.
    Leaves,
}

impl ServerAt {
    /// Where the client and the server of a session are. It has the name of the node of its client; with servers at the leaves,
    /// of its server.
    pub fn hosts(self, session: NodeId) -> [Host; 2] {
        match self {
            Self::Internet => [Host::Node(session), Host::Internet],
            Self::Node(node) => [Host::Node(session), Host::Node(node)],
            Self::Leaves => [Host::Node(NodeId::ROOT), Host::Node(session)],
        }
    }

    /// True if a server is at this node.
    pub fn is_node(self, node: NodeId) -> bool {
        match self {
            Self::Internet => false,
            Self::Node(server) => server == node,
            Self::Leaves => node != NodeId::ROOT,
        }
    }
}

impl Server {
    /// The number of sessions that it holds, if a handshake may take so long. `None`: all.
    pub fn slot_rules(&self, give_up: Duration) -> Option<SlotRules> {
        Some(SlotRules {
            slots: self.slots?.get() as usize,
            policy: self.policy,
            session: self.session_s.map(PositiveSeconds::duration),
            half_open: self.half_open_s.map_or(give_up, PositiveSeconds::duration),
            idle_after: self.idle_after_s.map_or(Duration::ZERO, PositiveSeconds::duration),
        })
    }

    /// Checks that the keys about its slots go together.
    pub(super) fn check_slots(&self, session: &Session, document: &Document) -> Result<(), InputError> {
        let blame =
            |key: &str, found: String, allowed: &str| Err(document.blame(&format!("server.{key}"), found, allowed));
        let about_slots = ["policy", "session_s", "half_open_s", "idle_after_s"];
        if let (None, Some(key)) = (self.slots, about_slots.iter().find(|key| document.has(&format!("server.{key}")))) {
            let allowed = "this key together with server.slots, the number of sessions that it holds";
            return blame(key, "what a server with few session slots does".to_owned(), allowed);
        }
        if let Some(slots) = self.slots.filter(|_| session.protocol.transport().is_none()) {
            let allowed = "this key with TLS, DTLS or QUIC (session.protocol): slots are counted for these only";
            return blame("slots", slots.get().to_string(), allowed);
        }
        let helped = [
            (
                "none with session.carrier = \"coap\": a slot is for a client that sends records",
                session.carrier == Carrier::Coap,
            ),
            (
                "none with session.carrier = \"dccp\": the connection opens before the client asks",
                session.carrier == Carrier::Dccp,
            ),
            ("none with session.trust_anchor: a slot is for a client that sends records", session.trust_anchor),
        ];
        if let (Some(slots), Some((allowed, _))) = (self.slots, helped.into_iter().find(|(_, is_there)| *is_there)) {
            return blame("slots", slots.get().to_string(), allowed);
        }
        match (self.policy, self.idle_after_s) {
            (Policy::EvictIdleLongest, None) => {
                blame("idle_after_s", "nothing".to_owned(), "seconds after which a session counts as idle")
            }
            (Policy::EvictIdleLongest, Some(_)) | (_, None) => Ok(()),
            (_, Some(seconds)) => {
                let allowed = "this key with server.policy = \"evict-idle-longest\" only";
                blame("idle_after_s", seconds.get().to_string(), allowed)
            }
        }
    }

    /// The configuration of the Internet between the border router and the server.
    pub fn internet_config(&self) -> InternetConfig {
        let mut config = InternetConfig { dropped: ascending(&self.internet_dropped), ..InternetConfig::default() };
        self.set(&mut config);
        config
    }
}

impl<'de> Deserialize<'de> for ServerAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |place: &str| match place {
            "internet" => Some(Self::Internet),
            "root" => Some(Self::Node(NodeId::ROOT)),
            "leaves" => Some(Self::Leaves),
            _ => None,
        };
        let allowed = format!("\"internet\", \"root\", \"leaves\" or the number of a node, 0 to {MAX_NODE}");
        Forms { number: |number| written_node(number).map(Self::Node), ..Forms::text(&allowed, text) }
            .read(deserializer)
    }
}

impl Serialize for ServerAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Internet => serializer.serialize_str("internet"),
            Self::Leaves => serializer.serialize_str("leaves"),
            Self::Node(node) => serializer.serialize_u16(node.0),
        }
    }
}

inline_schema!(ServerAt, { "anyOf": [
    { "enum": ["internet", "root", "leaves"] },
    { "type": "integer", "minimum": 0, "maximum": MAX_NODE },
] });
