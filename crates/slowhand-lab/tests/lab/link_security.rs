//! Captures of secured networks: Wireshark decrypts and verifies them with the key that they say, and with no other.

use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::scenario::{Override, Scenario};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::{self, Tshark};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The key of a scenario that gives none.
const KEY: &str = "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf";

const LEVELS: [&str; 7] = ["mic-32", "mic-64", "mic-128", "enc", "enc-mic-32", "enc-mic-64", "enc-mic-128"];

const TSCH: &[&str] = &["mac={ kind = \"tsch\", slotframe = 5 }"];
/// Acknowledgements with the address of their sender: Wireshark knows whose key and counter to take.
const OPENWSN: &[&str] = &["mac={ kind = \"tsch\", slotframe = 5, ack_source_address = true }"];
const MSF: &[&str] = &["mac={ kind = \"tsch\", slotframe = 21, scheduling = \"msf\", ack_source_address = true }"];
const XMAC: &[&str] = &["mac={ kind = \"xmac\" }"];
const BEACON: &[&str] = &["mac={ kind = \"beacon\" }"];
const CSMA: &[&str] = &["mac={ kind = \"csma\" }"];
const POLLING: &[&str] = &["mac={ kind = \"csma\", sleepy = \"leaves\", poll_period_ms = 500 }"];
const SAMPLING: &[&str] = &[
    "mac={ kind = \"csma\", sleepy = \"leaves\", poll_period_ms = 2000, fast_poll = \"never\", csl = { period_ms = 496 } }",
];
const SHORT: &[&str] = &["mac={ kind = \"csma\", addresses = \"short\" }", "lowpan.max_frame_payload=116"];

/// A handshake by pre-shared key over one hop: its record, its capture, and the arguments for Wireshark.
fn captured(name: &str, changes: &[&str], security: &str) -> (Record, PathBuf, Vec<String>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/one-hop.toml");
    let security = format!("mac.security={security}");
    let changes = changes.iter().copied().chain([security.as_str()]);
    let changes: Vec<Override> = changes.map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::load(&file, &changes).unwrap_or_else(|error| panic!("{error}"));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    let mut records = capture_run(&scenario, 1, &capture, &Interrupt::default()).unwrap().unwrap();
    assert_eq!(records[0].outcome, Outcome::Completed, "{name}");
    (records.remove(0), capture, wireshark_arguments(&scenario))
}

/// The dissection of a frame by tshark.
struct Dissected {
    frame_type: u32,
    /// The security level; `None` without a security header.
    level: Option<u32>,
    /// Octets of the code.
    mic: usize,
    handshake: Vec<u32>,
    command: String,
    sixtop: String,
    complaint: String,
}

fn dissect(capture: &Path, arguments: &[String]) -> Vec<Dissected> {
    let fields = [
        "wpan.frame_type",
        "wpan.aux_sec.sec_level",
        "wpan.mic",
        "dtls.handshake.type",
        "wpan.cmd",
        "wpan.6top_code",
        "_ws.expert.message",
        "wpan.fcs_ok",
    ];
    let rows = Tshark::of(arguments.to_vec()).rows_of_file(capture, &fields);
    let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let dissected = rows.into_iter().map(|row| {
        assert_eq!(row[7], "1", "the check sequence covers what is on the air");
        Dissected {
            frame_type: number(&row[0]),
            level: Some(&row[1]).filter(|level| !level.is_empty()).map(|level| number(level)),
            mic: row[2].trim_start_matches("0x").len() / 2,
            handshake: row[3].split(',').filter_map(|kind| kind.parse().ok()).collect(),
            command: row[4].clone(),
            sixtop: row[5].clone(),
            complaint: row[6].clone(),
        }
    });
    dissected.collect()
}

/// The messages of the handshake that tshark reads, Finished decrypted.
fn messages(frames: &[Dissected]) -> BTreeSet<u32> {
    frames.iter().flat_map(|frame| frame.handshake.iter().copied()).collect()
}

