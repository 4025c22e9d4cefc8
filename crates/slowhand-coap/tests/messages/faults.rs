//! Two ends over a path that loses, repeats and reorders datagrams.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use slowhand_coap::block::{self, BlockSize, Step};
use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event, Failure, Incoming};
use slowhand_coap::message::{self, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe::register;
use slowhand_coap::timer::Algorithm;
use slowhand_testing::random::Random;

/// In percent.
#[derive(Clone, Copy, Debug)]
struct Faults {
    loss: u64,
    copies: u64,
}

enum Due {
    Arrive { at: usize, octets: Vec<u8> },
    Respond { at: usize, from: Incoming, packet: Packet },
}

/// Two ends, the datagrams between them, and the responses that they will give.
struct World {
    now: Duration,
    ends: [Endpoint; 2],
    due: BTreeMap<(Duration, u64), Due>,
    number: u64,
    faults: Faults,
    random: Random,
}

impl World {
    fn new(seed: u64, faults: Faults, algorithm: Algorithm) -> Self {
        let ends = [1, 2].map(|end| {
            let mut random = Random::new(seed ^ end << 32);
            Endpoint::new(Config { algorithm, ..Config::default() }, move || random.in_range(0..u64::MAX))
        });
        let random = Random::new(seed);
        Self { now: Duration::ZERO, ends, due: BTreeMap::new(), number: 0, faults, random }
    }

    fn add(&mut self, longest_ms: u64, due: Due) {
        let delay = Duration::from_millis(self.random.in_range(1..longest_ms));
        self.number += 1;
        self.due.insert((self.now + delay, self.number), due);
    }

    /// Puts on the path what the ends send.
    fn send(&mut self) {
        for from in [0, 1] {
            while let Some(octets) = self.ends[from].poll_transmit() {
                let copies = 1 + u64::from(self.random.percent(self.faults.copies));
                for _ in 0..copies {
                    if !self.random.percent(self.faults.loss) {
                        self.add(8_000, Due::Arrive { at: 1 - from, octets: octets.clone() });
                    }
                }
            }
        }
    }

    /// Goes on to the next thing that happens, and returns the events and the ends that have them. `None` if nothing will happen.
    fn step(&mut self) -> Option<Vec<(usize, Event)>> {
        self.send();
        let timers = self.ends.iter().filter_map(Endpoint::deadline).min();
        let due = self.due.first_key_value().map(|((at, _), _)| *at);
        self.now = self.now.max([timers, due].into_iter().flatten().min()?);
        if timers.is_some_and(|at| at <= self.now) {
            self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now));
        } else if let Some((_, due)) = self.due.pop_first() {
            match due {
                Due::Arrive { at, octets } => self.ends[at].handle_input(self.now, &octets),
                Due::Respond { at, from, packet } => self.ends[at].respond(self.now, from, packet).unwrap(),
            }
        }
        let events = self.ends.iter_mut().enumerate();
        Some(
            events
                .flat_map(|(at, end)| {
                    std::iter::from_fn(|| end.poll_event()).map(move |event| (at, event)).collect::<Vec<_>>()
                })
                .collect(),
        )
    }
}

fn faults() -> impl Strategy<Value = Faults> {
    (0..60_u64, 0..60_u64).prop_map(|(loss, copies)| Faults { loss, copies })
}

