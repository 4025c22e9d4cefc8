//! The cryptography of LESS as a trait. Each call is one operation that a device performs.

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::KEY;
use crate::oscore::crypto::{DIGEST, Failed, TAG, open, seal};
use crate::oscore::{Crypto as _, RustCrypto};

/// Octets of the nonce of a record (RFC 6655 section 3).
pub const NONCE: usize = 12;

/// With what a record is encrypted.
pub type Protection<'a> = crate::oscore::crypto::Protection<'a, NONCE>;

/// AES-128 in CBC mode, HMAC-SHA-256 and AES-128-CCM-8.
pub trait Crypto {
    /// Fills a slice with random octets.
    fn fill_random(&mut self, output: &mut [u8]);

    /// Encrypts whole blocks in place, in CBC mode with an initialization vector of zeros.
    fn encrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]);

    /// Decrypts whole blocks in place.
    fn decrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]);

    /// HMAC-SHA-256.
    fn hmac(&mut self, key: &[u8], message: &[u8]) -> [u8; DIGEST];

    /// Encrypts the content of a record in place, and returns its tag.
    ///
    /// # Errors
    /// The content is too long.
    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed>;

    /// Decrypts the content of a record in place.
    ///
    /// # Errors
    /// The tag does not belong to the content, which is then undefined.
    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed>;
}

/// The software of the RustCrypto project, with randomness of the caller: `R` fills a slice with random octets.
pub struct Software<R>(pub R);

impl<R: FnMut(&mut [u8])> Crypto for Software<R> {
    fn fill_random(&mut self, output: &mut [u8]) {
        (self.0)(output);
    }

    fn encrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]) {
        let cipher = Aes128::new(key.into());
        let mut before = [0; KEY];
        for block in blocks {
            *block = xor(block, &before);
            cipher.encrypt_block(block.into());
            before = *block;
        }
    }

    fn decrypt(&mut self, key: &[u8; KEY], blocks: &mut [[u8; KEY]]) {
        let cipher = Aes128::new(key.into());
        let mut before = [0; KEY];
        for block in blocks {
            let encrypted = *block;
            cipher.decrypt_block(block.into());
            *block = xor(block, &before);
            before = encrypted;
        }
    }

    fn hmac(&mut self, key: &[u8], message: &[u8]) -> [u8; DIGEST] {
        *RustCrypto.extract(key, message)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        open(with, content, tag)
    }
}

pub(super) fn xor(left: &[u8; KEY], right: &[u8; KEY]) -> [u8; KEY] {
    std::array::from_fn(|at| left[at] ^ right[at])
}
