//! The options of TLS and DTLS.

mod lean;
mod suite;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::{Protocol, displayed_as_serialised};
use crate::operation::Curve;

pub use lean::{LeanProfile, LeanSwitch};
pub use suite::{KeyExchange, Suite};

/// The curve of EC-JPAKE. Its only suite has no other (`mbedtls_ssl_set_hs_ecjpake_password` of `ssl_tls.c`).
pub(crate) const ECJPAKE_CURVES: &[Curve] = &[Curve::Secp256r1];
/// All maximum fragment lengths, in octets (RFC 6066 section 4).
pub(crate) const FRAGMENT_LENGTHS: &[u16] = &[512, 1024, 2048, 4096];

/// The options of a session of TLS or DTLS. [`Tls::new`] gives each field its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The version, with the options that only this version has.
    pub version: Version,
    /// The only suite that this end offers or accepts. One exception: if this is a CCM-8 suite, tinyDTLS offers all its
    /// suites with the same key exchange, the CCM-8 suite first, as its applications do. Default: the first suite for
    /// the credential in the library's order of preference.
    pub suite: Option<Suite>,
    /// Which ends prove their identity. No effect with a pre-shared key. Default: both.
    pub auth: Auth,
    /// The curve for key exchange and ECDSA signatures. No effect with a suite that has neither. Default: secp256r1.
    pub curve: Curve,
    /// The maximum fragment length to negotiate (RFC 6066 section 4): 512, 1024, 2048 or 4096 octets. Default: none.
    pub max_fragment_length: Option<u16>,
    /// The limit that this end tells its peer: the most octets of content in encrypted records for this end (RFC 8449). Default: not told.
    pub record_size_limit: Option<u16>,
    /// True if a client of DTLS 1.2 may send data when its own Finished is sent, before it has the server's (False Start, RFC
    /// 7918). A server of lean-dtls with it keeps its last flight when data arrive; no effect for other servers. Default: false.
    pub false_start: bool,
    /// The algorithm with which the ends compress their certificates (RFC 8879), each if the other has said that it can undo it.
    /// The time that this takes is not counted. Default: not.
    pub certificate_compression: Option<CertificateCompression>,
    /// The way to resume an earlier session, which [`build_pair`](crate::build_pair) runs first. Default: no resumption.
    pub resumption: Option<Resumption>,
    /// True if a client takes every chain of certificates: the border router in front of it lets no other pass than those that it
    /// has validated. The client still verifies the signature of the key agreement with the server's key. No effect for a server.
    /// Default: false.
    pub pre_validated: bool,
    /// The options that no scenario has a key for. Default: nothing.
    pub unchecked: Unchecked,
}

/// The options that the tests of who speaks with whom ask for beside the rest. The capabilities of a library do not say whether it
/// has this: the library itself refuses, or does without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unchecked {
    /// This end speaks both versions of DTLS: its suite of the other one.
    pub other_suite: Option<Suite>,
    /// The key agreement is on X25519.
    pub x25519: bool,
    /// The pre-shared key of DTLS 1.3 is imported, without a context (RFC 9258).
    pub imports_psk: bool,
    /// With the data that it writes, this end asks its peer for a heartbeat (RFC 6520). It receives [`HEARTBEAT`] as data when the
    /// answer is there.
    pub heartbeats: bool,
}

/// The data that an end with heartbeats receives when one was answered.
pub const HEARTBEAT: &[u8] = b"heartbeat";

impl Tls {
    /// This version with default options.
    pub const fn new(version: Version) -> Self {
        Self {
            version,
            suite: None,
            auth: Auth::Mutual,
            curve: Curve::Secp256r1,
            max_fragment_length: None,
            record_size_limit: None,
            false_start: false,
            certificate_compression: None,
            resumption: None,
            pre_validated: false,
            unchecked: Unchecked { other_suite: None, x25519: false, imports_psk: false, heartbeats: false },
        }
    }
}

