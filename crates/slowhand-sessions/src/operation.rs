//! Operations that a device computes, and the time that they take.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::displayed_as_serialised;

/// An elliptic curve of key agreement and signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Curve {
    /// NIST P-192 (SEC 2). Obsolete; the literature on constrained devices measures it.
    Secp192r1,
    /// NIST P-256 (SEC 2).
    Secp256r1,
}

impl Curve {
    /// The TLS NamedGroup (RFC 8422 section 5.1.1).
    pub const fn named_group(self) -> u16 {
        match self {
            Self::Secp192r1 => 19,
            Self::Secp256r1 => 23,
        }
    }

    /// The curve of a TLS NamedGroup.
    pub const fn from_named_group(number: u16) -> Option<Self> {
        match number {
            19 => Some(Self::Secp192r1),
            23 => Some(Self::Secp256r1),
            _ => None,
        }
    }
}

displayed_as_serialised!(Curve);

/// A cryptographic operation that a library performed.
///
/// Not counted, because they take little time in comparison: drawing random numbers, expanding an AES key, parsing
/// messages and certificates, copying, the square root that gives a public key of EDHOC its second coordinate. Hashing *inside* a signature (the deterministic nonce of RFC 6979) is part of
/// the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Compressions of SHA-256: blocks of 64 octets, including those of the padding. The transcript hash, HMAC and the
    /// pseudo-random function consist of these.
    Sha256 {
        /// Number of compressions.
        blocks: u32,
    },
    /// Compressions of SHA-512: blocks of 128 octets. SHA-384 uses the same compression. mbedTLS in its default
    /// configuration hashes the ClientHello with SHA-384 too, until the suite is known.
    Sha512 {
        /// Number of compressions.
        blocks: u32,
    },
    /// Compressions of SHA-1, in HMAC and for OpenSSL's fingerprints of certificates: blocks of 64 octets, including
    /// those of the padding.
    Sha1 {
        /// Number of compressions.
        blocks: u32,
    },
    /// Encryption of one record with AES in CBC mode. Its HMAC is counted separately, as hashing.
    CbcEncrypt(Cbc),
    /// Decryption of one record with AES in CBC mode.
    CbcDecrypt(Cbc),
    /// Authenticated encryption of one record.
    Seal(Aead),
    /// Authenticated decryption of one record.
    Open(Aead),
    /// An ephemeral key pair: one multiplication of the base point by a scalar.
    EcdhKeyGeneration(Curve),
    /// A shared secret: one multiplication of the peer's point by a scalar.
    EcdhSharedSecret(Curve),
    /// An ECDSA signature.
    EcdsaSign(Curve),
    /// The verification of an ECDSA signature.
    EcdsaVerify(Curve),
    /// An RSA signature: an exponentiation with the private key. The length of the key in bits.
    RsaSign(u16),
    /// The verification of an RSA signature: an exponentiation with the public key (65537 here).
    RsaVerify(u16),
    /// Encryption with an RSA public key: the client's premaster secret.
    RsaEncrypt(u16),
    /// Decryption with an RSA private key: the same at the server.
    RsaDecrypt(u16),
}

/// The compressions that the hash of so many octets takes in all, with SHA-2 in blocks of `block` octets. The padding
/// has one octet at least, and an eighth of a block for the length (FIPS 180-4 section 5.1).
pub(crate) const fn compressions(octets: usize, block: usize) -> usize {
    (octets + 1 + block / 8).div_ceil(block)
}

/// An HMAC with SHA-256 of so many octets, with a key of so many. A key beyond a block is hashed; then come the inner and the
/// outer hash, each of a block and more (RFC 2104 section 2).
pub(crate) const fn hmac(key: usize, octets: usize) -> Operation {
    /// Octets of a block (FIPS 180-4 section 1), and of a digest.
    const BLOCK: usize = 64;
    const DIGEST: usize = 32;
    let of_key = if key > BLOCK { compressions(key, BLOCK) } else { 0 };
    let blocks = of_key + compressions(BLOCK + octets, BLOCK) + compressions(BLOCK + DIGEST, BLOCK);
    Operation::Sha256 { blocks: blocks as u32 }
}

/// Size of an encryption or decryption with AES in CBC mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cbc {
    /// The key's length in bits: 128 or 256.
    pub key_bits: u16,
    /// Octets, including the padding of the record protocol: a multiple of 16.
    pub octets: u32,
}

impl Cbc {
    /// The number of AES block operations.
    pub fn aes_blocks(&self) -> u32 {
        self.octets.div_ceil(16)
    }
}

/// Size and kind of an authenticated encryption or decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aead {
    /// The mode of AES.
    pub mode: AeadMode,
    /// The key's length in bits: 128 or 256.
    pub key_bits: u16,
    /// Octets of the authentication tag.
    pub tag: u8,
    /// Octets of plaintext.
    pub octets: u32,
    /// Octets of additional authenticated data.
    pub additional: u32,
}

/// A mode of AES for authenticated encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AeadMode {
    /// Counter with CBC-MAC (RFC 3610).
    Ccm,
    /// Galois/counter mode (NIST SP 800-38D).
    Gcm,
}

impl Aead {
    /// The number of AES block operations.
    ///
    /// CCM (RFC 3610 sections 2.2 and 2.3): one block B0, the additional data with two octets for its length, each
    /// plaintext block twice (MAC and counter mode), and one for the tag. GCM: one for the hash key, each plaintext
    /// block once, and one for the tag. GHASH is not AES.
    pub fn aes_blocks(&self) -> u32 {
        const BLOCK: u32 = 16;
        let plaintext = self.octets.div_ceil(BLOCK);
        match self.mode {
            AeadMode::Ccm => {
                let additional =
                    if self.additional == 0 { 0 } else { self.additional.saturating_add(2).div_ceil(BLOCK) };
                1 + additional + 2 * plaintext + 1
            }
            AeadMode::Gcm => 1 + plaintext + 1,
        }
    }
}

/// The part of a device that computes: it says how long operations take.
///
/// The library calls it in the middle of a call of a [`Session`](crate::Session). An implementation may run other
/// sessions. If it panics, the library continues to the end of that call as if the operation took no time, and the call
/// then panics.
pub trait Processor: Send + Sync {
    /// Returns the time that the device takes for `operation`.
    fn time(&self, operation: Operation) -> Duration;
}

/// A processor that takes no time, for measurements of the network alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weightless;

impl Processor for Weightless {
    fn time(&self, _: Operation) -> Duration {
        Duration::ZERO
    }
}

/// An operation, with its time.
///
/// Consecutive compressions of one hash function are one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The operation.
    pub operation: Operation,
    /// When the device began, from the beginning of the world.
    pub at: Duration,
    /// The time that it took.
    pub took: Duration,
}

impl Performed {
    /// Adds `next` to this entry if both are compressions of one hash function and `next` begins when this entry ends.
    /// Returns true if it did.
    pub(crate) fn absorb(&mut self, next: &Performed) -> bool {
        if self.at + self.took != next.at {
            return false;
        }
        match (&mut self.operation, next.operation) {
            (Operation::Sha1 { blocks }, Operation::Sha1 { blocks: more })
            | (Operation::Sha256 { blocks }, Operation::Sha256 { blocks: more })
            | (Operation::Sha512 { blocks }, Operation::Sha512 { blocks: more }) => {
                *blocks = blocks.saturating_add(more);
            }
            _ => return false,
        }
        self.took += next.took;
        true
    }
}
