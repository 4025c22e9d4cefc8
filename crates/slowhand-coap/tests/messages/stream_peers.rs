//! aiocoap and libcoap as peers, over TCP and by the wall clock.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use slowhand_coap::block::{self, BlockSize, Step, ask_for};
use slowhand_coap::message::{self, MessageClass, Packet, RequestType, ResponseType};
use slowhand_coap::observe::register;
use slowhand_coap::stream::{Config, Connection, Event};
use slowhand_testing::random::Random;

use crate::peers::{LENGTH, PATIENCE, Program, aiocoap, body, file, free_port};

/// The time for which a connection is listened to before anything else is looked at.
const TICK: Duration = Duration::from_millis(5);

/// One end of a connection.
struct Link {
    stream: TcpStream,
    connection: Connection,
    begun: Instant,
    is_closed: bool,
}

impl Link {
    fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(TICK)).unwrap();
        let mut random = Random::new(1);
        let mut connection = Connection::new(Config::default(), move || random.in_range(0..u64::MAX));
        connection.open();
        Self { stream, connection, begun: Instant::now(), is_closed: false }
    }

    /// Connects to a server that is starting.
    fn connect(port: u16) -> Self {
        let begun = Instant::now();
        loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => return Self::new(stream),
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            std::thread::sleep(TICK);
        }
    }

    /// Sends what there is, and takes what comes.
    fn turn(&mut self) {
        while let Some(octets) = self.connection.poll_transmit() {
            // The peer may be gone.
            let _ = self.stream.write_all(&octets);
        }
        // Few octets, so that messages come in parts.
        let mut buffer = [0; 700];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.is_closed = length == 0;
                self.connection.handle_input(&buffer[..length]);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => self.is_closed = true,
        }
        assert!(self.begun.elapsed() < PATIENCE, "the peer does not answer");
    }

    fn event(&mut self) -> Event {
        loop {
            if let Some(event) = self.connection.poll_event() {
                return event;
            }
            assert!(!self.is_closed, "the peer has closed the connection");
            self.turn();
        }
    }

    /// The response to a request, whose bodies may have many blocks.
    fn response(&mut self, packet: Packet, size: usize) -> Packet {
        let (mut transfer, first) = block::Client::new(packet, BlockSize::new(size).unwrap(), LENGTH).unwrap();
        let mut next = first;
        loop {
            self.connection.request(next).unwrap();
            let Event::Response { packet, .. } = self.event() else { panic!("a response") };
            match transfer.handle_response(packet) {
                Step::Next(packet) => next = packet,
                Step::Done(response) => return response,
                Step::Failed(error) => panic!("{error}"),
            }
        }
    }
}

/// Each server keeps what is put into `example_data`, and answers a Ping.
fn puts_gets_and_pings(port: u16) {
    let mut client = Link::connect(port);
    for (size, first) in [(1_024, 32), (64, 33)] {
        let mut put = message::request(RequestType::Put, "example_data");
        put.payload = body(first);
        let code = client.response(put, size).header.code;
        assert!(matches!(code, MessageClass::Response(ResponseType::Changed | ResponseType::Created)), "{code}");
        let get = ask_for(message::request(RequestType::Get, "example_data"), BlockSize::new(size).unwrap());
        assert_eq!(client.response(get, size).payload, body(first));
    }
    client.connection.ping().unwrap();
    assert_eq!(client.event(), Event::Pong);
    client.connection.release();
    client.turn();
}

/// The server tells who observes `example_data` what is put into it (RFC 8323 section 7).
fn observes(port: u16) {
    let mut client = Link::connect(port);
    let put = |client: &mut Link, text: &str| {
        let mut put = message::request(RequestType::Put, "example_data");
        put.payload = text.into();
        client.connection.request(put).unwrap();
    };
    put(&mut client, "18.5 Cel");
    assert!(matches!(client.event(), Event::Response { .. }));
    client.connection.request(register(message::request(RequestType::Get, "example_data"))).unwrap();
    for (state, next) in [("18.5 Cel", "19.2 Cel"), ("19.2 Cel", "19.7 Cel")] {
        let state_of = |event| match event {
            Event::Notification { packet, .. } => Some(packet.payload),
            _ => None,
        };
        // The answer to a PUT may come before or after it.
        let found = (0..2).find_map(|_| state_of(client.event()));
        assert_eq!(found, Some(state.into()));
        put(&mut client, next);
    }
}

#[test]
fn this_client_speaks_with_aiocoap_over_tcp() {
    let port = free_port();
    let mut server = Program::start(aiocoap().args(["tcp-server", &port.to_string()]));
    let mut ready = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    puts_gets_and_pings(port);
    observes(port);
}

#[test]
fn this_client_speaks_with_libcoap_over_tcp() {
    let port = free_port();
    let mut command = Command::new("coap-server-notls");
    let _server = Program::start(command.args(["-A", "127.0.0.1", "-p", &port.to_string()]));
    puts_gets_and_pings(port);
}

/// Serves `data` until the program ends. Returns what was put last.
fn serve(listener: &TcpListener, mut program: Program, mut data: Vec<u8>) -> Vec<u8> {
    let (stream, _) = listener.accept().unwrap();
    let mut link = Link::new(stream);
    let mut blocks = block::Server::new(BlockSize::LARGEST, LENGTH);
    let status = loop {
        link.turn();
        let now = link.begun.elapsed();
        while let Some(event) = link.connection.poll_event() {
            match event {
                Event::Request { from, packet } => {
                    let answer = match blocks.receive(now, packet) {
                        block::Incoming::Part(answer) => answer,
                        block::Incoming::Whole(request) => {
                            let response = handle(&request, &mut data);
                            blocks.send(now, &request, response)
                        }
                    };
                    link.connection.respond(&from, answer).unwrap();
                }
                Event::Released | Event::Ended(_) => {}
                other => panic!("{other:?}"),
            }
        }
        if let Some(status) = program.0.try_wait().unwrap() {
            break status;
        }
    };
    assert!(status.success(), "{status}");
    data
}

fn handle(request: &Packet, data: &mut Vec<u8>) -> Packet {
    match (request.header.code, message::path(request).as_str()) {
        (MessageClass::Request(RequestType::Get), "example_data") => {
            message::response(ResponseType::Content, data.clone())
        }
        (MessageClass::Request(RequestType::Put), "example_data") => {
            data.clone_from(&request.payload);
            message::response(ResponseType::Changed, [])
        }
        _ => message::response(ResponseType::NotFound, []),
    }
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[test]
fn this_server_speaks_with_aiocoap_over_tcp() {
    let ((listener, port), up) = (listener(), file("aiocoap-tcp-up"));
    std::fs::write(&up, body(32)).unwrap();
    let client = Program::start(aiocoap().args(["tcp-client", &port.to_string()]).arg(up));
    assert_eq!(serve(&listener, client, vec![]), body(32));
}

#[test]
fn this_server_speaks_with_libcoap_over_tcp() {
    let ((listener, port), up, down) = (listener(), file("libcoap-tcp-up"), file("libcoap-tcp-down"));
    std::fs::write(&up, body(32)).unwrap();
    let uri = format!("coap+tcp://127.0.0.1:{port}/example_data");
    let client = || Command::new("coap-client-notls");
    let put = Program::start(client().args(["-m", "put", "-f"]).arg(up).arg(&uri));
    let data = serve(&listener, put, vec![]);
    assert_eq!(data, body(32));
    serve(&listener, Program::start(client().arg("-o").arg(&down).arg(&uri)), data);
    assert_eq!(std::fs::read(down).unwrap(), body(32));
}
