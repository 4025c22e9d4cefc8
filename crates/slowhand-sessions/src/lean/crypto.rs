//! The cryptography of lean-dtls, real or weightless, which advances the device's clock. What is real on the curve P-256 may be computed
//! by the fast arithmetic.

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{self, Crypto, DIGEST, Failed, Group, Hash, KEY, MAX_PUBLIC, Protection, SCALAR, SIGNATURE};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::{PublicKey, SecretKey};

use super::weightless::{Digest, Weightless};
use crate::arithmetic::ecdsa;
use crate::config::{Cryptography, Protocol};
use crate::device;
use crate::operation::{self, Aead, AeadMode, Cbc, Curve, Operation};

/// The first octet of a point that is not compressed (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// The cryptography of a session. It reports its operations to the device, and what it puts into records of DTLS 1.3.
pub(super) struct Counting {
    software: Software,
    protocol: Protocol,
}

/// The device's randomness.
type Random = fn(&mut [u8]);

/// The software that a session computes with.
enum Software {
    /// The library's own.
    Real(RustCrypto<Random>),
    Weightless(Weightless<Random>),
}

/// A SHA-256 computation under way, or what stands in for it.
#[derive(Clone)]
enum SoftwareHash {
    Real(<RustCrypto<Random> as Crypto>::Hash),
    Weightless(Digest),
}

/// Asks the same of whatever software a session computes with.
macro_rules! ask {
    ($kind:ident of $software:expr, $by:ident => $question:expr) => {
        match $software {
            $kind::Real($by) => $question,
            $kind::Weightless($by) => $question,
        }
    };
}

impl Counting {
    /// Real or weightless, for a session of this protocol alone.
    pub(super) fn new(cryptography: Cryptography, protocol: Protocol) -> Self {
        let software = match cryptography {
            Cryptography::Real => Software::Real(RustCrypto::new(device::fill_random)),
            Cryptography::Weightless => Software::Weightless(Weightless::new(device::fill_random)),
        };
        Self { software, protocol }
    }

    /// Signatures are real always: their length depends on their value.
    const fn check_real(&self) -> Result<(), Failed> {
        match self.software {
            Software::Real(_) => Ok(()),
            Software::Weightless(_) => Err(Failed),
        }
    }
}

/// A SHA-256 computation under way. It counts its octets.
#[derive(Clone)]
pub(super) struct CountingHash {
    hash: SoftwareHash,
    length: usize,
}

/// Octets of a block of SHA-256 (FIPS 180-4, section 1).
const BLOCK: usize = 64;

fn compressions(octets: usize) -> usize {
    operation::compressions(octets, BLOCK)
}

fn perform_hashing(blocks: usize) {
    if blocks > 0 {
        device::perform(Operation::Sha256 { blocks: blocks as u32 });
    }
}

impl Hash for CountingHash {
    fn update(&mut self, octets: &[u8]) {
        let before = self.length / BLOCK;
        self.length += octets.len();
        ask!(SoftwareHash of &mut self.hash, hash => hash.update(octets));
        perform_hashing(self.length / BLOCK - before);
    }

    fn digest(&self) -> [u8; DIGEST] {
        perform_hashing(compressions(self.length) - self.length / BLOCK);
        ask!(SoftwareHash of &self.hash, hash => hash.digest())
    }
}

fn aead(with: &Protection<'_>, content: &[u8]) -> Aead {
    let (octets, additional) = (content.len() as u32, with.associated.len() as u32);
    let mode = match with.aead {
        crypto::Aead::Ccm8 | crypto::Aead::Ccm => AeadMode::Ccm,
        crypto::Aead::Gcm => AeadMode::Gcm,
    };
    Aead { mode, key_bits: 128, tag: with.aead.tag() as u8, octets, additional }
}

/// The curve that stands for a group. The devices have no times for X25519, which no scenario can choose.
const fn curve(group: Group) -> Curve {
    match group {
        Group::P256 | Group::X25519 => Curve::Secp256r1,
    }
}

impl Crypto for Counting {
    type Hash = CountingHash;

    fn hash(&mut self) -> CountingHash {
        let hash = match &mut self.software {
            Software::Real(real) => SoftwareHash::Real(real.hash()),
            Software::Weightless(weightless) => SoftwareHash::Weightless(weightless.hash()),
        };
        CountingHash { hash, length: 0 }
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        let octets: usize = parts.iter().map(|part| part.len()).sum();
        device::perform(operation::hmac(key.len(), octets));
        ask!(Software of &mut self.software, by => by.hmac(key, parts))
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        device::perform(Operation::Seal(aead(with, content)));
        // Only records are sealed in DTLS 1.3, each when its datagram is made. In DTLS 1.2 tickets are too.
        if self.protocol == Protocol::Dtls13 {
            device::seal(content);
        }
        ask!(Software of &mut self.software, by => by.seal(with, content, tag))
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        device::perform(Operation::Open(aead(with, content)));
        ask!(Software of &mut self.software, by => by.open(with, content, tag))
    }

    fn random(&mut self, octets: &mut [u8]) {
        device::fill_random(octets);
    }

    /// One block, as long as CBC of 16 octets.
    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; crypto::BLOCK]) -> Result<(), Failed> {
        device::perform(Operation::CbcEncrypt(Cbc { key_bits: 128, octets: block.len() as u32 }));
        ask!(Software of &mut self.software, by => by.encrypt_block(key, block))
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        device::perform(Operation::EcdhKeyGeneration(curve(group)));
        match &mut self.software {
            Software::Real(real) => generate(group, public).map_or_else(|| real.generate(group, public), Ok),
            Software::Weightless(weightless) => weightless.generate(group, public),
        }
    }

    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        device::perform(Operation::EcdhSharedSecret(curve(group)));
        match &mut self.software {
            Software::Real(real) => {
                agree(group, private, public).map_or_else(|| real.agree(group, private, public), Ok)
            }
            Software::Weightless(weightless) => weightless.agree(group, private, public),
        }
    }

    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        device::perform(Operation::EcdsaSign(Curve::Secp256r1));
        self.check_real()?;
        let key = SigningKey::from_slice(private).map_err(|_| Failed)?;
        Ok(ecdsa::sign(&key, digest).map_err(|_| Failed)?.to_bytes().into())
    }

    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        device::perform(Operation::EcdsaVerify(Curve::Secp256r1));
        self.check_real()?;
        let key = VerifyingKey::from_sec1_bytes(public).map_err(|_| Failed)?;
        let signature = Signature::from_slice(signature).map_err(|_| Failed)?;
        ecdsa::verify(&key, digest, &signature).map_err(|_| Failed)
    }

    fn log_secret(&mut self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        // Weightless records are not what a key log is for.
        if self.check_real().is_ok() {
            device::log_key(label, client_random, secret);
        }
    }
}

/// An ephemeral key of P-256, from the octets that the library would draw. `None` if they are no key: then the library
/// draws again.
fn generate(group: Group, public: &mut [u8]) -> Option<[u8; SCALAR]> {
    let place = public.get_mut(..MAX_PUBLIC).filter(|_| group == Group::P256)?;
    let private = device::random();
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
