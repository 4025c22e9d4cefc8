//! Messages that each end accepts and answers, and what others see.

use std::collections::LinkedList;

use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};
use slowhand_coap::oscore::{ClientExchange, Context, Error, Incoming, Parameters, RustCrypto, Value, echo};

use super::{CLIENT, Open, accepted, derived, ends, mirrored, request, response};

fn asked(client: &mut Context, request: &Packet) -> (Packet, ClientExchange) {
    client.protect_request(request, &mut RustCrypto).unwrap()
}

fn refused(server: &mut Context, request: &Packet) -> Error {
    server.unprotect_request(request, &mut RustCrypto).unwrap_err()
}

fn numbers(message: &Packet) -> Vec<u16> {
    message.options().filter(|(_, values)| !values.is_empty()).map(|(number, _)| *number).collect()
}

/// Figure 5 of the standard: of a request with all of these options, proxies see those of column U.
#[test]
fn options_are_on_the_side_that_the_standard_says() {
    let (mut client, mut server) = ends(&CLIENT);
    let mut with_all = request(RequestType::Put, "a");
    // 21 is EDHOC, 252 Echo, 292 Request-Tag, 2053 nobody's.
    for number in [1, 3, 4, 5, 6, 7, 12, 14, 15, 17, 21, 23, 27, 28, 39, 60, 252, 258, 292, 2053] {
        with_all.add_option(CoapOption::from(number), vec![0]);
    }
    with_all.add_option(CoapOption::UriPath, b"b".to_vec());
    let (protected, _) = asked(&mut client, &with_all);
    assert_eq!(numbers(&protected), [3, 6, 7, 9, 21, 39]);
    assert_eq!(protected.header.code, MessageClass::Request(RequestType::Fetch));
    assert_eq!(protected.get_token(), with_all.get_token());
    assert_eq!(protected.header.message_id, with_all.header.message_id);

    // A proxy adds options of Class E: they are discarded (section 8.2), and it cannot undo a registration (section 4.1.3.5.1).
    let mut changed = protected;
    changed.clear_option(CoapOption::Observe);
    changed.add_option(CoapOption::IfMatch, b"proxy".to_vec());
    changed.add_option(CoapOption::MaxAge, vec![60]);
    changed.add_option(CoapOption::Unknown(2053), vec![1]);
    changed.header.code = MessageClass::Request(RequestType::Post);
    let (received, _) = accepted(server.unprotect_request(&changed, &mut RustCrypto).unwrap());
    assert_eq!(received, with_all);
}

#[test]
fn what_cannot_be_protected_is_refused() {
    let (mut client, mut server) = ends(&CLIENT);
    let error = |client: &mut Context, request: &Packet| client.protect_request(request, &mut RustCrypto).unwrap_err();
    let get = request(RequestType::Get, "a");
    let mut nested = get.clone();
    nested.add_option(CoapOption::Oscore, Vec::new());
    assert_eq!(error(&mut client, &nested), Error::Nested);
    let mut proxied = get.clone();
    proxied.add_option(CoapOption::ProxyUri, b"coap://example.com/secret".to_vec());
    assert_eq!(error(&mut client, &proxied), Error::ProxyUri);
    // A response, an empty message, a signal (RFC 8323), and a class that has no codes.
    for code in [0x45, 0x00, 0xe2, 0x20, 0x60, 0xff] {
        let mut other = get.clone();
        other.header.code = code.into();
        assert_eq!(error(&mut client, &other), Error::Code(code));
    }
    let (protected, _) = asked(&mut client, &get);
    let (_, mut exchange) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    let result = server.protect_response(&get, &mut exchange, &mut RustCrypto);
    assert_eq!(result, Err(Error::Code(1)));

    // RFC 3610, section 2: up to 65,535 octets: a code, an option of two octets, a marker, and the payload.
    let mut long = get.clone();
    long.payload = vec![7; 65_535 - 4];
    let (protected, _) = asked(&mut client, &long);
    let (received, _) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(received, long);
    long.payload.push(7);
    assert_eq!(error(&mut client, &long), Error::TooLong);

    let mut last = derived(&CLIENT).after_restart((1 << 40) - 1, [0; 8]);
    asked(&mut last, &get);
    assert_eq!(error(&mut last, &get), Error::Exhausted);
    assert_eq!(error(&mut last, &get), Error::Exhausted);
}

