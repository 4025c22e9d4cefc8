//! The names of protocols, and of kinds of credentials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shows values by the names that they have in a scenario.
macro_rules! displayed_as_serialised {
    ($($name:ty),*) => {$(
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }
    )*};
}
pub(crate) use displayed_as_serialised;

displayed_as_serialised!(Protocol, Carrier, CredentialKind);

/// The name of a protocol, of any family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum Protocol {
    /// DTLS 1.2 (RFC 6347).
    #[serde(rename = "dtls1.2")]
    Dtls12,
    /// DTLS 1.3 (RFC 9147).
    #[serde(rename = "dtls1.3")]
    Dtls13,
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "tls1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "tls1.3")]
    Tls13,
    /// QUIC (RFC 9000), whose handshake is that of TLS 1.3 (RFC 9001).
    #[serde(rename = "quic")]
    Quic,
    /// CoAP (RFC 7252) without protection.
    #[serde(rename = "coap")]
    Coap,
    /// CoAP over DTLS 1.2.
    #[serde(rename = "coap+dtls1.2")]
    CoapDtls12,
    /// CoAP over DTLS 1.3.
    #[serde(rename = "coap+dtls1.3")]
    CoapDtls13,
    /// CoAP over TCP (RFC 8323) without protection.
    #[serde(rename = "coap+tcp")]
    CoapTcp,
    /// CoAP over TLS 1.2 (RFC 8323).
    #[serde(rename = "coap+tls1.2")]
    CoapTls12,
    /// CoAP over TLS 1.3 (RFC 8323).
    #[serde(rename = "coap+tls1.3")]
    CoapTls13,
    /// CoAP protected by OSCORE (RFC 8613), with a context that both ends have from the beginning.
    #[serde(rename = "oscore")]
    Oscore,
    /// CoAP protected by OSCORE, whose context comes from EDHOC (RFC 9528).
    #[serde(rename = "edhoc")]
    Edhoc,
    /// CoAP in records of DTLS 1.2, whose keys come from LESS (draft-bhattacharyya-dice-less-on-coap-01).
    #[serde(rename = "less")]
    Less,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: &[Self] = &[
        Self::Dtls12,
        Self::Dtls13,
        Self::Tls12,
        Self::Tls13,
        Self::Quic,
        Self::Coap,
        Self::CoapDtls12,
        Self::CoapDtls13,
        Self::CoapTcp,
        Self::CoapTls12,
        Self::CoapTls13,
        Self::Oscore,
        Self::Edhoc,
        Self::Less,
    ];

    /// True if the protocol runs over a reliable stream of bytes, false if it runs over datagrams.
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::Tls12 | Self::Tls13 | Self::CoapTcp | Self::CoapTls12 | Self::CoapTls13)
    }

    /// True if what its sessions carry are CoAP messages.
    pub const fn is_coap(self) -> bool {
        !matches!(self, Self::Dtls12 | Self::Dtls13 | Self::Tls12 | Self::Tls13 | Self::Quic)
    }

    /// True if what an application sends is DTLS, or CoAP in DTLS.
    pub const fn is_dtls(self) -> bool {
        matches!(self.transport(), Some(Self::Dtls12 | Self::Dtls13))
    }

    /// True if data that are lost are sent again, by the protocol itself or by what is below it.
    pub const fn is_reliable(self) -> bool {
        self.is_stream() || matches!(self, Self::Quic)
    }

    /// The protocol of TLS, DTLS or QUIC that is this one, or that carries its CoAP messages. `None` if it has none of them.
    pub const fn transport(self) -> Option<Self> {
        match self {
            Self::Dtls12 | Self::CoapDtls12 => Some(Self::Dtls12),
            Self::Dtls13 | Self::CoapDtls13 => Some(Self::Dtls13),
            Self::Tls12 | Self::CoapTls12 => Some(Self::Tls12),
            Self::Tls13 | Self::CoapTls13 => Some(Self::Tls13),
            Self::Quic => Some(Self::Quic),
            Self::Coap | Self::CoapTcp | Self::Oscore | Self::Edhoc | Self::Less => None,
        }
    }

    /// True if something is sent before the first data, be it the connection of TCP alone.
    pub const fn has_handshake(self) -> bool {
        !matches!(self, Self::Coap | Self::Oscore)
    }

    /// True if a session ends when a NAT forgets the address of its client: nothing of CoAP over UDP and of OSCORE is bound to one,
    /// and a connection of QUIC migrates (RFC 9000 section 9).
    pub const fn is_bound_to_address(self) -> bool {
        !matches!(self, Self::Coap | Self::Oscore | Self::Edhoc | Self::Quic)
    }
}

/// The carrier of a DTLS session's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Carrier {
    /// Datagrams of UDP.
    #[default]
    Udp,
    /// Requests and responses of CoAP, in blocks.
    Coap,
    /// DCCP with CCID 2 (RFC 4340, RFC 4341), as RFC 5238 has it: one datagram in each data packet.
    Dccp,
}

/// The name of a kind of [`Credential`](crate::Credential).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CredentialKind {
    /// A pre-shared key.
    Psk,
    /// A password of both ends, proved with EC-JPAKE.
    Ecjpake,
    /// A raw public key (RFC 7250).
    RawPublicKey,
    /// An X.509 certificate.
    Certificate,
}

impl CredentialKind {
    /// True if the end has a key pair. With the other kinds, both ends know the same secret.
    pub const fn is_asymmetric(self) -> bool {
        matches!(self, Self::RawPublicKey | Self::Certificate)
    }
}
