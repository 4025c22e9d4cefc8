//! Joins our cryptography to the crate `lakers`, and keeps what it cannot say to it: that an operation has failed.

use std::fmt;

use lakers::{BufferCiphertext3, BufferPlaintext3, BytesHashLen, BytesP256ElemLen, EDHOCError};
use zeroize::Zeroizing;

use super::Error;
use super::crypto::{Crypto, Scalar};
use crate::oscore::crypto::{Protection, TAG};

/// Calls `lakers` with this cryptography.
pub(super) fn call<C: Crypto, T>(
    crypto: &mut C,
    step: impl FnOnce(&mut Bridge<'_, C>) -> Result<T, EDHOCError>,
) -> Result<T, Error> {
    call_with(crypto, |_| Ok(()), step)
}

/// As above, but what is decrypted is first checked: `lakers` takes some of what its peer sends for granted, and panics.
pub(super) fn call_with<C: Crypto, T>(
    crypto: &mut C,
    check: fn(&[u8]) -> Result<(), Error>,
    step: impl FnOnce(&mut Bridge<'_, C>) -> Result<T, EDHOCError>,
) -> Result<T, Error> {
    let mut bridge = Bridge { crypto, check, failure: None };
    let result = step(&mut bridge);
    match bridge.failure {
        Some(failure) => Err(failure),
        None => result.map_err(Error::from),
    }
}

/// The cryptography as `lakers` sees it.
pub(super) struct Bridge<'a, C> {
    crypto: &'a mut C,
    check: fn(&[u8]) -> Result<(), Error>,
    /// The first failure. All that `lakers` has computed after it counts for nothing.
    failure: Option<Error>,
}

impl<C> Bridge<'_, C> {
    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }
}

impl<C> fmt::Debug for Bridge<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bridge")
    }
}

impl<C: Crypto> lakers::CryptoTrait for Bridge<'_, C> {
    fn sha256_digest(&mut self, message: &lakers::BytesMaxBuffer, message_len: usize) -> BytesHashLen {
        self.crypto.hash(&message[..message_len])
    }

    fn hkdf_expand(
        &mut self,
        prk: &BytesHashLen,
        info: &lakers::BytesMaxInfoBuffer,
        info_len: usize,
        length: usize,
    ) -> lakers::BytesMaxBuffer {
        let mut output = [0; lakers::MAX_BUFFER_LEN];
        self.crypto.expand_to(&Zeroizing::new(*prk), &info[..info_len], &mut output[..length]);
        output
    }

    fn hkdf_extract(&mut self, salt: &BytesHashLen, ikm: &BytesP256ElemLen) -> BytesHashLen {
        *self.crypto.extract(salt, ikm)
    }

    fn aes_ccm_encrypt_tag_8(
        &mut self,
        key: &lakers::BytesCcmKeyLen,
        iv: &lakers::BytesCcmIvLen,
        ad: &[u8],
        plaintext: &BufferPlaintext3,
    ) -> BufferCiphertext3 {
        let mut content = plaintext.as_slice().to_vec();
        match self.crypto.seal(&Protection { key, nonce: iv, associated: ad }, &mut content) {
            Ok(tag) => content.extend_from_slice(&tag),
            Err(_) => self.fail(Error::TooLong),
        }
        BufferCiphertext3::new_from_slice(&content).unwrap_or_else(|_| {
            self.fail(Error::TooLong);
            *plaintext
        })
    }

    fn aes_ccm_decrypt_tag_8(
        &mut self,
        key: &lakers::BytesCcmKeyLen,
        iv: &lakers::BytesCcmIvLen,
        ad: &[u8],
        ciphertext: &BufferCiphertext3,
    ) -> Result<BufferPlaintext3, EDHOCError> {
        let with = Protection { key, nonce: iv, associated: ad };
        let opened =
            ciphertext.as_slice().split_last_chunk::<TAG>().ok_or(Error::Malformed).and_then(|(content, tag)| {
                let mut content = Zeroizing::new(content.to_vec());
                self.crypto.open(&with, &mut content, tag).map_err(|_| Error::Decryption)?;
                (self.check)(&content)?;
                BufferPlaintext3::new_from_slice(&content).map_err(|_| Error::TooLong)
            });
        opened.map_err(|error| {
            self.fail(error);
            EDHOCError::ParsingError
        })
    }

    fn p256_ecdh(&mut self, private_key: &BytesP256ElemLen, public_key: &BytesP256ElemLen) -> BytesP256ElemLen {
        match self.crypto.agree(&Zeroizing::new(*private_key), public_key) {
            Ok(secret) => *secret,
            Err(_) => {
                self.fail(Error::Key);
                [0; lakers::P256_ELEM_LEN]
            }
        }
    }

    /// The functions of `lakers` that are called here do not draw random numbers: callers choose connection identifiers.
    fn get_random_byte(&mut self) -> u8 {
        self.crypto.generate().private[0]
    }

    fn p256_generate_key_pair(&mut self) -> (BytesP256ElemLen, BytesP256ElemLen) {
        let pair = self.crypto.generate();
        (*pair.private, pair.public)
    }
}

/// A private key as our cryptography takes it.
pub(super) fn scalar(octets: &BytesP256ElemLen) -> Scalar {
    Zeroizing::new(*octets)
}
