//! Every record of DTLS 1.3 that an end can get, in every form; written after RFC 9147, sections 4, 5.2 and 7.

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{BLOCK, Crypto, NONCE, Protection};

use super::inputs::{Input, Peer, Record, handshake, record};
use super::spy::Seen;

/// Octets of the header of a record in clear.
const HEADER: usize = 13;

/// Content types.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const ACK: u8 = 26;

/// The parts of the first octet of a unified header.
const FIXED: u8 = 0b0010_0000;
const HAS_CONNECTION_ID: u8 = 0b0001_0000;
const HAS_LONG_SEQUENCE: u8 = 0b0000_1000;
const HAS_LENGTH: u8 = 0b0000_0100;
const EPOCH: u8 = 0b0000_0011;

/// The epochs with keys: of the handshake, and of application data.
const EPOCHS: [u8; 2] = [2, 3];

/// No record of a handshake has this number, and it makes none of them too old.
const NEW: u16 = 40;

/// The beginning of the random number of a HelloRetryRequest (RFC 8446, section 4.1.3).
const RETRY: [u8; 4] = [0xcf, 0x21, 0xad, 0x74];

/// The kinds of messages (RFC 8446, section 4; RFC 9147, section 5.2), with some of DTLS 1.2, and one that there is not; and a
/// body for each that its sender has not sent.
const KINDS: [(u8, &[u8], &str); 20] = [
    (0, &[], "HelloRequest"),
    (1, &[0; 4], "ClientHello"),
    (2, &[0; 4], "ServerHello"),
    (2, &[0; 4], "HelloRetryRequest"),
    (3, &[0xfe, 0xff, 4, 1, 2, 3, 4], "HelloVerifyRequest"),
    (4, &[0, 0, 0, 60, 1, 2, 3, 4, 1, 0, 0, 1, 7, 0, 0], "NewSessionTicket"),
    (5, &[], "EndOfEarlyData"),
    (8, &[0, 0], "EncryptedExtensions"),
    (9, &[1], "RequestConnectionId"),
    // One of two octets, to be used at once.
    (10, &[0, 3, 2, 7, 7, 0], "NewConnectionId"),
    // Of no certificates.
    (11, &[0; 4], "Certificate"),
    // It takes ecdsa_secp256r1_sha256.
    (13, &[0, 0, 8, 0, 13, 0, 4, 0, 2, 4, 3], "CertificateRequest"),
    (14, &[], "ServerHelloDone"),
    (15, &[4, 3, 0, 0], "CertificateVerify"),
    (16, &[0, 6, b'n', b'o', b'b', b'o', b'd', b'y'], "ClientKeyExchange"),
    (20, &[0; 32], "Finished"),
    (24, &[0], "KeyUpdate"),
    (24, &[1], "KeyUpdate that asks for one"),
    (254, &[0; 32], "message_hash"),
    (99, &[0; 4], "no such message"),
];

/// The short names of the messages in the tables.
const SHORT: [(u8, &str); 12] = [
    (1, "CH"),
    (2, "SH"),
    (4, "NST"),
    (8, "EE"),
    (9, "RCI"),
    (10, "NCI"),
    (11, "CT"),
    (13, "CR"),
    (15, "CV"),
    (20, "FIN"),
    (24, "KU"),
    (99, "?"),
];

/// Records that carry no handshake messages, or no whole ones: their content type, their content.
const OTHERS: [(u8, &[u8], &str); 15] = [
    (20, &[1], "ChangeCipherSpec"),
    (ALERT, &[1, 0], "close_notify"),
    (ALERT, &[1, 90], "user_canceled"),
    (ALERT, &[2, 40], "handshake_failure"),
    (ALERT, &[2], "a part of an alert"),
    (HANDSHAKE, &[], "no handshake message"),
    (HANDSHAKE, &[20, 0, 0, 32], "a part of a header"),
    (23, b"22.5 C", "application data"),
    (23, &[], "no application data"),
    (24, &[1, 0, 1, 7], "heartbeat"),
    (25, b"22.5 C", "record with ID"),
    (ACK, &[0, 0], "acknowledgement of nothing"),
    (ACK, &[0, 5, 0, 0], "malformed acknowledgement"),
    (99, b"22.5 C", "no such record"),
    (0, &[], "only padding"),
];

/// Acknowledgements: the epochs and numbers of their records.
const ACKNOWLEDGEMENTS: [(&[(u64, u64)], &str); 4] = [
    (&[(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)], "acknowledgement of the handshake"),
    // Also of a KeyUpdate after it.
    (&[(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1)], "acknowledgement of all"),
    (&[(0, 60), (2, 60)], "acknowledgement of records never sent"),
    (&[(1000, 0)], "acknowledgement of a later epoch"),
];

/// The end that sends to the one under test, as it was recorded.
pub struct Dtls13 {
    /// The handshake messages that it has sent: kind, body.
    messages: Vec<(u8, Vec<u8>)>,
    /// Its keys in [`EPOCHS`]: a record of each epoch.
    keys: [Seen; 2],
}

