//! What an engine is told once.

use crate::credentials::{Credentials, is_key};
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
pub(crate) struct Options {}

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

    /// The same with another policy for clients beyond the slots of a server.
    #[must_use]
    pub fn with_admission(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }
}
