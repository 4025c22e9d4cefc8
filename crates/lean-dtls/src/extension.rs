//! Extensions of hellos, as both versions have them: their numbers (the IANA registry of TLS ExtensionType Values), how one is read and
//! written.

use crate::codec::{Full, Reader, Writer};

pub(crate) const MAX_FRAGMENT_LENGTH: u16 = 1;
pub(crate) const SUPPORTED_GROUPS: u16 = 10;
pub(crate) const EC_POINT_FORMATS: u16 = 11;
pub(crate) const SIGNATURE_ALGORITHMS: u16 = 13;
pub(crate) const HEARTBEAT: u16 = 15;
pub(crate) const CLIENT_CERTIFICATE_TYPE: u16 = 19;
pub(crate) const SERVER_CERTIFICATE_TYPE: u16 = 20;
pub(crate) const EXTENDED_MASTER_SECRET: u16 = 23;
pub(crate) const RECORD_SIZE_LIMIT: u16 = 28;
pub(crate) const SESSION_TICKET: u16 = 35;
pub(crate) const PRE_SHARED_KEY: u16 = 41;
pub(crate) const SUPPORTED_VERSIONS: u16 = 43;
pub(crate) const COOKIE: u16 = 44;
pub(crate) const PSK_KEY_EXCHANGE_MODES: u16 = 45;
pub(crate) const KEY_SHARE: u16 = 51;
pub(crate) const CONNECTION_ID: u16 = 54;
pub(crate) const RENEGOTIATION_INFO: u16 = 0xff01;

/// ecdsa_secp256r1_sha256, the only signatures of this engine (RFC 5246, section 7.4.1.4.1; RFC 8446, section 4.2.3).
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

/// The extensions of a message, as they are on the wire. Each version reads them in its own way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extensions<'a>(pub(crate) &'a [u8]);

impl<'a> Extensions<'a> {
    /// The content of an extension, if it is there.
    pub(crate) fn find(self, number: u16) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| *found == number).map(|(_, content)| content)
    }

    /// The content of an extension, if it is there, and this end has the feature for it.
    #[inline(always)] // without the feature, nothing is left of what would be done with it
    pub(crate) fn find_if(self, has_feature: bool, number: u16) -> Option<&'a [u8]> {
        if has_feature { self.find(number) } else { None }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = Reader::new(self.0);
        core::iter::from_fn(move || next(&mut rest))
    }

    /// True if an extension is there that has one content only. `None` if it has another.
    pub(crate) fn is_there(self, number: u16, content: &[u8]) -> Option<bool> {
        match self.find(number) {
            None => Some(false),
            Some(found) => (found == content).then_some(true),
        }
    }

    pub(crate) fn last(self) -> Option<u16> {
        self.iter().last().map(|(number, _)| number)
    }

    /// True if a list of numbers of two octets, in a vector, has this number.
    pub(crate) fn lists(self, extension: u16, prefix: usize, number: u16) -> bool {
        let list = self.find(extension).and_then(|content| Reader::new(content).vector(prefix));
        list.is_some_and(|list| list.chunks_exact(2).any(|listed| listed == number.to_be_bytes()))
    }
}
