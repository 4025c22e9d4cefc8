//! A short description of a scenario, for the end of a report.

use crate::scenario::{Delegate, Network, PayloadCompression, Profile, Scenario, Topology};
use serde_json::{Map, Value, json};
use slowhand_sessions::{Carrier, Growth, Protocol};

/// The session, the network and the devices of a scenario in words, and the names of the constants that are assumed about its
/// devices, as a JSON object.
pub fn about(scenario: &Scenario) -> Value {
    json!({
        "session": session(scenario),
        "network": format!("{}, {}{}", topology(&scenario.network), scenario.mac.describe(), wifi(scenario)),
        "devices": format!("{} to {}", scenario.client.device, scenario.server.device),
        "profile": profile(scenario),
        "assumed": {
            &scenario.client.device: scenario.client_device.assumed,
            &scenario.server.device: scenario.server_device.assumed,
        },
    })
}

/// The software of the nodes, and the defaults that come from it.
fn profile(scenario: &Scenario) -> Value {
    let all = scenario.profile().list();
    let rfc = Profile::Rfc.list();
    let of_mac = match scenario.mac.kind() {
        "tsch" => all.tsch.or(rfc.tsch),
        "csma" => all.csma.or(rfc.csma),
        _ => None,
    };
    let numbers = all.lowpan.into_iter().chain(of_mac.into_iter().flatten());
    let defaults: Map<String, Value> = numbers.map(|number| (number.key.to_owned(), number.value)).collect();
    json!({ "name": all.name, "defaults": defaults })
}

/// Wi-Fi that disturbs nothing.
fn wifi(scenario: &Scenario) -> String {
    let channels = scenario.wifi_elsewhere();
    let words = |channel: &u8| format!("; Wi-Fi channel {channel} covers no channel of the network");
    channels.iter().map(words).collect()
}

fn session(scenario: &Scenario) -> String {
    let session = &scenario.session;
    let (client, server) = (word(&session.stack), word(&session.server_stack()));
    let ends = match session.protocol.transport() {
        None => "slowhand's own".to_owned(),
        Some(_) if client == server => client,
        Some(_) => format!("{client} to {server}"),
    };
    // A scenario that was loaded has a suite, if its protocol has any.
    let suite = session.suite().map_or_else(String::new, |suite| format!(", {suite}"));
    let nonces = session.nonces.map_or_else(String::new, |nonces| format!(", {} sets of nonces", nonces.get()));
    let carrier = match session.carrier {
        Carrier::Udp => String::new(),
        carrier => format!(" over {carrier}"),
    };
    let help: String = help(scenario).into_iter().flatten().map(|help| format!(", {help}")).collect();
    format!("{ends}, {}{carrier}{suite}{help}{nonces}", word(&session.protocol))
}

/// The help of the session, and the credential of one that has no suite to tell it.
fn help(scenario: &Scenario) -> [Option<&'static str>; 7] {
    let (session, gateway) = (&scenario.session, &scenario.gateway);
    [
        (session.protocol == Protocol::Less).then_some("psk"),
        gateway.delegation.map(|delegate| match delegate {
            Delegate::BorderRouter => "opened by the border router",
            Delegate::Internet => "opened by a host on the Internet",
        }),
        session.trust_anchor.then_some("key from a trust anchor"),
        gateway.pre_validation.then_some("chains validated at the border router"),
        match scenario.lowpan.payload_compression {
            PayloadCompression::None => None,
            PayloadCompression::Ghc => Some("payloads compressed by GHC"),
            PayloadCompression::Lithe => Some("payloads compressed by Lithe"),
        },
        session.false_start.then_some("False Start"),
        (session.backoff == Growth::Cocoa).then_some("CoCoA's back-off"),
    ]
}

/// The name that a value has in a scenario file.
fn word(value: &impl serde::Serialize) -> String {
    match json!(value) {
        Value::String(word) => word,
        other => other.to_string(),
    }
}

fn topology(network: &Network) -> String {
    let shape = match &network.topology {
        Topology::Line { hops } if hops.get() == 1 => "one hop".to_owned(),
        Topology::Line { hops } => format!("line of {} hops", hops.get()),
        Topology::Star { leaves } => format!("star of {} leaves", leaves.get()),
        Topology::Tree { depth, fan_out, nodes } => {
            let part = nodes.map_or_else(String::new, |nodes| format!(", {} nodes of it", nodes.get()));
            format!("tree of depth {}, fan-out {}{part}", depth.get(), fan_out.get())
        }
        Topology::Explicit { links } => format!("{} nodes, {} links", network.topology.node_count(), links.len()),
    };
    format!("{shape}, link PDR {}", network.link_pdr.get())
}
