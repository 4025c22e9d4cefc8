//! RFC 8323: octets by hand from section 3.2, the Signaling messages of section 5, and the bounds of what an end keeps.

use proptest::prelude::*;
use slowhand_coap::message::{self, CoapOption, FormatFault, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe::register;
use slowhand_coap::stream::{
    BASE_MESSAGE, Config, Connection, Event, Failure, FrameError, SendError, SignalError, decode,
};
use slowhand_testing::hex;

/// A CSM with Max-Message-Size 1,152 and Block-Wise-Transfer: options 2 (2 octets) and 4 (none).
const CSM: &str = "40e122048020";

fn end() -> Connection {
    Connection::new(Config { token_length: 1, ..Config::default() }, || 0x7e)
}

/// An end whose CSM is sent.
fn open() -> Connection {
    let mut end = end();
    end.handle_input(&hex::octets("00e1"));
    assert_eq!(sent(&mut end), [CSM]);
    end
}

fn sent(end: &mut Connection) -> Vec<String> {
    std::iter::from_fn(|| end.poll_transmit()).map(|octets| hex::text(&octets)).collect()
}

fn events(end: &mut Connection) -> Vec<Event> {
    std::iter::from_fn(|| end.poll_event()).collect()
}

fn receive(end: &mut Connection, hexadecimal: &str) -> Vec<Event> {
    end.handle_input(&hex::octets(hexadecimal));
    events(end)
}

fn get() -> Packet {
    message::request(RequestType::Get, "a")
}

/// RFC 8323 section 3.2, Figure 7: 2.03 with the token 7f, and nothing more.
#[test]
fn a_short_message_has_the_octets_of_the_figure() {
    let packet = decode(&hex::octets("01437f")).unwrap().unwrap();
    assert_eq!((packet.header.get_code().as_str(), packet.get_token()), ("2.03", &[0x7f][..]));
    let mut server = open();
    let asked = receive(&mut server, "21017fb161");
    let [Event::Request { from, packet }] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(message::path(packet), "a");
    server.respond(from, message::response(ResponseType::Valid, [])).unwrap();
    assert_eq!(sent(&mut server), ["01437f"]);
}

/// Section 3.2, Figure 6: what follows the token has up to 12 octets, up to 268, up to 65,804, or more.
#[test]
fn lengths_have_as_many_octets_as_they_need() {
    for (payload, header) in [
        (0, "00"),
        (11, "c0"),
        (12, "d000"),
        (267, "d0ff"),
        (268, "e00000"),
        (65_803, "e0ffff"),
        (65_804, "f000000000"),
        (70_000, "f000001064"),
    ] {
        let mut octets = hex::octets(header);
        octets.push(0x45);
        if payload > 0 {
            octets.push(0xff);
            octets.extend(vec![7; payload]);
        }
        let packet = decode(&octets).unwrap().expect(header);
        assert_eq!(packet.payload, vec![7; payload], "{header}");
        assert_eq!(decode(&octets[..octets.len() - 1]).unwrap(), None, "{header}: its last octet is missing");

        let config = Config { max_message: 100_000, token_length: 0, ..Config::default() };
        let mut client = Connection::new(config, || 0);
        client.open();
        assert_eq!(sent(&mut client), ["40e1230186a0"], "no Block-Wise-Transfer: it would be that of BERT");
        receive(&mut client, "40e1230186a0");
        let mut post = message::request(RequestType::Post, "");
        post.payload = vec![7; payload];
        client.request(post).unwrap();
        let of_request = client.poll_transmit().unwrap();
        octets[header.len() / 2] = 2;
        assert!(of_request == octets, "{header}: {}", hex::text(&of_request[..6.min(of_request.len())]));
    }
}

/// Section 5.3: who opens the connection does not wait; the other one answers. Until a CSM says more, messages have up to 1,152 octets.
#[test]
fn the_first_message_of_each_end_is_a_csm() {
    let (mut client, mut server) = (end(), end());
    client.open();
    client.open();
    assert!(client.is_open() && !server.is_open());
    assert_eq!(server.request(get()), Err(SendError::Ended));
    client.request(get()).unwrap();
    let all = sent(&mut client);
    assert_eq!(all, [CSM, "21017eb161"]);
    assert!(matches!(receive(&mut server, &all.concat())[..], [Event::Request { .. }]));
    assert_eq!(sent(&mut server), [CSM]);

    let mut long = get();
    long.payload = vec![0; 1_200];
    assert_eq!(client.request(long.clone()), Err(SendError::TooLong { limit: 1_152 }));
    receive(&mut client, "30e1220800");
    assert_eq!(client.peer_takes(), 2_048);
    client.request(long).unwrap();
    // A later one may have no such option: the value stays.
    receive(&mut client, "00e1");
    assert_eq!(client.peer_takes(), 2_048);
}

#[test]
fn each_response_goes_to_its_request() {
    let mut number = 0;
    let config = Config { token_length: 1, max_requests: 2, ..Config::default() };
    let mut client = Connection::new(config, move || {
        number += 1;
        number
    });
    client.open();
    let tokens = [client.request(get()).unwrap(), client.request(get()).unwrap()];
    assert_eq!(tokens.map(|token| token.octets().to_vec()), [[1], [2]]);
    assert_eq!(client.request(get()), Err(SendError::TooManyRequests { limit: 2 }));
    let answers = receive(&mut client, "00e1 014502 0144ff 014501");
    let of = |event: &Event| match event {
        Event::Response { token, .. } => *token,
        other => panic!("{other:?}"),
    };
    assert_eq!(answers.iter().map(of).collect::<Vec<_>>(), [tokens[1], tokens[0]]);
    client.request(get()).unwrap();
}

/// Section 5.4, and 3.4: an empty message has no answer.
#[test]
fn a_ping_gets_a_pong_with_its_token() {
    let mut end = open();
    assert_eq!((receive(&mut end, "0000 02e2abcd 0000"), sent(&mut end)), (vec![], vec!["02e3abcd".to_owned()]));
    // Custody is elective.
    assert_eq!((receive(&mut end, "10e220"), sent(&mut end)), (vec![], vec!["00e3".to_owned()]));
    end.ping().unwrap();
    assert_eq!(sent(&mut end), ["00e2"]);
    assert_eq!(receive(&mut end, "01e37d 00e3 00e3"), [Event::Pong]);
}

/// Section 5.5.
#[test]
fn a_release_leaves_time_for_answers() {
    let mut end = open();
    let token = end.request(get()).unwrap();
    let asked = receive(&mut end, "2101bbb161 00e4");
    let [Event::Request { from, .. }, Event::Released] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(end.request(get()), Err(SendError::Ended));
    end.respond(from, message::response(ResponseType::Content, [])).unwrap();
    assert_eq!(sent(&mut end), ["21017eb161", "0145bb"]);
    assert!(matches!(receive(&mut end, "01457e")[..], [Event::Response { token: answered, .. }] if answered == token));

    let mut end = open();
    end.release();
    end.release();
    assert_eq!(sent(&mut end), ["00e4"]);
}

/// Section 5.6: the end says why, once, and takes nothing more.
#[test]
fn faults_abort_the_connection() {
    for (octets, failure) in [
        ("000000e4", Failure::NoCsm),
        ("01017e", Failure::NoCsm),
        ("00e109", FrameError::Format(FormatFault::Token).into()),
        ("00e10020", FrameError::Format(FormatFault::Code).into()),
        ("00e11001ff", FrameError::Format(FormatFault::Marker).into()),
        ("10e110", SignalError::CsmOption(1).into()),
        ("00e110e230", SignalError::Option(3).into()),
        ("60e1250000000001", SignalError::MaxMessageSize.into()),
        ("00e100ff", SignalError::Code(0xff).into()),
        ("00e1e00372", FrameError::TooLong { length: 1 + 2 + 1 + 269 + 0x372, limit: BASE_MESSAGE }.into()),
        ("00e1f0ffffffff", FrameError::TooLong { length: 6 + 65_805 + 0xffff_ffff, limit: BASE_MESSAGE }.into()),
    ] {
        let mut end = end();
        assert_eq!(receive(&mut end, &format!("{octets}00e2")), [Event::Ended(failure.clone())], "{octets}");
        let said = sent(&mut end);
        assert_eq!(said[0], CSM, "{octets}");
        let abort = decode(&hex::octets(&said[1])).unwrap().unwrap();
        assert_eq!(abort.header.get_code(), "7.05", "{octets}");
        assert_eq!(String::from_utf8_lossy(&abort.payload), failure.to_string());
        let bad_option = abort.options().map(|(number, values)| (*number, values.front().cloned().unwrap())).next();
        let expected = matches!(failure, Failure::Signal(SignalError::CsmOption(_))).then_some((2, vec![1]));
        assert_eq!(bad_option, expected, "{octets}");
        assert_eq!((said.len(), receive(&mut end, "00e2"), sent(&mut end)), (2, vec![], vec![]), "{octets}");
    }
}

#[test]
fn an_abort_fails_what_is_open() {
    let mut end = open();
    let token = end.request(get()).unwrap();
    let failure = Failure::Aborted("no".to_owned());
    let expected = [Event::Failed { token, failure: failure.clone() }, Event::Ended(failure)];
    assert_eq!(receive(&mut end, "30e5ff6e6f"), expected);
    assert_eq!(end.request(get()), Err(SendError::Ended));
    let asked = receive(&mut open(), "01017f");
    let [Event::Request { from, .. }] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(end.respond(from, message::response(ResponseType::Content, [])), Err(SendError::Ended));
}

/// RFC 7252 sections 5.4.1 and 5.8.
#[test]
fn what_is_not_understood_is_refused() {
    let mut end = open();
    assert_eq!((receive(&mut end, "310101d1fc00"), sent(&mut end)), (vec![], vec!["018201".to_owned()]));
    assert_eq!((receive(&mut end, "011f02"), sent(&mut end)), (vec![], vec!["018502".to_owned()]));
    let token = end.request(get()).unwrap();
    let answer = receive(&mut end, "31457ed1fc00");
    assert_eq!(answer, [Event::Failed { token, failure: Failure::CriticalOption(265) }]);
}

/// A request, a response or a Signaling message with a valid frame.
fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let code = prop_oneof![Just(0), Just(1), Just(2), Just(0x45), Just(0x84), Just(0xe1), Just(0xe2), Just(0xe3)];
    (code, prop::collection::vec(any::<u8>(), 0..=8), prop::collection::vec(any::<u8>(), 0..300)).prop_map(
        |(code, token, payload)| {
            let body = if payload.is_empty() { vec![] } else { [&[0xff], &payload[..]].concat() };
            let header = match body.len() {
                length @ 0..=12 => vec![(length as u8) << 4],
                length @ 13..=268 => vec![0xd0, (length - 13) as u8],
                length => [&[0xe0], &((length - 269) as u16).to_be_bytes()[..]].concat(),
            };
            let mut octets = [&header[..], &[code], &token, &body].concat();
            octets[0] |= token.len() as u8;
            octets
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The end of a segment of TCP, or of a record of TLS, says nothing.
    #[test]
    fn cuts_of_the_stream_change_nothing(
        messages in prop::collection::vec(any_message(), 1..8),
        noise in prop::collection::vec(any::<u8>(), 0..20),
        cuts in prop::collection::vec(1_usize..40, 1..10),
    ) {
        let stream = [hex::octets(CSM), messages.concat(), noise].concat();
        let whole = {
            let mut end = end();
            end.handle_input(&stream);
            (events(&mut end), sent(&mut end))
        };
        let mut cut = end();
        let (mut rest, mut sizes) = (&stream[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (first, more) = rest.split_at(sizes.next().unwrap().to_owned().min(rest.len()));
            cut.handle_input(first);
            rest = more;
        }
        prop_assert_eq!((events(&mut cut), sent(&mut cut)), whole);
    }

    #[test]
    fn what_one_end_sends_the_other_one_gets(
        payload in prop::collection::vec(any::<u8>(), 0..1_100),
        path in "[a-z]{0,20}",
        token_length in 0_u8..=8,
    ) {
        let mut client = Connection::new(Config { token_length, ..Config::default() }, || 0x0102);
        let mut server = end();
        client.open();
        let mut post = message::request(RequestType::Post, &path);
        post.payload.clone_from(&payload);
        let token = client.request(post).unwrap();
        prop_assert_eq!(token.octets().len(), usize::from(token_length));
        while let Some(octets) = client.poll_transmit() {
            server.handle_input(&octets);
        }
        let asked = events(&mut server);
        let [Event::Request { from, packet }] = &asked[..] else { panic!("{asked:?}") };
        prop_assert_eq!((message::path(packet), &packet.payload, Token::of(packet)), (path, &payload, token));
        server.respond(from, message::response(ResponseType::Content, payload.clone())).unwrap();
        while let Some(octets) = server.poll_transmit() {
            client.handle_input(&octets);
        }
        let answers = events(&mut client);
        let [Event::Response { token: answered, packet }] = &answers[..] else { panic!("{answers:?}") };
        prop_assert_eq!((*answered, &packet.payload), (token, &payload));
    }
}

/// RFC 8323 section 7: the request, and then states with the same token, whose Observe is empty. One without Observe is the last one.
#[test]
fn notifications_come_in_the_order_of_the_stream() {
    let mut client = open();
    client.request(register(get())).unwrap();
    assert_eq!(sent(&mut client), ["31017e605161"]);
    let mut server = open();
    let asked = receive(&mut server, "31017e605161");
    let [Event::Request { from, .. }] = &asked[..] else { panic!("{asked:?}") };
    for payload in ["a", "b"] {
        let mut state = message::response(ResponseType::Content, payload);
        message::set_number(&mut state, CoapOption::Observe, 0);
        server.respond(from, state).unwrap();
    }
    server.respond(from, message::response(ResponseType::NotFound, [])).unwrap();
    let answers = sent(&mut server);
    assert_eq!(answers, ["31457e60ff61", "31457e60ff62", "01847e"]);
    client.handle_input(&hex::octets("00e1"));
    let taken: Vec<_> = answers.iter().flat_map(|octets| receive(&mut client, octets)).collect();
    let [Event::Notification { packet, .. }, Event::Notification { .. }, Event::Response { .. }] = &taken[..] else {
        panic!("{taken:?}")
    };
    assert_eq!(packet.payload, b"a");
    assert_eq!(receive(&mut client, &answers[0]), [], "nothing follows");
}

#[test]
fn a_response_without_observe_is_the_only_one() {
    for request in [register(get()), get()] {
        let mut client = open();
        client.request(request).unwrap();
        let answers = ["01457e", "31457e60ff61"].map(|octets| receive(&mut client, octets));
        assert!(matches!(answers[0][..], [Event::Response { .. }]) && answers[1].is_empty(), "{answers:?}");
    }
    // Nobody has asked for notifications.
    let mut client = open();
    client.request(get()).unwrap();
    assert!(matches!(receive(&mut client, "31457e60ff61")[..], [Event::Response { .. }]));
}