/// Section 8.2, with the words of its steps 2, 3 and 6.
#[test]
fn a_server_answers_what_it_does_not_accept() {
    let (mut client, mut server) = ends(&CLIENT);
    let get = request(RequestType::Get, "a");
    let (protected, _) = asked(&mut client, &get);
    let with_option = |value: &[u8]| {
        let mut changed = protected.clone();
        changed.set_option(CoapOption::Oscore, LinkedList::from([value.to_vec()]));
        changed
    };
    let mut forged = protected.clone();
    forged.payload[0] ^= 1;
    let mut short = protected.clone();
    short.payload.truncate(7);
    accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    for (message, error, code, diagnostic) in [
        (&with_option(&[0xe9, 0]), Error::Malformed, 0x82, "Failed to decode COSE"),
        (&with_option(&[]), Error::Malformed, 0x82, "Failed to decode COSE"),
        (&with_option(&[1, 7]), Error::Malformed, 0x82, "Failed to decode COSE"),
        (&with_option(&[8]), Error::Malformed, 0x82, "Failed to decode COSE"),
        (&with_option(&[9, 7, 7]), Error::UnknownContext, 0x81, "Security context not found"),
        (&with_option(&[0x19, 7, 1, 7]), Error::UnknownContext, 0x81, "Security context not found"),
        (&protected, Error::Replayed, 0x81, "Replay detected"),
        (&forged, Error::Replayed, 0x81, "Replay detected"),
        (&with_option(&[9, 7]), Error::Decryption, 0x80, "Decryption failed"),
    ] {
        assert_eq!(refused(&mut server, message), error);
        let answer = error.answer(message).unwrap();
        assert_eq!((u8::from(answer.header.code), &answer.payload[..]), (code, diagnostic.as_bytes()));
        assert_eq!((numbers(&answer), answer.header.get_type()), (vec![14], MessageType::Acknowledgement));
        assert_eq!((answer.get_token(), answer.header.message_id), (get.get_token(), get.header.message_id));
    }
    let (mut fresh, mut server) = ends(&CLIENT);
    assert_eq!(refused(&mut server, &forged), Error::Decryption);
    assert_eq!(refused(&mut server, &short), Error::Malformed);
    // The forged requests have not moved the window.
    accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(refused(&mut server, &get), Error::NotProtected);
    assert_eq!(Error::NotProtected.answer(&get), None);

    // The client sees that the answer is not protected, and goes on waiting for the right one.
    let (protected, mut exchange) = asked(&mut fresh, &get);
    let answer = Error::Decryption.answer(&protected).unwrap();
    let result = fresh.unprotect_response(&answer, &mut exchange, &mut RustCrypto);
    assert_eq!(result, Err(Error::NotProtected));
    assert!(!exchange.is_finished());
}

#[test]
fn a_server_finds_the_context_of_a_request() {
    let named = |name| Parameters { id_context: Some(name), ..CLIENT };
    let servers = [named(b"one"), named(b"two"), CLIENT].map(|of| derived(&mirrored(&of)));
    for (number, of) in [named(b"one"), named(b"two"), CLIENT].iter().enumerate().take(2) {
        let (protected, _) = asked(&mut derived(of), &request(RequestType::Get, "a"));
        let option = Value::of(&protected).unwrap().unwrap();
        let found: Vec<usize> = (0..3).filter(|place| servers[*place].is_named_by(&option)).collect();
        assert_eq!(found, [number]);
    }
}