fn algorithm() -> impl Strategy<Value = Algorithm> {
    prop_oneof![Just(Algorithm::Default), Just(Algorithm::Cocoa)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Both ends ask each other. Each request has a number, and its response has the same.
    #[test]
    fn each_request_ends_once_and_is_handled_at_most_once(
        seed in any::<u64>(), faults in faults(), algorithm in algorithm(), count in 1..12_u32,
    ) {
        let mut world = World::new(seed, faults, algorithm);
        let mut asked = BTreeMap::new();
        for number in 0..count {
            let (at, delivery) = (number as usize % 2, if number % 5 == 4 { Delivery::NonConfirmable } else { Delivery::Confirmable });
            let mut packet = message::request(RequestType::Post, "number");
            packet.payload = number.to_be_bytes().to_vec();
            let token = world.ends[at].request(world.now, packet, delivery).unwrap();
            asked.insert((at, token), number);
        }
        let mut handled = BTreeMap::new();
        let mut succeeded = 0;
        while let Some(events) = world.step() {
            for (at, event) in events {
                match event {
                    Event::Request { from, packet } => {
                        *handled.entry((at, packet.payload.clone())).or_insert(0) += 1;
                        let response = message::response(ResponseType::Content, packet.payload);
                        // Some of them after the acknowledgement.
                        world.add(3_000, Due::Respond { at, from, packet: response });
                    }
                    Event::Response { token, packet } => {
                        let number = asked.remove(&(at, token)).expect("a response that nobody expects");
                        prop_assert_eq!(packet.payload, number.to_be_bytes());
                        succeeded += 1;
                    }
                    Event::Failed { token, failure } => {
                        prop_assert!(asked.remove(&(at, token)).is_some(), "it failed after it had ended");
                        prop_assert!(faults.loss > 0, "{}", failure);
                    }
                    Event::Undelivered { failure, .. } => prop_assert!(faults.loss > 0 || failure == Failure::Reset),
                    Event::Notification { .. } => panic!("nobody observes"),
                }
            }
        }
        prop_assert!(asked.is_empty(), "a request has not ended");
        prop_assert!(handled.values().all(|times| *times == 1), "a request was handled twice");
        prop_assert!(handled.len() >= succeeded);
        // By the longest waits: each end sends at most 6 of them, one after the other.
        prop_assert!(world.now < Duration::from_secs(6 * (93 + 247)));
    }

    /// The states of a resource come in the order in which they were, and the last one comes if nothing is lost for good.
    #[test]
    fn notifications_come_in_order(seed in any::<u64>(), faults in faults(), algorithm in algorithm()) {
        const LAST: u32 = 8;
        let mut world = World::new(seed, faults, algorithm);
        let get = register(message::request(RequestType::Get, "number"));
        world.ends[0].request(world.now, get, Delivery::Confirmable).unwrap();
        let mut observers = slowhand_coap::observe::Observers::new(1);
        let (mut state, mut seen, mut is_lost) = (0_u32, vec![], false);
        let content = |state: u32| message::response(ResponseType::Content, state.to_be_bytes());
        while let Some(events) = world.step() {
            for (at, event) in events {
                match event {
                    Event::Request { from, packet } => {
                        prop_assert!(observers.handle_request(&packet, "number"));
                        world.ends[at].respond(world.now, from, observers.notification(content(state))).unwrap();
                    }
                    Event::Notification { packet, .. } => seen.push(u32::from_be_bytes(packet.payload[..].try_into().unwrap())),
                    Event::Failed { .. } => is_lost = true,
                    Event::Undelivered { token, .. } => {
                        is_lost = true;
                        observers.end(token);
                    }
                    Event::Response { .. } => panic!("the server lets everybody observe"),
                }
            }
            let tokens: Vec<Token> = observers.of(&"number").collect();
            if state < LAST && !tokens.is_empty() {
                state += 1;
                for token in tokens {
                    let notification = observers.notification(content(state));
                    world.ends[1].notify(world.now, token, notification, Delivery::Confirmable).unwrap();
                }
            }
        }
        prop_assert!(seen.is_sorted_by(|a, b| a < b), "{:?}", seen);
        prop_assert!(is_lost || seen.last() == Some(&LAST), "{:?}", seen);
        prop_assert!(faults.loss > 0 || !is_lost);
    }

    /// Bodies both ways, in blocks.
    #[test]
    fn bodies_come_whole_or_not_at_all(
        seed in any::<u64>(), faults in faults(), sent in 0..900_usize, returned in 0..900_usize, exponents in (0..7_u32, 0..7_u32),
    ) {
        let mut world = World::new(seed, faults, Algorithm::Default);
        let body = |length, first: usize| -> Vec<u8> { (0..length).map(|at| (first + at) as u8).collect() };
        let size = |exponent: u32| BlockSize::new(1 << (exponent + 4)).unwrap();
        let mut post = message::request(RequestType::Post, "body");
        post.payload = body(sent, 0);
        let (mut client, first) = block::Client::new(post, size(exponents.0), 900).unwrap();
        let mut server = block::Server::new(size(exponents.1), 900);
        let (mut calls, mut ended) = (0, 0);
        world.ends[0].request(world.now, first, Delivery::Confirmable).unwrap();
        while let Some(events) = world.step() {
            for (at, event) in events {
                let now = world.now;
                match event {
                    Event::Request { from, packet } => {
                        let answer = match server.receive(now, packet) {
                            block::Incoming::Part(answer) => answer,
                            block::Incoming::Whole(whole) => {
                                calls += 1;
                                prop_assert_eq!(&whole.payload, &body(sent, 0));
                                server.send(now, &whole, message::response(ResponseType::Changed, body(returned, 7)))
                            }
                        };
                        world.ends[at].respond(now, from, answer).unwrap();
                    }
                    Event::Response { packet, .. } => match client.handle_response(packet) {
                        Step::Next(next) => _ = world.ends[at].request(now, next, Delivery::Confirmable).unwrap(),
                        Step::Done(response) => {
                            ended += 1;
                            prop_assert_eq!(&response.payload, &body(returned, 7));
                        }
                        Step::Failed(error) => panic!("{error}"),
                    },
                    Event::Failed { failure, .. } => {
                        ended += 1;
                        prop_assert!(faults.loss > 0, "{}", failure);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        prop_assert!(calls <= 1 && ended == 1);
    }

    /// Octets of anybody, at a client that waits and a server that answers.
    #[test]
    fn any_octets_are_taken(
        datagrams in proptest::collection::vec((0..4_u8, any::<u8>(), 0..4_u8, proptest::collection::vec(any::<u8>(), 0..40)), 0..40),
    ) {
        let mut end = Endpoint::new(Config { token_length: 1, ..Config::default() }, || 0);
        let mut server = block::Server::new(BlockSize::new(16).unwrap(), 100);
        let mut client = block::Client::new(message::request(RequestType::Get, "a"), BlockSize::LARGEST, 100).unwrap().0;
        end.request(Duration::ZERO, register(message::request(RequestType::Get, "a")), Delivery::Confirmable).unwrap();
        for (second, (kind, code, id, rest)) in datagrams.into_iter().enumerate() {
            let now = Duration::from_secs(second as u64);
            end.handle_input(now, &rest);
            // A token of one octet, which is that of the request half of the time.
            let octets = [&[0x41 | kind << 4, code, 0, id, rest.len() as u8 % 2], &rest[..]].concat();
            end.handle_input(now, &octets);
            end.handle_timeout(now);
            while let Some(event) = end.poll_event() {
                match event {
                    Event::Request { from, packet } => {
                        let answer = match server.receive(now, packet) {
                            block::Incoming::Part(answer) => answer,
                            block::Incoming::Whole(whole) => server.send(now, &whole, message::response(ResponseType::Content, [0; 50])),
                        };
                        end.respond(now, from, answer).unwrap();
                    }
                    Event::Response { packet, .. } | Event::Notification { packet, .. } => _ = client.handle_response(packet),
                    Event::Failed { .. } | Event::Undelivered { .. } => {}
                }
            }
            while end.poll_transmit().is_some() {}
        }
    }
}
