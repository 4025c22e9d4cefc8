//! The cryptography of OSCORE as a trait: HKDF with SHA-256 (RFC 5869), and AES-CCM-16-64-128 (RFC 9053, section 4.2).
//!
//! Each call is one operation that a device performs, so whoever wants their number or their time wraps an implementation.

use aes::Aes128;
use ccm::aead::array::AsArrayRef;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::U8;
use ccm::{Ccm, NonceSize};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

/// The number of AES-CCM-16-64-128 in COSE (RFC 9053, table 5).
pub(super) const ALGORITHM: u8 = 10;

/// Octets of a key (RFC 9053, table 5).
pub const KEY: usize = 16;

/// Octets of a nonce (RFC 9053, table 5).
pub const NONCE: usize = 13;

/// Octets of a tag (RFC 9053, table 5).
pub const TAG: usize = 8;

/// Octets of a SHA-256 digest.
pub const DIGEST: usize = 32;

/// A digest that is secret. It is wiped when it goes.
pub type Secret = Zeroizing<[u8; DIGEST]>;

/// A message could not be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// With what a message is encrypted.
#[derive(Clone, Copy)]
pub struct Protection<'a, const LENGTH: usize = NONCE> {
    /// The key of AES-128.
    pub key: &'a [u8; KEY],
    /// The nonce, which is used once with this key.
    pub nonce: &'a [u8; LENGTH],
    /// The data that the tag protects beside the content.
    pub associated: &'a [u8],
}

/// HKDF and AES-CCM.
pub trait Crypto {
    /// HKDF-Extract (RFC 5869, section 2.2): one HMAC-SHA-256 of `secret`, whose key is `salt`.
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret;

    /// The first 32 octets of HKDF-Expand (RFC 5869, section 2.3): one HMAC-SHA-256 of `info` and an octet, whose key is
    /// `extracted`.
    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret;

    /// Encrypts `content` in place, and returns its tag.
    ///
    /// # Errors
    /// The content has more than 65,535 octets (RFC 3610, section 2: its length takes two octets).
    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed>;

    /// Decrypts `content` in place. The tag is compared in constant time.
    ///
    /// # Errors
    /// The tag does not belong to the content. The content is then undefined, and must not be used.
    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed>;
}

/// The software of the RustCrypto project.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustCrypto;

impl Crypto for RustCrypto {
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret {
        let (mut extracted, _) = Hkdf::<Sha256>::extract(Some(salt), secret);
        let mut output = Secret::default();
        output.copy_from_slice(&extracted);
        extracted.as_mut_slice().zeroize();
        output
    }

    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret {
        let mut output = Secret::default();
        // HKDF takes each key of 32 octets or more, and gives up to 8,160 octets.
        let hkdf = Hkdf::<Sha256>::from_prk(&extracted[..]).expect("a key of 32 octets");
        hkdf.expand(info, &mut output[..]).expect("an output of 32 octets");
        output
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        open(with, content, tag)
    }
}

/// Encrypts `content` in place with AES-128-CCM-8, and returns its tag.
pub(crate) fn seal<const LENGTH: usize>(with: &Protection<'_, LENGTH>, content: &mut [u8]) -> Result<[u8; TAG], Failed>
where
    [u8; LENGTH]: AsArrayRef<u8, Size: NonceSize>,
{
    let cipher = Ccm::<Aes128, U8, _>::new(with.key.into());
    let tag = cipher.encrypt_inout_detached(with.nonce.as_array_ref(), with.associated, content.into());
    tag.map(Into::into).map_err(|_| Failed)
}

/// Decrypts `content` in place with AES-128-CCM-8.
pub(crate) fn open<const LENGTH: usize>(
    with: &Protection<'_, LENGTH>,
    content: &mut [u8],
    tag: &[u8; TAG],
) -> Result<(), Failed>
where
    [u8; LENGTH]: AsArrayRef<u8, Size: NonceSize>,
{
    let cipher = Ccm::<Aes128, U8, _>::new(with.key.into());
    let nonce = with.nonce.as_array_ref();
    cipher.decrypt_inout_detached(nonce, with.associated, content.into(), tag.into()).map_err(|_| Failed)
}
