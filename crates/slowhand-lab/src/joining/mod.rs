//! The forming of a 6TiSCH network (RFC 8180, RFC 9030, RFC 9031, RFC 9033): every node but the root is switched on without
//! knowing the time or the keys of the network. Each goes through the phases of [`Phase`]; a [`JoinRecord`] has when, and what it
//! cost.
//!
//! ```
//! use slowhand_lab::interrupt::Interrupt;
//! use slowhand_lab::joining::{JoinPlan, Phase};
//! use slowhand_lab::scenario::Scenario;
//!
//! let scenario: Scenario = r#"
//!     network = { topology = { kind = "line", hops = 1 } }
//!     mac = { kind = "tsch", slotframe = 11, scheduling = "msf" }
//!     client = { device = "openmote-cc2538" }
//!     session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
//! "#
//! .parse()?;
//! let records = JoinPlan::new(&scenario)?.run(1, &Interrupt::default(), &mut ()).expect("nobody interrupts it");
//! assert!(records[0].at(Phase::Joined) > records[0].at(Phase::Synchronised));
//! assert_eq!(records[0].missing(), None, "it has sent its first datagram to the root");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod node;
mod record;
mod sharing;
mod world;

use std::path::Path;
use std::sync::Arc;

use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::network::{Network, NetworkConfig};
use slowhand_net::observer::Observer;
use slowhand_net::random::Streams;

use crate::device::Device;
use crate::input::Blame;
use crate::interrupt::Interrupt;
use crate::scenario::{Capabilities, Join, MacError, Mesh, PreparedMac, Scenario};
use crate::sniffer::{CaptureRunError, LiveCapture};
use crate::threads;

pub use record::{JoinRecord, Phase};

/// Everything that a forming network of any seed is made from.
#[derive(Debug)]
pub struct JoinPlan {
    mesh: Arc<Mesh>,
    mac: Box<dyn PreparedMac>,
    queues: Vec<(NodeId, usize)>,
    network: NetworkConfig,
    join: Join,
    period: Duration,
    negotiates: bool,
    is_storing: bool,
    /// The device of the nodes.
    device: Arc<Device>,
    /// The key index and the key of the network, if the scenario says it.
    key: Option<(u64, [u8; 16])>,
}

/// A network that cannot form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The link layer is not TSCH, or cannot have this configuration.
    #[error(transparent)]
    Mac(#[from] MacError),
    /// Something of the scenario is only known of a network whose nodes have joined.
    #[error("{0}: found it where a network forms, allowed: a scenario without it: only nodes that have joined have it")]
    Joined(&'static str),
}

impl From<JoinError> for Blame {
    fn from(error: JoinError) -> Self {
        let (key, reason) = match error {
            JoinError::Mac(error) => (error.key(), error.reason()),
            JoinError::Joined(key) => (
                key,
                "found it where a network forms, allowed: a scenario without it: only nodes that have joined have it"
                    .into(),
            ),
        };
        Self { place: None, key: key.to_owned(), reason, together: true }
    }
}

impl JoinPlan {
    /// Prepares the network of a scenario. Its sessions and other traffic do not count.
    ///
    /// # Errors
    /// The link layer is not TSCH; or the scenario has what only a network has whose nodes have joined: outages, walks, an exchange
    /// of capabilities.
    pub fn new(scenario: &Scenario) -> Result<Self, JoinError> {
        let (link_layer, network) = (scenario.mac.link_layer(), &scenario.network);
        if !network.outages.is_empty() {
            return Err(JoinError::Joined("network.outages"));
        }
        if network.walk.is_some() {
            return Err(JoinError::Joined("network.walk"));
        }
        if scenario.lowpan.capabilities == Capabilities::Exchanged {
            return Err(JoinError::Joined("lowpan.capabilities"));
        }
        Ok(Self {
            mesh: Arc::clone(scenario.mesh()),
            mac: link_layer.prepare_forming(scenario.mesh())?,
            queues: network.queues().collect(),
            network: scenario.network_config(),
            join: scenario.join.clone(),
            period: link_layer.period(),
            negotiates: link_layer.negotiates_cells(),
            is_storing: scenario.lowpan.rpl == crate::scenario::Rpl::Storing,
            device: Arc::clone(&scenario.client_device),
            key: scenario.mac.security().map(|security| (security.key_index().into(), security.key.0.0)),
        })
    }

    /// Runs the world of a seed until all nodes are through, or `join.give_up_s` is over. One record for each node but the root, by
    /// number. `None` if it is interrupted.
    pub fn run(&self, seed: u64, interrupt: &Interrupt, observer: &mut dyn Observer) -> Option<Vec<JoinRecord>> {
        world::World::new(self, seed).run(interrupt, observer)
    }

    /// Runs the worlds of `count` seeds from `first` on, on so many threads. The records of all, by seed and node, whatever the
    /// number of threads; those that were complete when it was interrupted.
    pub fn run_all(&self, first: u64, count: u64, threads: usize, interrupt: &Interrupt) -> Vec<JoinRecord> {
        // Seeds end with the largest number.
        let count = count.min((u64::MAX - first).saturating_add(1));
        let worlds = threads::each(0..count, threads, |world| self.run(first + world, interrupt, &mut ()));
        worlds.into_values().flatten().collect()
    }

    /// The network of a seed, before anything has happened.
    fn network(&self, streams: &Streams) -> Network {
        let mut mac = self.mac.build(&self.mesh, streams);
        self.queues.iter().for_each(|&(node, frames)| mac.set_queue(node, frames));
        Network::new(mac, self.mesh.routes().clone(), self.network.clone(), streams)
    }
}

/// Runs the world of one seed and writes every frame on the air to `path` as pcapng. `None` if it is interrupted.
///
/// # Errors
/// The network cannot form, or the file cannot be written; the file is created before the work starts.
pub fn capture_join(
    scenario: &Scenario,
    seed: u64,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<Option<Vec<JoinRecord>>, CaptureRunError<JoinError>> {
    let plan = JoinPlan::new(scenario).map_err(CaptureRunError::Plan)?;
    let mut capture = LiveCapture::create(scenario, path)?;
    let records = plan.run(seed, interrupt, &mut capture);
    capture.finish()?;
    Ok(records)
}
