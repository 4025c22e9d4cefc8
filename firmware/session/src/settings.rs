//! What the images are configured for, by features.

use lean_dtls::{Config, Psk, Timeouts};

use crate::echo::MTU;

/// Octets of the buffers of a connection: enough for identities of up to 32 octets.
pub const BUFFER: usize = 192;

/// The credentials of both ends.
#[cfg(not(feature = "slides"))]
pub type Keys = [Psk<'static>; 1];

/// The credentials of ends that know each other by their addresses.
#[cfg(feature = "slides")]
pub type Keys = Known;

/// The key that both ends know.
#[cfg(not(feature = "slides"))]
const KEYS: Keys = [PSK];
#[cfg(feature = "slides")]
const KEYS: Keys = Known(PSK);

const PSK: Psk<'static> = Psk { identity: b"sensor-17", key: b"0123456789abcdef" };

/// The configuration of both ends.
pub fn config() -> Option<Config<Keys>> {
    let config = Config::new(KEYS, MTU as u16, Timeouts::DEFAULT).ok()?;
    #[cfg(feature = "slides")]
    let config = config.with_lean(lean_dtls::Lean::SLIDES.with(lean_dtls::Lean::KNOWN_ADDRESS));
    #[cfg(all(feature = "lean", not(feature = "slides")))]
    let config = config.with_lean(lean_dtls::Lean::ALL);
    Some(config)
}

/// A key for whoever asks.
#[cfg(feature = "slides")]
pub struct Known(Psk<'static>);

#[cfg(feature = "slides")]
impl lean_dtls::Credentials for Known {
    fn psk(&self) -> Option<Psk<'_>> {
        Some(self.0)
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        (identity == self.0.identity).then_some(self.0.key)
    }

    fn find_psk_by_address(&self, _: &[u8]) -> Option<&[u8]> {
        Some(self.0.key)
    }
}
