//! Records of every version of DTLS, with the header of DTLS 1.2 ([`dtls`]) or the unified header of DTLS 1.3
//! (RFC 9147 section 4):
//!
//! ```text
//!  0 1 2 3 4 5 6 7
//! +-+-+-+-+-+-+-+-+
//! |0|0|1|C|S|L|E E|   C: a connection ID follows; S: 16 bits of sequence number, not 8; L: a length follows;
//! +-+-+-+-+-+-+-+-+   E: the lower two bits of the epoch
//! | connection ID |   of the length that the two ends have agreed on
//! +---------------+
//! | number (8/16) |   encrypted
//! +---------------+
//! |  length (16)  |   without it, the record ends with its datagram
//! +---------------+
//! ```
//!
//! In DTLS 1.3, records of epoch 0 have the header of DTLS 1.2. All others have the unified header, and their type is
//! encrypted.

use crate::dtls;
use crate::error::WireError;
use crate::octets::{take, take_array, take_vector};

/// The epoch of the keys of the handshake (RFC 9147 section 6.1).
pub const HANDSHAKE_EPOCH: u16 = 2;

/// The first epoch of the keys of application data (RFC 9147 section 6.1).
pub const APPLICATION_EPOCH: u16 = 3;

const CONNECTION_ID: u8 = 0b1_0000;
const LONG_NUMBER: u8 = 0b1000;
const LENGTH: u8 = 0b100;
const EPOCH: u8 = 0b11;

/// The lower two bits of the epoch of a record that begins with this octet; `None` if it begins no unified header.
pub fn epoch_bits(first: u8) -> Option<u16> {
    (first >> 5 == 1).then_some((first & EPOCH).into())
}

/// The records of a datagram. The iterator ends after the first error. For `connection_id_length` see
/// [`dtls::records`].
pub fn records(datagram: &[u8], connection_id_length: Option<u8>) -> Records<'_> {
    Records { rest: datagram, connection_id_length, has_failed: false }
}

/// The iterator of [`records`].
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    connection_id_length: Option<u8>,
    has_failed: bool,
}

impl<'a> Records<'a> {
    /// The octets that are not read yet; after an error, they begin with the record that could not be read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let &first = self.rest.first().filter(|_| !self.has_failed)?;
        let mut rest = self.rest;
        let record = match epoch_bits(first) {
            Some(epoch_bits) => {
                Ciphertext::parse(&mut rest, epoch_bits, self.connection_id_length).map(Record::Unified)
            }
            None => dtls::Record::parse(&mut rest, self.connection_id_length).map(Record::Long),
        };
        match record {
            Ok(_) => self.rest = rest,
            Err(_) => self.has_failed = true,
        }
        Some(record)
    }
}

/// A record, by the form of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Of DTLS 1.2, or of epoch 0 of DTLS 1.3.
    Long(dtls::Record<'a>),
    /// Protected, of DTLS 1.3.
    Unified(Ciphertext<'a>),
}

/// A protected record of DTLS 1.3 (`DTLSCiphertext`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ciphertext<'a> {
    /// The lower two bits of its epoch.
    pub epoch_bits: u16,
    /// The receiver's connection ID; empty if there is none.
    pub connection_id: &'a [u8],
    /// The end of its sequence number, encrypted: one octet or two.
    pub sequence_number: &'a [u8],
    /// The content, its type and padding, encrypted, with the authentication tag.
    pub fragment: &'a [u8],
}

impl<'a> Ciphertext<'a> {
    fn parse(octets: &mut &'a [u8], epoch_bits: u16, id_length: Option<u8>) -> Result<Self, WireError> {
        let &[first] = take_array(octets)?;
        let connection_id = match first & CONNECTION_ID {
            0 => &[],
            _ => take(octets, id_length.ok_or(WireError::ConnectionIdLengthUnknown)?.into())?,
        };
        let sequence_number = take(octets, if first & LONG_NUMBER == 0 { 1 } else { 2 })?;
        let fragment = match first & LENGTH {
            0 => std::mem::take(octets),
            _ => take_vector(octets)?,
        };
        Ok(Self { epoch_bits, connection_id, sequence_number, fragment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ContentType;

    /// By hand from RFC 9147 section 4: an alert of epoch 0; a record with 16 bits of number and a length; one with 8 bits
    /// and without a length.
    const DATAGRAM: &[u8] = &[
        21,
        0xfe,
        0xfd,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        7,
        0,
        2,
        2,
        40, // the alert
        0b0010_1110,
        0xab,
        0xcd,
        0,
        3,
        9,
        8,
        7, // epoch 2
        0b0010_0011,
        0xef,
        6,
        5, // epoch 3
    ];

    #[test]
    fn headers_of_both_forms_in_one_datagram() {
        let read: Vec<_> = records(DATAGRAM, None).collect::<Result<_, _>>().unwrap();
        let [Record::Long(alert), Record::Unified(second), Record::Unified(third)] = read[..] else {
            panic!("{read:?}")
        };
        assert_eq!((alert.content_type, alert.epoch, alert.fragment), (ContentType::Alert, 0, &[2, 40][..]));
        let expected = |epoch_bits, sequence_number, fragment| Ciphertext {
            epoch_bits,
            connection_id: &[],
            sequence_number,
            fragment,
        };
        assert_eq!(second, expected(HANDSHAKE_EPOCH, &[0xab, 0xcd], &[9, 8, 7]));
        assert_eq!(third, expected(APPLICATION_EPOCH, &[0xef], &[6, 5]));
    }

    #[test]
    fn the_connection_id_comes_before_the_number() {
        let octets = [0b0011_0110, 0xc1, 0xd2, 0xab, 0, 1, 9];
        let Some(Ok(Record::Unified(record))) = records(&octets, Some(2)).next() else { panic!() };
        assert_eq!((record.connection_id, record.sequence_number), (&[0xc1, 0xd2][..], &[0xab][..]));
        assert_eq!((record.epoch_bits, record.fragment), (2, &[9][..]));
        let mut unknown = records(&octets, None);
        assert_eq!(unknown.next(), Some(Err(WireError::ConnectionIdLengthUnknown)));
        assert_eq!((unknown.next(), unknown.rest()), (None, &octets[..]));
        assert_eq!(epoch_bits(octets[0]), Some(2));
    }

    #[test]
    fn only_three_bits_make_a_unified_header() {
        let unified = (0..=255).filter(|first| epoch_bits(*first).is_some());
        assert_eq!(unified.collect::<Vec<u8>>(), (32..64).collect::<Vec<u8>>());
    }

    #[test]
    fn every_truncation_is_an_error() {
        for length in 16..23 {
            assert!(records(&DATAGRAM[..length], None).nth(1).unwrap().is_err(), "{length}");
        }
        assert!(records(&DATAGRAM[23..24], None).next().unwrap().is_err());
    }
}
