//! The server: several connections in static slots, and no state for a client before its cookie has returned.

mod admission;

use zeroize::Zeroize;

use crate::association::Association;
use crate::config::Config;
use crate::connection::Connection;
use crate::connection_id::ConnectionId;
use crate::credentials::Credentials;
use crate::crypto::{Crypto, DIGEST, KEY};
use crate::dtls12::{Resuming, TicketKeys};
use crate::eviction::{Age, Count};
use crate::features::{CONNECTION_ID, Feature, If, RESUMPTION, Switch};
use crate::reassembly::Reassembly;
use crate::replay::Heard;
use crate::reply::Reply;
use crate::session::Sessions;
use crate::status::{Failure, SendError, Status};
use crate::time::Instant;

/// A DTLS server with at most `SLOTS` connections.
///
/// `P` is the address of a peer: where a datagram goes, and where it says it comes from. Who has sent the data in it is an
/// [`Association`], which [`receive`](Self::receive) returns, and which all questions take. `BUFFER` is as for
/// [`Client`](crate::Client). `S` keeps sessions that clients may resume by
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
    /// The number of the latest association.
    latest: u32,
    /// The last time that the owner has told.
    now: Instant,
    /// Its type is a parameter of the server with every set of features.
    sessions: S,
    tickets: Option<If<RESUMPTION, TicketKeys>>,
    /// The key of the cookies.
    secret: [u8; DIGEST],
    /// The number of times that the owner has asked for other cookies.
    period: u16,
    /// A ClientHello in fragments. One at a time: all clients without a slot share it.
    hello: Option<(P, Reassembly<BUFFER>)>,
    /// The answer to a client without a slot.
    reply: Option<(P, Reply)>,
}

// Small fields come first, as in a connection.
#[cfg_attr(target_arch = "avr", repr(C))]
struct Slot<C: Crypto, P, const BUFFER: usize> {
    peer: P,
    association: Association,
    /// When it was opened, as the owner had told the time: its lower half in milliseconds. (A handshake takes no 2^32 of them.)
    opened_at: u32,
    age: Age,
    connection: Connection<C, BUFFER>,
}

