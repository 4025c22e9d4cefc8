//! The settings of an engine, which it is told once.

#[cfg(doc)]
use crate::credentials::MAX_PSK;
use crate::credentials::{Credentials, accepted, certificate, is_key};
use crate::crypto::{Aead, Group};
use crate::features::{
    CONNECTION_ID, DTLS13, ECDHE, FALSE_START, Feature, HEARTBEAT, Off, OrOff, RECORD_LIMITS, RESUMPTION, ROUND_TRIPS,
    Switch,
};
use crate::lean::Lean;
use crate::suite::{Abilities, HAS_CHOICE, PublicAbilities, Suite};
use crate::time::Timeouts;

/// Octets of the smallest datagram that the engine can use.
///
/// The engine's own: a record header, a message header and a few octets of a message. A smaller datagram would be
/// mostly headers.
pub const MIN_MTU: u16 = 64;

/// The most octets of a record's content (RFC 5246, section 6.2.1).
pub(crate) const MAX_CONTENT: u16 = 1 << 14;

/// The smallest record size limit (RFC 8449, section 4).
pub(crate) const LEAST_RECORD_SIZE: u16 = 64;

/// Octets of the longest datagram that fits one frame of IEEE 802.15.4, so that 6LoWPAN does not cut it: 127 octets of
/// a frame without 21 of its header (64-bit addresses, one PAN ID), 2 of its check sequence, and the IPv6 and UDP
/// headers as 6LoWPAN compresses them (RFC 6282).
///
/// These are 8 octets between neighbours: 2 of IPHC with both addresses elided, 1 of NHC, 3 of ports of which one is
/// compressed, and 2 of checksum. An address in full adds 16, one of 64 bits adds 8; so does link-layer security with
/// its header and tag, by what they have. The result is at least [`MIN_MTU`], which may need two frames.
///
/// On a lossy link, this is the most useful setting of all: see [How long is a
/// datagram?](crate::decisions#how-long-is-a-datagram).
pub const fn frame_mtu(compressed_headers: u16) -> u16 {
    let room = (127_u16 - 21 - 2).saturating_sub(compressed_headers);
    if room < MIN_MTU { MIN_MTU } else { room }
}

/// The configuration of a client or a server. `K` has its credentials.
///
/// [`decisions`](crate::decisions) goes through the questions in the order in which an engineer meets them. What is not
/// asked for is not offered, accepted or sent.
#[derive(Clone, Copy, Debug)]
pub struct Config<K> {
    pub(crate) credentials: K,
    pub(crate) mtu: u16,
    pub(crate) timeouts: Timeouts,
    pub(crate) admission: Admission,
    /// The time for which a server keeps the slot of a client that has not finished its handshake, if another one needs it.
    pub(crate) half_open_ms: u32,
    pub(crate) packing: Packing,
    pub(crate) options: Options,
    suites: OrOff<HAS_CHOICE, &'static [Suite]>,
    groups: OrOff<ECDHE, &'static [Group]>,
}

/// The extensions that a client asks for, and that a server grants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) dtls13: OrOff<DTLS13, Dtls13>,
    pub(crate) lean: Lean,
    pub(crate) limits: OrOff<RECORD_LIMITS, RecordLimits>,
    pub(crate) connection_id: OrOff<CONNECTION_ID, ConnectionIds>,
    pub(crate) heartbeat: OrOff<HEARTBEAT, bool>,
    pub(crate) false_start: OrOff<FALSE_START, bool>,
    pub(crate) sessions: OrOff<RESUMPTION, SessionOptions>,
}

/// The settings of DTLS 1.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dtls13 {
    pub(crate) versions: Versions,
    /// The algorithms of records, the preferred one first.
    pub(crate) aeads: &'static [Aead],
    /// Pre-shared keys are used with key agreement only.
    pub(crate) psk_agreement: bool,
    /// A server asks for a cookie.
    pub(crate) has_cookie: bool,
}

impl Off for Dtls13 {
    const OFF: &'static Self =
        &Self { versions: Versions::Dtls12, aeads: &[Aead::Ccm8], psk_agreement: false, has_cookie: true };
}

impl Default for Dtls13 {
    fn default() -> Self {
        *Self::OFF
    }
}

/// The limits of records that an end asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordLimits {
    pub(crate) max_fragment_length: Option<MaxFragmentLength>,
    pub(crate) record_size_limit: Option<u16>,
}

impl Off for RecordLimits {
    const OFF: &'static Self = &Self { max_fragment_length: None, record_size_limit: None };
}

