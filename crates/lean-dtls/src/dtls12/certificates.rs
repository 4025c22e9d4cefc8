//! Certificate, CertificateRequest, and what is signed (RFC 5246, sections 7.4.2 to 7.4.8; RFC 7250, section 3).

use crate::alert;
use crate::certificates::{read_chain, trusted_key};
use crate::codec::{Full, Reader, Writer};
use crate::credentials::{Certificate, CertificateType, Credentials, MAX_CHAIN, Role};
use crate::crypto::{Crypto, DIGEST, Hash, MAX_PUBLIC};
use crate::extension::ECDSA_SHA256;

/// `ecdsa_sign`: a certificate with a key for ECDSA (RFC 8422, section 5.5).
const ECDSA_SIGN: u8 = 64;

/// Writes the body of a Certificate message. `None`: the client has none.
pub(crate) fn write(writer: &mut Writer<'_>, certificate: Option<Certificate<'_>>) -> Result<(), Full> {
    writer.vector(3, |writer| match certificate {
        None => Ok(()),
        Some(Certificate::RawPublicKey(spki)) => writer.put(spki),
        Some(Certificate::X509(chain)) => chain.iter().try_for_each(|one| writer.vector(3, |writer| writer.put(one))),
    })
}

/// Reads a Certificate message of this type, and asks the credentials. Returns the public key in it; `None` if it is empty.
///
/// # Errors
/// The alert for the peer.
pub(crate) fn read(
    body: &[u8],
    kind: CertificateType,
    peer: Role,
    credentials: &impl Credentials,
) -> Result<Option<[u8; MAX_PUBLIC]>, u8> {
    let mut reader = Reader::new(body);
    let content = reader.vector(3).filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?;
    if content.is_empty() {
        return Ok(None);
    }
    let mut chain = [&[][..]; MAX_CHAIN];
    let certificate = match kind {
        CertificateType::RawPublicKey => Certificate::RawPublicKey(content),
        CertificateType::X509 => Certificate::X509(read_chain(content, false, &mut chain)?),
    };
    trusted_key(credentials, peer, &certificate).map(Some)
}

/// Writes the body of a CertificateRequest. It names no authority: any that the server trusts will do.
pub(crate) fn write_request(writer: &mut Writer<'_>) -> Result<(), Full> {
    writer.vector(1, |writer| writer.number(ECDSA_SIGN.into(), 1))?;
    writer.vector(2, |writer| writer.number(ECDSA_SHA256.into(), 2))?;
    writer.vector(2, |_| Ok(()))
}

/// Reads a CertificateRequest: true if a signature of this engine is what the server wants. `None` if it is malformed.
pub(crate) fn read_request(body: &[u8]) -> Option<bool> {
    let mut reader = Reader::new(body);
    let (kinds, algorithms) = (reader.vector(1)?, reader.vector(2)?);
    reader.vector(2).filter(|_| reader.is_empty())?;
    let takes_algorithm = algorithms.chunks(2).any(|algorithm| algorithm == ECDSA_SHA256.to_be_bytes());
    Some(takes_algorithm && kinds.contains(&ECDSA_SIGN))
}

/// The digest of a ServerKeyExchange that its server signs (RFC 8422, section 5.4).
pub(crate) fn key_exchange_digest<C: Crypto>(
    crypto: &mut C,
    randoms: &[[u8; 32]; 2],
    parameters: &[u8],
) -> [u8; DIGEST] {
    let mut hash = crypto.hash();
    hash.update(&randoms[0]);
    hash.update(&randoms[1]);
    hash.update(parameters);
    hash.digest()
}
