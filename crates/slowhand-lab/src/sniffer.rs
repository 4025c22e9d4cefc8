//! Runs a world and writes all its frames to a capture.

use crate::capture::{CaptureError, CaptureWriter, create_private};
use crate::exchange::of_a_run;
use crate::explanation::air::Air;
use crate::explanation::comments;
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::{Conversation, Record};
use crate::scenario::Scenario;
use crate::world::World;
use slowhand_net::address::{Addressing, Eui64, NodeId, PAN_ID};
use slowhand_net::clock::Instant;
use slowhand_net::network::RplEncoding;
use slowhand_net::network::joiner_router::{JOINER_PORT, MANAGEMENT_PORT};
use slowhand_net::observer::{Observer, RadioInterval, Reception, Transmission};
use slowhand_net::radio::frame::{self, MAX_FRAME};
use slowhand_net::radio::security::OutgoingSecurity;
use slowhand_sessions::{Carrier, Credential, OSCORE_IDS, Protocol, Role};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The reason why a capture was not made. `E`: the reason why the scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CaptureRunError<E = PlanError> {
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(E),
    /// The file cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Runs the world of one seed and writes every frame on the air to `path` as pcapng, with the secrets of
/// the sessions in front. `None` if it is interrupted; then the file is not complete, or not there.
///
/// # Errors
/// The scenario cannot be run, or the file cannot be written; the file is created before the work starts.
pub fn capture_run(
    scenario: &Scenario,
    seed: u64,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<Option<Vec<Record>>, CaptureRunError> {
    let plan = Plan::new(scenario).map_err(CaptureRunError::Plan)?;
    if interrupt.is_set() {
        return Ok(None);
    }
    let writer = CaptureWriter::create(path, comment(scenario).as_deref())?;
    Ok(capture(scenario, &plan, seed, writer, interrupt)?.map(|(records, _)| records))
}

/// Runs the world of one seed, and returns every frame on the air as the octets of a pcapng file, with the secrets of the sessions
/// in front. `None` if it is interrupted.
///
/// # Errors
/// The scenario cannot be run.
pub fn capture_octets(
    scenario: &Scenario,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Option<Vec<u8>>, CaptureRunError> {
    let plan = Plan::new(scenario).map_err(CaptureRunError::Plan)?;
    let writer = CaptureWriter::new(Vec::new(), Path::new("memory"), comment(scenario).as_deref())?;
    Ok(capture(scenario, &plan, seed, writer, interrupt)?.map(|(_, octets)| octets))
}

/// Runs a world and writes its frames. Returns its records, and what it has written to.
fn capture<W: Write>(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    mut writer: CaptureWriter<W>,
    interrupt: &Interrupt,
) -> Result<Option<(Vec<Record>, W)>, CaptureRunError> {
    let mut sniffer = Sniffer::new(scenario);
    let applications = of_a_run(plan.exchange);
    let world = World::new(plan, seed, &applications, interrupt).map(World::with_trace);
    let Some(finished) = world.and_then(|world| world.run(interrupt, &mut sniffer)) else { return Ok(None) };
    sniffer.air.finish();
    let trace = finished.trace.unwrap_or_default();
    // Both have all frames, in the order of time.
    let comments = comments(&trace, &sniffer.air, scenario, plan);
    sniffer.sort();
    writer.secrets(finished.key_log.iter().map(String::as_str))?;
    for (number, heard) in sniffer.heard.iter().enumerate() {
        if interrupt.is_set() {
            return Ok(None);
        }
        let comment = comments.get(&number).map(String::as_str);
        writer.frame(heard.time_us, heard.channel, heard.asn, &sniffer.octets[heard.octets.clone()], comment)?;
    }
    let written = writer.finish()?;
    Ok(Some((Conversation::handshakes(finished.conversations), written)))
}

/// The comment on the decryption of the frames of a capture. `None` if they are not secured.
fn comment(scenario: &Scenario) -> Option<String> {
    let key = scenario.mac.security()?.key;
    let preference = key_preference(scenario)?;
    let addresses = match scenario.mac.link_layer().addressing() {
        Addressing::Extended => "",
        Addressing::Short => {
            ", and an entry of 802154_addresses for each node: its short address, the PAN ID, its extended address"
        }
    };
    Some(format!(
        "The key of IEEE 802.15.4 is {key}. Wireshark and tshark decrypt frames with the option -o '{preference}'{addresses}"
    ))
}

/// The entry of Wireshark's table of keys.
fn key_preference(scenario: &Scenario) -> Option<String> {
    let security = scenario.mac.security()?;
    let (key, index) = (security.key, security.key_index());
    Some(format!("uat:ieee802154_keys:\"{key}\",\"{index}\",\"No hash\""))
}

/// The preferences with which Wireshark decrypts frames: the key, and the extended address of each node that has a short
/// one, because nonces have extended addresses.
fn security_preferences(scenario: &Scenario) -> Vec<String> {
    let Some(key) = key_preference(scenario) else { return Vec::new() };
    let has_short = scenario.mac.link_layer().addressing() == Addressing::Short;
    let nodes = (0..if has_short { scenario.mesh().nodes() } else { 0 }).map(|node| NodeId(node as u16));
    let addresses = nodes.map(|node| {
        let extended: String = Eui64::of_node(node).0.iter().map(|octet| format!("{octet:02x}")).collect();
        format!("uat:802154_addresses:\"{:04x}\",\"{PAN_ID:04x}\",{extended}", node.0)
    });
    [key].into_iter().chain(addresses).collect()
}

/// The entry of Wireshark's table of OSCORE contexts, if all sessions have one that both ends have from the beginning.
fn oscore_preference(scenario: &Scenario) -> Option<String> {
    let config = scenario.session.config(Role::Client);
    let (Protocol::Oscore, Credential::Psk { key, .. }) = (config.protocol(), &config.credential) else { return None };
    let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
    let [client, server] = OSCORE_IDS.map(hex);
    let secret = hex(key);
    Some(format!("uat:oscore_contexts:\"{client}\",\"{server}\",\"{secret}\",\"\",\"\",\"AES-CCM-16-64-128 (CCM*)\""))
}

/// The arguments with which `wireshark` and `tshark` show a capture of this scenario as it is: the prefixes of
/// compressed addresses, which are not on the air (RFC 6282 leaves their distribution to others), the protocol at the
/// server's port, the key of the link layer, and the context of OSCORE. Without the prefixes addresses look like `::1`, and no checksum fits.
pub fn wireshark_arguments(scenario: &Scenario) -> Vec<String> {
    let config = scenario.network_config();
    let mut prefixes: Vec<_> = config.contexts.iter().collect();
    prefixes.sort_by_key(|(id, _)| *id);
    let prefixes = prefixes.into_iter().map(|(id, context)| {
        ["-o".to_owned(), format!("6lowpan.context{id}:{}/{}", context.prefix(), context.length())]
    });
    let protocol = scenario.session.protocol;
    let (transport, session) = match protocol {
        protocol if protocol.is_stream() => ("tcp", if protocol.transport().is_some() { "tls" } else { "coap" }),
        Protocol::Quic => ("udp", "quic"),
        // The carrier of a handshake is looked at more often than the records after it.
        protocol if protocol.transport().is_some() && scenario.session.carrier == Carrier::Udp => ("udp", "dtls"),
        _ => ("udp", "coap"),
    };
    let decode = |below: &str, port: u16, what: &str| ["-d".to_owned(), format!("{below}.port=={port},{what}")];
    let port = if scenario.client.joining { JOINER_PORT } else { scenario.session.server_port() };
    let mut ports = match scenario.session.carrier {
        Carrier::Dccp => Vec::new(), // Wireshark 4.0 knows no DTLS over DCCP
        _ => vec![decode(transport, port, session)],
    };
    if scenario.client.joining {
        ports.push(decode(transport, MANAGEMENT_PORT, "coap"));
    }
    if protocol.is_coap() && protocol.transport().is_some() {
        ports.push(decode(session, port, "coap"));
    }
    // Wireshark does not recognise 6LoWPAN that begins with the switch to page 1.
    let routing_headers = config.rpl.is_some_and(|rpl| rpl.encoding == RplEncoding::RoutingHeaders);
    let page_1 = routing_headers.then(|| ["-d".to_owned(), format!("wpan.panid=={PAN_ID:#06x},6lowpan")]);
    let preferences = security_preferences(scenario).into_iter().chain(oscore_preference(scenario));
    let security = preferences.flat_map(|preference| ["-o".to_owned(), preference]);
    prefixes.flatten().chain(ports.into_iter().flatten()).chain(page_1.into_iter().flatten()).chain(security).collect()
}

/// Keeps every frame until the secrets, which stand in front of them in the file, are known.
#[derive(Default)]
pub(crate) struct Sniffer {
    /// `None` if frames are not secured.
    security: Option<OutgoingSecurity>,
    heard: Vec<Heard>,
    /// The frames that belong together, for the comments.
    air: Air,
    octets: Vec<u8>,
}

struct Heard {
    time_us: u64,
    channel: u8,
    asn: Option<u64>,
    octets: std::ops::Range<usize>,
}

impl Sniffer {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let security = scenario.mac.security().map(|security| OutgoingSecurity::new(security.key.0));
        Self { security, ..Self::default() }
    }

    /// Keeps a frame as it is on the air.
    fn hear(&mut self, frame: &Transmission<'_>) {
        let start = self.octets.len();
        match &mut self.security {
            None => self.octets.extend_from_slice(frame.octets),
            Some(security) => {
                let mut octets = [0; MAX_FRAME];
                // The frame is valid: a MAC has written it. Under TSCH it has a slot number.
                let length = security.protect(frame, &mut octets).expect("a frame of a MAC");
                self.octets.extend_from_slice(&octets[..length]);
            }
        }
        self.octets.extend(frame::fcs(&self.octets[start..]));
        let octets = start..self.octets.len();
        self.heard.push(Heard { time_us: frame.at.as_micros(), channel: frame.channel, asn: frame.asn, octets });
    }

    /// The frames that belong together, and the octets of the frames in the order of time.
    pub(crate) fn into_parts(mut self) -> (Air, Vec<Vec<u8>>) {
        self.sort();
        let frames = self.heard.iter().map(|heard| self.octets[heard.octets.clone()].to_vec()).collect();
        (self.air, frames)
    }

    /// Under contention frames overlap, and each is heard when it ends.
    fn sort(&mut self) {
        self.heard.sort_by_key(|heard| heard.time_us);
    }
}

impl Observer for Sniffer {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.air.transmission(frame);
        self.hear(frame);
    }

    fn watches_receptions(&self) -> bool {
        true
    }

    fn reception(&mut self, reception: &Reception) {
        self.air.reception(reception);
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.air.radio(interval);
    }
}

/// Writes the frames of a world to a capture while the world runs.
pub struct LiveCapture<W: Write> {
    sniffer: Sniffer,
    writer: CaptureWriter<W>,
    last_us: u64,
}

/// The time after its first symbol at which a frame is written, in microseconds: then all earlier ones are known. The longest
/// frame takes 4,256 us on the air (IEEE 802.15.4 section 12.3: 133 octets of 32 us), and a slot of TSCH is handled as a whole;
/// a slot of 10 or 20 ms is usual.
const SETTLING_US: u64 = 100_000;

impl LiveCapture<BufWriter<File>> {
    /// Creates the file, or empties it; only its owner may read it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(scenario: &Scenario, path: &Path) -> Result<Self, CaptureError> {
        let file = create_private(path).map_err(|error| CaptureError::Write { path: path.to_owned(), error })?;
        Self::new(scenario, BufWriter::new(file), path)
    }
}

