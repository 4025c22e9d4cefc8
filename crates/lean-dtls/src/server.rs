//! The server: several connections in static slots, and no state for a client before its cookie has returned.

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::codec::Reader;
#[cfg(feature = "dtls13")]
use crate::config::Versions;
use crate::config::{Admission, Config};
use crate::connection::Connection;
use crate::credentials::{Credentials, is_known};
#[cfg(feature = "resumption")]
use crate::crypto::KEY;
#[cfg(feature = "certificates")]
use crate::crypto::MAX_PUBLIC;
use crate::crypto::{Crypto, DIGEST};
use crate::dtls12::{self, Arrived, COOKIE, ClientHello, ConnectionId, ContentType, Heard, Offer, Resuming, record};
#[cfg(feature = "resumption")]
use crate::dtls12::{TicketKeys, find_session};
#[cfg(feature = "dtls13")]
use crate::dtls13;
use crate::eviction::{Age, Count};
use crate::handshake::{self, Kind};
use crate::reassembly::Reassembly;
use crate::reply::Reply;
use crate::session::Sessions;
#[cfg(feature = "resumption")]
use crate::status::Failure;
use crate::status::{SendError, Status};
use crate::time::Instant;

/// A DTLS server with at most `SLOTS` connections.
///
/// `P` is the address of a peer. `BUFFER` is as for [`Client`](crate::Client). `S` keeps sessions that clients may resume by
/// their IDs.
///
/// On a Cortex-M3 with a pre-shared key it takes 0.4 kB and 1 kB for each slot (`docs/footprint.md`). All octets of `P`
/// go into the cookie: use those that say where an answer goes, address and port. See [How many slots, and for
/// whom?](crate::decisions#how-many-slots-and-for-whom)
// In this order, an AVR reaches more fields with one instruction.
#[cfg_attr(target_arch = "avr", repr(C))]
pub struct Server<K, C: Crypto, P, const SLOTS: usize, const BUFFER: usize, S = ()> {
    config: Config<K>,
    crypto: C,
    slots: [Option<Slot<C, P, BUFFER>>; SLOTS],
    count: Count,
    /// The last time that the owner has told.
    #[cfg(any(feature = "eviction", feature = "resumption"))]
    now: Instant,
    /// Its type is a parameter of the server with every set of features.
    #[cfg_attr(not(feature = "resumption"), allow(dead_code))]
    sessions: S,
    #[cfg(feature = "resumption")]
    tickets: Option<TicketKeys>,
    /// The key of the cookies.
    secret: [u8; DIGEST],
    /// How many times the owner has asked for other cookies.
    period: u16,
    /// A ClientHello in fragments. One at a time: all clients without a slot share it.
    hello: Option<(P, Reassembly<BUFFER>)>,
    /// The answer to a client without a slot.
    reply: Option<(P, Reply)>,
}

// What is small comes first, as in a connection.
#[cfg_attr(target_arch = "avr", repr(C))]
struct Slot<C: Crypto, P, const BUFFER: usize> {
    peer: P,
    age: Age,
    connection: Connection<C, BUFFER>,
}

impl<K, C, P, const SLOTS: usize, const BUFFER: usize> Server<K, C, P, SLOTS, BUFFER>
where
    K: Credentials,
    C: Crypto,
    P: Copy + PartialEq + AsRef<[u8]>,
{
    /// A server without connections, which keeps no sessions.
    pub fn new(config: Config<K>, crypto: C) -> Self {
        Self::with_sessions(config, crypto, ())
    }
}

