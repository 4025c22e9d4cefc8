//! `[client]`, `[server]`, `[session]`, `[transport]`, `[gateway]` and `[[traffic]]`.

use super::Draw;
use super::link_layer::LinkLayer;
use super::mesh::Mesh;

pub(super) fn draw(draw: &mut Draw, mesh: &Mesh, link_layer: &LinkLayer) {
    let (stack, protocol) = *draw.random.weighted(LIBRARIES);
    let (is_dtls, is_13) = (protocol.starts_with("dtls"), protocol.ends_with("1.3"));
    let may_join = link_layer.kind == "csma"
        && is_dtls
        && !(link_layer.has_sleepy || link_layer.forwards_fragments || link_layer.has_rpl);
    let is_joining = may_join && draw.random.percent(25);
    client(draw, mesh, is_joining);
    let is_on_internet = server(draw, mesh, is_joining);
    draw.set_text("session.stack", stack);
    draw.set_text("session.protocol", protocol);
    let is_psk = credentials(draw, stack, protocol);
    draw.maybe(100, "session.give_up_s", &[30, 100, 200, 200]);
    if is_dtls {
        datagrams(draw, stack, is_13, is_psk);
        if is_on_internet && !is_13 && !is_joining {
            draw.maybe(12, "gateway.suppress_spurious_flights", &[true]);
        }
    } else {
        ["client", "server"].iter().for_each(|end| tcp(draw, end));
        if is_on_internet && draw.random.percent(35) {
            draw.set("gateway.tcp_proxy", true);
            draw.maybe(30, "gateway.tcp_initial_window", &[1, 4]);
        }
    }
    if !is_joining {
        traffic(draw, mesh);
    }
    application(draw);
    slots(draw);
    leaves(draw);
}

/// Servers at the leaves of a star, where nothing else says where an end is. The root may walk past them.
fn leaves(draw: &mut Draw) {
    let is_elsewhere = ["server.at", "server.internet_", "client.nodes", "client.count", "client.joining", "gateway."];
    let is_needed = |(key, _): &(String, String)| {
        is_elsewhere.iter().any(|start| key.starts_with(start)) || key == "application.pattern"
    };
    let is_star = draw.keys.iter().any(|(key, value)| key == "network.topology" && value.contains("\"star\""));
    if !is_star || draw.keys.iter().any(is_needed) || draw.random.percent(40) {
        return;
    }
    draw.set_text("server.at", "leaves");
    let varies =
        ["network.trace", "network.changes"].iter().any(|key| draw.keys.iter().any(|(name, _)| name.starts_with(key)));
    if !varies {
        draw.maybe(50, "network.walk", &["{ every_s = 3, reach_s = 5 }", "{ every_s = 10, reach_s = 8 }"]);
    }
}

/// A server that holds few sessions.
fn slots(draw: &mut Draw) {
    if !draw.random.percent(15) {
        return;
    }
    draw.maybe(100, "server.slots", &[1, 2, 1_000]);
    draw.maybe(50, "server.session_s", &["0.5", "20"]);
    draw.maybe(30, "server.half_open_s", &[2]);
    let policy = *draw.random.one_of(&["refuse", "evict-oldest", "evict-least-recently-used", "evict-idle-longest"]);
    draw.set_text("server.policy", policy);
    if policy == "evict-idle-longest" {
        draw.set("server.idle_after_s", 1);
    }
}

/// Clients that try again. They give up soon, so that worlds stay short.
fn application(draw: &mut Draw) {
    if draw.random.percent(10) {
        let retry = *draw.random.one_of(&[
            "{ kind = \"fixed\", wait_s = 3, attempts = 3 }",
            "{ kind = \"exponential\", first_s = 0.5, longest_s = 10, jitter = 1, attempts = 4 }",
            "{ kind = \"exponential\", attempts = 2 }",
        ]);
        draw.set("application.retry", retry);
        let give_up = draw.keys.iter_mut().find(|(key, _)| key == "session.give_up_s");
        give_up.into_iter().for_each(|(_, seconds)| "8".clone_into(seconds));
    }
    // Acts of a client over a long time change nothing in a run.
    if draw.random.percent(5) {
        draw.set_text("application.pattern", "periodic");
        draw.set("application.period_s", 60);
        draw.maybe(50, "application.request_bytes", &[4, 200]);
        draw.maybe(50, "application.response_bytes", &[4, 200]);
        draw.maybe(30, "application.piece_bytes", &[32]);
        draw.maybe(30, "application.idle_timeout_s", &[120]);
        draw.maybe(30, "application.keep_alive_s", &[30, 100]);
        draw.maybe(30, "application.rekey_after_s", &[3_600]);
        draw.maybe(30, "application.session", &["\"kept\""]);
    } else if draw.random.percent(3) {
        draw.set_text("application.pattern", "once");
        draw.set("application.bytes", 1_000);
    }
}

