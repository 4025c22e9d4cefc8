//! Weightless cryptography changes nothing that is measured.

use crate::plan;
use slowhand_lab::record::{Outcome, Record};

/// A session of lean-dtls between devices that take their time for what they compute. The timer does not expire if nothing
/// is lost.
const PSK: &[&str] = &[
    "session.stack=lean-dtls",
    "session.timeout_s=3",
    "client.device=openmote-cc2538",
    "server.device=openmote-cc2538",
];

fn run(session: &[&str], cryptography: &str, network: &[&str], seeds: u64) -> Vec<Record> {
    let cryptography = format!("session.cryptography={cryptography}");
    let plan = plan(&[session, &[cryptography.as_str()], network].concat());
    (0..seeds).flat_map(|seed| plan.run(seed, &mut ())).collect()
}

/// The effects of a network on sessions: nothing, losses of frames and of fragments, small datagrams, several hops, several
/// sessions at one server, and so many losses that handshakes fail.
const NETWORKS: [&[&str]; 6] = [
    &[],
    &["network.link_pdr=0.8", "lowpan.fragment_loss=0.1"],
    &["session.mtu=80", "lowpan.fragment_loss=0.05"],
    &["network.topology.hops=4", "mac.autonomous=true", "network.link_pdr=0.9", "lowpan.fragment_loss=0.02"],
    &["network.topology={ kind = \"star\", leaves = 5 }", "mac.autonomous=true"],
    &["lowpan.fragment_loss=0.6", "session.give_up_s=100"],
];

/// The features that such a session can use: key agreement, another cipher, the lean profile, connection IDs; the same in DTLS 1.3.
const SESSIONS: [&[&str]; 10] = [
    &[],
    &["session.suite=TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256"],
    &["session.suite=TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256"],
    &["session.lean=[\"all\"]"],
    &["session.connection_id=4"],
    &[DTLS13[0], DTLS13[1], "session.suite=TLS_AES_128_CCM_8_SHA256"],
    &[DTLS13[0], DTLS13[1], "session.suite=TLS_AES_128_CCM_SHA256", "session.connection_id=4"],
    &[DTLS13[0], DTLS13[1], "session.suite=TLS_AES_128_GCM_SHA256"],
    &[DTLS13[0], DTLS13[1], "session.suite=TLS_AES_128_CCM_8_SHA256", "session.cookie=false"],
    &[DTLS13[0], DTLS13[1], "session.suite=TLS_AES_128_CCM_8_SHA256", "session.psk_mode=psk_dhe_ke"],
];

const DTLS13: [&str; 2] = ["session.protocol=dtls1.3", "session.auth=psk"];

#[test]
fn weightless_sessions_have_the_records_of_real_ones() {
    let mut outcomes = std::collections::BTreeSet::new();
    for (session, network) in SESSIONS.into_iter().flat_map(|session| NETWORKS.map(|network| (session, network))) {
        let both = [session, network].concat();
        let real = run(PSK, "real", &both, 10);
        assert_eq!(real, run(PSK, "weightless", &both, 10), "{both:?}");
        assert!(real.iter().all(|record| record.compute_client_s > 0.0), "{both:?}");
        outcomes.extend(real.iter().map(|record| record.outcome));
    }
    assert!(outcomes.contains(&Outcome::Completed) && outcomes.len() > 1, "{outcomes:?}");
}

/// A capture of a weightless session has real sizes and nothing to decrypt it with.
#[test]
fn a_weightless_session_has_no_secrets() {
    let key_log = |cryptography| {
        let (_, key_log) = plan(&[PSK, &[cryptography]].concat()).run_with_key_log(1, &mut ());
        key_log.len()
    };
    assert_eq!((key_log("session.cryptography=real"), key_log("session.cryptography=weightless")), (1, 0));
}
