//! A world as a picture that moves: `slowhand play`. The mesh as it stands, every frame on the air, what radios and buffers do, and
//! where the time of one handshake went.

mod dissection;

use crate::exchange::of_a_run;
use crate::explanation::{ExplainError, Explanation, Scene, Told, position};
use crate::inspect;
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::record::Conversation;
use crate::scenario::Scenario;
use crate::sniffer::Sniffer;
use crate::world::World;
pub use dissection::Decoded;
use dissection::Dissector;
use serde::Serialize;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::observer::{BufferLevel, Observer, RadioInterval, RadioState, Reception, Transmission};

/// The most frames whose octets a playback has. *Assumed*: as hexadecimal digits they are at most 5 MB of a page.
pub const MOST_OCTETS: usize = 20_000;

/// The most intervals of radios that a playback has. *Assumed*: they are about 10 MB of a page. If there are more, those in which a
/// radio listened and received nothing are left out.
pub const MOST_INTERVALS: usize = 1_000_000;

/// The world of one seed, until the end of its last handshake. Times are in microseconds of virtual time.
#[derive(Clone, Debug, Serialize)]
pub struct Playback {
    /// The version of slowhand.
    pub version: &'static str,
    /// The name of the scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The end of the last handshake.
    pub end_us: u64,
    /// The nodes of the mesh, by number.
    pub nodes: Vec<Node>,
    /// True if a host on the Internet takes part.
    pub has_internet: bool,
    /// Each direction of each link: sender, receiver, and the share of data frames that arrive.
    pub links: Vec<(u16, u16, f64)>,
    /// The events.
    #[serde(flatten)]
    pub scene: Scene,
    /// The octets of each frame as they are on the air, with FCS, as hexadecimal digits. Empty if there are more than [`MOST_OCTETS`]
    /// frames.
    pub octets: Vec<String>,
    /// The frames in words. Without frames if there are no octets.
    pub decoded: Decoded,
    /// When radios were on, by node.
    pub radios: Vec<Radio>,
    /// True if the intervals in which radios listened in vain were too many.
    pub without_listening: bool,
    /// The content of the buffers, by node.
    pub buffers: Vec<Buffers>,
    /// Where the time of one handshake went.
    pub explanation: Explanation,
}

/// A node of the mesh.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its device.
    pub device: String,
    /// The next hop to the border router. `None`: it is the border router.
    pub parent: Option<u16>,
    /// The power of its radio while it sends, receives, listens and sleeps, in milliwatts.
    pub radio_mw: [f64; 4],
    /// The energy that the node used until the end of the last handshake, with its processor, in millijoules.
    pub energy_mj: f64,
}

/// When the radio of a node was on, by column. Between the intervals it was off.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Radio {
    /// The beginning.
    pub from_us: Vec<u64>,
    /// The length.
    pub length_us: Vec<u64>,
    /// 0: it sends, 1: it receives, 2: it listens.
    pub state: Vec<usize>,
}

/// The content of the buffers of a node, by column, each from its time until the next. They are empty at first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Buffers {
    /// From when on.
    pub from_us: Vec<u64>,
    /// Frames in the queue of the link layer.
    pub queued: Vec<usize>,
    /// Octets in reassembly.
    pub octets: Vec<usize>,
    /// Virtual reassembly buffers in use (fragment forwarding).
    pub forwarding: Vec<usize>,
}