/// The connection IDs of this end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionIds {
    /// Octets of each.
    pub(crate) length: Option<u8>,
    pub(crate) follows_addresses: bool,
}

impl Off for ConnectionIds {
    const OFF: &'static Self = &Self { length: None, follows_addresses: false };
}

/// The settings for sessions that are resumed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionOptions {
    pub(crate) tickets: bool,
    /// For how many seconds a server resumes a session.
    lifetime_s: Option<u32>,
}

impl Off for SessionOptions {
    const OFF: &'static Self = &Self { tickets: false, lifetime_s: None };
}

impl SessionOptions {
    /// The default is the upper limit that RFC 5246, section F.1.4, suggests: a day.
    pub(crate) fn lifetime_s(&self) -> u32 {
        self.lifetime_s.unwrap_or(24 * 60 * 60)
    }
}

impl Off for &'static [Suite] {
    const OFF: &'static Self = &Suite::DEFAULT;
}

impl Off for &'static [Group] {
    const OFF: &'static Self = &(&[] as &'static [Group]);
}

/// The versions of DTLS that an end speaks.
///
/// See [Which version?](crate::decisions#which-version)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// DTLS 1.2 (RFC 6347).
    #[default]
    Dtls12,
    /// DTLS 1.3 (RFC 9147).
    Dtls13,
    /// Both. A client offers both, and goes on with what the server chooses. A server chooses DTLS 1.3 for every client that
    /// offers it, because such a client accepts nothing else from a server that speaks it (RFC 8446, section 4.1.3).
    ///
    /// With a pre-shared key: the same key is then used in both versions. See the documentation of the crate.
    Both,
}

/// A length of RFC 6066, section 4. Its number is the one on the wire.
///
/// See [Shorter records?](crate::decisions#shorter-records).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxFragmentLength {
    /// 512 octets.
    Octets512 = 1,
    /// 1,024 octets.
    Octets1024 = 2,
    /// 2,048 octets.
    Octets2048 = 3,
    /// 4,096 octets.
    Octets4096 = 4,
}

impl MaxFragmentLength {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [Self::Octets512, Self::Octets1024, Self::Octets2048, Self::Octets4096];

    /// The length in octets.
    pub const fn octets(self) -> u16 {
        256 << self as u16
    }

    /// Its number. 0: none.
    pub(crate) fn code(length: Option<Self>) -> u8 {
        length.map_or(0, |length| length as u8)
    }
}

/// The answer of a server to a client for which it has no free slot. The names are those of `slowhand capacity`.
///
/// Only a client whose cookie has returned, so that it is where it says, can end the session of another; but it need
/// not have a key yet. See [How many slots, and for whom?](crate::decisions#how-many-slots-and-for-whom).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// The client is ignored until a slot is free.
    #[default]
    Refuse,
    /// The session that was used longest ago ends, without an alert.
    ///
    /// It finds a place in any case. Choose it if clients come and go, and nobody is there to attack.
    #[cfg(feature = "eviction")]
    EvictLeastRecentlyUsed,
    /// The session that was opened first ends, without an alert.
    ///
    /// As above, and it needs no use of a session to be told from another: a client that is busy for long loses its
    /// session first.
    #[cfg(feature = "eviction")]
    EvictOldest,
    /// Of the established sessions that have not been used for `idle_after_ms`, that which was used longest ago ends,
    /// without an alert. If there is none, the client is ignored.
    #[cfg(feature = "eviction")]
    EvictIdleLongest {
        /// After how many milliseconds without a record from the peer or to it a session is idle.
        idle_after_ms: u32,
    },
}

/// The records of a flight that share a datagram.
///
/// It changes octets, not security: the headers of UDP and 6LoWPAN, once for each datagram. See [How long is a
/// datagram?](crate::decisions#how-long-is-a-datagram)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// As many as there is room for.
    #[default]
    Full,
    /// One, as tinyDTLS has it: each message in a frame of its own, on links with short frames.
    OneRecord,
}

/// A configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The client's key has no octets, or more than [`MAX_PSK`].
    Key,
    /// This end has an empty chain of certificates, or one of more than [`MAX_CHAIN`](crate::MAX_CHAIN).
    #[cfg(feature = "certificates")]
    Chain,
    /// The datagrams are shorter than [`MIN_MTU`].
    Mtu,
    /// The first timeout is 0; or there is a floor, without the feature `round-trips`.
    Timeout,
    /// The record size limit is less than 64 octets or more than 2^14.
    #[cfg(feature = "record-limits")]
    RecordSizeLimit,
    /// The connection IDs are longer than [`MAX_CONNECTION_ID`](crate::MAX_CONNECTION_ID).
    #[cfg(feature = "connection-id")]
    ConnectionId,
}

