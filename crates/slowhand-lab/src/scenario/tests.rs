use slowhand_sessions::Role;

use super::*;

const SMALLEST: &str = r#"
network.topology = { kind = "line", hops = 2 }
mac.kind = "tsch"
client.device = "wismote"
session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
"#;

fn with(change: &str) -> Scenario {
    let mut document = Document::parse(Path::new("scenario.toml"), SMALLEST).unwrap();
    document.set(&change.parse().unwrap()).unwrap();
    Scenario::from_document(document, Path::new("scenario.toml"), &[]).unwrap()
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
    assert_eq!((tsch.cells.shared.get(), tsch.cells.managed.map(|cells| cells.get())), (1, None));
    assert_eq!(tsch.hopping().len(), 16);
    assert_eq!(scenario.network.link_pdr.get(), 1.0);
    assert_eq!(scenario.lowpan.max_frame_payload.get() as usize, slowhand_net::radio::frame::DATA_PAYLOAD);
    assert_eq!(scenario.lowpan.reassembly_timeout_s.micros(), 60_000_000);
    assert_eq!(scenario.server.at, ServerAt::Internet);
    assert_eq!(scenario.session.auth(), Auth::Psk);
    assert_eq!(scenario.session.give_up_s.get(), 300.0);
    assert_eq!((scenario.session.server_port.get(), scenario.session.client_port.get()), (5_684, 0xF0B0));
    assert_eq!(scenario.client_device.supply_v.value, 2.8);
    let forwards_only = scenario.gateway.config();
    assert!(forwards_only.tcp_proxy.is_none() && forwards_only.suppression.is_none());
    let gateway = with("gateway={ tcp_proxy = true, suppress_spurious_flights = true }").gateway.config();
    assert_eq!(gateway.tcp_proxy, Some(slowhand_net::transport::pep::Config::default()));
    assert_eq!(gateway.suppression, Some(slowhand_net::network::gateway::suppression::Config::default()));
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
    scenario.network.ack_pdr = Some(crate::input::Probability::constant(0.99));
    assert_eq!(ratios(&scenario)[1], (1, 0, 0.7, 0.99));
    assert!(scenario.network.links().iter().all(|link| link.channels == [(20, 0.25)]));
}

#[test]
fn a_written_schedule_stands_in_for_the_managed_cells() {
    let mut document = Document::parse(Path::new("scenario.toml"), SMALLEST).unwrap();
    let schedule = "mac.schedule=[{slot=3,from=2,to=1},{slot=4,from=1,to=2,channel_offset=5,kind=\"shared\"}]";
    document.set(&schedule.parse().unwrap()).unwrap();
    let scenario = Scenario::from_document(document, Path::new("scenario.toml"), &[]).unwrap();
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
    assert_eq!(client.first_timeout.unwrap().as_millis(), 3_000);
    assert_eq!(server.first_timeout.unwrap().as_millis(), 1_500);
    for config in [client, server] {
        assert_eq!(config.auth, slowhand_sessions::Auth::Server);
        assert_eq!((config.max_fragment_length, config.connection_id), (Some(512), Some(2)));
        assert_eq!(config.curve, slowhand_sessions::Curve::Secp192r1);
    }
}

#[test]
fn the_schema_in_the_documents_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.schema.json");
    let mut schema = serde_json::to_string_pretty(&schema()).unwrap();
    schema.push('\n');
    if std::env::var_os("SLOWHAND_REGENERATE").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == schema, "{}: run this test with SLOWHAND_REGENERATE=1", path.display());
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