/// Runs the world of a seed, and keeps everything that happens in it. The handshake of the client with this node is explained; `None`:
/// that of the first client. `None` if it is interrupted.
///
/// # Errors
/// The scenario cannot be run, or no client has this node.
pub fn play(
    scenario: &Scenario,
    seed: u64,
    client: Option<u16>,
    interrupt: &Interrupt,
) -> Result<Option<Playback>, ExplainError> {
    let plan = Plan::new(scenario)?;
    let position = position(&plan, client)?;
    let mut watch = Watch { sniffer: Sniffer::new(scenario), inspected: inspect::Watch::default() };
    let applications = of_a_run(plan.exchange);
    let world = World::new(&plan, seed, &applications, interrupt).map(World::with_trace);
    let Some(finished) = world.and_then(|world| world.run(interrupt, &mut watch)) else { return Ok(None) };
    let Watch { sniffer, inspected } = watch;
    let (air, mut octets) = sniffer.into_parts();
    let (intervals, levels) = inspected.until(finished.end);
    let without_listening = intervals.len() > MOST_INTERVALS;
    let records = Conversation::handshakes(finished.conversations);
    let told = Told::new(records, finished.trace.unwrap_or_default(), air);
    let Some(explanation) = told.explain(scenario, &plan, position, interrupt) else { return Ok(None) };
    let scene = told.scene(scenario, &plan, finished.end);
    octets.truncate(scene.frames.from_us.len());
    if octets.len() > MOST_OCTETS {
        octets.clear();
    }
    let dissector = Dissector {
        contexts: scenario.network_config().contexts,
        connection_id: plan.connection_id(),
        is_dtls: scenario.session.protocol.is_dtls(),
    };
    let mut decoded = Decoded::default();
    for (place, octets) in octets.iter().enumerate() {
        let from = scene.frames.from[place];
        let to = scene.frames.to[place].unwrap_or(from);
        decoded.add(dissector.lines(octets, NodeId(from), NodeId(to)));
    }
    let routes = scenario.mesh().routes();
    let node = |(number, times): (usize, _)| {
        let node = NodeId(number as u16);
        let device = plan.device(node);
        let current = &device.current;
        let states = [&current.radio_tx_ma, &current.radio_rx_ma, &current.radio_listen_ma, &current.radio_sleep_ma];
        Node {
            device: if scenario.server.at.is_node(node) { &scenario.server.device } else { &scenario.client.device }
                .clone(),
            parent: routes.parent(node).map(|parent| parent.0),
            radio_mw: states.map(|current| current.value * device.supply_v.value),
            energy_mj: crate::energy::energy(device, times).total_mj(),
        }
    };
    Ok(Some(Playback {
        version: env!("CARGO_PKG_VERSION"),
        scenario: scenario.name.clone(),
        seed,
        end_us: finished.end.as_micros(),
        nodes: finished.times.into_iter().enumerate().map(node).collect(),
        has_internet: scenario.server.at.hosts(NodeId::ROOT).contains(&Host::Internet),
        links: scenario.network.links().iter().map(|link| (link.from.0, link.to.0, link.data)).collect(),
        scene,
        octets: octets.iter().map(|octets| octets.iter().map(|octet| format!("{octet:02x}")).collect()).collect(),
        decoded,
        radios: radios(plan.nodes(), intervals, without_listening),
        without_listening,
        buffers: buffers(plan.nodes(), levels),
        explanation,
    }))
}

fn radios(nodes: usize, intervals: Vec<RadioInterval>, without_listening: bool) -> Vec<Radio> {
    let mut radios = vec![Radio::default(); nodes];
    for RadioInterval { node, state, from, to } in intervals {
        let state = match state {
            RadioState::Transmit => 0,
            RadioState::Receive => 1,
            RadioState::Listen if without_listening => continue,
            RadioState::Listen => 2,
        };
        let radio = &mut radios[node.index()];
        radio.from_us.push(from.as_micros());
        radio.length_us.push(to.since(from).as_micros());
        radio.state.push(state);
    }
    radios
}

fn buffers(nodes: usize, levels: Vec<BufferLevel>) -> Vec<Buffers> {
    let mut buffers = vec![Buffers::default(); nodes];
    for BufferLevel { at, node, queued, octets, forwarding, .. } in levels {
        let of_node = &mut buffers[node.index()];
        of_node.from_us.push(at.as_micros());
        of_node.queued.push(queued);
        of_node.octets.push(octets);
        of_node.forwarding.push(forwarding);
    }
    buffers
}

/// Keeps all that an observer sees.
struct Watch {
    sniffer: Sniffer,
    inspected: inspect::Watch,
}

impl Observer for Watch {
    fn transmission(&mut self, transmission: &Transmission<'_>) {
        self.sniffer.transmission(transmission);
    }

    fn watches_receptions(&self) -> bool {
        true
    }

    fn reception(&mut self, reception: &Reception) {
        self.sniffer.reception(reception);
    }

    fn watches_buffers(&self) -> bool {
        true
    }

    fn buffers(&mut self, level: &BufferLevel) {
        self.inspected.buffers(level);
    }

    fn watches_radios(&self) -> bool {
        true
    }

    fn radio(&mut self, interval: &RadioInterval) {
        self.sniffer.radio(interval);
        self.inspected.radio(interval);
    }
}

#[cfg(test)]
mod tests;
