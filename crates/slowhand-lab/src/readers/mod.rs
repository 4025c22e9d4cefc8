//! The cost of many readers that want the value of one node, the producer, in two ways: each reader opens a session of DTLS to the
//! producer, or the producer signs and encrypts the value once, as an object ([`slowhand_coap::objects`]), a proxy at the border router
//! keeps it, and readers get the access secret from an authorization server over DTLS (OSCAR).
//!
//! ```
//! use slowhand_lab::interrupt::Interrupt;
//! use slowhand_lab::readers::{ReadersPlan, Way};
//! use slowhand_lab::scenario::Scenario;
//!
//! let scenario: Scenario = r#"
//!     network = { topology = { kind = "line", hops = 1 } }
//!     mac = { kind = "tsch", slotframe = 11 }
//!     client = { device = "openmote-cc2538" }
//!     session = { stack = "lean-dtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
//!     readers = { readings = 2 }
//! "#
//! .parse()?;
//! let plan = ReadersPlan::new(&scenario)?;
//! let [dtls, oscar] = Way::ALL.map(|way| plan.run(way, 3, 1, &Interrupt::default(), &mut ()).expect("nobody interrupts it"));
//! assert_eq!([dtls.got, oscar.got], [6, 6], "three readers, two readings each");
//! assert!(dtls.setup_octets > oscar.setup_octets, "only one session crosses the mesh: that of the producer");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ends;
mod record;
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use slowhand_coap::PORT;
use slowhand_coap::endpoint;
use slowhand_coap::objects::{self, AccessSecret, Grant};
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Duration;
use slowhand_net::observer::Observer;
use slowhand_sessions::{
    Aead, AeadMode, Carrier, Coap, Curve, Family, Operation, Processor, Role, Security, SessionConfig,
};

use crate::device::Missing;
use crate::input::{Blame, Place};
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError, check_devices};
use crate::scenario::{Readers, ReadersAt, Scenario, ServerAt};
use crate::sniffer::{CaptureRunError, LiveCapture};
use crate::threads;

pub use record::{ReadersRecord, Way};
use world::octets_of;

/// The most readers of a world. *Assumed*: each has ports of its own, and nobody has asked for more.
pub const MOST_READERS: u32 = 1_000;

/// Everything that a world of readers is made from.
#[derive(Debug)]
pub struct ReadersPlan {
    plan: Plan,
    readers: Readers,
    producer: NodeId,
    /// The nodes of the readers, if they are in the mesh.
    nodes: Option<Vec<NodeId>>,
    authority: Host,
    /// The sessions of a reader to the producer and of anybody to the authorization server: client and server.
    sessions: [SessionConfig; 2],
    /// CoAP without a session below it, and above one.
    coap: endpoint::Config,
    coap_over_dtls: endpoint::Config,
    start: Duration,
    internet_delay: Duration,
    ports: Ports,
    /// The energy that the producer and the other nodes use if nobody reads, by seed: it is the same with any number of readers.
    idle: Mutex<BTreeMap<u64, [f64; 2]>>,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    coaps: u16,
    coap: u16,
    /// The port of reader r is this one and r.
    first: u16,
}

/// The message about a time that a device lacks.
const NO_TIME: &str = "found nothing, allowed: a number and its source: objects need it";

/// The readers of a scenario cannot read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadersError {
    /// Something that no scenario can have.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A key does not go with readers.
    #[error("{key}: {reason}")]
    Key {
        /// The key.
        key: &'static str,
        /// The value found, and the allowed values.
        reason: String,
    },
    /// A device has no time for an operation of objects.
    #[error("{}: {key}: {NO_TIME}", file.display())]
    Device {
        /// The file of the device.
        file: std::path::PathBuf,
        /// The key that is missing.
        key: String,
    },
}

