//! The validation of a chain of certificates in the place of a client: what a border router does that validates before.

use std::borrow::Cow;
use std::time::Duration;

use lean_dtls::{Certificate, Credentials, Role as Peer, X509};

use crate::building::BuildError;
use crate::config::{Arithmetic, Role, SessionConfig};
use crate::credentials;
use crate::device::{self, Device, WORLD_BEGAN};
use crate::rustls::provider::ECDSA_SECP256R1_SHA256;

/// Who validates servers' chains as a client would: their signatures, validity, constraints and key usage. Servers have no name
/// here.
#[derive(Clone, Debug)]
pub struct Validator {
    authority: &'static [u8],
}

impl Validator {
    /// One that trusts the authority that this client would trust.
    ///
    /// # Errors
    /// The client has no certificates, or they cannot be validated by another one than itself.
    pub fn new(client: &SessionConfig) -> Result<Self, BuildError> {
        let transport = client.transport().unwrap_or(Cow::Borrowed(client));
        let checked = transport.stack.capabilities().check(&transport)?;
        crate::check::check_visible(&transport, checked.tls)?;
        let (key, length) = checked.certificate().expect("the border router sees a certificate");
        let chain = credentials::chain(key, Role::Client, length).map_err(BuildError::Library)?;
        Ok(Self { authority: chain.authority })
    }

    /// True if the chain (X.509, DER, the server's own certificate first) is good when the world has run for this time.
    ///
    /// It computes on a device of its own, so that no session is delayed.
    pub fn is_good(&self, now: Duration, chain: &[&[u8]]) -> bool {
        let began = WORLD_BEGAN.saturating_add(now);
        Device::new(None, [0; 32], began, Arithmetic::default()).run(|| {
            let trusting = X509 {
                own: None,
                authorities: &[self.authority],
                server_name: None,
                unix_time: || device::unix_time().as_secs(),
                algorithms: ECDSA_SECP256R1_SHA256,
            };
            trusting.check_peer(Peer::Server, &Certificate::X509(chain)).is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Credential, CredentialKind, Protocol, Stack};

    fn client(length: Option<u16>) -> SessionConfig {
        let credential = Credential::Certificate { rsa_bits: 2048, length };
        SessionConfig::new(Role::Client, Stack::MBEDTLS, Protocol::Dtls12.family(), credential)
    }

    fn servers(length: Option<u16>) -> Vec<u8> {
        let key = credentials::CertificateKey::Curve(crate::operation::Curve::Secp256r1);
        credentials::chain(key, Role::Server, length).unwrap().own.certificate.to_vec()
    }

    #[test]
    fn a_good_chain_is_told_from_a_false_one() {
        let validator = Validator::new(&client(None)).unwrap();
        let (good, of_another) = (servers(None), servers(Some(600)));
        let now = Duration::from_secs(60);
        assert!(validator.is_good(now, &[&good]));
        assert!(!validator.is_good(now, &[&of_another]), "another authority");
        assert!(Validator::new(&client(Some(600))).unwrap().is_good(now, &[&of_another]));
        assert!(!validator.is_good(Duration::from_secs(200 * 365 * 86_400), &[&good]), "it has expired");
        for place in 0..good.len() {
            let mut changed = good.clone();
            changed[place] ^= 1;
            assert!(!validator.is_good(now, &[&changed]), "octet {place}");
        }
        let too_long = [good.as_slice(); 40];
        assert!(!validator.is_good(now, &[]) && !validator.is_good(now, &[&[]]) && !validator.is_good(now, &too_long));
    }

    #[test]
    fn what_a_border_router_cannot_see_is_refused() {
        let with = |protocol: Protocol, kind: CredentialKind| {
            let config = SessionConfig::new(Role::Client, Stack::LEAN_DTLS, protocol.family(), kind.into());
            Validator::new(&config).map_err(|error| error.to_string())
        };
        assert!(with(Protocol::Dtls12, CredentialKind::Certificate).is_ok());
        let hidden = with(Protocol::Dtls13, CredentialKind::Certificate).unwrap_err();
        assert!(hidden.contains("dtls1.2, where certificates are not encrypted"), "{hidden}");
        let raw = with(Protocol::Dtls12, CredentialKind::RawPublicKey).unwrap_err();
        assert!(raw.contains("credential certificate"), "{raw}");
    }
}
