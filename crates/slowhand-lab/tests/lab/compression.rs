//! Handshakes whose payloads 6LoWPAN compresses: by GHC, or the headers of DTLS as in Lithe.

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_lab::interrupt::Interrupt;
use slowhand_lab::playback::play;
use slowhand_lab::record::{Outcome, Record};
use slowhand_lab::{capture_run, wireshark_arguments};
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

const LEAN: &[&str] = &["session.stack=lean-dtls", "session.timeout_s=3"];
const LEAN_13: &[&str] = &[
    "session.stack=lean-dtls",
    "session.timeout_s=3",
    "session.protocol=dtls1.3",
    "session.suite=TLS_AES_128_CCM_8_SHA256",
    "session.auth=psk",
];

const GHC: &str = "lowpan.payload_compression=ghc";
const LITHE: &str = "lowpan.payload_compression=lithe";
const EXCHANGED: &str = "lowpan.capabilities=exchanged";

/// Slots are short, so that nobody repeats what is on its way.
const FAR: &[&str] = &[
    "network.topology.hops=3",
    "mac={ kind = \"tsch\", slotframe = 5, cells = { shared = 1, up = 1, down = 1 }, autonomous = false }",
    "session.timeout_s=20",
];

fn run(changes: &[&[&str]]) -> Record {
    plan(&changes.concat()).run(1, &mut ()).remove(0)
}

fn octets(record: &Record) -> u64 {
    assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0), "{record:?}");
    record.bytes_phy
}

/// The ends exchange the same datagrams, and the frames are shorter. Lithe leaves datagrams of several records as they are.
#[test]
fn every_library_needs_fewer_octets() {
    for session in [TINYDTLS_PSK, MBEDTLS_PSK, MBEDTLS_ECDHE, OPENSSL_ECDHE, LEAN, LEAN_13] {
        let plain = run(&[session]);
        let before = octets(&plain);
        for (compression, least) in [(GHC, 0.03), (LITHE, 0.0)] {
            let record = run(&[session, &[compression]]);
            let after = octets(&record);
            // The length of a signature varies by an octet or two.
            let payload = record.bytes_payload.abs_diff(plain.bytes_payload);
            assert!(record.datagrams == plain.datagrams && payload <= 8, "{session:?} {compression}");
            let saved = 1.0 - after as f64 / before as f64;
            assert!((least..0.4).contains(&saved), "{session:?} {compression}: {saved}");
            assert!(record.frames <= plain.frames, "{session:?} {compression}");
        }
    }
}

/// Of several hops. `every_help` has one hop and DTLS 1.2.
#[test]
fn every_frame_may_be_lost() {
    for compression in [GHC, LITHE] {
        let changes = [LEAN_13, FAR, &["session.mtu=256"], &[compression]];
        for frame in 1..=run(&changes).frames {
            let record = run(&[&changes.concat()[..], &[&format!("lowpan.dropped_frames=[{frame}]")]]);
            assert_eq!(record.outcome, Outcome::Completed, "{compression}, frame {frame}");
        }
    }
}

/// Each hop has its own neighbours: a node that does not understand compression gets payloads as they are.
#[test]
fn a_node_that_does_not_understand_it_gets_plain_payloads() {
    let without = |node: u16| format!("network.nodes={{ {node} = {{ payload_compression = false }} }}");
    for session in [LEAN, MBEDTLS_ECDHE] {
        let of = |changes: &[&str]| octets(&run(&[FAR, session, changes]));
        let (plain, compressed) = (of(&[]), of(&[GHC]));
        assert!(compressed < plain);
        let mixed = [0, 1, 2, 3].map(|node| of(&[GHC, &without(node)]));
        assert!(mixed.iter().all(|&octets| compressed < octets && octets < plain), "{compressed} {mixed:?} {plain}");
        // Two hops of three are plain around a node in the middle, one at an end.
        assert!(mixed[0] < mixed[1] && mixed[3] < mixed[2], "{mixed:?}");
        // Where fragments are forwarded, all nodes on the way would have to compress the first one again.
        let forwarded = |changes: &[&str]| of(&[&["lowpan.reassembly=forwarding"], changes].concat());
        let (plain, compressed) = (forwarded(&[]), forwarded(&[GHC]));
        assert!(compressed < plain && forwarded(&[LITHE]) < plain);
        let mixed = [0, 1, 2, 3].map(|node| forwarded(&[GHC, &without(node)]));
        assert!(mixed.iter().all(|&octets| compressed < octets && octets <= plain), "{compressed} {mixed:?} {plain}");
    }
}

/// A packet with a source route names the next node of it, not the last one: those behind count too.
#[test]
fn nothing_is_compressed_on_a_source_route_through_a_node_that_does_not_understand_it() {
    let route = ["lowpan.reassembly=forwarding", "lowpan.rpl=non-storing"];
    let of = |changes: &[&str]| octets(&run(&[FAR, MBEDTLS_ECDHE, &route, changes]));
    let node_2 = "network.nodes={ 2 = { payload_compression = false } }";
    let (plain, compressed, mixed) = (of(&[]), of(&[GHC]), of(&[GHC, node_2]));
    assert!(compressed < mixed && mixed <= plain, "{compressed} {mixed} {plain}");
}

