//! Records: the unified header, encryption of content and of sequence numbers (RFC 9147, section 4).

use super::schedule::Keys;
use crate::codec::{Full, Reader, Writer};
use crate::connection_id::ConnectionId;
use crate::content_type::ContentType;
use crate::crypto::{Aead, BLOCK, Crypto, Failed, MAX_TAG, NONCE, Protection};
use crate::flight::{self, Part};
use crate::replay::{Heard, Window};

/// DTLS 1.3 in supported_versions.
pub(crate) const VERSION: u16 = 0xfefc;

/// The version that every record in clear and every hello has for older peers: DTLS 1.2.
pub(crate) const LEGACY_VERSION: u16 = 0xfefd;

/// Octets of the header of a record in clear.
pub(crate) const HEADER: usize = 13;

/// The first three bits of a unified header (RFC 9147, section 4).
const FIXED: u8 = 0b0010_0000;
const HAS_CONNECTION_ID: u8 = 0b0001_0000;
const HAS_LONG_SEQUENCE: u8 = 0b0000_1000;
const HAS_LENGTH: u8 = 0b0000_0100;
const EPOCH: u8 = 0b0000_0011;

/// From this sequence number on, two of its octets are sent. Up to here one is enough, whatever was lost before.
const LONG_SEQUENCE: u64 = 128;

/// The most records that are encrypted with one key (RFC 9147, section 4.5.3: of AES-CCM; AES-GCM could have more).
pub(crate) const MOST_RECORDS: u64 = 1 << 23;

/// The most forged records that a key is used for (RFC 9147, section 4.5.3, has 2^23.5 for AES-CCM). With a tag of 8 octets
/// a forger then has a chance of 2^-41. (Assumed: that is little enough for what takes hours of the whole capacity of a link of
/// 250 kbit/s.)
pub(crate) const MOST_FORGERIES: u32 = 1 << 23;

/// The content type with this number. `None` if DTLS 1.3 does not have it.
fn content_type(number: u8) -> Option<ContentType> {
    use ContentType as Type;
    let found = Type(number);
    let is_known = matches!(found, Type::Alert | Type::Handshake | Type::ApplicationData | Type::Acknowledgement);
    is_known.then_some(found)
}

/// A record's epoch and sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number {
    pub(crate) epoch: u16,
    pub(crate) sequence: u64,
}

/// The body of a NewConnectionId without IDs: none, and none that must be used at once (RFC 9147, section 9).
pub(crate) const NO_CONNECTION_IDS: [u8; 3] = [0, 0, 1];

/// The ID in a NewConnectionId that must be used at once, if there is one. `None` if it is malformed, or longer than this end
/// can keep.
pub(crate) fn read_new_connection_id(body: &[u8]) -> Option<Option<ConnectionId>> {
    let mut reader = Reader::new(body);
    let mut ids = Reader::new(reader.vector(2)?);
    match (reader.u8()?, reader.is_empty()) {
        (0, true) => ConnectionId::new(ids.vector(1)?).map(Some),
        (1, true) => Some(None),
        _ => None,
    }
}

/// The records that an end sends: epoch 0 in clear, and the two latest epochs with keys.
pub(crate) struct Outbound {
    pub(crate) aead: Aead,
    /// The ID that the peer wants in its records.
    pub(crate) connection_id: ConnectionId,
    /// The most octets of content that the peer takes in an encrypted record.
    pub(crate) limit: usize,
    /// The sequence number of the next record in clear.
    next_in_clear: u64,
    /// The epoch before, then the latest.
    epochs: [Option<Sending>; 2],
}

struct Sending {
    epoch: u16,
    next: u64,
    keys: Keys,
}

impl Outbound {
    pub(crate) fn new() -> Self {
        let connection_id = ConnectionId::default();
        Self { aead: Aead::Ccm8, connection_id, limit: usize::MAX, next_in_clear: 0, epochs: [None, None] }
    }

    /// Goes on from the record that carried a HelloRetryRequest's answer.
    pub(crate) const fn start_at(&mut self, sequence: u64) {
        self.next_in_clear = sequence;
    }

    /// Begins an epoch.
    pub(crate) fn protect(&mut self, epoch: u16, keys: Keys) {
        self.epochs.rotate_left(1);
        self.epochs[1] = Some(Sending { epoch, next: 0, keys });
    }

