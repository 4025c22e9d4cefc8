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

/// The fate of a datagram in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Twice,
    /// It arrives after the next one.
    Late,
}

/// A record in clear: its type, its number, its content (RFC 6347, section 4.1).
pub fn in_clear(content_type: u8, number: u64, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16).to_be_bytes();
    [&[content_type, 0xfe, 0xfd, 0, 0], &number.to_be_bytes()[2..], &length[..], content].concat()
}

/// A record in clear with a fragment of a handshake message: its kind, its number, octets of the message, where the fragment begins
/// (RFC 6347, section 4.2.2).
pub fn fragment(kind: u8, sequence: u16, length: u32, offset: u32, content: &[u8]) -> Vec<u8> {
    let [s0, s1] = sequence.to_be_bytes();
    let [l, o, f] = [length, offset, content.len() as u32].map(|number| number.to_be_bytes());
    let header = [kind, l[1], l[2], l[3], s0, s1, o[1], o[2], o[3], f[1], f[2], f[3]];
    in_clear(22, 9, &[&header[..], content].concat())
}

/// An acknowledgement in clear of records: their epochs and numbers (RFC 9147, section 7).
#[cfg(feature = "dtls13")]
pub fn ack_in_clear(records: &[(u64, u64)]) -> Vec<u8> {
    let mut content = (16 * records.len() as u16).to_be_bytes().to_vec();
    for (epoch, number) in records {
        content.extend([epoch.to_be_bytes(), number.to_be_bytes()].concat());
    }
    in_clear(26, 9, &content)
}

/// The datagrams that were sent: when, by whom (true for the client), and their octets.
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
    run_with(client, server, fates, |_, _| Vec::new())
}

/// Runs with an attacker, who sees each datagram before it arrives: its number, and whether it goes to the server. What the
/// attacker sends to either end arrives first.
pub fn run_with<K, C, const SLOTS: usize, const BUFFER: usize>(
    client: &mut Client<K, C, BUFFER>,
    server: &mut Server<K, C, Address, SLOTS, BUFFER>,
    fates: impl IntoIterator<Item = Fate>,
    mut attacker: impl FnMut(usize, bool) -> Vec<(bool, Vec<u8>)>,
) -> (Trace, u64)
where
    K: Credentials,
    C: Crypto,
{
    let mut arrived = 0;
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
        if let Some((is_to_server, datagram)) = flying.pop_front() {
            let forged = attacker(arrived, is_to_server);
            arrived += 1;
            for (is_to_server, mut datagram) in forged.into_iter().chain([(is_to_server, datagram)]) {
                match is_to_server {
                    true => server.hear(PEER, &mut datagram, |_| {}),
                    false => client.receive(&mut datagram, |_| {}),
                }
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

/// The statements of a server about the connection with the client at an address.
pub trait At<P> {
    fn hear(&mut self, peer: P, datagram: &mut [u8], deliver: impl FnMut(&[u8]));
    fn status_at(&self, peer: P) -> Option<lean_dtls::Status>;
    fn send_at(&mut self, peer: P, data: &[u8], output: &mut [u8]) -> Result<usize, lean_dtls::SendError>;
    fn close_at(&mut self, peer: P);
    #[cfg(feature = "resumption")]
    fn is_resumed_at(&self, peer: P) -> bool;
    #[cfg(feature = "heartbeat")]
    fn heartbeat_at(&mut self, peer: P) -> Result<(), lean_dtls::HeartbeatError>;
    #[cfg(feature = "heartbeat")]
    fn liveness_at(&self, peer: P) -> Option<lean_dtls::Liveness>;
    fn max_data_at(&self, peer: P, room: usize) -> Option<usize>;
    #[cfg(feature = "connection-id")]
    fn connection_ids_at(&self, peer: P) -> Option<[usize; 2]>;
    #[cfg(feature = "certificates")]
    fn peer_public_key_at(&self, peer: P) -> Option<&[u8; 65]>;
    #[cfg(feature = "dtls13")]
    fn versions_at(&self, peer: P) -> Option<lean_dtls::Versions>;
    #[cfg(feature = "dtls13")]
    fn update_keys_at(&mut self, peer: P);
}

impl<K, C, P, const SLOTS: usize, const BUFFER: usize, S> At<P> for Server<K, C, P, SLOTS, BUFFER, S>
where
    K: Credentials,
    C: Crypto,
    P: Copy + PartialEq + AsRef<[u8]>,
    S: lean_dtls::Sessions,
{
    fn hear(&mut self, peer: P, datagram: &mut [u8], deliver: impl FnMut(&[u8])) {
        self.receive(peer, datagram, deliver);
    }

    fn status_at(&self, peer: P) -> Option<lean_dtls::Status> {
        self.status(self.association_at(peer)?)
    }

    fn send_at(&mut self, peer: P, data: &[u8], output: &mut [u8]) -> Result<usize, lean_dtls::SendError> {
        let association = self.association_at(peer).ok_or(lean_dtls::SendError::NotEstablished)?;
        self.send(association, data, output)
    }

    fn close_at(&mut self, peer: P) {
        self.association_at(peer).into_iter().for_each(|association| self.close(association));
    }

    #[cfg(feature = "resumption")]
    fn is_resumed_at(&self, peer: P) -> bool {
        self.association_at(peer).is_some_and(|association| self.is_resumed(association))
    }

    #[cfg(feature = "heartbeat")]
    fn heartbeat_at(&mut self, peer: P) -> Result<(), lean_dtls::HeartbeatError> {
        let association = self.association_at(peer).ok_or(lean_dtls::HeartbeatError::NotEstablished)?;
        self.heartbeat(association)
    }

    #[cfg(feature = "heartbeat")]
    fn liveness_at(&self, peer: P) -> Option<lean_dtls::Liveness> {
        self.liveness(self.association_at(peer)?)
    }

    fn max_data_at(&self, peer: P, room: usize) -> Option<usize> {
        self.max_data(self.association_at(peer)?, room)
    }

    #[cfg(feature = "connection-id")]
    fn connection_ids_at(&self, peer: P) -> Option<[usize; 2]> {
        self.connection_ids(self.association_at(peer)?)
    }

    #[cfg(feature = "certificates")]
    fn peer_public_key_at(&self, peer: P) -> Option<&[u8; 65]> {
        self.peer_public_key(self.association_at(peer)?)
    }

    #[cfg(feature = "dtls13")]
    fn versions_at(&self, peer: P) -> Option<lean_dtls::Versions> {
        self.versions(self.association_at(peer)?)
    }

    #[cfg(feature = "dtls13")]
    fn update_keys_at(&mut self, peer: P) {
        self.association_at(peer).into_iter().for_each(|association| self.update_keys(association));
    }
}
