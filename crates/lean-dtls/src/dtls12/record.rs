//! Records: headers, encryption, and the sequence numbers of both directions (RFC 6347, section 4.1).

use super::schedule::{Keys, SALT};
use crate::codec::{Full, Reader, Writer};
use crate::config::MAX_CONTENT;
use crate::connection_id::{ConnectionId, MAX_CONNECTION_ID};
use crate::content_type::ContentType;
use crate::crypto::{Aead, Crypto, Failed, NONCE, Protection};
use crate::features::{self, Feature, GCM, Off, OrOff, RECORD_LIMITS, Switch};
use crate::flight::{self, Part};
use crate::handshake;
use crate::lean::Lean;
use crate::replay::Window;

/// DTLS 1.2 on the wire.
pub(crate) const VERSION: u16 = 0xfefd;

/// DTLS 1.0, which a HelloVerifyRequest may carry (RFC 6347, section 4.2.1).
pub(crate) const VERSION_10: u16 = 0xfeff;

/// Octets of a record's header.
pub(crate) const HEADER: usize = 13;

/// Octets of the explicit part of a nonce: epoch and sequence number (RFC 6655, section 3).
const EXPLICIT_NONCE: usize = 8;

/// Octets that a record of application data has beside the data in a suite with CCM_8: header, explicit nonce and tag. One with
/// a connection ID has more; so has one of AES-GCM, whose tag is longer. One of the lean profile has less.
pub const OVERHEAD: usize = HEADER + EXPLICIT_NONCE + Aead::Ccm8.tag();

/// The largest sequence number: 48 bits.
const LAST_SEQUENCE: u64 = (1 << 48) - 1;

/// Octets of the longest associated data: that of a record with a connection ID.
const MAX_ASSOCIATED: usize = if features::CONNECTION_ID { 23 + MAX_CONNECTION_ID } else { 13 };

/// The content type with this number. `None` if this engine does not know it.
const fn content_type(number: u8) -> Option<ContentType> {
    let last = if features::LEAN { ContentType::Acknowledgement } else { ContentType::ConnectionId };
    if ContentType::ChangeCipherSpec.0 <= number && number <= last.0 { Some(ContentType(number)) } else { None }
}

/// The header of a received record, and where its content is in the datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) content_type: ContentType,
    pub(crate) epoch: u16,
    pub(crate) sequence: u64,
    pub(crate) length: usize,
}

impl Header {
    /// Reads the next header. `None` if the rest of the datagram is not a record of this protocol, or has another connection
    /// ID than that of its receiver.
    pub(crate) fn read(reader: &mut Reader<'_>, id: &ConnectionId) -> Option<Self> {
        let content_type = content_type(reader.u8()?);
        let version = reader.u16()?;
        let epoch_and_sequence = u64::from_be_bytes(reader.array()?);
        if content_type == Some(ContentType::ConnectionId)
            && (id.octets().is_empty() || reader.take(id.octets().len())? != id.octets())
        {
            return None;
        }
        let length = usize::from(reader.u16()?);
        if !matches!(version, VERSION | VERSION_10) || length > reader.rest().len() {
            return None;
        }
        let (epoch, sequence) = ((epoch_and_sequence >> 48) as u16, epoch_and_sequence & LAST_SEQUENCE);
        Some(Self { content_type: content_type?, epoch, sequence, length })
    }

    /// Writes the header of a record whose content gets so many octets more.
    fn write(&self, writer: &mut Writer<'_>, id: &ConnectionId, expansion: usize) -> Result<(), Full> {
        let ([v0, v1], [l0, l1]) = (VERSION.to_be_bytes(), ((self.length + expansion) as u16).to_be_bytes());
        writer.put(&[self.content_type.0, v0, v1])?;
        writer.put(&self.epoch_and_sequence())?;
        if !id.octets().is_empty() {
            writer.put(id.octets())?;
        }
        writer.put(&[l0, l1])
    }

    fn epoch_and_sequence(&self) -> [u8; EXPLICIT_NONCE] {
        (u64::from(self.epoch) << 48 | self.sequence).to_be_bytes()
    }
}

