//! Neighbour discovery: any packet, and messages with any options and a right checksum.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::input::Input;
use slowhand_net::address::{Addressing, NodeId, link_local_address};
use slowhand_net::ip::discovery::{Kind, Message, packet, parse};
use slowhand_net::ip::{Ipv6Header, checksum, next_header};

const NODES: [NodeId; 2] = [NodeId(2), NodeId(1)];

fuzz_target!(|octets: &[u8]| {
    let _ = parse(octets);

    let mut input = Input::new(octets);
    let kind = [Kind::RouterSolicitation, Kind::RouterAdvertisement][input.below(2)];
    let ghc = input.flag();
    let addressing = [Addressing::Extended, Addressing::Short][input.below(2)];
    let [from, to] = NODES;
    let expected = Some((link_local_address(from), Message { kind, ghc }));
    let mut message = packet(from, to, addressing, Message { kind, ghc });
    assert_eq!(parse(&message), expected);

    // More options, whatever they are, may say more, and take back nothing.
    message.extend_from_slice(input.take(octets.len()));
    write_length_and_checksum(&mut message);
    if let Some((source, Message { kind: read, ghc: said })) = parse(&message) {
        assert_eq!((source, read), (link_local_address(from), kind));
        assert!(said || !ghc);
        assert!(message.len() % 8 == 0);
    }
});

fn write_length_and_checksum(packet: &mut [u8]) {
    let length = (packet.len() - Ipv6Header::LENGTH) as u16;
    packet[4..6].copy_from_slice(&length.to_be_bytes());
    packet[Ipv6Header::LENGTH + 2..Ipv6Header::LENGTH + 4].fill(0);
    let [source, destination] = NODES.map(link_local_address);
    let sum = checksum::transport(source, destination, next_header::ICMPV6, &packet[Ipv6Header::LENGTH..]);
    packet[Ipv6Header::LENGTH + 2..Ipv6Header::LENGTH + 4].copy_from_slice(&sum.to_be_bytes());
}
