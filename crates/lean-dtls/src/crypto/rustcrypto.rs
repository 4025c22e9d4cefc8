//! The cryptography in software, by the RustCrypto crates.

#[cfg(feature = "gcm")]
use aes_gcm::aead::consts::U12;
#[cfg(feature = "gcm")]
use aes_gcm::aead::{AeadInOut, KeyInit};
#[cfg(feature = "certificates")]
use p256::ecdsa::{
    Signature, SigningKey, VerifyingKey,
    signature::hazmat::{PrehashSigner, PrehashVerifier},
};

use super::sha256::Sha256;
use super::{Aead, Crypto, Failed, Protection, ccm};
#[cfg(feature = "dtls13")]
use super::{BLOCK, KEY, aes128::Aes128};
#[cfg(feature = "certificates")]
use super::{DIGEST, MAX_PUBLIC, SIGNATURE};
#[cfg(feature = "ecdhe")]
use super::{Group, SCALAR};

#[cfg(feature = "gcm")]
type Gcm = aes_gcm::AesGcm<super::aes128::Aes128, U12>;

/// [`Crypto`] in software. `R` fills its argument with random numbers that nobody can predict.
#[derive(Clone, Debug)]
pub struct RustCrypto<R> {
    random: R,
}

impl<R: FnMut(&mut [u8])> RustCrypto<R> {
    /// Software with this source of random numbers.
    pub const fn new(random: R) -> Self {
        Self { random }
    }
}

impl<R: FnMut(&mut [u8])> Crypto for RustCrypto<R> {
    type Hash = Sha256;

    fn hash(&mut self) -> Sha256 {
        Sha256::new()
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        match with.aead {
            Aead::Ccm8 | Aead::Ccm => ccm::seal(with, content, tag),
            #[cfg(feature = "gcm")]
            Aead::Gcm => seal_gcm(with, content, tag),
            #[cfg(not(feature = "gcm"))]
            Aead::Gcm => Err(Failed),
        }
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        match with.aead {
            Aead::Ccm8 | Aead::Ccm => ccm::open(with, content, tag),
            #[cfg(feature = "gcm")]
            Aead::Gcm => open_gcm(with, content, tag),
            #[cfg(not(feature = "gcm"))]
            Aead::Gcm => Err(Failed),
        }
    }

    fn random(&mut self, octets: &mut [u8]) {
        (self.random)(octets);
    }

    #[cfg(feature = "dtls13")]
    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        Aes128::new(key).encrypt(block);
        Ok(())
    }

    #[cfg(feature = "ecdhe")]
    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        let mut private = [0; SCALAR];
        // A scalar of P-256 must be below the order of the group, and not zero. One of 2^32 draws is not.
        for _ in 0..DRAWS {
            self.random(&mut private);
            if super::ecdh::public(group, &private, public).is_ok() {
                return Ok(private);
            }
        }
        Err(Failed)
    }

    #[cfg(feature = "ecdhe")]
    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        super::ecdh::agree(group, private, public)
    }

    #[cfg(feature = "certificates")]
    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        let key = SigningKey::from_slice(private).map_err(|_| Failed)?;
        // The nonce follows from the key and the digest (RFC 6979): no random number can give the key away.
        let signature: Signature = key.sign_prehash(digest).map_err(|_| Failed)?;
        Ok(signature.to_bytes().into())
    }

    #[cfg(feature = "certificates")]
    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        let key = VerifyingKey::from_sec1_bytes(public).map_err(|_| Failed)?;
        let signature = Signature::from_slice(signature).map_err(|_| Failed)?;
        key.verify_prehash(digest, &signature).map_err(|_| Failed)
    }
}

/// The number of times that a private key is drawn before the source of random numbers must be broken. (Assumed.)
#[cfg(feature = "ecdhe")]
const DRAWS: usize = 4;

#[cfg(feature = "gcm")]
fn seal_gcm(with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
    let cipher = <Gcm as KeyInit>::new(with.key.into());
    let sealed = cipher.encrypt_inout_detached(with.nonce.into(), with.associated, content.into());
    tag.copy_from_slice(&sealed.map_err(|_| Failed)?);
    Ok(())
}

#[cfg(feature = "gcm")]
fn open_gcm(with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
    let tag = tag.try_into().map_err(|_| Failed)?;
    let cipher = <Gcm as KeyInit>::new(with.key.into());
    cipher.decrypt_inout_detached(with.nonce.into(), with.associated, content.into(), tag).map_err(|_| Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 2 and 6: a short key, and one that is longer than a block.
    #[test]
    fn hmac_gives_the_vectors_of_rfc_4231() {
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let short = crypto.hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(
            short,
            [
                0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a,
                0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43,
            ]
        );
        let long = crypto.hmac(&[0xaa; 131], &[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(
            long,
            [
                0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f, 0x8e,
                0x0b, 0xc6, 0x21, 0x37, 0x28, 0xc5, 0x14, 0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54,
            ]
        );
    }
}
