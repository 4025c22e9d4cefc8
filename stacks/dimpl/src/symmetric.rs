//! Hash functions, HMAC and AEAD of the library, which report what they have computed.

use dimpl::CryptoError;
use dimpl::crypto::{
    Aad, Buf, Cipher, CryptoProvider, Dtls12CipherSuite, Dtls13CipherSuite, HashAlgorithm, HashContext, HashProvider,
    HmacProvider, Nonce, SupportedDtls12CipherSuite, SupportedDtls13CipherSuite, TmpBuf, rust_crypto,
};
use slowhand_stack::host;

use crate::secrets;

pub(crate) static HASHES: Hashes = Hashes;
pub(crate) static HMAC: Hmac = Hmac;

/// Octets of a block, and of the length at the end of the last one (FIPS 180-4 sections 1 and 5.1).
fn block(hash: HashAlgorithm) -> (usize, usize) {
    if hash == HashAlgorithm::SHA256 { (64, 8) } else { (128, 16) }
}

fn compressed(hash: HashAlgorithm, blocks: usize) {
    match hash {
        _ if blocks == 0 => {}
        HashAlgorithm::SHA256 => host::sha256(blocks as u32),
        _ => host::sha512(blocks as u32),
    }
}

/// All compressions for so many octets, with the padding.
fn compressions(hash: HashAlgorithm, octets: usize) -> usize {
    let (block, length) = block(hash);
    (octets + 1 + length).div_ceil(block)
}

/// The provider that the library computes with if its user says nothing.
pub(crate) fn library() -> CryptoProvider {
    rust_crypto::default_provider()
}

/// Reports the hash of a message.
pub(crate) fn hashed(hash: HashAlgorithm, octets: usize) {
    compressed(hash, compressions(hash, octets));
}

#[derive(Debug)]
pub(crate) struct Hashes;

impl HashProvider for Hashes {
    fn create_hash(&self, hash: HashAlgorithm) -> Box<dyn HashContext> {
        Box::new(Running { inner: library().hash_provider.create_hash(hash), hash, octets: 0 })
    }
}

#[derive(Debug)]
struct Running {
    inner: Box<dyn HashContext>,
    hash: HashAlgorithm,
    octets: usize,
}

impl HashContext for Running {
    fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
        let (block, _) = block(self.hash);
        compressed(self.hash, (self.octets % block + data.len()) / block);
        self.octets += data.len();
    }

    fn clone_and_finalize(&self, out: &mut Buf) {
        self.inner.clone_and_finalize(out);
        let (block, _) = block(self.hash);
        compressed(self.hash, compressions(self.hash, self.octets) - self.octets / block);
    }
}

#[derive(Debug)]
pub(crate) struct Hmac;

impl HmacProvider for Hmac {
    /// RFC 2104 section 2. The library keeps no pads: each call hashes both.
    fn hmac(&self, hash: HashAlgorithm, key: &[u8], data: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        let length = library().hmac_provider.hmac(hash, key, data, out)?;
        let (block, _) = block(hash);
        let of_key = if key.len() > block { compressions(hash, key.len()) } else { 0 };
        compressed(hash, of_key + compressions(hash, block + data.len()) + compressions(hash, block + length));
        secrets::log(key, data, &out[..length]);
        Ok(length)
    }
}

/// AEAD with one key.
#[derive(Debug)]
struct Counted {
    inner: Box<dyn Cipher>,
    is_gcm: bool,
    key_bits: u32,
    tag: usize,
}

impl Counted {
    fn boxed(inner: Box<dyn Cipher>, key: &[u8], tag: usize) -> Box<dyn Cipher> {
        // Of the suites here, only CCM_8 has a shorter tag than GCM.
        Box::new(Self { inner, is_gcm: tag == 16, key_bits: 8 * key.len() as u32, tag })
    }
}

impl Cipher for Counted {
    fn encrypt(&mut self, content: &mut Buf, additional: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let (octets, of_additional) = (content.len() as u32, additional.len() as u32);
        self.inner.encrypt(content, additional, nonce)?;
        host::seal(self.is_gcm, self.key_bits, self.tag as u32, octets, of_additional);
        Ok(())
    }

    fn decrypt(&mut self, content: &mut TmpBuf<'_>, additional: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let (octets, of_additional) = (content.len().checked_sub(self.tag), additional.len() as u32);
        let result = self.inner.decrypt(content, additional, nonce);
        // The time is the same if the tag is wrong.
        if let Some(octets) = octets {
            host::open(self.is_gcm, self.key_bits, self.tag as u32, octets as u32, of_additional);
        }
        result
    }
}

/// A suite of one version: the library's own, with a cipher that is counted.
macro_rules! counted_suite {
    ($name:ident, $suite:ident, $trait:ident of $suites:ident: $($length:ident -> $type:ty),*; $($other:tt)*) => {
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) $suite);

        impl $name {
            fn inner(&self) -> &'static dyn $trait {
                let suites = library().$suites;
                *suites.iter().find(|suite| suite.suite() == self.0).expect("the library has it")
            }
        }

        impl $trait for $name {
            fn suite(&self) -> $suite {
                self.0
            }

            fn hash_algorithm(&self) -> HashAlgorithm {
                self.inner().hash_algorithm()
            }

            $(fn $length(&self) -> $type {
                self.inner().$length()
            })*

            fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
                Ok(Counted::boxed(self.inner().create_cipher(key)?, key, self.tag_len()))
            }

            $($other)*
        }
    };
}

counted_suite! {
    Suite12, Dtls12CipherSuite, SupportedDtls12CipherSuite of cipher_suites:
    key_lengths -> (usize, usize, usize), explicit_nonce_len -> usize, tag_len -> usize;
}

counted_suite! {
    Suite13, Dtls13CipherSuite, SupportedDtls13CipherSuite of dtls13_cipher_suites:
    key_len -> usize, iv_len -> usize, tag_len -> usize;

    /// One block of AES: a table of a device has no such operation, so it takes no time, as in the other libraries.
    fn encrypt_sn(&self, key: &[u8], sample: &[u8; 16]) -> [u8; 16] {
        self.inner().encrypt_sn(key, sample)
    }
}
