//! aiocoap and libcoap as peers, over UDP and by the wall clock.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slowhand_coap::block::{self, BlockSize, Step, ask_for};
use slowhand_coap::endpoint::Delivery::{Confirmable, NonConfirmable};
use slowhand_coap::endpoint::{Config, Endpoint, Event, Incoming};
use slowhand_coap::message::{self, MessageClass, Packet, RequestType, ResponseType, Token};
use slowhand_coap::observe::{Observers, deregister, register};
use slowhand_testing::random::Random;

/// Octets of the bodies: more than one block of the largest size.
pub const LENGTH: usize = 2_000;
/// More than any of the tests takes on a slow computer that has other work.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The time for which a socket is listened to before the timers are looked at.
const TICK: Duration = Duration::from_millis(5);
/// The time between the states of the number.
const BETWEEN_NUMBERS: Duration = Duration::from_millis(50);

pub fn body(first: u8) -> Vec<u8> {
    (0..LENGTH).map(|at| first.wrapping_add((at % 83) as u8)).collect()
}

fn new_endpoint(seed: u64) -> Endpoint {
    let mut random = Random::new(seed);
    Endpoint::new(Config::default(), move || random.in_range(0..u64::MAX))
}

/// A program that ends with the test.
pub struct Program(pub Child);

impl Program {
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}; see tools/needs.txt and `./test python`")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The Python of the tests, with aiocoap.
pub fn aiocoap() -> Command {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
    let mut command = Command::new(folder);
    command.arg("-B").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages/aiocoap_peer.py"));
    command
}

pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// This end as a client.
struct Client {
    socket: UdpSocket,
    endpoint: Endpoint,
    begun: Instant,
}

impl Client {
    fn new(port: u16) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(("127.0.0.1", port)).unwrap();
        socket.set_read_timeout(Some(TICK)).unwrap();
        Self { socket, endpoint: new_endpoint(1), begun: Instant::now() }
    }

    fn send(&mut self, packet: Packet) -> Token {
        self.endpoint.request(self.begun.elapsed(), packet, Confirmable).unwrap()
    }

    fn event(&mut self) -> Event {
        loop {
            // The kernel reports an error if the server does not listen yet; the request is sent again.
            while let Some(octets) = self.endpoint.poll_transmit() {
                let _ = self.socket.send(&octets);
            }
            if let Some(event) = self.endpoint.poll_event() {
                return event;
            }
            let mut buffer = [0; 2_048];
            match self.socket.recv(&mut buffer) {
                Ok(length) => self.endpoint.handle_input(self.begun.elapsed(), &buffer[..length]),
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionRefused),
                    "{error}"
                ),
            }
            self.endpoint.handle_timeout(self.begun.elapsed());
            assert!(self.begun.elapsed() < PATIENCE, "the server does not answer");
        }
    }

    /// The response to a request, whose bodies may have many blocks.
    fn response(&mut self, packet: Packet, size: usize) -> Packet {
        let size = BlockSize::new(size).unwrap();
        let (mut transfer, first) = block::Client::new(packet, size, LENGTH).unwrap();
        let mut next = first;
        loop {
            self.send(next);
            let Event::Response { packet, .. } = self.event() else { panic!("a response") };
            match transfer.handle_response(packet) {
                Step::Next(packet) => next = packet,
                Step::Done(response) => return response,
                Step::Failed(error) => panic!("{error}"),
            }
        }
    }

    fn put(&mut self, body: &[u8]) {
        let mut put = message::request(RequestType::Put, "example_data");
        put.payload = body.to_vec();
        let code = self.response(put, 256).header.code;
        assert!(matches!(code, MessageClass::Response(ResponseType::Changed | ResponseType::Created)), "{code}");
    }

    fn get(&mut self, size: usize) -> Vec<u8> {
        let get = message::request(RequestType::Get, "example_data");
        self.response(ask_for(get, BlockSize::new(size).unwrap()), size).payload
    }
}

