//! The configuration of a session: protocol, credential, timers, sizes. The options of only one family of protocols are
//! in the module of that family ([`Tls`]).

use std::borrow::Cow;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coap::{Coap, Edhoc, Protection, Security};
use crate::names::displayed_as_serialised;
use crate::tls::{Suite, Tls, Version};

pub use crate::names::{Carrier, CredentialKind, Protocol};

/// An end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends the first message.
    Client,
    /// Answers it.
    Server,
}

impl Role {
    /// Both, in the order of every pair of ends.
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The other end.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// The part of a pair for an end: the client's comes first.
impl<T> Index<Role> for [T; 2] {
    type Output = T;

    fn index(&self, end: Role) -> &T {
        &self[end as usize]
    }
}

impl<T> IndexMut<Role> for [T; 2] {
    fn index_mut(&mut self, end: Role) -> &mut T {
        &mut self[end as usize]
    }
}

/// A library, by its name. It is one of the built-in ones, or it was found by [`Stack::named`].
/// [`Capabilities`](crate::Capabilities) lists what it can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Stack(pub(crate) &'static str);

impl Stack {
    /// lean-dtls.
    pub const LEAN_DTLS: Self = Self("lean-dtls");
    /// Mbed TLS.
    pub const MBEDTLS: Self = Self("mbedtls");
    /// OpenSSL.
    pub const OPENSSL: Self = Self("openssl");
    /// rustls.
    pub const RUSTLS: Self = Self("rustls");
    /// Eclipse tinyDTLS.
    pub const TINYDTLS: Self = Self("tinydtls");

    /// Every library that is built in.
    pub const BUILT_IN: &[Self] = &[Self::LEAN_DTLS, Self::MBEDTLS, Self::OPENSSL, Self::RUSTLS, Self::TINYDTLS];

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl Protocol {
    /// The protocol with the default options of its family.
    pub const fn family(self) -> Family {
        match self {
            Self::Dtls12 => Family::Tls(Tls::new(Version::DTLS12)),
            Self::Dtls13 => Family::Tls(Tls::new(Version::DTLS13)),
            Self::Tls12 => Family::Tls(Tls::new(Version::Tls12)),
            Self::Tls13 => Family::Tls(Tls::new(Version::Tls13)),
            Self::Quic => Family::Tls(Tls::new(Version::Quic)),
            Self::Coap => Family::Coap(Coap::new(Security::None)),
            Self::CoapDtls12 => Family::Coap(Coap::new(Security::Tls(Tls::new(Version::DTLS12)))),
            Self::CoapDtls13 => Family::Coap(Coap::new(Security::Tls(Tls::new(Version::DTLS13)))),
            Self::CoapTcp => Family::Coap(Coap::new(Security::Tcp)),
            Self::CoapTls12 => Family::Coap(Coap::new(Security::Tls(Tls::new(Version::Tls12)))),
            Self::CoapTls13 => Family::Coap(Coap::new(Security::Tls(Tls::new(Version::Tls13)))),
            Self::Oscore => Family::Coap(Coap::new(Security::Oscore)),
            Self::Edhoc => Family::Coap(Coap::new(Security::Edhoc(Edhoc::DEFAULT))),
            Self::Less => Family::Coap(Coap::new(Security::Less)),
        }
    }
}

/// The family of the protocol, with the options that only this family has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// TLS and DTLS. They carry an application's data as they are.
    Tls(Tls),
    /// CoAP: an application's data are the payload of messages.
    Coap(Coap),
}

impl Family {
    /// The name of the protocol.
    pub const fn protocol(&self) -> Protocol {
        match self {
            Self::Tls(tls) => tls.version.protocol(),
            Self::Coap(Coap { security: Security::None, .. }) => Protocol::Coap,
            Self::Coap(Coap { security: Security::Tcp, .. }) => Protocol::CoapTcp,
            Self::Coap(Coap { security: Security::Oscore, .. }) => Protocol::Oscore,
            Self::Coap(Coap { security: Security::Edhoc(_), .. }) => Protocol::Edhoc,
            Self::Coap(Coap { security: Security::Less, .. }) => Protocol::Less,
            Self::Coap(Coap { security: Security::Tls(tls), .. }) => match tls.version {
                Version::Dtls12(_) => Protocol::CoapDtls12,
                Version::Dtls13(_) => Protocol::CoapDtls13,
                Version::Tls12 => Protocol::CoapTls12,
                Version::Tls13 => Protocol::CoapTls13,
                // No protocol here has CoAP above QUIC, and none makes this.
                Version::Quic => Protocol::Quic,
            },
        }
    }

    /// The options of CoAP. `None` if the protocol has none.
    pub const fn coap(&self) -> Option<&Coap> {
        match self {
            Self::Coap(coap) => Some(coap),
            Self::Tls(_) => None,
        }
    }

    /// The options of TLS or DTLS. `None` if the protocol has neither.
    pub const fn tls(&self) -> Option<&Tls> {
        match self {
            Self::Tls(tls) | Self::Coap(Coap { security: Security::Tls(tls), .. }) => Some(tls),
            Self::Coap(_) => None,
        }
    }

