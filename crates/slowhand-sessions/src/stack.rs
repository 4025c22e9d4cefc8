//! The libraries that are built in, and what each can do.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Credential, Curve, KeyExchange, Protocol, Resumption, Suite};
use crate::{mbedtls, openssl, rustls, tinydtls};

/// A library.
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

/// What a library can do over datagrams with one key exchange.
pub(crate) struct Limits {
    pub(crate) mtu: u16,
    pub(crate) mtu_reason: &'static str,
    pub(crate) connection_id: bool,
    pub(crate) without_cookie: bool,
}

impl Stack {
    /// Every library.
    pub const ALL: &[Self] = &[Self::Mbedtls, Self::Openssl, Self::Rustls, Self::Tinydtls];

    /// What the library authenticates with in a suite.
    pub fn credential(self, suite: Suite) -> Credential {
        match (suite.key_exchange(), self) {
            (KeyExchange::Psk, _) => Credential::Psk,
            (_, Self::Mbedtls | Self::Openssl | Self::Rustls) => Credential::Certificate,
            (_, Self::Tinydtls) => Credential::RawPublicKey,
        }
    }

    /// The first and the largest value of the handshake timer if nothing else is chosen.
    ///
    /// mbedTLS: `MBEDTLS_SSL_DTLS_TIMEOUT_DFL_MIN` and `_MAX` of `ssl.h`. tinyDTLS: 2 s, doubled with
    /// each of at most 7 retransmissions (`dtls_send_multi` and `dtls_retransmit` in `dtls.c`,
    /// `DTLS_DEFAULT_MAX_RETRANSMIT` in `global.h`), so 256 s at the end: always 128 times the first.
    /// OpenSSL: 1 s, doubled up to 60 s (`dtls1_start_timer` and `dtls1_double_timeout` in `d1_lib.c`). rustls: none, it
    /// has no DTLS.
    pub const fn default_timeouts(self) -> (Duration, Duration) {
        match self {
            Self::Mbedtls | Self::Openssl => (Duration::from_secs(1), Duration::from_secs(60)),
            Self::Rustls => (Duration::ZERO, Duration::ZERO),
            Self::Tinydtls => (Duration::from_secs(2), Duration::from_secs(256)),
        }
    }

    /// Between what the handshake timer can be chosen. Whole milliseconds in 32 bits where the library says nothing else.
    pub(crate) const fn timeout_bounds(self) -> (Duration, Duration) {
        match self {
            Self::Openssl => openssl::TIMEOUT_BOUNDS,
            _ => (Duration::from_millis(1), Duration::from_secs(u32::MAX as u64 / 1000)),
        }
    }

    /// The largest value of the handshake timer that begins with `first`, where it is built into the library.
    pub(crate) fn built_in_maximum(self, first: Duration) -> Option<Duration> {
        match self {
            Self::Mbedtls | Self::Openssl | Self::Rustls => None,
            Self::Tinydtls => Some(first * tinydtls::LARGEST_TO_FIRST_TIMEOUT),
        }
    }

