//! Clients and a server in memory, and a network between them that a test commands.

use std::collections::VecDeque;

use lean_dtls::{Client, Config, Instant, Psk, RustCrypto, Server, Status, Timeouts, Versions};
use proptest::prelude::*;

pub type Address = [u8; 2];
pub type Keys = [Psk<'static>; 1];
pub type Random = Box<dyn FnMut(&mut [u8])>;
pub type TestClient = Client<Keys, RustCrypto<Random>, 384>;
pub type TestServer = Server<Keys, RustCrypto<Random>, Address, 2, 384>;

pub const KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
pub const PEER: Address = [0, 1];

/// A sequence of octets that looks random: xorshift64.
pub fn random(seed: u64) -> Random {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Box::new(move |octets: &mut [u8]| {
        for octet in octets {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *octet = state as u8;
        }
    })
}

pub fn config(keys: Keys, mtu: u16) -> Config<Keys> {
    let timeouts = Timeouts { initial_ms: 1000, ..Timeouts::default() };
    Config::new(keys, mtu, timeouts).unwrap().with_versions(Versions::Dtls13)
}

pub fn client(seed: u64, config: Config<Keys>) -> TestClient {
    Client::new(config, RustCrypto::new(random(seed)))
}

pub fn server(config: Config<Keys>) -> TestServer {
    Server::new(config, RustCrypto::new(random(99)))
}

/// All that the client sends now.
pub fn from_client(client: &mut TestClient, now: Instant) -> Vec<Vec<u8>> {
    let mut output = [0; 600];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

/// All that the server sends now.
pub fn from_server(server: &mut TestServer, now: Instant) -> Vec<Vec<u8>> {
    let mut output = [0; 600];
    let mut sent = Vec::new();
    while let Some((_, length)) = server.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

/// What the network does with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Twice,
    /// It arrives after the next one.
    Late,
}

/// What a network does to the first datagrams. It drops fewer than an end sends before it gives up: 8.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![3 => Just(Fate::Pass), 2 => Just(Fate::Drop), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)];
    let fates = proptest::collection::vec(fate, 0..16);
    fates.prop_filter("at most 7 are lost", |fates| fates.iter().filter(|fate| **fate == Fate::Drop).count() < 8)
}

/// Replaces octets that are there once by others of the same length. Returns false if they are not there.
pub fn replace(datagram: &mut [u8], old: &[u8], new: &[u8]) -> bool {
    let place = datagram.windows(old.len()).position(|window| window == old);
    place.is_some_and(|place| {
        datagram[place..][..new.len()].copy_from_slice(new);
        true
    })
}

/// What was sent: when, by whom, and its octets.
pub type Trace = Vec<(u64, bool, Vec<u8>)>;

/// Runs both ends through a network with these fates, then with none, until nothing more happens. Returns what was sent, and
/// the time in milliseconds.
pub fn run(client: &mut TestClient, server: &mut TestServer, fates: impl IntoIterator<Item = Fate>) -> (Trace, u64) {
    let mut fates = fates.into_iter();
    let mut now = Instant::from_millis(0);
    let mut flying: VecDeque<(bool, Vec<u8>)> = VecDeque::new();
    let mut late: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut trace = Trace::new();
    client.connect();
    loop {
        let to_server = from_client(client, now).into_iter().map(|datagram| (true, datagram));
        let to_client = from_server(server, now).into_iter().map(|datagram| (false, datagram));
        for sent in to_server.chain(to_client).collect::<Vec<_>>() {
            trace.push((now.as_millis(), sent.0, sent.1.clone()));
            assert!(trace.len() < 1000, "the ends answer each other for ever");
            match fates.next().unwrap_or(Fate::Pass) {
                Fate::Pass => flying.push_back(sent),
                Fate::Drop => {}
                Fate::Twice => flying.extend([sent.clone(), sent]),
                Fate::Late => {
                    late.push(sent);
                    continue;
                }
            }
            flying.extend(late.drain(..));
        }
        if flying.is_empty() {
            flying.extend(late.drain(..));
        }
        if let Some((is_to_server, mut datagram)) = flying.pop_front() {
            match is_to_server {
                true => server.receive(PEER, &mut datagram, |_| {}),
                false => client.receive(&mut datagram, |_| {}),
            }
        } else {
            let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else {
                return (trace, now.as_millis());
            };
            now = deadline;
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
}

/// A client and a server with a connection.
pub fn established() -> (TestClient, TestServer) {
    let (mut client, mut server) = (client(1, config(KEYS, 256)), server(config(KEYS, 256)));
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}

/// What arrives at the server of these data.
pub fn to_server(client: &mut TestClient, server: &mut TestServer, data: &[u8]) -> Vec<u8> {
    let (mut datagram, mut received) = ([0; 600], Vec::new());
    let length = client.send(data, &mut datagram).unwrap();
    server.receive(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
    received
}

/// What arrives at the client of these data.
pub fn to_client(client: &mut TestClient, server: &mut TestServer, data: &[u8]) -> Vec<u8> {
    let (mut datagram, mut received) = ([0; 600], Vec::new());
    let length = server.send(PEER, data, &mut datagram).unwrap();
    client.receive(&mut datagram[..length], |data| received.extend_from_slice(data));
    received
}