/// Section 7.4.1: the first notification may come without a sequence number, and none is accepted twice or late.
#[test]
fn notifications_are_accepted_in_their_order_and_once() {
    let (mut client, mut server) = ends(&CLIENT);
    let mut registration = request(RequestType::Get, "a");
    registration.set_observe_value(0);
    let (protected, mut exchange) = asked(&mut client, &registration);
    assert_eq!(protected.header.code, MessageClass::Request(RequestType::Fetch));
    let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(received.get_observe_value(), Some(Ok(0)));
    let mut notify = |server: &mut Context, number: u32, code| {
        let mut notification = response(&received, code, &[number as u8]);
        if code == ResponseType::Content {
            notification.set_observe_value(number);
        }
        server.protect_response(&notification, &mut at_server, &mut RustCrypto).unwrap()
    };
    let notifications: Vec<Packet> =
        (10..14).map(|number| notify(&mut server, number, ResponseType::Content)).collect();
    let lengths: Vec<usize> =
        notifications.iter().map(|it| it.get_first_option(CoapOption::Oscore).unwrap().len()).collect();
    assert_eq!(lengths, [0, 2, 2, 2]);
    for (number, notification) in (10..).zip(&notifications) {
        assert_eq!(notification.header.code, MessageClass::Response(ResponseType::Content));
        assert_eq!(notification.get_observe_value(), Some(Ok(number)));
    }
    let mut receive = |notification: &Packet| client.unprotect_response(notification, &mut exchange, &mut RustCrypto);
    // Proxies may change the Outer value: it counts for nothing.
    let mut changed = notifications[0].clone();
    changed.set_observe_value(77);
    let first = receive(&changed).unwrap();
    assert_eq!((first.payload.clone(), first.get_observe_value()), (vec![10], Some(Ok(0))));
    assert_eq!(receive(&notifications[0]), Err(Error::Replayed));
    // The second one is 0 of the server's own numbers, the fourth one 2.
    let fourth = receive(&notifications[3]).unwrap();
    assert_eq!((fourth.payload.clone(), fourth.get_observe_value()), (vec![13], Some(Ok(2))));
    for late in &notifications {
        assert_eq!(receive(late), Err(Error::Replayed));
    }
    // A response that is not a notification is the last one.
    let end = notify(&mut server, 20, ResponseType::NotFound);
    assert_eq!(receive(&end).unwrap().header.code, MessageClass::Response(ResponseType::NotFound));
    assert_eq!(receive(&end), Err(Error::Replayed));
    assert_eq!(receive(&notify(&mut server, 21, ResponseType::Content)), Err(Error::Replayed));
    assert!(exchange.is_finished());
}

#[test]
fn a_client_that_has_not_registered_accepts_one_response_and_no_notification() {
    let (mut client, mut server) = ends(&CLIENT);
    for observe in [None, Some(1)] {
        let mut get = request(RequestType::Get, "a");
        observe.into_iter().for_each(|value| get.set_observe_value(value));
        let (protected, mut exchange) = asked(&mut client, &get);
        let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
        let plain = response(&received, ResponseType::Content, b"1");
        let mut notification = plain.clone();
        notification.set_observe_value(5);
        let mut send = |message: &Packet| server.protect_response(message, &mut at_server, &mut RustCrypto).unwrap();
        let (notification, protected) = (send(&notification), send(&plain));
        let mut receive = |message: &Packet| client.unprotect_response(message, &mut exchange, &mut RustCrypto);
        assert_eq!(receive(&notification), Err(Error::Notification));
        assert_eq!(receive(&protected).unwrap(), plain);
        assert_eq!(receive(&protected), Err(Error::Replayed));
    }
}

/// Section 7.1: a response belongs to one request.
#[test]
fn a_response_to_another_request_is_refused() {
    let (mut client, mut server) = ends(&CLIENT);
    let get = request(RequestType::Get, "a");
    let (first, mut of_first) = asked(&mut client, &get);
    let (_, mut of_second) = asked(&mut client, &get);
    let (received, mut at_server) = accepted(server.unprotect_request(&first, &mut RustCrypto).unwrap());
    let plain = response(&received, ResponseType::Content, b"1");
    for _ in 0..2 {
        let protected = server.protect_response(&plain, &mut at_server, &mut RustCrypto).unwrap();
        let result = client.unprotect_response(&protected, &mut of_second, &mut RustCrypto);
        assert_eq!(result, Err(Error::Decryption));
    }
    let protected = server.protect_response(&plain, &mut at_server, &mut RustCrypto).unwrap();
    client.unprotect_response(&protected, &mut of_first, &mut RustCrypto).unwrap();
}

