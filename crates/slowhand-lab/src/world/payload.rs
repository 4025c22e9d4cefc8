//! The payload that a session sends.

use slowhand_sessions::Transmit;
use slowhand_wire::{ContentType, dtls, dtls13};

/// The payload that a session sends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    /// The payload of UDP, a segment of TCP, or octets for a stream.
    pub(crate) octets: Vec<u8>,
    /// The content of the protected records of DTLS 1.3 in it ([`Transmit::contents`]).
    pub(crate) contents: Vec<u8>,
}

impl Payload {
    /// The records of a datagram of DTLS with their true types, those that are told behind the others. `None` for each that
    /// nobody can read.
    pub(crate) fn records(&self, connection_id_length: u8) -> impl Iterator<Item = Option<dtls::Record<'_>>> {
        let as_sent = dtls13::records(&self.octets, Some(connection_id_length)).filter_map(|record| match record {
            Ok(dtls13::Record::Long(record)) => Some(Some(record)),
            Ok(dtls13::Record::Unified(_)) if !self.contents.is_empty() => None,
            Ok(dtls13::Record::Unified(_)) | Err(_) => Some(None),
        });
        as_sent.chain(dtls::records(&self.contents, None).map(Result::ok))
    }

    /// True for a datagram of DTLS 1.2 that has data alone. With a connection ID, which hides the type of a record (RFC 9146 section 4),
    /// it is false.
    pub(super) fn is_data(&self) -> bool {
        let is_data = |record: dtls::Record<'_>| record.content_type == ContentType::ApplicationData;
        dtls::records(&self.octets, None).all(|record| record.is_ok_and(is_data))
    }
}

/// Without protected records whose contents are known.
impl From<&[u8]> for Payload {
    fn from(octets: &[u8]) -> Self {
        Self { octets: octets.to_vec(), contents: Vec::new() }
    }
}

impl From<Transmit<'_>> for Payload {
    fn from(transmit: Transmit<'_>) -> Self {
        Self { octets: transmit.bytes.to_vec(), contents: transmit.contents.to_vec() }
    }
}
