//! What no key by itself can tell: whether the keys go together. Every complaint is about the key that
//! has to change, on its line.

use std::path::Path;

use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::radio::beacon::{self, ConfigError};
use slowhand_net::radio::link::Links;
use slowhand_net::radio::tsch::schedule::Schedule;
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use slowhand_sessions::{ConfigError as SessionError, KeyExchange, Role};

use super::network::MAX_NODE;
use super::{Auth, CellKind, Gateway, LossSpread, Lowpan, Mac, Reassembly, Scenario, ServerAt, Topology, Tsch, XMac};
use crate::device::Device;
use crate::input::{Document, InputError};

/// Checks a scenario that has been read from `document`.
pub(super) fn validate(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let routes = network(scenario, document)?;
    match &scenario.mac {
        Mac::Tsch(tsch) => {
            slot(tsch, document)?;
            cells(tsch, &routes, document)?;
            schedule(tsch, &routes, document)?;
        }
        Mac::Xmac(xmac) => check_interval(xmac, document)?,
        Mac::Beacon(beacon) => superframes(beacon, scenario, &routes, document)?,
    }
    lowpan(&scenario.lowpan, document)?;
    ends(scenario, &routes, document)?;
    session(scenario, document)?;
    transport(scenario, document)?;
    gateway(scenario, document)
}

/// Whether what is said of fragments is about the way in which they go.
fn lowpan(lowpan: &Lowpan, document: &Document) -> Result<(), InputError> {
    let refuse = |key: &str, found: &str, needed: &str| {
        let allowed = format!("this table with lowpan.reassembly = {needed} only");
        Err(document.blame(key, format!("{found} where fragments are not"), allowed))
    };
    match lowpan.reassembly {
        Reassembly::Recovery if lowpan.loss_spread == LossSpread::Flight => {
            let allowed =
                "\"fragment\" where lowpan.reassembly is \"recovery\": what is sent again is of the flight too";
            Err(document.blame("lowpan.loss_spread", "\"flight\"", allowed))
        }
        Reassembly::PerHop if document.has("lowpan.forwarding") => {
            refuse("lowpan.forwarding", "how fragments are forwarded", "\"forwarding\" or \"recovery\"")
        }
        Reassembly::PerHop | Reassembly::Forwarding if document.has("lowpan.recovery") => {
            refuse("lowpan.recovery", "how fragments are recovered", "\"recovery\"")
        }
        _ => Ok(()),
    }
}

/// Whether anything crosses the border where its router is to do something.
fn gateway(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let Gateway { tcp_proxy, suppress_spurious_flights, .. } = scenario.gateway;
    let asked = [("tcp_proxy", tcp_proxy), ("suppress_spurious_flights", suppress_spurious_flights)];
    match asked.iter().find(|(_, asked)| *asked) {
        Some((key, _)) if scenario.server.at != ServerAt::Internet => {
            let allowed = "false where the server is in the mesh: nothing crosses the border";
            Err(document.blame(&format!("gateway.{key}"), "true", allowed))
        }
        _ => Ok(()),
    }
}

fn network(scenario: &Scenario, document: &Document) -> Result<Routes, InputError> {
    let network = &scenario.network;
    let key = match &network.topology {
        Topology::Line { .. } => "network.topology.hops",
        Topology::Star { .. } => "network.topology.leaves",
        Topology::Tree { .. } => "network.topology.depth",
        Topology::Explicit { links } => {
            explicit_links(links, document)?;
            "network.topology.links"
        }
    };
    if network.topology.node_count() > MAX_NODE as usize + 1 {
        let allowed = format!("at most {} nodes, the root included", MAX_NODE + 1);
        return Err(document.blame(key, format!("more than {} nodes", MAX_NODE + 1), allowed));
    }
    if network.link_pdr.get() == 0.0 && !matches!(network.topology, Topology::Explicit { .. }) {
        return Err(document.blame("network.link_pdr", "0", "a probability above 0, at most 1"));
    }
    network.routes().map_err(|unreachable| {
        let found = format!("no way between node {} and the root (node 0)", unreachable.0);
        let allowed = "links that lead from every node to the root, with a delivery ratio above 0 in both directions";
        document.blame(key, found, allowed)
    })
}

fn explicit_links(links: &[super::Link], document: &Document) -> Result<(), InputError> {
    if links.is_empty() {
        return Err(document.blame("network.topology.links", "no link", "at least one link"));
    }
    let ends = |link: &super::Link| (link.from.min(link.to), link.from.max(link.to));
    for (index, link) in links.iter().enumerate() {
        let key = format!("network.topology.links[{index}]");
        if link.from == link.to {
            let found = format!("a link from node {} to itself", link.from.get());
            return Err(document.blame(&format!("{key}.to"), found, "another node"));
        }
        if let Some(first) = links[..index].iter().position(|other| ends(other) == ends(link)) {
            let found = format!("the link between {} and {} again", link.from.get(), link.to.get());
            let allowed = format!("each link once; links[{first}] is the same, and works in both directions");
            return Err(document.blame(&key, found, allowed));
        }
    }
    Ok(())
}

