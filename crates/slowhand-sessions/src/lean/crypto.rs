//! The cryptography of lean-dtls, which advances the device's clock.

use lean_dtls::crypto::{self, Crypto, DIGEST, Failed, Group, Hash, KEY, MAX_PUBLIC, Protection, SCALAR, SIGNATURE};

use super::software::Software;
use crate::config::{Cryptography, Protocol};
use crate::device;
use crate::operation::{self, Aead, AeadMode, Cbc, Curve, Operation};

/// The cryptography of a session. It reports its operations to the device, and what it puts into records of DTLS 1.3.
pub(super) struct Counting {
    software: Software,
    protocol: Protocol,
}

impl Counting {
    /// Real or weightless, for a session of this protocol alone.
    pub(super) fn new(cryptography: Cryptography, protocol: Protocol) -> Self {
        Self { software: Software::new(cryptography), protocol }
    }
}

/// A SHA-256 computation under way. It counts its octets.
#[derive(Clone)]
pub(super) struct CountingHash {
    hash: <Software as Crypto>::Hash,
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
        self.hash.update(octets);
        perform_hashing(self.length / BLOCK - before);
    }

    fn digest(&self) -> [u8; DIGEST] {
        perform_hashing(compressions(self.length) - self.length / BLOCK);
        self.hash.digest()
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
        CountingHash { hash: self.software.hash(), length: 0 }
    }

    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        let octets: usize = parts.iter().map(|part| part.len()).sum();
        device::perform(operation::hmac(key.len(), octets));
        self.software.hmac(key, parts)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed> {
        device::perform(Operation::Seal(aead(with, content)));
        // Only records are sealed in DTLS 1.3, each when its datagram is made. In DTLS 1.2 tickets are too.
        if self.protocol == Protocol::Dtls13 {
            device::seal(content);
        }
        self.software.seal(with, content, tag)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed> {
        device::perform(Operation::Open(aead(with, content)));
        self.software.open(with, content, tag)
    }

    fn random(&mut self, octets: &mut [u8]) {
        self.software.random(octets);
    }

    /// One block, as long as CBC of 16 octets.
    fn encrypt_block(&mut self, key: &[u8; KEY], block: &mut [u8; crypto::BLOCK]) -> Result<(), Failed> {
        device::perform(Operation::CbcEncrypt(Cbc { key_bits: 128, octets: block.len() as u32 }));
        self.software.encrypt_block(key, block)
    }

    fn generate(&mut self, group: Group, public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        device::perform(Operation::EcdhKeyGeneration(curve(group)));
        self.software.generate(group, public)
    }

    fn agree(&mut self, group: Group, private: &[u8; SCALAR], public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        device::perform(Operation::EcdhSharedSecret(curve(group)));
        self.software.agree(group, private, public)
    }

    fn sign(&mut self, private: &[u8; SCALAR], digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        device::perform(Operation::EcdsaSign(Curve::Secp256r1));
        self.software.sign(private, digest)
    }

    fn verify(
        &mut self,
        public: &[u8; MAX_PUBLIC],
        digest: &[u8; DIGEST],
        signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        device::perform(Operation::EcdsaVerify(Curve::Secp256r1));
        self.software.verify(public, digest, signature)
    }

    fn log_secret(&mut self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        self.software.log_secret(label, client_random, secret);
    }
}
