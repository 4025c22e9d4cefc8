//! DTLS 1.2 records and handshake headers: a checked view over a datagram.
//!
//! Nothing here panics, whatever the octets are, and nothing is copied. Handshake headers can be seen
//! only in records of epoch 0: everything after ChangeCipherSpec is encrypted.

/// Octets of a record's header without a connection ID (RFC 6347 section 4.1).
pub const RECORD_HEADER: usize = 13;

/// Octets of a handshake message's header (RFC 6347 section 4.2.2).
pub const HANDSHAKE_HEADER: usize = 12;

/// Why octets are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A header or the content that it announces goes beyond the end.
    #[error("truncated: {needed} octets needed, {found} left")]
    Truncated {
        /// Octets that the header needs, or header and content.
        needed: usize,
        /// Octets that there are.
        found: usize,
    },
    /// A fragment that lies outside of its message.
    #[error("a fragment of {length} octets at {offset} of a message of {message}")]
    FragmentOutside {
        /// fragment_offset.
        offset: u32,
        /// fragment_length.
        length: u32,
        /// The message's length.
        message: u32,
    },
}

/// What a record carries (RFC 6347 section 4.1, RFC 9146 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentType {
    /// The next records of this sender are protected by new keys.
    ChangeCipherSpec,
    /// An alert.
    Alert,
    /// Handshake messages or fragments of them.
    Handshake,
    /// Application data.
    ApplicationData,
    /// A protected record with a connection ID, whatever is inside.
    Tls12Cid,
    /// Any other.
    Other(u8),
}

impl From<u8> for ContentType {
    fn from(octet: u8) -> Self {
        match octet {
            20 => Self::ChangeCipherSpec,
            21 => Self::Alert,
            22 => Self::Handshake,
            23 => Self::ApplicationData,
            25 => Self::Tls12Cid,
            other => Self::Other(other),
        }
    }
}

/// A handshake message's type (RFC 5246 section 7.4, RFC 6347 section 4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MessageType {
    HelloRequest,
    ClientHello,
    ServerHello,
    HelloVerifyRequest,
    NewSessionTicket,
    Certificate,
    ServerKeyExchange,
    CertificateRequest,
    ServerHelloDone,
    CertificateVerify,
    ClientKeyExchange,
    Finished,
    /// Any other.
    Other(u8),
}

impl From<u8> for MessageType {
    fn from(octet: u8) -> Self {
        match octet {
            0 => Self::HelloRequest,
            1 => Self::ClientHello,
            2 => Self::ServerHello,
            3 => Self::HelloVerifyRequest,
            4 => Self::NewSessionTicket,
            11 => Self::Certificate,
            12 => Self::ServerKeyExchange,
            13 => Self::CertificateRequest,
            14 => Self::ServerHelloDone,
            15 => Self::CertificateVerify,
            16 => Self::ClientKeyExchange,
            20 => Self::Finished,
            other => Self::Other(other),
        }
    }
}

/// The records of a datagram. Ends after the first error.
///
/// A record with a connection ID does not say how long the ID is: its receiver knows.
pub fn records(datagram: &[u8], connection_id_length: u8) -> Records<'_> {
    Records { rest: datagram, connection_id_length: connection_id_length.into() }
}

/// The iterator of [`records`].
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    connection_id_length: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = Record::parse(&mut self.rest, self.connection_id_length);
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it carries; of a protected record with a connection ID, not what is inside.
    pub content_type: ContentType,
    /// The version octets: `fe fd` for DTLS 1.2, `fe ff` for 1.0 (which first messages may say).
    pub version: [u8; 2],
    /// Counts the changes of keys: 0 is not protected.
    pub epoch: u16,
    /// Counts the records of an epoch, 48 bits.
    pub sequence: u64,
    /// The receiver's connection ID; empty in all but [`ContentType::Tls12Cid`] records.
    pub connection_id: &'a [u8],
    /// The content: encrypted where the record is protected.
    pub fragment: &'a [u8],
}

impl<'a> Record<'a> {
    fn parse(rest: &mut &'a [u8], connection_id_length: usize) -> Result<Self, WireError> {
        let mut octets = *rest;
        let start: &[u8; 11] = take_array(&mut octets)?;
        let [content_type, major, minor, epoch @ ..] = start;
        let content_type = ContentType::from(*content_type);
        let connection_id = match content_type {
            ContentType::Tls12Cid => take(&mut octets, connection_id_length)?,
            _ => &[],
        };
        let length = u16::from_be_bytes(*take_array(&mut octets)?);
        let fragment = take(&mut octets, length.into())?;
        *rest = octets;
        // Two octets of epoch and six of sequence number.
        let epoch_and_sequence = u64::from_be_bytes(*epoch);
        Ok(Self {
            content_type,
            version: [*major, *minor],
            epoch: (epoch_and_sequence >> 48) as u16,
            sequence: epoch_and_sequence & 0xFFFF_FFFF_FFFF,
            connection_id,
            fragment,
        })
    }

    /// Whether its content is encrypted.
    pub fn is_protected(&self) -> bool {
        self.epoch > 0
    }

    /// The handshake messages (or fragments of messages) in it, as far as they can be seen: none in a
    /// protected record or one of another type. Ends after the first error.
    pub fn messages(&self) -> Messages<'a> {
        let visible = self.content_type == ContentType::Handshake && !self.is_protected();
        Messages { rest: if visible { self.fragment } else { &[] } }
    }
}

/// The iterator of [`Record::messages`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let message = Message::parse(&mut self.rest);
        if message.is_err() {
            self.rest = &[];
        }
        Some(message)
    }
}