/// Whether a slot is long enough for what happens in it.
fn slot(tsch: &Tsch, document: &Document) -> Result<(), InputError> {
    let found = |number: f64| format!("{number}");
    let Some(timing) = tsch.slot_timing() else {
        let allowed = "10 or 20 (OpenWSN's slots), or another length together with mac.timing";
        return Err(document.blame("mac.slot_ms", found(tsch.slot_ms.get()), allowed));
    };
    let shortest = timing.shortest_slot();
    if timing.slot < shortest {
        let millis = shortest.as_micros() as f64 / 1e3;
        let allowed =
            format!("at least {millis}: the frame's offset, 127 octets, the acknowledgement's delay and itself");
        return Err(document.blame("mac.slot_ms", found(tsch.slot_ms.get()), allowed));
    }
    if timing.guard > timing.transmit_offset {
        let allowed = format!("at most mac.timing.tx_offset_us, {}", timing.transmit_offset.as_micros());
        return Err(document.blame("mac.timing.long_guard_us", timing.guard.as_micros().to_string(), allowed));
    }
    if timing.ack_guard > timing.ack_delay {
        let allowed = format!("at most mac.timing.tx_ack_delay_us, {}", timing.ack_delay.as_micros());
        return Err(document.blame("mac.timing.short_guard_us", timing.ack_guard.as_micros().to_string(), allowed));
    }
    if tsch.min_be > tsch.max_be {
        let allowed = format!("at most mac.max_be, {}", tsch.max_be.get());
        return Err(document.blame("mac.min_be", tsch.min_be.get().to_string(), allowed));
    }
    if tsch.hopping_sequence.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.blame("mac.hopping_sequence", "no channel", "at least one channel from 11 to 26"));
    }
    Ok(())
}

/// Whether the cells find room, and each node can send to its neighbours.
fn cells(tsch: &Tsch, routes: &Routes, document: &Document) -> Result<(), InputError> {
    let slotframe = tsch.slotframe.get();
    if tsch.autonomous && slotframe < 2 {
        let allowed = "at least 2: autonomous cells lie behind slot 0 (or mac.autonomous = false)";
        return Err(document.blame("mac.slotframe", slotframe.to_string(), allowed));
    }
    if tsch.cells.shared.get() > slotframe {
        let allowed = format!("at most mac.slotframe, {slotframe}");
        return Err(document.blame("mac.cells.shared", tsch.cells.shared.get().to_string(), allowed));
    }
    if !tsch.schedule.is_empty() && document.has("mac.cells.managed") {
        let allowed = "mac.cells.managed or mac.schedule, not both";
        return Err(document.blame("mac.schedule", "a schedule beside mac.cells.managed", allowed));
    }
    for (index, cell) in tsch.schedule.iter().enumerate() {
        let key = |name: &str| format!("mac.schedule[{index}].{name}");
        let slot = cell.slot.get();
        if slot >= slotframe {
            let allowed = format!("a slot of the slotframe, 0 to {}", slotframe - 1);
            return Err(document.blame(&key("slot"), slot.to_string(), allowed));
        }
        if slot < tsch.cells.shared.get() {
            let found = format!("{slot}, which is one of the cells.shared = {} shared slots", tsch.cells.shared.get());
            let allowed = format!("{} to {}", tsch.cells.shared.get(), slotframe - 1);
            return Err(document.blame(&key("slot"), found, allowed));
        }
        for (name, node) in [("from", cell.sender()), ("to", cell.receiver())] {
            if node.index() >= routes.nodes() {
                let allowed = format!("a node of the network, 0 to {}", routes.nodes() - 1);
                return Err(document.blame(&key(name), node.to_string(), allowed));
            }
        }
        if routes.parent(cell.sender()) != Some(cell.receiver())
            && routes.parent(cell.receiver()) != Some(cell.sender())
        {
            let found = format!("a cell from node {} to node {}", cell.sender(), cell.receiver());
            return Err(document.blame(
                &key("to"),
                found,
                "a cell between a node and its parent: nothing else is sent",
            ));
        }
    }
    dedicated_cells(tsch, document)
}

