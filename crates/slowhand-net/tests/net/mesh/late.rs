//! A driver that calls late gets the same as one that calls at every deadline.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::network::{Event, Events, Network, NetworkConfig, SendError};
use slowhand_net::random::Probability;

/// When, where, which datagram, and what happened to it: the payload, or why it was lost.
type Fate = (Instant, Host, u32, Result<Vec<u8>, &'static str>);

/// At each of the sorted `calls` (milliseconds) the network does what is due. At even ones a datagram of 200 octets is
/// sent from node 3 to the Internet, or back. If `is_late`, nobody calls the network in between.
fn drive(mut network: Network, calls: &[u64], is_late: bool) -> (Vec<Fate>, Vec<Frame>) {
    let (mut events, mut air, mut fates) = (Events::default(), Recorder::default(), Vec::new());
    let ends = [Host::Node(NodeId(3)), Host::Internet].map(endpoint);
    for (number, &call) in (0..).zip(calls) {
        let now = Instant::ZERO + Duration::from_millis(call);
        while let Some(at) = network.deadline().filter(|&at| !is_late && at <= now) {
            network.handle_deadline(at, &mut events, &mut air);
        }
        network.handle_deadline(now, &mut events, &mut air);
        if call % 2 == 0 {
            let (from, to) = if call % 4 == 0 { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
            network.send(now, from, to, &payload(number, 200), number, &mut events).unwrap();
        }
        fates.extend(events.iter().map(|event| match event {
            Event::Delivered { at, host, datagram, payload, .. } => (at, host, datagram, Ok(payload.to_vec())),
            Event::Lost { at, host, datagram, reason, .. } => (at, host, datagram, Err(reason.name())),
            other => panic!("nobody sends {other:?}"),
        }));
        events.clear();
    }
    (fates, air.frames)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn late_calls_change_nothing(
        mut calls in prop::collection::vec(0u64..20_000, 2..20),
        link_layer in prop::sample::select(&LINK_LAYERS[..]),
        fragments in prop_oneof![Just(forwarded()), Just(recovered(2)), Just(Default::default())],
        seed in any::<u64>(),
    ) {
        calls.sort_unstable();
        calls.push(400_000); // after the last reassembly timeout
        let config = || {
            NetworkConfig { fragments, fragment_loss: Probability::new(0.05), ..NetworkConfig::default() }
        };
        let network = || network(link_layer, 3, 0.9, config(), seed);
        let (late, on_time) = (drive(network(), &calls, true), drive(network(), &calls, false));
        prop_assert!(late.0.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in the order of time");
        prop_assert_eq!(late, on_time);
    }
}

/// Time does not run backwards. Before a datagram is sent, the network has to do what is due.
#[test]
fn what_is_due_comes_first() {
    let mut network = network(tsch, 1, 1.0, NetworkConfig::default(), 1);
    let mut events = Events::default();
    let [from, to] = [NodeId(1), NodeId::ROOT].map(|node| endpoint(Host::Node(node)));
    network.send(seconds(1), from, to, b"one", 1, &mut events).unwrap();
    let due = network.deadline().unwrap();
    assert_eq!(network.send(seconds(2), from, to, b"two", 2, &mut events), Err(SendError::Overdue(due)));
    network.handle_deadline(seconds(2), &mut events, &mut ());
    network.send(seconds(2), from, to, b"two", 2, &mut events).unwrap();
    // The network is at two seconds already, so one second counts as two.
    network.send(seconds(1), from, to, b"three", 3, &mut events).unwrap();
    network.handle_deadline(seconds(3), &mut events, &mut ());
    let delivered: Vec<(Instant, u32)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Delivered { at, datagram, .. } => Some((at, datagram)),
            _ => None,
        })
        .collect();
    assert_eq!(delivered.iter().map(|delivery| delivery.1).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(delivered[0].0 < seconds(2) && delivered[2].0 > seconds(2));
}

/// A refused datagram does not advance the time: the next one may be earlier.
#[test]
fn a_call_that_fails_does_not_advance_the_time() {
    let mut network = network(tsch, 1, 1.0, NetworkConfig::default(), 1);
    let mut events = Events::default();
    let [from, to] = [NodeId(1), NodeId::ROOT].map(|node| endpoint(Host::Node(node)));
    let refused = network.send(Instant::from_micros(900), from, to, &[0; 65_536], 1, &mut events);
    assert!(matches!(refused, Err(SendError::Packet(_))), "{refused:?}");
    // A node that sends to itself gets the datagram at once.
    network.send(Instant::from_micros(300), from, from, b"one", 2, &mut events).unwrap();
    let Some(Event::Delivered { at, .. }) = events.iter().next() else { panic!("it is delivered at once") };
    assert_eq!(at, Instant::from_micros(300));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "call handle_deadline before")]
fn a_burst_begins_after_what_is_due() {
    let mut network = network(tsch, 1, 1.0, NetworkConfig::default(), 1);
    let [from, to] = [NodeId(1), NodeId::ROOT].map(|node| endpoint(Host::Node(node)));
    network.send(Instant::ZERO, from, to, b"one", 1, &mut Events::default()).unwrap();
    network.begin_burst(seconds(60), NodeId(1));
}
