//! Runs a world and writes all its frames to a capture.

use crate::application::open_and_stop;
use crate::capture::{CaptureError, CaptureWriter};
use crate::interrupt::Interrupt;
use crate::plan::{Plan, PlanError};
use crate::record::{Conversation, Record};
use crate::scenario::Scenario;
use slowhand_net::address::PAN_ID;
use slowhand_net::network::RplEncoding;
use slowhand_net::observer::{Observer, Transmission};
use slowhand_net::radio::frame;
use std::path::Path;

/// A capture that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CaptureRunError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
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
    let plan = Plan::new(scenario)?;
    if interrupt.is_set() {
        return Ok(None);
    }
    let mut writer = CaptureWriter::create(path)?;
    let mut sniffer = Sniffer::default();
    let Some(finished) = plan.run_world(seed, &open_and_stop, interrupt, &mut sniffer) else { return Ok(None) };
    // Under contention frames overlap, and each is heard when it ends.
    sniffer.heard.sort_by_key(|heard| heard.time_us);
    writer.secrets(finished.key_log.iter().map(String::as_str))?;
    for heard in &sniffer.heard {
        if interrupt.is_set() {
            return Ok(None);
        }
        writer.frame(heard.time_us, heard.channel, heard.asn, &sniffer.octets[heard.octets.clone()])?;
    }
    writer.finish()?;
    Ok(Some(Conversation::handshakes(finished.conversations)))
}

/// The arguments with which `wireshark` and `tshark` show a capture of this scenario as it is: the prefixes of
/// compressed addresses, which are not on the air (RFC 6282 leaves their distribution to others), and the protocol at
/// the server's port. Without the prefixes addresses look like `::1`, and no checksum fits.
pub fn wireshark_arguments(scenario: &Scenario) -> Vec<String> {
    let config = scenario.network_config();
    let mut prefixes: Vec<_> = config.contexts.iter().collect();
    prefixes.sort_by_key(|(id, _)| *id);
    let prefixes = prefixes.into_iter().map(|(id, context)| {
        ["-o".to_owned(), format!("6lowpan.context{id}:{}/{}", context.prefix(), context.length())]
    });
    let protocol = if scenario.session.protocol.is_stream() { ("tcp", "tls") } else { ("udp", "dtls") };
    let (transport, session) = protocol;
    let port = scenario.session.server_port.get();
    let decode = ["-d".to_owned(), format!("{transport}.port=={port},{session}")];
    // Wireshark does not recognise 6LoWPAN that begins with the switch to page 1.
    let routing_headers = config.rpl.is_some_and(|rpl| rpl.encoding == RplEncoding::RoutingHeaders);
    let page_1 = routing_headers.then(|| ["-d".to_owned(), format!("wpan.panid=={PAN_ID:#06x},6lowpan")]);
    prefixes.flatten().chain(decode).chain(page_1.into_iter().flatten()).collect()
}

/// Keeps every frame until the secrets, which stand in front of them in the file, are known.
#[derive(Default)]
struct Sniffer {
    heard: Vec<Heard>,
    octets: Vec<u8>,
}

struct Heard {
    time_us: u64,
    channel: u8,
    asn: Option<u64>,
    octets: std::ops::Range<usize>,
}

impl Observer for Sniffer {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        let start = self.octets.len();
        self.octets.extend_from_slice(frame.octets);
        self.octets.extend(frame::fcs(frame.octets));
        let octets = start..self.octets.len();
        self.heard.push(Heard { time_us: frame.at.as_micros(), channel: frame.channel, asn: frame.asn, octets });
    }
}
