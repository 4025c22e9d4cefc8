//! Records and handshake messages of DTLS 1.0 and 1.2 (RFC 6347), with and without connection IDs (RFC 9146).
//!
//! The header of a record (RFC 6347 section 4.1):
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+-------------------------------+---------------+
//! |     type      |            version            |     epoch     |
//! +---------------+-------------------------------+---------------+
//! |     epoch     |                sequence_number                |
//! +---------------+-----------------------------------------------+
//! |                sequence_number                |    length     |
//! +---------------+-------------------------------+---------------+
//! |    length     |
//! +---------------+
//! ```
//!
//! In a record with a connection ID (RFC 9146 section 4), the ID is between sequence_number and length.
//!
//! A record of the lean profile (`docs/reference/lean-profile.md`) may have a short header: one octet for its type, and the lower 16
//! bits of its sequence number. It is of epoch 1, and reaches to the end of its datagram.
//!
//! The header of a handshake message (RFC 6347 section 4.2.2):
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+-----------------------------------------------+
//! |     type      |                    length                     |
//! +---------------+---------------+-------------------------------+
//! |          message_seq          |        fragment_offset        |
//! +---------------+---------------+-------------------------------+
//! |fragment_offset|                fragment_length                |
//! +---------------+-----------------------------------------------+
//! ```
//!
//! Handshake messages can be read in records of epoch 0. From epoch 1 on, the content is encrypted.

use crate::error::WireError;
use crate::octets::{items, take, take_array, take_vector};
use crate::types::{ContentType, MessageType};

/// Octets of a record's header without a connection ID (RFC 6347 section 4.1).
pub const RECORD_HEADER: usize = 13;

/// Octets of the header of a handshake message (RFC 6347 section 4.2.2).
pub const HANDSHAKE_HEADER: usize = 12;

/// The types of records with a short header, by their first octet (`docs/reference/lean-profile.md`, "The short header").
const SHORT_HEADERS: [(u8, ContentType); 4] = [
    (28, ContentType::Alert),
    (29, ContentType::Handshake),
    (30, ContentType::ApplicationData),
    (31, ContentType::Ack),
];

/// The versions that a record may have: DTLS 1.0, also in the first messages of DTLS 1.2, and DTLS 1.2 (RFC 6347
/// sections 4.1 and 4.2.1).
const VERSIONS: [[u8; 2]; 2] = [[0xfe, 0xff], [0xfe, 0xfd]];

/// The records of a datagram. The iterator ends after the first error.
///
/// A record with a connection ID does not contain the length of the ID; the two ends have agreed on it. Give the length
/// if you know it (0 if the ID is empty). With `None`, such a record gives [`WireError::ConnectionIdLengthUnknown`].
pub fn records(
    datagram: &[u8],
    connection_id_length: Option<u8>,
) -> impl Iterator<Item = Result<Record<'_>, WireError>> {
    items(datagram, move |octets| Record::parse(octets, connection_id_length))
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The type of its content.
    pub content_type: ContentType,
    /// The version octets: `fe fd` for DTLS 1.2, `fe ff` for 1.0.
    pub version: [u8; 2],
    /// The number of key changes so far. Records of epoch 0 are not protected.
    pub epoch: u16,
    /// The number of the record within its epoch, 48 bits; the lower 16 of them if the header is short. A retransmission gets
    /// a new number.
    pub sequence_number: u64,
    /// The receiver's connection ID; empty in a record of any other type than [`ContentType::Tls12Cid`].
    pub connection_id: &'a [u8],
    /// The content; encrypted if the record is protected.
    pub fragment: &'a [u8],
}

impl<'a> Record<'a> {
    pub(crate) fn parse(octets: &mut &'a [u8], connection_id_length: Option<u8>) -> Result<Self, WireError> {
        if let Some(&(_, content_type)) = SHORT_HEADERS.iter().find(|(first, _)| octets.first() == Some(first)) {
            let &[_, upper, lower] = take_array(octets)?;
            let sequence_number = u16::from_be_bytes([upper, lower]).into();
            let (version, fragment) = ([0xfe, 0xfd], std::mem::take(octets));
            return Ok(Self { content_type, version, epoch: 1, sequence_number, connection_id: &[], fragment });
        }
        let &[content_type, major, minor, ref numbers @ ..] = take_array::<11>(octets)?;
        let version = [major, minor];
        if !VERSIONS.contains(&version) {
            return Err(WireError::NotDtls { version });
        }
        let content_type = ContentType::from(content_type);
        let connection_id = match content_type {
            ContentType::Tls12Cid => {
                let length = connection_id_length.ok_or(WireError::ConnectionIdLengthUnknown)?;
                take(octets, length.into())?
            }
            _ => &[],
        };
        let fragment = take_vector(octets)?;
        // Two octets of epoch and six of sequence number.
        let numbers = u64::from_be_bytes(*numbers);
        let (epoch, sequence_number) = ((numbers >> 48) as u16, numbers & 0xffff_ffff_ffff);
        Ok(Self { content_type, version, epoch, sequence_number, connection_id, fragment })
    }

    /// True if its content is encrypted.
    pub fn is_protected(&self) -> bool {
        self.epoch > 0
    }

    /// The fragments of handshake messages in this record. A protected record, or one of another type, has none. The
    /// iterator ends after the first error.
    pub fn fragments(&self) -> impl Iterator<Item = Result<Fragment<'a>, WireError>> + use<'a> {
        let is_readable = self.content_type == ContentType::Handshake && !self.is_protected();
        items(if is_readable { self.fragment } else { &[] }, Fragment::parse)
    }
}

