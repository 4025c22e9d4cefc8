//! A scenario: which network, which devices, which session. A TOML file with few required keys; every
//! default is documented at its key, with its source.

mod application;
mod coap;
mod courses;
mod endpoint;
mod gateway;
mod handling;
mod join;
mod keys;
mod limits;
mod losses;
mod lowpan;
mod mac;
mod network;
mod nodes;
mod profile;
mod profile_numbers;
mod programs;
mod psk;
mod readers;
mod running;
mod session;
mod settings;
mod sources;
mod trace;
mod traffic;
mod transport;
mod validate;
mod variation;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::ip::Endpoint;
use slowhand_net::link::Interferer;
use slowhand_net::network::gateway::GatewayConfig;
use slowhand_net::network::joiner_router::JoiningConfig;
use slowhand_net::network::{MeshUnderConfig, NetworkConfig};
use slowhand_net::transport::tcp;
use slowhand_sessions::{BuildError, Family, Role, SessionConfig, credential_files};

pub use application::{Application, Observe, RequestPattern, Retry, SessionUse};
pub use endpoint::{Client, Server, ServerAt};
pub use gateway::{Delegate, Gateway};
pub use handling::FrameHandling;
pub use join::{Dis, Join};
pub use limits::Limits;
pub use losses::{Advice, Remedy};
pub use lowpan::{Capabilities, Forwarding, Lowpan, PayloadCompression, Reassembly, Recovery, Rpl};
pub(crate) use mac::Opportunity;
pub use mac::{
    Beacon, Cell, CellKind, Cells, Csl, Csma, Generation, Key, LinkSecurity, Load, Mac, MacError, PreparedMac,
    Scheduling, Sleepy, SlotTiming, StartOfFrame, Tsch, XMac,
};
pub use network::{Capture, Channel, Link, Mesh, Network, NodeBuffers, RouteError, Routing, Topology};
pub use nodes::MAX_NODE;
pub use profile::Profile;
pub use profile_numbers::{ProfileNumber, ProfileNumbers};
pub use programs::{CLIENTS_START, Command, Input, Program, ProgramAt, Success};
pub use psk::Psk;
pub use readers::{Readers, ReadersAt};
pub use running::{CHANGEABLE_KEYS, NetworkChange, SwitchError};
pub use session::{Auth, Session};
pub use settings::{EndSettings, SessionSettings, TimerSettings};
pub use sources::Sources;
pub use traffic::{Pattern, Place, Traffic};
pub(crate) use transport::TcpEndpoint;
pub use transport::{Dccp, Preset, Tcp, Transport};

pub use variation::{Change, GilbertElliott, Outage, Trace, Walk, WiFi};

use crate::device::Device;
use crate::input::{Document, Files, Integer, Setting, schema_of};
pub use crate::input::{InputError, Override};
use crate::traffic::Flow;

/// Everything that is simulated, read and checked: the [`Sections`] of its file, and what follows from them.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of the scenario: its file's, without directory and extension.
    pub name: String,
    /// The device of a client.
    pub client_device: Arc<Device>,
    /// The device of the server.
    pub server_device: Arc<Device>,
    sections: Sections,
    mesh: Arc<Mesh>,
    sources: Arc<Sources>,
    document: Arc<Document>,
    holds_keys: bool,
}

impl Deref for Scenario {
    type Target = Sections;

    fn deref(&self) -> &Sections {
        &self.sections
    }
}

/// The keys of a scenario whose values are secret. The commands of programs may have keys in them.
const SECRET_KEYS: [&str; 3] = ["session.psk", "mac.security.key", "programs"];

/// The number of a frame or a datagram, counted from 1.
type Ordinal = Integer<1, 4_294_967_295>;

/// These numbers in ascending order.
fn ascending(numbers: &[Ordinal]) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.iter().map(|number| number.get().into()).collect();
    numbers.sort_unstable();
    numbers
}

