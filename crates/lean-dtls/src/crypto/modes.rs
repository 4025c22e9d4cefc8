//! AES-128 of this crate for the modes of other crates.

use aes::Block;
use aes::cipher::consts::{U1, U16};
use aes::cipher::inout::InOut;
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser,
    ParBlocksSizeUser,
};

use super::aes128::Aes128;

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