/// A radio does one thing in a slot.
fn dedicated_cells(tsch: &Tsch, document: &Document) -> Result<(), InputError> {
    let busy = |cell: &super::Cell| [cell.sender(), cell.receiver()];
    for (index, cell) in tsch.schedule.iter().enumerate() {
        let clash = tsch.schedule[..index].iter().position(|other| {
            let shared = cell.kind == CellKind::Shared && other.kind == CellKind::Shared;
            other.slot == cell.slot && !shared && busy(other).iter().any(|node| busy(cell).contains(node))
        });
        if let Some(other) = clash {
            let found = format!("slot {}, in which schedule[{other}] has the same node busy", cell.slot.get());
            let key = format!("mac.schedule[{index}].slot");
            return Err(document.blame(&key, found, "one dedicated cell of a node in a slot"));
        }
    }
    Ok(())
}

fn schedule(tsch: &Tsch, routes: &Routes, document: &Document) -> Result<(), InputError> {
    let slotframe = tsch.slotframe.get();
    let cells = tsch.schedule(routes).map_err(|crowded| {
        let found = format!(
            "{slotframe}, with no slot left for managed cell {} between node {} and its parent {}",
            crowded.cell, crowded.node, crowded.parent
        );
        document.blame("mac.slotframe", found, "a slotframe with room for all cells, or fewer mac.cells")
    })?;
    let schedules: Vec<Schedule> = cells.into_iter().map(|cells| Schedule::new(slotframe as u16, cells)).collect();
    for child in (1..routes.nodes()).map(|node| NodeId(node as u16)) {
        let Some(parent) = routes.parent(child) else { continue };
        for (from, to) in [(child, parent), (parent, child)] {
            if schedules[from.index()].cells_to(to).is_empty() {
                let found = format!("no cell in which node {from} can send to node {to}");
                let allowed = "shared or autonomous cells, at least 2 managed ones, or a schedule with a cell each way";
                let key = if tsch.schedule.is_empty() { "mac.cells" } else { "mac.schedule" };
                return Err(document.blame(key, found, allowed));
            }
        }
    }
    Ok(())
}

/// Whether the radio is off at all between two checks.
fn check_interval(xmac: &XMac, document: &Document) -> Result<(), InputError> {
    let awake = xmac.config().awake;
    if Duration::from_micros(xmac.check_interval_ms.micros()) <= awake {
        let allowed = format!("more than {} (how long a node is awake then)", awake.as_micros() as f64 / 1e3);
        return Err(document.blame("mac.check_interval_ms", xmac.check_interval_ms.get().to_string(), allowed));
    }
    Ok(())
}

/// Whether the cluster tree and its active periods fit into the beacon interval.
fn superframes(
    beacon: &super::Beacon,
    scenario: &Scenario,
    routes: &Routes,
    document: &Document,
) -> Result<(), InputError> {
    let streams = Streams::new(0);
    let links = Links::new(routes.nodes(), &scenario.network.links(), &streams);
    let Err(error) = beacon::Beacon::new(beacon.config(), links, &routes.parents(), &streams) else { return Ok(()) };
    let (interval, cap) = (beacon.beacon_interval_ms.get(), beacon.cap_ms.get());
    let (key, found, allowed) = match error {
        ConfigError::BackoffExponents { min, max } => {
            ("mac.min_be", min.to_string(), format!("at most mac.max_be, {max}"))
        }
        ConfigError::ActivePeriodTooShort { shortest, .. } => {
            let least = shortest.as_micros() as f64 / 1e3;
            ("mac.cap_ms", cap.to_string(), format!("at least {least}: the longest beacon, frame and acknowledgement"))
        }
        ConfigError::ActivePeriodTooLong { .. } => {
            ("mac.cap_ms", cap.to_string(), format!("at most mac.beacon_interval_ms, {interval}"))
        }
        ConfigError::NobodyListens => {
            let allowed = "\"direct\" with mac.rx_on_when_idle = true, or \"indirect\"".to_owned();
            ("mac.downward", "\"direct\" to children that do not listen".to_owned(), allowed)
        }
        ConfigError::NoRoom { coordinator, room } => {
            let found = format!(
                "{interval}, in which {room} active periods of {cap} ms fit and coordinator {coordinator} has none"
            );
            let allowed =
                "an interval with one active period for each coordinator that others hear, or a shorter mac.cap_ms";
            ("mac.beacon_interval_ms", found, allowed.to_owned())
        }
        other => ("mac", "a cluster tree that cannot be".to_owned(), other.to_string()),
    };
    Err(document.blame(key, found, allowed))
}