/// The form of encrypted records: the parts that the lean profile leaves out, and their algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    lean: Lean,
    aead: OrOff<GCM, Aead>,
}

impl Off for Aead {
    const OFF: &'static Self = &Self::Ccm8;
}

/// The most octets of content in records of each epoch.
impl Off for [u16; 2] {
    const OFF: &'static Self = &[MAX_CONTENT; 2];
}

/// Octets of the short header: the content type, and the lower 16 bits of the sequence number.
const SHORT_HEADER: usize = 3;

/// The first octets of the short header, by content type. They are neither content types of DTLS (20 to 27) nor unified
/// headers of DTLS 1.3 (32 to 63), and stay in the range of DTLS (20 to 63: RFC 9443, section 3).
const SHORT_TYPES: [(u8, ContentType); 4] = [
    (28, ContentType::Alert),
    (29, ContentType::Handshake),
    (30, ContentType::ApplicationData),
    (31, ContentType::Acknowledgement),
];

impl Format {
    /// With nothing left out, in a suite with CCM_8.
    fn plain() -> Self {
        Self::new(Lean::NONE, Aead::Ccm8)
    }

    pub(crate) fn new(lean: Lean, aead: Aead) -> Self {
        Self { lean, aead: Feature::<GCM>::or_off(aead) }
    }

    fn aead(self) -> Aead {
        if !GCM {
            return Aead::Ccm8; // at once, so that the length of the tag is a constant for the compiler
        }
        let aead: &Aead = &self.aead;
        *aead
    }

    const fn header(self) -> usize {
        if self.lean.has(Lean::SHORT_HEADER) { SHORT_HEADER } else { HEADER }
    }

    const fn explicit_nonce(self) -> usize {
        if self.lean.has(Lean::SHORT_NONCE) { 0 } else { EXPLICIT_NONCE }
    }

    /// Octets that a record has beside its content.
    fn overhead(self) -> usize {
        self.header() + self.explicit_nonce() + self.aead().tag()
    }

    fn write(self, header: &Header, id: &ConnectionId, writer: &mut Writer<'_>) -> Result<(), Full> {
        let number = header.epoch_and_sequence();
        let is_short = self.lean.has(Lean::SHORT_HEADER);
        match is_short.then(|| SHORT_TYPES.iter().find(|(_, of)| *of == header.content_type)).flatten() {
            Some((first, _)) => {
                writer.number((*first).into(), 1)?;
                writer.put(&number[6..])?;
            }
            None => header.write(writer, id, self.explicit_nonce() + self.aead().tag())?,
        }
        writer.put(&number[..self.explicit_nonce()])
    }

    /// Reads a header, short or not. A record with a short one reaches to the end of its datagram.
    fn read(self, window: &Window, id: &ConnectionId, reader: &mut Reader<'_>) -> Option<Header> {
        if self.lean.has(Lean::SHORT_HEADER) {
            let mut short = *reader;
            let first = short.u8()?;
            if let Some(&(_, content_type)) = SHORT_TYPES.iter().find(|(of, _)| *of == first) {
                let sequence = window.nearest(short.u16()?)?;
                *reader = short;
                return Some(Header { content_type, epoch: 1, sequence, length: reader.rest().len() });
            }
        }
        Header::read(reader, id)
    }
}

/// The records that an end sends: epoch 0 without keys, then epoch 1.
pub(crate) struct Outbound {
    /// The next sequence number of each epoch.
    next: [u64; 2],
    keys: Option<Keys>,
    format: Format,
    /// The peer's connection ID, which encrypted records carry.
    pub(crate) id: ConnectionId,
    /// The most octets of content in records of each epoch.
    pub(crate) limits: OrOff<RECORD_LIMITS, [u16; 2]>,
}

impl Default for Outbound {
    fn default() -> Self {
        Self {
            next: [0; 2],
            keys: None,
            format: Format::plain(),
            id: ConnectionId::default(),
            limits: Feature::<RECORD_LIMITS>::or_off(*<[u16; 2]>::OFF),
        }
    }
}

