use super::*;

fn relay(datagram: &[u8]) -> Relay<'_> {
    Relay {
        direction: Direction::FromJoiner,
        message_id: 0x1234,
        token: [0xab, 0xcd],
        joiner_port: 1_000,
        joiner_identifier: [0, 0x12, 0x74, 0, 0, 0, 0, 7],
        joiner_router: 0x0003,
        datagram,
    }
}

/// Worked out by hand from RFC 7252 section 3 and the TLVs of Thread.
#[test]
fn a_message_octet_for_octet() {
    let mut octets = Vec::new();
    relay(b"dtls").emit(&mut octets);
    let coap = b"\x52\x02\x12\x34\xab\xcd\xb1c\x02rx\xff";
    let tlvs = b"\x12\x02\x03\xe8\x13\x08\0\x12\x74\0\0\0\0\x07\x14\x02\0\x03\x11\xff\0\x04dtls";
    assert_eq!(octets, [&coap[..], tlvs].concat());
    assert_eq!(octets.len(), Relay::OVERHEAD + 4);
    assert_eq!(Relay::parse(&octets), Some(relay(b"dtls")));
}

#[test]
fn tlvs_may_have_any_order_and_others_between_them() {
    let tlvs = b"\x11\x04dtls\x15\x01\0\x14\x02\0\x03\x13\x08\0\x12\x74\0\0\0\0\x07\x12\x02\x03\xe8";
    let octets = [&b"\x52\x02\x12\x34\xab\xcd\xb1c\x02rx\xff"[..], tlvs].concat();
    assert_eq!(Relay::parse(&octets), Some(relay(b"dtls")));
}

#[test]
fn what_is_cut_off_or_something_else_is_no_message() {
    let mut octets = Vec::new();
    relay(b"dtls").emit(&mut octets);
    for end in 0..octets.len() {
        assert_eq!(Relay::parse(&octets[..end]), None, "{end}");
    }
    // Another type, code or path; no payload marker; a port of another length.
    for (index, octet) in [(0, 0x42), (1, 0x01), (7, b'd'), (9, b'u'), (11, 0xfe), (13, 1)] {
        let mut wrong = octets.clone();
        wrong[index] = octet;
        assert_eq!(Relay::parse(&wrong), None, "{index}");
    }
}
