//! The cryptography that the engine needs, as a trait.
//!
//! The engine itself computes nothing secret but the pseudo-random function, which is made of HMAC. A device with an
//! accelerator implements this trait; [`RustCrypto`] implements it in software.

#[cfg(feature = "rustcrypto")]
mod rustcrypto;

#[cfg(feature = "rustcrypto")]
pub use rustcrypto::RustCrypto;

/// Octets of a SHA-256 digest.
pub const DIGEST: usize = 32;

/// Octets of a key of AES-128.
pub const KEY: usize = 16;

/// Octets of a nonce of AES-CCM in TLS (RFC 6655, section 3).
pub const NONCE: usize = 12;

/// Octets of the tag of AES-CCM-8 (RFC 6655, section 4).
pub const TAG: usize = 8;

/// With what a record is encrypted.
#[derive(Clone, Copy)]
pub struct Protection<'a> {
    /// The key of AES-128.
    pub key: &'a [u8; KEY],
    /// The nonce, which the engine uses once with this key.
    pub nonce: &'a [u8; NONCE],
    /// What the tag protects beside the content.
    pub associated: &'a [u8],
}

/// A record could not be encrypted, or is not what the owner of the key has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// SHA-256, HMAC-SHA-256, AES-128-CCM-8 and random numbers.
pub trait Crypto {
    /// A SHA-256 computation under way.
    type Hash: Hash;

    /// A SHA-256 computation of no octets.
    fn hash(&mut self) -> Self::Hash;

    /// HMAC-SHA-256 (RFC 2104) of the concatenation of `parts`.
    fn hmac(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST];

    /// Encrypts `content` in place and returns its tag.
    ///
    /// # Errors
    /// The content is too long. It is then undefined, and is not sent.
    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed>;

    /// Decrypts `content` in place. The tag is compared in constant time.
    ///
    /// # Errors
    /// The tag does not belong to the content. The content is then undefined, and must not be used.
    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed>;

    /// Fills `octets` with random numbers that nobody can predict.
    fn random(&mut self, octets: &mut [u8]);

    /// Gets the master secret of each connection, and the random number of its client. Does nothing unless an analyst asks
    /// for it: whoever has the secret can read the connection.
    fn log_secret(&mut self, _client_random: &[u8; 32], _master_secret: &[u8; 48]) {}
}

/// A SHA-256 computation under way: the transcript of a handshake.
pub trait Hash: Clone {
    /// Hashes more octets.
    fn update(&mut self, octets: &[u8]);

    /// The digest of all octets so far.
    fn digest(&self) -> [u8; DIGEST];
}
