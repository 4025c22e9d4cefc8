//! Chains of X.509 certificates, checked by rustls-webpki (RFC 5280).

use core::time::Duration;

use rustls_pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, ServerName, SignatureVerificationAlgorithm, UnixTime, alg_id,
};
use webpki::{EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use super::{Certificate, CertificateError, CertificateType, CertifiedKey, Credentials, MAX_CHAIN, Role};
use crate::crypto::{Crypto, Hash, RustCrypto};
use crate::der;

/// Credentials of an end that has an X.509 certificate, or trusts authorities, or both.
///
/// A chain is checked for its signatures, validity, constraints and key usage; a server's certificate also for its name. It
/// is not checked for revocation.
#[derive(Clone, Copy, Debug)]
pub struct X509<'a> {
    /// The certificates of this end with the private key. `None`: a client without a certificate.
    pub own: Option<CertifiedKey<'a>>,
    /// The certificates of the authorities that this end trusts, DER. If a server trusts none, it asks its clients for no
    /// certificate.
    pub authorities: &'a [&'a [u8]],
    /// The name or the IP address that the server's certificate must have. `None`: any name is as good. Then whoever has a
    /// certificate of one of the authorities can be the server, so each of them must be trusted to be it.
    pub server_name: Option<&'a str>,
    /// The seconds since 1970-01-01.
    pub unix_time: fn() -> u64,
    /// The algorithms of signatures in certificates: [`EcdsaP256Sha256::ONLY`], or those of a device with an accelerator.
    pub algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
}

impl Credentials for X509<'_> {
    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        self.own
    }

    fn accepted(&self) -> &[CertificateType] {
        if self.authorities.is_empty() { &[] } else { &[CertificateType::X509] }
    }

    #[cfg(feature = "resumption")]
    fn session_context(&self, add: &mut dyn FnMut(&[u8])) {
        self.authorities.iter().for_each(|authority| add(authority));
        add(self.server_name.unwrap_or_default().as_bytes());
    }

    fn check_peer(&self, peer: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        let Certificate::X509([own, issuers @ ..]) = certificate else {
            return Err(CertificateError::UnsupportedCertificate);
        };
        let mut intermediates = [const { CertificateDer::from_slice(&[]) }; MAX_CHAIN - 1];
        let intermediates = intermediates.get_mut(..issuers.len()).ok_or(CertificateError::BadCertificate)?;
        for (place, issuer) in intermediates.iter_mut().zip(issuers.iter()) {
            *place = CertificateDer::from_slice(issuer);
        }
        let own = CertificateDer::from_slice(own);
        let certificate = EndEntityCert::try_from(&own).map_err(|error| refusal(&error))?;
        self.check_chain(peer, &certificate, intermediates)?;
        match self.server_name.filter(|_| peer == Role::Server) {
            None => Ok(()),
            Some(name) => {
                let name = ServerName::try_from(name).map_err(|_| CertificateError::BadCertificate)?;
                certificate.verify_is_valid_for_subject_name(&name).map_err(|error| refusal(&error))
            }
        }
    }
}

impl X509<'_> {
    /// Checks that one of the authorities has issued the chain.
    fn check_chain(
        &self,
        peer: Role,
        certificate: &EndEntityCert<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Result<(), CertificateError> {
        let now = UnixTime::since_unix_epoch(Duration::from_secs((self.unix_time)()));
        let mut error = CertificateError::UnknownCa;
        for authority in self.authorities {
            let authority = CertificateDer::from_slice(authority);
            let Ok(anchor) = anchor_from_trusted_cert(&authority) else { continue };
            let usage = match peer {
                Role::Server => KeyUsage::server_auth(),
                Role::Client => KeyUsage::client_auth(),
            };
            let anchors = [anchor];
            match certificate.verify_for_usage(self.algorithms, &anchors, intermediates, now, usage, None, None) {
                Ok(_) => return Ok(()),
                // Another authority may have issued it.
                Err(Error::UnknownIssuer) => {}
                Err(other) => error = refusal(&other),
            }
        }
        Err(error)
    }
}

/// The alert for an error of the library.
fn refusal(error: &Error) -> CertificateError {
    match error {
        Error::CertExpired { .. } | Error::CertNotValidYet { .. } => CertificateError::CertificateExpired,
        Error::CertRevoked => CertificateError::CertificateRevoked,
        Error::UnknownIssuer => CertificateError::UnknownCa,
        Error::UnsupportedSignatureAlgorithmContext(_)
        | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_)
        | Error::UnsupportedCertVersion
        | Error::UnsupportedCriticalExtension => CertificateError::UnsupportedCertificate,
        _ => CertificateError::BadCertificate,
    }
}

/// ECDSA with P-256 and SHA-256 in the signatures of certificates, computed by [`RustCrypto`].
#[derive(Clone, Copy, Debug)]
pub struct EcdsaP256Sha256;

impl EcdsaP256Sha256 {
    /// The list with this algorithm alone.
    pub const ONLY: &'static [&'static dyn SignatureVerificationAlgorithm] = &[&Self];
}

impl SignatureVerificationAlgorithm for EcdsaP256Sha256 {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        // Verification needs no randomness.
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let mut hash = crypto.hash();
        hash.update(message);
        let signature = der::read_signature(signature).ok_or(InvalidSignature)?;
        let public_key = public_key.try_into().map_err(|_| InvalidSignature)?;
        crypto.verify(public_key, &hash.digest(), &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA256
    }
}
