//! Certificates in messages, as both versions have them: their types in extensions (RFC 7250), their chains, and what is asked about
//! them.

use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::credentials::{Certificate, CertificateType, Credentials, MAX_CHAIN, Role, check_peer};
use crate::crypto::MAX_PUBLIC;
use crate::extension::{ECDSA_SHA256, Extensions, SIGNATURE_ALGORITHMS, write};

/// Writes the signatures that this end can verify.
pub(crate) fn write_algorithms(writer: &mut Writer<'_>) -> Result<(), Full> {
    write(writer, SIGNATURE_ALGORITHMS, |writer| writer.vector(2, |writer| writer.number(ECDSA_SHA256.into(), 2)))
}

/// Writes a client's offer of types. X.509 alone needs no extension (RFC 7250, section 4.1).
pub(crate) fn write_types(writer: &mut Writer<'_>, number: u16, types: &[CertificateType]) -> Result<(), Full> {
    if types.iter().all(|kind| *kind == CertificateType::X509) {
        return Ok(());
    }
    write(writer, number, |writer| {
        writer.vector(1, |writer| types.iter().try_for_each(|kind| writer.put(&[kind.number()])))
    })
}

/// The type that a server has chosen, which the client must have offered.
pub(crate) fn chosen_type(
    extensions: Extensions<'_>,
    number: u16,
    offered: &[CertificateType],
) -> Result<Option<CertificateType>, u8> {
    let Some(content) = extensions.find(number) else { return Ok(None) };
    let kind = offered.iter().copied().find(|kind| content == [kind.number()]);
    kind.map(Some).ok_or(alert::ILLEGAL_PARAMETER)
}

/// Reads the certificates of a chain. In DTLS 1.3 each has extensions, which this engine does not read.
pub(crate) fn read_chain<'a, 'b>(
    content: &'a [u8],
    have_extensions: bool,
    chain: &'b mut [&'a [u8]; MAX_CHAIN],
) -> Result<&'b [&'a [u8]], u8> {
    let (mut reader, mut count) = (Reader::new(content), 0);
    while !reader.is_empty() {
        let place = chain.get_mut(count).ok_or(alert::BAD_CERTIFICATE)?;
        *place = reader.vector(3).ok_or(alert::DECODE_ERROR)?;
        if have_extensions {
            reader.vector(2).ok_or(alert::DECODE_ERROR)?;
        }
        count += 1;
    }
    Ok(&chain[..count])
}

/// The public key in a peer's certificate, if the credentials take that.
///
/// # Errors
/// The alert for the peer.
pub(crate) fn trusted_key(
    credentials: &impl Credentials,
    peer: Role,
    certificate: &Certificate<'_>,
) -> Result<[u8; MAX_PUBLIC], u8> {
    let key = certificate.public_key().ok_or(alert::UNSUPPORTED_CERTIFICATE)?;
    check_peer(credentials, peer, certificate).map_err(|error| error as u8)?;
    Ok(key)
}
