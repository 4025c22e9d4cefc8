//! The capabilities of a library here. Each library's adapter has one constant of [`Capabilities`]. The checks of
//! configurations and the list of libraries use only these constants.

use std::time::Duration;

#[cfg(doc)]
use crate::config::Cryptography;
use crate::config::{CredentialKind, Protocol, Stack};
use crate::operation::Curve;
use crate::tls::{CertificateCompression, KeyExchange, PskMode, Resumption, Suite};

/// A library and what it supports.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Its name.
    pub stack: Stack,
    /// False if this build does not have it: sessions of it are refused.
    pub is_built: bool,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// The ways in which an end can prove its identity.
    pub credentials: &'static [CredentialKind],
    /// The features over datagrams. `None` if it runs over streams only.
    pub datagrams: Option<Datagrams>,
    /// The credentials with which it can run without real cryptography ([`Cryptography::Weightless`]).
    pub weightless: &'static [CredentialKind],
    /// The features of TLS and DTLS.
    pub tls: TlsCapabilities,
    /// Other behaviour that a user has to know, in words.
    pub remarks: &'static [&'static str],
    /// The version that the library reports; `not in this build` if there is none to ask.
    pub version: &'static str,
}

/// The features of a library in sessions over datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    /// The smallest limit for the size of a datagram, for each kind of credential.
    pub minimum_mtu: &'static [(CredentialKind, u16)],
    /// Why smaller limits are not possible.
    pub minimum_mtu_reason: &'static str,
    /// True if it fragments handshake messages to fit into smaller datagrams.
    pub fragments: bool,
    /// True if it can send each record in a datagram of its own.
    pub without_packing: bool,
    /// The retransmission timer.
    pub timer: Timer,
}

/// The retransmission timer of a library. It doubles with each retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// The default first timeout.
    pub first: Duration,
    /// The maximum timeout.
    pub maximum: MaximumTimeout,
    /// The smallest timeout that a configuration may choose.
    pub least: Duration,
    /// The largest timeout that a configuration may choose.
    pub most: Duration,
    /// True if it can follow the measured round trip.
    pub measures: bool,
    /// True if its waits can grow as in CoCoA.
    pub backs_off: bool,
}

/// The maximum timeout: the value at which a timer stops doubling.
#[derive(Clone, Copy, Debug)]
pub enum MaximumTimeout {
    /// A configuration may choose it. This is the default.
    Chosen(Duration),
    /// It is fixed: this number of times the first timeout, because the timer doubles with each of the library's
    /// retransmissions.
    TimesFirst(u32),
}

/// The features of a library in sessions of TLS and DTLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsCapabilities {
    /// The suites of all versions, in the library's order of preference.
    pub suites: &'static [Suite],
    /// The versions, oldest first.
    pub versions: &'static [TlsVersion],
    /// The lengths of RSA keys in bits. Empty if it has no RSA.
    pub rsa_bits: &'static [u16],
    /// The octets of the longest DTLS connection ID that it can negotiate (RFC 9146). `None` if it has none.
    pub connection_id: Option<u8>,
    /// True if it has the lean profile.
    pub lean: bool,
    /// True if a DTLS server can omit the cookie exchange.
    pub without_cookie: bool,
    /// True if a server of DTLS 1.2 can omit it only with a plain pre-shared key: it computes with no public key before the cookie.
    pub needs_cookie_for_public_keys: bool,
    /// True if a DTLS server omits it always.
    pub cookieless: bool,
    /// True if the identity of a pre-shared key may contain the octet 0 (RFC 4279 section 5.1: any UTF-8 text).
    pub identity_with_nul: bool,
    /// The octets of the longest pre-shared key. 0 if it has none.
    pub longest_psk: usize,
    /// The uses of a pre-shared key in DTLS 1.3. Empty if it has none there.
    pub psk_modes: &'static [PskMode],
    /// True if it imports each pre-shared key of DTLS 1.3 (RFC 9258), without a context: its peer must do so too.
    pub imports_psk: bool,
    /// True if it can tell its peer how long records may be (RFC 8449).
    pub record_size_limit: bool,
    /// True if a client can leave the verification of the peer's chain of certificates out.
    pub takes_any_chain: bool,
    /// True if a client of DTLS 1.2 can send data before the server's Finished (RFC 7918).
    pub false_start: bool,
    /// True if a server of DTLS 1.2 takes data as a sign that its last flight has arrived, and cannot send it again then. Then a
    /// client with False Start that did not get the flight never gets it. False also where nobody has tried it: wolfSSL, BoringSSL, dimpl
    /// and GnuTLS.
    pub forgets_flight_on_data: bool,
}