impl Peer for Dtls13 {
    const UPDATES_KEYS: bool = true;

    fn new(datagrams: &[Vec<u8>], seen: &[Seen]) -> (Self, Vec<Record>) {
        let of_epoch = |epoch| seen.iter().find(|seen| seen.associated[0] & EPOCH == epoch).expect("a record").clone();
        let mut peer = Self { messages: Vec::new(), keys: EPOCHS.map(of_epoch) };
        let (mut records, mut numbers) = (Vec::new(), [0; 2]);
        for sent in split(datagrams, seen) {
            if sent.content_type == HANDSHAKE {
                peer.messages.push((sent.content[0], sent.content[12..].to_vec()));
            }
            // Each message gets an encrypted record of its own, so that there is a state after each.
            let octets = match EPOCHS.iter().position(|epoch| *epoch == sent.epoch) {
                Some(place) => {
                    numbers[place] += 1;
                    peer.protected(sent.epoch, numbers[place] - 1, sent.content_type, &sent.content)
                }
                None => record(sent.content_type, 0, records.len() as u64, &sent.content),
            };
            records.push(Record { name: sent.name(), is_message: sent.content_type == HANDSHAKE, octets });
        }
        (peer, records)
    }

    fn inputs(&self, received: &[Record]) -> Vec<(String, Vec<Input>)> {
        let next = received.iter().filter(|record| record.is_message).count() as u16;
        let mut all = Vec::new();
        for (kind, default, name) in KINDS {
            let body = self.body(kind, name == "HelloRetryRequest").unwrap_or_else(|| default.to_vec());
            let body = if name.starts_with("KeyUpdate") { default } else { &body };
            let message = |sequence, body: &[u8]| handshake(kind, sequence, body);
            let mut inputs = self.forms(HANDSHAKE, &message(next, body), FORMS);
            inputs.extend(self.forms(HANDSHAKE, &message(next + 1, body), LATER));
            inputs.extend(self.forms(HANDSHAKE, &message(next, &[0xff]), MALFORMED));
            if let Some(earlier) = next.checked_sub(1) {
                inputs.extend(self.forms(HANDSHAKE, &message(earlier, body), EARLIER));
            }
            all.push((name.to_owned(), inputs));
        }
        let both = [handshake(24, next, &[0]), handshake(24, next + 1, &[0])].concat();
        all.push(("two KeyUpdates in a record".to_owned(), self.forms(HANDSHAKE, &both, FORMS)));
        for (content_type, content, name) in OTHERS {
            all.push((name.to_owned(), self.forms(content_type, content, FORMS)));
        }
        for (records, name) in ACKNOWLEDGEMENTS {
            let mut content = (16 * records.len() as u16).to_be_bytes().to_vec();
            content.extend(
                records.iter().flat_map(|(epoch, number)| [epoch.to_be_bytes(), number.to_be_bytes()].concat()),
            );
            all.push((name.to_owned(), self.forms(ACK, &content, FORMS)));
        }
        if let Some(Record { octets: last, .. }) = received.last() {
            let mut cut = last.clone();
            cut.pop();
            let inputs = vec![Input { form: "again", octets: last.clone() }, Input { form: "again cut", octets: cut }];
            all.push(("the last record".to_owned(), inputs));
        }
        all
    }

    fn close_notify(&self) -> Vec<u8> {
        self.protected(3, 20, ALERT, &[1, 0])
    }

    fn names(datagrams: &[Vec<u8>], seen: &[Seen]) -> Vec<String> {
        split(datagrams, seen).iter().map(Sent::name).collect()
    }
}

