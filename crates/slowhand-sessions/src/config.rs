//! How a session is to be: what a scenario chooses, and whether the library can do it.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::credentials;
use crate::stack::Stack;

/// Which end of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends the first ClientHello.
    Client,
    /// Answers it.
    Server,
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum Protocol {
    /// DTLS 1.2 (RFC 6347).
    #[serde(rename = "dtls1.2")]
    Dtls12,
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "tls1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "tls1.3")]
    Tls13,
}

impl Protocol {
    /// Whether it runs over a stream of bytes, which something below keeps in order and complete; otherwise over
    /// datagrams.
    pub const fn is_stream(self) -> bool {
        !matches!(self, Self::Dtls12)
    }

    /// The version as a ProtocolVersion of TLS (RFC 8446 section 4.2.1); DTLS 1.2 is TLS 1.2 over datagrams.
    pub(crate) const fn tls_version(self) -> u16 {
        match self {
            Self::Dtls12 | Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }
}

/// How the two ends agree on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyExchange {
    /// A pre-shared key (RFC 4279).
    Psk,
    /// Ephemeral elliptic-curve Diffie-Hellman, signed with ECDSA (RFC 8422).
    EcdheEcdsa,
    /// Ephemeral elliptic-curve Diffie-Hellman, signed with RSA (RFC 8422).
    EcdheRsa,
    /// The client encrypts the premaster secret with the server's RSA key (RFC 5246 section 7.4.7.1).
    Rsa,
}

impl KeyExchange {
    /// Whether the ends agree on a key on a [`Curve`].
    pub const fn has_curve(self) -> bool {
        matches!(self, Self::EcdheEcdsa | Self::EcdheRsa)
    }

    /// Whether the certificates hold RSA keys.
    pub const fn has_rsa(self) -> bool {
        matches!(self, Self::EcdheRsa | Self::Rsa)
    }
}

/// A cipher suite, by its IANA name.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum Suite {
    /// RFC 6655.
    TLS_PSK_WITH_AES_128_CCM,
    /// RFC 6655; mandatory for CoAP with pre-shared keys (RFC 7252 section 9.1.3.1).
    TLS_PSK_WITH_AES_128_CCM_8,
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM,
    /// RFC 6655.
    TLS_PSK_WITH_AES_256_CCM_8,
    /// RFC 5487.
    TLS_PSK_WITH_AES_128_GCM_SHA256,
    /// RFC 5487.
    TLS_PSK_WITH_AES_256_GCM_SHA384,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
    /// RFC 7251; mandatory for CoAP with raw public keys and certificates (RFC 7252 section 9.1.3.2).
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
    /// RFC 7251.
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    /// RFC 8422.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
    /// RFC 5289.
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
    /// RFC 8422.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
    /// RFC 5289.
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    /// RFC 5246 appendix A.5, which makes it mandatory for TLS 1.2.
    TLS_RSA_WITH_AES_128_CBC_SHA,
    /// RFC 5246 appendix A.5.
    TLS_RSA_WITH_AES_128_CBC_SHA256,
    /// RFC 5288.
    TLS_RSA_WITH_AES_128_GCM_SHA256,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_GCM_SHA256,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_256_GCM_SHA384,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_SHA256,
    /// TLS 1.3, RFC 8446 appendix B.4.
    TLS_AES_128_CCM_8_SHA256,
}

impl Suite {
    /// Every suite that a library here can do.
    pub const ALL: &[Self] = &[
        Self::TLS_PSK_WITH_AES_128_CCM,
        Self::TLS_PSK_WITH_AES_128_CCM_8,
        Self::TLS_PSK_WITH_AES_256_CCM,
        Self::TLS_PSK_WITH_AES_256_CCM_8,
        Self::TLS_PSK_WITH_AES_128_GCM_SHA256,
        Self::TLS_PSK_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_RSA_WITH_AES_128_CBC_SHA,
        Self::TLS_RSA_WITH_AES_128_CBC_SHA256,
        Self::TLS_RSA_WITH_AES_128_GCM_SHA256,
        Self::TLS_AES_128_GCM_SHA256,
        Self::TLS_AES_256_GCM_SHA384,
        Self::TLS_AES_128_CCM_SHA256,
        Self::TLS_AES_128_CCM_8_SHA256,
    ];

