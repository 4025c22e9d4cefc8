//! Records and handshake messages of TLS (RFC 5246 sections 6.2.1 and 7.4, RFC 8446 sections 5.1 and 4).
//!
//! ```text
//! record:    | type (8) | version (16) | length (16) |
//! handshake: | type (8) | length (24) |
//! ```
//! A TLS record does not show if it is protected. Use [`messages`] only where you know that the records are not
//! protected: before ChangeCipherSpec in TLS 1.2, and before the first record of type application_data in TLS 1.3.

use crate::error::WireError;
use crate::octets::{items, take, take_array, take_vector};
use crate::types::{ContentType, MessageType};

/// Octets of a record's header (RFC 5246 section 6.2.1).
pub const RECORD_HEADER: usize = 5;

/// Octets of the header of a handshake message (RFC 5246 section 7.4).
pub const HANDSHAKE_HEADER: usize = 4;

/// The records of a stream. `stream` must begin with a record. The iterator ends after the first error.
///
/// If the last record is incomplete, it gives [`WireError::Truncated`].
pub fn records(stream: &[u8]) -> impl Iterator<Item = Result<Record<'_>, WireError>> {
    items(stream, Record::parse)
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the record's content.
    pub content_type: ContentType,
    /// The version octets.
    pub version: [u8; 2],
    /// Octets of the content.
    pub length: u16,
}

impl Header {
    /// Reads it.
    ///
    /// # Errors
    /// [`WireError::NotTls`].
    pub fn parse(&[content_type, major, minor, high, low]: &[u8; RECORD_HEADER]) -> Result<Self, WireError> {
        let version = [major, minor];
        if major != 3 {
            return Err(WireError::NotTls { version });
        }
        Ok(Self { content_type: ContentType::from(content_type), version, length: u16::from_be_bytes([high, low]) })
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The type of its content. A protected record of TLS 1.3 always has
    /// [`ApplicationData`](ContentType::ApplicationData).
    pub content_type: ContentType,
    /// The version octets: `03 03` for TLS 1.2 and, after the first ClientHello, TLS 1.3 (RFC 8446 section 5.1).
    pub version: [u8; 2],
    /// The content; encrypted if the record is protected.
    pub fragment: &'a [u8],
}

impl<'a> Record<'a> {
    fn parse(octets: &mut &'a [u8]) -> Result<Self, WireError> {
        let Header { content_type, version, length } = Header::parse(take_array(octets)?)?;
        Ok(Self { content_type, version, fragment: take(octets, length.into())? })
    }
}

/// The handshake messages in the content of a record. A message may continue in the next record; then give the content
/// of both, one after the other. The iterator ends after the first error.
///
/// If the last message is incomplete, it gives [`WireError::Truncated`].
pub fn messages(octets: &[u8]) -> impl Iterator<Item = Result<Message<'_>, WireError>> {
    items(octets, Message::parse)
}

/// A handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its type.
    pub message_type: MessageType,
    /// Its content, without the header.
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    fn parse(octets: &mut &'a [u8]) -> Result<Self, WireError> {
        let [message_type, l0, l1, l2] = *take_array::<HANDSHAKE_HEADER>(octets)?;
        let body = take(octets, u32::from_be_bytes([0, l0, l1, l2]) as usize)?;
        Ok(Self { message_type: MessageType::from(message_type), body })
    }
}

/// The number of the extension supported_versions (RFC 8446 section 4.2).
const SUPPORTED_VERSIONS: u16 = 43;

/// The version that a ServerHello chooses: that in its extension supported_versions (RFC 8446 section 4.2.1), or its
/// server_version. `03 03` is TLS 1.2, `03 04` is TLS 1.3.
///
/// # Errors
/// `body` is not the content of a ServerHello.
pub fn chosen_version(mut body: &[u8]) -> Result<[u8; 2], WireError> {
    let octets = &mut body;
    let server_version = *take_array::<2>(octets)?;
    take_array::<32>(octets)?; // random
    let &[session_id] = take_array(octets)?;
    take(octets, session_id.into())?;
    take_array::<3>(octets)?; // suite and compression
    if octets.is_empty() {
        return Ok(server_version); // a server may have no extensions
    }
    let mut extensions = take_vector(octets)?;
    while !extensions.is_empty() {
        let number = u16::from_be_bytes(*take_array(&mut extensions)?);
        let mut content = take_vector(&mut extensions)?;
        if number == SUPPORTED_VERSIONS {
            return take_array(&mut content).copied();
        }
    }
    Ok(server_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ServerHello of RFC 8448 section 3, the complete record (95 octets).
    const SERVER_HELLO: &str = "160303005a020000560303a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e26928\
        00130100002e00330024001d0020c9828876112095fe66762bdbf7c672e156d6cc253b833df1dd69b1b04e751f0f002b00020304";

    fn octets(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn the_server_hello_of_rfc_8448() {
        let stream = octets(SERVER_HELLO);
        assert_eq!(stream.len(), 95);
        let read: Vec<_> = records(&stream).collect::<Result<_, _>>().unwrap();
        let [record] = read[..] else { panic!("{read:?}") };
        assert_eq!((record.content_type, record.version), (ContentType::Handshake, [3, 3]));
        let read: Vec<_> = messages(record.fragment).collect::<Result<_, _>>().unwrap();
        let [message] = read[..] else { panic!("{read:?}") };
        // The RFC shows the message with its header: 90 octets.
        assert_eq!((message.message_type, message.body.len()), (MessageType::ServerHello, 90 - HANDSHAKE_HEADER));
    }

    /// RFC 8448 section 3 is TLS 1.3. Without its last extension, and without any, it is TLS 1.2.
    #[test]
    fn the_version_is_in_an_extension_or_before_them() {
        let hello = octets(SERVER_HELLO).split_off(RECORD_HEADER + HANDSHAKE_HEADER);
        assert_eq!(chosen_version(&hello), Ok([3, 4]));
        let mut without = hello[..hello.len() - 6].to_vec();
        without[39] -= 6; // the length of the extensions
        assert_eq!(chosen_version(&without), Ok([3, 3]));
        assert_eq!(chosen_version(&hello[..38]), Ok([3, 3]));
        for length in (0..38).chain(39..hello.len()) {
            assert!(chosen_version(&hello[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_message_may_continue_in_the_next_record() {
        let stream = octets(SERVER_HELLO);
        let (first, second) = stream[RECORD_HEADER..].split_at(40);
        let cut = [&[22, 3, 3, 0, 40], first, &[22, 3, 3, 0, 50], second].concat();
        let records: Vec<_> = records(&cut).map(Result::unwrap).collect();
        let error = WireError::Truncated { needed: 86, found: 36 };
        assert_eq!(messages(records[0].fragment).collect::<Vec<_>>(), [Err(error)]);
        let joined: Vec<u8> = records.iter().flat_map(|record| record.fragment).copied().collect();
        assert_eq!(messages(&joined).map(|message| message.unwrap().body.len()).collect::<Vec<_>>(), [86]);
    }

    #[test]
    fn other_protocols_and_truncations_are_errors() {
        let mut stream = octets(SERVER_HELLO);
        for length in 1..stream.len() {
            assert!(records(&stream[..length]).next().unwrap().is_err(), "{length}");
        }
        stream[1] = 0xfe;
        assert_eq!(records(&stream).next(), Some(Err(WireError::NotTls { version: [0xfe, 3] })));
    }
}
