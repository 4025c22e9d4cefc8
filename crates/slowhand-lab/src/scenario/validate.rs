//! Checks that the keys go together. Every error names the key that has to change, and its line. What is about one link
//! layer only is checked by that link layer.

use std::collections::HashMap;

use slowhand_net::address::{Addressing, Host, NodeId};
use slowhand_net::network::{LossSpread, smallest_frame};
use slowhand_net::route::{Loop, Unreachable};
use slowhand_sessions::{Carrier, ConfigError as SessionError, CredentialKind, Protocol, Role, Suite};

use super::courses;
use super::handling;
use super::mac::LinkLayer;
use super::network::{Mesh, RouteError, Routing};
use super::nodes::MAX_NODE;
use super::{
    Auth, Capabilities, Lowpan, Network, PayloadCompression, Program, Reassembly, Rpl, Scenario, ServerAt, Session,
    Topology,
};
use crate::device::Device;
use crate::input::{Document, Files, InputError};

/// Checks a scenario that has been read from `document`.
pub(super) fn validate(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    link_layer(scenario.mac.link_layer(), &scenario.mesh, document)?;
    courses::check(&scenario.network, scenario.mac.link_layer(), document)?;
    lowpan(&scenario.lowpan, document)?;
    nodes(scenario, document)?;
    handling::check(scenario, document)?;
    contexts(&scenario.lowpan, document)?;
    rpl(scenario, document)?;
    payload_compression(scenario, document)?;
    capabilities(scenario, document)?;
    mesh_under(scenario, document)?;
    ends(scenario, document)?;
    scenario.server.check_slots(&scenario.session, document)?;
    session(scenario, document)?;
    carrier(scenario, document)?;
    transport(scenario, document)?;
    scenario.gateway.check(scenario, document)?;
    joining(scenario, document)?;
    traffic(scenario, document)?;
    scenario.application.check(&scenario.session, document)?;
    scenario.join.check(document)?;
    scenario.readers.check(&scenario.mesh, scenario.server.at, document)?;
    programs(scenario, document)?;
    limits(scenario, document)
}

/// Checks the keys of the link layer.
fn link_layer(link_layer: &dyn LinkLayer, mesh: &Mesh, document: &Document) -> Result<(), InputError> {
    if let Some(security) = link_layer.security() {
        security.check(link_layer.has_slots(), document)?;
    }
    link_layer.check(mesh, document)
}

/// Checks that a world of the scenario has room in memory.
fn limits(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let (limit, needed) = (scenario.limits.memory_mb.get(), scenario.memory().div_ceil(1_000_000));
    if needed <= u64::from(limit) {
        return Ok(());
    }
    let (nodes, clients) = (scenario.mesh.nodes(), scenario.clients().len());
    let datagrams = match scenario.datagrams() {
        0 => String::new(),
        datagrams => format!(", with {datagrams} datagrams of other traffic,"),
    };
    let found =
        format!("{limit}, where a world of {nodes} nodes and {clients} clients{datagrams} takes about {needed} MB");
    Err(document.blame("limits.memory_mb", found, format!("{needed} or more, for each thread; or a smaller scenario")))
}

/// Checks what is said of single nodes.
fn nodes(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let (last, lowpan) = (scenario.mesh.nodes() - 1, &scenario.lowpan);
    for (node, own) in &scenario.network.nodes {
        let key = |key: &str| format!("network.nodes.{}{key}", node.get());
        if node.get() as usize > last {
            return Err(document.blame(&key(""), node.get().to_string(), format!("nodes 0 to {last}")));
        }
        let forwards = matches!(lowpan.reassembly, Reassembly::Forwarding | Reassembly::Recovery);
        if own.forwarding_entries.is_some() && !forwards {
            let allowed = "this key with lowpan.reassembly = \"forwarding\" or \"recovery\" only";
            return Err(document.blame(&key(".forwarding_entries"), "how many datagrams are forwarded", allowed));
        }
        let border_router = lowpan.border_router();
        for (name, is_own, general, is_general) in [
            (
                "reassembly_buffers",
                own.reassembly_buffers.is_some(),
                "border_router_reassembly_buffers",
                border_router.reassembly.is_some(),
            ),
            (
                "forwarding_entries",
                own.forwarding_entries.is_some(),
                "forwarding.border_router_entries",
                border_router.forwarding.is_some(),
            ),
        ] {
            if node.get() == 0 && is_own && is_general {
                let allowed = format!("one of this key and lowpan.{general}, which says the same");
                return Err(document.blame(
                    &key(&format!(".{name}")),
                    "the buffers of the border router again",
                    allowed,
                ));
            }
        }
    }
    Ok(())
}

