//! Resumption: by a session ID (RFC 5246, section 7.3), and by a ticket, for which the server keeps nothing (RFC 5077).

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::connection::{Connection, Expects, Problem};
use super::extensions::Agreed;
use super::hello::{ClientHello, ServerHello};
use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::config::{Config, MaxFragmentLength};
use crate::credentials::{Credentials, accepted, add_session_context};
use crate::crypto::{Aead, Crypto, DIGEST, Hash, KEY, NONCE, Protection};
use crate::extension::SESSION_TICKET;
use crate::features::{CERTIFICATES, Feature, If, RESUMPTION, Switch, is};
use crate::handshake::Kind;
use crate::session::{Certified, Kept, Peer, STATE, Session, SessionId, SessionState, Sessions};
use crate::suite::{Abilities, KeyExchange, Suite};
use crate::time::Instant;

/// Octets of the names that a server gives to sessions: as many as there can be, because clients of wolfSSL 5.9 resume no session
/// with a shorter name, and those of Mbed TLS 3.6 none with less than 16.
const ID: usize = 32;

/// Octets of the names by which a client sees that its ticket was taken. (Assumed: a server does not choose the same by chance.)
const TICKET_ID: usize = 8;

/// Octets of the name of a ticket key (RFC 5077, section 4, recommends 16; assumed: a server has two of them).
const KEY_NAME: usize = 4;

/// The algorithm of tickets.
const TICKET_AEAD: Aead = Aead::Ccm8;

/// Octets of the longest ticket.
const TICKET: usize = KEY_NAME + NONCE + STATE + TICKET_AEAD.tag();

/// A ticket, and its length.
type Ticket = ([u8; TICKET], usize);

/// The means of a server to resume sessions.
#[derive(Clone, Copy)]
pub(crate) struct Resuming<'a> {
    /// If its configuration asks for tickets.
    pub(crate) tickets: Option<&'a TicketKeys>,
    /// The session that the client asks for, if it may be resumed.
    pub(crate) session: Option<&'a SessionState>,
    /// It gives names to new sessions.
    pub(crate) gives_ids: bool,
    pub(crate) lifetime_s: u32,
    pub(crate) now: Instant,
}

/// The keys of a server's tickets: the one for new tickets, and the one before, for those that clients still have.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct TicketKeys {
    current: TicketKey,
    previous: Option<TicketKey>,
}

#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct TicketKey {
    /// The name of the key in tickets.
    name: [u8; KEY_NAME],
    key: [u8; KEY],
}

impl TicketKey {
    fn new<C: Crypto>(crypto: &mut C, key: &[u8; KEY]) -> Self {
        let name = crypto.hmac(key, &[b"name of a ticket key"]);
        Self { name: *name.first_chunk().unwrap_or(&[0; KEY_NAME]), key: *key }
    }
}

impl TicketKeys {
    pub(crate) fn new<C: Crypto>(crypto: &mut C, key: &[u8; KEY]) -> Self {
        Self { current: TicketKey::new(crypto, key), previous: None }
    }

    pub(crate) fn rotate<C: Crypto>(&mut self, crypto: &mut C, key: &[u8; KEY]) {
        let before = core::mem::replace(&mut self.current, TicketKey::new(crypto, key));
        self.previous = Some(before);
    }

    /// A ticket for a session, which is good in its context only.
    fn seal<C: Crypto>(&self, crypto: &mut C, context: &[u8; DIGEST], session: &SessionState) -> Result<Ticket, Full> {
        let (mut ticket, mut nonce) = ([0; TICKET], [0; NONCE]);
        crypto.random(&mut nonce);
        let mut writer = Writer::new(&mut ticket);
        writer.put(&self.current.name)?;
        writer.put(&nonce)?;
        session.write(&mut writer)?;
        let state = writer.len() - KEY_NAME - NONCE;
        writer.put(&[0; TICKET_AEAD.tag()])?;
        let length = writer.len();
        let (name, rest) = ticket.split_at_mut(KEY_NAME);
        let (state, tag) = rest[NONCE..length - KEY_NAME].split_at_mut(state);
        let associated = &associated(name, context);
        let with = Protection { aead: TICKET_AEAD, key: &self.current.key, nonce: &nonce, associated };
        crypto.seal(&with, state, tag).map_err(|_| Full)?;
        Ok((ticket, length))
    }

