//! What a library can do here. One constant of [`Capabilities`] stands beside the adapter of each library; refusals, the
//! list of libraries and its words all follow from it.

use std::time::Duration;

use crate::config::{CredentialKind, Protocol, Stack};
use crate::operation::Curve;
use crate::tls::{KeyExchange, Resumption, Suite};

/// A library and what it can do.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Its name.
    pub stack: Stack,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// What an end can prove its identity with.
    pub credentials: &'static [CredentialKind],
    /// Sessions over datagrams; `None`: it has none.
    pub datagrams: Option<Datagrams>,
    /// Sessions of TLS and DTLS.
    pub tls: TlsCapabilities,
    /// What else a user has to know of its behaviour, in words.
    pub remarks: &'static [&'static str],
    pub(crate) version: fn() -> String,
}

/// What a library can do in sessions over datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    /// The smallest limit for the size of a datagram, by the kind of credential.
    pub minimum_mtu: fn(CredentialKind) -> u16,
    /// Why it is the smallest.
    pub minimum_mtu_reason: &'static str,
    /// True if it cuts messages to fit into smaller datagrams.
    pub fragments: bool,
    /// The timer of retransmissions.
    pub timer: Timer,
}

/// The timer of retransmissions of a library. It doubles with each retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// Its first value, unless another is chosen.
    pub first: Duration,
    /// How it stops doubling.
    pub maximum: MaximumTimeout,
    /// The least value that can be chosen.
    pub least: Duration,
    /// The largest value that can be chosen.
    pub most: Duration,
}

/// The value at which a timer stops doubling.
#[derive(Clone, Copy, Debug)]
pub enum MaximumTimeout {
    /// It can be chosen; this is the value unless another is.
    Chosen(Duration),
    /// So many times the first value: as often doubled as the library retransmits.
    TimesFirst(u32),
}

/// What a library can do in sessions of TLS and DTLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsCapabilities {
    /// The suites of all versions, in the library's own order of preference.
    pub suites: &'static [Suite],
    /// The versions, the oldest first.
    pub versions: &'static [TlsVersion],
    /// The lengths in bits of RSA keys; empty: it has no RSA.
    pub rsa_bits: &'static [u16],
    /// True if DTLS connection IDs can be negotiated (RFC 9146).
    pub connection_id: bool,
    /// True if a DTLS server can do without the cookie exchange.
    pub without_cookie: bool,
}

/// What a library can do in one version of TLS or DTLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsVersion {
    /// The version.
    pub protocol: Protocol,
    /// The curves of key exchange and ECDSA.
    pub curves: &'static [Curve],
    /// The maximum fragment lengths that can be negotiated.
    pub fragment_lengths: &'static [u16],
    /// How sessions are resumed.
    pub resumptions: &'static [Resumption],
}

impl Capabilities {
    /// The library's version, asked from it.
    pub fn version(&self) -> String {
        (self.version)()
    }

    /// The protocols that it speaks.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> {
        self.tls.versions.iter().map(|version| version.protocol)
    }

    /// What an end proves its identity with in a suite.
    pub fn credential(&self, suite: Suite) -> CredentialKind {
        if suite.key_exchange() == KeyExchange::Psk {
            return CredentialKind::Psk;
        }
        self.asymmetric_credential()
    }

    /// What an end proves its identity with where there is no pre-shared key.
    pub fn asymmetric_credential(&self) -> CredentialKind {
        let mut kinds = self.credentials.iter().copied().filter(|kind| *kind != CredentialKind::Psk);
        // A library without any has no such suite either.
        kinds.next().unwrap_or(CredentialKind::Certificate)
    }

    /// The suites of a protocol, in the library's order of preference.
    pub fn suites(&self, protocol: Protocol) -> impl Iterator<Item = Suite> {
        let speaks = self.protocols().any(|spoken| spoken == protocol);
        let suites = self.tls.suites.iter().copied().filter(move |_| speaks);
        suites.filter(move |suite| suite.is_tls13() == (protocol == Protocol::Tls13))
    }

    /// The suite of a protocol that the library prefers among those in which an end has this credential.
    pub fn best_suite(&self, protocol: Protocol, credential: CredentialKind) -> Option<Suite> {
        self.suites(protocol).find(|suite| self.credential(*suite) == credential)
    }
}

impl Timer {
    /// The first and the largest value: those chosen, else the library's own.
    pub(crate) fn values(&self, first: Option<Duration>, maximum: Option<Duration>) -> (Duration, Duration) {
        let first = first.unwrap_or(self.first);
        let own = match self.maximum {
            MaximumTimeout::Chosen(maximum) => maximum.max(first),
            MaximumTimeout::TimesFirst(times) => first.saturating_mul(times),
        };
        (first, maximum.unwrap_or(own))
    }
}