impl From<ReadersError> for Blame {
    fn from(error: ReadersError) -> Self {
        match error {
            ReadersError::Plan(error) => error.blame(),
            ReadersError::Key { key, reason } => Self { place: None, key: key.to_owned(), reason, together: true },
            ReadersError::Device { file, key } => {
                Self { place: Some(Place::File(file)), key, reason: NO_TIME.to_owned(), together: true }
            }
        }
    }
}

impl ReadersPlan {
    /// Prepares a scenario. Its own sessions do not count.
    ///
    /// # Errors
    /// Errors of [`Plan::new`]; the protocol is not DTLS, or the scenario has something that only sessions of its clients have.
    pub fn new(scenario: &Scenario) -> Result<Self, ReadersError> {
        refuse_others(scenario)?;
        let (plan, session) = (Plan::new(scenario)?, &scenario.session);
        let readers = scenario.readers.clone();
        let first_client = plan.clients().first().copied().unwrap_or(NodeId(1));
        let producer = readers.producer.map_or(first_client, |node| NodeId(node.get() as u16));
        let [_, authority] = scenario.server.at.hosts(producer);
        if authority == Host::Node(producer) {
            return Err(refused(
                "readers.producer",
                "the node of the authorization server, the first client",
                "another node",
            ));
        }
        let sessions = Role::BOTH.map(|role| {
            let mut config = session.config(role);
            let tls = config.family.tls().cloned();
            // `refuse_others` has seen that it is DTLS.
            config.family = tls.map_or(config.family, Family::Tls);
            config
        });
        let mut coap = Coap::new(Security::None);
        session.coap.apply(&mut coap);
        let default = endpoint::Config::default();
        let config = |most: Option<u16>| endpoint::Config {
            transmission: coap.transmission,
            algorithm: coap.congestion.into(),
            max_message: most.map_or(default.max_message, usize::from),
            ..default.clone()
        };
        let [coap, coap_over_dtls] = [sessions[0].mtu, slowhand_sessions::max_message(&sessions[0])].map(config);
        let nodes: Option<Vec<_>> = (readers.at == ReadersAt::Mesh).then(|| {
            let nodes = (1..scenario.mesh().nodes() as u16).map(NodeId);
            nodes.filter(|&node| node != producer && Host::Node(node) != authority).collect()
        });
        if nodes.as_ref().is_some_and(Vec::is_empty) {
            let found = "\"mesh\", where no node is left for a reader";
            return Err(refused("readers.at", found, "\"internet\", or a network with more nodes"));
        }
        let prepared = Self {
            producer,
            nodes,
            authority,
            sessions,
            coap,
            coap_over_dtls,
            start: scenario.client.start(scenario.mac.link_layer().settling()),
            internet_delay: scenario.server.internet_delay_ms.duration(),
            ports: Ports { coaps: session.server_port(), coap: PORT, first: session.client_port.get() as u16 },
            idle: Mutex::default(),
            readers,
            plan,
        };
        if prepared.ports.coaps == PORT {
            return Err(refused("session.server_port", "5683, the port of CoAP", "another port for DTLS"));
        }
        prepared.check_messages()?;
        prepared.check()?;
        Ok(prepared)
    }

    /// Checks that the largest messages that there can be fit.
    fn check_messages(&self) -> Result<(), ReadersError> {
        let Readers { value_bytes, readings, secret_lifetime_s, .. } = &self.readers;
        let value = value_bytes.get() as usize;
        let last_secret =
            secret_lifetime_s.map_or(0, |lifetime| self.duration().as_micros() / lifetime.micros().max(1));
        let id = octets_of(last_secret);
        // There are not more objects than requests: two for a reading, if the first fails when the next is due.
        let number = octets_of(2 * u64::from(readings.get()) * u64::from(self.most_readers()));
        let secret = AccessSecret { id: vec![0; id], value: [0; 16] };
        let grant = Grant { secret, signer: Some([0; 64]) }.write().len();
        let of_fragment = self.sessions[0].family.tls().and_then(|tls| tls.max_fragment_length).map(usize::from);
        for (what, has, found, payload) in [
            ("an object", self.coap.max_message, None, objects::length(value, id, number)),
            ("a value or an access secret", self.coap_over_dtls.max_message, of_fragment, value.max(grant)),
        ] {
            let needed = RESPONSE + payload;
            if has < needed {
                let key = if found == Some(has) { "session.max_fragment_length" } else { "session.mtu" };
                let found = format!("{has} octets for a message, where that of {what} has up to {needed}");
                return Err(refused(key, &found, "more, or a shorter readers.value_bytes"));
            }
        }
        Ok(())
    }