    /// The session in a ticket. `None` if no key of this server's has sealed it, or if it was sealed in another context.
    pub(crate) fn open<C: Crypto>(
        &self,
        crypto: &mut C,
        context: &[u8; DIGEST],
        ticket: &[u8],
        id: &[u8],
    ) -> Option<SessionState> {
        let mut octets = [0; TICKET];
        let octets = octets.get_mut(..ticket.len())?;
        octets.copy_from_slice(ticket);
        let (name, rest) = octets.split_at_mut_checked(KEY_NAME)?;
        let mut keys = [Some(&self.current), self.previous.as_ref()].into_iter().flatten();
        let key = keys.find(|key| key.name == *name)?;
        let (nonce, rest) = rest.split_first_chunk_mut()?;
        let (state, tag) = rest.split_at_mut_checked(rest.len().checked_sub(TICKET_AEAD.tag())?)?;
        let associated = &associated(name, context);
        let with = Protection { aead: TICKET_AEAD, key: &key.key, nonce, associated };
        crypto.open(&with, state, tag).ok()?;
        let session = SessionState::read(Reader::new(state), SessionId::new(id)?, true);
        state.zeroize();
        session
    }
}

/// The data that the tag of a ticket protects beside its state: the name of its key, and the session context.
fn associated(name: &[u8], context: &[u8; DIGEST]) -> [u8; KEY_NAME + DIGEST] {
    let mut octets = [0; KEY_NAME + DIGEST];
    octets[..KEY_NAME].copy_from_slice(name);
    octets[KEY_NAME..].copy_from_slice(context);
    octets
}

/// The session context: what tells this server from those that trust other clients (RFC 5077, section 5).
pub(crate) fn context<C: Crypto>(crypto: &mut C, credentials: &impl Credentials) -> [u8; DIGEST] {
    let mut hash = crypto.hash();
    let mut add = |octets: &[u8]| {
        hash.update(&(octets.len() as u32).to_be_bytes());
        hash.update(octets);
    };
    accepted(credentials).iter().for_each(|kind| add(&[kind.number()]));
    add_session_context(credentials, &mut add);
    hash.digest()
}

/// The session that a client asks for, if this server has it: by its ticket, or else by its ID. Whether it may be resumed,
/// the other hello and its age say.
pub(crate) fn find<C: Crypto>(
    crypto: &mut C,
    hello: &ClientHello<'_>,
    credentials: &impl Credentials,
    tickets: Option<&TicketKeys>,
    sessions: &impl Sessions,
    (now, lifetime_s): (Instant, u32),
) -> Option<SessionState> {
    let ticket = hello.extensions.find(SESSION_TICKET).filter(|ticket| !ticket.is_empty());
    let session = match (tickets, ticket) {
        (Some(keys), Some(ticket)) => {
            let context = context(crypto, credentials);
            keys.open(crypto, &context, ticket, hello.session())
        }
        _ => None,
    };
    let by_id = || sessions.find(hello.session()).filter(|_| !hello.session().is_empty()).cloned();
    session.or_else(by_id).filter(|session| {
        // One from the future is of another life of the server's clock.
        let age = now.as_millis().checked_sub(session.kept_at.as_millis());
        let is_young = age.is_some_and(|age| age < u64::from(lifetime_s) * 1000);
        is_young && session.peer.is_trusted(credentials, true)
    })
}

impl SessionState {
    /// True if the hellos suit the session: the suite is offered and allowed, and the fragment length is the session's.
    pub(super) fn suits(&self, hello: &ClientHello<'_>, abilities: &Abilities<'_>, agreed: &Agreed) -> bool {
        abilities.suites.contains(&self.suite)
            && hello.offers(self.suite)
            && self.fragment_length == MaxFragmentLength::code(agreed.limits.fragment_length)
    }

    /// The client: true if the server has taken this session.
    pub(super) fn is_that_of(&self, hello: &ServerHello<'_>) -> bool {
        !self.id().is_empty() && self.id() == hello.session()
    }

    /// The client: whether the server's hello suits the session that it has taken.
    pub(super) fn check(&self, suite: Suite, agreed: &Agreed) -> Result<(), u8> {
        if suite != self.suite || MaxFragmentLength::code(agreed.limits.fragment_length) != self.fragment_length {
            return Err(alert::ILLEGAL_PARAMETER);
        }
        // RFC 7627, section 5.3: every session that is kept had the extension.
        agreed.extended_master_secret.then_some(()).ok_or(alert::HANDSHAKE_FAILURE)
    }
}

impl<C: Crypto, const BUFFER: usize> Connection<C, BUFFER> {
    /// The state of this session that is kept. `None` without extended master secret, while there are no keys, and if the identity of its
    /// pre-shared key is not kept.
    fn state(&self, kept_at: Instant) -> Option<SessionState> {
        let master = self.master.as_ref().filter(|_| self.agreed.extended_master_secret)?.clone();
        let fragment_length = MaxFragmentLength::code(self.agreed.limits.fragment_length);
        let peer = self.peer()?;
        Some(SessionState {
            id: self.session_id(),
            is_of_ticket: false,
            master,
            peer,
            suite: self.suite,
            fragment_length,
            kept_at,
        })
    }

