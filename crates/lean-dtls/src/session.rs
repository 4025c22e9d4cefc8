//! Sessions that a later handshake resumes: what each end keeps of them.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::codec::{Full, Reader, Writer};
use crate::credentials::{
    Certificate, CertificateType, Credentials, Identity, MAX_IDENTITY, Role, accepted, check_peer, is_key, spki,
};
use crate::crypto::MAX_PUBLIC;
use crate::features::{CERTIFICATES, Feature, If, RESUMPTION, Switch};
use crate::octets::Octets;
use crate::suite::Suite;
use crate::time::Instant;

/// Octets of the longest session ID (RFC 5246, section 7.4.1.2).
const MAX_ID: usize = 32;

/// Octets of the longest ticket that a client keeps; it does without one that is longer. (Assumed: with pre-shared keys mbedTLS
/// sends 135 octets, OpenSSL up to 208.)
///
/// All of it is in each [`Session`].
pub const MAX_TICKET: usize = 256;

/// Octets of the longest [`Peer`].
const MAX_PEER: usize = if CERTIFICATES { MAX_PUBLIC } else { MAX_IDENTITY };

/// Octets of the most that [`SessionState::write`] writes: suite, fragment length, time, master secret, and who the peer has
/// proved to be.
pub(crate) const STATE: usize = 2 + 1 + 8 + 48 + (2 + MAX_PEER);

/// The mark that says who the peer is, beside the number of a type of certificates: nobody, or one with a pre-shared key.
const ANYONE: u8 = 0xff;
const PSK: u8 = 0xfe;

/// The most octets of [`Session::encode`]: the length of the name and the name, that of the ticket and the ticket, its lifetime, and
/// the state.
pub const MAX_SESSION: usize = 1 + MAX_ID + 2 + MAX_TICKET + 4 + STATE;

/// The name of a session, which is sent in clear. Empty: the session has none.
pub(crate) type SessionId = Octets<MAX_ID>;

/// The master secret.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Master(pub(crate) [u8; 48]);

/// Who the peer has proved to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A client without a certificate.
    Anyone,
    /// It has the pre-shared key of this identity, which is not empty: a client's own, for both ends.
    Psk(Identity),
    /// It has the private key that belongs to this public one, in a certificate of this type.
    Certified(If<CERTIFICATES, Certified>),
}

/// The key of a peer with a certificate, and the type of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Certified {
    pub(crate) kind: CertificateType,
    pub(crate) key: [u8; MAX_PUBLIC],
}

impl Peer {
    /// True if an end with these credentials would still take it (RFC 5077, section 5.8). A chain of certificates is not there any
    /// more: the session context says that it was judged by the same authorities.
    pub(crate) fn is_trusted(&self, credentials: &impl Credentials, is_client: bool) -> bool {
        match self {
            Self::Anyone => CERTIFICATES && is_client && accepted(credentials).is_empty(),
            Self::Psk(identity) if is_client => credentials.find_psk(identity.octets()).is_some_and(is_key),
            Self::Psk(identity) => credentials.psk().is_some_and(|psk| psk.identity == identity.octets()),
            Self::Certified(peer) => {
                let role = if is_client { Role::Client } else { Role::Server };
                let is_good = || check_peer(credentials, role, &Certificate::RawPublicKey(&spki(&peer.key))).is_ok();
                accepted(credentials).contains(&peer.kind) && (peer.kind == CertificateType::X509 || is_good())
            }
        }
    }
}

/// The part of a session that both ends keep. It is wiped when it is dropped.
///
/// Both ends had agreed on the extended master secret: without it a session is not resumed (RFC 7627, section 5.3).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SessionState {
    #[zeroize(skip)]
    pub(crate) id: SessionId,
    /// It comes from a ticket, with a name that its client has chosen.
    #[zeroize(skip)]
    pub(crate) is_of_ticket: bool,
    pub(crate) master: Master,
    #[zeroize(skip)]
    pub(crate) peer: Peer,
    #[zeroize(skip)]
    pub(crate) suite: Suite,
    /// The code of the maximum fragment length, or 0: it holds for the session (RFC 6066, section 4).
    pub(crate) fragment_length: u8,
    /// When the server kept it.
    #[zeroize(skip)]
    pub(crate) kept_at: Instant,
}

impl SessionState {
    /// The name under which the client asks for it.
    pub fn id(&self) -> &[u8] {
        self.id.octets()
    }

