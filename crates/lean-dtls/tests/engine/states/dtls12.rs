//! Every record of DTLS 1.2 and of the lean profile that an end can get, in every form.

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{Crypto, Protection};

use super::inputs::{Input, Peer, Record, handshake, record};
use super::spy::Seen;

/// Octets of a record's header (RFC 6347, section 4.1).
const HEADER: usize = 13;

/// The first octets of the lean profile's short headers, and their content types (docs/reference/lean-profile.md).
const SHORT_HEADERS: [(u8, u8); 4] = [(28, 21), (29, 22), (30, 23), (31, 26)];

/// The kinds of messages (RFC 5246, section 7.4; RFC 6347, section 4.3.2; RFC 5077; RFC 6066), and one that there is not.
const KINDS: [(u8, &str); 15] = [
    (0, "HelloRequest"),
    (1, "ClientHello"),
    (2, "ServerHello"),
    (3, "HelloVerifyRequest"),
    (4, "NewSessionTicket"),
    (11, "Certificate"),
    (12, "ServerKeyExchange"),
    (13, "CertificateRequest"),
    (14, "ServerHelloDone"),
    (15, "CertificateVerify"),
    (16, "ClientKeyExchange"),
    (20, "Finished"),
    (22, "CertificateStatus"),
    (24, "KeyUpdate"),
    (99, "no such message"),
];

/// The short names of the messages in the tables.
const SHORT: [(u8, &str); 12] = [
    (1, "CH"),
    (2, "SH"),
    (3, "HVR"),
    (4, "NST"),
    (11, "CT"),
    (12, "SKE"),
    (13, "CR"),
    (14, "SHD"),
    (15, "CV"),
    (16, "CKE"),
    (20, "FIN"),
    (0, "HR"),
];

/// Records that carry no handshake messages: their content type, their content.
const OTHERS: [(u8, &[u8], &str); 9] = [
    (20, &[1], "ChangeCipherSpec"),
    (21, &[1, 0], "close_notify"),
    (21, &[2, 40], "handshake_failure"),
    (21, &[1, 100], "no_renegotiation"),
    (23, b"22.5 C", "application data"),
    (24, &[1, 0, 1, 7], "heartbeat"),
    (25, b"22.5 C", "record with ID"),
    (26, &[0, 0, 0], "acknowledgement"),
    (99, b"22.5 C", "no such record"),
];

/// The end that sends to the one under test, as it was recorded.
pub struct Dtls12 {
    /// The handshake messages that it has sent in clear: kind, number, body.
    clear: Vec<(u8, u16, Vec<u8>)>,
    /// The handshake messages that it has encrypted, in the same form.
    encrypted: Vec<(u8, u16, Vec<u8>)>,
    /// With what it encrypts.
    key: Seen,
    /// True if its records have short headers and no explicit nonce, as those of the lean profile.
    is_short: bool,
}

impl Peer for Dtls12 {
    const UPDATES_KEYS: bool = false;

    fn new(datagrams: &[Vec<u8>], seen: &[Seen]) -> (Self, Vec<Record>) {
        let records: Vec<Vec<u8>> = datagrams.iter().flat_map(|datagram| split(datagram)).collect();
        let is_short = records.iter().any(|record| SHORT_HEADERS.iter().any(|(first, _)| record[0] == *first));
        let clear = records
            .iter()
            .filter(|record| kind_of(record) == (22, false))
            .map(|record| message(&record[HEADER..]))
            .collect();
        let encrypted =
            seen.iter().filter(|seen| seen.content.len() >= 12).map(|seen| message(&seen.content)).collect();
        let key = seen.last().expect("it has encrypted its Finished").clone();
        let records = records.into_iter().map(|octets| Record {
            name: name(&octets),
            is_message: kind_of(&octets).0 == 22,
            octets,
        });
        (Self { clear, encrypted, key, is_short }, records.collect())
    }

    fn inputs(&self, received: &[Record]) -> Vec<(String, Vec<Input>)> {
        all(self, received)
    }

    fn close_notify(&self) -> Vec<u8> {
        self.protected(21, 20, &[1, 0])
    }

    fn names(datagrams: &[Vec<u8>], _: &[Seen]) -> Vec<String> {
        datagrams.iter().flat_map(|datagram| split(datagram)).map(|record| name(&record)).collect()
    }
}

impl Dtls12 {
    /// The body that it gives a message of this kind, or one that the engine could read.
    fn body(&self, kind: u8) -> Vec<u8> {
        let of_kind = |(of, _, body): &(u8, u16, Vec<u8>)| (*of == kind).then(|| body.clone());
        let own = self.clear.iter().rev().chain(&self.encrypted).find_map(of_kind);
        own.unwrap_or_else(|| match kind {
            0 | 14 => Vec::new(),
            3 => vec![0xfe, 0xff, 4, 1, 2, 3, 4],
            16 => vec![0, 6, b'n', b'o', b'b', b'o', b'd', b'y'],
            20 => vec![0; 12],
            _ => vec![0, 0, 0, 0],
        })
    }