/// Checks that no prefix has two contexts.
fn contexts(lowpan: &Lowpan, document: &Document) -> Result<(), InputError> {
    let mut first = HashMap::new();
    for (id, prefix) in &lowpan.contexts {
        if let Some(other) = first.insert(*prefix, id.get()) {
            let allowed = format!("each prefix once; context {other} is the same");
            return Err(document.blame(&format!("lowpan.contexts.{}", id.get()), prefix.to_string(), allowed));
        }
    }
    Ok(())
}

/// Checks that the tables about fragments are about the chosen `reassembly`.
fn lowpan(lowpan: &Lowpan, document: &Document) -> Result<(), InputError> {
    let refuse = |key: &str, found: &str, needed: &str| {
        let allowed = format!("this table with lowpan.reassembly = {needed} only");
        Err(document.blame(key, format!("{found} where fragments are not"), allowed))
    };
    match lowpan.reassembly {
        Reassembly::Recovery if lowpan.loss_spread == LossSpread::Flight => {
            let allowed =
                "\"fragment\" where lowpan.reassembly is \"recovery\": a fragment sent again is in the same flight";
            Err(document.blame("lowpan.loss_spread", "\"flight\"", allowed))
        }
        Reassembly::PerHop | Reassembly::MeshUnder if document.has("lowpan.forwarding") => {
            refuse("lowpan.forwarding", "how fragments are forwarded", "\"forwarding\" or \"recovery\"")
        }
        Reassembly::PerHop | Reassembly::MeshUnder | Reassembly::Forwarding if document.has("lowpan.recovery") => {
            refuse("lowpan.recovery", "how fragments are recovered", "\"recovery\"")
        }
        _ => Ok(()),
    }
}

/// Checks that the keys about RPL go together, and that its headers leave room for data in a frame.
fn rpl(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let Lowpan { rpl, max_frame_payload, source_route_octets, .. } = &scenario.lowpan;
    if *rpl == Rpl::None && document.has("lowpan.rpl_encoding") {
        let allowed = "this key with lowpan.rpl = \"storing\" or \"non-storing\" only";
        return Err(document.blame("lowpan.rpl_encoding", "an encoding of headers that no packet has", allowed));
    }
    if *rpl != Rpl::NonStoring && document.has("lowpan.source_route_octets") {
        let found = format!("{}, where packets have no source route", source_route_octets.get());
        let allowed = "this key with lowpan.rpl = \"non-storing\" only";
        return Err(document.blame("lowpan.source_route_octets", found, allowed));
    }
    if *rpl == Rpl::None {
        return Ok(());
    }
    let most = max_frame_payload.get() as usize;
    match smallest_frame(&scenario.network_config(), scenario.mesh.routes()) {
        Ok(needed) if needed > most => {
            let allowed = format!("{needed} or more, for the headers that lowpan.rpl adds");
            Err(document.blame("lowpan.max_frame_payload", most.to_string(), allowed))
        }
        // A node that is too far for a source route is also too far for the hop limit.
        _ => Ok(()),
    }
}