/// ClientHello, ServerHello, HelloVerifyRequest, ServerHelloDone, ClientKeyExchange, Finished.
fn handshake() -> BTreeSet<u32> {
    BTreeSet::from([1, 2, 3, 14, 16, 20])
}

/// True of each capture: all frames are read, and those without a complaint have been verified, because tshark complains of
/// a code that is wrong. `can_verify` says if tshark can verify the acknowledgements of this link layer.
fn check(name: &str, frames: &[Dissected], level: usize, can_verify: bool) {
    assert_eq!(messages(frames), handshake(), "{name}");
    let mic = [0, 4, 8, 16][level % 4];
    for frame in frames {
        let is_ack = frame.frame_type == 2;
        let is_secured = frame.level.is_some();
        assert!(is_secured || is_ack, "{name}: all frames but immediate acknowledgements are secured");
        if is_secured {
            assert_eq!((frame.level, frame.mic), (Some(level as u32), mic), "{name}");
        }
        let complaint = match is_ack && is_secured && !can_verify {
            true => "No extended source address - can't decrypt",
            false => "",
        };
        assert_eq!(frame.complaint, complaint, "{name}");
    }
}

#[test]
fn each_level_is_decrypted_with_the_key_and_with_no_other() {
    for (level, text) in (1..).zip(LEVELS) {
        for (link_layer, changes) in [("csma", CSMA), ("openwsn", OPENWSN)] {
            let name = format!("{link_layer}-{text}");
            let (_, capture, arguments) = captured(&name, changes, &format!("{{ level = \"{text}\" }}"));
            check(&name, &dissect(&capture, &arguments), level, true);
            let other = |argument: &String| argument.replace(KEY, "c1c1c2c3c4c5c6c7c8c9cacbcccdcecf");
            let frames = dissect(&capture, &arguments.iter().map(other).collect::<Vec<_>>());
            assert_eq!(messages(&frames), BTreeSet::new(), "{name}");
            // Without a code nothing says that a key is wrong: what it gives is no packet.
            for frame in frames.iter().filter(|frame| frame.level.is_some() && text != "enc") {
                assert_eq!(frame.complaint, "No encryption key set - can't decrypt", "{name}");
            }
        }
    }
}

#[test]
fn each_link_layer_is_decrypted() {
    for (name, changes, can_verify) in [
        ("tsch", TSCH, false),
        ("xmac", XMAC, true),
        ("beacon", BEACON, true),
        ("csma-polling", POLLING, true),
        ("csma-sampling", SAMPLING, false),
        ("csma-short", SHORT, true),
    ] {
        let (_, capture, arguments) = captured(name, changes, "{ level = \"enc-mic-32\" }");
        let frames = dissect(&capture, &arguments);
        check(name, &frames, 5, can_verify);
        // Data requests are read: in version 2 the command ID is encrypted.
        for frame in frames.iter().filter(|frame| frame.frame_type == 3) {
            assert_eq!(frame.command, "0x04", "{name}");
        }
        let requests = frames.iter().filter(|frame| frame.frame_type == 3).count();
        assert_eq!(requests > 0, ["beacon", "csma-polling", "csma-sampling"].contains(&name), "{name}");
    }
}

#[test]
fn messages_of_6p_are_decrypted() {
    let (_, capture, arguments) = captured("msf", MSF, "{ level = \"enc-mic-32\" }");
    let frames = dissect(&capture, &arguments);
    check("msf", &frames, 5, true);
    assert!(frames.iter().any(|frame| frame.sixtop == "0x01"), "a request to add cells");
}