impl Outbound {
    /// Goes on from the record that carried a HelloVerifyRequest's answer (RFC 6347, section 4.2.1).
    pub(crate) const fn start_at(&mut self, sequence: u64) {
        self.next[0] = sequence;
    }

    /// The number of the next record in clear.
    pub(crate) const fn next_in_clear(&self) -> u64 {
        self.next[0]
    }

    pub(crate) fn protect(&mut self, keys: Keys, format: Format) {
        (self.keys, self.format) = (Some(keys), format);
    }

    /// The latest sequence number of an epoch, of those that were sent, with these lower 16 bits.
    pub(crate) const fn latest(&self, epoch: u16, lower: u16) -> Option<u64> {
        let Some(latest) = self.next[(epoch & 1) as usize].checked_sub(1) else { return None };
        latest.checked_sub((latest as u16).wrapping_sub(lower) as u64)
    }

    /// Octets that a record of this epoch has beside its content.
    fn overhead(&self, epoch: u16) -> usize {
        if epoch == 0 { HEADER } else { self.format.overhead() + self.id.overhead() }
    }

    /// Octets of content for which a record of this epoch has room: in `octets` octets, and as the peer limits it.
    pub(crate) fn room(&self, epoch: u16, octets: usize) -> Option<usize> {
        let room = octets.checked_sub(self.overhead(epoch))?;
        Some(room.min(self.limit(epoch)))
    }

    fn limit(&self, epoch: u16) -> usize {
        let limit = if RECORD_LIMITS { self.limits[usize::from(epoch & 1)] } else { MAX_CONTENT };
        // The encrypted content type counts, as in RFC 8449, section 4.
        usize::from(limit) - usize::from(epoch > 0 && !self.id.octets().is_empty())
    }

    /// Writes a record of `content`.
    ///
    /// # Errors
    /// There is no room for it, no key for it, or no sequence number left. What was written before stays.
    pub(crate) fn write<C: Crypto>(
        &mut self,
        crypto: &mut C,
        (content_type, epoch): (ContentType, u16),
        content: &[&[u8]],
        output: &mut [u8],
    ) -> Result<usize, Full> {
        let sequence = self.next[usize::from(epoch & 1)];
        let length: usize = content.iter().map(|part| part.len()).sum();
        if sequence > LAST_SEQUENCE || self.room(epoch, output.len()).is_none_or(|room| room < length) {
            return Err(Full);
        }
        let id = if epoch > 0 { self.id } else { ConnectionId::default() };
        let outer = if id.octets().is_empty() { content_type } else { ContentType::ConnectionId };
        let inner = length + usize::from(outer != content_type);
        let header = Header { content_type: outer, epoch, sequence, length: inner };
        let mut writer = Writer::new(output);
        match epoch {
            0 => header.write(&mut writer, &id, 0)?,
            _ => self.format.write(&header, &id, &mut writer)?,
        }
        let start = writer.len();
        content.iter().try_for_each(|part| writer.put(part))?;
        if outer != content_type {
            writer.number(content_type.0.into(), 1)?;
        }
        let written = writer.len();
        let end = if epoch == 0 {
            written
        } else {
            let keys = self.keys.as_ref().ok_or(Full)?;
            let mut associated = [0; MAX_ASSOCIATED];
            let associated = header.write_associated(&id, &mut associated);
            let (aead, nonce) = (self.format.aead(), &keys.nonce(&header.epoch_and_sequence()));
            let with = Protection { aead, key: &keys.key, nonce, associated };
            let (content, rest) = output[start..].split_at_mut(inner);
            crypto.seal(&with, content, &mut rest[..aead.tag()]).map_err(|_| Full)?;
            written + aead.tag()
        };
        self.next[usize::from(epoch & 1)] += 1;
        Ok(end)
    }
}

/// The records of a flight, which changes from epoch 0 to epoch 1.
pub(crate) struct Records<'a, C> {
    pub(crate) crypto: &'a mut C,
    pub(crate) outbound: &'a mut Outbound,
}

