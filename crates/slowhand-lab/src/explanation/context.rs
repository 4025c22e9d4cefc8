//! The facts of the scenario that an explanation must know.

use super::air::OnAir;
use crate::ids::{ConversationId, EndId, Table};
use crate::scenario::{Opportunity, Remedy, Scenario, ServerAt};
use crate::world::trace::Trace;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::DatagramId;
use slowhand_net::link::{GilbertElliott, LinkQuality, Links};
use slowhand_net::network::{NetworkConfig, Outage};
use slowhand_net::observer::FrameKind;
use slowhand_net::random::Streams;
use slowhand_sessions::Role;
use std::collections::BTreeMap;

/// A scenario, as far as explanations need it.
pub(super) struct Context<'a> {
    pub(super) scenario: &'a Scenario,
    /// Where the ends of each conversation are, client first.
    hosts: &'a Table<ConversationId, [Host; 2]>,
    network: NetworkConfig,
    sleepy: Vec<NodeId>,
    links: Links,
    qualities: BTreeMap<(NodeId, NodeId), LinkQuality>,
    /// True if programs outside of the world take the place of the libraries.
    has_programs: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(scenario: &'a Scenario, trace: &'a Trace) -> Self {
        let sleepy = scenario.mac.link_layer().sleepy(scenario.mesh());
        let qualities = scenario.network.links().into_iter().map(|link| ((link.from, link.to), link));
        Self {
            scenario,
            hosts: &trace.hosts,
            network: scenario.network_config(),
            sleepy,
            // Who hears whom does not depend on the seed.
            links: scenario.mesh().links(&Streams::new(0)),
            qualities: qualities.collect(),
            has_programs: trace.has_outside(),
        }
    }

    /// Where an end of a conversation is.
    pub(super) fn host_of(&self, end: EndId) -> Host {
        self.hosts[end.conversation()][end.role()]
    }

    /// True if the sessions run over TCP.
    pub(super) fn is_stream(&self) -> bool {
        self.scenario.session.protocol.is_stream() && !self.has_programs
    }

    /// True if a datagram belongs to a conversation and is not spurious.
    pub(super) fn is_of(&self, conversation: ConversationId, trace: &Trace, datagram: DatagramId) -> bool {
        let is_own = trace.sent.get(&datagram).is_some_and(|sent| sent.end.conversation() == conversation);
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

    /// The time that the processor of a node takes for a frame.
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

    /// The outage of a node on the way of a conversation's packets that takes most of a time, if one takes half of it.
    pub(super) fn outage_on_the_way(
        &self,
        conversation: ConversationId,
        from: Instant,
        until: Instant,
    ) -> Option<Outage> {
        let hosts = self.hosts(conversation);
        let overlap = |outage: &Outage| outage.until.min(until).since(outage.from.max(from).min(until));
        let on_the_way = self.network.outages.iter().filter(|outage| hosts.contains(&Host::Node(outage.node)));
        let longest = on_the_way.copied().max_by_key(overlap)?;
        (2 * overlap(&longest).as_micros() >= until.since(from).as_micros()).then_some(longest)
    }

    /// An outage at a time, of a node or of one of its neighbours.
    pub(super) fn outage_near(&self, node: NodeId, at: Instant) -> Option<Outage> {
        let routes = self.scenario.mesh().routes();
        let is_near = |off: NodeId| off == node || routes.parent(off) == Some(node) || routes.parent(node) == Some(off);
        let now = self.network.outages.iter().filter(|outage| outage.from <= at && at < outage.until);
        now.copied().find(|outage| is_near(outage.node))
    }

    /// The most probable cause that kept a frame from its receiver, when no other node and no outage did: in
    /// words, and what changes it.
    pub(super) fn loss_on_link(&self, seen: &OnAir) -> (String, Option<Remedy>) {
        let network = &self.scenario.network;
        let ratio = self.qualities.get(&(seen.from, seen.to)).map_or(1.0, |link| {
            let usual = if seen.kind == FrameKind::Ack { link.ack } else { link.data };
            link.channels.iter().find(|(channel, _)| *channel == seen.channel).map_or(usual, |(_, ratio)| *ratio)
        });
        let key = if network.trace.is_some() {
            Remedy::change("network.trace")
        } else if network.walk.is_some() {
            Remedy::change("network.walk")
        } else if !network.changes.is_empty() {
            Remedy::change("network.changes")
        } else if network.channel_pdr.keys().any(|channel| channel.get() == seen.channel) {
            Remedy::change("network.channel_pdr")
        } else if seen.kind == FrameKind::Ack && network.ack_pdr.is_some() {
            Remedy::raise("network.ack_pdr")
        } else if ratio == network.link_pdr.get() {
            Remedy::raise("network.link_pdr")
        } else {
            Remedy::change("network.topology")
        };
        let variation = self.scenario.mesh().variation();
        let fading = variation.states.as_ref().map_or(1.0, GilbertElliott::mean_pdr);
        let wifi = variation.interferers.iter().filter(|wifi| wifi.disturbs(seen.to, seen.channel));
        let wifi = wifi.map(|wifi| {
            let (busy, idle) = (wifi.busy.as_micros() as f64, wifi.idle.as_micros() as f64);
            wifi.loss * busy / (busy + idle)
        });
        // Each with the share of frames that it takes.
        let causes = [
            ("the link", key, 1.0 - ratio),
            ("the bad state of the link", Remedy::change("network.gilbert_elliott"), 1.0 - fading),
            ("Wi-Fi", Remedy::change("network.wifi"), wifi.sum()),
        ];
        let possible = || causes.iter().filter(|(_, _, share)| *share > 0.0);
        match possible().max_by(|one, other| one.2.total_cmp(&other.2)) {
            Some((name, remedy, _)) if possible().count() == 1 => (format!("because of {name}"), Some(*remedy)),
            Some((name, remedy, _)) => (format!("probably because of {name}"), Some(*remedy)),
            None if self.handling(seen.to) > Duration::ZERO => {
                let text = format!("because the processor of {} was busy", name_of(Host::Node(seen.to)));
                (text, Some(Remedy::lower("network.frame_handling_ms")))
            }
            None => ("because of the link".to_owned(), Some(key)),
        }
    }

    /// The longest that the Internet takes for a datagram. `None` if the border router keeps none.
    pub(super) fn longest_internet_delay(&self) -> Option<Duration> {
        self.network.gateway.suppression.as_ref().map(|_| self.network.internet.delay + self.network.internet.jitter)
    }

    /// The hosts of a conversation: those on the path of its packets, the border router first.
    pub(super) fn hosts(&self, conversation: ConversationId) -> Vec<Host> {
        let routes = self.scenario.mesh().routes();
        let ends = self.hosts[conversation];
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
        if ends.contains(&Host::Internet) {
            hosts.push(Host::Internet);
        }
        hosts
    }

    /// The role of a host in a conversation.
    pub(super) fn role_of_host(&self, conversation: ConversationId, host: Host) -> &'static str {
        let mut ends = Role::BOTH.into_iter().zip(self.hosts[conversation]);
        match ends.find(|&(_, end)| end == host) {
            Some((role, _)) => role.name(),
            None if host == Host::Node(NodeId::ROOT) => "border router",
            None => "router",
        }
    }

    /// The device of a host.
    pub(super) fn device_of(&self, host: Host) -> &str {
        let at = self.scenario.server.at;
        let is_server = match host {
            Host::Node(node) => at.is_node(node),
            Host::Internet => at == ServerAt::Internet,
        };
        if is_server { &self.scenario.server.device } else { &self.scenario.client.device }
    }
}

/// The name of a host.
pub(super) fn name_of(host: Host) -> String {
    match host {
        Host::Node(node) => format!("node {node}"),
        Host::Internet => "Internet".to_owned(),
    }
}
