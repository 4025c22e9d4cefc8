//! How many octets fit into a frame, by link.

use super::*;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::drop_reason::DropReason;

/// 127 octets of PSDU, less 21 of header (control 2, sequence number 1, PAN ID 2, two addresses of 8) and 2 of FCS.
const CAPACITY: usize = 104;

fn check(link_layer: LinkLayer) {
    let (from, to) = (NodeId(1), NodeId::ROOT);
    let (mut mac, _) = link_layer(1, 1.0, 1);
    assert_eq!(mac.payload_capacity(from, to), CAPACITY);
    let payload = [0x3f; CAPACITY + 1];
    assert_eq!(mac.enqueue(Instant::ZERO, from, to, &payload, 0), Err(DropReason::Malformed));
    assert_eq!(mac.queued(from), 0);
    assert_eq!(mac.enqueue(Instant::ZERO, from, to, &payload[..CAPACITY], 0), Ok(()));
    assert_eq!(mac.queued(from), 1);
}

#[test]
fn a_mac_takes_what_it_says_and_no_octet_more() {
    LINK_LAYERS.into_iter().for_each(check);
}