impl<K: Credentials> Config<K> {
    /// A configuration with these credentials. `mtu` is the most octets of a datagram, without the headers of UDP and
    /// IP.
    ///
    /// Everything else has a default that RFC 7925 or RFC 6347 gives, and each other method changes one thing. See [How
    /// long is a datagram?](crate::decisions#how-long-is-a-datagram) and [How long to
    /// wait?](crate::decisions#how-long-to-wait)
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(credentials: K, mtu: u16, timeouts: Timeouts) -> Result<Self, ConfigError> {
        if credentials.psk().is_some_and(|psk| !is_key(psk.key)) {
            return Err(ConfigError::Key);
        }
        #[cfg(feature = "certificates")]
        if certificate(&credentials).is_some_and(|own| !own.certificate.is_sendable()) {
            return Err(ConfigError::Chain);
        }
        if mtu < MIN_MTU {
            return Err(ConfigError::Mtu);
        }
        if timeouts.initial_ms == 0 || !ROUND_TRIPS && timeouts.floor_ms.is_some() {
            return Err(ConfigError::Timeout);
        }
        Ok(Self {
            credentials,
            mtu,
            timeouts,
            admission: Admission::Refuse,
            half_open_ms: timeouts.initial_ms.saturating_mul(3),
            packing: Packing::Full,
            options: Options::default(),
            suites: Feature::<HAS_CHOICE>::or_off(Suite::DEFAULT),
            groups: Feature::<ECDHE>::or_off(Group::ALL),
        })
    }

    /// Sets the suites, the preferred one first, in place of [`Suite::DEFAULT`]. An end uses those of them
    /// for which it has credentials.
    ///
    /// Name fewer, to get what you want or nothing: a list of one suite cannot be downgraded. Both Finished messages
    /// cover the choice in any case. See [Which suites?](crate::decisions#which-suites)
    #[cfg(any(feature = "ecdhe", feature = "gcm"))]
    #[must_use]
    pub fn with_suites(self, suites: &'static [Suite]) -> Self {
        Self { suites, ..self }
    }

    /// Sets the groups for key agreement, the preferred one first, in place of [`Group::ALL`].
    ///
    /// A client pays for each group that it offers with 2 octets, and in DTLS 1.3 with the key of the first: 65 octets
    /// and a multiplication for P-256, 32 for X25519. See [Which suites?](crate::decisions#which-suites)
    #[cfg(feature = "ecdhe")]
    #[must_use]
    pub fn with_groups(self, groups: &'static [Group]) -> Self {
        Self { groups, ..self }
    }

