//! The server: several connections in static slots, and no state for a client before its cookie has returned.

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::codec::Reader;
#[cfg(feature = "dtls13")]
use crate::config::Versions;
use crate::config::{Admission, Config};
use crate::connection::{self, Connection};
use crate::credentials::Credentials;
use crate::crypto::{Crypto, DIGEST};
#[cfg(feature = "connection-id")]
use crate::dtls12::Heard;
use crate::dtls12::{self, Arrived, COOKIE, ClientHello, ConnectionId, ContentType, Offer, record};
#[cfg(feature = "dtls13")]
use crate::dtls13;
use crate::handshake::{self, Kind};
use crate::reassembly::Reassembly;
use crate::reply::Reply;
use crate::status::{SendError, Status};
use crate::time::Instant;

/// A DTLS server with at most `SLOTS` connections.
///
/// `P` is the address of a peer. `BUFFER` is as for [`Client`](crate::Client).
pub struct Server<K, C: Crypto, P, const SLOTS: usize, const BUFFER: usize> {
    config: Config<K>,
    crypto: C,
    slots: [Option<Slot<C, P, BUFFER>>; SLOTS],
    /// The number of connections so far.
    opened: u32,
    /// The key of the cookies.
    secret: [u8; DIGEST],
    /// A ClientHello in fragments. One at a time: all clients without a slot share it.
    hello: Option<(P, Reassembly<BUFFER>)>,
    /// The answer to a client without a slot.
    reply: Option<(P, Reply)>,
}

struct Slot<C: Crypto, P, const BUFFER: usize> {
    peer: P,
    opened: u32,
    connection: Connection<C, BUFFER>,
}