    /// The time that a world lasts: the last readings have a period more.
    fn duration(&self) -> Duration {
        self.start + self.readers.period_s.duration() * (u64::from(self.readers.readings.get()) + 1)
    }

    /// The energy that the producer and all other nodes but the root use in a world without readers, in mJ. `None` if it is interrupted.
    fn idle_mj(&self, seed: u64, interrupt: &Interrupt) -> Option<[f64; 2]> {
        let known = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&energies) = known().get(&seed) {
            return Some(energies);
        }
        let energies = world::idle_mj(self, seed, interrupt)?;
        known().insert(seed, energies);
        Some(energies)
    }

    /// Checks that the devices have a time for whatever they compute here.
    fn check(&self) -> Result<(), ReadersError> {
        let [reader, producer, authority] = [self.role_of_readers(), Role::Client, Role::Server];
        check_devices(self.sessions.each_ref(), [reader, producer].map(|role| self.plan.paced(role)))?;
        check_devices(self.sessions.each_ref(), [reader, authority].map(|role| self.plan.paced(role)))?;
        let aead = Aead { mode: AeadMode::Ccm, key_bits: 128, tag: 8, octets: 1, additional: 1 };
        let (hash, curve) = (Operation::Sha256 { blocks: 1 }, Curve::Secp256r1);
        for (role, operations) in [
            (producer, [hash, Operation::Seal(aead), Operation::EcdsaSign(curve)]),
            (reader, [hash, Operation::Open(aead), Operation::EcdsaVerify(curve)]),
        ] {
            let paced = self.plan.paced(role);
            let missing = operations.into_iter().find_map(|operation| paced.duration(operation).err());
            if let Some(Missing(key)) = missing {
                return Err(ReadersError::Device { file: paced.device.file.clone(), key });
            }
        }
        Ok(())
    }

    /// On whose device readers are: the client's or the server's.
    fn role_of_readers(&self) -> Role {
        if self.nodes.is_none() { Role::Server } else { Role::Client }
    }

    fn processor(&self, role: Role) -> Arc<dyn Processor> {
        Arc::new(self.plan.paced(role))
    }

    /// The node that has the value.
    pub fn producer(&self) -> NodeId {
        self.producer
    }

    /// The most readers that there can be.
    pub fn most_readers(&self) -> u32 {
        self.nodes.as_ref().map_or(MOST_READERS, |nodes| nodes.len() as u32).min(MOST_READERS)
    }

    /// Checks the number of readers.
    ///
    /// # Errors
    /// There is no room for so many.
    pub fn check_readers(&self, readers: u32) -> Result<(), ReadersError> {
        let most = self.most_readers();
        if (1..=most).contains(&readers) {
            return Ok(());
        }
        let of_mesh = match self.nodes {
            Some(_) => ": in the mesh each reader has a node of its own",
            None => "",
        };
        Err(refused("readers", &readers.to_string(), &format!("1 to {most}{of_mesh}")))
    }

    /// Runs the world of a seed, in which so many readers read in this way. `None` if it is interrupted.
    ///
    /// # Panics
    /// There is no room for so many readers ([`check_readers`](Self::check_readers)).
    pub fn run(
        &self,
        way: Way,
        readers: u32,
        seed: u64,
        interrupt: &Interrupt,
        observer: &mut dyn Observer,
    ) -> Option<ReadersRecord> {
        assert!((1..=self.most_readers()).contains(&readers), "{readers} readers");
        world::World::new(self, way, readers as usize, seed, interrupt)?.run(interrupt, observer)
    }

    /// Runs both ways with each number of readers and each of `count` seeds from `first` on, on so many threads. The records of all, by
    /// number, way and seed, whatever the number of threads; those that were complete when it was interrupted.
    pub fn run_all(
        &self,
        numbers: &[u32],
        first: u64,
        count: u64,
        threads: usize,
        interrupt: &Interrupt,
    ) -> Vec<ReadersRecord> {
        // Seeds end with the largest number.
        let count = count.min((u64::MAX - first).saturating_add(1));
        let ways = Way::ALL.len() as u64;
        let worlds = threads::each(0..(numbers.len() as u64 * ways).saturating_mul(count), threads, |world| {
            let (combination, seed) = (world / count, first + world % count);
            let (number, way) = (numbers[(combination / ways) as usize], Way::ALL[(combination % ways) as usize]);
            self.run(way, number, seed, interrupt, &mut ())
        });
        worlds.into_values().collect()
    }
}