    /// The number in the IANA registry of TLS cipher suites.
    pub const fn iana(self) -> u16 {
        match self {
            Self::TLS_AES_128_GCM_SHA256 => 0x1301,
            Self::TLS_AES_256_GCM_SHA384 => 0x1302,
            Self::TLS_AES_128_CCM_SHA256 => 0x1304,
            Self::TLS_AES_128_CCM_8_SHA256 => 0x1305,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA => 0x002F,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA256 => 0x003C,
            Self::TLS_RSA_WITH_AES_128_GCM_SHA256 => 0x009C,
            Self::TLS_PSK_WITH_AES_128_GCM_SHA256 => 0x00A8,
            Self::TLS_PSK_WITH_AES_256_GCM_SHA384 => 0x00A9,
            Self::TLS_PSK_WITH_AES_128_CCM => 0xC0A4,
            Self::TLS_PSK_WITH_AES_256_CCM => 0xC0A5,
            Self::TLS_PSK_WITH_AES_128_CCM_8 => 0xC0A8,
            Self::TLS_PSK_WITH_AES_256_CCM_8 => 0xC0A9,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA => 0xC009,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA => 0xC013,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 => 0xC023,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 => 0xC027,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => 0xC02B,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => 0xC02C,
            Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => 0xC02F,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM => 0xC0AC,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM => 0xC0AD,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => 0xC0AE,
            Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 => 0xC0AF,
        }
    }

    /// The suite of an IANA number.
    pub fn from_iana(number: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|suite| suite.iana() == number)
    }

    /// Whether it is a suite of TLS 1.3; the others belong to (D)TLS 1.2.
    pub const fn is_tls13(self) -> bool {
        self.iana() >> 8 == 0x13
    }

    /// How the two ends agree on a key. A suite of TLS 1.3 leaves that open; here they do it with ECDHE and
    /// ECDSA.
    pub fn key_exchange(self) -> KeyExchange {
        match self {
            Self::TLS_PSK_WITH_AES_128_CCM
            | Self::TLS_PSK_WITH_AES_128_CCM_8
            | Self::TLS_PSK_WITH_AES_256_CCM
            | Self::TLS_PSK_WITH_AES_256_CCM_8
            | Self::TLS_PSK_WITH_AES_128_GCM_SHA256
            | Self::TLS_PSK_WITH_AES_256_GCM_SHA384 => KeyExchange::Psk,
            Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | Self::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA
            | Self::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_AES_128_GCM_SHA256
            | Self::TLS_AES_256_GCM_SHA384
            | Self::TLS_AES_128_CCM_SHA256
            | Self::TLS_AES_128_CCM_8_SHA256 => KeyExchange::EcdheEcdsa,
            Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA
            | Self::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => KeyExchange::EcdheRsa,
            Self::TLS_RSA_WITH_AES_128_CBC_SHA
            | Self::TLS_RSA_WITH_AES_128_CBC_SHA256
            | Self::TLS_RSA_WITH_AES_128_GCM_SHA256 => KeyExchange::Rsa,
        }
    }
}

/// What an end proves its identity with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Credential {
    /// A pre-shared key (RFC 4279).
    Psk,
    /// A raw public key (RFC 7250).
    RawPublicKey,
    /// An X.509 certificate, issued by a certification authority that the peer knows.
    Certificate,
}

/// Who is authenticated in a handshake with certificates or raw public keys. A pre-shared key always authenticates both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// The server only.
    Server,
    /// Both ends.
    Mutual,
}

/// How a session of before is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resumption {
    /// By its identifier: the server keeps the session (RFC 5246 section 7.4.1.2).
    Id,
    /// By a ticket in which the server has given the session to the client (RFC 5077); in TLS 1.3 the ticket names a
    /// pre-shared key (RFC 8446 section 2.2), with ECDHE beside it.
    Ticket,
}

/// An elliptic curve of ECDHE and ECDSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Curve {
    /// NIST P-192 (SEC 2). Obsolete; the literature on constrained devices measures it.
    Secp192r1,
    /// NIST P-256 (SEC 2).
    Secp256r1,
}

impl Curve {
    /// The TLS NamedGroup (RFC 8422 section 5.1.1).
    pub const fn named_group(self) -> u16 {
        match self {
            Self::Secp192r1 => 19,
            Self::Secp256r1 => 23,
        }
    }

    /// The curve of a TLS NamedGroup.
    pub const fn from_named_group(number: u16) -> Option<Self> {
        match number {
            19 => Some(Self::Secp192r1),
            23 => Some(Self::Secp256r1),
            _ => None,
        }
    }
}

macro_rules! displayed_as_serialised {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        }
    )*};
}

displayed_as_serialised!(Role, Protocol, Suite, Credential, Auth, Resumption, Curve, Stack);