/// A fragment of a handshake message, or the whole message (RFC 6347 section 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The type of the message.
    pub message_type: MessageType,
    /// The length of the whole message without its header, 24 bits.
    pub length: u32,
    /// The number of the message, by sender. A retransmission keeps it.
    pub message_seq: u16,
    /// The offset of the fragment in the message, 24 bits.
    pub fragment_offset: u32,
    /// The octets of the fragment.
    pub body: &'a [u8],
}

impl<'a> Fragment<'a> {
    fn parse(octets: &mut &'a [u8]) -> Result<Self, WireError> {
        let [message_type, l0, l1, l2, s0, s1, o0, o1, o2, f0, f1, f2] = *take_array::<HANDSHAKE_HEADER>(octets)?;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        let fragment_offset = u32::from_be_bytes([0, o0, o1, o2]);
        let fragment_length = u32::from_be_bytes([0, f0, f1, f2]);
        // Two numbers of 24 bits: the sum does not overflow.
        if fragment_offset + fragment_length > length {
            return Err(WireError::FragmentOutside {
                offset: fragment_offset,
                length: fragment_length,
                message: length,
            });
        }
        Ok(Self {
            message_type: MessageType::from(message_type),
            length,
            message_seq: u16::from_be_bytes([s0, s1]),
            fragment_offset,
            body: take(octets, fragment_length as usize)?,
        })
    }

    /// The offset of the first octet after the fragment.
    pub fn end(&self) -> u32 {
        self.fragment_offset + self.body.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand from RFC 6347 sections 4.1, 4.2.1 and 4.2.2: a HelloVerifyRequest, then a ChangeCipherSpec.
    const DATAGRAM: &[u8] = &[
        22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 7, 0, 17, // record
        3, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, // message
        0xfe, 0xff, 2, 0xab, 0xcd, // server_version, cookie
        20, 0xfe, 0xfd, 0, 1, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0, 1, 1,
    ];

    #[test]
    fn a_datagram_with_two_records() {
        let records: Vec<_> = records(DATAGRAM, Some(0)).collect::<Result<_, _>>().unwrap();
        let [hello_verify, change] = records[..] else { panic!("{records:?}") };
        assert_eq!(
            (hello_verify.content_type, hello_verify.epoch, hello_verify.sequence_number),
            (ContentType::Handshake, 0, 7)
        );
        let fragments: Vec<_> = hello_verify.fragments().collect::<Result<_, _>>().unwrap();
        let [message] = fragments[..] else { panic!("{fragments:?}") };
        assert_eq!((message.message_type, message.message_seq), (MessageType::HelloVerifyRequest, 0));
        assert_eq!((message.fragment_offset, message.end(), message.length), (0, 5, 5));
        assert_eq!(message.body, [0xfe, 0xff, 2, 0xab, 0xcd]);
        assert_eq!((change.content_type, change.epoch), (ContentType::ChangeCipherSpec, 1));
        assert_eq!(change.sequence_number, 0x1234_5678_9abc);
        assert!(change.is_protected());
        assert_eq!(change.fragments().count(), 0);
    }

    /// `docs/reference/lean-profile.md`: the record after one with a long header, up to the end of the datagram.
    #[test]
    fn a_short_header_has_a_type_and_the_end_of_a_number() {
        let octets = [DATAGRAM, &[29, 0xab, 0xcd, 22, 9, 8]].concat();
        let record = records(&octets, Some(0)).last().unwrap().unwrap();
        assert_eq!((record.content_type, record.epoch, record.sequence_number), (ContentType::Handshake, 1, 0xabcd));
        assert_eq!((record.fragment, record.is_protected()), (&[22, 9, 8][..], true));
        let types = [28, 30, 31].map(|first| records(&[first, 0, 1], None).next().unwrap().unwrap().content_type);
        assert_eq!(types, [ContentType::Alert, ContentType::ApplicationData, ContentType::Ack]);
        assert!(records(&[28, 0], None).next().unwrap().is_err());
    }

    #[test]
    fn the_connection_id_comes_before_the_length() {
        // RFC 9146 section 4: type, version, epoch, sequence number, cid, length.
        let octets = [25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 0xc1, 0xd2, 0, 3, 9, 8, 7];
        let record = records(&octets, Some(2)).next().unwrap().unwrap();
        assert_eq!(record.connection_id, [0xc1, 0xd2]);
        assert_eq!(record.fragment, [9, 8, 7]);
        let mut unknown = records(&octets, None);
        assert_eq!(unknown.next(), Some(Err(WireError::ConnectionIdLengthUnknown)));
        assert_eq!(unknown.next(), None);
    }

    #[test]
    fn a_fragment_outside_its_message_is_refused() {
        let mut octets = DATAGRAM[..30].to_vec();
        octets[13 + 8] = 1; // fragment_offset
        let record = records(&octets, None).next().unwrap().unwrap();
        let error = record.fragments().next().unwrap().unwrap_err();
        assert_eq!(error, WireError::FragmentOutside { offset: 1, length: 5, message: 5 });
    }

    #[test]
    fn other_protocols_are_refused() {
        let with_version = |version: [u8; 2]| {
            let octets = [&[22], &version[..], &DATAGRAM[3..]].concat();
            records(&octets, None).next().unwrap().err()
        };
        assert_eq!(with_version([3, 3]), Some(WireError::NotDtls { version: [3, 3] }));
        assert_eq!(with_version([0xfe, 0xfc]), Some(WireError::NotDtls { version: [0xfe, 0xfc] }));
        assert_eq!(with_version([0xfe, 0xfd]), None);
    }

    #[test]
    fn every_truncation_is_an_error() {
        for length in 1..30 {
            assert!(records(&DATAGRAM[..length], None).next().unwrap().is_err(), "{length}");
        }
    }
}
