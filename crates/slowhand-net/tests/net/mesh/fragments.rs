//! A delivered datagram has the octets that were sent, and every datagram has a fate, in every fragment mode and under
//! every loss.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::lowpan::forwarding::Limits;
use slowhand_net::lowpan::reassembly;
use slowhand_net::network::{Fragments, Network, NetworkConfig};
use slowhand_net::random::Probability;

/// With room for all datagrams at once: no test here is about full buffers.
fn lossy(fragments: Fragments, fragment_loss: f64) -> NetworkConfig {
    let reassembly = reassembly::Limits { buffers: 8, ..Default::default() };
    NetworkConfig { fragments, fragment_loss: Probability::new(fragment_loss), reassembly, ..NetworkConfig::default() }
}

/// Long after the last datagram: every reassembly has timed out, and every sender has given up.
const AFTERMATH: Duration = Duration::from_secs(600);

fn check(network: &mut Network, sends: &[Send]) -> Result<Fates, TestCaseError> {
    let last = sends.last().map_or(Instant::ZERO, |send| send.0);
    let fates = run(network, sends, last + AFTERMATH, &mut ());
    for (number, send) in (0..).zip(sends) {
        match fates.delivered.get(&number) {
            Some((at, octets)) => {
                prop_assert!(*at >= send.0);
                prop_assert_eq!(octets, &payload(number, send.3));
            }
            None => prop_assert!(fates.lost.contains_key(&number), "datagram {} vanished", number),
        }
    }
    Ok(fates)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_arrives_is_what_was_sent(
        fragments in prop_oneof![Just(Fragments::Reassembled), Just(forwarded()), (0u8..4).prop_map(recovered)],
        link_layer in prop::sample::select(&LINK_LAYERS[..]),
        hops in 1u16..5,
        pdr in 0.7f64..=1.0,
        loss in prop_oneof![Just(0.0), 0.0..0.3],
        sends in prop::collection::vec((0u64..30_000, 0u16..5, 0u16..6, 0usize..700), 1..8),
        seed in any::<u64>(),
    ) {
        // Node 5 stands for the Internet; others that the line does not have, for its end.
        let host = |number: u16| if number == 5 { Host::Internet } else { Host::Node(NodeId(number.min(hops))) };
        let mut sends: Vec<Send> = sends
            .into_iter()
            .map(|(at, from, to, octets)| (Instant::ZERO + Duration::from_millis(at), host(from), host(to), octets))
            .filter(|send| send.1 != send.2)
            .collect();
        sends.sort_by_key(|send| send.0);
        let config = lossy(fragments, loss);
        let fates = check(&mut network(link_layer, hops, pdr, config, seed), &sends)?;
        if loss == 0.0 && pdr == 1.0 {
            prop_assert_eq!(fates.delivered.len(), sends.len(), "{:?}", fates.lost);
        }
    }
}

/// 600 octets from node 2 to the root, one every 20 s.
fn steady(datagrams: u64) -> Vec<Send> {
    (0..datagrams).map(|n| (seconds(20 * n), Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 600)).collect()
}

#[test]
fn recovery_delivers_where_reassembly_loses() {
    let sends = steady(100);
    let delivered = |fragments| {
        let fates = run(&mut network(tsch, 2, 1.0, lossy(fragments, 0.2), 1), &sends, seconds(4_000), &mut ());
        assert!((0..100).all(|number| fates.delivered.contains_key(&number) || fates.lost.contains_key(&number)));
        fates.delivered.len()
    };
    // Seven fragments a hop, fourteen in all: 0.8^14 is 0.044, of 100 datagrams 4 or 5. Ten of 100 would be less likely
    // than one in fifty.
    let reassembled = delivered(Fragments::Reassembled);
    assert!(reassembled < 10, "{reassembled}");
    assert!(delivered(forwarded()) < 10);
    let recovered = delivered(recovered(15));
    assert!(recovered > 95, "{recovered}");
}

/// With losses that the link layers do not repair.
#[test]
fn recovery_works_under_every_mac() {
    let sends = steady(20);
    let delivered = |fates: Fates| {
        assert!(fates.delivered.iter().all(|(number, (_, octets))| *octets == payload(*number, 600)));
        fates.delivered.len()
    };
    let config = || lossy(recovered(15), 0.1);
    let all = LINK_LAYERS.map(|link_layer| {
        delivered(run(&mut network(link_layer, 3, 0.9, config(), 1), &sends, seconds(1_000), &mut ()))
    });
    assert!(all.iter().all(|&delivered| delivered >= 18), "{all:?}");
}

/// A datagram is lost for the reason of its first lost fragment. If recovery gives it up, that is the reason.
#[test]
fn losses_have_their_names() {
    let dropped = |fragments, frames: &[u64], sends: &[Send]| {
        let config = NetworkConfig { fragments, dropped_frames: frames.to_vec(), ..NetworkConfig::default() };
        let fates = run(&mut network(tsch, 2, 1.0, config, 1), sends, seconds(700), &mut ());
        (fates.delivered.len(), fates.lost.into_values().collect::<Vec<_>>())
    };
    let one = steady(1);
    assert_eq!(dropped(forwarded(), &[3], &one), (0, vec!["injected_loss"]));
    assert_eq!(dropped(recovered(2), &[3], &one), (1, vec![]));
    // The first fragment goes alone, and is lost three times.
    assert_eq!(dropped(recovered(2), &[1, 2, 3], &one), (0, vec!["recovery_failed"]));
    // Node 1 has room to forward one datagram. Two datagrams of one node follow each other; two of different nodes
    // meet.
    let limits = Limits { entries: 1, ..Limits::default() };
    assert_eq!(dropped(Fragments::Forwarded(limits), &[], &[one[0], one[0]]), (2, vec![]));
    let back = (seconds(0), Host::Node(NodeId::ROOT), Host::Node(NodeId(2)), 600);
    assert_eq!(dropped(Fragments::Forwarded(limits), &[], &[one[0], back]), (1, vec!["forwarding_full"]));
}