/// Each library with a protocol of its own.
const LIBRARIES: &[(u64, (&str, &str))] = &[
    (16, ("lean-dtls", "dtls1.2")),
    (18, ("lean-dtls", "dtls1.3")),
    (14, ("mbedtls", "dtls1.2")),
    (11, ("openssl", "dtls1.2")),
    (11, ("tinydtls", "dtls1.2")),
    (7, ("mbedtls", "tls1.2")),
    (5, ("mbedtls", "tls1.3")),
    (6, ("openssl", "tls1.2")),
    (5, ("openssl", "tls1.3")),
    (4, ("rustls", "tls1.2")),
    (3, ("rustls", "tls1.3")),
];

fn client(draw: &mut Draw, mesh: &Mesh, is_joining: bool) {
    let device = *draw.random.weighted(&[
        (30, "openmote-cc2538"),
        (14, "wismote"),
        (12, "stm32wb55"),
        (10, "telosb"),
        (4, "nrf52840"),
        (3, "esp32-c6"),
        (3, "atmega128rfa1"),
        (6, "greennet"),
        (6, "opal-tpm"),
    ]);
    draw.set_text("client.device", device);
    draw.maybe(25, "client.compute_factor", &["0", "0.1", "0.5"]);
    if is_joining {
        draw.set("client.joining", true);
    } else if draw.random.percent(12) {
        let node = draw.random.in_range(1..mesh.nodes);
        draw.set("client.nodes", format_args!("[{node}]"));
    }
    draw.maybe(20, "client.count", &[1]);
    draw.maybe(5, "client.start_s", &["0.5", "10"]);
    draw.maybe(20, "client.start_spread_s", &["0", "0.02", "4"]);
}

/// Returns whether the server is on the Internet.
fn server(draw: &mut Draw, mesh: &Mesh, is_joining: bool) -> bool {
    draw.maybe(8, "server.device", &["\"openmote-cc2538\"", "\"stm32wb55\""]);
    let place = match draw.random.in_range(0..100) {
        0..10 => "\"root\"".to_owned(),
        10..17 if !is_joining && mesh.leaves != [1] => "1".to_owned(),
        _ => {
            draw.maybe(40, "server.internet_delay_ms", &[5, 40, 150]);
            draw.maybe(25, "server.internet_jitter_ms", &[4, 100]);
            draw.maybe(12, "server.internet_loss", &[0.05, 0.15]);
            draw.maybe(8, "server.internet_dropped", &["[1]", "[2, 3]"]);
            return true;
        }
    };
    draw.set("server.at", place);
    false
}

