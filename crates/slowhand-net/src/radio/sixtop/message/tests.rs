use super::*;
use proptest::prelude::*;

fn cells() -> impl Strategy<Value = Vec<CellId>> {
    let cell = (any::<u16>(), any::<u16>()).prop_map(|(slot, channel_offset)| CellId { slot, channel_offset });
    proptest::collection::vec(cell, 0..20)
}

fn options() -> impl Strategy<Value = CellOptions> {
    any::<(bool, bool, bool)>().prop_map(|(transmit, receive, shared)| CellOptions { transmit, receive, shared })
}

fn request() -> impl Strategy<Value = Request> {
    let cell_request = || {
        (any::<u16>(), options(), any::<u8>(), cells()).prop_map(|(metadata, options, count, cells)| CellRequest {
            metadata,
            options,
            count,
            cells,
        })
    };
    prop_oneof![
        cell_request().prop_map(Request::Add),
        cell_request().prop_map(Request::Delete),
        (any::<u16>(), options(), cells(), cells()).prop_map(|(metadata, options, cells, candidates)| {
            Request::Relocate { metadata, options, cells, candidates }
        }),
        (any::<u16>(), options()).prop_map(|(metadata, options)| Request::Count { metadata, options }),
        (any::<u16>(), options(), any::<u16>(), any::<u16>())
            .prop_map(|(metadata, options, offset, limit)| Request::List { metadata, options, offset, limit }),
        (any::<u16>(), any::<Vec<u8>>()).prop_map(|(metadata, payload)| Request::Signal { metadata, payload }),
        any::<u16>().prop_map(|metadata| Request::Clear { metadata }),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    let reply = || {
        (0..ReturnCode::ALL.len(), any::<Vec<u8>>())
            .prop_map(|(code, body)| Reply { code: ReturnCode::ALL[code], body })
    };
    prop_oneof![
        request().prop_map(Content::Request),
        reply().prop_map(Content::Response),
        reply().prop_map(Content::Confirmation),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(function: u8, sequence: u8, content in content()) {
        let message = Message { function, sequence, content };
        let mut octets = Vec::new();
        message.emit(&mut octets);
        prop_assert_eq!(Message::parse(&octets), Ok(message));
    }

    #[test]
    fn arbitrary_octets_never_panic(octets: Vec<u8>) {
        if let Ok(message) = Message::parse(&octets) {
            let mut again = Vec::new();
            message.emit(&mut again);
            prop_assert_eq!(Message::parse(&again), Ok(message));
        }
    }
}

/// By hand from the figures of RFC 8480, sections 3.2.2, 3.3.1 and 4.3.
#[test]
fn an_add_request_by_hand() {
    let cells = vec![CellId { slot: 3, channel_offset: 8 }, CellId { slot: 0x0154, channel_offset: 6 }];
    let add = CellRequest { metadata: 0x8003, options: CellOptions::TRANSMIT, count: 1, cells };
    let message = Message { function: 0, sequence: 5, content: Content::Request(Request::Add(add)) };
    let mut octets = Vec::new();
    message.emit(&mut octets);
    // Version 0 and type 0; ADD; MSF; sequence 5; metadata, low octet first; TX; one cell; two candidates.
    assert_eq!(octets, [0x00, 0x01, 0x00, 0x05, 0x03, 0x80, 0x01, 0x01, 3, 0, 8, 0, 0x54, 0x01, 6, 0]);
}

#[test]
fn a_response_and_a_confirmation_by_hand() {
    let reply = Reply::with_cells(ReturnCode::Success, &[CellId { slot: 93, channel_offset: 2 }]);
    for (content, first) in [(Content::Response(reply.clone()), 0x10), (Content::Confirmation(reply), 0x20)] {
        let mut octets = Vec::new();
        Message { function: 0, sequence: 255, content }.emit(&mut octets);
        assert_eq!(octets, [first, 0, 0, 0xff, 93, 0, 2, 0]);
    }
}

#[test]
fn an_invalid_message_has_its_error() {
    for (octets, error) in [
        (&[0x00, 1, 0][..], Error::Truncated),
        (&[0x01, 1, 0, 0], Error::Version(1)),
        (&[0x30, 0, 0, 0], Error::Type(3)),
        (&[0x00, 8, 0, 0, 0, 0], Error::Code(8)),
        (&[0x10, 10, 0, 0], Error::Code(10)),
        (&[0x00, 1, 0, 0, 0, 0, 1, 1, 2, 0, 3], Error::CellList(3)),
        (&[0x00, 3, 0, 0, 0, 0, 1, 2, 2, 0, 3, 0], Error::CellList(4)),
    ] {
        assert_eq!(Message::parse(octets), Err(error));
    }
}

/// RFC 8480, table 4 (6.2.4): the numbers of the return codes, and those that say success.
#[test]
fn the_return_codes_by_number() {
    for (number, code) in (0..).zip(ReturnCode::ALL) {
        let content = Content::Response(Reply { code, body: Vec::new() });
        assert_eq!(Message::parse(&[0x10, number, 0, 0]), Ok(Message { function: 0, sequence: 0, content }));
        assert_eq!(code.is_success(), number <= 1, "{code:?}");
    }
    assert_eq!(ReturnCode::Busy as u8, 8);
}

/// The bits of the cell options: TX 1, RX 2, SHARED 4 (RFC 8480, 6.2.6).
#[test]
fn each_bit_of_the_cell_options() {
    for bits in 0..8_u8 {
        let options = CellOptions { transmit: bits % 2 == 1, receive: bits / 2 % 2 == 1, shared: bits / 4 == 1 };
        let octets = [0x00, 4, 9, 1, 0x34, 0x12, bits];
        let content = Content::Request(Request::Count { metadata: 0x1234, options });
        let message = Message { function: 9, sequence: 1, content };
        assert_eq!(Message::parse(&octets), Ok(message.clone()));
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(written, octets);
    }
}

/// Each request by hand from the figures of RFC 8480, section 3.3, and every shorter string of octets. `shortest` has
/// the fields that are not a list.
#[test]
fn each_request_by_hand() {
    let (a, b) = (CellId { slot: 3, channel_offset: 4 }, CellId { slot: 0x0102, channel_offset: 5 });
    let options = CellOptions::RECEIVE;
    let request = |count, cells| CellRequest { metadata: 0x0201, options, count, cells };
    let relocate = |cells, candidates| Request::Relocate { metadata: 0x0201, options, cells, candidates };
    let of_cells = [3, 0, 4, 0, 2, 1, 5, 0];
    // The fields of the request, whether the responder proposes cells, the candidates, code, octets, shortest.
    let rows = [
        (Request::Add(request(1, vec![a, b])), false, vec![a, b], 1, [&[1, 2, 2, 1], &of_cells[..]].concat(), 4),
        (Request::Add(request(2, vec![])), true, vec![], 1, vec![1, 2, 2, 2], 4),
        (Request::Delete(request(1, vec![a])), false, vec![], 2, [&[1, 2, 2, 1], &of_cells[..4]].concat(), 4),
        (Request::Delete(request(1, vec![])), true, vec![], 2, vec![1, 2, 2, 1], 4),
        (relocate(vec![a], vec![b]), false, vec![b], 3, [&[1, 2, 2, 1], &of_cells[..]].concat(), 8),
        (relocate(vec![a, b], vec![]), true, vec![], 3, [&[1, 2, 2, 2], &of_cells[..]].concat(), 12),
        (Request::Count { metadata: 0x0201, options }, false, vec![], 4, vec![1, 2, 2], 3),
        (
            Request::List { metadata: 0x0201, options, offset: 0x0403, limit: 0x0605 },
            false,
            vec![],
            5,
            vec![1, 2, 2, 0, 3, 4, 5, 6],
            8,
        ),
        (Request::Signal { metadata: 0x0201, payload: vec![9, 8] }, false, vec![], 6, vec![1, 2, 9, 8], 2),
        (Request::Clear { metadata: 0x0201 }, false, vec![], 7, vec![1, 2], 2),
    ];
    for (request, three_steps, candidates, code, fields, shortest) in rows {
        assert_eq!(request.takes_three_steps(), three_steps, "{request:?}");
        assert_eq!((request.candidates(), request.metadata()), (&candidates[..], 0x0201), "{request:?}");
        let octets = [&[0x00, code, 3, 7], &fields[..]].concat();
        let mut written = Vec::new();
        let message = Message { function: 3, sequence: 7, content: Content::Request(request) };
        message.emit(&mut written);
        assert_eq!(written, octets);
        assert_eq!(Message::parse(&octets), Ok(message));
        for length in 0..HEADER + shortest {
            assert!(Message::parse(&octets[..length]).is_err(), "{length} octets of {octets:02x?}");
        }
    }
}

#[test]
fn the_body_of_a_reply() {
    let reply = |body: &[u8]| Reply { code: ReturnCode::Success, body: body.to_vec() };
    assert_eq!(reply(&[0x34, 0x12]).count(), Ok(0x1234));
    assert_eq!(reply(&[0x34, 0x12, 1]).count(), Ok(0x1234));
    assert_eq!((reply(&[0x34]).count(), reply(&[]).count()), (Err(Error::Truncated), Err(Error::Truncated)));
    assert_eq!(reply(&[]).cells(), Ok(vec![]));
    assert_eq!(reply(&[2, 1, 5, 0]).cells(), Ok(vec![CellId { slot: 0x0102, channel_offset: 5 }]));
    assert_eq!(reply(&[2, 1, 5, 0, 9]).cells(), Err(Error::CellList(5)));
}
