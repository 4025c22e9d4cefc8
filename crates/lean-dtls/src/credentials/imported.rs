//! Pre-shared keys that DTLS 1.3 imports.

use super::{Credentials, Psk};

/// A pre-shared key that DTLS 1.3 imports (RFC 9258): it uses a key that is derived from this one, and from the
/// identity and the context. An array of them are [`Credentials`], as an array of [`Psk`] is. Both ends have to import
/// the key, with the same context.
///
/// So one key may serve DTLS 1.2, which uses it as it is, and DTLS 1.3. And a key that several devices share cannot be
/// turned against its owner, if the context names both ends (RFC 9258, appendix A).
#[derive(Clone, Copy)]
pub struct ImportedPsk<'k> {
    /// The name, which is sent in clear.
    pub identity: &'k [u8],
    /// The key: 1 to [`MAX_PSK`](crate::MAX_PSK) octets.
    pub key: &'k [u8],
    /// The knowledge of both ends beside the key, such as their names. It is sent in clear, and may be empty.
    pub context: &'k [u8],
}

impl Credentials for [ImportedPsk<'_>] {
    fn psk(&self) -> Option<Psk<'_>> {
        self.first().map(|own| Psk { identity: own.identity, key: own.key })
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.iter().find(|known| known.identity == identity).map(|known| known.key)
    }

    fn import_context(&self, identity: &[u8]) -> Option<&[u8]> {
        self.iter().find(|known| known.identity == identity).map(|known| known.context)
    }
}

/// Without the key.
impl core::fmt::Debug for ImportedPsk<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = f.debug_struct("ImportedPsk");
        shown.field("identity", &self.identity).field("context", &self.context).finish_non_exhaustive()
    }
}
