//! The cryptography of EDHOC as a trait: what cipher suite 2 needs (RFC 9528, section 3.6), beside what OSCORE has already.
//!
//! Each call is one operation that a device performs, so whoever wants their number or their time wraps an implementation.

use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::oscore::crypto::{DIGEST, Failed, Protection, Secret, TAG};
use crate::oscore::{self, RustCrypto};

/// Octets of a private key, and of a public key, which is the x coordinate alone (RFC 9528, section 3.7).
pub const ELEMENT: usize = 32;

/// A private key of P-256, or a shared secret. It is wiped when it goes.
pub type Scalar = Zeroizing<[u8; ELEMENT]>;

/// An ephemeral key pair.
pub struct KeyPair {
    /// The private key.
    pub private: Scalar,
    /// The x coordinate of the public key.
    pub public: [u8; ELEMENT],
}

/// P-256, SHA-256, HKDF and AES-CCM-16-64-128. The operations of [`oscore::Crypto`] count here too: EDHOC extracts its keys with
/// [`extract`](oscore::Crypto::extract), and encrypts with [`seal`](oscore::Crypto::seal) and [`open`](oscore::Crypto::open).
pub trait Crypto: oscore::Crypto {
    /// A new key pair of P-256: randomness, and a multiplication of the base point.
    fn generate(&mut self) -> KeyPair;

    /// The x coordinate of the shared point (RFC 9528, section 4.1.1.1): a square root for the y coordinate of the public key, and a
    /// multiplication.
    ///
    /// # Errors
    /// The public key is not the x coordinate of a point, or the private key is 0 or not below the order of the curve.
    fn agree(&mut self, private: &Scalar, public: &[u8; ELEMENT]) -> Result<Scalar, Failed>;

    /// SHA-256.
    fn hash(&mut self, message: &[u8]) -> [u8; DIGEST];

    /// HKDF-Expand (RFC 5869, section 2.3) to all octets of `output`, at most 8,160: one HMAC-SHA-256 for each 32 of them that are
    /// begun. Each one is of `info` and an octet, from the second one on with the 32 octets of the one before.
    fn expand_to(&mut self, extracted: &Secret, info: &[u8], output: &mut [u8]);
}

/// The software of the RustCrypto project, with randomness of the caller: `R` fills a slice with random octets.
pub struct Software<R>(pub R);

impl<R: FnMut(&mut [u8])> Crypto for Software<R> {
    fn generate(&mut self) -> KeyPair {
        loop {
            let mut private = Scalar::default();
            (self.0)(&mut private[..]);
            // One in 2^32 is not below the order.
            if let Ok(key) = SecretKey::from_slice(&private[..]) {
                let point = key.public_key().to_sec1_point(false);
                let mut public = [0; ELEMENT];
                public.copy_from_slice(&point.as_bytes()[1..=ELEMENT]);
                return KeyPair { private, public };
            }
        }
    }

    fn agree(&mut self, private: &Scalar, public: &[u8; ELEMENT]) -> Result<Scalar, Failed> {
        let private = SecretKey::from_slice(&private[..]).map_err(|_| Failed)?;
        // Either y coordinate does: the x coordinate of the product is the same (RFC 9528, appendix B).
        let mut compressed = [2; 1 + ELEMENT];
        compressed[1..].copy_from_slice(public);
        let public = PublicKey::from_sec1_bytes(&compressed).map_err(|_| Failed)?;
        let shared = private.diffie_hellman(&public);
        let mut secret = Scalar::default();
        secret.copy_from_slice(shared.raw_secret_bytes());
        Ok(secret)
    }

    fn hash(&mut self, message: &[u8]) -> [u8; DIGEST] {
        Sha256::digest(message).into()
    }

    fn expand_to(&mut self, extracted: &Secret, info: &[u8], output: &mut [u8]) {
        let hkdf = Hkdf::<Sha256>::from_prk(&extracted[..]).expect("a key of 32 octets");
        hkdf.expand(info, output).expect("an output of at most 8,160 octets, as this trait has it");
    }
}

impl<R> oscore::Crypto for Software<R> {
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret {
        RustCrypto.extract(salt, secret)
    }

    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret {
        RustCrypto.expand(extracted, info)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        RustCrypto.seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        RustCrypto.open(with, content, tag)
    }
}
