//! The cryptography that the engine needs, as a trait.
//!
//! The engine itself computes nothing secret but the pseudo-random function and HKDF, which are made of HMAC. A device with
//! an accelerator implements this trait; [`RustCrypto`] implements it in software.

use zeroize::Zeroize;

#[cfg(feature = "rustcrypto")]
#[cfg_attr(target_arch = "avr", path = "crypto/aes128_octets.rs")]
mod aes128;
#[cfg(all(test, feature = "rustcrypto"))]
mod aes128_octets;
#[cfg(feature = "rustcrypto")]
mod ccm;
#[cfg(all(feature = "rustcrypto", feature = "ecdhe"))]
mod ecdh;
#[cfg(all(feature = "rustcrypto", feature = "gcm"))]
mod modes;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
#[cfg(feature = "rustcrypto")]
mod sha256;

#[cfg(feature = "rustcrypto")]
pub use rustcrypto::RustCrypto;

/// Octets of a SHA-256 digest.
pub const DIGEST: usize = 32;

/// Octets of a block of SHA-256 (FIPS 180-4).
const HASH_BLOCK: usize = 64;

/// With what HMAC masks its key (RFC 2104, section 2).
const INNER_PAD: u8 = 0x36;
const OUTER_PAD: u8 = 0x5c;

/// Octets of a key of AES-128.
pub const KEY: usize = 16;

/// Octets of a block of AES.
pub const BLOCK: usize = 16;

/// Octets of the nonce of each [`Aead`] (RFC 5288, section 3; RFC 6655, section 3; RFC 8446, section 5.3).
pub const NONCE: usize = 12;

/// Octets of the longest tag of an [`Aead`].
pub const MAX_TAG: usize = 16;

/// Octets of a private key, of a shared secret, and of a coordinate, in each [`Group`].
pub const SCALAR: usize = 32;

/// Octets of the longest public key of a [`Group`].
pub const MAX_PUBLIC: usize = 65;

/// Octets of a signature of ECDSA on P-256: r and s.
pub const SIGNATURE: usize = 64;

/// Authenticated encryption with a key of AES-128.
///
/// See [Which suites?](crate::decisions#which-suites)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aead {
    /// AES-128-CCM with a tag of 8 octets (RFC 6655, section 4).
    Ccm8,
    /// AES-128-CCM with a tag of 16 octets (RFC 6655, section 3).
    Ccm,
    /// AES-128-GCM, whose tag has 16 octets (RFC 5288).
    Gcm,
}

impl Aead {
    /// Octets of its tag.
    pub const fn tag(self) -> usize {
        match self {
            Self::Ccm8 => 8,
            Self::Ccm | Self::Gcm => MAX_TAG,
        }
    }
}

/// With what a record is encrypted.
#[derive(Clone, Copy)]
pub struct Protection<'a> {
    /// The algorithm.
    pub aead: Aead,
    /// The key of AES-128.
    pub key: &'a [u8; KEY],
    /// The nonce, which the engine uses once with this key.
    pub nonce: &'a [u8; NONCE],
    /// The data that the tag protects beside the content.
    pub associated: &'a [u8],
}

/// A group of elliptic-curve key agreement.
///
/// See [Which suites?](crate::decisions#which-suites)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// NIST P-256. A public key has 65 octets: 4, x and y (RFC 8422, section 5.4.1).
    P256,
    /// X25519. A public key has 32 octets (RFC 7748).
    X25519,
}

impl Group {
    /// All groups that the features of this crate allow, the one that RFC 7925, section 4.4, asks for first.
    pub const ALL: &'static [Self] = &[
        Self::P256,
        #[cfg(feature = "x25519")]
        Self::X25519,
    ];

    /// The number of TLS (RFC 8422, section 5.1.1).
    pub const fn number(self) -> u16 {
        match self {
            Self::P256 => 23,
            Self::X25519 => 29,
        }
    }

    /// Octets of a public key.
    pub const fn public(self) -> usize {
        match self {
            Self::P256 => MAX_PUBLIC,
            Self::X25519 => SCALAR,
        }
    }
}

/// A record could not be encrypted or is not what the owner of the key has sent; a key or signature is not valid; or this
/// implementation does not have the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// SHA-256, HMAC-SHA-256, authenticated encryption and random numbers; and for public keys, key agreement and ECDSA.
///
/// The methods for public keys fail unless an implementation has them: pre-shared keys need none of them.
///
/// Implement it for an accelerator, or for keys that do not leave a secure element. What compares tags must do so in
/// constant time, and what is secret must not decide about branches and addresses. See [Whose
/// cryptography?](crate::decisions#whose-cryptography)
pub trait Crypto {
    /// A SHA-256 computation under way.
    type Hash: Hash;

