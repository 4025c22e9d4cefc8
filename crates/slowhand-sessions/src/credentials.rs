//! The keys and certificates that sessions authenticate with. They are public: for tests and
//! measurements, never for a real device. `credentials/README.md` says how they were made.

mod files;
mod issued;
mod issuer;

use crate::config::Role;
use crate::session::Failure;
use files::in_file;

pub use crate::config::PSK_IDENTITY;
pub(crate) use files::{CertificateKey, Chain, RSA_BITS, raw_key};
pub(crate) use issued::{IMPOSSIBLE_LENGTH, lengths};

/// The pre-shared key: 16 octets, as long as the key of AES-128 (assumed).
pub const PSK: [u8; 16] = *b"slowhand-testkey";

/// The certificates of an end, its own of exactly this length: one of [`lengths`], or the length that it has in the file.
///
/// # Errors
/// The library's own when it cannot issue one of that length.
pub(crate) fn chain(key: CertificateKey, role: Role, length: Option<u16>) -> Result<Chain, Failure> {
    length.map_or_else(|| Ok(in_file(key, role)), |length| issued::chain(key, role, length))
}
