//! The configuration of a session: protocol, credential, timers, sizes. What only one family of protocols has stands in
//! that family's module ([`Tls`]).

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tls::{Suite, Tls, Version};

/// An end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sends the first message.
    Client,
    /// Answers it.
    Server,
}

/// A library, by its name. [`Capabilities`](crate::Capabilities) says what each can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stack {
    /// Mbed TLS.
    Mbedtls,
    /// OpenSSL.
    Openssl,
    /// rustls.
    Rustls,
    /// Eclipse tinyDTLS.
    Tinydtls,
}

impl Stack {
    /// Every library.
    pub const ALL: &[Self] = &[Self::Mbedtls, Self::Openssl, Self::Rustls, Self::Tinydtls];
}

/// A protocol of any family, by its name.
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
    /// True if the protocol runs over a stream of bytes, which a layer below keeps in order and complete. False if it
    /// runs over datagrams.
    pub const fn is_stream(self) -> bool {
        match self {
            Self::Dtls12 => false,
            Self::Tls12 | Self::Tls13 => true,
        }
    }

    /// The protocol with what its family has, all as by default.
    pub const fn family(self) -> Family {
        Family::Tls(Tls::new(match self {
            Self::Dtls12 => Version::DTLS12,
            Self::Tls12 => Version::Tls12,
            Self::Tls13 => Version::Tls13,
        }))
    }
}

/// The family of the protocol, with what only this family has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// TLS and DTLS.
    Tls(Tls),
}

impl Family {
    /// The name of the protocol.
    pub const fn protocol(&self) -> Protocol {
        let Self::Tls(tls) = self;
        match tls.version {
            Version::Dtls12(_) => Protocol::Dtls12,
            Version::Tls12 => Protocol::Tls12,
            Version::Tls13 => Protocol::Tls13,
        }
    }
}

/// The identity that goes with the pre-shared key unless another is chosen: 15 octets, the identity that the example
/// programs of mbedTLS and tinyDTLS use.
pub const PSK_IDENTITY: &str = "Client_identity";

/// What an end proves its identity with, and what is chosen about it. The keys themselves are those of
/// [`credentials`](crate::credentials).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A pre-shared key.
    Psk {
        /// The identity that goes with the key, 1 to 32 octets.
        identity: String,
    },
    /// A raw public key (RFC 7250).
    RawPublicKey,
    /// An X.509 certificate, issued by a certification authority that the peer knows.
    Certificate {
        /// The length in bits of RSA keys, the authority's too: 1024, 2048 or 3072. No effect without RSA.
        rsa_bits: u16,
        /// The length in octets of the certificate of each end, DER: from that of the certificates in `credentials/` to
        /// 8000. It is filled up with a comment that nobody interprets. `None`: those certificates.
        length: Option<u16>,
    },
}

/// A kind of [`Credential`], by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CredentialKind {
    /// A pre-shared key.
    Psk,
    /// A raw public key (RFC 7250).
    RawPublicKey,
    /// An X.509 certificate.
    Certificate,
}

impl Credential {
    /// Its kind.
    pub const fn kind(&self) -> CredentialKind {
        match self {
            Self::Psk { .. } => CredentialKind::Psk,
            Self::RawPublicKey => CredentialKind::RawPublicKey,
            Self::Certificate { .. } => CredentialKind::Certificate,
        }
    }
}

/// A credential of this kind, the rest as by default: the identity [`PSK_IDENTITY`], RSA keys of 2048 bits, the
/// certificates in `credentials/`.
impl From<CredentialKind> for Credential {
    fn from(kind: CredentialKind) -> Self {
        match kind {
            CredentialKind::Psk => Self::Psk { identity: PSK_IDENTITY.to_owned() },
            CredentialKind::RawPublicKey => Self::RawPublicKey,
            CredentialKind::Certificate => Self::Certificate { rsa_bits: 2048, length: None },
        }
    }
}

/// The timer of retransmissions of a session over datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// The timer's first value (mbedTLS: whole milliseconds; OpenSSL: 16 ms or more). Default: the library's own.
    pub first: Option<Duration>,
    /// The value at which the timer stops doubling (mbedTLS: whole milliseconds). Default: the library's own. tinyDTLS
    /// has none but 128 times the first.
    pub maximum: Option<Duration>,
}

/// One end of a session. [`SessionConfig::new`] gives each field its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionConfig {
    /// Which end this is.
    pub role: Role,
    /// The library.
    pub stack: Stack,
    /// The protocol, with what only its family has.
    pub family: Family,
    /// What the end proves its identity with.
    pub credential: Credential,
    /// The timer of retransmissions; only over datagrams. Default: the library's own.
    pub timers: Timers,
    /// Most octets of a datagram (UDP payload) that this end sends; flights and messages are cut to fit. Only over
    /// datagrams. Default: no limit.
    pub mtu: Option<u16>,
    /// The seed of all the randomness of this end. Default: zeros, which is for tests. The two ends of a session need
    /// different seeds.
    pub seed: [u8; 32],
}

impl SessionConfig {
    /// One end of a session, the rest as by default.
    pub const fn new(role: Role, stack: Stack, family: Family, credential: Credential) -> Self {
        let timers = Timers { first: None, maximum: None };
        Self { role, stack, family, credential, timers, mtu: None, seed: [0; 32] }
    }

    /// The name of the protocol.
    pub const fn protocol(&self) -> Protocol {
        self.family.protocol()
    }
}

/// A session that the library cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: found {found}, allowed: {allowed}")]
pub struct ConfigError {
    /// What has to change: a field of [`SessionConfig`] or of one of its parts.
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// What the library can do.
    pub allowed: String,
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

displayed_as_serialised!(Role, Stack, Protocol, CredentialKind);

/// What the two ends have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Negotiated {
    /// A session of TLS or DTLS.
    Tls {
        /// The protocol version.
        protocol: Protocol,
        /// The cipher suite.
        suite: Suite,
        /// Octets of the connection ID that this end's protected records carry (RFC 9146); `None` if the two ends use
        /// no connection IDs.
        connection_id: Option<u8>,
    },
}