    /// A record that this peer can send, in epoch 1 (RFC 6655, section 3; RFC 5246, section 6.2.3.3).
    fn protected(&self, content_type: u8, sequence: u64, content: &[u8]) -> Vec<u8> {
        let number = (1 << 48 | sequence).to_be_bytes();
        let mut nonce = self.key.nonce;
        nonce[4..].copy_from_slice(&number);
        let length = (content.len() as u16).to_be_bytes();
        let associated = [&number[..], &[content_type, 0xfe, 0xfd], &length].concat();
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let with = Protection { aead: self.key.aead, key: &self.key.key, nonce: &nonce, associated: &associated };
        let (mut encrypted, mut tag) = (content.to_vec(), vec![0; self.key.aead.tag()]);
        crypto.seal(&with, &mut encrypted, &mut tag).unwrap();
        if let Some((first, _)) = SHORT_HEADERS.iter().find(|(_, of)| self.is_short && *of == content_type) {
            return [&[*first], &number[6..], &encrypted, &tag].concat();
        }
        if self.is_short {
            return record(content_type, 1, sequence, &[encrypted, tag].concat());
        }
        record(content_type, 1, sequence, &[&number[..], &encrypted, &tag].concat())
    }
}

/// Kind, number and body of a whole message.
fn message(octets: &[u8]) -> (u8, u16, Vec<u8>) {
    (octets[0], u16::from_be_bytes([octets[4], octets[5]]), octets[12..].to_vec())
}

/// Every message, by name, in all its forms.
fn all(peer: &Dtls12, received: &[Record]) -> Vec<(String, Vec<Input>)> {
    // No record has this number, and it makes none of them too old (RFC 6347, section 4.1.2.6).
    const NEW: u64 = 40;
    // The number of the next message: each record has had one.
    let next = received.iter().filter(|record| record.is_message).count() as u16;
    let mut all = Vec::new();
    for (kind, name) in KINDS {
        let (body, malformed) = (peer.body(kind), [0xff]);
        let clear = |sequence, body: &[u8]| record(22, 0, NEW, &handshake(kind, sequence, body));
        let protected = |sequence, body: &[u8]| peer.protected(22, NEW, &handshake(kind, sequence, body));
        let mut inputs = vec![
            Input { form: "clear", octets: clear(next, &body) },
            Input { form: "clear later", octets: clear(next + 1, &body) },
            Input { form: "clear malformed", octets: clear(next, &malformed) },
            Input { form: "clear epoch 1", octets: record(22, 1, NEW, &handshake(kind, next, &body)) },
            Input { form: "clear epoch 2", octets: record(22, 2, NEW, &handshake(kind, next, &body)) },
            Input { form: "encrypted", octets: protected(next, &body) },
            Input { form: "encrypted later", octets: protected(next + 1, &body) },
            Input { form: "encrypted malformed", octets: protected(next, &malformed) },
        ];
        if let Some(earlier) = next.checked_sub(1) {
            inputs.push(Input { form: "clear earlier", octets: clear(earlier, &body) });
            inputs.push(Input { form: "encrypted earlier", octets: protected(earlier, &body) });
        }
        all.push((name.to_owned(), inputs));
    }
    for (content_type, content, name) in OTHERS {
        let inputs = vec![
            Input { form: "clear", octets: record(content_type, 0, NEW, content) },
            Input { form: "clear epoch 1", octets: record(content_type, 1, NEW, content) },
            Input { form: "clear epoch 2", octets: record(content_type, 2, NEW, content) },
            Input { form: "encrypted", octets: peer.protected(content_type, NEW, content) },
        ];
        all.push((name.to_owned(), inputs));
    }
    if let Some(Record { octets: last, .. }) = received.last() {
        let mut cut = last.clone();
        cut.pop();
        let mut other = last.clone();
        other[1] = 3; // TLS
        let inputs = vec![
            Input { form: "again", octets: last.clone() },
            Input { form: "again cut", octets: cut },
            Input { form: "again as TLS", octets: other },
        ];
        all.push(("the last record".to_owned(), inputs));
    }
    all
}

/// The records of a datagram.
fn split(datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut rest = datagram;
    while !rest.is_empty() {
        if SHORT_HEADERS.iter().any(|(first, _)| rest[0] == *first) {
            records.push(rest.to_vec());
            break;
        }
        let length = HEADER + usize::from(u16::from_be_bytes([rest[11], rest[12]]));
        let (record, more) = rest.split_at(length.min(rest.len()));
        records.push(record.to_vec());
        rest = more;
    }
    records
}

/// The content type of a record, and whether it is encrypted.
fn kind_of(record: &[u8]) -> (u8, bool) {
    match SHORT_HEADERS.iter().find(|(first, _)| record[0] == *first) {
        Some((_, content_type)) => (*content_type, true),
        None => (record[0], record[3..5] != [0, 0]),
    }
}

/// A record in short: what it carries, as far as somebody on the path sees it.
fn name(record: &[u8]) -> String {
    let short = |kind: u8| SHORT.iter().find(|(number, _)| *number == kind).map_or("?", |(_, name)| *name);
    match kind_of(record) {
        (20, _) => "CCS".to_owned(),
        (21, false) => "AL".to_owned(),
        (22, false) => short(record[HEADER]).to_owned(),
        (21, true) => "AL*".to_owned(),
        (22, true) => "FIN*".to_owned(),
        (26, true) => "ACK*".to_owned(),
        (content_type, _) => format!("{content_type}*"),
    }
}