/// The task of a server of each library: keep what is put into `example_data`, and tell who observes it.
fn puts_gets_and_observes(port: u16) {
    let mut client = Client::new(port);
    client.put(&body(32));
    assert_eq!(client.get(1_024), body(32));
    client.put(&body(33));
    assert_eq!(client.get(64), body(33));
    client.put(b"0");

    let get = || message::request(RequestType::Get, "example_data");
    let token = client.send(register(get()));
    let mut states = vec![];
    loop {
        match client.event() {
            Event::Notification { token: observed, packet } => {
                assert_eq!(observed, token);
                states.push(String::from_utf8(packet.payload).unwrap());
                if states.len() == 4 {
                    break;
                }
                let mut put = message::request(RequestType::Put, "example_data");
                put.payload = states.len().to_string().into();
                client.send(put);
            }
            Event::Response { token: answered, .. } => assert_ne!(answered, token, "it may observe"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(states, ["0", "1", "2", "3"]);
    client.endpoint.request_with(client.begun.elapsed(), token, deregister(get()), Confirmable).unwrap();
    loop {
        match client.event() {
            Event::Response { token: answered, packet } if answered == token => {
                assert_eq!(packet.payload, b"3");
                break;
            }
            // Of the last PUT.
            Event::Response { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn this_client_speaks_with_aiocoap() {
    let port = free_port();
    let mut server = Program::start(aiocoap().args(["server", &port.to_string()]));
    let mut ready = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    puts_gets_and_observes(port);
}

#[test]
fn this_client_speaks_with_libcoap() {
    let port = free_port();
    let mut command = Command::new("coap-server-notls");
    let _server = Program::start(command.args(["-A", "127.0.0.1", "-p", &port.to_string()]));
    puts_gets_and_observes(port);
}

/// The state of this end for each client.
struct Peer {
    endpoint: Endpoint,
    blocks: block::Server,
    observers: Observers<&'static str>,
}

impl Peer {
    fn new(number: usize) -> Self {
        let blocks = block::Server::new(BlockSize::new(256).unwrap(), LENGTH);
        Self { endpoint: new_endpoint(100 + number as u64), blocks, observers: Observers::new(1) }
    }
}

/// This end as a server: `example_data` is what was put last, `number` goes up to 3 as soon as somebody observes it.
struct Server {
    socket: UdpSocket,
    begun: Instant,
    peers: BTreeMap<SocketAddr, Peer>,
    data: Vec<u8>,
    number: u32,
    changes_at: Duration,
}

impl Server {
    fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(TICK)).unwrap();
        Self {
            socket,
            begun: Instant::now(),
            peers: BTreeMap::new(),
            data: vec![],
            number: 0,
            changes_at: Duration::MAX,
        }
    }

    fn port(&self) -> u16 {
        self.socket.local_addr().unwrap().port()
    }

    /// Serves until the program ends, and returns what it has said.
    fn serve(&mut self, mut program: Program) -> String {
        let status = loop {
            self.turn();
            if let Some(status) = program.0.try_wait().unwrap() {
                break status;
            }
            assert!(self.begun.elapsed() < PATIENCE, "the client does not end");
        };
        assert!(status.success(), "{status}");
        std::io::read_to_string(program.0.stdout.take().unwrap()).unwrap()
    }

    fn turn(&mut self) {
        let mut buffer = [0; 2_048];
        let received = self.socket.recv_from(&mut buffer);
        let now = self.begun.elapsed();
        if let Ok((length, from)) = received {
            let number = self.peers.len();
            let mut peer = self.peers.remove(&from).unwrap_or_else(|| Peer::new(number));
            peer.endpoint.handle_input(now, &buffer[..length]);
            while let Some(event) = peer.endpoint.poll_event() {
                match event {
                    Event::Request { from, packet } => self.answer(now, &mut peer, from, packet),
                    Event::Undelivered { token, .. } => peer.observers.end(token),
                    other => panic!("{other:?}"),
                }
            }
            self.peers.insert(from, peer);
        }
        let has_changed = now >= self.changes_at && self.number < 3;
        if has_changed {
            self.number += 1;
            self.changes_at = now + BETWEEN_NUMBERS;
        }
        for (address, peer) in &mut self.peers {
            peer.endpoint.handle_timeout(now);
            if has_changed {
                let delivery = if self.number == 2 { NonConfirmable } else { Confirmable };
                for token in peer.observers.of(&"number").collect::<Vec<_>>() {
                    let state = message::response(ResponseType::Content, self.number.to_string());
                    let notification = peer.observers.notification(state);
                    peer.endpoint.notify(now, token, notification, delivery).unwrap();
                }
            }
            while let Some(octets) = peer.endpoint.poll_transmit() {
                self.socket.send_to(&octets, address).unwrap();
            }
        }
    }

    fn answer(&mut self, now: Duration, peer: &mut Peer, from: Incoming, packet: Packet) {
        let answer = match peer.blocks.receive(now, packet) {
            block::Incoming::Part(answer) => answer,
            block::Incoming::Whole(request) => {
                let response = self.handle(now, peer, &request);
                peer.blocks.send(now, &request, response)
            }
        };
        peer.endpoint.respond(now, from, answer).unwrap();
    }

    fn handle(&mut self, now: Duration, peer: &mut Peer, request: &Packet) -> Packet {
        match (request.header.code, message::path(request).as_str()) {
            (MessageClass::Request(RequestType::Get), "example_data") => {
                message::response(ResponseType::Content, self.data.clone())
            }
            (MessageClass::Request(RequestType::Put), "example_data") => {
                self.data.clone_from(&request.payload);
                message::response(ResponseType::Changed, [])
            }
            (MessageClass::Request(RequestType::Get), "number") => {
                let state = message::response(ResponseType::Content, self.number.to_string());
                if !peer.observers.handle_request(request, "number") {
                    return state;
                }
                self.changes_at = now + BETWEEN_NUMBERS;
                peer.observers.notification(state)
            }
            _ => message::response(ResponseType::NotFound, []),
        }
    }
}

#[test]
fn this_server_speaks_with_aiocoap() {
    let (mut server, up) = (Server::new(), file("aiocoap-up"));
    std::fs::write(&up, body(32)).unwrap();
    let client = Program::start(aiocoap().args(["client", &server.port().to_string()]).arg(up));
    assert_eq!(server.serve(client), "[0, 1, 2, 3]\n");
    assert_eq!(server.data, body(32));
}

#[test]
fn this_server_speaks_with_libcoap() {
    let (mut server, up, down) = (Server::new(), file("libcoap-up"), file("libcoap-down"));
    std::fs::write(&up, body(32)).unwrap();
    let uri = format!("coap://127.0.0.1:{}", server.port());
    let client = || Command::new("coap-client-notls");
    let data = format!("{uri}/example_data");
    server.serve(Program::start(client().args(["-m", "put", "-f"]).arg(up).arg(&data)));
    assert_eq!(server.data, body(32));
    server.serve(Program::start(client().arg("-o").arg(&down).arg(&data)));
    assert_eq!(std::fs::read(down).unwrap(), body(32));
    // It observes for two seconds.
    let said = server.serve(Program::start(client().args(["-s", "2"]).arg(format!("{uri}/number"))));
    let digits: String = said.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits, "0123", "{said}");
    assert!(server.peers.values().all(|peer| peer.observers.of(&"number").next().is_none()), "it has ended that");
}