    /// Who the peer has proved to be. `None` if the identity of its pre-shared key is not kept.
    fn peer(&self) -> Option<Peer> {
        if self.suite.key_exchange() == KeyExchange::EcdheEcdsa {
            let kinds = self.agreed.public_keys;
            let kind = if self.is_client { kinds.server_type() } else { kinds.client_type() };
            let key = self.keys.first().and_then(|keys| Feature::<CERTIFICATES>::borrow(&keys.certified));
            let certified = key.and_then(|key| Feature::<CERTIFICATES>::only(|| Certified { kind, key: *key }));
            return Some(certified.map_or(Peer::Anyone, Peer::Certified));
        }
        (!self.identity.octets().is_empty()).then_some(Peer::Psk(self.identity))
    }

    /// The server has given the session its name.
    pub(crate) fn is_named(&self) -> bool {
        self.resumption.first().is_some_and(|resumption| resumption.is_named)
    }

    /// The name of the session. Empty if it has none.
    pub(crate) fn session_id(&self) -> SessionId {
        self.resumption.first().map_or(SessionId::EMPTY, |resumption| resumption.id)
    }

    /// Takes the master secret of another session in the place of a key exchange.
    pub(super) fn resume(&mut self, crypto: &mut C, session: &SessionState) {
        if let Some(resumption) = self.resumption.first_mut() {
            (resumption.is_resumed, resumption.is_named) = (true, !session.is_of_ticket);
            resumption.id = session.id;
        }
        self.suite = session.suite;
        match session.peer {
            Peer::Anyone => {}
            Peer::Psk(identity) => self.identity = identity,
            Peer::Certified(peer) => {
                if let Some(keys) = self.keys.first_mut() {
                    keys.certified = Feature::<CERTIFICATES>::only(|| peer.key);
                }
            }
        }
        self.protect(crypto, session.master.clone());
    }

    /// The server: what is to be kept of a session whose handshake is complete. Once.
    pub(crate) fn take_state(&mut self, kept_at: Instant) -> Option<SessionState> {
        let resumption = self.resumption.first_mut()?;
        if !core::mem::take(&mut resumption.is_to_keep) {
            return None;
        }
        let state = self.state(kept_at);
        self.master = None;
        state
    }

    /// The server: the name of a new session, if it is to have one.
    pub(super) fn name(&mut self, crypto: &mut C, resuming: &Resuming<'_>) {
        let has_name = resuming.gives_ids && !is(&self.agreed.session_ticket) && self.agreed.extended_master_secret;
        if let Some(resumption) = self.resumption.first_mut().filter(|_| has_name) {
            let mut id = [0; ID];
            crypto.random(&mut id);
            resumption.id = SessionId::new(&id).unwrap_or_default();
            (resumption.is_named, resumption.is_to_keep) = (true, true);
        }
    }

    /// The server: the NewSessionTicket, if both ends have agreed on one.
    pub(super) fn send_ticket(
        &mut self,
        crypto: &mut C,
        credentials: &impl Credentials,
        resuming: &Resuming<'_>,
    ) -> Result<(), Problem> {
        let Some(keys) = resuming.tickets.filter(|_| is(&self.agreed.session_ticket)) else { return Ok(()) };
        let context = context(crypto, credentials);
        let sent = self.state(resuming.now).ok_or(Full).and_then(|state| {
            let (ticket, length) = keys.seal(crypto, &context, &state)?;
            self.sender.send(Kind::NewSessionTicket, |writer| {
                writer.number(resuming.lifetime_s, 4)?;
                writer.vector(2, |writer| writer.put(&ticket[..length]))
            })
        });
        // Without room for it, there is none after all (RFC 5077, section 3.3).
        Ok(sent.or_else(|Full| self.sender.send(Kind::NewSessionTicket, |writer| writer.put(&[0; 6])))?)
    }

    /// The client: its keys are there, and the server's last flight is next.
    pub(super) fn expect_last_flight(&mut self, kept: &mut Kept) {
        let has_ticket = is(&self.agreed.session_ticket);
        if RESUMPTION && !self.is_resumed() {
            let has_name = !self.session_id().octets().is_empty() || has_ticket;
            let state = self.state(Instant::from_millis(0)).filter(|_| has_name);
            *kept = state.and_then(|state| Feature::<RESUMPTION>::only(|| Session::new(state)));
        }
        self.expect_finished();
        if has_ticket {
            self.expects = Expects::NewSessionTicket;
        }
    }
}

