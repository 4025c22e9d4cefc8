//! The number of octets that fit into a frame, by link.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::network::{Fragments, Network, NetworkConfig};
use slowhand_net::observer::{Observer, RadioTimes};
use slowhand_net::radio::{Indication, Mac, Msdu, NodeQueue, Payload};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// 127 octets of PSDU, less 21 of header (control 2, sequence number 1, PAN ID 2, two addresses of 8) and 2 of FCS.
const CAPACITY: usize = 104;

fn check(link_layer: LinkLayer, from: NodeId, to: NodeId, capacity: usize) {
    let (mut mac, _) = link_layer(1, 1.0, 1);
    assert_eq!(mac.payload_capacity(from, to), capacity);
    let payload = [0x3f; CAPACITY + 1];
    assert_eq!(mac.enqueue(Instant::ZERO, Msdu::new(from, to, &payload[..=capacity], 0)), Err(DropReason::Malformed));
    assert_eq!(mac.queue(from).len(), 0);
    assert_eq!(mac.enqueue(Instant::ZERO, Msdu::new(from, to, &payload[..capacity], 0)), Ok(()));
    assert_eq!(mac.queue(from).len(), 1);
}

#[test]
fn a_mac_takes_what_it_says_and_no_octet_more() {
    let (leaf, root) = (NodeId(1), NodeId::ROOT);
    LINK_LAYERS.into_iter().for_each(|link_layer| check(link_layer, root, leaf, CAPACITY));
    for link_layer in [tsch, xmac, beacon, csma, csma_polling] {
        check(link_layer, leaf, root, CAPACITY);
    }
    // The frames of a CSL receiver have an information element of 6 octets, and 2 that end the list of them.
    check(csma_sampling, leaf, root, CAPACITY - 8);
}

/// 127 octets of PSDU, less 9 of header (control 2, sequence number 1, PAN ID 2, two addresses of 2) and 2 of FCS.
const SHORT_ADDRESSES: usize = 116;

/// A link layer with 16-bit addresses. Each frame arrives a millisecond later.
#[derive(Debug)]
struct ShortAddresses {
    frames: VecDeque<(Instant, Indication)>,
    lengths: Arc<Mutex<Vec<usize>>>,
    queue: NodeQueue,
}

impl Mac for ShortAddresses {
    fn enqueue(&mut self, now: Instant, msdu: Msdu<'_>) -> Result<(), DropReason> {
        let Msdu { node: from, next_hop: node, payload, datagram, discard } = msdu;
        assert!(payload.len() <= SHORT_ADDRESSES);
        self.lengths.lock().unwrap().push(payload.len());
        let received =
            Indication::Received { node, from, datagram, payload: Payload::new(payload), discard, handled_at: now };
        self.frames.push_back((now + Duration::from_millis(1), received));
        Ok(())
    }

    fn payload_capacity(&self, _: NodeId, _: NodeId) -> usize {
        SHORT_ADDRESSES
    }

    fn deadline(&self) -> Option<Instant> {
        self.frames.front().map(|frame| frame.0)
    }

    fn handle_deadline(&mut self, now: Instant, indications: &mut Vec<Indication>, _: &mut dyn Observer) {
        while self.deadline() == Some(now) {
            indications.extend(self.frames.pop_front().map(|frame| frame.1));
        }
    }

    fn sending_time(&self, _: NodeId, _: NodeId, frames: u64) -> Duration {
        Duration::from_millis(1) * frames
    }

    fn queue(&self, _: NodeId) -> &NodeQueue {
        &self.queue
    }

    fn queue_mut(&mut self, _: NodeId) -> &mut NodeQueue {
        &mut self.queue
    }

    fn radio_times(&self, _: NodeId, _: Instant) -> RadioTimes {
        RadioTimes::default()
    }
}

/// The octets of the frames that carry a UDP datagram over a number of hops to the root.
fn lengths(hops: u16, fragments: Fragments, frame_capacity: usize, payload: usize) -> Vec<usize> {
    let lengths = Arc::default();
    let mac = ShortAddresses { frames: VecDeque::new(), lengths: Arc::clone(&lengths), queue: NodeQueue::new(60) };
    let routes = Routes::shortest(usize::from(hops) + 1, &line(hops, 1.0)).unwrap();
    let config = NetworkConfig { fragments, frame_capacity, ..NetworkConfig::default() };
    let mut network = Network::new(Box::new(mac), routes, config, &Streams::new(1));
    let send = (Instant::ZERO, Host::Node(NodeId(hops)), Host::Node(NodeId::ROOT), payload);
    let fates = run(&mut network, &[send], seconds(10), &mut ());
    assert_eq!(fates.delivered[&0].1.len(), payload);
    let lengths = lengths.lock().unwrap();
    lengths.clone()
}

/// The network uses the capacity of the link, unless its own limit is lower.
#[test]
fn the_capacity_of_the_link_counts() {
    let whole = |capacity, payload| lengths(1, Fragments::Reassembled, capacity, payload);
    let headers = whole(125, 1)[0] - 1;
    assert_eq!(whole(125, SHORT_ADDRESSES - headers), [116]);
    assert_eq!(whole(125, SHORT_ADDRESSES - headers + 1).len(), 2);
    assert_eq!(whole(104, SHORT_ADDRESSES - headers).len(), 2, "the limit of the network is lower");
    // A later fragment has 5 octets of header (RFC 4944 section 5.3), then a multiple of 8: 5 + 13 * 8 = 109 is the
    // largest up to 116, 5 + 12 * 8 = 101 the largest up to 104.
    for (fragments, capacity, largest) in [
        (Fragments::Reassembled, 125, 109),
        (Fragments::Reassembled, 104, 101),
        (forwarded(), 125, 109),
        (forwarded(), 104, 101),
    ] {
        let lengths = lengths(2, fragments, capacity, 600);
        let later = lengths.iter().filter(|&&length| length == largest).count();
        assert!(later >= 8 && lengths.iter().all(|&length| length <= capacity.min(116)), "{lengths:?}");
    }
}
