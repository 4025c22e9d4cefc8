//! Every acknowledgement belongs to a frame that was received, and to the datagram of that frame.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::datagram::{DatagramId, NO_DATAGRAM};
use slowhand_net::network::{LossSpread, NetworkConfig};
use slowhand_net::observer::FrameKind;
use slowhand_net::random::Probability;
use std::collections::BTreeMap;

/// By datagram: the frames that arrived and ask for an acknowledgement, less the acknowledgements that were sent.
fn unanswered(frames: &[Frame]) -> BTreeMap<DatagramId, i64> {
    let mut count = BTreeMap::new();
    for frame in frames {
        *count.entry(frame.datagram).or_default() += match frame.kind {
            FrameKind::Data | FrameKind::DataRequest if frame.received => 1,
            FrameKind::Ack => -1,
            _ => 0,
        };
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_acknowledgement_belongs_to_a_frame(
        link_layer in 0..LINK_LAYERS.len(),
        hops in 1u16..4,
        pdr in 0.7f64..=1.0,
        frame_loss in prop_oneof![Just(0.0), 0.0..0.3],
        loss_spread in prop::sample::select(&[LossSpread::Fragment, LossSpread::Flight][..]),
        sends in prop::collection::vec((0u64..20_000, any::<bool>(), 0usize..300), 1..30),
        seed: u64,
    ) {
        let ends = [Host::Node(NodeId(hops)), Host::Internet];
        let host = |is_down: bool| ends[usize::from(is_down)];
        let mut sends: Vec<Send> = sends
            .into_iter()
            .map(|(ms, is_down, octets)| (Instant::ZERO + Duration::from_millis(ms), host(is_down), host(!is_down), octets))
            .collect();
        sends.sort_by_key(|send| send.0);
        let config = NetworkConfig { frame_loss: Probability::new(frame_loss), loss_spread, ..NetworkConfig::default() };
        let mut air = Recorder::default();
        run(&mut network(LINK_LAYERS[link_layer], hops, pdr, config, seed), &sends, seconds(200), &mut air);
        let mut unanswered = unanswered(&air.frames);
        // Polls go on for ever: one may be on the air at the end.
        let polls = unanswered.remove(&NO_DATAGRAM).unwrap_or(0);
        prop_assert!((0..=1).contains(&polls), "{polls} polls");
        // Under X-MAC the processor of a node that is busy does not take a frame from its radio.
        let may_be_missed = link_layer == 1;
        prop_assert!(unanswered.values().all(|&count| count == 0 || may_be_missed && count > 0), "{unanswered:?}");
    }
}
