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

/// For the modes of other crates.
#[cfg(feature = "gcm")]
mod modes {
    use aes::Block;
    use aes::cipher::consts::{U1, U16};
    use aes::cipher::inout::InOut;
    use aes::cipher::{
        BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser,
        ParBlocksSizeUser,
    };

    use super::Aes128;

    impl KeySizeUser for Aes128 {
        type KeySize = U16;
    }

    impl KeyInit for Aes128 {
        fn new(key: &Key<Self>) -> Self {
            Self::new(key.as_ref())
        }
    }

    impl BlockSizeUser for Aes128 {
        type BlockSize = U16;
    }

    impl ParBlocksSizeUser for Aes128 {
        type ParBlocksSize = U1;
    }

    impl BlockCipherEncrypt for Aes128 {
        fn encrypt_with_backend(&self, mode: impl BlockCipherEncClosure<BlockSize = U16>) {
            mode.call(self);
        }
    }

    impl BlockCipherEncBackend for Aes128 {
        fn encrypt_block(&self, mut block: InOut<'_, '_, Block>) {
            let mut octets = (*block.get_in()).into();
            self.encrypt(&mut octets);
            *block.get_out() = octets.into();
        }
    }
}
