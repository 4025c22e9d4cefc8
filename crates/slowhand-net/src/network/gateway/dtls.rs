//! The view of the border router into a datagram: parts of a DTLS flight, or something else.

use slowhand_wire::flight::RecordId;
use slowhand_wire::{ContentType, FlightPart, MessageType, WireError, dtls, flight};

/// The content of a DTLS datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Only records of a handshake.
    Handshake {
        /// If the datagram has the first ClientHello of a handshake (message_seq 0): a hash of it.
        hello: Option<u64>,
    },
    /// Other records too: alerts, application data, a record with a connection ID that stands alone.
    Other,
}

/// Reads a datagram, and adds the parts of a flight that it carries to `parts`. None if the datagram is damaged, or is
/// not DTLS 1.0 or 1.2.
///
/// The border router does not know the length of connection IDs (RFC 9146 section 4), so it cannot find the end of a record
/// with one. After records of a flight, it takes such a record and what follows for the Finished, as one part. Alone, it may
/// be anything.
pub fn parse(datagram: &[u8], parts: &mut Vec<FlightPart>) -> Option<Content> {
    let mut hello = None;
    let mut is_handshake = true;
    let mut read = 0;
    for record in dtls::records(datagram, None) {
        let record = match record {
            Ok(record) => record,
            Err(WireError::ConnectionIdLengthUnknown) if !is_handshake || parts.is_empty() => {
                return Some(Content::Other);
            }
            Err(WireError::ConnectionIdLengthUnknown) => {
                // A datagram is shorter than 2^16 octets.
                let length = (datagram.len() - read) as u16;
                parts.push(FlightPart::Record(RecordId { content_type: ContentType::Tls12Cid, epoch: 1, length }));
                break;
            }
            Err(_) => return None,
        };
        read += dtls::RECORD_HEADER + record.fragment.len();
        match record.content_type {
            ContentType::Handshake | ContentType::ChangeCipherSpec => {
                for part in flight::parts(&record) {
                    parts.push(part.ok()?);
                }
                let opening = record.fragments().flatten().filter(opens_handshake).last();
                hello = opening.map(|opening| hash(opening.body)).or(hello);
            }
            ContentType::Alert | ContentType::ApplicationData | ContentType::Heartbeat | ContentType::Tls12Cid => {
                is_handshake = false
            }
            ContentType::Ack | ContentType::Other(_) => return None,
        }
    }
    match is_handshake {
        true if parts.is_empty() => None,
        true => Some(Content::Handshake { hello }),
        false => Some(Content::Other),
    }
}

/// A hash of the ClientHello that opens a handshake, if a datagram has its first fragment.
pub(super) fn first_hello(datagram: &[u8]) -> Option<u64> {
    let records = dtls::records(datagram, None).map_while(Result::ok);
    let mut fragments = records.flat_map(|record| record.fragments().flatten().collect::<Vec<_>>());
    fragments.find(opens_handshake).map(|opening| hash(opening.body))
}

/// True if this is the first fragment of a ClientHello, and the ClientHello is the first message of its sender.
fn opens_handshake(fragment: &dtls::Fragment<'_>) -> bool {
    (fragment.message_type, fragment.message_seq, fragment.fragment_offset) == (MessageType::ClientHello, 0, 0)
}

/// FNV-1a with 64 bits (Fowler, Noll and Vo). Two ClientHellos have different randoms, so different hashes.
fn hash(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
pub(super) mod tests;
