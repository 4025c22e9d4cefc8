//! Extensions of hellos, as both versions have them: their numbers (the IANA registry of TLS ExtensionType Values), how one is read and
//! written.

use crate::codec::{Full, Reader, Writer};

#[cfg(any(feature = "ecdhe", feature = "dtls13"))]
pub(crate) const SUPPORTED_GROUPS: u16 = 10;
#[cfg(feature = "certificates")]
pub(crate) const SIGNATURE_ALGORITHMS: u16 = 13;
#[cfg(feature = "certificates")]
pub(crate) const CLIENT_CERTIFICATE_TYPE: u16 = 19;
#[cfg(feature = "certificates")]
pub(crate) const SERVER_CERTIFICATE_TYPE: u16 = 20;
#[cfg(feature = "dtls13")]
pub(crate) const PRE_SHARED_KEY: u16 = 41;
#[cfg(feature = "dtls13")]
pub(crate) const SUPPORTED_VERSIONS: u16 = 43;
#[cfg(feature = "dtls13")]
pub(crate) const COOKIE: u16 = 44;
#[cfg(feature = "dtls13")]
pub(crate) const PSK_KEY_EXCHANGE_MODES: u16 = 45;
#[cfg(feature = "dtls13")]
pub(crate) const KEY_SHARE: u16 = 51;
#[cfg(any(feature = "connection-id", feature = "dtls13"))]
pub(crate) const CONNECTION_ID: u16 = 54;

/// ecdsa_secp256r1_sha256, the only signatures of this engine (RFC 5246, section 7.4.1.4.1; RFC 8446, section 4.2.3).
#[cfg(feature = "certificates")]
pub(crate) const ECDSA_SHA256: u16 = 0x0403;

/// The number and the content of the next extension.
pub(crate) fn next<'a>(reader: &mut Reader<'a>) -> Option<(u16, &'a [u8])> {
    Some((reader.u16()?, reader.vector(2)?))
}

/// Writes an extension.
pub(crate) fn write(
    writer: &mut Writer<'_>,
    number: u16,
    content: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
) -> Result<(), Full> {
    writer.number(number.into(), 2)?;
    writer.vector(2, content)
}