/// One end of a session. [`SessionConfig::new`] gives each field its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// Which end this is.
    pub role: Role,
    /// The library.
    pub stack: Stack,
    /// The protocol. Default: DTLS 1.2.
    pub protocol: Protocol,
    /// The one suite that is offered or accepted. (tinyDTLS offers its whole list of the same key
    /// exchange, as its applications do, when this is a CCM-8 suite: the first of that list.)
    pub suite: Suite,
    /// What the end proves its identity with. Default: what [`Stack::credential`] says.
    pub credential: Option<Credential>,
    /// Who is authenticated; no effect with a pre-shared key. Default: both ends.
    pub auth: Auth,
    /// The curve of key exchange and ECDSA signatures; no effect with a suite that has neither. Default: secp256r1.
    pub curve: Curve,
    /// The length in bits of the RSA keys, the authority's too: 1024, 2048 or 3072. No effect with a suite without RSA.
    /// Default: 2048.
    pub rsa_bits: u16,
    /// The length in octets of the certificate of each end, DER: from that of the certificates in `credentials/` to
    /// 8000, filled up with a comment that nobody interprets. Default: those certificates.
    pub certificate_length: Option<u16>,
    /// The identity that goes with the pre-shared key, at most 32 octets. Default:
    /// [`credentials::PSK_IDENTITY`](crate::credentials::PSK_IDENTITY).
    pub psk_identity: String,
    /// Most octets of a datagram (UDP payload) that this end sends; flights and messages are cut to
    /// fit. Default: no limit.
    pub mtu: Option<u16>,
    /// The maximum fragment length that is negotiated (RFC 6066 section 4): 512, 1024, 2048 or
    /// 4096 octets. Default: not negotiated.
    pub max_fragment_length: Option<u16>,
    /// The handshake timer's first value (mbedTLS: whole milliseconds; OpenSSL: 16 ms or more). Default: the library's
    /// own ([`Stack::default_timeouts`]).
    pub first_timeout: Option<Duration>,
    /// The value at which the timer stops doubling (mbedTLS: whole milliseconds). Default: the library's
    /// own. tinyDTLS has none but 128 times the first.
    pub maximum_timeout: Option<Duration>,
    /// Offer or accept connection IDs (RFC 9146), our own being this long (0 to 32 octets; 0:
    /// records towards us carry none). Default: no.
    pub connection_id: Option<u8>,
    /// Resume a session of before, which [`build_pair`](crate::build_pair) lets happen. Default: no.
    pub resumption: Option<Resumption>,
    /// A server challenges the first ClientHello with a HelloVerifyRequest (RFC 6347 section
    /// 4.2.1). No effect for a client, which follows the server. Default: yes.
    pub cookie: bool,
    /// The seed of all the randomness of this end. Default: zeros, which is for tests; the ends of
    /// a session need different ones.
    pub seed: [u8; 32],
}

impl SessionConfig {
    /// One end of a session of `stack` with `suite`, the rest as by default.
    pub fn new(role: Role, stack: Stack, suite: Suite) -> Self {
        Self {
            role,
            stack,
            protocol: Protocol::Dtls12,
            suite,
            credential: None,
            auth: Auth::Mutual,
            curve: Curve::Secp256r1,
            rsa_bits: 2048,
            certificate_length: None,
            psk_identity: credentials::PSK_IDENTITY.to_owned(),
            mtu: None,
            max_fragment_length: None,
            first_timeout: None,
            maximum_timeout: None,
            connection_id: None,
            resumption: None,
            cookie: true,
            seed: [0; 32],
        }
    }

    /// The credential: the one chosen, else the one that the stack has for the suite.
    pub fn credential(&self) -> Credential {
        self.credential.unwrap_or(self.stack.credential(self.suite))
    }

    /// The handshake timer's first and largest value: those chosen, else the library's own.
    pub fn timeouts(&self) -> (Duration, Duration) {
        let (first, maximum) = self.stack.default_timeouts();
        let first = self.first_timeout.unwrap_or(first);
        let maximum = self.stack.built_in_maximum(first).unwrap_or(maximum.max(first));
        (first, self.maximum_timeout.unwrap_or(maximum))
    }