impl<C: Crypto, P, const BUFFER: usize> Slot<C, P, BUFFER> {
    const fn is_half_open(&self) -> bool {
        matches!(self.connection.status(), Status::Handshaking)
    }
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
        let mut tickets = None;
        if config.options.sessions.tickets {
            let mut key = [0; KEY];
            crypto.random(&mut key);
            tickets = Feature::<RESUMPTION>::only(|| TicketKeys::new(&mut crypto, &key));
            key.zeroize();
        }
        let mut secret = [0; DIGEST];
        crypto.random(&mut secret);
        Self {
            config,
            crypto,
            slots: core::array::from_fn(|_| None),
            count: Count::default(),
            latest: Association::NONE,
            now: Instant::from_millis(0),
            sessions,
            tickets,
            secret,
            period: 0,
            hello: None,
            reply: None,
        }
    }

    /// Processes a datagram that says it comes from `peer`, and decrypts it in place. `deliver` gets the application data in it.
    ///
    /// Returns whose datagram it is: the association whose client alone can have sent a record in it. All data that it has delivered
    /// are of that one, whatever the address says. `None` if nothing in it proves that.
    #[inline(never)] // its caller is often the loop of the whole program, which keeps too much at once
    pub fn receive(&mut self, peer: P, datagram: &mut [u8], mut deliver: impl FnMut(&[u8])) -> Option<Association> {
        if self.receive_hello(peer, datagram) {
            return None;
        }
        let place = self.find(peer, datagram)?;
        let resuming = Feature::<RESUMPTION>::only(|| Resuming {
            tickets: Feature::<RESUMPTION>::borrow(&self.tickets),
            session: None,
            gives_ids: self.sessions.keeps(),
            lifetime_s: self.config.options.sessions.lifetime_s(),
            now: self.now,
        });
        let slot = self.slots[place].as_mut()?;
        let crypto = &mut self.crypto;
        let was_half_open = slot.is_half_open();
        let heard = slot.connection.receive_from_client(crypto, &self.config, &resuming, datagram, &mut deliver);
        if heard == Heard::Nothing {
            return None;
        }
        slot.age.note_use(self.count.next(), None);
        let association = slot.association;
        let is_established = slot.connection.status() == Status::Established;
        if is_established && was_half_open {
            self.abandon_earlier(place);
        }
        if RESUMPTION {
            self.keep(place);
        }
        if CONNECTION_ID && heard == Heard::Latest && is_established {
            self.follow(place, peer);
        }
        Some(association)
    }

    /// The client in this slot has proved itself. Whatever there was before at its address has ended (RFC 6347, section 4.2.8;
    /// RFC 9147, section 5.11).
    fn abandon_earlier(&mut self, place: usize) {
        let Some(Slot { peer, .. }) = &self.slots[place] else { return };
        let peer = *peer;
        for other in (0..SLOTS).filter(|other| *other != place) {
            if self.slots[other].as_ref().is_some_and(|slot| slot.peer == peer) && !self.is_elsewhere(place, other) {
                self.slots[other] = None;
            }
        }
    }

    /// True if another connection is found by its ID, and its client is somebody else than who is now at its address.
    fn is_elsewhere(&self, place: usize, other: usize) -> bool {
        let (Some(here), Some(other)) = (&self.slots[place], &self.slots[other]) else { return false };
        let has_id = other.connection.own_id().is_some_and(|id| !id.octets().is_empty());
        let is_same_key = here.connection.peers_key() == other.connection.peers_key();
        CONNECTION_ID && has_id && !(is_same_key && here.connection.identity() == other.connection.identity())
    }

    /// The slot to which a datagram belongs: that of its connection ID, or that of its address. There can be two at one address: a
    /// client begins again, or somebody says so in its name.
    fn find(&self, peer: P, datagram: &[u8]) -> Option<usize> {
        if let Some(length @ 1..) = self.config.options.connection_id.length
            && let Some(id) = crate::connection::connection_id_of(datagram, length.into())
        {
            return self.first(|slot| slot.connection.own_id().is_some_and(|own| own.octets() == id));
        }
        self.first_at(peer, crate::connection::is_of_handshake(datagram))
    }

    /// The slot of the connection with a peer. If there are two, that of the handshake, or the other one.
    fn first_at(&self, peer: P, is_handshake: bool) -> Option<usize> {
        let (mut best, mut found) = ((0, 0), None);
        for (place, slot) in self.slots.iter().enumerate() {
            let Some(slot) = slot.as_ref().filter(|slot| slot.peer == peer) else { continue };
            let claim = match (slot.is_half_open() == is_handshake, slot.connection.is_over()) {
                (true, false) => 3,
                (true, true) => 2,
                (false, _) => 1,
            };
            // The latest, if there are two that have proved themselves: one is found by its ID.
            let number = if CONNECTION_ID { slot.association.number() } else { 0 };
            if (claim, number) > best {
                (best, found) = ((claim, number), Some(place));
            }
        }
        found
    }

    /// The first slot that is taken and for which this is true.
    fn first(&self, is_it: impl Fn(&Slot<C, P, BUFFER>) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&is_it))
    }

    /// The association whose answers go to this address. If there are two, the one that has proved itself.
    pub fn association_at(&self, peer: P) -> Option<Association> {
        self.slots[self.first_at(peer, false)?].as_ref().map(|slot| slot.association)
    }

    /// All associations that have a slot.
    pub fn associations(&self) -> impl Iterator<Item = Association> {
        self.slots.iter().flatten().map(|slot| slot.association)
    }

    /// Where the answers of an association go. `None` if it has no slot any more.
    pub fn address(&self, association: Association) -> Option<P> {
        self.slot(association).map(|slot| slot.peer)
    }

    /// The client in this slot has another address now, unless that is another client's.
    fn follow(&mut self, place: usize, peer: P) {
        if !self.config.options.connection_id.follows_addresses
            || self.slots.iter().flatten().any(|slot| slot.peer == peer && !slot.connection.is_over())
        {
            return;
        }
        for (other, slot) in self.slots.iter_mut().enumerate() {
            match slot {
                Some(slot) if other == place => slot.peer = peer,
                Some(over) if over.peer == peer => *slot = None,
                _ => {}
            }
        }
    }

    /// Keeps the session of a connection whose handshake is complete, and forgets that of one which has ended with a fatal alert
    /// (RFC 5246, section 7.2.2).
    fn keep(&mut self, place: usize) {
        let Some(Slot { connection: Connection::Dtls12(connection), .. }) = &mut self.slots[place] else { return };
        match connection.status {
            Status::Established => {
                if let Some(session) = connection.take_state(self.now) {
                    self.sessions.keep(session);
                }
            }
            Status::Failed(Failure::AlertReceived(_) | Failure::AlertSent(_)) if connection.is_named() => {
                self.sessions.forget(connection.session_id().octets());
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

    /// True if the handshake resumes a session.
    #[cfg(feature = "resumption")]
    pub fn is_resumed(&self, association: Association) -> bool {
        self.slot(association).is_some_and(|slot| slot.connection.is_resumed())
    }

    /// A connection ID that no slot has. `None` if the configuration asks for none, or if chance found none.
    fn draw_id(&mut self) -> Option<ConnectionId> {
        let length = self.config.options.connection_id.length?;
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

    /// Encrypts application data for a client into `output`, and returns the length of the datagram, which goes to its
    /// [`address`](Self::address).
    ///
    /// # Errors
    /// The association has no slot any more, or is not established; or the data do not fit into `output`.
    pub fn send(&mut self, association: Association, data: &[u8], output: &mut [u8]) -> Result<usize, SendError> {
        let (use_, now) = (self.count.next(), self.now);
        let slot = slot_of(&mut self.slots, association).ok_or(SendError::NotEstablished)?;
        slot.age.note_use(use_, Some(now));
        slot.connection.send(&mut self.crypto, data, output)
    }

    /// Asks a client whether it is there (RFC 6520). [`poll_transmit`](Self::poll_transmit) then has the request, and
    /// [`liveness`](Self::liveness) the answer.
    ///
    /// # Errors
    /// See [`HeartbeatError`](crate::HeartbeatError).
    #[cfg(feature = "heartbeat")]
    pub fn heartbeat(&mut self, association: Association) -> Result<(), crate::HeartbeatError> {
        let slot = slot_of(&mut self.slots, association).ok_or(crate::HeartbeatError::NotEstablished)?;
        slot.connection.start_heartbeat(&mut self.crypto)
    }

    /// The knowledge about a client since the last heartbeat. `None` if it has no slot.
    #[cfg(feature = "heartbeat")]
    pub fn liveness(&self, association: Association) -> Option<crate::Liveness> {
        self.slot(association).map(|slot| slot.connection.liveness())
    }

    /// The present time: that of what has happened since the owner told it last.
    fn tell(&mut self, now: Instant) {
        self.now = now;
        self.slots.iter_mut().flatten().for_each(|slot| slot.age.tell(now));
    }

    /// The most octets of application data that [`send`](Self::send) puts into a datagram of `room` octets for this client.
    /// `None` if it has no slot.
    pub fn max_data(&self, association: Association, room: usize) -> Option<usize> {
        self.slot(association).map(|slot| slot.connection.max_data(room))
    }

    /// Octets of the connection IDs in the encrypted records that this end receives from a client and sends to it. `None` if both
    /// ends have agreed on none.
    #[cfg(feature = "connection-id")]
    pub fn connection_ids(&self, association: Association) -> Option<[usize; 2]> {
        self.slot(association)?.connection.connection_ids()
    }

    /// The identity of the pre-shared key that a client has proved to have. `None` if it is not established, has none, or one of more
    /// than [`MAX_IDENTITY`](crate::MAX_IDENTITY) octets; and if it did not send it ([`KNOWN_ADDRESS`](crate::Lean)).
    pub fn peer_identity(&self, association: Association) -> Option<&[u8]> {
        let identity = self.established(association)?.identity();
        (!identity.is_empty()).then_some(identity)
    }

    /// The public key in the certificate of a client: 4, x and y. The credentials have accepted it, and the client has proved
    /// that it has the private key, now or when the session was opened that it resumes. `None` if it is not established, or has none.
    #[cfg(feature = "certificates")]
    pub fn peer_public_key(&self, association: Association) -> Option<&[u8; crate::crypto::MAX_PUBLIC]> {
        self.established(association)?.peers_key()
    }

    fn established(&self, association: Association) -> Option<&Connection<C, BUFFER>> {
        let connection = &self.slot(association)?.connection;
        (connection.status() == Status::Established).then_some(connection)
    }

    fn slot(&self, association: Association) -> Option<&Slot<C, P, BUFFER>> {
        self.slots.iter().flatten().find(|slot| slot.association == association)
    }

    /// The version that the server has chosen for a client. `None` if it has no slot.
    #[cfg(feature = "dtls13")]
    pub fn versions(&self, association: Association) -> Option<crate::Versions> {
        self.slot(association).map(|slot| slot.connection.versions())
    }

    /// Changes the keys of both ends: see [`Client::update_keys`](crate::Client::update_keys).
    #[cfg(feature = "dtls13")]
    pub fn update_keys(&mut self, association: Association) {
        if let Some(slot) = slot_of(&mut self.slots, association) {
            slot.connection.update_keys();
        }
    }

    /// Closes the connection with a client. [`poll_transmit`](Self::poll_transmit) then has the alert for it.
    pub fn close(&mut self, association: Association) {
        if let Some(slot) = slot_of(&mut self.slots, association) {
            slot.connection.close();
        }
    }

    /// The state of the connection with a client. `None` if it has no slot. A connection that has ended keeps its slot until
    /// another one needs it.
    pub fn status(&self, association: Association) -> Option<Status> {
        self.slot(association).map(|slot| slot.connection.status())
    }
}

/// The slot of an association.
fn slot_of<C: Crypto, P, const BUFFER: usize>(
    slots: &mut [Option<Slot<C, P, BUFFER>>],
    association: Association,
) -> Option<&mut Slot<C, P, BUFFER>> {
    slots.iter_mut().flatten().find(|slot| slot.association == association)
}

impl<K, C: Crypto, P, const SLOTS: usize, const BUFFER: usize, S> Drop for Server<K, C, P, SLOTS, BUFFER, S> {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}
