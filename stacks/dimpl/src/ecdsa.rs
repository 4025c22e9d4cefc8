//! Signatures: the library makes them, with the nonce of RFC 6979; slowhand may know that one is valid.

use dimpl::CryptoError;
use dimpl::crypto::{Buf, HashAlgorithm, KeyProvider, NamedGroup, SignatureAlgorithm, SignatureVerifier, SigningKey};
use p256::SecretKey;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::pkcs8::DecodePrivateKey;
use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256, Sha384};
use slowhand_stack::host;
use webpki::EndEntityCert;

use crate::SECP256R1;
use crate::exchange::octets;
use crate::symmetric::{self, library};

pub(crate) static KEYS: Keys = Keys;
pub(crate) static VERIFIER: Verifier = Verifier;

/// The hash of a message. It is reported.
fn hash(algorithm: HashAlgorithm, message: &[u8]) -> Vec<u8> {
    symmetric::hashed(algorithm, message.len());
    digest(algorithm, message)
}

fn digest(algorithm: HashAlgorithm, message: &[u8]) -> Vec<u8> {
    match algorithm {
        HashAlgorithm::SHA256 => Sha256::digest(message).to_vec(),
        _ => Sha384::digest(message).to_vec(),
    }
}

#[derive(Debug)]
pub(crate) struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, der: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        let inner = library().key_provider.load_private_key(der)?;
        let secret = SecretKey::from_sec1_der(der).ok().or_else(|| SecretKey::from_pkcs8_der(der).ok());
        let point = secret.map(|secret| {
            host::p256_multiply(&secret.to_bytes().into(), None).unwrap_or_else(|| octets(&secret.public_key()))
        });
        Ok(Box::new(Key { inner, point }))
    }
}

#[derive(Debug)]
struct Key {
    inner: Box<dyn SigningKey>,
    /// The public key, if it is on secp256r1.
    point: Option<[u8; 64]>,
}

impl SigningKey for Key {
    fn sign(&mut self, message: &[u8], algorithm: HashAlgorithm, out: &mut Buf) -> Result<(), CryptoError> {
        self.inner.sign(message, algorithm, out)?;
        symmetric::hashed(algorithm, message.len());
        if let Some(point) = self.point {
            host::ecdsa_sign(SECP256R1);
            host::p256_signed(&point, &digest(algorithm, message), out);
        }
        Ok(())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.inner.algorithm()
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        self.inner.hash_algorithm()
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        self.inner.supported_hash_algorithms()
    }
}

/// The header of a SubjectPublicKeyInfo with a point of secp256r1 that is not compressed (RFC 5480).
const SPKI: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04";

/// The public key of a certificate, if it is on secp256r1.
pub(crate) fn point(certificate: &[u8]) -> Option<[u8; 64]> {
    let certificate = CertificateDer::from(certificate);
    let spki = EndEntityCert::try_from(&certificate).ok()?.subject_public_key_info();
    spki.strip_prefix(SPKI)?.try_into().ok()
}

/// Verifies the signature (DER) of a message with a point, which is not compressed.
pub(crate) fn is_valid(point: &[u8; 64], algorithm: HashAlgorithm, message: &[u8], signature: &[u8]) -> bool {
    let hash = hash(algorithm, message);
    host::ecdsa_verify(SECP256R1);
    if host::p256_is_signed(point, &hash, signature) {
        return true;
    }
    let Ok(parsed) = Signature::from_der(signature) else { return false };
    let first = hash.first_chunk().expect("no hash function here has less than 32 octets");
    let is_valid = host::p256_is_valid(point, first, &parsed.to_bytes().into()) || {
        let key = VerifyingKey::from_sec1_bytes(&[&[4], &point[..]].concat());
        key.is_ok_and(|key| key.verify_prehash(&hash, &parsed).is_ok())
    };
    if is_valid {
        host::p256_signed(point, &hash, signature);
    }
    is_valid
}

#[derive(Debug)]
pub(crate) struct Verifier;

impl SignatureVerifier for Verifier {
    fn verify_signature(
        &self,
        certificate: &[u8],
        message: &[u8],
        signature: &[u8],
        hash: HashAlgorithm,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        let Some(point) = point(certificate) else {
            // The library tries itself with a certificate on secp384r1, which no session here has.
            return library().signature_verification.verify_signature(certificate, message, signature, hash, algorithm);
        };
        match is_valid(&point, hash, message, signature) {
            true => Ok(()),
            false => Err(CryptoError::SignatureVerificationFailed {
                signature: algorithm,
                hash,
                group: NamedGroup::Secp256r1,
            }),
        }
    }
}
