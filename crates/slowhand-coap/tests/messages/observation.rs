//! The example of RFC 7641 appendix A, and how an observation ends. The octets follow from the fields of the figures.

use std::time::Duration;

use slowhand_coap::endpoint::Delivery::{Confirmable, NonConfirmable};
use slowhand_coap::endpoint::{Event, Failure};
use slowhand_coap::message::{self, CoapOption, Packet, Token};
use slowhand_coap::observe::{Observers, deregister, register};

use crate::harness::{NOW, content, endpoint, events, get, receive, receive_at, request, response, sent};

/// Uri-Path after Observe: option 6 + 5 with 11 octets.
const PATH: &str = "5b74656d7065726174757265";
/// "18.5 Cel", "19.2 Cel" and "19.7 Cel".
const STATES: [&str; 3] = ["31382e352043656c", "31392e322043656c", "31392e372043656c"];

fn state(text: &str, value: u32) -> Packet {
    let mut packet = content(text);
    message::set_number(&mut packet, CoapOption::Observe, value);
    message::set_number(&mut packet, CoapOption::MaxAge, 15);
    packet
}

fn notified(events: &[Event]) -> &[u8] {
    match events {
        [Event::Notification { packet, .. }] => &packet.payload,
        other => panic!("one notification, not {other:?}"),
    }
}

#[test]
fn figures_3_and_4() {
    let (mut client, mut server) = (endpoint(0x1633, &[0x4a]), endpoint(0x7b50, &[]));
    client.request(NOW, register(get("temperature")), Confirmable).unwrap();
    let asked = format!("410116334a60{PATH}");
    assert_eq!(sent(&mut client).concat(), asked);
    let (from, _) = request(&receive(&mut server, &asked));
    server.respond(NOW, from, state("18.5 Cel", 9)).unwrap();
    let answered = format!("614516334a6109810fff{}", STATES[0]);
    assert_eq!(sent(&mut server).concat(), answered);
    assert_eq!(notified(&receive(&mut client, &answered)), b"18.5 Cel");

    server.notify(NOW, from.token(), state("19.2 Cel", 16), NonConfirmable).unwrap();
    let second = format!("51457b504a6110810fff{}", STATES[1]);
    assert_eq!(sent(&mut server).concat(), second);
    assert_eq!(notified(&receive(&mut client, &second)), b"19.2 Cel");
    assert_eq!(sent(&mut client), [""; 0]);

    // Lost in figure 4. The client asks again, here with the same token, as section 3.3.1 allows.
    server.notify(NOW, from.token(), state("19.7 Cel", 25), NonConfirmable).unwrap();
    let third = format!("51457b514a6119810fff{}", STATES[2]);
    assert_eq!(sent(&mut server).concat(), third);
    client.request_with(NOW, from.token(), register(get("temperature")), Confirmable).unwrap();
    assert_eq!(sent(&mut client), [format!("410116344a60{PATH}")]);
    // With ETag, option 4.
    let again = format!("614516344a4578797a7a79212c810fff{}", STATES[2]);
    assert_eq!(notified(&receive(&mut client, &again)), b"19.7 Cel");
    assert_eq!(receive(&mut client, &third), [], "25 is older than 44");
}

/// RFC 7641 section 3.4: the newest notification comes first, then older ones.
#[test]
fn notifications_that_overtake_each_other_come_in_order() {
    let mut client = endpoint(0x1633, &[0x4a]);
    client.request(NOW, register(get("temperature")), Confirmable).unwrap();
    let second = Duration::from_secs(1);
    assert_eq!(receive(&mut client, "614516334a6109").len(), 1);
    assert_eq!(receive_at(&mut client, second, "51457b524a6119").len(), 1);
    assert_eq!(receive_at(&mut client, second, "51457b514a6110"), []);
    assert_eq!(receive_at(&mut client, second * 129, "51457b514a6110"), [], "128 s after the newest one");
    assert_eq!(receive_at(&mut client, second * 130, "51457b534a6110").len(), 1, "129 s after it");
    sent(&mut client);
    assert_eq!(receive_at(&mut client, second * 130, "41457b544a6110"), []);
    assert_eq!(sent(&mut client), ["60007b54"], "one that is old is acknowledged too");
}

