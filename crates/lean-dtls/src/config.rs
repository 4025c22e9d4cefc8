//! What an engine is told once.

use crate::dtls12::MAX_PSK;
use crate::lean::Lean;
use crate::time::Timeouts;

/// Octets of the smallest datagram that the engine can use.
pub const MIN_MTU: u16 = 64;

/// The configuration of a client or a server. `K` has its keys.
#[derive(Clone, Copy, Debug)]
pub struct Config<K> {
    pub(crate) keys: K,
    pub(crate) mtu: u16,
    pub(crate) timeouts: Timeouts,
    pub(crate) admission: Admission,
    pub(crate) options: Options,
}

/// What a client asks for by extensions, and what a server grants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) lean: Lean,
}

/// A pre-shared key and its name (RFC 4279).
#[derive(Clone, Copy)]
pub struct Psk<'k> {
    /// The name, which is sent in clear.
    pub identity: &'k [u8],
    /// The key: 1 to [`MAX_PSK`] octets.
    pub key: &'k [u8],
}

/// The keys of a client or a server: a list ([`Psk`] in an array or a slice), or whatever else finds them.
pub trait Keys {
    /// The key that a client uses.
    fn own(&self) -> Option<Psk<'_>>;

    /// The key that a server knows under this name: 1 to [`MAX_PSK`] octets.
    fn find(&self, identity: &[u8]) -> Option<&[u8]>;

    /// True if a server answers a client at this address without asking for a cookie: it trusts that nobody else can send from
    /// there, or can bear that somebody does. Until the client has proved that it is there, it gets at most three times the
    /// octets that it has sent.
    fn is_known(&self, _address: &[u8]) -> bool {
        false
    }

    /// The key that a server knows for the client at this address, which does not send its identity: 1 to [`MAX_PSK`]
    /// octets. Only clients of the lean profile leave it out.
    fn find_by_address(&self, _address: &[u8]) -> Option<&[u8]> {
        None
    }
}

impl Keys for &[Psk<'_>] {
    fn own(&self) -> Option<Psk<'_>> {
        self.first().copied()
    }

    fn find(&self, identity: &[u8]) -> Option<&[u8]> {
        self.iter().find(|psk| psk.identity == identity).map(|psk| psk.key)
    }
}

impl<const N: usize> Keys for [Psk<'_>; N] {
    fn own(&self) -> Option<Psk<'_>> {
        self.first().copied()
    }

    fn find(&self, identity: &[u8]) -> Option<&[u8]> {
        self.iter().find(|psk| psk.identity == identity).map(|psk| psk.key)
    }
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
    /// The client's key has no octets, or more than [`MAX_PSK`].
    Key,
    /// The datagrams are shorter than [`MIN_MTU`].
    Mtu,
    /// The first timeout is 0.
    Timeout,
}

impl<K: Keys> Config<K> {
    /// A configuration with these keys. `mtu` is the most octets of a datagram, without the headers of UDP and IP.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(keys: K, mtu: u16, timeouts: Timeouts) -> Result<Self, ConfigError> {
        if keys.own().is_some_and(|psk| !is_key(psk.key)) {
            return Err(ConfigError::Key);
        }
        if mtu < MIN_MTU {
            return Err(ConfigError::Mtu);
        }
        if timeouts.initial_ms == 0 {
            return Err(ConfigError::Timeout);
        }
        Ok(Self { keys, mtu, timeouts, admission: Admission::Refuse, options: Options::default() })
    }

    /// The same with another policy for clients beyond the slots of a server.
    #[must_use]
    pub fn with_admission(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// The same with these switches of the lean profile: a client offers them, a server takes those of them that are offered.
    #[cfg(feature = "lean")]
    #[must_use]
    pub fn with_lean(self, lean: Lean) -> Self {
        Self { options: Options { lean: lean.consistent() }, ..self }
    }
}

/// True if a pre-shared key has a length that the engine can use.
pub(crate) fn is_key(key: &[u8]) -> bool {
    (1..=MAX_PSK).contains(&key.len())
}