impl<K, C, P, const SLOTS: usize, const BUFFER: usize, S> Server<K, C, P, SLOTS, BUFFER, S>
where
    K: Credentials,
    C: Crypto,
    P: Copy + PartialEq + AsRef<[u8]>,
    S: Sessions,
{
    /// A server without connections. Clients may resume the sessions that `sessions` keeps.
    pub fn with_sessions(config: Config<K>, mut crypto: C, sessions: S) -> Self {
        #[cfg(feature = "resumption")]
        let tickets = config.options.tickets.then(|| {
            let mut key = [0; KEY];
            crypto.random(&mut key);
            let keys = TicketKeys::new(&mut crypto, &key);
            key.zeroize();
            keys
        });
        let mut secret = [0; DIGEST];
        crypto.random(&mut secret);
        Self {
            config,
            crypto,
            slots: core::array::from_fn(|_| None),
            count: Count::default(),
            #[cfg(any(feature = "eviction", feature = "resumption"))]
            now: Instant::from_millis(0),
            sessions,
            #[cfg(feature = "resumption")]
            tickets,
            secret,
            period: 0,
            hello: None,
            reply: None,
        }
    }

    /// Processes a datagram of `peer`, which is decrypted in place. `deliver` gets the application data in it.
    pub fn receive(&mut self, peer: P, datagram: &mut [u8], mut deliver: impl FnMut(&[u8])) {
        if self.receive_hello(peer, datagram) {
            return;
        }
        let Some(place) = self.find(peer, datagram) else { return };
        #[cfg(feature = "resumption")]
        let resuming = Resuming {
            tickets: self.tickets.as_ref(),
            session: None,
            gives_ids: self.sessions.keeps(),
            lifetime_s: self.config.options.session_lifetime_s(),
            now: self.now,
        };
        #[cfg(not(feature = "resumption"))]
        let resuming = Resuming::default();
        let Some(slot) = &mut self.slots[place] else { return };
        let crypto = &mut self.crypto;
        let heard = slot.connection.receive_from_client(crypto, &self.config, &resuming, datagram, &mut deliver);
        if heard != Heard::Nothing {
            slot.age.note_use(self.count.next(), None);
        }
        #[cfg(feature = "resumption")]
        self.keep(place);
        #[cfg(feature = "connection-id")]
        if heard == Heard::Latest {
            self.follow(place, peer);
        }
    }

    /// The slot to which a datagram belongs: that of its connection ID, or that of its address.
    fn find(&self, peer: P, _datagram: &[u8]) -> Option<usize> {
        #[cfg(feature = "connection-id")]
        if let Some(length @ 1..) = self.config.options.connection_id
            && let Some(id) = crate::connection::connection_id_of(_datagram, length.into())
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

    /// Keeps the session of a connection whose handshake is complete, and forgets that of one which has ended with a fatal alert
    /// (RFC 5246, section 7.2.2).
    #[cfg(feature = "resumption")]
    fn keep(&mut self, place: usize) {
        let Some(Slot { connection: Connection::Dtls12(connection), .. }) = &mut self.slots[place] else { return };
        match connection.status {
            Status::Established => {
                if let Some(session) = connection.take_state(self.now) {
                    self.sessions.keep(session);
                }
            }
            Status::Failed(Failure::AlertReceived(_) | Failure::AlertSent(_)) => {
                self.sessions.forget(connection.resumption.id.octets());
            }
            _ => {}
        }
    }

    /// The sessions that it keeps.
    #[cfg(feature = "resumption")]
    pub const fn sessions(&self) -> &S {
        &self.sessions
    }

    /// Seals new tickets with this key. Those of the key before are still taken, older ones not.
    ///
    /// A server draws its first key itself. Several servers, or one that has lost its memory, may be given the same key: each then
    /// takes the tickets of the others. A key is as secret as all sessions in its tickets, so change it often (RFC 5077,
    /// section 5.5).
    #[cfg(feature = "resumption")]
    pub fn rotate_ticket_key(&mut self, key: &[u8; KEY]) {
        if let Some(tickets) = &mut self.tickets {
            tickets.rotate(&mut self.crypto, key);
        }
    }

    /// Makes other cookies from now on. Those from before are still taken, older ones not (RFC 6347, section 4.2.1).
    ///
    /// A cookie is good for as long as its server makes the same ones. So somebody who can listen at many addresses, one after
    /// another, can collect cookies, and later fill the slots from all of these addresses at once. Call this every few minutes
    /// if that is to be feared: it costs nothing on the air. A client in the middle of its handshake is not disturbed, as long
    /// as there is more time between two calls than a ClientHello may take.
    pub fn rotate_cookies(&mut self) {
        self.period = self.period.wrapping_add(1);
    }

    /// True if the handshake with a peer resumes a session.
    #[cfg(feature = "resumption")]
    pub fn is_resumed(&self, peer: P) -> bool {
        self.slot(peer).is_some_and(|slot| slot.connection.is_resumed())
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
        self.tell(now);
        let (room, packing) = (output.len().min(self.config.mtu.into()), self.config.packing);
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
            let length = slot.connection.poll_transmit(&mut self.crypto, now, packing, &mut output[..room]);
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
        self.tell(now);
        self.slots.iter_mut().flatten().for_each(|slot| slot.connection.handle_timeout(now));
    }

    /// Encrypts application data for `peer` into `output`, and returns the length of the datagram.
    ///
    /// # Errors
    /// There is no connection with this peer that is established, or the data do not fit into `output`.
    pub fn send(&mut self, peer: P, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        let slot = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer).ok_or(SendError::NotEstablished)?;
        #[cfg(feature = "eviction")]
        slot.age.note_use(self.count.next(), Some(self.now));
        slot.connection.send(&mut self.crypto, data, output)
    }

    /// Asks a client whether it is there (RFC 6520). [`poll_transmit`](Self::poll_transmit) then has the request, and
    /// [`liveness`](Self::liveness) the answer.
    ///
    /// # Errors
    /// See [`HeartbeatError`](crate::HeartbeatError).
    #[cfg(feature = "heartbeat")]
    pub fn heartbeat(&mut self, peer: P) -> Result<(), crate::HeartbeatError> {
        let slot = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer);
        slot.ok_or(crate::HeartbeatError::NotEstablished)?.connection.start_heartbeat(&mut self.crypto)
    }

    /// What is known of a client since the last heartbeat. `None` if it has no slot.
    #[cfg(feature = "heartbeat")]
    pub fn liveness(&self, peer: P) -> Option<crate::Liveness> {
        self.slot(peer).map(|slot| slot.connection.liveness())
    }

    /// The present time: that of what has happened since the owner told it last.
    fn tell(&mut self, now: Instant) {
        #[cfg(any(feature = "eviction", feature = "resumption"))]
        {
            self.now = now;
        }
        self.slots.iter_mut().flatten().for_each(|slot| slot.age.tell(now));
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

    /// The public key in the certificate of a client: 4, x and y. The credentials have accepted it, and the client has proved
    /// that it has the private key. `None` if no such client has a connection.
    #[cfg(feature = "certificates")]
    pub fn peer_public_key(&self, peer: P) -> Option<&[u8; MAX_PUBLIC]> {
        let connection = &self.slot(peer)?.connection;
        connection.peers_key().filter(|_| connection.status() == Status::Established)
    }

    fn slot(&self, peer: P) -> Option<&Slot<C, P, BUFFER>> {
        self.slots.iter().flatten().find(|slot| slot.peer == peer)
    }

    /// The version that the server has chosen for a peer. `None` if it has no slot.
    #[cfg(feature = "dtls13")]
    pub fn versions(&self, peer: P) -> Option<Versions> {
        self.slot(peer).map(|slot| slot.connection.versions())
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
        } else {
            self.receive_part(peer, &header, fragment, record.sequence);
        }
        true
    }

    /// Processes a fragment of a ClientHello.
    #[inline(never)] // it needs more stack than the ClientHello in one piece, which is the usual one
    fn receive_part(&mut self, peer: P, header: &handshake::Header, fragment: &[u8], record: u64) {
        let (waiting, mut reassembly) = match self.hello.take() {
            Some((waiting, reassembly)) if waiting == peer => (waiting, reassembly),
            _ => (peer, Reassembly::new()),
        };
        reassembly.insert(header.sequence, header, fragment);
        match reassembly.whole(header.sequence) {
            Some((header, body)) => self.answer(peer, Arrived { header, body, record }),
            None => self.hello = Some((waiting, reassembly)),
        }
    }

    /// Answers a ClientHello: with a cookie, or with a connection if it has one.
    fn answer(&mut self, peer: P, arrived: Arrived<'_>) {
        #[cfg(feature = "dtls13")]
        if self.config.options.dtls13.versions != Versions::Dtls12 {
            match dtls13::ClientHello::read(arrived.body) {
                Some(hello) => return self.answer_dtls13(peer, arrived, &hello),
                None if self.config.options.dtls13.versions == Versions::Dtls13 => return,
                None => {}
            }
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
                connection.allowance.receive(octets);
            }
            if is_unverified || is_verified {
                return dtls12::server::hear_hello_again(connection);
            }
        }
        // Nobody loses a slot to a client without a cookie: a connection that it has, or says to have, stays.
        let is_alone = !self.slots.iter().flatten().any(|slot| slot.peer == peer && !slot.connection.is_over());
        let is_known = is_known(&self.config.credentials, peer.as_ref());
        let is_trusted = is_known && hello.cookie.is_empty() && is_alone && self.config.abilities().is_cheap(&hello);
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
        let offer = Offer {
            options: &self.config.options,
            connection_id,
            identity: &[],
            abilities: self.config.abilities(),
            #[cfg(feature = "resumption")]
            session: None,
            #[cfg(feature = "dtls13")]
            dtls13: None,
        };
        #[cfg(feature = "resumption")]
        let (tickets, lifetime_s, now) = (self.tickets.as_ref(), offer.options.session_lifetime_s(), self.now);
        #[cfg(feature = "resumption")]
        let session = find_session(&mut self.crypto, &hello, tickets, &self.sessions, (now, lifetime_s));
        #[cfg(feature = "resumption")]
        let resuming =
            Resuming { tickets, session: session.as_ref(), gives_ids: self.sessions.keeps(), lifetime_s, now };
        #[cfg(not(feature = "resumption"))]
        let resuming = Resuming::default();
        let connection = Connection::Dtls12(dtls12::Connection::new(&mut self.crypto, false, self.config.timeouts));
        let age = Age::new(self.count.next());
        let slot = self.slots.get_mut(place).map(|place| place.insert(Slot { peer, age, connection }));
        let Some(Slot { connection: Connection::Dtls12(connection), .. }) = slot else { return };
        let crypto = &mut self.crypto;
        dtls12::server::open(connection, crypto, &self.config, &offer, &resuming, arrived, (from, &hello));
    }

    #[cfg(feature = "dtls13")]
    fn answer_dtls13(&mut self, peer: P, arrived: Arrived<'_>, hello: &dtls13::ClientHello<'_>) {
        let own = self.slot(peer);
        let is_again = own.is_some_and(|slot| slot.connection.has_answered(&hello.random));
        // Nobody loses a slot to a client without a cookie.
        let is_alone = own.is_none_or(|slot| slot.connection.is_over());
        let from = dtls13::server::Sender {
            secret: &self.secret,
            periods: [0, 1].map(|ago| self.period.wrapping_sub(ago)),
            address: peer.as_ref(),
            can_be_unverified: is_again || is_alone && self.free_place(peer).is_some(),
        };
        let admitted = match dtls13::server::admit(&mut self.crypto, &self.config, from, &arrived, hello) {
            Ok(admitted) => admitted,
            Err(reply) => return self.reply(peer, reply),
        };
        let octets = record::HEADER + handshake::HEADER + arrived.body.len();
        let own = self.slots.iter_mut().flatten().find(|slot| slot.peer == peer);
        if let Some(Slot { connection: Connection::Dtls13(connection), .. }) = own.filter(|_| is_again) {
            if connection.is_unverified() && !admitted.is_verified() {
                connection.allowance.receive(octets);
            }
            return connection.hear_hello_again();
        }
        let place = if admitted.is_verified() { self.place(peer) } else { self.free_place(peer) };
        let Some(place) = place else { return };
        #[cfg(feature = "connection-id")]
        let own_id = self.draw_id();
        #[cfg(not(feature = "connection-id"))]
        let own_id = None;
        let mut connection = dtls13::server::open(&mut self.crypto, &self.config, arrived, hello, &admitted, own_id);
        if !admitted.is_verified() && self.config.options.dtls13.has_cookie {
            connection.allowance.receive(octets);
        }
        let (age, connection) = (Age::new(self.count.next()), Connection::Dtls13(connection));
        self.slots[place] = Some(Slot { peer, age, connection });
    }

    /// Sends an answer to a client without a slot.
    fn reply<const LENGTH: usize>(&mut self, peer: P, reply: Option<([u8; LENGTH], usize)>) {
        self.reply = reply.map(|(octets, length)| (peer, Reply::new(&octets[..length])));
    }

    /// The cookie of a ClientHello: only this server can make it, and for no other peer or hello
    /// (RFC 6347, section 4.2.1). Its first octet says in which period the server made it. A client that brings one of the period
    /// before is compared with that; so there is one computation for each hello.
    fn cookie(&mut self, peer: &P, hello: &ClientHello<'_>) -> [u8; COOKIE] {
        let age = hello.cookie.first().is_some_and(|made| made.wrapping_add(1) == self.period as u8);
        let [lower, upper] = self.period.wrapping_sub(age.into()).to_le_bytes();
        let [before, after] = hello.around;
        let address = peer.as_ref();
        let parts = [&[upper, lower, address.len() as u8], address, before, after];
        let mut cookie = *self.crypto.hmac(&self.secret, &parts).first_chunk().unwrap_or(&[0; COOKIE]);
        cookie[0] = lower;
        cookie
    }

    /// The slot that a peer has, a free one, or one whose connection has ended.
    fn free_place(&self, peer: P) -> Option<usize> {
        let is_its = |slot: &Slot<C, P, BUFFER>| slot.peer == peer;
        let own = self.first(is_its).or_else(|| self.slots.iter().position(Option::is_none));
        own.or_else(|| self.first(|slot| slot.connection.is_over()))
    }

    /// The slot for a new connection with a peer whose cookie has returned: a free one, one whose client may not be where it
    /// says, or what the policy gives.
    #[cfg_attr(not(feature = "eviction"), allow(clippy::unnecessary_lazy_evaluations))] // there is one policy only
    fn place(&self, peer: P) -> Option<usize> {
        let free = self.free_place(peer).or_else(|| self.first(|slot| slot.connection.is_unverified()));
        free.or_else(|| match self.config.admission {
            Admission::Refuse => None,
            #[cfg(feature = "eviction")]
            Admission::EvictOldest => self.longest(|slot| Some(slot.age.since_opened(self.count))),
            #[cfg(feature = "eviction")]
            Admission::EvictLeastRecentlyUsed => self.longest(|slot| Some(slot.age.since_used(self.count))),
            #[cfg(feature = "eviction")]
            Admission::EvictIdleLongest { idle_after_ms } => self.longest(|slot| {
                let is_idle = slot.age.is_idle(idle_after_ms, self.now);
                (slot.connection.status() == Status::Established && is_idle).then_some(slot.age.since_used(self.count))
            }),
        })
    }

    /// The first slot that is taken and for which this is true.
    fn first(&self, is_it: impl Fn(&Slot<C, P, BUFFER>) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&is_it))
    }

    /// The slot whose event is longest ago. `since` says how long ago it is, or that the slot stays.
    #[cfg(feature = "eviction")]
    fn longest(&self, since: impl Fn(&Slot<C, P, BUFFER>) -> Option<u32>) -> Option<usize> {
        let ages = self.slots.iter().enumerate();
        let ages = ages.filter_map(|(place, slot)| Some((slot.as_ref().and_then(&since)?, place)));
        ages.max().map(|(_, place)| place)
    }
}

impl<K, C: Crypto, P, const SLOTS: usize, const BUFFER: usize, S> Drop for Server<K, C, P, SLOTS, BUFFER, S> {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}
