//! The provider for rustls: the device's randomness, and cryptography in pure Rust that reports its operations.

use std::fmt;
use std::sync::Arc;

use p256::ecdsa::{DerSignature, Signature, SigningKey, VerifyingKey};
use p256::{PublicKey, SecretKey};
use rustls::crypto::hash::Hash;
use rustls::crypto::tls12::PrfUsingHmac;
use rustls::crypto::tls13::HkdfUsingHmac;
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, KeyExchangeAlgorithm, KeyProvider, SecureRandom, SharedSecret,
    SupportedKxGroup, WebPkiSupportedAlgorithms,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, PrivateKeyDer, SignatureVerificationAlgorithm, alg_id};
use rustls::sign::{Signer, SigningKey as RustlsSigningKey};
use rustls::{
    CipherSuite, CipherSuiteCommon, Error, NamedGroup, PeerMisbehaved, SignatureAlgorithm, SignatureScheme,
    SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite, quic,
};
use sha2::{Sha256, Sha384};

use super::symmetric::{AES_128_GCM, AES_256_GCM, Hashing, SHA256, SHA384, Sha2};
use crate::arithmetic::ecdsa;
use crate::device;
use crate::operation::{Curve, Operation};
use crate::tls::Suite;

/// The suites of the provider, in the order of the library's own providers (`DEFAULT_CIPHER_SUITES`).
pub(crate) const SUITES: &[Suite] = &[
    Suite::TLS_AES_256_GCM_SHA384,
    Suite::TLS_AES_128_GCM_SHA256,
    Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
];

/// A provider with only this suite, secp256r1 for key exchange, and ECDSA on secp256r1 for signatures.
pub(super) fn provider(suite: Suite) -> CryptoProvider {
    let suites = CIPHER_SUITES.iter().filter(|candidate| u16::from(candidate.suite()) == suite.iana());
    CryptoProvider {
        cipher_suites: suites.copied().collect(),
        kx_groups: vec![&Secp256r1],
        signature_verification_algorithms: match suite {
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => VERIFICATION_SHA384,
            _ => VERIFICATION,
        },
        secure_random: &DeviceRandom,
        key_provider: &Keys,
    }
}

/// The suite that protects the Initial packets of QUIC, whatever both ends agree on later (RFC 9001 section 5.2).
pub(super) fn initial_suite() -> quic::Suite {
    let mut suites = CIPHER_SUITES.iter().filter_map(SupportedCipherSuite::tls13);
    let suite = suites.find(|suite| suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256);
    suite.and_then(Tls13CipherSuite::quic_suite).expect("the list has it")
}

static CIPHER_SUITES: [SupportedCipherSuite; 4] = [
    SupportedCipherSuite::Tls12(&Tls12CipherSuite {
        common: CipherSuiteCommon {
            suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            hash_provider: &SHA256,
            confidentiality_limit: CONFIDENTIALITY_LIMIT,
        },
        prf_provider: &PrfUsingHmac(&SHA256),
        kx: KeyExchangeAlgorithm::ECDHE,
        sign: &[SignatureScheme::ECDSA_NISTP256_SHA256],
        aead_alg: &AES_128_GCM,
    }),
    SupportedCipherSuite::Tls12(&Tls12CipherSuite {
        common: CipherSuiteCommon {
            suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            hash_provider: &SHA384,
            confidentiality_limit: CONFIDENTIALITY_LIMIT,
        },
        prf_provider: &PrfUsingHmac(&SHA384),
        kx: KeyExchangeAlgorithm::ECDHE,
        sign: &[SignatureScheme::ECDSA_NISTP256_SHA256],
        aead_alg: &AES_256_GCM,
    }),
    SupportedCipherSuite::Tls13(&Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: CipherSuite::TLS13_AES_128_GCM_SHA256,
            hash_provider: &SHA256,
            confidentiality_limit: CONFIDENTIALITY_LIMIT,
        },
        hkdf_provider: &HkdfUsingHmac(&SHA256),
        aead_alg: &AES_128_GCM,
        quic: Some(&AES_128_GCM),
    }),
    SupportedCipherSuite::Tls13(&Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: CipherSuite::TLS13_AES_256_GCM_SHA384,
            hash_provider: &SHA384,
            confidentiality_limit: CONFIDENTIALITY_LIMIT,
        },
        hkdf_provider: &HkdfUsingHmac(&SHA384),
        aead_alg: &AES_256_GCM,
        quic: Some(&AES_256_GCM),
    }),
];

