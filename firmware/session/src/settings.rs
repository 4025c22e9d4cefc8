//! What the images are configured for, by features.

use lean_dtls::{Config, Psk, Timeouts};

use crate::echo::MTU;

/// Octets of the buffers of a connection: enough for identities of up to 32 octets.
pub const BUFFER: usize = 192;

/// The credentials of both ends.
pub type Keys = [Psk<'static>; 1];

/// The key that both ends know.
const KEYS: Keys = [Psk { identity: b"sensor-17", key: b"0123456789abcdef" }];

/// The configuration of both ends.
pub fn config() -> Option<Config<Keys>> {
    let config = Config::new(KEYS, MTU as u16, Timeouts::DEFAULT).ok()?;
    #[cfg(feature = "lean")]
    let config = config.with_lean(lean_dtls::Lean::ALL);
    Some(config)
}
