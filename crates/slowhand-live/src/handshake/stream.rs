//! One end of TLS.

use slowhand_sessions::Role;
use slowhand_wire::tls::{self, Header};
use slowhand_wire::{ContentType, MessageType, WireError};

use super::{Both, Seen, Way};

/// The most octets of a ServerHello: those of one record (RFC 8446 section 5.1).
const LONGEST_SERVER_HELLO: usize = 1 << 14;

/// The lengths of a record of TLS 1.3 with a Finished alone: the header of 4 octets, a hash of 32 or 48, the type, a tag of
/// 8 or 16. mbedTLS fills up to a multiple of 16 octets before the tag. The other messages of a client have fewer (an empty
/// Certificate: 25 or 32) or more (a CertificateVerify of Ed25519: 89), but for a Certificate with a raw public key of
/// Ed25519 (74), which is taken for a Finished.
const FINISHED: std::ops::RangeInclusive<u16> = 4 + 32 + 1 + 8..=64 + 16;

/// The lengths of a record of TLS 1.3 with an alert alone: its 2 octets, the type, a tag of 8 or 16, filled up or not. A
/// record of data can have such a length: then the next one says what this one does not, because an alert is the last.
const ALERT: [u16; 4] = [2 + 1 + 8, 2 + 1 + 16, 16 + 8, 16 + 16];

/// The octets of a TLS version 1.3 (RFC 8446 section 4.1.3).
const TLS13: [u8; 2] = [3, 4];

#[derive(Debug)]
pub(super) struct Stream {
    role: Role,
    gone: Both<Direction>,
    /// The octets of the ServerHello that have come, until its version is known.
    server_hello: Vec<u8>,
    version: Option<[u8; 2]>,
    /// The end has sent what may be an alert of TLS 1.3.
    may_have_refused: bool,
    /// Something in it is not TLS.
    is_other: bool,
}

/// The messages that have gone in one direction.
#[derive(Debug, Default)]
struct Direction {
    reader: Reader,
    change_cipher_spec: bool,
    /// Of TLS 1.2.
    finished: bool,
    /// A protected record of TLS 1.3.
    flight: bool,
}

impl Stream {
    pub(super) fn new(role: Role) -> Self {
        let gone = Both::default();
        Self { role, gone, server_hello: Vec::new(), version: None, may_have_refused: false, is_other: false }
    }

    pub(super) fn observe(&mut self, way: Way, mut octets: &[u8], seen: &mut Seen) {
        while !octets.is_empty() && !self.is_other && !seen.is_closed {
            if let Err(Other) = self.step(way, &mut octets, seen) {
                self.is_other = true;
                self.server_hello = Vec::new();
            }
        }
    }

    /// Reads one piece of a record.
    fn step(&mut self, way: Way, octets: &mut &[u8], seen: &mut Seen) -> Result<(), Other> {
        let Some(piece) = self.gone.of(way).reader.next(octets)? else { return Ok(()) };
        let is_of_client = way.is_of_client(self.role);
        if !seen.is_secure {
            let is_hello = piece.header.content_type == ContentType::Handshake
                && piece.content.first().is_some_and(|&first| MessageType::from(first) == MessageType::ClientHello);
            seen.is_secure = is_of_client && is_hello;
            return seen.is_secure.then_some(()).ok_or(Other);
        }
        if !is_of_client && self.version.is_none() && piece.header.content_type == ContentType::Handshake {
            self.read_server_hello(piece.content)?;
        }
        if piece.is_last {
            self.record(way, piece.header, piece.begin, seen);
        }
        Ok(())
    }

    /// Takes more of the server's first messages, up to its ServerHello.
    fn read_server_hello(&mut self, content: &[u8]) -> Result<(), Other> {
        let mut octets = std::mem::take(&mut self.server_hello);
        octets.extend_from_slice(content);
        let mut read = 0;
        for message in tls::messages(&octets).flatten() {
            if message.message_type == MessageType::ServerHello {
                self.version = Some(tls::chosen_version(message.body)?);
                return Ok(());
            }
            read += tls::HANDSHAKE_HEADER + message.body.len();
        }
        octets.drain(..read);
        self.server_hello = octets;
        (self.server_hello.len() <= LONGEST_SERVER_HELLO).then_some(()).ok_or(Other)
    }

    /// A whole record has gone; `begin` is the begin of its content.
    fn record(&mut self, way: Way, header: Header, begin: [u8; 2], seen: &mut Seen) {
        let is_tls13 = self.version == Some(TLS13);
        let direction = self.gone.of(way);
        match header.content_type {
            ContentType::ChangeCipherSpec => direction.change_cipher_spec = true,
            ContentType::Handshake if direction.change_cipher_spec && !is_tls13 => {
                direction.finished = true;
                seen.is_established |= self.gone.sent.finished && self.gone.received.finished;
            }
            ContentType::Alert if direction.finished => seen.protected_alert(),
            ContentType::Alert if header.length == 2 => seen.alert(way, begin),
            ContentType::ApplicationData if is_tls13 => {
                direction.flight = true;
                if self.gone.sent.flight && self.gone.received.flight {
                    seen.is_established |= self.completes(way, header.length);
                }
            }
            _ => {}
        }
    }

    /// True if this protected record of TLS 1.3 says that the end is established, where each end has sent one.
    fn completes(&mut self, way: Way, length: u16) -> bool {
        match (self.role, way) {
            (Role::Client, Way::Received) => false,
            (Role::Server, Way::Received) => !self.may_have_refused && FINISHED.contains(&length),
            (_, Way::Sent) => {
                let is_first = !std::mem::replace(&mut self.may_have_refused, true);
                !(is_first && ALERT.contains(&length))
            }
        }
    }
}

/// The octets are not TLS.
struct Other;

impl From<WireError> for Other {
    fn from(_: WireError) -> Self {
        Self
    }
}

/// Finds the records of a stream that comes in pieces. It keeps a header, and no content.
#[derive(Debug, Default)]
struct Reader {
    header: [u8; tls::RECORD_HEADER],
    /// Octets of the header that have come.
    of_header: usize,
    /// Octets of the content that have come.
    of_content: u16,
    /// The first octets of the content.
    begin: [u8; 2],
}

/// A piece of a record.
struct Piece<'a> {
    header: Header,
    content: &'a [u8],
    begin: [u8; 2],
    is_last: bool,
}

impl Reader {
    /// Takes the next piece of a record; nothing while its header is not whole.
    fn next<'a>(&mut self, octets: &mut &'a [u8]) -> Result<Option<Piece<'a>>, WireError> {
        let missing = (tls::RECORD_HEADER - self.of_header).min(octets.len());
        let (of_header, rest) = octets.split_at(missing);
        self.header[self.of_header..][..missing].copy_from_slice(of_header);
        self.of_header += missing;
        *octets = rest;
        if self.of_header < tls::RECORD_HEADER {
            return Ok(None);
        }
        let header = Header::parse(&self.header)?;
        let left = header.length - self.of_content;
        if left > 0 && rest.is_empty() {
            return Ok(None);
        }
        let (content, rest) = rest.split_at(usize::from(left).min(rest.len()));
        *octets = rest;
        let begin = self.begin.iter_mut().skip(self.of_content.into());
        begin.zip(content).for_each(|(kept, octet)| *kept = *octet);
        // It fits: at most as many octets as are left.
        self.of_content += content.len() as u16;
        let is_last = self.of_content == header.length;
        let piece = Piece { header, content, begin: self.begin, is_last };
        if is_last {
            *self = Self::default();
        }
        Ok(Some(piece))
    }
}