/// A scenario: which network, which devices, which session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scenario")]
pub struct Sections {
    /// The nodes, and how well they hear each other.
    pub network: Network,
    /// The link layer.
    pub mac: Mac,
    /// The way in which IPv6 datagrams travel in 802.15.4 frames.
    #[serde(default)]
    pub lowpan: Lowpan,
    /// The nodes that open sessions.
    pub client: Client,
    /// The node or host that accepts them.
    #[serde(default)]
    pub server: Server,
    /// The protocol, the libraries and their settings.
    pub session: Session,
    /// TCP below a session of TLS, or DCCP below one of DTLS.
    #[serde(default)]
    pub transport: Transport,
    /// The services of the border router beyond forwarding.
    #[serde(default)]
    pub gateway: Gateway,
    /// Other traffic: flows of datagrams beside the sessions. Default: none.
    #[serde(default)]
    pub traffic: Vec<Traffic>,
    /// The application above the sessions.
    #[serde(default)]
    pub application: Application,
    /// The way in which the nodes join a TSCH network.
    #[serde(default)]
    pub join: Join,
    /// Who reads the value of a node, and how often.
    #[serde(default)]
    pub readers: Readers,
    /// Programs that run as they are, unmodified, in the place of the libraries: docs/exec.md. `slowhand exec`, `slowhand sweep` and
    /// `slowhand compare` run them. All other commands ignore this table, and run the libraries of `[session]`.
    ///
    /// In a command, in `environment` and in `stdin`, `{server}` is the server's address in brackets, `{address}` the same without them,
    /// `{port}` its port, `{node}` the node of the program, `{seed}` the seed of the world, `{keylog}` a file for the secrets of its
    /// sessions. Default: none.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// The bounds of what a scenario may take of the machine that runs it.
    #[serde(default)]
    pub limits: Limits,
}

impl Sections {
    /// The software of the nodes.
    pub fn profile(&self) -> Profile {
        self.network.profile.unwrap_or_else(|| self.mac.link_layer().default_profile())
    }
}

/// The JSON Schema of a scenario file. Editors use it to check a file while it is written.
pub fn schema() -> schemars::Schema {
    schema_of::<Sections>()
}

impl Scenario {
    /// The credentials of the ends of a session as files, for programs that take the place of one: their names and texts.
    /// [`slowhand_sessions::credential_files`] lists them.
    ///
    /// # Errors
    /// A certificate could not be issued.
    pub fn credentials(&self) -> Result<BTreeMap<String, String>, BuildError> {
        let [client, server] = Role::BOTH.map(|role| self.session.config(role));
        credential_files([&client, &server])
    }

    /// One end of the session of a run; its seed is still to be set.
    pub(crate) fn session_config(&self, role: Role) -> SessionConfig {
        let mut config = self.session.config(role);
        if let Family::Coap(coap) = &mut config.family {
            coap.notifications = self.application.notifications();
        }
        if let Some(tls) = config.family.tls_mut() {
            tls.pre_validated = self.gateway.pre_validation;
        }
        config
    }

    /// Reads and checks a scenario file, with `overrides` in place of what it says.
    ///
    /// # Errors
    /// The first error: the file cannot be read or is not TOML, a key is unknown or missing, or a value is not allowed
    /// (alone or together with other values).
    pub fn load(file: &Path, overrides: &[Override]) -> Result<Self, InputError> {
        // A path such as `..` has no file name. Reading it says what is wrong.
        let (directory, name) = match (file.parent(), file.file_name()) {
            (Some(directory), Some(name)) => (directory, Path::new(name)),
            _ => (Path::new(""), file),
        };
        let mut files = Files::in_directory(directory);
        let document = files.read(name)?;
        Self::from_document(document, name, files, overrides, None)
    }

    /// Reads and checks the scenario that has these sources. The disk is not used.
    ///
    /// # Errors
    /// As [`load`](Self::load); or the sources lack a file that the scenario names.
    pub fn from_sources(sources: &Sources) -> Result<Self, InputError> {
        Self::of_sources(sources, None)
    }