    /// Forgets the keys of the epoch before the latest: all that it has carried was acknowledged.
    pub(crate) fn forget(&mut self) {
        self.epochs[0] = None;
    }

    /// The latest epoch.
    pub(crate) fn epoch(&self) -> u16 {
        self.epochs[1].as_ref().map_or(0, |latest| latest.epoch)
    }

    /// The number of records in the latest epoch.
    pub(crate) fn count(&self) -> u64 {
        self.epochs[1].as_ref().map_or(0, |latest| latest.next)
    }

    fn next(&mut self, epoch: u16) -> Option<&mut u64> {
        match epoch {
            0 => Some(&mut self.next_in_clear),
            _ => {
                self.epochs.iter_mut().flatten().find(|sending| sending.epoch == epoch).map(|sending| &mut sending.next)
            }
        }
    }

    /// Octets that a record of an epoch has beside its content.
    pub(crate) fn overhead(&self, epoch: u16, is_last: bool) -> usize {
        if epoch == 0 {
            return HEADER;
        }
        let next =
            self.epochs.iter().flatten().find(|sending| sending.epoch == epoch).map_or(0, |sending| sending.next);
        let header = 1 + self.connection_id.octets().len() + sequence_octets(next) + 2 * usize::from(!is_last);
        header + 1 + self.aead.tag()
    }

    /// Writes a record of `content`, without its length if it is the last of its datagram. Returns its length and its number.
    ///
    /// # Errors
    /// There is no room for it, no key for it, or no sequence number left.
    pub(crate) fn write<C: Crypto>(
        &mut self,
        crypto: &mut C,
        (content_type, epoch): (ContentType, u16),
        is_last: bool,
        content: &[&[u8]],
        output: &mut [u8],
    ) -> Result<(usize, Number), Full> {
        let sequence = *self.next(epoch).ok_or(Full)?;
        let number = Number { epoch, sequence };
        if sequence >= MOST_RECORDS || epoch > 0 && content.iter().map(|part| part.len()).sum::<usize>() > self.limit {
            return Err(Full);
        }
        let written = match epoch {
            0 => write_in_clear(content_type, sequence, content, output)?,
            _ => self.write_encrypted(crypto, content_type, number, is_last, content, output)?,
        };
        *self.next(epoch).ok_or(Full)? += 1;
        Ok((written, number))
    }

    fn write_encrypted<C: Crypto>(
        &self,
        crypto: &mut C,
        content_type: ContentType,
        Number { epoch, sequence }: Number,
        is_last: bool,
        content: &[&[u8]],
        output: &mut [u8],
    ) -> Result<usize, Full> {
        let Sending { keys, .. } = self.epochs.iter().flatten().find(|sending| sending.epoch == epoch).ok_or(Full)?;
        let (id, tag) = (self.connection_id.octets(), self.aead.tag());
        let octets: usize = content.iter().map(|part| part.len()).sum();
        // The sequence number is encrypted with the first block of the encrypted content and tag.
        let padding = BLOCK.saturating_sub(octets + 1 + tag);
        let inner = octets + 1 + padding;
        let sequence_octets = sequence_octets(sequence);

        let mut writer = Writer::new(output);
        let has_id = if id.is_empty() { 0 } else { HAS_CONNECTION_ID };
        let has_long_sequence = if sequence_octets == 2 { HAS_LONG_SEQUENCE } else { 0 };
        let has_length = if is_last { 0 } else { HAS_LENGTH };
        let first = FIXED | has_id | has_long_sequence | has_length | epoch as u8 & EPOCH;
        writer.put(&[first])?;
        writer.put(id)?;
        writer.put(&sequence.to_be_bytes()[8 - sequence_octets..])?;
        if !is_last {
            writer.number((inner + tag) as u32, 2)?;
        }
        let header = writer.len();
        content.iter().try_for_each(|part| writer.put(part))?;
        writer.put(&[content_type.0])?;
        writer.put(&[0; BLOCK][..padding])?;
        writer.put(&[0; MAX_TAG][..tag])?;
        let written = writer.len();

        let (associated, rest) = output[..written].split_at_mut(header);
        let (inner, tag) = rest.split_at_mut(inner);
        let with = Protection { aead: self.aead, key: &keys.key, nonce: &keys.nonce(sequence), associated };
        crypto.seal(&with, inner, tag).map_err(|Failed| Full)?;
        hide(crypto, keys, &mut associated[1 + id.len()..][..sequence_octets], rest).map_err(|Failed| Full)?;
        Ok(written)
    }
}

