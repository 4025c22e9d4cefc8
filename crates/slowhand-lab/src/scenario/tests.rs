use std::collections::BTreeMap;

use serde_json::Value;
use slowhand_net::clock::Duration;
use slowhand_net::network;
use slowhand_net::transport::tcp;
use slowhand_sessions::{Credential, CredentialKind, Family, Role, SessionConfig, Stack, Suite, Tls, Version};

use super::*;
use crate::record::Holders;

const SMALLEST: &str = r#"
network.topology = { kind = "line", hops = 2 }
mac.kind = "tsch"
client.device = "wismote"
session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
"#;

fn with(change: &str) -> Scenario {
    changed(change).unwrap()
}

fn changed(change: &str) -> Result<Scenario, InputError> {
    let files = BTreeMap::from([("scenario.toml".to_owned(), SMALLEST.to_owned())]);
    Scenario::from_sources(&Sources { scenario: "scenario.toml".into(), files, overrides: vec![change.to_owned()] })
}

fn nodes(numbers: &[u16]) -> Vec<NodeId> {
    numbers.iter().map(|&number| NodeId(number)).collect()
}

#[test]
fn the_defaults_are_those_that_the_keys_document() {
    let scenario: Scenario = SMALLEST.parse().unwrap();
    let Mac::Tsch(tsch) = &scenario.mac else { panic!("not TSCH") };
    assert_eq!(tsch.slot_timing().unwrap().slot.as_micros(), 20_000);
    assert_eq!((tsch.slotframe.get(), tsch.max_retries.get(), tsch.queue.get()), (101, 15, 20));
    assert_eq!((tsch.min_be.get(), tsch.max_be.get(), tsch.autonomous), (2, 5, true));
    let up_and_down = [tsch.cells.up, tsch.cells.down].map(|cells| cells.map(|cells| cells.get()));
    assert_eq!((tsch.cells.shared.get(), up_and_down), (1, [None, None]));
    assert_eq!(tsch.hopping().len(), 16);
    assert_eq!(scenario.network.link_pdr.get(), 1.0);
    assert_eq!(scenario.lowpan.max_frame_payload.get() as usize, slowhand_net::lowpan::FRAME_CAPACITY);
    assert_eq!(scenario.lowpan.reassembly_timeout_s.micros(), 60_000_000);
    assert_eq!(scenario.server.at, ServerAt::Internet);
    assert_eq!(scenario.session.auth(), Auth::Psk);
    assert_eq!(scenario.session.give_up_s.get(), 300.0);
    assert_eq!((scenario.session.server_port(), scenario.session.client_port.get()), (5_684, 0xF0B0));
    assert_eq!(scenario.client_device.supply_v.value, 2.8);
    let forwards_only = scenario.gateway.config();
    assert!(forwards_only.tcp_proxy.is_none() && forwards_only.suppression.is_none());
    let gateway = with("gateway={ tcp_proxy = true, suppress_spurious_flights = true }").gateway.config();
    assert_eq!(gateway.tcp_proxy, Some(slowhand_net::transport::pep::ProxyConfig::default()));
    assert_eq!(gateway.suppression, Some(slowhand_net::network::gateway::suppression::SuppressionConfig::default()));
}

#[test]
fn sections_that_are_left_out_are_the_defaults_of_the_layers() {
    let scenario: Scenario = SMALLEST.parse().unwrap();
    let ours = network::NetworkConfig {
        internet: scenario.server.internet_config(),
        gateway: scenario.gateway.config(),
        ..scenario.lowpan.config(2, Duration::from_millis(100))
    };
    // The numbers of the profile of TSCH are in profile/tests.rs.
    let of_profile = scenario.lowpan.config(2, Duration::ZERO);
    let (reassembly, whole_packets) = (of_profile.reassembly, of_profile.whole_packets);
    let expected = network::NetworkConfig { reassembly, whole_packets, ..network::NetworkConfig::default() };
    assert_eq!(format!("{ours:?}"), format!("{expected:?}"));
    let recovery = with("lowpan.reassembly=\"recovery\"").lowpan.config(2, Duration::from_millis(100)).fragments;
    let (sender, forwarding) = Default::default();
    // Four periods for each of two hops are 0.8 s, which is more than the default of 0.7 s.
    let sender = slowhand_net::lowpan::recovery::RecoveryConfig { timeout: Duration::from_millis(800), ..sender };
    assert_eq!(format!("{recovery:?}"), format!("{:?}", network::Fragments::Recovered { sender, forwarding }));
}