pub(crate) const fn part(epoch: u16) -> Part {
    if epoch == 0 { Part::BeforeChange } else { Part::AfterChange }
}

impl<C> Records<'_, C> {
    /// True if the messages of a part, of which there is one, go without their header.
    const fn has_short_messages(&self, part: Part) -> bool {
        part as u16 > 0 && self.outbound.format.lean.has(Lean::SHORT_FINISHED)
    }
}

impl<C: Crypto> flight::Records for Records<'_, C> {
    const LAST_IS_SHORTER: bool = false;
    const HAS_SEVERAL_MESSAGES: bool = false;

    fn overhead(&self, part: Part, _: bool) -> usize {
        let overhead = self.outbound.overhead(part as u16);
        match self.has_short_messages(part) {
            true => overhead.saturating_sub(handshake::HEADER),
            false => overhead,
        }
    }

    fn limit(&self, part: Part) -> usize {
        self.outbound.limit(part as u16)
    }

    fn write(&mut self, part: Part, _: bool, fragments: &[&[u8]], output: &mut [u8]) -> Result<(usize, u64), Full> {
        let sequence = self.outbound.next[part as usize];
        let of = (ContentType::Handshake, part as u16);
        let content = if self.has_short_messages(part) { &fragments[1..] } else { fragments };
        self.outbound.write(self.crypto, of, content, output).map(|written| (written, sequence))
    }

    fn change(&mut self, output: &mut [u8]) -> Result<usize, Full> {
        if self.outbound.format.lean.has(Lean::OMIT_MESSAGES) {
            return Ok(0);
        }
        self.outbound.write(self.crypto, (ContentType::ChangeCipherSpec, 0), &[&[1]], output)
    }
}

/// The records that an end receives.
pub(crate) struct Inbound {
    keys: Option<Keys>,
    format: Format,
    window: Window,
    /// This end's connection ID, which encrypted records carry.
    pub(crate) id: ConnectionId,
    /// The most octets of content in records of each epoch.
    pub(crate) limits: OrOff<RECORD_LIMITS, [u16; 2]>,
}

impl Default for Inbound {
    fn default() -> Self {
        Self {
            keys: None,
            format: Format::plain(),
            window: Window::default(),
            id: ConnectionId::default(),
            limits: Feature::<RECORD_LIMITS>::or_off(*<[u16; 2]>::OFF),
        }
    }
}

impl Inbound {
    pub(crate) fn protect(&mut self, keys: Keys, format: Format) {
        (self.keys, self.format) = (Some(keys), format);
    }

    /// Reads the header of the next record in a datagram. `None` if it is malformed, not whole, or for another receiver.
    pub(crate) fn read_header(&self, reader: &mut Reader<'_>) -> Option<Header> {
        self.format.read(&self.window, &self.id, reader)
    }

    /// True if a record is later than all that were the peer's.
    pub(crate) const fn is_latest(&self, header: &Header) -> bool {
        self.window.is_latest(header.sequence)
    }

