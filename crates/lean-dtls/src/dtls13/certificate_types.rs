//! Certificates: who has which type, as the hellos and EncryptedExtensions say it (RFC 8446, section 4.2.3; RFC 7250).

use crate::alert;
use crate::certificates::{chosen_type, write_algorithms, write_types};
use crate::codec::{Full, Reader, Writer};
use crate::credentials::{CertificateType, Credentials, Role, accepted, certificate};
use crate::crypto::MAX_PUBLIC;
use crate::extension::{self, ECDSA_SHA256, Extensions};
use crate::features::CERTIFICATES;

/// The types of certificates of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// There is no pre-shared key: the server has a certificate.
    pub(crate) is_used: bool,
    /// The server has asked the client for a certificate.
    pub(crate) is_asked: bool,
    /// The types of the client's and of the server's certificate, if they are not X.509.
    types: [Option<CertificateType>; 2],
    /// The public key in the peer's certificate.
    pub(crate) peers_key: Option<[u8; MAX_PUBLIC]>,
}

impl State {
    pub(super) fn kind(&self, of: Role) -> CertificateType {
        self.types[of as usize].unwrap_or(CertificateType::X509)
    }
}

const fn extension_of(role: Role) -> u16 {
    match role {
        Role::Client => extension::CLIENT_CERTIFICATE_TYPE,
        Role::Server => extension::SERVER_CERTIFICATE_TYPE,
    }
}

/// The abilities of a client.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) own: Option<CertificateType>,
    pub(crate) accepted: &'a [CertificateType],
}

impl<'a> Offer<'a> {
    pub(crate) fn of(credentials: &'a impl Credentials) -> Self {
        let own = certificate(credentials).map(|own| own.certificate.kind());
        Self { own, accepted: accepted(credentials) }
    }

    /// True if the client can check a server's certificate.
    pub(crate) const fn is_possible(&self) -> bool {
        CERTIFICATES && !self.accepted.is_empty()
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        if !self.is_possible() {
            return Ok(());
        }
        write_algorithms(writer)?;
        write_types(writer, extension::CLIENT_CERTIFICATE_TYPE, self.own.as_slice())?;
        write_types(writer, extension::SERVER_CERTIFICATE_TYPE, self.accepted)
    }

    /// True if the client has asked for this extension in EncryptedExtensions.
    pub(crate) fn asks_for(&self, number: u16) -> bool {
        let has_raw = |types: &[CertificateType]| types.contains(&CertificateType::RawPublicKey);
        match number {
            extension::CLIENT_CERTIFICATE_TYPE => self.is_possible() && has_raw(self.own.as_slice()),
            extension::SERVER_CERTIFICATE_TYPE => CERTIFICATES && has_raw(self.accepted),
            _ => false,
        }
    }
}

/// True if the client takes certificates of this type from an end.
fn takes(extensions: Extensions<'_>, role: Role, kind: CertificateType) -> bool {
    match extensions.find(extension_of(role)) {
        Some(content) => Reader::new(content).vector(1).is_some_and(|types| types.contains(&kind.number())),
        None => kind == CertificateType::X509,
    }
}

/// The server: true if it has a certificate that suits the client, and the client one that it may ask for.
pub(crate) fn is_possible(extensions: Extensions<'_>, credentials: &impl Credentials) -> bool {
    let offer = Offer::of(credentials);
    let has_algorithm = extensions.lists(extension::SIGNATURE_ALGORITHMS, 2, ECDSA_SHA256);
    let suits = |own| takes(extensions, Role::Server, own);
    let can_ask = || offer.accepted.iter().any(|kind| takes(extensions, Role::Client, *kind));
    has_algorithm && offer.own.is_some_and(suits) && (offer.accepted.is_empty() || can_ask())
}

/// The server: what follows from the client's offer.
pub(crate) fn choose(extensions: Extensions<'_>, credentials: &impl Credentials) -> State {
    let offer = Offer::of(credentials);
    let asked = offer.accepted.iter().copied().find(|kind| takes(extensions, Role::Client, *kind));
    let said = |role: Role, kind| extensions.find(extension_of(role)).and(kind);
    State {
        is_used: true,
        is_asked: asked.is_some(),
        types: [said(Role::Client, asked), said(Role::Server, offer.own)],
        peers_key: None,
    }
}

/// The server: writes the types into EncryptedExtensions.
pub(crate) fn write_chosen(writer: &mut Writer<'_>, state: &State) -> Result<(), Full> {
    for (role, kind) in [Role::Client, Role::Server].into_iter().zip(state.types) {
        if let Some(kind) = kind {
            extension::write(writer, extension_of(role), |writer| writer.put(&[kind.number()]))?;
        }
    }
    Ok(())
}

/// The client: reads the types in EncryptedExtensions.
///
/// # Errors
/// The alert with which it refuses the server.
pub(crate) fn read_chosen(state: &mut State, extensions: Extensions<'_>, offer: &Offer<'_>) -> Result<(), u8> {
    for (role, offered) in [(Role::Client, offer.own.as_slice()), (Role::Server, offer.accepted)] {
        state.types[role as usize] = chosen_type(extensions, extension_of(role), offered)?;
    }
    if state.is_used && !offer.accepted.contains(&state.kind(Role::Server)) {
        return Err(alert::UNSUPPORTED_CERTIFICATE);
    }
    Ok(())
}
