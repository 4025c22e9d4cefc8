//! Certificates: Certificate, CertificateRequest and CertificateVerify (RFC 8446, section 4.4; RFC 7250).

use super::connection::{Connection, Expects};
use super::hello::read_extensions;
use crate::alert;
use crate::certificates::{read_chain, trusted_key, write_algorithms};
use crate::codec::{Full, Reader, Writer};
use crate::config::Config;
use crate::credentials::{Certificate, CertificateType, CertifiedKey, Credentials, MAX_CHAIN, Role};
use crate::crypto::{Crypto, DIGEST, Hash, MAX_PUBLIC};
use crate::extension::{self, ECDSA_SHA256};
use crate::handshake::Kind;
use crate::signature;

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

    /// The type of an end's certificate.
    fn kind_of(&self, role: Role) -> CertificateType {
        self.certificates.first().map_or(CertificateType::X509, |certificates| certificates.kind(role))
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
        let kind = self.kind_of(role);
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
        let state = self.certificates.first_mut().ok_or(alert::UNEXPECTED_MESSAGE)?;
        let (header, body) = self.incoming.whole(self.next).ok_or(alert::DECODE_ERROR)?;
        self.expects = match (self.expects, header.kind) {
            (Expects::Certificate, Kind::CertificateRequest) if !state.is_asked => {
                read_request(body)?;
                state.is_asked = true;
                Expects::Certificate
            }
            (Expects::Certificate, Kind::Certificate) => {
                let key = read_certificate(body, state.kind(peer), peer, &config.credentials)?;
                state.peers_key = Some(key);
                Expects::CertificateVerify
            }
            (Expects::CertificateVerify, Kind::CertificateVerify) => {
                let key = state.peers_key.ok_or(alert::UNEXPECTED_MESSAGE)?;
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
    let entries = reader.vector(3).filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?;
    if !context.is_empty() {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let mut chain = [&[][..]; MAX_CHAIN];
    let certificate = match (kind, read_chain(entries, true, &mut chain)?) {
        (_, []) if peer == Role::Client => return Err(alert::CERTIFICATE_REQUIRED),
        (_, []) => return Err(alert::DECODE_ERROR),
        (CertificateType::RawPublicKey, [spki]) => Certificate::RawPublicKey(spki),
        (CertificateType::RawPublicKey, _) => return Err(alert::BAD_CERTIFICATE),
        (CertificateType::X509, chain) => Certificate::X509(chain),
    };
    trusted_key(credentials, peer, &certificate)
}
