//! Rules of RFC 7252 that its figures do not show, and the bounds of what an end keeps. Octets by hand.

use std::time::Duration;

use slowhand_coap::endpoint::Delivery::{Confirmable, NonConfirmable};
use slowhand_coap::endpoint::{Config, Endpoint, Event, Failure, SendError};
use slowhand_coap::message::{self, DecodeError, FormatFault, MessageType};
use slowhand_coap::timer::Algorithm;
use slowhand_testing::hex;

use crate::harness::{
    NOW, content, endpoint, events, get, get_temperature, receive, receive_at, request, response, sent,
};

const SECOND: Duration = Duration::from_secs(1);

/// Sections 3, 4.1 and 12.1.
#[test]
fn format_errors_have_their_names() {
    for (octets, fault) in [
        ("41010001", FormatFault::Token),
        ("49010001000000000000000000", FormatFault::Token),
        ("40010001b5", FormatFault::Option),
        ("40010001f0", FormatFault::Option),
        ("400100010f", FormatFault::Option),
        ("40010001e0fff0", FormatFault::Option),
        ("40010001ff", FormatFault::Marker),
        ("40010001b161ff", FormatFault::Marker),
        ("40000001ff", FormatFault::NotEmpty),
        ("4100000120", FormatFault::NotEmpty),
        ("40200001", FormatFault::Code),
        ("40e10001", FormatFault::Code),
    ] {
        let expected = DecodeError::Format { kind: MessageType::Confirmable, id: 1, fault };
        assert_eq!(message::decode(&hex::octets(octets)), Err(expected), "{octets}");
        let mut end = endpoint(0, &[]);
        assert_eq!((receive(&mut end, octets), sent(&mut end)), (vec![], vec!["70000001".to_owned()]), "section 4.2");
        let not_confirmable = format!("5{}", &octets[1..]);
        assert_eq!((receive(&mut end, &not_confirmable), sent(&mut end)), (vec![], vec![]), "section 4.3");
    }
    assert_eq!(message::decode(&[0x40, 1, 0]), Err(DecodeError::Short(3)));
    assert_eq!(message::decode(&hex::octets("80010001")), Err(DecodeError::Version(2)));
    assert!(message::decode(&hex::octets("40010001b1ff")).is_ok(), "an option that ends with ff");
}

/// Section 3; RFC 7983 section 7: records of DTLS begin with 20 to 63.
#[test]
fn a_message_begins_with_its_version() {
    let expected = |first| (0x40..0x80).contains(&first);
    assert!((0..=u8::MAX).all(|first| message::is_coap(&[first]) == expected(first)));
    assert!(!message::is_coap(&[]));
}

/// Section 4.3: a ping.
#[test]
fn an_empty_confirmable_message_is_answered_with_a_reset() {
    let mut end = endpoint(0, &[]);
    assert_eq!((receive(&mut end, "40000007"), sent(&mut end)), (vec![], vec!["70000007".to_owned()]));
    assert_eq!((receive(&mut end, "50000007"), sent(&mut end)), (vec![], vec![]));
}

/// Section 4.2, by hand: 2, 4, 8, 16 and 32 s after each other. Section 4.8.2: it gives up after 62 to 93 s.
#[test]
fn a_request_that_nobody_hears_is_sent_five_times() {
    let mut client = endpoint(1, &[0x31]);
    let token = get_temperature(&mut client, Confirmable);
    let mut at = vec![];
    while let Some(deadline) = client.deadline() {
        at.push(deadline.as_millis());
        client.handle_timeout(deadline);
    }
    assert_eq!(at, [2_000, 6_000, 14_000, 30_000, 62_000]);
    assert_eq!(sent(&mut client).len(), 5);
    assert_eq!(events(&mut client), [Event::Failed { token, failure: Failure::TimedOut }]);
}

/// draft-ietf-core-cocoa-03 section 4.2, by hand: a round trip of 800 ms gives (2,000 + 2,400) / 2 ms.
#[test]
fn cocoa_waits_as_long_as_round_trips_say() {
    let config = Config { algorithm: Algorithm::Cocoa, token_length: 0, ..Config::default() };
    let mut client = Endpoint::new(config, || 0);
    get_temperature(&mut client, Confirmable);
    assert_eq!(client.deadline(), Some(2 * SECOND));
    let now = Duration::from_millis(800);
    response(&receive_at(&mut client, now, "60450000ff31"));
    client.request(now, get("temperature"), Confirmable).unwrap();
    assert_eq!(client.deadline(), Some(Duration::from_millis(800 + 2_200)));
}