/// Checks that there are payloads that can be compressed.
fn payload_compression(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let (compression, protocol) = (scenario.lowpan.payload_compression, scenario.session.protocol);
    if compression == PayloadCompression::None {
        let mut own = scenario.network.nodes.iter().filter(|(_, own)| own.payload_compression.is_some());
        let Some((node, _)) = own.next() else { return Ok(()) };
        let key = format!("network.nodes.{}.payload_compression", node.get());
        let allowed = "this key with lowpan.payload_compression = \"ghc\" or \"lithe\" only";
        return Err(document.blame(&key, "what a node understands, where nobody compresses payloads", allowed));
    }
    let is_lithe = compression == PayloadCompression::Lithe;
    let refuse = |allowed: &str| {
        let found = if is_lithe { "\"lithe\"" } else { "\"ghc\"" };
        Err(document.blame("lowpan.payload_compression", found, allowed))
    };
    if protocol.is_stream() {
        return refuse("\"none\" with TCP: payloads of UDP are compressed");
    }
    if is_lithe && !matches!(protocol.transport(), Some(Protocol::Dtls12 | Protocol::Dtls13)) {
        return refuse("\"none\" or \"ghc\" without DTLS 1.2 or 1.3: Lithe is for their handshakes");
    }
    if is_lithe && scenario.session.carrier == Carrier::Coap {
        return refuse("\"none\" or \"ghc\" with session.carrier = \"coap\": Lithe compresses DTLS right behind UDP");
    }
    if scenario.lowpan.reassembly == Reassembly::Recovery {
        return refuse(
            "\"none\" with lowpan.reassembly = \"recovery\": RFC 8931 counts compressed octets over many frames, RFC 7400 \
             compresses one",
        );
    }
    Ok(())
}

/// Checks that neighbours can tell each other what they understand, and that each compresses for neighbours only.
fn capabilities(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let Lowpan { payload_compression, reassembly, capabilities, .. } = &scenario.lowpan;
    if *capabilities == Capabilities::Known {
        return Ok(());
    }
    let allowed = if *payload_compression != PayloadCompression::Ghc {
        "\"known\", or lowpan.payload_compression = \"ghc\": RFC 7400 has no option for another compression"
    } else if *reassembly != Reassembly::PerHop {
        "\"known\", or lowpan.reassembly = \"per-hop\": a node learns of its neighbours, and here others read what it compresses"
    } else if scenario.client.joining {
        "\"known\" with client.joining: Thread has no router solicitations"
    } else {
        return Ok(());
    };
    Err(document.blame("lowpan.capabilities", "\"exchanged\"", allowed))
}

/// Checks that frames can have a mesh header.
fn mesh_under(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    if scenario.lowpan.reassembly != Reassembly::MeshUnder {
        return Ok(());
    }
    if scenario.mac.link_layer().addressing() != Addressing::Short {
        let (found, allowed) =
            ("\"mesh-under\"", "another value, or mac.kind = \"csma\" with mac.addresses = \"short\"");
        return Err(document.blame("lowpan.reassembly", found, allowed));
    }
    if scenario.lowpan.rpl != Rpl::None {
        let allowed = "\"none\" with lowpan.reassembly = \"mesh-under\": RPL routes packets, not frames";
        return Err(document.blame("lowpan.rpl", "headers of RPL", allowed));
    }
    Ok(())
}

/// Checks that joiners can join: as in Thread, and with nothing that the joiner router does not carry.
fn joining(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    if !scenario.client.joining {
        return Ok(());
    }
    let refuse = |key: &str, found: &str, allowed: &str| Err(document.blame(key, found, allowed));
    let link_layer = scenario.mac.link_layer();
    if !link_layer.carries_joiners() {
        return refuse("client.joining", "true", "false with this mac.kind: only csma has joiners");
    }
    if scenario.session.protocol.is_stream() {
        return refuse("client.joining", "true", "false with TLS: a joiner router carries datagrams");
    }
    if document.has("session.client_port") {
        let allowed = "this key without client.joining: the port of a joiner is 1000";
        return refuse("session.client_port", "a port for joiners", allowed);
    }
    let clients = scenario.clients();
    let routes = scenario.mesh.routes();
    if let Some(parent) = routes.parents().into_iter().flatten().find(|parent| clients.contains(parent)) {
        let found = format!("true, where client {parent} has children");
        return refuse("client.joining", &found, "clients without children: a joiner forwards nothing");
    }
    if let Some(joiner) = link_layer.sleepy(&scenario.mesh).iter().find(|node| clients.contains(node)) {
        let found = format!("node {joiner}, which joins");
        let allowed = "nodes that do not join: a joiner always listens, because nobody keeps frames for it";
        return refuse("mac.sleepy", &found, allowed);
    }
    let is_end = |host| matches!(host, Host::Node(node) if clients.contains(&node));
    if scenario.flows().any(|flow| is_end(flow.from) || is_end(flow.to)) {
        return refuse("client.joining", "true, with other traffic from or to a client", "traffic of other nodes only");
    }
    if scenario.lowpan.rpl != Rpl::None {
        return refuse("lowpan.rpl", "headers of RPL", "\"none\" with client.joining: Thread has no RPL");
    }
    if matches!(scenario.lowpan.reassembly, Reassembly::Forwarding | Reassembly::Recovery) {
        let allowed =
            "\"mesh-under\" or \"per-hop\" with client.joining: Thread does not forward fragments by RFC 8930";
        return refuse("lowpan.reassembly", "fragments that are forwarded", allowed);
    }
    if scenario.gateway.suppress_spurious_flights {
        let allowed = "false with client.joining: the border router sees messages of joiner routers";
        return refuse("gateway.suppress_spurious_flights", "true", allowed);
    }
    Ok(())
}