    /// Whether the library can do this.
    ///
    /// # Errors
    /// The first field that it cannot, with what was found and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        one_of("protocol", self.protocol, self.stack.protocols())?;
        let suites: Vec<_> = self.stack.suites(self.protocol).collect();
        one_of("suite", self.suite, &suites)?;
        one_of("credential", self.credential(), &[self.stack.credential(self.suite)])?;
        if self.suite.key_exchange().has_curve() {
            one_of("curve", self.curve, self.stack.curves(self.protocol))?;
        }
        if self.suite.key_exchange().has_rsa() {
            one_of("rsa_bits", self.rsa_bits, credentials::RSA_BITS)?;
        }
        self.validate_certificate_length()?;
        check("psk_identity", &self.psk_identity, "1 to 32 octets", |identity| (1..=32).contains(&identity.len()))?;
        if let Some(length) = self.max_fragment_length {
            one_of("max_fragment_length", length, self.stack.fragment_lengths(self.protocol))?;
        }
        if let Some(resumption) = self.resumption {
            one_of("resumption", resumption, self.stack.resumptions(self.protocol))?;
        }
        if self.protocol.is_stream() { self.validate_stream() } else { self.validate_datagrams() }
    }

    fn validate_certificate_length(&self) -> Result<(), ConfigError> {
        let Some(length) = self.certificate_length else { return Ok(()) };
        if self.credential() != Credential::Certificate {
            let allowed = format!("none (with {} and this suite there are no certificates)", self.stack);
            return check("certificate_length", &length, &allowed, |_| false);
        }
        let lengths = credentials::lengths(self);
        let allowed = format!("{} to {} octets", lengths.start(), lengths.end());
        check("certificate_length", &length, &allowed, |length| lengths.contains(length))?;
        let allowed = format!("{allowed}, but for {length}, which no DER has");
        check("certificate_length", &length, &allowed, |length| *length != credentials::IMPOSSIBLE_LENGTH)
    }

    /// What a stream has none of.
    fn validate_stream(&self) -> Result<(), ConfigError> {
        let octets = |octets: u16| format!("{octets} octets");
        let seconds = |value: Duration| Seconds(value).to_string();
        for (field, found) in [
            ("mtu", self.mtu.map(octets)),
            ("first_timeout", self.first_timeout.map(seconds)),
            ("maximum_timeout", self.maximum_timeout.map(seconds)),
            ("connection_id", self.connection_id.map(u16::from).map(octets)),
        ] {
            let allowed = format!("none ({} runs over a stream: no datagrams, no timers)", self.protocol);
            found.map_or(Ok(()), |found| check(field, &found, &allowed, |_| false))?;
        }
        Ok(())
    }

    fn validate_datagrams(&self) -> Result<(), ConfigError> {
        let Some(limits) = self.stack.limits(self.suite.key_exchange()) else { return Ok(()) };
        if let Some(mtu) = self.mtu {
            let allowed = format!("{} octets or more ({})", limits.mtu, limits.mtu_reason);
            check("mtu", &mtu, &allowed, |mtu| *mtu >= limits.mtu)?;
        }
        self.validate_timeouts()?;
        if let Some(length) = self.connection_id {
            let allowed = if limits.connection_id { "0 to 32 octets" } else { "none (the library has no RFC 9146)" };
            check("connection_id", &length, allowed, |length| limits.connection_id && *length <= 32)?;
        }
        if self.role == Role::Server {
            let allowed = if limits.without_cookie { "true or false" } else { "true (the library always challenges)" };
            check("cookie", &self.cookie, allowed, |cookie| *cookie || limits.without_cookie)?;
        }
        Ok(())
    }

    fn validate_timeouts(&self) -> Result<(), ConfigError> {
        let (first, maximum) = self.timeouts();
        let (least, most) = self.stack.timeout_bounds();
        let allowed = format!("{} to {}", Seconds(least), Seconds(most));
        check("first_timeout", &Seconds(first), &allowed, |s| (least..=most).contains(&s.0))?;
        if let Some(built_in) = self.stack.built_in_maximum(first) {
            let seconds = built_in.as_secs_f64();
            let allowed = format!("{seconds} s (as often doubled as the library retransmits)");
            return check("maximum_timeout", &Seconds(maximum), &allowed, |s| s.0 == built_in);
        }
        let allowed = format!("{} (the first timeout) to {}", Seconds(first), Seconds(most));
        check("maximum_timeout", &Seconds(maximum), &allowed, |s| (first..=most).contains(&s.0))
    }
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

/// A session that the library cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}, allowed: {allowed}")]
pub struct ConfigError {
    /// The field of [`SessionConfig`].
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// What the library can do.
    pub allowed: String,
}

fn check<T: fmt::Display + ?Sized>(
    field: &'static str,
    found: &T,
    allowed: &str,
    is_allowed: impl FnOnce(&T) -> bool,
) -> Result<(), ConfigError> {
    if is_allowed(found) {
        return Ok(());
    }
    Err(ConfigError { field, found: found.to_string(), allowed: allowed.to_owned() })
}

fn one_of<T: fmt::Display + PartialEq>(field: &'static str, found: T, allowed: &[T]) -> Result<(), ConfigError> {
    let list = allowed.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    let list = if list.is_empty() { "not with this library" } else { &list };
    check(field, &found, list, |found| allowed.contains(found))
}
