//! Congestion marks (RFC 3168): a node sets them if its queue is long, and otherwise changes none.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::ip::{Ecn, TcpPacket};
use slowhand_net::network::{Event, Events, Fragments, Network, NetworkConfig};

/// Sends a segment of `octets` from node 2 to the root at each of these instants, in microseconds. Returns by number
/// the mark of each segment that arrived, and how many frames waited at nodes 2 and 1 just before it was sent.
fn marks(network: &mut Network, ecn: Ecn, octets: usize, instants: &[u64]) -> Vec<(Option<Ecn>, [usize; 2])> {
    let [source, destination] = [NodeId(2), NodeId::ROOT].map(|node| Host::Node(node).address());
    // The network does not read what follows the IPv6 header.
    let segment = vec![0x5a; octets];
    let mut events = Events::default();
    let mut marks = vec![(None, [0; 2]); instants.len()];
    let mut sends = (0..).zip(instants).peekable();
    loop {
        let send_at = sends.peek().map(|(_, at)| Instant::from_micros(**at));
        let Some(now) = [network.deadline(), send_at].into_iter().flatten().min() else { return marks };
        if now > seconds(100) {
            return marks;
        }
        if send_at == Some(now)
            && let Some((number, _)) = sends.next()
        {
            marks[number as usize].1 = [2, 1].map(|node| network.mac().queue(NodeId(node)).len());
            let packet = TcpPacket { source, destination, ecn, segment: &segment };
            network.send_segment(now, packet, number, &mut events).unwrap();
        } else {
            network.handle_deadline(now, &mut events, &mut ());
        }
        for event in events.iter() {
            if let Event::Segment { datagram, packet, .. } = event {
                assert_eq!(packet.segment, segment);
                marks[datagram as usize].0 = Some(packet.ecn);
            }
        }
        events.clear();
    }
}

fn config(fragments: Fragments, ecn_threshold: Option<f64>) -> NetworkConfig {
    NetworkConfig { fragments, ecn_threshold, ..NetworkConfig::default() }
}

/// Eight segments of one frame at once: each finds one frame more in the queue. The queue of 60 is at a tenth with the
/// 7th.
#[test]
fn marked_from_the_threshold_on() {
    for threshold in [Some(0.1), Some(1.0), None] {
        let sent =
            marks(&mut network(tsch, 2, 1.0, config(Fragments::Reassembled, threshold), 1), Ecn::Capable0, 40, &[5; 8]);
        for (number, (mark, [queued, _])) in sent.into_iter().enumerate() {
            assert_eq!(queued, number);
            let full = threshold == Some(0.1) && number >= 6;
            assert_eq!(mark, Some(if full { Ecn::CongestionExperienced } else { Ecn::Capable0 }), "{number}");
        }
    }
    // A packet of a transport without ECN gets no mark.
    let sent =
        marks(&mut network(tsch, 2, 1.0, config(Fragments::Reassembled, Some(0.0)), 1), Ecn::NotCapable, 40, &[5; 8]);
    assert!(sent.iter().all(|(mark, _)| *mark == Some(Ecn::NotCapable)));
}

/// A burst of UDP datagrams waits at node 1. Node 1 marks what it forwards, in fragments or whole. The origin's queue
/// is empty each time.
#[test]
fn a_router_marks_what_it_passes_on() {
    for fragments in [Fragments::Reassembled, forwarded(), recovered(2)] {
        let mark = |burst: usize| {
            let mut network = network(tsch, 2, 1.0, config(fragments, Some(0.5)), 1);
            let mut events = Events::default();
            for number in 0..burst as u32 {
                network
                    .send(
                        Instant::ZERO,
                        endpoint(Host::Node(NodeId(1))),
                        endpoint(Host::Node(NodeId::ROOT)),
                        &[0; 60],
                        100 + number,
                        &mut events,
                    )
                    .unwrap();
            }
            assert_eq!(network.mac().queue(NodeId(1)).len(), burst);
            marks_of_one(&mut network)
        };
        // Until the segment has come, some of the burst have gone: 59 are enough, 10 too few for half of the queue of 60.
        assert_eq!(mark(59), Ecn::CongestionExperienced, "{fragments:?}");
        assert_eq!(mark(10), Ecn::Capable1, "{fragments:?}");
    }
}

fn marks_of_one(network: &mut Network) -> Ecn {
    let at = Duration::from_millis(1).as_micros();
    let sent = marks(network, Ecn::Capable1, 300, &[at]);
    assert_eq!(sent[0].1[0], 0, "the origin's queue is empty");
    sent[0].0.expect("it arrives")
}
