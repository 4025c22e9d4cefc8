//! Records: headers, encryption, and the sequence numbers of both directions (RFC 6347, section 4.1).

use super::schedule::{Keys, SALT};
use crate::codec::{Full, Reader, Writer};
use crate::crypto::{Aead, Crypto, Failed, NONCE, Protection};
use crate::flight::{self, Part};
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

/// Octets that encryption adds to a record.
const EXPANSION: usize = EXPLICIT_NONCE + TAG;

/// Octets that a record of application data has beside the data: header, explicit nonce and tag.
pub const OVERHEAD: usize = HEADER + EXPANSION;

/// The largest sequence number: 48 bits.
const LAST_SEQUENCE: u64 = (1 << 48) - 1;

/// What a record carries (RFC 5246, section 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentType {
    ChangeCipherSpec,
    Alert,
    Handshake,
    ApplicationData,
}

impl ContentType {
    const fn of(number: u8) -> Option<Self> {
        match number {
            20 => Some(Self::ChangeCipherSpec),
            21 => Some(Self::Alert),
            22 => Some(Self::Handshake),
            23 => Some(Self::ApplicationData),
            _ => None,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::ChangeCipherSpec => 20,
            Self::Alert => 21,
            Self::Handshake => 22,
            Self::ApplicationData => 23,
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

    fn epoch_and_sequence(&self) -> [u8; EXPLICIT_NONCE] {
        (u64::from(self.epoch) << 48 | self.sequence).to_be_bytes()
    }
}

/// The records that an end sends: epoch 0 without keys, then epoch 1.
#[derive(Default)]
pub(crate) struct Outbound {
    /// The next sequence number of each epoch.
    next: [u64; 2],
    keys: Option<Keys>,
}

impl Outbound {
    /// Goes on from the record that carried a HelloVerifyRequest's answer (RFC 6347, section 4.2.1).
    pub(crate) const fn start_at(&mut self, sequence: u64) {
        self.next[0] = sequence;
    }

    pub(crate) fn protect(&mut self, keys: Keys) {
        self.keys = Some(keys);
    }

    /// Octets that a record of this epoch has beside its content.
    pub(crate) const fn overhead(epoch: u16) -> usize {
        if epoch == 0 { HEADER } else { OVERHEAD }
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
        if sequence > LAST_SEQUENCE || output.len() < Self::overhead(epoch) + length {
            return Err(Full);
        }
        let header = Header { content_type, epoch, sequence, length };
        let nonce = header.epoch_and_sequence();
        let mut writer = Writer::new(output);
        writer.number(content_type.number().into(), 1)?;
        writer.number(VERSION.into(), 2)?;
        writer.put(&nonce)?;
        writer.number((length + Self::overhead(epoch) - HEADER) as u64, 2)?;
        if epoch > 0 {
            writer.put(&nonce)?;
        }
        content.iter().try_for_each(|part| writer.put(part))?;
        let written = writer.len();
        let end = if epoch == 0 {
            written
        } else {
            let keys = self.keys.as_ref().ok_or(Full)?;
            let (nonce, associated) = (keys.nonce(&nonce), associated(&header));
            let with = Protection { aead: Aead::Ccm8, key: &keys.key, nonce: &nonce, associated: &associated };
            let (content, rest) = output[HEADER + EXPLICIT_NONCE..].split_at_mut(length);
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

impl<C: Crypto> flight::Records for Records<'_, C> {
    const LAST_IS_SHORTER: bool = false;
    const HAS_SEVERAL_MESSAGES: bool = false;

    fn overhead(&self, part: Part, _: bool) -> usize {
        Outbound::overhead(epoch(part))
    }

    fn write(&mut self, part: Part, _: bool, fragments: &[&[u8]], output: &mut [u8]) -> Result<(usize, u64), Full> {
        let sequence = self.outbound.next[usize::from(epoch(part))];
        let of = (ContentType::Handshake, epoch(part));
        self.outbound.write(self.crypto, of, fragments, output).map(|written| (written, sequence))
    }

    fn change(&mut self, output: &mut [u8]) -> Result<usize, Full> {
        self.outbound.write(self.crypto, (ContentType::ChangeCipherSpec, 0), &[&[1]], output)
    }
}

/// The records that an end receives.
#[derive(Default)]
pub(crate) struct Inbound {
    keys: Option<Keys>,
    window: Window,
}

impl Inbound {
    pub(crate) fn protect(&mut self, keys: Keys) {
        self.keys = Some(keys);
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
        let (explicit, rest) = fragment.split_at_mut_checked(EXPLICIT_NONCE).ok_or(Failed)?;
        let (content, tag) = rest.split_at_mut_checked(rest.len().wrapping_sub(TAG)).ok_or(Failed)?;
        let plain = Header { length: content.len(), ..*header };
        let explicit: &[u8; EXPLICIT_NONCE] = (&*explicit).try_into().map_err(|_| Failed)?;
        let (nonce, associated) = (keys.nonce(explicit), associated(&plain));
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
