//! Radios that are switched off and on, under link layers that contend for the channel. Those under TSCH are in
//! `tests/net/tsch/outages.rs`.

use super::*;
use proptest::prelude::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::{Events, Network, NetworkConfig, Outage};
use slowhand_net::observer::FrameKind;
use slowhand_net::random::Streams;

const SEED: u64 = 1;
const CLIENT: NodeId = NodeId(1);
const OFF: u64 = 250_000;
const ON: u64 = 1_050_000;

/// 60 octets of data, 9 of compressed headers (IPHC 2, UDP 7; both addresses follow from those of the frame), 21 of header,
/// 2 of FCS, and 6.
const DATA: u64 = (60 + 9 + 21 + 2 + 6) * 32;

const CONTENDING: [LinkLayer; 4] = [csma, csma_polling, csma_sampling, xmac];

/// One hop, with node 1 off from 0.25 s to 1.05 s.
fn with_outage(link_layer: LinkLayer) -> Network {
    let outages = vec![Outage { node: CLIENT, from: at(OFF), until: at(ON) }];
    network(link_layer, 1, 1.0, NetworkConfig { outages, ..NetworkConfig::default() }, SEED)
}

fn up(us: u64) -> (Instant, Host, Host, usize) {
    (at(us), Host::Node(CLIENT), Host::Node(NodeId::ROOT), 60)
}

fn down(us: u64) -> (Instant, Host, Host, usize) {
    (at(us), Host::Node(NodeId::ROOT), Host::Node(CLIENT), 60)
}

/// At 1.05 s the node backs off. Assessment and turnaround take 128 and 192 us.
#[test]
fn a_frame_waits_until_the_radio_is_on() {
    let mut air = Recorder::default();
    let fates = run(&mut with_outage(csma), &[up(300_000)], seconds(10), &mut air);
    let backoff = Streams::new(SEED).stream("back-off", 1).below(8) * 320;
    assert_eq!(fates.delivered[&0].0, at(ON + backoff + 128 + 192 + DATA));
    for link_layer in CONTENDING {
        let mut air = Recorder::default();
        let fates = run(&mut with_outage(link_layer), &[up(300_000)], seconds(10), &mut air);
        assert!(fates.delivered[&0].0 > at(ON));
        assert!(air.frames.iter().all(|frame| frame.from != CLIENT || !(OFF..ON).contains(&frame.at)));
    }
}

/// Under CSMA the root tries 16 times in less than 0.4 s. X-MAC goes on with its trains until the radio is on again. A sleepy
/// device asks for the frame then, or its parent sends it into a sample.
#[test]
fn a_radio_that_is_off_hears_nothing() {
    let mut air = Recorder::default();
    let fates = run(&mut with_outage(csma), &[down(260_000)], seconds(10), &mut air);
    assert_eq!(fates.lost[&0], "retries_exhausted");
    assert_eq!(air.of(FrameKind::Data).iter().map(|frame| frame.received).collect::<Vec<_>>(), [false; 16]);
    for link_layer in [csma_polling, csma_sampling, xmac] {
        let fates = run(&mut with_outage(link_layer), &[down(260_000)], seconds(100), &mut ());
        assert!(fates.delivered[&0].0 > at(ON), "{:?}", fates.lost);
    }
}

/// Switched off in the middle of its frame, at 100 us, the node sends the rest and receives the acknowledgement: 11 octets
/// after 192 us.
#[test]
fn an_exchange_that_has_begun_is_finished() {
    let mut network = network(csma, 1, 1.0, NetworkConfig::default(), SEED);
    let (mut air, mut events) = (Recorder::default(), Events::default());
    let (_, from, to, octets) = up(0);
    network.send(at(0), endpoint(from), endpoint(to), &payload(0, octets), 0, &mut events).unwrap();
    let begin = Streams::new(SEED).stream("back-off", 1).below(8) * 320 + 128 + 192;
    network.handle_deadline(at(begin + 100), &mut events, &mut air);
    assert!(network.switch_radio(at(begin + 100), CLIENT, false));
    network.handle_deadline(seconds(5), &mut events, &mut air);
    let frames: Vec<_> = air.frames.iter().map(|frame| (frame.kind, frame.at, frame.received)).collect();
    assert_eq!(frames, [(FrameKind::Data, begin, true), (FrameKind::Ack, begin + DATA + 192, true)]);
    let times = network.mac().radio_times(CLIENT, seconds(5));
    assert_eq!((times.transmit, times.receive), (us(DATA), us(11 * 32)));
    assert_eq!(times.listen, us(begin + 192), "before its frame, and before the acknowledgement");
}

