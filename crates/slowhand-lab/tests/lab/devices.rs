//! A device needs only what its scenario uses.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::columns;
use slowhand_lab::scenario::{Override, Scenario};

/// A device without any time.
const BARE: &str = include_str!("bare-device.toml");

fn scenario(changes: &[&str], device: &str) -> Scenario {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let mut sources = super::scenario_with(&changes).sources().clone();
    sources.files.insert("own.toml".to_owned(), device.to_owned());
    sources.overrides.push("client.device=own.toml".to_owned());
    Scenario::from_sources(&sources).unwrap()
}

/// One equal time for every key, as the device that is compared has it.
fn constant(key: &str) -> String {
    format!("{key} = {{ value = 2, source = \"a book\" }}\n")
}

/// Gives a device without times one time after the other, as the plan asks for them. Then it has the records of a device
/// that has all times, also where frames are lost.
#[test]
fn a_plan_asks_for_the_times_that_its_handshakes_need() {
    let all = [
        &["sha1_block_us", "sha256_block_us", "aes_block_us", "ghash_block_us"].map(str::to_owned)[..],
        &["secp192r1", "secp256r1"]
            .map(|curve| {
                ["ecdh_generate_ms", "ecdh_agree_ms", "ecdsa_sign_ms", "ecdsa_verify_ms"]
                    .map(|key| format!("{curve}.{key}"))
            })
            .concat(),
        &["rsa1024", "rsa2048", "rsa3072"]
            .map(|rsa| ["private_ms", "public_ms"].map(|key| format!("{rsa}.{key}")))
            .concat(),
    ]
    .concat();
    let complete = all.iter().fold(BARE.to_owned(), |text, key| text + &constant(&format!("crypto.{key}")));
    for (changes, expected) in [
        (&["session.stack=tinydtls"][..], "aes_block_us sha256_block_us"),
        (
            &["session.stack=mbedtls", "session.suite=TLS_PSK_WITH_AES_128_GCM_SHA256"],
            "aes_block_us ghash_block_us sha256_block_us",
        ),
        (
            &["session.stack=mbedtls", "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_CCM", "session.auth=server"],
            "aes_block_us secp256r1.ecdh_agree_ms secp256r1.ecdh_generate_ms secp256r1.ecdsa_verify_ms sha256_block_us",
        ),
        (
            &["session.stack=mbedtls", "session.suite=TLS_RSA_WITH_AES_128_CBC_SHA", "session.mtu=512"],
            "aes_block_us rsa2048.private_ms rsa2048.public_ms sha1_block_us sha256_block_us",
        ),
        (
            &[
                "session.stack=rustls",
                "session.protocol=tls1.3",
                "server.at=internet",
                "session.suite=TLS_AES_128_GCM_SHA256",
            ],
            "aes_block_us ghash_block_us secp256r1.ecdh_agree_ms secp256r1.ecdh_generate_ms secp256r1.ecdsa_sign_ms \
             secp256r1.ecdsa_verify_ms sha256_block_us",
        ),
    ] {
        let changes = [changes, &["network.link_pdr=0.9", "lowpan.frame_loss=0.05"]].concat();
        let (mut device, mut keys) = (BARE.to_owned(), Vec::new());
        let plan = loop {
            match Plan::new(&scenario(&changes, &device)) {
                Ok(plan) => break plan,
                Err(error) => {
                    let message = error.to_string();
                    let key =
                        message.strip_prefix("own.toml: crypto.").and_then(|rest| rest.split(':').next()).unwrap();
                    assert!(
                        message.contains(": found nothing, allowed: ") && message.contains("the client, which runs"),
                        "{message}"
                    );
                    keys.push(key.to_owned());
                    device += &constant(&format!("crypto.{key}"));
                }
            }
        };
        keys.sort();
        assert_eq!(keys.join(" "), expected);
        let all = Plan::new(&scenario(&changes, &complete)).unwrap();
        let records = |plan: &Plan| {
            let records: Vec<_> = (1..=10).flat_map(|seed| plan.run(seed, &mut ())).collect();
            assert!(records.iter().any(|record| record.datagrams_lost > 0), "nothing was lost");
            format!("{:?}", columns(&records))
        };
        assert_eq!(records(&plan), records(&all), "{changes:?}");
    }
}

/// Nothing takes time on it, so it needs no times.
#[test]
fn a_client_without_computing_time_needs_no_device_times() {
    let record = Plan::new(&scenario(&["client.compute_factor=0"], BARE)).unwrap().run(1, &mut ()).remove(0);
    assert_eq!(record.outcome, slowhand_lab::record::Outcome::Completed);
    let error = Plan::new(&scenario(&["client.compute_factor=0.001"], BARE)).unwrap_err().to_string();
    assert!(error.starts_with("own.toml: crypto."), "{error}");
}

/// A ticket with a certificate in it does not fit into a fragment of 512 octets, and mbedTLS does not put a ClientHello
/// together (`ssl_tls12_server.c`): the handshake ends before it shows what it needs.
#[test]
fn a_handshake_that_fails_does_not_show_what_it_needs() {
    let changes = [
        "session.stack=mbedtls",
        "session.suite=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "session.auth=mutual",
        "session.resumption=ticket",
        "session.max_fragment_length=512",
    ];
    let times = ["sha256_block_us", "aes_block_us", "ghash_block_us"];
    let device = times.iter().fold(BARE.to_owned(), |text, key| text + &constant(&format!("crypto.{key}")));
    let error = Plan::new(&scenario(&changes, &device)).unwrap_err().to_string();
    assert!(
        error.starts_with("own.toml: found a device that lacks the time of some operations, allowed: ")
            && error.ends_with("without a network: server: SSL - The requested feature is not available (-0x7080)"),
        "{error}"
    );
}

/// Each device that is built in has a time for all that any suite of any library computes, as client and as server.
#[test]
fn every_device_is_taken_with_every_suite_of_every_library() {
    let sessions = super::every_session();
    assert!(sessions.len() > 80, "{} sessions", sessions.len());
    let mut refused = Vec::new();
    for device in slowhand_lab::device::Device::names() {
        let devices = [format!("client.device={device}"), format!("server.device={device}")];
        for session in &sessions {
            let changes: Vec<&str> = session.changes.iter().chain(&devices).map(String::as_str).collect();
            if let Err(error) = Plan::new(&super::scenario(&changes)) {
                refused.push(format!("{changes:?}: {error}"));
            }
        }
    }
    assert!(refused.is_empty(), "{} are refused:\n{}", refused.len(), refused.join("\n"));
}

/// Each device that is built in computes the handshakes of constrained devices (RFC 7925).
#[test]
fn every_device_computes_the_handshakes_of_rfc_7925() {
    for device in slowhand_lab::device::Device::names() {
        for suite in ["TLS_PSK_WITH_AES_128_CCM_8", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"] {
            let changes =
                [&format!("client.device={device}"), &format!("session.suite={suite}"), "session.timeout_s=60"];
            let record = super::plan(&[&changes[..], &["session.stack=mbedtls"]].concat()).run(1, &mut ()).remove(0);
            assert_eq!(record.outcome, slowhand_lab::record::Outcome::Completed, "{device}, {suite}");
        }
    }
}
