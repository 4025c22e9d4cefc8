//! A client and a server.

use lean_dtls::{Admission, Client, Config, Instant, Psk, Server, Status, Timeouts};

use crate::provider::{Cheap, Window};

/// The address of a client.
pub type Address = [u8; 2];

/// The address of the client.
pub const PEER: Address = [0, 1];

/// The address of somebody else.
pub const STRANGER: Address = [6, 6];

type Keys = [Psk<'static>; 1];

/// A client under test.
pub type TestClient = Client<Keys, Cheap, BUFFER>;

/// A server under test, with two slots.
pub type TestServer = Server<Keys, Cheap, Address, 2, BUFFER>;

const BUFFER: usize = 192;

/// The most datagrams that an end may send in answer to one event: its flight in the smallest datagrams, and some more.
const MOST_AT_ONCE: usize = 64;

/// The longest datagram.
pub const LONGEST: usize = 1024;

fn config(key: &'static [u8], mtu: u16) -> Config<Keys> {
    let keys = [Psk { identity: b"sensor-17", key }];
    Config::new(keys, mtu, Timeouts { initial_ms: 1000, ..Timeouts::default() }).expect("a valid configuration")
}

/// The key that client and server share.
pub const KEY: &[u8] = b"0123456789abcdef";

/// A client that has not started.
pub fn client(seed: u64, key: &'static [u8], mtu: u16) -> (TestClient, Window) {
    let (crypto, window) = Cheap::new(seed);
    (Client::new(config(key, mtu), crypto), window)
}

/// A server without connections.
pub fn server(seed: u64, mtu: u16, admission: Admission) -> (TestServer, Window) {
    let (crypto, window) = Cheap::new(!seed);
    (Server::new(config(KEY, mtu).with_admission(admission), crypto), window)
}

/// All that the client sends now.
pub fn from_client(client: &mut TestClient, now: Instant) -> Vec<Vec<u8>> {
    let mut output = [0; LONGEST];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
        assert!(sent.len() < MOST_AT_ONCE, "the client does not stop");
    }
    sent
}

/// All that the server sends now.
pub fn from_server(server: &mut TestServer, now: Instant) -> Vec<(Address, Vec<u8>)> {
    let mut output = [0; LONGEST];
    let mut sent = Vec::new();
    while let Some((peer, length)) = server.poll_transmit(now, &mut output) {
        sent.push((peer, output[..length].to_vec()));
        assert!(sent.len() < MOST_AT_ONCE, "the server does not stop");
    }
    sent
}

/// Carries what both ends send to the other one, so many times.
pub fn exchange(client: &mut TestClient, server: &mut TestServer, now: Instant, times: usize) {
    for _ in 0..times {
        for mut datagram in from_client(client, now) {
            server.receive(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, now) {
            client.receive(&mut datagram, |_| {});
        }
    }
}

/// True if both have verified each other.
pub fn are_established(client: &TestClient, server: &TestServer) -> bool {
    (client.status(), server.status(PEER)) == (Status::Established, Some(Status::Established))
}