/// Checks each flow beside the sessions.
fn traffic(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let nodes = scenario.mesh.nodes();
    scenario.traffic.iter().enumerate().try_for_each(|(index, traffic)| traffic.check(index, nodes, document))
}

/// Checks each program.
fn programs(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let check =
        |(index, program): (usize, &Program)| program.check(index, &scenario.mesh, scenario.server.at, document);
    scenario.programs.iter().enumerate().try_for_each(check)
}

/// Checks the nodes and their links, works out the routes, and reads what changes with time.
pub(super) fn mesh(
    network: &Network,
    running: Option<&Mesh>,
    files: &mut Files<'_>,
    document: &Document,
) -> Result<Mesh, InputError> {
    let mesh = match running {
        Some(mesh) => mesh.with_links(network.links()),
        None => first_mesh(network, document)?,
    };
    let variation = courses::variation(network, mesh.qualities(), files, document)?;
    Ok(mesh.varying(variation))
}

/// The mesh of a network that begins, without what changes with time.
fn first_mesh(network: &Network, document: &Document) -> Result<Mesh, InputError> {
    let key = match &network.topology {
        Topology::Line { .. } => "network.topology.hops",
        Topology::Star { .. } => "network.topology.leaves",
        Topology::Tree { .. } => "network.topology.depth",
        Topology::Explicit { links } => {
            explicit_links(links, network.capture.is_some(), document)?;
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
    if network.parents.is_some() && document.has("network.routing") {
        let allowed = "this key without network.parents, which says the routes";
        return Err(document.blame("network.routing", "a rule for routes that are given", allowed));
    }
    if let Topology::Tree { nodes: Some(nodes), .. } = network.topology
        && network.topology.node_count() < nodes.get() as usize
    {
        let allowed = format!("at most {}, the nodes of the whole tree", network.topology.node_count());
        return Err(document.blame("network.topology.nodes", nodes.get().to_string(), allowed));
    }
    network.mesh().map_err(|error| route_error(error, key, network, document))
}

fn route_error(error: RouteError, key: &str, network: &Network, document: &Document) -> InputError {
    let last = network.topology.node_count() - 1;
    let parent_of = |node: NodeId| format!("network.parents.{node}");
    match error {
        RouteError::Unreachable(Unreachable(node)) => {
            let found = format!("no path between node {node} and the root (node 0)");
            let allowed = match network.routing {
                Routing::Hops => {
                    "links that lead from every node to the root, with a delivery ratio above 0 in both directions"
                }
                Routing::Etx => {
                    "links that lead from every node to the root, with delivery ratios above 0 in both directions, and of \
                     acknowledgements too"
                }
            };
            document.blame(key, found, allowed)
        }
        RouteError::NoSuchNode(node) => {
            document.blame(&parent_of(node), format!("a parent of node {node}"), format!("nodes 1 to {last}"))
        }
        RouteError::OutOfRange { child, parent } => {
            let allowed =
                format!("a node to which {child} has a link, with a delivery ratio above 0 in both directions");
            document.blame(&parent_of(child), parent.to_string(), allowed)
        }
        RouteError::NoParent(node) => document.blame(
            "network.parents",
            format!("no parent of node {node}"),
            "a parent for every node but the root",
        ),
        RouteError::Loop(Loop(node)) => {
            let found = format!("a parent of node {node} from which the way leads back to {node}");
            document.blame(&parent_of(node), found, "parents that lead to the root (node 0)")
        }
    }
}

fn explicit_links(links: &[super::Link], has_powers: bool, document: &Document) -> Result<(), InputError> {
    if links.is_empty() {
        return Err(document.blame("network.topology.links", "no link", "at least one link"));
    }
    let mut first: HashMap<_, usize> = HashMap::with_capacity(links.len());
    for (index, link) in links.iter().enumerate() {
        let key = || format!("network.topology.links[{index}]");
        if link.from == link.to {
            let found = format!("a link from node {} to itself", link.from.get());
            return Err(document.blame(&format!("{}.to", key()), found, "another node"));
        }
        if let Some(power) = link.power_db.filter(|_| !has_powers) {
            let allowed = "this key only with network.capture, where powers decide";
            return Err(document.blame(&format!("{}.power_db", key()), power.get().to_string(), allowed));
        }
        let first = *first.entry((link.from.min(link.to), link.from.max(link.to))).or_insert(index);
        if first != index {
            let found = format!("the link between {} and {} again", link.from.get(), link.to.get());
            let allowed = format!("each link once; links[{first}] is the same, and works in both directions");
            return Err(document.blame(&key(), found, allowed));
        }
    }
    Ok(())
}

/// Checks that the two ends of the session are in the network.
fn ends(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let last = scenario.mesh.nodes() - 1;
    if let ServerAt::Node(node) = scenario.server.at {
        if node.index() > last {
            let allowed = format!("\"internet\" or a node of the network, 0 to {last}");
            return Err(document.blame("server.at", node.to_string(), allowed));
        }
        if scenario.client.nodes.is_none() && scenario.candidates().is_empty() {
            let found = format!("{node}, where the only client would be");
            return Err(document.blame("server.at", found, "another place, or client.nodes with another node"));
        }
    }
    if scenario.server.at != ServerAt::Internet {
        let place = match scenario.server.at {
            ServerAt::Node(node) => format!("a server at node {node}"),
            _ => "servers in the mesh".to_owned(),
        };
        for key in ["delay_ms", "jitter_ms", "loss", "dropped"].map(|key| format!("server.internet_{key}")) {
            let key = key.as_str();
            if document.has(key) {
                let found = format!("a path through the Internet to {place}");
                return Err(document.blame(key, found, "this key with server.at = \"internet\" only"));
            }
        }
    }
    if scenario.server.at == ServerAt::Leaves {
        servers_at_leaves(scenario, document)?;
    }
    if scenario.client.nodes.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.blame("client.nodes", "no node", "at least one node"));
    }
    let candidates = scenario.candidates();
    if let Some(count) = scenario.client.count.filter(|count| count.get() as usize > candidates.len()) {
        let allowed = format!("at most {}, the nodes of which these are chosen", candidates.len());
        return Err(document.blame("client.count", count.get().to_string(), allowed));
    }
    let mut seen = vec![false; last + 1];
    for (index, &client) in candidates.iter().enumerate() {
        let key = || if document.has("client.nodes") { format!("client.nodes[{index}]") } else { "client".to_owned() };
        if client.index() > last {
            let allowed = format!("a node of the network other than the root, 1 to {last}");
            return Err(document.blame(&key(), client.to_string(), allowed));
        }
        if scenario.server.at == ServerAt::Node(client) {
            return Err(document.blame(&key(), format!("{client}, where the server is"), "another node"));
        }
        if std::mem::replace(&mut seen[client.index()], true) {
            return Err(document.blame(&key(), format!("{client} again"), "each node once"));
        }
    }
    // With a delegate it has the next port too (`Plan::hand_over`).
    let own = 1 + u32::from(scenario.gateway.delegation.is_some());
    for client in scenario.clients() {
        let port = scenario.session.client_port.get() + u32::from(client.0) + own - 1;
        if port > u32::from(u16::MAX) {
            let found = format!("{}, which gives node {client} the port {port}", scenario.session.client_port.get());
            let most = u32::from(u16::MAX) + 1 - own - u32::from(client.0);
            let allowed = format!("at most {most}, so that all client ports fit 16 bits");
            return Err(document.blame("session.client_port", found, allowed));
        }
    }
    Ok(())
}

