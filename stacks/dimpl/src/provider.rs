//! The provider of cryptography: the library's own, with the device's randomness, and with counters.

use dimpl::crypto::{
    CryptoProvider, Dtls12CipherSuite, Dtls13CipherSuite, SecureRandom, SupportedDtls12CipherSuite,
    SupportedDtls13CipherSuite, SupportedKxGroup,
};
use slowhand_stack::host;

use crate::ecdsa::{KEYS, VERIFIER};
use crate::exchange::{SECP256R1, X25519};
use crate::symmetric::{HASHES, HMAC, Suite12, Suite13};

pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: GROUPS,
        signature_verification: &VERIFIER,
        key_provider: &KEYS,
        secure_random: &DeviceRandom,
        hash_provider: &HASHES,
        hmac_provider: &HMAC,
        cipher_suites: SUITES12,
        dtls13_cipher_suites: SUITES13,
    }
}

static GROUPS: &[&dyn SupportedKxGroup] = &[&X25519, &SECP256R1];

static SUITES12: &[&dyn SupportedDtls12CipherSuite] = &[
    &Suite12(Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256),
    &Suite12(Dtls12CipherSuite::ECDHE_ECDSA_AES256_GCM_SHA384),
    &Suite12(Dtls12CipherSuite::PSK_AES128_CCM_8),
];

static SUITES13: &[&dyn SupportedDtls13CipherSuite] =
    &[&Suite13(Dtls13CipherSuite::AES_128_GCM_SHA256), &Suite13(Dtls13CipherSuite::AES_256_GCM_SHA384)];

#[derive(Debug)]
struct DeviceRandom;

impl SecureRandom for DeviceRandom {
    fn fill(&self, octets: &mut [u8]) -> Result<(), dimpl::CryptoError> {
        host::random(octets);
        Ok(())
    }
}