/// Octets of a response beside its payload, at most: the header with a token of 4 octets, Content-Format, Max-Age, and the marker (RFC
/// 7252 sections 3, 5.10).
const RESPONSE: usize = 4 + 4 + 2 + 5 + 1;

/// Refuses what only sessions of the scenario's own clients have.
fn refuse_others(scenario: &Scenario) -> Result<(), ReadersError> {
    let protocol = scenario.session.protocol;
    if !protocol.is_dtls() {
        let found = format!("\"{protocol}\"");
        return Err(refused("session.protocol", &found, "one with DTLS, where readers open sessions of DTLS"));
    }
    let carrier = scenario.session.carrier;
    if carrier != Carrier::Udp {
        return Err(refused("session.carrier", &format!("\"{carrier}\""), "\"udp\": readers have no other carrier"));
    }
    if scenario.server.at == ServerAt::Leaves {
        let allowed = "\"internet\", \"root\" or a node: the authorization server is there";
        return Err(refused("server.at", "\"leaves\"", allowed));
    }
    for (key, found) in [
        ("client.joining", scenario.client.joining.then(|| "true".to_owned())),
        ("gateway.delegation", scenario.gateway.delegation.map(|_| "a delegate".to_owned())),
        ("gateway.pre_validation", scenario.gateway.pre_validation.then(|| "true".to_owned())),
        ("session.false_start", scenario.session.false_start.then(|| "true".to_owned())),
        ("session.trust_anchor", scenario.session.trust_anchor.then(|| "true".to_owned())),
        ("server.slots", scenario.server.slots.map(|slots| slots.get().to_string())),
        ("traffic", (!scenario.traffic.is_empty()).then(|| "other traffic".to_owned())),
        ("network.walk", scenario.network.walk.is_some().then(|| "a walk".to_owned())),
    ] {
        if let Some(found) = found {
            return Err(refused(key, &found, "nothing: `slowhand oscar` ignores it; remove the key"));
        }
    }
    Ok(())
}

fn refused(key: &'static str, found: &str, allowed: &str) -> ReadersError {
    ReadersError::Key { key, reason: format!("found {found}, allowed: {allowed}") }
}

/// Runs the world of one seed and writes every frame on the air to `path` as pcapng, without keys. `None` if it is interrupted.
///
/// # Errors
/// The readers cannot read, or the file cannot be written; the file is created before the work starts.
pub fn capture_readers(
    scenario: &Scenario,
    way: Way,
    readers: u32,
    seed: u64,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<Option<ReadersRecord>, CaptureRunError<ReadersError>> {
    let plan = ReadersPlan::new(scenario).map_err(CaptureRunError::Plan)?;
    plan.check_readers(readers).map_err(CaptureRunError::Plan)?;
    let mut capture = LiveCapture::create(scenario, path)?;
    let record = plan.run(way, readers, seed, interrupt, &mut capture);
    capture.finish()?;
    Ok(record)
}