    /// The options of TLS or DTLS, to be changed.
    pub const fn tls_mut(&mut self) -> Option<&mut Tls> {
        match self {
            Self::Tls(tls) | Self::Coap(Coap { security: Security::Tls(tls), .. }) => Some(tls),
            Self::Coap(_) => None,
        }
    }
}

/// The default identity of the pre-shared key: 15 octets. The example programs of mbedTLS and tinyDTLS use it.
pub const PSK_IDENTITY: &str = "Client_identity";

/// The default pre-shared key: 16 octets, the length of a key of AES-128 (assumed).
pub const PSK: [u8; 16] = *b"slowhand-testkey";

/// The default password of EC-JPAKE: the joining device credential in the examples of OpenThread (its command
/// `joiner start J01NME`).
pub const PASSWORD: &str = "J01NME";

/// The proof of the identity of an end, with the options of that. The keys are in [`credentials`](crate::credentials).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A pre-shared key.
    Psk {
        /// The identity that goes with the key, 1 to 32 octets.
        identity: String,
        /// The key, 1 octet or more. [`TlsCapabilities::longest_psk`](crate::TlsCapabilities::longest_psk) has the most. No
        /// session has a copy: a device has it in flash, so it is none of what a session takes on the heap.
        key: Arc<[u8]>,
    },
    /// A password of both ends, which EC-JPAKE (draft-cragie-tls-ecjpake-01) proves without telling it.
    Ecjpake {
        /// The password, 6 to 32 octets, as Thread has it.
        password: String,
    },
    /// A raw public key (RFC 7250).
    RawPublicKey,
    /// An X.509 certificate from a certification authority that the peer trusts.
    Certificate {
        /// The length in bits of the RSA keys, including the authority's: 1024, 2048 or 3072. No effect without RSA.
        rsa_bits: u16,
        /// The length in octets of the certificate of each end (DER): at least the length of the certificate in
        /// `credentials/`, at most 8000. A comment extension without meaning makes it longer. `None`: the certificate
        /// in `credentials/`.
        length: Option<u16>,
    },
}

impl Credential {
    /// Its kind.
    pub const fn kind(&self) -> CredentialKind {
        match self {
            Self::Psk { .. } => CredentialKind::Psk,
            Self::Ecjpake { .. } => CredentialKind::Ecjpake,
            Self::RawPublicKey => CredentialKind::RawPublicKey,
            Self::Certificate { .. } => CredentialKind::Certificate,
        }
    }
}

/// A credential of this kind with default options: the key [`PSK`] with the identity [`PSK_IDENTITY`], the password
/// [`PASSWORD`], RSA keys of 2048 bits, the certificates in `credentials/`.
impl From<CredentialKind> for Credential {
    fn from(kind: CredentialKind) -> Self {
        match kind {
            CredentialKind::Psk => Self::Psk { identity: PSK_IDENTITY.to_owned(), key: Arc::new(PSK) },
            CredentialKind::Ecjpake => Self::Ecjpake { password: PASSWORD.to_owned() },
            CredentialKind::RawPublicKey => Self::RawPublicKey,
            CredentialKind::Certificate => Self::Certificate { rsa_bits: 2048, length: None },
        }
    }
}

/// The retransmission timer of a session over datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// The first timeout (mbedTLS: whole milliseconds; OpenSSL: at least 16 ms). Default: the library's own.
    pub first: Option<Duration>,
    /// The maximum timeout: the timer doubles up to this value (mbedTLS: whole milliseconds). Default: the library's
    /// own. tinyDTLS accepts only 128 times the first timeout.
    pub maximum: Option<Duration>,
    /// If there is one, an end that has measured a round trip waits as long as RFC 6298 has it, and at least this long,
    /// before it sends a new flight again; `first` is for its flights until then. Only lean-dtls measures (whole
    /// milliseconds). Default: none, nothing is measured.
    pub floor: Option<Duration>,
    /// The growth of the waits of a flight. Only lean-dtls has more than one way. Default: they double.
    pub growth: Growth,
}

/// The growth of a flight's waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// Each is twice as long as the one before (RFC 6347 section 4.2.4.1).
    #[default]
    Double,
    /// As in CoCoA (draft-ietf-core-cocoa-03): by its variable back-off factor (section 4.2.1), which the first timeout of a
    /// flight decides: three times below 1 s, one and a half above 3 s, twice between; and all timeouts of a connection are longer by
    /// the same random share of up to one half (that it is the same is assumed).
    Cocoa,
}

/// With what a session computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cryptography {
    /// Real cryptography.
    #[default]
    Real,
    /// Stand-ins that protect nothing, so that the laboratory is fast. All messages have their real sizes, every random
    /// number is drawn, and every operation takes the device's time as if it were real. The octets that come out are
    /// other ones, and the key log is empty. Both ends need it.
    Weightless,
}