/// Whether the two ends of the session are there.
fn ends(scenario: &Scenario, routes: &Routes, document: &Document) -> Result<(), InputError> {
    let last = routes.nodes() - 1;
    if let ServerAt::Node(node) = scenario.server.at {
        if node.index() > last {
            let allowed = format!("\"internet\" or a node of the network, 0 to {last}");
            return Err(document.blame("server.at", node.to_string(), allowed));
        }
        for key in ["delay_ms", "jitter_ms", "loss", "dropped"].map(|key| format!("server.internet_{key}")) {
            let key = key.as_str();
            if document.has(key) {
                let found = format!("a path through the Internet to a server at node {node}");
                return Err(document.blame(key, found, "this key with server.at = \"internet\" only"));
            }
        }
    }
    if scenario.client.nodes.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.blame("client.nodes", "no node", "at least one node"));
    }
    let clients = scenario.clients();
    for (index, &client) in clients.iter().enumerate() {
        let key = if document.has("client.nodes") { format!("client.nodes[{index}]") } else { "client".to_owned() };
        if client.index() > last {
            let allowed = format!("a node of the network other than the root, 1 to {last}");
            return Err(document.blame(&key, client.to_string(), allowed));
        }
        if scenario.server.at == ServerAt::Node(client) {
            return Err(document.blame(&key, format!("{client}, where the server is"), "another node"));
        }
        if clients[..index].contains(&client) {
            return Err(document.blame(&key, format!("{client} again"), "each node once"));
        }
        let port = scenario.session.client_port.get() + u32::from(client.0);
        if port > u32::from(u16::MAX) {
            let found = format!("{}, which gives node {client} the port {port}", scenario.session.client_port.get());
            let allowed = format!("at most {}, so that all client ports fit 16 bits", u32::from(u16::MAX - client.0));
            return Err(document.blame("session.client_port", found, allowed));
        }
    }
    Ok(())
}

/// Whether the libraries can do it, and with each other.
fn session(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let session = &scenario.session;
    let is_psk = session.suite.key_exchange() == KeyExchange::Psk;
    if is_psk != (session.auth() == Auth::Psk) {
        let (found, allowed) = match session.auth() {
            Auth::Psk => ("\"psk\"", "\"server\" or \"mutual\""),
            Auth::Server => ("\"server\"", "\"psk\""),
            Auth::Mutual => ("\"mutual\"", "\"psk\""),
        };
        return Err(document.blame("session.auth", found, format!("{allowed} with {}", session.suite)));
    }
    for role in [Role::Client, Role::Server] {
        let config = session.config(role);
        config.validate().map_err(|error| library(&error, role, scenario, document))?;
    }
    let (client, server) = (session.config(Role::Client).credential(), session.config(Role::Server).credential());
    if client != server {
        let found =
            format!("{}, which has a {server} where {} expects a {client}", session.server_stack(), session.stack);
        return Err(document.blame("session.server_stack", found, "libraries with the same credential for the suite"));
    }
    Ok(())
}

/// Whether each end's TCP makes sense.
fn transport(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    for (side, transport) in ["client", "server"].into_iter().zip(scenario.transports()) {
        transport.tcp.validate().map_err(|error| {
            let (key, unit) = match error.field {
                "rto.initial (us)" => ("initial_rto_s", 1e6),
                "rto.after_syn_loss (us)" => ("rto_after_syn_loss_s", 1e6),
                "syn.timeout (us)" => ("syn_timeout_s", 1e6),
                "rto.min (us)" => ("min_rto_s", 1e6),
                "rto.max (us)" => ("max_rto_s", 1e6),
                field => (field, 1.0),
            };
            let number = |value: u64| format!("{}", value as f64 / unit);
            let allowed = format!("from {} to {}", number(error.min), number(error.max));
            document.blame(&format!("transport.{side}.{key}"), number(error.value), allowed)
        })?;
    }
    Ok(())
}

/// The complaint of a library, in the words of the scenario.
fn library(error: &SessionError, role: Role, scenario: &Scenario, document: &Document) -> InputError {
    let own_timeout = role == Role::Server && document.has("session.server_timeout_s");
    let key = match error.field {
        "first_timeout" if own_timeout => "session.server_timeout_s".to_owned(),
        "first_timeout" => "session.timeout_s".to_owned(),
        "maximum_timeout" => "session.max_timeout_s".to_owned(),
        "credential" => "session.suite".to_owned(),
        field => format!("session.{field}"),
    };
    let stack = scenario.session.config(role).stack;
    document.blame(&key, error.found.clone(), format!("{}; the {role} runs {stack}", error.allowed))
}

/// Loads the device named by `key`, and blames the key where there is none.
pub(super) fn device(name: &str, key: &str, directory: &Path, document: &Document) -> Result<Device, InputError> {
    Device::load(name, directory).map_err(|error| match error {
        crate::device::DeviceError::Unknown { found, allowed } => document.blame(key, found, allowed),
        crate::device::DeviceError::Invalid(error) => error,
    })
}