    pub(crate) const fn protocols(self) -> &'static [Protocol] {
        match self {
            Self::Mbedtls | Self::Openssl => &[Protocol::Dtls12, Protocol::Tls12, Protocol::Tls13],
            Self::Rustls => &[Protocol::Tls12, Protocol::Tls13],
            Self::Tinydtls => &[Protocol::Dtls12],
        }
    }

    /// Of all protocols.
    const fn all_suites(self) -> &'static [Suite] {
        match self {
            Self::Mbedtls | Self::Openssl => Suite::ALL,
            Self::Rustls => rustls::SUITES,
            Self::Tinydtls => tinydtls::SUITES,
        }
    }

    pub(crate) fn suites(self, protocol: Protocol) -> impl Iterator<Item = Suite> {
        let suites = self.all_suites().iter().copied();
        suites.filter(move |suite| suite.is_tls13() == (protocol == Protocol::Tls13))
    }

    /// TLS 1.3 has no secp192r1 (RFC 8446 section 4.2.7).
    pub(crate) const fn curves(self, protocol: Protocol) -> &'static [Curve] {
        match (self, protocol) {
            (Self::Mbedtls | Self::Openssl, Protocol::Dtls12 | Protocol::Tls12) => {
                &[Curve::Secp192r1, Curve::Secp256r1]
            }
            _ => &[Curve::Secp256r1],
        }
    }

    /// The maximum fragment lengths that can be negotiated.
    pub(crate) const fn fragment_lengths(self, protocol: Protocol) -> &'static [u16] {
        match (self, protocol) {
            (Self::Mbedtls, Protocol::Dtls12 | Protocol::Tls12) | (Self::Openssl, _) => &[512, 1024, 2048, 4096],
            _ => &[],
        }
    }

    /// How it resumes sessions.
    pub(crate) const fn resumptions(self, protocol: Protocol) -> &'static [Resumption] {
        match (self, protocol) {
            (Self::Mbedtls, Protocol::Dtls12 | Protocol::Tls12) => &[Resumption::Id, Resumption::Ticket],
            (Self::Mbedtls | Self::Rustls, Protocol::Tls13) => &[Resumption::Ticket],
            (Self::Rustls, Protocol::Tls12) => &[Resumption::Id],
            _ => &[],
        }
    }

    /// `None`: it has no datagrams.
    pub(crate) fn limits(self, key_exchange: KeyExchange) -> Option<Limits> {
        Some(match self {
            Self::Rustls => return None,
            Self::Mbedtls => Limits {
                mtu: mbedtls::MINIMUM_MTU,
                mtu_reason: "the library does not fragment a ClientHello",
                connection_id: true,
                without_cookie: true,
            },
            Self::Openssl => Limits {
                mtu: openssl::MINIMUM_MTU,
                mtu_reason: "the library believes in no path of less than 256 octets, headers of IPv6 and UDP included",
                connection_id: false,
                without_cookie: true,
            },
            Self::Tinydtls => Limits {
                mtu: tinydtls::largest_datagram(key_exchange),
                mtu_reason: "the library neither sends nor accepts fragments of a handshake message",
                connection_id: false,
                without_cookie: false,
            },
        })
    }

    fn info(self) -> StackInfo {
        match self {
            Self::Mbedtls => StackInfo {
                name: self,
                version: mbedtls::version(),
                licence: "Apache-2.0 OR GPL-2.0-or-later",
                protocols: self.protocols().to_vec(),
                suites: self.all_suites().to_vec(),
                credentials: &[Credential::Psk, Credential::Certificate],
                features: &[
                    "secp192r1",
                    "secp256r1",
                    "RSA-1024, RSA-2048 and RSA-3072",
                    "server or mutual authentication",
                    "cookie on or off",
                    "mtu",
                    "max_fragment_length",
                    "first and maximum timeout",
                    "connection_id",
                    "resumption by identifier or ticket",
                ],
            },
            Self::Openssl => StackInfo {
                name: self,
                version: openssl::version(),
                licence: "Apache-2.0",
                protocols: self.protocols().to_vec(),
                suites: self.all_suites().to_vec(),
                credentials: &[Credential::Psk, Credential::Certificate],
                features: &[
                    "secp192r1",
                    "secp256r1",
                    "RSA-1024, RSA-2048 and RSA-3072",
                    "server or mutual authentication",
                    "cookie on or off",
                    "mtu",
                    "max_fragment_length",
                    "first and maximum timeout",
                    "one write per flight",
                ],
            },
            Self::Rustls => StackInfo {
                name: self,
                version: rustls::VERSION.to_owned(),
                licence: "Apache-2.0 OR ISC OR MIT",
                protocols: self.protocols().to_vec(),
                suites: self.all_suites().to_vec(),
                credentials: &[Credential::Certificate],
                features: &[
                    "secp256r1",
                    "server or mutual authentication",
                    "one write per flight",
                    "resumption by identifier (1.2) or ticket (1.3)",
                ],
            },
            Self::Tinydtls => StackInfo {
                name: self,
                version: tinydtls::version(),
                licence: "EPL-1.0 OR BSD-3-Clause",
                protocols: self.protocols().to_vec(),
                suites: self.all_suites().to_vec(),
                credentials: &[Credential::Psk, Credential::RawPublicKey],
                features: &[
                    "secp256r1",
                    "server or mutual authentication",
                    "one datagram and one timer per message",
                    "first timeout",
                ],
            },
        }
    }
}

/// A library and what it can do here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackInfo {
    /// Its name in a scenario.
    pub name: Stack,
    /// The version of the sources that are built in, asked from the library.
    pub version: String,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The protocols that it speaks here.
    pub protocols: Vec<Protocol>,
    /// The cipher suites that are built in.
    pub suites: Vec<Suite>,
    /// What an end can authenticate with.
    pub credentials: &'static [Credential],
    /// What can be chosen, in words.
    pub features: &'static [&'static str],
}

/// The libraries that are built in.
pub fn stacks() -> Vec<StackInfo> {
    Stack::ALL.iter().map(|stack| stack.info()).collect()
}
