//! The configuration that C gives.

use core::slice;

use lean_dtls::{Config, ConfigError, Credentials, MAX_PSK, Psk, Timeouts};

use crate::{Error, octets, value};

/// `lean_dtls_psk`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PskOfC {
    identity: *const u8,
    identity_length: usize,
    key: *const u8,
    key_length: usize,
}

impl PskOfC {
    /// Returns the key as the engine in Rust takes it.
    fn get(&self) -> Psk<'static> {
        // SAFETY: C's promise: identity and key stay where they are as long as an engine uses them.
        unsafe { Psk { identity: octets(self.identity, self.identity_length), key: octets(self.key, self.key_length) } }
    }
}

/// `lean_dtls_config`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Settings {
    keys: *const PskOfC,
    key_count: usize,
    mtu: u16,
    timeout_ms: u32,
}

/// The keys of C.
#[derive(Clone, Copy)]
pub struct Keys(&'static [PskOfC]);

impl Credentials for Keys {
    fn psk(&self) -> Option<Psk<'_>> {
        self.0.first().map(PskOfC::get)
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.0.iter().map(PskOfC::get).find(|psk| psk.identity == identity).map(|psk| psk.key)
    }
}

/// The configuration of an engine.
///
/// # Errors
/// The settings from C cannot work.
///
/// # Safety
/// The pointers are null, or those of what their types say, which stays where it is as long as the engine is used.
pub(crate) unsafe fn config(settings: *const Settings) -> Result<Config<Keys>, Error> {
    // SAFETY: the caller's promise.
    let settings = unsafe { value(settings) }.ok_or(Error::Null)?;
    // SAFETY: the same. An array of so many keys is not longer than memory.
    let keys = unsafe {
        let first = value(settings.keys).ok_or(Error::Null)?;
        let is_array =
            settings.key_count.checked_mul(size_of_val(&first)).is_some_and(|octets| isize::try_from(octets).is_ok());
        if is_array { slice::from_raw_parts(settings.keys, settings.key_count) } else { &[] }
    };
    let is_key = |key: &PskOfC| (1..=MAX_PSK).contains(&key.get().key.len());
    if keys.is_empty() || !keys.iter().all(is_key) {
        return Err(Error::Key);
    }
    let initial_ms = if settings.timeout_ms == 0 { Timeouts::DEFAULT.initial_ms } else { settings.timeout_ms };
    Config::new(Keys(keys), settings.mtu, Timeouts { initial_ms, ..Timeouts::DEFAULT }).map_err(|error| match error {
        ConfigError::Mtu => Error::Mtu,
        _ => Error::Key, // the timeout is not 0, and nothing else is asked for
    })
}