impl<K, C, P, const SLOTS: usize, const BUFFER: usize> Server<K, C, P, SLOTS, BUFFER>
where
    K: Credentials,
    C: Crypto,
    P: Copy + PartialEq + AsRef<[u8]>,
{
    /// A server without connections.
    pub fn new(config: Config<K>, mut crypto: C) -> Self {
        let mut secret = [0; DIGEST];
        crypto.random(&mut secret);
        Self { config, crypto, slots: core::array::from_fn(|_| None), opened: 0, secret, hello: None, reply: None }
    }

    /// Processes a datagram of `peer`, which is decrypted in place. `deliver` gets the application data in it.
    pub fn receive(&mut self, peer: P, datagram: &mut [u8], mut deliver: impl FnMut(&[u8])) {
        if self.receive_hello(peer, datagram) {
            return;
        }
        let Some(place) = self.find(peer, datagram) else { return };
        let Some(slot) = &mut self.slots[place] else { return };
        let _heard = slot.connection.receive_from_client(&mut self.crypto, &self.config, datagram, &mut deliver);
        #[cfg(feature = "connection-id")]
        if _heard == Heard::Latest {
            self.follow(place, peer);
        }
    }

    /// The slot to which a datagram belongs: that of its connection ID, or that of its address.
    fn find(&self, peer: P, _datagram: &[u8]) -> Option<usize> {
        #[cfg(feature = "connection-id")]
        if let Some(length @ 1..) = self.config.options.connection_id
            && let Some(id) = connection::connection_id_of(_datagram, length.into())
        {
            let is_its = |slot: &Slot<C, P, BUFFER>| slot.connection.own_id().is_some_and(|own| own.octets() == id);
            return self.slots.iter().position(|slot| slot.as_ref().is_some_and(is_its));
        }
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.peer == peer))
    }

    /// The client in this slot has another address now, unless that is another client's.
    #[cfg(feature = "connection-id")]
    fn follow(&mut self, place: usize, peer: P) {
        let is_taken = self.slots.iter().flatten().any(|slot| slot.peer == peer);
        if let Some(slot) = self.slots[place].as_mut().filter(|_| self.config.options.follows_addresses && !is_taken) {
            slot.peer = peer;
        }
    }

    /// A connection ID that no slot has. `None` if the configuration asks for none, or if chance found none.
    #[cfg(feature = "connection-id")]
    fn draw_id(&mut self) -> Option<ConnectionId> {
        let length = self.config.options.connection_id?;
        // Assumed: so many tries find a free one, if the server has far fewer slots than there are IDs.
        (0..16).find_map(|_| {
            let id = ConnectionId::draw(&mut self.crypto, length)?;
            let is_taken = |slot: &Slot<C, P, BUFFER>| slot.connection.own_id() == Some(id);
            (length == 0 || !self.slots.iter().flatten().any(is_taken)).then_some(id)
        })
    }

    /// Writes the next datagram into `output`, and returns its peer and its length. Call it after each other call, until it
    /// returns `None`: there is no more to send. The wait for an answer begins with the last datagram of a flight.
    pub fn poll_transmit(&mut self, now: Instant, output: &mut [u8]) -> Option<(P, usize)> {
        let room = output.len().min(self.config.mtu.into());
        if let Some((peer, reply)) = &mut self.reply {
            let peer = *peer;
            let (length, is_last) = reply.write(&mut output[..room]);
            if is_last {
                self.reply = None;
            }
            if length > 0 {
                return Some((peer, length));
            }
        }
        for slot in self.slots.iter_mut().flatten() {
            let length = slot.connection.poll_transmit(&mut self.crypto, now, &mut output[..room]);
            if length > 0 {
                let peer = slot.peer;
                return Some((peer, length));
            }
        }
        None
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.slots.iter().flatten().filter_map(|slot| slot.connection.deadline()).min()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.slots.iter_mut().flatten().for_each(|slot| slot.connection.handle_timeout(now));
    }

    /// Encrypts application data for `peer` into `output`, and returns the length of the datagram.
    ///
    /// # Errors
    /// There is no connection with this peer that is established, or the data do not fit into `output`.
    pub fn send(&mut self, peer: P, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        let slot = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer);
        slot.ok_or(SendError::NotEstablished)?.connection.send(&mut self.crypto, data, output)
    }

    /// The most octets of application data that [`send`](Self::send) puts into a datagram of `room` octets for this peer.
    /// `None` if it has no slot.
    pub fn max_data(&self, peer: P, room: usize) -> Option<usize> {
        self.slot(peer).map(|slot| slot.connection.max_data(room))
    }

    /// Octets of the connection IDs in the encrypted records that this end receives from a peer and sends to it. `None` if both
    /// ends have agreed on none.
    #[cfg(feature = "connection-id")]
    pub fn connection_ids(&self, peer: P) -> Option<[usize; 2]> {
        self.slot(peer)?.connection.connection_ids()
    }

    fn slot(&self, peer: P) -> Option<&Slot<C, P, BUFFER>> {
        self.slots.iter().flatten().find(|slot| slot.peer == peer)
    }

    /// Changes the keys of both ends: see [`Client::update_keys`](crate::Client::update_keys).
    #[cfg(feature = "dtls13")]
    pub fn update_keys(&mut self, peer: P) {
        self.slots.iter_mut().flatten().filter(|slot| slot.peer == peer).for_each(|slot| slot.connection.update_keys());
    }

    /// Closes the connection with a peer. [`poll_transmit`](Self::poll_transmit) then has the alert for it.
    pub fn close(&mut self, peer: P) {
        self.slots.iter_mut().flatten().filter(|slot| slot.peer == peer).for_each(|slot| slot.connection.close());
    }

    /// The state of the connection with a peer. `None` if it has no slot. A connection that has ended keeps its slot until
    /// another one needs it.
    pub fn status(&self, peer: P) -> Option<Status> {
        self.slots.iter().flatten().find(|slot| slot.peer == peer).map(|slot| slot.connection.status())
    }

    /// Processes a datagram that begins with a ClientHello. Returns false if it does not.
    fn receive_hello(&mut self, peer: P, datagram: &[u8]) -> bool {
        let mut reader = Reader::new(datagram);
        let Some(record) = record::Header::read(&mut reader, &ConnectionId::default()) else { return false };
        if record.epoch != 0 || record.content_type != ContentType::Handshake {
            return false;
        }
        let Some(mut content) = reader.take(record.length).map(Reader::new) else { return false };
        let Some((header, fragment)) = handshake::Header::read(&mut content) else { return false };
        if header.kind != Kind::ClientHello {
            return false;
        }
        if header.is_whole() {
            self.answer(peer, Arrived { header, body: fragment, record: record.sequence });
            return true;
        }
        let (waiting, mut reassembly) = match self.hello.take() {
            Some((waiting, reassembly)) if waiting == peer => (waiting, reassembly),
            _ => (peer, Reassembly::new()),
        };
        reassembly.insert(header.sequence, &header, fragment);
        match reassembly.whole(header.sequence) {
            Some((header, body)) => self.answer(peer, Arrived { header, body, record: record.sequence }),
            None => self.hello = Some((waiting, reassembly)),
        }
        true
    }

    /// Answers a ClientHello: with a cookie, or with a connection if it has one.
    fn answer(&mut self, peer: P, arrived: Arrived<'_>) {
        #[cfg(feature = "dtls13")]
        if self.config.options.dtls13.versions == Versions::Dtls13 {
            return self.answer_dtls13(peer, arrived);
        }
        let Some(hello) = ClientHello::read(arrived.body) else { return };
        let cookie = self.cookie(&peer, &hello);
        let is_verified = bool::from(hello.cookie.ct_eq(&cookie));
        let octets = record::HEADER + handshake::HEADER + arrived.body.len();
        let own = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer);
        if let Some(Slot { connection: Connection::Dtls12(connection), .. }) = own
            && connection.randoms[0] == hello.random
        {
            let is_unverified = connection.is_unverified();
            if is_unverified && !is_verified {
                connection.allow(octets);
            }
            if is_unverified || is_verified {
                return dtls12::server::hear_hello_again(connection);
            }
        }
        // Nobody loses a slot to a client without a cookie: a connection that it has, or says to have, stays.
        let is_alone = !self.slots.iter().flatten().any(|slot| slot.peer == peer && !slot.connection.is_over());
        let is_known = || self.config.credentials.is_known(peer.as_ref());
        let is_trusted = hello.cookie.is_empty() && is_alone && self.config.abilities().is_cheap(&hello) && is_known();
        let place = if is_verified { self.place(peer) } else { self.free_place(peer).filter(|_| is_trusted) };
        let Some(place) = place else {
            if !is_verified {
                let reply = dtls12::server::write_verify_request(&mut self.crypto, arrived.record, &cookie);
                self.reply(peer, reply);
            }
            return;
        };
        let from = dtls12::server::From { address: peer.as_ref(), unverified: (!is_verified).then_some(octets) };
        #[cfg(feature = "connection-id")]
        let connection_id = self.draw_id();
        #[cfg(not(feature = "connection-id"))]
        let connection_id = None;
        let offer =
            Offer { options: &self.config.options, connection_id, identity: &[], abilities: self.config.abilities() };
        let connection = dtls12::server::open(&mut self.crypto, &self.config, &offer, arrived, (from, &hello));
        self.open(place, peer, Connection::Dtls12(connection));
    }

    #[cfg(feature = "dtls13")]
    fn answer_dtls13(&mut self, peer: P, arrived: Arrived<'_>) {
        let Some(hello) = dtls13::ClientHello::read(arrived.body) else { return };
        let from = dtls13::server::Sender { secret: &self.secret, address: peer.as_ref() };
        let admitted = match dtls13::server::admit(&mut self.crypto, &self.config, from, &arrived, &hello) {
            Ok(admitted) => admitted,
            Err(reply) => return self.reply(peer, reply),
        };
        let own = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer);
        if let Some(Slot { connection: Connection::Dtls13(connection), .. }) = own
            && connection.client_random == hello.random
        {
            return connection.repeat();
        }
        // Nobody loses a slot to a client without a cookie.
        let is_alone = !self.slots.iter().flatten().any(|slot| slot.peer == peer && !slot.connection.is_over());
        let place = match admitted.is_verified() {
            true => self.place(peer),
            false => self.free_place(peer).filter(|_| is_alone),
        };
        let Some(place) = place else { return };
        #[cfg(feature = "connection-id")]
        let own_id = self.draw_id();
        #[cfg(not(feature = "connection-id"))]
        let own_id = None;
        let connection = dtls13::server::open(&mut self.crypto, &self.config, arrived, &hello, &admitted, own_id);
        self.open(place, peer, Connection::Dtls13(connection));
    }

    /// Sends an answer to a client without a slot.
    fn reply<const LENGTH: usize>(&mut self, peer: P, reply: Option<([u8; LENGTH], usize)>) {
        self.reply = reply.map(|(octets, length)| (peer, Reply::new(&octets[..length])));
    }

    fn open(&mut self, place: usize, peer: P, connection: Connection<C, BUFFER>) {
        self.opened = self.opened.wrapping_add(1);
        self.slots[place] = Some(Slot { peer, opened: self.opened, connection });
    }

    /// The cookie of a ClientHello: only this server can make it, and for no other peer or hello
    /// (RFC 6347, section 4.2.1).
    fn cookie(&mut self, peer: &P, hello: &ClientHello<'_>) -> [u8; COOKIE] {
        let [before, after] = hello.around;
        let address = peer.as_ref();
        let digest = self.crypto.hmac(&self.secret, &[&[address.len() as u8], address, before, after]);
        *digest.first_chunk().unwrap_or(&[0; COOKIE])
    }

    /// The slot that a peer has, a free one, or one whose connection has ended.
    fn free_place(&self, peer: P) -> Option<usize> {
        let own = self.slots.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.peer == peer));
        let free = || self.slots.iter().position(Option::is_none);
        let is_over = |slot: &Option<Slot<C, P, BUFFER>>| slot.as_ref().is_some_and(|slot| slot.connection.is_over());
        own.or_else(free).or_else(|| self.slots.iter().position(is_over))
    }

    /// The slot for a new connection with a peer whose cookie has returned: a free one, one whose client may not be where it
    /// says, or what the policy gives.
    fn place(&self, peer: P) -> Option<usize> {
        let taken = |slot: &Option<Slot<C, P, BUFFER>>| slot.as_ref().map(|slot| slot.opened);
        let is_unverified =
            |slot: &Option<Slot<C, P, BUFFER>>| slot.as_ref().is_some_and(|slot| slot.connection.is_unverified());
        let free = self.free_place(peer).or_else(|| self.slots.iter().position(is_unverified));
        free.or_else(|| match self.config.admission {
            Admission::Refuse => None,
            Admission::EvictOldest => {
                let ages =
                    self.slots.iter().enumerate().filter_map(|(place, slot)| {
                        taken(slot).map(|opened| (self.opened.wrapping_sub(opened), place))
                    });
                ages.max().map(|(_, place)| place)
            }
        })
    }
}

impl<K, C: Crypto, P, const SLOTS: usize, const BUFFER: usize> Drop for Server<K, C, P, SLOTS, BUFFER> {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}