    /// Takes the content of a record in clear.
    ///
    /// # Errors
    /// It is too long, or says that it is encrypted. It is then discarded in silence (RFC 6347, section 4.1.2.7).
    pub(crate) fn take<'a>(
        &self,
        header: &Header,
        content: &'a mut [u8],
    ) -> Result<(ContentType, &'a mut [u8]), Failed> {
        let can = header.content_type != ContentType::ConnectionId && content.len() <= self.limit(0);
        if can { Ok((header.content_type, content)) } else { Err(Failed) }
    }

    /// Decrypts the content of a record of epoch 1 in place, and returns it with its type.
    ///
    /// # Errors
    /// There is no key yet, the record was received before, it is not the peer's, its content is too long, or it has no
    /// connection ID although this end has one. It is then discarded in silence (RFC 6347, section 4.1.2.7).
    pub(crate) fn open<'a, C: Crypto>(
        &mut self,
        crypto: &mut C,
        header: &Header,
        fragment: &'a mut [u8],
    ) -> Result<(ContentType, &'a mut [u8]), Failed> {
        let keys = self.keys.as_ref().ok_or(Failed)?;
        let has_id = header.content_type == ContentType::ConnectionId;
        if header.epoch != 1 || !self.window.is_new(header.sequence) || has_id == self.id.octets().is_empty() {
            return Err(Failed);
        }
        let aead = self.format.aead();
        let (explicit, rest) = fragment.split_at_mut_checked(self.format.explicit_nonce()).ok_or(Failed)?;
        let (content, tag) = rest.split_at_mut_checked(rest.len().wrapping_sub(aead.tag())).ok_or(Failed)?;
        let plain = Header { length: content.len(), ..*header };
        let explicit = match explicit.is_empty() {
            true => header.epoch_and_sequence(),
            false => (&*explicit).try_into().map_err(|_| Failed)?,
        };
        let mut associated = [0; MAX_ASSOCIATED];
        let associated = plain.write_associated(&self.id, &mut associated);
        let with = Protection { aead, key: &keys.key, nonce: &keys.nonce(&explicit), associated };
        crypto.open(&with, content, tag)?;
        self.window.receive(header.sequence);
        let (content_type, length) = if has_id { inner(content)? } else { (header.content_type, content.len()) };
        if length > self.limit(1) { Err(Failed) } else { Ok((content_type, &mut content[..length])) }
    }

    fn limit(&self, epoch: u16) -> usize {
        if RECORD_LIMITS { self.limits[usize::from(epoch & 1)].into() } else { MAX_CONTENT.into() }
    }
}

/// The content type in a record with a connection ID, which follows the content, and the length of the content before it. Zeros
/// fill the rest (RFC 9146, section 4).
fn inner(plaintext: &[u8]) -> Result<(ContentType, usize), Failed> {
    let length = plaintext.iter().rposition(|octet| *octet != 0).ok_or(Failed)?;
    match content_type(plaintext[length]) {
        None | Some(ContentType::ConnectionId) => Err(Failed),
        Some(content_type) => Ok((content_type, length)),
    }
}

impl Keys {
    /// The nonce of a record: what both ends derived, and what the record carries.
    fn nonce(&self, explicit: &[u8; EXPLICIT_NONCE]) -> [u8; NONCE] {
        let mut nonce = [0; NONCE];
        nonce[..SALT].copy_from_slice(&self.salt);
        nonce[SALT..].copy_from_slice(explicit);
        nonce
    }
}

impl Header {
    /// The data that the tag protects beside the content (RFC 5246, section 6.2.3.3; RFC 6347, section 4.1.2.1; with a connection ID
    /// RFC 9146, section 5.3). The length is that of the content.
    fn write_associated<'a>(&self, id: &ConnectionId, data: &'a mut [u8; MAX_ASSOCIATED]) -> &'a [u8] {
        let ([v0, v1], [l0, l1]) = (VERSION.to_be_bytes(), (self.length as u16).to_be_bytes());
        let (content_type, octets) = (self.content_type.0, id.octets());
        let mut writer = Writer::new(data);
        // It has room for the longest connection ID.
        let _ = if octets.is_empty() {
            writer.put(&self.epoch_and_sequence()).and_then(|()| writer.put(&[content_type, v0, v1, l0, l1]))
        } else {
            writer
                .put(&[0xff; 8])
                .and_then(|()| writer.put(&[content_type, octets.len() as u8, content_type, v0, v1]))
                .and_then(|()| writer.put(&self.epoch_and_sequence()))
                .and_then(|()| writer.put(octets))
                .and_then(|()| writer.put(&[l0, l1]))
        };
        let written = writer.len();
        &data[..written]
    }
}

/// The connection ID of `length` octets with which a datagram begins, if its first record has one.
pub(crate) fn connection_id_of(datagram: &[u8], length: usize) -> Option<&[u8]> {
    let mut reader = Reader::new(datagram);
    let content_type = content_type(reader.u8()?);
    reader.take(2 + EXPLICIT_NONCE)?;
    (content_type == Some(ContentType::ConnectionId)).then(|| reader.take(length))?
}

