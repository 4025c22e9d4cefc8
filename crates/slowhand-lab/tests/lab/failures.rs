//! A record says why its handshake failed, and where datagrams were lost.

use crate::{MBEDTLS_PSK, MBEDTLS_PSK_TLS, plan, scenario};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::plan::Plan;
use slowhand_lab::record::{Loss, Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::summary::summarise;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::observer::{Observer, Transmission};
use slowhand_sessions::Role;
use std::path::Path;

fn run(changes: &[&str], dropped: &[u64]) -> Record {
    let dropped = format!("lowpan.dropped_frames={dropped:?}");
    plan(&[changes, &[&dropped]].concat()).run(1, &mut ()).remove(0)
}

#[test]
fn the_words_are_those_of_the_library() {
    // Nothing ever arrives.
    let all: Vec<u64> = (1..=100).collect();
    let record = run(MBEDTLS_PSK, &all);
    assert_eq!(record.outcome, Outcome::TimedOut);
    let failure = record.failure.unwrap();
    assert_eq!(failure.end, Role::Client);
    // MBEDTLS_ERR_SSL_TIMEOUT is -0x6800 (mbedtls/ssl.h).
    assert_eq!(failure.reason, "SSL - The operation timed out (-0x6800)");
}

#[test]
fn below_tls_the_words_are_those_of_tcp() {
    let all: Vec<u64> = (1..=100).collect();
    let record = run(MBEDTLS_PSK_TLS, &all);
    assert_eq!(record.outcome, Outcome::TimedOut);
    let failure = record.failure.unwrap();
    assert_eq!(failure.reason, "connection timed out: all retransmissions stayed without an answer");
    assert_eq!(failure.end, Role::Client);
}

#[test]
fn a_handshake_that_took_too_long_has_no_words() {
    let record = run(&[MBEDTLS_PSK, &["session.give_up_s=0.05"]].concat(), &[]);
    assert_eq!((record.outcome, record.failure), (Outcome::GaveUp, None));
    assert_eq!(run(MBEDTLS_PSK, &[]).failure, None);
}

#[test]
fn a_loss_has_its_place() {
    // One hop: the node of the other end discards the frame.
    let frames = run(MBEDTLS_PSK, &[]).frames;
    let mut places: Vec<Host> = Vec::new();
    for frame in 1..=frames {
        let losses = run(MBEDTLS_PSK, &[frame]).losses;
        let [Loss { reason: DropReason::InjectedLoss, host, count: 1, .. }] = losses[..] else {
            panic!("frame {frame}: {losses:?}")
        };
        places.push(host);
    }
    assert_eq!(places[0], Host::Node(NodeId::ROOT), "the client begins");
    let of_server = places.iter().filter(|place| **place == Host::Node(NodeId(1))).count();
    assert!(of_server > 0 && of_server < places.len(), "{places:?}");
    // Without acknowledgements a frame is lost where it does not arrive.
    let xmac = plan(&["mac={ kind = \"xmac\", check_interval_ms = 125 }", "network.link_pdr=0.7"]);
    let records: Vec<Record> = (0..20).flat_map(|seed| xmac.run(seed, &mut ())).collect();
    let lost_at = |node| {
        let host = Host::Node(NodeId(node));
        let losses = records.iter().flat_map(|record| &record.losses);
        losses.filter(|loss| loss.host == host && loss.reason == DropReason::FrameLost).count()
    };
    assert!(lost_at(0) > 0 && lost_at(1) > 0, "{} {}", lost_at(0), lost_at(1));
    for record in &records {
        assert_eq!(record.losses.iter().map(|loss| loss.count).sum::<u64>(), record.datagrams_lost);
    }
}

#[test]
fn too_few_buffers_are_named_with_their_key() {
    // Six clients at once, whose certificates need many fragments each.
    let changes = [
        "network.topology={ kind = \"star\", leaves = 6 }",
        "mac={ kind = \"tsch\", slotframe = 11, cells = { shared = 6, up = 0, down = 0 } }",
        "lowpan.reassembly_buffers=1",
        "session={ stack = \"mbedtls\", suite = \"TLS_ECDHE_ECDSA_WITH_AES_128_CCM\", timeout_s = 9 }",
    ];
    let lost = |more: &[&str]| {
        let scenario = scenario(&[&changes, more].concat());
        let records = Plan::new(&scenario).unwrap().run(1, &mut ());
        records.iter().filter_map(|record| record.lost_because().get("reassembly_full").copied()).sum::<u64>()
    };
    let scenario = scenario(&changes);
    let records = Plan::new(&scenario).unwrap().run(1, &mut ());
    let summary = summarise(&scenario, &records);
    let full = summary.losses.iter().find(|losses| losses.reason == "reassembly_full").expect("a loss");
    assert_eq!(full.host, Host::Node(NodeId::ROOT));
    assert_eq!(full.key, Some("lowpan.border_router_reassembly_buffers"));
    // The key changes it.
    assert!(lost(&[]) > 0);
    assert_eq!(lost(&["lowpan.border_router_reassembly_buffers=6"]), 0);
    let all: u64 = records.iter().map(|record| record.datagrams_lost).sum();
    assert_eq!(summary.losses.iter().map(|losses| losses.count).sum::<u64>(), all);
}

/// Sets the interrupt at a frame, and counts the frames.
struct Interrupting<'a> {
    interrupt: &'a Interrupt,
    at: u64,
    frames: u64,
}

impl Observer for Interrupting<'_> {
    fn transmission(&mut self, _frame: &Transmission<'_>) {
        self.frames += 1;
        if self.frames == self.at {
            self.interrupt.set();
        }
    }
}

#[test]
fn a_world_stops_between_two_events() {
    // A thousand handshakes in one world.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/power-cut.toml");
    let changes: [Override; 0] = [];
    let plan = Plan::new(&Scenario::load(&file, &changes).unwrap()).unwrap();
    let interrupt = Interrupt::default();
    let mut observer = Interrupting { interrupt: &interrupt, at: 1_000, frames: 0 };
    assert_eq!(plan.run_until(&interrupt, 1, &mut observer), None);
    // The slot in which it is set ends: in it, each of the thousand may send one frame and get one back.
    assert!((1_000..3_000).contains(&observer.frames), "{}", observer.frames);
    observer.frames = 0;
    assert_eq!(plan.run_until(&interrupt, 1, &mut observer), None, "it stays interrupted");
    assert_eq!(observer.frames, 0);
}

/// An interrupted capture makes no file.
#[test]
fn an_interrupted_capture_creates_no_file() {
    let path = std::env::temp_dir().join(format!("slowhand-interrupted-{}.pcapng", std::process::id()));
    let interrupt = Interrupt::default();
    interrupt.set();
    assert_eq!(slowhand_lab::capture_run(&scenario(&[]), 1, &path, &interrupt).unwrap(), None);
    assert!(!path.exists());
}
