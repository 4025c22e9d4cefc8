//! What an engine is told once.

use crate::credentials::{Credentials, is_key};
#[cfg(feature = "dtls13")]
use crate::crypto::{Aead, Group};
#[cfg(doc)]
use crate::dtls12::MAX_PSK;
use crate::time::Timeouts;

/// Octets of the smallest datagram that the engine can use.
pub const MIN_MTU: u16 = 64;

/// The configuration of a client or a server. `K` has its credentials.
#[derive(Clone, Copy, Debug)]
pub struct Config<K> {
    pub(crate) credentials: K,
    pub(crate) mtu: u16,
    pub(crate) timeouts: Timeouts,
    pub(crate) admission: Admission,
    pub(crate) options: Options,
}

/// What a client asks for by extensions, and what a server grants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    #[cfg(feature = "dtls13")]
    pub(crate) dtls13: Dtls13,
}

/// The settings of DTLS 1.3.
#[cfg(feature = "dtls13")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dtls13 {
    pub(crate) versions: Versions,
    /// The algorithms of records, the preferred one first.
    pub(crate) aeads: &'static [Aead],
    /// The groups for key agreement, the preferred one first. Without any, a pre-shared key is used alone.
    pub(crate) groups: &'static [Group],
    /// A server asks for a cookie.
    pub(crate) has_cookie: bool,
    /// Octets of this end's connection IDs.
    pub(crate) connection_id: Option<u8>,
}

#[cfg(feature = "dtls13")]
impl Default for Dtls13 {
    fn default() -> Self {
        Self { versions: Versions::default(), aeads: &[Aead::Ccm8], groups: &[], has_cookie: true, connection_id: None }
    }
}

/// The versions of DTLS that an end speaks.
#[cfg(feature = "dtls13")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// DTLS 1.2 (RFC 6347).
    #[default]
    Dtls12,
    /// DTLS 1.3 (RFC 9147).
    Dtls13,
}

/// What a server does with a client for which it has no free slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// The client is ignored until a slot is free.
    #[default]
    Refuse,
    /// The session that was opened first ends, without an alert.
    EvictOldest,
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
    /// The first timeout is 0.
    Timeout,
}

impl<K: Credentials> Config<K> {
    /// A configuration with these credentials. `mtu` is the most octets of a datagram, without the headers of UDP and IP.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(credentials: K, mtu: u16, timeouts: Timeouts) -> Result<Self, ConfigError> {
        if credentials.psk().is_some_and(|psk| !is_key(psk.key)) {
            return Err(ConfigError::Key);
        }
        #[cfg(feature = "certificates")]
        if credentials.certificate().is_some_and(|own| !own.certificate.is_sendable()) {
            return Err(ConfigError::Chain);
        }
        if mtu < MIN_MTU {
            return Err(ConfigError::Mtu);
        }
        if timeouts.initial_ms == 0 {
            return Err(ConfigError::Timeout);
        }
        Ok(Self { credentials, mtu, timeouts, admission: Admission::Refuse, options: Options::default() })
    }

    /// The same with other versions.
    #[cfg(feature = "dtls13")]
    #[must_use]
    pub const fn with_versions(mut self, versions: Versions) -> Self {
        self.options.dtls13.versions = versions;
        self
    }

    /// The same with other algorithms for the records of DTLS 1.3, the preferred one first. Default: [`Aead::Ccm8`].
    #[cfg(feature = "dtls13")]
    #[must_use]
    pub const fn with_aeads(mut self, aeads: &'static [Aead]) -> Self {
        self.options.dtls13.aeads = aeads;
        self
    }

    /// The same with groups for the key agreement of DTLS 1.3, the preferred one first. Default: none. Then a pre-shared key
    /// is used alone (psk_ke), and who learns it later can read the connection. A client with groups never uses it alone.
    #[cfg(feature = "dtls13")]
    #[must_use]
    pub const fn with_groups(mut self, groups: &'static [Group]) -> Self {
        self.options.dtls13.groups = groups;
        self
    }

    /// The same for a server of DTLS 1.3 that asks for no cookie. Then anybody can fill its slots, and make it send a flight
    /// to somebody else (RFC 9147, section 5.1).
    #[cfg(feature = "dtls13")]
    #[must_use]
    pub const fn without_cookie(mut self) -> Self {
        self.options.dtls13.has_cookie = false;
        self
    }

    /// The same with another policy for clients beyond the slots of a server.
    #[must_use]
    pub fn with_admission(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }
}
