//! aiocoap as a peer over UDP: our client at its server, and its client at our server. Both servers have just restarted, so
//! each first request is answered with the Echo option.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};
use slowhand_coap::oscore::{ClientExchange, Context, Incoming, Parameters, RustCrypto, ServerExchange, echo};

use super::{CLIENT, derived, mirrored};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oscore/aiocoap_peer.py");

/// A body of so many octets takes blocks, the same as in the script.
fn long() -> Vec<u8> {
    (0..2_000).map(|place| (place % 251) as u8).collect()
}

/// Blocks of 2^(4 + 5) octets (RFC 7959, section 2.2).
const SIZE_EXPONENT: u32 = 5;
const BLOCK: usize = 512;

fn start(arguments: &[&str]) -> Child {
    let mut python = Command::new(PYTHON);
    python.arg("-B").arg(SCRIPT).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    python.spawn().unwrap_or_else(|error| panic!("{PYTHON}: {error}: install aiocoap with ./test python"))
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// A Block option: its number, if more follow, and its size.
fn block(number: u32, more: bool) -> Vec<u8> {
    let value = (number << 4 | u32::from(more) << 3 | SIZE_EXPONENT).to_be_bytes();
    value[value.iter().position(|octet| *octet != 0).unwrap_or(3)..].to_vec()
}

/// The position and the size of a block in octets, and if more follow.
fn block_of(message: &Packet, option: CoapOption) -> Option<(usize, usize, bool)> {
    let value = message.get_first_option(option)?.iter().fold(0_usize, |value, octet| value << 8 | usize::from(*octet));
    let size = 16 << (value & 7);
    Some(((value >> 4) * size, size, value & 8 != 0))
}

fn to_request(method: RequestType) -> Packet {
    let mut request = Packet::new();
    request.header.code = MessageClass::Request(method);
    request.add_option(CoapOption::UriPath, b"a".to_vec());
    request
}

/// Our client.
struct Client {
    socket: UdpSocket,
    context: Context,
    message_id: u16,
    challenges: usize,
}

impl Client {
    /// Protects and sends a request, as a message of its own.
    fn send(&mut self, request: &mut Packet) -> ClientExchange {
        self.message_id += 1;
        request.header.message_id = self.message_id;
        request.set_token(self.message_id.to_be_bytes().to_vec());
        let (protected, exchange) = self.context.protect_request(request, &mut RustCrypto).unwrap();
        self.socket.send(&protected.to_bytes().unwrap()).unwrap();
        exchange
    }

    /// The next response with the token of `request`. What has come late of others is acknowledged.
    fn receive(&mut self, request: &Packet, exchange: &mut ClientExchange) -> Packet {
        loop {
            let mut buffer = [0; 2_000];
            let length = self.socket.recv(&mut buffer).unwrap();
            let received = Packet::from_bytes(&buffer[..length]).unwrap();
            if received.header.get_type() == MessageType::Confirmable {
                let mut acknowledgement = Packet::new();
                acknowledgement.header.set_type(MessageType::Acknowledgement);
                acknowledgement.header.code = MessageClass::Empty;
                acknowledgement.header.message_id = received.header.message_id;
                self.socket.send(&acknowledgement.to_bytes().unwrap()).unwrap();
            }
            if received.header.code != MessageClass::Empty && received.get_token() == request.get_token() {
                return self.context.unprotect_response(&received, exchange, &mut RustCrypto).unwrap();
            }
        }
    }

    /// The response to a request, which is repeated once if the server asks for the Echo option.
    fn ask(&mut self, mut request: Packet) -> Packet {
        let mut exchange = self.send(&mut request);
        let response = self.receive(&request, &mut exchange);
        let Some(mut again) = echo::answer(&request, &response) else { return response };
        self.challenges += 1;
        let mut exchange = self.send(&mut again);
        self.receive(&again, &mut exchange)
    }

    fn get(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut request = to_request(RequestType::Get);
            request.add_option(CoapOption::Block2, block((body.len() / BLOCK) as u32, false));
            let response = self.ask(request);
            assert_eq!(response.header.code, MessageClass::Response(ResponseType::Content));
            body.extend_from_slice(&response.payload);
            match block_of(&response, CoapOption::Block2) {
                Some((at, _, true)) => assert_eq!(at + BLOCK, body.len()),
                _ => return body,
            }
        }
    }

    fn put(&mut self, body: &[u8]) {
        let blocks: Vec<&[u8]> = body.chunks(BLOCK).collect();
        for (number, payload) in blocks.iter().enumerate() {
            let mut request = to_request(RequestType::Put);
            request.payload = payload.to_vec();
            let more = number + 1 < blocks.len();
            if blocks.len() > 1 {
                request.add_option(CoapOption::Block1, block(number as u32, more));
            }
            let expected = if more { ResponseType::Continue } else { ResponseType::Changed };
            assert_eq!(self.ask(request).header.code, MessageClass::Response(expected));
        }
    }
}

