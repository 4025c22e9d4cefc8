//! Certificates: who has which type, Certificate, CertificateRequest and CertificateVerify (RFC 8446, section 4.4; RFC 7250).

use super::connection::{Connection, Expects};
use super::hello::{ClientHello, read_extensions};
use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::config::Config;
use crate::credentials::{Certificate, CertificateType, CertifiedKey, Credentials, MAX_CHAIN, Role};
use crate::crypto::{Crypto, DIGEST, Hash, MAX_PUBLIC};
use crate::extension::{self, ECDSA_SHA256, Extensions};
use crate::handshake::Kind;
use crate::signature;

/// What a connection knows about certificates.
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
    fn kind(&self, of: Role) -> CertificateType {
        self.types[of as usize].unwrap_or(CertificateType::X509)
    }
}

const fn extension_of(role: Role) -> u16 {
    match role {
        Role::Client => extension::CLIENT_CERTIFICATE_TYPE,
        Role::Server => extension::SERVER_CERTIFICATE_TYPE,
    }
}

/// What a client can do.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) own: Option<CertificateType>,
    pub(crate) accepted: &'a [CertificateType],
}

impl<'a> Offer<'a> {
    pub(crate) fn of(credentials: &'a impl Credentials) -> Self {
        let own = credentials.certificate().map(|own| own.certificate.kind());
        Self { own, accepted: credentials.accepted() }
    }

    /// True if the client can check a server's certificate.
    pub(crate) const fn is_possible(&self) -> bool {
        !self.accepted.is_empty()
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        if !self.is_possible() {
            return Ok(());
        }
        write_algorithms(writer)?;
        write_types(writer, Role::Client, self.own.as_slice())?;
        write_types(writer, Role::Server, self.accepted)
    }

    /// True if the client has asked for this extension in EncryptedExtensions.
    pub(crate) fn asks_for(&self, number: u16) -> bool {
        let has_raw = |types: &[CertificateType]| types.contains(&CertificateType::RawPublicKey);
        match number {
            extension::CLIENT_CERTIFICATE_TYPE => self.is_possible() && has_raw(self.own.as_slice()),
            extension::SERVER_CERTIFICATE_TYPE => has_raw(self.accepted),
            _ => false,
        }
    }
}

fn write_algorithms(writer: &mut Writer<'_>) -> Result<(), Full> {
    extension::write(writer, extension::SIGNATURE_ALGORITHMS, |writer| {
        writer.vector(2, |writer| writer.number(ECDSA_SHA256.into(), 2))
    })
}

/// X.509 alone needs no extension (RFC 7250, section 4.1).
fn write_types(writer: &mut Writer<'_>, role: Role, types: &[CertificateType]) -> Result<(), Full> {
    if types.iter().all(|kind| *kind == CertificateType::X509) {
        return Ok(());
    }
    extension::write(writer, extension_of(role), |writer| {
        writer.vector(1, |writer| types.iter().try_for_each(|kind| writer.put(&[kind.number()])))
    })
}

/// True if the client takes certificates of this type from an end.
fn takes(extensions: Extensions<'_>, role: Role, kind: CertificateType) -> bool {
    match extensions.find(extension_of(role)) {
        Some(content) => Reader::new(content).vector(1).is_some_and(|types| types.contains(&kind.number())),
        None => kind == CertificateType::X509,
    }
}

/// The server: true if it has a certificate that suits the client, and the client one that it may ask for.
pub(crate) fn is_possible(hello: &ClientHello<'_>, credentials: &impl Credentials) -> bool {
    let offer = Offer::of(credentials);
    let has_algorithm = hello.extensions.lists(extension::SIGNATURE_ALGORITHMS, 2, ECDSA_SHA256);
    let suits = |own| takes(hello.extensions, Role::Server, own);
    let can_ask = || offer.accepted.iter().any(|kind| takes(hello.extensions, Role::Client, *kind));
    has_algorithm && offer.own.is_some_and(suits) && (offer.accepted.is_empty() || can_ask())
}

/// The server: what follows from the client's offer.
pub(crate) fn choose(hello: &ClientHello<'_>, credentials: &impl Credentials) -> State {
    let offer = Offer::of(credentials);
    let asked = offer.accepted.iter().copied().find(|kind| takes(hello.extensions, Role::Client, *kind));
    let said = |role: Role, kind| hello.extensions.find(extension_of(role)).and(kind);
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
        if let Some(content) = extensions.find(extension_of(role)) {
            let kind = offered.iter().copied().find(|kind| content == [kind.number()]);
            state.types[role as usize] = Some(kind.ok_or(alert::ILLEGAL_PARAMETER)?);
        }
    }
    if state.is_used && !offer.accepted.contains(&state.kind(Role::Server)) {
        return Err(alert::UNSUPPORTED_CERTIFICATE);
    }
    Ok(())
}

/// The digest that an end signs: 64 spaces, a text that names the end, and the digest of the handshake so far (RFC 8446,
/// section 4.4.3).
pub(super) fn signed_digest<C: Crypto>(crypto: &mut C, signer: Role, handshake: &[u8; DIGEST]) -> [u8; DIGEST] {
    let text: &[u8] = match signer {
        Role::Client => b"TLS 1.3, client CertificateVerify\0",
        Role::Server => b"TLS 1.3, server CertificateVerify\0",
    };
    let mut hash = crypto.hash();
    hash.update(&[b' '; 64]);
    hash.update(text);
    hash.update(handshake);
    hash.digest()
}

