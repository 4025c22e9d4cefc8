//! The scenarios of Thread: what is on the air when a device joins, and while a device that sleeps opens a session.

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

/// A run of an example, and these fields of its data frames that tshark reads with the arguments that we print.
fn dissect(example: &str, changes: &[&str], fields: &[&str]) -> (Record, Vec<Vec<String>>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{example}.toml"));
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{example}-{}.pcapng", changes.len()));
    let record = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap().remove(0);
    let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("wpan.frame_type == 1");
    (record, tshark.rows_of_file(&capture, fields))
}

/// The frames of the joiner are in the clear and have 64-bit addresses: tshark reads the handshake there, with the Finished
/// decrypted. All other frames are secured and have mesh addresses: tshark decrypts them, and reads the messages.
#[test]
fn a_joiner_has_no_key_and_its_joiner_router_has_one() {
    let fields = [
        "_ws.expert",
        "wpan.security",
        "wpan.src64",
        "wpan.dst64",
        "6lowpan.mesh.orig16",
        "6lowpan.mesh.dest16",
        "dtls.handshake.type",
        "coap.opt.uri_path_recon",
    ];
    let (record, frames) = dissect("thread-commissioning", &["network.topology.hops=3"], &fields);
    assert_eq!(record.outcome, Outcome::Completed);
    let [joiner, router] = [3, 2].map(|node| format!("02:12:74:00:00:00:00:0{node}"));
    let mut handshake = Vec::new();
    let mut paths = Vec::new();
    for frame in &frames {
        // There are notes: the last frame of a message over its second hop is the message again, and our own comments.
        assert!(!["(Warning/", "(Error/"].iter().any(|severity| frame[0].contains(severity)), "{frame:?}");
        if frame[1] == "0" {
            let ends = [frame[2].as_str(), frame[3].as_str()];
            assert!(ends == [&joiner, &router] || ends == [&router, &joiner], "{frame:?}");
            handshake.extend(frame[6].split(',').filter(|kind| !kind.is_empty()).map(str::to_owned));
        } else {
            assert_eq!(frame[1], "1", "{frame:?}");
            let ends = [frame[4].as_str(), frame[5].as_str()];
            assert!(ends == ["0x0002", "0x0000"] || ends == ["0x0000", "0x0002"], "{frame:?}");
            paths.extend(Some(frame[7].clone()).filter(|path| !path.is_empty()));
        }
    }
    // Hello, cookie, hello, the server's flight (2, 12, 14), ClientKeyExchange, both Finished.
    assert_eq!(handshake, ["1", "3", "1", "2", "12", "14", "16", "20", "20"]);
    // Each of the six messages over two hops.
    let each = ["/c/rx", "/c/tx", "/c/rx", "/c/tx", "/c/rx", "/c/tx"];
    assert_eq!(paths, each.into_iter().flat_map(|path| [path, path]).collect::<Vec<_>>());
}

/// The frames between routers have mesh headers, those of the device have none. All are decrypted.
#[test]
fn a_sleepy_device_sends_without_a_mesh_header() {
    let fields =
        ["_ws.expert", "wpan.security", "wpan.src16", "wpan.dst16", "6lowpan.mesh.orig16", "6lowpan.mesh.dest16"];
    let (record, frames) = dissect("thread", &[], &fields);
    assert_eq!(record.outcome, Outcome::Completed);
    for frame in &frames {
        let mesh = match (frame[2].as_str(), frame[3].as_str()) {
            ("0x0003", "0x0002") | ("0x0002", "0x0003") => ["", ""],
            ("0x0002", "0x0001") | ("0x0001", "0x0000") => ["0x0002", "0x0000"],
            ("0x0000", "0x0001") | ("0x0001", "0x0002") => ["0x0000", "0x0003"],
            other => panic!("{other:?}"),
        };
        assert_eq!(frame[..2], ["", "1"], "{frame:?}");
        assert_eq!(frame[4..], mesh, "{frame:?}");
    }
    assert!(frames.len() > 10);
}
