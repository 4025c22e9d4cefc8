//! A scenario made ready to run: what is the same in the worlds of all seeds is worked out once.

use crate::device::{Device, Paced};
use crate::energy::{Times, energy};
use crate::input::Integer;
use crate::record::Energy;
use crate::scenario::{self, Scenario, ServerAt};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::ip::Endpoint;
use slowhand_net::lowpan::reassembly::Limits;
use slowhand_net::network::{self, internet};
use slowhand_net::radio::beacon::{self, Beacon};
use slowhand_net::radio::link::{LinkQuality, Links};
use slowhand_net::radio::tsch;
use slowhand_net::radio::tsch::layout::Crowded;
use slowhand_net::radio::tsch::schedule::Cell;
use slowhand_net::radio::xmac;
use slowhand_net::random::{Probability, Streams};
use slowhand_net::route::{Routes, Unreachable};
use slowhand_net::transport::tcp;
use slowhand_sessions::{BuildError, Processor, Role, Session, SessionConfig};
use std::sync::Arc;

/// Everything that a world of any seed is made from.
#[derive(Debug)]
pub struct Plan {
    links: Vec<LinkQuality>,
    routes: Routes,
    mac: MacPlan,
    network: network::Config,
    clients: Vec<NodeId>,
    server: Host,
    ports: Ports,
    start: Duration,
    start_spread: Duration,
    give_up: Duration,
    sessions: [SessionConfig; 2],
    /// What carries the session at each end, where that is not datagrams.
    transports: Option<[Transport; 2]>,
    devices: [Arc<Device>; 2],
    /// How many times as long as its device says each end computes.
    compute_factors: [f64; 2],
}

/// TCP at one end.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) tcp: tcp::Config,
    /// Whether segments and timers wait while the device computes.
    pub(crate) waits_while_computing: bool,
}

/// The link layer of every world.
#[derive(Debug)]
pub(crate) enum MacPlan {
    Tsch { config: tsch::Config, cells: Vec<Vec<Cell>>, scenario: scenario::Tsch },
    XMac { config: xmac::Config, channel: u8 },
    Beacon { config: beacon::Config, parents: Vec<Option<NodeId>> },
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    server: u16,
    /// A client's port is this and the number of its node.
    client: u16,
}

