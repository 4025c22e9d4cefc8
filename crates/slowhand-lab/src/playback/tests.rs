//! A playback agrees with everything else that is told of the same world.

use super::*;
use crate::explanation::{STATES, explain};
use crate::inspect::inspect;
use crate::scenario::Override;
use slowhand_testing::hex;
use slowhand_testing::wireshark::{Pcap, Tshark};
use std::path::Path;

fn scenario(name: &str, changes: &[&str]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::load(&file, &changes).unwrap()
}

fn played(scenario: &Scenario, seed: u64) -> Playback {
    play(scenario, seed, None, &Interrupt::default()).unwrap().unwrap()
}

const WORLDS: [(&str, &[&str]); 8] = [
    ("quickstart.toml", &["network.link_pdr=0.3"]),
    ("lossy-line.toml", &[]),
    ("csma.toml", &["network.link_pdr=0.8"]),
    ("xmac.toml", &[]),
    ("beacon.toml", &[]),
    ("thread.toml", &[]),
    ("gateway.toml", &["session.protocol=tls1.2", "gateway.tcp_proxy=true"]),
    ("rpl.toml", &[]),
];

#[test]
fn it_agrees_with_the_explanation_and_the_inspection() {
    for (name, changes) in WORLDS {
        let scenario = scenario(name, changes);
        let played = played(&scenario, 3);
        let explained = explain(&scenario, 3, None, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(
            serde_json::to_value(&played.explanation).unwrap(),
            serde_json::to_value(explained).unwrap(),
            "{name}"
        );
        let inspected = inspect(&scenario, 3, &Interrupt::default()).unwrap().unwrap();
        for (node, (radio, report)) in played.radios.iter().zip(&inspected.nodes).enumerate() {
            let mut energy = [0.0; 3];
            for ((from, length), &state) in radio.from_us.iter().zip(&radio.length_us).zip(&radio.state) {
                let to = (from + length).min(played.end_us);
                energy[state] += to.saturating_sub(*from) as f64 / 1e6 * played.nodes[node].radio_mw[state];
            }
            let told = [report.energy.tx_mj, report.energy.rx_mj, report.energy.listen_mj];
            for (one, other) in energy.iter().zip(told) {
                assert!((one - other).abs() <= 1e-9 * other.max(1.0), "{name}, node {node}: {energy:?} {told:?}");
            }
            assert_eq!(played.nodes[node].energy_mj.to_bits(), report.energy.total_mj().to_bits());
            let of_node = inspected.buffers.iter().filter(|level| level.node.index() == node);
            let peak = |levels: &[usize]| levels.iter().copied().max().unwrap_or(0);
            assert!(peak(&played.buffers[node].queued) >= of_node.map(|level| level.queued).max().unwrap_or(0));
        }
    }
}

#[test]
fn times_and_states_fit_each_other() {
    for (name, changes) in WORLDS {
        let Playback { scene, octets, nodes, end_us, .. } = played(&scenario(name, changes), 5);
        let Scene { frames, datagrams, handshakes, .. } = &scene;
        assert!(frames.from_us.is_sorted(), "{name}");
        assert_eq!(octets.len(), frames.from_us.len());
        assert!(frames.from_us.last().is_some_and(|last| *last <= end_us));
        assert!(octets.iter().zip(&frames.octets).all(|(digits, octets)| digits.len() == 2 * octets));
        assert!(!datagrams.is_empty() && !handshakes.is_empty());
        for datagram in datagrams {
            assert_eq!(datagram.loss.is_some(), STATES[datagram.state] == "lost", "{name}");
            assert!(datagram.loss.is_none() || datagram.arrived_us.is_none());
            assert!(datagram.arrived_us.is_none_or(|arrived| arrived >= datagram.sent_us));
            let last = datagram.arrived_us.or(datagram.loss.as_ref().map(|loss| loss.at_us));
            let span = datagram.internet_us;
            let internet = nodes.len();
            let is_lost_elsewhere = datagram.loss.as_ref().is_some_and(|loss| loss.host != internet);
            assert!(!(is_lost_elsewhere && datagram.to == internet && span.is_some()), "{name}: {datagram:?}");
            assert!(
                span.is_none_or(|[from, to]| datagram.sent_us <= from && from <= to && Some(to) <= last),
                "{name}: {datagram:?}"
            );
        }
        for (from, datagram) in frames.from_us.iter().zip(&frames.datagram) {
            assert!(datagram.is_none_or(|datagram| datagrams[datagram].sent_us <= *from), "{name}");
        }
    }
}

/// tshark reads the same frames: our own words must not say another thing.
#[test]
fn what_frames_hold_is_what_tshark_says() {
    let fields = ["wpan.seq_no", "6lowpan.frag.tag", "ipv6.src", "ipv6.dst", "udp.dstport", "tcp.dstport"];
    let expected: [fn(&str) -> String; 6] = [
        |value| format!("sequence number {value}\n"),
        |value| format!("tag {},", u32::from_str_radix(value.trim_start_matches("0x"), 16).unwrap()),
        |value| format!("IPv6: {value} to "),
        |value| format!(" to {value}\n"),
        |value| format!(" to {value}, "),
        |value| format!(" to {value}, "),
    ];
    let mut seen = [0; 6];
    for (name, changes) in WORLDS {
        let scenario = scenario(name, changes);
        let Playback { decoded, octets, scene, .. } = played(&scenario, 3);
        let mut file = Pcap::of_frames();
        for (digits, at_us) in octets.iter().zip(&scene.frames.from_us) {
            let octets = hex::octets(digits);
            let (frame, fcs) = octets.split_at(octets.len() - 2);
            file.frame(*at_us, frame, [fcs[0], fcs[1]]);
        }
        let rows = Tshark::of(crate::wireshark_arguments(&scenario)).rows(&file, &fields);
        assert_eq!(rows.len(), decoded.frames.len(), "{name}");
        for (row, frame) in rows.iter().zip(&decoded.frames) {
            let words: Vec<&str> = frame.iter().map(|&place| decoded.lines[place].as_str()).collect();
            let text = words.join("\n") + "\n";
            // The words lack texts that tshark decrypts, or puts together from fragments. Tunnelled packets have several addresses.
            let has_none = text.contains("of the datagram\n") || text.contains("secured");
            for (number, value) in row.iter().enumerate().filter(|(_, value)| !value.is_empty() && !value.contains(','))
            {
                if number >= 1 && has_none {
                    continue;
                }
                seen[number] += 1;
                assert!(text.contains(&expected[number](value)), "{name}: {} {value:?}\n{text}", fields[number]);
            }
        }
    }
    assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
}

#[test]
fn octets_that_are_no_frame_are_said_to_be_none() {
    let dissector = Dissector { contexts: Default::default(), connection_id: 0, is_dtls: true };
    for length in 0..40 {
        let octets: Vec<u8> = (0..length).map(|octet: u32| (octet * 37 % 251) as u8).collect();
        assert!(!dissector.lines(&octets, NodeId(1), NodeId(0)).is_empty());
    }
}
