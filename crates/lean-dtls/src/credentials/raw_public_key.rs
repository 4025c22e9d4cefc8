//! The credentials of an end with a raw public key (RFC 7250).

use super::Credentials;
#[cfg(doc)]
use super::certificate::spki;
use super::certificate::{Certificate, CertificateError, CertificateType, CertifiedKey, Role, SPKI};
use crate::crypto::{MAX_PUBLIC, SCALAR};

/// Credentials of an end that has a raw public key, and knows the keys of its peers.
///
/// RFC 7250. A list of 65 octets for each peer takes the place of an authority; a peer is revoked by taking it off the
/// list. See [Which credential?](crate::decisions#which-credential)
#[derive(Clone, Copy)]
pub struct RawPublicKey<'a> {
    /// The SubjectPublicKeyInfo of this end's key, which [`spki`] writes. `None`: a client without a key of its own.
    pub own: Option<(&'a [u8; SPKI], &'a [u8; SCALAR])>,
    /// The public keys of the peers: 4, x and y. If a server knows none, it asks its clients for no key.
    pub trusted: &'a [[u8; MAX_PUBLIC]],
}

impl Credentials for RawPublicKey<'_> {
    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        self.own.map(|(spki, private_key)| CertifiedKey { certificate: Certificate::RawPublicKey(spki), private_key })
    }

    fn accepted(&self) -> &[CertificateType] {
        if self.trusted.is_empty() { &[] } else { &[CertificateType::RawPublicKey] }
    }

    fn check_peer(&self, _: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let key = certificate.public_key().ok_or(CertificateError::UnsupportedCertificate)?;
        self.trusted.contains(&key).then_some(()).ok_or(CertificateError::CertificateUnknown)
    }
}

/// Without the private key.
impl core::fmt::Debug for RawPublicKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RawPublicKey").field("trusted", &self.trusted).finish_non_exhaustive()
    }
}
