//! Radios that are switched off and on, and links that change while the network runs.

use crate::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::{Event, Events, Network, NetworkConfig, Outage};
use slowhand_net::observer::FrameKind;

const CLIENT: NodeId = NodeId(1);

/// One hop, with node 1 off from 0.25 s to 1.05 s. Its slots are 1 and 3 of five slots of 20 ms.
fn with_outage() -> Network {
    let outage = Outage { node: CLIENT, from: at(250_000), until: at(1_050_000) };
    one_hop(NetworkConfig { outages: vec![outage], ..NetworkConfig::default() })
}

/// The radio is on again at 1,050,000 us, in slot 52 (2 of its slotframe). The next slot of the node is 53, from 1,060,000
/// us. Its frame takes 14,672 us (see `timing.rs`).
#[test]
fn frames_wait_until_the_radio_is_on() {
    let mut air = Recorder::default();
    let send = (at(300_000), Host::Node(CLIENT), Host::Node(NodeId::ROOT), 60);
    let fates = run(&mut with_outage(), &[send], seconds(10), &mut air);
    assert_eq!(fates.delivered[&0].0, at(1_060_000 + 14_672));
    assert_eq!(air.of(FrameKind::Data).len(), 1, "nothing is sent while the radio is off");
}

/// The root has slot 4, which begins at 280,000 us and every 100,000 us after that. Node 1 hears the frame of the slot that
/// begins at 1,080,000 us: the ninth attempt.
#[test]
fn a_radio_that_is_off_hears_nothing() {
    let mut air = Recorder::default();
    let send = (at(260_000), Host::Node(NodeId::ROOT), Host::Node(CLIENT), 60);
    let fates = run(&mut with_outage(), &[send], seconds(10), &mut air);
    assert_eq!(fates.delivered[&0].0, at(1_080_000 + 14_672));
    let received: Vec<bool> = air.of(FrameKind::Data).iter().map(|frame| frame.received).collect();
    assert_eq!(received, [vec![false; 8], vec![true]].concat());
    assert!(fates.lost.is_empty());
}

/// Node 1 listens in slot 4 for 2,622 us. Until 2 s it would do so 20 times. It is off in the slots that begin from 260,000
/// to 1,040,000 us: eight times.
#[test]
fn a_radio_that_is_off_does_not_listen() {
    let mut network = with_outage();
    let mut air = Recorder::default();
    network.handle_deadline(seconds(2), &mut Events::default(), &mut air);
    let times = network.mac().radio_times(CLIENT, seconds(2));
    assert_eq!((times.listen, times.transmit), (us(12 * 2_622), us(0)));
    let during = network.mac().radio_times(CLIENT, seconds(2)).since(times);
    assert_eq!(during.listen, us(0));
}

#[test]
fn a_radio_can_be_switched_while_the_network_runs() {
    let mut network = one_hop(NetworkConfig::default());
    let mut events = Events::default();
    assert!(network.switch_radio(at(250_000), CLIENT, false));
    network
        .send(at(300_000), endpoint(Host::Node(CLIENT)), endpoint(Host::Node(NodeId::ROOT)), &[1; 60], 7, &mut events)
        .unwrap();
    network.handle_deadline(at(1_050_000), &mut events, &mut ());
    assert!(events.is_empty());
    // While it is off its time is sleep, at any instant.
    let [early, late] = [at(400_000), at(1_050_000)].map(|now| network.mac().radio_times(CLIENT, now));
    assert_eq!((late.since(early).sleep, late.listen), (us(650_000), us(2 * 2_622)));
    assert!(network.switch_radio(at(1_050_000), CLIENT, true));
    network.handle_deadline(seconds(2), &mut events, &mut ());
    let delivered: Vec<Instant> = events
        .iter()
        .filter_map(|event| if let Event::Delivered { at, .. } = event { Some(at) } else { None })
        .collect();
    assert_eq!(delivered, [at(1_060_000 + 14_672)]);
}

#[test]
fn a_link_can_change_while_the_network_runs() {
    let mut network = one_hop(NetworkConfig::default());
    let mut events = Events::default();
    let (mut send, mut number) = (Vec::new(), 0);
    for (second, pdr) in [(1, 1.0), (2, 0.0), (5, 1.0)] {
        network.handle_deadline(seconds(second), &mut events, &mut ());
        network.set_delivery(CLIENT, NodeId::ROOT, pdr);
        let ends = [Host::Node(CLIENT), Host::Node(NodeId::ROOT)].map(endpoint);
        network.send(seconds(second), ends[0], ends[1], &[1; 60], number, &mut events).unwrap();
        number += 1;
    }
    network.handle_deadline(seconds(9), &mut events, &mut ());
    for event in events.iter() {
        match event {
            Event::Delivered { datagram, .. } => send.push((datagram, true)),
            Event::Lost { datagram, .. } => send.push((datagram, false)),
            _ => {}
        }
    }
    // 16 attempts in two cells of a slotframe of 100 ms take 0.8 s.
    assert_eq!(send, [(0, true), (1, false), (2, true)]);
}

/// The timeline has what the times say. Both nodes listen before the outage, and are used only after it.
#[test]
fn the_timeline_has_what_was_before_an_outage() {
    let mut network = with_outage();
    let mut air = Recorder::of_radios();
    let send = (seconds(2), Host::Node(CLIENT), Host::Node(NodeId::ROOT), 60);
    run(&mut network, &[send], seconds(3), &mut air);
    network.report_radios(seconds(3), &mut air);
    for node in [NodeId::ROOT, CLIENT] {
        assert_eq!(air.radio_times(node, seconds(3)), network.mac().radio_times(node, seconds(3)), "node {node}");
    }
}
