//! Clients and a server in memory, and a network between them that a test commands.

use std::collections::VecDeque;

use lean_dtls::{Admission, Client, Config, Instant, Psk, RustCrypto, Server, Status, Timeouts};

pub type Address = [u8; 2];
pub type Keys = [Psk<'static>; 1];
pub type Random = Box<dyn FnMut(&mut [u8])>;
pub type TestClient<K = Keys> = Client<K, RustCrypto<Random>, 192>;
pub type TestServer<K = Keys> = Server<K, RustCrypto<Random>, Address, 2, 192>;

pub const KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];
pub const OTHER_KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdeF" }];
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
            server.receive(PEER, &mut datagram, |_| {});
        }
        for (_, mut datagram) in from_server(server, now) {
            sent.push(datagram.clone());
            change(false, &mut datagram);
            client.receive(&mut datagram, |_| {});
        }
    }
    sent
}

/// Replaces octets that are there once by others of the same length. Returns false if they are not there.
pub fn replace(datagram: &mut [u8], old: &[u8], new: &[u8]) -> bool {
    let place = datagram.windows(old.len()).position(|window| window == old);
    place.is_some_and(|place| {
        datagram[place..][..new.len()].copy_from_slice(new);
        true
    })
}

pub fn client(seed: u64, mtu: u16) -> TestClient {
    Client::new(config(KEYS, mtu), RustCrypto::new(random(seed)))
}

pub fn server(mtu: u16, admission: Admission) -> TestServer {
    Server::new(config(KEYS, mtu).with_admission(admission), RustCrypto::new(random(99)))
}

/// All that the client sends now.
pub fn from_client<K: lean_dtls::Credentials>(client: &mut TestClient<K>, now: Instant) -> Vec<Vec<u8>> {
    let mut output = [0; 300];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

/// All that the server sends now.
pub fn from_server<K: lean_dtls::Credentials>(server: &mut TestServer<K>, now: Instant) -> Vec<(Address, Vec<u8>)> {
    let mut output = [0; 300];
    let mut sent = Vec::new();
    while let Some((peer, length)) = server.poll_transmit(now, &mut output) {
        sent.push((peer, output[..length].to_vec()));
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

/// Runs a handshake through a network with these fates, then with none, until nothing more happens. Returns the time in
/// milliseconds.
pub fn run<K: lean_dtls::Credentials>(
    client: &mut TestClient<K>,
    server: &mut TestServer<K>,
    fates: impl IntoIterator<Item = Fate>,
) -> u64 {
    let mut fates = fates.into_iter();
    let mut now = Instant::from_millis(0);
    let mut flying: VecDeque<(bool, Vec<u8>)> = VecDeque::new();
    let mut late: Vec<(bool, Vec<u8>)> = Vec::new();
    client.connect();
    loop {
        let to_server = from_client(client, now).into_iter().map(|datagram| (true, datagram));
        let to_client = from_server(server, now).into_iter().map(|(_, datagram)| (false, datagram));
        for sent in to_server.chain(to_client).collect::<Vec<_>>() {
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
                return now.as_millis();
            };
            now = deadline;
            client.handle_timeout(now);
            server.handle_timeout(now);
        }
    }
}

/// A client and a server with a connection.
pub fn established() -> (TestClient, TestServer) {
    let (mut client, mut server) = (client(1, 256), server(256, Admission::Refuse));
    run(&mut client, &mut server, []);
    assert_eq!((client.status(), server.status(PEER)), (Status::Established, Some(Status::Established)));
    (client, server)
}
