//! The credentials of a session, as lean-dtls takes them.

use std::sync::Arc;

use lean_dtls::crypto::{MAX_PUBLIC, SCALAR};
use lean_dtls::{
    Certificate, CertificateError, CertificateType, CertifiedKey, Psk, RawPublicKey, Role as Peer, SPKI, X509, spki,
};

use super::PEER;
use crate::check::Checked;
use crate::config::{Credential, Role};
use crate::credentials;
use crate::device;
use crate::rustls::provider::ECDSA_SECP256R1_SHA256;
use crate::session::Failure;
use crate::tls::{Auth, Version};

/// The credentials of an end, and its knowledge of its peer.
pub(super) struct Credentials {
    kind: Kind,
    /// A server asks its client for no cookie.
    is_known: bool,
}

enum Kind {
    /// The pre-shared key, under the identity of the configuration.
    Psk { identity: Vec<u8>, key: Arc<[u8]>, is_imported: bool },
    RawPublicKey {
        spki: [u8; SPKI],
        private_key: &'static [u8; SCALAR],
        /// The key of the peer. Empty for a server that asks its client for none.
        trusted: Vec<[u8; MAX_PUBLIC]>,
    },
    Certificate {
        chain: [&'static [u8]; 1],
        private_key: &'static [u8; SCALAR],
        /// Empty for a server that asks its client for no certificate.
        authorities: Vec<&'static [u8]>,
        /// The border router has validated the chain of the peer.
        is_pre_validated: bool,
    },
}

impl Credentials {
    /// # Errors
    /// The certificates could not be issued.
    pub(super) fn new(checked: &Checked<'_>) -> Result<Self, Failure> {
        let role = checked.config.role;
        let asks = role == Role::Client || checked.tls.auth == Auth::Mutual;
        let kind = match (&checked.config.credential, checked.certificate()) {
            (Credential::Psk { identity, key }, _) => {
                let is_imported = checked.tls.unchecked.imports_psk;
                Kind::Psk { identity: identity.as_bytes().to_vec(), key: Arc::clone(key), is_imported }
            }
            (Credential::Certificate { .. }, Some((key, length))) => {
                let chain = credentials::chain(key, role, length)?;
                let private_key = chain.own.private_scalar();
                let authorities = if asks { vec![chain.authority] } else { Vec::new() };
                let is_pre_validated = role == Role::Client && checked.tls.pre_validated;
                Kind::Certificate { chain: [chain.own.certificate], private_key, authorities, is_pre_validated }
            }
            _ => {
                let own = credentials::raw_key(role);
                let trusted = if asks { vec![credentials::raw_key(role.peer()).public()] } else { Vec::new() };
                Kind::RawPublicKey { spki: spki(&own.public()), private_key: own.private, trusted }
            }
        };
        let is_known = matches!(checked.tls.version, Version::Dtls12(dtls) if !dtls.cookie);
        Ok(Self { kind, is_known })
    }
}

impl lean_dtls::Credentials for Credentials {
    fn psk(&self) -> Option<Psk<'_>> {
        match &self.kind {
            Kind::Psk { identity, key, .. } => Some(Psk { identity, key }),
            _ => None,
        }
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.psk().filter(|psk| psk.identity == identity).map(|psk| psk.key)
    }

    fn import_context(&self, identity: &[u8]) -> Option<&[u8]> {
        match &self.kind {
            Kind::Psk { identity: own, is_imported: true, .. } if own == identity => Some(b""),
            _ => None,
        }
    }

    fn find_psk_by_address(&self, address: &[u8]) -> Option<&[u8]> {
        self.psk().filter(|_| address == PEER).map(|psk| psk.key)
    }

    fn is_known(&self, address: &[u8]) -> bool {
        self.is_known && address == PEER
    }

    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        match &self.kind {
            Kind::Psk { .. } => None,
            Kind::RawPublicKey { spki, private_key, .. } => {
                Some(CertifiedKey { certificate: Certificate::RawPublicKey(spki), private_key })
            }
            Kind::Certificate { chain, private_key, .. } => {
                Some(CertifiedKey { certificate: Certificate::X509(chain), private_key })
            }
        }
    }

    fn accepted(&self) -> &[CertificateType] {
        match &self.kind {
            Kind::RawPublicKey { trusted, .. } if !trusted.is_empty() => &[CertificateType::RawPublicKey],
            Kind::Certificate { authorities, .. } if !authorities.is_empty() => &[CertificateType::X509],
            _ => &[],
        }
    }

    fn session_context(&self, add: &mut dyn FnMut(&[u8])) {
        if let Kind::Certificate { authorities, .. } = &self.kind {
            authorities.iter().for_each(|authority| add(authority));
        }
    }

    fn check_peer(&self, peer: Peer, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        match &self.kind {
            Kind::Psk { .. } => Err(CertificateError::CertificateUnknown),
            Kind::RawPublicKey { trusted, .. } => RawPublicKey { own: None, trusted }.check_peer(peer, certificate),
            Kind::Certificate { is_pre_validated: true, .. } => Ok(()),
            // The server has no name to check.
            Kind::Certificate { authorities, .. } => X509 {
                own: None,
                authorities,
                server_name: None,
                unix_time: || device::unix_time().as_secs(),
                algorithms: ECDSA_SECP256R1_SHA256,
            }
            .check_peer(peer, certificate),
        }
    }
}
