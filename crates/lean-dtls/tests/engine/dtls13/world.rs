//! Clients and a server in memory.

use lean_dtls::{Client, Config, Instant, Psk, RustCrypto, Server, Status, Timeouts, Versions};
use proptest::prelude::*;

use crate::network;
use crate::network::At as _;
pub use crate::network::{Address, Fate, PEER, Random, Trace, from_client, random, replace, run};

pub type Keys = [Psk<'static>; 1];
pub type TestClient = Client<Keys, RustCrypto<Random>, 384>;
pub type TestServer = Server<Keys, RustCrypto<Random>, Address, 2, 384>;

pub const KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];

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

/// All that the server sends now.
pub fn from_server(server: &mut TestServer, now: Instant) -> Vec<Vec<u8>> {
    network::from_server(server, now).into_iter().map(|(_, datagram)| datagram).collect()
}

/// Fates of the first datagrams in a network. It drops fewer than an end sends before it gives up: 8.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![3 => Just(Fate::Pass), 2 => Just(Fate::Drop), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)];
    let fates = proptest::collection::vec(fate, 0..16);
    fates.prop_filter("at most 7 are lost", |fates| fates.iter().filter(|fate| **fate == Fate::Drop).count() < 8)
}

/// A client and a server with a connection.
pub fn established() -> (TestClient, TestServer) {
    let (mut client, mut server) = (client(1, config(KEYS, 256)), server(config(KEYS, 256)));
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}

/// Returns what arrives at the server of these data.
pub fn to_server(client: &mut TestClient, server: &mut TestServer, data: &[u8]) -> Vec<u8> {
    let (mut datagram, mut received) = ([0; 600], Vec::new());
    let length = client.send(data, &mut datagram).unwrap();
    server.hear(PEER, &mut datagram[..length], |data| received.extend_from_slice(data));
    received
}

/// Returns what arrives at the client of these data.
pub fn to_client(client: &mut TestClient, server: &mut TestServer, data: &[u8]) -> Vec<u8> {
    let (mut datagram, mut received) = ([0; 600], Vec::new());
    let length = server.send_at(PEER, data, &mut datagram).unwrap();
    client.receive(&mut datagram[..length], |data| received.extend_from_slice(data));
    received
}