/// Octets of a sequence number in a unified header.
const fn sequence_octets(sequence: u64) -> usize {
    if sequence < LONG_SEQUENCE { 1 } else { 2 }
}

/// Writes a record in clear.
pub(crate) fn write_in_clear(
    content_type: ContentType,
    sequence: u64,
    content: &[&[u8]],
    output: &mut [u8],
) -> Result<usize, Full> {
    let mut writer = Writer::new(output);
    writer.number(content_type.0.into(), 1)?;
    writer.number(LEGACY_VERSION.into(), 2)?;
    writer.number(0, 2)?;
    writer.put(&sequence.to_be_bytes()[2..])?;
    writer.vector(2, |writer| content.iter().try_for_each(|part| writer.put(part)))?;
    Ok(writer.len())
}

/// Encrypts or decrypts a sequence number (RFC 9147, section 4.2.3). `rest` is the encrypted record without its header.
fn hide<C: Crypto>(crypto: &mut C, keys: &Keys, sequence: &mut [u8], rest: &[u8]) -> Result<(), Failed> {
    let mut mask: [u8; BLOCK] = *rest.first_chunk().ok_or(Failed)?;
    crypto.encrypt_block(&keys.sequence, &mut mask)?;
    sequence.iter_mut().zip(mask).for_each(|(octet, mask)| *octet ^= mask);
    Ok(())
}

impl Keys {
    /// The nonce of a record (RFC 8446, section 5.3).
    fn nonce(&self, sequence: u64) -> [u8; NONCE] {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(sequence.to_be_bytes()).for_each(|(octet, number)| *octet ^= number);
        nonce
    }
}

/// The records of a flight, and the epochs of its two parts.
pub(crate) struct Records<'a, C> {
    pub(crate) crypto: &'a mut C,
    pub(crate) outbound: &'a mut Outbound,
    pub(crate) epochs: [u16; 2],
}

impl<C: Crypto> flight::Records for Records<'_, C> {
    const LAST_IS_SHORTER: bool = true;
    const HAS_SEVERAL_MESSAGES: bool = true;

    fn overhead(&self, part: Part, is_last: bool) -> usize {
        self.outbound.overhead(self.epochs[part as usize], is_last)
    }

    fn limit(&self, part: Part) -> usize {
        if self.epochs[part as usize] > 0 { self.outbound.limit } else { usize::MAX }
    }

    fn write(
        &mut self,
        part: Part,
        is_last: bool,
        fragments: &[&[u8]],
        output: &mut [u8],
    ) -> Result<(usize, u64), Full> {
        let of = (ContentType::Handshake, self.epochs[part as usize]);
        let (written, number) = self.outbound.write(self.crypto, of, is_last, fragments, output)?;
        Ok((written, number.sequence))
    }

    fn change(&mut self, _: &mut [u8]) -> Result<usize, Full> {
        Ok(0)
    }
}

/// A record in clear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InClear {
    pub(crate) content_type: ContentType,
    pub(crate) number: Number,
}

impl InClear {
    /// Reads the next record. `None` if the rest of the datagram does not begin with one.
    pub(crate) fn read<'a>(reader: &mut Reader<'a>) -> Option<(Self, &'a [u8])> {
        let content_type = content_type(reader.u8()?)?;
        reader.u16()?; // it must be ignored
        let number =
            Number { epoch: reader.u16()?, sequence: u64::from(reader.u16()?) << 32 | u64::from(reader.number(4)?) };
        let content = reader.vector(2)?;
        (number.epoch == 0).then_some((Self { content_type, number }, content))
    }
}

/// Where the parts of an encrypted record are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    epoch_bits: u8,
    /// Where the sequence number begins and how long it is.
    sequence: (usize, usize),
    header: usize,
    pub(crate) length: usize,
}