    /// A SHA-256 computation of no octets.
    fn hash(&mut self) -> Self::Hash;

    /// HMAC-SHA-256 (RFC 2104) of the concatenation of `parts`. Made of [`hash`](Self::hash), unless an accelerator has more.
    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
        let mut pad = [0; HASH_BLOCK];
        match pad.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => {
                let mut hash = self.hash();
                hash.update(key);
                pad[..DIGEST].copy_from_slice(&hash.digest());
            }
        }
        pad.iter_mut().for_each(|octet| *octet ^= INNER_PAD);
        let mut inner = self.hash();
        inner.update(&pad);
        parts.iter().for_each(|part| inner.update(part));
        pad.iter_mut().for_each(|octet| *octet ^= INNER_PAD ^ OUTER_PAD);
        let mut outer = self.hash();
        outer.update(&pad);
        outer.update(&inner.digest());
        pad.zeroize();
        outer.digest()
    }

    /// Encrypts `content` in place and writes its tag, which has the length that the algorithm gives.
    ///
    /// With software it takes 39,000 instructions on a Cortex-M3 for 32 octets, with the key schedule
    /// (`docs/footprint.md`).
    ///
    /// # Errors
    /// The content is too long, or the algorithm is not there. The content is then undefined, and is not sent.
    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &mut [u8]) -> Result<(), Failed>;

    /// Decrypts `content` in place. The tag is compared in constant time.
    ///
    /// # Errors
    /// The tag does not belong to the content, or the algorithm is not there. The content is then undefined, and must not be
    /// used.
    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8]) -> Result<(), Failed>;

    /// Fills `octets` with random numbers that nobody can predict.
    ///
    /// The engine asks for 32 octets for each hello, 32 for each ephemeral key, 32 at the start of a server, and one
    /// for each octet of connection IDs. If there is no entropy yet, wait: whoever can predict these numbers can read
    /// and forge.
    fn random(&mut self, octets: &mut [u8]);

    /// AES-128 of one block, which hides record numbers (RFC 9147, section 4.2.3).
    ///
    /// # Errors
    /// This implementation does not have it.
    fn encrypt_block(&mut self, _key: &[u8; KEY], _block: &mut [u8; BLOCK]) -> Result<(), Failed> {
        Err(Failed)
    }

    /// An ephemeral key pair: writes the public key, whose length the group gives, and returns the private key.
    ///
    /// # Errors
    /// This implementation does not have the group.
    fn generate(&mut self, _group: Group, _public: &mut [u8]) -> Result<[u8; SCALAR], Failed> {
        Err(Failed)
    }

    /// The secret that this private key and the peer's public key share: the coordinate x (RFC 8422, section 5.10), or the
    /// output of X25519.
    ///
    /// # Errors
    /// The public key is not a point of the group, the secret would be zeros, or this implementation does not have the group.
    fn agree(&mut self, _group: Group, _private: &[u8; SCALAR], _public: &[u8]) -> Result<[u8; SCALAR], Failed> {
        Err(Failed)
    }

    /// A signature of ECDSA on P-256 (FIPS 186-5) over a SHA-256 digest.
    ///
    /// # Errors
    /// The key is not valid, or this implementation does not have ECDSA.
    fn sign(&mut self, _private: &[u8; SCALAR], _digest: &[u8; DIGEST]) -> Result<[u8; SIGNATURE], Failed> {
        Err(Failed)
    }

    /// Checks a signature of ECDSA on P-256 over a SHA-256 digest.
    ///
    /// # Errors
    /// The signature is not that of the owner of the key, the key is not a point of P-256, or this implementation does not
    /// have ECDSA.
    fn verify(
        &mut self,
        _public: &[u8; MAX_PUBLIC],
        _digest: &[u8; DIGEST],
        _signature: &[u8; SIGNATURE],
    ) -> Result<(), Failed> {
        Err(Failed)
    }

    /// Gets the secrets of each connection, with their labels in a key log (RFC 9850: `CLIENT_RANDOM` is the master secret of
    /// DTLS 1.2) and the random number of its client. Does nothing unless an analyst asks for it: whoever has a secret can
    /// read the connection.
    fn log_secret(&mut self, _label: &str, _client_random: &[u8; 32], _secret: &[u8]) {}
}

/// A SHA-256 computation under way: the transcript of a handshake.
pub trait Hash: Clone {
    /// Hashes more octets.
    fn update(&mut self, octets: &[u8]);

    /// The digest of all octets so far.
    fn digest(&self) -> [u8; DIGEST];
}
