//! TCP connections across a TSCH network: the microseconds worked out by hand, and content intact whatever is lost.

use crate::harness::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::network::NetworkConfig;
use slowhand_net::random::Probability;
use slowhand_net::transport::tcp::{Nagle, TcpConfig};

/// A node that connects, one hop from the root, to a server; each sends its content.
fn conversation(server: Host, fragment_loss: f64, dropped_frames: Vec<u64>, content: [&[u8]; 2]) -> Conversation {
    let fragment_loss = Probability::new(fragment_loss);
    let network = one_hop(NetworkConfig { fragment_loss, dropped_frames, ..NetworkConfig::default() });
    let tcp = TcpConfig { nagle: Nagle::Off, ..TcpConfig::constrained() };
    Conversation::new(network, [Host::Node(NodeId(1)), server], [&tcp, &tcp], content)
}

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a TCP segment of these octets in
/// one piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 3 + `segment` + 2 at 32 us
/// each, 5,521 us to the acknowledgement, 25 octets of that. The 3 octets: IPHC 2 (both addresses follow from context 0
/// and the link), next header 1, inline (RFC 6282 compresses UDP only).
const fn exchange(segment: u64) -> u64 {
    5_215 + (6 + 21 + 3 + segment + 2) * 32 + 5_521 + (6 + 19) * 32
}

#[test]
fn a_connection_opens_and_carries_an_octet() {
    let mut conversation = conversation(Host::Node(NodeId::ROOT), 0.0, Vec::new(), [b"?", b""]);
    let end = conversation.exchange();
    // SYN in slot 1 and SYN-ACK in slot 4, with options: MSS 4, SACK permitted 2, padding 2. Then the acknowledgement and
    // the octet, together or in the next cell.
    let [client, server] = conversation.opened.map(|at| at.unwrap().as_micros());
    assert_eq!(client, 4 * 20_000 + exchange(28));
    let with_data = 6 * 20_000 + exchange(21);
    assert_eq!(server, with_data, "the acknowledgement of the SYN rides with the octet");
    // The server delays its acknowledgement by 200 ms. It is ready in slot 16 and leaves in slot 19.
    assert_eq!(end.as_micros(), 19 * 20_000 + exchange(20));
    assert_eq!(conversation.sent, 4);
}

fn contents() -> [Vec<u8>; 2] {
    [(0..3_000_u32).map(|n| (n * 7) as u8).collect(), (0..2_000_u32).map(|n| (n * 13) as u8).collect()]
}

#[test]
fn what_is_longer_than_a_frame_and_crosses_the_border_arrives() {
    let [question, answer] = contents();
    for server in [Host::Node(NodeId::ROOT), Host::Internet] {
        conversation(server, 0.0, Vec::new(), [&question, &answer]).exchange();
    }
}

#[test]
fn content_is_intact_whatever_is_lost() {
    let [question, answer] = contents();
    for frame in 1..=60 {
        conversation(Host::Internet, 0.0, vec![frame], [&question, &answer]).exchange();
    }
    conversation(Host::Internet, 0.05, Vec::new(), [&question, &answer]).exchange();
}
