//! Octets of anybody at one end of a connection of CoAP over TCP, whole and in parts, between requests and answers of its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_coap::message::{self, RequestType, ResponseType};
use slowhand_coap::stream::{Config, Connection, Event, decode};
use slowhand_fuzz::input::Input;

/// The record of an end: the events that happened to it, and the octets that it has sent.
type Said = (Vec<Event>, Vec<Vec<u8>>);

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let sizes = [1 + input.below(32), 1 + input.below(32)];
    let mut ends = [end(), end()];
    // A CSM, so that what follows is read.
    for end in &mut ends {
        end.handle_input(&[0, 0xe1]);
    }
    while !input.is_empty() {
        match input.below(4) {
            0 => ends.iter_mut().for_each(|end| _ = end.request(message::request(RequestType::Get, "a"))),
            1 => ends.iter_mut().for_each(|end| _ = end.ping()),
            2 => ends.iter_mut().for_each(Connection::release),
            _ => {
                let octets = input.string();
                let [whole, cut] = &mut ends;
                whole.handle_input(octets);
                let (first, rest) = octets.split_at(sizes[0].min(octets.len()));
                cut.handle_input(first);
                rest.chunks(sizes[1]).for_each(|part| cut.handle_input(part));
            }
        }
        let [whole, cut] = ends.each_mut().map(said);
        assert_eq!(whole, cut, "the parts of the stream matter");
    }
});

fn end() -> Connection {
    let mut number = 0;
    let config = Config { token_length: 1, max_requests: 4, ..Config::default() };
    Connection::new(config, move || {
        number += 1;
        number
    })
}

/// Answers what was asked, and takes out what is sent.
fn said(end: &mut Connection) -> Said {
    let events: Vec<_> = std::iter::from_fn(|| end.poll_event()).collect();
    let mut has_ended = false;
    for event in &events {
        match event {
            Event::Request { from, .. } => _ = end.respond(from, message::response(ResponseType::Content, [0; 40])),
            Event::Ended(_) => has_ended = true,
            _ => {}
        }
    }
    assert!(!has_ended || !end.is_open(), "it goes on after the end");
    let sent: Vec<_> = std::iter::from_fn(|| end.poll_transmit()).collect();
    for octets in &sent {
        assert!(matches!(decode(octets), Ok(Some(_))), "no message: {octets:02x?}");
    }
    (events, sent)
}
