//! The cryptography of objects as a trait: ES256 (RFC 9053, section 2.1), beside what OSCORE has already.
//!
//! Each call is one operation that a device performs, so whoever wants their number or their time wraps an implementation.

use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use crate::oscore::crypto::Failed;
use crate::oscore::{self, RustCrypto};

/// Octets of a signature: r, then s (RFC 9053, section 2.1).
pub const SIGNATURE: usize = 64;

/// A point of P-256: both coordinates.
pub type PublicKey = [u8; 64];

/// A private key of P-256. It is wiped when it goes, and not printed.
pub struct PrivateKey(Zeroizing<[u8; 32]>);

impl PrivateKey {
    /// A key of these octets.
    pub fn of(octets: &[u8; 32]) -> Self {
        Self(Zeroizing::new(*octets))
    }

    /// Its octets.
    pub fn octets(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateKey")
    }
}

/// ECDSA with P-256 and SHA-256. The operations of [`oscore::Crypto`] count here too.
pub trait Crypto: oscore::Crypto {
    /// The signature of a message: one hash, and one signature with the nonce of RFC 6979.
    ///
    /// # Errors
    /// The key is none of P-256.
    fn sign(&mut self, key: &PrivateKey, message: &[u8]) -> Result<[u8; SIGNATURE], Failed>;

    /// Verifies a signature: one hash, and one verification.
    ///
    /// # Errors
    /// It is not valid, or the key is no point of P-256.
    fn verify(&mut self, key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Failed>;
}

impl Crypto for RustCrypto {
    fn sign(&mut self, key: &PrivateKey, message: &[u8]) -> Result<[u8; SIGNATURE], Failed> {
        let key = SigningKey::from_slice(key.octets()).map_err(|_| Failed)?;
        let signature: Signature = key.sign(message);
        Ok(signature.to_bytes().into())
    }

    fn verify(&mut self, key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE]) -> Result<(), Failed> {
        let key = VerifyingKey::from_sec1_bytes(&point(key)).map_err(|_| Failed)?;
        let signature = Signature::from_slice(signature).map_err(|_| Failed)?;
        key.verify(message, &signature).map_err(|_| Failed)
    }
}

/// A public key in the form of SEC 1 section 2.3.3, not compressed.
pub fn point(key: &PublicKey) -> [u8; 65] {
    let mut point = [4; 65];
    point[1..].copy_from_slice(key);
    point
}