impl<C: Crypto, const BUFFER: usize> Connection<C, BUFFER> {
    const fn role(&self, is_own: bool) -> Role {
        if self.is_client == is_own { Role::Client } else { Role::Server }
    }

    /// Adds a CertificateRequest to the flight. It names no authority: any that the server trusts will do.
    pub(crate) fn send_certificate_request(&mut self) -> Result<(), Full> {
        self.sender.send(Kind::CertificateRequest, |writer| {
            writer.vector(1, |_| Ok(()))?;
            writer.vector(2, write_algorithms)
        })
    }

    /// Adds this end's certificate to the flight, and the proof that the key in it is this end's. A client without a
    /// certificate of the type that is asked for sends an empty one.
    pub(crate) fn send_certificate(&mut self, crypto: &mut C, own: Option<CertifiedKey<'_>>) -> Result<(), Full> {
        let role = self.role(true);
        let kind = self.certificates.kind(role);
        let own = own.filter(|own| own.certificate.kind() == kind);
        self.sender.send(Kind::Certificate, |writer| {
            writer.vector(1, |_| Ok(()))?;
            writer.vector(3, |writer| match own.map(|own| own.certificate) {
                None => Ok(()),
                Some(Certificate::RawPublicKey(spki)) => write_entry(writer, spki),
                Some(Certificate::X509(chain)) => chain.iter().try_for_each(|one| write_entry(writer, one)),
            })
        })?;
        let Some(own) = own else { return Ok(()) };
        let digest = signed_digest(crypto, role, &self.sender.transcript.digest());
        let signature = crypto.sign(own.private_key, &digest).map_err(|_| Full)?;
        self.sender.send(Kind::CertificateVerify, |writer| signature::write(writer, &signature))
    }

    /// Handles the message whose turn it is, if it belongs to the peer's certificate.
    ///
    /// # Errors
    /// The alert with which it is refused.
    pub(crate) fn receive_certificate(&mut self, crypto: &mut C, config: &Config<impl Credentials>) -> Result<(), u8> {
        let peer = self.role(false);
        let handshake = self.sender.transcript.digest();
        let (header, body) = self.incoming.whole(self.next).ok_or(alert::DECODE_ERROR)?;
        self.expects = match (self.expects, header.kind) {
            (Expects::Certificate, Kind::CertificateRequest) if !self.certificates.is_asked => {
                read_request(body)?;
                self.certificates.is_asked = true;
                Expects::Certificate
            }
            (Expects::Certificate, Kind::Certificate) => {
                let key = read_certificate(body, self.certificates.kind(peer), peer, &config.credentials)?;
                self.certificates.peers_key = Some(key);
                Expects::CertificateVerify
            }
            (Expects::CertificateVerify, Kind::CertificateVerify) => {
                let key = self.certificates.peers_key.ok_or(alert::UNEXPECTED_MESSAGE)?;
                let digest = signed_digest(crypto, peer, &handshake);
                signature::verify(Reader::new(body), crypto, &key, &digest)?;
                Expects::Finished
            }
            _ => return Err(alert::UNEXPECTED_MESSAGE),
        };
        self.sender.note(header.kind, body);
        Ok(())
    }
}

/// A certificate without extensions.
fn write_entry(writer: &mut Writer<'_>, certificate: &[u8]) -> Result<(), Full> {
    writer.vector(3, |writer| writer.put(certificate))?;
    writer.vector(2, |_| Ok(()))
}

/// Reads a CertificateRequest of the handshake, which must take the signatures of this engine.
fn read_request(body: &[u8]) -> Result<(), u8> {
    let mut reader = Reader::new(body);
    let context = reader.vector(1).ok_or(alert::DECODE_ERROR)?;
    let extensions = read_extensions(reader).ok_or(alert::DECODE_ERROR)?;
    if !context.is_empty() {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let takes = extensions.lists(extension::SIGNATURE_ALGORITHMS, 2, ECDSA_SHA256);
    takes.then_some(()).ok_or(alert::HANDSHAKE_FAILURE)
}

/// Reads a Certificate message of this type, and asks the credentials. Returns the public key in it.
fn read_certificate(
    body: &[u8],
    kind: CertificateType,
    peer: Role,
    credentials: &impl Credentials,
) -> Result<[u8; MAX_PUBLIC], u8> {
    let mut reader = Reader::new(body);
    let context = reader.vector(1).ok_or(alert::DECODE_ERROR)?;
    let mut entries = Reader::new(reader.vector(3).filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?);
    if !context.is_empty() {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let (mut chain, mut count) = ([&[][..]; MAX_CHAIN], 0);
    while !entries.is_empty() {
        let place = chain.get_mut(count).ok_or(alert::BAD_CERTIFICATE)?;
        *place = entries.vector(3).ok_or(alert::DECODE_ERROR)?;
        entries.vector(2).ok_or(alert::DECODE_ERROR)?;
        count += 1;
    }
    let certificate = match (kind, &chain[..count]) {
        (_, []) if peer == Role::Client => return Err(alert::CERTIFICATE_REQUIRED),
        (_, []) => return Err(alert::DECODE_ERROR),
        (CertificateType::RawPublicKey, [spki]) => Certificate::RawPublicKey(spki),
        (CertificateType::RawPublicKey, _) => return Err(alert::BAD_CERTIFICATE),
        (CertificateType::X509, chain) => Certificate::X509(chain),
    };
    let key = certificate.public_key().ok_or(alert::UNSUPPORTED_CERTIFICATE)?;
    credentials.check_peer(peer, &certificate).map_err(|error| error as u8)?;
    Ok(key)
}
