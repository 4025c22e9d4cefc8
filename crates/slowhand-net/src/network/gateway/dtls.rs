//! What the border router can read in a datagram: parts of a DTLS flight, or something else.

use slowhand_wire::{ContentType, FlightPart, MessageType, WireError, dtls, flight};

/// The content of a DTLS datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Only records of a handshake.
    Handshake {
        /// If the datagram has the first ClientHello of a handshake (message_seq 0): a hash of it.
        hello: Option<u64>,
    },
    /// Other records too: alerts, application data, records with a connection ID.
    Other,
}

/// Reads a datagram, and adds the parts of a flight that it carries to `parts`. None if the datagram is damaged, or is
/// not DTLS 1.0 or 1.2.
///
/// The border router does not know the length of connection IDs (RFC 9146 section 4), so it stops reading at the first.
pub fn parse(datagram: &[u8], parts: &mut Vec<FlightPart>) -> Option<Content> {
    let mut hello = None;
    let mut is_handshake = true;
    for record in dtls::records(datagram, None) {
        let record = match record {
            Ok(record) => record,
            Err(WireError::ConnectionIdLengthUnknown) => return Some(Content::Other),
            Err(_) => return None,
        };
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
            ContentType::Other(_) => return None,
        }
    }
    match is_handshake {
        true if parts.is_empty() => None,
        true => Some(Content::Handshake { hello }),
        false => Some(Content::Other),
    }
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