#[test]
fn a_session_without_options_has_the_defaults_of_the_sessions_crate() {
    let certificate = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM;
    let psk = Suite::TLS_PSK_WITH_AES_128_GCM_SHA256;
    for (suite, kind) in [(certificate, CredentialKind::Certificate), (psk, CredentialKind::Psk)] {
        let session = with(&format!("session={{ stack = \"mbedtls\", suite = \"{suite}\" }}")).session.clone();
        for role in [Role::Client, Role::Server] {
            let family = Family::Tls(Tls { suite: Some(suite), ..Tls::new(Version::DTLS12) });
            let defaults = SessionConfig::new(role, Stack::MBEDTLS, family, Credential::from(kind));
            assert_eq!(session.config(role), defaults, "{suite}");
        }
    }
    let identity = keys().into_iter().find(|(place, _)| place.ends_with("/psk_identity")).unwrap().1;
    let Credential::Psk { identity: default, key } = CredentialKind::Psk.into() else { panic!("not a pre-shared key") };
    assert_eq!(first_word(&said(&identity, "Default:").unwrap()), default);
    let written = keys().into_iter().find(|(place, _)| place.ends_with("/psk")).unwrap().1;
    let digits: String = key.iter().map(|octet| format!("{octet:02x}")).collect();
    assert_eq!(first_word(&said(&written, "Default:").unwrap()), digits);
}

/// lean-dtls has certificates and raw public keys: the peer decides, or the key of the scenario.
#[test]
fn the_credential_is_one_that_both_libraries_have() {
    use CredentialKind::{Certificate, Psk, RawPublicKey};
    for (keys, expected) in [
        ("stack = \"lean-dtls\"", Certificate),
        ("stack = \"lean-dtls\", server_stack = \"mbedtls\"", Certificate),
        ("stack = \"lean-dtls\", server_stack = \"tinydtls\"", RawPublicKey),
        ("stack = \"tinydtls\", server_stack = \"lean-dtls\"", RawPublicKey),
        ("stack = \"lean-dtls\", credential = \"raw_public_key\"", RawPublicKey),
        ("stack = \"lean-dtls\", credential = \"psk\"", Psk),
        ("stack = \"lean-dtls\", suite = \"TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256\"", Psk),
    ] {
        let session = with(&format!("session={{ {keys} }}")).session.clone();
        let ends = [Role::Client, Role::Server].map(|role| session.config(role));
        assert!(ends.iter().all(|end| end.credential.kind() == expected && end.validate().is_ok()), "{keys}: {ends:?}");
    }
}

#[test]
fn a_section_becomes_the_configuration_of_its_layer() {
    let lowpan = with(
        "lowpan={ fragment_loss = 0.25, frame_loss = 0.125, loss_spread = \"flight\", dropped_frames = [7, 3], max_frame_payload = 80, \
         reassembly_buffers = 3, border_router_reassembly_buffers = 300, reassembly_timeout_s = 1.5, ecn_threshold = 0.75, reassembly = \"forwarding\", \
         forwarding = { entries = 2, border_router_entries = 200, timeout_s = 5 } }",
    );
    let config = lowpan.lowpan.config(1, Duration::from_secs(1));
    assert_eq!((config.fragment_loss.get(), config.frame_loss.get()), (0.25, 0.125));
    assert_eq!(config.dropped_frames, [3, 7]);
    assert_eq!((config.loss_spread, config.ecn_threshold), (network::LossSpread::Flight, Some(0.75)));
    assert_eq!((config.frame_capacity, config.reassembly.buffers), (80, 3));
    assert_eq!(config.reassembly.timeout, Duration::from_millis(1_500));
    assert_eq!(
        lowpan.network_config().buffers_of[&NodeId::ROOT],
        network::BufferCounts { reassembly: Some(300), forwarding: Some(200) }
    );
    let network::Fragments::Forwarded(limits) = config.fragments else { panic!("{:?}", config.fragments) };
    assert_eq!((limits.entries, limits.timeout), (2, Duration::from_secs(5)));
    let server =
        "server={ internet_delay_ms = 10.5, internet_jitter_ms = 2, internet_loss = 0.5, internet_dropped = [2, 1] }";
    let internet = with(server).server.internet_config();
    assert_eq!((internet.delay, internet.jitter), (Duration::from_micros(10_500), Duration::from_millis(2)));
    assert_eq!((internet.loss.get(), internet.dropped), (0.5, vec![1, 2]));
    let client = with("client.start_s=3").client.clone();
    let (settling, period) = (Duration::from_secs(60), Duration::from_secs(2));
    assert_eq!((client.start(settling), client.start_spread(period)), (Duration::from_secs(3), period));
    assert_eq!(with("mac.queue=20").client.start(settling), settling);
}