/// By hand: a round trip of 60 s gives (2 + 60 + 4 * 30) / 2 = 91 s, and the longest wait is 32 s. After 93 s (RFC 7252
/// section 4.8.2) it gives up, though it was sent three times only.
#[test]
fn cocoa_does_not_wait_longer_than_max_transmit_wait() {
    let config = Config { algorithm: Algorithm::Cocoa, token_length: 0, ..Config::default() };
    let mut client = Endpoint::new(config, || 0);
    get_temperature(&mut client, Confirmable);
    let now = 60 * SECOND;
    response(&receive_at(&mut client, now, "60450000ff31"));
    client.request(now, get("temperature"), Confirmable).unwrap();
    sent(&mut client);
    let mut at = vec![];
    while let Some(deadline) = client.deadline() {
        at.push((deadline - now).as_secs());
        client.handle_timeout(deadline);
    }
    assert_eq!((at, sent(&mut client).len()), (vec![32, 64, 93], 2));
    // Whoever calls late gets no retransmission after that time.
    client.request(now, get("temperature"), Confirmable).unwrap();
    sent(&mut client);
    client.handle_timeout(now + 93 * SECOND);
    assert_eq!((client.deadline(), sent(&mut client)), (None, vec![]));
}

#[test]
fn a_reset_ends_a_request() {
    for (delivery, reset) in [(Confirmable, "70000001"), (NonConfirmable, "70000001")] {
        let mut client = endpoint(1, &[0x31]);
        let token = get_temperature(&mut client, delivery);
        assert_eq!(receive(&mut client, reset), [Event::Failed { token, failure: Failure::Reset }]);
        assert_eq!((receive(&mut client, reset), client.deadline()), (vec![], None));
    }
}

/// Section 5.3.2: message ID and token have to be those of the request.
#[test]
fn an_acknowledgement_of_something_else_is_ignored() {
    let mut client = endpoint(1, &[0x31]);
    get_temperature(&mut client, Confirmable);
    sent(&mut client);
    for other in ["6145000231ff31", "6145000132ff31", "60000002", "70000002", "6101000131"] {
        assert_eq!((receive(&mut client, other), sent(&mut client)), (vec![], vec![]), "{other}");
    }
    assert_eq!(response(&receive(&mut client, "6145000131ff31")), b"1");
}

/// Section 5.2.2: the acknowledgement was lost.
#[test]
fn a_separate_response_acknowledges_the_request() {
    let mut client = endpoint(1, &[0x31]);
    get_temperature(&mut client, Confirmable);
    sent(&mut client);
    assert_eq!(response(&receive(&mut client, "4145000931ff31")), b"1");
    assert_eq!((sent(&mut client), client.deadline()), (vec!["60000009".to_owned()], None));
}

#[test]
fn a_request_without_a_response_fails() {
    let mut client = endpoint(1, &[0x31]);
    let token = get_temperature(&mut client, Confirmable);
    receive(&mut client, "60000001");
    assert_eq!(client.deadline(), Some(247 * SECOND));
    client.handle_timeout(247 * SECOND);
    assert_eq!(events(&mut client), [Event::Failed { token, failure: Failure::NoResponse }]);
    assert_eq!(client.deadline(), None);
}

/// Section 4.7: NSTART is 1. An acknowledgement lets the next one go, and so does the time of PROBING_RATE.
#[test]
fn requests_go_one_after_the_other() {
    let mut client = endpoint(1, &[0x31]);
    for delivery in [Confirmable, NonConfirmable, Confirmable] {
        get_temperature(&mut client, delivery);
    }
    assert_eq!(sent(&mut client).len(), 1);
    receive(&mut client, "60000001");
    assert_eq!(sent(&mut client), ["5101000232bb74656d7065726174757265"]);
    // 17 octets at 1 octet in a second.
    client.handle_timeout(17 * SECOND - Duration::from_millis(1));
    assert_eq!(sent(&mut client), [""; 0]);
    client.handle_timeout(17 * SECOND);
    assert_eq!(sent(&mut client).len(), 1);
}