impl<W: Write> Observer for LiveCapture<W> {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        self.sniffer.hear(frame);
    }
}

impl<W: Write> LiveCapture<W> {
    /// Starts a capture in `writer`, which errors call `path`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(scenario: &Scenario, writer: W, path: &Path) -> Result<Self, CaptureError> {
        let mut writer = CaptureWriter::new(writer, path, comment(scenario).as_deref())?;
        writer.flush()?; // a reader waits for the header, and the first frame may take long
        Ok(Self { sniffer: Sniffer::new(scenario), writer, last_us: 0 })
    }

    /// Writes the secrets of sessions. They decrypt the frames that follow, and in a second reading those before.
    ///
    /// # Errors
    /// The capture cannot be written.
    pub fn secrets<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> Result<(), CaptureError> {
        self.writer.add_secrets(lines)
    }

    /// Writes the frames whose turn it is, in the order of time.
    ///
    /// # Errors
    /// The capture cannot be written.
    pub fn write_until(&mut self, now: Instant) -> Result<(), CaptureError> {
        let until = now.as_micros().saturating_sub(SETTLING_US);
        let Sniffer { heard, octets, .. } = &mut self.sniffer;
        if !heard.iter().any(|heard| heard.time_us <= until) {
            return Ok(());
        }
        heard.sort_by_key(|heard| heard.time_us);
        let due = heard.partition_point(|heard| heard.time_us <= until);
        for heard in heard.drain(..due) {
            self.last_us = self.last_us.max(heard.time_us);
            self.writer.frame(self.last_us, heard.channel, heard.asn, &octets[heard.octets], None)?;
        }
        // The rest is moved to the front, so that the memory does not grow.
        let mut left = Vec::with_capacity(octets.len());
        for heard in heard.iter_mut() {
            let start = left.len();
            left.extend_from_slice(&octets[heard.octets.clone()]);
            heard.octets = start..left.len();
        }
        *octets = left;
        self.writer.flush()
    }

    /// Writes all that is left.
    ///
    /// # Errors
    /// The capture cannot be written.
    pub fn finish(mut self) -> Result<W, CaptureError> {
        self.write_until(Instant::from_micros(u64::MAX))?;
        self.writer.finish()
    }
}