    /// The groups for key agreement, the preferred one first.
    pub(crate) fn groups(&self) -> &'static [Group] {
        if !ECDHE {
            return &[];
        }
        let groups: &&'static [Group] = &self.groups;
        groups
    }

    /// The groups that a client offers in DTLS 1.3.
    pub(crate) fn offered_groups(&self) -> &'static [Group] {
        let has_agreement = self.options.dtls13.psk_agreement || !accepted(&self.credentials).is_empty();
        if has_agreement { self.groups() } else { &[] }
    }

    /// The abilities of this end.
    pub(crate) fn abilities(&self) -> Abilities<'_> {
        let suites: &&'static [Suite] = &self.suites;
        let has_psk = || self.credentials.psk().is_some();
        Abilities {
            suites,
            has_psk: Feature::<HAS_CHOICE>::only(|| ()).filter(|_| has_psk()),
            public: Feature::<ECDHE>::slot(|| PublicAbilities {
                groups: self.groups(),
                own: certificate(&self.credentials).map(|own| own.certificate.kind()),
                accepted: accepted(&self.credentials),
            }),
        }
    }

    /// Sets another policy for clients beyond the slots of a server.
    ///
    /// Default: [`Admission::Refuse`]. See [How many slots, and for
    /// whom?](crate::decisions#how-many-slots-and-for-whom)
    #[must_use]
    pub fn with_admission(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// Sets the time, in milliseconds, for which a server keeps the slot of a client in the middle of its handshake. After that, the
    /// slot goes to another client that needs one and has brought its cookie; the oldest first.
    ///
    /// Choose the longest time that an honest handshake takes. Somebody with many addresses can take all slots again and again: the
    /// shorter this is, the more often they have to. Default: three times the first wait, so that a client whose flight is
    /// lost can repeat it twice. See [How many slots, and for whom?](crate::decisions#how-many-slots-and-for-whom)
    #[must_use]
    pub fn with_half_open_ms(self, milliseconds: u32) -> Self {
        Self { half_open_ms: milliseconds, ..self }
    }

    /// Sets the number of records in a datagram of a handshake. Either peer accepts both.
    ///
    /// Default: [`Packing::Full`].
    #[must_use]
    pub fn with_packing(self, packing: Packing) -> Self {
        Self { packing, ..self }
    }

    /// Sets the switches of the lean profile: a client offers them, a server takes those of them that are
    /// offered.
    ///
    /// It costs 3 kB of flash and 0.35 kB of RAM for each connection (`docs/footprint.md`), and 5 octets in each hello;
    /// a peer without it ignores the offer. Default: [`Lean::NONE`]. See [Which switches of the lean
    /// profile?](crate::decisions#which-switches-of-the-lean-profile)
    #[cfg(feature = "lean")]
    #[must_use]
    pub fn with_lean(mut self, lean: Lean) -> Self {
        self.options.lean = lean.consistent();
        self
    }

    /// Sets shorter records in both directions (RFC 6066, section 4): a client asks for this length, a server
    /// grants its clients whatever length they ask for.
    ///
    /// Choose it for peers that do not know `with_record_size_limit`, if this end has less room than they have to say.
    /// 5 octets in each hello; longer data take more records, with 29 octets each. Default: not asked for. See [Shorter
    /// records?](crate::decisions#shorter-records)
    #[cfg(feature = "record-limits")]
    #[must_use]
    pub fn with_max_fragment_length(mut self, length: MaxFragmentLength) -> Self {
        self.options.limits.max_fragment_length = Some(length);
        self
    }

    /// Tells the peer that it must not send records with more than so many octets of content (RFC
    /// 8449). This end keeps to the peer's limit.
    ///
    /// Choose the octets of the buffer for datagrams, less [`OVERHEAD`](crate::OVERHEAD). 6 octets in each hello.
    /// Default: not sent, and the peer may send records of 2^14 octets, of which this end discards those that it has no
    /// room for. See [Shorter records?](crate::decisions#shorter-records)
    ///
    /// # Errors
    /// See [`ConfigError::RecordSizeLimit`].
    #[cfg(feature = "record-limits")]
    pub fn with_record_size_limit(mut self, octets: u16) -> Result<Self, ConfigError> {
        if !(LEAST_RECORD_SIZE..=MAX_CONTENT).contains(&octets) {
            return Err(ConfigError::RecordSizeLimit);
        }
        self.options.limits.record_size_limit = Some(octets);
        Ok(self)
    }

    /// Turns connection IDs on (RFC 9146): encrypted records for this end carry one of so many octets. With 0,
    /// they carry none, but those for the peer may.
    ///
    /// An ID of n octets costs n + 1 in each record for this end in DTLS 1.2. It is in clear, so a device can be
    /// followed by it. Default: not asked for. See [A connection ID?](crate::decisions#a-connection-id)
    ///
    /// # Errors
    /// See [`ConfigError::ConnectionId`].
    #[cfg(feature = "connection-id")]
    pub fn with_connection_id(mut self, octets: u8) -> Result<Self, ConfigError> {
        if usize::from(octets) > crate::MAX_CONNECTION_ID {
            return Err(ConfigError::ConnectionId);
        }
        self.options.connection_id.length = Some(octets);
        Ok(self)
    }

    /// Lets a server send to a client's new address as soon as a record came from there that is the
    /// client's and later than all before (RFC 9146, section 6). The application has to make sure that the client is
    /// there, before it sends much: somebody on the path can have sent the client's record from an address of another.
    ///
    /// Default: the answers go to the address of the handshake. See [A connection
    /// ID?](crate::decisions#a-connection-id)
    #[cfg(feature = "connection-id")]
    #[must_use]
    pub fn with_followed_addresses(mut self) -> Self {
        self.options.connection_id.follows_addresses = true;
        self
    }

    /// Turns tickets on (RFC 5077): a server gives its clients what it would keep of their sessions, sealed with a
    /// key of its own, and a client asks for that. Without tickets, a server resumes the sessions that it keeps by
    /// their IDs ([`Server::with_sessions`](crate::Server::with_sessions)).
    ///
    /// A ticket of this server has 84 octets and those of the client's identity or public key. They come once and go back with each
    /// resumption. It holds the master
    /// secret, so its key is worth as much as all sessions. Default: no tickets. See [Resume?](crate::decisions#resume)
    #[cfg(feature = "resumption")]
    #[must_use]
    pub fn with_tickets(mut self) -> Self {
        self.options.sessions.tickets = true;
        self
    }

    /// Sets the seconds for which a server resumes a session after its first handshake. Default: 86,400 (RFC
    /// 5246, section F.1.4: at most a day).
    ///
    /// The longer, the more handshakes are short, and the longer somebody who steals a session from a client can use
    /// it.
    #[cfg(feature = "resumption")]
    #[must_use]
    pub fn with_session_lifetime(mut self, seconds: u32) -> Self {
        self.options.sessions.lifetime_s = Some(seconds);
        self
    }

    /// Turns heartbeats on (RFC 6520): this end answers requests, and may ask if the peer does so too.
    ///
    /// 5 octets in each hello, and 52 for a request and for its answer. This end answers only what is encrypted and
    /// came from the peer, with as many octets as came: nobody else gets anything out of it. Default: not agreed on.
    /// See [Heartbeats?](crate::decisions#heartbeats)
    #[cfg(feature = "heartbeat")]
    #[must_use]
    pub fn with_heartbeats(mut self) -> Self {
        self.options.heartbeat = true;
        self
    }

    /// Lets a client send data as soon as its own Finished is sent, and not only when it has verified the
    /// server's (False Start, RFC 7918): a round trip earlier, and without a word to the server. Only with the suites with
    /// ECDHE_ECDSA, which section 5.3 allows; with others, and in DTLS 1.3, it has no effect.
    ///
    /// A server takes such data in any case. But the RFC is for TLS: over datagrams a server may take data as a sign that the
    /// client has its last flight, and forget that. If the flight was lost, the handshake cannot complete. A server with this
    /// setting keeps it.
    ///
    /// The price is security. These data are encrypted before the client knows that nobody has changed the hellos: an attacker
    /// on the path, who can, makes both ends agree on the weakest suite and group that the client offers, and then has these
    /// data under those; so offer none that is too weak for them. Who reads them has proved its key by the signature in
    /// ServerKeyExchange alone. If the handshake then fails, the data are gone all the same. They are also lost, and not sent
    /// again, if they arrive before the client's Finished. Default: data wait.
    #[cfg(feature = "false-start")]
    #[must_use]
    pub fn with_false_start(mut self) -> Self {
        self.options.false_start = true;
        self
    }
}

