//! Certificates: this end's own, and the check of the peer's, which the library leaves to its user.

use std::time::Duration;

use dimpl::DtlsCertificate;
use dimpl::crypto::HashAlgorithm;
use rustls_pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, SignatureVerificationAlgorithm, UnixTime, alg_id,
};
use slowhand_stack::{Options, host};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use crate::ecdsa;

/// An empty SEQUENCE: the library asks each end for a certificate too, and does not read it.
const NO_CERTIFICATE: &[u8] = b"\x30\x00";

/// The private key 1 on secp256r1 (RFC 5915). The library asks each end for a key. An end that proves nothing never signs with it.
const NO_KEY: &[u8] = b"\x30\x31\x02\x01\x01\x04\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\
    \xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";

pub(crate) fn own(options: &Options<'_>) -> DtlsCertificate {
    let (certificate, key) = options.certificate.zip(options.key).unwrap_or((NO_CERTIFICATE, NO_KEY));
    DtlsCertificate { certificate: certificate.to_vec(), private_key: key.to_vec() }
}

/// Checks the peer's certificate (RFC 5280 section 6), without a name.
///
/// # Errors
/// Why it is not accepted.
pub(crate) fn check(certificate: &[u8], trusted: Option<&[u8]>, is_client: bool) -> Result<(), String> {
    let refused = |error: webpki::Error| format!("the peer's certificate is refused: {error}");
    let trusted = CertificateDer::from(trusted.ok_or("the peer has sent a certificate, and none is trusted")?);
    let anchor = anchor_from_trusted_cert(&trusted).map_err(refused)?;
    let certificate = CertificateDer::from(certificate);
    let now = UnixTime::since_unix_epoch(Duration::from_secs(host::unix_time().as_secs()));
    let usage = if is_client { KeyUsage::client_auth() } else { KeyUsage::server_auth() };
    let certificate = EndEntityCert::try_from(&certificate).map_err(refused)?;
    certificate.verify_for_usage(&[&WithSha256], &[anchor], &[], now, usage, None, None).map_err(refused)?;
    Ok(())
}

/// ECDSA with secp256r1 and SHA-256.
#[derive(Debug)]
struct WithSha256;

impl SignatureVerificationAlgorithm for WithSha256 {
    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let point = key.strip_prefix(&[4]).and_then(|point| point.try_into().ok()).ok_or(InvalidSignature)?;
        let is_valid = ecdsa::is_valid(point, HashAlgorithm::SHA256, message, signature);
        is_valid.then_some(()).ok_or(InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA256
    }
}
