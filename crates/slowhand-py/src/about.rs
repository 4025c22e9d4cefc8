//! A short description of a scenario, for the end of a report.

use serde_json::{Value, json};
use slowhand_lab::device::{Constant, CurveTimes, Device};
use slowhand_lab::scenario::{Network, Scenario, Topology};

/// The session, the network and the devices of a scenario, and what is assumed about them.
pub fn about(scenario: &Scenario) -> Value {
    json!({
        "session": session(scenario),
        "network": format!("{}, {}", topology(&scenario.network), scenario.mac.describe()),
        "devices": format!("{} to {}", scenario.client.device, scenario.server.device),
        "assumed": {
            &scenario.client.device: assumed(&scenario.client_device),
            &scenario.server.device: assumed(&scenario.server_device),
        },
    })
}

fn session(scenario: &Scenario) -> String {
    let session = &scenario.session;
    let (client, server) = (word(&session.stack), word(&session.server_stack()));
    let ends = if client == server { client } else { format!("{client} to {server}") };
    // A scenario that was loaded has a suite.
    let suite = session.suite().map_or_else(String::new, |suite| format!(", {suite}"));
    format!("{ends}, {}{suite}", word(&session.protocol))
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
        Topology::Tree { depth, fan_out } => format!("tree of depth {}, fan-out {}", depth.get(), fan_out.get()),
        Topology::Explicit { links } => format!("{} nodes, {} links", network.topology.node_count(), links.len()),
    };
    format!("{shape}, link PDR {}", network.link_pdr.get())
}

/// The names of the constants of a device that are assumed.
fn assumed(device: &Device) -> Vec<String> {
    let (current, crypto) = (&device.current, &device.crypto);
    let single = [
        ("supply_v", &device.supply_v),
        ("cpu_active_ma", &current.cpu_active_ma),
        ("cpu_sleep_ma", &current.cpu_sleep_ma),
        ("radio_tx_ma", &current.radio_tx_ma),
        ("radio_rx_ma", &current.radio_rx_ma),
        ("radio_listen_ma", &current.radio_listen_ma),
        ("radio_sleep_ma", &current.radio_sleep_ma),
        ("clock_mhz", &device.processor.clock_mhz),
        ("ram_kib", &device.processor.ram_kib),
        ("sha1_block_us", &crypto.sha1_block_us),
        ("sha256_block_us", &crypto.sha256_block_us),
        ("aes_block_us", &crypto.aes_block_us),
        ("ghash_block_us", &crypto.ghash_block_us),
    ];
    let curves = [("secp192r1", &crypto.secp192r1), ("secp256r1", &crypto.secp256r1)];
    let single = single.into_iter().filter(|(_, constant)| constant.is_assumed()).map(|(name, _)| name.to_owned());
    let rsa = [("rsa1024", &crypto.rsa1024), ("rsa2048", &crypto.rsa2048), ("rsa3072", &crypto.rsa3072)];
    let rsa = rsa.into_iter().flat_map(|(key, times)| {
        let times = [("private_ms", &times.private_ms), ("public_ms", &times.public_ms)];
        times.into_iter().filter(|(_, constant)| constant.is_assumed()).map(move |(name, _)| format!("{key}.{name}"))
    });
    let tpm = device.tpm.iter().flat_map(|tpm| [("active_ma", &tpm.active_ma), ("max_rsa_bits", &tpm.max_rsa_bits)]);
    let tpm = tpm.filter(|(_, constant)| constant.is_assumed()).map(|(name, _)| format!("tpm.{name}"));
    single
        .chain(curves.into_iter().flat_map(|(curve, times)| assumed_of_curve(curve, times)))
        .chain(rsa)
        .chain(tpm)
        .collect()
}

fn assumed_of_curve<'a>(curve: &'a str, times: &'a CurveTimes) -> impl Iterator<Item = String> + 'a {
    let times: [(&str, &Constant); 4] = [
        ("ecdh_generate_ms", &times.ecdh_generate_ms),
        ("ecdh_agree_ms", &times.ecdh_agree_ms),
        ("ecdsa_sign_ms", &times.ecdsa_sign_ms),
        ("ecdsa_verify_ms", &times.ecdsa_verify_ms),
    ];
    times.into_iter().filter(|(_, constant)| constant.is_assumed()).map(move |(name, _)| format!("{curve}.{name}"))
}
