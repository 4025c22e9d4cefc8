//! A whole connection under somebody who drops, changes, repeats, reorders and invents datagrams, and has no key.
#![no_main]

use std::collections::VecDeque;

use lean_dtls::{Failure, Instant, SendError, Status};
use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::ends::{
    Address, LONGEST, PEER, STRANGER, Setup, TestClient, TestServer, from_client, from_server, status_at,
};
use slowhand_fuzz::input::{Input, seed};
use slowhand_fuzz::records;

/// The most steps of an adversary, so that an input has an end.
const STEPS: usize = 200;

/// The most datagrams between two waits. (Assumed: a hundred in flight, each of which is answered by a flight with certificates
/// in the smallest datagrams, and that by another one.)
const MOST_DATAGRAMS: usize = 10_000;

/// The most waits until both ends have come to rest: all their retransmissions, and acknowledgements of what comes again.
const MOST_WAITS: usize = 100;

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let mut world = World::new(&mut input, seed(octets));
    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        world.step(&mut input);
        world.collect();
        world.check();
    }
    world.compare();
    world.settle();
    world.compare();
});

struct World {
    setup: Setup,
    client: TestClient,
    server: TestServer,
    now: Instant,
    /// The datagrams on their way: true for the way to the server.
    flying: VecDeque<(bool, Vec<u8>)>,
    /// The datagrams that the adversary has seen.
    seen: Vec<(bool, Vec<u8>)>,
    /// Application data that was sent and has not arrived, by direction: to the client, to the server.
    sent: [Vec<Vec<u8>>; 2],
    /// The number of data sent in all: no two are equal.
    count: u16,
    /// Octets from the stranger's address, and octets to it.
    strange: [usize; 2],
    /// Which ends were established, and have not been closed by themselves: the client, the server.
    established: [bool; 2],
    /// True once the client has begun again, or an end has closed: what the other end does then is its right.
    is_disturbed: bool,
}

impl World {
    fn new(input: &mut Input<'_>, seed: u64) -> Self {
        let mut setup = Setup::new(input, seed);
        if input.octet() % 8 == 1 {
            setup.is_trusted = false;
        }
        let (mut client, _) = setup.client();
        let (server, _) = setup.server();
        client.connect();
        let mut world = Self {
            setup,
            client,
            server,
            now: Instant::from_millis(0),
            flying: VecDeque::new(),
            seen: Vec::new(),
            sent: [Vec::new(), Vec::new()],
            count: 0,
            strange: [0, 0],
            established: [false, false],
            is_disturbed: false,
        };
        world.collect();
        world
    }

