//! Records: headers, encryption, and the sequence numbers of both directions (RFC 6347, section 4.1).

use super::schedule::{Keys, SALT};
use crate::codec::{Full, Reader, Writer};
use crate::crypto::{Aead, Crypto, Failed, NONCE, Protection};
use crate::flight::{self, Part};
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

/// Octets of the tag.
const TAG: usize = Aead::Ccm8.tag();

/// Octets that a record of application data has beside the data: header, explicit nonce and tag. The lean profile has fewer.
pub const OVERHEAD: usize = Format(Lean::NONE).overhead();

/// The largest sequence number: 48 bits.
const LAST_SEQUENCE: u64 = (1 << 48) - 1;

/// What a record carries (RFC 5246, section 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentType {
    ChangeCipherSpec,
    Alert,
    Handshake,
    ApplicationData,
    /// Of the lean profile, with the number of RFC 9147, section 7. It is always encrypted.
    Acknowledgement,
}

impl ContentType {
    const fn of(number: u8) -> Option<Self> {
        match number {
            20 => Some(Self::ChangeCipherSpec),
            21 => Some(Self::Alert),
            22 => Some(Self::Handshake),
            23 => Some(Self::ApplicationData),
            26 if cfg!(feature = "lean") => Some(Self::Acknowledgement),
            _ => None,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::ChangeCipherSpec => 20,
            Self::Alert => 21,
            Self::Handshake => 22,
            Self::ApplicationData => 23,
            Self::Acknowledgement => 26,
        }
    }
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
    /// Reads the next header. `None` if the rest of the datagram is not a record of this protocol.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let content_type = ContentType::of(reader.u8()?);
        let version = reader.u16()?;
        let (epoch, sequence) = (reader.u16()?, reader.number(6)?);
        let length = usize::from(reader.u16()?);
        if !matches!(version, VERSION | VERSION_10) || length > reader.rest().len() {
            return None;
        }
        Some(Self { content_type: content_type?, epoch, sequence, length })
    }

    /// Writes the header of a record whose content gets so many octets more.
    fn write(&self, writer: &mut Writer<'_>, expansion: usize) -> Result<(), Full> {
        writer.number(self.content_type.number().into(), 1)?;
        writer.number(VERSION.into(), 2)?;
        writer.put(&self.epoch_and_sequence())?;
        writer.number((self.length + expansion) as u64, 2)
    }

    fn epoch_and_sequence(&self) -> [u8; EXPLICIT_NONCE] {
        (u64::from(self.epoch) << 48 | self.sequence).to_be_bytes()
    }
}

/// How encrypted records look: what the lean profile leaves out of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Format(Lean);

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
    pub(crate) const fn new(lean: Lean) -> Self {
        Self(lean)
    }

    const fn header(self) -> usize {
        if self.0.has(Lean::SHORT_HEADER) { SHORT_HEADER } else { HEADER }
    }

    const fn explicit_nonce(self) -> usize {
        if self.0.has(Lean::SHORT_NONCE) { 0 } else { EXPLICIT_NONCE }
    }

    /// Octets that a record has beside its content.
    pub(crate) const fn overhead(self) -> usize {
        self.header() + self.explicit_nonce() + TAG
    }

    fn write(self, header: &Header, writer: &mut Writer<'_>) -> Result<(), Full> {
        let number = header.epoch_and_sequence();
        let short = SHORT_TYPES.iter().find(|(_, of)| *of == header.content_type);
        match short.filter(|_| self.0.has(Lean::SHORT_HEADER)) {
            Some((first, _)) => {
                writer.number((*first).into(), 1)?;
                writer.put(&number[6..])?;
            }
            None => header.write(writer, self.explicit_nonce() + TAG)?,
        }
        writer.put(&number[..self.explicit_nonce()])
    }

    /// Reads a header, short or not. A record with a short one reaches to the end of its datagram.
    fn read(self, window: &Window, reader: &mut Reader<'_>) -> Option<Header> {
        if !self.0.has(Lean::SHORT_HEADER) {
            return Header::read(reader);
        }
        let mut short = *reader;
        let first = short.u8()?;
        match SHORT_TYPES.iter().find(|(of, _)| *of == first) {
            None => Header::read(reader),
            Some(&(_, content_type)) => {
                let sequence = window.nearest(short.u16()?)?;
                *reader = short;
                Some(Header { content_type, epoch: 1, sequence, length: reader.rest().len() })
            }
        }
    }
}

/// The records that an end sends: epoch 0 without keys, then epoch 1.
#[derive(Default)]
pub(crate) struct Outbound {
    /// The next sequence number of each epoch.
    next: [u64; 2],
    keys: Option<Keys>,
    format: Format,
}

impl Outbound {
    /// Goes on from the record that carried a HelloVerifyRequest's answer (RFC 6347, section 4.2.1).
    pub(crate) const fn start_at(&mut self, sequence: u64) {
        self.next[0] = sequence;
    }

    pub(crate) fn protect(&mut self, keys: Keys, format: Format) {
        (self.keys, self.format) = (Some(keys), format);
    }