    /// As [`from_sources`](Self::from_sources), but files that the sources lack are read from `directory`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_sources_in(directory: &Path, sources: &Sources) -> Result<Self, InputError> {
        Self::of_sources(sources, Some(directory))
    }

    fn of_sources(sources: &Sources, directory: Option<&Path>) -> Result<Self, InputError> {
        let name = Path::new(&sources.scenario);
        let mut files = Files::of_texts(&sources.files, directory);
        let document = files.read(name)?;
        let overrides: Result<Vec<Override>, _> = sources.overrides.iter().map(|text| text.parse()).collect();
        Self::from_document(document, name, files, &overrides?, None)
    }

    /// The scenario of a document. If its network runs already, `running` is the mesh, whose routes stay.
    fn from_document(
        mut document: Document,
        name: &Path,
        mut files: Files<'_>,
        overrides: &[Override],
        running: Option<&Mesh>,
    ) -> Result<Self, InputError> {
        let has_keys = |document: &Document| SECRET_KEYS.iter().any(|key| document.has(key));
        let mut holds_keys = has_keys(&document);
        for change in overrides {
            document.set(change)?;
            holds_keys |= has_keys(&document);
        }
        let deserialized = document.deserialize();
        let mut sections: Sections = deserialized.map_err(|error| mac::name_kind(error, &document))?;
        let profile = sections.profile();
        profile.fill_lowpan(&mut sections.lowpan, &document);
        profile.fill_mac(&mut sections.mac, &document);
        profile.fill_join(&mut sections.join, &document);
        let mut device = |name: &str, key| validate::device(name, key, &mut files, &document).map(Arc::new);
        let (client_device, server_device) =
            (device(&sections.client.device, "client.device")?, device(&sections.server.device, "server.device")?);
        let mesh = validate::mesh(&sections.network, running, &mut files, &document)?;
        let sources = Sources {
            scenario: name.to_string_lossy().into_owned(),
            files: files.into_read(),
            overrides: overrides.iter().map(Override::to_string).collect(),
        };
        let document = Arc::new(document);
        let scenario = Self {
            mesh: Arc::new(mesh),
            name: name.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            client_device,
            server_device,
            sections,
            sources: Arc::new(sources),
            document: Arc::clone(&document),
            holds_keys,
        };
        validate::validate(&scenario, &document)?;
        Ok(scenario)
    }

    /// The memory that one world takes, in octets: an estimate, rather too much than too little.
    pub fn memory(&self) -> u64 {
        limits::memory(self.mesh.nodes(), self.clients().len(), self.datagrams())
    }

    /// The Wi-Fi channels of `network.wifi` that cover no channel of the network.
    pub fn wifi_elsewhere(&self) -> Vec<u8> {
        let channels = self.mac.link_layer().channels();
        let wifi = self.network.wifi.iter().map(|wifi| wifi.channel.get() as u8);
        wifi.filter(|wifi| !channels.iter().any(|channel| Interferer::covered(*wifi).contains(channel))).collect()
    }

    /// When radios are off.
    pub(crate) fn outages(&self) -> Vec<slowhand_net::network::Outage> {
        self.network.outages.iter().map(Outage::outage).collect()
    }

    /// The flows beside the sessions.
    pub(crate) fn flows(&self) -> impl Iterator<Item = Flow> {
        self.traffic.iter().flat_map(|traffic| traffic.flows(self.mesh.nodes()))
    }

    /// The datagrams of these flows in the longest world that there can be.
    fn datagrams(&self) -> u64 {
        let link_layer = self.mac.link_layer();
        let [settling, period] = [link_layer.settling(), link_layer.period()];
        let last = self.client.start(settling) + self.client.start_spread(period) + self.longest_attempts();
        let last =
            last + self.network.walk.as_ref().map_or(Duration::ZERO, |walk| walk.begin_of(self.mesh.nodes() - 1));
        let time = last.saturating_sub(settling);
        self.flows().map(|flow| flow.datagrams_in(time)).fold(0, u64::saturating_add)
    }

    /// The texts that the scenario was made from.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The value of a key, a dotted path such as `session.mtu`, as the file or an override has it. `None` if neither has
    /// the key, so that its default counts.
    pub fn value(&self, key: &str) -> Option<Setting> {
        self.document.setting(key)
    }

    /// True if its texts have a key of their own, `session.psk` or `mac.security.key`, or programs, whose commands may have one: then
    /// who reads a result that carries them knows the key. It stays true if an override replaces or removes the key.
    pub fn holds_keys(&self) -> bool {
        self.holds_keys
    }

    /// The links and routes that follow from `network`, as it was when the scenario was loaded.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// The configuration of the network: each part is a section of the scenario.
    pub(crate) fn network_config(&self) -> NetworkConfig {
        let routes = self.mesh.routes();
        let depth = (0..routes.nodes()).map(|node| routes.depth(NodeId(node as u16))).max().unwrap_or(0);
        let mut buffers_of = self.network.buffers();
        let root = buffers_of.entry(NodeId::ROOT).or_default();
        let border_router = self.lowpan.border_router();
        root.reassembly = root.reassembly.or(border_router.reassembly);
        root.forwarding = root.forwarding.or(border_router.forwarding);
        NetworkConfig {
            buffers_of,
            internet: self.server.internet_config(),
            outages: self.outages(),
            frame_handling: self.frame_handling(),
            gateway: GatewayConfig { judge: self.judge(), ..self.gateway.config() },
            joining: self.joining(),
            mesh_under: self.mesh_under(),
            without_payload_compression: self.network.without_payload_compression(),
            ..self.lowpan.config(depth, self.mac.link_layer().period())
        }
    }

    /// Who joins, and where the commissioner is.
    fn joining(&self) -> Option<JoiningConfig> {
        let port = self.session.server_port();
        let commissioner = Endpoint::new(self.server.at.hosts(NodeId::ROOT)[1].address(), port);
        self.client.joining.then(|| JoiningConfig { joiners: self.clients(), commissioner })
    }

    /// Which nodes forward frames below IPv6.
    fn mesh_under(&self) -> Option<MeshUnderConfig> {
        let end_devices = || self.mac.link_layer().sleepy(&self.mesh).into_iter().collect();
        (self.lowpan.reassembly == Reassembly::MeshUnder).then(|| MeshUnderConfig { end_devices: end_devices() })
    }

    /// TCP at the client's and at the server's end.
    pub(crate) fn transports(&self) -> [TcpEndpoint; 2] {
        let server = match self.server.at {
            ServerAt::Internet => Preset::Linux,
            ServerAt::Node(_) | ServerAt::Leaves => Preset::Constrained,
        };
        [self.transport.client.endpoint(Preset::Constrained), self.transport.server.endpoint(server)]
    }

    /// TCP of a host whose programs are not emulated: the client's at a node, the server's where a server is. A host on the Internet
    /// that is no server has the preset `linux`.
    pub fn tcp_of(&self, host: Host) -> tcp::TcpConfig {
        let [client, server] = self.transports().map(|transport| transport.tcp);
        match (self.server.at, host) {
            (ServerAt::Internet, Host::Internet) => server,
            (_, Host::Internet) => tcp::TcpConfig::linux(),
            (ServerAt::Node(at), Host::Node(node)) if at == node => server,
            (ServerAt::Leaves, Host::Node(node)) if node != NodeId::ROOT => server,
            _ => client,
        }
    }

    /// The nodes that open a session each, in ascending order where the scenario does not name them. With servers at the leaves:
    /// the servers with which the root opens one.
    pub fn clients(&self) -> Vec<NodeId> {
        let candidates = self.candidates();
        let count = self.client.count.map_or(candidates.len(), |count| candidates.len().min(count.get() as usize));
        (0..count).map(|client| candidates[client * candidates.len() / count]).collect()
    }

    /// The nodes of which `client.count` takes some.
    fn candidates(&self) -> Vec<NodeId> {
        if let Some(nodes) = &self.client.nodes {
            return nodes.iter().map(|node| NodeId(node.get() as u16)).collect();
        }
        let routes = self.mesh.routes();
        let nodes = (1..routes.nodes()).map(|node| NodeId(node as u16));
        let mut is_parent = vec![false; routes.nodes()];
        for parent in nodes.clone().filter_map(|node| routes.parent(node)) {
            is_parent[parent.index()] = true;
        }
        nodes.filter(|node| !is_parent[node.index()] && self.server.at != ServerAt::Node(*node)).collect()
    }
}

/// A scenario from the text of its file; errors call the file `scenario.toml`.
impl FromStr for Scenario {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let name = Path::new("scenario.toml");
        let mut files = Files::in_directory(Path::new(""));
        let document = files.parse(name, text.to_owned())?;
        Self::from_document(document, name, files, &[], None)
    }
}

#[cfg(test)]
mod tests;
