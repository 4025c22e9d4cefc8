//! A scenario that is ready to run. What is the same in the worlds of all seeds is computed once.

use crate::admission::SlotRules;
use crate::device::{Device, Missing, Paced};
use crate::energy::{Times, energy};
use crate::exchange::Exchange;
use crate::ids::{FlowId, Table, number_of};
use crate::input::{Blame, Place};
use crate::record::Energy;
use crate::requests::Requests;
use crate::retry::RetryPolicy;
use crate::scenario::{MacError, Mesh, PreparedMac, Scenario, ServerAt, TcpEndpoint, Walk};
use crate::traffic::Flow;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::Endpoint;
use slowhand_net::network::joiner_router::JOINER_PORT;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::random::Streams;
use slowhand_net::transport::{dccp, tcp};
use slowhand_sessions::{
    BuildError, Carrier, Edhoc, Negotiated, Operation, Processor, Protocol, Resumable, Role, Security, Session,
    SessionConfig, Stack, Status, Suite, memory,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

mod delegation;

pub(crate) use delegation::{Delegation, Ends};

/// Everything that a world of any seed is made from.
#[derive(Debug)]
pub struct Plan {
    mesh: Arc<Mesh>,
    mac: Box<dyn PreparedMac>,
    /// True if the link layer acknowledges data frames.
    pub(crate) is_acknowledged: bool,
    /// The nodes whose queues are not as long as those of the others.
    queues: Vec<(NodeId, usize)>,
    network: NetworkConfig,
    clients: Vec<NodeId>,
    server: ServerAt,
    ports: Ports,
    start: Duration,
    start_spread: Duration,
    walk: Option<Walk>,
    /// The longest time of a handshake.
    pub(crate) give_up: Duration,
    /// The way in which clients try again after a handshake that failed. `None`: they do not.
    pub(crate) retry: Option<RetryPolicy>,
    /// The requests of a client over a long time. `None`: nothing.
    pub(crate) requests: Option<Requests>,
    /// The messages that each end of a run sends above its session. `None`: nothing.
    pub(crate) exchange: Option<Exchange>,
    /// The number of sessions that a server holds. `None`: all.
    pub(crate) slots: Option<SlotRules>,
    /// True if a server keeps nothing of a client before its cookie has returned.
    pub(crate) has_cookie: bool,
    /// True if clients may send data before the handshake is complete.
    pub(crate) has_false_start: bool,
    /// The time after which the timing of the link layer repeats.
    pub(crate) period: Duration,
    /// The flows beside the sessions.
    pub(crate) traffic: Table<FlowId, Flow>,
    /// When the flows begin.
    pub(crate) traffic_start: Duration,
    sessions: [SessionConfig; 2],
    /// The number of sets of random numbers that the sessions have. `None`: each world has its own.
    nonces: Option<u64>,
    /// TCP at each end. `None` over UDP.
    transports: Option<[TcpEndpoint; 2]>,
    /// DCCP at both ends. `None` if it does not carry the sessions.
    dccp: Option<dccp::DccpConfig>,
    devices: [Arc<Device>; 2],
    /// The factor by which each end computes longer than its device says.
    compute_factors: [f64; 2],
    delegation: Option<Delegation>,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    server: u16,
    /// A client's port is this and the number of its node. `None` for joiners, which all have the same.
    client: Option<u16>,
}

/// A scenario that cannot run.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.blame())]
#[non_exhaustive]
pub enum PlanError {
    /// The link layer cannot have this configuration.
    Mac(#[from] MacError),
    /// A library refuses the session.
    Session(#[from] BuildError),
    /// TCP cannot have this configuration.
    Transport(#[from] tcp::ConfigError),
    /// A device has no time for an operation of the handshake.
    Device {
        /// The file of the device.
        file: PathBuf,
        /// The key that is missing.
        key: String,
        /// The suite of the session.
        suite: Option<Suite>,
        /// The end that runs on the device.
        role: Role,
        /// The library of that end.
        stack: Stack,
    },
    /// A device lacks times, and nothing shows whether this scenario needs them.
    UnknownNeeds {
        /// The file of the device.
        file: PathBuf,
        /// Why the handshake does not complete.
        why: String,
    },
}

impl PlanError {
    /// The error as data.
    pub fn blame(&self) -> Blame {
        let (file, key, reason) = match self {
            Self::Mac(error) => (None, error.key(), error.reason()),
            Self::Session(error) => (None, "session", error.to_string()),
            Self::Transport(error) => (None, "transport", error.to_string()),
            Self::Device { file, key, suite, role, stack } => {
                let with = suite.map_or(String::new(), |suite| format!(" with {suite}; or another session.suite"));
                let allowed = "a number and its source, or a base that has it";
                let why = format!("the {role}, which runs {stack}, needs it for the handshake of this scenario{with}");
                (Some(file), key.as_str(), format!("found nothing, allowed: {allowed}; {why}"))
            }
            Self::UnknownNeeds { file, why } => {
                let allowed = "a device that has all of them, as long as the handshake of this scenario does not even \
                               complete without a network";
                let found = "a device that lacks the time of some operations";
                (Some(file), "", format!("found {found}, allowed: {allowed}: {why}"))
            }
        };
        Blame { place: file.map(|file| Place::File(file.clone())), key: key.to_owned(), reason, together: true }
    }
}

impl From<PlanError> for Blame {
    fn from(error: PlanError) -> Self {
        error.blame()
    }
}

impl Plan {
    /// Prepares a scenario.
    ///
    /// # Errors
    /// Errors that [`Scenario::load`] cannot see from the file alone, such as a slotframe too short for its cells.
    pub fn new(scenario: &Scenario) -> Result<Self, PlanError> {
        let link_layer = scenario.mac.link_layer();
        let session = &scenario.session;
        let mut clients = scenario.clients();
        clients.sort();
        clients.dedup();
        let plan = Self {
            mesh: Arc::clone(scenario.mesh()),
            mac: link_layer.prepare(scenario.mesh())?,
            is_acknowledged: link_layer.is_acknowledged(),
            queues: scenario.network.queues().collect(),
            network: scenario.network_config(),
            clients,
            server: scenario.server.at,
            ports: Ports {
                server: session.server_port(),
                client: (!scenario.client.joining).then(|| session.client_port.get() as u16),
            },
            start: scenario.client.start(link_layer.settling()),
            start_spread: scenario.client.start_spread(link_layer.period()),
            walk: scenario.network.walk,
            give_up: session.give_up_s.duration(),
            retry: scenario.application.retry.policy(),
            requests: scenario.application.requests(session.protocol),
            exchange: scenario.application.exchange(session.protocol),
            slots: scenario.server.slot_rules(session.give_up_s.duration()),
            has_cookie: session.cookie,
            has_false_start: session.false_start,
            period: link_layer.period(),
            traffic: scenario.flows().collect(),
            traffic_start: link_layer.settling(),
            sessions: Role::BOTH.map(|role| scenario.session_config(role)),
            nonces: session.nonces.map(|nonces| nonces.get().into()),
            transports: session.protocol.is_stream().then(|| scenario.transports()),
            dccp: (session.carrier == Carrier::Dccp).then(|| scenario.transport.dccp.config()),
            devices: [&scenario.client_device, &scenario.server_device].map(Arc::clone),
            compute_factors: [scenario.client.compute_factor.get(), 1.0],
            delegation: Delegation::of(scenario),
        };
        for transport in plan.transports.iter().flatten() {
            transport.tcp.validate()?;
        }
        plan.build_sessions([[0; 32]; 2])?;
        plan.check_devices()?;
        plan.check_delegation()?;
        Ok(plan)
    }

    /// Puts a link layer of yours in place of the scenario's: a [`Mac`](slowhand_net::radio::Mac) of your
    /// own, TSCH with a scheduling function of your own, or links of your own under any of them. The rest of the
    /// scenario counts as it is. `examples/scheduling.rs` shows all of this.
    pub fn with_mac(self, mac: Box<dyn PreparedMac>) -> Self {
        Self { mac, ..self }
    }

    /// Checks that each device has a time for all that its end computes.
    fn check_devices(&self) -> Result<(), PlanError> {
        check_devices(self.sessions.each_ref(), Role::BOTH.map(|role| self.paced(role)))
    }

    /// The number of nodes in the mesh, the root included.
    pub fn nodes(&self) -> usize {
        self.mesh.nodes()
    }

    /// The nodes that open a session each; with servers at the leaves, those with which the root opens one.
    pub fn clients(&self) -> &[NodeId] {
        &self.clients
    }

    /// The network of a seed, in which nothing has happened yet: the nodes of the scenario under its link layer, and
    /// the Internet behind the border router. It knows nothing of sessions. The caller may send any packet.
    ///
    /// ```
    /// use slowhand_lab::plan::Plan;
    /// use slowhand_lab::scenario::Scenario;
    /// use slowhand_net::address::{Host, NodeId};
    /// use slowhand_net::clock::Instant;
    /// use slowhand_net::ip::Endpoint;
    /// use slowhand_net::network::{Event, Events};
    ///
    /// let scenario: Scenario = r#"
    ///     network = { topology = { kind = "line", hops = 2 } }
    ///     mac = { kind = "tsch", slotframe = 11 }
    ///     client = { device = "openmote-cc2538" }
    ///     session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    /// "#
    /// .parse()?;
    /// let mut network = Plan::new(&scenario)?.network(1);
    ///
    /// let mut events = Events::default();
    /// let source = Endpoint::new(Host::Node(NodeId(2)).address(), 5683);
    /// let destination = Endpoint::new(Host::Internet.address(), 5683);
    /// network.send(Instant::ZERO, source, destination, b"hello", 7, &mut events)?;
    /// while !events.iter().any(|event| matches!(event, Event::Delivered { datagram: 7, .. })) {
    ///     let now = network.deadline().expect("the datagram is on its way");
    ///     network.handle_deadline(now, &mut events, &mut ());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn network(&self, seed: u64) -> Network {
        let streams = Streams::new(seed);
        let mut mac = self.mac.build(&self.mesh, &streams);
        self.queues.iter().for_each(|&(node, frames)| mac.set_queue(node, frames));
        Network::new(mac, self.mesh.routes().clone(), self.network.clone(), &streams)
    }

    /// The random numbers of the sessions of a seed.
    pub(crate) fn nonces(&self, seed: u64) -> Streams {
        Streams::new(self.nonces.map_or(seed, |nonces| seed % nonces))
    }

    /// Where the client and the server of a session are.
    pub(crate) fn hosts(&self, client: NodeId) -> [Host; 2] {
        self.server.hosts(client)
    }

    /// When a client starts.
    pub(crate) fn start_of(&self, client: NodeId, streams: &Streams) -> Duration {
        let mut start = streams.stream("start", client.0.into());
        let walked = self.walk.map_or(Duration::ZERO, |walk| walk.begin_of(client.index()));
        self.start + walked + Duration::from_micros(start.below(self.start_spread.as_micros().max(1)))
    }

    /// The first sequence numbers of a client's connection of TCP or DCCP, client first.
    pub(crate) fn initial_sequence_numbers(&self, client: NodeId, streams: &Streams) -> [u32; 2] {
        Role::BOTH.map(|role| {
            let mut initial = streams.stream("initial sequence number", number_of(client.0.into(), role));
            initial.below(1 << 32) as u32
        })
    }

    /// True if a later session resumes an earlier one.
    pub(crate) fn resumes(&self) -> bool {
        self.sessions[0].family.tls().is_some_and(|tls| tls.resumption.is_some())
    }

    /// Octets of the connection IDs in the sessions' records.
    pub(crate) fn connection_id(&self) -> u8 {
        let dtls = self.sessions[0].family.tls().and_then(|tls| tls.version.dtls());
        dtls.and_then(|dtls| dtls.connection_id).unwrap_or(0)
    }

    /// True if the client's first request ends the handshake (RFC 9668).
    pub(crate) fn is_combined(&self) -> bool {
        let security = self.sessions[0].family.coap().map(|coap| &coap.security);
        matches!(security, Some(Security::Edhoc(Edhoc { combined: true, .. })))
    }

    /// The protocol of the sessions.
    pub(crate) fn protocol(&self) -> Protocol {
        self.sessions[0].protocol()
    }

    /// TCP at an end. `None` over UDP.
    pub(crate) fn transport(&self, role: Role) -> Option<&TcpEndpoint> {
        self.transports.as_ref().map(|transports| &transports[role])
    }

    /// DCCP at both ends. `None` if it does not carry the sessions.
    pub(crate) fn dccp(&self) -> Option<&dccp::DccpConfig> {
        self.dccp.as_ref()
    }

    /// The two ends of a client's session.
    pub(crate) fn endpoints(&self, client: NodeId) -> [Endpoint; 2] {
        let port = self.ports.client.map_or(JOINER_PORT, |first| first.wrapping_add(client.0));
        let [client, server] = self.hosts(client).map(|host| host.address());
        [Endpoint::new(client, port), Endpoint::new(server, self.ports.server)]
    }

    /// The sessions of a client: its own and the server's for it. Their randomness follows from the client's node, so
    /// that another client beside it changes nothing.
    pub(crate) fn sessions(&self, client: NodeId, nonces: &Streams) -> [Box<dyn Session>; 2] {
        // `new` has built sessions of these configurations, and `build_pair` succeeds with all seeds or with none.
        self.build_sessions(seeds(client, nonces)).expect("sessions of checked configurations")
    }

    /// The sessions of a client that begin at this time, and resume what its ends have kept of an earlier one, client
    /// first. With nothing kept, the handshake is a full one, which leaves something to keep.
    pub(crate) fn later_sessions(
        &self,
        client: NodeId,
        nonces: &Streams,
        now: Instant,
        kept: &[Option<Resumable>; 2],
    ) -> [Box<dyn Session>; 2] {
        self.sessions_at(seeds(client, nonces), now, kept, Role::BOTH.map(|role| self.paced(role)))
    }

    /// The energy that the client's device, or the server's, uses in this time.
    pub(crate) fn energy_of(&self, role: Role, times: Times) -> Energy {
        energy(&self.devices[role], times)
    }

    /// The energy that a node of a network of this plan ([`network`](Self::network)) has used until `now`, if nothing computes on
    /// it.
    pub fn energy(&self, network: &Network, node: NodeId, now: Instant) -> Energy {
        energy(self.device(node), Times::of(network, node, now))
    }

    /// The device of a node: the server's if the server is there, else the client's.
    pub(crate) fn device(&self, node: NodeId) -> &Device {
        self.device_of(if self.server.is_node(node) { Role::Server } else { Role::Client })
    }

    /// The client's device, or the server's.
    pub(crate) fn device_of(&self, role: Role) -> &Device {
        &self.devices[role]
    }

    /// The most octets that each end of a session has on the heap during its handshake, client first: those of
    /// [`session_heap`](slowhand_sessions::session_heap).
    ///
    /// # Errors
    /// The errors of [`Plan::new`] for the sessions.
    pub fn session_heap(&self) -> Result<[Option<usize>; 2], PlanError> {
        Ok(slowhand_sessions::session_heap(self.sessions.each_ref())?)
    }

    fn build_sessions(&self, seeds: [[u8; 32]; 2]) -> Result<[Box<dyn Session>; 2], BuildError> {
        let [client, server] =
            Role::BOTH.map(|role| SessionConfig { seed: seeds[role], ..self.sessions[role].clone() });
        let processors = Role::BOTH.map(|role| Arc::new(self.paced(role)) as Arc<dyn Processor>);
        slowhand_sessions::build_pair([&client, &server], processors)
    }

    /// The client's device, or the server's, as fast as the scenario has it.
    pub(crate) fn paced(&self, role: Role) -> Paced {
        Paced { device: self.devices[role].clone(), factor: self.compute_factors[role] }
    }
}

/// Checks that each device has a time for all that its end of a session computes, client first. Only the libraries know what they
/// compute, so an end whose device lacks a time runs the handshake once, without a network.
pub(crate) fn check_devices(sessions: [&SessionConfig; 2], paced: [Paced; 2]) -> Result<(), PlanError> {
    let watched = paced.map(|device| Arc::new(Watched { device, missing: Mutex::default() }));
    let lacking = |watched: &&Arc<Watched>| !watched.device.takes_no_time() && !watched.device.device.is_complete();
    let Some(incomplete) = watched.iter().find(lacking) else { return Ok(()) };
    let processors = watched.each_ref().map(|watched| Arc::clone(watched) as Arc<dyn Processor>);
    let [client, server] = sessions;
    let [mut client_end, mut server_end] = slowhand_sessions::build_pair([client, server], processors)?;
    let path = memory::Path { delay: std::time::Duration::ZERO, ..memory::Path::default() };
    let transcript = path.run(&mut *client_end, &mut *server_end);
    for (watched, config) in watched.iter().zip([client, server]) {
        let missing = watched.missing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Missing(key)) = missing {
            let file = watched.device.device.file.clone();
            let suite = match client_end.negotiated() {
                Some(Negotiated::Tls { suite, .. }) => Some(suite),
                _ => None,
            };
            return Err(PlanError::Device { file, key, suite, role: config.role, stack: config.stack });
        }
    }
    let why = match (transcript.end, transcript.client, transcript.server) {
        (memory::End::Completed, ..) => return Ok(()),
        (_, Status::Failed(failure), _) => format!("client: {failure}"),
        (_, _, Status::Failed(failure)) => format!("server: {failure}"),
        (memory::End::Stalled, ..) => "both ends wait for each other".to_owned(),
        _ => "it has no end".to_owned(),
    };
    Err(PlanError::UnknownNeeds { file: incomplete.device.device.file.clone(), why })
}

/// A device that remembers the first time that it was asked for and does not have.
struct Watched {
    device: Paced,
    missing: Mutex<Option<Missing>>,
}

impl Processor for Watched {
    fn time(&self, operation: Operation) -> std::time::Duration {
        if let Err(missing) = self.device.duration(operation) {
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(missing);
        }
        std::time::Duration::ZERO
    }
}

/// The seed of a client's session, and that of the server's session for it.
fn seeds(client: NodeId, streams: &Streams) -> [[u8; 32]; 2] {
    Role::BOTH.map(|role| streams.derive("session", number_of(client.0.into(), role)))
}

#[cfg(test)]
mod tests;
