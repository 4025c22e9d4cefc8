//! The microseconds of a fragmented datagram over two hops of TSCH, worked out by hand.

use super::*;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::clock::Instant;
use slowhand_net::network::{Fragments, Network, NetworkConfig};
use slowhand_net::observer::FrameKind;

/// Slotframe of 4 slots of 20 ms: node 2 sends to node 1 in slot 1, node 1 to the root in slot 3, and they answer in
/// slots 0 and 2.
pub fn two_hops(config: NetworkConfig) -> Network {
    let cells = vec![
        vec![cell(3, LISTEN, 1), cell(2, SEND, 1)],
        vec![cell(1, LISTEN, 2), cell(3, SEND, 0), cell(2, LISTEN, 0), cell(0, SEND, 2)],
        vec![cell(1, SEND, 1), cell(0, LISTEN, 1)],
    ];
    network_of_cells(4, &line(2, 1.0), cells, config, 1)
}

/// Sends 300 octets from node 2 to the root at time 0. Returns the slot, the sender and the PSDU of each data frame, and
/// when the datagram was delivered.
fn frames_and_delivery(fragments: Fragments) -> (Vec<(u64, u16, usize)>, u64) {
    let mut air = Recorder::default();
    let send = (Instant::ZERO, Host::Node(NodeId(2)), Host::Node(NodeId::ROOT), 300);
    let fates =
        run(&mut two_hops(NetworkConfig { fragments, ..NetworkConfig::default() }), &[send], seconds(10), &mut air);
    let (at, octets) = &fates.delivered[&0];
    assert_eq!(*octets, payload(0, 300));
    let frame = |frame: &Frame| {
        assert_eq!(frame.at % 20_000, 5_215);
        (frame.at / 20_000, frame.from.0, frame.octets.len() + 2)
    };
    (air.of(FrameKind::Data).into_iter().map(frame).collect(), at.as_micros())
}

/// The end of the exchange of a frame with this PSDU that began in a slot: 6 octets of synchronisation before it, and
/// after 5,521 us an acknowledgement of 6 + 19 octets.
const fn end(slot: u64, psdu: u64) -> u64 {
    slot * 20_000 + 5_215 + (6 + psdu) * 32 + 5_521 + 25 * 32
}

/// The packet has 40 + 8 + 300 = 348 octets. First link: IPHC 2, the root's address 8 (the context gives its prefix), UDP
/// 1 + 4 + 2: 17 octets of headers for 48. Of 104 - 4 - 17 = 83, 80 are whole units: 128 of the packet are gone. Others:
/// 96 of 99: 224, 320; the rest, 28. PSDUs: 21 + 4 + 17 + 80 + 2, 21 + 5 + 96 + 2 twice, 21 + 5 + 28 + 2.
/// Second link: IPHC 2, hop limit 63, the source's address 8, UDP 7: 18; the rest is the same.
#[test]
fn reassembled_at_every_hop() {
    let (frames, delivered) = frames_and_delivery(Fragments::Reassembled);
    let first = [(1, 2, 124), (5, 2, 124), (9, 2, 124), (13, 2, 56)];
    let second = [(15, 1, 125), (19, 1, 124), (23, 1, 124), (27, 1, 56)];
    assert_eq!(frames, [first, second].concat());
    assert_eq!(delivered, end(27, 56));
}

/// 17 octets of the first fragment stay free: of 83 - 17 = 66 octets 64 are whole units, 112 of the packet are gone, then
/// 208 and 304; the rest, 44. Each fragment goes on in the slot after next: the first is two hops away before the last
/// has been sent.
#[test]
fn forwarded_one_by_one() {
    let (frames, delivered) = frames_and_delivery(forwarded());
    let expected = [
        [(1, 2, 108), (3, 1, 109)],
        [(5, 2, 124), (7, 1, 124)],
        [(9, 2, 124), (11, 1, 124)],
        [(13, 2, 72), (15, 1, 72)],
    ];
    assert_eq!(frames, expected.concat());
    assert_eq!(delivered, end(15, 72));
}

/// 348 - 48 + 17 = 317 octets compressed, in pieces of 104 - 6 = 98, the first 17 less: 81, 98, 98, 40. The first goes
/// alone. On the second link the header has one octet more. Acknowledgements: 21 + 6 + 2; the root's go in slots 2 and
/// node 1's in slots 0 of the slotframe after.
#[test]
fn recovered_from_end_to_end() {
    let (frames, delivered) = frames_and_delivery(recovered(2));
    let expected = [
        (1, 2, 110),
        (3, 1, 111),
        (6, 0, 29),
        (8, 1, 29),
        (9, 2, 127),
        (11, 1, 127),
        (13, 2, 127),
        (15, 1, 127),
        (17, 2, 69),
        (19, 1, 69),
        (22, 0, 29),
        (24, 1, 29),
    ];
    assert_eq!(frames, expected);
    assert_eq!(delivered, end(19, 69));
}