#[test]
fn headers_of_rpl_contexts_and_buffers_of_nodes() {
    let config = |change| with(change).network_config();
    assert_eq!(config("mac.queue=20").rpl, None);
    let rpl =
        config("lowpan={ rpl = \"non-storing\", rpl_encoding = \"6lorh\", source_route_octets = 2 }").rpl.unwrap();
    let expected = (network::RplMode::NonStoring, network::RplEncoding::RoutingHeaders, 2);
    assert_eq!((rpl.mode, rpl.encoding, rpl.address_octets), expected);
    let rpl = config("lowpan.rpl=\"storing\"").rpl.unwrap();
    let expected = (network::RplMode::Storing, network::RplEncoding::ExtensionHeaders, 8);
    assert_eq!((rpl.mode, rpl.encoding, rpl.address_octets), expected);

    let contexts = config("lowpan.contexts={ 3 = \"2001:db8:1::1/128\" }").contexts;
    let found: Vec<_> =
        contexts.iter().map(|(id, context)| (id, context.prefix().to_string(), context.length())).collect();
    assert_eq!(found, [(3, "2001:db8:1::1".to_owned(), 128)]);
    assert_eq!(config("mac.queue=20").contexts, slowhand_net::lowpan::Contexts::mesh());

    let nodes = "network.nodes={ 0 = { reassembly_buffers = 9 }, 2 = { queue = 4 } }";
    assert_eq!(with(nodes).network.queues().collect::<Vec<_>>(), [(NodeId(2), 4)]);
    assert_eq!(config(nodes).buffers_of[&NodeId::ROOT].reassembly, Some(9));
    let network = crate::plan::Plan::new(&with(nodes)).unwrap().network(1);
    assert_eq!([1, 2].map(|node| network.mac().queue(NodeId(node)).limit()), [20, 4]);
}

/// A node takes the parent that `network.parents` names, or the path that counts less.
#[test]
fn routes_follow_the_keys() {
    let links = "[{ from = 0, to = 1, pdr = 0.93 }, { from = 1, to = 2, pdr = 0.71 }, { from = 0, to = 2, pdr = 0.2 }]";
    let parents = |rest: &str| {
        let network = format!("network={{ topology = {{ kind = \"explicit\", links = {links} }}{rest} }}");
        let parents = with(&network).mesh().routes().parents();
        parents[1..].iter().map(|parent| parent.unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!(parents(""), [0, 0]);
    assert_eq!(parents(", routing = \"etx\""), [0, 1]);
    assert_eq!(parents(", parents = { 1 = 2, 2 = 0 }"), [2, 0]);
}

/// Every key of the schema: its place, and what the schema says of it.
fn keys() -> Vec<(String, serde_json::Map<String, Value>)> {
    fn collect(place: &str, value: &Value, keys: &mut Vec<(String, serde_json::Map<String, Value>)>) {
        let Some(object) = value.as_object() else {
            return value.as_array().into_iter().flatten().for_each(|item| collect(place, item, keys));
        };
        for (name, item) in object {
            collect(&format!("{place}/{name}"), item, keys);
            if let Some(item) = item.as_object().filter(|_| place.ends_with("/properties")) {
                keys.push((format!("{place}/{name}"), item.clone()));
            }
        }
    }
    let mut keys = Vec::new();
    collect("", schema().as_value(), &mut keys);
    keys
}

/// The text of a key's description behind a word such as `Default:`.
fn said(key: &serde_json::Map<String, Value>, word: &str) -> Option<String> {
    let description = key.get("description")?.as_str()?.replace('\n', " ");
    description.split_once(word).map(|(_, said)| said.trim().to_owned())
}

/// The first word, without the marks around it: a number, or the name of a value.
fn first_word(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ',', ';']).replace('`', "");
    word.parse::<f64>().map_or(word, |number| number.to_string())
}