#[test]
fn a_client_that_forgets_rejects_the_next_notification() {
    let (mut client, mut server) = (endpoint(0x1633, &[0x4a]), endpoint(0x7b50, &[]));
    let token = client.request(NOW, register(get("temperature")), Confirmable).unwrap();
    receive(&mut client, "614516334a6109");
    client.forget(NOW, token);
    sent(&mut client);
    for delivery in [Confirmable, NonConfirmable] {
        server.notify(NOW, token, state("19.2 Cel", 16), delivery).unwrap();
        assert_eq!(receive(&mut client, &sent(&mut server).concat()), []);
        let rejection = sent(&mut client).concat();
        assert!(rejection.starts_with("70007b5"), "{rejection}");
        assert_eq!(receive(&mut server, &rejection), [Event::Undelivered { token, failure: Failure::Reset }]);
    }
    assert_eq!(server.deadline(), None);
}

/// RFC 7641 section 3.6. A notification that is under way is not the response to the GET that ends them.
#[test]
fn an_observation_ends_with_a_get() {
    let mut client = endpoint(0x1633, &[0x4a]);
    let token = client.request(NOW, register(get("temperature")), Confirmable).unwrap();
    receive(&mut client, "614516334a6109");
    sent(&mut client);
    client.request_with(NOW, token, deregister(get("temperature")), Confirmable).unwrap();
    assert_eq!(sent(&mut client), [format!("410116344a6101{PATH}")]);
    assert_eq!(receive(&mut client, "41457b504a6110"), []);
    assert_eq!(sent(&mut client), ["60007b50"]);
    assert_eq!(response(&receive(&mut client, "614516344aff31")), b"1");
    assert_eq!(receive(&mut client, "41457b514a6111"), []);
    assert_eq!(sent(&mut client), ["70007b51"]);
}

#[test]
fn a_response_that_is_no_notification_ends_an_observation() {
    for answer in ["614516334a", "618416334a", "618416334a6109"] {
        let mut client = endpoint(0x1633, &[0x4a]);
        client.request(NOW, register(get("temperature")), Confirmable).unwrap();
        response(&receive(&mut client, answer));
        assert_eq!(client.deadline(), None);
    }
}

/// RFC 7252 section 5.2.2: the acknowledgement of the request was lost.
#[test]
fn a_notification_acknowledges_the_request() {
    let mut client = endpoint(0x1633, &[0x4a]);
    client.request(NOW, register(get("temperature")), Confirmable).unwrap();
    assert_eq!(receive(&mut client, "41457b504a6109").len(), 1);
    assert_eq!(client.deadline(), None);
}

/// RFC 7641 section 4.5.2: a state that nobody needs any more is not sent.
#[test]
fn a_later_notification_takes_the_place_of_one_that_waits() {
    let mut server = endpoint(0x7b50, &[]);
    let token = Token::new(&[0x4a]).unwrap();
    for (value, text) in [(1, "a"), (2, "b"), (3, "c")] {
        server.notify(NOW, token, state(text, value), Confirmable).unwrap();
    }
    assert_eq!(sent(&mut server), ["41457b504a6101810fff61"]);
    receive(&mut server, "60007b50");
    assert_eq!(sent(&mut server), ["41457b524a6103810fff63"]);
    receive(&mut server, "60007b52");
    assert_eq!((sent(&mut server), server.deadline()), (vec![], None));
}

#[test]
fn a_notification_that_nobody_acknowledges_ends_it() {
    let mut server = endpoint(0x7b50, &[]);
    let token = Token::new(&[0x4a]).unwrap();
    server.notify(NOW, token, state("a", 1), Confirmable).unwrap();
    server.notify(NOW, token, state("b", 2), Confirmable).unwrap();
    while let Some(deadline) = server.deadline() {
        server.handle_timeout(deadline);
    }
    assert_eq!(events(&mut server), [Event::Undelivered { token, failure: Failure::TimedOut }]);
    assert_eq!(sent(&mut server).len(), 5, "the other one is not sent");
}

#[test]
fn a_server_knows_who_observes_what() {
    let mut observers = Observers::new(2);
    let with = |token: u8, mut packet: Packet| {
        packet.set_token(vec![token]);
        packet
    };
    assert!(observers.handle_request(&with(1, register(get("a"))), "a"));
    assert!(observers.handle_request(&with(1, register(get("a"))), "a"), "the same again");
    assert!(!observers.handle_request(&with(2, get("a")), "a"));
    assert!(observers.handle_request(&with(3, register(get("b"))), "b"));
    assert!(!observers.handle_request(&with(4, register(get("a"))), "a"), "there is no room");
    let tokens = |observers: &Observers<&'static str>| {
        observers.of(&"a").map(|token| token.octets().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(tokens(&observers), [[1]]);
    let values = [(); 2].map(|()| message::number(&observers.notification(content("")), CoapOption::Observe));
    assert!(values[0] < values[1]);
    assert!(!observers.handle_request(&with(1, deregister(get("a"))), "a"));
    assert_eq!(tokens(&observers), [[0; 0]; 0]);
}