/// Appendix B.1.2: after a restart, the server asks for an Echo option, and the window begins with the request that has it.
#[test]
fn a_server_that_has_restarted_asks_if_a_request_is_fresh() {
    let (mut client, mut server) = ends(&CLIENT);
    let put = request(RequestType::Put, "a");
    let old = [0, 1].map(|_| asked(&mut client, &put).0);
    accepted(server.unprotect_request(&old[0], &mut RustCrypto).unwrap());
    let mut server = derived(&mirrored(&CLIENT)).after_restart(40, *b"restart1");

    // A replayed request is not processed; each answer has a sequence number of its own.
    let (protected, mut exchange) = asked(&mut client, &put);
    let mut challenges = [&old[0], &protected, &protected].map(|request| {
        match server.unprotect_request(request, &mut RustCrypto).unwrap() {
            Incoming::Challenge(challenge) => challenge,
            Incoming::Request(..) => panic!("the request may be old"),
        }
    });
    for (challenge, sequence) in challenges.iter().zip([40, 41, 42]) {
        assert_eq!(challenge.get_first_option(CoapOption::Oscore), Some(&vec![1, sequence]));
        assert_eq!(challenge.header.code, MessageClass::Response(ResponseType::Changed));
    }
    let challenge = client.unprotect_response(&challenges[1], &mut exchange, &mut RustCrypto).unwrap();
    assert_eq!(challenge.header.code, MessageClass::Response(ResponseType::Unauthorized));
    assert!(challenge.payload.is_empty());
    let again = echo::answer(&put, &challenge).unwrap();
    assert_eq!(again.get_first_option(CoapOption::Unknown(252)), Some(&b"restart1".to_vec()));

    // A wrong value is not enough.
    let mut wrong = again.clone();
    wrong.set_option(CoapOption::Unknown(252), LinkedList::from([b"restart0".to_vec()]));
    let (protected, _) = asked(&mut client, &wrong);
    let result = server.unprotect_request(&protected, &mut RustCrypto).unwrap();
    assert!(matches!(result, Incoming::Challenge(_)));

    let (protected, mut exchange) = asked(&mut client, &again);
    let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(received, again);
    let answer = response(&received, ResponseType::Changed, b"");
    challenges[0] = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
    assert_eq!(client.unprotect_response(&challenges[0], &mut exchange, &mut RustCrypto), Ok(answer));
    for replayed in [&protected, &old[0], &old[1]] {
        assert_eq!(refused(&mut server, replayed), Error::Replayed);
    }
    let (protected, _) = asked(&mut client, &put);
    accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
}

/// RFC 9175, section 2.3: a server that has lost nothing asks too, when a request must be fresh.
#[test]
fn an_application_asks_if_a_request_is_fresh() {
    let put = request(RequestType::Put, "lock");
    let asks = echo::challenge(&put, b"now");
    let again = echo::answer(&put, &asks).unwrap();
    assert!(echo::is_repeated(&again, b"now"));
    assert!(!echo::is_repeated(&again, b"new") && !echo::is_repeated(&again, b"now!") && !echo::is_repeated(&put, b""));
    // A second value takes the place of the first one.
    let third = echo::answer(&again, &echo::challenge(&again, b"later")).unwrap();
    assert!(echo::is_repeated(&third, b"later"));
    let mut other = asks;
    other.header.code = MessageClass::Response(ResponseType::Content);
    assert_eq!(echo::answer(&put, &other), None);
}

/// Section 4.1.3.4.2: a proxy cuts a protected request and response into blocks of 16 octets. Whole, they are verified.
#[test]
fn blocks_of_a_proxy_are_put_together_before_they_are_verified() {
    let (mut client, mut server) = ends(&CLIENT);
    let mut put = request(RequestType::Put, "a");
    put.payload = vec![7; 50];
    // Inner blocks are those of the application, and are left alone.
    put.add_option(CoapOption::Block1, vec![0x18]);
    let (protected, mut exchange) = asked(&mut client, &put);
    let cut = |message: &Packet, option: CoapOption| -> Vec<Packet> {
        let chunks: Vec<&[u8]> = message.payload.chunks(16).collect();
        let block = |(number, chunk): (usize, &&[u8])| {
            let mut block = message.clone();
            let more = u8::from(number + 1 < chunks.len());
            block.add_option(option, vec![(number as u8) << 4 | more << 3]);
            block.payload = chunk.to_vec();
            block
        };
        chunks.iter().enumerate().map(block).collect()
    };
    let whole = |blocks: &[Packet], option: CoapOption| {
        let mut whole = blocks[0].clone();
        whole.clear_option(option);
        whole.payload = blocks.iter().flat_map(|block| block.payload.clone()).collect();
        whole
    };
    let blocks = cut(&protected, CoapOption::Block1);
    // By hand: a code, Uri-Path of 2 octets, Block1 of 3, a marker, 50, and a tag of 8.
    assert_eq!((protected.payload.len(), blocks.len()), (65, 5));
    for block in &blocks {
        assert_eq!(refused(&mut server, block), Error::Block);
    }
    let together = whole(&blocks, CoapOption::Block1);
    let (received, mut at_server) = accepted(server.unprotect_request(&together, &mut RustCrypto).unwrap());
    assert_eq!(received, put);

    let mut answer = response(&received, ResponseType::Changed, &[9; 40]);
    answer.add_option(CoapOption::Block1, vec![0x18]);
    let protected = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
    let blocks = cut(&protected, CoapOption::Block2);
    for block in &blocks {
        let result = client.unprotect_response(block, &mut exchange, &mut RustCrypto);
        assert_eq!(result, Err(Error::Block));
    }
    let together = whole(&blocks, CoapOption::Block2);
    assert_eq!(client.unprotect_response(&together, &mut exchange, &mut RustCrypto), Ok(answer));

    // One block that is all of it is no part. So is a wish for a size (RFC 7959, section 2.3).
    let (mut protected, _) = asked(&mut client, &put);
    protected.add_option(CoapOption::Block1, vec![6]);
    protected.add_option(CoapOption::Block2, vec![2]);
    let (received, _) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(received, put);
}

