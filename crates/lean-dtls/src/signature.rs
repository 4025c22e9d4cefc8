//! Signatures in messages, which both versions write in the same way (RFC 5246, section 4.7; RFC 8446, section 4.4.3).

use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::crypto::{Crypto, DIGEST, MAX_PUBLIC, SIGNATURE};
use crate::der;
use crate::extension::ECDSA_SHA256;

/// Writes a signature with its algorithm.
pub(crate) fn write(writer: &mut Writer<'_>, signature: &[u8; SIGNATURE]) -> Result<(), Full> {
    writer.number(ECDSA_SHA256.into(), 2)?;
    writer.vector(2, |writer| der::write_signature(writer, signature))
}

/// Reads a signature, which ends a message, and checks it.
///
/// # Errors
/// The alert for the peer.
pub(crate) fn verify<C: Crypto>(
    mut reader: Reader<'_>,
    crypto: &mut C,
    public_key: &[u8; MAX_PUBLIC],
    digest: &[u8; DIGEST],
) -> Result<(), u8> {
    let (algorithm, signature) = (reader.u16(), reader.vector(2));
    let signature = signature.filter(|_| reader.is_empty()).ok_or(alert::DECODE_ERROR)?;
    if algorithm != Some(ECDSA_SHA256) {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    let signature = der::read_signature(signature).ok_or(alert::DECRYPT_ERROR)?;
    crypto.verify(public_key, digest, &signature).map_err(|_| alert::DECRYPT_ERROR)
}