    /// Writes all but the name.
    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        writer.number(self.suite.iana().into(), 2)?;
        writer.number(self.fragment_length.into(), 1)?;
        writer.put(&self.kept_at.as_millis().to_be_bytes())?;
        writer.put(&self.master.0)?;
        match &self.peer {
            Peer::Anyone => writer.number(ANYONE.into(), 1),
            Peer::Psk(identity) => {
                writer.number(PSK.into(), 1)?;
                writer.put(identity.octets())
            }
            Peer::Certified(peer) => {
                writer.number(peer.kind.number().into(), 1)?;
                writer.put(&peer.key)
            }
        }
    }

    /// Reads what [`write`](Self::write) has written, to the last octet. `None` if it is something else.
    pub(crate) fn read(mut reader: Reader<'_>, id: SessionId, is_of_ticket: bool) -> Option<Self> {
        let (number, fragment_length) = (reader.u16()?, reader.u8()?);
        let kept_at = Instant::from_millis(u64::from_be_bytes(reader.array()?));
        let suite = Suite::ALL.iter().copied().find(|suite| suite.iana() == number)?;
        let master = Master(*Zeroizing::new(reader.array()?));
        let peer = match (reader.u8()?, reader.rest()) {
            (ANYONE, []) => Peer::Anyone,
            (PSK, identity) => Peer::Psk(Identity::new(identity)?),
            (number, key) => {
                let kinds = [CertificateType::X509, CertificateType::RawPublicKey];
                let kind = kinds.into_iter().find(|kind| kind.number() == number)?;
                let key = key.try_into().ok()?;
                Peer::Certified(Feature::<CERTIFICATES>::only(|| Certified { kind, key })?)
            }
        };
        Some(Self { id, is_of_ticket, master, peer, suite, fragment_length, kept_at })
    }
}

/// The state that a client keeps to resume a session: its owner takes it out of the client, and gives it to a later one. It is wiped when
/// it is dropped.
///
/// It holds the master secret: keep it in memory that nobody else reads, and in flash only encrypted. See
/// [Resume?](crate::decisions#resume)
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Session {
    pub(crate) state: SessionState,
    ticket: [u8; MAX_TICKET],
    ticket_length: u16,
    pub(crate) lifetime_s: u32,
}

impl Session {
    pub(crate) fn new(state: SessionState) -> Self {
        Self { state, ticket: [0; MAX_TICKET], ticket_length: 0, lifetime_s: 0 }
    }

    /// Keeps a ticket, unless it is too long.
    pub(crate) fn set_ticket(&mut self, ticket: &[u8], lifetime_s: u32) {
        self.ticket_length = 0;
        if let Some(start) = self.ticket.get_mut(..ticket.len()) {
            start.copy_from_slice(ticket);
            (self.ticket_length, self.lifetime_s) = (ticket.len() as u16, lifetime_s);
        }
    }

    /// The server's ticket. Empty if the server has kept the session itself.
    pub fn ticket(&self) -> &[u8] {
        self.ticket.get(..self.ticket_length.into()).unwrap_or(&[])
    }

    /// Writes the session for another device of the same owner, which then resumes it in the place of this one: a server that has
    /// more power can open sessions for a sensor. Returns the number of octets, at most [`MAX_SESSION`]. `None`: there is no
    /// room for them.
    ///
    /// They hold the master secret in clear: send them only encrypted. Whoever has them can read and forge all that is sent
    /// in each session that resumes this one.
    pub fn encode(&self, octets: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(octets);
        let written = writer
            .vector(1, |writer| writer.put(self.state.id()))
            .and_then(|()| writer.vector(2, |writer| writer.put(self.ticket())))
            .and_then(|()| writer.number(self.lifetime_s, 4))
            .and_then(|()| self.state.write(&mut writer));
        let length = written.is_ok().then_some(writer.len());
        if length.is_none() {
            octets.zeroize();
        }
        length
    }

    /// Reads what [`encode`](Self::encode) has written. `None` if it is something else.
    ///
    /// It is as good as who says it: take it only from one who may decide with whom this device speaks.
    pub fn decode(octets: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(octets);
        let (id, ticket, lifetime_s) = (reader.vector(1)?, reader.vector(2)?, reader.number(4)?);
        let state = SessionState::read(reader, SessionId::new(id)?, false)?;
        let mut session = Self::new(state);
        if !ticket.is_empty() {
            session.set_ticket(ticket, lifetime_s);
            // One that is too long for this end. And a lifetime without a ticket says nothing.
            return (!session.ticket().is_empty()).then_some(session);
        }
        (lifetime_s == 0).then_some(session)
    }

    /// For how many seconds the server takes the ticket, as it says. 0: it does not say (RFC 5077, section 3.3).
    pub const fn lifetime_s(&self) -> u32 {
        self.lifetime_s
    }
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session").field("suite", &self.state.suite).finish_non_exhaustive()
    }
}

/// The knowledge of a connection about the session that it opens or resumes.
#[derive(Default)]
pub(crate) struct Resumption {
    /// The session's name. Empty if it has none.
    pub(crate) id: SessionId,
    pub(crate) is_resumed: bool,
    /// The server has given the name. A client with a ticket chooses one.
    pub(crate) is_named: bool,
    /// The server keeps the session when the handshake is complete.
    pub(crate) is_to_keep: bool,
}

/// The session that a client asks for, and then the one that it keeps.
pub(crate) type Kept = Option<If<RESUMPTION, Session>>;

/// The sessions that a server keeps by their IDs. `()` keeps none; [`SessionCache`] a fixed number.
///
/// Implement it to keep sessions elsewhere, for example in RAM that survives a deep sleep. Who reads it can read the
/// connections.
pub trait Sessions {
    /// True if it keeps sessions: the server then gives each a name.
    fn keeps(&self) -> bool;