/// Checks that servers at the leaves have one client, the root, and that nothing is asked for that only a node can do.
fn servers_at_leaves(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    if !matches!(scenario.network.topology, Topology::Star { .. }) {
        let allowed = "another place, or network.topology.kind = \"star\"";
        return Err(document.blame("server.at", "\"leaves\"", allowed));
    }
    let of_nodes = ["client.nodes", "client.count", "client.joining", "application.pattern"];
    match of_nodes.into_iter().find(|key| document.has(key)) {
        Some(key) => {
            let found = "a key for clients at the leaves, and the leaves are the servers (server.at)";
            Err(document.blame(key, found, "this key with another server.at: the root is the only client"))
        }
        None => Ok(()),
    }
}

/// Checks that the libraries support the session, and with each other.
fn session(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let session = &scenario.session;
    session.coap.check(document)?;
    if session.protocol.transport().is_none() {
        let requests = scenario.application.requests.get();
        if session.protocol == Protocol::Edhoc && session.edhoc.combined && requests == 0 {
            let allowed = "false, or application.requests of 1 or more: the first one carries message_3";
            return Err(document.blame("session.edhoc.combined", "true", allowed));
        }
        let config = session.config(Role::Client);
        return config.validate().map_err(|error| library(&error, Role::Client, scenario, document));
    }
    if let Some(suite) = session.suite {
        auth_fits_suite(session.auth(), session.protocol, suite, document)?;
    }
    let is_psk = session.auth() == Auth::Psk;
    if let Some(credential) = session.credential.filter(|credential| (*credential == CredentialKind::Psk) != is_psk) {
        let allowed = if is_psk { "psk" } else { "certificate, raw_public_key or ecjpake" };
        let allowed = match session.suite {
            Some(suite) => format!("{allowed} with {suite}; or another session.suite, or no session.suite"),
            None if is_psk => "psk with session.auth = \"psk\"".to_owned(),
            None => format!("{allowed} with this session.auth"),
        };
        return Err(document.blame("session.credential", credential.to_string(), allowed));
    }
    let credentials = [session.stack, session.server_stack()].map(|stack| session.credential_kind(stack));
    if session.auth() == Auth::Server && credentials.contains(&CredentialKind::Ecjpake) {
        return Err(document.blame("session.auth", "\"server\"", "\"mutual\" with a password"));
    }
    for (role, credential) in Role::BOTH.into_iter().zip(credentials) {
        let config = session.config(role);
        if let Some(length) = session.certificate_length.filter(|_| credential != CredentialKind::Certificate) {
            let found = length.get().to_string();
            let allowed = format!("none (with {} and this suite there are no certificates)", config.stack);
            let error = SessionError { field: "certificate_length", found, allowed };
            return Err(library(&error, role, scenario, document));
        }
        config.validate().map_err(|error| library(&error, role, scenario, document))?;
    }
    let [client, server] = credentials;
    if client != server {
        let found =
            format!("{}, which has a {server} where {} expects a {client}", session.server_stack(), session.stack);
        return Err(document.blame("session.server_stack", found, "libraries with the same credential for the suite"));
    }
    let [imports, server_imports] =
        [session.stack, session.server_stack()].map(|stack| stack.capabilities().tls.imports_psk);
    if client == CredentialKind::Psk && session.protocol == Protocol::Dtls13 && imports != server_imports {
        let both = [session.stack, session.server_stack()];
        let [importing, other] = if imports { both } else { [both[1], both[0]] };
        let found = format!(
            "{}, and of the two ends only {importing} imports its pre-shared key (RFC 9258), not {other}",
            session.server_stack()
        );
        let allowed = "two libraries that import a pre-shared key of DTLS 1.3, or two that do not";
        return Err(document.blame("session.server_stack", found, allowed));
    }
    if session.suite().is_none() {
        let found = format!(
            "{}, which has no suite of {} in common with {}",
            session.server_stack(),
            session.protocol,
            session.stack
        );
        return Err(document.blame("session.server_stack", found, "libraries with a common suite"));
    }
    Ok(())
}