impl Layout {
    /// Reads a unified header. `None` if the octets do not begin with a record that has this ID, or none if it is empty. The
    /// ID has to be in each datagram, but not in each of its records.
    pub(crate) fn read(datagram: &[u8], id: &ConnectionId, is_first: bool) -> Option<Self> {
        let mut reader = Reader::new(datagram);
        let first = reader.u8().filter(|first| first & 0b1110_0000 == FIXED)?;
        let has = |bit: u8| first & bit != 0;
        let is_right = match has(HAS_CONNECTION_ID) {
            true => !id.octets().is_empty() && reader.take(id.octets().len())? == id.octets(),
            false => !is_first || id.octets().is_empty(),
        };
        is_right.then_some(())?;
        let begin = datagram.len() - reader.rest().len();
        let octets = 1 + usize::from(has(HAS_LONG_SEQUENCE));
        reader.take(octets)?;
        let rest = if has(HAS_LENGTH) { usize::from(reader.u16()?) } else { reader.rest().len() };
        let header = datagram.len() - reader.rest().len();
        reader.take(rest)?;
        Some(Self { epoch_bits: first & EPOCH, sequence: (begin, octets), header, length: header + rest })
    }
}

/// The ID in the first record of a datagram, if it is encrypted and has one.
pub(crate) fn connection_id_of(datagram: &[u8], length: usize) -> Option<&[u8]> {
    let (first, rest) = datagram.split_first()?;
    rest.get(..length).filter(|_| first & (0b1110_0000 | HAS_CONNECTION_ID) == FIXED | HAS_CONNECTION_ID)
}

/// The encrypted records that an end receives: those of the two latest epochs.
pub(crate) struct Inbound {
    pub(crate) aead: Aead,
    /// The ID of this end.
    pub(crate) connection_id: ConnectionId,
    /// The part of the last datagram that can only be the peer's.
    pub(crate) heard: Heard,
    /// The epoch before, then the latest.
    epochs: [Option<Receiving>; 2],
}

struct Receiving {
    epoch: u16,
    keys: Keys,
    window: Window,
    forgeries: u32,
}

impl Inbound {
    pub(crate) fn new() -> Self {
        let connection_id = ConnectionId::default();
        Self { aead: Aead::Ccm8, connection_id, heard: Heard::Nothing, epochs: [None, None] }
    }

    /// Begins an epoch. The one before the last is forgotten.
    pub(crate) fn protect(&mut self, epoch: u16, keys: Keys) {
        self.epochs.rotate_left(1);
        self.epochs[1] = Some(Receiving { epoch, keys, window: Window::default(), forgeries: 0 });
    }

    /// The latest epoch.
    pub(crate) fn epoch(&self) -> u16 {
        self.epochs[1].as_ref().map_or(0, |latest| latest.epoch)
    }

    /// The number of records with the latest key that were not the peer's.
    pub(crate) fn forgeries(&self) -> u32 {
        self.epochs[1].as_ref().map_or(0, |latest| latest.forgeries)
    }

    /// Decrypts a record in place, and returns what it carries.
    ///
    /// # Errors
    /// There is no key for it, it was received before, or it is not the peer's. It is then discarded in silence
    /// (RFC 9147, section 4.5.2).
    pub(crate) fn open<'a, C: Crypto>(
        &mut self,
        crypto: &mut C,
        layout: &Layout,
        record: &'a mut [u8],
    ) -> Result<(ContentType, Number, &'a [u8]), Failed> {
        // The peer is where its latest record comes from: the latest of all epochs (RFC 9147, section 9).
        let latest = self.epochs.iter().flatten().rfind(|receiving| receiving.window.next() > 0).map(|it| it.epoch);
        let is_it = |receiving: &&mut Receiving| receiving.epoch as u8 & EPOCH == layout.epoch_bits;
        let Receiving { epoch, keys, window, forgeries } =
            self.epochs.iter_mut().flatten().rfind(is_it).filter(|it| it.forgeries < MOST_FORGERIES).ok_or(Failed)?;
        let (header, rest) = record.split_at_mut_checked(layout.header).ok_or(Failed)?;
        let (begin, octets) = layout.sequence;
        let shortened = header.get_mut(begin..begin + octets).ok_or(Failed)?;
        hide(crypto, keys, shortened, rest)?;
        let shortened = shortened.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        let sequence = reconstruct(window.next(), shortened, 8 * octets as u32);
        let (inner, tag) = rest.split_at_mut_checked(rest.len().wrapping_sub(self.aead.tag())).ok_or(Failed)?;
        let with = Protection { aead: self.aead, key: &keys.key, nonce: &keys.nonce(sequence), associated: header };
        if crypto.open(&with, inner, tag).is_err() {
            *forgeries += 1;
            return Err(Failed);
        }
        if !window.is_new(sequence) {
            return Err(Failed);
        }
        let is_latest = Some(*epoch) >= latest && sequence >= window.next();
        window.receive(sequence);
        let end = inner.iter().rposition(|octet| *octet != 0).ok_or(Failed)?;
        let content_type = content_type(inner[end]).ok_or(Failed)?;
        self.heard = self.heard.max(if is_latest { Heard::Latest } else { Heard::Earlier });
        Ok((content_type, Number { epoch: *epoch, sequence }, &inner[..end]))
    }
}