/// Returns whether the ends have a pre-shared key.
fn credentials(draw: &mut Draw, stack: &str, protocol: &str) -> bool {
    let is_13 = protocol.ends_with("1.3");
    let is_psk = stack != "rustls" && protocol != "tls1.3" && draw.random.percent(55);
    let suites: &[&str] = match (stack, is_13, is_psk) {
        ("lean-dtls", true, _) => &[
            "TLS_AES_128_CCM_8_SHA256",
            "TLS_AES_128_CCM_8_SHA256",
            "TLS_AES_128_CCM_SHA256",
            "TLS_AES_128_GCM_SHA256",
        ],
        (_, true, _) => &["TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"],
        ("lean-dtls", _, true) => &[
            "TLS_PSK_WITH_AES_128_CCM_8",
            "TLS_PSK_WITH_AES_128_CCM_8",
            "TLS_PSK_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256",
        ],
        ("tinydtls", _, true) => &["TLS_PSK_WITH_AES_128_CCM_8", "TLS_PSK_WITH_AES_128_CCM"],
        (_, _, true) => &["TLS_PSK_WITH_AES_128_CCM_8", "TLS_PSK_WITH_AES_128_CCM", "TLS_PSK_WITH_AES_128_GCM_SHA256"],
        ("lean-dtls", ..) => &["TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
        ("tinydtls", ..) => &["TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM"],
        ("rustls", ..) => &["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
        ("mbedtls", ..) => &[
            "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            "TLS_ECJPAKE_WITH_AES_128_CCM_8",
        ],
        _ => &[
            "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
            "TLS_RSA_WITH_AES_128_CBC_SHA256",
        ],
    };
    let suite = *draw.random.one_of(suites);
    if draw.random.percent(92) {
        draw.set_text("session.suite", suite);
    }
    let is_fixed = suite.contains("ECJPAKE") || stack == "tinydtls";
    match (is_psk, is_13) {
        (true, true) => draw.set_text("session.auth", "psk"),
        (true, false) if draw.random.percent(20) => draw.set_text("session.auth", "psk"),
        (false, _) if !is_fixed => draw.maybe(45, "session.auth", &["\"server\"", "\"mutual\""]),
        _ => {}
    }
    if is_psk {
        draw.maybe(5, "session.psk_identity", &["\"n\"", "\"an identity of thirty-two octets\""]);
        if stack == "lean-dtls" {
            draw.maybe(if is_13 { 40 } else { 0 }, "session.psk_mode", &["\"psk_dhe_ke\""]);
            draw.maybe(20, "session.cryptography", &["\"weightless\""]);
        }
    } else {
        // Results that were computed before are not computed again.
        draw.maybe(85, "session.nonces", &[2]);
        if stack == "lean-dtls" {
            draw.maybe(60, "session.credential", &["\"certificate\"", "\"raw_public_key\""]);
        } else if !is_fixed {
            draw.maybe(10, "session.certificate_length", &[1_000]);
            draw.maybe(
                if stack == "rustls" && is_13 { 50 } else { 0 },
                "session.certificate_compression",
                &["\"zlib\""],
            );
        }
    }
    if suite.contains("RSA_WITH") && !suite.contains("ECDSA") {
        draw.set("session.rsa_bits", 1_024);
    }
    let resumes = matches!((stack, is_13), ("lean-dtls" | "mbedtls" | "rustls", false));
    if resumes && !suite.contains("ECJPAKE") {
        draw.maybe(8, "session.resumption", &["\"id\"", "\"ticket\""]);
    }
    let others: &[&str] = match protocol {
        "dtls1.2" => &["lean-dtls", "mbedtls", "openssl", "tinydtls"],
        "dtls1.3" => &["lean-dtls"],
        _ => &["mbedtls", "openssl", "rustls"],
    };
    if draw.random.percent(8) {
        let other = *draw.random.one_of(others);
        draw.set_text("session.server_stack", other);
    }
    is_psk
}

fn datagrams(draw: &mut Draw, stack: &str, is_13: bool, is_psk: bool) {
    draw.maybe(65, "session.timeout_s", &["0.3", "0.5", "1", "2", "5", "9"]);
    draw.maybe(8, "session.server_timeout_s", &["1", "4"]);
    if stack != "tinydtls" {
        draw.maybe(if is_13 { 25 } else { 15 }, "session.cookie", &[false]);
        draw.maybe(8, "session.max_timeout_s", &[10, 30]);
        draw.maybe(22, "session.mtu", &[220, 256, 400, 600]);
    }
    if stack != "tinydtls" && !is_13 {
        draw.maybe(7, "session.max_fragment_length", &[512, 1_024]);
    }
    if matches!(stack, "lean-dtls" | "mbedtls") {
        draw.maybe(12, "session.connection_id", &[0, 2, 8]);
    }
    if stack == "lean-dtls" {
        draw.maybe(15, "session.datagram_packing", &[false]);
        draw.maybe(10, "session.timeout_floor_s", &["0.5", "3"]);
    }
    if stack == "lean-dtls" && !is_13 && is_psk {
        draw.maybe(
            35,
            "session.lean",
            &[
                "[\"all\"]",
                "[\"slides\"]",
                "[\"acknowledge\"]",
                "[\"omit_messages\", \"short_nonce\"]",
                "[\"server_finished_first\"]",
                "[\"short_header\", \"short_finished\", \"acknowledge\"]",
            ],
        );
    }
}

fn tcp(draw: &mut Draw, end: &str) {
    let mut maybe = |share, key: &str, values: &[&str]| draw.maybe(share, &format!("transport.{end}.{key}"), values);
    maybe(10, "preset", &["\"linux\"", "\"constrained\""]);
    maybe(15, "mss", &["200", "536", "844"]);
    maybe(10, "nagle", &["\"off\"", "\"rfc896\"", "\"minshall\""]);
    maybe(15, "delayed_ack_ms", &["0", "40", "150"]);
    maybe(10, "sack", &["false"]);
    maybe(10, "timestamps", &["true", "false"]);
    maybe(10, "initial_window", &["1", "4", "10"]);
    maybe(6, "congestion", &["\"reno\"", "\"cubic\""]);
    maybe(6, "recovery", &["\"reno\""]);
    maybe(6, "ecn", &["\"request\"", "\"accept\""]);
    maybe(8, "single_segment", &["true"]);
    maybe(8, "tail_loss_probe", &["true", "false"]);
    maybe(15, "initial_rto_s", &["0.4", "3"]);
    maybe(6, "min_rto_s", &["0.5"]);
    maybe(8, "waits_while_computing", &["true"]);
}

fn traffic(draw: &mut Draw, mesh: &Mesh) {
    if !draw.random.percent(20) {
        return;
    }
    let node = draw.random.in_range(1..mesh.nodes);
    let ends = *draw.random.one_of(&[
        "from = \"nodes\", to = \"root\"",
        "from = \"root\", to = NODE",
        "from = NODE, to = \"internet\"",
        "from = \"internet\", to = NODE",
    ]);
    let pattern = *draw.random.one_of(&["", ", pattern = \"poisson\"", ", pattern = \"bursts\", burst = 3"]);
    let interval = *draw.random.one_of(&[500, 1_500, 4_000]);
    let octets = *draw.random.one_of(&[20, 60, 250]);
    let ends = ends.replace("NODE", &node.to_string());
    draw.set("traffic", format_args!("[{{ {ends}, interval_ms = {interval}, octets = {octets}{pattern} }}]"));
}
