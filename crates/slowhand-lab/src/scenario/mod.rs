//! A scenario: which network, which devices, which session. A TOML file with few required keys; every
//! default is documented at its key, with its source.

mod endpoint;
mod gateway;
mod lowpan;
mod mac;
mod network;
mod session;
mod transport;
mod validate;

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_net::address::NodeId;

pub use endpoint::{Client, Server, ServerAt};
pub use gateway::Gateway;
pub use lowpan::{Forwarding, LossSpread, Lowpan, Reassembly, Recovery};
pub(crate) use mac::PreparedMac;
pub use mac::{
    Beacon, Cell, CellKind, Cells, Downward, Generation, Mac, MacError, Scheduling, SlotTiming, StartOfFrame, Tsch,
    XMac,
};
pub use network::{Channel, Link, MAX_NODE, Mesh, Network, Topology};
pub use session::{Auth, Session};
pub(crate) use transport::TcpEndpoint;
pub use transport::{Preset, Tcp, Transport};

use crate::device::Device;
use crate::input::{Document, Integer};
pub use crate::input::{InputError, Override};

/// Everything that is simulated, read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of the scenario: its file's, without directory and extension.
    pub name: String,
    /// The nodes, and how well they hear each other.
    pub network: Network,
    /// The link layer.
    pub mac: Mac,
    /// How IPv6 datagrams travel in 802.15.4 frames.
    pub lowpan: Lowpan,
    /// The nodes that open sessions.
    pub client: Client,
    /// The node or host that accepts them.
    pub server: Server,
    /// The protocol, the libraries and their settings.
    pub session: Session,
    /// TCP below a session of TLS.
    pub transport: Transport,
    /// What the border router does beyond forwarding.
    pub gateway: Gateway,
    /// What a client runs on.
    pub client_device: Arc<Device>,
    /// What the server runs on.
    pub server_device: Arc<Device>,
    mesh: Arc<Mesh>,
}

/// The number of a frame or a datagram, counted from 1.
type Ordinal = Integer<1, 4_294_967_295>;

/// These numbers in ascending order.
fn ascending(numbers: &[Ordinal]) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.iter().map(|number| number.get().into()).collect();
    numbers.sort_unstable();
    numbers
}

/// A scenario: which network, which devices, which session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scenario")]
struct Sections {
    /// The nodes, and how well they hear each other.
    network: Network,
    /// The link layer.
    mac: Mac,
    /// How IPv6 datagrams travel in 802.15.4 frames.
    #[serde(default)]
    lowpan: Lowpan,
    /// The nodes that open sessions.
    client: Client,
    /// The node or host that accepts them.
    #[serde(default)]
    server: Server,
    /// The protocol, the libraries and their settings.
    session: Session,
    /// TCP below a session of TLS.
    #[serde(default)]
    transport: Transport,
    /// What the border router does beyond forwarding.
    #[serde(default)]
    gateway: Gateway,
}

/// The JSON Schema of a scenario file. Editors use it to check a file while it is written.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Sections)
}

impl Scenario {
    /// Reads and checks a scenario file, with `overrides` in place of what it says.
    ///
    /// # Errors
    /// The first error: the file cannot be read or is not TOML, a key is unknown or missing, or a value is not allowed
    /// (alone or together with other values).
    pub fn load(file: &Path, overrides: &[Override]) -> Result<Self, InputError> {
        Self::from_document(Document::read(file)?, file, overrides)
    }

    fn from_document(mut document: Document, file: &Path, overrides: &[Override]) -> Result<Self, InputError> {
        for change in overrides {
            document.set(change)?;
        }
        let Sections { network, mac, lowpan, client, server, session, transport, gateway } = document.deserialize()?;
        let directory = file.parent().unwrap_or(Path::new(""));
        let device = |name: &str, key| validate::device(name, key, directory, &document).map(Arc::new);
        let (client_device, server_device) =
            (device(&client.device, "client.device")?, device(&server.device, "server.device")?);
        let scenario = Self {
            mesh: Arc::new(validate::mesh(&network, &document)?),
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            client_device,
            server_device,
            network,
            mac,
            lowpan,
            client,
            server,
            session,
            transport,
            gateway,
        };
        validate::validate(&scenario, &document)?;
        Ok(scenario)
    }

    /// The links and routes that follow from `network`, as it was when the scenario was loaded.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// TCP at the client's and at the server's end.
    pub(crate) fn transports(&self) -> [TcpEndpoint; 2] {
        let server = match self.server.at {
            ServerAt::Internet => Preset::Linux,
            ServerAt::Node(_) => Preset::Constrained,
        };
        [self.transport.client.endpoint(Preset::Constrained), self.transport.server.endpoint(server)]
    }

    /// The nodes that open a session each, in ascending order where the scenario does not name them.
    pub fn clients(&self) -> Vec<NodeId> {
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
        let file = Path::new("scenario.toml");
        Self::from_document(Document::parse(file, text)?, file, &[])
    }
}

#[cfg(test)]
mod tests;
