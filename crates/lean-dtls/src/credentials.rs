//! The proof of the identity of an end, and the peers that it trusts.

mod certificate;
#[cfg(feature = "dtls13")]
mod imported;
#[cfg(feature = "certificates")]
mod raw_public_key;
#[cfg(feature = "webpki")]
mod x509;

use crate::octets::Octets;

pub use certificate::*;
#[cfg(feature = "dtls13")]
pub use imported::ImportedPsk;
#[cfg(feature = "certificates")]
pub use raw_public_key::RawPublicKey;
#[cfg(feature = "webpki")]
pub use x509::{EcdsaP256Sha256, X509};

/// A pre-shared key and its name (RFC 4279).
#[derive(Clone, Copy)]
pub struct Psk<'k> {
    /// The name, which is sent in clear.
    pub identity: &'k [u8],
    /// The key: 1 to [`MAX_PSK`] octets.
    ///
    /// It must be random: 16 octets that nobody can guess, of its own for each device. Whoever has it is the peer.
    pub key: &'k [u8],
}

/// Octets of the longest pre-shared key (RFC 4279, section 5.3, asks for at least 64).
pub const MAX_PSK: usize = 64;

/// Octets of the longest identity that a server keeps of a client, to say who it is. A client with a longer one has a connection too,
/// but no name, and its session is not resumed. (Assumed: names of devices are no longer.)
pub const MAX_IDENTITY: usize = 32;

/// The identity of a pre-shared key. Empty: it is too long, or was not sent.
pub(crate) type Identity = Octets<MAX_IDENTITY>;

/// The credentials of a client or a server: its own, and what it knows of its peers.
///
/// An array or a slice of [`Psk`] are credentials. So are those of `ImportedPsk` (feature `dtls13`), a `RawPublicKey` and an
/// `X509` certificate (features `certificates` and `webpki`). Who has several kinds, or keeps keys elsewhere, implements the trait.
/// Each method has a default that has
/// nothing and trusts nobody.
///
/// See [Which credential?](crate::decisions#which-credential)
pub trait Credentials {
    /// The pre-shared key that a client uses.
    ///
    /// Default: none, and the client offers no suite with pre-shared keys.
    fn psk(&self) -> Option<Psk<'_>> {
        None
    }

    /// The key that a server knows under this identity: 1 to [`MAX_PSK`] octets.
    ///
    /// It is asked before the client has proved anything, so it should not take long. A server with many keys looks
    /// them up here in its own memory. An identity that is not known ends the handshake with an alert, so anybody can
    /// find out which ones are (RFC 4279, section 2, allows a server to hide it; this one does not).
    fn find_psk(&self, _identity: &[u8]) -> Option<&[u8]> {
        None
    }

    /// The key that a server knows for the client at this address, which does not send its identity: 1 to [`MAX_PSK`]
    /// octets. Only clients of the lean profile leave it out.
    ///
    /// It saves the identity in both ClientHellos. A false address gets another client's key, which does it no good:
    /// the Finished fails. Default: nobody is known by address.
    fn find_psk_by_address(&self, _address: &[u8]) -> Option<&[u8]> {
        None
    }

    /// With which context DTLS 1.3 imports the key of this identity (RFC 9258). `None`: it uses the key as it is. See
    /// [`ImportedPsk`].
    #[cfg(feature = "dtls13")]
    fn import_context(&self, _identity: &[u8]) -> Option<&[u8]> {
        None
    }

    /// Adds octets that tell this end from one that trusts other peers. A session is resumed only where they are the same, at the
    /// end that has opened it or at another one with the same key for tickets (the session context of RFC 5077, section 5).
    ///
    /// The engine asks [`find_psk`](Self::find_psk) and [`check_peer`](Self::check_peer) again about a pre-shared key and a raw public
    /// key. The chain of an X.509 certificate does not come again: so [`X509`] adds its authorities, and so does whoever checks
    /// chains in another way. Default: nothing.
    #[cfg(feature = "resumption")]
    fn session_context(&self, _add: &mut dyn FnMut(&[u8])) {}

    /// True if a server answers a client at this address without asking for a cookie: it trusts that nobody else can send from
    /// there, or can bear that somebody does. Until the client has proved that it is there, it gets at most three times the
    /// octets that it has sent. Only with suites of plain pre-shared keys, whose answers are short enough for that.
    ///
    /// It saves a round trip and 135 octets. Default: nobody, everybody gets a cookie. See [A
    /// cookie?](crate::decisions#a-cookie)
    #[cfg(feature = "known-addresses")]
    fn is_known(&self, _address: &[u8]) -> bool {
        false
    }

    /// The certificate of this end. A server needs one for the suites with certificates; a client, if the server asks.
    ///
    /// Signing takes most of the 39 million instructions of a handshake on a Cortex-M3 (`docs/footprint.md`). Default:
    /// none.
    #[cfg(feature = "certificates")]
    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        None
    }

    /// The types of certificates that a peer may have, the preferred one first. A server asks its clients for a certificate,
    /// and refuses clients without one, exactly if this is not empty. A client without any uses no suite with certificates.
    ///
    /// Default: none, nobody is trusted.
    #[cfg(feature = "certificates")]
    fn accepted(&self) -> &[CertificateType] {
        &[]
    }

    /// The hook that decides about a peer's certificate, which has one of the accepted types. It is called before the peer's
    /// signature is checked: the engine does that, with the key in the certificate.
    ///
    /// Compare a raw public key with those that are known; check the chain, the date, the use and the name of an X.509
    /// certificate. What is accepted here is trusted. Default: everything is refused.
    ///
    /// # Errors
    /// The certificate is refused. The peer gets the alert that the reason gives.
    #[cfg(feature = "certificates")]
    fn check_peer(&self, _peer: Role, _certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        Err(CertificateError::CertificateUnknown)
    }
}