/// The features of a library in one version of TLS or DTLS.
#[derive(Clone, Copy, Debug)]
pub struct TlsVersion {
    /// The version.
    pub protocol: Protocol,
    /// The curves for key exchange and ECDSA.
    pub curves: &'static [Curve],
    /// The maximum fragment lengths that it can negotiate.
    pub fragment_lengths: &'static [u16],
    /// The ways in which it can resume sessions.
    pub resumptions: &'static [Resumption],
    /// The algorithms with which it can compress certificates.
    pub certificate_compressions: &'static [CertificateCompression],
}

impl Capabilities {
    /// The protocols that it supports.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> {
        self.tls.versions.iter().map(|version| version.protocol)
    }

    /// The ways in which an end can prove its identity in a suite, the default first.
    pub fn credentials(&self, protocol: Protocol, suite: Suite) -> impl Iterator<Item = CredentialKind> + use<> {
        let exchange = suite.key_exchange();
        // In DTLS 1.3 the suite does not say it. In TLS 1.3 neither, but no library here is given a key there.
        let is_free = protocol == Protocol::Dtls13;
        self.credentials.iter().copied().filter(move |kind| is_free || exchange.fits(*kind))
    }

    /// The way in which an end proves its identity in a suite by default.
    pub fn credential(&self, suite: Suite) -> CredentialKind {
        match suite.key_exchange() {
            KeyExchange::Ecjpake => CredentialKind::Ecjpake,
            exchange if exchange.has_psk() => CredentialKind::Psk,
            _ => self.asymmetric_credential(),
        }
    }

    /// The ways in which an end can prove its identity with a key pair, the default first.
    pub fn asymmetric_credentials(&self) -> impl Iterator<Item = CredentialKind> + use<> {
        self.credentials.iter().copied().filter(|kind| kind.is_asymmetric())
    }

    /// The way in which an end proves its identity with a key pair by default.
    pub fn asymmetric_credential(&self) -> CredentialKind {
        // A library without such a credential has no such suite, so this one is never used.
        self.asymmetric_credentials().next().unwrap_or(CredentialKind::Certificate)
    }

    /// The suites of a protocol, in the library's order of preference.
    pub fn suites(&self, protocol: Protocol) -> impl Iterator<Item = Suite> {
        let speaks = self.protocols().any(|spoken| spoken == protocol);
        let suites = self.tls.suites.iter().copied().filter(move |_| speaks);
        suites.filter(move |suite| {
            suite.is_tls13() == matches!(protocol, Protocol::Dtls13 | Protocol::Tls13 | Protocol::Quic)
        })
    }

    /// The first suite of a protocol, in the library's order of preference, that uses this credential.
    pub fn best_suite(&self, protocol: Protocol, credential: CredentialKind) -> Option<Suite> {
        self.suites(protocol).find(|suite| self.credentials(protocol, *suite).any(|kind| kind == credential))
    }
}

impl Timer {
    /// The first and the maximum timeout: the chosen values, or the library's own.
    pub fn values(&self, first: Option<Duration>, maximum: Option<Duration>) -> (Duration, Duration) {
        let first = first.unwrap_or(self.first);
        let own = match self.maximum {
            MaximumTimeout::Chosen(maximum) => maximum.max(first),
            MaximumTimeout::TimesFirst(times) => first.saturating_mul(times),
        };
        (first, maximum.unwrap_or(own))
    }
}