fn auth_fits_suite(auth: Auth, protocol: Protocol, suite: Suite, document: &Document) -> Result<(), InputError> {
    let is_psk = suite.key_exchange().has_psk();
    // In DTLS 1.3 the suite does not say it.
    if is_psk == (auth == Auth::Psk) || protocol.transport() == Some(Protocol::Dtls13) {
        return Ok(());
    }
    let (found, allowed) = match auth {
        Auth::Psk => ("\"psk\"", "\"server\" or \"mutual\""),
        Auth::Server => ("\"server\"", "\"psk\""),
        Auth::Mutual => ("\"mutual\"", "\"psk\""),
    };
    Err(document.blame("session.auth", found, format!("{allowed} with {suite}")))
}

/// Checks that what carries the datagrams of DTLS can do so, that nothing else needs them in UDP, and who asks a trust anchor.
fn carrier(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let Session { carrier, protocol, trust_anchor, .. } = &scenario.session;
    if *trust_anchor && document.has("programs") {
        return Err(document.blame("session.trust_anchor", "true", "false with programs: they ask no trust anchor"));
    }
    let refuse = |allowed: String| Err(document.blame("session.carrier", format!("\"{carrier}\""), allowed));
    let is_dccp = match carrier {
        Carrier::Udp => return Ok(()),
        other => *other == Carrier::Dccp,
    };
    if is_dccp && !matches!(protocol, Protocol::Dtls12 | Protocol::Dtls13) {
        return refuse(format!("\"udp\" with {protocol}; or session.protocol = \"dtls1.2\" or \"dtls1.3\""));
    }
    let gateway = &scenario.gateway;
    let others = [
        ("programs: they have sockets of UDP", document.has("programs")),
        ("client.joining: a joiner router relays datagrams of UDP", is_dccp && scenario.client.joining),
        ("session.trust_anchor: its messages are datagrams of UDP", *trust_anchor),
        ("gateway.suppress_spurious_flights: the border router reads DTLS in UDP", gateway.suppress_spurious_flights),
        ("gateway.pre_validation: the border router reads DTLS in UDP", gateway.pre_validation),
        ("gateway.delegation: a delegate opens sessions over UDP", gateway.delegation.is_some()),
        (
            "lowpan.payload_compression: it compresses payloads of UDP",
            is_dccp && scenario.lowpan.payload_compression != PayloadCompression::None,
        ),
    ];
    match others.into_iter().find(|(_, is_there)| *is_there) {
        Some((other, _)) => refuse(format!("\"udp\" with {other}")),
        None => Ok(()),
    }
}