/// Names of forms: in clear, in clear of epoch 2, with the keys of epochs 2 and 3, and with a wrong tag.
type Forms = [&'static str; 5];

const FORMS: Forms = ["clear", "clear epoch 2", "epoch 2", "epoch 3", "forged"];
const LATER: Forms = ["clear later", "", "epoch 2 later", "epoch 3 later", ""];
const EARLIER: Forms = ["clear earlier", "", "epoch 2 earlier", "epoch 3 earlier", ""];
const MALFORMED: Forms = ["clear malformed", "", "epoch 2 malformed", "epoch 3 malformed", ""];

impl Dtls13 {
    /// The body of the message of this kind that it has sent.
    fn body(&self, kind: u8, is_retry: bool) -> Option<Vec<u8>> {
        let is_it = |(of, body): &&(u8, Vec<u8>)| *of == kind && (kind != 2 || self::is_retry(body) == is_retry);
        self.messages.iter().rfind(is_it).map(|(_, body)| body.clone())
    }

    /// A record with this content in every form that has a name.
    fn forms(
        &self,
        content_type: u8,
        content: &[u8],
        [clear, other, handshake, application, forged]: Forms,
    ) -> Vec<Input> {
        let mut wrong = self.protected(3, NEW, content_type, content);
        wrong.last_mut().into_iter().for_each(|octet| *octet ^= 1);
        let all = [
            Input { form: clear, octets: record(content_type, 0, NEW.into(), content) },
            Input { form: other, octets: record(content_type, 2, NEW.into(), content) },
            Input { form: handshake, octets: self.protected(2, NEW, content_type, content) },
            Input { form: application, octets: self.protected(3, NEW, content_type, content) },
            Input { form: forged, octets: wrong },
        ];
        all.into_iter().filter(|input| !input.form.is_empty()).collect()
    }

    /// A record that this peer can send in an epoch.
    fn protected(&self, epoch: u8, sequence: u16, content_type: u8, content: &[u8]) -> Vec<u8> {
        let place = EPOCHS.iter().position(|of| *of == epoch).expect("an epoch with keys");
        let Seen { aead, key, nonce, associated, hiding, .. } = &self.keys[place];
        let (before, id) = header(associated);
        // The nonce of the record that was seen is that of its sequence number.
        let mut nonce = *nonce;
        nonce[NONCE - 2..].iter_mut().zip(before.to_be_bytes()).for_each(|(octet, number)| *octet ^= number);
        nonce[NONCE - 2..].iter_mut().zip(sequence.to_be_bytes()).for_each(|(octet, number)| *octet ^= number);
        let mut encrypted = [content, &[content_type]].concat();
        encrypted.resize(encrypted.len().max(BLOCK - 8), 0);
        let has_id = if id.is_empty() { 0 } else { HAS_CONNECTION_ID };
        let mut header = vec![FIXED | has_id | HAS_LONG_SEQUENCE | HAS_LENGTH | epoch & EPOCH];
        header.extend_from_slice(id);
        header.extend(sequence.to_be_bytes());
        header.extend(((encrypted.len() + aead.tag()) as u16).to_be_bytes());
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let with = Protection { aead: *aead, key, nonce: &nonce, associated: &header };
        let mut tag = vec![0; aead.tag()];
        crypto.seal(&with, &mut encrypted, &mut tag).unwrap();
        encrypted.extend(tag);
        let mut mask: [u8; BLOCK] = encrypted[..BLOCK].try_into().unwrap();
        crypto.encrypt_block(&hiding.expect("its sequence number was hidden"), &mut mask).unwrap();
        header[1 + id.len()..].iter_mut().take(2).zip(mask).for_each(|(octet, mask)| *octet ^= mask);
        [header, encrypted].concat()
    }
}

/// The sequence number in a unified header in clear, and the connection ID.
fn header(associated: &[u8]) -> (u16, &[u8]) {
    let first = associated[0];
    let end = associated.len() - if first & HAS_LENGTH == 0 { 0 } else { 2 };
    let begin = end - if first & HAS_LONG_SEQUENCE == 0 { 1 } else { 2 };
    let sequence = associated[begin..end].iter().fold(0, |number, octet| number << 8 | u16::from(*octet));
    (sequence, &associated[1..begin])
}

fn is_retry(body: &[u8]) -> bool {
    body.get(2..6) == Some(&RETRY)
}

/// A thing that an end has sent: one message, or the content of a record.
struct Sent {
    epoch: u8,
    content_type: u8,
    content: Vec<u8>,
}

impl Sent {
    fn name(&self) -> String {
        let name = match (self.content_type, self.content.first()) {
            (ALERT, _) => "AL",
            (ACK, _) => "ACK",
            (HANDSHAKE, Some(2)) if is_retry(&self.content[12..]) => "HRR",
            (HANDSHAKE, Some(kind)) => SHORT.iter().find(|(number, _)| number == kind).map_or("?", |(_, name)| *name),
            _ => "?",
        };
        format!("{name}{}", if self.epoch == 0 { "" } else { "*" })
    }
}

/// Takes datagrams apart. `seen` is what their sender has encrypted for them, in its order.
fn split(datagrams: &[Vec<u8>], seen: &[Seen]) -> Vec<Sent> {
    let (mut all, mut seen) = (Vec::new(), seen.iter());
    for datagram in datagrams {
        let mut rest = &datagram[..];
        while let Some(first) = rest.first() {
            let (length, epoch, content_type, content) = if first & 0b1110_0000 == FIXED {
                let Seen { aead, content, associated, .. } = seen.next().expect("it has encrypted this");
                let end = content.iter().rposition(|octet| *octet != 0).expect("a content type");
                let length = associated.len() + content.len() + aead.tag();
                (length, associated[0] & EPOCH, content[end], &content[..end])
            } else {
                let length = HEADER + usize::from(u16::from_be_bytes([rest[11], rest[12]]));
                (length, 0, *first, &rest[HEADER..length])
            };
            for content in messages(content_type, content) {
                all.push(Sent { epoch, content_type, content });
            }
            rest = &rest[length..];
        }
    }
    all
}

/// The messages in a record, which are whole; or its content.
fn messages(content_type: u8, mut content: &[u8]) -> Vec<Vec<u8>> {
    if content_type != HANDSHAKE {
        return vec![content.to_vec()];
    }
    let mut all = Vec::new();
    while let [_, _, l0, l1, ..] = content {
        let (message, rest) = content.split_at(12 + usize::from(u16::from_be_bytes([*l0, *l1])));
        all.push(message.to_vec());
        content = rest;
    }
    all
}
