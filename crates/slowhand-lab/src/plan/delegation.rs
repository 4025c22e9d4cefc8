//! A delegate in a plan: who opens sessions in the name of nodes, and how they are handed over.

use super::{Paced, Plan, PlanError, check_devices, seeds};
use crate::scenario::{Delegate, Scenario};
use slowhand_net::address::{Host, NodeId, other_internet_address};
use slowhand_net::clock::Instant;
use slowhand_net::ip::Endpoint;
use slowhand_net::random::Streams;
use slowhand_sessions::{Clock, Processor, Protocol, Resumable, Role, Session, SessionConfig};
use std::net::Ipv6Addr;
use std::sync::Arc;

/// Who opens sessions in the name of nodes.
#[derive(Debug)]
pub(crate) struct Delegation {
    pub(crate) host: Host,
    address: Ipv6Addr,
    /// Both ends of the messages between a node and its delegate.
    messages: [SessionConfig; 2],
}

/// Where the ends of a conversation are, and their sessions, client first.
pub(crate) struct Ends {
    pub(crate) endpoints: [Endpoint; 2],
    pub(crate) sessions: [Box<dyn Session>; 2],
}

impl Delegation {
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let (host, address) = match scenario.gateway.delegation? {
            Delegate::BorderRouter => (Host::Node(NodeId::ROOT), Host::Node(NodeId::ROOT).address()),
            Delegate::Internet => (Host::Internet, other_internet_address()),
        };
        let session = crate::scenario::Session { protocol: Plan::HAND_OVER, ..scenario.session.clone() };
        let messages = Role::BOTH.map(|role| session.config(role));
        Some(Self { host, address, messages })
    }
}

impl Plan {
    /// Who opens sessions in the name of the nodes. `None`: they open their own.
    pub(crate) fn delegation(&self) -> Option<&Delegation> {
        self.delegation.as_ref()
    }

    /// The protocol of the messages between a node and its delegate.
    pub(crate) const HAND_OVER: Protocol = Protocol::Oscore;

    /// The ends of the conversation in which a node asks its delegate for a session.
    pub(crate) fn hand_over(&self, client: NodeId, nonces: &Streams) -> Option<Ends> {
        let delegation = self.delegation.as_ref()?;
        let seeds = seeds(client, &nonces.substreams("hand-over", 0));
        let [of_node, of_delegate] = Role::BOTH.map(|role| Arc::new(self.paced(role)) as Arc<dyn Processor>);
        let [node, server] = self.endpoints(client);
        let messages = Role::BOTH.map(|role| SessionConfig { seed: seeds[role], ..delegation.messages[role].clone() });
        let sessions = slowhand_sessions::build_hand_over(
            messages.each_ref(),
            (server.address, server.port),
            [of_node, of_delegate],
        );
        // The port of a node's session belongs to that session. There is a next one: the scenario was checked.
        let node = Endpoint { port: node.port + 1, ..node };
        let endpoints = [node, Endpoint::new(delegation.address, slowhand_coap::PORT)];
        // `check_delegation` has built them.
        Some(Ends { endpoints, sessions: sessions.expect("sessions of checked configurations") })
    }

    /// The ends of the conversation in which the delegate opens a session in the name of a node: a full handshake, computed by the
    /// server's device at both ends.
    pub(crate) fn delegated(&self, client: NodeId, nonces: &Streams, now: Instant) -> Option<Ends> {
        let delegation = self.delegation.as_ref()?;
        let [node, server] = self.endpoints(client);
        let seeds = seeds(client, &nonces.substreams("delegated", 0));
        let sessions =
            self.sessions_at(seeds, now, &[None, None], [self.paced(Role::Server), self.paced(Role::Server)]);
        Some(Ends { endpoints: [Endpoint { address: delegation.address, ..node }, server], sessions })
    }

    /// The ends of the conversation in which a node resumes the session that it was handed.
    pub(crate) fn resuming(
        &self,
        client: NodeId,
        nonces: &Streams,
        now: Instant,
        kept: &[Option<Resumable>; 2],
    ) -> Ends {
        Ends { endpoints: self.endpoints(client), sessions: self.later_sessions(client, nonces, now, kept) }
    }

    /// Checks that the sessions between nodes and delegate can be made, and that the delegate's device can compute a full handshake.
    pub(super) fn check_delegation(&self) -> Result<(), PlanError> {
        let Some(delegation) = &self.delegation else { return Ok(()) };
        let idle = || Arc::new(slowhand_sessions::Weightless) as Arc<dyn Processor>;
        let [node, delegate] = delegation.messages.each_ref();
        slowhand_sessions::build_hand_over([node, delegate], (delegation.address, 0), [idle(), idle()])?;
        let full = self.sessions.each_ref().map(|session| {
            let mut session = session.clone();
            if let Some(tls) = session.family.tls_mut() {
                tls.resumption = None;
            }
            session
        });
        check_devices(full.each_ref(), [self.paced(Role::Server), self.paced(Role::Server)])
    }

    /// Sessions of both ends that begin at this time, on devices as fast as these.
    pub(super) fn sessions_at(
        &self,
        seeds: [[u8; 32]; 2],
        now: Instant,
        kept: &[Option<Resumable>; 2],
        devices: [Paced; 2],
    ) -> [Box<dyn Session>; 2] {
        let mut devices = devices.into_iter().map(|device| Arc::new(device) as Arc<dyn Processor>);
        Role::BOTH.map(|role| {
            let config = SessionConfig { seed: seeds[role], ..self.sessions[role].clone() };
            let clock = Clock::after(std::time::Duration::from_micros(now.as_micros()));
            let processor = devices.next().expect("a device for each end");
            // `new` has built sessions of these configurations.
            slowhand_sessions::build_resuming(&config, processor, clock, kept[role].as_ref())
                .expect("a session of a checked configuration")
        })
    }
}
