//! A pre-shared key.

use lean_dtls::Psk;

use super::End;

/// Octets of the buffers of a connection: enough for identities of up to 32 octets.
pub const BUFFER: usize = if cfg!(feature = "dtls13") { 256 } else { 192 };

/// The key that both ends know.
const KEY: Psk<'static> = Psk { identity: b"sensor-17", key: b"0123456789abcdef" };

/// The credentials of an end.
#[cfg(not(feature = "slides"))]
pub type Keys = [Psk<'static>; 1];

#[cfg(not(feature = "slides"))]
pub(super) const fn keys(_: End) -> Keys {
    [KEY]
}

/// The keys of ends that know each other by their addresses.
#[cfg(feature = "slides")]
pub struct Keys(Psk<'static>);

#[cfg(feature = "slides")]
pub(super) const fn keys(_: End) -> Keys {
    Keys(KEY)
}

#[cfg(feature = "slides")]
impl lean_dtls::Credentials for Keys {
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
