//! Results of public-key cryptography that were computed before.
//!
//! A walk runs the same handshake thousands of times, always with the same random numbers. Its curves would take nearly all of
//! the time. The same arguments give the same result, so nothing that a table shows can change.

use std::cell::RefCell;
use std::collections::HashMap;

use lean_dtls::crypto::Failed;

type Arguments = (&'static str, Vec<Vec<u8>>);

thread_local! {
    static RESULTS: RefCell<HashMap<Arguments, Result<Vec<u8>, Failed>>> = RefCell::default();
}

/// The result of this function for these arguments: what it has computed for them in this thread, or what it computes now.
pub fn result(
    function: &'static str,
    arguments: &[&[u8]],
    compute: impl FnOnce() -> Result<Vec<u8>, Failed>,
) -> Result<Vec<u8>, Failed> {
    let key = (function, arguments.iter().map(|octets| octets.to_vec()).collect());
    RESULTS.with_borrow_mut(|results| results.entry(key).or_insert_with(compute).clone())
}

/// The signatures of certificates.
#[cfg(feature = "webpki")]
#[derive(Debug)]
pub struct Certificates;

#[cfg(feature = "webpki")]
mod certificates {
    use rustls_pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};

    use super::{Certificates, Failed, result};
    use lean_dtls::EcdsaP256Sha256;

    impl Certificates {
        pub const ONLY: &'static [&'static dyn SignatureVerificationAlgorithm] = &[&Self];
    }

    impl SignatureVerificationAlgorithm for Certificates {
        fn verify_signature(&self, public: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
            let compute = || {
                let verified = EcdsaP256Sha256.verify_signature(public, message, signature);
                verified.map(|()| Vec::new()).map_err(|_| Failed)
            };
            let known = result("verify a certificate", &[public, message, signature], compute);
            known.map(|_| ()).map_err(|Failed| InvalidSignature)
        }

        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            EcdsaP256Sha256.public_key_alg_id()
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            EcdsaP256Sha256.signature_alg_id()
        }
    }
}
