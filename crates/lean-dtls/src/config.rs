//! What an engine is told once.

use crate::schedule::MAX_PSK;
use crate::time::Timeouts;

/// Octets of the smallest datagram that the engine can use.
pub const MIN_MTU: u16 = 64;

/// The configuration of a client or a server.
#[derive(Clone, Copy, Debug)]
pub struct Config<'c> {
    keys: &'c [Psk<'c>],
    pub(crate) mtu: u16,
    pub(crate) timeouts: Timeouts,
    pub(crate) admission: Admission,
}

/// A pre-shared key and its name (RFC 4279).
#[derive(Clone, Copy)]
pub struct Psk<'c> {
    /// The name, which is sent in clear.
    pub identity: &'c [u8],
    /// The key: 1 to [`MAX_PSK`] octets.
    pub key: &'c [u8],
}

impl core::fmt::Debug for Psk<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Psk").field("identity", &self.identity).finish_non_exhaustive()
    }
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
    /// There is no key; or one of no octets, or of more than [`MAX_PSK`].
    Key,
    /// The datagrams are shorter than [`MIN_MTU`].
    Mtu,
    /// The first timeout is 0.
    Timeout,
}

impl<'c> Config<'c> {
    /// A configuration with these keys: a client uses the first, a server the one that the client names. `mtu` is the most
    /// octets of a datagram, without the headers of UDP and IP.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(keys: &'c [Psk<'c>], mtu: u16, timeouts: Timeouts) -> Result<Self, ConfigError> {
        if keys.is_empty() || keys.iter().any(|psk| psk.key.is_empty() || psk.key.len() > MAX_PSK) {
            return Err(ConfigError::Key);
        }
        if mtu < MIN_MTU {
            return Err(ConfigError::Mtu);
        }
        if timeouts.initial_ms == 0 {
            return Err(ConfigError::Timeout);
        }
        Ok(Self { keys, mtu, timeouts, admission: Admission::Refuse })
    }

    /// The same with another policy for clients beyond the slots of a server.
    #[must_use]
    pub const fn with_admission(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// The key that a client uses.
    pub(crate) fn own(&self) -> Option<&Psk<'c>> {
        self.keys.first()
    }

    /// The key that a server knows under this name.
    pub(crate) fn find(&self, identity: &[u8]) -> Option<&Psk<'c>> {
        self.keys.iter().find(|psk| psk.identity == identity)
    }
}