#[test]
fn the_default_that_a_key_documents_is_the_one_it_has() {
    let mut compared = 0;
    for (place, key) in keys() {
        let default = match key.get("default") {
            Some(Value::Number(number)) => number.as_f64().unwrap().to_string(),
            Some(Value::String(word)) => word.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
            _ => continue,
        };
        let said = said(&key, "Default:").unwrap_or_else(|| panic!("{place} has a default, and does not say it"));
        assert_eq!(first_word(&said), default, "{place}: {said}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn the_presets_that_a_key_documents_are_those_of_tcp() {
    let tcp = |preset: &str, key: &str, value: &str| {
        let change = format!("transport.client={{ preset = \"{preset}\", {key} = {value} }}");
        with(&change).transport.client.config(Preset::Linux)
    };
    let mut compared = 0;
    for (place, key) in keys() {
        // Without what stands in parentheses: `10 (RFC 6928), 1.`
        let Some(said) = said(&key, "Presets:") else { continue };
        let bare: String = said.split('(').map(|part| part.split_once(')').map_or(part, |(_, rest)| rest)).collect();
        let (linux, constrained) = bare.split_once(',').unwrap_or_else(|| panic!("{place}: one preset of two"));
        let key = place.rsplit_once('/').unwrap().1;
        let values = [linux, constrained].map(|value| {
            let word = first_word(value);
            if word.parse::<f64>().is_ok() || ["true", "false"].contains(&&*word) { word } else { format!("{word:?}") }
        });
        let presets = [("linux", tcp::TcpConfig::linux()), ("constrained", tcp::TcpConfig::constrained())];
        for ((preset, config), value) in presets.iter().zip(&values) {
            assert_eq!(tcp(preset, key, value), *config, "{place}: the preset {preset}");
        }
        if values[0] != values[1] {
            assert_ne!(tcp("linux", key, &values[1]), presets[0].1, "{place} has no effect");
        }
        compared += 1;
    }
    assert!(compared >= 19, "{compared}");
}

#[test]
fn buffers_have_room_for_four_segments_of_any_length() {
    let tcp = |keys: &str| with(&format!("transport.client={{ {keys} }}")).transport.client.config(Preset::Linux);
    let small = tcp("preset = \"constrained\", mss = 1000");
    assert_eq!((small.mss, small.send_buffer, small.receive_buffer), (1_000, 4_000, 4_000));
    // The buffers of Linux have room. A window scale of 2^7 would be more than a segment of 100 octets.
    let linux = tcp("mss = 100");
    let preset = tcp::TcpConfig::linux();
    assert_eq!((linux.send_buffer, linux.receive_buffer), (preset.send_buffer, preset.receive_buffer));
    assert!(preset.window_scale > Some(6) && linux.window_scale == Some(6), "2^6 is 64: {:?}", preset.window_scale);
    // A buffer that is given is taken as it is.
    assert_eq!(tcp("preset = \"constrained\", mss = 100, send_buffer = 500").send_buffer, 500);
}

/// Linux adds its minimum to the round-trip time (`tcp_rto_min` in `tcp_set_rto`); RFC 6298 adds the granularity of the
/// clock.
#[test]
fn the_least_timeout_of_linux_is_its_margin_too() {
    let rto = |keys: &str| with(&format!("transport.client={{ {keys} }}")).transport.client.config(Preset::Linux).rto;
    let half = Duration::from_millis(500);
    let (linux, small) = (rto("min_rto_s = 0.5"), rto("preset = \"constrained\", min_rto_s = 0.5"));
    assert_eq!((linux.min, linux.granularity), (half, half));
    assert_eq!((small.min, small.granularity), (half, tcp::TcpConfig::constrained().rto.granularity));
    assert!(small.granularity < half);
}

#[test]
fn clients_are_the_leaves_unless_named() {
    assert_eq!(with("mac.queue=20").clients(), nodes(&[2]));
    assert_eq!(with("network.topology={ kind = \"star\", leaves = 3 }").clients(), nodes(&[1, 2, 3]));
    assert_eq!(with("network.topology={ kind = \"tree\", depth = 2, fan_out = 2 }").clients(), nodes(&[3, 4, 5, 6]));
    assert_eq!(with("client.nodes=[2, 1]").clients(), nodes(&[2, 1]));
    // 0 - 1 - 2, 1 - 3
    let explicit = "network.topology={ kind = \"explicit\", links = [{from=0,to=1},{from=1,to=2},{from=3,to=1}] }";
    assert_eq!(with(explicit).clients(), nodes(&[2, 3]));
    assert_eq!(with("server.at=1").clients(), nodes(&[2]));
    // 0 - 1..3, 1 - 4..6, 2 - 7: the others of the last level are left out.
    let part = "network.topology={ kind = \"tree\", depth = 2, fan_out = 3, nodes = 8 }";
    assert_eq!(with(part).clients(), nodes(&[3, 4, 5, 6, 7]));
    // Evenly spread: of five nodes, those at 0 * 5 / 3, 1 * 5 / 3 and 2 * 5 / 3.
    let mut some = with("network.topology={ kind = \"star\", leaves = 5 }");
    some.sections.client.count = Some(crate::input::Integer::constant(3));
    assert_eq!(some.clients(), nodes(&[1, 2, 4]));
}

#[test]
fn links_have_the_ratios_that_are_given() {
    let mut scenario = with(
        "network={ topology = { kind = \"explicit\", links = [{from=0,to=1,pdr=0.8,reverse_pdr=0.7},{from=1,to=2}] }, \
         link_pdr = 0.9, channel_pdr = { 20 = 0.25 } }",
    );
    let ratios = |scenario: &Scenario| -> Vec<(u16, u16, f64, f64)> {
        scenario.network.links().iter().map(|link| (link.from.0, link.to.0, link.data, link.ack)).collect()
    };
    assert_eq!(ratios(&scenario), [(0, 1, 0.8, 0.8), (1, 0, 0.7, 0.7), (1, 2, 0.9, 0.9), (2, 1, 0.9, 0.9)]);
    scenario.sections.network.ack_pdr = Some(crate::input::Probability::constant(0.99));
    assert_eq!(ratios(&scenario)[1], (1, 0, 0.7, 0.99));
    assert!(scenario.network.links().iter().all(|link| link.channels == [(20, 0.25)]));
}

#[test]
fn a_written_schedule_stands_in_for_the_dedicated_cells() {
    let schedule = "mac.schedule=[{slot=3,from=2,to=1},{slot=4,from=1,to=2,channel_offset=5,kind=\"shared\"}]";
    let scenario = with(schedule);
    let Mac::Tsch(tsch) = &scenario.mac else { panic!("not TSCH") };
    let cells = tsch.schedule(scenario.mesh().routes()).unwrap();
    let given = |node: usize| -> Vec<(u16, u8, bool, bool)> {
        let given = cells[node].iter().filter(|cell| cell.handle == 2);
        given.map(|c| (c.slot, c.channel_offset, c.options.transmit, c.options.shared)).collect()
    };
    assert_eq!(given(0), []);
    assert_eq!(given(1), [(3, 0, false, false), (4, 5, true, true)]);
    assert_eq!(given(2), [(3, 0, true, false), (4, 5, false, false)]);
}

#[test]
fn each_end_gets_its_own_configuration() {
    let scenario = with(
        "session={ stack = \"mbedtls\", suite = \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM\", auth = \"server\", timeout_s = 3, \
         server_timeout_s = 1.5, max_fragment_length = 512, connection_id = 2, curve = \"secp192r1\" }",
    );
    let (client, server) = (scenario.session.config(Role::Client), scenario.session.config(Role::Server));
    assert_eq!(client.timers.first.unwrap().as_millis(), 3_000);
    assert_eq!(server.timers.first.unwrap().as_millis(), 1_500);
    for config in [client, server] {
        let Some(tls) = config.family.tls() else { panic!("a session of TLS or DTLS") };
        let Version::Dtls12(dtls) = tls.version else { panic!("{tls:?}") };
        assert_eq!(tls.auth, slowhand_sessions::Auth::Server);
        assert_eq!((tls.max_fragment_length, dtls.connection_id), (Some(512), Some(2)));
        assert_eq!(tls.curve, slowhand_sessions::Curve::Secp192r1);
    }
}

/// The suite may be left out: the best that the client's library has for the way of authentication, and that the
/// server's library has too.
#[test]
fn without_a_suite_the_libraries_have_their_best() {
    let suite = |session: &str| {
        let session = with(&format!("session={{ {session} }}")).session.clone();
        let configs = [Role::Client, Role::Server].map(|role| session.config(role));
        for config in configs {
            let Some(tls) = config.family.tls() else { panic!("a session of TLS or DTLS") };
            assert_eq!(tls.suite, session.suite(), "{}", config.stack);
        }
        session.suite().unwrap()
    };
    assert_eq!(suite("stack = \"mbedtls\""), Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384);
    assert_eq!(suite("stack = \"mbedtls\", auth = \"psk\""), Suite::TLS_PSK_WITH_AES_256_GCM_SHA384);
    assert_eq!(suite("stack = \"tinydtls\""), Suite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8);
    let pair = "auth = \"psk\", stack = \"mbedtls\", server_stack = \"tinydtls\"";
    assert_eq!(suite(pair), Suite::TLS_PSK_WITH_AES_128_CCM);
    assert_eq!(suite("stack = \"openssl\", protocol = \"tls1.3\""), Suite::TLS_AES_256_GCM_SHA384);
    assert_eq!(with("session={ stack = \"rustls\", protocol = \"tls1.2\" }").session.stack, Stack::RUSTLS);
}

/// A section of the schema has the keys that the loader names when it meets an unknown one. Each key has a description.
#[test]
fn the_schema_has_the_keys_that_the_loader_knows() {
    let schema = schema();
    let schema = schema.as_value();
    let resolve = |value: &Value| -> Value {
        value.get("$ref").map_or(value.clone(), |path| {
            let path = path.as_str().unwrap().trim_start_matches('#');
            schema.pointer(path).unwrap_or_else(|| panic!("{path} is not in the schema")).clone()
        })
    };
    let mut sections: Vec<(String, Value)> = Vec::new();
    for (name, section) in schema["properties"].as_object().unwrap() {
        let section = resolve(section.get("items").unwrap_or(section));
        match section.get("oneOf").and_then(Value::as_array) {
            Some(kinds) => sections.extend(kinds.iter().map(|kind| (name.clone(), kind.clone()))),
            None => sections.push((name.clone(), section)),
        }
    }
    for (name, section) in sections {
        let properties = match section.get("$ref") {
            Some(_) => merged(&section, &resolve(&section)),
            None => section["properties"].as_object().unwrap().clone(),
        };
        let mut keys: Vec<&str> = properties.keys().map(String::as_str).filter(|key| *key != "kind").collect();
        let kind = properties.get("kind").and_then(|kind| kind["const"].as_str());
        let table = kind.map_or(String::new(), |kind| format!("kind = {kind:?}, "));
        let table = format!("{{ {table}no_such_key = 1 }}");
        let is_array = schema["properties"][&name].get("items").is_some();
        let change = if is_array { format!("{name}=[{table}]") } else { format!("{name}={table}") };
        let error = changed(&change).unwrap_err();
        let mut known: Vec<&str> = error.allowed.split(", ").collect();
        keys.sort_unstable();
        known.sort_unstable();
        assert_eq!(keys, known, "{change}");
        assert!(
            properties.values().all(|key| key.get("description").is_some() || key.get("const").is_some()),
            "{name}"
        );
    }
}

/// The keys of a kind: those beside its `$ref`, and those behind it.
fn merged(kind: &Value, behind: &Value) -> serde_json::Map<String, Value> {
    let mut keys = kind["properties"].as_object().unwrap().clone();
    keys.extend(behind["properties"].as_object().unwrap().clone());
    keys
}

#[test]
fn the_scenarios_that_come_along_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 6);
    for file in files {
        let scenario = Scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, file.file_stem().unwrap().to_str().unwrap());
        assert!(!scenario.clients().is_empty());
        crate::plan::Plan::new(&scenario).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

#[test]
fn the_key_against_a_loss_is_a_key_of_the_scenario() {
    use slowhand_net::address::Host;
    use slowhand_net::drop_reason::DropReason as Reason;
    let kinds = ["{ kind = \"tsch\" }", "{ kind = \"xmac\" }", "{ kind = \"beacon\" }", "{ kind = \"csma\" }"];
    let hosts = [Host::Node(NodeId::ROOT), Host::Node(NodeId(1)), Host::Internet];
    let reasons = [
        (Reason::QueueFull, 4),
        (Reason::RetriesExhausted, 4),
        (Reason::NoCell, 1),
        (Reason::ChannelAccessFailure, 2),
        (Reason::TransactionExpired, 2),
        (Reason::FrameLost, 1),
        (Reason::InjectedLoss, 4),
        (Reason::ReassemblyFull, 4),
        (Reason::ReassemblyTooLong, 4),
        (Reason::ReassemblyTimeout, 4),
        (Reason::ForwardingFull, 4),
        (Reason::ForwardingTimeout, 4),
        (Reason::FirstFragmentMissing, 0),
        (Reason::NoSlack, 0),
        (Reason::RecoveryFailed, 4),
        (Reason::Malformed, 0),
        (Reason::NoRoute, 0),
        (Reason::HopLimit, 0),
        (Reason::Internet, 4),
        (Reason::SendQueueFull, 4),
        (Reason::ConnectionClosed, 0),
        (Reason::Suppressed, 4),
    ];
    for (reason, expected) in reasons {
        let keys = kinds.map(|mac| {
            let scenario = with(&format!("mac={mac}"));
            let keys = hosts.map(|host| scenario.remedy(reason, host, 1, Holders::default()).map(|remedy| remedy.key));
            for key in keys.into_iter().flatten() {
                assert!(exists(&scenario, key), "{key} under {mac}");
            }
            keys[0]
        });
        assert_eq!(keys.into_iter().flatten().count(), expected, "{}: {keys:?}", reason.name());
    }
}

#[test]
fn the_advice_fits_the_key() {
    use slowhand_net::address::Host;
    use slowhand_net::drop_reason::DropReason as Reason;
    let scenario_of = |changes: &[&str]| {
        let files = BTreeMap::from([("scenario.toml".to_owned(), SMALLEST.to_owned())]);
        let overrides = changes.iter().map(|change| (*change).to_owned()).collect();
        Scenario::from_sources(&Sources { scenario: "scenario.toml".into(), files, overrides }).unwrap()
    };
    let of = |changes: &[&str], reason| {
        scenario_of(changes)
            .remedy(reason, Host::Node(NodeId(1)), 1, Holders::default())
            .map(|remedy| (remedy.key, remedy.advice))
    };
    // The border router has keys of its own.
    let hosts = [NodeId::ROOT, NodeId(1)].map(Host::Node);
    let of_hosts =
        |reason| hosts.map(|host| with("mac.queue=20").remedy(reason, host, 1, Holders::default()).unwrap().key);
    let buffers = ["lowpan.border_router_reassembly_buffers", "lowpan.reassembly_buffers"];
    assert_eq!(of_hosts(Reason::ReassemblyFull), buffers);
    let held = |lost, refused| {
        let holders = Holders { datagrams: 4, lost, refused };
        with("mac.queue=20").remedy(Reason::ReassemblyFull, hosts[1], 1, holders).unwrap()
    };
    assert_eq!(held(3, 0), Remedy::lower("lowpan.reassembly_timeout_s"));
    // Half of them were alive, or lost a fragment only because buffers were full.
    assert_eq!((held(2, 0).key, held(3, 1).key), ("lowpan.reassembly_buffers", "lowpan.reassembly_buffers"));
    // Two losses with 2 of 4 buffers taken each: what was full are the 1,600 octets of OpenWSN, and more buffers are of no use.
    let full = |count, host, changes: &[&str]| {
        let holders = Holders { datagrams: 4, lost: 0, refused: 0 };
        scenario_of(changes).remedy(Reason::ReassemblyFull, host, count, holders).unwrap()
    };
    let octets = Remedy::raise("lowpan.reassembly_octets");
    assert_eq!((full(2, hosts[1], &[]), full(2, hosts[0], &[])), (octets, octets));
    assert_eq!(full(1, hosts[1], &[]).key, "lowpan.reassembly_buffers", "all 4 of them");
    assert_eq!(
        full(2, hosts[0], &["lowpan.border_router_reassembly_buffers=4"]).key,
        buffers[0],
        "it counts buffers only"
    );
    assert_eq!(full(2, hosts[1], &["network.profile=rfc"]).key, buffers[1], "each buffer has its own octets");
    let entries = ["lowpan.forwarding.border_router_entries", "lowpan.forwarding.entries"];
    assert_eq!(of_hosts(Reason::ForwardingFull), entries);
    let (raise, lower, change) = (Some(Advice::Raise), Some(Advice::Lower), Some(Advice::Change));
    assert_eq!(of(&[], Reason::ReassemblyFull), Some(("lowpan.reassembly_buffers", raise)));
    assert_eq!(of(&[], Reason::ReassemblyTooLong), Some(("session.mtu", lower)));
    assert_eq!(of(&["session.protocol=tls1.2", "session.stack=mbedtls"], Reason::ReassemblyTooLong), None);
    assert_eq!(of(&["mac={ kind = \"xmac\" }"], Reason::FrameLost), Some(("mac.data_ack", change)));
    assert_eq!(of(&["mac={ kind = \"xmac\" }"], Reason::RetriesExhausted), Some(("mac.retry", change)));
    assert_eq!(of(&[], Reason::NoCell), Some(("mac.cells", change)));
    let written = "mac.schedule=[{ slot = 3, from = 1, to = 0 }, { slot = 4, from = 0, to = 1 }]";
    assert_eq!(of(&[written], Reason::NoCell), Some(("mac.schedule", change)));
    // The cause that keeps frames from arriving is named, and not the repetitions against it.
    let outage = "network.outages=[{ node = 1, from_s = 1, until_s = 2 }]";
    let wifi = "network.wifi=[{ channel = 6, duty = 0.5, burst_ms = 5 }]";
    let slow = "network.frame_handling_ms=14";
    assert_eq!(of(&[outage], Reason::RetriesExhausted), Some(("network.outages", None)));
    assert_eq!(of(&[wifi], Reason::RetriesExhausted), Some(("network.wifi", None)));
    assert_eq!(of(&[slow], Reason::RetriesExhausted), Some(("network.frame_handling_ms", lower)));
    assert_eq!(of(&[slow, outage], Reason::RetriesExhausted), Some(("mac.max_retries", raise)));
    let elsewhere = "mac.hopping_sequence=[15, 20]";
    assert_eq!(of(&[wifi, elsewhere], Reason::RetriesExhausted), Some(("mac.max_retries", raise)));
    assert_eq!(with(wifi).wifi_elsewhere(), [0; 0]);
    // A loss that the scenario asks for has the key that asks. Where two keys ask, none is named.
    let (share, numbers) = ("lowpan.fragment_loss=0.1", "lowpan.dropped_frames=[1]");
    assert_eq!(of(&[share], Reason::InjectedLoss), Some(("lowpan.fragment_loss", None)));
    assert_eq!(of(&[numbers], Reason::InjectedLoss), Some(("lowpan.dropped_frames", None)));
    assert_eq!(of(&[share, numbers], Reason::InjectedLoss), None);
    let every_frame = "lowpan.frame_loss=0.1";
    assert_eq!(of(&[every_frame], Reason::InjectedLoss), Some(("lowpan.frame_loss", None)));
    assert_eq!(of(&[every_frame, share], Reason::InjectedLoss), None);
    assert_eq!(of(&[every_frame, numbers], Reason::InjectedLoss), None);
    let (share, numbers) = ("server={ internet_loss = 0.1 }", "server.internet_dropped=[1]");
    assert_eq!(of(&[share], Reason::Internet), Some(("server.internet_loss", None)));
    assert_eq!(of(&[numbers], Reason::Internet), Some(("server.internet_dropped", None)));
    assert_eq!(of(&[share, numbers], Reason::Internet), None);
}

/// True if a scenario of this kind of link layer knows the key: it finds fault with the value, not with the key.
fn exists(scenario: &Scenario, key: &str) -> bool {
    let kind = scenario.mac.kind();
    let files = BTreeMap::from([("scenario.toml".to_owned(), SMALLEST.to_owned())]);
    let overrides = vec![format!("mac={{ kind = \"{kind}\" }}"), format!("{key}=1979-05-27")];
    let error = Scenario::from_sources(&Sources { scenario: "scenario.toml".into(), files, overrides }).unwrap_err();
    error.to_string().contains("1979-05-27")
}

/// Also of a kind that is added later: its keys follow from the schema, as the kinds do here.
#[test]
fn a_key_of_another_kind_of_link_layer_is_said_as_such() {
    let schema = serde_json::to_value(schema()).unwrap();
    let kinds: Vec<(String, Vec<String>)> =
        schema["$defs"]["Mac"]["oneOf"].as_array().unwrap().iter().map(of_kind).collect();
    let mut others = 0;
    for (kind, keys) in &kinds {
        for key in kinds.iter().flat_map(|(_, keys)| keys).filter(|key| !keys.contains(key)) {
            let have: Vec<String> =
                kinds.iter().filter(|(_, keys)| keys.contains(key)).map(|(kind, _)| format!("\"{kind}\"")).collect();
            let files = BTreeMap::from([("scenario.toml".to_owned(), SMALLEST.to_owned())]);
            let overrides = vec![format!("mac={{ kind = \"{kind}\" }}"), format!("mac.{key}=1")];
            let sources = Sources { scenario: "scenario.toml".into(), files, overrides };
            let error = Scenario::from_sources(&sources).unwrap_err().to_string();
            let expected = format!("--set mac.{key}: found a key of mac.kind = {}, allowed: ", have.join(" or "));
            assert!(error.starts_with(&expected), "{error}\nnot {expected}");
            others += 1;
        }
    }
    assert!(kinds.len() >= 4 && others > 50, "{others} keys of {} kinds", kinds.len());
}

/// The name and the keys of a kind of link layer, from its schema.
fn of_kind(schema: &serde_json::Value) -> (String, Vec<String>) {
    let keys = schema["properties"].as_object().unwrap();
    (keys["kind"]["const"].as_str().unwrap().to_owned(), keys.keys().cloned().collect())
}