    #[cfg(feature = "lean")]
    /// The latest sequence number of an epoch, of those that were sent, with these lower 16 bits.
    pub(crate) const fn latest(&self, epoch: u16, lower: u16) -> Option<u64> {
        let Some(latest) = self.next[(epoch & 1) as usize].checked_sub(1) else { return None };
        latest.checked_sub((latest as u16).wrapping_sub(lower) as u64)
    }

    /// Octets that a record of this epoch has beside its content.
    pub(crate) const fn overhead(&self, epoch: u16) -> usize {
        if epoch == 0 { HEADER } else { self.format.overhead() }
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
        if sequence > LAST_SEQUENCE || output.len() < self.overhead(epoch) + length {
            return Err(Full);
        }
        let header = Header { content_type, epoch, sequence, length };
        let mut writer = Writer::new(output);
        match epoch {
            0 => header.write(&mut writer, 0)?,
            _ => self.format.write(&header, &mut writer)?,
        }
        let start = writer.len();
        content.iter().try_for_each(|part| writer.put(part))?;
        let written = writer.len();
        let end = if epoch == 0 {
            written
        } else {
            let keys = self.keys.as_ref().ok_or(Full)?;
            let (nonce, associated) = (keys.nonce(&header.epoch_and_sequence()), associated(&header));
            let with = Protection { aead: Aead::Ccm8, key: &keys.key, nonce: &nonce, associated: &associated };
            let (content, rest) = output[start..].split_at_mut(length);
            crypto.seal(&with, content, &mut rest[..TAG]).map_err(|_| Full)?;
            written + TAG
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

const fn epoch(part: Part) -> u16 {
    match part {
        Part::BeforeChange => 0,
        Part::AfterChange => 1,
    }
}

#[cfg(feature = "lean")]
pub(crate) const fn part(epoch: u16) -> Part {
    if epoch == 0 { Part::BeforeChange } else { Part::AfterChange }
}

impl<C: Crypto> flight::Records for Records<'_, C> {
    const LAST_IS_SHORTER: bool = false;

    fn overhead(&self, part: Part, _: bool) -> usize {
        self.outbound.overhead(epoch(part))
    }

    fn write(&mut self, part: Part, _: bool, fragment: [&[u8]; 2], output: &mut [u8]) -> Result<(usize, u64), Full> {
        let sequence = self.outbound.next[usize::from(epoch(part))];
        let of = (ContentType::Handshake, epoch(part));
        self.outbound.write(self.crypto, of, &fragment, output).map(|written| (written, sequence))
    }

    fn change(&mut self, output: &mut [u8]) -> Result<usize, Full> {
        if self.outbound.format.0.has(Lean::OMIT_MESSAGES) {
            return Ok(0);
        }
        self.outbound.write(self.crypto, (ContentType::ChangeCipherSpec, 0), &[&[1]], output)
    }
}

/// The records that an end receives.
#[derive(Default)]
pub(crate) struct Inbound {
    keys: Option<Keys>,
    format: Format,
    window: Window,
}

impl Inbound {
    pub(crate) fn protect(&mut self, keys: Keys, format: Format) {
        (self.keys, self.format) = (Some(keys), format);
    }

    /// Reads the header of the next record in a datagram. `None` if it is malformed, or not whole.
    pub(crate) fn read_header(&self, reader: &mut Reader<'_>) -> Option<Header> {
        self.format.read(&self.window, reader)
    }

    /// Decrypts the content of a record of epoch 1 in place, and returns it.
    ///
    /// # Errors
    /// There is no key yet, the record was received before, or it is not the peer's. It is then discarded in silence
    /// (RFC 6347, section 4.1.2.7).
    pub(crate) fn open<'a, C: Crypto>(
        &mut self,
        crypto: &mut C,
        header: &Header,
        fragment: &'a mut [u8],
    ) -> Result<&'a mut [u8], Failed> {
        let keys = self.keys.as_ref().ok_or(Failed)?;
        if header.epoch != 1 || !self.window.is_new(header.sequence) {
            return Err(Failed);
        }
        let (explicit, rest) = fragment.split_at_mut_checked(self.format.explicit_nonce()).ok_or(Failed)?;
        let (content, tag) = rest.split_at_mut_checked(rest.len().wrapping_sub(TAG)).ok_or(Failed)?;
        let plain = Header { length: content.len(), ..*header };
        let explicit = match explicit.is_empty() {
            true => header.epoch_and_sequence(),
            false => (&*explicit).try_into().map_err(|_| Failed)?,
        };
        let (nonce, associated) = (keys.nonce(&explicit), associated(&plain));
        let with = Protection { aead: Aead::Ccm8, key: &keys.key, nonce: &nonce, associated: &associated };
        crypto.open(&with, content, tag)?;
        self.window.receive(header.sequence);
        Ok(content)
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

/// What the tag protects beside the content (RFC 5246, section 6.2.3.3; RFC 6347, section 4.1.2.1). `header.length` is that
/// of the content.
fn associated(header: &Header) -> [u8; HEADER] {
    let mut data = [0; HEADER];
    data[..8].copy_from_slice(&header.epoch_and_sequence());
    data[8] = header.content_type.number();
    data[9..11].copy_from_slice(&VERSION.to_be_bytes());
    data[11..].copy_from_slice(&(header.length as u16).to_be_bytes());
    data
}