#[test]
fn our_client_speaks_with_the_server_of_aiocoap() {
    let mut python = start(&["server", "01", "", "-"]);
    let mut port = String::new();
    BufReader::new(python.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let socket = socket();
    socket.connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
    let mut client = Client { socket, context: derived(&CLIENT), message_id: 0, challenges: 0 };

    client.put(b"21.5");
    assert_eq!(client.challenges, 1);
    assert_eq!(client.get(), b"21.5");
    client.put(&long());
    assert_eq!(client.get(), long());
    client.put(b"first");

    let mut registration = to_request(RequestType::Get);
    registration.set_observe_value(0);
    let mut observing = client.send(&mut registration);
    let first = client.receive(&registration, &mut observing);
    assert_eq!((&first.payload[..], first.get_observe_value()), (&b"first"[..], Some(Ok(0))));
    let mut latest = 0;
    for body in [b"second", &b"third"[..], b"fourth"] {
        // Nobody waits for the answer: it comes before the notification or after it.
        let mut request = to_request(RequestType::Put);
        request.payload = body.to_vec();
        client.send(&mut request);
        let notification = client.receive(&registration, &mut observing);
        let number = notification.get_observe_value().unwrap().unwrap();
        assert_eq!((&notification.payload[..], number > latest), (body, true));
        latest = number;
    }
    assert_eq!(client.challenges, 1);
    drop(python.stdin.take());
    assert!(python.wait().unwrap().success());
}

/// Our server: one resource, and who observes it.
struct Server {
    socket: UdpSocket,
    context: Context,
    content: Vec<u8>,
    /// The blocks of a body so far.
    body: Vec<u8>,
    observers: Vec<(SocketAddr, Vec<u8>, ServerExchange)>,
    /// Of messages that are not answers.
    message_id: u16,
    challenges: usize,
    blocks: usize,
}

impl Server {
    fn send(&self, message: &Packet, to: SocketAddr) {
        self.socket.send_to(&message.to_bytes().unwrap(), to).unwrap();
    }

    fn receive(&mut self, octets: &[u8], from: SocketAddr) {
        let received = Packet::from_bytes(octets).unwrap();
        if received.header.code == MessageClass::Empty {
            return;
        }
        assert_eq!(received.header.get_type(), MessageType::Confirmable);
        match self.context.unprotect_request(&received, &mut RustCrypto).unwrap() {
            Incoming::Challenge(answer) => {
                self.challenges += 1;
                self.send(&answer, from);
            }
            Incoming::Request(request, mut exchange) => {
                let answer = self.answer(&request);
                let protected = self.context.protect_response(&answer, &mut exchange, &mut RustCrypto).unwrap();
                self.send(&protected, from);
                if answer.get_first_option(CoapOption::Observe).is_some() {
                    self.observers.push((from, request.get_token().to_vec(), exchange));
                }
                if answer.header.code == MessageClass::Response(ResponseType::Changed) {
                    self.notify();
                }
            }
        }
    }

    fn answer(&mut self, request: &Packet) -> Packet {
        assert_eq!(request.get_first_option(CoapOption::UriPath), Some(&b"a".to_vec()));
        match request.header.code {
            MessageClass::Request(RequestType::Put) => self.put(request),
            MessageClass::Request(RequestType::Get) => self.get(request),
            code => panic!("{code}"),
        }
    }

    fn put(&mut self, request: &Packet) -> Packet {
        let (at, _, more) = block_of(request, CoapOption::Block1).unwrap_or((0, 0, false));
        self.body.truncate(at);
        assert_eq!(self.body.len(), at);
        self.body.extend_from_slice(&request.payload);
        self.blocks += usize::from(more);
        let code = if more { ResponseType::Continue } else { ResponseType::Changed };
        if !more {
            self.content = std::mem::take(&mut self.body);
        }
        let mut answer = super::response(request, code, b"");
        if let Some(block) = request.get_first_option(CoapOption::Block1) {
            answer.add_option(CoapOption::Block1, block.clone());
        }
        answer
    }

    fn get(&self, request: &Packet) -> Packet {
        let (at, size, _) = block_of(request, CoapOption::Block2).unwrap_or((0, BLOCK, false));
        let end = self.content.len().min(at + size.min(BLOCK));
        let mut answer = super::response(request, ResponseType::Content, &self.content[at..end]);
        if self.content.len() > BLOCK {
            answer.add_option(CoapOption::Block2, block((at / BLOCK) as u32, end < self.content.len()));
        }
        if request.get_observe_value() == Some(Ok(0)) {
            answer.set_observe_value(0);
        }
        answer
    }

    fn notify(&mut self) {
        let mut observers = std::mem::take(&mut self.observers);
        for (to, token, exchange) in &mut observers {
            self.message_id += 1;
            let mut notification = Packet::new();
            notification.header.code = MessageClass::Response(ResponseType::Content);
            notification.header.set_type(MessageType::NonConfirmable);
            notification.header.message_id = self.message_id;
            notification.set_token(token.clone());
            notification.set_observe_value(self.message_id.into());
            notification.payload.clone_from(&self.content);
            let protected = self.context.protect_response(&notification, exchange, &mut RustCrypto).unwrap();
            self.send(&protected, *to);
        }
        self.observers = observers;
    }
}

#[test]
fn the_client_of_aiocoap_speaks_with_our_server() {
    let parameters = Parameters { id_context: Some(b"lab"), sender_id: &[7], ..CLIENT };
    let socket = socket();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    let mut python = start(&["client", "07", "01", "6c6162", &port]);
    let context = derived(&mirrored(&parameters)).after_restart(500, *b"restart2");
    let mut server = Server {
        socket,
        context,
        content: Vec::new(),
        body: Vec::new(),
        observers: Vec::new(),
        message_id: 0,
        challenges: 0,
        blocks: 0,
    };
    while python.try_wait().unwrap().is_none() {
        let mut buffer = [0; 2_000];
        if let Ok((length, from)) = server.socket.recv_from(&mut buffer) {
            server.receive(&buffer[..length], from);
        }
    }
    let status = python.wait().unwrap();
    let said: Vec<String> = BufReader::new(python.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    let expected = [
        "2.04",
        "2.05 21.5",
        "2.04",
        "2.05 LONG",
        "2.04",
        "2.05 first",
        "2.04",
        "2.05 second",
        "2.04",
        "2.05 third",
        "2.04",
        "2.05 fourth",
    ];
    assert_eq!((said, status.success()), (expected.map(str::to_owned).to_vec(), true));
    assert_eq!((server.challenges, server.blocks), (1, 1));
    assert_eq!(server.content, b"fourth");
}
