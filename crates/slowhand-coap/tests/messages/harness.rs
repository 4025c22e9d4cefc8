use std::time::Duration;

use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event, Incoming};
use slowhand_coap::message::{self, Packet, RequestType, ResponseType, Token};
use slowhand_testing::hex;

pub const NOW: Duration = Duration::ZERO;

/// An end whose first message has this ID. Its tokens are the last octets of `token`. It waits exactly 2 s for the first acknowledgement,
/// nearly.
pub fn endpoint(id: u16, token: &[u8]) -> Endpoint {
    let config = Config { token_length: token.len() as u8, ..Config::default() };
    let last = token.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
    let mut numbers = [u64::from(id)].into_iter();
    Endpoint::new(config, move || numbers.next().unwrap_or(last))
}

pub fn sent(endpoint: &mut Endpoint) -> Vec<String> {
    std::iter::from_fn(|| endpoint.poll_transmit()).map(|octets| hex::text(&octets)).collect()
}

pub fn events(endpoint: &mut Endpoint) -> Vec<Event> {
    std::iter::from_fn(|| endpoint.poll_event()).collect()
}

pub fn receive(endpoint: &mut Endpoint, hexadecimal: &str) -> Vec<Event> {
    receive_at(endpoint, NOW, hexadecimal)
}

pub fn receive_at(endpoint: &mut Endpoint, now: Duration, hexadecimal: &str) -> Vec<Event> {
    endpoint.handle_input(now, &hex::octets(hexadecimal));
    events(endpoint)
}

/// The single request among these events.
pub fn request(events: &[Event]) -> (Incoming, &Packet) {
    match events {
        [Event::Request { from, packet }] => (*from, packet),
        other => panic!("one request, not {other:?}"),
    }
}

/// The payload of the single response among these events.
pub fn response(events: &[Event]) -> &[u8] {
    match events {
        [Event::Response { packet, .. }] => &packet.payload,
        other => panic!("one response, not {other:?}"),
    }
}

pub fn get(path: &str) -> Packet {
    message::request(RequestType::Get, path)
}

pub fn content(payload: &str) -> Packet {
    message::response(ResponseType::Content, payload)
}

/// Sends a GET of the temperature.
pub fn get_temperature(client: &mut Endpoint, delivery: Delivery) -> Token {
    client.request(NOW, get("temperature"), delivery).unwrap()
}
