//! A network between a client and a server in memory, which a test commands. The tests of both versions have this file.

use std::collections::VecDeque;

use lean_dtls::{Client, Credentials, Crypto, Instant, Server};

pub type Address = [u8; 2];
pub type Random = Box<dyn FnMut(&mut [u8])>;

/// The address of the client.
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

/// All that the client sends now.
pub fn from_client<K, C, const BUFFER: usize>(client: &mut Client<K, C, BUFFER>, now: Instant) -> Vec<Vec<u8>>
where
    K: Credentials,
    C: Crypto,
{
    let mut output = [0; 600];
    let mut sent = Vec::new();
    while let length @ 1.. = client.poll_transmit(now, &mut output) {
        sent.push(output[..length].to_vec());
    }
    sent
}

/// All that the server sends now.
pub fn from_server<K, C, const SLOTS: usize, const BUFFER: usize>(
    server: &mut Server<K, C, Address, SLOTS, BUFFER>,
    now: Instant,
) -> Vec<(Address, Vec<u8>)>
where
    K: Credentials,
    C: Crypto,
{
    let mut output = [0; 600];
    let mut sent = Vec::new();
    while let Some((peer, length)) = server.poll_transmit(now, &mut output) {
        sent.push((peer, output[..length].to_vec()));
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

/// What the network does with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Twice,
    /// It arrives after the next one.
    Late,
}

/// What was sent: when, by whom (true for the client), and its octets.
pub type Trace = Vec<(u64, bool, Vec<u8>)>;

/// Runs both ends through a network with these fates, then with none, until nothing more happens. Returns what was sent, and
/// the time in milliseconds.
pub fn run<K, C, const SLOTS: usize, const BUFFER: usize>(
    client: &mut Client<K, C, BUFFER>,
    server: &mut Server<K, C, Address, SLOTS, BUFFER>,
    fates: impl IntoIterator<Item = Fate>,
) -> (Trace, u64)
where
    K: Credentials,
    C: Crypto,
{
    let mut fates = fates.into_iter();
    let mut now = Instant::from_millis(0);
    let mut flying: VecDeque<(bool, Vec<u8>)> = VecDeque::new();
    let mut late: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut trace = Trace::new();
    client.connect();
    loop {
        let to_server = from_client(client, now).into_iter().map(|datagram| (true, datagram));
        let to_client = from_server(server, now).into_iter().map(|(_, datagram)| (false, datagram));
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