/// The most records with one key, as the documentation of `CipherSuiteCommon` has it for AES-GCM.
const CONFIDENTIALITY_LIMIT: u64 = 1 << 24;

#[derive(Debug)]
struct DeviceRandom;

impl SecureRandom for DeviceRandom {
    fn fill(&self, octets: &mut [u8]) -> Result<(), GetRandomFailed> {
        device::fill_random(octets);
        Ok(())
    }
}

/// The first octet of a point that is not compressed (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// ECDHE with secp256r1.
#[derive(Debug)]
struct Secp256r1;

impl SupportedKxGroup for Secp256r1 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = ecdsa::draw();
        let public = [&[UNCOMPRESSED], &ecdsa::public(&secret)[..]].concat().into();
        device::perform(Operation::EcdhKeyGeneration(Curve::Secp256r1));
        Ok(Box::new(KeyExchange { secret, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp256r1
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
}

struct KeyExchange {
    secret: SecretKey,
    public: Box<[u8]>,
}

impl ActiveKeyExchange for KeyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = PublicKey::from_sec1_bytes(peer).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let secret = ecdsa::agree(&self.secret, &peer);
        device::perform(Operation::EcdhSharedSecret(Curve::Secp256r1));
        Ok(SharedSecret::from(&secret[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp256r1
    }
}

#[derive(Debug)]
struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn RustlsSigningKey>, Error> {
        let secret = SecretKey::from_sec1_der(key.secret_der()).map_err(|error| Error::General(error.to_string()))?;
        Ok(Arc::new(EcdsaKey(secret.into())))
    }
}

/// ECDSA with secp256r1 and SHA-256. The nonce follows RFC 6979, so it needs no randomness.
#[derive(Clone, Debug)]
struct EcdsaKey(SigningKey);

impl RustlsSigningKey for EcdsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.scheme()).then(|| Box::new(self.clone()) as _)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for EcdsaKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let hash = SHA256.hash(message);
        device::perform(Operation::EcdsaSign(Curve::Secp256r1));
        let signature = ecdsa::sign(&self.0, hash.as_ref()).map_err(|error| Error::General(error.to_string()))?;
        Ok(signature.to_der().as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP256_SHA256
    }
}

/// Signatures with SHA-256, which all other suites use.
static VERIFICATION: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&WITH_SHA256],
    mapping: &[(SignatureScheme::ECDSA_NISTP256_SHA256, &[&WITH_SHA256])],
};

/// ECDSA with secp256r1 and SHA-256, for another library that checks certificates with the same crate.
pub(crate) const ECDSA_SECP256R1_SHA256: &[&dyn SignatureVerificationAlgorithm] = &[&WITH_SHA256];

/// For TLS 1.2 with a SHA-384 suite. There, an mbedTLS client signs with the hash of the suite, even if the server did
/// not offer it. In TLS 1.2, a signature scheme does not fix the curve (RFC 8446 section 4.2.3).
static VERIFICATION_SHA384: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&WITH_SHA256, &WITH_SHA384],
    mapping: &[
        (SignatureScheme::ECDSA_NISTP256_SHA256, &[&WITH_SHA256]),
        (SignatureScheme::ECDSA_NISTP384_SHA384, &[&WITH_SHA384]),
    ],
};

static WITH_SHA256: EcdsaVerification<Sha256> = EcdsaVerification(&SHA256, alg_id::ECDSA_SHA256);
static WITH_SHA384: EcdsaVerification<Sha384> = EcdsaVerification(&SHA384, alg_id::ECDSA_SHA384);

/// ECDSA with secp256r1 and a hash function, and the identifier of both in X.509.
struct EcdsaVerification<D: 'static>(&'static Hashing<D>, AlgorithmIdentifier);

impl<D> fmt::Debug for EcdsaVerification<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EcdsaVerification").field(&self.1).finish()
    }
}

impl<D: Sha2> SignatureVerificationAlgorithm for EcdsaVerification<D> {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = DerSignature::try_from(signature).map_err(|_| InvalidSignature)?;
        let signature = Signature::try_from(signature).map_err(|_| InvalidSignature)?;
        let hash = self.0.hash(message);
        device::perform(Operation::EcdsaVerify(Curve::Secp256r1));
        ecdsa::verify(&key, hash.as_ref(), &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.1
    }
}