    /// A step of the adversary, the clock or an application.
    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(16) {
            // An honest network is the most usual.
            0..=4 => self.deliver_next(|_| {}),
            5 => drop(self.flying.pop_front()),
            6 => {
                let (place, mask) = (input.octet(), input.octet());
                self.deliver_next(|datagram| {
                    let place = usize::from(place) % datagram.len().max(1);
                    datagram.iter_mut().skip(place).take(1).for_each(|octet| *octet ^= mask);
                });
            }
            7 => {
                let length = usize::from(input.octet());
                self.deliver_next(|datagram| datagram.truncate(length));
            }
            8 => self.flying.rotate_left(1.min(self.flying.len())),
            9 => self.replay(input, false),
            10 => self.replay(input, true),
            11 => {
                let to_server = input.flag();
                let octets = match input.flag() {
                    true => input.string().to_vec(),
                    false => {
                        let (content_type, epoch) = (20 + input.octet() % 7, u16::from(input.octet() % 3));
                        let message = (input.octet() % 26, u16::from(input.octet() % 6));
                        let body = input.string();
                        let content = match content_type {
                            22 => records::message(message.0, message.1, body),
                            _ => body.to_vec(),
                        };
                        records::clear(content_type, epoch, input.number().into(), &content)
                    }
                };
                self.deliver(to_server, octets);
            }
            12 => {
                if let Some((_, octets)) = self.chosen(input) {
                    self.strange[0] += octets.len();
                    self.deliver_from(STRANGER, octets);
                }
            }
            13 => {
                if let Some(deadline) = [self.client.deadline(), self.server.deadline()].into_iter().flatten().min() {
                    self.wait(deadline);
                    // An end that waits for an answer may give up, but not one that is established.
                }
            }
            14 => self.send(input.flag()),
            _ => match input.below(7) {
                0 => self.begin_again(),
                1 => {
                    let _ = self.client.heartbeat();
                    let _ = self.server.association_at(PEER).map(|client| self.server.heartbeat(client));
                }
                2 => {
                    self.client.close();
                    self.is_disturbed = true;
                }
                3 => {
                    self.server.association_at(PEER).into_iter().for_each(|client| self.server.close(client));
                    self.is_disturbed = true;
                }
                4 => self.client.update_keys(),
                5 => {
                    self.server.association_at(PEER).into_iter().for_each(|client| self.server.update_keys(client));
                }
                _ => {
                    let both = self
                        .flying
                        .drain(..)
                        .flat_map(|(to_server, octets)| [(to_server, octets.clone()), (to_server, octets)]);
                    self.flying = both.take(100).collect();
                }
            },
        }
    }

    /// The device has lost its state, and begins again under the same address.
    fn begin_again(&mut self) {
        self.setup.seed = self.setup.seed.wrapping_add(0x1234_5678_9abc);
        self.client = self.setup.client().0;
        self.client.connect();
        self.established[0] = false;
        self.sent[0].clear();
        self.is_disturbed = true;
    }

    fn chosen(&self, input: &mut Input<'_>) -> Option<(bool, Vec<u8>)> {
        self.seen.get(input.below(self.seen.len().max(1))).cloned()
    }

    /// Sends again what was seen: to its receiver, or back to its sender; the whole, or joined with another datagram.
    fn replay(&mut self, input: &mut Input<'_>, is_reflected: bool) {
        let Some((to_server, mut octets)) = self.chosen(input) else { return };
        if input.flag() {
            let more = self.chosen(input);
            octets.extend(more.into_iter().flat_map(|(_, octets)| octets));
        }
        self.deliver(to_server != is_reflected, octets);
    }

    fn deliver_next(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some((to_server, mut octets)) = self.flying.pop_front() {
            change(&mut octets);
            self.deliver(to_server, octets);
        }
    }

    fn deliver(&mut self, to_server: bool, mut octets: Vec<u8>) {
        match to_server {
            true => self.deliver_from(PEER, octets),
            false => self.client.receive(&mut octets, |data| take(&mut self.sent[0], data)),
        }
    }

    /// A datagram for the server from this address. A connection ID says whose it is, wherever it comes from.
    fn deliver_from(&mut self, address: Address, mut octets: Vec<u8>) {
        let is_possible = address == PEER || self.setup.has_connection_id();
        self.server.receive(address, &mut octets, |data| {
            assert!(is_possible, "data from a stranger");
            take(&mut self.sent[1], data);
        });
    }

    /// Sends data of the application.
    fn send(&mut self, to_server: bool) {
        self.count += 1;
        let data = [&self.count.to_be_bytes()[..], b" degrees"].concat();
        let mut output = [0; LONGEST];
        let sent = match to_server {
            true => self.client.send(&data, &mut output),
            false => match self.server.association_at(PEER) {
                Some(client) => self.server.send(client, &data, &mut output),
                None => Err(SendError::NotEstablished),
            },
        };
        if let Ok(length) = sent {
            self.sent[usize::from(to_server)].push(data);
            self.fly(to_server, output[..length].to_vec());
        }
    }

    fn fly(&mut self, to_server: bool, octets: Vec<u8>) {
        if self.seen.len() < 100 {
            self.seen.push((to_server, octets.clone()));
        }
        self.flying.push_back((to_server, octets));
    }

    /// Takes what both ends send.
    fn collect(&mut self) {
        for octets in from_client(&mut self.client, self.now) {
            self.fly(true, octets);
        }
        for (peer, octets) in from_server(&mut self.server, self.now) {
            match peer == PEER {
                true => self.fly(false, octets),
                false => self.strange[1] += octets.len(),
            }
        }
    }

    fn check(&mut self) {
        let status = [Some(self.client.status()), status_at(&self.server, PEER)];
        let now = status.map(|status| status == Some(Status::Established));
        let is_open = now[1] || now[0] && !self.setup.client_is_checked_last();
        assert!(self.setup.is_trusted || !is_open, "established without a common key");
        assert_eq!(status_at(&self.server, STRANGER), None, "a slot for an address that nobody has verified");
        assert!(self.strange[1] <= self.strange[0], "more octets to a stranger than from it: {:?}", self.strange);
        for (end, (was, is)) in self.established.iter_mut().zip(now).enumerate() {
            // The lean profile's client goes on to wait for the acknowledgement of its Finished.
            let has_given_up = matches!(status[end], Some(Status::Failed(Failure::TimedOut(_))));
            assert!(
                !*was || is || self.is_disturbed || has_given_up || !self.setup.is_trusted,
                "end {end} was established and is {:?}",
                status[end]
            );
            *was = is;
        }
    }

    /// The adversary has gone. Both ends come to rest.
    fn settle(&mut self) {
        for _ in 0..MOST_WAITS {
            let mut delivered = 0;
            while !self.flying.is_empty() {
                self.deliver_next(|_| {});
                self.collect();
                self.check();
                delivered += 1;
                assert!(delivered < MOST_DATAGRAMS, "the ends answer each other for ever");
            }
            let Some(deadline) = [self.client.deadline(), self.server.deadline()].into_iter().flatten().min() else {
                assert_ne!(self.client.status(), Status::Handshaking, "the client waits for ever");
                return;
            };
            self.wait(deadline);
            self.collect();
            self.check();
        }
        panic!("there is no end");
    }

    fn wait(&mut self, deadline: Instant) {
        self.now = self.now.max(deadline);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
    }

    /// Two ends that are both established have the same keys: what one sends, the other gets.
    fn compare(&mut self) {
        // A client of DTLS 1.3 that begins again is established before its new association at the server is.
        let latest = self.server.associations().max().and_then(|latest| self.server.status(latest));
        if self.established != [true, true] || latest != Some(Status::Established) {
            return;
        }
        for to_server in [true, false] {
            self.flying.clear();
            self.sent[usize::from(to_server)].clear();
            self.send(to_server);
            let (_, octets) = self.flying.pop_front().expect("an established end sends");
            self.deliver(to_server, octets);
            assert!(self.sent[usize::from(to_server)].is_empty(), "the ends do not share their keys");
        }
    }
}

/// Data has arrived: the peer has sent it, and it has not arrived before.
fn take(sent: &mut Vec<Vec<u8>>, data: &[u8]) {
    let place = sent.iter().position(|sent| sent == data);
    sent.remove(place.expect("data that the peer did not send, or that arrived before"));
}