#[cfg(feature = "dtls13")]
impl<K: Credentials> Config<K> {
    /// Sets the versions.
    ///
    /// See [Which version?](crate::decisions#which-version)
    #[must_use]
    pub const fn with_versions(mut self, versions: Versions) -> Self {
        self.options.dtls13.versions = versions;
        self
    }

    /// Sets the algorithms for the records of DTLS 1.3, the preferred one first. Default: [`Aead::Ccm8`].
    ///
    /// CCM_8 has tags of 8 octets, the others of 16. With the short ones, an end changes its key after 64 forged
    /// records, and closes after 2^23 (RFC 9147, appendix B.3). See [Which suites?](crate::decisions#which-suites)
    #[must_use]
    pub const fn with_aeads(mut self, aeads: &'static [Aead]) -> Self {
        self.options.dtls13.aeads = aeads;
        self
    }

    /// Lets pre-shared keys of DTLS 1.3 be used with key agreement only (psk_dhe_ke). Otherwise a client
    /// uses its key alone (psk_ke), a server lets the client choose, and who learns the key later can read the
    /// connection.
    ///
    /// It costs the keys of both ends (65 or 32 octets each), two multiplications on a curve, and the flash of feature
    /// `ecdhe`. RFC 9257, section 4.2, wants it where the key may leak. See [Which
    /// credential?](crate::decisions#which-credential)
    #[cfg(feature = "ecdhe")]
    #[must_use]
    pub const fn with_psk_agreement(mut self) -> Self {
        self.options.dtls13.psk_agreement = true;
        self
    }

    /// Lets a server of DTLS 1.3 ask for no cookie. Then anybody can fill its slots, and make it send a
    /// flight to somebody else (RFC 9147, section 5.1).
    ///
    /// It saves a round trip: 309 octets of the 683 of a handshake with a pre-shared key (`docs/lean-profile.md`). For
    /// some clients only: [`Credentials::is_known`]. See [A cookie?](crate::decisions#a-cookie)
    #[must_use]
    pub const fn without_cookie(mut self) -> Self {
        self.options.dtls13.has_cookie = false;
        self
    }
}
