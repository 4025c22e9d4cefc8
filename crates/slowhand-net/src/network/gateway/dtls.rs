//! What a datagram of DTLS 1.2 carries (RFC 6347), as far as one on the way can see it.
//!
//! ```text
//! record:    | type (8) | version (16) | epoch (16) | sequence (48) | length (16) |            section 4.1
//! handshake: | type (8) | length (24) | message_seq (16) | offset (24) | length (24) |         section 4.2.2
//! ```
//! Messages of epoch 0 can be read. Of later epochs only the record's header is in the clear: what is sent again is
//! encrypted anew, but has the same type, epoch and length.

/// Octets of a record's header.
const RECORD_HEADER: usize = 13;

/// Octets of a handshake message's header.
const MESSAGE_HEADER: usize = 12;

/// DTLS 1.0 and DTLS 1.2, the versions that a record header of this form has (RFC 6347 section 4.1).
const VERSIONS: [[u8; 2]; 2] = [[0xfe, 0xff], [0xfe, 0xfd]];

/// Types of records (RFC 5246 section 6.2.1).
mod content_type {
    pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
    pub(super) const ALERT: u8 = 21;
    pub(super) const HANDSHAKE: u8 = 22;
    pub(super) const APPLICATION_DATA: u8 = 23;
    /// RFC 6520.
    pub(super) const HEARTBEAT: u8 = 24;
    /// RFC 9146: the header goes on with a connection ID of a length that only the ends know.
    pub(super) const CONNECTION_ID: u8 = 25;
}

/// The type of a ClientHello (RFC 5246 section 7.4).
const CLIENT_HELLO: u8 = 1;

/// A part of a flight, by what stays the same when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A fragment of a handshake message in the clear.
    Message {
        /// HandshakeType.
        kind: u8,
        /// message_seq.
        sequence: u16,
        /// Octets of the whole message.
        length: u32,
        /// Where the fragment begins ...
        start: u32,
        /// ... and where it ends.
        end: u32,
    },
    /// Any other record of a handshake: ChangeCipherSpec, or an encrypted message.
    Record {
        /// ContentType.
        kind: u8,
        /// The epoch.
        epoch: u16,
        /// Octets behind the header.
        length: u16,
    },
}

impl Piece {
    /// Whether all of it has been among `earlier`, whatever the fragments were then.
    pub(super) fn is_among<'a>(&self, earlier: impl Iterator<Item = &'a Self> + Clone) -> bool {
        let Self::Message { start, end, .. } = *self else { return earlier.into_iter().any(|piece| piece == self) };
        let mut fragments = earlier.filter_map(|piece| piece.fragment_of(self));
        if start == end {
            return fragments.next().is_some(); // a message without content, or nothing of one
        }
        let mut covered = start;
        while covered < end {
            let furthest =
                fragments.clone().filter(|&(start, end)| start <= covered && end > covered).map(|(_, end)| end);
            match furthest.max() {
                Some(further) => covered = further,
                None => return false,
            }
        }
        true
    }

    /// Whether it carries a part of what `other` carries.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (other.fragment_of(self), *self) {
            (Some((from, to)), Self::Message { start, end, .. }) => (from < end && start < to) || start == end,
            _ => self == other,
        }
    }

    /// What it has of the message of which `other` has a part.
    fn fragment_of(&self, other: &Self) -> Option<(u32, u32)> {
        match (*self, *other) {
            (
                Self::Message { kind, sequence, length, start, end },
                Self::Message { kind: k, sequence: s, length: l, .. },
            ) if (kind, sequence, length) == (k, s, l) => Some((start, end)),
            _ => None,
        }
    }
}

/// What a datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Records of a handshake and no others.
    Handshake {
        /// A hash of the ClientHello that opens a handshake (message_seq 0), if it is one.
        hello: Option<u64>,
    },
    /// DTLS that says more: alerts, application data, records with a connection ID.
    Other,
}

/// Reads a datagram, and adds to `pieces` what of a handshake it carries. None where the datagram is not DTLS 1.2, or is
/// damaged.
pub fn parse(datagram: &[u8], pieces: &mut Vec<Piece>) -> Option<Content> {
    let mut hello = None;
    let mut is_handshake = true;
    let mut rest = datagram;
    while !rest.is_empty() {
        let (header, behind) = rest.split_first_chunk::<RECORD_HEADER>()?;
        if !VERSIONS.contains(&[header[1], header[2]]) {
            return None;
        }
        let (kind, epoch) = (header[0], u16::from_be_bytes([header[3], header[4]]));
        if kind == content_type::CONNECTION_ID {
            return Some(Content::Other);
        }
        let length = u16::from_be_bytes([header[11], header[12]]);
        let (fragment, behind) = behind.split_at_checked(length.into())?;
        match kind {
            content_type::HANDSHAKE if epoch == 0 => messages(fragment, pieces, &mut hello)?,
            content_type::HANDSHAKE | content_type::CHANGE_CIPHER_SPEC => {
                pieces.push(Piece::Record { kind, epoch, length });
            }
            content_type::ALERT | content_type::APPLICATION_DATA | content_type::HEARTBEAT => is_handshake = false,
            _ => return None,
        }
        rest = behind;
    }
    match is_handshake {
        true if pieces.is_empty() => None,
        true => Some(Content::Handshake { hello }),
        false => Some(Content::Other),
    }
}

/// Reads the messages of a record. None where it is damaged.
fn messages(record: &[u8], pieces: &mut Vec<Piece>, hello: &mut Option<u64>) -> Option<()> {
    let mut rest = record;
    while !rest.is_empty() {
        let (header, behind) = rest.split_first_chunk::<MESSAGE_HEADER>()?;
        let number = |at: usize| u32::from_be_bytes([0, header[at], header[at + 1], header[at + 2]]);
        let (kind, sequence) = (header[0], u16::from_be_bytes([header[4], header[5]]));
        let (length, start, octets) = (number(1), number(6), number(9));
        let end = start + octets; // two numbers of 24 bits
        if end > length {
            return None;
        }
        let (body, behind) = behind.split_at_checked(octets as usize)?;
        if (kind, sequence, start) == (CLIENT_HELLO, 0, 0) {
            *hello = Some(hash(body));
        }
        pieces.push(Piece::Message { kind, sequence, length, start, end });
        rest = behind;
    }
    Some(())
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo): two ClientHellos differ in their random, and so in this.
fn hash(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
pub(super) mod tests;
