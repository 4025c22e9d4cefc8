//! Two endpoints, with each datagram lost, doubled or late. The retransmissions of CoAP are those of EDHOC.

use std::time::Duration;

use slowhand_coap::edhoc::{Transfer, combined};
use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event};

use super::{CRED_I, CRED_R, Client, Flow, Server, X, Y, credential, initiator, responder, with_key};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Lost,
    Doubled,
    /// The copy comes after all else.
    Repeated,
    /// So late that it has been sent again, and answered.
    Late,
}

const ON_ITS_WAY: Duration = Duration::from_millis(100);
const LATE: Duration = Duration::from_secs(5);
const AFTER_ALL: Duration = Duration::from_secs(60);

/// A client and a server. The datagram with this number has this fault. Gives how many there were.
fn run(flow: Flow, has_message_4: bool, number: usize, fault: Fault) -> usize {
    let config = Config { critical_options: vec![combined::OPTION], ..Config::default() };
    let mut endpoints = [7, 9].map(|random| Endpoint::new(config.clone(), move || random));
    let own = responder(Transfer::Reference);
    let mut server = Server::new(own, credential(CRED_I), has_message_4, with_key(Y));
    let (mut client, first) = Client::start(initiator(Transfer::Reference), credential(CRED_R), flow, with_key(X));
    let (mut now, mut sent, mut under_way) = (Duration::ZERO, 0, Vec::new());
    endpoints[0].request(now, first, Delivery::Confirmable).unwrap();
    loop {
        for (from, endpoint) in endpoints.iter_mut().enumerate() {
            while let Some(event) = endpoint.poll_event() {
                match event {
                    Event::Request { from, packet } => endpoint.respond(now, from, server.answer(&packet)).unwrap(),
                    Event::Response { packet, .. } => {
                        if let Some(next) = client.receive(&packet) {
                            endpoint.request(now, next, Delivery::Confirmable).unwrap();
                        }
                    }
                    other => panic!("{other:?}"),
                }
            }
            while let Some(datagram) = endpoint.poll_transmit() {
                let fault = if sent == number { fault } else { Fault::None };
                let delays: &[Duration] = match fault {
                    Fault::None => &[ON_ITS_WAY],
                    Fault::Lost => &[],
                    Fault::Doubled => &[ON_ITS_WAY, ON_ITS_WAY],
                    Fault::Repeated => &[ON_ITS_WAY, AFTER_ALL],
                    Fault::Late => &[LATE],
                };
                under_way.extend(delays.iter().map(|delay| (now + *delay, 1 - from, datagram.clone())));
                sent += 1;
            }
        }
        let arrival = under_way.iter().map(|(at, ..)| *at).min();
        let timer = endpoints.iter().filter_map(Endpoint::deadline).min();
        let Some(next) = arrival.into_iter().chain(timer).min() else { break };
        now = next;
        while let Some(place) = under_way.iter().position(|(at, ..)| *at == now) {
            let (_, to, datagram) = under_way.remove(place);
            endpoints[to].handle_input(now, &datagram);
        }
        endpoints.iter_mut().for_each(|endpoint| endpoint.handle_timeout(now));
    }
    assert_eq!(client.answer().payload, b"21.5", "{flow:?}, {fault:?} of datagram {number}");
    assert_eq!(
        server.processed, 2,
        "each message of EDHOC is processed once: {flow:?}, {fault:?} of datagram {number}"
    );
    sent
}

#[test]
fn a_session_survives_what_happens_to_each_datagram() {
    for (flow, has_message_4, datagrams) in
        [(Flow::Combined, false, 4), (Flow::Sequential, false, 6), (Flow::Sequential, true, 6)]
    {
        assert_eq!(run(flow, has_message_4, usize::MAX, Fault::None), datagrams, "{flow:?}: two for each round trip");
        for number in 0..datagrams {
            for fault in [Fault::Lost, Fault::Doubled, Fault::Repeated, Fault::Late] {
                run(flow, has_message_4, number, fault);
            }
        }
    }
}