#[cfg(all(test, feature = "rustcrypto", feature = "record-limits", feature = "connection-id"))]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::crypto::{KEY, RustCrypto};

    fn keys() -> Keys {
        Keys { key: [7; KEY], salt: [9; SALT] }
    }

    /// A record of epoch 1, for a receiver with this connection ID.
    fn sealed(content: &[u8], id: ConnectionId) -> Vec<u8> {
        let mut outbound = Outbound { id, ..Outbound::default() };
        outbound.protect(keys(), Format::plain());
        let mut output = [0; 300];
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let length = outbound.write(&mut crypto, (ContentType::ApplicationData, 1), &[content], &mut output).unwrap();
        output[..length].to_vec()
    }

    /// Reads a datagram as a receiver with this connection ID and limit.
    fn opened(mut datagram: Vec<u8>, id: ConnectionId, limit: u16) -> Option<(ContentType, Vec<u8>)> {
        let mut inbound = Inbound { id, limits: [limit; 2], ..Inbound::default() };
        inbound.protect(keys(), Format::plain());
        let mut reader = Reader::new(&datagram);
        let header = Header::read(&mut reader, &id)?;
        let start = datagram.len() - reader.rest().len();
        let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
        let content = &mut datagram[start..start + header.length];
        inbound.open(&mut crypto, &header, content).ok().map(|(kind, content)| (kind, content.to_vec()))
    }

    /// A peer that sends more than this end has allowed, under the right key (RFC 8449, section 4).
    #[test]
    fn a_record_longer_than_the_limit_is_discarded() {
        let none = ConnectionId::default();
        assert!(opened(sealed(&[1; 64], none), none, 64).is_some());
        assert_eq!(opened(sealed(&[1; 65], none), none, 64), None);
    }

    fn id(octet: u8) -> ConnectionId {
        ConnectionId::draw(&mut RustCrypto::new(|octets: &mut [u8]| octets.fill(octet)), 4).unwrap()
    }

    /// Zeros after the content type are padding, which another implementation may send (RFC 9146, section 4). A record of
    /// nothing but zeros has no content type.
    #[test]
    fn padding_is_taken_off() {
        assert_eq!(inner(&[1, 2, 0, 23, 0, 0]), Ok((ContentType::ApplicationData, 3)));
        assert_eq!(inner(&[22]), Ok((ContentType::Handshake, 0)));
        for refused in [&[][..], &[0, 0, 0], &[1, 25, 0], &[1, 99]] {
            assert_eq!(inner(refused), Err(Failed), "{refused:?}");
        }
    }

    #[test]
    fn a_record_is_for_the_receiver_with_its_connection_id() {
        let none = ConnectionId::default();
        let record = sealed(b"abc", id(5));
        assert_eq!(opened(record.clone(), id(5), 100), Some((ContentType::ApplicationData, b"abc".to_vec())));
        assert_eq!(opened(record.clone(), id(6), 100), None);
        assert_eq!(opened(record.clone(), none, 100), None);
        assert_eq!(opened(sealed(b"abc", none), id(5), 100), None, "a record without the agreed ID");
        // Type, version, number and ID are in clear, and protected: each change is found.
        for octet in 0..record.len() {
            let mut forged = record.clone();
            forged[octet] ^= 1;
            assert_eq!(opened(forged, id(5), 100), None, "octet {octet}");
        }
    }

    /// RFC 9146, section 5.3, by hand: a placeholder, type, length of the ID, type, version, epoch, number, ID, length.
    #[test]
    fn the_associated_data_of_a_record_with_a_connection_id() {
        let header = Header { content_type: ContentType::ConnectionId, epoch: 1, sequence: 0x0203, length: 0x0405 };
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 25, 4, 25, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 2, 3, 8, 8, 8, 8,
            4, 5,
        ];
        assert_eq!(header.write_associated(&id(8), &mut [0; MAX_ASSOCIATED]), expected);
    }
}
