//! Credentials, and who has them (section 3.5).

use std::fmt;

use lakers::IdCred;

use super::Error;
use super::crypto::Scalar;
use super::error::LONGEST_CREDENTIAL;
use crate::cbor::Reader;

/// A CBOR number below -24 takes two octets: this one and another (RFC 8949, section 3).
const LONG_NEGATIVE: u8 = 0x38;

/// A CWT Claims Set (CCS) with a public key of P-256.
#[derive(Clone, Copy, PartialEq)]
pub struct Credential(pub(super) lakers::Credential);

impl Credential {
    /// Reads a CCS: a map with `cnf`, which is a COSE_Key with the x coordinate, and with `kid` if it is to be sent by reference.
    /// At most `sub` is beside it.
    ///
    /// # Errors
    /// [`Error::Credential`].
    pub fn ccs(octets: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::strict(octets);
        let is_whole = reader.item().is_some() && reader.is_empty();
        // `lakers` subtracts 0x20 from the second octet of such a number. No key of a COSE_Key of P-256 is one.
        if !is_whole || octets.len() > LONGEST_CREDENTIAL || is_key_long(octets) {
            return Err(Error::Credential);
        }
        lakers::Credential::parse_ccs(octets).map(Self).map_err(|_| Error::Credential)
    }

    /// Its octets.
    pub fn octets(&self) -> &[u8] {
        self.0.bytes.as_slice()
    }

    /// Its `kid`.
    pub fn kid(&self) -> Option<&[u8]> {
        self.0.kid.as_ref().map(lakers::EdhocBuffer::as_slice)
    }

    /// The part of the credential in a message.
    pub(super) fn id(&self, transfer: Transfer) -> Result<IdCred, Error> {
        match transfer {
            Transfer::Reference => Ok(self.0.by_kid()?),
            Transfer::Value => Ok(self.0.by_value()?),
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Credential").field(&self.octets()).finish()
    }
}

/// True if a key of the COSE_Key is such a number: `lakers` reads its keys as i8, one after the other.
fn is_key_long(octets: &[u8]) -> bool {
    fn pairs(reader: &mut Reader<'_>, depth: u8) -> bool {
        let Some(items) = reader.map() else { return false };
        (0..items).any(|_| {
            let is_long = depth == 2 && reader.rest().first() == Some(&LONG_NEGATIVE);
            let Some(_key) = reader.item() else { return true };
            let mut value = *reader;
            let Some(_) = reader.item() else { return true };
            is_long || (depth < 2 && pairs(&mut value, depth + 1))
        })
    }
    pairs(&mut Reader::strict(octets), 0)
}

/// The form in which an end sends its credential (section 3.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Its `kid`. The peer has the credential.
    Reference,
    /// All of it. It has at most 105 octets, or 109 of an initiator, because the context of a MAC has it twice in 255 octets.
    Value,
}

impl From<Transfer> for lakers::CredentialTransfer {
    fn from(transfer: Transfer) -> Self {
        match transfer {
            Transfer::Reference => Self::ByReference,
            Transfer::Value => Self::ByValue,
        }
    }
}

/// Who an end is.
#[derive(Clone)]
pub struct Identity {
    /// Its credential.
    pub credential: Credential,
    /// The private key of its credential.
    pub private: Scalar,
    /// The form in which it sends its credential.
    pub transfer: Transfer,
}

/// The private key is not printed.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { credential, private: _, transfer } = self;
        f.debug_struct("Identity").field("credential", credential).field("transfer", transfer).finish_non_exhaustive()
    }
}

/// The one of these credentials that the peer has named or sent. A `kid` may be that of several: the first one counts.
pub(super) fn find(known: &[Credential], id: IdCred) -> Result<Credential, Error> {
    let is_it = |credential: &&Credential| lakers::credential_check_or_fetch(Some(credential.0), id).is_ok();
    known.iter().find(is_it).copied().ok_or(Error::UnknownCredential)
}

/// A connection identifier (section 3.3): 0 to 7 octets, because it becomes the ID of an end in OSCORE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId(pub(super) lakers::ConnId);

impl ConnectionId {
    /// The most octets.
    pub const LONGEST: usize = 7;

    /// Of these octets. Those of one octet from 0x00 to 0x17 and from 0x20 to 0x37 take one octet in a message, all others one more.
    ///
    /// # Errors
    /// [`Error::IdTooLong`].
    pub fn new(octets: &[u8]) -> Result<Self, Error> {
        let id = Some(octets).filter(|octets| octets.len() <= Self::LONGEST).and_then(lakers::ConnId::from_slice);
        id.map(Self).ok_or(Error::IdTooLong(octets.len()))
    }

    /// Its octets.
    pub fn octets(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// As it is in a message (section 3.3.2).
    pub fn encoded(&self) -> &[u8] {
        self.0.as_cbor()
    }

    /// Reads one of a message.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut octets = *reader;
        let encoded = reader.item().ok_or(Error::Malformed)?;
        let id = Self::new(octets.octets().unwrap_or(encoded)).map_err(|_| Error::TooLong)?;
        // Other types, and strings that are to be numbers, are no connection identifiers.
        if id.encoded() == encoded { Ok(id) } else { Err(Error::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::octets;

    use super::*;

    /// Section 3.3.2; RFC 9529, section 4.1.2.
    #[test]
    fn connection_identifiers_are_those_of_the_standard() {
        for (id, encoded) in [
            ("", "40"),
            ("00", "00"),
            ("17", "17"),
            ("18", "4118"),
            ("20", "20"),
            ("37", "37"),
            ("38", "4138"),
            ("ff", "41ff"),
            ("0102", "420102"),
            ("01020304050607", "4701020304050607"),
        ] {
            let id = ConnectionId::new(&octets(id)).unwrap();
            assert_eq!(id.encoded(), octets(encoded));
            assert_eq!(ConnectionId::read(&mut Reader::strict(&octets(encoded))), Ok(id));
        }
        for refused in ["", "41", "410e", "4120", "1818", "3818", "610e", "80", "f5", "5800"] {
            assert_eq!(ConnectionId::read(&mut Reader::strict(&octets(refused))), Err(Error::Malformed), "{refused}");
        }
        assert_eq!(ConnectionId::read(&mut Reader::strict(&octets("480102030405060708"))), Err(Error::TooLong));
        assert_eq!(ConnectionId::new(&[0; 8]), Err(Error::IdTooLong(8)));
    }
}