/// The client: keeps the ticket in a NewSessionTicket. `None` if it is malformed.
pub(super) fn read_ticket(body: &[u8], kept: &mut Kept) -> Option<()> {
    let mut reader = Reader::new(body);
    let lifetime_s = reader.number(4)?;
    let ticket = reader.vector(2).filter(|_| reader.is_empty())?;
    // An empty one says that there is none after all (RFC 5077, section 3.3).
    if let Some(session) = kept.as_mut().filter(|_| !ticket.is_empty()) {
        session.set_ticket(ticket, lifetime_s);
    }
    Some(())
}

/// The client: what it will ask for. A session that does not suit the configuration is left out.
pub(super) fn begin<C: Crypto>(crypto: &mut C, config: &Config<impl Credentials>, kept: &mut Kept) {
    let suits = |session: &If<RESUMPTION, Session>| {
        let session: &Session = session;
        let Session { state, .. } = session;
        let is_known = config.abilities().offered().any(|suite| suite == state.suite);
        let can_say = session.ticket().is_empty() || config.options.sessions.tickets;
        let is_trusted = state.peer.is_trusted(&config.credentials, false);
        is_known
            && can_say
            && is_trusted
            && state.fragment_length == MaxFragmentLength::code(config.options.limits.max_fragment_length)
    };
    *kept = kept.take().filter(suits);
    // A name by which it sees whether its ticket was taken (RFC 5077, section 3.4).
    if let Some(session) = kept.as_mut().filter(|session| !session.ticket().is_empty()) {
        let mut id = [0; TICKET_ID];
        crypto.random(&mut id);
        session.state.id = SessionId::new(&id).unwrap_or_default();
    }
}

#[cfg(all(test, feature = "rustcrypto"))]
mod tests {
    use super::*;
    use crate::credentials::Identity;
    use crate::crypto::RustCrypto;
    use crate::session::Master;

    const CONTEXT: [u8; DIGEST] = [5; DIGEST];

    fn session() -> SessionState {
        SessionState {
            id: SessionId::default(),
            is_of_ticket: false,
            master: Master([3; 48]),
            peer: Peer::Psk(Identity::new(b"sensor-17").unwrap()),
            suite: Suite::TLS_PSK_WITH_AES_128_CCM_8,
            fragment_length: 1,
            kept_at: Instant::from_millis(1_000),
        }
    }

    #[test]
    fn a_ticket_is_opened_with_its_key_or_the_one_after_it_and_no_other() {
        let mut crypto = RustCrypto::new(|octets: &mut [u8]| octets.fill(9));
        let mut keys = TicketKeys::new(&mut crypto, &[1; KEY]);
        let (ticket, length) = keys.seal(&mut crypto, &CONTEXT, &session()).unwrap();
        let ticket = &ticket[..length];
        assert!(!ticket.windows(8).any(|window| window == [3; 8]), "the secret is hidden");
        let opened = keys.open(&mut crypto, &CONTEXT, ticket, b"id").unwrap();
        assert_eq!(opened.peer, session().peer);
        assert_eq!(opened.master.0, [3; 48]);
        assert_eq!((opened.id(), opened.fragment_length), (&b"id"[..], 1));
        assert_eq!(opened.kept_at, Instant::from_millis(1_000));
        keys.rotate(&mut crypto, &[2; KEY]);
        assert!(keys.open(&mut crypto, &CONTEXT, ticket, b"").is_some(), "the key before");
        assert!(keys.open(&mut crypto, &[6; DIGEST], ticket, b"").is_none(), "another context");
        keys.rotate(&mut crypto, &[4; KEY]);
        assert!(keys.open(&mut crypto, &CONTEXT, ticket, b"").is_none(), "the key before that");
        // Under the right name, and another key.
        let mut other = TicketKeys::new(&mut crypto, &[1; KEY]);
        other.current.key[0] ^= 1;
        assert!(other.open(&mut crypto, &CONTEXT, ticket, b"").is_none());
    }

    #[test]
    fn no_octet_of_a_ticket_can_be_changed() {
        let mut crypto = RustCrypto::new(|octets: &mut [u8]| octets.fill(9));
        let keys = TicketKeys::new(&mut crypto, &[1; KEY]);
        let (ticket, length) = keys.seal(&mut crypto, &CONTEXT, &session()).unwrap();
        let ticket = &ticket[..length];
        for place in 0..ticket.len() {
            let mut altered = ticket.to_vec();
            altered[place] ^= 1;
            assert!(keys.open(&mut crypto, &CONTEXT, &altered, b"").is_none(), "octet {place}");
            assert!(keys.open(&mut crypto, &CONTEXT, &ticket[..place], b"").is_none(), "{place} octets");
        }
        assert!(keys.open(&mut crypto, &CONTEXT, &ticket[1..], b"").is_none());
        assert!(keys.open(&mut crypto, &CONTEXT, &[7; 400], b"").is_none());
    }
}
