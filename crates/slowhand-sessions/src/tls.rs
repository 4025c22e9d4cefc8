//! The family of TLS and DTLS: what a configuration says of it alone.

mod suite;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Curve;

pub use suite::{KeyExchange, Suite};

/// What is chosen for a session of TLS or DTLS. [`Tls::new`] gives each field its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The version, with what it alone has.
    pub version: Version,
    /// The one suite that is offered or accepted. (tinyDTLS offers all its suites of the same key exchange, as its
    /// applications do, when this is a CCM-8 suite: the first of its list.) Default: the first suite in the library's
    /// order of preference that fits the credential.
    pub suite: Option<Suite>,
    /// Who is authenticated; no effect with a pre-shared key. Default: both ends.
    pub auth: Auth,
    /// The curve of key exchange and ECDSA signatures; no effect with a suite that has neither. Default: secp256r1.
    pub curve: Curve,
    /// The maximum fragment length that is negotiated (RFC 6066 section 4): 512, 1024, 2048 or 4096 octets. Default: not
    /// negotiated.
    pub max_fragment_length: Option<u16>,
    /// Resume an earlier session, which [`build_pair`](crate::build_pair) runs first. Default: no.
    pub resumption: Option<Resumption>,
}

impl Tls {
    /// A session of this version, the rest as by default.
    pub const fn new(version: Version) -> Self {
        Self {
            version,
            suite: None,
            auth: Auth::Mutual,
            curve: Curve::Secp256r1,
            max_fragment_length: None,
            resumption: None,
        }
    }
}

/// A version of TLS or DTLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// DTLS 1.2 (RFC 6347).
    Dtls12(Dtls12),
    /// TLS 1.2 (RFC 5246).
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

impl Version {
    /// DTLS 1.2, the rest as by default.
    pub const DTLS12: Self = Self::Dtls12(Dtls12 { cookie: true, connection_id: None });

    /// The version as a ProtocolVersion of TLS (RFC 8446 section 4.2.1). DTLS 1.2 is TLS 1.2 over datagrams.
    pub(crate) const fn number(self) -> u16 {
        match self {
            Self::Dtls12(_) | Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }
}

/// What DTLS 1.2 alone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtls12 {
    /// A server challenges the first ClientHello with a HelloVerifyRequest (RFC 6347 section 4.2.1). No effect for a
    /// client, which follows the server. Default: yes.
    pub cookie: bool,
    /// Offer or accept connection IDs (RFC 9146). The value is the length of our own, 0 to 32 octets; with 0, records
    /// towards us carry none. Default: no.
    pub connection_id: Option<u8>,
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

/// How an earlier session is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resumption {
    /// By its identifier: the server keeps the session (RFC 5246 section 7.4.1.2).
    Id,
    /// By a ticket in which the server has given the session to the client (RFC 5077); in TLS 1.3 the ticket names a
    /// pre-shared key (RFC 8446 section 2.2), with ECDHE beside it.
    Ticket,
}

impl fmt::Display for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
