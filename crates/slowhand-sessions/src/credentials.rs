//! The keys and certificates of all sessions. They are public: use them for tests and measurements, never for a real
//! device. `credentials/README.md` says how they were made.

pub(crate) mod edhoc;
mod files;
mod issued;
mod issuer;

use crate::config::Role;
use crate::session::Failure;
use files::in_file;

pub use crate::config::{PASSWORD, PSK, PSK_IDENTITY};
pub(crate) use files::{CertificateKey, Chain, RSA_BITS, raw_key};
pub(crate) use issued::{IMPOSSIBLE_LENGTH, lengths};

/// The certificates of an end. Its own certificate has this length, which must be one of [`lengths`]. `None`: the
/// certificate in the file.
///
/// # Errors
/// The certificate could not be issued.
pub(crate) fn chain(key: CertificateKey, role: Role, length: Option<u16>) -> Result<Chain, Failure> {
    length.map_or_else(|| Ok(in_file(key, role)), |length| issued::chain(key, role, length))
}
