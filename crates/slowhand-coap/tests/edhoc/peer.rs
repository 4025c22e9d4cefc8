//! aiocoap, with lakers for Python below it, as a peer over UDP: our client at its server, and its client at our server.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slowhand_coap::edhoc::{Transfer, combined};
use slowhand_coap::endpoint::{Config, Delivery, Endpoint, Event};

use super::{CRED_I, CRED_R, Client, Flow, Server, State, X, Y, credential, initiator, responder, with_key};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/edhoc/peer.py");

/// The time that a peer may take.
const PATIENCE: Duration = Duration::from_secs(40);

fn start(arguments: &[&str]) -> Child {
    let mut python = Command::new(PYTHON);
    python.arg("-B").arg(SCRIPT).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    python.spawn().unwrap_or_else(|error| panic!("{PYTHON}: {error}: install aiocoap with ./test python"))
}

fn style(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Reference => "by-key-id",
        Transfer::Value => "by-value",
    }
}

/// An endpoint with a socket and the wall clock.
struct End {
    socket: UdpSocket,
    endpoint: Endpoint,
    begin: Instant,
}

impl End {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let config = Config { critical_options: vec![combined::OPTION], ..Config::default() };
        Self { socket, endpoint: Endpoint::new(config, || 0x1234_5678), begin: Instant::now() }
    }

    /// Sends what there is, and waits a little for a datagram.
    fn step(&mut self) -> Vec<Event> {
        assert!(self.begin.elapsed() < PATIENCE, "the peer does not answer");
        while let Some(datagram) = self.endpoint.poll_transmit() {
            self.socket.send(&datagram).unwrap();
        }
        let mut buffer = [0; 2_000];
        if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.socket.connect(from).unwrap();
            self.endpoint.handle_input(self.begin.elapsed(), &buffer[..length]);
        }
        self.endpoint.handle_timeout(self.begin.elapsed());
        std::iter::from_fn(|| self.endpoint.poll_event()).collect()
    }
}

#[test]
fn our_client_speaks_with_the_server_of_aiocoap() {
    let mut python = start(&["server", style(Transfer::Value)]);
    let mut port = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut port).unwrap();
    for flow in [Flow::Sequential, Flow::Combined] {
        for own in [Transfer::Reference, Transfer::Value] {
            let mut end = End::new();
            end.socket.connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
            let (mut client, first) = Client::start(initiator(own), credential(CRED_R), flow, with_key(X));
            end.endpoint.request(end.begin.elapsed(), first, Delivery::Confirmable).unwrap();
            while !matches!(client.state, State::Done(_) | State::Failed(_)) {
                for event in end.step() {
                    let Event::Response { packet, .. } = event else { panic!("{event:?}") };
                    if let Some(next) = client.receive(&packet) {
                        end.endpoint.request(end.begin.elapsed(), next, Delivery::Confirmable).unwrap();
                    }
                }
            }
            assert_eq!(client.answer().payload, b"21.5", "{flow:?}, {own:?}");
        }
    }
    drop(python.stdin.take());
    assert!(python.wait().unwrap().success());
}

#[test]
fn the_client_of_aiocoap_speaks_with_our_server() {
    for (flow, own, peer) in
        [("combined", Transfer::Reference, Transfer::Value), ("sequential", Transfer::Value, Transfer::Reference)]
    {
        let mut end = End::new();
        let has_message_4 = flow == "sequential";
        let mut server = Server::new(responder(own), credential(CRED_I), has_message_4, with_key(Y));
        let port = end.socket.local_addr().unwrap().port().to_string();
        let mut python = start(&["client", style(peer), flow, &port]);
        while python.try_wait().unwrap().is_none() {
            for event in end.step() {
                let Event::Request { from, packet } = event else { panic!("{event:?}") };
                end.endpoint.respond(end.begin.elapsed(), from, server.answer(&packet)).unwrap();
            }
        }
        let said: Vec<String> = BufReader::new(python.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
        assert_eq!((said, server.processed), (vec!["2.05 21.5".to_owned()], 2), "{flow}, {own:?}");
    }
}