/// A train of strobes lasts for a check interval of 125 ms. It ends when the radio is switched off, and begins anew when it is
/// on again.
#[test]
fn a_train_of_strobes_ends() {
    let mut air = Recorder::default();
    let mut network = with_outage(xmac);
    let fates = run(&mut network, &[up(OFF - 10_000)], seconds(10), &mut air);
    let strobes = air.begins(FrameKind::Strobe, CLIENT);
    let data = air.begins(FrameKind::Data, CLIENT);
    assert!(strobes.iter().any(|&strobe| strobe < OFF) && data.iter().all(|&data| data > ON), "{strobes:?}");
    assert!(strobes.iter().all(|strobe| !(OFF..ON).contains(strobe)), "{strobes:?}");
    assert!(fates.delivered.contains_key(&0));
}

#[test]
fn a_radio_that_is_off_takes_no_energy() {
    for link_layer in CONTENDING {
        let mut network = with_outage(link_layer);
        let mut air = Recorder::of_radios();
        network.handle_deadline(at(ON), &mut Events::default(), &mut air);
        network.report_radios(at(ON), &mut air);
        // A poll that has begun is finished.
        let awake = air.timeline.iter().filter(|interval| interval.node == CLIENT && interval.to > at(OFF + 10_000));
        assert_eq!(awake.count(), 0);
        assert!(network.mac().radio_times(CLIENT, at(ON)).sleep >= us(ON - OFF - 10_000));
        network.handle_deadline(at(3_000_000), &mut Events::default(), &mut air);
        network.report_radios(at(3_000_000), &mut air);
        assert_eq!(air.radio_times(CLIENT, at(3_000_000)), network.mac().radio_times(CLIENT, at(3_000_000)));
        assert!(air.timeline.iter().any(|interval| interval.node == CLIENT && interval.from >= at(ON)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever is switched when: no frame of a node begins while its radio is off, but for acknowledgements, every datagram is
    /// delivered or lost, and the states of the radio add up.
    #[test]
    fn outages_at_any_time(
        link_layer in proptest::sample::select(&CONTENDING[..]),
        outages in proptest::collection::vec((0u16..3, 0u64..3_000_000, 1u64..1_500_000), 0..6),
        sends in proptest::collection::vec((0u64..3_000_000, any::<bool>(), 1usize..300), 1..12),
        seed in 0u64..1_000,
    ) {
        let mut ends = [0; 3];
        let mut all = Vec::new();
        let mut outages = outages;
        outages.sort_by_key(|outage| outage.1);
        for (node, from, length) in outages {
            let from = from.max(ends[usize::from(node)] + 1);
            ends[usize::from(node)] = from + length;
            all.push(Outage { node: NodeId(node), from: at(from), until: at(from + length) });
        }
        let config = NetworkConfig { outages: all.clone(), ..NetworkConfig::default() };
        let mut network = network(link_layer, 2, 0.9, config, seed);
        let mut sends: Vec<_> = sends
            .into_iter()
            .map(|(us, up, octets)| {
                let ends = [Host::Node(NodeId(2)), Host::Node(NodeId::ROOT)];
                let [from, to] = if up { ends } else { [ends[1], ends[0]] };
                (at(us), from, to, octets)
            })
            .collect();
        sends.sort_by_key(|send| send.0);
        let mut air = Recorder::of_radios();
        let end = seconds(400);
        let fates = run(&mut network, &sends, end, &mut air);
        for number in 0..sends.len() as u32 {
            prop_assert!(fates.delivered.contains_key(&number) || fates.lost.contains_key(&number), "{}", number);
        }
        let is_off = |frame: &Frame| {
            let off = |outage: &Outage| outage.node == frame.from && outage.from <= at(frame.at) && at(frame.at) < outage.until;
            all.iter().any(off)
        };
        prop_assert!(air.frames.iter().all(|frame| frame.kind == FrameKind::Ack || !is_off(frame)));
        network.report_radios(end, &mut air);
        for node in (0..3).map(NodeId) {
            prop_assert_eq!(air.radio_times(node, end), network.mac().radio_times(node, end));
            prop_assert_eq!(air.ramps(node), network.mac().radio_work(node, end).ramps);
        }
    }
}
