//! Clients and a server in memory.

use lean_dtls::{Admission, Client, Config, Instant, Psk, RustCrypto, Server, Status, Timeouts};

use crate::network;
use crate::network::At as _;
pub use crate::network::{Address, Fate, PEER, Random, from_client, from_server, random, replace};

pub type Keys = [Psk<'static>; 1];
pub type TestClient<K = Keys> = Client<K, RustCrypto<Random>, 192>;
pub type TestServer<K = Keys> = Server<K, RustCrypto<Random>, Address, 2, 192>;

pub const KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
pub const OTHER_KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdeF" }];

pub fn config(keys: Keys, mtu: u16) -> Config<Keys> {
    Config::new(keys, mtu, Timeouts { initial_ms: 1000, ..Timeouts::default() }).unwrap()
}

/// A client and a server with these changes to their configurations.
pub fn pair(
    client: impl FnOnce(Config<Keys>) -> Config<Keys>,
    server: impl FnOnce(Config<Keys>) -> Config<Keys>,
) -> (TestClient, TestServer) {
    let client = Client::new(client(config(KEYS, 256)), RustCrypto::new(random(1)));
    (client, Server::new(server(config(KEYS, 256)), RustCrypto::new(random(99))))
}

/// Runs a handshake without losses through somebody on the path, who changes each datagram: true if it goes to the server.
/// Returns all datagrams as they were sent.
pub fn run_through(
    client: &mut TestClient,
    server: &mut TestServer,
    mut change: impl FnMut(bool, &mut Vec<u8>),
) -> Vec<Vec<u8>> {
    let now = Instant::from_millis(0);
    let mut sent = Vec::new();
    client.connect();
    for _ in 0..5 {
        for mut datagram in from_client(client, now) {
            sent.push(datagram.clone());
            change(true, &mut datagram);
            server.hear(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, now) {
            sent.push(datagram.clone());
            change(false, &mut datagram);
            client.receive(&mut datagram, |_| {});
        }
    }
    sent
}

pub fn client(seed: u64, mtu: u16) -> TestClient {
    Client::new(config(KEYS, mtu), RustCrypto::new(random(seed)))
}

pub fn server(mtu: u16, admission: Admission) -> TestServer {
    Server::new(config(KEYS, mtu).with_admission(admission), RustCrypto::new(random(99)))
}

/// Runs a handshake through a network with these fates, then with none, until nothing more happens. Returns the time in
/// milliseconds.
pub fn run<K: lean_dtls::Credentials>(
    client: &mut TestClient<K>,
    server: &mut TestServer<K>,
    fates: impl IntoIterator<Item = Fate>,
) -> u64 {
    network::run(client, server, fates).1
}

/// A client and a server with a connection.
pub fn established() -> (TestClient, TestServer) {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status_at(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}
