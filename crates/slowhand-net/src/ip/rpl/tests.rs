use super::*;

fn address(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

/// A packet of 4 octets of payload.
fn packet() -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 4, 58, 64];
    packet.extend(address("2001:db8::1").octets());
    packet.extend(address("2001:db8::a1").octets());
    packet.extend([128, 0, 0, 0]);
    packet
}

/// RFC 6553 section 3, by hand: down, no errors, instance 0x1e, rank 0x0300.
#[test]
fn the_option_octet_by_octet() {
    let option =
        RplOption { down: true, rank_error: false, forwarding_error: false, instance: 0x1e, sender_rank: 0x300 };
    let octets = [17, 0, 0x63, 4, 0x80, 0x1e, 0x03, 0x00];
    assert_eq!(option.emit(17), octets);
    assert_eq!(RplOption::parse(&octets), Some(option));
    // Of another type, of another length, cut.
    assert_eq!(RplOption::parse(&[17, 0, 0x23, 4, 0x80, 0x1e, 3, 0]), None);
    assert_eq!(RplOption::parse(&[17, 1, 0x63, 4, 0x80, 0x1e, 3, 0]), None);
    assert_eq!(RplOption::parse(&octets[..7]), None);
}

/// RFC 6554 section 3, by hand: three more addresses with 8 octets in common with the destination are 24 octets behind
/// the 8 of the header, and need no padding. With 15 octets in common they are 3 octets and 5 of padding.
#[test]
fn a_source_route_octet_by_octet() {
    let rest = ["2001:db8::a2", "2001:db8::a3", "2001:db8::a4"].map(address);
    let mut out = [0xff; 64];
    assert_eq!(SourceRoute::emit(41, address("2001:db8::a1"), &rest, 8, &mut out), Ok(32));
    assert_eq!(out[..8], [41, 3, 3, 3, 0x88, 0, 0, 0]);
    assert_eq!(out[8..16], [0, 0, 0, 0, 0, 0, 0, 0xa2]);
    assert_eq!(out[24..32], [0, 0, 0, 0, 0, 0, 0, 0xa4]);

    assert_eq!(SourceRoute::emit(41, address("2001:db8::a1"), &rest, 1, &mut out), Ok(16));
    assert_eq!(out[..16], [41, 1, 3, 3, 0xff, 0x50, 0, 0, 0xa2, 0xa3, 0xa4, 0, 0, 0, 0, 0]);
    // Two octets differ: each address keeps two.
    let far = [address("2001:db8::1a2")];
    assert_eq!(SourceRoute::emit(41, address("2001:db8::a1"), &far, 1, &mut out), Ok(16));
    assert_eq!(out[..16], [41, 1, 3, 1, 0xee, 0x60, 0, 0, 0x01, 0xa2, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        SourceRoute::emit(41, far[0], &rest, 8, &mut out[..31]),
        Err(Error::BufferTooSmall { needed: 32, found: 31 })
    );
}

/// A header of our own never has different CmprI and CmprE, one of another root may: 2001:db8::b1 in four octets, then
/// one in 16.
#[test]
fn a_route_of_another_root_is_read() {
    let mut octets = vec![59, 3, 3, 2, 0xc0, 0x40, 0, 0, 0, 0, 0, 0xb1];
    octets.extend(address("2001:db9::c1").octets());
    octets.extend([0; 4]);
    let route = SourceRoute::parse(&octets).unwrap();
    let rest: Vec<_> = route.rest(address("2001:db8::a1")).collect();
    assert_eq!(rest, ["2001:db8::b1", "2001:db9::c1"].map(address));
    // More segments left than addresses, padding longer than the header, addresses that do not fill it, another type.
    for (at, value) in [(3, 3), (5, 0xf0), (5, 0x30), (2, 4), (1, 4)] {
        let mut wrong = octets.clone();
        wrong[at] = value;
        assert!(SourceRoute::parse(&wrong).is_err(), "octet {at}");
    }
}

#[test]
fn each_node_of_a_route_takes_one_step() {
    let mut packet = packet();
    let rest = ["2001:db8::a2", "2001:db8::a3"].map(address);
    let mut header = [0; 64];
    let length = SourceRoute::emit(0, address("2001:db8::a1"), &rest, 8, &mut header).unwrap();
    insert(&mut packet, next_header::ROUTING, &header[..length]).unwrap();
    assert_eq!((packet.len(), packet[5], packet[6], packet[40]), (44 + 24, 28, 43, 58));
    let headers = RplHeaders::of(&packet);
    let visit = |packet: &mut Vec<u8>| {
        let went_on = advance(packet, &headers);
        (went_on, Ipv6Header::parse(packet).unwrap().destination, packet[43])
    };
    assert_eq!(visit(&mut packet), (true, rest[0], 1));
    // The node that was the destination is in the place of the next.
    assert_eq!(packet[48..56], [0, 0, 0, 0, 0, 0, 0, 0xa1]);
    assert_eq!(visit(&mut packet), (true, rest[1], 0));
    assert_eq!(visit(&mut packet), (false, rest[1], 0));
    remove(&mut packet, &headers);
    assert_eq!((packet.len(), packet[5], packet[6]), (44, 4, 58));
}

#[test]
fn a_tunnel_carries_a_mark_in_and_out() {
    let (mut tunnel, option) = (packet(), [0, 0, 0x63, 4, 0, 0, 1, 0]);
    tunnel[1] = 0x20; // ECT(0)
    let [source, destination] = ["2001:db8::", "2001:db8::a9"].map(address);
    encapsulate(&mut tunnel, source, destination, (next_header::HOP_BY_HOP, &option)).unwrap();
    let outer = Ipv6Header::parse_packet(&tunnel).unwrap().0;
    assert_eq!((outer.payload_length, outer.next_header, outer.hop_limit), (8 + 44, 0, 64));
    assert_eq!((outer.source, outer.destination, outer.ecn()), (source, destination, Ecn::Capable0));
    let headers = RplHeaders::of(&tunnel);
    assert!(headers.is_tunnel(&tunnel));
    crate::ip::ipv6::mark(&mut tunnel, Ecn::CongestionExperienced).unwrap();
    decapsulate(&mut tunnel, &headers);
    let inner = Ipv6Header::parse_packet(&tunnel).unwrap().0;
    assert_eq!((tunnel.len(), inner.ecn()), (44, Ecn::CongestionExperienced));
}
