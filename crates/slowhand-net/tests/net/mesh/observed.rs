//! The times of each frame that an observer learns: when it came into the queue of its sender, and when its receiver had handled it.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::NetworkConfig;
use slowhand_net::observer::{FrameKind, Observer, Reception, Transmission};
use slowhand_net::random::Probability;

/// The data frames of a datagram, and who handled them.
#[derive(Default)]
struct Seen {
    /// The sender, when the frame came into its queue, when it was on the air, and if it was received.
    frames: Vec<(NodeId, Instant, Instant, bool)>,
    receptions: Vec<Reception>,
}

impl Observer for Seen {
    fn transmission(&mut self, frame: &Transmission<'_>) {
        if frame.kind == FrameKind::Data {
            self.frames.push((frame.from, frame.queued_at, frame.at, frame.received));
        }
    }

    fn watches_receptions(&self) -> bool {
        true
    }

    fn reception(&mut self, reception: &Reception) {
        self.receptions.push(*reception);
    }
}

/// Node 2 sends a datagram of 20 octets, which fits into a frame, to the root at 1 s. Its frame comes into the queue at once,
/// and node 1 gives its MAC the next frame as soon as it has handled this one, 5 ms or later after the last symbol if
/// processors take so long. Attempts of a frame that failed change nothing of that.
#[test]
fn a_router_sends_a_frame_on_when_it_has_handled_it() {
    for link_layer in LINK_LAYERS {
        for (pdr, handling) in [(1.0, 0), (0.7, 0), (1.0, 5_000)] {
            let frame_handling = (0..3).map(|node| (NodeId(node), us(handling))).collect();
            let config = NetworkConfig { frame_handling, ..NetworkConfig::default() };
            let mut network = network(link_layer, 2, pdr, config, 3);
            let mut seen = Seen::default();
            let send = (seconds(1), Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 20);
            let fates = run(&mut network, &[send], seconds(60), &mut seen);
            let [first, second] = &seen.receptions[..] else { panic!("{:?}", seen.receptions) };
            let ends = [first, second].map(|reception| (reception.from, reception.node, reception.discarded));
            assert_eq!(ends, [(NodeId(2), NodeId(1), false), (NodeId(1), NodeId::ROOT, false)]);
            let queued = |node| -> Vec<Instant> {
                seen.frames.iter().filter(|frame| frame.0 == NodeId(node)).map(|frame| frame.1).collect()
            };
            assert!(queued(2).iter().all(|&at| at == seconds(1)), "{:?}", seen.frames);
            assert!(!queued(1).is_empty() && queued(1).iter().all(|&at| at == first.at), "{:?}", seen.frames);
            assert_eq!(fates.delivered[&0].0, second.at);
            let (.., begun, _) = seen.frames.iter().find(|frame| frame.0 == NodeId(2) && frame.3).unwrap();
            assert!(first.at.since(*begun) >= us(handling + 60 * 32), "{first:?} after {begun:?}");
        }
    }
}

/// The receiver has handled such a frame, and discards it.
#[test]
fn a_frame_whose_loss_is_asked_for_is_discarded() {
    for link_layer in LINK_LAYERS {
        let config = NetworkConfig { frame_loss: Probability::ALWAYS, ..NetworkConfig::default() };
        let mut seen = Seen::default();
        let send = (seconds(1), Host::Node(NodeId(1)), Host::Node(NodeId::ROOT), 20);
        run(&mut network(link_layer, 1, 1.0, config, 3), &[send], seconds(60), &mut seen);
        let [reception] = &seen.receptions[..] else { panic!("{:?}", seen.receptions) };
        assert!(reception.discarded && reception.node == NodeId::ROOT);
    }
}
