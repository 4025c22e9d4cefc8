//! Messages of anybody at one end of CoAP, between requests, responses and notifications of its own.
#![no_main]

use std::collections::BTreeSet;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use slowhand_coap::block::{self, BlockSize, Step};
use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event, Incoming};
use slowhand_coap::message::{self, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe::{Observers, deregister, register};
use slowhand_coap::timer::Algorithm;
use slowhand_fuzz::input::Input;

/// Few, so that inputs reach them.
const LIMITS: [usize; 3] = [2, 3, 4];

/// The state of the end, and what has happened to it.
struct World {
    now: Duration,
    end: Endpoint,
    server: block::Server,
    client: block::Client,
    observers: Observers<u8>,
    asked: Vec<Incoming>,
    /// The requests that have not ended.
    open: BTreeSet<Token>,
}

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let mut world = World::new(&mut input);
    while !input.is_empty() {
        world.decide(&mut input);
        world.look();
    }
    // All timers end: a message is sent five times at most, and a request fails.
    for _ in 0..100 {
        let Some(deadline) = world.end.deadline() else { return };
        world.now = world.now.max(deadline);
        world.end.handle_timeout(world.now);
        world.look();
    }
    panic!("a timer does not end: {:?}", world.end.deadline());
});

impl World {
    fn new(input: &mut Input<'_>) -> Self {
        let [max_requests, max_waiting, max_remembered] = LIMITS;
        let algorithm = if input.flag() { Algorithm::Cocoa } else { Algorithm::Default };
        let config =
            Config { algorithm, token_length: 1, max_requests, max_waiting, max_remembered, ..Config::default() };
        let mut number = 0_u64;
        let end = Endpoint::new(config, move || {
            number += 1;
            number
        });
        let size = BlockSize::new(16).expect("a size of blocks");
        let (client, _) = block::Client::new(message::request(RequestType::Get, "a"), size, 64).expect("no body");
        let (server, observers) = (block::Server::new(size, 64), Observers::new(2));
        Self { now: Duration::ZERO, end, server, client, observers, asked: Vec::new(), open: BTreeSet::new() }
    }

    fn decide(&mut self, input: &mut Input<'_>) {
        let delivery = if input.flag() { Delivery::Confirmable } else { Delivery::NonConfirmable };
        match input.below(8) {
            0 => self.end.handle_input(self.now, input.string()),
            1 | 2 => {
                // A message ID and a token that this end may have had.
                let (kind, code) = (0x41 | input.octet() << 4 & 0x30, input.octet());
                let octets = [&[kind, code, 0, input.octet() % 8, input.octet() % 8], input.string()].concat();
                self.end.handle_input(self.now, &octets);
            }
            3 => {
                self.now += Duration::from_millis(u64::from(input.number()) * 4);
                self.end.handle_timeout(self.now);
            }
            4 => {
                let get = message::request(RequestType::Get, "a");
                let get = if input.flag() { register(get) } else { get };
                if let Ok(token) = self.end.request(self.now, get, delivery) {
                    self.open.insert(token);
                }
            }
            5 => {
                let token = Token::new(&[input.octet() % 8]).expect("one octet");
                match input.below(3) {
                    0 => {
                        self.end.forget(self.now, token);
                        self.open.remove(&token);
                    }
                    1 => {
                        let get = deregister(message::request(RequestType::Get, "a"));
                        if self.end.request_with(self.now, token, get, delivery).is_ok() {
                            self.open.insert(token);
                        }
                    }
                    _ => {
                        let state = self.state();
                        _ = self.end.notify(self.now, token, state, delivery);
                    }
                }
            }
            6 if !self.asked.is_empty() => {
                let from = self.asked[input.below(self.asked.len())];
                self.end.acknowledge(self.now, from);
            }
            _ => {
                if let Some(from) = self.asked.pop() {
                    let state = self.state();
                    let sent = self.end.respond(self.now, from, state.clone());
                    assert!(sent.is_err() || self.end.respond(self.now, from, state).is_err(), "two answers");
                }
            }
        }
    }

    fn state(&mut self) -> Packet {
        self.observers.notification(message::response(ResponseType::Content, [0; 40]))
    }

    /// Takes out what is sent, and what has happened.
    fn look(&mut self) {
        while let Some(event) = self.end.poll_event() {
            match event {
                Event::Request { from, packet } => {
                    let is_observer = self.observers.handle_request(&packet, 0);
                    let response = message::response(ResponseType::Content, [0; 40]);
                    match self.server.receive(self.now, packet) {
                        block::Incoming::Part(answer) => _ = self.end.respond(self.now, from, answer),
                        block::Incoming::Whole(request) if is_observer => {
                            let response = self.observers.notification(response);
                            let answer = self.server.send(self.now, &request, response);
                            _ = self.end.respond(self.now, from, answer);
                        }
                        block::Incoming::Whole(_) => self.asked.push(from),
                    }
                }
                Event::Response { token, packet } => {
                    self.ended(token);
                    if let Step::Next(next) = self.client.handle_response(packet) {
                        assert!(next.payload.len() <= 16);
                    }
                }
                Event::Failed { token, .. } => self.ended(token),
                Event::Notification { token, .. } => {
                    assert!(self.open.contains(&token), "nobody observes that");
                }
                Event::Undelivered { token, .. } => self.observers.end(token),
            }
        }
        while let Some(octets) = self.end.poll_transmit() {
            assert!(message::decode(&octets).is_ok(), "no message: {octets:02x?}");
        }
    }

    fn ended(&mut self, token: Token) {
        assert!(self.open.remove(&token), "a request that nobody made, or that had ended, has ended");
    }
}