/// The sequence number with these last bits that is closest to the expected one (RFC 9147, section 4.2.2).
const fn reconstruct(expected: u64, last: u64, bits: u32) -> u64 {
    let (range, half) = (1 << bits, 1 << (bits - 1));
    let near = expected & !(range - 1) | last;
    if near > expected + half && near >= range {
        near - range
    } else if near + half < expected {
        near + range
    } else {
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "rustcrypto")]
    use crate::crypto::RustCrypto;

    impl Outbound {
        /// As if so many records had been sent with the latest key.
        pub(in crate::dtls13) fn skip_to(&mut self, next: u64) {
            self.epochs[1].iter_mut().for_each(|latest| latest.next = next);
        }
    }

    fn keys() -> Keys {
        Keys { key: [1; 16], iv: [2; 12], sequence: [3; 16] }
    }

    /// A record of epoch 3.
    #[cfg(feature = "rustcrypto")]
    fn written(outbound: &mut Outbound) -> Result<std::vec::Vec<u8>, Full> {
        let (mut crypto, mut output) = (RustCrypto::new(|_: &mut [u8]| {}), [0; 64]);
        let of = (ContentType::ApplicationData, 3);
        outbound.write(&mut crypto, of, true, &[b"22.5 C"], &mut output).map(|(length, _)| output[..length].to_vec())
    }

    /// RFC 9147, section 4.5.3. A test with 2^23 forgeries takes too long, so it begins with the last two of them.
    #[cfg(feature = "rustcrypto")]
    #[test]
    fn a_key_is_given_up_after_too_many_forgeries() {
        let (mut outbound, mut inbound) = (Outbound::new(), Inbound::new());
        outbound.protect(3, keys());
        inbound.protect(3, keys());
        inbound.epochs[1].iter_mut().for_each(|latest| latest.forgeries = MOST_FORGERIES - 2);
        let mut open = |mut record: std::vec::Vec<u8>| {
            let layout = Layout::read(&record, &ConnectionId::default(), true).unwrap();
            inbound.open(&mut RustCrypto::new(|_: &mut [u8]| {}), &layout, &mut record).is_ok()
        };
        for expected in [true, true, false] {
            assert_eq!(open(written(&mut outbound).unwrap()), expected);
            let mut forged = written(&mut outbound).unwrap();
            *forged.last_mut().unwrap() ^= 1;
            assert!(!open(forged));
        }
    }

    #[cfg(feature = "rustcrypto")]
    #[test]
    fn a_key_encrypts_no_more_than_its_records() {
        let mut outbound = Outbound::new();
        outbound.protect(3, keys());
        outbound.skip_to(MOST_RECORDS - 1);
        assert!(written(&mut outbound).is_ok());
        assert_eq!(written(&mut outbound), Err(Full));
    }

    /// By hand.
    #[test]
    fn the_closest_sequence_number_is_found() {
        for (expected, last, bits, found) in [
            (0, 0, 8, 0),
            (0, 255, 8, 255), // nothing is before 0
            (128, 0, 8, 0),   // as near as 256, and the only one that was sent with 8 bits
            (256, 255, 8, 255),
            (255, 0, 8, 256),
            (1000, 0xe7, 8, 999),
            (1000, 0x67, 8, 0x467),
            (65_536, 0xffff, 16, 65_535),
            (65_535, 1, 16, 65_537),
        ] {
            assert_eq!(reconstruct(expected, last, bits), found, "{expected} {last}");
        }
    }

    /// As long as one octet is sent, no loss can mislead.
    #[test]
    fn a_short_sequence_number_is_never_misread() {
        for sent in 0..LONG_SEQUENCE {
            for expected in 0..=LONG_SEQUENCE {
                assert_eq!(reconstruct(expected, sent, 8), sent, "{expected}");
            }
        }
    }
}