/// Who computes on the curve secp256r1, and the powers of RSA. The results, and so all messages, times and records, are the same with each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    /// Each library with its own code.
    Library,
    /// OpenSSL's assembly for every library; the library's own code if the processor is not an x86-64.
    Assembly,
    /// As `Assembly`, and this process keeps results and uses them again.
    #[default]
    Memo,
}

/// One end of a session. [`SessionConfig::new`] gives each field its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// Which end this is.
    pub role: Role,
    /// The library.
    pub stack: Stack,
    /// The protocol, with the options of its family.
    pub family: Family,
    /// The proof of the identity of the end.
    pub credential: Credential,
    /// The retransmission timer; only over datagrams. Default: the library's own.
    pub timers: Timers,
    /// The most octets of a datagram (UDP payload) that this end sends. The library cuts flights and messages to fit.
    /// Only over datagrams. Default: no limit.
    pub mtu: Option<u16>,
    /// True if this end puts as many records of a flight into a datagram as there is room for, false if it sends one
    /// record a datagram. Only over datagrams; no effect on tinyDTLS, which always sends one. Default: true.
    pub datagram_packing: bool,
    /// If there are any, CoAP carries the flights of DTLS, with these options of its messages: DTLS as a resource of CoAP. What is sent after
    /// the handshake are records in datagrams, as without it. `timers` and `datagram_packing` have no effect: CoAP alone repeats, and a
    /// flight is one body. Only with DTLS. Default: none, they are datagrams of UDP.
    pub in_coap: Option<Box<Coap>>,
    /// If there are any, the pre-shared key comes from a trust anchor (S3K), with these options of the CoAP messages with it; the key of
    /// `credential` is then that between server and anchor. Only with DTLS, a pre-shared key and no resumption. Default: none.
    pub trust_anchor: Option<Box<Coap>>,
    /// With what this end computes. Default: real cryptography.
    pub cryptography: Cryptography,
    /// Who computes on secp256r1 and for RSA; it changes no result. Default: [`Arithmetic::Memo`], the fastest.
    pub arithmetic: Arithmetic,
    /// The seed of this end's randomness. The two ends of a session need different seeds. Default: zeros, for tests
    /// only.
    pub seed: [u8; 32],
}

impl SessionConfig {
    /// One end of a session with default options.
    pub const fn new(role: Role, stack: Stack, family: Family, credential: Credential) -> Self {
        let timers = Timers { first: None, maximum: None, floor: None, growth: Growth::Double };
        Self {
            role,
            stack,
            family,
            credential,
            timers,
            mtu: None,
            datagram_packing: true,
            in_coap: None,
            trust_anchor: None,
            cryptography: Cryptography::Real,
            arithmetic: Arithmetic::Memo,
            seed: [0; 32],
        }
    }

    /// The name of the protocol.
    pub const fn protocol(&self) -> Protocol {
        self.family.protocol()
    }

    /// The parts of the session.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let coap = match &self.family {
            Family::Tls(_) => return Parts::Transport(Cow::Borrowed(self), None),
            Family::Coap(coap) => coap,
        };
        let protection = match &coap.security {
            Security::Tls(tls) => {
                let transport = Self { family: Family::Tls(tls.clone()), ..self.clone() };
                return Parts::Transport(Cow::Owned(transport), Some(coap));
            }
            Security::None | Security::Tcp => Protection::None,
            Security::Oscore => Protection::Oscore,
            Security::Edhoc(edhoc) => Protection::Edhoc(*edhoc),
            Security::Less => return Parts::Less(coap),
        };
        Parts::Messages(coap, protection)
    }

    /// The session of TLS or DTLS that this one is, or that carries its CoAP messages. `None` if it has neither.
    pub(crate) fn transport(&self) -> Option<Cow<'_, Self>> {
        match self.parts() {
            Parts::Transport(transport, _) => Some(transport),
            Parts::Messages(..) | Parts::Less(_) => None,
        }
    }
}

/// The parts of a session.
#[expect(clippy::large_enum_variant, reason = "each lives for one call")]
pub(crate) enum Parts<'a> {
    /// TLS or DTLS, and CoAP above it if there is any.
    Transport(Cow<'a, SessionConfig>, Option<&'a Coap>),
    /// CoAP alone, with what protects it.
    Messages(&'a Coap, Protection),
    /// CoAP in the records of LESS.
    Less(&'a Coap),
}

/// A value of a [`SessionConfig`] that the library does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}, allowed: {allowed}")]
pub struct ConfigError {
    /// The name of the field, in [`SessionConfig`] or in one of its parts.
    pub field: &'static str,
    /// The value of the field.
    pub found: String,
    /// The values that the library supports.
    pub allowed: String,
}

displayed_as_serialised!(Role, Cryptography, Arithmetic, Growth);

/// The parameters that the two ends have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Negotiated {
    /// A session of TLS or DTLS.
    Tls {
        /// The protocol version.
        protocol: Protocol,
        /// The cipher suite.
        suite: Suite,
        /// The length in octets of the connection ID in this end's protected records (RFC 9146). `None` if the two ends
        /// use no connection IDs.
        connection_id: Option<u8>,
    },
}
