//! AES-128, one block after the other. In software, the crate `aes` computes four blocks at once where a mode asks for it: on
//! a 32-bit processor this is larger by 5,000 octets, needs four times the stack, and is slower for short records.

use aes::Aes128Enc;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use super::{BLOCK, KEY};

/// AES-128 with a key.
pub(super) struct Aes128(Aes128Enc);

impl Aes128 {
    #[inline(never)] // otherwise each use has its own
    pub(super) fn new(key: &[u8; KEY]) -> Self {
        Self(Aes128Enc::new(key.into()))
    }

    /// Encrypts a block in place.
    #[inline(never)]
    pub(super) fn encrypt(&self, block: &mut [u8; BLOCK]) {
        self.0.encrypt_block(<&mut Array<u8, _>>::from(block));
    }
}