/// A handshake message or a fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its type.
    pub message_type: MessageType,
    /// The length of the whole message without its header, 24 bits.
    pub length: u32,
    /// Counts the messages of its sender; a message that is sent again keeps its number.
    pub message_seq: u16,
    /// Where in the message the fragment begins.
    pub fragment_offset: u32,
    /// The fragment.
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    fn parse(rest: &mut &'a [u8]) -> Result<Self, WireError> {
        let mut octets = *rest;
        let header: &[u8; HANDSHAKE_HEADER] = take_array(&mut octets)?;
        let [message_type, l0, l1, l2, s0, s1, o0, o1, o2, f0, f1, f2] = *header;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        let fragment_offset = u32::from_be_bytes([0, o0, o1, o2]);
        let fragment_length = u32::from_be_bytes([0, f0, f1, f2]);
        // Three octets each: the sum cannot overflow.
        if fragment_offset + fragment_length > length {
            return Err(WireError::FragmentOutside {
                offset: fragment_offset,
                length: fragment_length,
                message: length,
            });
        }
        let body = take(&mut octets, fragment_length as usize)?;
        *rest = octets;
        Ok(Self {
            message_type: MessageType::from(message_type),
            length,
            message_seq: u16::from_be_bytes([s0, s1]),
            fragment_offset,
            body,
        })
    }

    /// Whether it is the message in one piece.
    pub fn is_whole(&self) -> bool {
        self.body.len() == self.length as usize
    }
}

fn take<'a>(octets: &mut &'a [u8], count: usize) -> Result<&'a [u8], WireError> {
    let (taken, rest) =
        octets.split_at_checked(count).ok_or(WireError::Truncated { needed: count, found: octets.len() })?;
    *octets = rest;
    Ok(taken)
}

fn take_array<'a, const N: usize>(octets: &mut &'a [u8]) -> Result<&'a [u8; N], WireError> {
    let (taken, rest) = octets.split_first_chunk().ok_or(WireError::Truncated { needed: N, found: octets.len() })?;
    *octets = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A HelloVerifyRequest as RFC 6347 sections 4.1, 4.2.1 and 4.2.2 lay it out, by hand, with a
    /// ChangeCipherSpec behind it.
    const DATAGRAM: &[u8] = &[
        22, 0xfe, 0xff, 0, 0, 0, 0, 0, 0, 0, 7, 0, 17, // record
        3, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, // message
        0xfe, 0xff, 2, 0xab, 0xcd, // server_version, cookie
        20, 0xfe, 0xfd, 0, 1, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0, 1, 1,
    ];

    #[test]
    fn a_datagram_with_two_records() {
        let records: Vec<_> = records(DATAGRAM, 0).collect::<Result<_, _>>().unwrap();
        let [hello_verify, change] = records[..] else { panic!("{records:?}") };
        assert_eq!(
            (hello_verify.content_type, hello_verify.epoch, hello_verify.sequence),
            (ContentType::Handshake, 0, 7)
        );
        let messages: Vec<_> = hello_verify.messages().collect::<Result<_, _>>().unwrap();
        let [message] = messages[..] else { panic!("{messages:?}") };
        assert_eq!(
            (message.message_type, message.message_seq, message.length),
            (MessageType::HelloVerifyRequest, 0, 5)
        );
        assert!(message.is_whole());
        assert_eq!(message.body, [0xfe, 0xff, 2, 0xab, 0xcd]);
        assert_eq!((change.content_type, change.epoch), (ContentType::ChangeCipherSpec, 1));
        assert_eq!(change.sequence, 0x1234_5678_9abc);
        assert!(change.is_protected());
        assert_eq!(change.messages().count(), 0);
    }

    #[test]
    fn the_connection_id_stands_before_the_length() {
        // RFC 9146 section 4: type, version, epoch, sequence number, cid, length.
        let octets = [25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 0xc1, 0xd2, 0, 3, 9, 8, 7];
        let record = records(&octets, 2).next().unwrap().unwrap();
        assert_eq!(record.connection_id, [0xc1, 0xd2]);
        assert_eq!(record.fragment, [9, 8, 7]);
    }

    #[test]
    fn a_fragment_outside_of_its_message_is_refused() {
        let mut octets = DATAGRAM[..30].to_vec();
        octets[13 + 8] = 1; // fragment_offset
        let record = records(&octets, 0).next().unwrap().unwrap();
        let error = record.messages().next().unwrap().unwrap_err();
        assert_eq!(error, WireError::FragmentOutside { offset: 1, length: 5, message: 5 });
    }

    #[test]
    fn every_truncation_is_an_error() {
        for length in 1..30 {
            assert!(records(&DATAGRAM[..length], 0).next().unwrap().is_err(), "{length}");
        }
    }

    fn walk(octets: &[u8], connection_id_length: u8) -> usize {
        let mut seen = 0;
        for record in records(octets, connection_id_length).flatten() {
            seen += RECORD_HEADER + record.connection_id.len() + record.fragment.len();
            let messages: usize =
                record.messages().flatten().map(|message| HANDSHAKE_HEADER + message.body.len()).sum();
            assert!(messages <= record.fragment.len());
        }
        seen
    }

    proptest! {
        #[test]
        fn arbitrary_octets_never_panic(octets: Vec<u8>, connection_id_length: u8) {
            prop_assert!(walk(&octets, connection_id_length) <= octets.len());
        }

        #[test]
        fn damaged_datagrams_never_panic(at in 0..DATAGRAM.len(), octet: u8, length in 0..=DATAGRAM.len()) {
            let mut octets = DATAGRAM.to_vec();
            octets[at] = octet;
            prop_assert!(walk(&octets[..length], 0) <= length);
        }
    }
}