/// A version of TLS or DTLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// DTLS 1.2 (RFC 6347).
    Dtls12(Dtls),
    /// DTLS 1.3 (RFC 9147).
    Dtls13(Dtls),
    /// TLS 1.2 (RFC 5246).
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
    /// QUIC (RFC 9000), whose handshake is that of TLS 1.3 (RFC 9001).
    Quic,
}

impl Version {
    /// DTLS 1.2 with default options.
    pub const DTLS12: Self = Self::Dtls12(Dtls::DEFAULT);

    /// DTLS 1.3 with default options.
    pub const DTLS13: Self = Self::Dtls13(Dtls::DEFAULT);

    /// The options that only DTLS has.
    pub const fn dtls(&self) -> Option<&Dtls> {
        match self {
            Self::Dtls12(dtls) | Self::Dtls13(dtls) => Some(dtls),
            Self::Tls12 | Self::Tls13 | Self::Quic => None,
        }
    }

    /// The options of DTLS, to be changed.
    pub const fn dtls_mut(&mut self) -> Option<&mut Dtls> {
        match self {
            Self::Dtls12(dtls) | Self::Dtls13(dtls) => Some(dtls),
            Self::Tls12 | Self::Tls13 | Self::Quic => None,
        }
    }

    /// The name of the protocol.
    pub const fn protocol(&self) -> Protocol {
        match self {
            Self::Dtls12(_) => Protocol::Dtls12,
            Self::Dtls13(_) => Protocol::Dtls13,
            Self::Tls12 => Protocol::Tls12,
            Self::Tls13 => Protocol::Tls13,
            Self::Quic => Protocol::Quic,
        }
    }

    /// The ProtocolVersion of TLS (RFC 8446 section 4.2.1); for DTLS and QUIC, that of the same version of TLS.
    pub(crate) const fn number(self) -> u16 {
        match self {
            Self::Dtls12(_) | Self::Tls12 => 0x0303,
            Self::Dtls13(_) | Self::Tls13 | Self::Quic => 0x0304,
        }
    }
}

/// The options that only DTLS has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtls {
    /// True if the server answers the first ClientHello with a cookie: in a HelloVerifyRequest (RFC 6347 section
    /// 4.2.1), in DTLS 1.3 in a HelloRetryRequest (RFC 9147 section 5.1). No effect for a client. Default: true.
    pub cookie: bool,
    /// The length of this end's connection ID (RFC 9146), 0 to 32 octets. With 0, the records that this end receives
    /// carry no ID. Default: this end neither offers nor accepts connection IDs.
    pub connection_id: Option<u8>,
    /// The switches of the lean profile that this end offers, or takes. A server that is given `known_address` knows its client by
    /// its address. Default: nothing.
    pub lean: LeanProfile,
    /// The use of a pre-shared key in DTLS 1.3. No effect with certificates and raw public keys. Default: `psk_ke`.
    pub psk_mode: PskMode,
}

impl Dtls {
    /// The default of each.
    pub const DEFAULT: Self =
        Self { cookie: true, connection_id: None, lean: LeanProfile::NONE, psk_mode: PskMode::PskKe };
}

/// The use of a pre-shared key in DTLS 1.3 (RFC 8446 section 4.2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PskMode {
    /// Alone.
    #[default]
    PskKe,
    /// With key agreement (ECDHE): who learns the pre-shared key later cannot read the session.
    PskDheKe,
}

/// Which ends prove their identity in a handshake with certificates or raw public keys. With a pre-shared key, both
/// always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// The server only.
    Server,
    /// Both ends.
    Mutual,
}

/// An algorithm for the compression of certificates (RFC 8879).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CertificateCompression {
    /// zlib (RFC 1950), algorithm 1.
    Zlib,
}

/// The way to resume an earlier session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resumption {
    /// With the session ID: the server keeps the session (RFC 5246 section 7.4.1.2).
    Id,
    /// With a ticket: the client keeps the session, encrypted by the server (RFC 5077). In TLS 1.3, the ticket
    /// identifies a pre-shared key, which is used together with ECDHE (RFC 8446 section 2.2).
    Ticket,
}

displayed_as_serialised!(Suite, LeanSwitch, PskMode, Auth, CertificateCompression, Resumption);
