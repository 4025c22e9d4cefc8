//! What an explanation must know of the scenario.

use crate::plan::Plan;
use crate::scenario::{Opportunity, Scenario};
use crate::world::trace::Trace;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::datagram::DatagramId;
use slowhand_net::link::Links;
use slowhand_net::network::{NetworkConfig, Outage};
use slowhand_net::random::Streams;

/// A scenario, as far as explanations need it.
pub(super) struct Context<'a> {
    pub(super) scenario: &'a Scenario,
    clients: &'a [NodeId],
    server: Host,
    network: NetworkConfig,
    sleepy: Vec<NodeId>,
    links: Links,
}

impl<'a> Context<'a> {
    pub(super) fn new(scenario: &'a Scenario, plan: &'a Plan) -> Self {
        let sleepy = scenario.mac.link_layer().sleepy(scenario.mesh());
        Self {
            scenario,
            clients: plan.clients(),
            server: plan.server(),
            network: scenario.network_config(),
            sleepy,
            // Who hears whom does not depend on the seed.
            links: scenario.mesh().links(&Streams::new(0)),
        }
    }

    /// Where an end of a conversation is.
    pub(super) fn host_of(&self, end: usize) -> Host {
        match end % 2 {
            0 => Host::Node(self.clients[end / 2]),
            _ => self.server,
        }
    }

    /// True if the sessions run over TCP.
    pub(super) fn is_stream(&self) -> bool {
        self.scenario.session.protocol.is_stream()
    }

    /// The name of an end.
    pub(super) fn role_of(end: usize) -> &'static str {
        ["client", "server"][end % 2]
    }

    /// True if a datagram belongs to a conversation and is not spurious.
    pub(super) fn is_of(&self, conversation: usize, trace: &Trace, datagram: DatagramId) -> bool {
        let is_own = trace.sent.get(&datagram).is_some_and(|sent| sent.end / 2 == conversation);
        is_own && trace.repeated.get(&datagram) != Some(&false)
    }

    /// True if a node hears what another one sends.
    pub(super) fn hears(&self, from: NodeId, to: NodeId) -> bool {
        self.links.hears(from, to)
    }

    /// For what a node waits before it sends a frame to another one.
    pub(super) fn opportunity(&self, to: NodeId) -> Opportunity {
        self.scenario.mac.link_layer().opportunity(self.sleepy.contains(&to))
    }

    /// How long the processor of a node takes for a frame.
    pub(super) fn handling(&self, node: NodeId) -> Duration {
        self.network.frame_handling.get(&node).copied().unwrap_or(Duration::ZERO)
    }

    /// The outages of two nodes, in the order of time.
    pub(super) fn outages(&self, one: NodeId, other: NodeId) -> Vec<Outage> {
        let of_both = self.network.outages.iter().filter(|outage| outage.node == one || outage.node == other);
        let mut outages: Vec<Outage> = of_both.copied().collect();
        outages.sort_by_key(|outage| outage.from);
        outages
    }

    /// The longest that the Internet takes for a datagram. `None` if the border router keeps none.
    pub(super) fn longest_internet_delay(&self) -> Option<Duration> {
        self.network.gateway.suppression.as_ref().map(|_| self.network.internet.delay + self.network.internet.jitter)
    }

    /// The hosts of a conversation: those on the path of its packets, the border router first.
    pub(super) fn hosts(&self, conversation: usize) -> Vec<Host> {
        let routes = self.scenario.mesh().routes();
        let ends = [self.host_of(2 * conversation), self.host_of(2 * conversation + 1)];
        let mut nodes = vec![NodeId::ROOT];
        for end in ends {
            let mut next = match end {
                Host::Node(node) => Some(node),
                Host::Internet => None,
            };
            while let Some(node) = next {
                nodes.push(node);
                next = routes.parent(node);
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut hosts: Vec<Host> = nodes.into_iter().map(Host::Node).collect();
        if self.server == Host::Internet {
            hosts.push(Host::Internet);
        }
        hosts
    }

    /// What a host is in a conversation.
    pub(super) fn role_of_host(&self, conversation: usize, host: Host) -> &'static str {
        if host == self.host_of(2 * conversation) {
            "client"
        } else if host == self.server {
            "server"
        } else if host == Host::Node(NodeId::ROOT) {
            "border router"
        } else {
            "router"
        }
    }

    /// The device of a host.
    pub(super) fn device_of(&self, host: Host) -> &str {
        if host == self.server { &self.scenario.server.device } else { &self.scenario.client.device }
    }
}

/// The name of a host.
pub(super) fn name_of(host: Host) -> String {
    match host {
        Host::Node(node) => format!("node {node}"),
        Host::Internet => "Internet".to_owned(),
    }
}