/// Headers of RPL, fragments that are forwarded, and mesh headers leave the first frame less room.
#[test]
fn other_headers_stand_beside_it() {
    let short = "mac={ kind = \"csma\", addresses = \"short\" }";
    let mut ways = vec![vec![short, "lowpan.reassembly=mesh-under"]];
    for reassembly in ["lowpan.reassembly=per-hop", "lowpan.reassembly=forwarding"] {
        for rpl in ["lowpan.rpl=storing", "lowpan.rpl=non-storing"] {
            for encoding in ["lowpan.rpl_encoding=extension-headers", "lowpan.rpl_encoding=6lorh"] {
                ways.push(vec![reassembly, rpl, encoding, "server.at=internet"]);
                ways.push(vec![reassembly, rpl, encoding]);
            }
        }
    }
    for way in ways {
        let of = |changes: &[&str]| octets(&run(&[FAR, MBEDTLS_ECDHE, &way, changes]));
        let plain = of(&[]);
        for compression in [GHC, LITHE] {
            let compressed = of(&[compression]);
            assert!(compressed < plain, "{way:?} {compression}: {compressed}, {plain}");
        }
    }
}

/// A handshake that begins late is compressed as if all neighbours had known each other from the beginning; one that begins at time 0
/// begins plain. The default is that they know, and the same seed gives the same record.
#[test]
fn a_handshake_is_compressed_once_the_neighbours_have_told() {
    for session in [LEAN, MBEDTLS_ECDHE] {
        let at = |start: &str, changes: &[&str]| {
            run(&[FAR, session, &["client.start_spread_s=0", &format!("client.start_s={start}")], changes])
        };
        let of = |start: &str, changes: &[&str]| octets(&at(start, changes));
        assert_eq!(of("60", &[GHC, EXCHANGED]), of("60", &[GHC]));
        let (plain, early, compressed) = (of("0", &[]), of("0", &[GHC, EXCHANGED]), of("0", &[GHC]));
        assert!(compressed < early && early <= plain, "{compressed} {early} {plain}");
        assert_eq!(at("0", &[GHC, "lowpan.capabilities=known"]), at("0", &[GHC]));
        assert_eq!(at("0", &[GHC, EXCHANGED]), at("0", &[GHC, EXCHANGED]));
    }
}

/// Handshakes do not fail because neighbours do not know each other, whatever is lost. The first frames are their messages.
#[test]
fn every_frame_of_an_exchange_may_be_lost() {
    for frame in 1..=6 {
        let lost = format!("lowpan.dropped_frames=[{frame}]");
        let record = run(&[LEAN_13, FAR, &[GHC, EXCHANGED, "client.start_s=5", &lost]]);
        assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0), "frame {frame}");
    }
}

/// Three nodes solicit their parents, and are answered (types 133 and 134, RFC 4861). Each message has the option (type 36, RFC 7400)
/// behind the link-layer address of its sender.
#[test]
fn tshark_names_the_option_in_a_capture() {
    let scenario = scenario(&[LEAN, FAR, &[GHC, EXCHANGED, "client.start_s=5"]].concat());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capabilities.pcapng");
    capture_run(&scenario, 1, &file, &Interrupt::default()).unwrap().unwrap();
    let tshark = Tshark::of(wireshark_arguments(&scenario)).filter("icmpv6");
    let fields = ["icmpv6.type", "icmpv6.checksum.status", "icmpv6.opt.type", "icmpv6.opt.6cio.flag_g"];
    let mut rows = tshark.rows_of_file(&file, &fields);
    rows.sort();
    rows.dedup();
    assert_eq!(rows, ["133", "134"].map(|kind| [kind, "1", "1,36", "0x0001"]));
    let [solicitations, answers] = ["133", "134"].map(|kind| {
        let of_kind = Tshark::of(wireshark_arguments(&scenario)).filter(&format!("icmpv6.type == {kind}"));
        of_kind.rows_of_file(&file, &["wpan.src64"]).len()
    });
    assert!(solicitations >= 3 && answers >= 3, "{solicitations} {answers}");
}

#[test]
fn a_playback_names_the_messages() {
    let scenario = scenario(&[LEAN, &[GHC, EXCHANGED, "client.start_s=5"]].concat());
    let played = play(&scenario, 1, None, &Interrupt::default()).unwrap().unwrap();
    for kind in ["RouterSolicitation", "RouterAdvertisement"] {
        let line = format!("ICMPv6: {kind}, with a 6CIO: GHC is understood (RFC 7400)");
        assert!(played.decoded.lines.contains(&line), "{kind}");
    }
}