    /// Keeps a session.
    fn keep(&mut self, session: SessionState);

    /// The session with this ID, if it is still kept.
    fn find(&self, id: &[u8]) -> Option<&SessionState>;

    /// Forgets a session: it ended with a fatal alert (RFC 5246, section 7.2.2).
    fn forget(&mut self, id: &[u8]);
}

impl Sessions for () {
    fn keeps(&self) -> bool {
        false
    }

    fn keep(&mut self, _: SessionState) {}

    fn find(&self, _: &[u8]) -> Option<&SessionState> {
        None
    }

    fn forget(&mut self, _: &[u8]) {}
}

/// The last `N` sessions: a new one takes the place of the oldest.
///
/// A session takes about 140 octets, with certificates 180. Choose as many as the clients that come back within the lifetime: one that is not
/// there costs a full handshake, and nothing else.
#[derive(Clone)]
pub struct SessionCache<const N: usize> {
    sessions: [Option<SessionState>; N],
    next: usize,
}

impl<const N: usize> SessionCache<N> {
    /// No sessions.
    pub const fn new() -> Self {
        Self { sessions: [const { None }; N], next: 0 }
    }
}

impl<const N: usize> Default for SessionCache<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Sessions for SessionCache<N> {
    fn keeps(&self) -> bool {
        N > 0
    }

    fn keep(&mut self, session: SessionState) {
        if let Some(place) = self.sessions.get_mut(self.next) {
            *place = Some(session);
            self.next = (self.next + 1) % N;
        }
    }

    fn find(&self, id: &[u8]) -> Option<&SessionState> {
        self.sessions.iter().flatten().find(|session| session.id() == id)
    }

    fn forget(&mut self, id: &[u8]) {
        let is_it = |session: &&mut Option<SessionState>| session.as_ref().is_some_and(|session| session.id() == id);
        if let Some(place) = self.sessions.iter_mut().find(is_it) {
            *place = None;
        }
    }
}

#[cfg(all(test, feature = "resumption"))]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_the_same_after_it_was_written_and_read() {
        let peers = [
            Peer::Anyone,
            Peer::Psk(Identity::new(b"sensor").unwrap()),
            #[cfg(feature = "certificates")]
            Peer::Certified(Certified { kind: CertificateType::X509, key: [4; MAX_PUBLIC] }),
        ];
        for (peer, ticket) in peers.into_iter().flat_map(|peer| [(peer, 0), (peer, 1), (peer, MAX_TICKET)]) {
            let mut kept = state(7);
            kept.peer = peer;
            let mut session = Session::new(kept);
            session.set_ticket(&[9; MAX_TICKET][..ticket], if ticket > 0 { 86_400 } else { 0 });
            let mut octets = [0; MAX_SESSION];
            let length = session.encode(&mut octets).unwrap();
            let read = Session::decode(&octets[..length]).unwrap();
            assert_eq!((read.ticket(), read.lifetime_s()), (session.ticket(), session.lifetime_s()));
            assert_eq!(
                (read.state.id(), read.state.peer, read.state.suite),
                (session.state.id(), peer, session.state.suite)
            );
            assert_eq!(read.state.master.0, session.state.master.0);
            let mut again = [0; MAX_SESSION];
            assert_eq!(read.encode(&mut again), Some(length));
            assert_eq!(again, octets);
            assert_eq!(session.encode(&mut octets[..length - 1]), None, "no room");
            assert!(octets[..length - 1].iter().all(|octet| *octet == 0), "nothing of it stays");
            // An identity may be shorter. Nothing else is.
            let shorter = Session::decode(&again[..length - 1]);
            assert!(matches!(peer, Peer::Psk(_)) == shorter.is_some() && Session::decode(&[]).is_none());
        }
    }

    fn state(id: u8) -> SessionState {
        SessionState {
            id: SessionId::new(&[id]).unwrap_or_default(),
            is_of_ticket: false,
            master: Master([id; 48]),
            peer: Peer::Anyone,
            suite: Suite::TLS_PSK_WITH_AES_128_CCM_8,
            fragment_length: 0,
            kept_at: Instant::from_millis(0),
        }
    }

    #[test]
    fn a_cache_keeps_the_last_sessions_until_it_forgets_them() {
        let mut cache = SessionCache::<2>::new();
        (1..4).for_each(|id| cache.keep(state(id)));
        assert_eq!([1, 2, 3].map(|id| cache.find(&[id]).is_some()), [false, true, true]);
        cache.forget(&[2]);
        assert_eq!([2, 3].map(|id| cache.find(&[id]).is_some()), [false, true]);
        let mut none = SessionCache::<0>::new();
        none.keep(state(1));
        assert!(none.find(&[1]).is_none());
    }

    #[test]
    fn a_ticket_that_is_too_long_is_not_kept() {
        let mut session = Session::new(state(1));
        session.set_ticket(&[5; MAX_TICKET], 60);
        assert_eq!((session.ticket(), session.lifetime_s()), (&[5; MAX_TICKET][..], 60));
        session.set_ticket(&[5; MAX_TICKET + 1], 60);
        assert!(session.ticket().is_empty());
    }
}