/// Checks each end's TCP, and DCCP.
fn transport(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    scenario.transport.dccp.config().validate().map_err(|error| {
        // The other fields have bounds of their own.
        let seconds = |micros: u64| (micros as f64 / 1e6).to_string();
        let allowed = format!("from {} to {}", seconds(error.min), seconds(error.max));
        document.blame("transport.dccp.initial_rto_s", seconds(error.value), allowed)
    })?;
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

/// The error of a library, with the key of the scenario.
fn library(error: &SessionError, role: Role, scenario: &Scenario, document: &Document) -> InputError {
    let own_timeout = role == Role::Server && document.has("session.server_timeout_s");
    let key = match error.field {
        "first_timeout" if own_timeout => "session.server_timeout_s".to_owned(),
        "first_timeout" => "session.timeout_s".to_owned(),
        "maximum_timeout" => "session.max_timeout_s".to_owned(),
        "timeout_floor" => "session.timeout_floor_s".to_owned(),
        "message_4" => "session.edhoc.message_4".to_owned(),
        "credential" if document.has("session.credential") => "session.credential".to_owned(),
        // Without a suite, `auth` asks for the credential, and the library does not have it.
        "credential" if scenario.session.suite.is_none() => "session.auth".to_owned(),
        "credential" => "session.suite".to_owned(),
        field => format!("session.{field}"),
    };
    let config = scenario.session.config(role);
    let allowed = match config.protocol().transport() {
        Some(_) => format!("{}; the {role} runs {}", error.allowed, config.stack),
        None => error.allowed.clone(),
    };
    document.blame(&key, error.found.clone(), allowed)
}

/// Loads a device. If there is none, the error names `key`.
pub(super) fn device(name: &str, key: &str, files: &mut Files<'_>, document: &Document) -> Result<Device, InputError> {
    Device::read(name, files).map_err(|error| match error {
        crate::device::DeviceError::Unknown { found, allowed } => {
            InputError { together: false, ..document.blame(key, found, allowed) }
        }
        crate::device::DeviceError::Invalid(error) => error,
    })
}
