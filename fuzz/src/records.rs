//! Records and messages, written after RFC 6347, sections 4.1 and 4.2.2, and RFC 9147, section 4.

use lean_dtls::crypto::NONCE;

use crate::provider::{Seen, Unified, hide, seal};

/// Octets from which a sequence number is hidden (RFC 9147, section 4.2.3).
const SAMPLE: usize = 16;

/// A record in clear.
pub fn clear(content_type: u8, epoch: u16, sequence: u64, content: &[u8]) -> Vec<u8> {
    let mut record = header(content_type, epoch, sequence, content.len());
    record.extend_from_slice(content);
    record
}

/// A record of whoever has this key. The key is that of epoch 1, whatever DTLS 1.3 calls it.
pub fn protected(seen: &Seen, content_type: u8, epoch: u16, sequence: u64, content: &[u8]) -> Vec<u8> {
    if let Some(unified) = &seen.unified {
        return with_unified_header(seen, unified, content_type, epoch, sequence as u16, content);
    }
    let number = (u64::from(epoch) << 48 | sequence).to_be_bytes();
    let mut seen = *seen;
    seen.nonce[4..].copy_from_slice(&number);
    // The data that the tag protects: RFC 5246, section 6.2.3.3.
    let associated = [&number[..], &[content_type, 0xfe, 0xfd], &(content.len() as u16).to_be_bytes()].concat();
    let mut encrypted = content.to_vec();
    let tag = seal(&seen, &associated, &mut encrypted);
    let mut record = header(content_type, epoch, sequence, 8 + encrypted.len() + tag.len());
    record.extend([&number[..], &encrypted, &tag].concat());
    record
}

fn with_unified_header(
    seen: &Seen,
    unified: &Unified,
    content_type: u8,
    epoch: u16,
    sequence: u16,
    content: &[u8],
) -> Vec<u8> {
    const HAS_LONG_SEQUENCE: u8 = 0b1000;
    const HAS_LENGTH: u8 = 0b100;
    let first = unified.header[0];
    let octets = 1 + usize::from(first & HAS_LONG_SEQUENCE != 0);
    let end = unified.length - 2 * usize::from(first & HAS_LENGTH != 0);
    let (id, before) = unified.header[1..end].split_at(end - 1 - octets);
    // The nonce of the record that was seen is that of its sequence number.
    let mut seen = *seen;
    seen.nonce[NONCE - octets..].iter_mut().zip(before).for_each(|(octet, number)| *octet ^= number);
    seen.nonce[NONCE - 2..].iter_mut().zip(sequence.to_be_bytes()).for_each(|(octet, number)| *octet ^= number);
    let mut encrypted = [content, &[content_type]].concat();
    let tag = seen.aead.tag();
    encrypted.resize(encrypted.len().max(SAMPLE.saturating_sub(tag)), 0);
    let epoch = first.wrapping_add(epoch as u8).wrapping_sub(1) & 0b11;
    let mut header = vec![first & !0b11 | epoch | HAS_LONG_SEQUENCE | HAS_LENGTH];
    header.extend_from_slice(id);
    header.extend(sequence.to_be_bytes());
    header.extend(((encrypted.len() + tag) as u16).to_be_bytes());
    let tag = seal(&seen, &header, &mut encrypted);
    encrypted.extend(tag);
    hide(&unified.hiding, &mut header[1 + id.len()..][..2], &encrypted);
    [header, encrypted].concat()
}

fn header(content_type: u8, epoch: u16, sequence: u64, length: usize) -> Vec<u8> {
    let mut header = vec![content_type, 0xfe, 0xfd];
    header.extend(epoch.to_be_bytes());
    header.extend(&sequence.to_be_bytes()[2..]);
    header.extend((length as u16).to_be_bytes());
    header
}

/// A whole handshake message.
pub fn message(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    fragment(kind, sequence, body.len(), 0, body)
}

/// A fragment of a handshake message.
pub fn fragment(kind: u8, sequence: u16, length: usize, offset: usize, octets: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend(&(length as u32).to_be_bytes()[1..]);
    message.extend(sequence.to_be_bytes());
    message.extend(&(offset as u32).to_be_bytes()[1..]);
    message.extend(&(octets.len() as u32).to_be_bytes()[1..]);
    message.extend_from_slice(octets);
    message
}
