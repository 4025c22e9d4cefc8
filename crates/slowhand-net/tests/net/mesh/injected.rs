//! Frames whose loss the scenario asks for: which ones, and what they cost.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::lowpan::is_fragment;
use slowhand_net::network::{Fragments, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::random::Probability;

const ROOT: Host = Host::Node(NodeId::ROOT);

/// A datagram in one frame, and a minute later one in four fragments, over two hops. Returns those that arrive, and why the
/// others are lost.
fn fates(link_layer: LinkLayer, config: NetworkConfig) -> (Vec<u32>, Vec<&'static str>) {
    let sends = [(0, 20), (60, 300)].map(|(at, octets)| (seconds(at), Host::Node(NodeId(2)), ROOT, octets));
    let fates = run(&mut network(link_layer, 2, 1.0, config, 1), &sends, seconds(400), &mut ());
    (fates.delivered.into_keys().collect(), fates.lost.into_values().collect())
}

#[test]
fn fragment_loss_takes_fragments_only_and_frame_loss_takes_all() {
    let cases =
        [(Fragments::Reassembled, "injected_loss"), (forwarded(), "injected_loss"), (recovered(2), "recovery_failed")];
    for (fragments, reason) in cases {
        for link_layer in LINK_LAYERS {
            let plain = || NetworkConfig { fragments, ..NetworkConfig::default() };
            assert_eq!(fates(link_layer, plain()), (vec![0, 1], vec![]));
            let config = NetworkConfig { fragment_loss: Probability::ALWAYS, ..plain() };
            assert_eq!(fates(link_layer, config), (vec![0], vec![reason]));
            let config = NetworkConfig { frame_loss: Probability::ALWAYS, ..plain() };
            assert_eq!(fates(link_layer, config), (vec![], vec!["injected_loss", reason]));
        }
    }
}

/// One hop, 1,000 datagrams in one frame and 1,000 in two fragments. A whole one arrives with probability 0.8, a fragment
/// with 0.9 * 0.8 = 0.72, both fragments with 0.5184.
#[test]
fn a_fragment_is_exposed_to_both() {
    let config = NetworkConfig {
        fragment_loss: Probability::new(0.1),
        frame_loss: Probability::new(0.2),
        ..NetworkConfig::default()
    };
    let sends: Vec<Send> = (0..2_000)
        .map(|n| (seconds(120 * n), Host::Node(NodeId(1)), ROOT, if n % 2 == 0 { 20 } else { 120 }))
        .collect();
    let fates = run(&mut network(tsch, 1, 1.0, config, 1), &sends, NEVER, &mut ());
    let whole = fates.delivered.keys().filter(|number| *number % 2 == 0).count();
    let fragmented = fates.delivered.len() - whole;
    // Four standard deviations of binomial(1000, 0.8) are 51, of binomial(1000, 0.5184) 63.
    assert!(whole.abs_diff(800) < 51 && fragmented.abs_diff(518) < 63, "{whole}, {fragmented}");
}

/// The air, the acknowledgements and the radios are those of a network that loses nothing.
#[test]
fn a_lost_frame_has_been_sent_and_acknowledged() {
    let send = [(Instant::ZERO, Host::Node(NodeId(1)), ROOT, 50)];
    for link_layer in LINK_LAYERS {
        let run_with = |dropped_frames: Vec<u64>| {
            let config = NetworkConfig { dropped_frames, ..NetworkConfig::default() };
            let (mut network, mut air) = (network(link_layer, 1, 1.0, config, 1), Recorder::of_radios());
            let fates = run(&mut network, &send, seconds(20), &mut air);
            network.report_radios(seconds(20), &mut air);
            (fates, air)
        };
        let ((arrived, lossless), (lost, lossy)) = (run_with(vec![]), run_with(vec![1]));
        assert_eq!((arrived.delivered.len(), arrived.lost.len()), (1, 0));
        assert!(lost.delivered.is_empty());
        assert_eq!(lost.lost.into_values().collect::<Vec<_>>(), ["injected_loss"]);
        let of_datagram = |kind| lossy.frames.iter().filter(move |frame| (frame.kind, frame.datagram) == (kind, 0));
        let [data, acks] = [FrameKind::Data, FrameKind::Ack].map(|kind| of_datagram(kind).collect::<Vec<_>>());
        assert_eq!((data.len(), acks.len()), (1, 1), "the sender does not send it again");
        assert!(data[0].received && acks[0].received);
        assert_eq!(lossy, lossless);
    }
}

/// No frame reaches the root. The MAC gives the only one up: it is lost there, once.
#[test]
fn what_the_link_layer_loses_is_not_lost_again() {
    for link_layer in [tsch, xmac] {
        let config = NetworkConfig { frame_loss: Probability::ALWAYS, ..NetworkConfig::default() };
        let send = [(Instant::ZERO, Host::Node(NodeId(1)), ROOT, 50)];
        let lost = losses(&mut network(link_layer, 1, 1e-9, config, 1), &send, seconds(400));
        let expected = Loss { datagram: 0, host: Host::Node(NodeId(1)), reason: DropReason::RetriesExhausted };
        assert_eq!(lost, [expected]);
    }
}

/// The dispatch octets of RFC 4944 section 5.1, RFC 6282 section 3.1.1 and RFC 8931 section 5.
#[test]
fn acknowledgements_and_whole_datagrams_are_no_fragments() {
    for fragment in [0b1100_0000, 0b1100_0111, 0b1110_0000, 0b1110_0111, 0b1110_1000, 0b1110_1001] {
        assert!(is_fragment(&[fragment]), "{fragment:#010b}");
    }
    for other in [0b0100_0001, 0b0110_0000, 0b0111_1111, 0b1110_1010, 0b1110_1011, 0b1100_1000] {
        assert!(!is_fragment(&[other]), "{other:#010b}");
    }
    assert!(!is_fragment(&[]));
}