/// Enhanced beacons are authenticated and not encrypted (RFC 8180, section 4.6): level 1 beside level 5. DIOs and keep-alives
/// are data frames like all others.
#[test]
fn beacons_of_tsch_stay_readable() {
    let load = "mac={ kind = \"tsch\", slotframe = 21, ack_source_address = true, load = { beacon_period_s = 1 } }";
    let (_, capture, arguments) = captured("load", &[load], "{ level = \"enc-mic-32\" }");
    let frames = dissect(&capture, &arguments);
    for (frame_type, level) in [(0, 1), (1, 5), (2, 5)] {
        let frames: Vec<_> = frames.iter().filter(|frame| frame.frame_type == frame_type).collect();
        assert!(!frames.is_empty(), "type {frame_type}");
        for frame in frames {
            assert_eq!((frame.level, frame.mic, frame.complaint.as_str()), (Some(level), 4, ""));
        }
    }
}

/// Modes 0 to 3, another key index, a key of the scenario, and a frame counter under TSCH.
#[test]
fn each_way_to_name_the_key() {
    for (number, keys) in [
        "key_id_mode = 0",
        "key_id_mode = 1, key_index = 255",
        "key_id_mode = 2, key_index = 3",
        "key_id_mode = 3, key_index = 4",
        "key = \"000102030405060708090a0b0c0d0e0f\"",
        "asn_in_nonce = false",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("named-{number}");
        let (_, capture, arguments) = captured(&name, OPENWSN, &format!("{{ level = \"enc-mic-64\", {keys} }}"));
        check(keys, &dissect(&capture, &arguments), 6, true);
    }
}

/// The comment of the file alone is enough.
#[test]
fn the_capture_says_its_key() {
    let (_, capture, _) = captured("comment", CSMA, "{ level = \"enc-mic-32\" }");
    let said = wireshark::run("capinfos", &["-k", capture.to_str().unwrap()]);
    let preference = format!("uat:ieee802154_keys:\"{KEY}\",\"1\",\"No hash\"");
    assert!(said.contains(&format!("The key of IEEE 802.15.4 is {KEY}.")), "{said}");
    assert!(said.contains(&format!("-o '{preference}'")), "{said}");
    let frames = dissect(&capture, &["-o".to_owned(), preference]);
    assert!(frames.iter().all(|frame| frame.complaint.is_empty() || frame.level.is_none()), "{said}");
    let (_, capture, _) = captured("comment-none", CSMA, "{ level = \"none\" }");
    let said = wireshark::run("capinfos", &["-k", capture.to_str().unwrap()]);
    assert!(!said.contains("key"), "{said}");
}

/// The datagrams of this handshake take 10 frames. The longest have 101, 85 and 82 octets with their compressed headers:
/// both ClientHellos and the ServerHello. A frame has room for 104, less the octets that security adds: 6 for the header
/// with frame counter and key index, and the code. A datagram that no longer fits takes a frame more: 23 octets of header
/// and FCS, and fragment headers of 4 and 5 octets (RFC 4944). Immediate acknowledgements of 5 octets stay as they are.
#[test]
fn a_handshake_takes_more_octets_and_more_frames() {
    let octets = |level: &str| {
        let (record, ..) = captured(&format!("octets-{level}"), CSMA, &format!("{{ level = \"{level}\" }}"));
        [record.frames, record.bytes_phy, record.frames_ack, record.bytes_ack]
    };
    let [frames, bytes, acks, ack_bytes] = octets("none");
    assert_eq!((frames, acks, ack_bytes), (10, 9, 9 * 5));
    for (level, added, split) in [
        ("enc", 6, 1),          // 98: the longest no longer fits
        ("mic-32", 10, 1),      // 94
        ("enc-mic-32", 10, 1),  // 94
        ("enc-mic-64", 14, 1),  // 90
        ("enc-mic-128", 22, 2), // 82: two no longer fit, and the third just does
    ] {
        let bytes = bytes + added * (frames + split) + (23 + 4 + 5) * split;
        assert_eq!(octets(level), [frames + split, bytes, acks + split, ack_bytes + 5 * split], "{level}");
    }
}