/// Whoever has the keys may still send nonsense: what is not a request is refused, and the next request is accepted.
#[test]
fn a_response_is_not_taken_for_a_request_nor_the_other_way_round() {
    let (mut client, mut server) = ends(&CLIENT);
    let get = request(RequestType::Get, "a");
    let (protected, _) = asked(&mut client, &get);
    let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    at_server.use_own_sequence_number();
    let answer = response(&received, ResponseType::Content, b"1");
    let protected = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
    // Its reflection, with the option of a request.
    let mut reflected = protected;
    reflected.set_option(CoapOption::Oscore, LinkedList::from([vec![9, 0, 1]]));
    assert_eq!(refused(&mut client, &reflected), Error::Decryption);
    // Both ends may be client and server (section 3.1), and their requests do not disturb each other.
    let (protected, mut exchange) = asked(&mut server, &get);
    let (received, mut at_client) = accepted(client.unprotect_request(&protected, &mut RustCrypto).unwrap());
    assert_eq!(received, get);
    let protected = client.protect_response(&answer, &mut at_client, &mut RustCrypto).unwrap();
    assert_eq!(server.unprotect_response(&protected, &mut exchange, &mut RustCrypto), Ok(answer));
}

/// Section 4.1.3.7: no OSCORE in OSCORE. What is encrypted counts, if the same option is outside too.
#[test]
fn options_that_belong_outside_are_read_inside_but_for_oscore() {
    let (mut client, mut server) = ends(&CLIENT);
    let mut get = request(RequestType::Get, "a");
    get.add_option(CoapOption::UriHost, b"out".to_vec());
    let mut received = |plaintext: &[u8]| {
        let mut protected = client.protect_request(&get, &mut Open).unwrap().0;
        protected.payload = [plaintext, &[0; 8]].concat();
        server.unprotect_request(&protected, &mut Open)
    };
    // GET with Uri-Host "in", and GET with an empty OSCORE option.
    let (inside, _) = accepted(received(&[1, 0x32, b'i', b'n']).unwrap());
    assert_eq!(inside.get_option(CoapOption::UriHost), Some(&LinkedList::from([b"in".to_vec()])));
    assert_eq!(received(&[1, 0x90]).unwrap_err(), Error::Plaintext);
    let (outside, _) = accepted(received(&[1]).unwrap());
    assert_eq!(outside.get_option(CoapOption::UriHost), Some(&LinkedList::from([b"out".to_vec()])));
}

/// Responses need not say who sends them (section 5). If they do, it must be the server.
#[test]
fn a_response_may_name_its_sender() {
    let (mut client, mut server) = ends(&CLIENT);
    let (protected, mut exchange) = asked(&mut client, &request(RequestType::Get, "a"));
    let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    let plain = response(&received, ResponseType::Content, b"1");
    let protected = server.protect_response(&plain, &mut at_server, &mut RustCrypto).unwrap();
    let mut with_option = |value: &[u8]| {
        let mut named = protected.clone();
        named.set_option(CoapOption::Oscore, LinkedList::from([value.to_vec()]));
        client.unprotect_response(&named, &mut exchange, &mut RustCrypto)
    };
    assert_eq!(with_option(&[8, 2]), Err(Error::UnknownContext));
    assert_eq!(with_option(&[0x10, 1, 7]), Err(Error::UnknownContext));
    assert_eq!(with_option(&[8, 1]), Ok(plain));
}