/// Sections 5.4.1 and 5.8. Option 65001 is critical, because it is odd, and 65000 is not.
#[test]
fn what_is_not_understood_is_refused() {
    let mut server = endpoint(0, &[]);
    for (request, answer) in
        [("40010001e0fcdc", vec!["60820001"]), ("50010002e0fcdc", vec![]), ("40080003", vec!["60850003"])]
    {
        assert_eq!(
            (receive(&mut server, request), sent(&mut server)),
            (vec![], answer.iter().map(|text| (*text).to_owned()).collect())
        );
        assert_eq!((receive(&mut server, request), sent(&mut server).len()), (vec![], answer.len()), "a copy");
    }
    request(&receive(&mut server, "40010004e0fcdb"));
    let config = Config { critical_options: vec![65_001], ..Config::default() };
    request(&receive(&mut Endpoint::new(config, || 0), "40010001e0fcdc"));

    let mut client = endpoint(1, &[0x31]);
    let token = get_temperature(&mut client, Confirmable);
    sent(&mut client);
    let failure = Failure::CriticalOption(65_001);
    assert_eq!(receive(&mut client, "4145000931e0fcdc"), [Event::Failed { token, failure }]);
    assert_eq!(sent(&mut client), ["70000009"]);
}

/// Section 4.5: copies count as such until EXCHANGE_LIFETIME is over, or NON_LIFETIME.
#[test]
fn a_copy_is_known_for_a_lifetime() {
    for (octets, lifetime) in [("40010001", 247), ("50010001", 145)] {
        let mut server = endpoint(0, &[]);
        request(&receive(&mut server, octets));
        assert_eq!(receive_at(&mut server, lifetime * SECOND - Duration::from_nanos(1), octets), []);
        request(&receive_at(&mut server, lifetime * SECOND, octets));
    }
}

#[test]
fn the_oldest_message_is_forgotten_first() {
    let mut server = Endpoint::new(Config { max_remembered: 2, ..Config::default() }, || 0);
    let late = 247 * SECOND;
    for (now, octets) in
        [(NOW, "40010001"), (late, "40010001"), (late, "40010002"), (late, "40010003"), (late, "40010004")]
    {
        request(&receive_at(&mut server, now, octets));
    }
    for copy in ["40010003", "40010004"] {
        assert_eq!(receive_at(&mut server, late, copy), []);
    }
    request(&receive_at(&mut server, late, "40010002"));
}

#[test]
fn a_request_is_answered_once() {
    let mut server = endpoint(0, &[]);
    for octets in ["40010001", "50010002"] {
        let (from, _) = request(&receive(&mut server, octets));
        server.respond(NOW, from, content("a")).unwrap();
        assert_eq!(server.respond(NOW, from, content("b")), Err(SendError::NoSuchRequest));
    }
    let (from, _) = request(&receive(&mut server, "40010003"));
    assert_eq!(server.respond(247 * SECOND, from, content("a")), Err(SendError::NoSuchRequest), "too late");
}

#[test]
fn what_is_kept_has_bounds() {
    let limits = Config { max_remembered: 8, max_requests: 3, max_waiting: 2, ..Config::default() };
    let mut end = Endpoint::new(limits, || 5);
    let asked: Vec<_> = (0..1_000).map(|id| request(&receive(&mut end, &format!("4001{id:04x}"))).0).collect();
    assert_eq!(end.respond(NOW, asked[991], content("")), Err(SendError::NoSuchRequest));
    for from in &asked[992..] {
        end.respond(NOW, *from, content("")).unwrap();
    }
    assert_eq!((sent(&mut end).len(), end.deadline()), (8, None));

    let too_long = content(&"x".repeat(1_200));
    assert_eq!(end.request(NOW, too_long, Confirmable), Err(SendError::TooLong { limit: 1_152 }));
    for _ in 0..3 {
        end.request(NOW, get(""), Confirmable).unwrap();
    }
    assert_eq!(end.request(NOW, get(""), Confirmable), Err(SendError::TooManyRequests { limit: 3 }));
    let (from, _) = request(&receive(&mut end, "40012000"));
    end.acknowledge(NOW, from);
    assert_eq!(end.respond(NOW, from, content("")), Err(SendError::TooManyWaiting { limit: 2 }));
}
