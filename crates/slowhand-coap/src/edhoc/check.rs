//! Checks before `lakers` reads a message: it panics at some lengths and numbers, and does not look at others.

use lakers::{EADItem, MAX_BUFFER_LEN, MAX_MESSAGE_SIZE_LEN, SHA256_DIGEST_LEN};

use super::credential::ConnectionId;
use super::error::{SUITE, suites};
use super::{Error, ErrorMessage};
use crate::cbor::Reader;

/// The method that `lakers` has: static Diffie-Hellman keys of both ends (section 3.2).
const METHOD: i64 = 3;
/// The most cipher suites that `lakers` reads.
pub(super) const SUITES: usize = lakers::MAX_SUITES_LEN;
/// Octets of the longest context of a MAC: `lakers` writes its length in one octet.
const CONTEXT: usize = u8::MAX as usize;
/// Octets of a transcript hash as CBOR.
const HASH: usize = 2 + SHA256_DIGEST_LEN;

/// Checks message_1 (section 5.2.3), and gives C_I.
pub(super) fn message_1(octets: &[u8]) -> Result<ConnectionId, Error> {
    fits(octets)?;
    let mut reader = Reader::strict(octets);
    let method = reader.integer().ok_or(Error::Malformed)?;
    let suites = suites(&mut reader).ok_or(Error::Malformed)?;
    if method != METHOD {
        return Err(Error::Method(method));
    }
    let (selected, preferred) = suites.split_last().ok_or(Error::Malformed)?;
    if *selected != SUITE.into() || preferred.contains(selected) {
        return Err(Error::Suite);
    }
    if suites.len() > SUITES {
        return Err(Error::TooLong);
    }
    let public = reader.octets().ok_or(Error::Malformed)?;
    if public.len() != lakers::P256_ELEM_LEN {
        return Err(Error::Malformed);
    }
    let c_i = ConnectionId::read(&mut reader)?;
    external_data(reader)?;
    Ok(c_i)
}

/// Checks that message_2, 3 or 4 is one string of octets, and gives it. It may also be an error message in its place.
pub(super) fn string(octets: &[u8]) -> Result<&[u8], Error> {
    if let Some(message) = ErrorMessage::read(octets) {
        return Err(Error::Peer(message));
    }
    fits(octets)?;
    let mut reader = Reader::strict(octets);
    let content = reader.octets().ok_or(Error::Malformed)?;
    if reader.is_empty() { Ok(content) } else { Err(Error::Malformed) }
}

/// Checks PLAINTEXT_2 (section 5.3.2), and gives C_R.
pub(super) fn plaintext_2(octets: &[u8]) -> Result<ConnectionId, Error> {
    let mut reader = Reader::strict(octets);
    let c_r = ConnectionId::read(&mut reader)?;
    plaintext_3(reader.rest())?;
    Ok(c_r)
}

/// Checks PLAINTEXT_3 (section 5.4.2).
pub(super) fn plaintext_3(octets: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::strict(octets);
    let _id = reader.item().ok_or(Error::Malformed)?;
    let mac = reader.octets().ok_or(Error::Malformed)?;
    if mac.len() != lakers::MAC_LENGTH {
        return Err(Error::Malformed);
    }
    external_data(reader)
}

/// Checks PLAINTEXT_4 (section 5.5.2).
pub(super) fn plaintext_4(octets: &[u8]) -> Result<(), Error> {
    external_data(Reader::strict(octets))
}

/// Checks external authorization data (section 3.8): nobody here understands any, so none may be critical.
fn external_data(mut reader: Reader<'_>) -> Result<(), Error> {
    while !reader.is_empty() {
        let label = reader.integer().ok_or(Error::Malformed)?;
        if label < 0 {
            return Err(Error::CriticalEad(label.saturating_neg()));
        }
        reader.optional(Reader::octets); // a value is a string of octets, and a label is none
    }
    Ok(())
}

/// Checks that `lakers` has room for what it computes of a plaintext with this credential: the context of a MAC (sections 5.3.2 and
/// 5.4.2), and the input of the next transcript hash (sections 5.4.2 and 5.5.2).
pub(super) fn room(c_r: &[u8], id: &[u8], credential: &[u8], plaintext: usize, external: usize) -> Result<(), Error> {
    let context = c_r.len() + id.len() + HASH + credential.len() + external;
    let hashed = HASH + plaintext + credential.len();
    if context <= CONTEXT && hashed <= MAX_BUFFER_LEN { Ok(()) } else { Err(Error::TooLong) }
}

/// Octets of external authorization data: its label takes one.
pub(super) fn length(external: &Option<EADItem>) -> usize {
    external.as_ref().map_or(0, |item| 1 + item.value.map_or(0, |value| value.len))
}

fn fits(octets: &[u8]) -> Result<(), Error> {
    if octets.len() <= MAX_MESSAGE_SIZE_LEN { Ok(()) } else { Err(Error::TooLong) }
}