impl Credentials for [Psk<'_>] {
    fn psk(&self) -> Option<Psk<'_>> {
        self.first().copied()
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self.iter().find(|psk| psk.identity == identity).map(|psk| psk.key)
    }
}

impl<T, const N: usize> Credentials for [T; N]
where
    [T]: Credentials,
{
    fn psk(&self) -> Option<Psk<'_>> {
        self[..].psk()
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        self[..].find_psk(identity)
    }

    #[cfg(feature = "dtls13")]
    fn import_context(&self, identity: &[u8]) -> Option<&[u8]> {
        self[..].import_context(identity)
    }
}

impl<T: Credentials + ?Sized> Credentials for &T {
    fn psk(&self) -> Option<Psk<'_>> {
        (**self).psk()
    }

    fn find_psk(&self, identity: &[u8]) -> Option<&[u8]> {
        (**self).find_psk(identity)
    }

    fn find_psk_by_address(&self, address: &[u8]) -> Option<&[u8]> {
        (**self).find_psk_by_address(address)
    }

    #[cfg(feature = "dtls13")]
    fn import_context(&self, identity: &[u8]) -> Option<&[u8]> {
        (**self).import_context(identity)
    }

    #[cfg(feature = "resumption")]
    fn session_context(&self, add: &mut dyn FnMut(&[u8])) {
        (**self).session_context(add);
    }

    #[cfg(feature = "known-addresses")]
    fn is_known(&self, address: &[u8]) -> bool {
        (**self).is_known(address)
    }

    #[cfg(feature = "certificates")]
    fn certificate(&self) -> Option<CertifiedKey<'_>> {
        (**self).certificate()
    }

    #[cfg(feature = "certificates")]
    fn accepted(&self) -> &[CertificateType] {
        (**self).accepted()
    }

    #[cfg(feature = "certificates")]
    fn check_peer(&self, peer: Role, certificate: &Certificate<'_>) -> Result<(), CertificateError> {
        (**self).check_peer(peer, certificate)
    }
}

/// Without the name's key.
impl core::fmt::Debug for Psk<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Psk").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// True if a server asks the client at this address for no cookie.
pub(crate) fn is_known(_credentials: &impl Credentials, _address: &[u8]) -> bool {
    #[cfg(feature = "known-addresses")]
    return _credentials.is_known(_address);
    #[cfg(not(feature = "known-addresses"))]
    false
}

/// The context with which DTLS 1.3 imports the key of this identity.
pub(crate) fn import_context<'k>(_credentials: &'k impl Credentials, _identity: &[u8]) -> Option<&'k [u8]> {
    #[cfg(feature = "dtls13")]
    return _credentials.import_context(_identity);
    #[cfg(not(feature = "dtls13"))]
    None
}

/// Adds what tells an end from one that trusts other peers.
pub(crate) fn add_session_context(_credentials: &impl Credentials, _add: &mut dyn FnMut(&[u8])) {
    #[cfg(feature = "resumption")]
    _credentials.session_context(_add);
}

/// The certificate of an end.
pub(crate) fn certificate(_credentials: &impl Credentials) -> Option<CertifiedKey<'_>> {
    #[cfg(feature = "certificates")]
    return _credentials.certificate();
    #[cfg(not(feature = "certificates"))]
    None
}

/// The types of certificates that a peer may have.
pub(crate) fn accepted(_credentials: &impl Credentials) -> &[CertificateType] {
    #[cfg(feature = "certificates")]
    return _credentials.accepted();
    #[cfg(not(feature = "certificates"))]
    &[]
}

/// Asks about a peer's certificate.
pub(crate) fn check_peer(
    _credentials: &impl Credentials,
    _peer: Role,
    _certificate: &Certificate<'_>,
) -> Result<(), CertificateError> {
    #[cfg(feature = "certificates")]
    return _credentials.check_peer(_peer, _certificate);
    #[cfg(not(feature = "certificates"))]
    Err(CertificateError::CertificateUnknown)
}

/// True if a pre-shared key has a length that the engine can use.
pub(crate) fn is_key(key: &[u8]) -> bool {
    (1..=MAX_PSK).contains(&key.len())
}
