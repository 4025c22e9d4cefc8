//! `[[traffic]]`: flows of datagrams beside the sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use slowhand_net::address::{Host, NodeId};

use super::nodes::{MAX_NODE, written_node};
use crate::input::{Document, Forms, InputError, Integer, PositiveMilliseconds, inline_schema};
use crate::traffic::{self, Flow};

/// Other traffic: UDP datagrams that mean nothing. They begin when the link layer has settled, and end with the last
/// session. What a record counts of a handshake does not include them; they have columns of their own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Who sends: the number of a node, `"root"`, `"internet"` (behind the border router), or `"nodes"`: every node
    /// but the root, each as a flow of its own.
    pub from: Place,
    /// Who receives; as `from`.
    pub to: Place,
    /// `"periodic"`: after equal times, from a random phase on. `"poisson"`: after times drawn from the exponential
    /// distribution. `"bursts"`: as periodic, but `burst` datagrams at once. Default: `periodic`.
    #[serde(default)]
    pub pattern: Pattern,
    /// The time between two datagrams of a flow, or between two bursts. With `"poisson"`, its mean.
    pub interval_ms: PositiveMilliseconds,
    /// Octets of UDP payload in each datagram. At most 1232: with its headers, a packet that every IPv6 link carries
    /// (1280 octets, RFC 8200 section 5).
    pub octets: Integer<1, 1232>,
    /// Datagrams of a burst. The sender hands them to the network at the same instant. Needed with `"bursts"`, and only
    /// there.
    pub burst: Option<Integer<2, 1000>>,
}

/// When a flow sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// After equal times.
    #[default]
    Periodic,
    /// After exponential times.
    Poisson,
    /// Several datagrams at once, after equal times.
    Bursts,
}

/// An end of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One host.
    Host(Host),
    /// Every node but the root.
    Nodes,
}

impl Place {
    /// The hosts in a mesh of so many nodes.
    fn hosts(self, nodes: usize) -> impl Iterator<Item = Host> {
        let (one, every) = match self {
            Self::Host(host) => (Some(host), 0..0),
            Self::Nodes => (None, 1..nodes as u32),
        };
        one.into_iter().chain(every.map(|node| Host::Node(NodeId(node as u16))))
    }
}

impl Traffic {
    /// One flow for each pair of ends, in a mesh of so many nodes.
    pub(super) fn flows(&self, nodes: usize) -> impl Iterator<Item = Flow> {
        let pattern = match self.pattern {
            Pattern::Periodic | Pattern::Bursts => traffic::Pattern::Periodic,
            Pattern::Poisson => traffic::Pattern::Poisson,
        };
        let burst = self.burst.map_or(1, Integer::get);
        let (interval, octets, to) = (self.interval_ms.duration(), self.octets.get() as usize, self.to);
        let ends = self.from.hosts(nodes).flat_map(move |from| to.hosts(nodes).map(move |to| (from, to)));
        let flow = move |(from, to)| Flow { from, to, pattern, interval, burst, octets };
        ends.filter(|(from, to)| from != to).map(flow)
    }

    /// Checks the keys of `traffic[index]` in a mesh of so many nodes.
    pub(super) fn check(&self, index: usize, nodes: usize, document: &Document) -> Result<(), InputError> {
        let blame = |key: &str, found: String, allowed: &str| {
            Err(document.blame(&format!("traffic[{index}].{key}"), found, allowed))
        };
        for (key, place) in [("from", self.from), ("to", self.to)] {
            if let Place::Host(Host::Node(node)) = place
                && node.index() >= nodes
            {
                return blame(key, node.to_string(), &format!("a node of the network, 0 to {}", nodes - 1));
            }
        }
        match (self.from, self.to) {
            (Place::Nodes, Place::Nodes) => {
                let found = "\"nodes\", to which every node sends".to_owned();
                return blame("to", found, "one receiver where \"nodes\" send: a node, \"root\" or \"internet\"");
            }
            (from, to) if from == to => {
                return blame("to", "the sender itself".to_owned(), "another end than traffic.from");
            }
            (Place::Host(Host::Internet), Place::Host(Host::Node(NodeId::ROOT)))
            | (Place::Host(Host::Node(NodeId::ROOT)), Place::Host(Host::Internet)) => {
                let found = "a flow between the root and the Internet".to_owned();
                return blame("to", found, "an end inside the mesh: nothing else crosses a link");
            }
            _ => {}
        }
        match (self.pattern, self.burst) {
            (Pattern::Bursts, None) => {
                blame("burst", "nothing".to_owned(), "how many datagrams a burst has, 2 to 1000")
            }
            (Pattern::Bursts, Some(_)) | (_, None) => Ok(()),
            (_, Some(burst)) => {
                blame("burst", burst.get().to_string(), "this key with traffic.pattern = \"bursts\" only")
            }
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |place: &str| match place {
            "root" => Some(Self::Host(Host::Node(NodeId::ROOT))),
            "internet" => Some(Self::Host(Host::Internet)),
            "nodes" => Some(Self::Nodes),
            _ => None,
        };
        let number = |number: i64| written_node(number).map(|node| Self::Host(Host::Node(node)));
        let allowed = format!("\"root\", \"internet\", \"nodes\" or the number of a node, 0 to {MAX_NODE}");
        Forms { number, ..Forms::text(&allowed, text) }.read(deserializer)
    }
}

inline_schema!(Place, { "anyOf": [
    { "enum": ["root", "internet", "nodes"] },
    { "type": "integer", "minimum": 0, "maximum": MAX_NODE },
] });
