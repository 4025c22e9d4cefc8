//! ClientHellos: which of them opens a connection, and in which slot. Nothing is kept of a client before its cookie has returned.

use subtle::ConstantTimeEq;

use super::{Server, Slot};
use crate::association::Association;
use crate::codec::Reader;
use crate::config::Admission;
use crate::connection::Connection;
use crate::connection_id::ConnectionId;
use crate::content_type::ContentType;
use crate::credentials::{Credentials, is_known};
use crate::crypto::Crypto;
use crate::dtls12::{self, COOKIE, ClientHello, Offer, Resuming, find_session, record};
use crate::eviction::Age;
use crate::features::{EVICTION, Feature, RESUMPTION, Switch};
use crate::handshake::{self, Arrived, Kind};
use crate::reassembly::Reassembly;
use crate::reply::Reply;
use crate::session::Sessions;

/// The largest record number of a ClientHello that is answered: half of those that records in clear have in DTLS 1.3.
const LAST_HELLO: u64 = 1 << 22;

impl<K, C, P, const SLOTS: usize, const BUFFER: usize, S> Server<K, C, P, SLOTS, BUFFER, S>
where
    K: Credentials,
    C: Crypto,
    P: Copy + PartialEq + AsRef<[u8]>,
    S: Sessions,
{
    /// Processes a datagram that begins with a ClientHello. Returns false if it does not.
    pub(super) fn receive_hello(&mut self, peer: P, datagram: &[u8]) -> bool {
        let mut reader = Reader::new(datagram);
        let Some(record) = record::Header::read(&mut reader, &ConnectionId::default()) else { return false };
        if record.epoch != 0 || record.content_type != ContentType::Handshake {
            return false;
        }
        // The server's records begin with this number. (Assumed: no client sends so many hellos.)
        if record.sequence > LAST_HELLO {
            return true;
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
        if self.config.options.dtls13.versions != crate::Versions::Dtls12 {
            match crate::dtls13::hello::ClientHello::read(arrived.body) {
                Some(hello) => return self.answer_dtls13(peer, arrived, &hello),
                None if self.config.options.dtls13.versions == crate::Versions::Dtls13 => return,
                None => {}
            }
        }
        let Some(hello) = ClientHello::read(arrived.body) else { return };
        let octets = record::HEADER + handshake::HEADER + arrived.body.len();
        let has_cookie = !hello.cookie.is_empty();
        let Some(latest) = self.look_at(peer, &hello.random, has_cookie, octets) else { return };
        let cookie = self.cookie(&peer, latest, &hello);
        let is_verified = bool::from(hello.cookie.ct_eq(&cookie));
        // Nobody loses a slot to a client without a cookie: a connection that it has, or says to have, stays.
        let is_alone = self.first(|slot| slot.peer == peer && !slot.connection.is_over()).is_none();
        let is_known = is_known(&self.config.credentials, peer.as_ref());
        let is_trusted = is_known && hello.cookie.is_empty() && is_alone && self.config.abilities().is_cheap(&hello);
        let place = if is_verified || is_trusted { self.place(peer, is_verified) } else { None };
        let Some(place) = place else {
            if !is_verified {
                let reply = dtls12::server::write_verify_request(&mut self.crypto, arrived.record, &cookie);
                self.reply(peer, reply);
            }
            return;
        };
        let association = self.next_association();
        let from = dtls12::server::From { address: peer.as_ref(), unverified: (!is_verified).then_some(octets) };
        let connection_id = self.draw_id();
        let offer = Offer {
            options: &self.config.options,
            connection_id,
            identity: &[],
            abilities: self.config.abilities(),
            session: None,
        };
        let tickets = Feature::<RESUMPTION>::borrow(&self.tickets);
        let (lifetime_s, now) = (offer.options.sessions.lifetime_s(), self.now);
        let (credentials, sessions) = (&self.config.credentials, &self.sessions);
        let crypto = &mut self.crypto;
        let find = || find_session(crypto, &hello, credentials, tickets, sessions, (now, lifetime_s));
        let session = Feature::<RESUMPTION>::only(find);
        let resuming = session.as_ref().and_then(|session| {
            let session = session.as_ref();
            Feature::<RESUMPTION>::only(|| Resuming { tickets, session, gives_ids: sessions.keeps(), lifetime_s, now })
        });
        let connection = Connection::Dtls12(dtls12::Connection::new(&mut self.crypto, false, self.config.timeouts));
        let age = Age::new(self.count.next());
        let opened_at = self.now.as_millis() as u32;
        let slot = self.slots.get_mut(place);
        let slot = slot.map(|place| place.insert(Slot { peer, association, opened_at, age, connection }));
        let Some(Slot { connection: Connection::Dtls12(connection), .. }) = slot else { return };
        let crypto = &mut self.crypto;
        dtls12::server::open(connection, crypto, &self.config, &offer, &resuming, arrived, (from, &hello));
    }

    /// Looks at what there is with the peer of a ClientHello. `None` if it was answered already: the client perhaps does not have the
    /// answer. (A client has the same random number in its hello without a cookie, which is answered elsewhere if it comes late.)
    ///
    /// Otherwise the number of the latest association with this address; 0 if there is none. It is in the cookies for the address: one
    /// that was good for an association before cannot end this one.
    fn look_at(&mut self, peer: P, random: &[u8; 32], has_cookie: bool, octets: usize) -> Option<u32> {
        let mut latest = Association::NONE;
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.peer == peer) {
            let connection = &mut slot.connection;
            if connection.has_answered(random) && (has_cookie || connection.is_unverified()) {
                connection.hear_hello_again(octets);
                return None;
            }
            if !connection.is_over() {
                latest = latest.max(slot.association.number());
            }
        }
        Some(latest)
    }

    #[cfg(feature = "dtls13")]
    fn answer_dtls13(&mut self, peer: P, arrived: Arrived<'_>, hello: &crate::dtls13::hello::ClientHello<'_>) {
        use crate::dtls13;

        let octets = record::HEADER + handshake::HEADER + arrived.body.len();
        let has_cookie = hello.cookie().is_some() || !self.config.options.dtls13.has_cookie;
        let Some(latest) = self.look_at(peer, &hello.random, has_cookie, octets) else { return };
        // Nobody loses a slot to a client without a cookie.
        let is_alone = self.first(|slot| slot.peer == peer && !slot.connection.is_over()).is_none();
        let from = dtls13::server::Sender {
            secret: &self.secret,
            latest,
            periods: [0, 1].map(|ago| self.period.wrapping_sub(ago)),
            address: peer.as_ref(),
            can_be_unverified: is_alone && self.place(peer, false).is_some(),
        };
        let admitted = match dtls13::server::admit(&mut self.crypto, &self.config, from, &arrived, hello) {
            Ok(admitted) => admitted,
            Err(reply) => return self.reply(peer, reply),
        };
        let place = self.place(peer, admitted.is_verified());
        let Some(place) = place else { return };
        let own_id = self.draw_id();
        let mut connection = dtls13::server::open(&mut self.crypto, &self.config, arrived, hello, &admitted, own_id);
        if !admitted.is_verified() && self.config.options.dtls13.has_cookie {
            connection.allowance.receive(octets);
        }
        let association = self.next_association();
        let (age, connection) = (Age::new(self.count.next()), Connection::Dtls13(connection));
        let opened_at = self.now.as_millis() as u32;
        self.slots[place] = Some(Slot { peer, association, opened_at, age, connection });
    }

    fn next_association(&mut self) -> Association {
        let next = Association::after(self.latest);
        self.latest = next.number();
        next
    }

    /// Sends an answer to a client without a slot.
    fn reply<const LENGTH: usize>(&mut self, peer: P, reply: Option<([u8; LENGTH], usize)>) {
        self.reply = reply.map(|(octets, length)| (peer, Reply::new(&octets[..length])));
    }

    /// The cookie of a ClientHello: only this server can make it, and for no other peer or hello
    /// (RFC 6347, section 4.2.1). Its first octet says in which period the server made it. A client that brings one of the period
    /// before is compared with that; so there is one computation for each hello.
    fn cookie(&mut self, peer: &P, latest: u32, hello: &ClientHello<'_>) -> [u8; COOKIE] {
        let age = hello.cookie.first().is_some_and(|made| made.wrapping_add(1) == self.period as u8);
        let [lower, upper] = self.period.wrapping_sub(age.into()).to_le_bytes();
        let [before, after] = hello.around;
        let (address, latest) = (peer.as_ref(), latest.to_be_bytes());
        let parts = [&[upper, lower, address.len() as u8], address, &latest, before, after];
        let mut cookie = *self.crypto.hmac(&self.secret, &parts).first_chunk().unwrap_or(&[0; COOKIE]);
        cookie[0] = lower;
        cookie
    }

    /// The slot for a new connection with a peer: one that nobody loses; if its cookie has returned, also that of another one.
    fn place(&self, peer: P, is_verified: bool) -> Option<usize> {
        let (mut best, mut longest, mut found) = (if is_verified { Claim::None } else { Claim::Unverified }, 0, None);
        for (place, slot) in self.slots.iter().enumerate() {
            let (claim, since) = slot.as_ref().map_or((Claim::Free, 0), |slot| self.claim(peer, slot));
            if claim > best || claim == best && found.is_some() && since > longest {
                (best, longest, found) = (claim, since, Some(place));
            }
        }
        found
    }

    /// Why a new connection with a peer may have this slot, and how long ago its event is.
    fn claim(&self, peer: P, slot: &Slot<C, P, BUFFER>) -> (Claim, u32) {
        let is_own = slot.peer == peer;
        if slot.connection.is_over() {
            return (Claim::Over, 0);
        }
        if slot.is_half_open() {
            let since = (self.now.as_millis() as u32).wrapping_sub(slot.opened_at);
            let is_late = since >= self.config.half_open_ms;
            return match is_own {
                true => (Claim::OwnHandshake, 0),
                false if slot.connection.is_unverified() => (Claim::Unverified, 0),
                // Without the feature `eviction`, one is as good as the other.
                false if is_late => (Claim::HalfOpen, if EVICTION { since } else { 0 }),
                false => (Claim::None, 0),
            };
        }
        if is_own {
            return (Claim::Own, 0);
        }
        match self.config.admission {
            Admission::Refuse => (Claim::None, 0),
            #[cfg(feature = "eviction")]
            Admission::EvictOldest => (Claim::Policy, self.latest.wrapping_sub(slot.association.number())),
            #[cfg(feature = "eviction")]
            Admission::EvictIdleLongest { idle_after_ms } if !slot.age.is_idle(idle_after_ms, self.now) => {
                (Claim::None, 0)
            }
            #[cfg(feature = "eviction")]
            Admission::EvictLeastRecentlyUsed | Admission::EvictIdleLongest { .. } => {
                (Claim::Policy, slot.age.since_used(self.count))
            }
        }
    }
}

/// Why a new connection may have a slot. The last reason is the best. Of slots with the same one, that is the best whose event is
/// longest ago.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// It may not.
    None,
    /// The policy ends the session in it.
    Policy,
    /// It is the peer's own session before.
    Own,
    /// Its client does not finish its handshake.
    HalfOpen,
    /// Its client may not be where it says. Beyond this, nobody loses it.
    Unverified,
    /// Its connection has ended.
    Over,
    /// Nobody has it.
    Free,
    /// It is the peer's own handshake before.
    OwnHandshake,
}
