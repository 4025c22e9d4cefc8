//! The parameters that the two ends have agreed on, as the wire shows them.

use slowhand_sessions::memory::{Datagram, Direction};
use slowhand_sessions::{CredentialKind, Protocol};

use crate::case::{Beside, Case, Group};

/// HandshakeType (RFC 5246, section 7.4).
const SERVER_HELLO: u8 = 2;
const SERVER_KEY_EXCHANGE: u8 = 12;
const SERVER_HELLO_DONE: u8 = 14;

/// ExtensionType (RFC 6066, section 4; RFC 6520, section 2; RFC 8449, section 4; RFC 8446, section 4.2).
const MAX_FRAGMENT_LENGTH: u16 = 1;
const HEARTBEAT: u16 = 15;
const RECORD_SIZE_LIMIT: u16 = 28;
const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

/// The random of a HelloRetryRequest begins with these octets (RFC 8446, section 4.1.3).
const RETRY: [u8; 4] = [0xcf, 0x21, 0xad, 0x74];

/// The version in hello messages (RFC 6347, section 4.1; RFC 9147, section 5.3).
const fn on_the_wire(version: Protocol) -> u16 {
    if matches!(version, Protocol::Dtls13) { 0xfefc } else { 0xfefd }
}

/// Why a handshake without faults is not what the case asks for.
pub fn disagreement(case: &Case, datagrams: &[Datagram]) -> Option<String> {
    let handshake = messages(datagrams);
    let hello = handshake.iter().rfind(|(kind, body)| *kind == SERVER_HELLO && body.get(2..6) != Some(&RETRY[..]));
    let Some(hello) = hello.and_then(|(_, body)| ServerHello::read(body)) else {
        return Some("no ServerHello was found".to_owned());
    };
    let version = hello.extension(SUPPORTED_VERSIONS).map_or(hello.version, number);
    if (version, hello.suite) != (on_the_wire(case.version), case.suite.iana()) {
        return Some(format!("version {version:#x} and suite {:#x} were chosen", hello.suite));
    }
    let group = match hello.extension(KEY_SHARE) {
        Some(share) => Some(number(share)),
        None => handshake.iter().find(|(kind, _)| *kind == SERVER_KEY_EXCHANGE).and_then(|(_, body)| group(case, body)),
    };
    if group != case.group.map(Group::iana) && !matches!(case.beside, Some(Beside::Resumption(_))) {
        return Some(format!("group {group:?} was chosen"));
    }
    if let Some(Beside::Resumption(_)) = case.beside {
        let is_13 = hello.extension(SUPPORTED_VERSIONS).is_some();
        let is_resumed = match is_13 {
            true => hello.extension(PRE_SHARED_KEY).is_some(),
            false => !handshake.iter().any(|(kind, _)| *kind == SERVER_HELLO_DONE),
        };
        return (!is_resumed).then(|| "the session was not resumed".to_owned());
    }
    let expected = match case.beside {
        Some(Beside::MaxFragmentLength) => Some(MAX_FRAGMENT_LENGTH),
        Some(Beside::RecordSizeLimit) => Some(RECORD_SIZE_LIMIT),
        Some(Beside::Heartbeat) => Some(HEARTBEAT),
        _ => None,
    };
    if let Some(extension) = expected.filter(|extension| hello.extension(*extension).is_none()) {
        return Some(format!("the server has not granted the extension {extension}"));
    }
    if let Some(Beside::ConnectionId) = case.beside {
        let both = [Direction::ToServer, Direction::ToClient].into_iter();
        let without = both.filter(|direction| {
            !datagrams.iter().filter(|sent| sent.direction == *direction).any(|sent| has_id(&sent.bytes))
        });
        return without.map(|direction| format!("no connection ID {direction:?}")).next();
    }
    None
}

/// The group in a ServerKeyExchange: after the type named_curve, which is 3 (RFC 8422, section 5.4). With a pre-shared key, an
/// identity hint comes before it (RFC 5489, section 2), and that may be all there is.
fn group(case: &Case, body: &[u8]) -> Option<u16> {
    let parameters = match case.credential {
        CredentialKind::Psk => body.get(2 + usize::from(number(body))..)?,
        _ => body,
    };
    parameters.strip_prefix(&[3]).map(number)
}

struct ServerHello<'a> {
    version: u16,
    suite: u16,
    extensions: Vec<(u16, &'a [u8])>,
}

fn number(octets: &[u8]) -> u16 {
    octets.first_chunk().map_or(0, |octets| u16::from_be_bytes(*octets))
}

impl<'a> ServerHello<'a> {
    /// RFC 5246, section 7.4.1.3: version, random, session ID, suite, compression, extensions.
    fn read(body: &'a [u8]) -> Option<Self> {
        let after_id = body.get(35 + usize::from(*body.get(34)?)..)?;
        let mut rest = after_id.get(5..).unwrap_or_default();
        let mut extensions = Vec::new();
        while let Some(content) = rest.get(4..) {
            let (extension, after) = content.split_at_checked(number(&rest[2..]).into())?;
            extensions.push((number(rest), extension));
            rest = after;
        }
        Some(Self { version: number(body), suite: number(after_id), extensions })
    }

    fn extension(&self, wanted: u16) -> Option<&'a [u8]> {
        self.extensions.iter().find(|(number, _)| *number == wanted).map(|(_, content)| *content)
    }
}

/// The whole handshake messages in clear: their kinds and bodies.
fn messages(datagrams: &[Datagram]) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    for Datagram { bytes, .. } in datagrams {
        let mut rest = &bytes[..];
        // RFC 6347, section 4.1: type, version, epoch, sequence number, length; section 4.2.2: type, length, sequence number,
        // offset and length of the fragment.
        while rest.len() >= 13 && (20..=26).contains(&rest[0]) {
            let length = usize::from(number(&rest[11..]));
            let content = rest.get(13..13 + length).unwrap_or_default();
            let is_whole = content.len() >= 12 && content[1..4] == content[9..12];
            if rest[0] == 22 && number(&rest[3..]) == 0 && is_whole {
                found.push((content[0], content[12..].to_vec()));
            }
            rest = rest.get(13 + length..).unwrap_or_default();
        }
    }
    found
}

/// True if a datagram has a record with a connection ID: type 25 in version 1.2 (RFC 9146, section 4), a bit of the first octet
/// in version 1.3 (RFC 9147, section 4). A record with an ID may follow one without.
fn has_id(datagram: &[u8]) -> bool {
    let mut rest = datagram;
    while rest.len() >= 13 && (20..=26).contains(&rest[0]) {
        if rest[0] == 25 {
            return true;
        }
        rest = rest.get(13 + usize::from(number(&rest[11..]))..).unwrap_or_default();
    }
    rest.first().is_some_and(|first| first & 0b1111_0000 == 0b0011_0000)
}

/// Octets beside the content in a record of AES-CCM-8 in version 1.2: half a nonce, and the tag (RFC 6655, sections 3 and 4).
const EXPANSION: usize = 8 + 8;

/// The most octets of content of the encrypted records of a datagram of version 1.2.
pub fn longest_content(datagram: &[u8]) -> usize {
    let (mut rest, mut longest) = (datagram, 0);
    while rest.len() >= 13 {
        let length = usize::from(number(&rest[11..]));
        longest = longest.max(length.saturating_sub(EXPANSION));
        rest = rest.get(13 + length..).unwrap_or_default();
    }
    longest
}