/// A scenario that cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The superframes do not fit.
    #[error("mac: {0}")]
    Beacon(#[from] beacon::ConfigError),
    /// The slotframe is too short.
    #[error("mac.slotframe: {0}")]
    Crowded(#[from] Crowded),
    /// A library refuses the session.
    #[error("session: {0}")]
    Session(#[from] BuildError),
    /// A slot length without a template and without a timing of its own.
    #[error("mac.timing: missing, allowed: a table, or mac.slot_ms of 10 or 20")]
    Timing,
    /// TCP cannot be as it is wanted.
    #[error("transport: {0}")]
    Transport(#[from] tcp::ConfigError),
    /// A node has no way to the root.
    #[error("network.topology: {0}")]
    Unreachable(#[from] Unreachable),
}

impl Plan {
    /// Makes a scenario ready.
    ///
    /// # Errors
    /// What [`Scenario::load`] cannot see from the file alone, such as a slotframe too short for its cells.
    pub fn new(scenario: &Scenario) -> Result<Self, PlanError> {
        let links = scenario.network.links();
        let routes = scenario.network.routes()?;
        let mac = match &scenario.mac {
            scenario::Mac::Tsch(tsch) => MacPlan::Tsch {
                config: tsch_config(tsch).ok_or(PlanError::Timing)?,
                cells: tsch.schedule(&routes)?,
                scenario: tsch.clone(),
            },
            scenario::Mac::Xmac(xmac) => MacPlan::XMac { config: xmac.config(), channel: xmac.channel.get() as u8 },
            scenario::Mac::Beacon(beacon) => MacPlan::Beacon { config: beacon.config(), parents: routes.parents() },
        };
        let session = &scenario.session;
        let mut clients = scenario.clients();
        clients.sort();
        clients.dedup();
        let network = network_config(scenario, &routes);
        let plan = Self {
            links,
            routes,
            mac,
            network,
            clients,
            server: match scenario.server.at {
                ServerAt::Internet => Host::Internet,
                ServerAt::Node(node) => Host::Node(node),
            },
            ports: Ports { server: session.server_port.get() as u16, client: session.client_port.get() as u16 },
            start: scenario
                .client
                .start_s
                .map_or(scenario.mac.settling(), |start| Duration::from_micros(start.micros())),
            start_spread: scenario
                .client
                .start_spread_s
                .map_or(scenario.mac.period(), |span| Duration::from_micros(span.micros())),
            give_up: Duration::from_micros(session.give_up_s.micros()),
            sessions: [Role::Client, Role::Server].map(|role| session.config(role)),
            transports: session.protocol.is_stream().then(|| scenario.transports()),
            devices: [&scenario.client_device, &scenario.server_device].map(Arc::clone),
            compute_factors: [scenario.client.compute_factor.get(), 1.0],
        };
        for transport in plan.transports.iter().flatten() {
            transport.tcp.validate()?;
        }
        if let MacPlan::Beacon { config, parents } = &plan.mac {
            let streams = Streams::new(0);
            Beacon::new(config.clone(), plan.links(&streams), parents, &streams)?;
        }
        plan.build_sessions([[0; 32]; 2])?;
        Ok(plan)
    }

    /// How many nodes the mesh has, the root included.
    pub fn nodes(&self) -> usize {
        self.routes.nodes()
    }

    /// The nodes that open a session each.
    pub fn clients(&self) -> &[NodeId] {
        &self.clients
    }

    /// The link layer.
    pub(crate) fn mac(&self) -> &MacPlan {
        &self.mac
    }

    /// Whether the link layer asks for no acknowledgements of data frames.
    pub(crate) fn is_unacknowledged(&self) -> bool {
        matches!(&self.mac, MacPlan::XMac { config, .. } if !config.data_ack)
    }

    /// The links of a world.
    pub(crate) fn links(&self, streams: &Streams) -> Links {
        Links::new(self.nodes(), &self.links, streams)
    }

    /// The routes of every world.
    pub(crate) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// What the network is made of, its link layer apart.
    pub(crate) fn network(&self) -> &network::Config {
        &self.network
    }

    /// Where the server is.
    pub(crate) fn server(&self) -> Host {
        self.server
    }

    /// When the first client may start.
    pub(crate) fn start(&self) -> Duration {
        self.start
    }

    /// The span after that from which clients draw their start.
    pub(crate) fn start_spread(&self) -> Duration {
        self.start_spread
    }

    /// How long a handshake may take.
    pub(crate) fn give_up(&self) -> Duration {
        self.give_up
    }

    /// Octets of the connection IDs in the sessions' records.
    pub(crate) fn connection_id(&self) -> u8 {
        self.sessions[0].connection_id.unwrap_or(0)
    }

    /// What carries the session at the client's (0) or the server's (1) end, where that is not datagrams.
    pub(crate) fn transport(&self, side: usize) -> Option<&Transport> {
        self.transports.as_ref().map(|transports| &transports[side])
    }

    /// The two ends of a client's session.
    pub(crate) fn endpoints(&self, client: NodeId) -> [Endpoint; 2] {
        let port = self.ports.client.wrapping_add(client.0);
        [Endpoint::new(Host::Node(client).address(), port), Endpoint::new(self.server.address(), self.ports.server)]
    }

    /// The sessions of a client: its own and the server's for it. Their randomness follows from the client's node, so that
    /// another client beside it changes nothing.
    pub(crate) fn sessions(&self, client: NodeId, streams: &Streams) -> [Box<dyn Session>; 2] {
        let seeds = [0, 1].map(|side| streams.derive("session", 2 * u64::from(client.0) + side));
        // `new` has built sessions of these configurations; other seeds change nothing in that.
        self.build_sessions(seeds).expect("sessions of checked configurations")
    }

    /// What the client's device uses in this time.
    pub(crate) fn client_energy(&self, times: Times) -> Energy {
        energy(&self.devices[0], times)
    }

    /// What a node is: the server's device where the server is, else the client's.
    pub(crate) fn device(&self, node: NodeId) -> &Device {
        &self.devices[usize::from(self.server == Host::Node(node))]
    }

    /// The client's device (side 0) or the server's (1).
    pub(crate) fn device_of_side(&self, side: usize) -> &Device {
        &self.devices[side]
    }

    fn build_sessions(&self, seeds: [[u8; 32]; 2]) -> Result<[Box<dyn Session>; 2], BuildError> {
        let [client, server] = [0, 1].map(|side| SessionConfig { seed: seeds[side], ..self.sessions[side].clone() });
        let processors = [0, 1].map(|side| {
            let processor = Paced { device: self.devices[side].clone(), factor: self.compute_factors[side] };
            Arc::new(processor) as Arc<dyn Processor>
        });
        slowhand_sessions::build_pair([&client, &server], processors)
    }
}

fn network_config(scenario: &Scenario, routes: &Routes) -> network::Config {
    let (lowpan, server) = (&scenario.lowpan, &scenario.server);
    let depth = (0..routes.nodes()).map(|node| routes.depth(NodeId(node as u16))).max().unwrap_or(0);
    network::Config {
        fragment_loss: Probability::new(lowpan.fragment_loss.get()),
        dropped_frames: in_order(&lowpan.dropped_frames),
        loss_spread: match lowpan.loss_spread {
            scenario::LossSpread::Fragment => network::LossSpread::Fragment,
            scenario::LossSpread::Flight => network::LossSpread::Flight,
        },
        ecn_threshold: lowpan.ecn_threshold.map(|share| share.get()),
        frame_capacity: lowpan.max_frame_payload.get() as usize,
        reassembly: Limits {
            buffers: lowpan.reassembly_buffers.get() as usize,
            timeout: Duration::from_micros(lowpan.reassembly_timeout_s.micros()),
            ..Limits::default()
        },
        fragments: lowpan.fragments(depth, scenario.mac.period()),
        internet: internet::Config {
            delay: Duration::from_micros(server.internet_delay_ms.micros()),
            jitter: Duration::from_micros(server.internet_jitter_ms.micros()),
            loss: Probability::new(server.internet_loss.get()),
            dropped: in_order(&server.internet_dropped),
        },
        gateway: scenario.gateway.config(),
    }
}

fn in_order(numbers: &[Integer<1, 4_294_967_295>]) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.iter().map(|number| number.get().into()).collect();
    numbers.sort();
    numbers
}

/// The constants of the MAC; none where the timing is missing, which the loader has refused.
fn tsch_config(mac: &scenario::Tsch) -> Option<tsch::Config> {
    Some(tsch::Config {
        timing: mac.slot_timing()?,
        slotframe: mac.slotframe.get() as u16,
        hopping: mac.hopping(),
        max_retries: mac.max_retries.get() as u8,
        backoff_exponents: (mac.min_be.get() as u8, mac.max_be.get() as u8),
        queue: mac.queue.get() as usize,
    })
}
