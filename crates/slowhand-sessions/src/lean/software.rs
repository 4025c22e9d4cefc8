//! The cryptography of lean-dtls, real or weightless. What is real on the curve P-256 may be computed by the fast arithmetic.

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{BLOCK, Crypto, DIGEST, Failed, Group, Hash, KEY, MAX_PUBLIC, Protection, SCALAR, SIGNATURE};

use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::{PublicKey, SecretKey};

use super::weightless::{Digest, Weightless};
use crate::arithmetic::ecdsa;
use crate::config::Cryptography;
use crate::device;

/// The first octet of a point that is not compressed (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// The library's own.
type Real = RustCrypto<Random>;

/// The device's randomness.
type Random = fn(&mut [u8]);

/// The software that a session computes with.
pub(super) enum Software {
    Real(Real),
    Weightless(Weightless<Random>),
}

/// A SHA-256 computation under way, or what stands in for it.
#[derive(Clone)]
pub(super) enum SoftwareHash {
    Real(<Real as Crypto>::Hash),
    Weightless(Digest),
}

impl Software {
    pub(super) fn new(cryptography: Cryptography) -> Self {
        match cryptography {
            Cryptography::Real => Self::Real(RustCrypto::new(device::fill_random)),
            Cryptography::Weightless => Self::Weightless(Weightless::new(device::fill_random)),
        }
    }
}

impl Hash for SoftwareHash {
    fn update(&mut self, octets: &[u8]) {
        match self {
            Self::Real(hash) => hash.update(octets),
            Self::Weightless(hash) => hash.update(octets),
        }
    }

    fn digest(&self) -> [u8; DIGEST] {
        match self {
            Self::Real(hash) => hash.digest(),
            Self::Weightless(hash) => hash.digest(),
        }
    }
}

impl Crypto for Software {
    type Hash = SoftwareHash;

    fn hash(&mut self) -> SoftwareHash {
        match self {
            Self::Real(real) => SoftwareHash::Real(real.hash()),
            Self::Weightless(weightless) => SoftwareHash::Weightless(weightless.hash()),
        }
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        match self {
            Self::Real(real) => real.hmac(key, parts),
            Self::Weightless(weightless) => weightless.hmac(key, parts),
        }
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        match self {
            Self::Real(real) => real.seal(with, content, tag),
            Self::Weightless(weightless) => weightless.seal(with, content, tag),
        }
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        match self {
            Self::Real(real) => real.open(with, content, tag),
            Self::Weightless(weightless) => weightless.open(with, content, tag),
        }
    }

    fn random(&mut self, octets: &mut [u8]) {
        device::fill_random(octets);
    }

    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        match self {
            Self::Real(real) => real.encrypt_block(key, block),
            Self::Weightless(weightless) => weightless.encrypt_block(key, block),
        }
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        match self {
            Self::Real(real) => generate(group, public).map_or_else(|| real.generate(group, public), Ok),
            Self::Weightless(weightless) => weightless.generate(group, public),
        }
    }

    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        match self {
            Self::Real(real) => agree(group, private, public).map_or_else(|| real.agree(group, private, public), Ok),
            Self::Weightless(weightless) => weightless.agree(group, private, public),
        }
    }

    // Signatures are real always: their length depends on their value.
    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        match self {
            Self::Real(_) => {
                let key = SigningKey::from_slice(private).map_err(|_| Failed)?;
                Ok(ecdsa::sign(&key, digest).map_err(|_| Failed)?.to_bytes().into())
            }
            Self::Weightless(_) => Err(Failed),
        }
    }

    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        match self {
            Self::Real(_) => {
                let key = VerifyingKey::from_sec1_bytes(public).map_err(|_| Failed)?;
                let signature = Signature::from_slice(signature).map_err(|_| Failed)?;
                ecdsa::verify(&key, digest, &signature).map_err(|_| Failed)
            }
            Self::Weightless(_) => Err(Failed),
        }
    }

    fn log_secret(&mut self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        // Weightless records are not what a key log is for.
        if let Self::Real(_) = self {
            device::log_key(label, client_random, secret);
        }
    }
}

/// An ephemeral key of P-256, from the octets that the library would draw. `None` if they are no key: then the library
/// draws again.
fn generate(group: Group, public: &mut [u8]) -> Option<[u8; SCALAR]> {
    let place = public.get_mut(..MAX_PUBLIC).filter(|_| group == Group::P256)?;
    let mut private = [0; SCALAR];
    device::fill_random(&mut private);
    let secret = SecretKey::from_slice(&private).ok()?;
    place[0] = UNCOMPRESSED;
    place[1..].copy_from_slice(&ecdsa::public(&secret));
    Some(private)
}

/// A shared secret of P-256. `None` for a key that the library has to look at.
fn agree(group: Group, private: &[u8; SCALAR], public: &[u8]) -> Option<[u8; SCALAR]> {
    if group != Group::P256 || public.len() != MAX_PUBLIC {
        return None;
    }
    let peer = PublicKey::from_sec1_bytes(public).ok()?;
    Some(ecdsa::agree(&SecretKey::from_slice(private).ok()?, &peer))
}
