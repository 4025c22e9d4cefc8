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
