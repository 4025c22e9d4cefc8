//! Certificates: raw public keys (RFC 7250) and chains of X.509 certificates. All keys are keys of P-256.

use crate::crypto::{MAX_PUBLIC, SCALAR};
use crate::der;

/// The most certificates of a chain.
///
/// The engine's own: a device's certificate, and two authorities above it. Each certificate of 500 octets costs 1,000
/// of RAM for each connection, in two buffers.
pub const MAX_CHAIN: usize = 3;

/// Octets of the SubjectPublicKeyInfo of a key of P-256.
pub const SPKI: usize = der::SPKI_PREFIX.len() + MAX_PUBLIC;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that opens the connection.
    Client,
    /// The end that answers.
    Server,
}

/// The type of a certificate (RFC 7250, section 6).
///
/// A raw public key is 91 octets on the wire; an X.509 certificate has 300 and more, and says who has issued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateType {
    /// A chain of X.509 certificates.
    X509,
    /// A public key alone.
    RawPublicKey,
}

impl CertificateType {
    /// The number in the IANA registry of TLS certificate types.
    pub const fn number(self) -> u8 {
        match self {
            Self::X509 => 0,
            Self::RawPublicKey => 2,
        }
    }
}

/// A certificate as it is sent: DER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate<'a> {
    /// X.509 certificates: the end's own first, then each one's issuer, at most [`MAX_CHAIN`]. The last may be left out if
    /// the peer has it.
    X509(&'a [&'a [u8]]),
    /// A SubjectPublicKeyInfo (RFC 7250, section 3); [`spki`] writes one.
    RawPublicKey(&'a [u8]),
}

/// A certificate with the private key that belongs to it.
#[derive(Clone, Copy)]
pub struct CertifiedKey<'a> {
    /// The certificate.
    pub certificate: Certificate<'a>,
    /// The private key on P-256, the most significant octet first.
    pub private_key: &'a [u8; SCALAR],
}

/// Why a certificate is refused: the alert that the peer gets (RFC 5246, section 7.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CertificateError {
    /// It is malformed, a signature in it is wrong, or it is for another name.
    BadCertificate = 42,
    /// Its key or its algorithms are not supported.
    UnsupportedCertificate = 43,
    /// Its issuer has revoked it.
    CertificateRevoked = 44,
    /// It has expired, or is not valid yet.
    CertificateExpired = 45,
    /// Another reason.
    CertificateUnknown = 46,
    /// No authority that this end trusts has issued it.
    UnknownCa = 48,
}

impl Certificate<'_> {
    /// Its type.
    pub const fn kind(&self) -> CertificateType {
        match self {
            Self::X509(_) => CertificateType::X509,
            Self::RawPublicKey(_) => CertificateType::RawPublicKey,
        }
    }

    /// The public key of its owner: 4, x and y. `None` if it is malformed, or if its key is not a key of P-256.
    ///
    /// Nobody has checked the certificate by this.
    pub fn public_key(&self) -> Option<[u8; MAX_PUBLIC]> {
        let spki = match self {
            Self::X509(chain) => der::subject_public_key_info(chain.first()?)?,
            Self::RawPublicKey(spki) => spki,
        };
        spki.strip_prefix(&der::SPKI_PREFIX)?.try_into().ok()
    }

    /// True if it has as many parts as the engine can send.
    pub(crate) fn is_sendable(&self) -> bool {
        match self {
            Self::X509(chain) => (1..=MAX_CHAIN).contains(&chain.len()),
            Self::RawPublicKey(_) => true,
        }
    }
}

/// The SubjectPublicKeyInfo of a public key of P-256 (4, x and y): RFC 5480, section 2.
pub fn spki(public_key: &[u8; MAX_PUBLIC]) -> [u8; SPKI] {
    let mut octets = [0; SPKI];
    let (prefix, key) = octets.split_at_mut(der::SPKI_PREFIX.len());
    prefix.copy_from_slice(&der::SPKI_PREFIX);
    key.copy_from_slice(public_key);
    octets
}

/// Without the private key.
impl core::fmt::Debug for CertifiedKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CertifiedKey").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}
