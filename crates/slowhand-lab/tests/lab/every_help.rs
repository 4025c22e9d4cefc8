//! The properties of every help that DTLS can have: equal seeds give equal records, and the session opens whatever datagram is lost,
//! comes twice, or is overtaken, and where datagrams are small.

use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_sessions::memory::{End, Path, Transcript};
use slowhand_sessions::{Role, SessionConfig, Weightless, build_pair};
use std::sync::Arc;

/// A help, and the keys of `scenarios/helped.toml` that ask for it.
type Mode = (&'static str, &'static [&'static str]);

const MODES: [Mode; 14] = [
    ("GHC", &["lowpan.payload_compression=ghc"]),
    ("Lithe", &["lowpan.payload_compression=lithe"]),
    ("in CoAP", &["session.carrier=coap"]),
    ("over DCCP", &["session.carrier=dccp"]),
    ("LESS", &[PSK[0], PSK[1], PSK[2], "session.protocol=less"]),
    ("S3K", &[PSK[0], PSK[1], PSK[2], "session.trust_anchor=true"]),
    ("delegation to the border router", &["gateway.delegation=border-router", "session.resumption=id"]),
    ("delegation to the Internet", &["gateway.delegation=internet", "session.resumption=id"]),
    ("pre-validation", &["gateway.pre_validation=true"]),
    ("delegation by mbedTLS", &["session.stack=mbedtls", "gateway.delegation=border-router", "session.resumption=id"]),
    ("pre-validation for mbedTLS", &["session.stack=mbedtls", "gateway.pre_validation=true"]),
    ("False Start", &["session.false_start=true", "session.protocol=coap+dtls1.2", "application.requests=1"]),
    ("CoCoA", &["session.backoff=cocoa"]),
    QUIC,
];

/// Its datagrams are long: there must be room for those that are sent again.
const QUIC: Mode = (
    "QUIC",
    &[
        "session.protocol=quic",
        "session.stack=rustls",
        "session.suite=TLS_AES_128_GCM_SHA256",
        "mac.queue=64",
        "lowpan.reassembly_buffers=8",
    ],
);

const PSK: [&str; 3] = ["session.suite=TLS_PSK_WITH_AES_128_CCM_8", "session.credential=psk", "session.auth=psk"];

/// One hop, and a slotframe so short that no timer expires if nothing is lost.
const NEAR: [&str; 3] = ["network.topology.hops=1", "mac.slotframe=5", "session.timeout_s=3"];

const SMALL: &str = "session.mtu=256";

fn scenario((name, help): Mode, more: &[&str]) -> Scenario {
    try_scenario((name, help), more).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn try_scenario((_, help): Mode, more: &[&str]) -> Result<Scenario, String> {
    let changes: Vec<Override> = [&NEAR, help, more].concat().iter().map(|change| change.parse().unwrap()).collect();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/helped.toml");
    Scenario::load(&file, &changes).map_err(|error| error.to_string())
}

/// The record of the only client.
fn run(mode: Mode, more: &[&str], seed: u64) -> Record {
    Plan::new(&scenario(mode, more)).unwrap().run(seed, &mut ()).remove(0)
}

/// The record of the only client, of a session that has opened and a request that is answered.
fn opens(mode: Mode, more: &[&str], seed: u64) -> Record {
    let record = run(mode, more, seed);
    let data = record.data.as_ref().map_or(Outcome::Completed, |data| data.outcome);
    let Record { outcome, failure, losses, .. } = &record;
    let all = [*outcome, data];
    assert_eq!(all, [Outcome::Completed; 2], "{}, {more:?}, seed {seed}: {failure:?} {losses:?}", mode.0);
    record
}

/// The end of a report says which help a session had.
#[test]
fn the_words_of_a_session_name_its_help() {
    let words = |mode| slowhand_lab::about(&scenario(mode, &[]))["session"].as_str().unwrap().to_owned();
    let certificates = "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8";
    for (name, session) in [
        ("GHC", format!("lean-dtls, dtls1.2, {certificates}, payloads compressed by GHC")),
        ("Lithe", format!("lean-dtls, dtls1.2, {certificates}, payloads compressed by Lithe")),
        ("in CoAP", format!("lean-dtls, dtls1.2 over coap, {certificates}")),
        ("LESS", "slowhand's own, less, psk".to_owned()),
        ("S3K", "lean-dtls, dtls1.2, TLS_PSK_WITH_AES_128_CCM_8, key from a trust anchor".to_owned()),
        ("delegation to the border router", format!("lean-dtls, dtls1.2, {certificates}, opened by the border router")),
        ("delegation to the Internet", format!("lean-dtls, dtls1.2, {certificates}, opened by a host on the Internet")),
        ("pre-validation", format!("lean-dtls, dtls1.2, {certificates}, chains validated at the border router")),
        ("False Start", format!("lean-dtls, coap+dtls1.2, {certificates}, False Start")),
        ("CoCoA", format!("lean-dtls, dtls1.2, {certificates}, CoCoA's back-off")),
    ] {
        let mode = MODES.into_iter().find(|mode| mode.0 == name).unwrap();
        assert_eq!(words(mode), session, "{name}");
    }
    assert_eq!(words(("plain", &[])), format!("lean-dtls, dtls1.2, {certificates}"));
}

#[test]
fn a_seed_gives_the_same_record() {
    for mode in MODES {
        let quiet = opens(mode, &[], 1);
        let repeated = (quiet.retransmissions_needed, quiet.retransmissions_spurious);
        assert_eq!((quiet.datagrams_lost, quiet.attempts, repeated), (0, 1, (0, 0)), "{}", mode.0);
        assert_eq!(quiet, opens(mode, &[], 1), "{}", mode.0);
        let lossy = ["lowpan.frame_loss=0.1", "network.link_pdr=0.9", "server.internet_jitter_ms=100"];
        let records = [1, 2].map(|seed| run(mode, &lossy, seed));
        assert_eq!(records, [1, 2].map(|seed| run(mode, &lossy, seed)), "{}", mode.0);
        assert!(records.iter().any(|record| record.datagrams_lost > 0), "{}", mode.0);
    }
}

/// Each frame of the mesh, and so each datagram of both directions; then each one of the Internet on its way to the border router. Only
/// what a delegate and the server say to each other outside the mesh is lost by chance alone, in the next test.
#[test]
fn every_datagram_may_be_lost() {
    for mode in MODES {
        let quiet = opens(mode, &[], 1);
        let data = quiet.data.as_ref().map_or(0, |data| data.costs.frames);
        for (key, least) in [("lowpan.dropped_frames", quiet.frames + data), ("server.internet_dropped", 2)] {
            // A number after the last one takes nothing.
            let is_lost = |number: &u64| opens(mode, &[&format!("{key}=[{number}]")], 1) != quiet;
            let count = (1..).take_while(is_lost).count() as u64;
            assert!(count >= least, "{}, {key}: {count}", mode.0);
        }
    }
}

/// Datagrams overtake each other on the Internet, and some are lost there, in both directions.
#[test]
fn datagrams_may_be_overtaken() {
    for mode in MODES {
        let quiet = opens(mode, &[], 1);
        for more in
            [&["server.internet_jitter_ms=2000"][..], &["server.internet_jitter_ms=200", "server.internet_loss=0.1"]]
        {
            for seed in 1..=5 {
                let more: &[&str] = if mode == QUIC { more } else { &[more, &[SMALL]].concat() };
                let record = opens(mode, more, seed);
                assert!(record.duration_s > quiet.duration_s, "{}", mode.0);
            }
        }
    }
}

/// Where timers are shorter than the way, each message comes several times, and nothing of it is lost.
#[test]
fn timers_may_be_too_short() {
    let far = "server.internet_delay_ms=600";
    let short = ["session.timeout_s=0.5", "session.coap.ack_timeout_s=0.5"];
    for mode in MODES {
        let patient = opens(mode, &[far], 1);
        for seed in 1..=3 {
            let record = opens(mode, &[&[far], &short[..]].concat(), seed);
            assert_eq!(record.datagrams_lost, 0, "{}", mode.0);
            assert!(record.datagrams > patient.datagrams, "{}: {}", mode.0, record.datagrams);
        }
    }
}

/// The sessions of a scenario without its network.
fn meet(mode: Mode, more: &[&str], path: &Path) -> Transcript {
    let sessions = scenario(mode, more).session.clone();
    let configs = [(Role::Client, 1), (Role::Server, 2)]
        .map(|(role, seed)| SessionConfig { seed: [seed; 32], ..sessions.config(role) });
    let [mut client, mut server] =
        build_pair(configs.each_ref(), [Arc::new(Weightless), Arc::new(Weightless)]).unwrap();
    path.run_until_quiet(&mut *client, &mut *server)
}

/// No network of a scenario makes copies of datagrams, so the sessions meet in memory. What is not in a session has tests of its own:
/// the packets of DCCP in `slowhand-net`; requests, those that leave early, and what a hand-over is written in (OSCORE) in
/// `slowhand-sessions`.
#[test]
fn every_datagram_may_come_twice_or_late() {
    for mode in MODES {
        let count = meet(mode, &[], &Path::default()).datagrams.len();
        let late = Path::default().delay * 3;
        let each = (0..count).flat_map(|number| {
            [
                Path { duplicated: vec![number], ..Path::default() },
                Path { held_back: vec![(number, late)], ..Path::default() },
            ]
        });
        let all = Path { duplicated: (0..1000).collect(), ..Path::default() };
        for path in each.chain([all]) {
            let transcript = meet(mode, &[], &path);
            assert_eq!(transcript.end, End::Completed, "{}, {path:?}", mode.0);
        }
    }
}

#[test]
fn datagrams_may_be_small() {
    for mode in MODES {
        if mode == QUIC {
            let error = try_scenario(mode, &[SMALL]).unwrap_err();
            assert!(error.contains("session.mtu"), "{error}");
            continue;
        }
        opens(mode, &[SMALL], 1);
        let sizes = meet(mode, &[SMALL], &Path::default()).sizes();
        assert!(sizes.iter().all(|&octets| octets <= 256), "{}: {sizes:?}", mode.0);
    }
}
